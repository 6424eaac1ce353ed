//! The vector code computes its claims; [the parent](super) has the rules.

use crate::code::{BufferId, Code, Factor, Inst, MemRef, Tower, TowerId, ValueId};
use b512_asm::reg::VECTOR_LENGTH;
use b512_asm::{Direction, Function, Op, OperandKind};
use ring::modular::Modulus;
use ring::number::bit_reverse;
use std::collections::HashMap;
use thiserror::Error;

/// Where the proof that vector code computes its claims breaks down.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoweringFault {
    /// A ring without a transform.
    #[error("tower {tower}: {root:#x} is no primitive {}-th root of unity modulo {modulus:#x}", 2 * u64::from(*n))]
    Ring {
        /// The tower.
        tower: u32,
        /// Its degree.
        n: u32,
        /// Its modulus.
        modulus: u128,
        /// Its root.
        root: u128,
    },
    /// A claim about buffers that cannot hold what it says.
    #[error("claim {claim}: buffer `{buffer}` {problem}")]
    Claim {
        /// The claim, from 0.
        claim: usize,
        /// The buffer.
        buffer: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An instruction that does not have the operands of its operation.
    #[error("instruction {inst}: `{op}` {problem}")]
    Malformed {
        /// The instruction.
        inst: u32,
        /// Its operation.
        op: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A load or store beyond its buffer.
    #[error("instruction {inst}, lane {lane}: word {word} is beyond buffer `{buffer}`")]
    Beyond {
        /// The instruction.
        inst: u32,
        /// The lane.
        lane: usize,
        /// The buffer.
        buffer: String,
        /// The word.
        word: u64,
    },
    /// A load of a word that holds nothing yet.
    #[error("instruction {inst}, lane {lane}: word {word} of `{buffer}` is read before it is written")]
    Unwritten {
        /// The instruction.
        inst: u32,
        /// The lane.
        lane: usize,
        /// The buffer.
        buffer: String,
        /// The word.
        word: u32,
    },
    /// Operands that no rule combines.
    #[error("instruction {inst}, lane {lane}: `{op}` cannot combine {left} with {right}")]
    Combination {
        /// The instruction.
        inst: u32,
        /// The lane.
        lane: usize,
        /// Its operation.
        op: &'static str,
        /// The first operand, after the multiplication by a factor where the operation has one.
        left: String,
        /// The second operand, likewise.
        right: String,
    },
    /// A result that is not what the claim says.
    #[error("word {word} of `{output}` is {found}; as a result of {function} it must be {expected}")]
    Result {
        /// The output buffer.
        output: String,
        /// The word.
        word: u32,
        /// The claim's function.
        function: Function,
        /// What the claim says.
        expected: String,
        /// What the code leaves there.
        found: String,
    },
}

/// Proves that `code` computes its claims, for all data.
///
/// # Errors
/// The first place where the proof breaks down.
pub fn lowering(code: &Code) -> Result<(), LoweringFault> {
    let mut proof = Proof::new(code)?;
    for (number, inst) in code.insts.iter().enumerate() {
        proof.step(number as u32, inst)?;
    }
    proof.results()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct PolynomialId(u32);

/// A polynomial over the ring of its tower, modulo X^n + 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Polynomial {
    /// What an input buffer holds, by its coefficients or by its transform.
    Input(BufferId),
    Sum(PolynomialId, PolynomialId),
    Difference(PolynomialId, PolynomialId),
    Product(PolynomialId, PolynomialId),
    /// Coefficient by coefficient.
    Pointwise(PolynomialId, PolynomialId),
}

/// `2^log_scale psi^twist [X^coefficient] (polynomial mod (X^(2^log_degree) - psi^root))`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Element {
    polynomial: PolynomialId,
    root: u32,
    coefficient: u32,
    twist: u32,
    log_scale: i16,
    log_degree: u8,
}

type Vector = Vec<Element>;

struct Proof<'c> {
    code: &'c Code,
    polynomials: Vec<(Polynomial, TowerId)>,
    known: HashMap<(Polynomial, TowerId), PolynomialId>,
    memory: Vec<Vec<Option<Element>>>,
    values: Vec<Option<Vector>>,
}

/// Whether the proof of a claim about the tower needs psi: only constants bring it in.
fn needs_root(code: &Code, tower: TowerId, function: Function) -> bool {
    function.needs_root() || code.constants.iter().any(|constant| constant.tower == tower)
}

