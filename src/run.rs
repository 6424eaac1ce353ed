//! `rpu run`

mod dump;
mod ring;

use crate::data::{self, NamedFile, check_forms, named_file};
use crate::debugger::Location;
use crate::failure::{self, Failure};
use crate::files;
use crate::format::{Format, json};
use crate::machine_options::MachineArgs;
use crate::numbers::whole;
use crate::outputs::{Outputs, check_overwritten};
use crate::program;
use crate::run_failure::failure_of;
use b512_asm::{Program, Role};
use clap::builder::{OsStringValueParser, TypedValueParser};
use lab_run::inputs::drawn;
use lab_run::program::Axes;
use lab_run::{Mode, Options, page, run, table};
use sim::lint;
use sim::trace::Trace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Assembly text or object file, or - for standard input; or a ring program: .fhetch, .fhetch.gz
    /// or .fhetch.xz
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    ring: ring::RingArgs,
    /// Coefficients of an input; of a ring program, limb after limb. The ending of the file's name selects
    /// the form: .json is a list of numbers, and of texts such as "0x1f"; .npy is a NumPy array of integers,
    /// whose last axis of two holds the low and the high half of long ones; .bin, or - for a pipe, is 16
    /// little-endian bytes per coefficient. Inputs of a kernel without a file keep the program's initial
    /// data, or are drawn from the seed
    #[arg(long = "input", value_name = "NAME=FILE", value_parser = named_file())]
    inputs: Vec<NamedFile>,
    /// Write the coefficients of an output to a file, in the form that its name says
    #[arg(long = "output", value_name = "NAME=FILE", value_parser = named_file(), conflicts_with = "timing_only")]
    outputs: Vec<NamedFile>,
    /// Compare an output with the coefficients in a file
    #[arg(long = "expect", value_name = "NAME=FILE", value_parser = named_file(), conflicts_with = "timing_only")]
    expected: Vec<NamedFile>,
    /// Seed of random inputs, by default 0. If some inputs of a ring program have files, the others need a
    /// seed. The generator is SplitMix64. Its state is seed + i for the i-th input, or seed XOR a hash of the
    /// limb's id in a ring program. Each coefficient takes two outputs hi, lo: it is (hi * 2^64 + lo) mod q;
    /// in a kernel it is lo mod q if q has at most 64 bits
    #[arg(long, value_parser = whole::<u64>)]
    seed: Option<u64>,
    /// Compare every coefficient of the outputs with the golden model, also on random inputs. Ring programs
    /// are compared with their execution on big integers
    #[arg(long, conflicts_with = "timing_only")]
    check: bool,
    /// Simulate timing only; data is not touched
    #[arg(long, conflicts_with = "functional_only")]
    timing_only: bool,
    /// Execute on data only; timing is not simulated
    #[arg(long)]
    functional_only: bool,
    /// Simulate this many consecutive runs, each on its own data, such as the towers of a
    /// polynomial. Off-chip transfers of one run overlap with the computation of others, as set by
    /// the machine keys `hbm`
    #[arg(long, value_name = "RUNS", value_parser = runs, conflicts_with = "functional_only")]
    stream: Option<u32>,
    /// Write a pipeline trace: kanata=FILE for Konata, perfetto=FILE for Perfetto, ascii=FILE as
    /// text; FILE may be -
    #[arg(long = "trace", value_name = "KIND=FILE", value_parser = trace_file(), conflicts_with = "functional_only")]
    traces: Vec<TraceFile>,
    /// Write a page with stall breakdown, pipeline timeline, area and energy: one HTML file
    #[arg(long, value_name = "FILE.html", conflicts_with = "functional_only")]
    page: Option<PathBuf>,
    /// Write whose the time, the off-chip bytes and the energy of a ring program are, by stage, operation,
    /// function and kernel: JSON for <https://www.speedscope.app>. FILE may be -
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// First instruction of an ASCII trace, by default 0
    #[arg(long, value_name = "INDEX", value_parser = whole::<usize>)]
    from: Option<usize>,
    /// Number of instructions in an ASCII trace, by default 40
    #[arg(long, value_name = "COUNT", value_parser = whole::<usize>)]
    count: Option<usize>,
    /// Warn of values that are read before they are written, of accesses outside the memories and of
    /// outputs that overlap inputs, instead of refusing the program. An execution still ends at an access
    /// outside a memory
    #[arg(long)]
    lenient: bool,
    /// Print registers or words: v0..v7, s0, a1, m2, an output y, y+5 or y+0..7, with commas between
    /// them. The report then goes to standard error
    #[arg(long, value_name = "NAMES", conflicts_with = "timing_only")]
    dump: Vec<String>,
    /// The place of --dump: before the instruction on a line of the text, before the instruction with an
    /// index (#15), before the first access of a symbol, or at the end
    #[arg(long, value_name = "LINE|#INDEX|SYMBOL|end", requires = "dump")]
    at: Option<Location>,
    /// Format of the report
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// A trace and its destination.
#[derive(Clone)]
struct TraceFile {
    kind: TraceKind,
    path: PathBuf,
}

