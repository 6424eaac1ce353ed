//! Tests of rules, trees, matrices and text together.

use super::*;
use ::ring::bits::bit_reverse;
use ::ring::modular::Modulus;

/// 12289 = 3 * 2^12 + 1; 11 generates the units.
const Q: u128 = 12289;

fn ring(n: usize) -> Ring {
    let q = Modulus::new(Q).unwrap();
    Ring::new(Q, n, q.pow(11, (Q - 1) / (2 * n as u128))).unwrap()
}

fn matrix(formula: &Formula, ring: &Ring) -> Matrix {
    let dense = formula.matrix(ring).unwrap();
    let n = dense.len();
    for column in [0, 1, n / 2, n - 1] {
        let unit: Vec<u128> = (0..n).map(|row| u128::from(row == column)).collect();
        let expected: Vec<u128> = dense.iter().map(|row| row[column]).collect();
        assert_eq!(formula.apply(ring, &unit).unwrap(), expected, "column {column} of {formula}");
    }
    dense
}

fn transforms(n: usize) -> [Transform; 4] {
    let (cyclic, negacyclic) = (Transform::cyclic(n), Transform::negacyclic(n));
    [cyclic, cyclic.inverted(), negacyclic, negacyclic.inverted()]
}

#[test]
fn every_rule_keeps_the_matrix() {
    for n in [2usize, 4, 8, 16, 32, 64] {
        let ring = ring(64);
        let mut rules = vec![Rule::KornLambiotte, Rule::Pease, Rule::Twist];
        let divisors = (1..n.ilog2()).map(|log_m| 1 << log_m);
        rules.extend(
            divisors.flat_map(|m| [Rule::CooleyTukey(m), Rule::DecimationInFrequency(m), Rule::FourStep(m)]),
        );
        for transform in transforms(n) {
            let definition = Formula::Transform(transform).matrix(&ring).unwrap();
            let mut fitting = 0;
            for rule in &rules {
                if let Ok(formula) = rule.apply(transform) {
                    assert_eq!(matrix(&formula, &ring), definition, "{transform} = {formula}");
                    fitting += 1;
                }
            }
            let expected = if transform.negacyclic { 2 } else { 2 + 3 * (n.ilog2() as usize - 1) };
            assert_eq!(fitting, expected, "{transform}");
        }
    }
}

#[test]
fn inverse_transforms_invert() {
    let ring = ring(16);
    for transform in transforms(16) {
        let parts = [transform.inverted(), transform].map(Formula::Transform);
        let product = Formula::Compose([vec![Formula::Reciprocal(16)], parts.to_vec()].concat());
        assert_eq!(matrix(&product, &ring), matrix(&Formula::Identity(16), &ring));
    }
}

