//! The checkers reject broken code and broken programs.
//!
//! The tests apply random mutations. A mutation that changes the result on random data must be
//! rejected. The checkers may also reject a mutation that does not change the result.

use crate::interpret;
use b512_asm::{AddressMode, FeatureSet, Instr, Log2, Offset, Op, Operand, Program, Setting, VReg};
use codegen::code::{Code, Inst};
use codegen::number::Number;
use codegen::plan::{Algorithm, Plan, Shape};
use codegen::schedule::Tuning;
use codegen::{Kernel, Order, PlanChoice, Recipe, Request, check, compile, generate};
use golden::Operation;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use ring::Degree;
use sim::Machine;
use sim::functional::Executor;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::LazyLock;

const N: u32 = 2048;

fn request(operation: Operation) -> Request {
    Request::with_primes(operation, Degree::try_from(N).unwrap(), 60, 1).unwrap()
}

/// A forward, a twisted and a Gentleman-Sande inverse transform, and a product.
static KERNELS: LazyLock<Vec<Kernel>> = LazyLock::new(|| {
    let make = |function, plan: &PlanChoice, gs_butterfly| {
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| values.isa.gs_butterfly = gs_butterfly).unwrap();
        generate(&request(function), &machine, plan).unwrap()
    };
    let kl = Plan::korn_lambiotte(Shape::b512(N.trailing_zeros()), 1);
    let twisted = kl.reversed("back", Algorithm::InverseTwisted).unwrap();
    let recipe = Recipe {
        tuning: Tuning::default(),
        order: Order::ByStep,
        stagger: None,
        forwarding: None,
        method: None,
        plans: vec![twisted],
    };
    vec![
        make(golden::NTT, &PlanChoice::Classical, false),
        make(golden::INTT, &PlanChoice::Classical, true),
        make(golden::INTT, &PlanChoice::Classical, false),
        make(golden::INTT, &PlanChoice::Recipe(Box::new(recipe)), false),
        make(golden::POLYMUL, &PlanChoice::Best, false),
    ]
});

/// The code of a product before and after forwarding.
static FORWARDED: LazyLock<[Code; 2]> = LazyLock::new(|| {
    let kl = Plan::korn_lambiotte(Shape::b512(N.trailing_zeros()), 1);
    let plans = vec![kl.clone(), kl.reversed("back", Algorithm::InverseTwisted).unwrap()];
    // With so few registers, some of the loads and stores remain.
    [None, Some(5)].map(|forwarding| {
        let (tuning, plans) = (Tuning::default(), plans.clone());
        let recipe = Recipe { tuning, order: Order::ByStep, stagger: None, forwarding, method: None, plans };
        compile(&request(golden::POLYMUL), &recipe, &Machine::rpu_128x128()).unwrap().code
    })
});

