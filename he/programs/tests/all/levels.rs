//! Levels of several moduli, and rescales by quotients of products, on integers of any size.

use num_bigint::{BigInt, BigUint};
use programs::{Circuit, DATAFLOWS, Error, Options, ParameterSet, Scale, find_program, generate};
use ring::Ring;
use ring::host::Ntt;
use ring_program::{Inputs, RingProgram, execute};

/// Levels of one, two and three moduli more; a level without a terminal modulus of the one below it; digits
/// of two.
const SET: &str = "n = 64\nterminal = [{ bits = 25, count = 2 }]\nq = [{ bits = 30, count = 8 }]\n\
    levels = [[1, 0], [0, 2], [3, 0], [2, 2], [5, 0], [8, 2]]\np = [{ bits = 31, count = 2 }]\ndigits = 5\n\
    security = \"none\"\n";

fn set(text: &str) -> ParameterSet {
    ParameterSet::parse("levels", "levels.toml", text, None).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(program: &RingProgram) -> (Vec<Vec<u128>>, Vec<Vec<Vec<u128>>>) {
    let mut inputs = Inputs::new(program);
    inputs.fill(7);
    let first = &program.inputs()[0];
    let words = first.limbs.iter().map(|&limb| inputs.words(limb).unwrap().to_vec()).collect();
    let outputs = execute(&inputs).unwrap();
    (words, outputs.iter().map(|limbs| limbs.iter().map(|words| words.to_vec()).collect()).collect())
}

/// The coefficients of a polynomial, from 0 to the product of its moduli.
fn integers(set: &ParameterSet, moduli: &[u128], limbs: &[Vec<u128>]) -> Vec<BigInt> {
    let all: BigUint = moduli.iter().map(|&q| BigUint::from(q)).product();
    let mut sums = vec![BigUint::ZERO; set.degree().len()];
    for (&q, limb) in moduli.iter().zip(limbs) {
        let mut limb = limb.clone();
        let ring = Ring::with_smallest_root(set.degree(), q).unwrap();
        Ntt::for_ring(&ring).unwrap().inverse(&mut limb);
        let cofactor = &all / q;
        let unit = &cofactor * cofactor.modpow(&BigUint::from(q - 2), &BigUint::from(q));
        sums.iter_mut().zip(&limb).for_each(|(sum, &word)| *sum += &unit * word);
    }
    sums.into_iter().map(|sum| BigInt::from(sum % &all)).collect()
}

fn product(moduli: &[u128]) -> BigInt {
    moduli.iter().map(|&q| BigInt::from(q)).product()
}

/// The representative from -(m - 1)/2 to (m - 1)/2, for an odd m.
fn centred(x: &BigInt, m: &BigInt) -> BigInt {
    let x = ((x % m) + m) % m;
    if &x * 2 > *m { x - m } else { x }
}

/// (U x - t [t^-1 U x]_D)/D for the moduli D that the level below lacks, and the moduli U that only it has.
/// With t = 1 this is the integer next to U x/D.
#[test]
fn rescales_round_exactly_at_every_level() {
    for t in [1_u64, 65537] {
        let text = if t > 1 { format!("{SET}plaintext_modulus = {t}\n") } else { SET.to_owned() };
        let set = set(&text);
        for level in 2..=set.levels() {
            let program = find_program("rescale").unwrap();
            let program = generate(&program, &set, &Options::of([("level", level.to_string())])).unwrap();
            let (input, outputs) = run(&program);
            let (above, below) = (set.level_moduli(level), set.level_moduli(level - 1));
            let only =
                |a: &[u128], b: &[u128]| a.iter().copied().filter(|q| !b.contains(q)).collect::<Vec<_>>();
            let (d, u) = (product(&only(&above, &below)), product(&only(&below, &above)));
            let q = product(&below);
            let inverse = BigInt::from(t).modinv(&d).unwrap();
            let expected = integers(&set, &above, &input).into_iter().map(|x| {
                let x = x * &u;
                let multiple = &x - t * centred(&(&x * &inverse), &d);
                assert_eq!(&multiple % &d, BigInt::ZERO);
                ((multiple / &d % &q) + &q) % &q
            });
            let found = integers(&set, &below, &outputs[0]);
            assert!(expected.eq(found), "level {level}, t = {t}");
        }
    }
}

#[test]
fn dataflows_agree_at_every_level() {
    let set = set(SET);
    for (program, level) in
        ["hmult", "hrot"].into_iter().flat_map(|name| (2..=6).map(move |level| (name, level)))
    {
        let mut results = DATAFLOWS.iter().map(|dataflow| {
            let options = Options::of([("level", level.to_string()), ("dataflow", dataflow.name.to_owned())]);
            run(&generate(&find_program(program).unwrap(), &set, &options).unwrap()).1
        });
        let first = results.next().unwrap();
        assert!(results.all(|other| other == first), "{program} at level {level}");
    }
}

/// Levels that have moduli of others cost nothing, others a change of scale.
#[test]
fn a_lower_level_keeps_the_scale() {
    let set = set(SET);
    for level in 1..=5 {
        let mut c = Circuit::new("lower", &set);
        c.stage("lower", 6);
        let x = c.input_at("x", 6, Scale::power_of_two(40)).unwrap();
        let lower = c.at(&x, level).unwrap();
        assert_eq!((lower.level(), lower.scale()), (level, x.scale()));
        c.output("y", &lower).unwrap();
        assert_eq!(c.finish().ledger.total().transforms, 0, "{level}");
    }
    // From (5, 0): to (2, 2) it drops three moduli and adds two.
    let mut c = Circuit::new("lower", &set);
    c.stage("lower", 5);
    let x = c.input_at("x", 5, Scale::power_of_two(40)).unwrap();
    let lower = c.at(&x, 4).unwrap();
    assert_eq!((lower.level(), lower.scale()), (4, x.scale()));
    // From (5, 0) to (0, 2): what it has for nothing above is (3, 0).
    let lowest = c.at(&x, 2).unwrap();
    assert_eq!((lowest.level(), lowest.scale()), (2, x.scale()));
    assert!(matches!(c.at(&x, 6).unwrap_err(), Error::TooLow { level: 5, needed: 6, .. }));
    c.output("y", &lower).unwrap();
    c.output("z", &lowest).unwrap();
    assert_eq!(c.finish().ledger.total().transforms, 2 * (3 + 4) + 2 * (3 + 2));
}

/// Scales are exact quotients of products.
#[test]
fn a_rescale_divides_the_scale_by_a_quotient() {
    let set = set(SET);
    let mut c = Circuit::new("scales", &set);
    let x = c.input_at("x", 5, Scale::power_of_two(100)).unwrap();
    let y = c.rescale(&x).unwrap();
    let quotient = c.modulus(5).over(&c.modulus(4));
    assert_eq!((y.scale(), c.divisor(5)), (&x.scale().over(&quotient), quotient.clone()));
    assert!((quotient.log2() - 40.0).abs() < 0.01, "{quotient}");
}

#[test]
fn levels_that_a_set_cannot_have_are_errors() {
    let error = |from: &str, to: &str| {
        let text = SET.replace(from, to);
        ParameterSet::parse("levels", "levels.toml", &text, None).unwrap_err().to_string()
    };
    let levels = "levels = [[1, 0], [0, 2], [3, 0], [2, 2], [5, 0], [8, 2]]";
    assert!(error(levels, "").contains("terminal moduli without levels"));
    assert!(error("[8, 2]]", "[8, 1]]").contains("the highest level lacks some of the 10 moduli"));
    assert!(error("[8, 2]]", "[9, 2]]").contains("a level of 9 moduli of q"));
    assert!(error("[2, 2]", "[1, 2]").contains("level 4 has no more moduli than the one below"));
    assert!(error(levels, "levels = [0, [8, 2]]").contains("0"));
}
