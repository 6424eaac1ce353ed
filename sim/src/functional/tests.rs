//! The executor against an interpreter in big integers that copies every operand, on random
//! programs; and each fault.

use super::*;
use b512_asm::{FeatureSet, Log2, Op, Operand, OperandKind, Segment};
use num_bigint::BigUint;
use proptest::prelude::*;
use ring::modular::ModulusError;

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

/// A program over the whole VDM, `all`, whose second half holds constants, `table`.
fn program(instructions: Vec<Instr>, modulus: u128, words: Vec<u128>) -> Program {
    Program {
        instructions,
        vdm: Image { segments: vec![Segment { start: 0, words }] },
        // Words 0 to 7 are residues, word 8 a modulus, word 9 an address.
        sdm: Image {
            segments: vec![Segment {
                start: 0,
                words: vec![1, 2, 0, modulus / 2, modulus / 3, 1, modulus - 1, 0, modulus, 512],
            }],
        },
        addresses: vec![(AReg::at(2), 100), (AReg::at(3), 1024)],
        moduli: vec![(MReg::at(0), modulus), (RM, modulus)],
        symbols: vec![
            symbol("all", Space::Vdm, 0, VDM_WORDS, Role::Scratch),
            symbol("table", Space::Vdm, VDM_WORDS / 2, VDM_WORDS / 2, Role::Table),
            symbol("scalars", Space::Sdm, 0, SDM_WORDS, Role::Table),
        ],
        ..Program::default()
    }
}

fn executor(program: &Program) -> Executor {
    let mut executor = Executor::new(VDM_WORDS, SDM_WORDS).with_features(FeatureSet::all());
    executor.load(program).unwrap();
    executor
}

/// The VDM after `program`, by the letter of the instructions' documentation.
fn interpret(program: &Program) -> Vec<u128> {
    let mut vdm = program.vdm.segments[0].words.clone();
    let sdm = &program.sdm.segments[0].words;
    let mut vrf = vec![vec![BigUint::ZERO; VECTOR_LENGTH]; REGISTERS];
    let mut srf = vec![BigUint::ZERO; REGISTERS];
    let mut arf = [0; REGISTERS];
    for &(register, address) in &program.addresses {
        arf[register.index()] = address;
    }
    let q = BigUint::from(program.moduli[0].1);
    let add = |a: &BigUint, b: &BigUint| (a + b) % &q;
    let sub = |a: &BigUint, b: &BigUint| (a + &q - b) % &q;
    let mul = |a: &BigUint, b: &BigUint| a * b % &q;
    for &instr in &program.instructions {
        let word = |arf: &[u32], base: AReg, offset: Offset, mode: AddressMode, lane| {
            (arf[base.index()] + offset.words() + mode.element(lane as u32)) as usize
        };
        let old = vrf.clone();
        let v = |register: VReg, lane: usize| &old[register.index()][lane];
        let s = |register: SReg| &srf[register.index()];
        let mut set = |vd: VReg, lane: &dyn Fn(usize) -> BigUint| {
            vrf[vd.index()] = (0..VECTOR_LENGTH).map(lane).collect();
        };
        let half = VECTOR_LENGTH / 2;
        let either = |i: usize, a: VReg, b: VReg| if i < half { (a, i) } else { (b, i - half) };
        match instr {
            Instr::Halt {} => break,
            Instr::Vload { vd, base, offset, mode } => {
                set(vd, &|i| vdm[word(&arf, base, offset, mode, i)].into());
            }
            Instr::Vstore { vs, base, offset, mode } => {
                for i in 0..VECTOR_LENGTH {
                    vdm[word(&arf, base, offset, mode, i)] = v(vs, i).try_into().unwrap();
                }
            }
            Instr::Sload { rt, offset } => srf[rt.index()] = sdm[offset.words() as usize].into(),
            Instr::Aload { rt, offset } => arf[rt.index()] = sdm[offset.words() as usize] as u32,
            Instr::Mload { .. } => {}
            Instr::Vadd { vd, vs, vt, .. } => set(vd, &|i| add(v(vs, i), v(vt, i))),
            Instr::Vsub { vd, vs, vt, .. } => set(vd, &|i| sub(v(vs, i), v(vt, i))),
            Instr::Vmul { vd, vs, vt, .. } => set(vd, &|i| mul(v(vs, i), v(vt, i))),
            Instr::Vadds { vd, vs, rt, .. } => set(vd, &|i| add(v(vs, i), s(rt))),
            Instr::Vsubs { vd, vs, rt, .. } => set(vd, &|i| sub(v(vs, i), s(rt))),
            Instr::Vmuls { vd, vs, rt, .. } => set(vd, &|i| mul(v(vs, i), s(rt))),
            Instr::Bfly { vd, vd1, vs, vt, vt1, .. } => {
                set(vd, &|i| add(v(vs, i), &mul(v(vt, i), v(vt1, i))));
                set(vd1, &|i| sub(v(vs, i), &mul(v(vt, i), v(vt1, i))));
            }
            Instr::Gsbfly { vd, vd1, vs, vt, vt1, .. } => {
                set(vd, &|i| add(v(vs, i), v(vt, i)));
                set(vd1, &|i| mul(&sub(v(vs, i), v(vt, i)), v(vt1, i)));
            }
            Instr::Unpklo { vd, vs, vt } => set(vd, &|i| v([vs, vt][i % 2], i / 2).clone()),
            Instr::Unpkhi { vd, vs, vt } => set(vd, &|i| v([vs, vt][i % 2], half + i / 2).clone()),
            Instr::Pklo { vd, vs, vt } => set(vd, &|i| {
                let (source, i) = either(i, vs, vt);
                v(source, 2 * i).clone()
            }),
            Instr::Pkhi { vd, vs, vt } => set(vd, &|i| {
                let (source, i) = either(i, vs, vt);
                v(source, 2 * i + 1).clone()
            }),
        }
    }
    vdm
}

