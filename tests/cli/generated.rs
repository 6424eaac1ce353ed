//! Generated ring programs through the command line.

use crate::common::{names, repository, succeed};
use ::programs::{Options, ParameterSet, find_program, generate_defined};
use ring_program::data::{Words, concat};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use test_client::Client;

/// A small set with a bootstrap: one matrix of CoeffToSlot, EvalMod of degree 2 with a double angle, one of
/// SlotToCoeff.
const BOOTSTRAP: &str = "n = 512\nq = [{ bits = 45, count = 7 }]\np = [{ bits = 60, count = 3 }]\n\
    digits = 2\nsecurity = \"none\"\n[bootstrap]\nscale_bits = 30\nmessage_ratio_bits = 8\ncoeff_to_slot = 1\n\
    eval_mod = 3\nslot_to_coeff = 1\nrange = 1\ndegree = 2\ndouble_angles = 1\nephemeral_weight = 8\n\
    steps = \"lattigo\"\n";

/// A small set for CKKS: two digits, the second one short at the highest level.
const SET: &str = "n = 512\nq = [{ bits = 60, count = 1 }, { bits = 45, count = 2 }]\n\
    p = [{ bits = 60, count = 2 }]\ndigits = 2\nsecurity = \"none\"\n";

/// The smallest run of a program.
struct Run {
    program: &'static str,
    /// Its parameter set and its options.
    generate: &'static [&'static str],
    /// The machine.
    run: &'static [&'static str],
}

/// It has millions of lines.
const TOO_LONG: &str = "resnet20";

/// One for each other program. A bootstrap's matrices of few slots take few rotations, which are kernels. The
/// library has the transforms of the others.
const RUNS: [Run; 10] = [
    Run { program: "keyswitch", generate: &["--set", "s.toml", "--n", "8192"], run: &[] },
    Run { program: "hmult", generate: &["--set", "s.toml", "--n", "8192"], run: &[] },
    Run { program: "hrot", generate: &["--set", "s.toml", "--n", "8192"], run: &[] },
    Run { program: "rescale", generate: &["--set", "s.toml", "--n", "8192"], run: &[] },
    Run {
        program: "hoisted-rotations",
        generate: &["--set", "s.toml", "--n", "8192", "--rotations=-3"],
        run: &[],
    },
    Run { program: "layers", generate: &["--set", "s.toml", "--n", "8192", "--rotations=-3"], run: &[] },
    Run {
        program: "bootstrap",
        generate: &["--set", "b.toml", "--n", "64"],
        run: &["-p", "isa.vector_length=64", "-p", "hple.count=64"],
    },
    Run { program: "digits", generate: &["--set", "b.toml", "--n", "1024"], run: &[] },
    Run { program: "logistic-regression", generate: &["--set", "b.toml", "--n", "1024"], run: &[] },
    Run {
        program: "helr",
        generate: &[
            "--set",
            "b.toml",
            "--n",
            "1024",
            "--iterations",
            "1",
            "--features",
            "16",
            "--blocks",
            "2",
        ],
        run: &[],
    },
];

fn generate(folder: &Path, args: &[&str]) {
    succeed(folder, &[&["gen", "program"], args, &["-o", "p.fhetch"]].concat());
}

fn run(folder: &Path, args: &[&str]) -> Value {
    let args = [&["run", "p.fhetch"], args, &["--format", "json"]].concat();
    serde_json::from_str(&succeed(folder, &args)).expect("one JSON document")
}

