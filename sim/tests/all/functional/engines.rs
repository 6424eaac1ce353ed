//! The executor against the slow engine on random programs that may fault, over several runs with writes
//! between.

use super::symbol;
use b512_asm::{
    AReg, AddressMode, FeatureSet, Image, Instr, Isa, LaneMap, Log2, MReg, Offset, Op, Operand, OperandKind,
    Program, Role, SReg, Segment, Space, VReg,
};
use proptest::prelude::*;
use sim::functional::*;
use sim::machine::{LawOperands, Resources};
use sim::testing::SlowEngine;

pub(super) const LANES: u32 = 64;
/// A few stretches of memory, so that accesses, tables and bounds meet.
pub(super) const VDM_WORDS: u32 = 8 * LANES;
pub(super) const SDM_WORDS: u32 = 12;

/// What the caller does between two runs.
#[derive(Clone, Copy, Debug)]
enum Change {
    Nothing,
    /// Other words in all of the VDM, or in the table.
    Write {
        table: bool,
        words: Words,
    },
    /// One value in some words.
    Constants {
        start: u32,
        value: u8,
    },
}

/// The words of a stretch of memory: zeros, residues of the smaller modulus, of the larger one, or any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) kind: u8,
    pub(super) seed: u64,
}

impl Words {
    pub(super) fn fill(self, out: &mut [u128], [q, small]: [u128; 2]) {
        let mut state = u128::from(self.seed) | 1;
        for word in out {
            state = state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
            let any = state.rotate_left(64);
            *word = match self.kind {
                0 => 0,
                1 => any % small,
                2 => any % q,
                _ => any,
            };
        }
    }
}

pub(super) fn words() -> BoxedStrategy<Words> {
    (0u8..4, any::<u64>()).prop_map(|(kind, seed)| Words { kind, seed }).boxed()
}

fn change() -> BoxedStrategy<Change> {
    prop_oneof![
        Just(Change::Nothing),
        (any::<bool>(), words()).prop_map(|(table, words)| Change::Write { table, words }),
        (0..VDM_WORDS, any::<u8>()).prop_map(|(start, value)| Change::Constants { start, value }),
    ]
    .boxed()
}

fn mode() -> BoxedStrategy<AddressMode> {
    let log2 = |log2: u8| Log2::new(log2).unwrap();
    prop_oneof![
        4 => Just(AddressMode::Linear),
        1 => (0u8..4).prop_map(move |v| AddressMode::Strided(log2(v))),
        1 => (0u8..7).prop_map(move |v| AddressMode::StridedSkip(log2(v))),
        2 => (0u8..7).prop_map(move |v| AddressMode::Repeated(log2(v))),
    ]
    .boxed()
}

/// An instruction on few registers; most accesses are to whole stretches.
pub(super) fn instruction() -> BoxedStrategy<Instr> {
    let ops: Vec<Op> = Op::ALL.iter().copied().filter(|&op| op != Op::Halt).collect();
    let products = vec![Op::Vmul, Op::Vmuls, Op::Bfly, Op::Gsbfly];
    let op = prop_oneof![
        3 => Just(Op::Vload),
        1 => Just(Op::Vstore),
        2 => proptest::sample::select(products),
        1 => Just(Op::Sload),
        3 => proptest::sample::select(ops),
    ];
    let offset = prop_oneof![3 => (0..8u32).prop_map(|stretch| stretch * LANES), 1 => 0..VDM_WORDS];
    (op, proptest::array::uniform6(0u8..4), offset, 0..=SDM_WORDS, mode(), any::<u16>())
        .prop_map(|(op, registers, offset, scalar, mode, map)| {
            let mut registers = registers.into_iter();
            let mut next = || registers.next().unwrap();
            let operand = |kind: OperandKind| match kind {
                OperandKind::VReg => Operand::VReg(VReg::new(next()).unwrap()),
                OperandKind::SReg => Operand::SReg(SReg::new(next()).unwrap()),
                OperandKind::AReg => {
                    Operand::AReg(AReg::new(if op == Op::Aload { 1 } else { next() / 3 }).unwrap())
                }
                OperandKind::MReg => Operand::MReg(MReg::new(next() % 3).unwrap()),
                OperandKind::Mode => Operand::Mode(mode),
                OperandKind::Map => Operand::Map(LaneMap::new(5, map % 1024).unwrap()),
                OperandKind::Offset if matches!(op, Op::Vload | Op::Vstore) => {
                    Operand::Offset(Offset::new(offset).unwrap())
                }
                OperandKind::Offset => Operand::Offset(Offset::new(scalar).unwrap()),
            };
            let operands: Vec<Operand> =
                op.info().operands.iter().map(|spec| spec.kind).map(operand).collect();
            op.with_operands(&operands).unwrap()
        })
        .boxed()
}

