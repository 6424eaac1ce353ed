//! Times of transforms and products, compared with public codes.

use super::{folder, lines, table};
use gpu_ref::Timing;
use std::io::{Error, Result};

/// Number of moduli, transforms per batch, and mode.
type Setting = (&'static str, &'static str, &'static str);

/// A name, and the lengths of its words and moduli.
type Code = [String; 3];

/// One time.
struct Time {
    code: Code,
    /// Work, log2 of N, number of moduli, transforms per batch, mode.
    setting: [String; 5],
    us: String,
    /// The spread relative to the median, if the file has it.
    spread: Option<f64>,
}

impl Time {
    fn us(&self) -> f64 {
        self.us.parse().unwrap_or(f64::NAN)
    }
}

const SIZES: [&str; 6] = ["12", "13", "14", "15", "16", "17"];

/// The columns of [`SIZES`].
fn sizes_after(head: &[&'static str]) -> Vec<&'static str> {
    [head, &["2^12", "2^13", "2^14", "2^15", "2^16", "2^17"]].concat()
}

/// The output of `examples/bench.rs`, with the copies or without.
fn own(file: &str, copies: bool) -> Result<Vec<Time>> {
    let time = |[name, work, log_n, bits, length, moduli, batch, mode, us, low, high]: [String; 11]| {
        let number = |field: &str| field.parse::<f64>().unwrap_or(f64::NAN);
        let spread = Some((number(&high) - number(&low)) / number(&us));
        Time { code: [name, bits, length], setting: [work, log_n, moduli, batch, mode], us, spread }
    };
    let times = lines(file)?.into_iter().map(time);
    Ok(times.filter(|time| copies || time.code[0] != "copy").collect())
}

/// Our times on an H200. `reproduction` reads them, too, so its package holds them.
const OURS: &str = "../../lab/reproduction/data/h200-bench.csv";

/// The output of the public codes' harness: `impl,direction,log_n,bits,batch,mode,us`, without a header.
/// Marks behind a name say how its kernels were launched.
fn public() -> Result<Vec<Time>> {
    public_of("h200-public.csv")
}

fn public_of(file: &str) -> Result<Vec<Time>> {
    let text = std::fs::read_to_string(folder().join(file))?;
    let times = text.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let fields = fields.try_into().map_err(|_| Error::other(format!("seven fields in {line}")))?;
        Ok(public_time(fields))
    });
    Ok(times.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// `None` for other work, or launches in parts.
fn public_time([name, direction, log_n, bits, batch, mode, us]: [&str; 7]) -> Option<Time> {
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
    Some(Time {
        code: [format!("{base}{launches}"), bits.to_owned(), length.to_owned()],
        setting: [work, log_n, moduli, batch, &mode].map(str::to_owned),
        us: us.to_owned(),
        spread: None,
    })
}

/// The codes in the order of the times.
fn codes(times: &[Time]) -> Vec<&Code> {
    let mut codes: Vec<&Code> = Vec::new();
    for time in times {
        if !codes.contains(&&time.code) {
            codes.push(&time.code);
        }
    }
    codes
}

fn find<'t>(
    times: &'t [Time],
    code: &Code,
    work: &str,
    log_n: &str,
    (moduli, batch, mode): Setting,
) -> Option<&'t Time> {
    times.iter().find(|time| time.code == *code && time.setting == [work, log_n, moduli, batch, mode])
}

fn shown(time: Option<&Time>) -> String {
    time.map_or(String::new(), |time| time.us.clone())
}

/// The fastest of `public` over `ours`, times of the same work. `None` if the code that is the fastest for
/// this work elsewhere is not among them: the ratio would be too high.
fn fastest_over<'t>(
    ours: &Time,
    public: impl Iterator<Item = &'t Time> + Clone,
    fastest: Option<&str>,
) -> Option<f64> {
    let measured = fastest.is_none_or(|name| public.clone().any(|time| time.code[0].starts_with(name)));
    Some(public.map(Time::us).reduce(f64::min).filter(|_| measured)? / ours.us())
}