#[test]
fn each_program_runs_with_its_manifest_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.toml"), SET).unwrap();
    fs::write(folder.join("b.toml"), BOOTSTRAP).unwrap();
    let all = ::programs::all_programs().map(|program| program.name);
    assert!(all.filter(|name| *name != TOO_LONG).eq(RUNS.map(|run| run.program)));
    for Run { program, generate: options, run: machine } in RUNS {
        // It has no key switch.
        let dataflow: &[&str] = if program == "rescale" { &[] } else { &["--dataflow", "oct"] };
        generate(folder, &[&[program], dataflow, options].concat());
        let report = run(folder, &[&["--check"], machine].concat());
        assert_eq!(report["checked"], true, "{program}");
        // A program at a low level may leave parts of keys. It mixes neither forms nor moduli.
        let findings = succeed(folder, &["lint", "p.fhetch"]);
        assert!(
            findings.matches("warning[").count() <= findings.matches("no line reads the input").count(),
            "{program}: {findings}"
        );
        let counts = report["operations_by_name"].as_object().unwrap().values();
        assert_eq!(
            counts.map(|count| count.as_u64().unwrap()).sum::<u64>(),
            report["operations"],
            "{program}"
        );
    }
    assert_eq!(names(folder), ["b.toml", "p.fhetch", "p.manifest.json", "s.toml"]);
    let text = fs::read_to_string(folder.join("p.fhetch")).unwrap();
    assert!(text.starts_with("# helr: "), "{text:.60}");
}

#[test]
fn a_flat_program_computes_what_one_with_calls_does() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("b.toml"), BOOTSTRAP).unwrap();
    let arguments = ["logistic-regression", "--set", "b.toml", "--n", "2048"];
    let outputs = [&[][..], &["--flat"]].map(|flat| {
        generate(folder, &[&arguments, flat].concat());
        let text = fs::read_to_string(folder.join("p.fhetch")).unwrap();
        assert_eq!(text.contains("\ncall "), flat.is_empty());
        let report = run(folder, &["--seed", "3", "--output", "trained.0=out.bin"]);
        (words(&folder.join("out.bin")), report["time_us"].as_f64().unwrap())
    });
    let [(called, time), (flat, flat_time)] = outputs;
    assert_eq!(called, flat);
    // Lines of different functions share no launch.
    assert!((0.98..1.02).contains(&(time / flat_time)), "{time} {flat_time}");
}

#[test]
fn a_folder_has_the_inputs_of_a_bootstrap() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("b.toml"), BOOTSTRAP).unwrap();
    generate(folder, &["bootstrap", "--set", "b.toml", "--n", "64", "--plaintexts", "inputs"]);
    let set = ParameterSet::parse("b", "b.toml", BOOTSTRAP, Some(64)).unwrap();
    let program = find_program("bootstrap").unwrap();
    let generated = generate_defined(&program, &set, &Options::default()).unwrap();
    let mut client = Client::new(set, 1).unwrap();
    let ciphertext = client.encrypt(&[1 << 20; 64]).map(|limbs| limbs[..1].to_vec());
    let inputs = client.inputs(&generated, &[("ct", &ciphertext)]).unwrap();
    for (input, group) in generated.inputs.iter().zip(generated.program.inputs()) {
        let [array, data] =
            ["npy", "bin"].map(|ending| folder.join(format!("inputs/{}.{ending}", input.name)));
        assert_eq!(array.exists(), input.definition.is_public(), "{}", input.name);
        if !array.exists() {
            let limbs: Vec<Words> = group.limbs.iter().map(|&limb| inputs.words(limb).unwrap()).collect();
            let bytes: Vec<u8> = concat(&limbs).into_iter().flat_map(u128::to_le_bytes).collect();
            fs::write(data, bytes).unwrap();
        }
    }
    let machine = ["-p", "isa.vector_length=64", "-p", "hple.count=64"];
    let report = run(folder, &[&machine[..], &["--inputs", "inputs", "--output", "boot.1=out.bin"]].concat());
    assert!(report["hbm"]["bytes_by_kind"]["keys"].as_u64() > Some(0), "keys are known by their names");
    let number = |value: &Value| value.as_f64().unwrap();
    let per_slot_and_level = 1e3 * number(&report["time_us"]) / number(&report["parameters"]["slot_levels"]);
    assert_eq!(number(&report["slot_level_ns"]), per_slot_and_level);
    let expected = ring_program::execute(&inputs).unwrap();
    assert_eq!(words(&folder.join("out.bin")), concat(&expected[1]));
}

