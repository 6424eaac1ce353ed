//! Parameter sets.

mod contents;
mod document;
mod variation;

pub use variation::Variation;

use crate::base::Base;
use crate::bootstrap::Bootstrap;
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
    "ark" "bts1" "bts2" "bts3" "cheddar-40" "digits" "dprive" "dprive-n17-128" "dprive-n17-64" "lattigo-n15qp768" "lattigo-n16qp1546" "lattigo-n16qp1547" "lattigo-n16qp1767" "openfhe-n14-33" "resnet20"
}

/// The parameters of ciphertexts and of their key switch.
///
/// ```toml
/// n = 8192                                                  # ring degree
/// q = [{ bits = 60, count = 1 }, { bits = 45, count = 2 }]  # moduli of ciphertexts, q_0 first
/// p = ["0xffffffffffc0001"]                                 # special moduli
/// digits = 3                                                # of a key at the highest level
/// plaintext_modulus = 65537                                 # of BGV; none in CKKS
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
    /// q, then p.
    basis: Basis,
    levels: usize,
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
    /// moduli that are no primes that are 1 mod 2n, or occur twice, an empty digit, invalid roots; else P below a digit,
    /// and no security without a word on it. With an `n` below its own the set is for tests, and not secure.
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

    /// The number L of moduli of a ciphertext at the highest level.
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// The rings modulo q, then p, with the roots of unity of evaluation forms.
    pub fn rings(&self) -> &[Ring] {
        self.basis.rings()
    }

    /// The moduli of ciphertexts, q_0 first.
    pub fn q(&self) -> Vec<u128> {
        self.basis.moduli()[..self.levels].to_vec()
    }

    /// The special moduli.
    pub fn p(&self) -> Vec<u128> {
        self.basis.moduli()[self.levels..].to_vec()
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

    /// The set whose bootstrap leaves fewer levels: without moduli of messages from the index `left` on.
    /// Digits are no larger.
    ///
    /// # Errors Returns an error if the set has no bootstrap, if it leaves fewer levels or `left` is 0, or if
    /// P were below a digit.
    pub fn leaving(&self, left: usize) -> Result<Self, Error> {
        let set = || self.name.clone();
        let bootstrap = self.bootstrap.as_ref().ok_or_else(|| Error::NoBootstrap { set: set() })?;
        let most = self.levels - bootstrap.depth();
        if left == 0 || left > most {
            return Err(Error::LevelsOut { set: set(), left, most });
        }
        let rings = self.rings();
        let basis = Basis::new([&rings[..left], &rings[most..]].concat()).expect("moduli of a set");
        let levels = left + bootstrap.depth();
        let digits = levels.div_ceil(self.levels.div_ceil(self.digits));
        let less = Self { basis, levels, digits, ..self.clone() };
        let special = log2(&less.p());
        if less.q().chunks(levels.div_ceil(digits)).any(|digit| log2(digit) >= special) {
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
            q.chunks(q.len().div_ceil(self.digits)).map(|digit| (digit.len(), log2(digit))).collect();
        let n = self.degree().get() as f64;
        let noise = KeySwitchNoise {
            n,
            weight: self.hamming_weight.map_or(2.0 * n / 3.0, |weight| weight as f64),
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
        let level = level.unwrap_or(self.levels);
        if level == 0 || level > self.levels {
            return Err(Error::Level { level, set: self.name.clone(), levels: self.levels });
        }
        let t = self.plaintext_modulus.unwrap_or(1);
        Ok(Base::new(&self.basis, (self.levels, level), self.digits, t, self.states_roots))
    }
}

/// log2 of the product of some moduli.
fn log2(moduli: &[u128]) -> f64 {
    moduli.iter().map(|&modulus| (modulus as f64).log2()).sum()
}
