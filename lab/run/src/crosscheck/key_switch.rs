//! Key switching: the digits of a polynomial extended to all moduli, multiplied by a key, and divided by
//! the special moduli.

use super::{Operands, Results, Task, Witness};
use b512_asm::Setting;
use codegen::{Parameters, Request};
use golden::Operation;
use ring::{Basis, Degree, Ring};
use std::error::Error;
use std::ops::Range;

/// A key switch in transformed values. Its operands are one vector for each limb of the polynomial, then
/// the key: for each digit and each of its two parts, one vector for each of all moduli. The result is
/// laid out `[part][limb][n]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeySwitch {
    rings: Vec<Ring>,
    limbs: usize,
    digits: usize,
}

/// Vectors of one set of operands, or of its intermediate results.
type Rows = Vec<Vec<u128>>;

impl KeySwitch {
    /// The switch modulo the largest primes of `bits` bits: first the limbs of the polynomial, in `digits`
    /// groups of nearly equal size, then the special limbs.
    ///
    /// # Errors
    /// Returns an error if there are too few such primes, or none are wanted.
    pub fn with_primes(
        degree: Degree,
        bits: u32,
        limbs: usize,
        special: usize,
        digits: usize,
    ) -> Result<Self, ring::Error> {
        let basis = Basis::generate(degree, bits, limbs + special)?;
        Ok(Self { rings: basis.rings().to_vec(), limbs, digits })
    }

    /// The rings of the polynomial's limbs, and the special ones.
    pub fn rings(&self) -> (&[Ring], &[Ring]) {
        self.rings.split_at(self.limbs)
    }

    /// Number of digits.
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// The limbs of a digit.
    fn digit(&self, number: usize) -> Range<usize> {
        number * self.limbs / self.digits..(number + 1) * self.limbs / self.digits
    }

    /// The switch as a chain of a witness's operations.
    ///
    /// # Errors
    /// Returns an error if the witness cannot compute one of them.
    pub(super) fn chain(&self, witness: &(impl Witness + ?Sized), sets: &[Operands]) -> Results {
        let ask = |request: Request, vectors: &dyn Fn(usize) -> Rows| -> Result<Vec<Rows>, _> {
            let sets: Vec<Operands> = (sets.iter().enumerate())
                .map(|(number, set)| Operands { name: set.name, vectors: vectors(number) })
                .collect();
            let results = witness.compute(&request, &sets)?;
            let n = request.n() as usize;
            Ok::<_, Box<dyn Error + Send + Sync>>(
                results.iter().map(|result| result.chunks(n).map(<[u128]>::to_vec).collect()).collect(),
            )
        };
        // The digits of each set, extended to all rings.
        let mut raised: Vec<Vec<Rows>> = vec![Vec::new(); sets.len()];
        for digit in (0..self.digits).map(|number| self.digit(number)) {
            let others: Vec<usize> = (0..self.rings.len()).filter(|ring| !digit.contains(ring)).collect();
            let own: Vec<usize> = digit.clone().collect();
            let request = self.conversion(golden::MOD_UP, &own, &others)?;
            let results = ask(request, &|set| sets[set].vectors[digit.clone()].to_vec())?;
            for ((raised, set), result) in raised.iter_mut().zip(sets).zip(results) {
                let mut result = result.into_iter();
                let row = |ring: usize| {
                    if digit.contains(&ring) { Some(set.vectors[ring].clone()) } else { result.next() }
                };
                let rows: Option<Rows> = (0..self.rings.len()).map(row).collect();
                raised.push(rows.ok_or("too few extended rows")?);
            }
        }
        // For each ring, the two sums of each set.
        let mut sums: Vec<Vec<Rows>> = Vec::new();
        for ring in 0..self.rings.len() {
            let key = |set: usize, part: usize| {
                let row = move |digit: usize| self.limbs + (2 * digit + part) * self.rings.len() + ring;
                (0..self.digits).map(move |digit| sets[set].vectors[row(digit)].clone())
            };
            let digits = |set: usize| raised[set].iter().map(|rows| rows[ring].clone()).collect::<Rows>();
            let vectors =
                |set: usize| digits(set).into_iter().chain(key(set, 0)).chain(key(set, 1)).collect();
            sums.push(ask(self.inner_product(ring)?, &vectors)?);
        }
        let (limbs, special) =
            ((0..self.limbs).collect::<Vec<_>>(), (self.limbs..self.rings.len()).collect::<Vec<_>>());
        let mut switched: Vec<Vec<u128>> = vec![Vec::new(); sets.len()];
        for part in 0..2 {
            let request = self.conversion(golden::MOD_DOWN, &special, &limbs)?;
            let results = ask(request, &|set| sums.iter().map(|sums| sums[set][part].clone()).collect())?;
            for (switched, result) in switched.iter_mut().zip(results) {
                switched.extend(result.concat());
            }
        }
        Ok(switched)
    }

    /// An operation with the lists `from` and `to`, of rings by their numbers.
    fn conversion(&self, operation: Operation, from: &[usize], to: &[usize]) -> Result<Request, ring::Error> {
        let moduli =
            |rings: &[usize]| Setting::Numbers(rings.iter().map(|&ring| self.rings[ring].q()).collect());
        let mut parameters = operation.examples();
        parameters.extend([("from".to_owned(), moduli(from)), ("to".to_owned(), moduli(to))]);
        let rings = from.iter().chain(to).map(|&ring| self.rings[ring]).collect();
        Ok(Request { operation, basis: Basis::new(rings)?, parameters: Parameters::new(parameters) })
    }

    /// The products of all digits with the key in one ring.
    fn inner_product(&self, ring: usize) -> Result<Request, ring::Error> {
        let ring = &self.rings[ring];
        let operation = golden::KS_INNER_PRODUCT;
        let ring = Request::ring(operation, ring.degree(), ring.q(), None)?;
        let digits = ("digits".to_owned(), Setting::Number(self.digits as u128));
        Ok(Request { operation, basis: Basis::new(vec![ring])?, parameters: Parameters::new(vec![digits]) })
    }
}

impl Task for KeySwitch {
    fn operation(&self) -> String {
        "key_switch".into()
    }

    fn n(&self) -> u32 {
        self.rings[0].degree().get() as u32
    }

    fn modulus(&self) -> u128 {
        self.rings[0].q()
    }

    fn operands(&self) -> Vec<u128> {
        let all = || self.rings.iter().map(Ring::q);
        all().take(self.limbs).chain((0..2 * self.digits).flat_map(|_| all())).collect()
    }

    fn ask(&self, witness: &dyn Witness, sets: &[Operands]) -> Results {
        witness.key_switch(self, sets)
    }
}
