//! The executor compared with the slow engine and with the ranges of values, on random programs; and each
//! fault.

mod engines;
mod known;
mod ranges;

use b512_asm::{
    AReg, AddressMode, FeatureSet, Image, Instr, Isa, LaneMap, Log2, MReg, Offset, Op, Operand, OperandKind,
    Program, Role, SReg, Segment, Space, Symbol, VReg,
};
use proptest::prelude::*;
use ring::modular::{Modulus, ModulusError};
use sim::Machine;
use sim::functional::*;
use sim::machine::{LawOperands, Resources};
use sim::testing::SlowEngine;

const VDM_WORDS: u32 = 1 << 13;
const SDM_WORDS: u32 = 16;
const RM: MReg = MReg::at(1);
const V: fn(usize) -> VReg = VReg::at;

fn at(words: u32) -> Offset {
    Offset::new(words).unwrap()
}

fn load(vd: usize, words: u32) -> Instr {
    Instr::Vload { vd: V(vd), base: AReg::at(0), offset: at(words), mode: AddressMode::Linear }
}

fn store(vs: usize, words: u32) -> Instr {
    Instr::Vstore { vs: V(vs), base: AReg::at(0), offset: at(words), mode: AddressMode::Linear }
}

fn bfly(vd: usize, vd1: usize, vs: usize, vt: usize, vt1: usize) -> Instr {
    Instr::Bfly { vd: V(vd), vd1: V(vd1), vs: V(vs), vt: V(vt), vt1: V(vt1), rm: RM }
}

fn symbol(name: &str, space: Space, start: u32, words: u32, role: Role) -> Symbol {
    Symbol { name: name.into(), space, start, words, role }
}

/// A B512 program over the whole VDM, `all`, whose second half holds constants, `table`.
fn program(instructions: Vec<Instr>, modulus: u128, words: Vec<u128>) -> Program {
    program_for(Isa::B512, instructions, modulus, words)
}

/// The same for another vector length. The VDM has 16 words for each lane.
fn program_for(isa: Isa, instructions: Vec<Instr>, modulus: u128, words: Vec<u128>) -> Program {
    let lanes = isa.vector_length();
    Program {
        isa,
        instructions,
        vdm: Image { segments: vec![Segment { start: 0, words }] },
        // Words 0 to 7 are residues, word 8 a modulus, word 9 an address.
        sdm: Image {
            segments: vec![Segment {
                start: 0,
                words: vec![1, 2, 0, modulus / 2, modulus / 3, 1, modulus - 1, 0, modulus, lanes.into()],
            }],
        },
        addresses: vec![(AReg::at(2), 100), (AReg::at(3), 2 * lanes)],
        moduli: vec![(MReg::at(0), modulus), (RM, modulus)],
        symbols: vec![
            symbol("all", Space::Vdm, 0, 16 * lanes, Role::Scratch),
            symbol("table", Space::Vdm, 8 * lanes, 8 * lanes, Role::Table),
            symbol("scalars", Space::Sdm, 0, SDM_WORDS, Role::Table),
        ],
        ..Program::default()
    }
}

fn executor(program: &Program) -> Executor {
    let mut executor = empty(program.isa, LawOperands::Word);
    executor.load(program).unwrap();
    executor
}

/// An executor with all extensions.
fn empty(isa: Isa, operands: LawOperands) -> Executor {
    let resources = Resources {
        isa,
        features: FeatureSet::all(),
        instructions: 1000,
        vdm_words: 16 * isa.vector_length(),
        sdm_words: SDM_WORDS,
    };
    Executor::with_resources(resources, operands)
}

/// The VDM after `program`, by the slow engine.
fn interpret(program: &Program) -> Vec<u128> {
    let words = [16 * program.isa.vector_length(), SDM_WORDS];
    let mut slow = SlowEngine::new(program, FeatureSet::all(), LawOperands::Word, words);
    assert_eq!(slow.run(), Ok(program.instructions.len()));
    slow.vdm().to_vec()
}

