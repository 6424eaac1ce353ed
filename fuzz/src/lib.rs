//! Properties that hold for any input.
//!
//! Each function takes bytes and panics if the project breaks a promise. The tests below call them
//! on a fixed number of damaged copies of real inputs. For longer runs, libFuzzer calls them
//! through the targets of this crate:
//!
//! ```text
//! cargo install cargo-fuzz
//! cargo +nightly fuzz run timing --features libfuzzer --sanitizer none fuzz/corpus/timing fuzz/seeds/timing
//! ```

use b512_asm::{assemble, object};
use diagnostic::Diagnostic;
use lab::sweep::Definition;
use ring_program::{Inputs, Interface, Manifest, RingProgram, compression, read};
use sim::testing::{self as random, Word};
use sim::{MachineFile, Override};
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
    if let Err(error) = overrides.and_then(|overrides| MachineFile::built_in("rpu-128x128", &overrides)) {
        check_place(&error);
    }
}

/// A text defines a sweep, or has an error that points into the text.
pub fn sweep(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = Definition::parse("sweep.toml", text) {
        check_place(&error);
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
    if program.operations().len() > 20 {
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
        Ok(manifest) if manifest.inputs.is_some() && manifest.outputs.is_some() => {
            let again = Manifest::parse("", &manifest.to_json(), Path::new("")).expect("a valid manifest");
            assert_eq!(
                (again.degree, again.inputs, again.outputs),
                (manifest.degree, manifest.inputs, manifest.outputs)
            );
        }
        Ok(_) => {}
        Err(error) => check_place(&error),
    }
}

fn check_place(error: &Diagnostic) {
    assert!(!error.message.is_empty());
    if let Some(span) = &error.span {
        assert!(error.text.get(span.clone()).is_some(), "{error}: {span:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use std::fs;

    /// The files below a folder of the repository whose names end in one of `endings`.
    fn files(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)));
        paths.sort();
        let files: Vec<_> =
            paths.iter().map(|path| fs::read(path).unwrap()).filter(|f| f.len() < 20_000).collect();
        assert!(!files.is_empty(), "nothing to start from");
        files
    }

    /// Calls `body` on each of `seeds`, then on `cases` damaged copies, the same ones in every run.
    fn run(cases: u32, body: fn(&[u8]), seeds: &[Vec<u8>]) {
        seeds.iter().for_each(|seed| body(seed));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seeds.len() as u64);
        for _ in 0..cases {
            let mut data = seeds[rng.random_range(..seeds.len())].clone();
            for _ in 0..rng.random_range(1..6) {
                damage(&mut data, seeds, &mut rng);
            }
            body(&data);
        }
    }

    /// Changes, cuts or repeats a part, or takes one from another seed.
    fn damage(data: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut impl Rng) {
        let part = |of: &[u8], rng: &mut dyn Rng| {
            let from = rng.random_range(..=of.len());
            from..of.len().min(from + rng.random_range(..32usize))
        };
        let at = part(data, rng);
        match rng.random_range(..4u8) {
            0 => data[at].iter_mut().for_each(|byte| *byte ^= 1 << rng.random_range(..8u32)),
            1 => drop(data.drain(at)),
            2 => {
                let copy = data[at.clone()].to_vec();
                data.splice(at.start..at.start, copy);
            }
            _ => {
                let other = &seeds[rng.random_range(..seeds.len())];
                data.splice(at, other[part(other, rng)].to_vec());
            }
        }
    }

    #[test]
    fn timing_on_damaged_input() {
        run(500, timing, &files("fuzz/seeds/timing", &[".txt"]));
    }

    fn sources() -> Vec<Vec<u8>> {
        let folders = ["b512-asm/tests/accept", "b512-asm/tests/refuse", "kernels-b512"];
        folders.iter().flat_map(|folder| files(folder, &[".b512"])).collect()
    }

    #[test]
    fn assembler_on_damaged_input() {
        run(5000, assembler, &sources());
    }

    #[test]
    fn object_on_damaged_input() {
        let texts = sources().into_iter().filter_map(|text| String::from_utf8(text).ok());
        let programs = texts.filter_map(|text| assemble(&text).ok());
        run(5000, object, &programs.map(|program| object::write(&program).unwrap()).collect::<Vec<_>>());
    }

    #[test]
    fn machine_on_damaged_input() {
        let seeds = [
            "hple.count=64\nvdm.banks=32\nvdm.mapping=xor",
            "frontend.busyboard=shared-reads\nfrontend.queue_depth=4\nideal.queues=true",
            "vbar.latency_cycles=10\nsbar.latency_cycles=5\nhple.initiation_interval=2\ntechnology=\"gf12\"",
        ];
        run(5000, machine, &seeds.map(|seed| seed.as_bytes().to_vec()));
    }

    #[test]
    fn sweep_on_damaged_input() {
        run(5000, sweep, &files("configs/sweeps", &[".toml"]));
    }

    #[test]
    fn ring_program_on_damaged_input() {
        let folders = ["ring-program/tests/accept", "ring-program/tests/refuse", "ring-program/tests/traces"];
        let seeds: Vec<_> =
            folders.iter().flat_map(|folder| files(folder, &[".fhetch", ".fhetch.xz"])).collect();
        run(3000, ring_program, &seeds);
    }

    #[test]
    fn manifest_on_damaged_input() {
        let folders =
            ["ring-program/tests/manifests", "ring-program/tests/refuse", "ring-program/tests/traces"];
        let seeds: Vec<_> = folders.iter().flat_map(|folder| files(folder, &[".json"])).collect();
        run(5000, manifest, &seeds);
    }
}