/// A pseudorandom sequence modulo `q`.
fn random(seed: u128, q: u128) -> Vec<u128> {
    let next = |&state: &u128| Some(state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
    let states = std::iter::successors(Some(2 * seed + 1), next).skip(8);
    states.map(|state| state.rotate_right(64) % q).take(N as usize).collect()
}

fn inputs(code: &Code) -> Vec<Vec<u128>> {
    (0..code.claims[0].inputs.len()).map(|i| random(i as u128, code.towers[0].modulus)).collect()
}

/// The result that the kernel's claim requires.
fn expected(code: &Code) -> Vec<u128> {
    let (claim, inputs) = (code.stated(&code.claims[0]).unwrap(), inputs(code));
    let inputs: Vec<&[u128]> = inputs.iter().map(Vec::as_slice).collect();
    golden::evaluate(&claim, &inputs).unwrap().concat()
}

/// The result of the program; `None` if it fails.
fn run_program(program: &Program, code: &Code) -> Option<Vec<u128>> {
    let mut executor = Executor::new(1 << 16, 64).with_features(FeatureSet::all());
    executor.load(program).ok()?;
    for (&input, words) in code.claims[0].inputs.iter().zip(inputs(code)) {
        executor.write(&code.buffers[input.index()].name, &words).ok()?;
    }
    executor.run().ok()?;
    executor.read(&code.buffers[code.claims[0].outputs[0].index()].name).ok()
}

/// The result of the vector code; `None` if an instruction reads an undefined value or word.
fn run_code(code: &Code) -> Option<Vec<u128>> {
    let memory = interpret::run(code, &inputs(code), |_, _| ())?;
    memory[code.claims[0].outputs[0].index()].iter().copied().collect()
}

/// Another operation with the same operands.
fn sibling(op: Op) -> Op {
    match op {
        Op::Vadd => Op::Vsub,
        Op::Vsub => Op::Vadd,
        Op::Bfly => Op::Gsbfly,
        Op::Gsbfly => Op::Bfly,
        Op::Unpklo => Op::Unpkhi,
        Op::Unpkhi => Op::Pkhi,
        Op::Pklo => Op::Unpklo,
        Op::Pkhi => Op::Pklo,
        op => op,
    }
}

/// A mutation of a program.
#[derive(Clone, Debug)]
enum Mutation {
    /// One operand becomes another of its kind.
    Operand { at: Index, operand: Index, to: u8 },
    /// Two operands of the same kind are swapped.
    SwapOperands { at: Index },
    /// An instruction is removed.
    Drop { at: Index },
    /// An instruction moves down by some positions.
    Later { at: Index, by: usize },
    /// A copy of an instruction is inserted elsewhere.
    Again { at: Index, to: Index },
    /// Another operation with the same operands.
    Operation { at: Index },
    /// A word of the table changes.
    Table { word: Index, other: Index },
    /// The initial value of an address register changes.
    Base { register: Index, by: u32 },
    /// A number in the claim changes.
    Claim { setting: Index, by: u32 },
}

fn mutation() -> BoxedStrategy<Mutation> {
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), at(), any::<u8>()).prop_map(|(at, operand, to)| Mutation::Operand { at, operand, to }),
        2 => at().prop_map(|at| Mutation::SwapOperands { at }),
        2 => at().prop_map(|at| Mutation::Drop { at }),
        4 => (at(), 1usize..60).prop_map(|(at, by)| Mutation::Later { at, by }),
        2 => (at(), at()).prop_map(|(at, to)| Mutation::Again { at, to }),
        2 => at().prop_map(|at| Mutation::Operation { at }),
        1 => (at(), at()).prop_map(|(word, other)| Mutation::Table { word, other }),
        1 => (at(), 1u32..2048).prop_map(|(register, by)| Mutation::Base { register, by }),
        1 => (at(), 1u32..2048).prop_map(|(setting, by)| Mutation::Claim { setting, by }),
    ]
    .boxed()
}

fn operands(instr: &Instr) -> Vec<Operand> {
    let mut operands = Vec::new();
    instr.for_each_operand(|_, operand| operands.push(operand));
    operands
}

