use super::*;

#[test]
fn numbers_are_grouped_and_bars_have_one_width() {
    assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    for share in [0.0, 0.013, 0.5, 1.0, 1.5] {
        assert_eq!(bar(share, BAR).chars().count(), BAR);
    }
    assert_eq!(bar(0.5, BAR).trim_end().chars().count(), BAR / 2);
    assert_eq!([0.0, 1.0 / 16.0, 0.125, 1.0 / 3.0].map(|share| bar(share, 2)), ["  ", "▏ ", "▎ ", "▋ "]);
}