#[test]
fn terms_match_their_definitions() {
    let ring = ring(8);
    let x: Vec<u128> = (0..8).collect();
    let apply = |formula: Formula| formula.apply(&ring, &x).unwrap();
    assert_eq!(apply(Formula::Stride { n: 8, m: 2 }), [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(apply(Formula::Stride { n: 8, m: 4 }), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(apply(Formula::Reversal(8)), [0, 4, 2, 6, 1, 5, 3, 7]);
    let family = |family| Formula::Diagonal(Diagonal { n: 8, family, inverse: false });
    for i in 0..3u32 {
        let twiddles = Diagonal { n: 2 << i, family: Family::Twiddle(1 << i), inverse: false };
        let parts = vec![Formula::Diagonal(twiddles), Formula::Identity(4 >> i)];
        assert_eq!(
            matrix(&family(Family::Stage(Index::At(i))), &ring),
            matrix(&Formula::Tensor(parts), &ring)
        );
    }
    // W_i is block-diagonal: an identity, then 2^i copies of the same block.
    for i in 0..3u32 {
        let merged = matrix(&family(Family::Merged(Index::At(i))), &ring);
        let m = 4usize >> i;
        let q = ring.modulus;
        let factors: Matrix = (0..m)
            .map(|j| {
                let mut row = vec![0; m];
                row[j] = q.pow(ring.root, bit_reverse(m + j, 3) as u128);
                row
            })
            .collect();
        for (row, entries) in merged.iter().enumerate() {
            let expected = if row < 4 { 1 } else { factors[row % m][row % m] };
            assert_eq!(entries[row], expected);
        }
    }
    let sum = Formula::Sum(vec![Formula::Identity(4), Formula::Stride { n: 4, m: 2 }]);
    assert_eq!(apply(sum.clone()), [0, 1, 2, 3, 4, 6, 5, 7]);
    matrix(&sum, &ring);
}

#[test]
fn the_algorithms_match_the_golden_model() {
    for log_n in 1..=6 {
        let n = 1 << log_n;
        let ring = ring(n);
        for (algorithm, function) in [
            (Algorithm::Forward, golden::NTT),
            (Algorithm::Inverse, golden::INTT),
            (Algorithm::InverseTwisted, golden::INTT),
        ] {
            let formula = of(algorithm, log_n);
            let columns = (0..n).map(|column| {
                let unit: Vec<u128> = (0..n).map(|row| u128::from(row == column)).collect();
                function.result(&[&unit], n, Q, ring.root).unwrap()
            });
            let columns: Vec<Vec<u128>> = columns.collect();
            let dense = matrix(&formula, &ring);
            let transposed: Matrix = (0..n).map(|c| dense.iter().map(|row| row[c]).collect()).collect();
            assert_eq!(transposed, columns, "{formula}");
        }
    }
}

/// Compares a factor with the loop form of a stage, as papers write it.
#[test]
fn a_factor_is_a_constant_geometry_stage() {
    let (n, log_n) = (32, 5);
    let ring = ring(n);
    let q = ring.modulus;
    let mut x: Vec<u128> = (0..n as u128).map(|i| i * i * 7 % Q).collect();
    for (stage, factor) in of(Algorithm::Forward, log_n).factors().iter().rev().enumerate() {
        let m = 1 << stage;
        let mut y = vec![0; n];
        for k in 0..n / 2 {
            let exponent = bit_reverse(m + k % m, log_n);
            let t = q.mul(x[k + n / 2], q.pow(ring.root, exponent as u128));
            y[2 * k] = q.add(x[k], t);
            y[2 * k + 1] = q.sub(x[k], t);
        }
        x = factor.apply(&ring, &x).unwrap();
        assert_eq!(x, y, "{factor}");
    }
}

/// Between natural and bit-reversed order, each direction has one classical rule without reversals.
/// The other rule needs a bit reversal at both ends.
#[test]
fn each_direction_has_one_classical_rule_without_reversals() {
    let n = 16;
    let reversal = || Formula::Reversal(n);
    let forward = Transform::cyclic(n);
    for rule in [Rule::KornLambiotte, Rule::Pease] {
        let reversals = |[left, right]: [Option<Formula>; 2], transform| {
            let parts = [left, Some(rule.apply(transform).unwrap()), right];
            let formula = Formula::Compose(parts.into_iter().flatten().collect()).simplified();
            formula.factors().iter().filter(|&factor| *factor == reversal()).count()
        };
        // Forward: natural order in, bit-reversed order out. Inverse: the reverse.
        let there = reversals([Some(reversal()), None], forward);
        let back = reversals([None, Some(reversal())], forward.inverted());
        assert_eq!((there, back), if rule == Rule::Pease { (2, 0) } else { (0, 2) }, "{rule}");
    }
    // The generator merges the twist; the merged form exists for one rule per direction.
    assert!(Rule::Pease.apply(Transform::negacyclic(n)).is_err());
    assert!(Rule::KornLambiotte.apply(Transform::negacyclic(n).inverted()).is_err());
}

#[test]
fn trees_print_and_expand() {
    let tree = Tree::radix_2(Transform::cyclic(8)).unwrap();
    assert_eq!(tree.to_string(), "NTT_8: Cooley-Tukey(2)\n  NTT_4: Cooley-Tukey(2)");
    assert_eq!(
        tree.expand().to_string(),
        "(NTT_2 (x) I_4) T^8_4 (I_2 (x) ((NTT_2 (x) I_2) T^4_2 (I_2 (x) NTT_2) L^4_2)) L^8_2"
    );
    let cyclic = Transform::cyclic(16);
    let four = Tree::radix_2(Transform::cyclic(4)).unwrap();
    let branches = vec![four, Tree::new(Transform::cyclic(4), Rule::Pease, Vec::new()).unwrap()];
    let inner = Tree::new(cyclic, Rule::FourStep(4), branches).unwrap();
    let tree = Tree::new(Transform::negacyclic(16), Rule::Twist, vec![inner]).unwrap();
    assert_eq!(
        tree.to_string(),
        "nNTT_16: twist\n  NTT_16: four-step(4)\n    NTT_4: Cooley-Tukey(2)\n    NTT_4: Pease"
    );
    let ring = ring(16);
    let definition = Formula::Transform(Transform::negacyclic(16));
    assert_eq!(matrix(&tree.expand(), &ring), matrix(&definition, &ring));
    assert_eq!(
        of(Algorithm::InverseTwisted, 4).to_string(),
        "1/16 P^16^-1 prod_{i=0}^{3} ((NTT_2 (x) I_8) D^16_{3-i}^-1 L^16_2)"
    );
    assert_eq!(
        of(Algorithm::Inverse, 4).to_string(),
        "1/16 prod_{i=0}^{3} (W^16_{3-i}^-1 (NTT_2 (x) I_8) L^16_2)"
    );
    assert_eq!(
        Rule::KornLambiotte.apply(cyclic).unwrap().to_string(),
        "R^16_2 prod_{i=0}^{3} (L^16_8 D^16_i (NTT_2 (x) I_8))"
    );
}

#[test]
fn invalid_formulas_are_rejected() {
    let ring = ring(8);
    let error = |formula: Formula| formula.matrix(&ring).unwrap_err().to_string();
    assert_eq!(
        error(Formula::Stride { n: 8, m: 3 }),
        "invalid formula `L^8_3`: the stride must divide the size"
    );
    assert_eq!(
        error(Formula::Compose(vec![Formula::Identity(4), Formula::Reversal(8)])),
        "invalid formula `I_4 R^8_2`: a product needs factors of one size"
    );
    assert_eq!(
        error(Formula::Transform(Transform::negacyclic(16))),
        "`nNTT_16` needs roots of order 32, but the ring's root has order 16"
    );
    assert_eq!(
        error(Formula::Diagonal(Diagonal { n: 8, family: Family::Stage(Index::Ascending), inverse: false })),
        "invalid formula `D^8_i`: its index is outside an iterated product"
    );
    assert_eq!(
        Rule::CooleyTukey(8).apply(Transform::cyclic(8)).unwrap_err().to_string(),
        "Cooley-Tukey(8) does not apply to NTT_8: the rule needs a factor m that is a power of two, at \
         least 2 and below n"
    );
    assert_eq!(
        Tree::new(Transform::cyclic(8), Rule::CooleyTukey(2), Vec::new()).unwrap_err().to_string(),
        "Cooley-Tukey(2) of NTT_8 leaves [NTT_4], but the tree has []"
    );
    assert_eq!(
        Ring::new(Q, 8, 11).unwrap_err().to_string(),
        "0xb is not a primitive 16-th root of unity modulo 0x3001"
    );
}

#[test]
fn formulas_and_algorithms_have_the_same_stages() {
    for log_n in 1..=17 {
        for algorithm in [Algorithm::Forward, Algorithm::Inverse, Algorithm::InverseTwisted] {
            let formula = of(algorithm, log_n);
            assert_eq!(stages(&formula), algorithm.stages(log_n), "{formula}");
        }
    }
}
