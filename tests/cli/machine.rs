//! `rpu machine`, and the schemas of the TOML formats.

use crate::common::{names, repository, rpu, succeed};
use crate::schema::validate;
use lab::schema::{FORMATS, Format};
use serde_json::Value;
use sim::{Machine, MachineFile, Override};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn a_machine_that_was_shown_can_be_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let changes = ["vdm.mapping=xor", "hple.count=64", "technology=scaled-7nm"];
    let mut args = vec!["machine", "show", "rpu-128x128-gs"];
    changes.iter().for_each(|change| args.extend(["-p", *change]));
    let shown = succeed(folder.path(), &args);
    assert!(shown.contains("# built-in rpu-128x128-gs:"), "{shown}");
    assert!(
        shown.lines().any(|line| line.starts_with("mapping = \"xor\"") && line.ends_with("# -p")),
        "{shown}"
    );

    let path = folder.path().join("again.toml");
    fs::write(&path, &shown).unwrap();
    let overrides: Vec<Override> = changes.iter().map(|change| Override::parse(change).unwrap()).collect();
    let machine = MachineFile::built_in("rpu-128x128-gs", &overrides).unwrap();
    assert_eq!(MachineFile::load(&path, &[]), Ok(machine.clone()));

    args.extend(["--format", "json"]);
    let json: Machine = serde_json::from_str(&succeed(folder.path(), &args)).unwrap();
    assert_eq!(json, machine);
}

#[test]
fn every_key_is_listed_with_its_default() {
    let folder = tempfile::tempdir().unwrap();
    let text = succeed(folder.path(), &["machine", "list", "--format", "json"]);
    let keys: Vec<Value> = serde_json::from_str(&text).unwrap();
    let machine = Machine::rpu_128x128();
    let values: Vec<_> =
        machine.values().into_iter().filter(|(key, _)| !key.path.starts_with("technology.")).collect();
    assert_eq!(keys.len(), values.len());
    for (listed, (key, value)) in keys.iter().zip(values) {
        assert_eq!(listed["key"], key.path);
        assert_eq!(listed["default"], value.to_string(), "{}", key.path);
        assert!(!listed["values"].as_str().unwrap().is_empty());
    }
    let text = succeed(folder.path(), &["machine", "list", "vdm.banks"]);
    bless::fresh(repository("tests/cli/machine/list.out"), text);
}

#[test]
fn differences_name_keys_and_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["machine", "diff", "rpu-128x128", "rpu-128x128-xor", "-p", "vdm.banks=64"];
    bless::fresh(repository("tests/cli/machine/diff.out"), succeed(folder.path(), &args));
    let same = succeed(folder.path(), &["machine", "diff", "rpu-128x128", "-p", "hbm.gb_per_s=256"]);
    assert!(same.contains("takes as many cycles"), "{same}");
}

#[test]
fn checking_reports_each_machine() {
    let machines = repository("configs/machines");
    let files = names(Path::new(&machines));
    let args: Vec<String> = ["machine".into(), "check".into()]
        .into_iter()
        .chain(files.iter().map(|name| format!("{machines}/{name}")))
        .collect();
    let text = succeed(Path::new("."), &args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(text.lines().count(), files.len());
}

/// The files of a format in the repository.
fn files(format: &Format) -> Vec<PathBuf> {
    let folders: &[&str] = match format.name {
        "machine" => &["configs/machines"],
        "technology" => &["configs/tech"],
        "sweep" => &["configs/sweeps", "configs/spaces"],
        "set" => &["programs/sets"],
        _ => &[],
    };
    let paths = folders.iter().flat_map(|folder| {
        let folder = PathBuf::from(repository(folder));
        names(&folder).into_iter().map(move |name| folder.join(name))
    });
    let is_claims = |path: &PathBuf| path.to_string_lossy().ends_with(".claims.toml");
    paths.filter(|path| path.extension().is_some_and(|end| end == "toml") && !is_claims(path)).collect()
}

#[test]
fn schemas_are_current_and_accept_the_committed_files() {
    for format in FORMATS {
        let schema = repository(&format!("configs/schemas/{}.json", format.name));
        bless::fresh(&schema, format.text());
        let schema_value = format.schema();
        let files = files(format);
        assert!(!files.is_empty() || format.name == "plan", "{}", format.name);
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            let document: Value = toml::from_str(&text).unwrap();
            validate(&schema_value, &document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            // The path in the file leads to the schema.
            if let Some(named) = text.lines().next().and_then(|line| line.strip_prefix("#:schema ")) {
                let named = path.parent().unwrap().join(named).canonicalize().unwrap();
                assert_eq!(named, Path::new(&schema).canonicalize().unwrap(), "{}", path.display());
            }
        }
    }
}

#[test]
fn schemas_refuse_what_the_readers_refuse() {
    let cases = [
        ("machine", "[vdm]\nbanks = 3"),
        ("machine", "[vdm]\nbankz = 64"),
        ("technology", "node_nm = 0"),
        ("sweep", "[grid]\nvdm.banks = 64"),
        ("sweep", "[grid]\nvdm.banks = [3]"),
        ("sweep", "gird = 3"),
        ("sweep", "[halving]\nobjective = 'speed'\nkeep = 0.5\nrungs = [1024]"),
        ("set", "n = 1024\nq = []\np = []"),
        ("plan", "order = 'by-step'"),
    ];
    for (format, text) in cases {
        let schema = Format::named(format).unwrap().schema();
        let document: Value = toml::from_str(text).unwrap();
        assert!(validate(&schema, &document).is_err(), "{format}: {text}");
    }
}

#[test]
fn a_plan_fits_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["tune", "ntt", "--n", "1K", "--refinements", "0", "--no-cache", "-o", "plan.toml"];
    let output = rpu(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value =
        toml::from_str(&fs::read_to_string(folder.path().join("plan.toml")).unwrap()).unwrap();
    let schema = Format::named("plan").unwrap().schema();
    assert_eq!(validate(&schema, &document), Ok(()));
}
