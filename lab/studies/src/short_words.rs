//! Bootstraps with words of 28 to 36 bits, compact key switches, and fewer levels after a bootstrap:
//! `reports/he/short-words.md`.

use crate::operations::{binding, changed_machine, machines};
use crate::page::{Fault, Files, fill, lines, text};
use programs::{Options, ParameterSet, find_program, generate_defined};
use rayon::prelude::*;
use runtime::{Keys, Report, Runtime};

const MACHINES: [&str; 3] = ["paper", "fast", "narrow"];

/// Keys and plaintexts of a whole bootstrap do not fit the memory of the machines.
const MEMORY: &str = "hbm.stacks=8";

/// The lanes and memory of SHARP by notes on Falcon, with vectors that a front end can issue.
const ACCELERATOR: [&str; 6] = [
    "hple.count=1024",
    "vdm.banks=1024",
    "vdm.size_mib=192",
    "hbm.gb_per_s=1024",
    "isa.vector_length=4096",
    "frontend.width=2",
];

/// The sets with short words, and the bits of a word.
const WORDS: [(&str, u32); 3] = [("sharp-36", 36), ("cheddar-31", 31), ("cinnamon-28", 28)];

/// A published time of a bootstrap: the system, the set that is nearest, the kind, ms, the source, and what
/// is doubtful.
const PUBLISHED: [(&str, &str, &str, f64, &str, &str); 7] = [
    (
        "SHARP",
        "`sharp-36`",
        "simulated",
        3.12,
        "notes on Falcon (ASPLOS 2026)",
        "the paper could not be had; Min-KS, 4 clusters of 256 lanes, 198 MB, 1 TB/s by the notes",
    ),
    ("Falcon", "`sharp-36`", "simulated", 2.11, "notes on Falcon", "as SHARP"),
    (
        "FAST",
        "`sharp-36`",
        "simulated",
        1.38,
        "notes on FAST (ISCA 2025)",
        "the paper could not be had; 36 and 60 bits",
    ),
    (
        "Cheddar, A100 with 80 GB",
        "`cheddar-31`",
        "measured",
        48.5,
        "Cheddar's preprint",
        "40.0 in the printed version, by notes on it; the parameters of its release, which may differ from the paper's",
    ),
    ("Cheddar, RTX 4090", "`cheddar-31`", "measured", 51.9, "Cheddar", "as above"),
    (
        "Cheddar, RTX 5090",
        "`cheddar-31`",
        "measured",
        22.1,
        "Theodosian, arXiv 2512.18345",
        "the scale is not in the abstract",
    ),
    (
        "Cerium, several GPUs",
        "`cinnamon-28`",
        "measured",
        7.5,
        "Cerium, arXiv 2512.11269",
        "the abstract says neither how many nor which parameters; the primes are those of its repository",
    ),
];

/// What a bootstrap of a set costs.
struct Cost {
    transforms: usize,
    keys: usize,
    reports: Vec<Report>,
}

impl Cost {
    fn ms(&self, machine: usize) -> f64 {
        self.reports[machine].time_us / 1e3
    }

    fn times(&self) -> String {
        (0..MACHINES.len()).map(|machine| format!(" {:.1} |", self.ms(machine))).collect()
    }
}

/// A bootstrap on the machines, with words of so many bits, and on the accelerator.
fn cost(set: &ParameterSet, bits: Option<u32>, setting: &[(&str, &str)]) -> Result<Cost, Fault> {
    let program = find_program("bootstrap").expect("a program");
    let generated = generate_defined(&program, set, &Options::of(setting.iter().copied()))?;
    let total = generated.ledger.total();
    let word = bits.map(|bits| format!("isa.word_bits={bits}"));
    let changes: Vec<&str> = word.iter().map(String::as_str).chain([MEMORY]).collect();
    let own = MACHINES.iter().map(|name| changed_machine(name, &changes));
    let machines = own.chain([changed_machine("paper", &[&changes[..], &ACCELERATOR].concat())]);
    let machines = machines.collect::<Result<Vec<_>, _>>()?;
    let report = |machine| -> Result<Report, Fault> {
        let runtime = Runtime::new(&generated.program, machine, Keys::Streamed)?;
        Ok(runtime.report(&runtime.time(false)?))
    };
    let reports = machines.par_iter().map(report).collect::<Result<_, _>>()?;
    Ok(Cost { transforms: total.transforms, keys: total.keys.len(), reports })
}

