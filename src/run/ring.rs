//! `rpu run` on a ring program

use super::{Args, TraceFile, TraceKind};
use crate::bar::clock;
use crate::data::{NamedFile, check_names};
use crate::failure::{self, Failure};
use crate::files;
use crate::format::{Format, json};
use crate::outputs::{Outputs, check_overwritten};
use crate::ring_file::RingFileArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use diagnostic::input::Content;
use diagnostic::{Diagnostic, nearest};
use lab_run::json::escaped;
use lab_run::{Form, RingData, RingFile, RingRun, idle_outputs, parse_mapping, ring_page, speedscope, table};
use programs::SwitchingKey;
use ring::Degree;
use ring_program::data::{Words, concat};
use ring_program::lint::{Finding, lint};
use ring_program::{Code, Group, Inputs, RingProgram, compression, mark};
use runtime::schedule::traffic::is_key;
use runtime::{Choice, Keys, Mapping, Merit, RunError};
use std::io::BufRead;
use std::path::{Component, Path, PathBuf};

/// The options of ring programs.
#[derive(clap::Args)]
pub(super) struct RingArgs {
    #[command(flatten)]
    file: RingFileArgs,
    /// Folder with the inputs of a ring program that no `--input` names: NAME.npy, NAME.bin or NAME.json, in
    /// the forms of `--input`
    #[arg(long = "inputs", value_name = "FOLDER", value_parser = files::folder())]
    folder: Option<PathBuf>,
    /// Origin of a ring program's keys: inputs whose names contain `key` or `evk`, or end in `.b.J` or
    /// `.a.J`; and the manifest's list `seeded`
    #[arg(long, value_parser = origins())]
    keys: Option<Keys>,
    /// What the search for the mapping of a ring program minimises; by default cycles
    #[arg(long, value_parser = merits())]
    optimise: Option<Merit>,
    /// Mapping of a ring program in place of a search: a file that `rpu machine schema mapping` describes, or
    /// the JSON document of a run
    #[arg(long, value_name = "FILE", conflicts_with = "optimise")]
    mapping: Option<PathBuf>,
}

fn origins() -> impl TypedValueParser<Value = Keys> {
    let values = Keys::ALL.map(|keys| PossibleValue::new(keys.name()).help(keys.doc()));
    let find = |name: String| Keys::ALL.into_iter().find(|keys| keys.name() == name);
    PossibleValuesParser::new(values)
        .map(move |name| find(name).expect("the parser accepts these names only"))
}

fn merits() -> impl TypedValueParser<Value = Merit> {
    PossibleValuesParser::new(Merit::ALL.map(Merit::name)).try_map(|name| name.parse::<Merit>())
}

impl RingArgs {
    /// Whether there is a folder of inputs.
    pub(super) fn has_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// The mapping, and the manifest of a ring program.
    pub(super) fn files(&self, program: &Path) -> Vec<PathBuf> {
        let manifest = RingFile::is_meant(program).then(|| self.file.manifest_of(program)).flatten();
        self.mapping.iter().cloned().chain(manifest).collect()
    }

    /// Whether an option is given.
    fn any(&self) -> bool {
        let is_mapped = self.optimise.is_some() || self.mapping.is_some();
        self.file.any() || self.has_folder() || self.keys.is_some() || is_mapped
    }
}

