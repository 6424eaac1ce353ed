//! Parameter sets.

mod contents;
mod document;
mod primes;
mod variation;

pub(crate) use primes::{alternating_primes, falling_primes};
pub use variation::Variation;

use crate::base::{Base, Levels, Tower};
use crate::bootstrap::{Bootstrap, Fault};
use crate::failure::Failure;
use crate::noise::KeySwitchNoise;
use crate::sine::Sine;
use crate::{Error, Options, Security};
use diagnostic::Diagnostics;
use diagnostic::document::Schema;
use ring::{Basis, Degree, Ring};
use ring_program::Parameters;

macro_rules! sets {
    ($($name:literal)*) => {
        /// The built-in sets: names and texts.
        pub const SETS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../sets/", $name, ".toml")))),*];
    };
}

sets! {
    "ark" "bts1" "bts2" "bts3" "cheddar-31" "cheddar-40" "cinnamon-28" "digits" "dprive" "dprive-n17-128" "dprive-n17-64" "lattigo-n15qp768" "lattigo-n16qp1546" "lattigo-n16qp1547" "lattigo-n16qp1767" "openfhe-n14-33" "resnet20" "sharp-36"
}

/// The parameters of ciphertexts and of their key switch.
///
/// ```toml
/// n = 8192                                                  # ring degree
/// q = [{ bits = 60, count = 1 }, { bits = 45, count = 2 }]  # moduli of ciphertexts, q_0 first
/// p = ["0xffffffffffc0001"]                                 # special moduli
/// digits = 3                                                # of a key at the highest level
/// terminal = []               # moduli that a level may have and the one above it lack
/// levels = [1, 2, 3]          # moduli of each level, from q_0 on; by default one more for each level
/// plaintext_modulus = 65537   # of BGV; none in CKKS
/// roots = []                  # 2n-th roots of unity of q, then p; by default the smallest ones
/// hamming_weight = 192        # nonzero coefficients of the secret; by default it is uniformly ternary
/// security = "none"           # for sets that are not secure, such as small ones for tests
/// [bootstrap]                 # moduli and settings of a bootstrap; see [`Bootstrap`]
/// [sources]                   # the origin of each value
/// n = "assumed"
/// ```
///
/// If another n than the set's own is below the weight, the weight is reduced in proportion. A modulus is a
/// number in quotes. `{ bits, count }` are the largest primes of that size that are 1 mod 2n; p has the
/// largest of them, so that P exceeds each digit if the sizes are equal. With `around = true` the primes are
/// those next to 2^bits, above and below, in the order of Lattigo's `NextAlternatingPrime`, q before p. P far
/// below a digit is an error, since the noise of a key switch would drown the message; so is log2 QP beyond
/// the bound for 128 bits of security, unless the set says that it is not secure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterSet {
    name: String,
    /// Terminal moduli, q, p.
    basis: Basis,
    terminal: usize,
    levels: Levels,
    digits: usize,
    plaintext_modulus: Option<u128>,
    states_roots: bool,
    hamming_weight: Option<u64>,
    bootstrap: Option<Bootstrap>,
    security: Security,
    sources: Vec<(String, String)>,
}

impl ParameterSet {
    /// The built-in set with this name. A given `n` overrides its ring degree. `None` if there is no such
    /// set.
    ///
    /// # Errors
    /// Returns an error if `n` is no degree of ring programs, or too large for the sizes of the moduli.
    pub fn built_in(name: &str, n: Option<u64>) -> Option<Result<Self, Diagnostics>> {
        Self::built_in_with(name, n, Variation::default())
    }

    /// The same with other numbers.
    ///
    /// # Errors
    /// As [`Self::built_in`], and [`Self::parse_with`].
    pub fn built_in_with(
        name: &str,
        n: Option<u64>,
        variation: Variation,
    ) -> Option<Result<Self, Diagnostics>> {
        let (name, text) = SETS.iter().find(|(known, _)| *known == name)?;
        Some(Self::parse_with((name, &format!("{name}.toml"), text), n, variation))
    }

    /// The set `name` in `text`, from the file `file`. A given `n` overrides its ring degree.
    ///
    /// # Errors
    /// Returns all errors: of syntax; else of keys and values; else a degree that ring programs do not have,
    /// moduli that are no primes that are 1 mod 2n, or occur twice, an empty digit, invalid roots; else P
    /// below a digit, and no security without a word on it. With an `n` below its own the set is for tests,
    /// and not secure.
    pub fn parse(name: &str, file: &str, text: &str, n: Option<u64>) -> Result<Self, Diagnostics> {
        Self::parse_with((name, file, text), n, Variation::default())
    }