fn mutate(program: &mut Program, mutation: &Mutation) {
    let count = program.instructions.len();
    let instructions = &mut program.instructions;
    match *mutation {
        Mutation::Operand { at, operand, to } => {
            let instr = &mut instructions[at.index(count)];
            let mut operands = operands(instr);
            if operands.is_empty() {
                return;
            }
            let operand = operand.index(operands.len());
            operands[operand] = match operands[operand] {
                Operand::VReg(_) => Operand::VReg(VReg::at(usize::from(to) % 64)),
                Operand::Offset(offset) => {
                    Operand::Offset(Offset::new(offset.words() ^ 1 << (to % 12)).unwrap())
                }
                Operand::Mode(_) => {
                    use AddressMode::{Linear, Repeated, Strided, StridedSkip};
                    let log2 = Log2::new(to / 4 % 10).unwrap();
                    let modes = [Linear, Strided(log2), StridedSkip(log2), Repeated(log2)];
                    Operand::Mode(modes[usize::from(to % 4)])
                }
                other => other,
            };
            *instr = instr.op().with_operands(&operands).unwrap();
        }
        Mutation::SwapOperands { at } => {
            let instr = &mut instructions[at.index(count)];
            let mut operands = operands(instr);
            let registers: Vec<usize> =
                (0..operands.len()).filter(|&i| matches!(operands[i], Operand::VReg(_))).collect();
            if let [.., a, b] = registers[..] {
                operands.swap(a, b);
            }
            *instr = instr.op().with_operands(&operands).unwrap();
        }
        Mutation::Drop { at } => drop(instructions.remove(at.index(count))),
        Mutation::Later { at, by } => {
            let at = at.index(count);
            let instr = instructions.remove(at);
            instructions.insert((at + by).min(count - 1), instr);
        }
        Mutation::Again { at, to } => {
            let instr = instructions[at.index(count)];
            instructions.insert(to.index(count), instr);
        }
        Mutation::Operation { at } => {
            let instr = &mut instructions[at.index(count)];
            *instr = sibling(instr.op()).with_operands(&operands(instr)).unwrap();
        }
        Mutation::Table { word, other } => {
            let words = &mut program.vdm.segments[0].words;
            let (word, other) = (word.index(words.len()), other.index(words.len()));
            words[word] = words[other];
        }
        Mutation::Base { register, by } => {
            let register = register.index(program.addresses.len());
            program.addresses[register].1 += by;
        }
        Mutation::Claim { setting, by } => {
            let settings = &mut program.claims[0].settings;
            let setting = setting.index(settings.len());
            let Setting::Number(number) = &mut settings[setting].1 else { return };
            *number += u128::from(by);
        }
    }
}

/// A mutation of vector code.
#[derive(Clone, Debug)]
enum CodeMutation {
    SwapSources {
        at: Index,
    },
    OtherSource {
        at: Index,
        from: Index,
    },
    Operation {
        at: Index,
    },
    /// The exponent of one factor changes.
    Factor {
        constant: Index,
        lane: Index,
        by: u32,
    },
    /// A factor gains or loses its 1/n.
    Scale {
        constant: Index,
        lane: Index,
    },
    OtherConstant {
        at: Index,
        constant: Index,
    },
    /// The address of a load or store changes.
    Word {
        at: Index,
        bit: u32,
    },
    Mode {
        at: Index,
        log2: u8,
    },
    /// An instruction moves down by some positions.
    Later {
        at: Index,
        by: usize,
    },
    Drop {
        at: Index,
    },
}

fn code_mutation() -> BoxedStrategy<CodeMutation> {
    let at = any::<Index>;
    prop_oneof![
        at().prop_map(|at| CodeMutation::SwapSources { at }),
        (at(), at()).prop_map(|(at, from)| CodeMutation::OtherSource { at, from }),
        at().prop_map(|at| CodeMutation::Operation { at }),
        (at(), at(), 1u32..2 * N).prop_map(|(constant, lane, by)| CodeMutation::Factor {
            constant,
            lane,
            by
        }),
        (at(), at()).prop_map(|(constant, lane)| CodeMutation::Scale { constant, lane }),
        (at(), at()).prop_map(|(at, constant)| CodeMutation::OtherConstant { at, constant }),
        (at(), 0u32..11).prop_map(|(at, bit)| CodeMutation::Word { at, bit }),
        (at(), 0u8..3).prop_map(|(at, log2)| CodeMutation::Mode { at, log2 }),
        (at(), 1usize..200).prop_map(|(at, by)| CodeMutation::Later { at, by }),
        at().prop_map(|at| CodeMutation::Drop { at }),
    ]
    .boxed()
}

/// One of the instructions that satisfy a condition.
fn find(code: &Code, at: Index, fits: impl Fn(&Inst) -> bool) -> usize {
    let fitting: Vec<usize> = (0..code.insts.len()).filter(|&i| fits(&code.insts[i])).collect();
    fitting[at.index(fitting.len())]
}

