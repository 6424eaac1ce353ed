//! `rpu machine`, and the schemas of the TOML formats.

use crate::common::{names, repository, rpu, succeed};
use crate::schema::validate;
use diagnostic::document::Format as DocumentFormat;
use lab_sweep::schema::Format;
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
    diagnostic::snapshot::fresh(repository("tests/cli/machine/list.out"), text);
}

#[test]
fn differences_name_keys_and_what_follows() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["machine", "diff", "rpu-128x128", "rpu-128x128-xor", "-p", "vdm.banks=64"];
    diagnostic::snapshot::fresh(repository("tests/cli/machine/diff.out"), succeed(folder.path(), &args));
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
    let folder = tempfile::tempdir().unwrap();
    let slow = "name = \"slow\"\ninherits = \"rpu-128x128\"\n[hple]\ninitiation_interval = 4\n";
    fs::write(folder.path().join("slow.toml"), slow).unwrap();
    let text = succeed(folder.path(), &["machine", "check", "slow.toml"]);
    assert!(text.starts_with("slow.toml: 128 HPLEs, 128 VDM banks, 0.942 GHz, "), "{text}");
}

/// Every format.
fn formats() -> impl Iterator<Item = &'static Format> {
    lab_sweep::schema::FORMATS.iter().chain(reproduction::schema::FORMATS)
}

/// The schema of a format.
fn schema_of(name: &str) -> Value {
    formats().find(|format| format.name == name).expect("a format").schema()
}

/// The TOML files of a format in the repository: of a folder, or with an ending.
fn files(format: &Format) -> Vec<PathBuf> {
    let (folders, end): (&[&str], _) = match format.name {
        "machine" => (&["configs/machines"], ".toml"),
        "technology" => (&["configs/tech"], ".toml"),
        "sweep" => (&["configs/sweeps", "configs/spaces"], ".toml"),
        "set" => (&["he/programs/sets"], ".toml"),
        "library" => (&["codegen/plans"], ".toml"),
        "claims" => (&["configs/tech"], ".claims.toml"),
        "setting" => (&["configs"], "-setting.toml"),
        "plan" | "manifest" | "mapping" => (&[], ""),
        unknown => panic!("where are the files of the format `{unknown}`?"),
    };
    let paths = folders.iter().flat_map(|folder| {
        let folder = PathBuf::from(repository(folder));
        names(&folder).into_iter().map(move |name| folder.join(name))
    });
    let ends = |path: &PathBuf, end| path.to_string_lossy().ends_with(end);
    let is_other = |path: &PathBuf| end == ".toml" && ends(path, ".claims.toml");
    paths.filter(|path| ends(path, end) && !is_other(path)).collect()
}

#[test]
fn schemas_are_current_and_accept_the_committed_files_which_name_them() {
    for format in formats() {
        let schema = repository(&format!("configs/schemas/{}.json", format.name));
        diagnostic::snapshot::fresh(&schema, format.text());
        assert_eq!(succeed(Path::new("."), &["machine", "schema", format.name]), format.text());
        let schema_value = format.schema();
        let files = files(format);
        assert!(
            !files.is_empty() || ["plan", "manifest", "mapping"].contains(&format.name),
            "{}",
            format.name
        );
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            let document: Value = toml::from_str(&text).unwrap();
            validate(&schema_value, &document).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let named = text.lines().next().and_then(|line| line.strip_prefix("#:schema "));
            let named = named.unwrap_or_else(|| panic!("{} names no schema", path.display()));
            let named = path.parent().unwrap().join(named).canonicalize().unwrap();
            assert_eq!(named, Path::new(&schema).canonicalize().unwrap(), "{}", path.display());
        }
    }
}

#[test]
fn formats_are_told_apart_by_keys_that_only_they_have() {
    let top = |name: &str| schema_of(name)["properties"].as_object().unwrap().clone();
    for format in DocumentFormat::ALL {
        let known = top(format.name());
        for key in format.own_keys() {
            assert!(known.contains_key(*key), "{} has no key `{key}`", format.noun());
            for other in DocumentFormat::ALL.into_iter().filter(|other| *other != format) {
                assert!(!top(other.name()).contains_key(*key), "{} has `{key}` too", other.noun());
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
        ("sweep", "[halving]\nkeep = 0.5"),
        ("set", "n = 1024\nq = []\np = []"),
        ("plan", "order = 'by-step'"),
        ("plan", "plans = []\n[tuning]\nearly = -1"),
        ("library", "operation = 'ntt'\nn = 1024\n[[entry]]\ntargets = []"),
        ("claims", "name = 'x'"),
        ("setting", "machine = 'm'\ntraining = []"),
        ("manifest", "ring_dimension = 512\ninputs = { a = [-1] }\noutputs = {}"),
    ];
    for (format, text) in cases {
        let schema = schema_of(format);
        let document: Value = toml::from_str(text).unwrap();
        assert!(validate(&schema, &document).is_err(), "{format}: {text}");
    }
}

#[test]
fn a_plan_fits_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["tune", "ntt", "--n", "1K", "--effort", "1", "--no-cache", "-o", "plan.toml"];
    let output = rpu(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value =
        toml::from_str(&fs::read_to_string(folder.path().join("plan.toml")).unwrap()).unwrap();
    let schema = schema_of("plan");
    assert_eq!(validate(&schema, &document), Ok(()));
}

/// Measurements of an earlier search are input: the winner is timed again, and without a cache the search
/// goes on.
#[test]
fn a_changed_cache_gives_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tune =
        || rpu(folder, &["tune", "ntt", "--n", "1K", "--effort", "1", "--cache", "c", "-o", "plan.toml"]);
    assert!(tune().status.success());
    fs::remove_file(folder.join("plan.toml")).unwrap();
    let cache = fs::read_dir(folder.join("c")).unwrap().next().unwrap().unwrap().path();
    let changed = |line: &str| format!("{} 5.\n", line.split(' ').next().unwrap());
    let text: String = fs::read_to_string(&cache).unwrap().lines().map(changed).collect();
    fs::write(&cache, text).unwrap();
    let output = tune();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("the cache of measurements has wrong cycles for the best plan"), "{errors}");
    assert!(!folder.join("plan.toml").exists());

    fs::remove_dir_all(folder.join("c")).unwrap();
    fs::write(folder.join("c"), "").unwrap();
    let output = tune();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.starts_with("warning: no cache of measurements"), "{errors}");
}