/// Each of our times on an H200 at every size that a public code has for the same work: the fastest public
/// one over ours. More codes were measured on an H100. A cell is empty if the fastest of them has no time on
/// the H200.
pub(super) fn ratios() -> Result<String> {
    let (own, public, beside) = (own(OURS, false)?, public()?, lines::<Beside>("h100-beside.csv")?);
    let ratio = |bits: &str, length: &str, wanted: [&str; 5]| {
        let ours = own.iter().find(|time| time.code == ["best", bits, length] && time.setting == wanted);
        let theirs = public.iter().filter(|time| time.code[1] == bits && time.setting == wanted);
        let [work, log_n, moduli, batch, mode] = wanted;
        let line = beside.iter().find(|line| line[..7] == [work, bits, length, moduli, batch, mode, log_n]);
        fastest_over(ours?, theirs, line.map(family))
    };
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
                let cells = SIZES.map(|log_n| ratio(bits, length, [work, log_n, moduli, batch, mode]));
                if cells.iter().all(Option::is_none) {
                    continue;
                }
                below += cells.iter().flatten().filter(|&&ratio| ratio < 1.2).count();
                let shown = cells.map(|ratio| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")));
                rows.push([&[work, bits, moduli, batch, mode].map(str::to_owned)[..], &shown].concat());
            }
        }
    }
    let head = sizes_after(&["work", "word", "moduli", "batch", "mode"]);
    Ok(format!("{}\nBelow 1.20: {below}.\n", table(&head, rows)))
}

/// One row per code with the times of some columns at N = 2^16, and the row's largest spread. Codes
/// without times are omitted.
fn settings(columns: &[(&str, &str, Setting)]) -> Result<String> {
    let mut rows = Vec::new();
    for times in [own(OURS, false)?, public()?] {
        for code in codes(&times) {
            let found: Vec<_> =
                columns.iter().map(|&(_, work, setting)| find(&times, code, work, "16", setting)).collect();
            if found.iter().all(Option::is_none) {
                continue;
            }
            let spread = found.iter().flatten().filter_map(|time| time.spread).reduce(f64::max);
            let spread = spread.map_or(String::new(), |spread| format!("{:.1}%", 100.0 * spread));
            rows.push(code.iter().cloned().chain(found.into_iter().map(shown)).chain([spread]).collect());
        }
    }
    let heads: Vec<&str> = columns.iter().map(|column| column.0).collect();
    Ok(table(&[&["code", "word", "modulus"], &heads[..], &["spread"]].concat(), rows))
}

