//! Code in several rings at once: conversions between residue number systems, and divisions.

use super::Builder;
use crate::check::{Contract, Domain, PolynomialId};
use crate::code::{BufferId, Claim, Code, Constant, ConstantId, MemRef, Tower, TowerId, ValueId};
use crate::error::Error;
use crate::lower::{Dialect, Memory, Scratch, Second, transform};
use crate::number::{Expression, Number};
use crate::parameters::Parameters;
use crate::plan::{Direction, Plan};
use b512_asm::{AddressMode, Op, Role};
use golden::{Kind, Operation};
use ring::modular::Modulus;

/// The transforms of a conversion between values, in the order of a recipe's plans.
pub(crate) const TRANSFORMS: &[Direction] = &[Direction::Forward, Direction::Inverse];
const FORWARD: usize = 0;
const INVERSE: usize = 1;

/// The vectors that are converted together: a constant is loaded once for them.
const BLOCK: u32 = 4;

/// The code of a request in several rings.
pub(crate) struct BasisBuilder<'a> {
    code: &'a mut Code,
    operation: Operation,
    parameters: Parameters,
    n: u32,
    plans: &'a [Plan],
    dialect: Dialect,
    /// The towers of each list of moduli.
    lists: Vec<(&'static str, Vec<TowerId>)>,
    scratch: Scratch,
}

/// The representatives and the plaintext modulus of a conversion of x/t, which is multiplied by t again.
#[derive(Clone, Copy)]
pub(crate) struct Conversion {
    /// Whether the scaled residues are those nearest to 0, rather than from 0 on.
    pub(crate) centred: bool,
    /// t.
    pub(crate) t: u128,
}

impl Conversion {
    /// Plain residues and t = 1.
    pub(crate) const PLAIN: Self = Self { centred: false, t: 1 };
}

impl Builder<'_> {
    /// Runs `lower` for all rings together.
    ///
    /// # Errors
    /// Returns the error of `lower`.
    pub(crate) fn in_rings(
        &mut self,
        lower: impl FnOnce(&mut BasisBuilder<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (request, n) = (self.request, self.request.n());
        let rings = request.basis.rings().iter();
        let towers: Vec<TowerId> = rings
            .map(|ring| self.code.tower(Tower { n, modulus: ring.q(), root: ring.root().unwrap_or(0) }))
            .collect();
        let operation = request.operation;
        let of = |list: &'static str| request.list(list).into_iter().map(|ring| towers[ring]).collect();
        let lists = operation.lists().map(|list| (list.name, of(list.name))).collect();
        lower(&mut BasisBuilder {
            code: self.code,
            operation,
            parameters: Parameters::new(request.parameters.in_ring(operation, 0)),
            n,
            plans: self.plans,
            dialect: self.dialect,
            lists,
            scratch: Scratch::new("scratch".to_owned(), towers[0]),
        })
    }
}