    /// The set of a name in a text of a file, with other numbers. If they change it, P has the fewest moduli
    /// that exceed each digit: the first ones of the set, or more of the last one's size.
    ///
    /// # Errors
    /// As [`Self::parse`], and if the set cannot have the numbers: it has no bootstrap, or names the moduli
    /// of which there should be more.
    pub fn parse_with(
        (name, file, text): (&str, &str, &str),
        n: Option<u64>,
        variation: Variation,
    ) -> Result<Self, Diagnostics> {
        document::parse((name, file, text), n, variation)
    }

    /// The JSON schema of parameter sets.
    pub fn schema() -> &'static Schema {
        &document::SCHEMA
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The degree n.
    pub fn degree(&self) -> Degree {
        self.basis.degree()
    }

    /// The number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// The number of moduli of ciphertexts. The highest level has all of them.
    fn count(&self) -> usize {
        self.levels.last().map_or(0, Vec::len)
    }

    /// The moduli of a ciphertext of a level, in the order of its limbs.
    ///
    /// # Panics
    /// Panics if there is no such level.
    pub fn level_moduli(&self, level: usize) -> Vec<u128> {
        self.levels[level - 1].iter().map(|tower| self.rings()[tower.0].q()).collect()
    }

    /// The level of a ciphertext with so many limbs: no two levels have as many.
    pub fn level_of(&self, limbs: usize) -> Option<usize> {
        self.levels.iter().position(|towers| towers.len() == limbs).map(|index| index + 1)
    }

    /// The rings modulo q, then p, with the roots of unity of evaluation forms.
    pub fn rings(&self) -> &[Ring] {
        self.basis.rings()
    }

    /// The moduli of ciphertexts: the terminal ones, then q_0, q_1, ..
    pub fn q(&self) -> Vec<u128> {
        self.basis.moduli()[..self.count()].to_vec()
    }

    /// The special moduli.
    pub fn p(&self) -> Vec<u128> {
        self.basis.moduli()[self.count()..].to_vec()
    }

    /// The digit of a key that has the modulus with an index in [`rings`](Self::rings); `None` for a special
    /// one.
    pub fn digit_of(&self, index: usize) -> Option<usize> {
        (index < self.count()).then(|| index / self.digit_size())
    }

    /// The moduli of a digit of a key.
    fn digit_size(&self) -> usize {
        self.count().div_ceil(self.digits)
    }

    /// The special moduli of the switch to an ephemeral secret: the fewest whose product is about
    /// the product of the moduli of level 1, or more.
    pub fn encapsulation_special(&self) -> usize {
        let (first, p) = (self.level_moduli(1), self.p());
        (1..p.len()).find(|&count| document::covers(&p[..count], &first)).unwrap_or(p.len())
    }

    /// The number of digits of a key.
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// The plaintext modulus t of BGV; `None` in CKKS.
    pub fn plaintext_modulus(&self) -> Option<u128> {
        self.plaintext_modulus
    }

    /// The nonzero coefficients of the secret; `None` if it is uniformly ternary.
    pub fn hamming_weight(&self) -> Option<u64> {
        self.hamming_weight
    }

    /// The parameters of a bootstrap, if the set has them.
    pub fn bootstrap(&self) -> Option<&Bootstrap> {
        self.bootstrap.as_ref()
    }

    /// The parameters of a bootstrap with the options of a program, if the set has them.
    pub fn bootstrap_with(&self, options: &Options) -> Option<Bootstrap> {
        let settings = self.bootstrap.clone()?;
        let message_ratio_bits = options.message_ratio().unwrap_or(settings.message_ratio_bits);
        Some(Bootstrap { message_ratio_bits, ..settings })
    }

    /// log2 of the error that the rounding of a rescale makes in a slot, times the scale: the root of the
    /// mean square of r_0 + r_1 s, whose coefficients are uniform from -1/2 to 1/2.
    pub(crate) fn rounding(&self) -> f64 {
        let n = self.degree().get() as f64;
        (n * (1.0 + self.weight()) / 12.0).log2() / 2.0
    }

    /// Refuses messages with which a bootstrap computes nothing.
    pub(crate) fn check_messages(&self, settings: &Bootstrap) -> Result<(), Fault> {
        settings.check_messages(log2(&self.level_moduli(1)), self.rounding())
    }

    /// The nonzero coefficients of the secret; of a uniformly ternary one, the expected number.
    fn weight(&self) -> f64 {
        self.hamming_weight.map_or(2.0 * self.degree().get() as f64 / 3.0, |weight| weight as f64)
    }