/// Any instruction on few registers, so that they meet often, without a fault.
fn instruction() -> impl Strategy<Value = Instr> {
    // Strided accesses reach over 2^12 words, from at most 1024 + 2048.
    let mode = (0u8..4, 0u8..=3, 0u8..=Log2::MAX).prop_map(|(mode, stride, block)| match mode {
        0 => AddressMode::Linear,
        1 => AddressMode::Strided(Log2::new(stride).unwrap()),
        2 => AddressMode::StridedSkip(Log2::new(block).unwrap()),
        _ => AddressMode::Repeated(Log2::new(block).unwrap()),
    });
    let ops = Op::ALL.iter().copied().filter(|&op| op != Op::Halt).collect::<Vec<_>>();
    (proptest::sample::select(ops), proptest::array::uniform6(0u8..6), 0u32..2048, mode).prop_map(
        |(op, registers, words, mode)| {
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
                    OperandKind::Offset => Operand::Offset(at(match op {
                        Op::Sload => words % 8,
                        Op::Mload => 8,
                        Op::Aload => 9,
                        _ => words,
                    })),
                })
                .collect();
            op.with_operands(&operands).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_programs_do_what_the_documentation_says(
        code in proptest::collection::vec(instruction(), 1..40),
        q in any::<u128>(), shift in 0u32..120, seed in any::<u128>()
    ) {
        let q = (q >> shift | 1).max(3);
        let next = |&x: &u128| Some(x.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
        let words = std::iter::successors(Some(seed | 1), next).map(|x| x.rotate_left(64) % q);
        let mut code = code;
        // All registers start with data.
        code.splice(0..0, (0..6).map(|i| load(i, 512 * i as u32)));
        code.extend((0..6).map(|i| store(i, 512 * i as u32)));
        let program = program(code, q, words.take(VDM_WORDS as usize).collect());
        let expected = interpret(&program);
        for mut executor in [executor(&program), executor(&program).with_scalar_code()] {
            prop_assert_eq!(executor.run(), Ok(program.instructions.len()));
            prop_assert!(executor.read("all").unwrap() == expected);
        }
    }
}

#[test]
fn a_rewritten_table_is_prepared_again() {
    let q = 97;
    let (table, data) = (VDM_WORDS / 2, 512);
    let words = vec![3; VDM_WORDS as usize];
    // 3 + 3 * 3 = 12 and 3 - 9 = 91; stored over the factors they are the next ones.
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

/// The message of the fault that the last of `code` runs into, modulo 97 over the words 0, 1, 2 ..
fn fault(code: Vec<Instr>) -> String {
    let last = code.len() - 1;
    let mut program = program(code, 97, (0..u128::from(VDM_WORDS)).collect());
    program.moduli.pop();
    let mut executor = executor(&program);
    executor.features = FeatureSet::NONE;
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
        "it touches the words 7681 to 8192, but the VDM has 8192 words"
    );
    assert_eq!(
        fault(vec![Instr::Vstore { vs: V(0), base: AReg::at(2), offset: at(10), mode: strided }]),
        "it touches the words 110 to 8286, but the VDM has 8192 words"
    );
    assert_eq!(
        fault(vec![Instr::Sload { rt, offset: at(16) }]),
        "it reads word 16, but the SDM has 16 words"
    );
    assert_eq!(
        fault(vec![Instr::Vadd { vd: V(0), vs: V(0), vt: V(0), rm: RM }]),
        "m1 holds no modulus: set it before the start, or with `mload`"
    );
    assert_eq!(
        fault(vec![Instr::Mload { rt: RM, offset: at(9) }]),
        "m1 cannot hold that: the modulus 0x200 is even, but Montgomery arithmetic needs an odd modulus"
    );
    assert_eq!(
        fault(vec![Instr::Mload { rt: RM, offset: at(0) }]),
        "m1 cannot hold that: the modulus 1 is too small: it must be odd and at least 3"
    );
    assert_eq!(
        fault(vec![load(7, 0), Instr::Vmul { vd: V(0), vs: V(0), vt: V(7), rm }]),
        "lane 97 of v7 is 0x61, which is not below 0x61, the modulus in m0"
    );
    // Also through a shuffle, and from constants.
    assert_eq!(
        fault(vec![load(7, 0), Instr::Pklo { vd: V(7), vs: V(7), vt: V(0) }, bfly(1, 2, 7, 7, 7)]),
        "m1 holds no modulus: set it before the start, or with `mload`"
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
    program.sdm.segments[0].words[0] = 1 << 21;
    let error = executor(&program).run().unwrap_err();
    assert_eq!(
        error.to_string(),
        "instruction 0, `Aload { rt: a5, offset: Offset(0) }`: a5 cannot hold 2097152: addresses are below 2097152"
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
        "the program's VDM image needs 8193 words; the machine's VDM has 8192"
    );
    assert_eq!(
        refusal(&|p| p.sdm.segments[0].start = 7),
        "the program's SDM image needs 17 words; the machine's SDM has 16"
    );
    assert_eq!(
        refusal(&|p| p.symbols[0].start = u32::MAX),
        "symbol `all` ends at word 4294975487 of the VDM, which has 8192 words"
    );
    assert_eq!(
        refusal(&|p| p.addresses[0].1 = 1 << 21),
        "a2 cannot start with 2097152: addresses are below 2097152"
    );
    assert_eq!(
        refusal(&|p| p.moduli[1].1 = 1),
        "m1 cannot start so: the modulus 1 is too small: it must be odd and at least 3"
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
        "the program has no symbol `x`; it has: all, table, scalars"
    );
    executor.write("scalars", &[7; SDM_WORDS as usize]).unwrap();
    assert_eq!(executor.read("scalars"), Ok(&[7; SDM_WORDS as usize][..]));
}
