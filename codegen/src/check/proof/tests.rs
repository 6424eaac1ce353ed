//! Words that pass from one tower to another; and what makes code, claims and rings valid.

use super::Proof;
use crate::check;
use crate::code::{BufferId, Claim, Code, Constant, Inst, MemRef, Tower, TowerId, ValueId};
use crate::number::{Expression, Number};
use crate::parameters::Parameters;
use b512_asm::{AddressMode, Op, Role};
use ring::modular::Modulus;

const N: u32 = 1024;
/// Odd, and without a common factor.
const A: u128 = (1 << 90) + 1;
const B: u128 = (1 << 60) + 33;
const C: u128 = (1 << 61) - 1;

/// Code over three rings.
fn code() -> (Code, [TowerId; 3]) {
    let mut code = Code::default();
    let towers = [A, B, C].map(|modulus| code.tower(Tower { n: N, modulus, root: 0 }));
    (code, towers)
}

/// Appends the loop over the vectors of some inputs.
fn each_vector<const I: usize>(
    code: &mut Code,
    inputs: [(BufferId, TowerId); I],
    (output, tower): (BufferId, TowerId),
    compute: impl Fn(&mut Code, [crate::code::ValueId; I]) -> crate::code::ValueId,
) {
    for word in (0..N).step_by(512) {
        let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
        let values = inputs.map(|(buffer, tower)| code.load(at(buffer), tower));
        let result = compute(code, values);
        code.store(result, at(output), tower);
    }
}

fn interpret(proof: &mut Proof<'_>) -> Result<(), check::LoweringFault> {
    let code = proof.code;
    (0..).zip(&code.insts).try_for_each(|(number, inst)| proof.step(number, inst))
}

/// x of tower A times one in tower B is x reduced.
#[test]
fn a_multiplication_reduces_a_word_of_another_tower() {
    let (mut code, [a, b, _]) = code();
    let x = code.buffer("x", N, Role::Input, a);
    let y = code.buffer("y", N, Role::Output, b);
    let one = code.number(Expression::Value(1));
    each_vector(&mut code, [(x, a)], (y, b), |code, [x]| code.scale(x, one, b));

    let mut proof = Proof::new(&code).unwrap();
    let polynomial = proof.domain.input(x);
    assert!(proof.assume(x, polynomial.coefficients()));
    interpret(&mut proof).unwrap();
    let reduced = proof.domain.reduced(polynomial, b);
    assert_eq!(proof.require("reduction", y, reduced.coefficients()), Ok(()));
    // The unreduced word is another element.
    assert!(proof.require("copy", y, polynomial.coefficients()).is_err());
}

/// A base conversion from B and C to A: the sum of `[x_i / Q_i] mod q_i` times `Q_i`.
#[test]
fn a_base_conversion_is_proved() {
    let (mut code, [a, b, c]) = code();
    let inputs =
        [("x0", b), ("x1", c)].map(|(name, tower)| (code.buffer(name, N, Role::Input, tower), tower));
    let y = code.buffer("y", N, Role::Output, a);
    // Q / q_i is the other modulus.
    let [other_of_b, other_of_c] = [C, B].map(Expression::Value);
    let inverses =
        [&other_of_b, &other_of_c].map(|of| code.number(Expression::Inverse(Box::new(of.clone()))));
    let factors = [other_of_b, other_of_c].map(|of| code.number(of));
    each_vector(&mut code, inputs, (y, a), |code, [x0, x1]| {
        let [x0, x1] = [(x0, b, 0), (x1, c, 1)].map(|(x, tower, i)| {
            let digit = code.scale(x, inverses[i], tower);
            code.scale(digit, factors[i], a)
        });
        // In the reverse order of the sum that is required.
        code.apply(Op::Vadd, [x1, x0], None, a)
    });

    let mut proof = Proof::new(&code).unwrap();
    let domain = &mut proof.domain;
    let polynomials = inputs.map(|(buffer, _)| domain.input(buffer));
    let [y0, y1] = [0, 1].map(|i| {
        let inverse = if i == 0 { C % B } else { B % C };
        let inverse = Modulus::new([B, C][i]).unwrap().inverse(inverse).unwrap();
        let digit = domain.multiple(polynomials[i], inverse);
        let reduced = domain.reduced(digit, a);
        domain.multiple(reduced, [C, B][i])
    });
    let sum = domain.sum(y0, y1);
    for (i, (buffer, _)) in inputs.into_iter().enumerate() {
        proof.assume(buffer, polynomials[i].coefficients());
    }
    interpret(&mut proof).unwrap();
    assert_eq!(proof.require("conversion", y, sum.coefficients()), Ok(()));
    let fault = proof.require("conversion", y, y0.coefficients()).unwrap_err().to_string();
    assert!(fault.contains(&format!(" mod {A:#x})")), "{fault}");
}

