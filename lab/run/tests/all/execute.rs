//! Runs of programs: which inputs they take, what is compared and refused, and what their documents say.

use b512_asm::Program;
use lab_run::{
    Execution, Mode, Options, ProgramFacts, RunError, RunReport, admit, check_coverage, draw, inputs,
    inputs_of, random_seeds, run,
};
use sim::Machine;
use std::collections::BTreeMap;

/// A program with x, u and p in the VDM, and a constant k.
fn program(lines: &str) -> Program {
    let head = ".input x, 512, at 0x0\n.output y, 512, at 0x200\n.table k, 1, sdm\n.words k { 7 }\n";
    b512_asm::assemble(&format!("{head}{lines}")).unwrap()
}

fn checked(lines: &str, options: &Options) -> Result<RunReport, RunError> {
    run(&program(lines), &Machine::rpu_128x128(), options).map(|outcome| outcome.report)
}

fn check(lines: &str) -> Result<bool, RunError> {
    let options = Options { mode: Mode::FunctionalOnly, check: true, ..Options::default() };
    checked(lines, &options).map(|report| report.checked)
}

#[test]
fn inputs_that_no_claim_names_are_drawn() {
    let lines = |initial: &str| {
        format!(
            ".input u, 512, at 0x400\n{initial}.modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\n\
             .computes y = add(x, x), n=512, modulus=0xfffffffffffc001\n\
             sload s0, k\nvload v0, a0, x\nvload v1, a0, u\nvadd v0, v0, v0, m0\nvadd v0, v0, v1, m0\n\
             vsubs v0, v0, s0, m0\nvstore v0, a0, y\nhalt\n"
        )
    };
    // With sevens as u, the program is right.
    for initial in [String::new(), format!(".words u {{ {} }}\n", "7 ".repeat(512))] {
        let error = check(&lines(&initial)).unwrap_err();
        assert!(error.is_wrong_result(), "{error}");
    }
}

#[test]
fn a_claim_on_any_words_is_checked_on_words_beyond_the_modulus() {
    let moduli = ".modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\nsload s0, k\nvload v0, a0, x\n";
    let claim = ".computes y = muls(x), n=512, modulus=0x3001, by=49\n";
    let right = "vmuls v1, v0, s0, m1\nvmuls v1, v1, s0, m1\nvstore v1, a0, y\n";
    // Right for words below 0x3001 only.
    let wrong = "vmuls v1, v0, s0, m0\nvmuls v1, v1, s0, m1\nvstore v1, a0, y\n";
    assert_eq!(check(&format!("{claim}{moduli}{right}halt\n")), Ok(true));
    assert!(check(&format!("{claim}{moduli}{wrong}halt\n")).unwrap_err().is_wrong_result());
    // Another claim on the same words does not hide it.
    let other = ".output s, 512, at 0x400\n.computes s = add(x, x), n=512, modulus=0xfffffffffffc001\n";
    let sum = "vadd v2, v0, v0, m0\nvstore v2, a0, s\n";
    assert_eq!(check(&format!("{claim}{other}{moduli}{right}{sum}halt\n")), Ok(true));
    assert!(check(&format!("{claim}{other}{moduli}{wrong}{sum}halt\n")).unwrap_err().is_wrong_result());
}

/// On data that one claim takes, and another does not, only the first is compared.
#[test]
fn a_claim_is_not_compared_on_data_of_others() {
    let head = ".output s, 512, at 0x400\n.table k2, 1, sdm\n.words k2 { 2 }\n\
                .computes y = muls(x), n=512, modulus=0x3001, by=7\n\
                .computes s = add(x, x), n=512, modulus=0xfffffffffffc001\n\
                .modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\n\
                sload s0, k\nsload s1, k2\nvload v0, a0, x\nvmuls v1, v0, s0, m1\nvstore v1, a0, y\n";
    let sum = "vmuls v2, v0, s1, m0\nvstore v2, a0, s\nhalt\n";
    assert_eq!(check(&format!("{head}{sum}")), Ok(true));
    let wrong = head.replace("vmuls v1, v0, s0, m1", "vmuls v1, v0, s1, m0\nvmuls v1, v1, s0, m1");
    assert!(check(&format!("{wrong}{sum}")).unwrap_err().is_wrong_result());
}

