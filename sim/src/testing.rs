//! Random programs and machines, the comparison of the two timing models, and a slow engine. For tests and
//! fuzzing.

mod slow;

pub use self::slow::SlowEngine;
pub use crate::machine::machines;
use crate::timing::{self, Timing, stepped};
use crate::{Machine, MachineBase, Override};
use b512_asm::reg::REGISTERS;
use b512_asm::{
    AReg, AddressMode, Image, Instr, LaneMap, Log2, MReg, Offset, Op, Operand, OperandKind, Program, SReg,
    Segment, VReg,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::sync::LazyLock;

/// Registers that partly share an SRAM: some when placed by remainder, some by quotient.
const FEW_REGISTERS: &[usize] = &[0, 1, 2, 3, 4, 5, 16, 17, 20, 32, 33, REGISTERS - 1];

/// Programs of up to `longest` instructions: on few registers, so that hazards are frequent, or on
/// all of them, so that queues fill.
pub fn programs(longest: usize) -> BoxedStrategy<Program> {
    static ALL: [usize; REGISTERS] = {
        let mut registers = [0; REGISTERS];
        let mut register = 0;
        while register < REGISTERS {
            registers[register] = register;
            register += 1;
        }
        registers
    };
    // Mostly within the VDM; timing is defined for the other addresses, too.
    let address = prop_oneof![9 => 0..1u32 << 21, 1 => any::<u32>()];
    let word = prop_oneof![9 => 0..1u128 << 21, 1 => any::<u128>()];
    (
        prop_oneof![
            3 => prop::collection::vec(instruction(FEW_REGISTERS), 1..=longest),
            1 => prop::collection::vec(instruction(&ALL), 1..=longest),
        ],
        prop::collection::vec(address, 3),
        prop::collection::vec(word, 4),
    )
        .prop_map(|(instructions, bases, sdm)| Program {
            instructions,
            addresses: bases.into_iter().enumerate().map(|(i, a)| (AReg::at(i), a)).collect(),
            sdm: Image { segments: vec![Segment { start: 0, words: sdm }] },
            ..Program::default()
        })
        .boxed()
}

fn instruction(registers: &'static [usize]) -> BoxedStrategy<Instr> {
    select(Op::ALL)
        .prop_flat_map(move |op| {
            let operands: Vec<_> =
                op.info().operands.iter().map(|spec| operand(op, spec.kind, registers)).collect();
            operands
                .prop_map(move |operands| op.with_operands(&operands).expect("operands of the right kinds"))
        })
        .boxed()
}

fn operand(op: Op, kind: OperandKind, registers: &'static [usize]) -> BoxedStrategy<Operand> {
    let offset = |words: u32| Operand::Offset(Offset::new(words).expect("in range"));
    match kind {
        OperandKind::VReg => select(registers).prop_map(|r| Operand::VReg(VReg::at(r))).boxed(),
        OperandKind::SReg => Just(Operand::SReg(SReg::at(1))).boxed(),
        OperandKind::MReg => Just(Operand::MReg(MReg::at(1))).boxed(),
        OperandKind::Map => (0..=LaneMap::MAX / 2, 0..=LaneMap::MAX)
            .prop_map(|(half, shift)| Operand::Map(LaneMap::new(2 * half + 1, shift).expect("odd")))
            .boxed(),
        OperandKind::AReg => (0..4usize).prop_map(|r| Operand::AReg(AReg::at(r))).boxed(),
        // Scalar loads find an address in the SDM, or zero beyond it.
        OperandKind::Offset if op == Op::Aload => (0..5u32).prop_map(offset).boxed(),
        OperandKind::Offset => (0..=Offset::MAX).prop_map(offset).boxed(),
        OperandKind::Mode => {
            let log2 = (0..=Log2::MAX).prop_map(|v| Log2::new(v).expect("in range"));
            prop_oneof![
                Just(AddressMode::Linear),
                log2.clone().prop_map(AddressMode::Strided),
                log2.clone().prop_map(AddressMode::StridedSkip),
                log2.prop_map(AddressMode::Repeated),
            ]
            .prop_map(Operand::Mode)
            .boxed()
        }
    }
}

fn default_machine() -> Machine {
    static MACHINE: LazyLock<Machine> = LazyLock::new(Machine::rpu_128x128);
    MACHINE.clone()
}

/// Runs both timing models and returns their common result.
///
/// # Errors
/// Returns the first difference as text.
pub fn compare(machine: &Machine, program: &Program) -> Result<Timing, String> {
    let program = &Program { isa: machine.instruction_set(), ..program.clone() };
    let timing = timing::simulate(machine, program);
    let mut expected = stepped::simulate(machine, program);
    expected.bounds = timing.bounds;
    if timing == expected {
        return Ok(timing);
    }
    for (index, instr) in program.instructions.iter().enumerate() {
        let (engine, stepped) = (timing.timestamps[index], expected.timestamps[index]);
        if engine != stepped {
            return Err(format!(
                "instruction {index}, {instr:?}:\n engine  {engine:?}\n stepped {stepped:?}"
            ));
        }
    }
    Err(format!(
        "engine  {:?}\nstepped {:?}",
        Timing { timestamps: Vec::new(), ..timing },
        Timing { timestamps: Vec::new(), ..expected }
    ))
}

/// Checks a property of `cases` random pairs, the same pairs for each seed.
///
/// # Panics
/// Panics if the property fails, with the pair and the command that replays it.
pub fn check(
    seed: u64,
    cases: u32,
    pairs: (impl Strategy<Value = Program>, impl Strategy<Value = Machine>),
    property: impl Fn(&Program, &Machine) -> Result<(), String>,
) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let outcome = TestRunner::new_with_rng(config, rng)
        .run(&pairs, |(program, machine)| property(&program, &machine).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, (program, machine))) => {
            panic!("seed {seed}: {reason}\n{}", describe(&machine, &program))
        }
        Err(TestError::Abort(reason)) => panic!("seed {seed}: {reason}"),
    }
}