fn mutate_code(code: &mut Code, mutation: &CodeMutation) {
    let count = code.insts.len();
    match *mutation {
        CodeMutation::SwapSources { at } => {
            let at = find(code, at, |inst| inst.sources.len() == 2);
            let inst = &mut code.insts[at];
            let sources: Vec<_> = inst.sources.iter().collect();
            inst.sources = [sources[1], sources[0]].into();
        }
        CodeMutation::OtherSource { at, from } => {
            let other =
                code.insts[find(code, from, |inst| !inst.results.is_empty())].results.iter().next().unwrap();
            let at = find(code, at, |inst| inst.sources.len() == 2);
            let inst = &mut code.insts[at];
            let first = inst.sources.iter().next().unwrap();
            inst.sources = [first, other].into();
        }
        CodeMutation::Operation { at } => {
            let inst = &mut code.insts[at.index(count)];
            inst.op = sibling(inst.op);
        }
        CodeMutation::Factor { constant, lane, by } => {
            let constants = code.constants.len();
            let numbers = &mut code.constants[constant.index(constants)].numbers;
            let lane = lane.index(numbers.len());
            if let Number::Root { exponent, .. } = &mut numbers[lane] {
                *exponent = (*exponent + by) % (2 * N);
            }
        }
        CodeMutation::Scale { constant, lane } => {
            let constants = code.constants.len();
            let numbers = &mut code.constants[constant.index(constants)].numbers;
            let lane = lane.index(numbers.len());
            if let Number::Root { scaled, .. } = &mut numbers[lane] {
                *scaled ^= true;
            }
        }
        CodeMutation::OtherConstant { at, constant } => {
            let inst = &code.insts[find(code, constant, |inst| inst.constant.is_some())];
            let constant = inst.constant;
            let at = find(code, at, |inst| inst.constant.is_some());
            code.insts[at].constant = constant;
        }
        CodeMutation::Word { at, bit } => {
            let at = find(code, at, |inst| inst.memory.is_some());
            let inst = &mut code.insts[at];
            inst.memory.as_mut().unwrap().word ^= 1 << bit;
        }
        CodeMutation::Mode { at, log2 } => {
            let at = find(code, at, |inst| inst.memory.is_some());
            let inst = &mut code.insts[at];
            inst.memory.as_mut().unwrap().mode = AddressMode::Strided(Log2::new(log2).unwrap());
        }
        CodeMutation::Later { at, by } => {
            let at = at.index(count);
            let inst = code.insts.remove(at);
            code.insts.insert((at + by).min(count - 1), inst);
        }
        CodeMutation::Drop { at } => drop(code.insts.remove(at.index(count))),
    }
}

#[test]
fn the_kernels_compute_what_they_claim() {
    for Kernel { code, program, .. } in KERNELS.iter() {
        assert_eq!(run_program(program, code), Some(expected(code)));
        assert_eq!(run_code(code), Some(expected(code)));
        assert_eq!(check::lowering(code), Ok(()));
        assert_eq!(check::schedule(code, program), Ok(()));
    }
}

/// The number of mutations of each test; `RPU_MUTATIONS` sets another.
fn cases() -> u32 {
    std::env::var("RPU_MUTATIONS").map_or(512, |count| count.parse().expect("a number"))
}

/// The fate of a mutation. One that is accepted and computes another result fails the test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fate {
    /// A checker refused it.
    Refused,
    /// It changed nothing.
    Unchanged,
    /// It changed the program, and computes the same.
    Equivalent,
}

/// Applies random mutations and prints their fates, and all equivalents.
fn each<T: Debug>(
    what: &str,
    mutations: impl Strategy<Value = T>,
    test: impl Fn(&T) -> Result<Fate, String>,
) {
    let fates = RefCell::new(BTreeMap::<Fate, u32>::new());
    let config = ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&mutations, |mutation| {
        let fate = test(&mutation).map_err(TestCaseError::fail)?;
        if fate == Fate::Equivalent {
            println!("{what}, equivalent: {mutation:?}");
        }
        *fates.borrow_mut().entry(fate).or_default() += 1;
        Ok(())
    });
    println!("{what}: {:?}", fates.into_inner());
    if let Err(error) = outcome {
        panic!("{what}: {error}");
    }
}