#[test]
fn a_run_without_a_check_is_not_checked() {
    let lines = ".computes y = add(x, x), n=512, modulus=97\n.modulus m0, 97\nvload v0, a0, x\n\
                 vadd v0, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
    for check in [false, true] {
        assert_eq!(checked(lines, &Options { check, ..Options::default() }).unwrap().checked, check);
    }
}

#[test]
fn edges_are_drawn() {
    let claim = ".computes y = adds(x), n=512, modulus=0x7fffffffe0001, by=0\n.modulus m1, 0x7fffffffe0001\n";
    let program = program(&format!("{claim}vload v0, a0, x\nvstore v0, a0, y\nhalt\n"));
    let x = |seed| {
        let execution = Execution::random(&program, &Machine::rpu_128x128(), seed).unwrap().remove(0);
        execution.claim(&program.claims[0]).unwrap().0[0].to_vec()
    };
    let q = 0x7_ffff_fffe_0001;
    for edge in [0, 1, q / 2, q / 2 + 1, q - 1] {
        assert!((0..4).all(|seed| x(seed).contains(&edge)), "{edge}");
    }
    assert!(x(0).iter().all(|&word| word < q));
}

#[test]
fn a_timing_refuses_what_faults_on_all_data() {
    let options = Options { mode: Mode::TimingOnly, ..Options::default() };
    let error = |lines: &str| checked(lines, &options).unwrap_err().to_string();
    let even = ".table e, 1, sdm\n.words e { 4 }\nmload m0, e\nvload v0, a0, x\nvadd v0, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
    assert!(error(even).contains("invalid modulus for `m0`"), "{}", error(even));
    let large =
        "sload s0, k\n.modulus m0, 3\nvload v0, a0, x\nvadds v0, v0, s0, m0\nvstore v0, a0, y\nhalt\n";
    assert!(error(large).contains("not below"), "{}", error(large));
    let right =
        ".modulus m0, 97\nsload s0, k\nvload v0, a0, x\nvadds v0, v0, s0, m0\nvstore v0, a0, y\nhalt\n";
    assert!(checked(right, &options).is_ok());
}

#[test]
fn outputs_with_expected_words_are_checked() {
    let lines = ".output z, 512, at 0x400\n.modulus m0, 97\nvload v0, a0, x\nvadd v0, v0, v0, m0\n\
                 vstore v0, a0, y\nvstore v0, a0, z\nhalt\n";
    for (expected, all) in [(&["y"][..], false), (&["y", "z"], true), (&[], false)] {
        let expected = expected.iter().map(|name| (*name).to_owned()).collect();
        let report = checked(lines, &Options { expected, ..Options::default() }).unwrap();
        assert_eq!(report.checked, all);
    }
}

/// What one mode refuses, all modes refuse: the program takes words that its first instruction does not take.
#[test]
fn every_mode_refuses_what_faults_on_data_that_the_program_takes() {
    let text = ".computes y = muls(x), n=512, modulus=0x3001, by=1\n.modulus m0, 97\n\
                vload v0, a0, x\nvadd v1, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
    for (mode, check) in
        [(Mode::TimingOnly, false), (Mode::FunctionalOnly, false), (Mode::Full, false), (Mode::Full, true)]
    {
        // Words below 97 fault nowhere.
        let inputs = BTreeMap::from([("x".to_owned(), vec![7; 512])]);
        let inputs = if mode == Mode::TimingOnly { BTreeMap::new() } else { inputs };
        let error = checked(text, &Options { mode, check, inputs, ..Options::default() }).unwrap_err();
        assert!(matches!(error, RunError::Invalid(_)), "{mode:?}: {error}");
    }
}