/// A random program with its memory.
pub(super) fn program(
    instructions: Vec<Instr>,
    moduli: [u128; 2],
    stretches: &[Words],
    table: std::ops::Range<u32>,
    seed: u64,
) -> Program {
    let mut vdm = vec![0; VDM_WORDS as usize];
    for (words, out) in stretches.iter().zip(vdm.chunks_mut(LANES as usize)) {
        words.fill(out, moduli);
    }
    let mut sdm = vec![0; SDM_WORDS as usize];
    Words { kind: 1, seed }.fill(&mut sdm, moduli);
    let [q, small] = moduli;
    sdm[6..].copy_from_slice(&[q, small, LANES.into(), 3, small - 1, 1 << 21]);
    let image = |words| Image { segments: vec![Segment { start: 0, words }] };
    Program {
        isa: Isa::new(LANES, 128).unwrap(),
        instructions,
        addresses: vec![(AReg::at(1), seed as u32 % LANES)],
        moduli: vec![(MReg::at(0), q), (MReg::at(1), small)],
        vdm: image(vdm),
        sdm: image(sdm),
        symbols: vec![
            symbol("all", Space::Vdm, 0, VDM_WORDS, Role::Scratch),
            symbol("table", Space::Vdm, table.start, table.end - table.start, Role::Table),
            symbol("scalars", Space::Sdm, 0, SDM_WORDS, Role::Table),
        ],
        ..Program::default()
    }
}

/// The executor and the slow engine.
struct Pair {
    fast: [Executor; 2],
    slow: SlowEngine,
    table: std::ops::Range<u32>,
    moduli: [u128; 2],
}

