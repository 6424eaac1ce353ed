use super::*;

/// From one column and a quarter to three and a half, and within one.
#[test]
fn intervals_add_their_share_of_each_column() {
    let mut shares = [0.0; BINS];
    add_busy(&mut shares, 1.25, 3.5);
    assert_eq!(shares[..5], [0.0, 0.75, 1.0, 0.5, 0.0]);
    add_busy(&mut shares, 3.5, 3.75);
    assert_eq!(shares[3], 0.75);
    let end = BINS as f64;
    add_busy(&mut shares, end - 0.5, end);
    assert_eq!(shares[BINS - 1], 0.5);
    assert_eq!(shares.iter().sum::<f64>(), 3.0);
}

#[test]
fn the_chart_of_the_pipes_is_as_high_as_they_are_busy() {
    let mut shares = [0.0; BINS];
    (shares[0], shares[2]) = (1.0, 0.5);
    let rows = [("first".to_owned(), [0.0; BINS]), ("second".to_owned(), shares)];
    let svg = busy_chart(&rows, ["0".into(), "9".into()]).into_string();
    let bars: Vec<&str> = svg.split("<rect").skip(1).map(|bar| &bar[..bar.find(" fill").unwrap()]).collect();
    let bar =
        |x: usize, y: &str, height: &str| format!(" x=\"{x}\" y=\"{y}\" width=\"3\" height=\"{height}\"");
    assert_eq!(bars, [bar(90, "54.0", "38.0"), bar(96, "73.0", "19.0")]);
    assert!(svg.contains("viewBox=\"0 0 990 112\"") && svg.contains("y=\"34\"") && svg.contains("y=\"80\""));
    assert!(svg.contains("<text x=\"90\" y=\"108\"") && svg.contains("<text x=\"990\" y=\"108\""));
}
