//! The tables of `reports/gpu/README.md`, from the files in its folder.

mod claims;
mod spills;
mod times;

pub use spills::{Spilling, spilling};

use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// The folder of the measurements.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/gpu")
}

/// The lines of a file after its header.
fn lines<Line: serde::de::DeserializeOwned>(file: &str) -> Result<Vec<Line>> {
    let path = folder().join(file);
    let named = |error: csv::Error| Error::other(format!("{}: {error}", path.display()));
    csv::Reader::from_path(&path).map_err(named)?.into_deserialize().map(|line| line.map_err(named)).collect()
}

/// A table in Markdown, with columns of numbers on the right.
fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let mut text = line(&header.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
    let is_number = |cell: &str| cell.trim_end_matches('%').parse::<f64>().is_ok();
    let rule = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
        if column > 0 && cells.all(|cell| is_number(cell)) { "--:|" } else { "---|" }
    };
    text += &format!("|{}\n", (0..header.len()).map(rule).collect::<String>());
    rows.iter().for_each(|row| text += &line(row));
    text
}

/// The page with its tables: path and text.
///
/// # Errors
/// Returns an error that names the file if one is missing or has another form.
pub fn page() -> Result<(PathBuf, String)> {
    let path = folder().join("README.md");
    let mut page = std::fs::read_to_string(&path)?;
    for (name, table) in [
        ("many moduli", times::many_moduli()?),
        ("one modulus", times::one_modulus()?),
        ("singles", times::singles()?),
        ("sizes", times::sizes()?),
        ("ratios", times::ratios()?),
        ("changes", times::changes()?),
        ("taken", times::taken()?),
        ("many sizes", times::many_sizes()?),
        ("steady", times::steady()?),
        ("free roots", times::free_roots()?),
        ("floors", times::floors()?),
        ("spills", spills::spills()?),
        ("strategies", times::strategies()?),
        ("verdicts", claims::verdicts()?),
        ("numbers", claims::numbers()?),
        ("sanitizer", sanitizer()?),
        ("cards", cards()?),
    ] {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let marked =
            page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
        let (before, after) =
            marked.ok_or_else(|| Error::other(format!("{}: no marks for `{name}`", path.display())))?;
        page = format!("{before}{begin}\n{table}\n{end}{after}");
    }
    Ok((path, page))
}

/// A test under a tool: tool, binary, test, seconds, result.
type Sanitized = [String; 5];

/// Tests of each binary that are clean under each tool.
fn sanitizer() -> Result<String> {
    let results: Vec<Sanitized> = lines("h200-sanitizer.csv")?;
    let binaries = ["transforms", "variants", "schemes", "multi"];
    let row = |tool: &str| {
        let counts = binaries.map(|binary| {
            let of = results.iter().filter(|line| line[..2] == [tool, binary]);
            let (clean, other): (Vec<_>, Vec<_>) = of.partition(|line| line[4] == "clean");
            if other.is_empty() {
                clean.len().to_string()
            } else {
                format!("{}, not {}", clean.len(), other.len())
            }
        });
        [vec![tool.to_owned()], counts.to_vec()].concat()
    };
    Ok(table(&[&["clean tests"][..], &binaries].concat(), ["memcheck", "racecheck", "synccheck"].map(row)))
}

/// Work on several cards: what, partition, transport, devices, us, low, high, speedup.
type Divided = [String; 8];

/// Microseconds of multi-GPU work by number of cards, and the speedup.
fn cards() -> Result<String> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for bits in ["64", "32"] {
        let lines: Vec<Divided> = lines(&format!("h200-x2-multi{bits}.csv"))?;
        for [what, partition, transport, _, us, _, _, speedup] in lines {
            if what.starts_with("step: ") {
                continue;
            }
            let head = [what, partition, transport, bits.to_owned()];
            match rows.last_mut() {
                Some(row) if row[..4] == head => row.extend([us, speedup]),
                _ => rows.push([&head[..], &[us]].concat()),
            }
        }
    }
    Ok(table(&["work", "partition", "transport", "bits", "1 card", "2 cards", "speedup"], rows))
}
