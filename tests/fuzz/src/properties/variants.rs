//! Wrong variants of programs: what a check accepts computes what its claims say, also on other data.

use b512_asm::reg::REGISTERS;
use b512_asm::{Claim, Expression, FeatureSet, Instr, MReg, Program, Role, Setting, Space, Symbol, assemble};
use codegen::rewrite::{prove, reschedule};
use codegen::{PlanChoice, Request, generate};
use golden::{Operation, Range};
use lab_run::{Mode, Options, RunError, admit, check_coverage, check_defects, run};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring::Degree;
use sim::machine::LawOperands;
use sim::testing::SlowEngine;
use sim::{Machine, MachineBase, Override};
use std::sync::LazyLock;

/// Vectors of 64 words, so that programs are short. It takes any word as a multiplicand, as claims of
/// products do.
pub(super) static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let base = MachineBase::built_in("rpu-128x128").expect("a built-in machine");
    let keys = ["isa.vector_length=64", "hple.count=64", "vdm.size_mib=1", "sdm.size_kib=1"];
    base.machine(&keys.map(|key| Override::parse(key).expect("a key and its value")))
        .expect("a valid machine")
});

/// Programs as people write them: several moduli, an input without a claim, claims that take other words of
/// one input, a result in place of its operand, words of the SDM.
const WRITTEN: [&str; 5] = [
    ".input a, 64\n.input b, 64\n.output c, 64\n.modulus m1, 0x7fffffffffffffffffffffffffffffff\n\
     .computes c = add(a, b), n=64, modulus=0x7fffffffffffffffffffffffffffffff\n\
     vload v0, a0, a\nvload v1, a0, b\nvadd v2, v0, v1, m1\nvstore v2, a0, c\nhalt\n",
    ".input x, 64\n.input u, 64\n.output y, 64\n.output z, 64\n.modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\n\
     .computes y = mul(x, x), n=64, modulus=0x3001\n.computes z = sub(x, u), n=64, modulus=0xfffffffffffc001\n\
     vload v0, a0, x\nvload v1, a0, u\nvmul v2, v0, v0, m1\nvstore v2, a0, y\nvsub v3, v0, v1, m0\n\
     vstore v3, a0, z\nhalt\n",
    ".input x, 64\n.output y, 64\n.output s, 64\n.table k, 2, sdm\n.words k { 5, 0x3001 }\n\
     .computes y = muls(x), n=64, modulus=0x3001, by=25\n.computes s = adds(x), n=64, modulus=0x3001, by=5\n\
     mload m1, k+1\nsload s0, k\nvload v0, a0, x\nvmuls v1, v0, s0, m1\nvmuls v1, v1, s0, m1\nvstore v1, a0, y\n\
     vadds v2, v0, s0, m1\nvstore v2, a0, s\nhalt\n",
    ".input x, 128\n.input w, 64\n.output y, 128, at 0\n.table k, 1, sdm\n.words k { 0x3000 }\n\
     .computes y = muls(x), n=128, modulus=0x3001, by=0x3000\n.modulus m1, 0x3001\nsload s0, k\nvload v0, a0, x\n\
     vload v1, a0, x+64\nvmuls v0, v0, s0, m1\nvmuls v1, v1, s0, m1\nvstore v0, a0, y\nvstore v1, a0, y+64\nhalt\n",
    ".input a, 64\n.input b, 64\n.input c, 64\n.output y, 64\n.output d, 64\n.modulus m1, 0x3001\n.modulus m2, 97\n\
     .computes y = mac(a, b, c), n=64, modulus=0x3001\n.computes d = neg(c), n=64, modulus=0x3001\n\
     vload v0, a0, a\nvload v1, a0, b\nvload v2, a0, c\nvmul v3, v0, v1, m1\nvadd v3, v3, v2, m1\nvstore v3, a0, y\n\
     vsub v4, v2, v2, m1\nvsub v4, v4, v2, m1\nvstore v4, a0, d\nhalt\n",
];

