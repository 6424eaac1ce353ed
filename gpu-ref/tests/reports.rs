//! Checks that the tables of `reports/gpu/README.md` match the files beside it. `BLESS=1 cargo test
//! -p gpu-ref --test reports` rewrites them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/gpu")
}

/// The fields of each line of a file after its header. Commas inside quotes are not handled: no
/// field used here follows one.
fn lines(file: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&header.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
    let _ = writeln!(text, "|---|{}", "--:|".repeat(header.len() - 1));
    rows.into_iter().for_each(|row| text += &line(&row));
    text
}

/// A timed setting at N = 2^16: number of moduli, transforms per batch, and mode.
type Setting = (&'static str, &'static str, &'static str);

/// Time of one row, and its spread relative to the median if the file has it.
type Time = (String, Option<f64>);

/// Finds the times of a file: fields `work,log_n,bits,modulus_bits,moduli,batch,mode,us[,low,high]`
/// from position `from`, after fields that name the code.
struct Times {
    lines: Vec<Vec<String>>,
    from: usize,
}

impl Times {
    fn of(file: &str, from: usize) -> Self {
        Self { lines: lines(file), from }
    }

    /// The codes with the lengths of their words and moduli, in the file's order.
    fn codes(&self) -> Vec<[String; 3]> {
        let mut codes: Vec<[String; 3]> = Vec::new();
        for line in &self.lines {
            let code =
                [line[..self.from].join(", "), line[self.from + 2].clone(), line[self.from + 3].clone()];
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    }

    fn find(
        &self,
        code: &[String; 3],
        work: &str,
        log_n: &str,
        (moduli, batch, mode): Setting,
    ) -> Option<Time> {
        let [name, bits, length] = code;
        let wanted = [work, log_n, bits, length, moduli, batch, mode];
        let line = self.lines.iter().find(|line| {
            line[..self.from].join(", ") == *name && line[self.from..self.from + 7].iter().eq(wanted.iter())
        })?;
        let number = |field: &String| field.parse::<f64>().unwrap();
        let numbers: Vec<f64> = line[self.from + 7..].iter().map(number).collect();
        let spread = (numbers.len() == 3).then(|| (numbers[2] - numbers[1]) / numbers[0]);
        Some((line[self.from + 7].clone(), spread))
    }
}

/// One row per code with the times of some columns at N = 2^16, and the row's largest spread. Codes
/// without times are omitted.
fn settings(columns: &[(&str, &str, Setting)]) -> String {
    let mut rows = Vec::new();
    for times in [Times::of("h200-bench.csv", 1), Times::of("h200-public.csv", 3)] {
        for code in times.codes() {
            let found: Vec<_> =
                columns.iter().map(|&(_, work, setting)| times.find(&code, work, "16", setting)).collect();
            if found.iter().all(Option::is_none) {
                continue;
            }
            let spread = found.iter().flatten().filter_map(|time| time.1).reduce(f64::max);
            let cells = found.into_iter().map(|time| time.map_or(String::new(), |time| time.0));
            let spread = spread.map_or(String::new(), |spread| format!("{:.1}%", 100.0 * spread));
            rows.push(code.into_iter().chain(cells).chain([spread]).collect());
        }
    }
    let heads: Vec<&str> = columns.iter().map(|column| column.0).collect();
    table(&[&["code", "word", "modulus"], &heads[..], &["spread"]].concat(), rows)
}

/// 64 moduli, each with its own table.
fn many_moduli() -> String {
    settings(&[
        ("forward, 64", "forward", ("64", "64", "cold")),
        ("inverse, 64", "inverse", ("64", "64", "cold")),
        ("product, 64", "product", ("64", "64", "cold")),
        ("forward, 512", "forward", ("64", "512", "cold")),
        ("inverse, 512", "inverse", ("64", "512", "cold")),
        ("product, 512", "product", ("64", "512", "cold")),
    ])
}

/// One modulus for a whole batch.
fn one_modulus() -> String {
    settings(&[
        ("forward, 512, warm", "forward", ("1", "512", "warm")),
        ("forward, 512, cold", "forward", ("1", "512", "cold")),
        ("inverse, 512, cold", "inverse", ("1", "512", "cold")),
        ("product, 512, cold", "product", ("1", "512", "cold")),
    ])
}

/// Single transforms in three ways.
fn singles() -> String {
    settings(&[
        ("forward, alone", "forward", ("1", "1", "alone")),
        ("in a row, warm", "forward", ("1", "1", "row-warm")),
        ("in a row, cold", "forward", ("1", "1", "row-cold")),
        ("inverse, alone", "inverse", ("1", "1", "alone")),
        ("in a row, warm", "inverse", ("1", "1", "row-warm")),
        ("in a row, cold", "inverse", ("1", "1", "row-cold")),
    ])
}

/// Forward transforms of `best` at every size.
fn sizes() -> String {
    let times = Times::of("h200-bench.csv", 1);
    let sizes = ["12", "13", "14", "15", "16", "17"];
    let rows = times.codes().into_iter().map(|code| {
        let time = |size| times.find(&code, "forward", size, ("64", "512", "cold")).unwrap().0;
        code[1..].iter().cloned().chain(sizes.map(time)).collect()
    });
    table(&["word", "modulus", "2^12", "2^13", "2^14", "2^15", "2^16", "2^17"], rows)
}

/// The papers' strategies.
fn strategies() -> String {
    let times = Times::of("h200-papers.csv", 1);
    let rows = times.codes().into_iter().map(|code| {
        let time = |setting| times.find(&code, "forward", "16", setting).unwrap().0;
        let settings = [("64", "512", "cold"), ("1", "512", "cold"), ("1", "1", "alone")];
        code.clone().into_iter().chain(settings.map(time)).collect()
    });
    table(&["strategy", "word", "modulus", "64 moduli, 512", "one modulus, 512", "alone"], rows)
}

/// Number of claims per verdict for each paper.
fn verdicts() -> String {
    let claims = lines("h200-ablation.csv");
    let verdicts = ["reproduced", "weaker", "refuted"];
    assert!(claims.iter().all(|claim| verdicts.iter().any(|verdict| claim.last().unwrap() == verdict)));
    let row = |paper: &str| {
        let counts = verdicts.map(|verdict| {
            let counted = claims.iter().filter(|claim| claim[0] == paper && claim.last().unwrap() == verdict);
            counted.count().to_string()
        });
        [vec![paper.to_owned()], counts.to_vec()].concat()
    };
    let papers = ["Cheddar", "HE-Booster", "Shivdikar et al.", "Caramel"];
    table(&["paper", "reproduced", "weaker", "refuted"], papers.map(row))
}

/// Microseconds of multi-GPU work by number of cards.
fn cards() -> String {
    let rows = ["64", "32"].map(|bits| {
        let times = lines(&format!("h200-x4-multi{bits}.csv"));
        let mut rows: Vec<Vec<String>> = Vec::new();
        for line in &times {
            let [what, partition, _, _, us, _] = &line[..] else { panic!("six fields in {line:?}") };
            match rows.last_mut() {
                Some(row) if row[0] == *what && row[1] == *partition => row.push(us.clone()),
                _ => rows.push(vec![what.clone(), partition.clone(), bits.to_owned(), us.clone()]),
            }
        }
        rows
    });
    table(&["work", "partition", "bits", "1 card", "2 cards", "4 cards"], rows.concat())
}

#[test]
fn tables_are_what_the_files_say() {
    let path = folder().join("README.md");
    let committed = std::fs::read_to_string(&path).unwrap();
    let mut page = committed;
    for (name, table) in [
        ("many moduli", many_moduli()),
        ("one modulus", one_modulus()),
        ("singles", singles()),
        ("sizes", sizes()),
        ("strategies", strategies()),
        ("verdicts", verdicts()),
        ("cards", cards()),
    ] {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let start = page.find(&begin).expect("the table's beginning is marked") + begin.len();
        let stop = page.find(&end).expect("the table's end is marked");
        page.replace_range(start..stop, &format!("\n{table}\n"));
    }
    bless::fresh(path, page);
}
