//! Machines, their files and their keys.

use b512_asm::{Feature, Instr, Program, Space};
use diagnostic::{Diagnostic, Diagnostics};
use sim::hbm::BeyondHbm;
use sim::machine::table::Kind;
use sim::machine::{Assignment, BankMapping, FitError, Hbm, MachineBase, MachineFile, VbarPaths, keys};
use sim::{Area, Clock, Energy, Events, Machine, Override};
use std::path::Path;

fn overridden(texts: &[&str]) -> Result<Machine, Diagnostic> {
    let overrides: Vec<_> = texts.iter().map(|text| Override::parse(text).unwrap()).collect();
    MachineFile::built_in("rpu-128x128", &overrides).map_err(only)
}

/// The only error.
fn only(errors: Diagnostics) -> Diagnostic {
    assert_eq!(errors.len(), 1, "{errors}");
    errors.iter().next().unwrap().clone()
}

/// Loads `text` as a machine file in a new folder, together with `others`. It has at most one error.
fn load(name: &str, text: &str, others: &[(&str, &str)]) -> Result<Machine, Diagnostic> {
    load_all(name, text, others).map_err(only)
}

/// The same with any number of errors.
fn load_all(name: &str, text: &str, others: &[(&str, &str)]) -> Result<Machine, Diagnostics> {
    let folder = std::env::temp_dir().join(format!("sim-machine-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in others.iter().chain(&[("m.toml", text)]) {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let result = MachineFile::load(folder.join("m.toml"), &[]);
    std::fs::remove_dir_all(&folder).unwrap();
    result
}

#[test]
fn the_table_lists_each_key_once() {
    let mut paths: Vec<_> = keys().map(|key| key.path).collect();
    let count = paths.len();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), count);
    assert!(keys().all(|key| !key.doc.is_empty()));
}

#[test]
fn an_invalid_change_leaves_the_machine_as_it_was() {
    let mut machine = Machine::rpu_128x128();
    let error = machine.edit(|values| values.vbar.paths = VbarPaths::Split).unwrap_err();
    assert_eq!(error.message, "`vbar.paths = \"split\"` needs `vdm.ports = 2`");
    let error = machine.edit(|values| values.vdm.ports = 3).unwrap_err();
    assert_eq!(machine, Machine::rpu_128x128());
    assert_eq!(error.to_string(), "invalid value `3` for `vdm.ports`; it must be a whole number from 1 to 2");
}

#[test]
fn every_choice_of_the_schema_can_be_loaded() {
    for key in keys() {
        let Kind::Choice(choices) = key.kind else { continue };
        for choice in choices {
            // A split VBAR needs two ports.
            let change = format!("{}={}", key.path, choice.text);
            assert!(overridden(&["vdm.ports=2", &change]).is_ok(), "{change}");
        }
    }
}

#[test]
fn every_built_in_machine_loads_from_its_file_as_from_the_binary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/machines");
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, MachineFile::built_in_names().count());
    for name in MachineFile::built_in_names() {
        let built_in = MachineFile::built_in(name, &[]).unwrap();
        assert_eq!(built_in.name, name);
        assert_eq!(MachineFile::load(folder.join(format!("{name}.toml")), &[]), Ok(built_in));
    }
}

#[test]
fn a_resolved_machine_can_be_loaded_again() {
    let machine = overridden(&["vdm.mapping=xor", "technology.area.law_mm2=0.1"]).unwrap();
    assert_eq!(load("again", &toml::to_string(&machine).unwrap(), &[]), Ok(machine));
}

#[test]
fn changes_are_the_overrides_that_make_one_machine_of_the_other() {
    let base = overridden(&[]).unwrap();
    assert_eq!(base.changes_from(&base), []);
    let machine = overridden(&["vdm.mapping=xor", "hple.count=64", "hple.count=32"]).unwrap();
    let changes = machine.changes_from(&base);
    let texts: Vec<_> = changes.iter().map(|change| format!("{}={}", change.key, change.to)).collect();
    assert_eq!(texts, ["hple.count=32", "vdm.mapping=\"xor\""]);
    assert_eq!(overridden(&texts.iter().map(String::as_str).collect::<Vec<_>>()), Ok(machine));
    assert_eq!(changes[0].from.as_integer(), Some(128));
}

#[test]
fn overrides_take_bare_text_and_toml_values_and_the_last_one_counts() {
    let machine =
        overridden(&["vdm.mapping=xor", "hple.count = 64", "hple.count=32", "name=\"a b\""]).unwrap();
    assert_eq!(machine.vdm.mapping, BankMapping::Xor);
    assert_eq!(machine.hple.count, 32);
    assert_eq!(machine.name, "a b");
}

