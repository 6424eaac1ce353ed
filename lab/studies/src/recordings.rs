//! Recorded programs on machines. The environment variable `RING_PROGRAM_TRACES` names the folder of the
//! recordings: `NAME.fhetch.xz` beside its manifest, `NAME.json.xz`.

use crate::applications::OFF_CHIP;
use crate::operations::{binding, changed_machine, machine, machines};
use crate::page::{Fault, Files, fill, lines, text};
use ring::Degree;
use ring::prime::largest_primes;
use ring_program::{Inputs, Interface, Manifest, RingProgram, compression, read, read_file};
use runtime::schedule::traffic::is_key;
use runtime::{Keys, Report, Runtime};
use sim::Machine;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

const MACHINES: [&str; 3] = ["paper", "fast", "narrow"];

/// The recordings of larger programs, and the degrees of their programs with secure parameters.
const LARGE: [(&str, u64); 3] = [
    ("boot_sparse_n512", 1 << 16),
    ("rn_openfhe_bootstrap_sparse256_44_n4096", 1 << 16),
    ("rn_logreg_iteration2_n4096", 1 << 17),
];

pub(crate) fn files() -> Files {
    let Some(folder) = folder() else { return Ok(Vec::new()) };
    let paper = machine("paper")?;
    let mut all = Vec::new();
    for name in names(&folder)? {
        let program =
            read_file(&program_file(&folder, &name), Interface::Manifest(&manifest(&folder, &name)?))?;
        all.push(format!("| {name} | {} | {} |", program.length(), cells(&program, &paper)?));
    }
    let large = LARGE.map(|(name, degree)| section(&folder, name, degree));
    let large = large.into_iter().collect::<Result<Vec<_>, _>>()?;
    let page = fill(
        include_str!("recordings.md"),
        &[("machines", &machines(&MACHINES)?), ("all", &lines(all)), ("large", &large.join("\n\n"))],
    );
    Ok(vec![text("reports/he/recordings.md", page)])
}

/// The folder of the recordings; `None`, with a message, if the environment names none.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("RING_PROGRAM_TRACES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("NOT COMPUTED: RING_PROGRAM_TRACES names no folder of recordings");
    }
    folder
}

/// The recordings of a folder that have a manifest.
fn names(folder: &Path) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        names.extend(file.strip_suffix(".fhetch.xz").map(str::to_owned));
    }
    names.retain(|name| manifest_file(folder, name).is_file());
    names.sort_unstable();
    Ok(names)
}

fn program_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.fhetch.xz"))
}

fn manifest_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json.xz"))
}

fn manifest(folder: &Path, name: &str) -> Result<Manifest, Fault> {
    Ok(Manifest::read_file(&manifest_file(folder, name))?)
}

/// The lines of a recording in rings of another degree, modulo as many primes of the same lengths.
pub(crate) fn at_degree(folder: &Path, name: &str, degree: u64) -> Result<RingProgram, Fault> {
    let mut recorded = String::new();
    compression::open(&program_file(folder, name))?.read_to_string(&mut recorded)?;
    let mut manifest = manifest(folder, name)?;
    manifest.degree = degree;
    let text = with_moduli(&recorded, Degree::new(degree)?)?;
    Ok(read(name, text.as_bytes(), Interface::Manifest(&manifest))?)
}

/// A text with other primes of the same lengths, and without what depends on its degree.
fn with_moduli(recorded: &str, degree: Degree) -> Result<String, Fault> {
    let bits = |line: &str| -> Result<Option<u32>, Fault> {
        let Some((index, modulus)) = line.strip_prefix("m[").and_then(|line| line.split_once("] 0x")) else {
            return Ok(None);
        };
        let length = u128::BITS - u128::from_str_radix(modulus.trim(), 16)?.leading_zeros();
        Ok(Some(length).filter(|_| index != "0"))
    };
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for line in recorded.lines() {
        bits(line)?.into_iter().for_each(|length| *counts.entry(length).or_default() += 1);
    }
    let primes =
        counts.into_iter().map(|(length, count)| Ok((length, largest_primes(length, degree, count)?)));
    let mut primes = primes.collect::<Result<BTreeMap<_, _>, ring::Error>>()?;
    let mut text = String::with_capacity(recorded.len());
    for line in recorded.lines() {
        if let Some(length) = bits(line)? {
            let prime = primes.get_mut(&length).and_then(Vec::pop).expect("as many primes as moduli");
            writeln!(text, "{} {prime:#X}", line.split_once(' ').map_or(line, |(index, _)| index))?;
            continue;
        }
        let depends =
            |operand: &&str| ["omega=", "mask=", "logn="].iter().any(|name| operand.starts_with(name));
        let operands: Vec<&str> = line.split(", ").filter(|operand| !depends(operand)).collect();
        writeln!(text, "{}", operands.join(", "))?;
    }
    Ok(text)
}

/// The part of the page on a recording at another degree. Below its table, why a machine does not run it.
fn section(folder: &Path, name: &str, degree: u64) -> Result<String, Fault> {
    let program = at_degree(folder, name, degree)?;
    let mut part = format!(
        "### `{name}`, n = {degree}, {} lines\n\n\
         | machine | keys, MiB | time, ms | energy, mJ | traffic, MiB | HBM is busy | binds |\n\
         |---|--:|--:|--:|--:|--:|---|\n",
        program.length()
    );
    let mut notes = String::new();
    for machine_name in MACHINES {
        let machine = changed_machine(machine_name, &[OFF_CHIP])?;
        match cells(&program, &machine) {
            Ok(cells) => writeln!(part, "| {machine_name} | {cells} |")?,
            Err(error) => {
                writeln!(
                    part,
                    "| {machine_name} | {:.1} | too large | | | | |",
                    key_mib(&program, &machine)
                )?;
                write!(notes, "\nOn `{machine_name}`, {error}.\n")?;
            }
        }
    }
    Ok((part + &notes).trim_end().to_owned())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The limbs of keys that a program reads, in MiB.
fn key_mib(program: &RingProgram, machine: &Machine) -> f64 {
    let inputs = Inputs::new(program);
    let keys = program.inputs().iter().filter(|group| is_key(&group.name)).flat_map(|group| &group.limbs);
    let keys = keys.filter(|&&limb| inputs.is_needed(limb)).count() as u64;
    mib(keys * machine.instruction_set().bytes(program.degree().get()))
}

/// The results of a program on a machine; an error if a memory is too small.
fn cells(program: &RingProgram, machine: &Machine) -> Result<String, Fault> {
    let runtime = Runtime::new(program, machine, Keys::Streamed)?;
    let report = runtime.report(&runtime.time(false)?);
    let Report { time_us, energy, hbm, .. } = &report;
    Ok(format!(
        "{:.1} | {:.3} | {:.2} | {:.1} | {:.0}% | {}",
        key_mib(program, machine),
        time_us / 1e3,
        (energy.kernels + energy.hbm + energy.idle_clocks + energy.leakage) / 1e3,
        mib(hbm.bytes_by_kind.values().sum()),
        100.0 * hbm.busy,
        binding(&report),
    ))
}
