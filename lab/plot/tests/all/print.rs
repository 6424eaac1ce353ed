//! Figures of a given width.

use plot::{
    Chart, Figure, FigureFile, Format, Legend, Panel, PlotError, Point, Print, Printed, Reference, Series,
    Unplaced,
};
use std::io::Read;

const COLUMN: Print = Print { width_pt: 240.0, font_pt: 8.0 };

fn figure() -> Figure {
    let point = |i: u32| {
        let (x, y) = (f64::from(i + 1), 100.0 / f64::from(i + 1));
        Point { x, y, name: format!("design {i}"), front: Some(0), ..Point::default() }
    };
    let series = |i: u32| Series { label: format!("series {i}"), points: vec![point(i)], joined: false };
    let chart = Chart {
        title: "A title".into(),
        x_label: "x (us)".into(),
        y_label: "y (mm²)".into(),
        series_label: "heading".into(),
        name_label: "names".into(),
        series: (0..6).map(series).collect(),
        references: vec![Reference { x: 3.0, y: 60.0, label: "paper".into(), is_design: false }],
        ..Chart::default()
    };
    chart.into()
}

fn svg(print: Print, figure: &Figure, legend: Legend) -> String {
    let printed = print.draw(figure, legend, Format::Svg).unwrap();
    assert_eq!(printed.unplaced, Unplaced::default());
    String::from_utf8(printed.content).unwrap()
}

