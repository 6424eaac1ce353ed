//! Bars.

use plot::{Bar, Bars, Figure, Panel};

#[test]
fn notes_of_narrow_bars_read_upwards() {
    let bars = Bars {
        categories: (0..8).map(|i| i.to_string()).collect(),
        series: vec![Bar {
            label: String::new(),
            values: vec![Some(1.5); 8],
            notes: vec!["x1.50".into(); 8],
        }],
        ..Bars::default()
    };
    let turned = |width: u32| {
        let panels = vec![Panel::Bars(bars.clone())];
        let svg = Figure { columns: 1, panel: (width, 300), panels, basis: String::new() }.svg().unwrap();
        let lines: Vec<&str> = svg.lines().collect();
        let notes = lines.windows(2).filter(|pair| pair[1] == "x1.50").map(|pair| pair[0]);
        notes.map(|tag| tag.contains("rotate(270")).collect::<Vec<bool>>()
    };
    assert_eq!(turned(300), [true; 8]);
    assert_eq!(turned(900), [false; 8]);
}
