//! Paths in messages.

use crate::common::{rpu, succeed};
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

/// Characters that a terminal obeys are escapes in JSON, which stays JSON.
#[test]
fn documents_show_control_characters_of_names_as_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let name = "a\u{9b}31m\u{202e}";
    let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_addp %3, %1, %2, m=1\nhalt\n";
    fs::write(folder.join(format!("{name}.fhetch")), text).unwrap();
    let manifest = "{\"ring_dimension\": 512, \"inputs\": {\"x\": [1, 2]}, \"outputs\": {\"y\": [3]}}";
    fs::write(folder.join(format!("{name}.json")), manifest).unwrap();
    let json = succeed(folder, &["run", &format!("{name}.fhetch"), "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["program"], format!("{name}.fhetch"));
    let sweep = format!("name = \"{name}\"\n[grid]\nprogram = [\"{name}.fhetch\"]\nhple.count = [64, 128]\n");
    fs::write(folder.join("s.toml"), sweep.replace('\u{9b}', "\\u009b")).unwrap();
    succeed(folder, &["sweep", "s.toml"]);
    let files = ["sweep.json", "journal.jsonl", "results.jsonl", "results.csv", "report.html", "pareto.svg"];
    for file in files {
        let text = fs::read_to_string(folder.join("out").join(file)).unwrap();
        assert!(!text.contains(['\u{9b}', '\u{202e}']), "{file}: {text}");
    }
    succeed(folder, &["sweep", "verify", "out"]);
}