/// The numbers of an attribute of all elements.
fn numbers(svg: &str, name: &str) -> Vec<f64> {
    let start = format!(" {name}=\"");
    svg.split(&start).skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

#[test]
fn a_figure_has_the_width_and_the_size_of_letters_that_were_asked_for() {
    for (print, mm) in [(COLUMN, "84.667mm"), (Print { width_pt: 504.0, font_pt: 9.0 }, "177.800mm")] {
        let svg = svg(print, &figure(), Legend::Inside);
        assert!(svg.starts_with(&format!("<svg width=\"{mm}\" height=\"")), "{}", &svg[..80]);
        let view = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split(' ').next().unwrap();
        let points_per_pixel = print.width_pt / view.parse::<f64>().unwrap();
        // The sizes of labels at axes, which are the most frequent ones.
        let sizes = numbers(&svg, "font-size");
        let label = sizes.iter().filter(|size| svg.matches(&format!("font-size=\"{size}\"")).count() > 5);
        let label = label.map(|size| size * points_per_pixel).fold(0.0, f64::max);
        assert!((label / print.font_pt - 1.0).abs() < 0.02, "{label}");
    }
}

#[test]
fn a_legend_stands_beside_the_plot_in_it_or_nowhere() {
    let names = |svg: &str| (0..6).filter(|i| svg.contains(&format!("series {i}"))).count();
    for (legend, shown) in [(Legend::Outside, 6), (Legend::Inside, 6), (Legend::None, 0)] {
        let svg = svg(COLUMN, &figure(), legend);
        assert_eq!((names(&svg), svg.contains("heading")), (shown, shown > 0), "{legend:?}");
        // Labels of a legend in the plot are the caption's.
        assert_eq!(svg.contains("labels: names"), legend == Legend::Outside, "{legend:?}");
        assert!(svg.contains("A title") && svg.contains("y (mm²)"));
    }
    let svg = svg(COLUMN, &figure().without_titles(), Legend::None);
    assert!(!svg.contains("A title"));
}

#[test]
fn a_picture_says_its_resolution() {
    let png = COLUMN.draw(&figure(), Legend::None, Format::Png).unwrap().content;
    let at = png.windows(4).position(|window| window == b"pHYs").expect("the chunk of the resolution");
    let per_metre = u32::from_be_bytes(png[at + 4..at + 8].try_into().unwrap());
    let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
    let inches = f64::from(width) / f64::from(per_metre) / 0.0254;
    assert!((inches - 240.0 / 72.0).abs() < 0.02 && f64::from(per_metre) * 0.0254 >= 600.0, "{inches}");
}

/// The streams of a PDF that are compressed, in their order.
fn streams(pdf: &[u8]) -> Vec<String> {
    let find = |from: usize, text: &[u8]| {
        pdf[from..].windows(text.len()).position(|window| window == text).map(|at| from + at + text.len())
    };
    let mut streams = Vec::new();
    let mut from = 0;
    while let Some(at) = find(from, b"/FlateDecode").and_then(|at| find(at, b"stream\n")) {
        let mut content = Vec::new();
        flate2::read::ZlibDecoder::new(&pdf[at..]).read_to_end(&mut content).unwrap();
        streams.push(String::from_utf8_lossy(&content).into_owned());
        from = at;
    }
    streams
}

#[test]
fn a_page_has_the_letters_and_the_marks_of_the_vector_graphic() {
    let pdf = COLUMN.draw(&figure(), Legend::Outside, Format::Pdf).unwrap().content;
    assert_eq!(pdf, COLUMN.draw(&figure(), Legend::Outside, Format::Pdf).unwrap().content);
    let text = String::from_utf8_lossy(&pdf);
    assert!(text.starts_with("%PDF-1.") && text.contains("/MediaBox [0 0 240 "), "{}", &text[..200]);
    // Two faces, embedded, with the characters of their glyphs.
    for part in ["RPUFIG+DejaVuSans\n", "RPUFIG+DejaVuSans-Bold\n", "/FontFile2", "/ToUnicode"] {
        assert!(text.contains(part), "{part}");
    }
    let streams = streams(&pdf);
    // The page, and two fonts.
    assert_eq!(streams.len(), 3);
    let count = |operator: &str| streams[0].lines().filter(|line| line.ends_with(operator)).count();
    let svg = svg(COLUMN, &figure(), Legend::Outside);
    let tags = |name: &str| svg.matches(&format!("<{name} ")).count();
    assert_eq!(count(" Tj"), tags("text"));
    assert_eq!(count(" re"), tags("rect"));
    let areas = streams[0].lines().filter(|line| *line == "f").count();
    assert_eq!(areas, svg.matches("stroke=\"none\"").count() + tags("polygon"));
}

#[test]
fn all_designs_of_a_crowded_front_have_names_or_are_counted() {
    let crowded = |designs: u32| {
        let mut chart = chart();
        let place = |i: u32| f64::from(i + 10).log10();
        let point = |i: u32| Point {
            x: place(i),
            y: -place(i),
            name: format!("({i}, {i})"),
            front: Some(0),
            ..Point::default()
        };
        chart.references.clear();
        chart.series =
            vec![Series { label: "all".into(), points: (0..designs).map(point).collect(), joined: false }];
        Figure::from(chart)
    };
    for designs in [20, 50, 100] {
        let figure = crowded(designs);
        let printed = COLUMN.draw(&figure, Legend::None, Format::Svg).unwrap();
        let svg = String::from_utf8(printed.content).unwrap();
        let named = (0..designs).filter(|i| svg.contains(&format!("\n({i}, {i})\n"))).count();
        let Unplaced { designs: unnamed, .. } = printed.unplaced;
        assert_eq!(named + unnamed, designs as usize);
        assert!(designs > 20 || unnamed == 0, "{unnamed} of {designs}");
    }
}

/// The chart of the figure.
fn chart() -> Chart {
    let [Panel::Scatter(chart)] = <[_; 1]>::try_from(figure().panels).unwrap() else { unreachable!() };
    chart
}

#[test]
fn names_without_room_are_counted_on_a_screen_too() {
    let mut chart = chart();
    let point = |i: u32| Point {
        x: 1.0 + f64::from(i) / 1e4,
        y: 1.0 - f64::from(i) / 1e4,
        name: format!("({i}, {i})"),
        front: Some(0),
        ..Point::default()
    };
    let points = (0..90).map(point).chain([Point { x: 9.0, y: -9.0, ..Point::default() }]).collect();
    chart.series = vec![Series { label: "all".into(), points, joined: false }];
    let reference = |i: usize| Reference { x: 1.0, y: 1.0, label: format!("star {i}"), is_design: i > 40 };
    chart.references = (0..80).map(reference).collect();
    for (format, width_pt) in
        [(Format::Svg, None), (Format::Png, None), (Format::Svg, Some(240.0)), (Format::Pdf, None)]
    {
        let file = FigureFile { format, width_pt, font_pt: 8.0, legend: Legend::None };
        let Unplaced { designs, stars, legend } = file.draw(&chart.clone().into()).unwrap().unplaced;
        assert!(designs > 0 && stars > 0 && !legend, "{format:?}: {designs} {stars}");
    }
    let file = FigureFile { format: Format::Svg, width_pt: None, font_pt: 8.0, legend: Legend::None };
    let Printed { content, unplaced } = file.draw(&chart.into()).unwrap();
    let svg = String::from_utf8(content).unwrap();
    let named = |name: &dyn Fn(usize) -> String, count| {
        (0..count).filter(|&i| svg.contains(&format!("\n{}\n", name(i)))).count()
    };
    assert_eq!(named(&|i| format!("({i}, {i})"), 90) + unplaced.designs, 90);
    assert_eq!(named(&|i| format!("star {i}"), 80) + unplaced.stars, 80);
}

#[test]
fn a_legend_that_would_hide_designs_is_outside() {
    let mut chart = chart();
    let point = |i: u32| Point { x: f64::from(i / 40), y: f64::from(i % 40), ..Point::default() };
    chart.references.clear();
    chart.series.iter_mut().for_each(|series| series.points.clear());
    chart.series[0].points = (0..1600).map(point).collect();
    let figure = Figure::from(chart);
    for width_pt in [None, Some(240.0)] {
        let draw = |legend| {
            FigureFile { format: Format::Svg, width_pt, font_pt: 8.0, legend }.draw(&figure).unwrap()
        };
        let (inside, outside) = (draw(Legend::Inside), draw(Legend::Outside));
        assert!(inside.unplaced.legend && !outside.unplaced.legend);
        assert_eq!(inside.content, outside.content);
    }
}

#[test]
fn letters_without_room_are_refused_with_a_width_and_a_size_that_have_it() {
    let draw = |width_pt, font_pt| Print { width_pt, font_pt }.draw(&figure(), Legend::None, Format::Svg);
    let Err(PlotError::Narrow { width_mm, font_pt }) = draw(240.0, 20.0) else { panic!("it has no room") };
    assert_eq!((width_mm, font_pt), (140, 12));
    assert!(draw(f64::from(width_mm) / 25.4 * 72.0, 20.0).is_ok());
    assert!(draw(240.0, f64::from(font_pt)).is_ok());
    // The smallest letters have room in the smallest figure.
    assert!(draw(72.0, 3.0).is_ok());
}
