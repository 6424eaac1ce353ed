//! The ranges of values against executions: what a run refuses, the ranges refuse, on whatever data.

use super::engines::{LANES, SDM_WORDS, VDM_WORDS, Words, instruction, program, words};
use super::symbol;
use b512_asm::{Code, Defect, Program, Role, Space, assemble};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sim::functional::{Executor, Fault, check_load};
use sim::lint::ranges;
use sim::machine::Resources;
use sim::{Machine, MachineBase, Override};

fn machine(reduced: bool) -> Machine {
    let operands = if reduced { "law.operands=\"reduced\"" } else { "law.operands=\"word\"" };
    let keys = [
        "isa.vector_length=64",
        "hple.count=64",
        "vdm.banks=64",
        "vdm.size_mib=1",
        "isa.gs_butterfly=true",
        "isa.lane_permuter=true",
        operands,
    ];
    let keys = keys.map(|key| Override::parse(key).unwrap());
    MachineBase::built_in("rpu-128x128").unwrap().machine(&keys).unwrap()
}

/// The instruction at which a run on these words of `x` stops because of a value.
fn fault(program: &Program, executor: &mut Executor, words: &[u128]) -> Result<Option<usize>, Fault> {
    executor.load(program).unwrap();
    executor.write("x", words).unwrap();
    match executor.run() {
        Ok(_) => Ok(None),
        Err(error) => match error.fault {
            // For all data.
            Fault::OutsideVdm { .. } | Fault::OutsideSdm { .. } | Fault::ModulusUnset { .. } => {
                Err(error.fault)
            }
            _ => Ok(Some(error.index)),
        },
    }
}

/// A pass over ranges refuses a program at or before each instruction that faults on any data, and nearly
/// always there is data on which the first instruction that it names faults.
#[test]
fn ranges_foresee_the_faults_of_all_runs() {
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let programs = (
        prop::collection::vec(instruction(), 3..16),
        prop::collection::vec(words(), 8),
        (2u32..=128, 2u32..=64),
        (any::<bool>(), any::<u64>(), 0..VDM_WORDS - LANES),
    );
    let (mut admitted, mut refused, mut witnessed) = (0, 0, 0);
    for _ in 0..3000 {
        let (code, stretches, bits, (reduced, seed, start)) =
            programs.new_tree(&mut runner).unwrap().current();
        let odd = |bits: u32| ((u128::MAX - u128::from(seed)) >> (128 - bits) | 1).max(3);
        let moduli = [odd(bits.0), odd(bits.1.min(bits.0))];
        let mut program = program(code, moduli, &stretches, 0..LANES, seed);
        program.symbols.push(symbol("x", Space::Vdm, start, LANES, Role::Input));
        let machine = machine(reduced);
        let memories = Resources { vdm_words: VDM_WORDS, sdm_words: SDM_WORDS, ..machine.resources() };
        let mut executor = Executor::with_resources(memories, machine.law.operands);
        let largest = [1, moduli[1] - 1, moduli[0] - 1, u128::MAX][seed as usize % 4];
        let first =
            ranges(&program, &machine, |_| largest).first().map(|defect| defect.part.instruction().unwrap());
        let mut runs = Vec::new();
        for (kind, seed) in [(3, 1), (3, 2), (3, 3), (2, 4), (1, 5), (0, 6)] {
            let mut words = [0; LANES as usize];
            Words { kind, seed }.fill(&mut words, moduli);
            words.iter_mut().for_each(|word| *word = (*word).min(largest));
            words[seed as usize] = largest;
            runs.push(fault(&program, &mut executor, &words));
        }
        runs.push(fault(&program, &mut executor, &[largest; LANES as usize]));
        let Ok(faults) = runs.into_iter().collect::<Result<Vec<_>, Fault>>() else { continue };
        for index in faults.iter().flatten() {
            assert!(first.is_some_and(|first| first <= *index), "{first:?}, {index}\n{program}");
        }
        match first {
            None => admitted += 1,
            Some(first) => {
                refused += 1;
                witnessed += u32::from(faults.contains(&Some(first)));
            }
        }
    }
    println!("{admitted} programs are admitted, {refused} are refused, of which {witnessed} fault in a run");
    assert!(admitted > 300 && refused > 300, "{admitted}, {refused}");
    assert!(witnessed * 20 > refused * 19, "{witnessed} of {refused}");
}

/// The defects of lines behind two inputs of 64 words, a table of four words in the SDM, and two moduli.
fn defects(lines: &str, largest: u128) -> Vec<Defect> {
    let head = ".isa vector_length=64\n.input x, 64\n.input u, 64\n.output y, 64\n.table t, 64\n\
                .input p, 1, sdm\n.table k, 4, sdm\n.words k { 5, 0x3001, 0x10000000, 1 }\n.words t { 96 97 96 }\n\
                .modulus m0, 97\n.modulus m1, 0x3001\n";
    let program = assemble(&format!("{head}{lines}halt\n")).unwrap();
    ranges(&program, &machine(false), |symbol| if symbol.name == "x" { 96 } else { largest })
}

