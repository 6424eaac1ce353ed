//! The kernels in `kernels-b512` assemble and compute the documented results.
//!
//! The check is independent of the simulator: a small big-integer interpreter for the instructions
//! of these kernels, compared with the definitions.

use b512_asm::{Instr, Program, Space, VReg, assemble, intrinsics, object};
use num_bigint::BigUint;
use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-b512").join(name)
}

fn kernel(name: &str) -> Program {
    let source = std::fs::read_to_string(path(name)).unwrap();
    assemble(&source).unwrap_or_else(|errors| panic!("{name}:\n{errors}"))
}

/// The vector data memory after a run on `inputs`.
fn run(program: &Program, inputs: &[(&str, &[u128])]) -> Vec<u128> {
    let end = program.symbols.iter().map(|symbol| symbol.start + symbol.words).max().unwrap();
    let mut vdm = vec![0_u128; end as usize];
    for segment in &program.image(Space::Vdm).segments {
        vdm[segment.start as usize..segment.end() as usize].copy_from_slice(&segment.words);
    }
    for (name, values) in inputs {
        let start = program.symbol(name).unwrap().start as usize;
        vdm[start..start + values.len()].copy_from_slice(values);
    }
    let base = |reg| program.addresses.iter().find(|entry| entry.0 == reg).map_or(0, |entry| entry.1);
    let modulus = |reg| BigUint::from(program.moduli.iter().find(|entry| entry.0 == reg).unwrap().1);
    let mut registers = vec![vec![BigUint::ZERO; 512]; 64];
    for instr in &program.instructions {
        let mut written = Vec::new();
        let lanes = |reg: VReg| registers[reg.index()].iter();
        match *instr {
            Instr::Vload { vd, base: reg, offset, mode } => {
                let at = base(reg) + offset.words();
                written.push((vd, (0..512).map(|i| vdm[(at + mode.element(i)) as usize].into()).collect()));
            }
            Instr::Vstore { vs, base: reg, offset, mode } => {
                let at = base(reg) + offset.words();
                for (i, value) in (0..).zip(lanes(vs)) {
                    vdm[(at + mode.element(i)) as usize] = value.try_into().unwrap();
                }
            }
            Instr::Vadd { vd, vs, vt, rm } => {
                let q = modulus(rm);
                written.push((vd, lanes(vs).zip(lanes(vt)).map(|(s, t)| (s + t) % &q).collect()));
            }
            Instr::Vsub { vd, vs, vt, rm } => {
                let q = modulus(rm);
                written.push((vd, lanes(vs).zip(lanes(vt)).map(|(s, t)| (s + &q - t) % &q).collect()));
            }
            Instr::Vmul { vd, vs, vt, rm } => {
                let q = modulus(rm);
                written.push((vd, lanes(vs).zip(lanes(vt)).map(|(s, t)| s * t % &q).collect()));
            }
            Instr::Bfly { vd, vd1, vs, vt, vt1, rm } => {
                let q = modulus(rm);
                let products: Vec<_> = lanes(vt).zip(lanes(vt1)).map(|(t, w)| t * w % &q).collect();
                written.push((vd, lanes(vs).zip(&products).map(|(s, p)| (s + p) % &q).collect()));
                written.push((vd1, lanes(vs).zip(&products).map(|(s, p)| (s + &q - p) % &q).collect()));
            }
            Instr::Unpklo { vd, vs, vt } | Instr::Unpkhi { vd, vs, vt } => {
                let skip = if matches!(instr, Instr::Unpklo { .. }) { 0 } else { 256 };
                let pairs = lanes(vs).zip(lanes(vt)).skip(skip).take(256);
                written.push((vd, pairs.flat_map(|(s, t)| [s.clone(), t.clone()]).collect()));
            }
            Instr::Halt {} => break,
            other => panic!("the kernels have no `{other}`"),
        }
        for (reg, values) in written {
            registers[reg.index()] = values;
        }
    }
    vdm
}

fn output<'a>(program: &Program, vdm: &'a [u128], name: &str) -> &'a [u128] {
    let symbol = program.symbol(name).unwrap();
    &vdm[symbol.start as usize..(symbol.start + symbol.words) as usize]
}

/// The generator of the published transform vectors: two outputs per coefficient, modulo q.
fn splitmix(mut state: u64, modulus: u128, n: usize) -> Vec<u128> {
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        u128::from(z ^ z >> 31)
    };
    (0..n).map(|_| (next() << 64 | next()) % modulus).collect()
}

fn bit_reversed(i: usize, bits: u32) -> usize {
    i.reverse_bits() >> (usize::BITS - bits)
}

/// The powers psi^0 .. psi^(count - 1) modulo q.
fn powers(psi: u128, q: u128, count: usize) -> Vec<BigUint> {
    let mut power = BigUint::from(1_u8);
    let mut list = Vec::with_capacity(count);
    for _ in 0..count {
        list.push(power.clone());
        power = power * psi % q;
    }
    list
}

/// The operation of the program's only claim, the degree and the modulus.
fn claim(program: &Program) -> (&str, u128, u128) {
    let [claim] = &program.claims[..] else { panic!("{} claims", program.claims.len()) };
    let [call] = &claim.calls().collect::<Vec<_>>()[..] else { panic!("{claim}") };
    (&call.operation, claim.number("n").unwrap(), claim.number("modulus").unwrap())
}