impl<'c> Proof<'c> {
    fn new(code: &'c Code) -> Result<Self, LoweringFault> {
        let mut proof = Self {
            code,
            polynomials: Vec::new(),
            known: HashMap::new(),
            memory: code.buffers.iter().map(|buffer| vec![None; buffer.words as usize]).collect(),
            values: vec![None; code.values as usize],
        };
        for (number, claim) in code.claims.iter().enumerate() {
            let tower = &code.towers[claim.tower.index()];
            if needs_root(code, claim.tower, claim.function) && !has_root(tower) {
                let (Tower { n, modulus, root }, tower) = (*tower, claim.tower.0);
                return Err(LoweringFault::Ring { tower, n, modulus, root });
            }
            let fault = |buffer: BufferId, problem| {
                let buffer = code.buffers[buffer.index()].name.clone();
                Err(LoweringFault::Claim { claim: number, buffer, problem })
            };
            if code.buffers[claim.output.index()].words != tower.n {
                return fault(claim.output, "must have a word for each coefficient");
            }
            if claim.inputs.len() != claim.function.arity() {
                return fault(claim.output, "is claimed of a wrong number of operands");
            }
            for &input in &claim.inputs {
                let polynomial = proof.intern(Polynomial::Input(input), claim.tower);
                let words = proof.memory[input.index()].len();
                if words != tower.n as usize {
                    return fault(input, "must have a word for each coefficient");
                }
                for word in 0..words {
                    let element = match claim.function {
                        Function::Intt => evaluation(polynomial, tower, word as u32),
                        _ => coefficient(polynomial, tower, word as u32),
                    };
                    let before = proof.memory[input.index()][word].replace(element);
                    if before.is_some_and(|before| before != element) {
                        return fault(input, "is the input of claims that disagree on what it holds");
                    }
                }
            }
        }
        Ok(proof)
    }

    /// The polynomial's number; operands of commutative operations are in order.
    fn intern(&mut self, polynomial: Polynomial, tower: TowerId) -> PolynomialId {
        let next = PolynomialId(self.polynomials.len() as u32);
        *self.known.entry((polynomial, tower)).or_insert_with_key(|&key| {
            self.polynomials.push(key);
            next
        })
    }

    fn step(&mut self, number: u32, inst: &Inst) -> Result<(), LoweringFault> {
        let fault = |problem| LoweringFault::Malformed { inst: number, op: inst.op.info().mnemonic, problem };
        let count = |direction| {
            let specs = inst.op.info().operands.iter();
            specs.filter(|spec| spec.kind == OperandKind::VReg && spec.direction == direction).count()
        };
        let reads = inst.sources.len() + usize::from(inst.constant.is_some());
        if reads != count(Direction::Read) || inst.results.len() != count(Direction::Write) {
            return Err(fault("has another number of operands"));
        }
        let mut sources = Vec::with_capacity(2);
        for value in inst.sources.iter() {
            let vector = self.values.get_mut(value.index()).and_then(Option::take);
            // Taken out for now, and put back below.
            sources.push((value, vector.ok_or(fault("reads a value that is not defined, or one twice"))?));
        }
        let results = self.results_of(number, inst, &sources, fault);
        for (value, vector) in sources {
            self.values[value.index()] = Some(vector);
        }
        for (value, vector) in inst.results.iter().zip(results?) {
            let place =
                self.values.get_mut(value.index()).ok_or(fault("defines a value that does not exist"))?;
            if place.replace(vector).is_some() {
                return Err(fault("defines a value again"));
            }
        }
        Ok(())
    }

