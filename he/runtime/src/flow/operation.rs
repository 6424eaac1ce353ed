//! The operations of the registry that ring programs launch.

/// An operation of the registry with a kernel of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RingOperation {
    /// The transform from coefficients to values.
    Ntt,
    /// The transform from values to coefficients.
    Intt,
    /// X to X^k on values.
    AutomorphismOfValues {
        /// The exponent, odd and below 2n.
        k: u32,
    },
    /// X to X^k on coefficients.
    AutomorphismOfCoefficients {
        /// The exponent, odd and below 2n.
        k: u32,
    },
}

/// An operation in a number of rings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Batch {
    /// The operation.
    pub operation: RingOperation,
    /// The number of rings.
    pub rings: u16,
}

impl Batch {
    /// The name of an operand in one of the rings.
    pub fn symbol(self, name: &str, ring: usize) -> String {
        if self.rings == 1 { name.to_owned() } else { format!("{name}{ring}") }
    }

    pub(crate) fn kind(self) -> Kind {
        (std::mem::discriminant(&self.operation), self.rings)
    }
}

/// What has a recipe: an operation with any exponent, in a number of rings.
pub(crate) type Kind = (std::mem::Discriminant<RingOperation>, u16);

/// A modulus, and the root of unity of a transform.
pub type RingParameters = (u128, Option<u128>);