/// The written programs, and a generated one of each operation without settings of its own.
pub(crate) static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let isa = |text: &&str| assemble(&format!(".isa vector_length=64\n{text}")).expect("a valid program");
    let generated = |&operation: &Operation| {
        let degree = Degree::try_from(128u32).expect("a valid degree");
        let request = Request::with_primes(operation, degree, 50, 1).expect("there is such a prime");
        Some(generate(&request, &MACHINE, &PlanChoice::Classical).ok()?.program)
    };
    WRITTEN.iter().map(isa).chain(golden::OPERATIONS.iter().filter_map(generated)).collect()
});

/// A changed program is refused, or computes what its claims say on the words at the edges of their ranges,
/// by an engine of its own. The first byte selects the program, the others the change.
pub fn variants(data: &[u8]) {
    judge(data, RESCHEDULED);
}

/// What the commands say of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Verdict {
    /// It is refused for values that are beyond their range on no data that was tried.
    pub cautious: bool,
    /// The check of a run accepts it.
    pub accepted: bool,
    /// It is proven.
    pub proven: bool,
    /// It was scheduled again.
    pub rescheduled: bool,
}

/// What the commands say of a variant; `None` for an invalid or an unchanged program. As [`variants`]; one of
/// `share` variants is scheduled again.
pub fn judge(data: &[u8], share: u32) -> Option<Verdict> {
    let (&first, seed) = data.split_first()?;
    let seed = std::array::from_fn(|at| seed.get(at).copied().unwrap_or(0));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from_le_bytes(seed));
    let original = &PROGRAMS[usize::from(first) % PROGRAMS.len()];
    let mut program = original.clone();
    change(&mut program, &mut rng);
    // As from a file: the claims are valid, the words of the image fit.
    if program == *original || program.check().is_err() || golden::check(&program).is_err() {
        return None;
    }
    let options = Options { mode: Mode::FunctionalOnly, check: true, ..Options::default() };
    let checked = run(&program, &MACHINE, &options);
    let is_rescheduled = rng.random_ratio(1, share);
    let verdict = commands_agree(&program, checked.as_ref().err(), is_rescheduled);
    let mut cautious = false;
    if check_defects(&program, &MACHINE).is_ok() {
        let admitted = admit(&program, &MACHINE).is_ok();
        let faulty = (0..PATTERNS).find_map(|pattern| faulty(&program, pattern, &mut rng));
        assert!(!admitted || faulty.is_none(), "admitted, but instruction {faulty:?} faults\n{program}");
        cautious = !admitted && faulty.is_none();
    }
    let accepted = checked.is_ok_and(|outcome| outcome.report.checked);
    if accepted {
        for pattern in 0..PATTERNS {
            for claim in &program.claims {
                holds(&program, claim, pattern, &mut rng);
            }
        }
    }
    Some(Verdict { cautious, accepted, ..verdict })
}

/// One of so many variants is scheduled again, which takes most of the time.
pub const RESCHEDULED: u32 = 16;

/// What `rpu prove` proves, `rpu run --check` accepts, and what `rpu schedule` writes is a program like the
/// given one.
fn commands_agree(program: &Program, refusal: Option<&RunError>, is_rescheduled: bool) -> Verdict {
    let mut verdict = Verdict::default();
    if admit(program, &MACHINE).is_err() {
        assert!(refusal.is_some(), "the commands refuse what a run accepts\n{program}");
        return verdict;
    }
    assert!(!matches!(refusal, Some(RunError::Execute(_))), "admitted, but it faults\n{program}");
    if check_coverage(program, |_| false).is_ok() && prove(program).is_ok() {
        assert_eq!(refusal, None, "proven, but refused\n{program}");
        verdict.proven = true;
    }
    if is_rescheduled && let Ok(rescheduled) = reschedule(program, &MACHINE) {
        verdict.rescheduled = true;
        let other = &rescheduled.program;
        let is_valid = other.check().is_ok() && golden::check(other).is_ok();
        assert!(is_valid, "scheduled to no program\n{program}\n{other}");
        assert!(admit(other, &MACHINE).is_ok(), "scheduled to what a run refuses\n{program}\n{other}");
        let options = Options { mode: Mode::FunctionalOnly, check: true, ..Options::default() };
        let other = run(other, &MACHINE, &options).err().is_some();
        assert_eq!(other, refusal.is_some(), "scheduled to other results\n{program}");
    }
    verdict
}

