//! What the inputs of a program are: data from which a client makes them.

use crate::matrix::Slots;
use crate::scale::Scale;
use ring::Degree;
use std::{fmt, iter};

/// One input of a program.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The name under which the user gives a plaintext, if it is another one.
    pub label: Option<String>,
    /// The moduli of its limbs, in order.
    pub moduli: Vec<u128>,
    /// What it is.
    pub definition: Definition,
}

/// What an input is.
#[derive(Clone, PartialEq, Debug)]
pub enum Definition {
    /// A component of a ciphertext under the secret s.
    Ciphertext {
        /// 0 or 1.
        component: usize,
        /// The scale of its message.
        scale: Scale,
    },
    /// A part of one digit of a key.
    Key {
        /// The secrets that it goes from and to.
        key: SwitchingKey,
        /// b or a.
        part: KeyPart,
        /// The index of the digit.
        digit: usize,
    },
    /// The values of a plaintext.
    Plaintext {
        /// Its slots.
        slots: Slots,
        /// Their scale.
        scale: Scale,
    },
    /// The values of the monomial X^k.
    Monomial {
        /// The exponent k, below n.
        exponent: u64,
    },
    /// The values of a plaintext whose slots the user gives, such as a network's weights.
    Given {
        /// Their scale.
        scale: Scale,
    },
    /// A plaintext without a definition.
    Free,
}

impl Definition {
    /// Whether it needs no secret and no message, so that anybody can make it.
    pub fn is_public(&self) -> bool {
        match self {
            Self::Plaintext { .. } | Self::Monomial { .. } => true,
            Self::Ciphertext { .. } | Self::Key { .. } | Self::Given { .. } | Self::Free => false,
        }
    }
}

/// The parts of a key: b = -a s' + t e + F s for secrets s and s'.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyPart {
    /// b.
    B,
    /// a, uniform.
    A,
}

/// The letters in names of inputs.
impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::B => "b",
            Self::A => "a",
        })
    }
}

/// A key for key switches, by what it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SwitchingKey {
    /// From s^2 to s.
    Relinearisation,
    /// From s to s(X^(1/g)): the automorphism X to X^g comes after the switch.
    Galois(u32),
    /// From s to the ephemeral sparse secret, modulo q_0 and p_0 only.
    DenseToSparse,
    /// From the ephemeral sparse secret to s.
    SparseToDense,
    /// From a secret that the program does not name, to s.
    Unnamed,
}

impl SwitchingKey {
    /// The key, its part and its digit, from the name `KEY.PART.DIGIT` of an input. `None` if it is not the
    /// name of a key's input.
    pub fn of_input(name: &str) -> Option<(Self, KeyPart, usize)> {
        let (name, digit) = name.rsplit_once('.')?;
        let (name, part) = name.rsplit_once('.')?;
        let part = [KeyPart::B, KeyPart::A].into_iter().find(|known| known.to_string() == part)?;
        let number = |digits: &str| diagnostic::number(digits.as_bytes()).ok();
        let galois = name.strip_prefix("galois.").and_then(|g| number(g)?.try_into().ok()).map(Self::Galois);
        let others = [Self::Relinearisation, Self::DenseToSparse, Self::SparseToDense, Self::Unnamed];
        let key = galois.into_iter().chain(others).find(|key| key.to_string() == name)?;
        Some((key, part, number(digit)?.try_into().ok()?))
    }

    /// The slots to the left, from 0 to n/2 - 1, by which the key's automorphism rotates. `None` for a
    /// conjugation and for other switches.
    pub fn rotation(self, degree: Degree) -> Option<u64> {
        let Self::Galois(g) = self else { return None };
        let mut powers = iter::successors(Some(1), |power| Some(power * 5 % (2 * degree.get())));
        let found = powers.by_ref().take(degree.len() / 2).position(|power: u64| power == u64::from(g));
        found.map(|rotation| rotation as u64)
    }

    /// What the key does in rings of a degree, such as `from s to s(X^(1/5)), for a rotation by 1`.
    pub fn purpose(self, degree: Degree) -> String {
        match self {
            Self::Relinearisation => "from s^2 to s, for products".to_owned(),
            Self::Galois(g) => {
                let use_ = match self.rotation(degree) {
                    Some(rotation) => format!(", for a rotation by {rotation}"),
                    None if u64::from(g) == 2 * degree.get() - 1 => ", for a conjugation".to_owned(),
                    None => String::new(),
                };
                format!("from s to s(X^(1/{g})){use_}")
            }
            Self::DenseToSparse => "from s to the ephemeral secret".to_owned(),
            Self::SparseToDense => "from the ephemeral secret to s".to_owned(),
            Self::Unnamed => "for the key switch".to_owned(),
        }
    }
}

/// The names of inputs: `relin`, `galois.G`, `switch.dense-sparse`, `switch.sparse-dense`, `evk`.
impl fmt::Display for SwitchingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relinearisation => f.write_str("relin"),
            Self::Galois(g) => write!(f, "galois.{g}"),
            Self::DenseToSparse => f.write_str("switch.dense-sparse"),
            Self::SparseToDense => f.write_str("switch.sparse-dense"),
            Self::Unnamed => f.write_str("evk"),
        }
    }
}
