//! The studies of the project: `cargo run -p studies -- all` writes the pages of `reports/`.
//!
//! A study is a file of this folder and a row of [`STUDIES`]. Its prose is a template beside it, `NAME.md`.

mod applications;
mod automorphism;
mod best_machine;
mod bootstrap;
mod bootstrap_designs;
mod budget;
mod committed;
mod dataflows;
mod design;
mod fig4;
mod front_end;
mod memory;
mod operations;
mod outside;
mod page;
mod paper;
mod passes;
mod readings;
mod recordings;
mod short_words;
mod synthesis;
mod trust;
mod words;

use clap::Parser;
use page::{File, Files, repository};
use std::process::ExitCode;
use std::time::Instant;

/// A row of the table of studies.
struct Study {
    name: &'static str,
    time: Time,
    /// What it writes, from the root of the repository.
    pages: &'static [&'static str],
    files: fn() -> Files,
}

/// About how long a study takes on two cores, in the development profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Time {
    /// Seconds. CI checks its pages.
    Quick,
    /// Longer, up to minutes, or results of the library of recipes. `.ci/long` checks its pages.
    Long,
}

#[rustfmt::skip]
const STUDIES: &[Study] = &[
    study("applications", Time::Long, &["reports/he/applications.md"], applications::files),
    study("automorphism", Time::Long, &["reports/automorphism.md", "reports/automorphism.svg"], automorphism::files),
    study("best-machine", Time::Long, &["reports/best-machine.md", "reports/best-machine.svg", "reports/best-machine-parallel.svg"], best_machine::transform),
    study("best-machine-hmult", Time::Long, &["reports/best-machine-hmult.md", "reports/best-machine-hmult.svg", "reports/best-machine-hmult-parallel.svg"], best_machine::product),
    study("bootstrap", Time::Long, &["reports/he/bootstrap.md"], bootstrap::files),
    study("short-words", Time::Long, &["reports/he/short-words.md"], short_words::files),
    study("bootstrap-designs", Time::Long, &["reports/bootstrap-designs.md"], bootstrap_designs::files),
    study("budget", Time::Long, &["reports/budget.md"], budget::files),
    study("dataflows", Time::Long, &["reports/dataflows.md", "reports/dataflows.svg"], dataflows::files),
    study("fig4", Time::Long, &["reports/fig4.svg"], fig4::files),
    study("front-end", Time::Long, &["reports/front-end.md", "reports/front-end.svg"], front_end::files),
    study("memory", Time::Quick, &["reports/memory.md"], memory::files),
    study("operations", Time::Long, &["reports/he/operations.md"], operations::files),
    study("outside", Time::Long, &["reports/outside/README.md"], outside::files),
    study("paper", Time::Long, &["reports/paper/"], paper::evaluation),
    study("paper-setting", Time::Quick, &["reports/paper-setting.md"], paper::setting),
    study("passes", Time::Long, &["reports/passes.md"], passes::files),
    study("readings", Time::Quick, &["docs/readings.md"], readings::files),
    study("recordings", Time::Long, &["reports/he/recordings.md"], recordings::files),
    study("synthesis", Time::Quick, &["reports/synthesis.md"], synthesis::files),
    study("trust", Time::Long, &["reports/trust.md"], trust::files),
    study("words", Time::Long, &["reports/words.md", "reports/words.svg"], words::files),
];

const fn study(
    name: &'static str,
    time: Time,
    pages: &'static [&'static str],
    files: fn() -> Files,
) -> Study {
    Study { name, time, pages, files }
}

/// Write the pages of studies, or compare them with the committed ones.
#[derive(Parser)]
struct Args {
    /// Names of studies; `quick` for those that take seconds, or `all`
    #[arg(value_name = "NAME", required_unless_present = "list", value_parser = names())]
    names: Vec<String>,
    /// Write nothing; fail if a committed page differs
    #[arg(long)]
    check: bool,
    /// List the studies and their pages
    #[arg(long)]
    list: bool,
}

fn names() -> Vec<&'static str> {
    STUDIES.iter().map(|study| study.name).chain(["quick", "all"]).collect()
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.list {
        STUDIES.iter().for_each(|study| {
            println!(
                "{:<22}{:<8}{}",
                study.name,
                format!("{:?}", study.time).to_lowercase(),
                study.pages.join(", ")
            )
        });
        return ExitCode::SUCCESS;
    }
    let wanted = |study: &&Study| {
        let has = |name: &str| args.names.iter().any(|given| given == name);
        has("all") || has(study.name) || has("quick") && study.time == Time::Quick
    };
    let mut failures = 0;
    for study in STUDIES.iter().filter(wanted) {
        let begin = Instant::now();
        let outcome = (study.files)()
            .map_err(|error| error.to_string())
            .and_then(|files| if args.check { compare(study.name, &files) } else { write(&files) });
        let seconds = begin.elapsed().as_secs_f64();
        match outcome {
            Ok(done) => println!("{}: {done}, {seconds:.1} s", study.name),
            Err(error) => {
                eprintln!("{}: {error}", study.name);
                failures += 1;
            }
        }
    }
    ExitCode::from(u8::from(failures > 0))
}

/// The first file that differs from the committed one.
///
/// Pixels differ from machine to machine, so pictures are only looked for: the SVG files beside them show
/// what has changed.
fn stale(files: &[File]) -> Option<(&str, String)> {
    files.iter().find_map(|(path, content)| {
        let Ok(committed) = std::fs::read(repository(path)) else {
            return Some((path.as_str(), "there is no such file".to_owned()));
        };
        let differs = committed != *content && !path.ends_with(".png");
        differs.then(|| (path.as_str(), diagnostic::snapshot::difference(&committed, content)))
    })
}

fn compare(study: &str, files: &[File]) -> Result<String, String> {
    match stale(files) {
        None => Ok("fresh".to_owned()),
        Some((path, difference)) => {
            Err(format!("`{path}` is stale: `cargo run -p studies -- {study}` writes it\n{difference}"))
        }
    }
}

/// Writes the files if one is stale.
fn write(files: &[File]) -> Result<String, String> {
    if stale(files).is_none() {
        return Ok("fresh".to_owned());
    }
    for (path, content) in files {
        lab_run::files::write(&repository(path), content)
            .map_err(|error| format!("cannot write `{path}`: {error}"))?;
    }
    Ok("written".to_owned())
}
