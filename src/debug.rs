//! `rpu debug`

#[cfg(feature = "debugger")]
mod terminal;

use crate::data::{self, NamedFile, named_file};
use crate::debugger::{Listing, Session, Target};
use crate::failure::Failure;
use crate::numbers::whole;
use crate::program::ProgramArgs;
use crate::run_failure::failure_of;
use b512_asm::{Program, Role};
use lab_run::program::ProgramFile;
use lab_run::{admit, inputs_of};
use sim::Machine;
use std::collections::BTreeMap;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Coefficients of an input, as for `rpu run`. Other inputs keep the program's initial data, or are drawn
    /// from the seed
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = named_file())]
    inputs: Vec<NamedFile>,
    /// The words that an output should have at the end; other outputs are compared with the program's claims
    #[arg(long = "expect", value_name = "NAME=FILE", value_parser = named_file())]
    expected: Vec<NamedFile>,
    /// Debug a program that `rpu run` refuses, because of its defects or of an instruction that faults
    #[arg(long)]
    lenient: bool,
    /// Seed of random inputs
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (file, machine) = args.program.load()?;
    let title = format!("{} | {}", file.name(), machine.name);
    if !args.lenient {
        admit(&file.program, &machine).map_err(|error| failure_of(error, &file, &[]))?;
    }
    let mut session = session(&file, &machine, &args.inputs, args.seed)?;
    let expected = expected(&file.program, &mut session, &args.expected)?;
    if !expected.is_empty() {
        session.expect(&expected);
    }
    #[cfg(feature = "debugger")]
    return terminal::show(session, title);
    #[cfg(not(feature = "debugger"))]
    Err(Failure::wrong(
        format_args!("no debugger of `{title}` in this `rpu`"),
        "build it with `cargo build --release --features debugger`, or use `rpu run --dump v0..v7 --at LINE`",
    ))
}

/// The words that outputs should have: those of files, else by the claims of the program.
fn expected(
    program: &Program,
    session: &mut Session,
    files: &[NamedFile],
) -> Result<BTreeMap<String, Vec<u128>>, Failure> {
    let mut expected = BTreeMap::new();
    for claim in &program.claims {
        let words = |name: &String| {
            let targets =
                Target::parse(name, program).expect("the assembler has checked the symbols of claims");
            session.value(&targets[0])
        };
        let inputs: Vec<Vec<u128>> = claim.inputs.iter().map(words).collect();
        let inputs: Vec<&[u128]> = inputs.iter().map(Vec::as_slice).collect();
        // Without a result, the claim says nothing about these inputs.
        let results = golden::evaluate(claim, &inputs).unwrap_or_default();
        expected.extend(claim.outputs.iter().cloned().zip(results));
    }
    let mut words = data::read(files)?;
    for file in files {
        let NamedFile { name, .. } = file;
        let symbol = program.symbol(name).filter(|symbol| symbol.role == Role::Output);
        let Some(symbol) = symbol else {
            return Err(Failure::wrong(format_args!("unknown output `{name}`"), None));
        };
        let words = words.remove(name).unwrap_or_default();
        if symbol.words as usize != words.len() {
            file.compare(&vec![0; symbol.words as usize], &words, (&[], 0))?;
        }
        expected.insert(name.clone(), words);
    }
    Ok(expected)
}

/// A session of a program with data for its inputs.
pub(crate) fn session(
    file: &ProgramFile,
    machine: &Machine,
    inputs: &[NamedFile],
    seed: u64,
) -> Result<Session, Failure> {
    let given = data::read(inputs)?;
    let words =
        inputs_of(&file.program, machine, &given, seed).map_err(|error| failure_of(error, file, inputs))?;
    let source = Listing::new(file.program.clone(), file.lines());
    Session::new(source, machine, words).map_err(|error| Failure::wrong(error, None))
}
