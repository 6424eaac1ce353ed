//! Host side of the fields in `cuda/*.cu`: the table entries and constants of each strategy.

use crate::host::powers;
use crate::number::{bit_reverse, inverse_power_of_two, mul_mod, pow_mod, shift_mod, shifted_quotient};
use crate::recipe::{Barrett, DOUBLE_BITS, Feature, Recipe, Strategy};
use crate::{Error, Modulus, Word};

/// Words of `Constants::aux` in `cuda/common.cuh`.
const AUXILIARY: usize = 7;

/// The largest `w 2^128 mod q` of a root `w` that allows [`Feature::ShortQuotients`].
///
/// With the quotient `p = floor(w 2^128 / q)`, the product with x is `x w - k q` for the number k of
/// times that q is taken off. From 13 partial products k is above `x p / 2^128 - 1 - 2^-31`. Since
/// `w = (p q + r) / 2^128`, where r is the rest named above, the product is below `q + q / 2^31 + x r /
/// 2^128`. For x below 4 q, this is at most 2 q if r is at most 2^126 - 2^95.
const LARGEST_REST: u128 = (1 << 126) - (1 << 95);

/// Arithmetic of the kernels. Each has a header in `cuda`.
#[derive(Clone, Copy)]
enum Arithmetic {
    /// `wide.cu`.
    Montgomery,
    /// `montgomery.cuh`.
    SignedMontgomery,
    /// `barrett.cuh`.
    Barrett(Barrett),
    /// `caramel.cu`.
    Doubles,
    /// `shoup.cuh`.
    Shoup,
}

/// The number format of a recipe.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    strategy: Strategy,
    bits: u32,
    /// No modulus is longer.
    modulus_bits: u32,
    /// No modulus is larger.
    largest: u128,
    once: bool,
}

impl Field {
    pub(crate) fn new(recipe: &Recipe) -> Self {
        Self {
            strategy: recipe.strategy(),
            bits: recipe.word_bits(),
            modulus_bits: recipe.modulus_bits(),
            largest: recipe.largest_modulus(),
            once: recipe.has(Feature::Once),
        }
    }

    fn arithmetic(self) -> Arithmetic {
        match self.strategy {
            Strategy::Wide => Arithmetic::Montgomery,
            Strategy::Cheddar => Arithmetic::SignedMontgomery,
            Strategy::Shivdikar(variant) => Arithmetic::Barrett(variant),
            Strategy::Caramel => Arithmetic::Doubles,
            Strategy::Best if self.bits == 64 && self.modulus_bits <= DOUBLE_BITS => Arithmetic::Doubles,
            Strategy::Best | Strategy::HeBooster(_) => Arithmetic::Shoup,
        }
    }

    /// Bits of a word that the moduli leave free, as far as `cuda/shoup.cuh` uses them.
    fn slack(self) -> u32 {
        (self.bits - self.modulus_bits).min(4)
    }

    /// `HighProduct::ERROR` of `cuda/wide_integer.cuh`.
    fn high_product_error(self) -> u128 {
        match (self.bits, self.slack()) {
            (64, 3..) | (128, 3) => 1,
            (128, 4..) => 4,
            _ => 0,
        }
    }

    /// The kernel file, and the lines to put before it.
    pub(crate) fn source(self) -> (&'static str, String) {
        let bits = format!("#define WORD_BITS {}\n", self.bits);
        match self.arithmetic() {
            Arithmetic::Montgomery => ("wide.cu", bits),
            Arithmetic::SignedMontgomery => ("cheddar.cu", bits),
            Arithmetic::Barrett(variant) => {
                ("shivdikar.cu", format!("{bits}#define BARRETT {}\n", variant as u32))
            }
            Arithmetic::Doubles => ("caramel.cu", bits),
            Arithmetic::Shoup => {
                let file = if self.strategy.resident() { "he_booster.cu" } else { "best.cu" };
                (file, format!("{bits}#define SLACK {}\n", self.slack()))
            }
        }
    }

    /// Checks that the strategy's arithmetic is valid for a modulus, which has a root for this N.
    pub(crate) fn check<W: Word>(self, modulus: &Modulus<W>, n: usize) -> Result<(), Error> {
        let (q, largest) = (modulus.q().widen(), self.largest);
        let reason = if q > largest {
            format!("this recipe of {} supports moduli up to {largest}", self.strategy)
        } else if modulus.n() != n {
            format!("expected a root for N = {n}, found one for N = {}", modulus.n())
        } else {
            return Ok(());
        };
        Err(Error::Modulus { q, reason })
    }