/// Changes one thing: a word, a register or another part of an instruction, a setting of a claim, a modulus,
/// an instruction.
fn change(program: &mut Program, rng: &mut impl Rng) {
    let odd =
        |rng: &mut dyn Rng| [3, 97, 0x3001, 0x3003, 0x0fff_ffff_ffff_c001, 1][rng.random_range(..6usize)];
    match rng.random_range(..6u8) {
        0 => {
            let images =
                [&mut program.vdm, &mut program.sdm].into_iter().flat_map(|image| &mut image.segments);
            let mut words: Vec<&mut u128> = images.flat_map(|segment| &mut segment.words).collect();
            if !words.is_empty() {
                let at = rng.random_range(..words.len());
                let near = [*words[at] ^ 1, *words[at] + 1, 0, 1, rng.random::<u128>() % 0x3001];
                *words[at] = near[rng.random_range(..near.len())];
            }
        }
        1 | 2 => {
            let at = rng.random_range(..program.instructions.len());
            let known = program.instructions[at];
            let other = known.encode() ^ 1 << rng.random_range(..64u32);
            program.instructions[at] = Instr::decode(other).unwrap_or(known);
        }
        3 if !program.claims.is_empty() => {
            let chosen = rng.random_range(..program.claims.len());
            change_claim(&mut program.claims[chosen], rng);
        }
        4 if !program.moduli.is_empty() => {
            let at = rng.random_range(..program.moduli.len());
            program.moduli[at].1 = odd(rng);
        }
        4 => program.moduli.push((MReg::at(rng.random_range(..REGISTERS)), odd(rng))),
        _ => {
            let (at, to) = (rng.random_range(..program.instructions.len()), program.instructions.len());
            match rng.random_range(..3u8) {
                0 => drop(program.instructions.remove(at)),
                1 => program.instructions.swap(at, rng.random_range(..to)),
                _ => program.instructions.insert(at, program.instructions[rng.random_range(..to)]),
            }
        }
    }
}

fn change_claim(claim: &mut Claim, rng: &mut impl Rng) {
    let names: Vec<&str> = golden::OPERATIONS.iter().map(|operation| operation.name()).collect();
    match rng.random_range(..4u8) {
        0 => {
            let operation = names[rng.random_range(..names.len())];
            claim.expressions[0] = Expression::of_inputs(operation, claim.inputs.len());
        }
        1 => claim.inputs.rotate_left(1),
        _ => {
            let at = rng.random_range(..claim.settings.len());
            if let Setting::Number(number) = &mut claim.settings[at].1 {
                let near = [*number + 1, number.saturating_sub(1), *number + 2, 3, 0, *number * 2];
                *number = near[rng.random_range(..near.len())];
            }
        }
    }
}

/// The forms of data.
pub(super) const PATTERNS: u32 = 8;

/// Words up to `largest` in one of the forms.
pub(super) fn words(pattern: u32, count: u32, largest: u128, modulus: u128, rng: &mut impl Rng) -> Vec<u128> {
    let within = |word: u128| largest.checked_add(1).map_or(word, |limit| word % limit);
    let edges =
        [0, 1, modulus - 1, within(modulus), within(modulus + 1), largest, largest / 2, largest / 2 + 1];
    let single = rng.random_range(..count);
    (0..count)
        .map(|index| match pattern {
            0 => 0,
            1 => 1,
            2 => largest,
            3 => within(modulus - 1),
            4 => [0, largest][index as usize % 2],
            5 => u128::from(index == single) * largest,
            6 => edges[rng.random_range(..edges.len())],
            _ => within(rng.random()),
        })
        .collect()
}