impl BasisBuilder<'_> {
    fn towers(&self, list: &str) -> &[TowerId] {
        let found = self.lists.iter().find(|(name, _)| *name == list);
        found.map_or(&[], |(_, towers)| towers)
    }

    /// Adds a buffer for each modulus of a list.
    fn buffers(&mut self, name: &str, list: &str, role: Role) -> Vec<BufferId> {
        let is_list = |kind| kind == Kind::Moduli;
        let numbered = self.operation.lists().any(|setting| setting.name == list && is_list(setting.kind));
        let towers = self.towers(list).to_vec().into_iter().enumerate();
        let towers = towers.map(|(number, tower)| {
            let name = if numbered { format!("{name}{number}") } else { name.to_owned() };
            self.code.buffer(name, self.n, role, tower)
        });
        towers.collect()
    }

    /// Adds the operands of a list.
    pub(crate) fn inputs(&mut self, name: &str, list: &str) -> Vec<BufferId> {
        self.buffers(name, list, Role::Input)
    }

    /// Adds the results of a list.
    pub(crate) fn outputs(&mut self, name: &str, list: &str) -> Vec<BufferId> {
        self.buffers(name, list, Role::Output)
    }

    /// Claims the request's operation over these buffers.
    pub(crate) fn claim(&mut self, outputs: Vec<BufferId>, inputs: Vec<BufferId>) {
        let (operation, parameters) = (self.operation, self.parameters.clone());
        self.code.claims.push(Claim { operation, outputs, inputs, parameters });
    }

    /// The modulus of the tower of a buffer.
    fn modulus(&self, tower: TowerId) -> Modulus {
        let modulus = self.code.towers[tower.index()].modulus;
        Modulus::new(modulus).expect("the request has been checked")
    }

    fn number(&mut self, value: u128) -> Number {
        self.code.number(Expression::Value(value))
    }

    /// A vector with one number in all lanes.
    fn constant(&mut self, tower: TowerId, value: u128) -> ConstantId {
        let number = self.number(value);
        self.code.constant(Constant { tower, numbers: vec![number; 1 << self.dialect.factor_bits] })
    }

    /// Appends a transform.
    fn transform(&mut self, plan: usize, tower: TowerId, memory: Memory) -> Result<(), Error> {
        let plan = &self.plans[plan];
        transform(self.code, self.dialect, plan, tower, memory, &mut self.scratch)
            .map_err(|error| Error::Plan { name: plan.name.clone(), error })
    }

    /// The first words of the vectors of a polynomial, in blocks.
    fn blocks(&self) -> impl Iterator<Item = Vec<u32>> + use<> {
        let (n, length) = (self.n, self.code.isa.vector_length());
        let block = move |first: u32| (first..n).step_by(length as usize).take(BLOCK as usize).collect();
        (0..n).step_by((BLOCK * length) as usize).map(block)
    }

    /// Appends the conversion of coefficients.
    ///
    /// # Errors
    /// Returns an error if the moduli of the source are not coprime, or not coprime to t.
    pub(crate) fn convert(
        &mut self,
        [from, to]: [&str; 2],
        conversion: Conversion,
        sources: &[BufferId],
        targets: &[BufferId],
    ) -> Result<(), Error> {
        let (from, to) = (self.towers(from).to_vec(), self.towers(to).to_vec());
        let constants = self.constants(&from, &to, conversion)?;
        self.weighted_sums([(sources, &from), (targets, &to)], &constants);
        Ok(())
    }

    /// Appends the residues of integers that are given by digits in the mixed radix of `from`.
    pub(crate) fn split(&mut self, [from, to]: [&str; 2], digits: &[BufferId], targets: &[BufferId]) {
        let (from, to) = (self.towers(from).to_vec(), self.towers(to).to_vec());
        let mut constants = Constants { inverses: vec![None; from.len()], ..Constants::default() };
        for &tower in &to {
            constants.cofactors.push(self.weights(&from, tower));
        }
        self.weighted_sums([(digits, &from), (targets, &to)], &constants);
    }

    /// The products of the first moduli of `radices`, for each number of them, in a tower.
    fn weights(&mut self, radices: &[TowerId], tower: TowerId) -> Vec<ConstantId> {
        let q = self.modulus(tower);
        let mut weight = 1;
        let weights = radices.iter().map(|radix| {
            let constant = self.constant(tower, weight);
            weight = q.mul(weight, q.residue(self.code.towers[radix.index()].modulus));
            constant
        });
        weights.collect()
    }

    /// Appends Garner's algorithm: the digits of integers from their residues.
    ///
    /// # Errors
    /// Returns an error if the moduli are not coprime.
    pub(crate) fn join(&mut self, list: &str, x: &[BufferId], y: &[BufferId]) -> Result<(), Error> {
        let towers = self.towers(list).to_vec();
        let mut steps = Vec::with_capacity(towers.len());
        for (number, &tower) in towers.iter().enumerate() {
            let q = self.modulus(tower);
            let moduli = towers[..number].iter().map(|below| self.code.towers[below.index()].modulus);
            let weight = moduli.fold(1, |weight, modulus| q.mul(weight, q.residue(modulus)));
            let inverse = q.inverse(weight).ok_or(Error::NoInverse { modulus: q.value() })?;
            steps.push((self.weights(&towers[..number], tower), self.constant(tower, inverse)));
        }
        for word in self.blocks().flatten() {
            let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
            let mut digits: Vec<ValueId> = Vec::with_capacity(towers.len());
            for ((&tower, (weights, inverse)), (&x, &y)) in towers.iter().zip(&steps).zip(x.iter().zip(y)) {
                let mut digit = self.code.load(at(x), tower);
                if let Some(below) = self.weighted_sum(&digits, weights, tower) {
                    let rest = self.code.apply(Op::Vsub, [digit, below], None, tower);
                    digit = self.code.apply(Op::Vmul, [rest], Some(*inverse), tower);
                }
                self.code.store(digit, at(y), tower);
                digits.push(digit);
            }
        }
        self.code.end_pass();
        Ok(())
    }

    /// The sum of values times constants in a tower, if there is a value.
    fn weighted_sum(
        &mut self,
        values: &[ValueId],
        constants: &[ConstantId],
        tower: TowerId,
    ) -> Option<ValueId> {
        values.iter().zip(constants).fold(None, |sum, (&value, &constant)| {
            Some(match sum {
                None => self.code.apply(Op::Vmul, [value], Some(constant), tower),
                Some(sum) => self.code.butterfly(Op::Bfly, [sum, value], constant, tower)[0],
            })
        })
    }

    /// Appends the sums of scaled sources for each target.
    fn weighted_sums(
        &mut self,
        [(sources, from), (targets, to)]: [(&[BufferId], &[TowerId]); 2],
        constants: &Constants,
    ) {
        for words in self.blocks() {
            let mut scaled: Vec<Vec<ValueId>> = Vec::with_capacity(sources.len());
            for (number, (&source, &tower)) in sources.iter().zip(from).enumerate() {
                let vectors = words.iter().map(|&word| self.scaled(source, word, tower, constants, number));
                scaled.push(vectors.collect());
            }
            for (number, (&target, &tower)) in targets.iter().zip(to).enumerate() {
                let cofactors = &constants.cofactors[number];
                for (at, &word) in words.iter().enumerate() {
                    let values: Vec<ValueId> = scaled.iter().map(|vectors| vectors[at]).collect();
                    let sum = self.weighted_sum(&values, cofactors, tower).expect("a list has a modulus");
                    let sum = match constants.excess.get(number) {
                        Some(&excess) => self.code.with_scalar(Op::Vsubs, sum, excess, tower),
                        None => sum,
                    };
                    let memory = MemRef { buffer: target, word, mode: AddressMode::Linear };
                    self.code.store(sum, memory, tower);
                }
            }
        }
        self.code.end_pass();
    }

    /// A vector of scaled residues; centred ones are half the modulus too large.
    fn scaled(
        &mut self,
        buffer: BufferId,
        word: u32,
        tower: TowerId,
        constants: &Constants,
        number: usize,
    ) -> ValueId {
        let mut value = self.code.load(MemRef { buffer, word, mode: AddressMode::Linear }, tower);
        if let Some(inverse) = constants.inverses[number] {
            value = self.code.scale(value, inverse, tower);
        }
        match constants.halves.get(number) {
            Some(&half) => self.code.with_scalar(Op::Vadds, value, half, tower),
            None => value,
        }
    }

    fn constants(
        &mut self,
        from: &[TowerId],
        to: &[TowerId],
        Conversion { centred, t }: Conversion,
    ) -> Result<Constants, Error> {
        let moduli: Vec<u128> = from.iter().map(|tower| self.code.towers[tower.index()].modulus).collect();
        // The product of t and all moduli but one.
        let cofactor = |q: &Modulus, without: usize| {
            let others = moduli.iter().enumerate().filter(|&(number, _)| number != without);
            others.fold(q.residue(t), |product, (_, &other)| q.mul(product, q.residue(other)))
        };
        let mut constants = Constants::default();
        for (number, &tower) in from.iter().enumerate() {
            let s = self.modulus(tower);
            let inverse = s.inverse(cofactor(&s, number)).ok_or(Error::NoInverse { modulus: s.value() })?;
            constants.inverses.push((inverse != 1).then(|| self.number(inverse)));
            if centred {
                let half = self.number(s.value() / 2);
                constants.halves.push(half);
            }
        }
        for &tower in to {
            let q = self.modulus(tower);
            let cofactors: Vec<u128> = (0..from.len()).map(|number| cofactor(&q, number)).collect();
            if centred {
                let excess = moduli.iter().zip(&cofactors);
                let excess = excess.fold(0, |sum, (&s, &c)| q.add(sum, q.mul(q.residue(s / 2), c)));
                let excess = self.number(excess);
                constants.excess.push(excess);
            }
            let cofactors = cofactors.into_iter().map(|cofactor| self.constant(tower, cofactor));
            constants.cofactors.push(cofactors.collect());
        }
        Ok(constants)
    }

    /// Appends inverse transforms of operands, and returns the buffers of the coefficients.
    fn coefficients(&mut self, list: &str, operands: &[BufferId]) -> Result<Vec<BufferId>, Error> {
        let coefficients = self.buffers("coefficients", list, Role::Scratch);
        let towers = self.towers(list).to_vec();
        for ((&input, &output), tower) in operands.iter().zip(&coefficients).zip(towers) {
            self.transform(INVERSE, tower, Memory { input, output, second: Second::New, times: None })?;
        }
        Ok(coefficients)
    }

    /// Appends the code of an operation from values modulo `from` to values modulo `to`.
    ///
    /// # Errors
    /// Returns the first error.
    pub(crate) fn raise(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let (x, y) = (self.inputs("x", from), self.outputs("y", to));
        let coefficients = self.coefficients(from, &x)?;
        let raised = self.buffers("raised", to, Role::Scratch);
        self.convert([from, to], Conversion::PLAIN, &coefficients, &raised)?;
        let towers = self.towers(to).to_vec();
        for ((&input, &output), tower) in raised.iter().zip(&y).zip(towers) {
            let second = Second::Reuse(input);
            self.transform(FORWARD, tower, Memory { input, output, second, times: None })?;
        }
        self.claim(y, x);
        Ok(())
    }

    /// Appends the code of a division of values by the moduli of a list.
    ///
    /// # Errors
    /// Returns the first error.
    pub(crate) fn divide(&mut self, by: &str, conversion: Conversion) -> Result<(), Error> {
        let (x, p, y) = (self.inputs("x", "to"), self.inputs("p", by), self.outputs("y", "to"));
        let coefficients = self.coefficients(by, &p)?;
        // Until a result is known, its buffer holds what is subtracted.
        self.convert([by, "to"], conversion, &coefficients, &y)?;
        let z = self.code.buffer("z", self.n, Role::Scratch, self.towers(by)[0]);
        let (divisors, towers) = (self.towers(by).to_vec(), self.towers("to").to_vec());
        for ((&x, &y), tower) in x.iter().zip(&y).zip(towers) {
            let second = Second::Reuse(y);
            self.transform(FORWARD, tower, Memory { input: y, output: z, second, times: None })?;
            let q = self.modulus(tower);
            let divisors = divisors.iter().map(|divisor| self.code.towers[divisor.index()].modulus);
            let product = divisors.fold(1, |product, divisor| q.mul(product, q.residue(divisor)));
            let inverse = q.inverse(product).ok_or(Error::NoInverse { modulus: q.value() })?;
            let inverse = self.constant(tower, inverse);
            for word in self.blocks().flatten() {
                let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
                let operands = [x, z].map(|buffer| self.code.load(at(buffer), tower));
                let quotient = if self.dialect.gs_butterfly {
                    self.code.butterfly(Op::Gsbfly, operands, inverse, tower)[1]
                } else {
                    let difference = self.code.apply(Op::Vsub, operands, None, tower);
                    self.code.apply(Op::Vmul, [difference], Some(inverse), tower)
                };
                self.code.store(quotient, at(y), tower);
            }
            self.code.end_pass();
        }
        self.claim(y, [x, p].concat());
        Ok(())
    }
}

