//! Properties of any input: each function is given bytes and panics if the project breaks a promise.

mod checkers;
mod documents;
mod files;
mod folder;
mod functional;
mod ring_variants;
mod variants;

pub use checkers::checkers;
pub use documents::{claims, heir, mapping, orion, plan, table, technology};
pub use files::{data, machine_file, trace};
pub(crate) use folder::SWEEP;
pub use folder::{journal, record, sweep_manifest};
pub use functional::functional;
pub use ring_variants::{judge_ring, ring_variants};
pub(crate) use variants::PROGRAMS;
pub use variants::{RESCHEDULED, Verdict, judge, variants};

use b512_asm::{Diagnostics, Instr, Program, assemble, intrinsics, object};
use codegen::{Recipe, Request, compile};
use diagnostic::Diagnostic;
use lab_run::{Comparison, Mode, Options, RunReport, run};
use lab_sweep::{Condition, Definition};
use programs::{ParameterSet, find_program};
use ring::Degree;
use ring_program::{Inputs, Interface, Manifest, RingProgram, compression, read};
use sim::testing::{self as random, Word};
use sim::{Machine, MachineFile, Override};
use std::io::Read;
use std::path::Path;

/// The two timing models agree on a machine and a program, written as in the command that replays a
/// difference. Invalid words are skipped, and so are very long latencies: one of the models steps
/// every clock.
pub fn timing(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let short = |cycles: &str| cycles.parse().map_or(true, |cycles: u64| cycles <= 1000);
    let sensible = text.split_whitespace().filter(|word| match Word::parse(word) {
        Ok(Word::Change(change)) => short(change.value()) && random::parse(word).is_ok(),
        known => known.is_ok(),
    });
    // Valid changes may be invalid in combination.
    let words: Vec<_> = sensible.take(100).collect();
    let Ok((machine, program)) = random::parse(&words.join(" ")) else { return };
    if let Err(difference) = random::compare(&machine, &program) {
        panic!("{difference}\n{}", random::describe(&machine, &program));
    }
}

/// A text is a program that survives printing and assembling, or has errors that point into the
/// text.
pub fn assembler(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match assemble(text) {
        Ok(program) => {
            let again = program.to_string();
            assert_eq!(assemble(&again).as_ref(), Ok(&program), "{again}");
        }
        Err(errors) => {
            assert!(errors.iter().next().is_some());
            for error in &errors {
                assert!(error.marked().is_some(), "{error}: {:?}", error.span);
            }
        }
    }
}

/// A file is a program that can be written and read again, or is refused with a reason.
pub fn object(data: &[u8]) {
    match object::read(data) {
        Ok(program) => {
            let file = object::write(&program).expect("what was read can be written");
            assert_eq!(object::read(&file).expect("what was written can be read"), program);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Lines of `key=value` are a machine, or an error that points into its text.
pub fn machine(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let overrides: Result<Vec<_>, _> = text.lines().map(Override::parse).collect();
    let overrides = overrides.map_err(Into::into);
    if let Err(errors) = overrides.and_then(|overrides| MachineFile::built_in("rpu-128x128", &overrides)) {
        errors.iter().for_each(check_place);
    }
}

/// A text defines a sweep, or has an error that points into the text.
pub fn sweep(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(errors) = Definition::parse("sweep.toml", text) {
        errors.iter().for_each(check_place);
    }
}

/// A file is a ring program that survives its own notation and can be executed, or has errors that
/// point into the text. Compressed files are undone first.
pub fn ring_program(data: &[u8]) {
    // Damage in a compressed file could let it grow without limit.
    let mut text = Vec::new();
    let undone =
        compression::decompress(data).and_then(|text_of| text_of.take(1 << 18).read_to_end(&mut text));
    if let Err(error) = undone {
        assert!(!error.to_string().is_empty());
        return;
    }
    match read("", text.as_slice(), Interface::Degree(512)) {
        Ok(program) => {
            let again = program.to_text();
            assert_eq!(read("", again.as_bytes(), Interface::Degree(512)).as_ref(), Ok(&program), "{again}");
            execute(&program);
        }
        Err(errors) => {
            assert!(errors.iter().next().is_some());
            errors.iter().for_each(check_place);
        }
    }
}

/// Executes a short program. Its operands may be too large, but it must not panic.
fn execute(program: &RingProgram) {
    if program.length() > 20 {
        return;
    }
    let mut inputs = Inputs::new(program);
    inputs.fill(1);
    let _ = ring_program::execute(&inputs);
}

/// A text is a manifest that survives its own form, or has an error that points into the text.
pub fn manifest(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Manifest::parse("", text, Path::new("no-such-folder")) {
        Ok(manifest) if manifest.inputs_are_complete && manifest.outputs.is_some() => {
            let again = Manifest::parse("", &manifest.to_json(), Path::new("")).expect("a valid manifest");
            assert_eq!(
                (again.degree, again.inputs, again.outputs),
                (manifest.degree, manifest.inputs, manifest.outputs)
            );
            assert_eq!((again.seeded, again.title), (manifest.seeded, manifest.title));
        }
        Ok(_) => {}
        Err(errors) => errors.iter().for_each(check_place),
    }
}

/// Words of Rust that no message has, unless a user wrote them.
const RUST: [&str; 15] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64", "i128", "f64", "Some", "struct", "enum",
    "tuple", "sequence",
];

fn check_place(error: &Diagnostic) {
    check_words(error, &error.text);
    check_span(error);
}

fn check_span(error: &Diagnostic) {
    if let Some(span) = &error.span {
        assert!(error.text.get(span.clone()).is_some(), "{error}: {span:?}");
    }
}

/// The message has no word of Rust that is not in the input.
fn check_words(error: &Diagnostic, input: &str) {
    assert!(!error.message.is_empty());
    let texts = std::iter::once(&*error.message).chain(error.help.as_deref());
    for word in texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric())) {
        assert!(!RUST.contains(&word) || input.contains(word), "a word of Rust: {error}");
    }
}