#[test]
fn every_kernel_is_a_program_that_survives_its_other_notations() {
    let mut count = 0;
    for entry in std::fs::read_dir(path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".b512") {
            let program = kernel(&name);
            assert!(!program.claims.is_empty(), "{name} does not say what it computes");
            assert_eq!(assemble(&program.to_string()).as_ref(), Ok(&program));
            assert_eq!(object::read(&object::write(&program).unwrap()).unwrap(), program);
            count += 1;
        }
    }
    assert!(count >= 3);
}

#[test]
fn the_readme_teaches_what_assembles() {
    let text = std::fs::read_to_string(path("README.md")).unwrap();
    let blocks: Vec<&str> = text.split("   ```\n").skip(1).step_by(2).collect();
    let program = assemble(&blocks[..3].concat()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(program.instructions.len(), 5);
    assert_eq!(blocks.len(), 4);
}

#[test]
fn vadd_adds() {
    let program = kernel("vadd.b512");
    let (operation, n, modulus) = claim(&program);
    assert_eq!((operation, n), ("add", 512));
    let mut a = splitmix(1, modulus, 512);
    let mut b = splitmix(2, modulus, 512);
    (a[0], b[0]) = (modulus - 1, modulus - 1);
    (a[1], b[1]) = (modulus - 1, 1);
    let vdm = run(&program, &[("a", &a), ("b", &b)]);
    let sum = |(a, b): (&u128, &u128)| u128::try_from((BigUint::from(*a) + *b) % modulus).unwrap();
    let expected: Vec<u128> = a.iter().zip(&b).map(sum).collect();
    assert_eq!(output(&program, &vdm, "c"), expected);
}

#[test]
fn mul1024_multiplies() {
    let program = kernel("mul1024.b512");
    let (operation, n, modulus) = claim(&program);
    assert_eq!((operation, n), ("mul", 1024));
    let a = splitmix(1, modulus, 1024);
    let b = splitmix(2, modulus, 1024);
    let vdm = run(&program, &[("a", &a), ("b", &b)]);
    let product = |(a, b): (&u128, &u128)| u128::try_from(BigUint::from(*a) * *b % modulus).unwrap();
    let expected: Vec<u128> = a.iter().zip(&b).map(product).collect();
    assert_eq!(output(&program, &vdm, "c"), expected);
}

/// The paper's listing, completed, is the same program in both notations.
#[test]
fn the_listing_in_intrinsics_is_the_kernel_in_assembly_text() {
    let source = std::fs::read_to_string(path("ntt1024_spiral.c")).unwrap();
    let program = intrinsics::assemble(&source).unwrap_or_else(|errors| panic!("{errors}"));
    let same = format!("// `ntt1024_spiral.c` in assembly text, as `rpu disasm` prints it.\n\n{program}");
    diagnostic::snapshot::fresh(path("ntt1024_spiral.b512"), &same);
    assert_eq!(assemble(&same).as_ref(), Ok(&program));
    assert_eq!(intrinsics::assemble(&intrinsics::print(&program)).as_ref(), Ok(&program));
}

#[test]
fn ntt1024_transforms() {
    transforms("ntt1024.b512");
}

#[test]
fn ntt1024_spiral_transforms() {
    transforms("ntt1024_spiral.b512");
}

fn transforms(name: &str) {
    let program = kernel(name);
    let (operation, n, q) = claim(&program);
    let psi = program.claims[0].number("root").unwrap();
    assert_eq!((operation, n), ("ntt", 1024));
    let x = splitmix((121 << 32) + 4 * 1024, q, 1024);
    let vdm = run(&program, &[("x", &x)]);
    let y = output(&program, &vdm, "y");

    // The definition: the polynomial's value at an odd power of psi.
    let powers = powers(psi, q, 2048);
    for (i, &value) in y.iter().enumerate() {
        let exponent = 2 * bit_reversed(i, 10) + 1;
        let terms = x.iter().enumerate().map(|(k, &x)| &powers[k * exponent % 2048] * x);
        assert_eq!(BigUint::from(value), terms.sum::<BigUint>() % q, "y[{i}]");
    }

    // The same input transformed by OpenFHE 1.5.1 (`ForwardTransformToBitReverseInPlace`).
    assert_eq!(y[..3], OPENFHE_HEAD);
    assert_eq!(y[1022..], OPENFHE_TAIL);
}

const OPENFHE_HEAD: [u128; 3] = [
    0x018de60f_5071b644_97ce4eb2_f82f205b,
    0x01865d08_a8420a06_0cd5d08b_b227abbc,
    0x0020c7ac_cdde821e_9725837f_463fc930,
];
const OPENFHE_TAIL: [u128; 2] =
    [0x00cb5798_15c9c416_70db5334_0d593013, 0x00ede75f_cb3bf078_7e9754b8_2519a5ca];

/// The twiddle factors in the source are psi^bitrev(j), in lines of two.
#[test]
fn the_table_of_ntt1024_is_fresh() {
    const OPEN: &str = ".words tw {\n";
    let path = path("ntt1024.b512");
    let source = std::fs::read_to_string(&path).unwrap();
    let setting = |key: &str| {
        let start = source.find(&format!(" {key}=0x")).unwrap() + key.len() + 4;
        let digits: String = source[start..].chars().take_while(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16).unwrap()
    };
    let powers = powers(setting("root"), setting("modulus"), 1024);
    let twiddles: Vec<_> = (0..1024).map(|j| format!("{:#033x}", powers[bit_reversed(j, 10)])).collect();
    let table: String = twiddles.chunks(2).map(|line| format!("    {} {}\n", line[0], line[1])).collect();

    let start = source.find(OPEN).unwrap() + OPEN.len();
    let end = start + source[start..].find('}').unwrap();
    diagnostic::snapshot::fresh(&path, format!("{}{table}{}", &source[..start], &source[end..]));
}
