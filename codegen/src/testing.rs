//! For tests and benchmarks: random pairs of machines, plans written by hand, base conversions, and simple
//! transform programs. In these programs each stage goes through memory, no register is reused, and the code
//! does not depend on the machine.

pub mod pairs;
pub mod plans;

use crate::elementwise::{Elementwise, Operand, Step, StepOp};
use b512_asm::{
    AReg, AddressMode, Image, Instr, Isa, Log2, MReg, Offset, Program, Role, SReg, Segment, Space, Symbol,
    VReg,
};
use golden::Operation;
use ring::bits::bit_reverse;
use ring::modular::Modulus;

/// A base conversion: for each output, a sum of multiples of all inputs in the output's ring.
pub fn conversion(inputs: u16, outputs: u16) -> Elementwise {
    let mut steps: Vec<Step> = Vec::new();
    for modulus in 0..outputs {
        for input in 0..inputs {
            let (sum, input) = (steps.len() as u16, Operand::Input(input));
            let op = match input {
                Operand::Input(0) => StepOp::MultiplyScalar(input),
                Operand::Input(_) | Operand::Step(_) => {
                    StepOp::MultiplyAddScalar(Operand::Step(sum - 1), input)
                }
            };
            steps.push(Step { op, modulus });
        }
    }
    Elementwise {
        inputs,
        moduli: outputs,
        steps,
        outputs: (1..=outputs).map(|end| end * inputs - 1).collect(),
    }
}

/// Elements of a vector: the programs are for B512.
const VECTOR_LENGTH: usize = Isa::B512.vector_length() as usize;

const BASE: AReg = AReg::at(0);
const Q: MReg = MReg::at(0);
const SCALE: SReg = SReg::at(0);

/// The size of the VDM for the program of `n` points, in words.
pub fn vdm_words(n: usize) -> u32 {
    3 * n as u32
}

fn offset(word: usize) -> Offset {
    Offset::new(word as u32).expect("three vectors of 2^16 elements fit 20 bits of address")
}

fn load(vd: usize, word: usize) -> Instr {
    Instr::Vload { vd: VReg::at(vd), base: BASE, offset: offset(word), mode: AddressMode::Linear }
}

fn store(vs: usize, word: usize) -> Instr {
    Instr::Vstore { vs: VReg::at(vs), base: BASE, offset: offset(word), mode: AddressMode::Linear }
}

/// Loads the factors `tw[m + k mod m]` for 512 consecutive `k`.
fn load_factors(vd: usize, table: usize, m: usize, k: usize) -> Instr {
    if m >= VECTOR_LENGTH {
        return load(vd, table + m + k % m);
    }
    let mode = AddressMode::Repeated(Log2::new(m.ilog2() as u8).expect("below 2^9"));
    Instr::Vload { vd: VReg::at(vd), base: BASE, offset: offset(table + m), mode }
}

/// The program of a transform of `n` points: the constant-geometry algorithms of Korn and Lambiotte
/// (forward) and Pease (inverse), with one instruction sequence per block of a stage.
///
/// # Panics
/// Panics if `n` is below 1024, two vectors.
pub fn transform(function: Operation, n: usize, modulus: u128, root: u128) -> Program {
    assert!(n >= 2 * VECTOR_LENGTH);
    let v = VReg::at;
    let q = Modulus::new(modulus).expect("an odd modulus");
    let inverse = function == golden::INTT;
    let (table, half) = (2 * n, n / 2);
    let (mut x, mut y) = (0, n);
    let mut code = vec![];
    if inverse {
        code.push(Instr::Sload { rt: SCALE, offset: offset(0) });
    }
    for stage in 0..n.ilog2() {
        let m = if inverse { half >> stage } else { 1 << stage };
        for k in (0..half).step_by(VECTOR_LENGTH) {
            code.push(load_factors(2, table, m, k));
            if inverse {
                code.extend([
                    load(0, x + 2 * k),
                    load(1, x + 2 * k + VECTOR_LENGTH),
                    Instr::Pklo { vd: v(3), vs: v(0), vt: v(1) },
                    Instr::Pkhi { vd: v(4), vs: v(0), vt: v(1) },
                    Instr::Vadd { vd: v(5), vs: v(3), vt: v(4), rm: Q },
                    Instr::Vsub { vd: v(6), vs: v(3), vt: v(4), rm: Q },
                    Instr::Vmul { vd: v(6), vs: v(6), vt: v(2), rm: Q },
                    store(5, y + k),
                    store(6, y + k + half),
                ]);
            } else {
                code.extend([
                    load(0, x + k),
                    load(1, x + k + half),
                    Instr::Bfly { vd: v(3), vd1: v(4), vs: v(0), vt: v(1), vt1: v(2), rm: Q },
                    Instr::Unpklo { vd: v(5), vs: v(3), vt: v(4) },
                    Instr::Unpkhi { vd: v(6), vs: v(3), vt: v(4) },
                    store(5, y + 2 * k),
                    store(6, y + 2 * k + VECTOR_LENGTH),
                ]);
            }
        }
        (x, y) = (y, x);
    }
    if inverse {
        for k in (0..n).step_by(VECTOR_LENGTH) {
            code.extend([
                load(0, x + k),
                Instr::Vmuls { vd: v(1), vs: v(0), rt: SCALE, rm: Q },
                store(1, y + k),
            ]);
        }
        x = y;
    }
    code.push(Instr::Halt {});

    // After an even number of stages, the result has replaced the input.
    let symbol = |name: &str, start: usize, role| Symbol {
        name: name.into(),
        space: Space::Vdm,
        start: start as u32,
        words: n as u32,
        role,
    };
    let base = if inverse { q.inverse(root).expect("a root is a unit") } else { root };
    let table_words = powers(&q, n, base);
    let scale = q.inverse(q.residue(n as u128)).expect("n is a unit");
    Program {
        name: function.name().into(),
        instructions: code,
        vdm: Image { segments: vec![Segment { start: table as u32, words: table_words }] },
        sdm: Image { segments: vec![Segment { start: 0, words: vec![scale] }] },
        moduli: vec![(Q, modulus)],
        symbols: vec![
            symbol("x", 0, Role::Input),
            symbol("y", x, Role::Output),
            symbol("twiddles", table, Role::Table),
        ],
        claims: vec![function.in_ring(n as u32, modulus, root)],
        ..Program::default()
    }
}

/// The table with `root^bitrev(j)` at index `j`.
fn powers(q: &Modulus, n: usize, root: u128) -> Vec<u128> {
    let mut table = vec![0; n];
    let mut power = 1;
    for exponent in 0..n {
        table[bit_reverse(exponent, n.ilog2())] = power;
        power = q.mul(power, root);
    }
    table
}
