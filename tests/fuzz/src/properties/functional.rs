//! The functional engine against a slow one.

use b512_asm::{AReg, FeatureSet, Image, Instr, Isa, MReg, Offset, Program, Role, Segment, Space, Symbol};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim::functional::Executor;
use sim::machine::LawOperands;
use sim::testing::SlowEngine;
use sim::{Machine, MachineBase, Override};
use std::sync::LazyLock;

/// The lanes of a vector, and the words of the memories.
const LANES: u32 = 64;
const VDM_WORDS: u32 = 16 * LANES;
const SDM_WORDS: u32 = 16;

/// Short vectors; machines that accept any multiplicand, and machines that do not.
static MACHINES: LazyLock<[Machine; 2]> = LazyLock::new(|| {
    let base = MachineBase::built_in("rpu-128x128").expect("a built-in machine");
    ["word", "reduced"].map(|operands| {
        let rule = format!("law.operands={operands}");
        let lanes = format!("isa.vector_length={LANES}");
        let changes = ["isa.gs_butterfly=true", "isa.lane_permuter=true", "hple.count=64", &lanes, &rule];
        let changes = changes.map(|change| Override::parse(change).expect("a key and its value"));
        base.machine(&changes).expect("a valid machine")
    })
});

/// The functional engine, with vector code and without, and a slow engine compute the same, also after a
/// fault, and again from the memory that the first run leaves.
///
/// The first eight bytes select machine, modulus, launch values and data; then, every eight bytes are an
/// instruction. Invalid ones are skipped, and most addresses are mapped into the memories.
pub fn functional(data: &[u8]) {
    let (words, _) = data.as_chunks::<8>();
    let Some((seed, code)) = words.split_first() else { return };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from_le_bytes(*seed));
    let operands = [LawOperands::Word, LawOperands::Reduced][usize::from(seed[0] & 1)];
    let machine = &MACHINES[usize::from(seed[0] & 1)];
    let instructions = code.iter().filter_map(|word| Instr::decode(u64::from_le_bytes(*word)).ok());
    let program = program(instructions.take(100).map(within).collect(), &mut rng);

    let mut slow = SlowEngine::new(&program, FeatureSet::all(), operands, [VDM_WORDS, SDM_WORDS]);
    let executor = || {
        let mut executor = Executor::for_program(machine, &program);
        executor.load(&program).expect("a program that fits");
        executor
    };
    let mut engines = [executor(), executor().with_scalar_code()];
    for run in 0..2 {
        let expected = slow.run();
        for engine in &mut engines {
            assert_eq!(engine.run().map_err(|error| error.index), expected, "run {run} of\n{program}");
            assert!(engine.read("all").expect("a symbol") == slow.vdm(), "run {run} of\n{program}");
        }
    }
}

/// The instruction with its offset inside of the memories, so that not every program ends at its first
/// access. Larger strides, and addresses from registers, still lead outside.
fn within(instr: Instr) -> Instr {
    let at = |offset: Offset, words: u32| Offset::new(offset.words() % words).expect("a small offset");
    match instr {
        Instr::Vload { vd, base, offset, mode } => {
            Instr::Vload { vd, base, offset: at(offset, VDM_WORDS / 2), mode }
        }
        Instr::Vstore { vs, base, offset, mode } => {
            Instr::Vstore { vs, base, offset: at(offset, VDM_WORDS / 2), mode }
        }
        Instr::Sload { rt, offset } => Instr::Sload { rt, offset: at(offset, SDM_WORDS + 1) },
        Instr::Aload { rt, offset } => Instr::Aload { rt, offset: at(offset, SDM_WORDS + 1) },
        Instr::Mload { rt, offset } => Instr::Mload { rt, offset: at(offset, SDM_WORDS + 1) },
        other => other,
    }
}

/// A program with random launch values and data: mostly residues, seldom any words.
fn program(instructions: Vec<Instr>, rng: &mut Xoshiro256PlusPlus) -> Program {
    let bits = rng.random_range(2..=128u32);
    let q = ((rng.random::<u128>() >> (128 - bits)) | 1).max(3);
    let small = ((q >> rng.random_range(..bits)) | 1).max(3);
    let any_words = rng.random_range(..8u8) == 0;
    let word =
        |rng: &mut Xoshiro256PlusPlus| if any_words { rng.random() } else { rng.random::<u128>() % small };
    let vdm = (0..VDM_WORDS).map(|_| word(rng)).collect();
    // Scalars, moduli and addresses.
    let mut sdm: Vec<u128> = (0..SDM_WORDS).map(|_| word(rng)).collect();
    sdm[8..12].copy_from_slice(&[q, small, u128::from(LANES), u128::from(rng.random::<u32>())]);
    let symbol =
        |name: &str, space, start, words, role| Symbol { name: name.into(), space, start, words, role };
    let table = rng.random_range(..VDM_WORDS);
    Program {
        isa: Isa::new(LANES, u128::BITS).expect("a valid instruction set"),
        instructions,
        addresses: (0..16).map(|register| (AReg::at(register), rng.random_range(..4 * LANES))).collect(),
        moduli: (0..64)
            .map(|register| (MReg::at(register), if register % 4 == 1 { small } else { q }))
            .take(60)
            .collect(),
        vdm: Image { segments: vec![Segment { start: 0, words: vdm }] },
        sdm: Image { segments: vec![Segment { start: 0, words: sdm }] },
        symbols: vec![
            symbol("all", Space::Vdm, 0, VDM_WORDS, Role::Scratch),
            symbol("table", Space::Vdm, table, VDM_WORDS - table, Role::Table),
            symbol("scalars", Space::Sdm, 0, SDM_WORDS, Role::Table),
        ],
        ..Program::default()
    }
}