fn accepted(unchanged: bool, right: bool) -> Result<Fate, String> {
    match (unchanged, right) {
        (true, _) => Ok(Fate::Unchanged),
        (false, true) => Ok(Fate::Equivalent),
        (false, false) => Err("a wrong mutant is accepted".to_owned()),
    }
}

#[test]
fn a_program_that_is_wrong_is_refused() {
    each("programs", (any::<Index>(), mutation()), |(which, mutation)| {
        let Kernel { code, program, .. } = which.get(&KERNELS);
        let mut mutant = program.clone();
        mutate(&mut mutant, mutation);
        if check::schedule(code, &mutant).is_err() {
            return Ok(Fate::Refused);
        }
        let right = mutant.claims == program.claims && run_program(&mutant, code) == Some(expected(code));
        accepted(mutant == *program, right)
    });
}

#[test]
fn forwarded_code_that_is_wrong_is_refused() {
    each("forwarded code", code_mutation(), |mutation| {
        let [before, after] = &*FORWARDED;
        let mut mutant = after.clone();
        mutate_code(&mut mutant, mutation);
        if check::forwarding(before, &mutant).is_err() {
            return Ok(Fate::Refused);
        }
        accepted(mutant == *after, run_code(&mutant) == Some(expected(after)))
    });
}

#[test]
fn code_that_is_wrong_is_refused() {
    each("code", (any::<Index>(), code_mutation()), |(which, mutation)| {
        let known = &which.get(&KERNELS).code;
        let mut code = known.clone();
        mutate_code(&mut code, mutation);
        if check::lowering(&code).is_err() {
            return Ok(Fate::Refused);
        }
        accepted(code == *known, run_code(&code) == Some(expected(&code)))
    });
}

#[test]
fn forwarded_code_computes_what_it_claims() {
    let [before, after] = &*FORWARDED;
    assert_eq!(run_code(after), Some(expected(after)));
    assert_eq!(check::forwarding(before, after), Ok(()));
    let count = |code: &Code, op| code.insts.iter().filter(|inst| inst.op == op).count();
    for op in [Op::Vload, Op::Vstore] {
        assert!(count(after, op) < count(before, op));
    }
}

/// Faults of a wrong forwarding pass: it removes a store that is still read, or forwards a value
/// other than the one stored last.
#[test]
fn a_broken_forwarding_is_refused() {
    let [before, after] = &*FORWARDED;
    let stores = (0..after.insts.len()).filter(|&at| after.insts[at].op == Op::Vstore);
    for store in stores {
        let mut broken = after.clone();
        broken.insts.remove(store);
        assert!(check::forwarding(before, &broken).is_err(), "without instruction {store}");
    }
    // Forward the previous value of the same words instead of the last one.
    let mut broken = after.clone();
    let stored: Vec<Inst> = before.insts.iter().filter(|inst| inst.op == Op::Vstore).cloned().collect();
    let again = |inst: &&Inst| stored[0].memory == inst.memory && stored[0].sources != inst.sources;
    let [old, new] = [&stored[0], stored.iter().find(again).unwrap()];
    for inst in &mut broken.insts {
        let new = new.sources.iter().next().unwrap();
        inst.sources =
            inst.sources.map(|value| if value == new { old.sources.iter().next().unwrap() } else { value });
    }
    assert!(broken != *after);
    let fault = check::forwarding(before, &broken).unwrap_err().to_string();
    assert!(fault.starts_with("word 0 of `c` was lane 0 of"), "{fault}");
}

/// The error for a mutated forward kernel.
fn refusal(mutate: impl FnOnce(&mut Program)) -> String {
    let Kernel { code, program, .. } = &KERNELS[0];
    let mut mutant = program.clone();
    mutate(&mut mutant);
    let fault = check::schedule(code, &mutant).expect_err("the program is wrong").to_string();
    assert!(run_program(&mutant, code) != Some(expected(code)), "{fault}");
    fault
}

