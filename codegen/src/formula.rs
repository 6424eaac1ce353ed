//! Transforms as formulas, in SPIRAL's terms.
//!
//! A [`Formula`] is a product of structured n x n matrices over Z_q that acts on column vectors: in a product
//! `A B`, `B` is applied first. In text:
//!
//! ```text
//! NTT_2 (x) I_(n/2)   y[j] = x[j] + x[j + n/2], y[j + n/2] = x[j] - x[j + n/2], 0 <= j < n/2
//! L^n_m   y[i n/m + j] = x[j m + i], 0 <= i < m       1/n   division by n
//! D^n_i   diag: w^(b c n / 2^(i + 1)) at j, with k = floor(j 2^(i + 1) / n), b = floor(k / 2^i), c = k mod 2^i
//! P^n     diag: psi^j at j
//! W^n_i   diag: 1 at j < n/2, psi^bitrev(m + j mod m) at the others, m = n / 2^(i + 1)
//! T^-1    inverse of a diagonal                       prod_{i=0}^{k} (A_i)   A_0 A_1 .. A_k
//! ```
//!
//! Here psi is a primitive 2n-th root of unity and w = psi^2. `bitrev` reverses log2 n bits. Coefficients are
//! in natural order, the transformed side is in bit-reversed order:
//!
//! ```
//! use codegen::formula::Formula;
//! use codegen::plan::Algorithm;
//!
//! let forward = Formula::new(Algorithm::Forward, 10);
//! assert_eq!(forward.to_string(), "prod_{i=0}^{9} (L^1024_512 (NTT_2 (x) I_512) W^1024_i)");
//! ```
//!
//! # Formulas and plans
//!
//! The factor `L^n_{n/2} (NTT_2 (x) I_{n/2}) W^n_i` is one butterfly stage of a plan. `NTT_2 (x) I`
//! works on the topmost address bit; `L^n_{n/2}` then rotates that bit to the lowest position. A
//! pass of [`Plan::korn_lambiotte`](crate::plan::Plan::korn_lambiotte) with d stages is the product
//! of d consecutive factors. The first pass holds the rightmost d factors.
//!
//! A [derived plan](crate::plan::derive) has the stages in the same order, and places the permutations
//! itself.
//!
//! # Why each direction has one classical plan
//!
//! The Korn-Lambiotte and Pease breakdowns are transposes of each other. A Korn-Lambiotte stage works on the
//! topmost address bit and ends with `L^n_{n/2}`. A Pease stage begins with `L^n_2`, which brings the lowest
//! address bit to the top. Both breakdowns can compute both directions, but a bit reversal is the leftmost
//! factor of Korn-Lambiotte and the rightmost factor of Pease. The transformed side is in bit-reversed order,
//! so the reversal cancels in Korn-Lambiotte forward and in Pease inverse. The other two combinations would
//! need a second one. This bit reversal permutes all lanes, and the machine has no instruction for it: its
//! shuffles would cost as much as the shuffles of all stages. So Korn-Lambiotte is used forward and Pease
//! inverse; `kl` and `pease` name them.

use crate::plan::Algorithm;
use ring::Ring;
use ring::bits::bit_reverse;
use ring::modular::Modulus;
use std::fmt;

/// The constant-geometry formula of an algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formula {
    algorithm: Algorithm,
    log_n: u32,
}

/// An n x n matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    /// `NTT_2 (x) I_(n/2)`.
    Butterflies,
    /// `L^n_m` with this m.
    Stride(usize),
    /// `1/n`.
    Reciprocal,
    /// A diagonal of roots of unity.
    Diagonal(Diagonal),
    /// The inverse of a diagonal of roots of unity.
    Inverse(Diagonal),
}

/// A diagonal of roots of unity, by the index of the stage if there is one for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Diagonal {
    /// `P^n`: the twist between the negacyclic and the cyclic transform.
    Twist,
    /// `D^n_i`: the twiddle factors of a stage of a cyclic transform.
    Cyclic(u32),
    /// `W^n_i`: the twiddle factors of a stage of a negacyclic transform; they include the twist.
    Negacyclic(u32),
}