#[test]
fn a_file_changes_what_it_names_and_inherits_the_rest() {
    let other = ("other.toml", "inherits = 'rpu-128x128'\n[vdm]\nbanks = 64\nsize_mib = 8");
    let machine = load("inherit", "inherits = 'other.toml'\n[vdm]\nbanks = 32", &[other]).unwrap();
    assert_eq!((machine.vdm.banks, machine.vdm.size_mib, machine.hple.count), (32, 8, 128));
    // Banks of 256 KiB, each access in two cycles.
    assert_eq!(Clock::of(&machine).ghz(), 1.68);
}

#[test]
fn a_technology_file_can_inherit_and_replaces_the_one_before_it() {
    let tech = ("t.toml", "inherits = 'gf12'\nname = 'fast'\n[[clock]]\nbanks = 64\nghz = 2.0");
    let text = "inherits = 'rpu-128x128'\ntechnology = 't.toml'";
    assert_eq!(Clock::of(&load("tech", text, &[tech]).unwrap()).ghz(), 2.0);
    let incomplete = ("t.toml", "name = 'nothing'");
    let error = load("tech-incomplete", text, &[incomplete]).unwrap_err();
    assert!(
        error.message.starts_with("the keys `technology.node_nm`, `technology.law_stages` and "),
        "{error}"
    );
}

#[test]
fn the_7_nm_example_is_gf12_times_its_two_factors() {
    let [gf12, scaled] = ["gf12", "scaled-7nm"].map(|name| {
        let technology = Override::parse(&format!("technology={name}")).unwrap();
        MachineFile::built_in("rpu-128x128", &[technology]).unwrap()
    });
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/tech/scaled-7nm.toml");
    let file = Override::parse(&format!("technology={path}")).unwrap();
    assert_eq!(MachineFile::built_in("rpu-128x128", &[file]).unwrap(), scaled);
    assert_eq!((scaled.technology.node_nm, Clock::of(&scaled).ghz()), (7, Clock::of(&gf12).ghz()));

    let near = |ours: f64, factor: f64, of: f64| (ours / (factor * of) - 1.0).abs() < 1e-3;
    let (areas, scaled_areas) = (Area::of(&gf12).components(), Area::of(&scaled).components());
    for ((name, area), (_, scaled)) in
        areas.into_iter().zip(scaled_areas).filter(|((_, area), _)| *area > 0.0)
    {
        assert!(near(scaled, 0.43 * 1.15, area), "{name}");
    }
    // One event of each kind distinguishes all constants.
    for kind in 0..8 {
        let one = |i: usize| u64::from(i == kind);
        let events = Events {
            multiplications: one(0),
            additions: one(1),
            vrf_accesses: one(2),
            vdm_accesses: one(3),
            vbar_elements: one(4),
            sbar_elements: one(5),
            permuter_elements: one(6),
            instructions: one(7),
        };
        let energy = |machine: &Machine| {
            let mut machine = machine.clone();
            machine
                .edit(|values| {
                    values.isa.lane_permuter = true;
                    // Wires have no factor.
                    values.technology.wires.pj_per_bit_mm = 0.0;
                })
                .unwrap();
            Energy::of(&machine, &events).total()
        };
        assert!(near(energy(&scaled), 0.35, energy(&gf12)), "{events:?}");
    }
}

/// The parts of an error: line, column, the marked text, message and help.
fn told(error: &Diagnostic) -> (Option<(usize, usize)>, &str, &str, &str) {
    let marked = error.span.clone().map_or("", |span| &error.text[span]);
    (error.position(), marked, &error.message, error.help.as_deref().unwrap_or(""))
}