/// 64 moduli, each with its own table.
pub(super) fn many_moduli() -> Result<String> {
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
pub(super) fn one_modulus() -> Result<String> {
    settings(&[
        ("forward, 512, warm", "forward", ("1", "512", "warm")),
        ("forward, 512, cold", "forward", ("1", "512", "cold")),
        ("inverse, 512, cold", "inverse", ("1", "512", "cold")),
        ("product, 512, cold", "product", ("1", "512", "cold")),
    ])
}

/// Single transforms in three ways.
pub(super) fn singles() -> Result<String> {
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
pub(super) fn sizes() -> Result<String> {
    let times = own(OURS, false)?;
    let row = |code: &Code| {
        let cells = SIZES.map(|size| shown(find(&times, code, "forward", size, ("64", "512", "cold"))));
        [&code[..], &cells].concat()
    };
    Ok(table(&sizes_after(&["code", "word", "modulus"]), codes(&times).into_iter().map(row)))
}

/// The papers' strategies.
pub(super) fn strategies() -> Result<String> {
    let times = own("h200-papers.csv", false)?;
    let settings = [("64", "512", "cold"), ("1", "512", "cold"), ("1", "1", "alone")];
    let row = |code: &Code| {
        [&code[..], &settings.map(|setting| shown(find(&times, code, "forward", "16", setting)))].concat()
    };
    let head = ["strategy", "word", "modulus", "64 moduli, 512", "one modulus, 512", "alone"];
    Ok(table(&head, codes(&times).into_iter().map(row)))
}

/// Transforms of 64 moduli, compared with copies of the bytes that two passes move, N = 2^16, cold.
pub(super) fn floors() -> Result<String> {
    let [own, public] = [own(OURS, true)?, public()?];
    let mut rows = Vec::new();
    for (times, fastest) in [(&own, "best"), (&public, "Cheddar"), (&public, "Phantom")] {
        for code in codes(times).into_iter().filter(|code| code[0].starts_with(fastest)) {
            let copy = ["copy", &code[1], &code[1]].map(str::to_owned);
            let copy = find(&own, &copy, "copy", "16", ("1", "512", "cold"));
            let floor =
                2.0 * copy.ok_or_else(|| Error::other("h200-bench.csv: no copy of a word size"))?.us();
            let share = |work| {
                let time = find(times, code, work, "16", ("64", "512", "cold"));
                time.map_or(String::new(), |time| format!("{:.0}%", 100.0 * floor / time.us()))
            };
            rows.push([&code[..], &[format!("{floor:.4}")], &["forward", "inverse"].map(share)].concat());
        }
    }
    Ok(table(&["code", "word", "modulus", "two copies, µs", "of forward", "of inverse"], rows))
}

/// A line of `h100-beside.csv`: work, word, modulus, moduli, batch, mode, log2 of N, our time, the time of
/// the fastest public code, and its name. The last two are empty if no public code has this work.
type Beside = [String; 10];

/// The name of the public code, without its variant.
fn family(line: &Beside) -> &str {
    line[9].split(' ').next().unwrap_or_default()
}

/// A line of `h200-changes.csv`: kernels, run, work, log2 of N, word, modulus, batch, mode, time, extremes.
/// All have 64 moduli.
type Change = [String; 11];

/// The median over the runs.
fn median(times: &[Change], kernels: &str, key: &[String], setting: [&str; 2]) -> Option<f64> {
    let of = times.iter().filter(|time| time[0] == kernels && time[2..6] == *key && time[6..8] == setting);
    let us: Option<Vec<f64>> = of.map(|time| time[8].parse().ok()).collect();
    Some(Timing::of(us?)?.median)
}

fn key_cells(key: &[String]) -> [String; 4] {
    [format!("2^{}", key[1]), key[0].clone(), key[2].clone(), key[3].clone()]
}

/// Work, log2 of N, word and modulus of lines, each once.
fn keys<const FIELDS: usize>(times: &[[String; FIELDS]]) -> Vec<&[String]> {
    let mut keys: Vec<&[String]> = Vec::new();
    for time in times {
        if !keys.contains(&&time[2..6]) {
            keys.push(&time[2..6]);
        }
    }
    keys
}

/// Times before chains shared no state, and now.
pub(super) fn changes() -> Result<String> {
    let times: Vec<Change> = lines("h200-changes.csv")?;
    let row = |key: &&[String]| {
        let cells = ["64", "512"].map(|batch| {
            let of = |kernels| median(&times, kernels, key, [batch, "cold"]).unwrap_or(f64::NAN);
            let (before, now) = (of("before"), of("now"));
            [format!("{before:.4}"), format!("{now:.4}"), format!("{:.3}", now / before)]
        });
        [&key_cells(key)[..], &cells.concat()].concat()
    };
    let batches = ["64: before", "now", "now / before", "512: before", "now", "now / before"];
    Ok(table(&[&["N", "work", "word", "modulus"][..], &batches].concat(), keys(&times).iter().map(row)))
}

/// A line of `h200-taken.csv`: kernels, run, multiprocessors taken, time.
type Taken = [String; 4];

/// The multiprocessors of an H200.
const MULTIPROCESSORS: f64 = 132.0;

/// Times while another kernel holds multiprocessors, over those on the whole card; and what all others need
/// if they share the work.
pub(super) fn taken() -> Result<String> {
    let times: Vec<Taken> = lines("h200-taken.csv")?;
    let us = |kernels: &str, taken: &str| {
        let of = times.iter().filter(|time| time[0] == kernels && time[2] == taken);
        Timing::of(of.filter_map(|time| time[3].parse().ok()).collect()).map_or(f64::NAN, |of| of.median)
    };
    let kernels = ["32 bits, once", "32 bits, passes", "64/60, chain"];
    let row = |taken: &str| {
        let held: f64 = taken.parse().expect("a number");
        let ratios = kernels.map(|kernels| format!("{:.2}", us(kernels, taken) / us(kernels, "0")));
        [&[taken.to_owned(), format!("{:.2}", MULTIPROCESSORS / (MULTIPROCESSORS - held))][..], &ratios]
            .concat()
    };
    Ok(table(
        &[&["taken", "in proportion"][..], &kernels].concat(),
        ["1", "2", "4", "8", "16", "33", "66"].map(row),
    ))
}

/// A line of `h200-roots.csv`: kernels, run, work, log2 of N, word, modulus, time.
type Roots = [String; 7];

/// Chains whose roots cost nothing, and the most that pairs of blocks with common roots can save: a half of
/// it.
pub(super) fn free_roots() -> Result<String> {
    let times: Vec<Roots> = lines("h200-roots.csv")?;
    let row = |key: &&[String]| {
        let of = |kernels| {
            let of = times.iter().filter(|time| time[0] == kernels && time[2..6] == **key);
            of.filter_map(|time| time[6].parse().ok()).reduce(f64::min).unwrap_or(f64::NAN)
        };
        let (with, without) = (of("chain"), of("no roots"));
        let cells =
            [format!("{with:.4}"), format!("{without:.4}"), format!("{:.1}%", 50.0 * (1.0 - without / with))];
        [&key_cells(key)[..], &cells].concat()
    };
    Ok(table(
        &["N", "work", "word", "modulus", "chain", "without roots", "half of the difference"],
        keys(&times).iter().map(row),
    ))
}

/// The fastest public code over `best` in one call, 64 moduli, each size and batch.
pub(super) fn many_sizes() -> Result<String> {
    let (own, public) = (own("h200-many.csv", false)?, public_of("h200-many-public.csv")?);
    let mut rows = Vec::new();
    for (word, modulus) in [("32", "30"), ("64", "50"), ("64", "60")] {
        for work in ["forward", "inverse", "product"] {
            for batch in ["64", "512"] {
                let cells = ["12", "13", "14", "15", "16"].map(|log_n| {
                    let wanted = [work, log_n, "64", batch, "cold"];
                    let ours = own
                        .iter()
                        .find(|time| time.code == ["best", word, modulus] && time.setting == wanted);
                    let theirs = public.iter().filter(|time| time.code[1] == word && time.setting == wanted);
                    let ratio = ours.and_then(|ours| fastest_over(ours, theirs, None));
                    ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"))
                });
                rows.push([&[work, word, modulus, batch].map(str::to_owned)[..], &cells].concat());
            }
        }
    }
    Ok(table(&["work", "word", "modulus", "batch", "2^12", "2^13", "2^14", "2^15", "2^16"], rows))
}

/// A steady state beside bursts, 64 moduli in batches of 512 at 2^16.
pub(super) fn steady() -> Result<String> {
    let times: Vec<Change> = lines("h200-changes.csv")?;
    let row = |key: &&[String]| {
        let of = |mode| median(&times, "now", key, ["512", mode]);
        let (bursts, steady) = (of("cold")?, of("steady")?);
        let cells = [format!("{bursts:.4}"), format!("{steady:.4}"), format!("{:.3}", steady / bursts)];
        Some([&key_cells(key)[..], &cells].concat())
    };
    let head = ["N", "work", "word", "modulus", "bursts", "steady", "steady / bursts"];
    Ok(table(&head, keys(&times).iter().filter_map(row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(code: &str, us: &str) -> Time {
        let code = [code, "32", "30"].map(str::to_owned);
        Time { code, setting: Default::default(), us: us.to_owned(), spread: None }
    }

    #[test]
    fn a_ratio_without_the_fastest_public_code_is_refused() {
        let (ours, cheddar, gpu_ntt) =
            (time("best", "1"), time("Cheddar, 8df8b26", "20"), time("GPU-NTT, 95c739c", "3"));
        assert_eq!(fastest_over(&ours, [&cheddar, &gpu_ntt].into_iter(), Some("GPU-NTT")), Some(3.0));
        assert_eq!(fastest_over(&ours, [&cheddar].into_iter(), Some("GPU-NTT")), None);
        assert_eq!(fastest_over(&ours, [&cheddar].into_iter(), None), Some(20.0));
        assert_eq!(fastest_over(&ours, [].into_iter(), None), None);
    }

    /// On the H200, 64 moduli in 32-bit words have times of Cheddar only: no cell at another size than 2^16.
    /// Cerium has none, and is the fastest for single transforms.
    #[test]
    fn cells_without_the_fastest_public_code_are_empty() {
        let ratios = ratios().unwrap();
        let filled = |start: &str| -> Vec<bool> {
            let line = ratios.lines().find(|line| line.starts_with(start)).unwrap();
            line.split('|').skip(6).take(6).map(|cell| !cell.trim().is_empty()).collect()
        };
        for work in ["forward", "inverse", "product"] {
            for batch in ["64", "512"] {
                let row = filled(&format!("| {work} | 32 | 64 | {batch} | cold |"));
                assert_eq!(row, [false, false, false, false, true, false], "{work}, {batch}");
            }
        }
        assert_eq!(filled("| forward | 32 | 1 | 1 | alone |"), [true, true, true, true, false, true]);
        assert_eq!(filled("| forward | 64 | 64 | 64 | cold |"), [false, false, true, true, true, true]);
    }

    /// Codes of the other word size, or for another N, do other work.
    #[test]
    fn the_fastest_public_code_does_the_same_work() {
        for line in lines::<Beside>("h100-beside.csv").unwrap() {
            let [_, word, _, _, batch, _, log_n, ..] = &line;
            let suits = match family(&line) {
                "" => word == "128",
                "GPU-NTT" => word != "128",
                "Phantom" => word == "64",
                "Cheddar" => word == "32" && log_n == "16",
                "Cerium" => (word.as_str(), log_n.as_str(), batch.as_str()) == ("32", "16", "1"),
                other => panic!("{other} is not among the codes of README.md"),
            };
            assert!(suits, "{line:?}");
        }
    }
}
