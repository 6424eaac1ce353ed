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

/// Microseconds of a forward transform at N = 2^16, for some strategies.
fn transforms() -> String {
    let times = lines("h200-warm.csv");
    let time = |name: &str, bits: &str, batch: &str| {
        let found = times.iter().find(|line| line[..5] == [name, "forward", "16", bits, batch]);
        found.map_or(String::new(), |line| line[6].clone())
    };
    let rows = [
        ("best", "32"),
        ("best-latency", "32"),
        ("cheddar", "32"),
        ("shivdikar-4", "32"),
        ("best", "64"),
        ("best-latency", "64"),
        ("caramel", "64"),
        ("shivdikar-4", "64"),
        ("best", "128"),
        ("best-latency", "128"),
        ("wide", "128"),
    ];
    let row = |(name, bits): (&str, &str)| {
        let batches = ["1", "64", "512"].map(|batch| time(name, bits, batch));
        [vec![name.to_owned(), bits.to_owned()], batches.to_vec()].concat()
    };
    table(&["strategy", "bits", "batch 1", "batch 64", "batch 512"], rows.map(row))
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
    for (name, table) in [("transforms", transforms()), ("verdicts", verdicts()), ("cards", cards())] {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let start = page.find(&begin).expect("the table's beginning is marked") + begin.len();
        let stop = page.find(&end).expect("the table's end is marked");
        page.replace_range(start..stop, &format!("\n{table}\n"));
    }
    bless::fresh(path, page);
}