#[test]
fn an_output_that_depends_on_no_input_is_never_checked() {
    let lines = ".output z, 512, at 0x400\n.table t, 512, at 0x600\n.words t { 1 }\n.modulus m0, 97\n\
                 vload v0, a0, x\nvstore v0, a0, y\nvload v1, a0, t\nvstore v1, a0, z\nhalt\n";
    let lines = lines.replace("{ 1 }", &format!("{{ {} }}", "1 ".repeat(512)));
    for (store, checked) in [("vstore v1", false), ("vstore v0", true)] {
        let lines = lines.replace("vstore v1", store);
        let expected = ["y", "z"].map(str::to_owned).into();
        let report = self::checked(&lines, &Options { expected, ..Options::default() }).unwrap();
        assert_eq!(report.checked, checked);
    }
}

/// Lenient runs go on with defects, whatever is compared.
#[test]
fn a_program_with_defects_is_never_checked() {
    let lines = ".modulus m0, 97\nvload v0, a0, x\nvadd v0, v0, v9, m0\nvstore v0, a0, y\nhalt\n";
    for (lines, is_sound) in [(lines.to_owned(), false), (lines.replace("v9", "v0"), true)] {
        let options = Options { expected: ["y".to_owned()].into(), lenient: true, ..Options::default() };
        assert_eq!(checked(&lines, &options).unwrap().checked, is_sound);
        assert_eq!(checked(&lines, &Options { lenient: false, ..options }).is_ok(), is_sound);
    }
}

/// The caller gives it; without claims, the program says nothing of it.
#[test]
fn a_modulus_that_is_an_input_is_no_fault_of_the_program() {
    let lines = ".input q, 1, sdm\nmload m0, q\nvload v0, a0, x\nvadd v0, v0, v0, m0\n\
                 vstore v0, a0, y\nhalt\n";
    for mode in [Mode::TimingOnly, Mode::FunctionalOnly] {
        let inputs = BTreeMap::from([("q".to_owned(), vec![97]), ("x".to_owned(), vec![7; 512])]);
        let inputs = if mode == Mode::TimingOnly { BTreeMap::new() } else { inputs };
        checked(lines, &Options { mode, inputs, ..Options::default() }).unwrap();
    }
}

/// The ranges of inputs are those of their claims, on the machine, or below all moduli.
#[test]
fn a_program_is_admitted_for_the_largest_words_that_it_takes() {
    let moduli = ".modulus m0, 0x3001\n.modulus m1, 97\n.input u, 512, at 0x400\n";
    let body = "sload s0, k\nvload v0, a0, x\nvload v1, a0, u\n";
    let end = "vstore v0, a0, y\nhalt\n";
    let machine = |operands: &str| {
        let key = sim::Override::parse(&format!("law.operands=\"{operands}\"")).unwrap();
        sim::MachineBase::built_in("rpu-128x128").unwrap().machine(&[key]).unwrap()
    };
    let admits = |claim: &str, lines: &str, operands: &str| {
        let program = program(&format!("{moduli}{claim}{body}{lines}{end}"));
        admit(&program, &machine(operands)).is_ok()
    };
    let copy = ".computes y = adds(x), n=512, modulus=0x3001, by=0\n";
    let product = ".computes y = muls(x), n=512, modulus=0x3001, by=1\n";
    // x has residues of the claim, u those of all moduli.
    for (claim, lines, word, reduced) in [
        (copy, "vadd v2, v0, v0, m0\n", true, true),
        (copy, "vadd v2, v0, v0, m1\n", false, false),
        (copy, "vadd v2, v1, v1, m1\n", true, true),
        (copy, "vadds v2, v1, s0, m0\nvadd v2, v2, v2, m1\n", false, false),
        (copy, "vmuls v2, v0, s0, m1\nvadd v2, v2, v2, m1\n", true, false),
        (product, "vadd v2, v0, v0, m0\n", false, true),
        (product, "vmuls v2, v0, s0, m0\n", true, true),
        ("", "vadd v2, v0, v0, m1\n", true, true),
        ("", "vadds v2, v0, s0, m0\nvadd v2, v2, v2, m1\n", false, false),
    ] {
        for (operands, admitted) in [("word", word), ("reduced", reduced)] {
            assert_eq!(admits(claim, lines, operands), admitted, "{claim}{lines}, {operands}");
        }
    }
}