/// Whether the command line is about a ring program.
pub(super) fn is_meant(args: &Args) -> Result<bool, Failure> {
    if RingFile::is_meant(&args.file) {
        return Ok(true);
    }
    if args.ring.any() || args.profile.is_some() {
        let options = "`--manifest`, `--n`, `--inputs`, `--keys`, `--optimise`, `--mapping` and `--profile`";
        return Err(RingFileArgs::misplaced(&args.file, options));
    }
    Ok(false)
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    check_options(args)?;
    let machine = args.machine.load()?;
    let RingFile { program, title, .. } = read_program(args)?;
    check_keys(args, &program)?;
    check_outputs(&program, args.outputs.iter().chain(&args.expected))?;
    let in_folder = files_of_folder(args, &program)?;
    check_overwritten(args.destinations(), in_folder.iter().map(|file| file.path.clone()))?;
    let is_given = |name: &&str| args.inputs.iter().chain(&in_folder).any(|file| file.name == **name);
    let names = program.inputs().iter().map(|group| &*group.name);
    let drawn: Vec<&str> = names.filter(|name| !is_given(name)).collect();
    args.check_seed(&drawn)?;
    let idle = idle_outputs(&program);
    if args.check {
        check_checkable(&program, &idle)?;
    }
    let expected = super::expected(args)?;
    let record = !args.traces.is_empty() || args.page.is_some();
    let RingArgs { keys, optimise, mapping, .. } = &args.ring;
    let choice = match mapping {
        Some(path) => Choice::Given(read_mapping(path)?),
        None => optimise.unwrap_or_default().into(),
    };
    let on = (&machine, keys.unwrap_or_default(), choice);
    let clock = clock(title.clone());
    let failed = |error: Box<RunError>| failure(*error, &args.file);
    let run = || {
        let run = RingRun::timed(&program, &title, on, record).map_err(failed)?;
        run.with_data(&program, &data(args, &in_folder, &program)?).map_err(failed)
    };
    let run = run();
    clock.finish_and_clear();
    let RingRun { runtime, timeline, mut report, outputs } = run?;
    if !args.timing_only {
        report.seed = seed(args);
        let is_expected = |group: &Group| args.expected.iter().any(|file| file.name == group.name);
        report.checked |=
            idle.is_empty() && !program.outputs().is_empty() && program.outputs().iter().all(is_expected);
        report.expected = args.expected.iter().map(|file| file.name.clone()).collect();
    }
    for (name, words) in named(&program, &outputs) {
        for (file, expected) in expected.iter().filter(|(file, _)| file.name == name) {
            file.compare(&concat(words), expected, (&drawn, seed(args).unwrap_or(0)))?;
        }
    }
    let mut written = Outputs::default();
    for NamedFile { name, path } in &args.outputs {
        let Some((_, limbs)) = named(&program, &outputs).find(|(known, _)| known == name) else { continue };
        written.add_limbs(path, &program, limbs)?;
    }
    for TraceFile { path, .. } in &args.traces {
        let mut content = Vec::new();
        let traced = runtime.write_perfetto(&timeline, &mut content);
        traced.map_err(|error| Failure::Work(error.to_string()))?;
        written.add(path, &content)?;
    }
    if let (Some(path), Some(profile)) = (&args.profile, &report.profile) {
        let content = speedscope(&report.program, profile).to_string();
        written.add(path, escaped(&content).as_bytes())?;
    }
    if let Some(path) = &args.page {
        written.add(path, ring_page(&report, &runtime, &timeline).as_bytes())?;
    }
    written.finish()?;
    let text = match args.format {
        Format::Table => table(&report),
        Format::Json => json(&report)?,
    };
    args.print_report(&text)
}

/// Reads a mapping, or that of a run.
fn read_mapping(path: &Path) -> Result<Mapping, Failure> {
    let (name, text) = files::read_text(path, Content::Document)?;
    Ok(parse_mapping(&name, &text)?)
}

/// Refuses an origin of keys for a program without keys.
fn check_keys(args: &Args, program: &RingProgram) -> Result<(), Failure> {
    let has_keys = program.inputs().iter().any(|group| is_key(&group.name))
        || program.seeded().is_some_and(|limbs| !limbs.is_empty());
    if args.ring.keys.is_none() || has_keys {
        return Ok(());
    }
    let help = "keys are the inputs whose names in the manifest contain `key` or `evk`, or end in `.b.J` or `.a.J`; and its list `seeded`";
    Err(Failure::wrong("`--keys` has no effect: no input of the program is a key", help))
}

/// Refuses to check a program that computes nothing, and names the outputs about which a check says nothing.
fn check_checkable(program: &RingProgram, idle: &[&Group]) -> Result<(), Failure> {
    if idle.len() == program.outputs().len() {
        let message = "there is nothing to check: no line of the program computes an output from an input";
        return Err(Failure::wrong(message, "name the results as `outputs` in the manifest"));
    }
    for Group { name, .. } in idle {
        note!("warning: the output `{name}` is not checked: no line computes it from an input");
    }
    Ok(())
}

/// Refuses the options that are for single kernels.
fn check_options(args: &Args) -> Result<(), Failure> {
    let refused = [
        ("--functional-only", args.functional_only),
        ("--stream", args.stream.is_some()),
        ("--lenient", args.lenient),
        ("--dump", !args.dump.is_empty()),
        ("--trace kanata", args.traces.iter().any(|trace| matches!(trace.kind, TraceKind::Kanata))),
        ("--trace ascii", args.traces.iter().any(|trace| matches!(trace.kind, TraceKind::Ascii))),
    ];
    match refused.iter().find(|(_, given)| *given) {
        Some((option, _)) => {
            Err(Failure::wrong(format_args!("`{option}` is for single kernels, not for ring programs"), None))
        }
        None => Ok(()),
    }
}

fn read_program(args: &Args) -> Result<RingFile, Failure> {
    let file = args.ring.file.read(&args.file)?;
    for warning in &file.warnings {
        note!("warning: {warning}");
    }
    if args.check {
        // Big integers agree with a wrong program: they do what its lines say.
        let doubtful = |finding: &Finding| finding.fault.code != Code::Unread;
        let findings: Vec<Finding> = lint(&file.program).into_iter().filter(doubtful).collect();
        mark(&args.file, &findings)?.iter().for_each(failure::warn);
    }
    Ok(file)
}

fn data<'p>(args: &Args, in_folder: &[NamedFile], program: &'p RingProgram) -> Result<RingData<'p>, Failure> {
    Ok(match (args.timing_only, args.check) {
        (true, _) => RingData::None,
        (false, false) => RingData::Execute(inputs(args, in_folder, program)?),
        (false, true) => RingData::Check(inputs(args, in_folder, program)?, args.seed.unwrap_or(0)),
    })
}