    /// Appends the table entry of `root`.
    fn push_root<W: Word>(self, root: u128, q: u128, to: &mut Vec<W>) {
        match self.arithmetic() {
            Arithmetic::Shoup => {
                to.push(W::narrow(root));
                to.push(W::narrow(shifted_quotient(root, self.bits, q)));
            }
            Arithmetic::Montgomery | Arithmetic::SignedMontgomery => {
                to.push(W::narrow(shift_mod(root, self.bits, q)));
            }
            Arithmetic::Barrett(_) => to.push(W::narrow(root)),
            // Exact: a root is below 2^50.
            Arithmetic::Doubles => to.push(W::narrow((root as f64).to_bits().into())),
        }
    }

    /// The words read by the field's constructor after q. Those after the last are zero.
    fn auxiliary(self, q: u128) -> Vec<u128> {
        let inverse = inverse_power_of_two(q);
        let length = 128 - q.leading_zeros();
        match self.arithmetic() {
            Arithmetic::Shoup => {
                let half = q << (self.slack() - 1);
                let times_bound = q * (2 + self.high_product_error());
                // A word below 16 q has 32 bits from bit `early`.
                let (early, leading) = (length.saturating_sub(28), length.min(28));
                let reciprocal = (1 << (31 + leading)) / ((q >> early) + 1);
                let late = leading - 1;
                vec![inverse.wrapping_neg(), half, times_bound, 2 * q, reciprocal, early.into(), late.into()]
            }
            Arithmetic::Montgomery | Arithmetic::SignedMontgomery => vec![inverse],
            Arithmetic::Barrett(variant) => {
                let extra = match variant {
                    Barrett::Remainder | Barrett::Classical => 0,
                    Barrett::DhemQuisquater => 3,
                    Barrett::Proposed => 1,
                };
                vec![shifted_quotient(1, 2 * length + extra, q), length.into()]
            }
            Arithmetic::Doubles => vec![(1.0 / q as f64).to_bits().into()],
        }
    }

    /// `x` times the factor missing from a product in the transformed domain: Montgomery's divisor.
    fn with_product_factor(self, x: u128, q: u128) -> u128 {
        let factor_bits = match self.arithmetic() {
            Arithmetic::Shoup | Arithmetic::Montgomery | Arithmetic::SignedMontgomery => self.bits,
            Arithmetic::Barrett(_) | Arithmetic::Doubles => 0,
        };
        shift_mod(x, factor_bits, q)
    }

    /// `Constants` of `cuda/common.cuh` for one modulus.
    pub(crate) fn constants<W: Word>(self, modulus: &Modulus<W>) -> Vec<W> {
        let (q, n) = (modulus.q().widen(), modulus.n());
        let n_inverse = pow_mod(q.div_ceil(2), n.ilog2().into(), q);
        // The inverse of root^bitrev(1) = root^(n/2).
        let last_root = pow_mod(modulus.root().widen(), 3 * n as u128 / 2, q);
        let scale = [n_inverse, mul_mod(n_inverse, last_root, q)];
        let mut words = vec![modulus.q()];
        words
            .extend(self.auxiliary(q).into_iter().chain(std::iter::repeat(0)).take(AUXILIARY).map(W::narrow));
        for x in scale {
            self.push_root(x, q, &mut words);
        }
        for x in scale {
            self.push_root(self.with_product_factor(x, q), q, &mut words);
        }
        words
    }

    /// The table for one modulus: entry `places[j]` holds `base^bitrev(j)`. The middle
    /// stages of [`Feature::Once`] follow.
    pub(crate) fn table<W: Word>(self, base: u128, q: u128, places: &[usize]) -> Vec<W> {
        let (n, log_n) = (places.len(), places.len().ilog2());
        let powers = powers(base, n, q);
        let mut roots = vec![0; n];
        for (j, &place) in places.iter().enumerate() {
            roots[place] = powers[bit_reverse(j, log_n)];
        }
        if self.once {
            roots.extend(once::middle(log_n).map(|j| powers[bit_reverse(j, log_n)]));
        }
        self.entries(roots, q)
    }