#[test]
fn errors_in_files_name_place_key_and_what_would_be_right() {
    let base = "inherits = 'rpu-128x128'\n";
    for (name, text, position, marked, message, help) in [
        (
            "unknown",
            "[vdm]\nbamks = 64",
            (3, 1),
            "bamks",
            "unknown key `vdm.bamks`",
            "did you mean `vdm.banks`?",
        ),
        (
            "misplaced",
            "[hple]\nmapping = 'xor'",
            (3, 1),
            "mapping",
            "unknown key `hple.mapping`",
            "did you mean `vdm.mapping`?",
        ),
        (
            "foreign",
            "[vdm]\nqwertyuiop = 1",
            (3, 1),
            "qwertyuiop",
            "unknown key `vdm.qwertyuiop`",
            "there are `vdm.banks`, `vdm.mapping`, `vdm.ports`, `vdm.multicast`, `vdm.size_mib`, `vdm.limb_pages`, `vdm.access_cycles`",
        ),
        (
            "type",
            "[vdm]\n  banks = 'many'",
            (3, 11),
            "'many'",
            "invalid value `\"many\"` for `vdm.banks`",
            "it must be a power of two from 1 to 4096",
        ),
        (
            "range",
            "[vdm]\nbanks = 96",
            (3, 9),
            "96",
            "invalid value `96` for `vdm.banks`",
            "it must be a power of two from 1 to 4096",
        ),
        (
            "choice",
            "[vdm]\nmapping = 'xorr'",
            (3, 11),
            "'xorr'",
            "invalid value `\"xorr\"` for `vdm.mapping`",
            "it must be `\"interleaved\"` or `\"xor\"`; did you mean `\"xor\"`?",
        ),
        (
            "retired",
            "[vrf]\nports = 'ideal'",
            (3, 9),
            "'ideal'",
            "invalid value `\"ideal\"` for `vrf.ports`",
            "set `ideal.vrf_ports = true` instead",
        ),
        (
            "section",
            "vdm = 3",
            (2, 7),
            "3",
            "`vdm` is a section, not a value",
            "set one of its keys: `vdm.banks`, `vdm.mapping`, `vdm.ports`, `vdm.multicast`, `vdm.size_mib`, `vdm.limb_pages`, `vdm.access_cycles`",
        ),
        (
            "split",
            "[vbar]\npaths = 'split'",
            (3, 9),
            "'split'",
            "`vbar.paths = \"split\"` needs `vdm.ports = 2`",
            "a load and a store under way at once each take one port of a bank",
        ),
        (
            "vector length",
            "[hple]\ncount = 1024",
            (3, 9),
            "1024",
            "`hple.count` is above `isa.vector_length`",
            "an HPLE needs a lane: use at most `isa.vector_length` HPLEs",
        ),
        (
            "huge",
            "[vdm]\nbanks = 99999999999999999999999",
            (3, 9),
            "99999999999999999999999",
            "invalid value for `vdm.banks`",
            "it must be a power of two from 1 to 4096",
        ),
        (
            "size",
            "[vdm]\nsize_mib = 1024",
            (3, 12),
            "1024",
            "invalid value `1024` for `vdm.size_mib`",
            "it must be a whole number from 1 to 512",
        ),
        (
            "infinite",
            "[hbm]\ngb_per_s = inf",
            (3, 12),
            "inf",
            "invalid value `inf` for `hbm.gb_per_s`",
            "it must be a number from 1e-9 to 1e9",
        ),
        (
            "too small",
            "[hbm]\nefficiency = 1e-10",
            (3, 14),
            "1e-10",
            "invalid value `0.0000000001` for `hbm.efficiency`",
            "it must be a number from 1e-9 to 1",
        ),
    ] {
        let error = load(name, &format!("{base}{text}"), &[]).unwrap_err();
        assert_eq!(told(&error), (Some(position), marked, message, help), "{name}");
        let location = format!("m.toml:{}:{}: D00", position.0, position.1);
        assert!(error.to_string().contains(&location), "{error}");
        assert!(error.to_string().ends_with(&format!(": {message}; {help}")), "{error}");
    }
}

#[test]
fn every_error_of_a_file_is_reported() {
    let text =
        "inherits = 'rpu-128x128'\n[vdm]\nbanks = 3\nbankz = 4\nsize_mib = 'x'\n[vbar]\npaths = 'slit'\n";
    let errors = load_all("several", text, &[]).unwrap_err();
    let positions: Vec<_> = errors.iter().map(|error| error.position().unwrap()).collect();
    assert_eq!(positions, [(3, 9), (4, 1), (5, 12), (7, 9)]);
    // Rules need all values.
    let text = "inherits = 'rpu-128x128'\n[vbar]\npaths = 'split'\n[hple]\ncount = 1024\n";
    assert_eq!(load_all("rules", text, &[]).unwrap_err().len(), 2);
    let sweep = load("sweep", "name = 'x'\n[grid]\nvdm.banks = [1, 2]\n", &[]).unwrap_err();
    assert_eq!(sweep.message, "this is a sweep, not a machine");
    let whole = load("whole", "name = 'x'\n", &[]).unwrap_err();
    assert!(whole.message.contains("more are missing"), "{whole}");
}

