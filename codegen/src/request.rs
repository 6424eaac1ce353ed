//! Requests: the operation to compute, and the rings to compute it in.

use crate::error::Error;
use crate::ops;
use crate::plan::{Plan, Shape};
use b512_asm::Isa;
use golden::Operation;
use ring::modular::Modulus;
use ring::number::{NumberError, check_root, smallest_root, transform_modulus};

/// A ring operation in one or several rings of the same degree. It says nothing about plans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The ring operation.
    pub operation: Operation,
    /// The degree of the rings: a power of two, at most [`Self::MAX_N`], and at least the vector
    /// length, or twice the vector length for operations with a transform.
    pub n: u32,
    /// The rings, at least one. A program for several rings computes the operation once in each:
    /// the towers of a residue number system. Their instructions interleave, which keeps the pipes
    /// busy where a single small transform would leave them idle.
    pub rings: Vec<Ring>,
}

/// The ring Z_modulus\[x\]/(x^n + 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// The modulus: a prime that is 1 mod 2n, or, for operations without a transform, any odd
    /// number from 3 on.
    pub modulus: u128,
    /// psi, a primitive 2n-th root of unity modulo the modulus; ignored by operations without a
    /// transform.
    pub root: u128,
}

impl Ring {
    /// A ring that suits the operation, with the smallest psi if the operation needs one.
    ///
    /// # Errors
    /// Returns an error if there is no such root modulo `modulus`.
    pub fn new(operation: Operation, n: u32, modulus: u128) -> Result<Self, NumberError> {
        let root = if has_transform(operation) { smallest_root(modulus, n.into())? } else { 0 };
        Ok(Self { modulus, root })
    }
}

/// Whether the code of the operation has transforms, which need a root of unity. The result may not
/// depend on the root, as that of a product does not.
fn has_transform(operation: Operation) -> bool {
    !ops::of(operation).transforms().is_empty()
}

impl Request {
    /// A request in a single ring.
    pub fn single(operation: Operation, n: u32, ring: Ring) -> Self {
        Self { operation, n, rings: vec![ring] }
    }

    /// The name of its program: `ntt1024`, or `ntt1024x4` in four rings.
    pub fn name(&self) -> String {
        let Self { operation, n, ref rings } = *self;
        match rings.len() {
            1 => format!("{operation}{n}"),
            towers => format!("{operation}{n}x{towers}"),
        }
    }

    /// The largest degree.
    pub const MAX_N: u32 = 1 << Plan::MAX_LOG_N;

    /// The size of its transforms and vectors. The degree must be a power of two.
    pub(crate) fn shape(&self, isa: Isa) -> Shape {
        Shape { log_n: self.n.trailing_zeros(), lanes: isa.lane_bits() }
    }

    /// Checks degree, moduli and roots for an instruction set.
    ///
    /// # Errors
    /// Returns an error if the request defines no computation that the generator covers.
    pub fn check(&self, isa: Isa) -> Result<(), Error> {
        let n = self.n;
        // A stage works on two vectors.
        let vectors = if has_transform(self.operation) { 2 } else { 1 };
        let least = vectors * isa.vector_length();
        if !n.is_power_of_two() || !(least..=Self::MAX_N).contains(&n) {
            return Err(Error::Degree { n, least });
        }
        if self.rings.is_empty() {
            return Err(Error::NoRing);
        }
        for &Ring { modulus, root } in &self.rings {
            if modulus > isa.max_word() {
                return Err(Error::WordBits { modulus, word_bits: isa.word_bits() });
            }
            if has_transform(self.operation) {
                transform_modulus(modulus, n.into())?;
                check_root(modulus, n.into(), root)?;
            } else {
                Modulus::new(modulus).map_err(|_| Error::Modulus(modulus))?;
            }
        }
        Ok(())
    }
}
