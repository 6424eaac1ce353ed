use super::*;

const SLICE: Slice<'_> =
    Slice { track: 0, name: "ntt", begin_ps: 1_000_000, end_ps: 2_500_000, annotation: ("launch", 7) };

#[test]
fn the_timeline_has_nanoseconds_and_names() {
    let data = &data(&[SLICE], 3_000_000)["timeline"];
    assert_eq!(data["cycles"], 3000.0);
    let item = json!([0, 1000.0, 1000.0, 1000.0, 2500.0, 2500.0, null, "ntt, launch 7"]);
    assert_eq!(data["instructions"], json!([item]));
}

#[test]
fn the_static_chart_is_busy_where_a_slice_is() {
    let svg = busy(&[SLICE], 3_000_000).into_string();
    // From a third of the columns to five sixths of them.
    let bars: Vec<usize> = svg
        .split("<rect x=\"")
        .skip(1)
        .map(|bar| (bar[..bar.find('"').unwrap()].parse::<usize>().unwrap() - 90) / 3)
        .collect();
    assert_eq!(bars, (BINS / 3..BINS / 6 * 5).collect::<Vec<_>>());
    assert!(svg.contains(">0 µs</text>") && svg.contains(">3.0 µs</text>"));
}