fn built_in(name: &str) -> Result<ParameterSet, Fault> {
    Ok(ParameterSet::built_in(name, None).ok_or("a built-in set")??)
}

/// The bits of a word that a set takes; the machines' own for Lattigo's.
fn bits(name: &str) -> Option<u32> {
    WORDS.iter().find(|(set, _)| *set == name).map(|(_, bits)| *bits)
}

pub(crate) fn files() -> Files {
    let (mut sets, mut fastest) = (Vec::new(), f64::INFINITY);
    for (name, bits) in WORDS {
        let set = built_in(name)?;
        let left = set.levels() - set.bootstrap().ok_or("a set with a bootstrap")?.depth();
        for hoisting in ["double", "horner"] {
            let cost = cost(&set, Some(bits), &[("hoisting", hoisting), ("rescale", "merged")])?;
            let accelerator = &cost.reports[MACHINES.len()];
            if name == WORDS[0].0 {
                fastest = fastest.min(accelerator.time_us / 1e3);
            }
            sets.push(format!(
                "| `{name}` | {bits} | {} | {} | {} | {left} | {:.0} | {hoisting} | {} |{} {:.1} | {} |",
                set.q().len(),
                set.p().len(),
                set.levels(),
                set.parameters().log2_qp,
                cost.transforms,
                cost.times(),
                accelerator.time_us / 1e3,
                binding(accelerator),
            ));
        }
    }
    let (mut hoistings, mut gains) = (Vec::new(), Vec::new());
    for name in ["lattigo-n16qp1546", "sharp-36"] {
        let set = built_in(name)?;
        let cost = |hoisting| cost(&set, bits(name), &[("hoisting", hoisting)]);
        let [plain, compact, horner] = [cost("min-ks")?, cost("compact")?, cost("horner")?];
        gains.extend((0..MACHINES.len()).map(|machine| plain.ms(machine) / compact.ms(machine)));
        for (hoisting, cost) in [("min-ks", plain), ("compact", compact), ("horner", horner)] {
            let (keys, transforms, times) = (cost.keys, cost.transforms, cost.times());
            hoistings.push(format!("| `{name}` | {hoisting} | {keys} | {transforms} |{times}"));
        }
    }
    let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
    let most = gains.iter().copied().fold(0.0, f64::max);
    let mut levels = Vec::new();
    for (name, all) in [("lattigo-n16qp1546", ["10", "5", "2"]), ("cheddar-31", ["14", "8", "2"])] {
        let set = built_in(name)?;
        for left in all {
            let cost = cost(&set, bits(name), &[("levels_out", left)])?;
            levels.push(format!("| `{name}` | {left} | {} |{}", cost.transforms, cost.times()));
        }
    }
    let published = PUBLISHED.iter().map(|(system, set, kind, ms, source, doubts)| {
        format!("| {system} | {set} | {kind} | {ms} | {source} | {doubts} |")
    });
    let page = fill(
        include_str!("short_words.md"),
        &[
            ("memory", &MEMORY),
            ("machines", &machines(&MACHINES)?),
            ("accelerator", &ACCELERATOR.map(|change| format!("`{change}`")).join(", ")),
            ("sets", &lines(sets)),
            ("published", &lines(published)),
            ("slower", &format!("{:.0}", fastest / PUBLISHED[0].3)),
            ("hoistings", &lines(hoistings)),
            ("gains", &format!("{least:.2} to {most:.2}")),
            ("levels", &lines(levels)),
        ],
    );
    Ok(vec![text("reports/he/short-words.md", page)])
}