fn places(lines: &str, largest: u128) -> Vec<(Code, usize)> {
    let of = |defect: &Defect| (defect.code, defect.part.instruction().unwrap());
    defects(lines, largest).iter().map(of).collect()
}

#[test]
fn a_lane_of_the_next_symbol_counts() {
    let load = |offset: &str| format!("vload v0, a0, x{offset}\nvadd v1, v0, v0, m0\nvadd v2, v0, v0, m0\n");
    assert_eq!(places(&load(""), 0x3000), []);
    assert_eq!(places(&load("+1"), 96), []);
    // One report is enough.
    let found = defects(&load("+1"), 0x3000);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].to_string(),
        "B014: lane 63 of `v0` may be 0x3000, which is not below 0x61, the modulus in `m0` \
         (a product with one, as `vmuls` computes, reduces any word)"
    );
    // Lanes are followed through the memory, shuffles, and permutations.
    let moved = "vload v0, a0, x+1\nvstore v0, a0, 0x400\nvload v1, a0, 0x400\npkhi v2, v1, v1\n";
    assert_eq!(places(&format!("{moved}pklo v3, v1, v1\nvadd v4, v3, v3, m0\n"), 0x3000), []);
    assert_eq!(places(&format!("{moved}vadd v4, v2, v2, m0\n"), 0x3000), [(Code::NotReduced, 4)]);
    assert_eq!(places("vload v0, a0, x+1, repeated 2^5\nvadd v1, v0, v0, m0\n", 0x3000), []);
    assert_eq!(
        places("vload v0, a0, x, strided 2^1\nvadd v1, v0, v0, m0\n", 0x3000),
        [(Code::NotReduced, 1)]
    );
    let far = "vload v0, a0, u\nvstore v0, a0, 0x8000\nvload v1, a0, 0x8000\nvadd v2, v1, v1, m0\n";
    assert_eq!(places(far, 0x3000), [(Code::NotReduced, 3)]);
    // The last lane of a repeated word stays: that of u.
    let repeated =
        "vload v0, a0, x+32\nvstore v0, a0, 0x400, repeated 2^5\nvload v1, a0, 0x400, repeated 2^5\n";
    assert_eq!(places(&format!("{repeated}vadd v1, v1, v1, m0\n"), 0x3000), [(Code::NotReduced, 3)]);
}

/// One word of two registers equals the modulus. The pass reports the lane to which the executor moves it.
#[test]
fn shuffles_move_bounds_as_words() {
    let shuffles =
        ["unpklo v2, v0, v1", "unpkhi v2, v0, v1", "pklo v2, v0, v1", "pkhi v2, v0, v1", "vaff v2, v1, 5h+3"];
    let machine = machine(false);
    let mut executor = Executor::for_machine(&machine);
    for line in shuffles {
        let mut arrived = 0;
        for lane in 0..128 {
            let words: Vec<&str> = (0..128).map(|word| if word == lane { "97" } else { "1" }).collect();
            let program = |after: &str| {
                let text = format!(
                    ".isa vector_length=64\n.table t, 128\n.words t {{ {} }}\n.output y, 64\n.modulus m0, 97\n.modulus m1, 0x3001\n\
                     vload v0, a0, t\nvload v1, a0, t+64\n{line}\n{after}vstore v2, a0, y\nhalt\n",
                    words.join(" ")
                );
                assemble(&text).unwrap()
            };
            executor.load(&program("")).unwrap();
            executor.run().unwrap();
            let moved = executor.read("y").unwrap().iter().position(|word| *word == 97);
            let found = ranges(&program("vadd v3, v2, v2, m0\n"), &machine, |_| 0);
            match moved {
                Some(to) => {
                    assert!(
                        found[0].message.starts_with(&format!("lane {to} of `v2` may be 0x61")),
                        "{line}"
                    );
                    arrived += 1;
                }
                None => assert_eq!(found, [], "{line}, {lane}"),
            }
        }
        assert_eq!(arrived, 64, "{line}");
    }
}

