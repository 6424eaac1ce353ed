//! The designs of a chart as a table.

use crate::outputs::neutral;
use plot::{Figure, Panel};

/// The designs of scatter charts: panel, series, name, the quantities of both axes in the units of the chart,
/// and the number of the front that a design is on, if it is on one.
pub fn points(figure: &Figure) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let charts = figure.panels.iter().filter_map(|panel| match panel {
        Panel::Scatter(chart) => Some(chart),
        Panel::Bars(_) | Panel::Lines(_) | Panel::Heat(_) | Panel::Parallel(_) | Panel::Tornado(_) => None,
    });
    for (number, chart) in charts.enumerate() {
        if number == 0 {
            let [x, y] = [&chart.x_label, &chart.y_label].map(|label| neutral(label));
            write(&mut writer, ["panel", "series", "design", &x, &y, "front"]);
        }
        for series in &chart.series {
            for point in &series.points {
                let name = if point.name.is_empty() { &point.short_name } else { &point.name };
                let front = point.front.map(|front| (front + 1).to_string()).unwrap_or_default();
                let [x, y] = [point.x, point.y].map(|quantity| quantity.to_string());
                let [panel, series, name] = [&chart.title, &series.label, name].map(|text| neutral(text));
                write(&mut writer, [&panel, &series, &name, &x, &y, &front]);
            }
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Writes a row to memory, which never fails.
fn write(writer: &mut csv::Writer<Vec<u8>>, row: [&str; 6]) {
    writer.write_record(row).expect("memory takes rows of one length");
}

#[cfg(test)]
mod tests {
    use plot::{Chart, Point, Series};

    #[test]
    fn designs_are_rows_with_their_fronts() {
        let point =
            |x: f64, name: &str, front| Point { x, y: 2.0, name: name.into(), front, ..Point::default() };
        let points =
            vec![point(1.5, "(4, 32)", Some(0)), Point { short_name: "=1".into(), ..point(3.0, "", None) }];
        let series = vec![Series { label: "4".into(), points, joined: false }];
        let chart = Chart {
            title: "t".into(),
            x_label: "x (us)".into(),
            y_label: "y".into(),
            series,
            ..Chart::default()
        };
        assert_eq!(
            super::points(&chart.into()),
            "panel,series,design,x (us),y,front\nt,4,\"(4, 32)\",1.5,2,1\nt,4,'=1,3,2,\n"
        );
    }
}