#[test]
fn every_value_has_a_source() {
    let base = MachineBase::built_in("rpu-128x128-xor").unwrap();
    let sources = base.sources(&[Override::parse("vdm.banks=64").unwrap()]).unwrap();
    let file = |path: &str| {
        let source = sources.iter().find(|source| source.key.path == path).unwrap();
        (source.file.as_str(), source.line)
    };
    assert_eq!(sources.len(), keys().count());
    assert_eq!(file("vdm.banks"), (Override::SOURCE, 1));
    assert_eq!(file("vdm.mapping").0, "built-in rpu-128x128-xor");
    assert_eq!(file("hple.count").0, "built-in rpu-128x128");
    assert_eq!(file("technology.node_nm").0, "built-in gf12");
}

#[test]
fn files_that_inherit_in_a_circle_are_refused() {
    let other = ("other.toml", "inherits = 'm.toml'");
    let error = load("circle", "inherits = 'other.toml'", &[other]).unwrap_err();
    assert!(error.message.ends_with("m.toml` inherits from itself"), "{error}");
    assert!(error.file.ends_with("other.toml"));
    assert_eq!(error.position(), Some((1, 12)));
}

#[test]
fn a_long_chain_of_files_is_refused() {
    let chain = |length: usize| {
        let names: Vec<String> = (0..length).map(|file| format!("m{file}.toml")).collect();
        let text = |file: usize| match names.get(file + 1) {
            Some(next) => format!("inherits = '{next}'"),
            None => "inherits = 'rpu-128x128'".to_owned(),
        };
        let texts: Vec<String> = (0..length).map(text).collect();
        let others: Vec<(&str, &str)> =
            names.iter().zip(&texts).map(|(name, text)| (&**name, &**text)).collect();
        load(&format!("chain-{length}"), "inherits = 'm0.toml'", &others)
    };
    assert!(chain(12).is_ok());
    let error = chain(40).unwrap_err();
    assert_eq!(error.message, "a chain of more than 16 files");
    assert!(error.file.ends_with("m14.toml"), "{}", error.file);
}

#[test]
fn a_file_that_is_not_there_is_reported_where_it_is_named() {
    let error = load("missing", "inherits = 'nowhere.toml'", &[]).unwrap_err();
    assert_eq!(told(&error).1, "'nowhere.toml'");
    let error = MachineFile::load("nowhere.toml", &[]).map_err(only).unwrap_err();
    assert!(error.to_string().starts_with("nowhere.toml: D007: cannot read `nowhere.toml`"), "{error}");
}

#[test]
fn a_file_that_is_no_toml_is_reported_with_its_place() {
    let error = load("syntax", "name = 'x'\n[vdm\n", &[]).unwrap_err();
    assert_eq!(error.position().unwrap().0, 2);
}

