//! `rpu gen program`

use crate::failure::Failure;
use crate::files;
use crate::format::{self, Format};
use crate::numbers::degree;
use crate::ring_output::RingOutput;
use crate::rows::{GROUP, Rows, Table};
use clap::Arg;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use diagnostic::input::Content;
use diagnostic::nearest;
use programs::option::ROTATIONS;
use programs::{
    Error, Generator, OptionKind, OptionSpec, Options, ParameterSet, SETS, all_options, all_programs,
};
use ring::Degree;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Program
    #[arg(value_name = "NAME", value_parser = names(all_programs(), |program| (program.name, program.definition)),
        required_unless_present = "list")]
    program: Option<Generator>,
    /// Print the names of the programs, of their options and of the parameter sets
    #[arg(long, conflicts_with_all = ["program", "set", "n", GROUP, "output", "flat", "plaintexts"])]
    list: bool,
    /// Format of the list
    #[arg(long, value_enum, default_value = "table", requires = "list")]
    format: Format,
    #[arg(long, value_name = "SET", help = format!("Parameter set: {}, or a TOML file", set_names()),
        required_unless_present = "list")]
    set: Option<PathBuf>,
    /// Ring degree in place of the set's
    #[arg(long, value_name = "N", value_parser = degree)]
    n: Option<Degree>,
    #[command(flatten)]
    options: Rows<OptionRows>,
    /// File to write, with a name that ends in .fhetch. P.manifest.json, the manifest, is written beside it
    #[arg(short, long, value_name = "P.fhetch", required_unless_present = "list")]
    output: Option<PathBuf>,
    /// Write the lines of each call in place of functions and calls
    #[arg(long)]
    flat: bool,
    /// Folder for plaintexts: NAME.npy of each input that needs neither key nor message, for `rpu run
    /// --inputs`
    #[arg(long, value_name = "FOLDER", value_parser = files::folder())]
    plaintexts: Option<PathBuf>,
}

/// The options of programs: a flag for each row of [`all_options`].
struct OptionRows;

impl Table for OptionRows {
    fn flags() -> impl Iterator<Item = Arg> {
        all_options().into_iter().map(|(option, programs)| flag(option, &programs))
    }
}

fn flag(option: &'static OptionSpec, programs: &[&str]) -> Arg {
    let mut help = format!("{}; by default {}", option.doc, option.default);
    if !programs.is_empty() {
        help += &format!(". For {}", programs.join(", "));
    }
    // Names of flags live as long as the process.
    let flag = Arg::new(option.name).long(&*flag_name(option.name).leak()).help(help).value_name("VALUE");
    // As sweeps and other languages spell it.
    let flag = if option.name.contains('_') { flag.alias(option.name) } else { flag };
    match option.kind {
        OptionKind::Choice(values) => {
            let values = values().into_iter().map(|(name, help)| PossibleValue::new(name).help(help));
            flag.value_parser(PossibleValuesParser::new(values))
        }
        OptionKind::Count | OptionKind::CountTo(_) | OptionKind::Bits | OptionKind::Rotations => flag
            .allow_hyphen_values(true)
            .value_parser(move |text: &str| option.check(text).map(|()| text.to_owned())),
    }
}

/// The flag of an option, without the dashes before it.
fn flag_name(option: &str) -> String {
    option.replace('_', "-")
}

