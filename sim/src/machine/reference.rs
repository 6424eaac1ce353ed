//! The generated files: the reference page of the keys, and the paper's machine.

use super::keys::SECTIONS;
use super::schema::value_at;
use super::table::{BuiltIn, Key, Kind, Origin, Section};
use std::fmt::{Result, Write};
use std::sync::LazyLock;

/// The command that writes both files.
const COMMAND: &str = "BLESS=1 cargo test -p rpu-sim --test all generated";

/// The reference of the machine keys as Markdown: the contents of `docs/machine.md`.
pub fn reference() -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page);
    page
}

fn write_page(page: &mut String) -> Result {
    write!(
        page,
        "\
# Machine keys

<!-- Generated from the table in `sim/src/machine/keys.rs`: `{COMMAND}`. -->

A machine file sets these keys; `-p key=value` sets one on the command line. The column `rpu-128x128` holds the values of the
paper's (128, 128) design, and the last column their origin:

* **paper**: printed in the paper;
* **public**: printed in another text;
* **derived**: follows from the paper by an argument;
* **fitted**: chosen so that the model meets a number of the paper;
* **assumed**: the texts are silent, and this is the project's choice.

`inherits = \"FILE\"` takes every other key from that file, `technology = \"FILE\"` all keys under `technology` from a technology
file. A name without `.toml` is a built-in file. Origins of technology constants are in the technology files.
"
    )?;
    for section in SECTIONS {
        match section.path {
            "" => write!(page, "\n## Top level\n\n")?,
            path => write!(page, "\n## `{path}`\n\n{}\n\n", section.doc.join("").trim())?,
        }
        write!(page, "| key | values | `rpu-128x128` | meaning | origin |\n|---|---|---|---|---|\n")?;
        for key in section.keys {
            let BuiltInValue { value, provenance } = key.built_in_value();
            write_row(page, key, &value, &provenance)?;
        }
    }
    Ok(())
}

/// The value of a key in the paper's machine, and its origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuiltInValue {
    /// The value, as TOML writes it.
    pub value: String,
    /// The origin with its reason; empty for a name, a switch or a key of the technology file.
    pub provenance: String,
}

/// The built-in technology file.
static TECHNOLOGY: LazyLock<toml::Value> =
    LazyLock::new(|| toml::from_str(configs::GF12).expect("the built-in technology file is tested"));

impl Key {
    /// The value of the key in the paper's machine, which is the default of machine files.
    pub fn built_in_value(&self) -> BuiltInValue {
        match self.built_in {
            Some(built_in) => {
                BuiltInValue { value: built_in.value.to_owned(), provenance: built_in.provenance() }
            }
            None => {
                let path = self.path.trim_start_matches("technology.");
                let value = value_at(&TECHNOLOGY, path).to_string();
                BuiltInValue { value, provenance: String::new() }
            }
        }
    }

    /// The quantities that depend on the key, with commas between them.
    pub fn effect_names(&self) -> String {
        self.effects.iter().map(|effect| effect.name()).collect::<Vec<_>>().join(", ")
    }
}

fn write_row(page: &mut String, key: &Key, value: &str, origin: &str) -> Result {
    let name = key.path.rsplit('.').next().unwrap_or(key.path);
    let mut meaning = key.doc.join("").trim().to_owned();
    if let Kind::Choice(choices) = key.kind {
        for choice in choices {
            write!(meaning, "<br>`\"{}\"`: {}", choice.text, choice.doc.join("").trim())?;
        }
    }
    let value = match key.kind {
        Kind::Clock => "a list".to_owned(),
        _ => format!("`{value}`"),
    };
    writeln!(page, "| `{name}` | {} | {value} | {meaning} | {origin} |", key.kind.describe())
}

/// The paper's machine as a machine file: the contents of `configs/machines/rpu-128x128.toml`.
pub fn machine_file() -> String {
    let mut file = String::new();
    // Writing to a string cannot fail.
    let _ = write_file(&mut file);
    file
}

fn write_file(file: &mut String) -> Result {
    write!(
        file,
        "\
#:schema ../schemas/machine.json
# The machine of the paper \"RPU: The Ring Processing Unit\" (ISPASS 2023): the (128, 128) design.
# Generated from the table in `sim/src/machine/keys.rs`: `{COMMAND}`.
#
# Every value is marked with its origin:
#   paper    printed in the paper
#   public   printed in another text, named beside it
#   derived  follows from the paper by an argument
#   fitted   chosen so that the model meets a number of the paper, which is named
#   assumed  the texts are silent; this is the project's choice

"
    )?;
    let with_values = |section: &&Section| section.keys.iter().any(|key| key.built_in.is_some());
    for section in SECTIONS.iter().filter(with_values) {
        if !section.path.is_empty() {
            writeln!(file)?;
            comment(file, &section.doc.join(""))?;
            writeln!(file, "[{}]", section.path)?;
        }
        for key in section.keys {
            if let Some(built_in) = &key.built_in {
                write_key(file, key, built_in)?;
            }
        }
        if section.path.is_empty() {
            comment(file, "Clock, area and energy constants. Relative to this file.")?;
            writeln!(file, "technology = \"../tech/gf12.toml\"")?;
        }
    }
    Ok(())
}

fn write_key(file: &mut String, key: &Key, built_in: &BuiltIn) -> Result {
    comment(file, &key.doc.join(""))?;
    match key.kind {
        Kind::Choice(choices) => {
            for choice in choices {
                comment(file, &format!("\"{}\": {}", choice.text, choice.doc.join("").trim()))?;
            }
        }
        Kind::Int(..) | Kind::PowerOfTwo(..) => {
            let range = key.kind.describe();
            comment(file, &format!("{}{}.", range[..1].to_uppercase(), &range[1..]))?;
        }
        Kind::Text | Kind::Bool | Kind::Positive | Kind::Share | Kind::NotNegative | Kind::Clock => {}
    }
    if built_in.origin != Origin::Label {
        comment(file, &built_in.provenance())?;
    }
    let name = key.path.rsplit('.').next().unwrap_or(key.path);
    writeln!(file, "{name} = {}", built_in.value)
}

/// Writes `text` as comment lines of at most 100 characters.
fn comment(file: &mut String, text: &str) -> Result {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 100 {
            writeln!(file, "{line}")?;
            line.truncate(1);
        }
        line.push(' ');
        line += word;
    }
    writeln!(file, "{line}")
}