/// A C text with SPIRAL's intrinsics is a program that survives printing and reading, or has errors that
/// point into the text.
pub fn calls(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match intrinsics::assemble(text) {
        Ok(program) => {
            let again = intrinsics::print(&program);
            assert_eq!(intrinsics::assemble(&again).as_ref(), Ok(&program), "{again}");
        }
        Err(errors) => check_places(&errors),
    }
}

/// A program that one reader takes is the same program in each form.
pub fn writers(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(program) = assemble(text) else { return };
    let printed = program.to_string();
    assert_eq!(assemble(&printed).as_ref(), Ok(&program), "{printed}");
    let calls = intrinsics::print(&program);
    // A function of C has a name.
    let read = intrinsics::assemble(&calls).map(|read| Program { name: program.name.clone(), ..read });
    assert_eq!(read.as_ref(), Ok(&program), "{calls}");
    let file = object::write(&program).expect("what was read can be written");
    assert_eq!(object::read(&file).expect("what was written can be read"), program);
}

/// A text is conditions, or has an error that points into it.
pub fn conditions(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = Condition::parse_all("--where", text) {
        check_place(&error);
        assert!(error.span.is_some(), "{error}");
    }
}

/// Each word of 64 bits encodes one instruction, in one way, or none.
pub fn words(data: &[u8]) {
    for bytes in data.as_chunks::<8>().0 {
        let word = u64::from_le_bytes(*bytes);
        match Instr::decode(word) {
            Ok(instr) => assert_eq!(instr.encode(), word),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// A text is a recipe whose program computes the transform, or is refused with a reason. The first byte
/// selects the operation.
pub fn recipe(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(data) else { return };
    let recipe = match Recipe::parse("plan.toml", text) {
        Ok(recipe) => recipe,
        Err(errors) => return check_places(&errors),
    };
    let operation = [golden::NTT, golden::INTT, golden::POLYMUL][usize::from(first) % 3];
    let degree = Degree::try_from(1024u32).expect("a valid degree");
    let request = Request::with_primes(operation, degree, 60, 1).expect("there is such a prime");
    let machine = Machine::rpu_128x128();
    match compile(&request, &recipe, &machine) {
        Ok(kernel) => {
            let options = Options { mode: Mode::FunctionalOnly, check: true, ..Options::default() };
            run(&kernel.program, &machine, &options).expect("compiled programs are correct");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A text is a parameter set, or has an error that points into the text. A small one has a key switch, or the
/// reason why not.
pub fn parameter_set(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match ParameterSet::parse("set", "set.toml", text, None) {
        Ok(set) if set.degree().get() <= 1 << 12 => {
            let program = find_program("keyswitch").expect("a program");
            if let Err(error) = programs::generate(&program, &set, &programs::Options::default()) {
                assert!(!error.to_string().is_empty());
            }
        }
        Ok(_) => {}
        Err(errors) => errors.iter().for_each(check_place),
    }
}

/// A text is the document of a run that survives its own form and differs in nothing from itself, or has an
/// error that points into the text.
pub fn document(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match RunReport::parse("run.json", text) {
        Ok(report) => {
            let again = serde_json::to_string(&report).expect("plain data becomes JSON");
            assert_eq!(RunReport::parse("run.json", &again).as_ref(), Ok(&report), "{again}");
            assert!(!lab_run::table(&report).is_empty());
            let comparison = Comparison::new(("a.json", &report), ("b.json", &report));
            assert!(comparison.expect("one document").machine.is_empty());
        }
        Err(error) => check_place(&error),
    }
}

fn check_places(errors: &Diagnostics) {
    assert!(errors.iter().next().is_some());
    errors.iter().for_each(check_place);
}