fn inputs<'p>(args: &Args, in_folder: &[NamedFile], program: &'p RingProgram) -> Result<Inputs<'p>, Failure> {
    check_names(&args.inputs)?;
    let mut inputs = Inputs::new(program);
    for NamedFile { name, path } in args.inputs.iter().chain(in_folder) {
        if Form::of(path)? != Form::Binary {
            let words = files::read_coefficients(path)?;
            let limbs = words.chunks(program.degree().len()).map(Words::from);
            inputs.set(name, limbs).map_err(|error| error.in_file(files::name(path)))?;
        } else {
            inputs.load_file(name, path)?;
        }
    }
    if let Some(seed) = seed(args) {
        inputs.fill(seed);
    }
    let first = inputs.missing().next();
    first.map_or(Ok(inputs), |group| Err(missing(&group.name, program.degree())))
}

/// The files of inputs in the folder of `--inputs`.
fn files_of_folder(args: &Args, program: &RingProgram) -> Result<Vec<NamedFile>, Failure> {
    let Some(folder) = &args.ring.folder else { return Ok(Vec::new()) };
    if !folder.is_dir() {
        let message = format!("cannot read the inputs in `{}`: it is not a folder", files::name(folder));
        return Err(Failure::wrong(
            message,
            "give a folder with a file NAME.npy, NAME.bin or NAME.json for each input",
        ));
    }
    let names = program.inputs().iter().map(|group| &group.name);
    let left = names.filter(|name| args.inputs.iter().all(|file| file.name != **name));
    let mut files = Vec::new();
    for name in left {
        // A name is that of one file of the folder, wherever the name comes from.
        let mut parts = Path::new(name).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name.as_str())
        {
            let message = format!("the input `{name}` has no file in a folder: its name is a path");
            return Err(Failure::wrong(message, "give the file with `--input NAME=FILE`"));
        }
        let paths = ["npy", "bin", "json"].map(|ending| folder.join(format!("{name}.{ending}")));
        let mut paths = paths.into_iter().filter(|path| path.exists());
        let Some(path) = paths.next() else { continue };
        if let Some(other) = paths.next() {
            let message = format!(
                "the input `{name}` has two files: {} and {}",
                files::name(&path),
                files::name(&other)
            );
            return Err(Failure::wrong(message, "leave one of them in the folder"));
        }
        files.push(NamedFile { name: name.clone(), path });
    }
    Ok(files)
}

/// The seed of the inputs that have no file, if any may be drawn.
fn seed(args: &Args) -> Option<u64> {
    let has_files = !args.inputs.is_empty() || args.ring.has_folder();
    args.seed.or((!has_files).then_some(0))
}

/// The limbs of each output with its name.
fn named<'o>(
    program: &'o RingProgram,
    outputs: &'o [Vec<Words>],
) -> impl Iterator<Item = (&'o str, &'o [Words])> {
    program.outputs().iter().map(|group| group.name.as_str()).zip(outputs.iter().map(Vec::as_slice))
}

fn missing(name: &str, degree: Degree) -> Failure {
    let key = SwitchingKey::of_input(name).map(|(key, part, digit)| {
        format!(": part {part} of digit {digit} of the key {}", key.purpose(degree))
    });
    Failure::Wrong {
        message: format!("the input `{name}` is missing{}", key.unwrap_or_default()),
        help: Some(format!(
            "give --input {name}=FILE, or a file {name}.npy in the folder of --inputs; or use --seed for random data, or \
             --timing-only for none"
        )),
    }
}

/// Checks that every file to write belongs to an output of the program.
fn check_outputs<'f>(
    program: &RingProgram,
    mut outputs: impl Iterator<Item = &'f NamedFile>,
) -> Result<(), Failure> {
    let known = || program.outputs().iter().map(|group| group.name.as_str());
    let unknown = outputs.find(|output| known().all(|name| name != output.name));
    unknown.map_or(Ok(()), |NamedFile { name, .. }| {
        let help = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the program has: {}", known().take(20).collect::<Vec<_>>().join(", ")),
        };
        Err(Failure::Wrong { message: format!("unknown output `{name}`"), help: Some(help) })
    })
}

fn failure(error: RunError, program: &Path) -> Failure {
    match (error.line(), error) {
        (_, error) if error.is_wrong_result() => Failure::Work(error.to_string()),
        (Some(line), error) => {
            let message = error.to_string().replacen(&format!("line {line}: "), "", 1);
            let error = Diagnostic::new(message);
            match line_of(program, line.get()) {
                Some(text) => error.on_line(files::name(program), line.get(), &*text, 0..text.len()).into(),
                None => error.in_file(files::name(program)).into(),
            }
        }
        (None, error) => Failure::wrong(error, None),
    }
}

/// A line of a program's file, without blanks at its ends.
fn line_of(program: &Path, number: u32) -> Option<String> {
    let mut lines = compression::open(program).ok()?.split(b'\n').skip(number as usize - 1);
    Some(String::from_utf8_lossy(&lines.next()?.ok()?).trim().to_owned())
}
