//! Whole charts.

use crate::texts::{Text, texts};
use plot::{
    Bar, Bars, Chart, Figure, Format, Heat, Legend, Limit, Line, Lines, Panel, Parallel, ParallelAxis,
    ParallelLine, PlotError, Point, Print, Series, Tornado, TornadoBar,
};

/// The size of a chart, and the pixels of a picture for each unit of it.
const SIZE: (u32, u32) = (960, 640);
const PIXELS: u32 = 2;

fn svg(chart: &Chart) -> Result<String, PlotError> {
    Figure::from(chart.clone()).svg()
}

fn png(chart: &Chart) -> Result<Vec<u8>, PlotError> {
    Figure::from(chart.clone()).png()
}

fn chart() -> Chart {
    let point =
        |x: f64, y: f64, front| Point { x, y, name: format!("({x}, {y})"), front, ..Point::default() };
    Chart {
        title: "A < B & C".into(),
        x_label: "x (us)".into(),
        y_label: "y (mm²)".into(),
        series: vec![Series {
            label: "1".into(),
            points: vec![point(1.0, 40.0, Some(0)), point(20.0, 5.0, Some(0)), point(30.0, 30.0, None)],
            joined: true,
        }],
        ..Chart::default()
    }
}

#[test]
fn the_svg_names_the_front_and_only_the_front() {
    let svg = svg(&chart()).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["A &lt; B &amp; C", "x (us)", "y (mm²)", "(1, 40)", "(20, 5)"] {
        assert!(svg.contains(text), "{text} is missing");
    }
    assert!(!svg.contains("(30, 30)"));
}

#[test]
fn a_chart_has_several_fronts_or_none_and_joins_those_of_its_two_quantities() {
    let mut chart = chart();
    let lines = |chart: &Chart| svg(chart).unwrap().matches("<polyline").count();
    let one = lines(&chart);
    chart.series[0].points[2].front = Some(1);
    let two = svg(&chart).unwrap();
    assert!(two.contains("(30, 30)"), "the only design on its front");
    assert!(two.contains("Pareto front"));
    chart.series[0].points[2].front = Some(0);
    assert_eq!(lines(&chart), one);
    chart.scattered_front = true;
    // Neither the front nor its entry in the legend.
    assert_eq!(lines(&chart), one - 2);
    assert!(svg(&chart).unwrap().contains("large: Pareto front"));
    chart.without_front = true;
    let none = svg(&chart).unwrap();
    assert!(!none.contains("Pareto front") && !none.contains("(1, 40)"));
}

#[test]
fn parallel_coordinates_and_tornado_charts_name_keys_and_values() {
    let axis = |label: &str, categories: &[&str]| ParallelAxis {
        label: label.into(),
        categories: categories.iter().map(|&name| name.into()).collect(),
    };
    let line =
        |values: [f64; 2], highlighted| ParallelLine { values: values.into(), highlighted, pale: false };
    let parallel = Parallel {
        title: "designs".into(),
        axes: vec![axis("banks", &["32", "64"]), axis("time (us)", &[])],
        lines: vec![line([0.0, 5.0], true), line([1.0, 9.0], false)],
        highlight_label: "front".into(),
        notes: vec!["a remark".into()],
    };
    let figure = |panel| Figure { columns: 1, panel: (600, 400), panels: vec![panel], basis: String::new() };
    let svg = figure(Panel::Parallel(parallel.clone())).svg().unwrap();
    for text in ["designs", "banks", "64", "time (us)", "front", "a remark"] {
        assert!(svg.contains(text), "{text} is missing");
    }
    let empty = Parallel { lines: Vec::new(), ..parallel };
    assert_eq!(figure(Panel::Parallel(empty)).svg(), Err(PlotError::Empty));

    let bar = TornadoBar { label: "banks".into(), low: (0.5, "64".into()), high: (4.0, "32".into()) };
    let tornado = Tornado { title: "time".into(), bars: vec![bar], ..Tornado::default() };
    let svg = figure(Panel::Tornado(tornado.clone())).svg().unwrap();
    assert!(svg.contains("banks") && svg.contains("x 2\n") && svg.contains("32"));
    let empty = Tornado { bars: Vec::new(), ..tornado };
    assert_eq!(figure(Panel::Tornado(empty)).svg(), Err(PlotError::Empty));
}

#[test]
fn marked_points_have_a_ring_and_an_entry_in_the_legend() {
    let mut chart = chart();
    (chart.mark_label, chart.notes) = ("outside".into(), vec!["a remark".into()]);
    let plain = svg(&chart).unwrap();
    assert!(plain.contains("a remark") && !plain.contains("outside"));
    chart.series[0].points[2].marked = true;
    let marked = svg(&chart).unwrap();
    assert!(marked.contains("outside"));
    // One at the point, two in the legend.
    assert_eq!(marked.matches("<circle").count(), plain.matches("<circle").count() + 4);
    (chart.series[0].points[1].dotted, chart.dot_label) = (true, "inside".into());
    let dotted = svg(&chart).unwrap();
    assert!(dotted.contains("inside") && !marked.contains("inside"));
}