#[derive(Clone, Copy)]
enum TraceKind {
    Kanata,
    Perfetto,
    Ascii,
}

fn runs(text: &str) -> Result<u32, String> {
    let runs = whole(text)?;
    if (1..=100_000).contains(&runs) { Ok(runs) } else { Err("it must be from 1 to 100000".into()) }
}

fn trace_file() -> impl TypedValueParser<Value = TraceFile> {
    OsStringValueParser::new().try_map(|text| {
        const EXPECTED: &str = "expected kanata=FILE, perfetto=FILE or ascii=FILE";
        let (kind, path) = files::assigned(&text).ok_or(EXPECTED)?;
        let kinds = [TraceKind::Kanata, TraceKind::Perfetto, TraceKind::Ascii];
        let kind = kinds.into_iter().find(|known| known.name() == kind).ok_or(EXPECTED)?;
        Ok::<_, &str>(TraceFile { kind, path })
    })
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    args.check_options()?;
    if ring::is_meant(args)? { ring::main(args) } else { run_kernel(args) }
}

fn run_kernel(args: &Args) -> Result<(), Failure> {
    let machine = args.machine.load()?;
    let file = program::read(&args.file)?;
    let program = &file.program;
    check_outputs(program, args.outputs.iter().chain(&args.expected))?;
    let expected = expected(args)?;
    let inputs = data::read(&args.inputs)?;
    let is_given = |name: &str| args.inputs.iter().any(|file| file.name == name);
    let drawn: Vec<&str> = drawn(program).map(|input| &*input.name).filter(|name| !is_given(name)).collect();
    args.check_seed(&drawn)?;
    let mode = match (args.timing_only, args.functional_only) {
        (true, _) => Mode::TimingOnly,
        (_, true) => Mode::FunctionalOnly,
        _ => Mode::Full,
    };
    let stream = args.stream.map(|runs| runs as usize);
    let (seed, lenient) = (args.seed.unwrap_or(0), args.lenient);
    let names = args.expected.iter().map(|file| file.name.clone()).collect();
    let options = Options { mode, check: args.check, seed, inputs, expected: names, stream, lenient };
    if lenient && machine.check_fits(program).is_ok() {
        let warnings = file.diagnostics(lint::errors(program, &machine)).into_iter();
        warnings.for_each(|warning| failure::warn(&warning.as_warning()));
    }
    if !args.dump.is_empty() {
        // Before the run, which may stop at a fault after this location.
        files::print_text(&dump::dump(args, &file, &machine)?)?;
    }
    let outcome = run(program, &machine, &options).map_err(|error| failure_of(error, &file, &args.inputs))?;
    for (file, expected) in &expected {
        if let Some(found) = outcome.outputs.get(&file.name) {
            file.compare(found, expected, (&drawn, seed))?;
        }
    }
    let mut outputs = Outputs::default();
    for NamedFile { name, path } in &args.outputs {
        if let Some(words) = outcome.outputs.get(name) {
            outputs.add_coefficients(path, words, Axes::of(program))?;
        }
    }
    if let Some(timing) = outcome.timing.as_ref().filter(|_| !args.traces.is_empty()) {
        let trace = Trace::new(&machine, program, timing);
        for TraceFile { kind, path } in &args.traces {
            let mut content = Vec::new();
            let written = match kind {
                TraceKind::Kanata => trace.write_kanata(&mut content),
                TraceKind::Perfetto => trace.write_perfetto(&mut content),
                TraceKind::Ascii => {
                    trace.write_ascii(args.from.unwrap_or(0), args.count.unwrap_or(40), &mut content)
                }
            };
            written.map_err(|error| Failure::Work(error.to_string()))?;
            outputs.add(path, &content)?;
        }
    }
    if let Some(path) = &args.page {
        let trace = outcome.timing.as_ref().map(|timing| Trace::new(&machine, program, timing));
        outputs.add(path, page(&outcome.report, trace.as_ref()).as_bytes())?;
    }
    outputs.finish()?;
    let text = match args.format {
        Format::Table => table(&outcome.report),
        Format::Json => json(&outcome.report)?,
    };
    args.print_report(&text)
}