#[test]
fn overrides_are_reported_as_they_were_written() {
    let error = overridden(&["vdm.mappin=xor"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "override:1:1: D002: unknown key `vdm.mappin`; did you mean `vdm.mapping`?"
    );
    assert_eq!(told(&error).1, "vdm.mappin");
    assert_eq!(told(&overridden(&["vdm.banks=three"]).unwrap_err()).1, "three");
    assert!(Override::parse("vdm.banks").unwrap_err().to_string().contains("write `key=value`"));
}

#[test]
fn a_program_that_does_not_fit_is_refused_with_both_sizes() {
    let machine = overridden(&["frontend.instruction_memory_kib=1", "vdm.size_mib=1"]).unwrap();
    let mut program = Program { instructions: vec![Instr::Halt {}; 128], ..Program::default() };
    assert_eq!(machine.check_fits(&program), Ok(()));
    program.instructions.push(Instr::Halt {});
    assert_eq!(machine.check_fits(&program), Err(FitError::Instructions { needed: 129, capacity: 128 }));

    program.instructions.truncate(1);
    let symbol = b512_asm::Symbol {
        name: "x".into(),
        space: Space::Vdm,
        start: 65535,
        words: 1,
        role: b512_asm::Role::Input,
    };
    program.symbols.push(symbol);
    assert_eq!(machine.check_fits(&program), Ok(()));
    program.symbols[0].words = 2;
    let error =
        FitError::Data { memory: Space::Vdm, needed: 65537, capacity: 65536, isa: machine.instruction_set() };
    assert!(error.to_string().ends_with("but the machine has 65536; set `vdm.size_mib` to 2 or more"));
    assert_eq!(machine.check_fits(&program), Err(error));

    program.symbols.clear();
    let v = b512_asm::VReg::at(0);
    let rm = b512_asm::MReg::at(0);
    program.instructions.push(Instr::Gsbfly { vd: v, vd1: v, vs: v, vt: v, vt1: v, rm });
    let error = FitError::Extension { index: 1, mnemonic: "gsbfly", feature: Feature::GsButterfly };
    assert_eq!(machine.check_fits(&program), Err(error));
    assert_eq!(MachineFile::built_in("rpu-128x128-gs", &[]).unwrap().check_fits(&program), Ok(()));
}

#[test]
fn assignments_are_texts() {
    for (key, value) in Machine::rpu_128x128().values() {
        if key.path == "technology.clock" {
            continue;
        }
        let text = format!("{}={}", key.path, value.to_string().trim_matches('"'));
        assert_eq!(text.parse::<Assignment>().unwrap().to_string(), text);
    }
    for wrong in ["vdm.banks", "vdm.banks=63", "vdm.bank=64", "=64"] {
        let error = wrong.parse::<Assignment>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{wrong}` gives no key")), "{error}");
    }
}

#[test]
fn rpus_share_the_size_of_the_memory() {
    let hbm = Hbm { size_mib: 3, shared_by: 2, ..Machine::rpu_128x128().hbm };
    let half = 3 << 19;
    assert_eq!(hbm.check_fits(half), Ok(()));
    let error = hbm.check_fits(half + 1).unwrap_err();
    assert_eq!(error, BeyondHbm { needed: half + 1, capacity: half, stacks: None, size_mib: Some(4) });
    assert!(error.to_string().ends_with("; set `hbm.size_mib` to 4 or more"), "{error}");
    assert_eq!(Hbm { size_mib: 4, ..hbm }.check_fits(half + 1), Ok(()));
    // A larger part of the stacks, and more of them.
    let most = 8 << 30;
    let error = hbm.check_fits(most + 1).unwrap_err();
    assert_eq!((error.stacks, error.size_mib), (Some(3), Some(16385)));
    assert!(
        error.to_string().ends_with("; set `hbm.stacks` to 3 or more and `hbm.size_mib` to 16385 or more")
    );
    assert_eq!(Hbm { size_mib: 16385, stacks: 3, ..hbm }.check_fits(most + 1), Ok(()));
    let all = Hbm { size_mib: 0, ..hbm };
    let error = all.check_fits(most + 1).unwrap_err();
    assert!(error.to_string().ends_with("; set `hbm.stacks` to 3 or more"), "{error}");
    assert_eq!(Hbm { stacks: 3, ..all }.check_fits(most + 1), Ok(()));
    let error = all.check_fits(u64::MAX).unwrap_err();
    assert!(error.to_string().ends_with("; no machine has as much: `hbm.stacks` is at most 4096"), "{error}");
}

/// A remedy names values that the key takes, if there are any.
#[test]
fn a_remedy_is_within_the_range_of_its_key() {
    let isa = Machine::rpu_128x128().instruction_set();
    let data = |memory, needed| FitError::Data { memory, needed, capacity: 65536, isa }.to_string();
    assert!(data(Space::Vdm, 512 << 16).ends_with("; set `vdm.size_mib` to 512 or more"));
    let beyond = "; no machine has as much: `vdm.size_mib` is at most 512";
    assert!(data(Space::Vdm, (512 << 16) + 1).ends_with(beyond));
    assert!(data(Space::Sdm, 1 << 20).ends_with("; set `sdm.size_kib` to 16384 or more"));
}

/// A technology as a whole comes before its keys, wherever it is written.
#[test]
fn a_technology_keeps_the_keys_that_are_set_beside_it() {
    let (whole, key) = ("technology=gf12", "technology.area.law_mm2=0");
    let one = overridden(&[whole, key]).unwrap();
    assert_eq!(one.technology.area.law_mm2, 0.0);
    assert_eq!(overridden(&[key, whole]).unwrap(), one);
    assert!(overridden(&[whole]).unwrap().technology.area.law_mm2 > 0.0);
}

/// A file that only renames a technology is one too, by way of others or not.
#[test]
fn a_file_that_inherits_a_technology_is_one() {
    let folder = std::env::temp_dir().join(format!("sim-technology-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text, is_technology) in [
        ("one.toml", "inherits = \"gf12\"\nname = \"t\"\n", true),
        ("two.toml", "inherits = \"one.toml\"\n", true),
        ("machine.toml", "inherits = \"rpu-128x128\"\nname = \"t\"\n", false),
        ("loop.toml", "inherits = \"loop.toml\"\n", false),
        ("missing.toml", "inherits = \"gf14\"\n", false),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
        let technology = MachineBase::of_technology(folder.join(file));
        assert_eq!(technology.is_some(), is_technology, "{file}");
        technology.map(|technology| technology.unwrap_or_else(|errors| panic!("{file}: {errors}")));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
