//! Paths in messages.

use crate::common::{command, rpu, succeed};
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
    let commands: [&[&str]; 25] = [
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
    let sweep = format!("[grid]\nprogram = [\"{name}.fhetch\"]\nhple.count = [64, 128]\n");
    fs::write(folder.join("s.toml"), sweep.replace('\u{9b}', "\\u009b")).unwrap();
    succeed(folder, &["sweep", "s.toml"]);
    let files = ["sweep.json", "journal.jsonl", "results.jsonl", "results.csv", "report.html", "pareto.svg"];
    for file in files {
        let text = fs::read_to_string(folder.join("out").join(file)).unwrap();
        assert!(!text.contains(['\u{9b}', '\u{202e}']), "{file}: {text}");
    }
    succeed(folder, &["sweep", "verify", "out"]);
}

/// A folder whose name is Latin-1: commands find its files, by any option that takes a path and beside a
/// sweep.
#[cfg(unix)]
#[test]
fn paths_are_bytes() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let inner = OsStr::from_bytes(b"m\xfcller");
    let at = |name: &str| -> OsString { [inner, OsStr::new("/"), OsStr::new(name)].into_iter().collect() };
    let write = |name: &str, text: &str| fs::write(folder.path().join(at(name)), text).unwrap();
    fs::create_dir(folder.path().join(inner)).unwrap();
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    for (name, file) in [("set.toml", "he/programs/sets/ark.toml"), ("tech.toml", "configs/tech/gf12.toml")] {
        fs::copy(format!("{repository}{file}"), folder.path().join(at(name))).unwrap();
    }
    write("m.toml", "inherits = \"rpu-128x128\"\ntechnology = \"tech.toml\"\n");
    write("program.toml", "program = \"k.o\"\n");
    write("machine.toml", "kernel = \"add\"\nn = 512\nmachine = \"m.toml\"\n");
    write("data.toml", "program = \"k.b512\"\n[input]\na = \"y.bin\"\nb = \"y.bin\"\n");
    write("ring.toml", "program = \"p.fhetch\"\nmanifest = \"p.manifest.json\"\n");
    write("set-of.toml", "kernel = \"keyswitch\"\nset = \"set.toml\"\nn = 1024\nlevel = 2\n");
    write(
        "x.toml",
        "kernel = \"add\"\nn = 512\nmachine = \"m.toml\"\n[grid]\nhple.count = [64, 128]\n[explore]\n",
    );

    let run = |arguments: &[&OsStr]| command(folder.path()).args(arguments).output().unwrap();
    let words = |line: &str| -> Vec<OsString> {
        line.split(' ')
            .map(|word| match word.split_once('@') {
                Some((before, name)) => [OsStr::new(before), &at(name)].into_iter().collect(),
                None => word.into(),
            })
            .collect()
    };
    for line in [
        "gen add --n 512 --modulus 12289 -o @k.o",
        "disasm @k.o -o @k.b512",
        "asm @k.b512 -o @k2.o",
        "prove @k.b512",
        "lint @k.b512",
        "schedule @k.b512 -o @k3.b512",
        "run @k.o --machine @m.toml --output c=@y.bin --page @page.html --trace perfetto=@trace.json",
        "run @k.o --input a=@y.bin --input b=@y.bin --output c=@z.npy",
        "run @k.o --input a=@y.bin --input b=@y.bin --expect c=@z.npy",
        "gen program keyswitch --set @set.toml --n 1024 --level 2 -o @p.fhetch",
        "run @p.fhetch --manifest @p.manifest.json --timing-only --profile @profile.json",
        "machine check @m.toml @tech.toml",
        "machine show @m.toml",
        "machine diff @m.toml rpu-128x128",
        "sweep @program.toml --out @program",
        "sweep @machine.toml --out @machine",
        "sweep @data.toml --out @data",
        "sweep @ring.toml --out @ring",
        "sweep @set-of.toml --out @set",
        "explore @x.toml --out @x",
        "sweep verify @program",
        "sweep verify @machine",
        "sweep verify @data",
        "sweep verify @x",
        "sweep merge @machine",
        "plot @machine --x cycles --y area_mm2 -o @chart.svg",
    ] {
        let words = words(line);
        let output = run(&words.iter().map(|word| &**word).collect::<Vec<_>>());
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Some options take texts. They say which argument is none.
    for line in ["run @k.o -p technology=@tech.toml", "gen add --n 512 --plan @set.toml -o @k4.o"] {
        let words = words(line);
        let output = run(&words.iter().map(|word| &**word).collect::<Vec<_>>());
        let errors = String::from_utf8(output.stderr).unwrap();
        let refused = line.rsplit_once('@').map_or(line, |(before, _)| before);
        assert_eq!(output.status.code(), Some(2), "{refused}: {errors}");
        assert!(errors.contains(".toml` is not UTF-8") && errors.contains("m\u{fffd}ller/"), "{errors}");
    }
}