/// A random instruction on few registers, so that dependences are frequent, which causes no fault
/// on vectors of that length.
fn instruction(lanes: u32) -> BoxedStrategy<Instr> {
    // Strided accesses reach over 8 vectors, from at most 2 + 4.
    let log2 = |log2: u8| Log2::new(log2).unwrap();
    let mode = prop_oneof![
        Just(AddressMode::Linear),
        (0u8..=3).prop_map(move |stride| AddressMode::Strided(log2(stride))),
        (0u8..=Log2::MAX).prop_map(move |block| AddressMode::StridedSkip(log2(block))),
        (0u8..=Log2::MAX).prop_map(move |block| AddressMode::Repeated(log2(block))),
    ];
    let ops = Op::ALL.iter().copied().filter(|&op| op != Op::Halt).collect::<Vec<_>>();
    (proptest::sample::select(ops), proptest::array::uniform6(0u8..6), 0..4 * lanes, mode)
        .prop_map(|(op, registers, words, mode)| {
            let mut registers = registers.into_iter();
            let mut next = || registers.next().unwrap();
            let operands: Vec<Operand> = op
                .info()
                .operands
                .iter()
                .map(|spec| match spec.kind {
                    OperandKind::VReg => Operand::VReg(VReg::new(next()).unwrap()),
                    OperandKind::SReg => Operand::SReg(SReg::new(next()).unwrap()),
                    OperandKind::AReg => Operand::AReg(AReg::new(next()).unwrap()),
                    OperandKind::MReg => Operand::MReg(MReg::new(next() % 2).unwrap()),
                    OperandKind::Mode => Operand::Mode(mode),
                    OperandKind::Map => Operand::Map(LaneMap::new(5, (words % 1024) as u16).unwrap()),
                    OperandKind::Offset => Operand::Offset(at(match op {
                        Op::Sload => words % 8,
                        Op::Mload => 8,
                        Op::Aload => 9,
                        _ => words,
                    })),
                })
                .collect();
            op.with_operands(&operands).unwrap()
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_programs_do_what_the_documentation_says(
        (lanes, code) in (6u32..=10).prop_flat_map(|log2| {
            (Just(1 << log2), proptest::collection::vec(instruction(1 << log2), 1..40))
        }),
        q in any::<u128>(), shift in 0u32..120, seed in any::<u128>()
    ) {
        let isa = Isa::new(lanes, 128).unwrap();
        let q = (q >> shift | 1).max(3);
        let next = |&x: &u128| Some(x.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
        let words = std::iter::successors(Some(seed | 1), next).map(|x| x.rotate_left(64) % q);
        let mut code = code;
        // All registers start with data.
        code.splice(0..0, (0..6).map(|i| load(i, lanes * i as u32)));
        code.extend((0..6).map(|i| store(i, lanes * i as u32)));
        let program = program_for(isa, code, q, words.take(16 * lanes as usize).collect());
        let expected = interpret(&program);
        for mut executor in [executor(&program), executor(&program).with_scalar_code()] {
            prop_assert_eq!(executor.run(), Ok(program.instructions.len()));
            prop_assert!(executor.read("all").unwrap() == expected);
        }
    }
}

/// Words below and above the modulus, including the largest, for a vector of length 64.
fn any_words(q: u128) -> Vec<u128> {
    let edges = [0, 1, q - 1, q, q.saturating_add(1), q.saturating_mul(2), u128::MAX - 1, u128::MAX];
    let next = |&x: &u128| Some(x.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15).rotate_left(41));
    let random = std::iter::successors(Some(q), next).enumerate().map(|(i, x)| x >> (i % 128));
    edges.into_iter().chain(random).take(64).collect()
}

/// A program for vectors of 64 that writes `x w`, `x s`, `w + x w` and `w - x w` to words 128 to 383,
/// with `x` from word `x` and `w` from word `w`: below 512 data, then constants.
fn products(q: u128, x: u32, w: u32, words: &[u128], factors: &[u128]) -> Program {
    let (isa, rm, rt) = (Isa::new(64, 128).unwrap(), MReg::at(0), SReg::at(3));
    let code = vec![
        Instr::Sload { rt, offset: at(3) },
        load(0, x),
        load(1, w),
        Instr::Vmul { vd: V(2), vs: V(0), vt: V(1), rm },
        store(2, 128),
        Instr::Vmuls { vd: V(2), vs: V(0), rt, rm },
        store(2, 192),
        bfly(2, 3, 1, 0, 1),
        store(2, 256),
        store(3, 320),
    ];
    let half = [words, factors].concat();
    let filled = |mut half: Vec<u128>| {
        half.resize(512, 0);
        half
    };
    program_for(isa, code, q, [filled(half.clone()), filled(half)].concat())
}

#[test]
fn moduli_of_both_widths_share_registers() {
    let (isa, big, small) = (Isa::new(64, 128).unwrap(), MReg::at(0), RM);
    for (q, p) in [((1 << 127) | 1, u64::MAX.into()), ((1 << 64) | 1, (1 << 62) - 1), ((1 << 100) | 1, 3)] {
        let words = any_words(q);
        let factors: Vec<u128> = words.iter().rev().map(|word| word % p).collect();
        let mul = |vd, vs, rm| Instr::Vmul { vd: V(vd), vs: V(vs), vt: V(1), rm };
        let code = vec![
            // One: the product is a reduction.
            Instr::Sload { rt: SReg::at(3), offset: at(5) },
            load(0, 0),
            load(1, 64),
            mul(2, 0, big),
            mul(3, 2, small),
            Instr::Unpklo { vd: V(4), vs: V(2), vt: V(3) },
            Instr::Pkhi { vd: V(5), vs: V(4), vt: V(3) },
            mul(6, 5, small),
            bfly(7, 8, 3, 4, 6),
            Instr::Vadd { vd: V(9), vs: V(8), vt: V(2), rm: big },
            Instr::Vmuls { vd: V(10), vs: V(9), rt: SReg::at(3), rm: small },
            store(4, 128),
            store(7, 192),
            store(9, 256),
            store(10, 320),
            load(11, 192),
            store(11, 384),
        ];
        let mut words = [words, factors].concat();
        words.resize(1024, 0);
        let mut program = program_for(isa, code, q, words);
        program.moduli = vec![(big, q), (small, p)];
        let expected = interpret(&program);
        for mut executor in [executor(&program), executor(&program).with_scalar_code()] {
            executor.run().unwrap();
            assert!(executor.read("all").unwrap() == expected, "modulo {q:#x} and {p:#x}");
        }
    }
}

#[test]
fn a_multiplicand_is_any_word() {
    for bits in 2..=128 {
        for q in [u128::MAX >> (128 - bits), (1 << (bits - 1) | 1_u128).max(3)] {
            let words = any_words(q);
            let factors: Vec<u128> = words.iter().rev().map(|word| word % q).collect();
            for (x, w) in [(0, 64), (512, 64), (0, 576), (512, 576)] {
                let program = products(q, x, w, &words, &factors);
                let expected = interpret(&program);
                for mut executor in [executor(&program), executor(&program).with_scalar_code()] {
                    executor.run().unwrap();
                    assert!(executor.read("all").unwrap() == expected, "modulo {q:#x}, {x}, {w}");
                }
            }
        }
    }
}

#[test]
fn only_a_multiplicand_is_any_word() {
    let (words, factors) = (vec![98; 64], vec![5; 64]);
    let run = |program: &Program, operands| {
        let mut executor = empty(program.isa, operands);
        executor.load(program).unwrap();
        executor.run().map_err(|error| (error.index, error.fault.to_string()))
    };
    for (x, w) in [(0, 64), (512, 64), (0, 576), (512, 576)] {
        let program = products(97, x, w, &words, &factors);
        assert_eq!(run(&program, LawOperands::Word), Ok(10));
        let message = "lane 0 of the multiplicand v0 is 0x62, which is not below 0x61, the modulus in m0; \
                       `law.operands = \"word\"` accepts it";
        assert_eq!(run(&program, LawOperands::Reduced), Err((3, message.to_owned())));
        // The second factor must be reduced, constant or not.
        let program = products(97, x, w, &factors, &words);
        let message = "lane 0 of v1 is 0x62, which is not below 0x61, the modulus in m0";
        assert_eq!(run(&program, LawOperands::Word), Err((3, message.to_owned())));
    }
}

#[test]
fn words_and_moduli_fit_the_word_width() {
    let isa = Isa::new(64, 32).unwrap();
    let mut executor = empty(isa, LawOperands::Word);
    let mut program = program_for(isa, vec![load(0, 0)], (1 << 32) - 5, vec![u32::MAX.into(); 64]);
    assert_eq!(executor.load(&program), Ok(()));
    let error = executor.write("scalars", &[1 << 32; SDM_WORDS as usize]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "word 0 of symbol `scalars` is 0x100000000, but the largest word is 0xffffffff (`isa.word_bits`)"
    );
    assert_eq!(executor.write("scalars", &[u32::MAX.into(); SDM_WORDS as usize]), Ok(()));
    program.vdm.segments[0].words[7] = 1 << 32;
    assert_eq!(
        executor.load(&program).unwrap_err().to_string(),
        "word 7 of the VDM is 0x100000000, but the largest word is 0xffffffff (`isa.word_bits`)"
    );
    program.vdm.segments.clear();
    program.moduli[1].1 = (1 << 32) + 1;
    assert_eq!(
        executor.load(&program).unwrap_err().to_string(),
        "launch value 0x100000001 for m1 is too large: the largest word is 0xffffffff (`isa.word_bits`)"
    );
    program.isa = Isa::B512;
    assert!(matches!(executor.load(&program), Err(LoadError::Fit(_))));
}

#[test]
fn a_rewritten_table_is_prepared_again() {
    let q = 97;
    let (table, data) = (VDM_WORDS / 2, 512);
    let words = vec![3; VDM_WORDS as usize];
    // 3 + 3 * 3 = 12 and 3 - 9 = 91; stored over the factors, they are the next factors.
    let code = vec![
        load(0, data),
        load(1, table),
        bfly(2, 3, 0, 0, 1),
        store(2, table),
        bfly(4, 5, 0, 0, 1),
        load(1, table),
        bfly(6, 7, 0, 0, 1),
        store(4, 0),
        store(6, 1024),
    ];
    let mut executor = executor(&program(code, q, words));
    executor.run().unwrap();
    assert_eq!(executor.read("all").unwrap()[..512], [12; 512]);
    assert_eq!(executor.read("all").unwrap()[1024..1536], [39; 512]);
    // By the caller, too.
    executor.write("table", &[5; VDM_WORDS as usize / 2]).unwrap();
    executor.run().unwrap();
    assert_eq!(executor.read("all").unwrap()[..512], [18; 512]);
}

#[test]
fn registers_start_anew_and_memory_does_not() {
    let q = 97;
    let add = Instr::Vadd { vd: V(0), vs: V(0), vt: V(1), rm: RM };
    let code = vec![load(1, 0), add, store(0, 512), load(0, 1024), add, store(0, 1024), Instr::Halt {}, add];
    let mut executor = executor(&program(code, q, vec![1; VDM_WORDS as usize]));
    for run in 1..4 {
        assert_eq!(executor.run(), Ok(7));
        assert_eq!(executor.read("all").unwrap()[512], 1);
        assert_eq!(executor.read("all").unwrap()[1024], 1 + run);
    }
}

/// The message of the fault of the last instruction of `code`, modulo 97 over the words 0, 1, 2 ..
fn fault(code: Vec<Instr>) -> String {
    let last = code.len() - 1;
    let mut program = program(code, 97, (0..u128::from(VDM_WORDS)).collect());
    program.moduli.pop();
    let mut executor = executor(&program).with_features(FeatureSet::NONE);
    let error = executor.run().unwrap_err();
    assert_eq!((error.index, error.instr), (last, program.instructions[last]));
    error.fault.to_string()
}

#[test]
fn faults_say_what_is_wrong() {
    let rm = MReg::at(0);
    let (rt, offset) = (SReg::at(1), at(9));
    let strided = AddressMode::Strided(Log2::new(4).unwrap());
    assert_eq!(
        fault(vec![load(0, 0), load(1, VDM_WORDS - 511)]),
        "accesses words 7681 to 8192, but the VDM has 8192 words"
    );
    assert_eq!(
        fault(vec![Instr::Vstore { vs: V(0), base: AReg::at(2), offset: at(10), mode: strided }]),
        "accesses words 110 to 8286, but the VDM has 8192 words"
    );
    assert_eq!(fault(vec![Instr::Sload { rt, offset: at(16) }]), "reads word 16, but the SDM has 16 words");
    assert_eq!(
        fault(vec![Instr::Vadd { vd: V(0), vs: V(0), vt: V(0), rm: RM }]),
        "m1 has no modulus: set it before the start or with `mload`"
    );
    assert_eq!(
        fault(vec![Instr::Mload { rt: RM, offset: at(9) }]),
        "invalid modulus for m1: the modulus 0x200 is even, but Montgomery arithmetic needs an odd modulus"
    );
    assert_eq!(
        fault(vec![Instr::Mload { rt: RM, offset: at(0) }]),
        "invalid modulus for m1: the modulus 1 is too small: it must be odd and at least 3"
    );
    assert_eq!(
        fault(vec![load(7, 0), Instr::Vmul { vd: V(0), vs: V(0), vt: V(7), rm }]),
        "lane 97 of v7 is 0x61, which is not below 0x61, the modulus in m0"
    );
    // Also through a shuffle, and from constants.
    assert_eq!(
        fault(vec![load(7, 0), Instr::Pklo { vd: V(7), vs: V(7), vt: V(0) }, bfly(1, 2, 7, 7, 7)]),
        "m1 has no modulus: set it before the start or with `mload`"
    );
    assert_eq!(
        fault(vec![
            load(7, 0),
            Instr::Pklo { vd: V(8), vs: V(0), vt: V(7) },
            Instr::Vsub { vd: V(1), vs: V(8), vt: V(0), rm }
        ]),
        "lane 305 of v8 is 0x62, which is not below 0x61, the modulus in m0"
    );
    assert_eq!(
        fault(vec![load(7, VDM_WORDS / 2), Instr::Vmul { vd: V(0), vs: V(0), vt: V(7), rm }]),
        "lane 0 of v7 is 0x1000, which is not below 0x61, the modulus in m0"
    );
    assert_eq!(
        fault(vec![Instr::Sload { rt, offset }, Instr::Vmuls { vd: V(0), vs: V(0), rt, rm }]),
        "s1 is 0x200, which is not below 0x61, the modulus in m0"
    );
    assert_eq!(
        fault(vec![Instr::Gsbfly { vd: V(0), vd1: V(1), vs: V(2), vt: V(3), vt1: V(4), rm }]),
        "the machine lacks the extension (`isa.gs_butterfly`)"
    );
}

#[test]
fn an_address_must_fit_its_register() {
    let mut program = program(vec![Instr::Aload { rt: AReg::at(5), offset: at(0) }], 97, vec![]);
    program.sdm.segments[0].words[0] = 1 << 28;
    let error = executor(&program).run().unwrap_err();
    assert_eq!(
        error.to_string(),
        "instruction 0, `aload a5, 0`: a5 cannot hold 268435456: addresses are below 268435456"
    );
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let good = program(vec![load(0, 0)], 97, vec![0; VDM_WORDS as usize]);
    let mut executor = Executor::new(VDM_WORDS, SDM_WORDS);
    let mut refusal = |change: &dyn Fn(&mut Program)| {
        let mut program = good.clone();
        change(&mut program);
        executor.load(&program).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&|p| p.vdm.segments[0].start = 1),
        "the program needs 8193 words of the VDM, but the machine has 8192; set `vdm.size_mib` to 1 or more"
    );
    assert_eq!(
        refusal(&|p| p.sdm.segments[0].start = 7),
        "the program needs 17 words of the SDM, but the machine has 16; set `sdm.size_kib` to 1 or more"
    );
    assert_eq!(
        refusal(&|p| p.symbols[0].start = u32::MAX),
        "the program needs 4294975487 words of the VDM, but the machine has 8192; \
         no machine has as much: `vdm.size_mib` is at most 512"
    );
    assert_eq!(
        refusal(&|p| p.addresses[0].1 = 1 << 28),
        "launch value 268435456 for a2 is too large: addresses are below 268435456"
    );
    assert_eq!(
        refusal(&|p| p.moduli[1].1 = 1),
        "invalid launch value for m1: the modulus 1 is too small: it must be odd and at least 3"
    );
    assert_eq!(Modulus::new(1), Err(ModulusError::TooSmall(1)));
    assert_eq!(executor.load(&good), Ok(()));
}

#[test]
fn data_that_do_not_fit_their_symbol_are_refused() {
    let mut executor = executor(&program(vec![load(0, 0)], 97, vec![]));
    assert_eq!(
        executor.write("scalars", &[1, 2]).unwrap_err().to_string(),
        "symbol `scalars` has 16 words, but 2 were given"
    );
    assert_eq!(
        executor.read("x").unwrap_err().to_string(),
        "unknown symbol `x`; the program has: all, table, scalars"
    );
    executor.write("scalars", &[7; SDM_WORDS as usize]).unwrap();
    assert_eq!(executor.read("scalars"), Ok(vec![7; SDM_WORDS as usize]));
}

/// A store that is not aligned leaves words that are not reduced in two stretches of memory.
#[test]
fn bounds_follow_stores_that_are_not_aligned() {
    let store = |base, offset| Instr::Vstore { vs: V(1), base, offset, mode: AddressMode::Linear };
    let load = |vd, offset| Instr::Vload { vd, base: AReg::at(0), offset, mode: AddressMode::Linear };
    let at = |words| Offset::new(words).unwrap();
    let small = MReg::at(4);
    for first in [0, 512] {
        let instructions = vec![
            load(V(1), at(2048)),
            // Words 100 to 611.
            store(AReg::at(2), at(0)),
            load(V(2), at(first)),
            Instr::Vadd { vd: V(3), vs: V(2), vt: V(2), rm: small },
            Instr::Halt {},
        ];
        let mut words = vec![0; 16 * 512];
        words[2048..2560].fill(50);
        let mut program = program(instructions, 97, words);
        program.moduli.push((small, 7));
        let error = executor(&program).run().unwrap_err();
        assert!(matches!(error.fault, Fault::LaneNotBelowModulus { value: 50, modulus: 7, .. }), "{error}");
    }
}
