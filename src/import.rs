//! `rpu import`

use crate::failure::Failure;
use crate::files;
use crate::numbers::degree;
use crate::ring_output::RingOutput;
use clap::builder::{OsStringValueParser, TypedValueParser};
use diagnostic::input::Content;
use programs::heir::{ArgumentKind, Import, Program, RELEASE};
use ring::Degree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Program of HEIR: the output of `heir-opt --mlir-to-ckks` in the generic form, which `heir-opt
    /// --mlir-print-op-generic` prints
    #[arg(value_name = "FILE.mlir")]
    file: PathBuf,
    /// File to write, with a name that ends in .fhetch. P.manifest.json, the manifest, is written beside it
    #[arg(short, long, value_name = "P.fhetch")]
    output: PathBuf,
    /// Ring degree in place of the file's; a smaller one is for tests
    #[arg(long, value_name = "N", value_parser = degree)]
    n: Option<Degree>,
    /// Numbers of a clear argument, such as weights: a JSON list, or lists in lists, in the order of rows.
    /// Without them, plaintexts that depend on the argument are inputs of the program
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

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let output = RingOutput::new(&args.output, args.flat, args.plaintexts.as_deref())?;
    let (file, text) = files::read_text(&args.file, Content::Document)?;
    let program = Program::read(&file, &text)?;
    let mut clear = BTreeMap::new();
    for (name, path) in &args.arguments {
        if clear.insert(name.clone(), numbers(path)?).is_some() {
            return Err(Failure::wrong(format_args!("a second `--argument` for `{name}`"), "give it once"));
        }
    }
    let import = program.import(args.n.map(Degree::get), &clear)?;
    tell(&program, &import);
    let title = program.title(&import);
    let counts: Vec<String> = import.counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let comment = format!(
        "{title}\n{}\noperations of HEIR {RELEASE}: {}\n",
        import.generated.set.parameters(),
        counts.join(", ")
    );
    output.write(&import.generated, title, &comment)
}

/// Says what a user may not expect.
fn tell(program: &Program<'_>, import: &Import) {
    if import.worst_sum > 0.0 {
        let bits = -import.worst_sum.log2();
        note!("scales of summands differ: a summand may be wrong by 2^-{bits:.1} of its size");
    }
    if !import.given.is_empty() {
        let clear =
            |argument: &&programs::heir::Argument| matches!(argument.kind, ArgumentKind::Clear { .. });
        let clear: Vec<&str> =
            program.arguments().iter().filter(clear).map(|argument| &*argument.name).collect();
        let count = diagnostic::counted(import.given.len(), "plaintext is an input", "plaintexts are inputs");
        let first = &import.given[0];
        let help = match &clear[..] {
            [] => "the file elides its constants".to_owned(),
            clear => format!("`--argument` gives {}", clear.join(", ")),
        };
        note!("{count}, since the file does not have their numbers, such as `{first}`; {help}");
    }
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
