//! Requests: an operation, and the rings to compute it in.

use crate::error::Error;
use crate::parameters::Parameters;
use crate::plan::{Plan, Shape};
use b512_asm::{Claim, Isa};
use golden::Operation;
use ring::prime::largest_primes;
use ring::{Basis, Degree, Ring};

/// A ring operation in one or several rings of the same degree. It says nothing about plans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The ring operation.
    pub operation: Operation,
    /// The rings, at least one, all of the same degree. Each has a root of unity if the operation has
    /// transforms. A program for several rings computes the operation once in each: the towers of a
    /// residue number system, or several polynomials of one ring, which the list then names as often.
    /// Their instructions interleave, which keeps the pipes busy where a single small transform would
    /// leave them idle.
    pub rings: Vec<Ring>,
    /// The values of the settings that no ring gives.
    pub parameters: Parameters,
}

impl Request {
    /// The largest degree.
    pub const MAX_N: u32 = 1 << Plan::MAX_LOG_N;

    /// A request in a single ring, without parameters.
    pub fn single(operation: Operation, ring: Ring) -> Self {
        Self { operation, rings: vec![ring], parameters: Parameters::default() }
    }

    /// A request in the rings of the `towers` largest primes of `bits` bits, with the smallest roots, without
    /// parameters.
    ///
    /// # Errors
    /// Returns an error if `towers` is 0 or there are too few such primes.
    pub fn with_primes(
        operation: Operation,
        degree: Degree,
        bits: u32,
        towers: usize,
    ) -> Result<Self, ring::Error> {
        Self::in_rings(operation, degree, &largest_primes(bits, degree, towers)?, &[])
    }

    /// A request in the rings of these moduli, without parameters. `roots` has the psi of each modulus, or
    /// nothing for the smallest.
    ///
    /// # Errors
    /// Returns an error if there are no moduli, two have a common divisor, or [`Self::ring`] refuses one.
    pub fn in_rings(
        operation: Operation,
        degree: Degree,
        moduli: &[u128],
        roots: &[u128],
    ) -> Result<Self, ring::Error> {
        let ring = |(tower, &modulus)| Self::ring(operation, degree, modulus, roots.get(tower).copied());
        let basis = Basis::new(moduli.iter().enumerate().map(ring).collect::<Result<_, _>>()?)?;
        Ok(Self { operation, rings: basis.rings().to_vec(), parameters: Parameters::default() })
    }

    /// The request with these parameters in place of its own.
    #[must_use]
    pub fn with(self, parameters: Parameters) -> Self {
        Self { parameters, ..self }
    }

    /// The ring for an operation: with this psi, or else the smallest, if the operation has
    /// transforms; without psi otherwise.
    ///
    /// # Errors
    /// Returns an error if `modulus` is even or below 3. If the operation has transforms, returns an
    /// error if `modulus` is not a prime that is 1 mod 2n, or `root` is not a primitive 2n-th root of
    /// unity.
    pub fn ring(
        operation: Operation,
        degree: Degree,
        modulus: u128,
        root: Option<u128>,
    ) -> Result<Ring, ring::Error> {
        match root {
            _ if !operation.needs_root() => Ring::new(degree, modulus),
            Some(root) => Ring::with_root(degree, modulus, root),
            None => Ring::with_smallest_root(degree, modulus),
        }
    }

    /// The degree of the rings.
    pub fn n(&self) -> u32 {
        self.rings[0].degree().get() as u32
    }

    /// The number of rings, at least one.
    pub fn towers(&self) -> usize {
        self.rings.len()
    }

    /// The name of its program: `ntt1024`, or `ntt1024x4` in four rings.
    pub fn name(&self) -> String {
        let (operation, n) = (self.operation, self.n());
        match self.towers() {
            1 => format!("{operation}{n}"),
            towers => format!("{operation}{n}x{towers}"),
        }
    }

    /// The claim of the operation in the ring of that number, with the default names of its symbols.
    ///
    /// # Panics
    /// Panics if there is no such ring.
    pub fn claim(&self, ring: usize) -> Claim {
        let tower = &self.rings[ring];
        let mut claim = self.operation.in_ring(self.n(), tower.q(), tower.root().unwrap_or(0));
        claim.settings.extend(self.parameters.in_ring(self.operation, ring));
        claim
    }

    /// The size of its transforms and vectors.
    pub fn shape(&self, isa: Isa) -> Shape {
        Shape { log_n: self.rings[0].degree().log2(), lanes: isa.lane_bits() }
    }

    /// Checks the request for an instruction set: the degree is at most [`Self::MAX_N`], and at least the
    /// vector length; the moduli fit a word; the rings have the roots that the operation needs; and the
    /// parameters are valid.
    ///
    /// # Errors
    /// Returns an error if the generator does not cover the request.
    pub fn check(&self, isa: Isa) -> Result<(), Error> {
        let n = self.n();
        let least = isa.vector_length();
        if !(least..=Self::MAX_N).contains(&n) {
            return Err(Error::Degree { n, least });
        }
        for ring in &self.rings {
            if ring.q() > isa.max_word() {
                return Err(Error::WordBits { modulus: ring.q(), word_bits: isa.word_bits() });
            }
            if self.operation.needs_root() {
                ring.require_root()?;
            }
        }
        self.check_parameters()
    }

    /// Checks the parameters: each has a value that its operation takes.
    ///
    /// # Errors
    /// Returns the first fault.
    pub fn check_parameters(&self) -> Result<(), Error> {
        self.parameters.check(self.operation, self.towers())?;
        for ring in 0..self.towers() {
            let claim = self.claim(ring);
            if let Some(fault) = golden::faults(&claim).into_iter().next() {
                return Err(fault.into());
            }
        }
        Ok(())
    }
}