impl Pair {
    fn new(program: &Program, operands: LawOperands, table: std::ops::Range<u32>, moduli: [u128; 2]) -> Self {
        let features = FeatureSet::all();
        let executor = || {
            let isa = program.isa;
            let resources =
                Resources { isa, features, instructions: 1000, vdm_words: VDM_WORDS, sdm_words: SDM_WORDS };
            let mut executor = Executor::with_resources(resources, operands);
            executor.load(program).unwrap();
            executor
        };
        let slow = SlowEngine::new(program, features, operands, [VDM_WORDS, SDM_WORDS]);
        Self { fast: [executor(), executor().with_scalar_code()], slow, table, moduli }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Nothing => {}
            Change::Write { table, words } => {
                let (name, range) = if table { ("table", self.table.clone()) } else { ("all", 0..VDM_WORDS) };
                let mut content = vec![0; range.len()];
                words.fill(&mut content, self.moduli);
                self.fast.iter_mut().for_each(|fast| fast.write(name, &content).unwrap());
                self.slow.write(range.start, &content);
            }
            Change::Constants { start, value } => {
                let range = start..(start + 2 * LANES).min(VDM_WORDS);
                let value = u128::from(value);
                let fill = || [(Space::Vdm, range.clone(), value)];
                self.fast.iter_mut().for_each(|fast| fast.write_constants(fill()));
                self.slow.write(start, &vec![value; range.len()]);
            }
        }
    }

    fn run(&mut self) -> Result<(), TestCaseError> {
        let expected = self.slow.run();
        for fast in &mut self.fast {
            prop_assert_eq!(fast.run().map_err(|error| error.index), expected);
            prop_assert!(fast.read("all").unwrap() == self.slow.vdm());
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    #[test]
    fn the_executor_does_what_a_slow_engine_does(
        code in proptest::collection::vec(instruction(), 3..16),
        stretches in proptest::collection::vec(words(), 8),
        table in (0..VDM_WORDS, 1..=VDM_WORDS),
        bits in (2u32..=128, 2u32..=64),
        changes in proptest::array::uniform2(change()),
        reduced in any::<bool>(), seed in any::<u64>()
    ) {
        let odd = |bits: u32| ((u128::MAX - u128::from(seed)) >> (128 - bits) | 1).max(3);
        let moduli = [odd(bits.0), odd(bits.1.min(bits.0))];
        let table = table.0..(table.0 + table.1).min(VDM_WORDS);
        let program = program(code, moduli, &stretches, table.clone(), seed);
        let operands = if reduced { LawOperands::Reduced } else { LawOperands::Word };
        let mut pair = Pair::new(&program, operands, table, moduli);
        pair.run()?;
        for change in changes {
            pair.change(change);
            pair.run()?;
        }
    }
}

/// A small program over the VDM `all`, whose words `table` are constants.
fn small(instructions: Vec<Instr>, table: std::ops::Range<u32>) -> Program {
    let zeros = [Words { kind: 0, seed: 0 }; 8];
    program(instructions, [97, 7], &zeros, table, 0)
}

const fn v(register: usize) -> VReg {
    VReg::at(register)
}

fn load(vd: usize, word: u32) -> Instr {
    let offset = Offset::new(word).unwrap();
    Instr::Vload { vd: v(vd), base: AReg::at(0), offset, mode: AddressMode::Linear }
}

fn store(vs: usize, word: u32) -> Instr {
    let offset = Offset::new(word).unwrap();
    Instr::Vstore { vs: v(vs), base: AReg::at(0), offset, mode: AddressMode::Linear }
}

fn multiply(vd: usize, vs: usize, vt: usize) -> Instr {
    Instr::Vmul { vd: v(vd), vs: v(vs), vt: v(vt), rm: MReg::at(0) }
}

/// The words of the VDM after each of two runs, which begin with `words` in one stretch each.
fn runs(program: &Program, writes: [&[(u32, u128)]; 2]) -> [Vec<u128>; 2] {
    let mut pair = Pair::new(program, LawOperands::Word, 0..1, [97, 7]);
    writes.map(|words| {
        for &(start, value) in words {
            let words = || [(Space::Vdm, start..start + LANES, value)];
            pair.fast.iter_mut().for_each(|fast| fast.write_constants(words()));
            pair.slow.write(start, &[value; LANES as usize]);
        }
        pair.run().unwrap();
        pair.slow.vdm().to_vec()
    })
}

#[test]
fn a_store_that_touches_one_word_of_a_table_ends_its_constancy() {
    // Words 65 to 128; the table begins at word 128.
    let code = vec![
        load(0, 0),
        load(1, 128),
        multiply(2, 0, 1),
        store(0, 65),
        load(1, 128),
        multiply(2, 0, 1),
        store(2, 320),
    ];
    let [first, _] = runs(&small(code, 128..256), [&[(0, 5), (128, 3)], &[]]);
    assert_eq!((first[320], first[321]), (25, 15));
}

#[test]
fn a_register_that_was_to_hold_zeros_of_a_table_holds_zeros_in_the_next_run() {
    // The load of the table is deferred, and its words are zeros.
    let code = vec![store(0, 64), load(0, 0), multiply(0, 0, 0), load(0, 128)];
    let mut program = small(code, 128..256);
    // Words outside of the image are known to be zeros.
    program.vdm.segments.clear();
    let [_, second] = runs(&program, [&[(0, 5)], &[]]);
    assert_eq!(second[64..128], [0; 64]);
}

#[test]
fn a_modulus_does_not_outlive_its_program() {
    let rm = MReg::at(2);
    let add = Instr::Vadd { vd: v(0), vs: v(0), vt: v(0), rm };
    let sets = small(vec![Instr::Mload { rt: rm, offset: Offset::new(6).unwrap() }, add], 0..1);
    let mut pair = Pair::new(&sets, LawOperands::Word, 0..1, [97, 7]);
    pair.run().unwrap();
    for fast in &mut pair.fast {
        fast.load(&small(vec![add], 0..1)).unwrap();
        assert!(matches!(fast.run().unwrap_err().fault, Fault::ModulusUnset { .. }));
    }
}

#[test]
fn a_scalar_equal_to_the_modulus_is_refused() {
    let rt = SReg::at(0);
    let sload = Instr::Sload { rt, offset: Offset::new(6).unwrap() };
    let adds = Instr::Vadds { vd: v(0), vs: v(0), rt, rm: MReg::at(0) };
    let program = small(vec![sload, adds], 0..1);
    let mut pair = Pair::new(&program, LawOperands::Word, 0..1, [97, 7]);
    pair.run().unwrap();
    assert!(matches!(pair.fast[0].run().unwrap_err().fault, Fault::ScalarNotBelowModulus { value: 97, .. }));
}