#[test]
fn constants_and_small_results_have_exact_bounds() {
    // The second word of the table is no residue.
    let table = |offset: u32, mode: &str| {
        places(&format!("vload v0, a0, t+{offset}, repeated 2^{mode}\nvadd v1, v0, v0, m0\n"), 0)
    };
    assert_eq!((table(0, "0"), table(2, "0")), (vec![], vec![]));
    assert_eq!((table(1, "0"), table(0, "1")), (vec![(Code::NotReduced, 1)], vec![(Code::NotReduced, 1)]));
    // x + 5 and 5 x, without reduction modulo m1; 5 - x may be negative.
    let use_of = |line: &str, modulus: &str| {
        places(&format!("sload s0, k\nvload v0, a0, x\n{line}\nvadd v2, v1, v1, {modulus}\n"), 0x3000)
    };
    let two = "vadds v1, v0, s0, m1\nvmuls v1, v1, s0, m1";
    assert_eq!(use_of(two, "m1"), []);
    for line in
        ["vadds v1, v0, s0, m1", "vmuls v1, v0, s0, m1", "vsubs v1, v0, s0, m1", "vadd v1, v0, v0, m1"]
    {
        assert_eq!(use_of(line, "m0"), [(Code::NotReduced, 3)], "{line}");
    }
    for line in
        ["vsub v1, v0, v0, m1", "vadds v1, v0, s0, m0", "vmuls v1, v0, s1, m1", "vsubs v1, v0, s1, m1"]
    {
        assert_eq!(use_of(line, "m0"), [], "{line}");
    }
    // Any result is below its modulus: 92 + 5 and 97 * 1, which are 97, and differences.
    for line in ["sload s0, k\nvadds v1, v0, s0, m0", "vsub v1, v2, v0, m0"] {
        assert_eq!(places(&format!("vload v0, a0, u\n{line}\nvadd v3, v1, v1, m0\n"), 92), [], "{line}");
    }
    let by_one = "vload v0, a0, u\nsload s0, k+3\nvmuls v1, v0, s0, m0\nvadd v3, v1, v1, m0\n";
    assert_eq!(places(by_one, 97), []);
    // A multiplicand is any word, a multiplier is reduced.
    assert_eq!(
        places("vload v0, a0, u\nvload v1, a0, x\nvmul v2, v0, v1, m0\nvadd v2, v2, v2, m0\n", u128::MAX),
        []
    );
    let multiplier = "vload v0, a0, u\nvload v1, a0, x\nvmul v2, v1, v0, m0\n";
    assert_eq!(places(multiplier, u128::MAX), [(Code::NotReduced, 2)]);
    assert_eq!(places("vload v1, a0, x\nsload s0, k+1\nvadds v2, v1, s0, m1\n", 0), [(Code::NotReduced, 2)]);
}

#[test]
fn multiplicands_are_reduced_on_machines_that_say_so() {
    let text =
        ".isa vector_length=64\n.input x, 64\n.modulus m0, 97\nvload v0, a0, x\nvmul v1, v0, v0, m0\nhalt\n";
    let program = assemble(&text.replace("v0, v0, m0", "v0, v2, m0")).unwrap();
    let of = |reduced| ranges(&program, &machine(reduced), |_| 97);
    assert_eq!(of(false), []);
    assert_eq!(
        of(true)[0].to_string(),
        "B014: lane 0 of the multiplicand `v0` may be 0x61, which is not below 0x61, the modulus in `m0` \
         (`law.operands = \"word\"` accepts it)"
    );
}

#[test]
fn inputs_are_no_addresses_and_moduli_of_claims() {
    let claim = ".computes y = add(x, x), n=64, modulus=97\n";
    for (line, code, after) in [
        ("aload a1, p\n", Code::Address, "vload v0, a1, u\nvadd v1, v0, v0, m0\n"),
        ("mload m2, p\n", Code::Modulus, "vload v0, a0, u\nvadd v1, v0, v0, m2\nvadd v1, v1, v1, m0\n"),
    ] {
        // The caller decides what follows.
        assert_eq!(places(&format!("{line}{after}"), 0x3000), []);
        assert_eq!(places(&format!("{claim}{line}{after}"), 0x3000), [(code, 0)]);
        assert_eq!(places(&format!("{claim}{}", line.replace('p', "k+1")), 0x3000), []);
    }
    assert_eq!(
        places("mload m2, p\nvload v0, a0, u\nvadd v1, v0, v0, m0\n", 0x3000),
        [(Code::NotReduced, 2)]
    );
    // One report of a scalar is enough, too.
    let scalar = "sload s0, p\nvload v0, a0, x\nvadds v1, v0, s0, m0\n";
    let twice = format!("{scalar}vmuls v2, v1, s0, m0\nvadd v3, v1, v2, m0\n");
    assert_eq!(places(&twice, 97), [(Code::NotReduced, 2)]);
    assert_eq!(places("sload s0, p\nvload v0, a0, x\nvadds v1, v0, s0, m0\n", 96), []);
    assert_eq!(places("aload a1, k+2\n", 0), [(Code::Address, 0)]);
    assert_eq!(places("mload m2, k+2\n", 0), [(Code::Modulus, 0)]);
}

/// What the executor does not load is no program for a machine.
#[test]
fn what_cannot_be_loaded_is_found_without_memories() {
    let machine = machine(false);
    let program = assemble(".isa vector_length=64\n.modulus m0, 97\nhalt\n").unwrap();
    assert_eq!(check_load(&machine, &program), Ok(()));
    let mut even = program;
    even.moduli[0].1 = 98;
    let mut executor = Executor::for_machine(&machine);
    assert!(check_load(&machine, &even).is_err() && executor.load(&even) == check_load(&machine, &even));
}