#[test]
fn the_legend_tells_what_labels_list_if_there_are_any() {
    let mut chart = chart();
    (chart.name_label, chart.short_name_label) = ("HPLEs, banks".into(), "HPLEs".into());
    // The point off the front has no name.
    let svg_of = |chart: &Chart| svg(chart).unwrap();
    assert!(svg_of(&chart).contains("labels: HPLEs, banks") && !svg_of(&chart).contains("small labels"));
    chart.series[0].points[2].short_name = "64".into();
    assert!(svg_of(&chart).contains("small labels: HPLEs"));
    chart.short_name_label = chart.name_label.clone();
    assert!(!svg_of(&chart).contains("small labels"), "both list the same");
    chart.without_front = true;
    assert_eq!(svg_of(&chart).matches("labels: ").count(), 1);
}

#[test]
fn the_png_has_its_size_and_is_the_same_twice() {
    let file = png(&chart()).unwrap();
    let reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
    assert_eq!(reader.info().size(), (SIZE.0 * PIXELS, SIZE.1 * PIXELS));
    assert_eq!(file, png(&chart()).unwrap());
}

#[test]
fn a_legend_breaks_its_lines_rather_than_leave_the_page() {
    let names = "hple multiplier latency, hple initiation interval, vbar latency, sbar latency";
    let mut wide = chart();
    wide.name_label = names.into();
    wide.short_name_label = names.into();
    wide.series_label = names.into();
    let svg = svg(&wide).unwrap();
    let texts = svg.lines().filter(|line| !line.starts_with('<')).map(str::trim);
    let texts = texts.filter(|text| !text.is_empty() && names.contains(text.trim_start_matches("labels: ")));
    let texts: Vec<&str> = texts.collect();
    // Three texts of several lines; the last one in small print.
    assert!(texts.len() >= 7 && texts.iter().all(|text| text.len() <= 32), "{texts:?}");
}

#[test]
fn limits_are_lines_within_the_axes_and_entries_of_the_legend() {
    let plain = svg(&chart()).unwrap();
    let limit = |vertical, value| Limit { vertical, value, label: format!("at most {value}") };
    let limited = Chart { limits: vec![limit(false, 50.0), limit(true, 60.0)], ..chart() };
    let limited = svg(&limited).unwrap();
    assert!(limited.contains("at most 50") && limited.contains("at most 60"));
    // The axes reach to the limits.
    let ticks = |svg: &str| svg.matches("\n50\n").count();
    assert_eq!((ticks(&plain), ticks(&limited)), (0, 2));
    let undefined = Chart { limits: vec![limit(true, f64::NAN)], ..chart() };
    assert!(svg(&undefined).is_ok());
}

#[test]
fn a_page_is_high_enough_for_its_legend() {
    let height = |chart: &Chart| -> (f64, f64) {
        let svg = svg(chart).unwrap();
        let number = |text: &str| text.split('"').nth(1).unwrap().parse::<f64>().unwrap();
        let lowest = svg.match_indices(" y=\"").map(|(at, _)| number(&svg[at..])).fold(0.0, f64::max);
        (number(&svg[svg.find(" height=").unwrap()..]), lowest)
    };
    let mut long = chart();
    assert_eq!(height(&long).0, f64::from(SIZE.1));
    long.notes =
        (0..30).map(|i| format!("Not modelled: costs of key {i} (a reason of several words)")).collect();
    let (height, lowest) = height(&long);
    assert!(lowest > f64::from(SIZE.1) && lowest + 5.0 < height, "{lowest} of {height}");
    assert!(png(&long).is_ok());
}

#[test]
fn a_chart_without_points_is_an_error() {
    assert_eq!(svg(&Chart::default()), Err(PlotError::Empty));
    let mut undefined = chart();
    undefined.series[0].points.iter_mut().for_each(|point| point.x = f64::NAN);
    assert_eq!(svg(&undefined), Err(PlotError::Empty));
}

#[test]
fn a_single_point_is_drawn() {
    let mut single = chart();
    single.series[0].points.truncate(1);
    assert!(svg(&single).unwrap().contains("(1, 40)"));
}