    /// Returns true if [`Feature::ShortQuotients`] is valid for the constants and the tables of some
    /// moduli, in their order.
    pub(crate) fn allows_short_quotients<W: Word>(
        moduli: &[Modulus<W>],
        constants: &[W],
        tables: [&[W]; 2],
    ) -> bool {
        let roots = |words: &[W], header: usize| {
            moduli.iter().zip(words.chunks(words.len() / moduli.len())).all(|(modulus, own)| {
                let q = modulus.q().widen();
                // A quotient follows its root.
                own[header..].chunks(2).all(|pair| rest(pair[1].widen(), q) <= LARGEST_REST)
            })
        };
        roots(constants, 1 + AUXILIARY) && tables.into_iter().all(|table| roots(table, 0))
    }

    fn entries<W: Word>(self, roots: impl IntoIterator<Item = u128>, q: u128) -> Vec<W> {
        let mut words = Vec::new();
        for root in roots {
            self.push_root(root, q, &mut words);
        }
        words
    }
}

/// `w 2^128 mod q` for the quotient `floor(w 2^128 / q)`.
fn rest(quotient: u128, q: u128) -> u128 {
    quotient.wrapping_mul(q).wrapping_neg()
}

/// `Constants` for kernels that include `cuda/barrett.cuh` with Algorithm 4, in the order of the
/// moduli.
///
/// # Errors
/// Returns [`Error::Modulus`] if there are no moduli, or naming the first longer than `W::BITS - 2` bits or
/// with another N, [`Error::Dimension`] if N is out of range, and [`Error::Unsupported`] for 128-bit words.
pub fn barrett_constants<W: Word>(moduli: &[Modulus<W>]) -> Result<Vec<W>, Error> {
    let first = moduli.first();
    let n = first.ok_or(Error::Modulus { q: 0, reason: "expected at least one modulus".into() })?.n();
    let log_n = n.checked_ilog2().unwrap_or(0);
    let field = Field::new(&Recipe::new(Strategy::Shivdikar(Barrett::Proposed), W::BITS, log_n)?);
    moduli.iter().try_for_each(|modulus| field.check(modulus, n))?;
    Ok(moduli.iter().flat_map(|modulus| field.constants(modulus)).collect())
}

/// Table positions: entry `j = 2^s + i` is the position of the root of group `i` of stage `s`.
/// Within a stage the groups are ordered by (row, register part, thread part); see `Pass::roots` in
/// `cuda/pass.cuh`. Resident kernels use position `j`.
pub(crate) fn table_places(recipe: &Recipe) -> Vec<usize> {
    if recipe.resident() {
        return (0..1 << recipe.log_n()).collect();
    }
    if recipe.has(Feature::Once) {
        return once::places(recipe.log_n());
    }
    let mut places = vec![0; 1 << recipe.log_n()];
    for (number, pass) in recipe.passes().iter().enumerate() {
        let first = recipe.first_stage(number);
        for stage in 0..pass.stages {
            let round = stage / pass.points_log;
            let thread_bits = pass.stages - pass.points_log - pass.window(round);
            let register_bits = stage - thread_bits;
            let start = 1usize << (first + stage);
            for i in 0..start {
                let (row, group) = (i >> stage, i & ((1 << stage) - 1));
                let (thread, register) = (group >> register_bits, group & ((1 << register_bits) - 1));
                places[start + i] = start + (row << stage) + (register << thread_bits) + thread;
            }
        }
    }
    places
}

/// The order of the roots of [`Feature::Once`]; see `cuda/once.cuh`.
mod once {
    /// Stages of a round.
    const ROUND: u32 = 5;
    /// `Once::SHARED_ROOTS`.
    const SHARED_ROOTS: u32 = 3;

    /// The position of each `j = 2^s + i`: within a stage of the last round, parts of a thread with the same
    /// root behind each other, then threads.
    pub(super) fn places(log_n: u32) -> Vec<usize> {
        let place = |j: usize| {
            let stage = if j == 0 { 0 } else { j.ilog2() };
            let Some(depth) = stage.checked_sub(log_n - ROUND) else { return j };
            let sharing = (SHARED_ROOTS + stage).saturating_sub(log_n - 1);
            let (start, group) = (1 << stage, j - (1 << stage));
            let (thread, part) = (group >> depth, group & ((1 << depth) - 1));
            let (root, number) = (part >> sharing, part & ((1 << sharing) - 1));
            start + (number << (stage - sharing)) + (thread << (depth - sharing)) + root
        };
        (0..1 << log_n).map(place).collect()
    }

