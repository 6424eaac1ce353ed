//! Breakdown rules and rule trees.

use super::ring::is_size;
use super::{Diagonal, Family, Formula, FormulaError, Index, Transform};
use std::fmt;

/// A breakdown rule: it expresses a transform in terms of smaller transforms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// `NTT_mk = (NTT_m (x) I_k) T^mk_k (I_m (x) NTT_k) L^mk_m`. The field is m.
    CooleyTukey(usize),
    /// The transpose of Cooley-Tukey: `NTT_mk = L^mk_k (I_m (x) NTT_k) T^mk_k (NTT_m (x) I_k)`.
    DecimationInFrequency(usize),
    /// `NTT_mk = (NTT_m (x) I_k) T^mk_k L^mk_m (NTT_k (x) I_m)`: column transforms, one
    /// transposition, and column transforms again.
    FourStep(usize),
    /// The paper's rule, `NTT_n = R^n_2 prod (L^n_{n/2} D^n_i (NTT_2 (x) I_{n/2}))`. For the
    /// negacyclic transform, `nNTT_n = R^n_2 prod (L^n_{n/2} (NTT_2 (x) I_{n/2}) W^n_i)`.
    KornLambiotte,
    /// The transpose of Korn-Lambiotte, `NTT_n = prod ((NTT_2 (x) I_{n/2}) D^n_{k-1-i} L^n_2) R^n_2`
    /// with k = log2 n. For the inverse negacyclic transform, the inverse of Korn-Lambiotte,
    /// `inNTT_n = prod (W^n_{k-1-i}^-1 (NTT_2 (x) I_{n/2}) L^n_2) R^n_2`.
    Pease,
    /// `nNTT_n = NTT_n P^n` and `inNTT_n = P^n^-1 iNTT_n`.
    Twist,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CooleyTukey(m) => write!(f, "Cooley-Tukey({m})"),
            Self::DecimationInFrequency(m) => write!(f, "decimation-in-frequency({m})"),
            Self::FourStep(m) => write!(f, "four-step({m})"),
            Self::KornLambiotte => f.write_str("Korn-Lambiotte"),
            Self::Pease => f.write_str("Pease"),
            Self::Twist => f.write_str("twist"),
        }
    }
}

impl Rule {
    /// Rewrites a transform.
    ///
    /// # Errors
    /// Returns an error if the rule does not apply to the transform.
    pub fn apply(self, transform: Transform) -> Result<Formula, FormulaError> {
        let Transform { n, inverse, negacyclic } = transform;
        let refuse = |needs| Err(FormulaError::Rule { rule: self, transform, needs });
        if !is_size(n) || n < 2 {
            return refuse("a power of two from 2 to 2^30 points");
        }
        let ntt = |n| {
            let part = Transform { n, inverse, negacyclic: false };
            Formula::Transform(if n == 2 { Transform::cyclic(2) } else { part })
        };
        let id = Formula::Identity;
        let diagonal = |family| Formula::Diagonal(Diagonal { n, family, inverse });
        let tensor = |left, right| Formula::Tensor(vec![left, right]);
        let stride = |m| Formula::Stride { n, m };
        let count = n.ilog2();
        let product = |factors| Formula::Product { count, factor: Box::new(Formula::Compose(factors)) };
        let butterflies = || if n == 2 { ntt(2) } else { tensor(ntt(2), id(n / 2)) };
        Ok(Formula::Compose(match (self, negacyclic) {
            (Self::CooleyTukey(m) | Self::DecimationInFrequency(m) | Self::FourStep(m), false) => {
                if m < 2 || m >= n || !m.is_power_of_two() {
                    return refuse("a factor m that is a power of two, at least 2 and below n");
                }
                let k = n / m;
                let (outer, twiddles) = (tensor(ntt(m), id(k)), diagonal(Family::Twiddle(k)));
                match self {
                    Self::CooleyTukey(_) => vec![outer, twiddles, tensor(id(m), ntt(k)), stride(m)],
                    Self::FourStep(_) => vec![outer, twiddles, stride(m), tensor(ntt(k), id(m))],
                    _ => vec![stride(k), tensor(id(m), ntt(k)), twiddles, outer],
                }
            }
            (Self::KornLambiotte, false) => {
                let stage = diagonal(Family::Stage(Index::Ascending));
                vec![Formula::Reversal(n), product(vec![stride(n / 2), stage, butterflies()])]
            }
            (Self::KornLambiotte, true) if !inverse => {
                let stage = diagonal(Family::Merged(Index::Ascending));
                vec![Formula::Reversal(n), product(vec![stride(n / 2), butterflies(), stage])]
            }
            (Self::Pease, false) => {
                let stage = diagonal(Family::Stage(Index::Descending));
                vec![product(vec![butterflies(), stage, stride(2)]), Formula::Reversal(n)]
            }
            (Self::Pease, true) if inverse => {
                let stage = diagonal(Family::Merged(Index::Descending));
                vec![product(vec![stage, butterflies(), stride(2)]), Formula::Reversal(n)]
            }
            (Self::Twist, true) if inverse => vec![diagonal(Family::Twist), ntt(n)],
            (Self::Twist, true) => vec![ntt(n), diagonal(Family::Twist)],
            (Self::Twist, false) => return refuse("a negacyclic transform"),
            (Self::KornLambiotte, true) => return refuse("a cyclic or a forward transform"),
            (Self::Pease, true) => return refuse("a cyclic or an inverse transform"),
            (_, true) => return refuse("a cyclic transform; apply the twist first"),
        }))
    }
}