    fn results_of(
        &mut self,
        number: u32,
        inst: &Inst,
        sources: &[(ValueId, Vector)],
        fault: impl Fn(&'static str) -> LoweringFault,
    ) -> Result<Vec<Vector>, LoweringFault> {
        let code = self.code;
        let source = |which: usize| &sources[which].1;
        let factors = match inst.constant {
            None => None,
            Some(id) => {
                let constant = code.constants.get(id.index()).ok_or(fault("has no such constant"))?;
                if constant.tower != inst.tower {
                    return Err(fault("has a constant of another tower"));
                }
                if !constant.factors.len().is_power_of_two() || constant.factors.len() > VECTOR_LENGTH {
                    return Err(fault("has a constant that does not fill a vector"));
                }
                Some(&constant.factors)
            }
        };
        let lanes = |f: &mut dyn FnMut(usize) -> Result<Element, LoweringFault>| {
            (0..VECTOR_LENGTH).map(f).collect::<Result<Vector, _>>()
        };
        let half = VECTOR_LENGTH / 2;
        let pick = |lane: usize, high: bool| {
            let at = lane / 2 + if high { half } else { 0 };
            source(lane % 2)[at]
        };
        let pack = |lane: usize, odd: bool| source(lane / half)[lane % half * 2 + usize::from(odd)];
        Ok(match (inst.op, factors) {
            (Op::Vload, None) => {
                let memory = inst.memory.ok_or(fault("names no memory"))?;
                vec![self.load(number, memory)?]
            }
            (Op::Vstore, None) => {
                let memory = inst.memory.ok_or(fault("names no memory"))?;
                self.store(number, memory, source(0))?;
                Vec::new()
            }
            (Op::Unpklo, None) => vec![lanes(&mut |lane| Ok(pick(lane, false)))?],
            (Op::Unpkhi, None) => vec![lanes(&mut |lane| Ok(pick(lane, true)))?],
            (Op::Pklo, None) => vec![lanes(&mut |lane| Ok(pack(lane, false)))?],
            (Op::Pkhi, None) => vec![lanes(&mut |lane| Ok(pack(lane, true)))?],
            (Op::Vmul, Some(factors)) => {
                let scaled = |lane| {
                    let element = source(0)[lane];
                    let product = self.scale(element, factors[lane % factors.len()], inst.tower);
                    product.ok_or_else(|| self.combination(number, inst.op, lane, element, element))
                };
                vec![(0..VECTOR_LENGTH).map(scaled).collect::<Result<_, _>>()?]
            }
            (Op::Vmuls, None) => {
                let over_n = Factor { exponent: 0, scaled: true };
                let scaled = |lane| {
                    let element = source(0)[lane];
                    let product = self.scale(element, over_n, inst.tower);
                    product.ok_or_else(|| self.combination(number, inst.op, lane, element, element))
                };
                vec![(0..VECTOR_LENGTH).map(scaled).collect::<Result<_, _>>()?]
            }
            (Op::Vmul, None) => {
                vec![lanes(&mut |lane| {
                    let (u, v) = (source(0)[lane], source(1)[lane]);
                    let product = self.product(u, v, inst.tower);
                    product.ok_or_else(|| self.combination(number, inst.op, lane, u, v))
                })?]
            }
            (Op::Vadd | Op::Vsub | Op::Bfly | Op::Gsbfly, factors) => {
                let both = matches!(inst.op, Op::Bfly | Op::Gsbfly);
                if both != factors.is_some() {
                    return Err(fault("has a value in the place of a constant, or the reverse"));
                }
                let mut sums = Vector::with_capacity(VECTOR_LENGTH);
                let mut differences = Vector::with_capacity(VECTOR_LENGTH);
                for lane in 0..VECTOR_LENGTH {
                    let factor = factors.map(|factors| factors[lane % factors.len()]);
                    let (u, right) = (source(0)[lane], source(1)[lane]);
                    let v = match factor {
                        Some(factor) if inst.op == Op::Bfly => self.scale(right, factor, inst.tower),
                        _ => Some(right),
                    };
                    let pair = v.and_then(|v| self.combine(u, v, inst.tower));
                    let pair = pair.and_then(|[sum, difference]| match factor {
                        Some(factor) if inst.op == Op::Gsbfly => {
                            Some([sum, self.scale(difference, factor, inst.tower)?])
                        }
                        _ => Some([sum, difference]),
                    });
                    let [sum, difference] =
                        pair.ok_or_else(|| self.combination(number, inst.op, lane, u, v.unwrap_or(right)))?;
                    sums.push(sum);
                    differences.push(difference);
                }
                match inst.op {
                    Op::Vadd => vec![sums],
                    Op::Vsub => vec![differences],
                    _ => vec![sums, differences],
                }
            }
            _ => return Err(fault("has no place in vector code")),
        })
    }

    // The rules.

    /// Whether the element is one of the tower's.
    fn belongs(&self, element: Element, tower: TowerId) -> bool {
        self.polynomials[element.polynomial.0 as usize].1 == tower
    }

    fn scale(&self, u: Element, factor: Factor, tower: TowerId) -> Option<Element> {
        let ring = &self.code.towers[tower.index()];
        let log_n = if factor.scaled { ring.n.trailing_zeros() as i16 } else { 0 };
        let twist = u.twist.wrapping_add(factor.exponent) & mask(ring);
        let log_scale = u.log_scale.checked_sub(log_n)?;
        self.belongs(u, tower).then_some(Element { twist, log_scale, ..u })
    }

    /// Sum and difference: split, join or linear.
    fn combine(&mut self, u: Element, v: Element, tower: TowerId) -> Option<[Element; 2]> {
        let Tower { n, .. } = self.code.towers[tower.index()];
        let mask = mask(&self.code.towers[tower.index()]);
        if !self.belongs(u, tower) || !self.belongs(v, tower) {
            return None;
        }
        if u.log_degree != v.log_degree || u.log_scale != v.log_scale {
            return None;
        }
        let degree = 1u32 << u.log_degree;
        if u.polynomial != v.polynomial {
            let (p, q) = (u.polynomial, v.polynomial);
            let same = Element { polynomial: p, ..v } == u;
            return same.then(|| {
                let sum = self.intern(Polynomial::Sum(p.min(q), p.max(q)), tower);
                let difference = self.intern(Polynomial::Difference(p, q), tower);
                [sum, difference].map(|polynomial| Element { polynomial, ..u })
            });
        }
        if u.root == v.root {
            let a = v.twist.wrapping_sub(u.twist) & mask;
            let halves = u.coefficient < degree / 2 && v.coefficient == u.coefficient + degree / 2;
            let splits = halves && (2 * a) & mask == u.root;
            let half = Element { log_degree: u.log_degree.wrapping_sub(1), ..u };
            return splits.then(|| [a, (a + n) & mask].map(|root| Element { root, ..half }));
        }
        let other = Element { root: (u.root + n) & mask, ..u };
        let joins = other == v && degree < n;
        let whole = Element {
            log_degree: u.log_degree + 1,
            root: (2 * u.root) & mask,
            log_scale: u.log_scale.checked_add(1)?,
            ..u
        };
        let upper =
            Element { coefficient: u.coefficient + degree, twist: (u.twist + u.root) & mask, ..whole };
        joins.then_some([whole, upper])
    }

    fn product(&mut self, u: Element, v: Element, tower: TowerId) -> Option<Element> {
        let ring = self.code.towers[tower.index()];
        if !self.belongs(u, tower) || !self.belongs(v, tower) {
            return None;
        }
        let same = (u.log_degree, u.root, u.coefficient) == (v.log_degree, v.root, v.coefficient);
        let (p, q) = (u.polynomial.min(v.polynomial), u.polynomial.max(v.polynomial));
        let polynomial = match 1u32 << u.log_degree {
            1 => Polynomial::Product(p, q),
            degree if degree == ring.n => Polynomial::Pointwise(p, q),
            _ => return None,
        };
        let log_scale = u.log_scale.checked_add(v.log_scale)?;
        let twist = (u.twist + v.twist) & mask(&ring);
        same.then(|| Element { polynomial: self.intern(polynomial, tower), twist, log_scale, ..u })
    }

    // Memory.

    /// The words of a load or store, lane by lane.
    fn words(&self, number: u32, memory: MemRef) -> Result<Vec<usize>, LoweringFault> {
        let buffer = &self.code.buffers[memory.buffer.index()];
        let words = (0..VECTOR_LENGTH).map(|lane| {
            let word = u64::from(memory.word) + u64::from(memory.mode.element(lane as u32));
            if word < u64::from(buffer.words) {
                Ok(word as usize)
            } else {
                Err(LoweringFault::Beyond { inst: number, lane, buffer: buffer.name.clone(), word })
            }
        });
        words.collect()
    }

    fn load(&self, number: u32, memory: MemRef) -> Result<Vector, LoweringFault> {
        let words = self.words(number, memory)?;
        let lanes = words.into_iter().enumerate().map(|(lane, word)| {
            self.memory[memory.buffer.index()][word].ok_or_else(|| LoweringFault::Unwritten {
                inst: number,
                lane,
                buffer: self.code.buffers[memory.buffer.index()].name.clone(),
                word: word as u32,
            })
        });
        lanes.collect()
    }

    fn store(&mut self, number: u32, memory: MemRef, vector: &Vector) -> Result<(), LoweringFault> {
        let words = self.words(number, memory)?;
        for (word, &element) in words.into_iter().zip(vector) {
            self.memory[memory.buffer.index()][word] = Some(element);
        }
        Ok(())
    }

    fn results(mut self) -> Result<(), LoweringFault> {
        let code = self.code;
        for claim in &code.claims {
            let tower = &code.towers[claim.tower.index()];
            let inputs: Vec<PolynomialId> = claim
                .inputs
                .iter()
                .map(|&input| self.intern(Polynomial::Input(input), claim.tower))
                .collect();
            let ordered = |ids: &[PolynomialId]| (ids[0].min(ids[1]), ids[0].max(ids[1]));
            let polynomial = match claim.function {
                Function::Ntt | Function::Intt => inputs[0],
                function => {
                    let (p, q) = ordered(&inputs);
                    let polynomial = match function {
                        Function::Polymul => Polynomial::Product(p, q),
                        Function::Add => Polynomial::Sum(p, q),
                        Function::Sub => Polynomial::Difference(inputs[0], inputs[1]),
                        _ => Polynomial::Pointwise(p, q),
                    };
                    self.intern(polynomial, claim.tower)
                }
            };
            for word in 0..tower.n {
                let expected = match claim.function {
                    Function::Ntt => evaluation(polynomial, tower, word),
                    _ => coefficient(polynomial, tower, word),
                };
                let found = self.memory[claim.output.index()][word as usize];
                if found != Some(expected) {
                    return Err(LoweringFault::Result {
                        output: code.buffers[claim.output.index()].name.clone(),
                        word,
                        function: claim.function,
                        expected: self.describe(expected),
                        found: found.map_or_else(|| "never written".to_owned(), |found| self.describe(found)),
                    });
                }
            }
        }
        Ok(())
    }

    // Messages.

    fn combination(&self, inst: u32, op: Op, lane: usize, left: Element, right: Element) -> LoweringFault {
        let (left, right) = (self.describe(left), self.describe(right));
        LoweringFault::Combination { inst, lane, op: op.info().mnemonic, left, right }
    }

    fn describe(&self, element: Element) -> String {
        let Element { polynomial, root, coefficient, twist, log_scale, log_degree } = element;
        let mut text = String::new();
        if log_scale != 0 {
            text += &format!("2^{log_scale} ");
        }
        if twist != 0 {
            text += &format!("psi^{twist} ");
        }
        let degree = 1u32 << log_degree;
        text + &format!("[X^{coefficient}] ({} mod X^{degree} - psi^{root})", self.name(polynomial))
    }

    fn name(&self, id: PolynomialId) -> String {
        let binary = |sign, p, q| format!("({} {sign} {})", self.name(p), self.name(q));
        match self.polynomials[id.0 as usize].0 {
            Polynomial::Input(buffer) => self.code.buffers[buffer.index()].name.clone(),
            Polynomial::Sum(p, q) => binary('+', p, q),
            Polynomial::Difference(p, q) => binary('-', p, q),
            Polynomial::Product(p, q) => binary('*', p, q),
            Polynomial::Pointwise(p, q) => binary('.', p, q),
        }
    }
}

/// 2n - 1: exponents of psi are taken modulo 2n.
fn mask(tower: &Tower) -> u32 {
    2 * tower.n - 1
}

/// Whether psi^n = -1 and n, a power of two, has an inverse: it has one modulo every odd number.
fn has_root(tower: &Tower) -> bool {
    let power = |modulus: Modulus| {
        tower.root < tower.modulus && modulus.pow(tower.root, tower.n.into()) == tower.modulus - 1
    };
    tower.n.is_power_of_two() && tower.n < 1 << 30 && Modulus::new(tower.modulus).is_ok_and(power)
}

/// The coefficient of X^index.
fn coefficient(polynomial: PolynomialId, tower: &Tower, index: u32) -> Element {
    let log_degree = tower.n.trailing_zeros() as u8;
    Element { polynomial, root: tower.n, coefficient: index, twist: 0, log_scale: 0, log_degree }
}

/// The value at psi^(2 bitrev(index) + 1).
fn evaluation(polynomial: PolynomialId, tower: &Tower, index: u32) -> Element {
    let root = 2 * bit_reverse(index as usize, tower.n.trailing_zeros()) as u32 + 1;
    Element { polynomial, root, coefficient: 0, twist: 0, log_scale: 0, log_degree: 0 }
}
