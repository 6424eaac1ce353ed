//! `rpu import`

use crate::failure::Failure;
use crate::files;
use crate::numbers::degree;
use crate::ring_output::RingOutput;
use clap::builder::{OsStringValueParser, TypedValueParser};
use diagnostic::input::{self, Content};
use programs::Generated;
use programs::heir::{self, ArgumentKind};
use programs::orion;
use ring::Degree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Program of HEIR: the output of `heir-opt --mlir-to-ckks` in the generic form, which `heir-opt
    /// --mlir-print-op-generic` prints; or network of Orion: what its compiler writes in version 2, in the
    /// standard ring
    #[arg(value_name = "FILE.mlir|FILE.orion")]
    file: PathBuf,
    /// File to write, with a name that ends in .fhetch. P.manifest.json, the manifest, is written beside it
    #[arg(short, long, value_name = "P.fhetch")]
    output: PathBuf,
    /// Ring degree in place of the file's; a smaller one is for tests. Networks of Orion have their own
    #[arg(long, value_name = "N", value_parser = degree)]
    n: Option<Degree>,
    /// Numbers of a clear argument, such as weights: a JSON list, or lists in lists, in the order of rows.
    /// Without them, plaintexts that depend on the argument are inputs of the program. Networks of Orion have
    /// their weights
    #[arg(long = "argument", value_name = "NAME=FILE.json", value_parser = assigned())]
    arguments: Vec<(String, PathBuf)>,
    /// Write the lines of each call in place of functions and calls
    #[arg(long)]
    flat: bool,
    /// Folder for plaintexts: NAME.npy of each input that needs neither key nor message, for `rpu run
    /// --inputs`
    #[arg(long, value_name = "FOLDER", value_parser = files::folder())]
    plaintexts: Option<PathBuf>,
}

/// A parser of `NAME=FILE`.
fn assigned() -> impl TypedValueParser<Value = (String, PathBuf)> {
    OsStringValueParser::new().try_map(|text| files::assigned(&text).ok_or("expected NAME=FILE"))
}

/// A program that was read.
struct Imported {
    title: String,
    generated: Generated,
    /// What compiled it.
    compiler: String,
    counts: BTreeMap<&'static str, usize>,
    worst_sum: f64,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let inputs = args.arguments.iter().map(|(_, path)| path).chain([&args.file]).cloned();
    let output = RingOutput::new(&args.output, args.flat, args.plaintexts.as_deref(), inputs)?;
    let (file, bytes) = (files::name(&args.file), files::read(&args.file, Content::Program)?);
    // By its first bytes; a name that says otherwise is of a damaged file.
    let is_named = args.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("orion"));
    let imported = if orion::is_orion(&bytes) || is_named {
        network(args, &file, &bytes)?
    } else {
        let text =
            input::text(bytes).map_err(|reason| Failure::wrong(format_args!("{file}: {reason}"), None))?;
        functions(args, &file, &text)?
    };
    let Imported { title, generated, compiler, counts, worst_sum } = imported;
    if worst_sum > 0.0 {
        let bits = -worst_sum.log2();
        note!("scales of summands differ: a summand may be wrong by 2^-{bits:.1} of its size");
    }
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let counts = counts.join(", ");
    let parameters = generated.set.parameters();
    let comment = format!("{title}\n{parameters}\noperations of {compiler}: {counts}\n");
    output.write(&generated, title, &comment)
}

/// A network of Orion.
fn network(args: &Args, file: &str, bytes: &[u8]) -> Result<Imported, Failure> {
    let program = orion::Program::read(file, bytes)?;
    let own = program.degree();
    if args.n.is_some_and(|n| n.get() != own) {
        let message =
            format!("`--n` is not {own}, the degree of `{file}`, for which its matrices are laid out");
        return Err(Failure::wrong(message, "leave it out, or compile the network with another `logn`"));
    }
    if let Some((name, _)) = args.arguments.first() {
        let message = format!("`--argument` for `{name}`: networks of Orion have no clear argument");
        return Err(Failure::wrong(message, "leave it out"));
    }
    let import = program.import()?;
    let title = program.title(&import);
    let orion::Import { generated, counts, worst_sum, .. } = import;
    Ok(Imported { title, generated, compiler: format!("Orion {}", orion::RELEASE), counts, worst_sum })
}

/// A program of HEIR.
fn functions(args: &Args, file: &str, text: &str) -> Result<Imported, Failure> {
    let program = heir::Program::read(file, text)?;
    let mut clear = BTreeMap::new();
    for (name, path) in &args.arguments {
        if clear.insert(name.clone(), numbers(path)?).is_some() {
            return Err(Failure::wrong(format_args!("a second `--argument` for `{name}`"), "give it once"));
        }
    }
    let import = program.import(args.n.map(Degree::get), &clear)?;
    tell_given(&program, &import.given);
    let title = program.title(&import);
    let heir::Import { generated, counts, worst_sum, .. } = import;
    Ok(Imported { title, generated, compiler: format!("HEIR {}", heir::RELEASE), counts, worst_sum })
}

/// Says which plaintexts the file does not have.
fn tell_given(program: &heir::Program<'_>, given: &[String]) {
    let Some(first) = given.first() else { return };
    let clear = |argument: &&heir::Argument| matches!(argument.kind, ArgumentKind::Clear { .. });
    let clear: Vec<&str> = program.arguments().iter().filter(clear).map(|argument| &*argument.name).collect();
    let count = diagnostic::counted(given.len(), "plaintext is an input", "plaintexts are inputs");
    let help = match &clear[..] {
        [] => "the file elides its constants".to_owned(),
        clear => format!("`--argument` gives {}", clear.join(", ")),
    };
    note!("{count}, since the file does not have their numbers, such as `{first}`; {help}");
}

/// The numbers of a file, in the order of rows.
fn numbers(path: &Path) -> Result<Vec<f64>, Failure> {
    let (name, text) = files::read_text(path, Content::Document)?;
    let wrong = |reason: String| {
        let help = "expected a JSON list of numbers, or lists in lists";
        Failure::Wrong { message: format!("{name}: {reason}"), help: Some(help.to_owned()) }
    };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let mut numbers = Vec::new();
    // The last one first.
    let mut rest = vec![&value];
    while let Some(value) = rest.pop() {
        match value {
            serde_json::Value::Array(values) => rest.extend(values.iter().rev()),
            value => match value.as_f64() {
                Some(number) => numbers.push(number),
                None => return Err(wrong(format!("`{value}` is no number"))),
            },
        }
    }
    Ok(numbers)
}
