//! What the inputs of a program are: data from which a client makes them.

use crate::matrix::Slots;
use crate::scale::Scale;
use std::fmt;

/// One input of a program.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The moduli of its limbs, in order.
    pub moduli: Vec<u128>,
    /// What it is.
    pub definition: Definition,
}

/// What an input is.
#[derive(Clone, Debug)]
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
    /// A plaintext without a definition.
    Free,
}

/// The parts of a key: b = -a s' + t e + F s for secrets s and s'.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyPart {
    /// b.
    B,
    /// a, uniform.
    A,
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
