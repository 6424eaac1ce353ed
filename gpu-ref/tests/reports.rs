//! Checks that the tables of `reports/gpu/README.md` match the files beside it. `BLESS=1 cargo test
//! -p gpu-ref --test reports` rewrites them.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/gpu")
}

/// The fields of each line of a file after its header.
fn lines(file: &str) -> Vec<Vec<String>> {
    let records = csv::Reader::from_path(folder().join(file)).unwrap().into_records();
    records.map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
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

/// The times of a file.
struct Times {
    rows: Vec<Row>,
}

/// One time. The code has a name and the lengths of its words and moduli.
struct Row {
    code: [String; 3],
    /// Work, log2 of N, number of moduli, transforms per batch, mode.
    setting: [String; 5],
    us: String,
    spread: Option<f64>,
}

impl Times {
    /// Reads the output of `examples/bench.rs` but for the copies.
    fn own(file: &str) -> Self {
        let mut times = Self::all(file);
        times.rows.retain(|row| row.code[0] != "copy");
        times
    }

    /// Reads the output of `examples/bench.rs`.
    fn all(file: &str) -> Self {
        let row = |fields: Vec<String>| {
            let [name, work, log_n, bits, length, moduli, batch, mode, us, low, high] = &fields[..] else {
                panic!("eleven fields in {fields:?}")
            };
            let number = |field: &String| field.parse::<f64>().unwrap();
            Row {
                code: [name, bits, length].map(String::clone),
                setting: [work, log_n, moduli, batch, mode].map(String::clone),
                us: us.clone(),
                spread: Some((number(high) - number(low)) / number(us)),
            }
        };
        Self { rows: lines(file).into_iter().map(row).collect() }
    }

    /// Reads the output of the public codes' harness: `impl,direction,log_n,bits,batch,mode,us`, without
    /// a header. Marks behind a name say how its kernels were launched.
    fn public(file: &str) -> Self {
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        let row = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            let [name, direction, log_n, bits, batch, mode, us] = fields[..] else {
                panic!("seven fields in {line}")
            };
            let (name, alone) = name.strip_suffix("[one-a-graph]").map_or((name, false), |name| (name, true));
            let (base, moduli, launches) = match name.split_once("-rns64") {
                Some((base, launches)) => (base, "64", launches),
                None => (name, "1", ""),
            };
            let base = match base {
                "cheddar" => "Cheddar, 8df8b26",
                "cheddar-noOT" => "Cheddar (no roots on the fly), 8df8b26",
                "phantom" => "Phantom, 1f4a198",
                "gpuntt-merge" => "GPU-NTT, 95c739c",
                // Other work, or launches in parts.
                _ => return None,
            };
            let launches = match launches {
                "" => "",
                "-onelaunch" => " (one launch)",
                _ => return None,
            };
            let work = match direction {
                "fwd" => "forward",
                "inv" => "inverse",
                _ => "product",
            };
            let mode = match (batch, alone) {
                ("1", true) => "alone".to_owned(),
                ("1", false) => format!("row-{mode}"),
                _ => mode.to_owned(),
            };
            let length = if bits == "32" { "30" } else { "60" };
            Some(Row {
                code: [format!("{base}{launches}"), bits.to_owned(), length.to_owned()],
                setting: [work, log_n, moduli, batch, &mode].map(str::to_owned),
                us: us.to_owned(),
                spread: None,
            })
        };
        Self { rows: text.lines().filter_map(row).collect() }
    }

    /// The codes in the file's order.
    fn codes(&self) -> Vec<[String; 3]> {
        let mut codes: Vec<[String; 3]> = Vec::new();
        for row in &self.rows {
            if !codes.contains(&row.code) {
                codes.push(row.code.clone());
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
        let wanted = [work, log_n, moduli, batch, mode];
        let row = self.rows.iter().find(|row| row.code == *code && row.setting == wanted)?;
        Some((row.us.clone(), row.spread))
    }
}

/// Each of our times at every size that a public code has too: the fastest public one over ours.
fn ratios() -> String {
    let (own, public) = (Times::own("h200-bench.csv"), Times::public("h200-public.csv"));
    let us = |row: &Row| row.us.parse::<f64>().unwrap();
    let sizes = ["12", "13", "14", "15", "16", "17"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut below = 0;
    for (bits, length) in [("32", "30"), ("64", "60")] {
        for work in ["forward", "inverse", "product"] {
            for (moduli, batch, mode) in [
                ("64", "64", "cold"),
                ("64", "512", "cold"),
                ("1", "64", "cold"),
                ("1", "64", "warm"),
                ("1", "512", "cold"),
                ("1", "512", "warm"),
                ("1", "1", "alone"),
                ("1", "1", "row-warm"),
                ("1", "1", "row-cold"),
            ] {
                let cell = |log_n: &str| {
                    let wanted = [work, log_n, moduli, batch, mode];
                    let ours = own
                        .rows
                        .iter()
                        .find(|row| row.code == ["best", bits, length] && row.setting == wanted);
                    let theirs =
                        public.rows.iter().filter(|row| row.code[1] == bits && row.setting == wanted);
                    let ratio = theirs.map(us).reduce(f64::min)? / us(ours?);
                    Some(ratio)
                };
                let cells = sizes.map(cell);
                if cells.iter().all(Option::is_none) {
                    continue;
                }
                below += cells.iter().flatten().filter(|&&ratio| ratio < 1.2).count();
                let shown = cells.map(|ratio| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")));
                let head = [work, bits, moduli, batch, mode].map(str::to_owned);
                rows.push(head.into_iter().chain(shown).collect());
            }
        }
    }
    let head = ["work", "word", "moduli", "batch", "mode", "2^12", "2^13", "2^14", "2^15", "2^16", "2^17"];
    format!("{}\nBelow 1.20: {below}.\n", table(&head, rows))
}

/// One row per code with the times of some columns at N = 2^16, and the row's largest spread. Codes
/// without times are omitted.
fn settings(columns: &[(&str, &str, Setting)]) -> String {
    let mut rows = Vec::new();
    for times in [Times::own("h200-bench.csv"), Times::public("h200-public.csv")] {
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
    let times = Times::own("h200-bench.csv");
    let sizes = ["12", "13", "14", "15", "16", "17"];
    let rows = times.codes().into_iter().map(|code| {
        let time =
            |size| times.find(&code, "forward", size, ("64", "512", "cold")).map_or(String::new(), |t| t.0);
        code.iter().cloned().chain(sizes.map(time)).collect()
    });
    table(&["code", "word", "modulus", "2^12", "2^13", "2^14", "2^15", "2^16", "2^17"], rows)
}

/// Transforms of 64 moduli beside copies of as many bytes as two passes move, N = 2^16, cold.
fn floors() -> String {
    let [own, public] = [Times::all("h200-bench.csv"), Times::public("h200-public.csv")];
    let us = |times: &Times, code: &[String; 3], work, setting| -> Option<f64> {
        times.find(code, work, "16", setting)?.0.parse().ok()
    };
    let copy = |bits: &str| {
        let code = ["copy", bits, bits].map(str::to_owned);
        us(&own, &code, "copy", ("1", "512", "cold")).expect("a copy for each word size")
    };
    let mut rows = Vec::new();
    for (times, fastest) in [(&own, "best"), (&public, "Cheddar"), (&public, "Phantom")] {
        for code in times.codes().into_iter().filter(|code| code[0].starts_with(fastest)) {
            let setting = ("64", "512", "cold");
            let transforms = ["forward", "inverse"].map(|work| us(times, &code, work, setting));
            let floor = 2.0 * copy(&code[1]);
            let share =
                |us: Option<f64>| us.map_or(String::new(), |us| format!("{:.0}%", 100.0 * floor / us));
            rows.push([&code[..], &[format!("{floor:.4}")], &transforms.map(share)].concat());
        }
    }
    table(&["code", "word", "modulus", "two copies, us", "of forward", "of inverse"], rows)
}

/// Recipes whose kernels spill registers beside the fastest neighbour without spills.
struct Spilling {
    /// Options of `examples/tune.rs`.
    options: String,
    /// Microseconds and spilled bytes of the default recipe.
    own: (f64, u32),
    /// The same of the fastest neighbour without spills, and its description.
    other: Option<(f64, String)>,
}

/// Blocks of `h200-tune.csv`: a line of options, the default recipe, its neighbours from the fastest on.
fn spilling() -> Vec<Spilling> {
    let text = std::fs::read_to_string(folder().join("h200-tune.csv")).unwrap();
    let block = |block: &str| {
        let (options, lines) = block.split_once('\n').unwrap();
        let line = |line: &str| {
            let (us, rest) = line.split_once(',').unwrap();
            let (recipe, spilled) = rest.rsplit_once(',').unwrap();
            (us.parse::<f64>().unwrap(), recipe.to_owned(), spilled.parse::<u32>().unwrap())
        };
        let mut lines = lines.lines().map(line);
        let (us, _, spilled) = lines.next().unwrap();
        let other = lines.find(|line| line.2 == 0).map(|(us, recipe, _)| (us, recipe));
        Spilling { options: options.trim().replace(" --near", ""), own: (us, spilled), other }
    };
    text.split("# ").skip(1).map(block).collect()
}

fn spills() -> String {
    let row = |Spilling { options, own: (us, spilled), other }: Spilling| {
        let (time, recipe) = other.expect("a neighbour without spills");
        let head = [format!("`{options}`"), format!("{us:.4}"), spilled.to_string(), format!("{time:.4}")];
        [&head[..], &[format!("`{recipe}`"), format!("{:.3}", time / us)]].concat()
    };
    table(
        &["options", "default, us", "spilled bytes", "without spills, us", "recipe", "ratio"],
        spilling().into_iter().map(row),
    )
}

/// A kernel may spill only if that is faster than every neighbour that does not.
#[test]
fn kernels_that_spill_are_the_fastest() {
    let all = spilling();
    assert!(all.iter().filter(|block| block.own.1 > 0).count() >= 4);
    for Spilling { options, own: (us, spilled), other } in all {
        let (other, recipe) = other.expect("a neighbour without spills");
        assert!(spilled == 0 || us < other, "{options}: {us} us with spills, {other} us with {recipe}");
    }
}

/// The papers' strategies.
fn strategies() -> String {
    let times = Times::own("h200-papers.csv");
    let rows = times.codes().into_iter().map(|code| {
        let time = |setting| times.find(&code, "forward", "16", setting).unwrap().0;
        let settings = [("64", "512", "cold"), ("1", "512", "cold"), ("1", "1", "alone")];
        code.clone().into_iter().chain(settings.map(time)).collect()
    });
    table(&["strategy", "word", "modulus", "64 moduli, 512", "one modulus, 512", "alone"], rows)
}

/// A line of the ablation: a claim in one mode.
struct Judged {
    paper: String,
    claim: String,
    claimed: String,
    mode: String,
    /// The gain over all runs, and its extremes.
    gain: [f64; 3],
    verdict: String,
}

fn ablation() -> Vec<Judged> {
    let judged = |fields: Vec<String>| {
        let [paper, claim, claimed, _, mode, _, _, _, _, gain, low, high, verdict] = &fields[..] else {
            panic!("thirteen fields in {fields:?}")
        };
        let [paper, claim, claimed, mode, verdict] =
            [paper, claim, claimed, mode, verdict].map(String::clone);
        let gain = [gain, low, high].map(|field| field.parse().unwrap());
        Judged { paper, claim, claimed, mode, gain, verdict }
    };
    lines("h200-ablation.csv").into_iter().map(judged).collect()
}

/// Number of claims per verdict for each paper and mode.
fn verdicts() -> String {
    let claims = ablation();
    let verdicts = ["reproduced", "weaker", "refuted"];
    assert!(claims.iter().all(|claim| verdicts.contains(&&claim.verdict[..])));
    let papers = ["Cheddar", "HE-Booster", "Shivdikar et al.", "Caramel"];
    let rows = papers.iter().flat_map(|&paper| ["warm", "cold"].map(|mode| (paper, mode)));
    let row = |(paper, mode): (&str, &str)| {
        let counts = verdicts.map(|verdict| {
            let counted = claims.iter().filter(|claim| {
                (&claim.paper[..], &claim.mode[..], &claim.verdict[..]) == (paper, mode, verdict)
            });
            counted.count().to_string()
        });
        [vec![paper.to_owned(), mode.to_owned()], counts.to_vec()].concat()
    };
    table(&["paper", "mode", "reproduced", "weaker", "refuted"], rows.map(row))
}

/// The claims with a number: the paper's gain, and those of this card.
fn numbers() -> String {
    let claims = ablation();
    let with_number = claims.iter().filter(|claim| claim.claimed != "faster" && claim.mode == "warm");
    let row = |warm: &Judged| {
        let cold = claims.iter().find(|cold| cold.claim == warm.claim && cold.mode == "cold");
        let cells = |judged: Option<&Judged>| {
            judged.map_or(
                [String::new(), String::new()],
                |Judged { gain: [gain, low, high], verdict, .. }| {
                    [format!("{gain:.2} ({low:.2} to {high:.2})"), verdict.clone()]
                },
            )
        };
        let Judged { paper, claim, claimed, .. } = warm;
        let claimed = claimed.parse::<f64>().unwrap();
        let head = vec![paper.clone(), claim.clone(), format!("{claimed:.2}")];
        [head, cells(Some(warm)).to_vec(), cells(cold).to_vec()].concat()
    };
    table(&["paper", "claim", "claimed", "warm", "verdict", "cold", "verdict"], with_number.map(row))
}

/// Tests of each binary that are clean under each tool.
fn sanitizer() -> String {
    let results = lines("h200-sanitizer.csv");
    let binaries = ["transforms", "variants", "schemes", "multi"];
    let row = |tool: &str| {
        let counts = binaries.map(|binary| {
            let of = results.iter().filter(|line| line[0] == tool && line[1] == binary);
            let (clean, other): (Vec<_>, Vec<_>) = of.partition(|line| line[4] == "clean");
            if other.is_empty() {
                clean.len().to_string()
            } else {
                format!("{}, not {}", clean.len(), other.len())
            }
        });
        [vec![tool.to_owned()], counts.to_vec()].concat()
    };
    table(&[&["clean tests"][..], &binaries].concat(), ["memcheck", "racecheck"].map(row))
}

/// Microseconds of multi-GPU work by number of cards, and the speedup.
fn cards() -> String {
    let rows = ["64", "32"].map(|bits| {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for line in lines(&format!("h200-x2-multi{bits}.csv")) {
            let [what, partition, transport, _, us, _, _, speedup] = &line[..] else {
                panic!("eight fields in {line:?}")
            };
            if what.starts_with("step: ") {
                continue;
            }
            match rows.last_mut() {
                Some(row) if row[..3] == [what, partition, transport].map(String::clone) => {
                    row.extend([us.clone(), speedup.clone()]);
                }
                _ => {
                    rows.push([what, partition, transport, &bits.to_owned(), us].map(String::clone).to_vec())
                }
            }
        }
        rows
    });
    table(&["work", "partition", "transport", "bits", "1 card", "2 cards", "speedup"], rows.concat())
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
        ("ratios", ratios()),
        ("floors", floors()),
        ("spills", spills()),
        ("strategies", strategies()),
        ("verdicts", verdicts()),
        ("numbers", numbers()),
        ("sanitizer", sanitizer()),
        ("cards", cards()),
    ] {
        let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
        let start = page.find(&begin).expect("the table's beginning is marked") + begin.len();
        let stop = page.find(&end).expect("the table's end is marked");
        page.replace_range(start..stop, &format!("\n{table}\n"));
    }
    bless::fresh(path, page);
}