/// The files of expected outputs, with their words.
fn expected(args: &Args) -> Result<Vec<(&NamedFile, Vec<u128>)>, Failure> {
    args.expected.iter().map(|file| Ok((file, files::read_coefficients(&file.path)?))).collect()
}

impl Args {
    /// Prints the report: to standard error if data or a trace go to standard output.
    fn print_report(&self, text: &str) -> Result<(), Failure> {
        if self.destinations().iter().any(|(_, path)| files::is_dash(path)) {
            note!("{}", text.trim_end());
            return Ok(());
        }
        files::print_text(text)
    }

    /// The options that write data, traces or a page, each with its file.
    fn destinations(&self) -> Vec<(String, &Path)> {
        let mut all = Vec::new();
        for NamedFile { name, path } in &self.outputs {
            all.push((format!("--output {name}={}", diagnostic::path(path)), path.as_path()));
        }
        for TraceFile { kind, path } in &self.traces {
            all.push((format!("--trace {}={}", kind.name(), diagnostic::path(path)), path));
        }
        all.extend(
            self.page.iter().map(|path| (format!("--page {}", diagnostic::path(path)), path.as_path())),
        );
        all.extend(
            self.profile.iter().map(|path| (format!("--profile {}", diagnostic::path(path)), path.as_path())),
        );
        all.extend(self.dump.first().map(|names| (format!("--dump {names}"), Path::new("-"))));
        all
    }

    /// Refuses a seed from which no input is drawn. A check has random data beside the inputs.
    fn check_seed(&self, drawn: &[&str]) -> Result<(), Failure> {
        if self.seed.is_none() || self.check || !drawn.is_empty() {
            return Ok(());
        }
        let message = "`--seed` has no effect: every input has data";
        Err(Failure::wrong(message, "leave it out, or leave out the file of an input"))
    }

    /// The files that the command reads, those of `--inputs` aside.
    fn sources(&self) -> Vec<PathBuf> {
        let mut all = vec![self.file.clone(), self.machine.file().to_owned()];
        all.extend(self.inputs.iter().chain(&self.expected).map(|file| file.path.clone()));
        all.extend(self.ring.files(&self.file));
        all
    }

    /// Refuses options that other options make useless, and files of data without a form.
    fn check_options(&self) -> Result<(), Failure> {
        [&self.inputs, &self.outputs, &self.expected].into_iter().try_for_each(|files| check_forms(files))?;
        let mut known = BTreeMap::new();
        for (option, path) in self.destinations() {
            let Some(file) = files::identity(path) else { continue };
            if let Some(first) = known.get(&file) {
                let file = if files::is_dash(path) { "standard output" } else { "one file" };
                let message = format!("`{first}` and `{option}` both write to {file}");
                return Err(Failure::wrong(message, "name another file for one of them"));
            }
            known.insert(file, option);
        }
        check_overwritten(self.destinations(), self.sources())?;
        let ascii = self.traces.iter().any(|trace| matches!(trace.kind, TraceKind::Ascii));
        for (option, given) in [("--from", self.from.is_some()), ("--count", self.count.is_some())] {
            if given && !ascii {
                let message = format!("`{option}` has no effect without `--trace ascii=FILE`");
                return Err(Failure::wrong(message, "it selects the instructions of an ASCII trace"));
            }
        }
        let random = self.seed.is_some();
        let (named, folder) = (!self.inputs.is_empty(), self.ring.has_folder());
        for (option, given) in [("--input", named), ("--inputs", folder), ("--seed", random)] {
            if given && self.timing_only {
                let message = format!("`{option}` has no effect with `--timing-only`");
                return Err(Failure::wrong(message, "timing does not depend on data: leave one of them out"));
            }
        }
        Ok(())
    }
}

impl TraceKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Kanata => "kanata",
            Self::Perfetto => "perfetto",
            Self::Ascii => "ascii",
        }
    }
}

/// Checks that every file to write belongs to an output of the program.
fn check_outputs<'f>(program: &Program, outputs: impl Iterator<Item = &'f NamedFile>) -> Result<(), Failure> {
    let known = || program.symbols.iter().filter(|symbol| symbol.role == Role::Output);
    for NamedFile { name, .. } in outputs {
        if known().all(|symbol| symbol.name != *name) {
            let names: Vec<&str> = known().map(|symbol| symbol.name.as_str()).collect();
            let message = format!("unknown output `{name}`; the program has: {}", names.join(", "));
            return Err(Failure::wrong(message, None));
        }
    }
    Ok(())
}