/// Only the multiplicand of a multiplication may be a word of another tower.
#[test]
fn sums_of_words_of_different_towers_are_refused() {
    let (mut code, [a, b, _]) = code();
    let (x, z) = (code.buffer("x", N, Role::Input, a), code.buffer("z", N, Role::Input, b));
    let y = code.buffer("y", N, Role::Output, b);
    for (op, sources, accepted) in
        [(Op::Vadd, [x, z], false), (Op::Vmul, [z, x], false), (Op::Vmul, [x, z], true)]
    {
        let mut code = code.clone();
        let tower = |buffer| if buffer == x { a } else { b };
        let inputs = sources.map(|buffer| (buffer, tower(buffer)));
        each_vector(&mut code, inputs, (y, b), |code, values| code.apply(op, values, None, b));
        let mut proof = Proof::new(&code).unwrap();
        for buffer in [x, z] {
            let polynomial = proof.domain.input(buffer);
            proof.assume(buffer, polynomial.coefficients());
        }
        assert_eq!(interpret(&mut proof).is_ok(), accepted, "{op:?} {sources:?}");
    }
}

/// A power of psi may also be written as a multiple.
#[test]
fn a_number_without_a_value_is_refused() {
    let mut code = Code::default();
    let tower = code.tower(Tower { n: N, modulus: 15, root: 0 });
    let x = code.buffer("x", N, Role::Input, tower);
    let y = code.buffer("y", N, Role::Output, tower);
    let third: Number = code.number(Expression::Inverse(Box::new(Expression::Value(3))));
    each_vector(&mut code, [(x, tower)], (y, tower), |code, [x]| code.scale(x, third, tower));
    let mut proof = Proof::new(&code).unwrap();
    let polynomial = proof.domain.input(x);
    proof.assume(x, polynomial.coefficients());
    let fault = interpret(&mut proof).unwrap_err().to_string();
    assert_eq!(fault, "instruction 1: `vmuls` uses a number that has no value");
}

/// The defects of an instruction, each in a copy of code that loads, scales and stores a vector.
#[test]
fn malformed_instructions_are_refused() {
    let mut code = Code::default();
    let tower = code.tower(Tower { n: N, modulus: B, root: 0 });
    let x = code.buffer("x", N, Role::Input, tower);
    let y = code.buffer("y", N, Role::Output, tower);
    let two = code.number(Expression::Value(2));
    each_vector(&mut code, [(x, tower)], (y, tower), |code, [x]| code.scale(x, two, tower));
    let fault = |change: &dyn Fn(&mut Code)| {
        let mut code = code.clone();
        change(&mut code);
        let mut proof = Proof::new(&code).unwrap();
        let polynomial = proof.domain.input(x);
        proof.assume(x, polynomial.coefficients());
        interpret(&mut proof).err().map_or_else(String::new, |fault| fault.to_string())
    };
    assert_eq!(fault(&|_| {}), "");
    let spare = ValueId(code.values);
    let changes: [&dyn Fn(&mut Inst); 3] = [
        &|inst| inst.sources = [ValueId(0), ValueId(0)].into(),
        &|inst| inst.results = [ValueId(1), spare].into(),
        &|inst| inst.scalar = None,
    ];
    for change in changes {
        let changed = fault(&|code| {
            code.values += 1;
            change(&mut code.insts[1]);
        });
        assert_eq!(changed, "instruction 1: `vmuls` has another number of operands");
    }
    for (length, accepted) in [(1, true), (3, false), (512, true), (1024, false)] {
        let changed = fault(&|code| {
            let constant = code.constant(Constant { tower, numbers: vec![two; length] });
            let inst = &mut code.insts[1];
            (inst.op, inst.scalar, inst.constant) = (Op::Vmul, None, Some(constant));
        });
        let message = "instruction 1: `vmul` has a constant that does not fill a vector";
        assert_eq!(changed, if accepted { "" } else { message });
    }
    let beyond = fault(&|code| code.insts[0].memory.as_mut().unwrap().word = N - 511);
    assert_eq!(beyond, "instruction 0, lane 511: word 1024 is beyond buffer `x`");
}

