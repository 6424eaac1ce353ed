//! `rpu machine schema`

use crate::failure::Failure;
use crate::files;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use lab_sweep::schema::Format;
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

/// Every format.
fn formats() -> impl Iterator<Item = &'static Format> {
    lab_sweep::schema::FORMATS.iter().chain(reproduction::schema::FORMATS)
}

fn format_name() -> impl TypedValueParser<Value = Format> {
    let values = formats().map(|format| PossibleValue::new(format.name).help(format.files));
    PossibleValuesParser::new(values).map(|name| {
        *formats().find(|format| format.name == name).expect("the parser accepts these names only")
    })
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    files::write(&args.output, args.format.text().as_bytes())
}
