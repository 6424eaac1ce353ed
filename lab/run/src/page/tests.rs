use super::*;
use crate::samples::{kernel, untimed};
use crate::{Mode, Options, run};

#[test]
fn a_page_has_the_numbers_of_its_run() {
    let report = kernel(&["vdm.banks=64"]);
    let html = page(&report, None);
    for part in [
        "<h1>demo on rpu-128x128: 128 HPLEs, 64 VDM banks, 1.53 GHz</h1>",
        "Machine rpu-128x128 with vdm.banks = 64. Every coefficient of the results was checked. ",
        "<td class=\"name\">time</td><td>1.250 µs, 2000 cycles at 1.53 GHz</td>",
        "<td class=\"name\">resource bound</td><td>1600 cycles</td>",
        "<td class=\"name\">dependence bound</td><td>0 cycles</td>",
        "<td class=\"name\">over the larger bound</td><td>1.25 times</td>",
        "<td class=\"name\">area</td><td>20.50 mm²</td>",
        "<td class=\"name\">energy</td><td>4.000 µJ</td>",
        "<td class=\"name\">power</td><td>3.20 W</td>",
        "<td class=\"name\">load/store</td><td>1200</td><td>50.0 %</td><td>4000</td>",
        "<td class=\"name\">compute</td><td>1</td><td>37.5 %</td><td>30</td>",
        "Bank conflicts of the VDM: 0 cycles.",
        "<h3>area: 20.50 mm²</h3>",
        "LAW engines: 39.0%",
        "<h3>energy: 4.000 µJ</h3>",
        "VDM: 75.0%",
        "<td class=\"name\">vdm.banks</td><td>64</td>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let footer = format!("model {}, program {}", crate::model::MODEL_VERSION, report.program_blake3);
    assert!(html.contains(&footer) && !html.contains("<h2>Pipeline</h2>"));
    let html = page(&untimed(&[]), None);
    assert!(html.contains("<h3>area: 20.50 mm²</h3>"));
    assert!(
        !html.contains("resource bound") && !html.contains("<h2>Pipes</h2>") && !html.contains("was checked")
    );
}

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

/// The chart of a run has as much of each pipe as the timing says.
#[test]
fn the_chart_of_a_run_has_its_utilisation() {
    let text = include_str!("../../../../kernels-b512/vadd.b512");
    let program = b512_asm::assemble(text).unwrap();
    let machine = Machine::rpu_128x128();
    let outcome = run(&program, &machine, &Options { mode: Mode::TimingOnly, ..Options::default() }).unwrap();
    let timing = outcome.timing.unwrap();
    let svg = busy(&Trace::new(&machine, &program, &timing), timing.cycles.0).into_string();
    let mut heights = [0.0; 3];
    for bar in svg.split("<rect").skip(1) {
        let number = |name: &str| {
            let rest = &bar[bar.find(&format!(" {name}=\"")).unwrap() + name.len() + 3..];
            rest[..rest.find('"').unwrap()].parse::<f64>().unwrap()
        };
        heights[(number("y") + number("height")).round() as usize / HEIGHT - 1] += number("height");
    }
    let utilisation = timing.utilisation(&machine).pipes;
    for (height, pipe) in heights.iter().zip(Pipe::VECTOR) {
        let share = height / (HEIGHT - 8) as f64 / BINS as f64;
        assert!((share - utilisation[pipe]).abs() < 0.01, "{}: {share}, {}", pipe.label(), utilisation[pipe]);
    }
    assert!(svg.contains(&format!(">{}</text>", timing.cycles.0)));
}