/// A parser of names from a table, with their definitions for the help.
fn names<T: Copy + Send + Sync + 'static>(
    table: impl Iterator<Item = &'static T> + Clone + Send + Sync + 'static,
    describe: fn(&T) -> (&'static str, &'static str),
) -> impl TypedValueParser<Value = T> {
    let values = table.clone().map(describe).map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(move |name| {
        let found = table.clone().find(|item| describe(item).0 == name);
        *found.expect("the parser accepts names of the table only")
    })
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let (Some(program), Some(set), Some(output)) = (&args.program, &args.set, &args.output) else {
        return match args.format {
            Format::Table => files::print(list_text().as_bytes()),
            Format::Json => files::print(format::json(&list_document())?.as_bytes()),
        };
    };
    let output = RingOutput::new(output, args.flat, args.plaintexts.as_deref(), args.set.clone())?;
    let set = self::set(set, args.n.map(Degree::get))?;
    let options = Options::of(args.options.given.iter().map(|(name, value)| (name, value)));
    let generated = programs::generate_defined(program, &set, &options).map_err(failure)?;
    let is_taken = program.options.iter().any(|option| option.name == ROTATIONS.name);
    let given = options.rotations(ROTATIONS.name).filter(|_| is_taken).unwrap_or_default();
    let (_, repeated) = programs::distinct_rotations(&given, set.degree());
    for (given, first) in repeated.iter().take(10) {
        note!("the rotation {given} of {} slots is {first}: it is there once", set.degree().get() / 2);
    }
    let set = &generated.set;
    let title = programs::title(program, set, &options);
    output.write(&generated, title, &programs::comment(program, set, &options))
}

/// Programs with the options that not all of them take, options, and parameter sets.
fn list_text() -> String {
    let mut text = String::from("Programs\n");
    for program in all_programs() {
        text += &format!("  {:<20} {}\n", program.name, program.definition);
        if !program.options.is_empty() {
            let options: Vec<String> =
                program.options.iter().map(|option| format!("--{}", flag_name(option.name))).collect();
            text += &format!("  {:<20} also takes {}\n", "", options.join(", "));
        }
    }
    text += "\nOptions\n";
    for (option, _) in all_options() {
        text += &format!(
            "  {:<20} {}; by default {}\n",
            format!("--{}", flag_name(option.name)),
            option.doc,
            option.default
        );
        if let OptionKind::Choice(values) = option.kind {
            for (name, doc) in values() {
                text += &format!("  {:<20} {name}: {doc}\n", "");
            }
        }
    }
    text + &format!("\nParameter sets\n  {}\n", set_names())
}

/// The same as one document.
fn list_document() -> serde_json::Value {
    let option = |option: &OptionSpec| {
        let values = match option.kind {
            OptionKind::Choice(values) => {
                Some(values().into_iter().map(|(name, _)| name).collect::<Vec<_>>())
            }
            OptionKind::Count | OptionKind::CountTo(_) | OptionKind::Bits | OptionKind::Rotations => None,
        };
        json!({ "name": option.name, "description": option.doc, "default": option.default, "values": values })
    };
    let program = |program: &Generator| {
        let options = program.all_options().map(|option| option.name);
        json!({
            "name": program.name,
            "definition": program.definition,
            "options": options.collect::<Vec<_>>(),
        })
    };
    json!({
        "programs": all_programs().map(program).collect::<Vec<_>>(),
        "options": all_options().into_iter().map(|(row, _)| option(row)).collect::<Vec<_>>(),
        "sets": SETS.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
    })
}

/// The names of the built-in sets.
fn set_names() -> String {
    SETS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The built-in set with this name, or the set in this file.
fn set(path: &Path, n: Option<u64>) -> Result<ParameterSet, Failure> {
    let name = &*diagnostic::path(path);
    if let Some(set) = path.to_str().and_then(|name| ParameterSet::built_in(name, n)) {
        return Ok(set?);
    }
    if path.extension().is_none_or(|extension| extension != "toml") && !path.exists() {
        let help = match nearest(name, SETS.iter().map(|(known, _)| *known)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("the sets are {}; or give a TOML file", set_names())
            }
        };
        return Err(Failure::Wrong { message: format!("unknown parameter set `{name}`"), help: Some(help) });
    }
    let (file, text) = files::read_text(path, Content::Document)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(ParameterSet::parse(&stem, &file, &text, n)?)
}

/// Reports options that the program or the set does not allow.
fn failure(error: Error) -> Failure {
    let help = error.help(|option| format!("--{}", flag_name(option)));
    Failure::Wrong { message: error.to_string(), help: Some(help) }
}
