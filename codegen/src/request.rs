//! Requests: an operation, and the rings to compute it in.

use crate::error::Error;
use crate::ops;
use crate::parameters::Parameters;
use crate::plan::{Plan, Shape};
use b512_asm::reg::REGISTERS;
use b512_asm::{Claim, Isa, Setting};
use golden::{Kind, Operation};
use ring::prime::largest_primes;
use ring::{Basis, Degree, Ring};

/// A ring operation in one or several rings of the same degree. It says nothing about plans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The ring operation.
    pub operation: Operation,
    /// The rings. Each has a root of unity if the operation has transforms. A program for several
    /// rings computes the operation once in each: the towers of a residue number system. Their
    /// instructions interleave, which keeps the pipes busy where a single small transform would
    /// leave them idle.
    ///
    /// If the operation itself works in several rings, these are the rings of its lists of moduli.
    pub basis: Basis,
    /// The values of the settings that no ring gives, and the moduli of each list.
    pub parameters: Parameters,
}

impl Request {
    /// The largest degree.
    pub const MAX_N: u32 = 1 << Plan::MAX_LOG_N;

    /// A request in a single ring, with the operation's example parameters.
    pub fn single(operation: Operation, ring: Ring) -> Self {
        let basis = Basis::new(vec![ring]).expect("one ring is a basis");
        Self { operation, basis, parameters: Parameters::examples(operation) }
    }

    /// A request in the rings of the `towers` largest primes of `bits` bits, with the smallest roots
    /// and the operation's example parameters. If the operation works in several rings, each of its
    /// lists has `towers` moduli, the first list the largest ones; a list of one has one.
    ///
    /// # Errors
    /// Returns an error if `towers` is 0 or there are too few such primes.
    pub fn with_primes(
        operation: Operation,
        degree: Degree,
        bits: u32,
        towers: usize,
    ) -> Result<Self, ring::Error> {
        let length = |kind| if kind == Kind::Moduli { towers } else { 1 };
        let lists: usize = operation.lists().map(|list| length(list.kind)).sum();
        let primes = largest_primes(bits, degree, if operation.in_one_ring() { towers } else { lists })?;
        let mut parameters = operation.examples();
        let mut left = primes.iter().copied();
        for list in operation.lists() {
            let own = left.by_ref().take(length(list.kind));
            let value = if list.kind == Kind::Moduli {
                Setting::Numbers(own.collect())
            } else {
                Setting::Number(own.sum())
            };
            parameters.push((list.name.to_owned(), value));
        }
        let rings = primes.iter().map(|&modulus| Self::ring(operation, degree, modulus, None));
        let basis = Basis::new(rings.collect::<Result<_, _>>()?)?;
        Ok(Self { operation, basis, parameters: Parameters::new(parameters) })
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
            _ if !has_transform(operation) => Ring::new(degree, modulus),
            Some(root) => Ring::with_root(degree, modulus, root),
            None => Ring::with_smallest_root(degree, modulus),
        }
    }

    /// The degree of the rings.
    pub fn n(&self) -> u32 {
        self.basis.degree().get() as u32
    }

    /// The number of times that the operation is computed, at least one: once in each ring, or once in
    /// all rings together.
    pub fn towers(&self) -> usize {
        if self.operation.in_one_ring() { self.basis.len() } else { 1 }
    }

    /// The rings of one of the operation's lists, as indices of the basis. A modulus that no ring has is
    /// omitted; [`Self::check`] refuses it.
    pub fn list(&self, name: &str) -> Vec<usize> {
        let rings = self.basis.rings();
        let moduli = self.moduli(name).iter();
        moduli.filter_map(|&modulus| rings.iter().position(|ring| ring.q() == modulus)).collect()
    }

    /// The moduli of one of the operation's lists.
    fn moduli(&self, list: &str) -> &[u128] {
        match self.parameters.get(list) {
            Some(Setting::Numbers(numbers)) => numbers,
            Some(Setting::Number(number)) => std::slice::from_ref(number),
            Some(Setting::Word(_)) | None => &[],
        }
    }

    /// The name of its program: `ntt1024`, or `ntt1024x4` in four rings.
    pub fn name(&self) -> String {
        let (operation, n) = (self.operation, self.n());
        match self.towers() {
            1 => format!("{operation}{n}"),
            towers => format!("{operation}{n}x{towers}"),
        }
    }

    /// The claim of the operation in the ring of that number, or the only one in all rings, with the
    /// default names of its symbols.
    ///
    /// # Panics
    /// Panics if there is no such ring.
    pub fn claim(&self, ring: usize) -> Claim {
        // Operations without a transform have no root.
        let of = |ring: usize| {
            let ring = &self.basis.rings()[ring];
            (ring.q(), ring.root().unwrap_or(0))
        };
        let rings = |list: &str| match self.operation.in_one_ring() {
            true => vec![of(ring)],
            false => self.list(list).into_iter().map(of).collect(),
        };
        self.operation.in_rings(self.n(), &rings, &self.parameters.in_ring(self.operation, ring))
    }

    /// The size of its transforms and vectors.
    pub(crate) fn shape(&self, isa: Isa) -> Shape {
        Shape { log_n: self.basis.degree().log2(), lanes: isa.lane_bits() }
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
        for ring in self.basis.rings() {
            if ring.q() > isa.max_word() {
                return Err(Error::WordBits { modulus: ring.q(), word_bits: isa.word_bits() });
            }
            if has_transform(self.operation) {
                ring.require_root()?;
            }
        }
        self.check_parameters()
    }

    fn check_parameters(&self) -> Result<(), Error> {
        self.parameters.check(self.operation, self.towers())?;
        for list in self.operation.lists() {
            let has = |modulus: u128| self.basis.rings().iter().any(|ring| ring.q() == modulus);
            if let Some(&modulus) = self.moduli(list.name).iter().find(|&&modulus| !has(modulus)) {
                return Err(Error::NotInBasis { name: list.name, modulus });
            }
        }
        // Before a claim names them all.
        let needed = self.counted_operands();
        if needed > REGISTERS as u128 {
            let needed = usize::try_from(needed).unwrap_or(usize::MAX);
            let (operation, n, towers) = (self.operation, self.n(), self.towers());
            return Err(Error::TooManyRings { operation, n, towers, needed });
        }
        for ring in 0..self.towers() {
            let claim = self.claim(ring);
            let faults = self.operation.settings_of(&claim).err();
            if let Some(fault) = faults.into_iter().flatten().next() {
                return Err(fault.into());
            }
        }
        Ok(())
    }

    /// The number of operands in all rings whose number is a parameter. Each needs an address register.
    fn counted_operands(&self) -> u128 {
        let sum = |sum: u128, number: &u128| sum.saturating_add(*number);
        let number = |name: &str| match self.parameters.get(name) {
            Some(Setting::Number(number)) => number.saturating_mul(self.towers() as u128),
            Some(Setting::Numbers(numbers)) => numbers.iter().fold(0, sum),
            Some(Setting::Word(_)) | None => 0,
        };
        let counts = self.operation.inputs().iter().filter_map(|operand| operand.count);
        counts.map(number).fold(0, |all, one| sum(all, &one))
    }
}

/// Whether the code of the operation has transforms, which need a root of unity. The result need not
/// depend on the root: a product does not.
fn has_transform(operation: Operation) -> bool {
    !ops::of(operation).transforms().is_empty()
}
