//! `rpu gen program`

use crate::failure::Failure;
use crate::files;
use crate::numbers::wide_degree;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use diagnostic::input::Content;
use diagnostic::nearest;
use programs::{DATAFLOWS, Dataflow, Error, Generator, Options, PROGRAMS, ParameterSet, Rescale, SETS};
use ring_program::Manifest;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Program
    #[arg(value_name = "NAME", value_parser = names(PROGRAMS, |program| (program.name, program.definition)))]
    program: Generator,
    /// Parameter set: ark, bts1, bts2, bts3, dprive, or a TOML file
    #[arg(long, value_name = "SET")]
    set: String,
    /// Number of moduli of the ciphertexts; by default all of the set
    #[arg(long, value_name = "LEVEL")]
    level: Option<usize>,
    /// Order of key switches. Results do not depend on it
    #[arg(long, value_name = "DATAFLOW", default_value = "oc", value_parser = names(DATAFLOWS, |dataflow| (dataflow.name, dataflow.definition)))]
    dataflow: Dataflow,
    /// Output limbs of a tile, for a dataflow with tiles
    #[arg(long, value_name = "LIMBS")]
    tile: Option<NonZeroUsize>,
    /// Ring degree in place of the set's
    #[arg(long, value_name = "N", value_parser = wide_degree)]
    n: Option<u64>,
    /// Slots to rotate by, in either direction. hoisted-rotations and layers take several, with commas between
    /// them; 1..8 are all from 1 to 8
    #[arg(long, value_name = "SLOTS", value_delimiter = ',', allow_hyphen_values = true, value_parser = rotations)]
    rotations: Option<Vec<RangeInclusive<i64>>>,
    /// Layers of the program layers; by default as many as the moduli allow
    #[arg(long, value_name = "LAYERS")]
    layers: Option<usize>,
    /// Rescale of a product: merged with the key switch (the default), after it, or none
    #[arg(long, value_enum)]
    rescale: Option<RescaleArg>,
    /// File to write, with a name that ends in .fhetch. The manifest gets the same name, ending in .json
    #[arg(short, long, value_name = "P.fhetch")]
    output: PathBuf,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum RescaleArg {
    /// Together with the key switch's special moduli
    Merged,
    /// After the key switch; the product before it is an output too
    Separate,
    /// None
    None,
}

/// The most rotations of one range, so that a mistake does not fill the memory.
const LONGEST_RANGE: u64 = 1 << 17;

/// Parses slots to rotate by: a number, or the first and the last of a range with `..` between them.
fn rotations(text: &str) -> Result<RangeInclusive<i64>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| {
        let number = text.trim().parse::<i64>();
        number.map_err(|_| format!("`{text}` is not a number; a range is written as 1..8"))
    };
    let (first, last) = (number(first)?, number(last)?);
    if last < first || last.abs_diff(first) >= LONGEST_RANGE {
        return Err(format!(
            "invalid range {first}..{last}: not 1 to {LONGEST_RANGE} numbers in ascending order"
        ));
    }
    Ok(first..=last)
}

/// A parser of names from a table, with their definitions for the help.
fn names<T: Copy + Send + Sync + 'static>(
    table: &'static [T],
    describe: fn(&T) -> (&'static str, &'static str),
) -> impl TypedValueParser<Value = T> {
    let values = table.iter().map(describe).map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(move |name| {
        let found = table.iter().find(|item| describe(item).0 == name);
        *found.expect("the parser accepts names of the table only")
    })
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    if args.output.extension().is_none_or(|extension| extension != "fhetch") {
        let message = format!("invalid file name `{}` of a ring program", args.output.display());
        return Err(Failure::wrong(message, "it must end in `.fhetch`"));
    }
    let set = set(&args.set, args.n)?;
    let options = Options {
        level: args.level,
        dataflow: args.dataflow,
        tile: args.tile,
        rotations: args.rotations.as_ref().map(|ranges| ranges.iter().cloned().flatten().collect()),
        layers: args.layers,
        rescale: args.rescale.map(|rescale| match rescale {
            RescaleArg::Merged => Rescale::Merged,
            RescaleArg::Separate => Rescale::Separate,
            RescaleArg::None => Rescale::None,
        }),
    };
    let program = programs::generate(&args.program, &set, &options).map_err(failure)?;
    let mut text = Vec::new();
    let comment = programs::comment(&args.program, &set, &options);
    program.write(&comment, &mut text).map_err(|error| Failure::Work(error.to_string()))?;
    files::write(&args.output, &text)?;
    files::write(&args.output.with_extension("json"), Manifest::of(&program).to_json().as_bytes())
}

/// The built-in set with this name, or the set in this file.
fn set(name: &str, n: Option<u64>) -> Result<ParameterSet, Failure> {
    if let Some(set) = ParameterSet::built_in(name, n) {
        return Ok(set?);
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "toml") && !path.exists() {
        let help = match nearest(name, SETS.iter().map(|(known, _)| *known)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let names: Vec<&str> = SETS.iter().map(|(known, _)| *known).collect();
                format!("the sets are {}; or give a TOML file", names.join(", "))
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
    let help = match error {
        Error::Level { .. } => "leave --level out, or choose a level of the set",
        Error::NothingToDrop { program: "hmult" } => "choose a higher --level, or --rescale none",
        Error::NothingToDrop { .. } => "choose a higher --level",
        Error::Option { option: "rotations", .. } => "--rotations is for hrot, hoisted-rotations and layers",
        Error::Option { option: "layers", .. } => "--layers is for the program layers",
        Error::Layers { .. } => "choose fewer --layers, or a higher --level",
        Error::Option { .. } => "--rescale is for hmult",
        Error::Tile { .. } => "--tile is for the dataflow oct",
        Error::Rotation { .. } | Error::DuplicateRotation(_) => "give different rotations, such as 1,2,-3",
        Error::OneRotation { .. } => "give one number, or use hoisted-rotations",
    };
    Failure::wrong(error, help)
}