#[test]
fn a_key_has_the_limbs_of_all_levels_and_only_those_in_use_are_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    generate(folder, &["keyswitch", "--set", "ark", "--n", "512", "--level", "7"]);
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("p.manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["ring_dimension"], 512);
    assert_eq!(manifest["inputs"]["d"].as_array().unwrap().len(), 7);
    assert_eq!(manifest["inputs"]["evk.a.1"].as_array().unwrap().len(), 30);
    assert!(manifest["inputs"]["evk.a.2"].is_null(), "the third digit is not in use");
    let report = run(folder, &["--timing-only"]);
    let limbs = 2 * 2 * (7 + 6);
    assert_eq!(report["hbm"]["bytes_by_kind"]["keys"], limbs * 512 * 16);
}

/// The words of a data file.
fn words(file: &Path) -> Vec<u128> {
    let bytes = fs::read(file).unwrap();
    bytes.as_chunks::<16>().0.iter().map(|word| u128::from_le_bytes(*word)).collect()
}

#[test]
fn results_on_seeded_inputs_stay_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.toml"), SET).unwrap();
    fs::write(folder.join("bgv.toml"), format!("{SET}plaintext_modulus = 257\n")).unwrap();
    let mut text = String::from("# Words 0, 1 and 511 of each limb of a result, on inputs of seed 5.\n");
    for (set, program, output) in [
        ("s.toml", "keyswitch", "ks1"),
        ("s.toml", "hmult", "prod.1"),
        ("s.toml", "hrot", "rot.0"),
        ("s.toml", "rescale", "rescaled.0"),
        ("bgv.toml", "hmult", "prod.0"),
        ("bgv.toml", "rescale", "rescaled.1"),
    ] {
        generate(folder, &[program, "--set", set]);
        run(folder, &["--seed", "5", "--check", "--output", &format!("{output}=out.bin")]);
        text += &format!("{set} {program} {output}\n");
        for limb in words(&folder.join("out.bin")).chunks(512) {
            text += &format!("  {:#x} {:#x} {:#x}\n", limb[0], limb[1], limb[511]);
        }
    }
    diagnostic::snapshot::fresh(repository("tests/cli/generated.txt"), text);
}

/// A set of known answers: its document, and a folder for its files.
struct Vectors<'f> {
    document: Value,
    folder: &'f Path,
}

