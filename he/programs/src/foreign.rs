//! What the programs of all other compilers need: a parameter set from their numbers, and sums of nearly one
//! scale.

use crate::ParameterSet;
use crate::circuit::Ciphertext;
use crate::scale::Scale;
use crate::set::SETS;
use std::fmt::Write as _;

/// The set whose settings bootstraps have.
pub(crate) const BOOTSTRAP_SET: &str = "lattigo-n16qp1546";

/// The most operations on ciphertexts, of which each has many lines; assumed.
pub(crate) const MOST_ENCRYPTED: usize = 1 << 18;

/// The largest relative difference of the scales of summands: an error of this size is noted, a larger one
/// refused. Assumed.
const WORST_SUM: f64 = 1.0 / 65_536.0;

/// Scales with a smaller relative difference are equal: what is left of rounding to [`SCALE_BITS`].
const EQUAL: f64 = 1e-30;

/// The bits of a scale that are kept: squares of squares of exact ones grow without bound.
pub(crate) const SCALE_BITS: u32 = 256;

/// The parameters of a file.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    /// The name of the set.
    pub(crate) name: String,
    /// What the values are, for the sources of the set.
    pub(crate) origin: String,
    pub(crate) n: u64,
    /// The moduli of ciphertexts, q_0 first.
    pub(crate) q: Vec<u128>,
    /// The special moduli.
    pub(crate) p: Vec<u128>,
    pub(crate) hamming_weight: Option<u64>,
    /// The settings of bootstraps, whose moduli are among those above.
    pub(crate) bootstrap: Option<Messages>,
}

/// The messages of bootstraps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Messages {
    /// log2 of their scale.
    pub(crate) scale_bits: u32,
    /// log2 of q_0 over the scale at the mod-raise.
    pub(crate) ratio_bits: u32,
}

impl Parameters {
    /// The parameter set, at another degree if `n` is given. Other settings of bootstraps than the messages
    /// are those of [`BOOTSTRAP_SET`].
    ///
    /// # Errors
    /// Returns why no set has the values.
    pub(crate) fn set(&self, n: Option<u64>) -> Result<ParameterSet, String> {
        let list = |moduli: &[u128]| {
            moduli.iter().map(|modulus| format!("\"{modulus}\"")).collect::<Vec<_>>().join(", ")
        };
        let digits = digits(&self.q, &self.p);
        let (own, q, p) = (self.n, list(&self.q), list(&self.p));
        let head = format!("n = {own}\nq = [{q}]\np = [{p}]\ndigits = {digits}\n");
        let mut rest = String::new();
        if let Some(weight) = self.hamming_weight {
            let _ = writeln!(rest, "hamming_weight = {weight}");
        }
        if let Some(Messages { scale_bits, ratio_bits }) = self.bootstrap {
            let text = SETS.iter().find(|(name, _)| *name == BOOTSTRAP_SET).expect("a built-in set").1;
            let table = text.split_once("[bootstrap]").expect("a table").1;
            let table = table.split("[sources]").next().unwrap_or(table);
            let lines = table
                .lines()
                .filter(|line| !line.starts_with("scale_bits") && !line.starts_with("message_ratio"));
            let _ =
                writeln!(rest, "[bootstrap]\nscale_bits = {scale_bits}\nmessage_ratio_bits = {ratio_bits}");
            lines.for_each(|line| rest += &format!("{line}\n"));
        }
        let origin = diagnostic::one_line(&self.origin).replace(['"', '\\'], "'");
        let sources = format!("[sources]\nn = \"{origin}\"\nq = \"as n\"\n");
        let parse = |security: &str| {
            let text = format!("{head}{security}{rest}{sources}");
            ParameterSet::parse(&self.name, &self.name, &text, n)
        };
        let set = parse("").or_else(|_| parse("security = \"none\"\n"));
        set.map_err(|errors| {
            let reason = errors.iter().next().map_or_else(String::new, |error| error.message.clone());
            format!("no parameter set has these values: {reason}")
        })
    }
}

/// The fewest digits of which none is above P.
fn digits(q: &[u128], p: &[u128]) -> usize {
    let size = |moduli: &[u128]| moduli.iter().map(|&modulus| log2(modulus)).sum::<f64>();
    let fits = |digits: &usize| {
        let each = q.len().div_ceil(*digits);
        // Each digit has a modulus.
        q.len().div_ceil(each) == *digits && q.chunks(each).all(|digit| size(digit) <= size(p) + 0.01)
    };
    (1..=q.len()).find(fits).unwrap_or(q.len())
}

pub(crate) fn log2(modulus: u128) -> f64 {
    (modulus as f64).log2()
}

/// The summand `b` of one level with `a`, read with the scale of `a`, and by how much this is wrong. `None`
/// if the levels or the scales differ too much.
pub(crate) fn summand(a: &Ciphertext, b: Ciphertext) -> Option<(Ciphertext, f64)> {
    let difference = (a.scale().over(b.scale()).to_f64() - 1.0).abs();
    if a.level() != b.level() || difference.is_nan() || difference > WORST_SUM {
        return None;
    }
    // Less is the rounding of scales.
    let difference = if difference > EQUAL { difference } else { 0.0 };
    Some((b.with_scale(a.scale().clone()), difference))
}

/// log2 of the moduli of the level of a ciphertext, if its scale leaves no room for a message.
pub(crate) fn overfull(a: &Ciphertext, q: &[u128]) -> Option<f64> {
    let room = q[..a.level()].iter().map(|&modulus| log2(modulus)).sum();
    (a.scale().log2() >= room).then_some(room)
}

/// Why the largest of some numbers, times a scale, is no message modulo the product of some moduli.
pub(crate) fn beyond(numbers: impl Iterator<Item = f64>, scale: &Scale, q: &[u128]) -> Option<String> {
    let largest = numbers.map(f64::abs).fold(0.0, f64::max);
    // Residues are from -Q/2 on.
    let room: f64 = q.iter().map(|&modulus| log2(modulus)).sum();
    (largest.log2() + scale.log2() >= room - 1.0)
        .then(|| format!("{largest:e} with the scale {scale} is beyond its moduli, 2^{room:.6}"))
}