impl Formula {
    /// The formula of an algorithm for rings of 2^`log_n` elements.
    ///
    /// # Panics
    /// Panics if `log_n` is not from 1 to 30.
    pub fn new(algorithm: Algorithm, log_n: u32) -> Self {
        assert!((1..=30).contains(&log_n), "log_n must be from 1 to 30, not {log_n}");
        Self { algorithm, log_n }
    }

    /// The factors to the left of the iterated product.
    fn last(self) -> &'static [Term] {
        match self.algorithm {
            Algorithm::Forward => &[],
            Algorithm::Inverse => &[Term::Reciprocal],
            Algorithm::InverseTwisted => &[Term::Reciprocal, Term::Inverse(Diagonal::Twist)],
        }
    }

    /// The terms of factor `i` of the iterated product, from left to right.
    fn stage(self, i: u32) -> [Term; 3] {
        let from_the_end = self.log_n - 1 - i;
        match self.algorithm {
            Algorithm::Forward => {
                let diagonal = Term::Diagonal(Diagonal::Negacyclic(i));
                [Term::Stride(1 << (self.log_n - 1)), Term::Butterflies, diagonal]
            }
            Algorithm::Inverse => {
                let diagonal = Term::Inverse(Diagonal::Negacyclic(from_the_end));
                [diagonal, Term::Butterflies, Term::Stride(2)]
            }
            Algorithm::InverseTwisted => {
                let diagonal = Term::Inverse(Diagonal::Cyclic(from_the_end));
                [Term::Butterflies, diagonal, Term::Stride(2)]
            }
        }
    }

    /// The factors from left to right: the stages, and before them the twist and the division by n.
    pub fn factors(self) -> Vec<Vec<Term>> {
        let last = self.last().iter().map(|&term| vec![term]);
        last.chain((0..self.log_n).map(|i| self.stage(i).to_vec())).collect()
    }

    /// A term as text, with `index` as the index of a stage.
    fn write(self, f: &mut fmt::Formatter<'_>, term: Term, index: &str) -> fmt::Result {
        let n = 1usize << self.log_n;
        let diagonal = |f: &mut fmt::Formatter<'_>, diagonal| match diagonal {
            Diagonal::Twist => write!(f, "P^{n}"),
            Diagonal::Cyclic(_) => write!(f, "D^{n}_{index}"),
            Diagonal::Negacyclic(_) => write!(f, "W^{n}_{index}"),
        };
        match term {
            Term::Butterflies if n == 2 => f.write_str("NTT_2"),
            Term::Butterflies => write!(f, "(NTT_2 (x) I_{})", n / 2),
            Term::Stride(m) => write!(f, "L^{n}_{m}"),
            Term::Reciprocal => write!(f, "1/{n}"),
            Term::Diagonal(of) => diagonal(f, of),
            Term::Inverse(of) => {
                diagonal(f, of)?;
                f.write_str("^-1")
            }
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &term in self.last() {
            self.write(f, term, "")?;
            f.write_str(" ")?;
        }
        let last = self.log_n - 1;
        let index = match self.algorithm {
            Algorithm::Forward => "i".to_owned(),
            Algorithm::Inverse | Algorithm::InverseTwisted => format!("{{{last}-i}}"),
        };
        write!(f, "prod_{{i=0}}^{{{last}}} (")?;
        for (number, term) in self.stage(0).into_iter().enumerate() {
            f.write_str(if number > 0 { " " } else { "" })?;
            self.write(f, term, &index)?;
        }
        f.write_str(")")
    }
}

impl Term {
    /// The product with a vector of residues.
    ///
    /// # Panics
    /// Panics if the vector does not have n elements, or if the ring has no root of unity.
    pub fn apply(self, ring: &Ring, x: &[u128]) -> Vec<u128> {
        let (n, q) = (ring.len(), ring.modulus());
        assert_eq!(x.len(), n, "one element for each coefficient of the ring");
        let scaled = |of: Diagonal, sign: i64| {
            let factor =
                |index| ring.power(sign * of.exponent(n, index) as i64).expect("the ring has a root");
            x.iter().enumerate().map(|(index, &x)| q.mul(x, factor(index))).collect()
        };
        match self {
            Self::Butterflies => {
                let (low, high) = x.split_at(n / 2);
                let both = |op: fn(&Modulus, u128, u128) -> u128| {
                    low.iter().zip(high).map(move |(&a, &b)| op(q, a, b))
                };
                both(Modulus::add).chain(both(Modulus::sub)).collect()
            }
            Self::Stride(m) => (0..n).map(|row| x[row % (n / m) * m + row / (n / m)]).collect(),
            Self::Reciprocal => x.iter().map(|&x| q.mul(x, ring.inverse_degree())).collect(),
            Self::Diagonal(of) => scaled(of, 1),
            Self::Inverse(of) => scaled(of, -1),
        }
    }
}

