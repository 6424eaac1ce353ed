use super::*;
use crate::samples::ring;

const SLICE: Slice<'_> =
    Slice { track: 0, name: "ntt", begin_ps: 1_000_000, end_ps: 2_500_000, annotation: ("launch", 7) };

#[test]
fn the_parts_of_the_page_have_the_numbers_of_the_run() {
    let report = ring();
    let html = [facts(&report), kernels(&report), transfers(&report)].map(Markup::into_string).concat();
    for part in [
        "<td class=\"name\">time</td><td>2.500 ms</td>",
        "<td class=\"name\">ring degree</td><td>2048</td>",
        "<td class=\"name\">keys</td><td>seeded</td>",
        "<td class=\"name\">operations</td><td>1234, 1 fused or renamed</td>",
        "<td class=\"name\">kernels run</td><td>80.0 % of the time</td>",
        "<td class=\"name\">off-chip channel busy</td><td>62.5 % of the time</td>",
        "<td class=\"name\">power</td><td>0.02 W</td>",
        "<h3>time: 2.000 ms</h3>",
        "<td class=\"name\">ntt 1 to 2</td><td>24</td><td>1</td><td>1400</td><td>700.0</td><td>0.250</td>",
        "<h3>transfers: 4.000 MiB</h3>",
        "inputs: 75.0%",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

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