type Use<'a> = &'a dyn Fn(&mut Code, TowerId);

/// A claim about a ring needs its psi, and so does a number that is a power of it. Other towers need none.
#[test]
fn a_root_is_checked_if_the_proof_needs_it() {
    let root = Number::Root { exponent: 1, scaled: false };
    let uses: [Use<'_>; 3] = [
        &|code, tower| _ = code.scalar(tower, root),
        &|code, tower| _ = code.constant(Constant { tower, numbers: vec![root] }),
        &|code, tower| {
            let x = code.buffer("x", N, Role::Input, tower);
            let y = code.buffer("y", N, Role::Output, tower);
            code.claims.push(Claim::of(golden::NTT, vec![y], vec![x], Parameters::default()));
        },
    ];
    for uses_root in uses {
        let fault = |used: usize| {
            let mut code = Code::default();
            let towers = [7, 1].map(|root| code.tower(Tower { n: N, modulus: 12289, root }));
            let two = code.number(Expression::Value(2));
            for tower in towers {
                code.scalar(tower, two);
                code.constant(Constant { tower, numbers: vec![two] });
            }
            uses_root(&mut code, towers[used]);
            Proof::new(&code).err().map_or_else(String::new, |fault| fault.to_string())
        };
        assert_eq!(fault(0), "");
        assert_eq!(fault(1), "tower 1: 0x1 is not a primitive 2048-th root of unity modulo 0x3001");
    }
}

#[test]
fn moduli_and_roots_are_those_of_transforms() {
    let check = |n, modulus, root| {
        let mut code = Code::default();
        let tower = code.tower(Tower { n, modulus, root });
        let domain = Proof::new(&code).map_err(|fault| fault.to_string())?.domain;
        Ok(domain.has_root(tower))
    };
    assert_eq!(check(N, 12289, 7), Ok(true));
    // An order too small; a number that is not reduced; psi^n is -1 but n is not a power of two.
    assert_eq!(
        [check(N, 12289, 1), check(N, 12289, 12289 + 7), check(6, 13, 2)],
        [Ok(false), Ok(false), Ok(false)]
    );
    // The longest transform has 2^29 points; this modulus has roots for more.
    let q = (1 << 64) - (1 << 32) + 1;
    let power = |log_order: u32| Modulus::new(q).unwrap().pow(7, (q - 1) >> log_order);
    assert_eq!([check(1 << 29, q, power(30)), check(1 << 30, q, power(31))], [Ok(true), Ok(false)]);
    let message = "tower 0: the modulus 0xa must be odd and at least 3";
    assert_eq!(check(N, 10, 3), Err(message.to_owned()));
}

/// A buffer that several claims read has one content.
#[test]
fn claims_agree_on_the_content_of_a_buffer() {
    let (mut code, [a, ..]) = code();
    let x = code.buffer("x", N, Role::Input, a);
    let mut proof = Proof::new(&code).unwrap();
    let polynomial = proof.domain.input(x);
    assert!(proof.assume(x, polynomial.coefficients()));
    assert!(proof.assume(x, polynomial.coefficients()));
    assert!(!proof.assume(x, polynomial.evaluations()));
}