impl Vectors<'_> {
    fn has(&self, name: &str) -> bool {
        !self.document[name].is_null()
    }

    fn count(&self, key: &str) -> usize {
        self.document["meta"][key].as_u64().unwrap() as usize
    }

    /// The set as a parameter file.
    fn write_parameters(&self) {
        let list = |key: &str| -> Vec<String> {
            let numbers = self.document[key].as_array().unwrap();
            numbers.iter().map(|number| format!("\"0x{}\"", number.as_str().unwrap())).collect()
        };
        let (moduli, roots, levels) = (list("moduli"), list("psi").join(", "), self.count("num_q"));
        let (q, p) = (moduli[..levels].join(", "), moduli[levels..].join(", "));
        let t = match self.count("plaintext_modulus") {
            0 => String::new(),
            t => format!("plaintext_modulus = {t}\n"),
        };
        let (n, digits) = (self.count("n"), self.count("dnum"));
        let text = format!(
            "n = {n}\nq = [{q}]\np = [{p}]\nroots = [{roots}]\ndigits = {digits}\nsecurity = \"none\"\n{t}"
        );
        fs::write(self.folder.join("set.toml"), text).unwrap();
    }

    /// The data file of a polynomial.
    fn data(&self, name: &str) -> Vec<u8> {
        let n = self.count("n");
        let word = |digits: &[u8]| u128::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
        let limbs = self.document[name]["data"].as_array().unwrap().iter();
        let words = limbs.flat_map(|limb| {
            let text = limb.as_str().unwrap().as_bytes();
            text.chunks_exact(text.len() / n).map(word)
        });
        words.flat_map(u128::to_le_bytes).collect()
    }

    /// Generates a program and runs it on the set's polynomials; `names` pairs the program's inputs with
    /// them, `results` its outputs. The key is `key`, with a digit for each tower group of the level.
    fn check(&self, args: &[&str], names: &[(&str, &str)], key: &str, results: &[(&str, &str)]) {
        generate(self.folder, &[args, &["--set", "set.toml"]].concat());
        let manifest: Value =
            serde_json::from_slice(&fs::read(self.folder.join("p.manifest.json")).unwrap()).unwrap();
        let inputs = manifest["inputs"].as_object().unwrap().keys();
        let mut options = vec!["--check".to_owned()];
        for input in inputs {
            let known = names.iter().find(|(name, _)| name == input).map(|(_, known)| (*known).to_owned());
            let known = known.unwrap_or_else(|| input.replace("evk", key));
            let file = format!("{input}.bin");
            fs::write(self.folder.join(&file), self.data(&known)).unwrap();
            options.extend(["--input".to_owned(), format!("{input}={file}")]);
        }
        for (output, _) in results {
            options.extend(["--output".to_owned(), format!("{output}={output}.out")]);
        }
        let report = run(self.folder, &options.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(report["checked"], true);
        for (output, expected) in results {
            let found = fs::read(self.folder.join(format!("{output}.out"))).unwrap();
            assert!(found == self.data(expected), "{} {args:?} {output}", self.document["meta"]["name"]);
        }
    }
}

/// The environment variable `HE_VECTORS` names a folder with sets of OpenFHE's keys, ciphertexts and
/// results.
#[test]
fn ciphertexts_of_openfhe_give_its_results() {
    let Some(vectors) = std::env::var_os("HE_VECTORS") else {
        // Past the test harness, which keeps the output of tests that pass.
        let _ = writeln!(
            std::io::stderr(),
            "NOT TESTED: OpenFHE's ciphertexts: HE_VECTORS names no folder with them"
        );
        return;
    };
    let mut tested = 0;
    for path in fs::read_dir(vectors).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "xz") {
            continue;
        }
        let document: Value =
            serde_json::from_reader(ring_program::compression::open(&path).unwrap()).unwrap();
        let (scheme, mode) = (&document["meta"]["scheme"], &document["meta"]["mode"]);
        if scheme == "bfv" || mode != "native" {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let set = Vectors { document, folder: folder.path() };
        set.write_parameters();
        let factors = ["ct1.0", "ct1.1", "ct2.0", "ct2.1"].map(|name| (name, name));
        let products = ["prod.0", "prod.1", "rescaled.0", "rescaled.1"].map(|name| (name, name));
        set.check(&["hmult", "--rescale", "separate", "--dataflow", "ocs"], &factors, "relin", &products);
        let rescaled = [("ct.0", "prod.0"), ("ct.1", "prod.1")];
        set.check(&["rescale"], &rescaled, "", &products[2..]);
        let switched = [("ks0", "ks.out.0"), ("ks1", "ks.out.1")];
        set.check(&["keyswitch", "--dataflow", "dc"], &[("d", "ks.in")], "relin", &switched);
        if set.has("rot1.a.0") {
            let operand = [("ct.0", "ct1.0"), ("ct.1", "ct1.1")];
            set.check(&["hrot"], &operand, "rot1", &[("rot.0", "rot.0"), ("rot.1", "rot.1")]);
            let operand = [("ct.0", "rescaled.0"), ("ct.1", "rescaled.1")];
            let level = (set.count("num_q") - 1).to_string();
            let results = [("rot.0", "rot_low.0"), ("rot.1", "rot_low.1")];
            set.check(&["hrot", "--level", &level, "--dataflow", "mp"], &operand, "rot1", &results);
        }
        tested += 1;
    }
    assert!(tested > 0, "no set was tested");
}
