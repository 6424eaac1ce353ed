//! `rpu run --dump`: registers and words of memory before an instruction.

use super::Args;
use crate::debug;
use crate::debugger::{Format as Number, Location, Stop, Target, rows};
use crate::failure::Failure;
use crate::format::{Format, json};
use lab_run::program::ProgramFile;
use serde_json::{Map, Value};
use sim::Machine;

/// The width of lines of words.
const WIDTH: usize = 100;

/// Text or JSON with the values that the options name.
pub(super) fn dump(args: &Args, file: &ProgramFile, machine: &Machine) -> Result<String, Failure> {
    let mut targets = Vec::new();
    for names in args.dump.iter().flat_map(|names| names.split(',')) {
        targets.extend(Target::parse(names.trim(), &file.program)?);
    }
    let mut session = debug::session(file, machine, &args.inputs, args.seed.unwrap_or(0))?;
    let location = args.at.clone().unwrap_or(Location::End);
    let position = location.resolve(session.source())?[0];
    if let Stop::Fault(error) = session.go_to(position) {
        return Err(file.fault(&error).into());
    }
    match args.format {
        Format::Table => {
            let place = match file.program.instructions.get(position) {
                Some(instr) => {
                    let text = file.program.listing().text(instr);
                    format!("before {}, `{text}`", session.source().name(position))
                }
                None => "at the end".to_owned(),
            };
            let mut text = format!("{place}\n");
            for target in &targets {
                let (modulus, words) = (session.modulus(target), session.value(target));
                let ring = modulus.map_or(String::new(), |modulus| format!(" mod {modulus:#x}"));
                match words[..] {
                    [] => text += &format!("{target} is not set\n"),
                    [word] => text += &format!("{target}{ring}: {word:#x}\n"),
                    _ => {
                        text += &format!("{target}{ring}\n");
                        for row in rows(&words, modulus, Number::Hex, WIDTH) {
                            text += &format!("  {row}\n");
                        }
                    }
                }
            }
            Ok(text)
        }
        Format::Json => {
            let mut values = Map::new();
            for target in &targets {
                let words = session.value(target);
                let words: Vec<Value> = words.iter().map(|word| format!("{word:#x}").into()).collect();
                values.insert(target.to_string(), words.into());
            }
            let line = session.source().line(position);
            json(&serde_json::json!({ "instruction": position, "line": line, "values": values }))
        }
    }
}