/// The numbers of a conversion.
#[derive(Default)]
struct Constants {
    /// For each source, the factor that scales its residues, unless it is 1.
    inverses: Vec<Option<Number>>,
    /// For each source, half its modulus, if residues are centred.
    halves: Vec<Number>,
    /// For each target, the factors of the scaled residues.
    cofactors: Vec<Vec<ConstantId>>,
    /// For each target, what the halves add to its sum.
    excess: Vec<Number>,
}

/// The conversion of x/t modulo the tower, times t: the claims' formula.
pub(crate) fn converted(
    domain: &mut Domain,
    sources: &[PolynomialId],
    tower: TowerId,
    Conversion { centred, t }: Conversion,
) -> PolynomialId {
    let moduli: Vec<Modulus> = sources.iter().map(|&source| *domain.modulus_of(source)).collect();
    let q = *domain.modulus(tower);
    let mut sum = None;
    for (number, (&source, s)) in sources.iter().zip(&moduli).enumerate() {
        let others =
            || moduli.iter().enumerate().filter(|&(other, _)| other != number).map(|(_, other)| other);
        let inverse = |factor: u128| s.inverse(s.residue(factor)).unwrap_or(0);
        let scale = others().fold(inverse(t), |scale, other| s.mul(scale, inverse(other.value())));
        let mut scaled = domain.multiple(source, scale);
        let half = s.value() / 2;
        if centred {
            scaled = domain.plus_minus(scaled, half)[0];
        }
        let mut residue = domain.residue_in(scaled, tower);
        if centred {
            residue = domain.plus_minus(residue, half)[1];
        }
        let cofactor = others().fold(q.residue(t), |product, other| q.mul(product, q.residue(other.value())));
        let term = domain.multiple(residue, cofactor);
        sum = Some(sum.map_or(term, |sum| domain.sum(sum, term)));
    }
    sum.expect("a list has a modulus")
}

/// The proof rule of a division: the operands are the claim's, those that are divided by last.
pub(crate) fn quotients(domain: &mut Domain, claim: &Claim, conversion: Conversion) -> Contract {
    let inputs: Vec<PolynomialId> = claim.inputs.iter().map(|&input| domain.input(input)).collect();
    let (x, p) = inputs.split_at(claim.outputs.len());
    let quotient = |&x: &PolynomialId| {
        let z = converted(domain, p, domain.tower_of(x), conversion);
        let q = *domain.modulus_of(x);
        let divisors = p.iter().map(|&p| domain.modulus_of(p).value());
        let product = divisors.fold(1, |product, divisor| q.mul(product, q.residue(divisor)));
        let difference = domain.difference(x, z);
        domain.multiple(difference, q.inverse(product).unwrap_or(0)).evaluations()
    };
    let outputs = x.iter().map(quotient).collect();
    Contract { inputs: inputs.iter().map(|input| input.evaluations()).collect(), outputs }
}
