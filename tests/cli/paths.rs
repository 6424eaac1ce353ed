//! Paths in messages.

use crate::common::rpu;
use std::fs;

/// A path with a line end and an escape is one line of a message, in both forms of messages.
#[test]
fn messages_show_control_characters_of_paths_as_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (text, broken) = ("a\n\u{1b}[1m", "no program, no document\n");
    let endings = ["b512", "o", "fhetch", "toml", "json", "npy", "csv", "xz"];
    for ending in endings {
        fs::write(folder.join(format!("{text}.{ending}")), broken).unwrap();
    }
    fs::create_dir(folder.join(text)).unwrap();
    fs::write(
        folder.join("k.b512"),
        ".input x, 512\n.output y, 512\nvload v0, a0, x\nvstore v0, a0, y\nhalt\n",
    )
    .unwrap();
    let file = |ending: &str| format!("{text}.{ending}");
    let [b512, fhetch, toml, json, npy, csv] = ["b512", "fhetch", "toml", "json", "npy", "csv"].map(file);
    let (input, expect) = (format!("x={npy}"), format!("y={csv}"));
    let (absent, output) = (format!("{text}/absent.toml"), format!("{text}/absent/o.o"));
    let commands: [&[&str]; 26] = [
        &["run", &b512],
        &["run", &toml],
        &["run", &absent],
        &["run", text],
        &["run", &fhetch],
        &["run", &fhetch, "--n", "512"],
        &["run", &fhetch, "--manifest", &json],
        &["run", "k.b512", "--input", &input],
        &["run", "k.b512", "--expect", &expect],
        &["run", "k.b512", "--machine", &toml],
        &["run", "k.b512", "--page", &output],
        &["run", &toml, "--n", "512"],
        &["asm", "k.b512", "-o", &output],
        &["disasm", &b512],
        &["lint", &b512],
        &["gen", "ntt", "--n", "1024", "--plan", &toml, "-o", "o.o"],
        &["gen", "program", "hmult", "--set", &toml, "-o", "p.fhetch"],
        &["machine", "check", &toml],
        &["sweep", &toml],
        &["sweep", &b512],
        &["sweep", "status", text],
        &["explore", &absent],
        &["plot", text],
        &["plot", &csv],
        &["serve", text],
        &["fit", &toml, "-o", "t.toml"],
    ];
    for arguments in commands {
        for format in ["text", "json"] {
            let output = rpu(folder, &[arguments, &["--message-format", format]].concat());
            let errors = String::from_utf8(output.stderr).unwrap();
            assert!([1, 2].contains(&output.status.code().unwrap()), "{arguments:?}: {errors}");
            let is_control = |c: char| c.is_control() && c != '\n';
            assert!(!errors.contains(is_control) && !errors.contains("a\n"), "{arguments:?}: {errors:?}");
            assert!(
                errors.contains("a\\n\\u{1b}[1m") || errors.contains("a\\\\n\\\\u{1b}[1m"),
                "{arguments:?}: {errors}"
            );
        }
    }
}
