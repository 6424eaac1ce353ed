//! `rpu`: the command line of the Ring Processing Unit's toolchain.
//!
//! Each subcommand has a file: it reads, calls a library and prints. Results go to standard output
//! or files, progress and messages to standard error. The exit status is 0; 1 for a failure of the
//! work, such as a wrong result; 2 for a wrong command, file or configuration; 130 and 143 after SIGINT
//! and SIGTERM.
//!
//! It is a library, so that a crate of a user's own has all of it with its own [programs](run):
//!
//! ```no_run
//! const PROGRAMS: &[programs::Generator] = &[];
//!
//! fn main() -> std::process::ExitCode {
//!     rpu::run(PROGRAMS)
//! }
//! ```

/// Writes a line to standard error, as `eprintln!` does, with control characters escaped. It may be closed:
/// messages are no reason to fail.
macro_rules! note {
    ($($argument:tt)*) => {{
        use std::io::Write as _;
        let line = format!($($argument)*);
        let _ = writeln!(std::io::stderr(), "{}", diagnostic::printable(&line));
    }};
}
mod assemble;
mod bar;
mod completions;
mod crosscheck;
mod data;
mod debug;
pub mod debugger;
mod diff;
mod disassemble;
mod explain;
mod explore;
mod failure;
mod files;
mod fit;
mod format;
mod generate;
mod import;
mod isa;
mod job_array;
mod library;
mod lint;
mod machine;
mod machine_options;
mod man;
mod message;
mod numbers;
mod outputs;
mod plot;
mod program;
mod prove;
mod reproduce;
mod ring_file;
mod ring_output;
mod rows;
mod run;
mod run_failure;
mod schedule;
mod signals;
mod sweep;
mod tune;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use diagnostic::printable;
use failure::Failure;
use message::{Message, MessageFormat};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// What a new user can try, below the list of commands.
const FIRST: &str = "\
First steps:
  rpu sweep                              Chart the paper's 28 machines in the folder `out`
  rpu gen ntt --n 4096 -o k.o            Generate a transform
  rpu run k.o --check --page k.html      Simulate it, check its result, and show where its cycles go";

/// Assembler, code generator and cycle-level simulator for the Ring Processing Unit
#[derive(Parser)]
#[command(name = "rpu", version, max_term_width = 100, arg_required_else_help = true, after_help = FIRST)]
struct Cli {
    /// Form of errors and warnings on standard error
    #[arg(long, global = true, value_enum, default_value = "text", value_name = "FORM")]
    message_format: MessageFormat,
    #[command(subcommand)]
    command: Command,
}

