use super::*;

/// They stand for all points, for example where an error is looked for.
#[test]
fn some_points_have_each_alternative_of_each_axis() {
    let definition = Definition::parse("test.toml", "[grid]\na = [1, 2, 3]\nb = [4, 5]").unwrap();
    assert_eq!(definition.alternatives(), [vec![1, 0], vec![2, 0], vec![0, 1], vec![0, 0]]);
}

#[test]
fn a_point_has_the_row_of_a_list_that_says_most() {
    let text = "[[list]]\na = 1\n[[list]]\na = 1\nb = 2\n[[list]]\nb = 3\n";
    let definition = Definition::parse("test.toml", text).unwrap();
    let row = |settings: &[(&str, u64)]| {
        let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).into()));
        definition.alternative_of(0, &settings.collect())
    };
    assert_eq!(row(&[("a", 1)]), Some(0));
    assert_eq!(row(&[("a", 1), ("b", 2)]), Some(1));
    assert_eq!(row(&[("a", 2), ("b", 3)]), Some(2));
    assert_eq!(row(&[("a", 2)]), None);
}