fn engine(program: &Program) -> SlowEngine {
    let memories = [MACHINE.vdm_words(), MACHINE.sdm_words()];
    SlowEngine::new(program, FeatureSet::all(), LawOperands::Word, memories)
}

/// The inputs in the VDM.
fn inputs(program: &Program) -> impl Iterator<Item = &Symbol> {
    program.symbols.iter().filter(|symbol| symbol.role == Role::Input && symbol.space == Space::Vdm)
}

fn modulus_of(claim: &Claim) -> u128 {
    golden::modulus(claim).expect("a valid claim")
}

/// The largest word that a claim takes as an input; `None` if it does not name it.
fn range_of(claim: &Claim, name: &str) -> Option<u128> {
    let ranges = golden::ranges(claim).expect("a valid claim");
    let own = claim.inputs.iter().zip(ranges).filter(|(input, _)| *input == name);
    own.map(|(_, range)| if range == Range::Word { u128::MAX } else { modulus_of(claim) - 1 }).min()
}

/// The smallest modulus of a program and its claims.
fn smallest(program: &Program) -> u128 {
    let loaded = program.instructions.iter().filter_map(|instr| match instr {
        Instr::Mload { offset, .. } => Some(program.sdm.word(offset.words())).filter(|modulus| *modulus > 0),
        _ => None,
    });
    let launch = program.moduli.iter().map(|(_, modulus)| *modulus).chain(loaded);
    launch.chain(program.claims.iter().map(modulus_of)).min().expect("a claim")
}

/// The largest word that all claims take as an input, or that is below all moduli.
fn largest(program: &Program, input: &Symbol) -> u128 {
    let of_all = program.claims.iter().filter_map(|claim| range_of(claim, &input.name)).min();
    of_all.unwrap_or(smallest(program) - 1).min(program.isa.max_word())
}

/// The instruction that faults on words that all claims take.
fn faulty(program: &Program, pattern: u32, rng: &mut impl Rng) -> Option<usize> {
    let mut engine = engine(program);
    for symbol in inputs(program) {
        let (largest, modulus) = (largest(program, symbol), smallest(program));
        engine.write(symbol.start, &words(pattern, symbol.words, largest, modulus, rng));
    }
    engine.run().err()
}

/// Checks a claim on words that it takes. Another claim may not take them: then the program may fault, or be
/// wrong about that.
fn holds(program: &Program, claim: &Claim, pattern: u32, rng: &mut impl Rng) {
    let mut engine = engine(program);
    let max = program.isa.max_word();
    let mut is_taken_by_all = true;
    for symbol in inputs(program) {
        let of_all = largest(program, symbol);
        let largest = range_of(claim, &symbol.name).unwrap_or(of_all).min(max);
        is_taken_by_all &= largest <= of_all;
        engine.write(symbol.start, &words(pattern, symbol.words, largest, modulus_of(claim), rng));
    }
    let of = |engine: &SlowEngine, names: &[String]| -> Vec<Vec<u128>> {
        let find = |name: &String| program.symbol(name).expect("a symbol of a claim");
        let symbols = names.iter().map(find);
        symbols
            .map(|symbol| engine.vdm()[symbol.start as usize..][..symbol.words as usize].to_vec())
            .collect()
    };
    let inputs = of(&engine, &claim.inputs);
    let inputs: Vec<&[u128]> = inputs.iter().map(Vec::as_slice).collect();
    match engine.run() {
        Ok(_) => {
            let expected = golden::evaluate(claim, &inputs).expect("words that the claim takes");
            assert!(of(&engine, &claim.outputs) == expected, "checked, but wrong: {claim}\n{program}");
        }
        Err(index) => {
            assert!(!is_taken_by_all, "checked, but instruction {index} faults: {claim}\n{program}");
        }
    }
}
