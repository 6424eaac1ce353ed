//! Files as test cases. Each program in `accept` has the canonical text, inputs and outputs in its `.out`
//! file; each in `refuse`, and each manifest in `manifests`, has the errors in its `.err` file. A program
//! with a manifest of the same name is read with it; without a manifest, n = 512.

use diagnostic::{Diagnostics, render};
use flate2::Compression;
use flate2::write::GzEncoder;
use ring_program::{Interface, Manifest, RingProgram, compression, read};
use std::io::Write;
use std::path::{Path, PathBuf};

fn cases(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn read_case(path: &Path) -> Result<RingProgram, Diagnostics> {
    let text = std::fs::read(path).unwrap();
    let manifest = path.with_extension("json");
    if !manifest.exists() {
        return read(name(path), text.as_slice(), Interface::Degree(512));
    }
    let json = std::fs::read_to_string(&manifest).unwrap();
    let manifest = Manifest::parse(name(&manifest), &json, manifest.parent().unwrap()).unwrap();
    read(name(path), text.as_slice(), Interface::Manifest(&manifest))
}

#[test]
fn accepted_programs_have_the_expected_meaning() {
    for path in cases("accept", "fhetch") {
        let program = read_case(&path).unwrap_or_else(|errors| panic!("{}:\n{errors}", path.display()));
        let manifest = Manifest::of(&program);
        diagnostic::snapshot::fresh(path.with_extension("out"), program.to_text() + &manifest.to_json());

        let text = program.to_text();
        let again = read("", text.as_bytes(), Interface::Manifest(&manifest)).unwrap();
        assert_eq!(again.to_text(), text);
        assert_eq!(Manifest::of(&again).to_json(), manifest.to_json());
    }
}

#[test]
fn refused_programs_have_the_expected_errors() {
    for path in cases("refuse", "fhetch") {
        let Err(errors) = read_case(&path) else { panic!("{} is accepted", path.display()) };
        diagnostic::snapshot::fresh(path.with_extension("err"), render(&errors, false));
    }
}

#[test]
fn errors_mark_the_bytes_that_are_wrong() {
    for (line, wrong) in [
        ("sr_addp %1 %2, %3, m=1", " "),
        ("sr_addp %1, %2, %3, m=1,", ","),
        ("sr_addp %1, %2, %3, mod=1", "mod"),
        ("sr_addp %1, %2, %3, m=1, m=2", "m=2"),
        ("sr_addp %1, %2, 3, m=1", "3"),
        ("sr_addp %1, %2, m=1", "sr_addp %1, %2, m=1"),
    ] {
        let text = format!("modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n{line}\nhalt\n");
        let errors = read("p.fhetch", text.as_bytes(), Interface::Degree(512)).unwrap_err();
        let error = errors.iter().next().unwrap();
        assert_eq!(&error.text[error.span.clone().unwrap()], wrong, "{error}");
    }
}

#[test]
fn truncated_and_endless_texts_are_errors() {
    let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n".to_owned()
        + &"sr_negp %1, %0, m=1 # a comment that is worth compressing\n".repeat(10_000)
        + "halt\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let errors = |data: &[u8]| {
        let text = compression::decompress(data).map_err(|error| error.to_string())?;
        read("p.fhetch", text, Interface::Degree(512)).map_err(|errors| errors.to_string())
    };
    assert_eq!(errors(&gzip).unwrap().operations().len(), 10_000);
    // The first bytes of the text are read at once.
    assert_eq!(errors(&gzip[..20]).unwrap_err(), "the gzip stream is truncated");
    for length in [gzip.len() / 2, gzip.len() - 9, gzip.len() - 1] {
        let error = errors(&gzip[..length]).unwrap_err();
        assert!(error.starts_with("p.fhetch: cannot read on after line "), "{error}");
        assert!(error.ends_with(": the gzip stream is truncated"), "{error}");
    }
    // A plain text that is cut, even in the middle of a number.
    for cut in [text.len() - 5, text.len() - 60, text.len() / 2] {
        assert!(errors(&text.as_bytes()[..cut]).is_err());
    }
    assert_eq!(
        errors(&vec![b' '; 100_000]).unwrap_err(),
        "p.fhetch: F012: line 1 has more than 65535 bytes; is this a ring program?"
    );
}

#[test]
fn refused_manifests_have_the_expected_errors() {
    for path in cases("manifests", "json") {
        let text = std::fs::read_to_string(&path).unwrap();
        let Err(error) = Manifest::parse(name(&path), &text, path.parent().unwrap()) else {
            panic!("{} is accepted", path.display())
        };
        diagnostic::snapshot::fresh(path.with_extension("err"), diagnostic::render(&error, false) + "\n");
    }
}
