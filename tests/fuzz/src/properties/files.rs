//! Machine files, data of programs, and traces.

use super::{check_place, check_words};
use lab_run::Form;
use lab_run::program::{Axes, coefficient_file, coefficients};
use sim::testing::{self as random, Word};
use sim::{MachineBase, Trace, timing};
use std::fs;

/// A text is a machine file, or has errors that point into the text.
pub fn machine_file(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("machine.toml");
    fs::write(&path, data).expect("a file");
    match MachineBase::load(&path).and_then(|base| base.machine(&[])) {
        Ok(mut machine) => assert_eq!(machine.edit(|_| ()), Ok(())),
        Err(errors) => {
            assert!(errors.iter().next().is_some());
            errors.iter().for_each(check_place);
        }
    }
}

/// Bytes are coefficients that survive all forms of data, or are refused with a reason. The first byte
/// selects the form.
pub fn data(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    match coefficients(Form::ALL[usize::from(first) % Form::ALL.len()], "x", data) {
        Ok(words) => {
            for form in Form::ALL {
                let file = coefficient_file(form, &words, Axes { limbs: None, wide: true });
                assert_eq!(coefficients(form, "x", &file).as_ref(), Ok(&words), "{form:?}");
            }
        }
        Err(error) => check_words(&error, &String::from_utf8_lossy(data)),
    }
}

/// The traces of a machine and a program are whole: in a Kanata log each instruction begins once and ends
/// once, and each of its stages has an end.
pub fn trace(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let sensible = text.split_whitespace().filter(|word| match Word::parse(word) {
        Ok(Word::Change(_)) => random::parse(word).is_ok(),
        known => known.is_ok(),
    });
    let words: Vec<_> = sensible.take(100).collect();
    let Ok((machine, mut program)) = random::parse(&words.join(" ")) else { return };
    program.isa = machine.instruction_set();
    let times = timing::simulate(&machine, &program);
    let trace = Trace::new(&machine, &program, &times);
    let (mut kanata, mut perfetto, mut ascii) = (Vec::new(), Vec::new(), Vec::new());
    trace.write_kanata(&mut kanata).expect("memory takes all bytes");
    trace.write_perfetto(&mut perfetto).expect("memory takes all bytes");
    trace.write_ascii(0, 20, &mut ascii).expect("memory takes all bytes");
    assert!(!perfetto.is_empty() && !ascii.is_empty());
    let kanata = String::from_utf8(kanata).expect("a text");
    let count =
        |command: &str| kanata.lines().filter(|line| line.split('\t').next() == Some(command)).count();
    assert_eq!(count("I"), program.instructions.len());
    assert_eq!(count("R"), program.instructions.len());
    assert_eq!(count("S"), count("E"));
}