/// Renders a program and a machine, and the command that compares the models on them again.
pub fn describe(machine: &Machine, program: &Program) -> String {
    let mut text = "inherits = \"rpu-128x128\"\n".to_owned();
    for change in machine.changes_from(&default_machine()) {
        text += &format!("{} = {}\n", change.key, change.to);
    }
    for instr in &program.instructions {
        text += &format!("{instr:?}\n");
    }
    text + &format!("again: {}", replay_command(machine, program))
}

fn replay_command(machine: &Machine, program: &Program) -> String {
    format!(
        "SIM_REPLAY='{}' cargo test -p rpu-sim --test all timing::agreement -- --nocapture",
        pair(machine, program)
    )
}

/// Renders a machine and a program in words: changes to the paper's machine, address registers, words of the
/// SDM, words of the program. [`parse`] reads it.
pub fn pair(machine: &Machine, program: &Program) -> String {
    let mut pair = Vec::new();
    let changes = machine.changes_from(&default_machine());
    pair.extend(changes.iter().map(|change| format!("{}={}", change.key, change.to)));
    pair.extend(program.addresses.iter().map(|(register, address)| format!("{register}={address}")));
    for word in program.sdm.segments.iter().flat_map(|segment| &segment.words) {
        pair.push(format!("sdm={word}"));
    }
    pair.extend(program.instructions.iter().map(|instr| format!("{:#x}", instr.encode())));
    pair.join(" ")
}

/// The meaning of a word of [`pair`].
pub enum Word {
    /// A change to the machine.
    Change(Override),
    /// An address register.
    Address(AReg, u32),
    /// The next word of the SDM.
    Sdm(u128),
    /// The next instruction.
    Instruction(Instr),
}

impl Word {
    /// Parses one word.
    ///
    /// # Errors
    /// Returns an error if the word has no meaning.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = match word.split_once('=') {
            Some((key, _)) if key.contains('.') => {
                return Override::parse(word).map(Self::Change).map_err(|error| error.to_string());
            }
            Some(("sdm", value)) => value.parse().ok().map(Self::Sdm),
            Some((register, address)) => {
                let register = register.strip_prefix('a').and_then(|index| index.parse().ok());
                let register = register.filter(|&index| index < REGISTERS).map(AReg::at);
                register.zip(address.parse().ok()).map(|(register, address)| Self::Address(register, address))
            }
            None => {
                let bits = word.strip_prefix("0x").and_then(|bits| u64::from_str_radix(bits, 16).ok());
                bits.and_then(|bits| Instr::decode(bits).ok()).map(Self::Instruction)
            }
        };
        known.ok_or_else(|| {
            format!("unknown word `{word}`: expected a key, register, SDM word or instruction")
        })
    }
}

/// Parses the output of [`pair`].
///
/// # Errors
/// Returns an error if a word has no meaning.
pub fn parse(pair: &str) -> Result<(Machine, Program), String> {
    static BASE: LazyLock<MachineBase> =
        LazyLock::new(|| MachineBase::built_in("rpu-128x128").expect("a built-in machine"));
    let (mut overrides, mut sdm) = (Vec::new(), Vec::new());
    let mut program = Program::default();
    for word in pair.split_whitespace() {
        match Word::parse(word)? {
            Word::Change(change) => overrides.push(change),
            Word::Address(register, address) => program.addresses.push((register, address)),
            Word::Sdm(value) => sdm.push(value),
            Word::Instruction(instr) => program.instructions.push(instr),
        }
    }
    program.sdm = Image { segments: vec![Segment { start: 0, words: sdm }] };
    let machine = BASE.machine(&overrides).map_err(|error| error.to_string())?;
    Ok((machine, program))
}