/// Initial words of an input count too: a run without other data has them.
#[test]
fn initial_words_of_an_input_are_in_range() {
    let lines = |word: &str| {
        format!(
            ".words x {{ {word} }}\n.computes y = adds(x), n=512, modulus=0x3001, by=0\n.modulus m0, 0x3001\n\
             .modulus m1, 0x3003\nvload v0, a0, x\nvadd v1, v0, v0, m0\nvstore v0, a0, y\nhalt\n"
        )
    };
    let machine = Machine::rpu_128x128();
    assert_eq!(admit(&program(&lines("0x3000")), &machine), Ok(()));
    let error = admit(&program(&lines("0 0x3001")), &machine).unwrap_err();
    assert!(error.to_string().contains("lane 1 of `v0` may be 0x3001"), "{error}");
}

#[test]
fn a_rate_counts_the_instructions_of_both_parts() {
    let lines = ".modulus m0, 97\nvload v0, a0, x\nvadd v0, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
    let simulated = |mode| {
        let simulator = checked(lines, &Options { mode, ..Options::default() }).unwrap().simulator;
        (simulator.instructions_per_s.unwrap() * simulator.wall_s.unwrap()).round()
    };
    let (functional, timing) = (simulated(Mode::FunctionalOnly), simulated(Mode::TimingOnly));
    assert!(functional >= 3.0 && timing >= 3.0);
    assert_eq!(simulated(Mode::Full), functional + timing);
}

#[test]
fn inputs_are_given_or_initial_or_drawn() {
    let words = |word: &str| format!("{word} ").repeat(512);
    let program = program(&format!(
        ".input u, 512, at 0x400\n.words u {{ {} }}\n.input w, 512, at 0x600\n.modulus m0, 97\nhalt\n",
        words("7")
    ));
    let machine = Machine::rpu_128x128();
    let inputs = |given| inputs_of(&program, &machine, &given, 5).unwrap();
    let drawn = |operand| draw(5, operand, 512, 97);
    let expected = |u: Vec<u128>, w: Vec<u128>| {
        BTreeMap::from([("x".to_owned(), drawn(0)), ("u".to_owned(), u), ("w".to_owned(), w)])
    };
    assert_eq!(inputs(BTreeMap::new()), expected(vec![7; 512], drawn(2)));
    let names = inputs::drawn(&program).map(|input| input.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["x", "w"]);
    let given = BTreeMap::from([("u".to_owned(), vec![1; 512]), ("w".to_owned(), vec![2; 512])]);
    assert_eq!(inputs(given), expected(vec![1; 512], vec![2; 512]));
}

#[test]
fn a_report_has_the_seed_of_what_it_draws() {
    let lines = ".input u, 512, at 0x400\n.modulus m0, 97\nvload v0, a0, x\nvload v1, a0, u\n\
                 vadd v0, v0, v1, m0\nvstore v0, a0, y\nhalt\n";
    let seed = |given: &[&str]| {
        let inputs = given.iter().map(|name| ((*name).to_owned(), vec![7; 512])).collect();
        checked(lines, &Options { seed: 3, inputs, ..Options::default() }).unwrap().seed
    };
    assert_eq!((seed(&[]), seed(&["x"]), seed(&["x", "u"])), (Some(3), Some(3), None));
}

#[test]
fn random_data_follow_from_the_program_the_seed_and_the_run() {
    let mut seeds = Vec::new();
    for (program, seed) in [("a", 0), ("b", 0), ("a", 1), ("a", u64::MAX)] {
        assert_eq!(random_seeds(program, seed, 2), random_seeds(program, seed, 2));
        seeds.extend(random_seeds(program, seed, 2));
    }
    assert_eq!(seeds.len(), 8);
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 8);
}