/// On a screen and on paper, however long it is, below each panel of a figure that a page takes apart, and
/// for a caption in place of titles.
#[test]
fn the_basis_is_below_all_panels() {
    let long = "the technology and all that its numbers rest on, ".repeat(8);
    for basis in ["technology x", &long] {
        let figure = Figure {
            columns: 2,
            panels: vec![Panel::Scatter(chart()), Panel::Scatter(chart())],
            basis: basis.into(),
            ..Figure::from(chart())
        };
        let print = Print { width_pt: 241.0, font_pt: 8.0 };
        let paper = print.draw(&figure, Legend::Outside, Format::Svg).unwrap().content;
        let apart = figure.apart(400).map(|one| one.svg().unwrap());
        let bare = figure.clone().without_titles().svg().unwrap();
        for svg in apart.chain([figure.svg().unwrap(), String::from_utf8(paper).unwrap(), bare]) {
            let texts: Vec<&str> =
                svg.split("</text>").filter_map(|text| text.rsplit(">\n").next()).collect();
            let joined = texts.concat().replace('\n', " ");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
            assert_eq!(words(&joined).matches(&words(basis)).count(), 1, "{texts:?}");
        }
    }
    let plain = Figure::from(chart()).png().unwrap();
    assert_ne!(plain, Figure { basis: "technology x".into(), ..Figure::from(chart()) }.png().unwrap());
}

/// One panel of each form.
fn panels() -> [Panel; 6] {
    let bar = TornadoBar { label: "banks".into(), low: (0.5, "64".into()), high: (4.0, "32".into()) };
    let axis = |label: &str| ParallelAxis { label: label.into(), categories: Vec::new() };
    let line = |values: [f64; 2]| ParallelLine { values: values.into(), ..ParallelLine::default() };
    [
        Panel::Scatter(chart()),
        Panel::Bars(Bars {
            categories: vec!["a".into()],
            series: vec![Bar { values: vec![Some(1.0)], ..Bar::default() }],
            ..Bars::default()
        }),
        Panel::Lines(Lines {
            series: vec![Line { label: String::new(), points: vec![(1.0, 2.0), (2.0, 3.0)] }],
            ..Lines::default()
        }),
        Panel::Heat(Heat {
            columns: vec!["1".into()],
            rows: vec!["2".into()],
            values: vec![3.0],
            ..Heat::default()
        }),
        Panel::Parallel(Parallel {
            axes: vec![axis("a"), axis("b")],
            lines: vec![line([0.0, 5.0]), line([1.0, 9.0])],
            ..Parallel::default()
        }),
        Panel::Tornado(Tornado { bars: vec![bar], ..Tornado::default() }),
    ]
}

/// A title of any length is smaller or has lines, and takes no room from the plot.
#[test]
fn all_of_a_title_is_in_the_figure() {
    let words = |count: usize| (0..count).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
    for panel in panels() {
        for title in [words(3), words(16), words(60), "x".repeat(300)] {
            let mut panel = panel.clone();
            match &mut panel {
                Panel::Scatter(chart) => chart.title = title.clone(),
                Panel::Bars(chart) => chart.title = title.clone(),
                Panel::Lines(chart) => chart.title = title.clone(),
                Panel::Heat(chart) => chart.title = title.clone(),
                Panel::Parallel(chart) => chart.title = title.clone(),
                Panel::Tornado(chart) => chart.title = title.clone(),
            }
            let figure = Figure { columns: 1, panel: (600, 400), panels: vec![panel], basis: String::new() };
            let paper = Print { width_pt: 241.0, font_pt: 8.0 };
            let paper = paper.draw(&figure, Legend::Outside, Format::Svg).unwrap().content;
            for svg in [figure.svg().unwrap(), String::from_utf8(paper).unwrap()] {
                let (size, texts) = texts(&svg);
                let bold: Vec<&Text> = texts.iter().filter(|text| text.is_bold).collect();
                let written: String = bold.iter().flat_map(|text| text.text.split_whitespace()).collect();
                assert!(written.contains(&title.replace(' ', "")), "{title}: {written}");
                assert!(bold.iter().all(|text| text.is_in(size)), "{title}: {bold:?} of {size:?}");
                let lines = bold.windows(2).filter(|pair| pair[0].is_over(pair[1]));
                assert_eq!(lines.count(), 0, "{title}: {bold:?}");
            }
        }
    }
}

/// The letters of a bitmap are higher than the place that they are given.
#[test]
fn a_title_is_below_the_upper_edge_of_a_picture() {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png(&chart()).unwrap())).read_info().unwrap();
    let row = |reader: &mut png::Reader<_>| reader.next_row().unwrap().unwrap().data().to_vec();
    let rows: Vec<Vec<u8>> = (0..40 * PIXELS).map(|_| row(&mut reader)).collect();
    let has_ink = |row: &Vec<u8>| row.iter().any(|part| *part < 128);
    let first = rows.iter().position(has_ink).expect("a title");
    assert!(first >= 8, "{first}");
}