fn position(program: &Program, op: Op, nth: usize) -> usize {
    let found = (0..program.instructions.len()).filter(|&at| program.instructions[at].op() == op);
    found.into_iter().nth(nth).unwrap()
}

#[test]
fn rejections_name_the_defect() {
    let swapped = refusal(|program| {
        let at = position(program, Op::Bfly, 5);
        let Instr::Bfly { vs, vt, .. } = &mut program.instructions[at] else { unreachable!() };
        std::mem::swap(vs, vt);
    });
    assert!(swapped.contains("computes no value of the code; its sources are"), "{swapped}");

    let dropped = refusal(|program| {
        let table = program.symbol("factors").unwrap().start;
        let reads_table = |instr: &Instr| match *instr {
            Instr::Vload { base, .. } => program.addresses.contains(&(base, table)),
            _ => false,
        };
        let at = program.instructions.iter().position(reads_table).unwrap();
        program.instructions.remove(at);
    });
    assert!(dropped.contains("undefined"), "{dropped}");

    let unpacked = refusal(|program| {
        let at = position(program, Op::Unpklo, 3);
        let Instr::Unpklo { vd, vs, vt } = program.instructions[at] else { unreachable!() };
        program.instructions[at] = Instr::Unpkhi { vd, vs, vt: if vs == vt { vd } else { vs } };
    });
    assert!(unpacked.contains("`unpkhi"), "{unpacked}");

    let strided = refusal(|program| {
        let count = program.instructions.iter().filter(|instr| instr.op() == Op::Vstore).count();
        let at = position(program, Op::Vstore, count - 1);
        let Instr::Vstore { mode, .. } = &mut program.instructions[at] else { unreachable!() };
        *mode = AddressMode::Linear;
    });
    assert!(strided.contains("of `y`"), "{strided}");

    let table = refusal(|program| program.vdm.segments[0].words[1] ^= 1);
    let words = &KERNELS[0].program.vdm.segments[0].words;
    let ends = format!("lane 0 is {:#x}, the last lane is {:#x}", words[0], words[511]);
    assert!(table.contains(&format!("matches no load of the code: {ends}")), "{table}");
}

/// The first run is right, because it reads all factors before it writes the results over them. The
/// second run is wrong.
#[test]
fn results_in_the_place_of_the_table_are_refused() {
    let Kernel { code, program, .. } = &KERNELS[0];
    let mut mutant = program.clone();
    let start = mutant.symbol("factors").unwrap().start;
    mutant.symbols.iter_mut().find(|symbol| symbol.name == "y").unwrap().start = start;
    mutant.addresses[1].1 = start;
    let fault = check::schedule(code, &mutant).unwrap_err().to_string();
    assert!(fault.contains("a constant of `factors`"), "{fault}");
}

#[test]
fn refusals_of_code_name_the_elements() {
    let refusal = |mutate: &dyn Fn(&mut Code)| {
        let mut code = KERNELS[0].code.clone();
        mutate(&mut code);
        check::lowering(&code).expect_err("the code is wrong").to_string()
    };
    let number = KERNELS[0].code.insts.iter().position(|inst| inst.op == Op::Bfly).unwrap();
    assert_eq!(
        refusal(&|code| {
            let Number::Root { exponent, .. } = &mut code.constants[0].numbers[0] else { unreachable!() };
            *exponent += 1;
        }),
        format!("instruction {number}, lane 0: no rule gives the `bfly` of x[0] and psi^1025 * x[1024]")
    );
    assert_eq!(
        refusal(&|code| {
            let last = code.insts.len() - 1;
            let memory = code.insts[last].memory.as_mut().unwrap();
            memory.word -= 1;
        }),
        "word 1024 of `y` has x(psi^2051) where ntt(x) has x(psi^3); 1024 of its 2048 words differ"
    );
}