    /// For each group of the first stage of the middle round, the `j` of its roots: of stage d of the round
    /// from entry 2^d on. Entry 0 is not used.
    pub(super) fn middle(log_n: u32) -> impl Iterator<Item = usize> {
        let before = log_n - 2 * ROUND;
        let entry = move |group: usize, entry: usize| {
            let depth = entry.max(1).ilog2();
            (1 << (before + depth)) + (group << depth) + (entry.max(1) - (1 << depth))
        };
        (0..1 << before).flat_map(move |group| (0..1 << ROUND).map(move |number| entry(group, number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    /// `HighProduct<u128, 2>` of `cuda/wide_integer.cuh` for short quotients.
    fn high_from_thirteen(a: u128, b: u128) -> u128 {
        let limb = |x: u128, i: u32| u128::from((x >> (32 * i)) as u32);
        let column = |sum: u32| -> Vec<u128> {
            (0..4)
                .filter(|i| (0..4).contains(&(sum.wrapping_sub(*i))))
                .map(|i| limb(a, i) * limb(b, sum - i))
                .collect()
        };
        let sum = |at: u32, carry: u128| column(at).into_iter().sum::<u128>() + carry;
        let carry = (2..4).fold(0, |carry, at| sum(at, carry) >> 32);
        let (mut high, mut carry) = (0, carry);
        for at in 4..7 {
            let all = sum(at, carry);
            high |= u128::from(all as u32) << (32 * (at - 4));
            carry = all >> 32;
        }
        high | carry << 96
    }

    /// The root of this rest, and its quotient.
    fn root_of(rest: u128, q: u128) -> [u128; 2] {
        let root = mul_mod(rest, pow_mod(q.div_ceil(2), 128, q), q);
        let quotient = shifted_quotient(root, 128, q);
        assert_eq!(super::rest(quotient, q), rest);
        [root, quotient]
    }

    #[test]
    fn one_root_of_a_large_rest_needs_full_quotients() {
        let modulus = Modulus::<u128>::find_at_most((1 << 126) - 1, 16, 0).unwrap();
        let [small, large] = [LARGEST_REST, modulus.q() - 1].map(|rest| root_of(rest, modulus.q()));
        let constants = [&[0; 1 + AUXILIARY][..], &small].concat();
        let allowed = |table: &[u128]| Field::allows_short_quotients(&[modulus], &constants, [&small, table]);
        assert!(allowed(&small));
        assert!(!allowed(&[small, large].concat()));
    }

    /// The product of x with a root of this rest, by a short quotient.
    fn short_product(x: u128, rest: u128, q: u128) -> u128 {
        let [root, quotient] = root_of(rest, q);
        let product = x.wrapping_mul(root).wrapping_sub(high_from_thirteen(x, quotient).wrapping_mul(q));
        assert_eq!(product % q, mul_mod(x % q, root, q));
        product
    }

    #[test]
    fn short_quotients_leave_less_than_two_moduli() {
        let mut rng = rand::rng();
        for q in [(1 << 126) - 137, (1 << 126) - (1 << 95) + 1, (1 << 126) - (1 << 97) + 1, (1 << 125) + 1] {
            let largest = LARGEST_REST.min(q - 1);
            for _ in 0..2000 {
                // Low limbs of ones lose most.
                let low = (1u128 << rng.random_range(0..100)) - 1;
                let x = (4 * (q - 1) - rng.random_range(0..1 << 100)) | low;
                for rest in
                    [0, 1, largest, largest - rng.random_range(0..1 << 90), rng.random_range(0..largest)]
                {
                    assert!(
                        short_product(x.min(4 * q - 1), rest, q) < 2 * q,
                        "x = {x}, rest = {rest}, q = {q}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_table_entry_has_one_place() {
        for strategy in Strategy::ALL {
            for &bits in strategy.word_bits() {
                for log_n in crate::recipe::LOG_N {
                    let recipe = Recipe::new(strategy, bits, log_n).unwrap();
                    for recipe in [recipe.clone().with(Feature::Once), Ok(recipe)].into_iter().flatten() {
                        let places = table_places(&recipe);
                        let mut seen = vec![false; 1 << log_n];
                        places.iter().for_each(|&place| seen[place] = true);
                        assert!(places.len() == seen.len() && !seen.contains(&false));
                    }
                }
            }
        }
    }
}