/// The subcommands: help, name and module. (The `mod` lines stay outside: rustfmt cannot see them
/// here.)
macro_rules! subcommands {
    ($(#[doc = $help:literal] $variant:ident => $module:ident,)*) => {
        #[derive(Subcommand)]
        enum Command {
            $(#[doc = $help] $variant($module::Args),)*
        }

        impl Command {
            fn run(&self) -> Result<(), Failure> {
                match self {
                    $(Self::$variant(args) => $module::main(args),)*
                }
            }
        }
    };
}

subcommands! {
    /// Assemble B512 text into an object file
    Asm => assemble,
    /// Print a program as B512 text
    Disasm => disassemble,
    /// Generate a program for a machine
    Gen => generate,
    /// Import a program of HEIR, or a network of Orion, as a ring program
    Import => import,
    /// Run a program: execute it, simulate its timing, check its result
    Run => run,
    /// Step through a program forwards and backwards in the terminal
    Debug => debug,
    /// Report faults of a program, results that nothing reads, and bank conflicts
    Lint => lint,
    /// Reorder a program written by hand for a machine, and prove that it computes the same
    Schedule => schedule,
    /// Prove that a program computes its claims, for all data
    Prove => prove,
    /// Compare two runs: cycles, stall causes, energy and changed machine keys
    Diff => diff,
    /// Simulate many machines and plot area against latency
    Sweep => sweep,
    /// Search a space of machines and plans for its Pareto front
    Explore => explore,
    /// Search for the fastest plan of an operation on a machine
    Tune => tune,
    /// List the best known programs with their cycles and bounds
    Library => library,
    /// Draw charts of results: any columns of sweeps and explorations
    Plot => plot,
    /// Regenerate the paper's figures and compare its claims with our results
    Reproduce => reproduce,
    /// Compare simulator, golden model and CUDA kernels, coefficient by coefficient
    Crosscheck => crosscheck,
    /// Fit technology constants to published areas and energies, or evaluate readings of the paper
    Fit => fit,
    /// Explain an error code such as B001, or list all codes
    Explain => explain,
    /// List, show, check and compare machines; print schemas of the TOML formats
    Machine => machine,
    /// Print the instruction set reference
    Isa => isa,
    /// Print shell completions
    Completions => completions,
    /// Write man pages
    Man => man,
}

/// Follows `RPU_CPU`: `scalar` restricts arithmetic to portable scalar code, `native` or nothing does not.
fn restrict_cpu() -> Result<(), Failure> {
    let Some(value) = std::env::var_os("RPU_CPU") else { return Ok(()) };
    match value.to_str() {
        Some("" | "native") => Ok(()),
        Some("scalar") => {
            ring::cpu::use_scalar();
            Ok(())
        }
        Some(_) | None => Err(Failure::wrong(
            format_args!("invalid value `{}` of the environment variable RPU_CPU", diagnostic::path(&value)),
            "expected `native` or `scalar`",
        )),
    }
}

/// Adds a user's own programs.
fn add(programs: &'static [programs::Generator]) -> Result<(), Failure> {
    match programs {
        [] => Ok(()),
        programs => programs::add_programs(programs).map_err(|error| Failure::wrong(error, None)),
    }
}

/// Whether the arguments, which clap has refused, ask for messages in JSON.
fn wants_json() -> bool {
    let arguments: Vec<_> = std::env::args_os().collect();
    let pair = |pair: &[OsString]| pair[0] == "--message-format" && pair[1] == "json";
    arguments.windows(2).any(pair) || arguments.iter().any(|argument| argument == "--message-format=json")
}

/// Names the subcommands that have an unknown option, in place of the advice to pass it as a value.
fn with_owners(mut error: clap::Error) -> clap::Error {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(option) = unknown.strip_prefix("--")
    {
        let cli = Cli::command();
        let has_option = |command: &&clap::Command| {
            command.get_arguments().any(|argument| argument.get_long() == Some(option))
        };
        let owners = cli.get_subcommands().filter(has_option);
        let owners: Vec<_> = owners.map(|command| format!("`rpu {}`", command.get_name())).collect();
        if !owners.is_empty() {
            let tip = format!("`{unknown}` is an option of {}", owners.join(", "));
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
    }
    error
}

/// The first argument that an option of texts was given and that is no text: clap says only that there is
/// one.
fn argument_that_is_no_text() -> Option<OsString> {
    let arguments: Vec<_> = std::env::args_os().collect();
    let is_refused = |kept: &&OsString| {
        let others = arguments.iter().map(|argument| match argument == *kept {
            true => argument.clone(),
            false => argument.to_string_lossy().into_owned().into(),
        });
        Cli::try_parse_from(others).is_err_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    arguments.iter().filter(|argument| argument.to_str().is_none()).find(is_refused).cloned()
}

/// Ends the process with clap's message. Arguments in it may have control characters.
fn refuse(error: &clap::Error) -> ! {
    if let (ErrorKind::InvalidUtf8, Some(argument)) = (error.kind(), argument_that_is_no_text()) {
        let message = format!("the argument `{}` is not UTF-8", diagnostic::path(&argument));
        let help = "its option takes text: name the file from within its folder, or by a link";
        message::set_format(if wants_json() { MessageFormat::Json } else { MessageFormat::default() });
        Failure::wrong(message, help).print();
        std::process::exit(error.exit_code());
    }
    let text = error.render().to_string();
    if wants_json() {
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let (message, help) = text.split_once("\n").unwrap_or((text, ""));
        let help = Some(help.trim()).filter(|help| !help.is_empty());
        note!("{}", Message::error(message, help).line());
        std::process::exit(error.exit_code());
    }
    match printable(&text) {
        Cow::Owned(safe) => {
            note!("{}", safe.trim_end());
            std::process::exit(error.exit_code());
        }
        Cow::Borrowed(_) => error.exit(),
    }
}

/// Runs the command line of this process, with programs of a user's own beside the built-in ones: `gen
/// program`, sweeps and explorations know them by their names.
pub fn run(programs: &'static [programs::Generator]) -> ExitCode {
    if let Err(error) = add(programs) {
        return end(Err(error));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => refuse(&with_owners(error)),
        // Help, or the version.
        Err(error) => return end(files::printed(error.print().and_then(|()| std::io::stdout().flush()))),
    };
    message::set_format(cli.message_format);
    end(restrict_cpu().and_then(|()| cli.command.run()))
}

/// Prints the failure of a command, if it has one that is an error.
fn end(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) | Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.status())
        }
    }
}