    /// The set whose bootstrap leaves fewer levels: without the moduli of messages that the level `left`
    /// lacks. Digits are no larger.
    ///
    /// # Errors
    /// Returns an error if the set has no bootstrap, if it leaves fewer levels or `left` is 0, if another
    /// level is in the way, or if P were below a digit.
    pub fn leaving(&self, left: usize) -> Result<Self, Error> {
        let set = || self.name.clone();
        let bootstrap = self.bootstrap.as_ref().ok_or_else(|| Error::NoBootstrap { set: set() })?;
        let most = self.levels() - bootstrap.depth();
        if left == 0 || left > most {
            return Err(Error::LevelsOut { set: set(), left, most });
        }
        // The terminal moduli of a level, and those of q.
        let counts = |level: usize| {
            let towers = &self.levels[level - 1];
            let terminal = towers.iter().filter(|tower| tower.0 < self.terminal).count();
            (terminal, towers.len() - terminal)
        };
        let (lower, upper) = (counts(left), counts(most));
        // Levels above have fewer moduli of q by as many, so that rescales divide by products of as many.
        let fewer = upper.1.saturating_sub(lower.1);
        let above = || (most + 1..=self.levels()).map(counts);
        if lower.0 != upper.0 || above().any(|(_, of_q)| of_q < fewer) {
            return Err(Error::LevelBetween { set: set(), left });
        }
        let level = |(terminal, of_q): (usize, usize)| -> Vec<Tower> {
            let of_q = self.terminal..self.terminal + of_q;
            (0..terminal).chain(of_q).map(Tower).collect()
        };
        let levels = self.levels[..left].iter().cloned();
        let levels: Levels =
            levels.chain(above().map(|(terminal, of_q)| level((terminal, of_q - fewer)))).collect();
        let (rings, first) = (self.rings(), self.terminal + lower.1);
        let basis = Basis::new([&rings[..first], &rings[first + fewer..]].concat()).expect("moduli of a set");
        let count = self.count() - fewer;
        let digits = count.div_ceil(self.digit_size());
        let less = Self { basis, levels, digits, ..self.clone() };
        let special = log2(&less.p());
        if less.q().chunks(less.digit_size()).any(|digit| log2(digit) >= special) {
            return Err(Error::LargeDigit { set: set(), left });
        }
        Ok(less)
    }

    /// The weight of the secret during a mod-raise; of a uniformly ternary one, the expected weight.
    pub(crate) fn raised_weight(&self) -> u64 {
        let ephemeral = self.bootstrap.as_ref().and_then(|bootstrap| bootstrap.ephemeral_weight);
        ephemeral.or(self.hamming_weight).unwrap_or(2 * self.degree().get() / 3)
    }

    /// The range of a bootstrap, and how likely a message is beyond it.
    pub fn bootstrap_failure(&self) -> Option<Failure> {
        let range = self.bootstrap()?.range;
        Some(Failure { weight: self.raised_weight(), range, degree: self.degree().get() })
    }

    /// The polynomials that reduce modulo 1 in a bootstrap with these parameters.
    pub fn bootstrap_sine(&self, settings: &Bootstrap) -> Sine {
        Sine::new(settings, self.raised_weight())
    }

    /// The class of security.
    pub fn security(&self) -> Security {
        self.security
    }

    /// The sizes of Q and P, the class of security, and the noise of a key switch.
    pub fn parameters(&self) -> Parameters {
        let rounded = |bits: f64| (100.0 * bits).round() / 100.0;
        let (q, p) = (self.q(), self.p());
        let digits: Vec<(usize, f64)> =
            q.chunks(self.digit_size()).map(|digit| (digit.len(), log2(digit))).collect();
        let noise = KeySwitchNoise {
            n: self.degree().get() as f64,
            weight: self.weight(),
            digits: &digits,
            special: (p.len(), log2(&p)),
            t: self.plaintext_modulus.unwrap_or(1) as f64,
        };
        Parameters {
            set: self.name.clone(),
            log2_q: rounded(log2(&q)),
            log2_p: rounded(log2(&p)),
            log2_qp: rounded(log2(&q) + log2(&p)),
            security: self.security.to_string(),
            key_switch_noise_bits: rounded(noise.log2()),
            slot_levels: None,
        }
    }

    /// The origin of each value: keys of the file, and texts.
    pub fn sources(&self) -> &[(String, String)] {
        &self.sources
    }

    /// The moduli in use at a level.
    pub(crate) fn base(&self, level: Option<usize>) -> Result<Base, Error> {
        let levels = self.levels();
        let level = level.unwrap_or(levels);
        if level == 0 || level > levels {
            return Err(Error::Level { level, set: self.name.clone(), levels });
        }
        let t = self.plaintext_modulus.unwrap_or(1);
        let levels = (self.levels.clone(), level);
        Ok(Base::new(&self.basis, levels, self.digit_size(), t, self.states_roots))
    }
}

/// log2 of the product of some moduli.
fn log2(moduli: &[u128]) -> f64 {
    moduli.iter().map(|&modulus| (modulus as f64).log2()).sum()
}
