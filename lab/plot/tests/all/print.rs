//! Figures of a given width.

use plot::{Chart, Figure, Legend, Point, Print, Reference, Series};

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

/// The numbers of an attribute of all elements.
fn numbers(svg: &str, name: &str) -> Vec<f64> {
    let start = format!(" {name}=\"");
    svg.split(&start).skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok()).collect()
}

#[test]
fn a_figure_has_the_width_and_the_size_of_letters_that_were_asked_for() {
    for (print, mm) in [(COLUMN, "84.667mm"), (Print { width_pt: 504.0, font_pt: 9.0 }, "177.800mm")] {
        let svg = print.svg(&figure(), Legend::Inside).unwrap();
        assert!(svg.starts_with(&format!("<svg width=\"{mm}\" height=\"")), "{}", &svg[..80]);
        let view = svg.split("viewBox=\"0 0 ").nth(1).unwrap().split(' ').next().unwrap();
        let points_per_pixel = print.width_pt / view.parse::<f64>().unwrap();
        // The sizes of labels at axes, which are the most frequent ones. Backends write 0.807 of a font's
        // size.
        let sizes = numbers(&svg, "font-size");
        let label = sizes.iter().filter(|size| svg.matches(&format!("font-size=\"{size}\"")).count() > 5);
        let label = label.map(|size| size * points_per_pixel / 0.806_451).fold(0.0, f64::max);
        assert!((label / print.font_pt - 1.0).abs() < 0.02, "{label}");
    }
}

#[test]
fn a_legend_stands_beside_the_plot_in_it_or_nowhere() {
    let names = |svg: &str| (0..6).filter(|i| svg.contains(&format!("series {i}"))).count();
    for (legend, shown) in [(Legend::Outside, 6), (Legend::Inside, 6), (Legend::None, 0)] {
        let svg = COLUMN.svg(&figure(), legend).unwrap();
        assert_eq!((names(&svg), svg.contains("heading")), (shown, shown > 0), "{legend:?}");
        // Labels of a legend in the plot are the caption's.
        assert_eq!(svg.contains("labels: names"), legend == Legend::Outside, "{legend:?}");
        assert!(svg.contains("A title") && svg.contains("y (mm²)"));
    }
    let svg = COLUMN.svg(&figure().without_titles(), Legend::None).unwrap();
    assert!(!svg.contains("A title"));
}

#[test]
fn a_picture_says_its_resolution() {
    let png = COLUMN.png(&figure(), Legend::None).unwrap();
    let at = png.windows(4).position(|window| window == b"pHYs").expect("the chunk of the resolution");
    let per_metre = u32::from_be_bytes(png[at + 4..at + 8].try_into().unwrap());
    let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
    let inches = f64::from(width) / f64::from(per_metre) / 0.0254;
    assert!((inches - 240.0 / 72.0).abs() < 0.02 && f64::from(per_metre) * 0.0254 >= 600.0, "{inches}");
}