/// A transform and its breakdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    transform: Transform,
    rule: Option<(Rule, Vec<Self>)>,
}

impl Tree {
    /// A transform without a breakdown.
    pub fn leaf(transform: Transform) -> Self {
        Self { transform, rule: None }
    }

    /// A transform broken down by `rule`. `branches` are the trees of the smaller transforms, from
    /// left to right. `NTT_2` needs no branch.
    ///
    /// # Errors
    /// Returns an error if the rule does not apply to the transform, or if the branches differ from
    /// the transforms that the rule leaves.
    pub fn new(transform: Transform, rule: Rule, branches: Vec<Self>) -> Result<Self, FormulaError> {
        let expected = rule.apply(transform)?.open();
        let found: Vec<Transform> = branches.iter().map(|branch| branch.transform).collect();
        if expected != found {
            let text =
                |list: &[Transform]| list.iter().map(Transform::to_string).collect::<Vec<_>>().join(", ");
            let (expected, found) = (text(&expected), text(&found));
            return Err(FormulaError::Branches { rule, transform, expected, found });
        }
        Ok(Self { transform, rule: Some((rule, branches)) })
    }

    /// The radix-2 Cooley-Tukey tree of a cyclic transform.
    ///
    /// # Errors
    /// Returns an error if the transform is not cyclic or its size is not a power of two of at least 2.
    pub fn radix_2(transform: Transform) -> Result<Self, FormulaError> {
        if transform.is_butterfly() {
            return Ok(Self::leaf(transform));
        }
        let half = Transform { n: transform.n / 2, ..transform };
        let branches = if half.is_butterfly() { Vec::new() } else { vec![Self::radix_2(half)?] };
        Self::new(transform, Rule::CooleyTukey(2), branches)
    }

    /// Expands the tree to a formula.
    pub fn expand(&self) -> Formula {
        match &self.rule {
            None => Formula::Transform(self.transform),
            Some((rule, branches)) => {
                let formula = rule.apply(self.transform).expect("`new` has applied it");
                formula.fill(&mut branches.iter().map(Self::expand)).simplified()
            }
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        write!(f, "{:1$}{2}", "", 2 * depth, self.transform)?;
        let Some((rule, branches)) = &self.rule else { return Ok(()) };
        write!(f, ": {rule}")?;
        branches.iter().try_for_each(|branch| {
            f.write_str("\n")?;
            branch.write(f, depth + 1)
        })
    }
}

/// Writes one line per transform; branches are indented below it.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