const SUM: &str = ".computes y = add(x, x), n=512, modulus=97\n.modulus m0, 97\nvload v0, a0, x\n\
                   vadd v0, v0, v0, m0\nvstore v0, a0, y\nhalt\n";

#[test]
fn time_bounds_and_power_follow_from_cycles_and_energy() {
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
    let of = |stream| checked(SUM, &Options { stream, ..Options::default() }).unwrap();
    let report = of(None);
    let (time_us, cycles) = report.duration().unwrap();
    near(time_us * report.frequency_ghz.unwrap() * 1e3, cycles as f64);
    let bounds = report.bounds.unwrap();
    let larger = bounds.resource_cycles.max(bounds.dependence_cycles);
    assert!(larger > 1 && bounds.cycles() == larger);
    near(report.bound_ratio.unwrap() * larger as f64, cycles as f64);
    let parts = |report: &RunReport| {
        let off_chip = report.energy_hbm_uj + report.energy_bus_uj;
        report.energy_kernels_uj + off_chip + report.energy_generator_uj + report.energy_static_uj
    };
    assert!(report.energy_static_uj > 0.0 && report.energy_hbm_uj == 0.0);
    near(report.energy_uj, parts(&report));
    near(report.power_w.unwrap() * time_us, report.energy_uj);
    assert!(report.energy_parts_uj().iter().all(|(name, energy)| *name != "hbm" && *energy >= 0.0));

    // One run of a stream has its part of the time and of the transfers.
    let (one, many) = (of(Some(1)), of(Some(16)));
    for (report, runs) in [(&one, 1.0), (&many, 16.0)] {
        near(report.energy_uj, parts(report));
        near(report.power_w.unwrap() * report.stream().unwrap().total_us / runs, report.energy_uj);
    }
    assert!(many.energy_hbm_uj > 0.0 && many.energy_hbm_uj <= one.energy_hbm_uj);
    assert_eq!(of(None).stream(), None);
}

#[test]
fn a_document_has_the_claims_of_its_program() {
    let claims = RunReport::new(
        &ProgramFacts::of(&program(
            ".computes y = muls(x), n=512, modulus=0x3001, by=49\n.modulus m0, 0x3001\nhalt\n",
        )),
        &Machine::rpu_128x128(),
    )
    .computes;
    let settings = serde_json::json!({ "n": 512, "modulus": "0x3001", "by": "0x31" });
    assert_eq!(serde_json::to_value(&claims[0].settings).unwrap(), settings);
    assert_eq!(
        (&claims[0].inputs[..], &claims[0].outputs[..]),
        (&["x".to_owned()][..], &["y".to_owned()][..])
    );
}

#[test]
fn an_execution_has_the_words_of_its_outputs() {
    let program = program(SUM);
    let execution = Execution::random(&program, &Machine::rpu_128x128(), 3).unwrap().remove(0);
    let (inputs, _) = execution.claim(&program.claims[0]).unwrap();
    let twice: Vec<u128> = inputs[0].iter().map(|word| word * 2 % 97).collect();
    assert_eq!(execution.outputs()["y"], twice);
    assert_eq!(execution.claims(&program).count(), 1);
}

#[test]
fn what_no_claim_covers_is_named() {
    let z = ".output z, 512, at 0x400\n";
    let with = |text: &str| check_coverage(&program(text), |name| name == "z").unwrap_err();
    assert_eq!(with("halt\n"), RunError::NoClaim);
    assert!(RunError::NoClaim.help().unwrap().contains("`.computes y = ntt(x), n=1024, ...`"));
    let other = z.replace("z, 512, at 0x400", "w, 512, at 0x400");
    let error = with(&format!("{other}{SUM}"));
    assert_eq!(error, RunError::Unclaimed { output: "w".into() });
    assert!(error.help().is_none() && !error.is_wrong_result());
    assert_eq!(check_coverage(&program(&format!("{z}{SUM}")), |name| name == "z"), Ok(()));
}