/// Whatever the numbers, on a screen and on paper.
#[test]
fn texts_at_axes_are_in_the_picture_and_apart() {
    let ranges =
        [(3e8, 4e9), (1_234_567_890.0, 1_234_567_894.0), (0.0, 9e5), (2e-9, 1.0), (9_000.0, 10_000.0)];
    for (low, high) in ranges {
        for turned in [false, true] {
            let mut chart = Chart { without_front: true, ..chart() };
            let labels = [&mut chart.x_label, &mut chart.y_label];
            labels
                .into_iter()
                .for_each(|label| *label = "a quantity with a name of some length (its unit)".into());
            let [first, last, _] = &mut chart.series[0].points[..] else { unreachable!() };
            if turned {
                (first.y, last.y) = (low, high);
            } else {
                (first.x, last.x) = (low, high);
            }
            chart.series[0].points.truncate(2);
            let figure = Figure::from(chart);
            let paper = Print { width_pt: 241.0, font_pt: 8.0 };
            let paper = [Legend::Outside, Legend::None].map(|legend| {
                String::from_utf8(paper.draw(&figure, legend, Format::Svg).unwrap().content).unwrap()
            });
            for svg in paper.into_iter().chain([figure.svg().unwrap()]) {
                let (size, texts) = texts(&svg);
                for (i, text) in texts.iter().enumerate().filter(|(_, text)| !text.text.trim().is_empty()) {
                    assert!(text.is_in(size), "{text:?} of {size:?}");
                    assert!(texts[..i].iter().all(|other| !text.is_over(other)), "{text:?} in {texts:?}");
                }
            }
        }
    }
    let values = vec![Some(3_123_456_789.0)];
    let bars = Bars {
        categories: vec!["a".into()],
        series: vec![Bar { values, ..Bar::default() }],
        y_label: "y".into(),
        ..Bars::default()
    };
    let heat = Heat {
        columns: vec!["1".into()],
        rows: vec!["a row with a long name".into()],
        values: vec![3.0],
        y_label: "y".into(),
        ..Heat::default()
    };
    for panel in [Panel::Bars(bars), Panel::Heat(heat)] {
        let figure = Figure { columns: 1, panel: (300, 200), panels: vec![panel], basis: String::new() };
        let (size, texts) = texts(&figure.svg().unwrap());
        assert!(texts.iter().all(|text| text.is_in(size)), "{texts:?}");
    }
}

/// Parallel coordinates and tornado charts with many axes and long names.
#[test]
fn narrow_charts_are_readable() {
    let names = |count: i32| (0..count).map(|i| (1 << i).to_string()).collect::<Vec<_>>();
    let axis = |label: &str, categories| ParallelAxis { label: label.into(), categories };
    let axes = vec![
        axis("HPLEs", names(8)),
        axis("VDM banks", names(16)),
        axis("vector crossbar latency (cycles)", vec!["a program of a long name.b512".into(), "b".into()]),
        axis("an_unbreakable_name_of_a_column_of_results", names(1)),
        axis("Latency (us)", Vec::new()),
        axis("Area (mm²)", Vec::new()),
    ];
    let line = |i: usize| ParallelLine {
        values: vec![
            (i % 8) as f64,
            (i % 16) as f64,
            (i % 2) as f64,
            0.0,
            3.0 + i as f64,
            2e8 / (i + 1) as f64,
        ],
        highlighted: i == 3,
        pale: false,
    };
    let parallel = Parallel {
        title: "designs".into(),
        axes,
        lines: (0..64).map(line).collect(),
        highlight_label: "front".into(),
        notes: vec!["a remark of some words that is longer than a figure of one column".into()],
    };
    let bar = |i: u32| TornadoBar {
        label: format!("vector crossbar latency {i} (cycles)"),
        low: (0.4, format!("program{i}.b512")),
        high: (2.2, i.to_string()),
    };
    let tornado = Tornado {
        title: "a title".into(),
        x_label: "Area-delay product, relative to its mean".into(),
        bars: (0..9).map(bar).collect(),
        notes: vec!["a remark".into()],
    };
    for panel in [Panel::Parallel(parallel), Panel::Tornado(tornado)] {
        let figure = Figure { columns: 1, panel: (960, 640), panels: vec![panel], basis: "a basis".into() };
        for (width_pt, font_pt) in [(241.0, 8.0), (241.0, 12.0), (482.0, 8.0)] {
            let printed = Print { width_pt, font_pt }.draw(&figure, Legend::Outside, Format::Svg).unwrap();
            let (size, texts) = texts(&String::from_utf8(printed.content).unwrap());
            for (i, text) in texts.iter().enumerate() {
                assert!(text.is_in(size), "{text:?} of {size:?}");
                let over = texts[..i].iter().find(|other| text.is_over(other));
                assert!(over.is_none(), "{text:?} is over {over:?} at {width_pt} {font_pt}");
            }
        }
    }
}
