//! `rpu`: the command line of the Ring Processing Unit's toolchain.
//!
//! Each subcommand has a file: it reads, calls a library and prints. Results go to standard output
//! or files, progress and messages to standard error. The exit status is 0; 1 for a failure of the
//! work, such as a wrong result; 2 for a wrong command, file or configuration.

mod assemble;
mod completions;
mod crosscheck;
mod diff;
mod disassemble;
mod explain;
mod failure;
mod files;
mod fit;
mod generate;
mod isa;
mod library;
mod machine;
mod plot;
mod reproduce;
mod run;
mod sweep;
mod tune;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// Assembler, code generator and cycle-level simulator for the Ring Processing Unit
#[derive(Parser)]
#[command(name = "rpu", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Assemble B512 text into an object file
    Asm(assemble::Args),
    /// Print a program as B512 text
    Disasm(disassemble::Args),
    /// Generate a kernel for a machine
    Gen(generate::Args),
    /// Run a program: execute it, simulate its timing, check its result
    Run(run::Args),
    /// Compare two runs: cycles, causes of stalls, energy, and the keys of the machine that changed
    Diff(diff::Args),
    /// Run a kernel on many machines and draw area against latency
    Sweep(sweep::Args),
    /// Search for the fastest plan of a kernel on a machine
    Tune(tune::Args),
    /// List the best known programs, their cycles, and the bounds of their plans
    Library(library::Args),
    /// Draw the files of a sweep's folder again
    Plot(plot::Args),
    /// Regenerate the paper's figures and hold its claims against ours
    Reproduce(reproduce::Args),
    /// Compare simulator, golden model and CUDA kernels, coefficient by coefficient
    Crosscheck(crosscheck::Args),
    /// Fit the constants of a technology to printed areas and energies, or try the readings of the paper
    Fit(fit::Args),
    /// Explain an error code such as B001
    Explain(explain::Args),
    /// Print the instruction set
    Isa,
    /// Print completions for a shell
    Completions(completions::Args),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Asm(args) => assemble::main(&args),
        Command::Disasm(args) => disassemble::main(&args),
        Command::Gen(args) => generate::main(&args),
        Command::Run(args) => run::main(&args),
        Command::Diff(args) => diff::main(&args),
        Command::Sweep(args) => sweep::main(&args),
        Command::Tune(args) => tune::main(&args),
        Command::Library(args) => library::main(&args),
        Command::Plot(args) => plot::main(&args),
        Command::Reproduce(args) => reproduce::main(&args),
        Command::Crosscheck(args) => crosscheck::main(&args),
        Command::Fit(args) => fit::main(&args),
        Command::Explain(args) => explain::main(&args),
        Command::Isa => isa::main(),
        Command::Completions(args) => completions::main(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.status())
        }
    }
}