impl Diagonal {
    /// The exponent of psi at an index.
    fn exponent(self, n: usize, index: usize) -> usize {
        match self {
            Self::Twist => index,
            Self::Cyclic(i) => {
                let block = index / (n >> (i + 1));
                (block >> i) * (block & ((1 << i) - 1)) * (n >> i)
            }
            Self::Negacyclic(_) if index < n / 2 => 0,
            Self::Negacyclic(i) => {
                let m = n >> (i + 1);
                bit_reverse(m + index % m, n.ilog2())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::Degree;

    const ALGORITHMS: [Algorithm; 3] = [Algorithm::Forward, Algorithm::Inverse, Algorithm::InverseTwisted];

    fn ring(log_n: u32) -> Ring {
        // 12289 = 3 * 2^12 + 1.
        Ring::with_smallest_root(Degree::from_log2(log_n).unwrap(), 12289).unwrap()
    }

    #[test]
    fn formulas_match_the_golden_model() {
        for log_n in 1..=6 {
            let (n, ring) = (1 << log_n, ring(log_n));
            for algorithm in ALGORITHMS {
                let formula = Formula::new(algorithm, log_n);
                let function = if algorithm == Algorithm::Forward { golden::NTT } else { golden::INTT };
                for column in 0..n {
                    let unit: Vec<u128> = (0..n).map(|row| u128::from(row == column)).collect();
                    let expected = function.result(&[&unit], n, ring.q(), ring.root().unwrap()).unwrap();
                    let factors = formula.factors().concat();
                    let y = factors.iter().rev().fold(unit, |x, term| term.apply(&ring, &x));
                    assert_eq!(y, expected, "column {column} of {formula}");
                }
            }
        }
    }

    /// Compares a factor with the loop form of a stage, as papers write it.
    #[test]
    fn a_factor_is_a_constant_geometry_stage() {
        let (n, log_n) = (32, 5);
        let ring = ring(log_n);
        let (q, root) = (ring.modulus(), ring.root().unwrap());
        let mut x: Vec<u128> = (0..n as u128).map(|i| i * i * 7 % ring.q()).collect();
        for (stage, factor) in Formula::new(Algorithm::Forward, log_n).factors().iter().rev().enumerate() {
            let m = 1 << stage;
            let mut y = vec![0; n];
            for k in 0..n / 2 {
                let t = q.mul(x[k + n / 2], q.pow(root, bit_reverse(m + k % m, log_n) as u128));
                y[2 * k] = q.add(x[k], t);
                y[2 * k + 1] = q.sub(x[k], t);
            }
            x = factor.iter().rev().fold(x, |x, term| term.apply(&ring, &x));
            assert_eq!(x, y, "stage {stage}");
        }
    }

    #[test]
    fn formulas_are_printed_in_the_notation_of_spiral() {
        assert_eq!(
            ALGORITHMS.map(|algorithm| Formula::new(algorithm, 4).to_string()),
            [
                "prod_{i=0}^{3} (L^16_8 (NTT_2 (x) I_8) W^16_i)",
                "1/16 prod_{i=0}^{3} (W^16_{3-i}^-1 (NTT_2 (x) I_8) L^16_2)",
                "1/16 P^16^-1 prod_{i=0}^{3} ((NTT_2 (x) I_8) D^16_{3-i}^-1 L^16_2)",
            ]
        );
        assert_eq!(Formula::new(Algorithm::Forward, 1).to_string(), "prod_{i=0}^{0} (L^2_1 NTT_2 W^2_i)");
    }
}
