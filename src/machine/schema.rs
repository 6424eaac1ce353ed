//! `rpu machine schema`

use crate::failure::Failure;
use crate::files;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lab::schema::{FORMATS, Format};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Format
    #[arg(value_name = "FORMAT", default_value = "machine", value_parser = format_name())]
    format: Format,
    /// File to write
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

fn format_name() -> impl TypedValueParser<Value = Format> {
    let values = FORMATS.iter().map(|format| PossibleValue::new(format.name).help(format.files));
    PossibleValuesParser::new(values)
        .map(|name| Format::named(&name).expect("the parser accepts names of the table only"))
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    files::write(&args.output, args.format.text().as_bytes())
}
