//! Abstract interpretation of vector code over the [domain](super::domain).

use super::contract::Contract;
use super::domain::{Domain, Element, Factor, Words};
use super::fault::LoweringFault;
use crate::code::{BufferId, Claim, Code, Inst, MemRef, Tower, TowerId, ValueId};
use crate::number::Number;
use b512_asm::{Direction, Expression, Op, OperandKind};
use golden::Operation;

/// The abstract value of a vector.
type Vector = Vec<Element>;

/// The abstract state of values and memory.
pub(super) struct Proof<'c> {
    code: &'c Code,
    lanes: usize,
    domain: Domain,
    contracts: Vec<Contract>,
    memory: Vec<Vec<Option<Element>>>,
    values: Vec<Option<Vector>>,
}

impl<'c> Proof<'c> {
    /// The state before the first instruction.
    pub(super) fn new(code: &'c Code) -> Result<Self, LoweringFault> {
        let mut proof = Self {
            code,
            lanes: code.isa.vector_length() as usize,
            domain: Domain::new(code),
            contracts: Vec::new(),
            memory: code.buffers.iter().map(|buffer| vec![None; buffer.words as usize]).collect(),
            values: vec![None; code.values as usize],
        };
        proof.check_towers()?;
        for (number, claim) in code.claims.iter().enumerate() {
            proof.claim(number, claim)?;
        }
        Ok(proof)
    }

    fn check_towers(&self) -> Result<(), LoweringFault> {
        for number in 0..self.code.towers.len() as u32 {
            let id = TowerId(number);
            let Tower { n, modulus, root } = *self.domain.tower(id);
            if !self.domain.has_modulus(id) {
                return Err(LoweringFault::Modulus { tower: number, modulus });
            }
            if needs_root(self.code, id) && !self.domain.has_root(id) {
                return Err(LoweringFault::Ring { tower: number, n, modulus, root });
            }
        }
        Ok(())
    }

    /// Stores the operands of a claim in memory.
    fn claim(&mut self, number: usize, claim: &Claim) -> Result<(), LoweringFault> {
        let Claim { outputs, inputs, .. } = claim;
        let Some(stated) = self.code.stated(claim) else {
            return Err(LoweringFault::Operands { claim: number });
        };
        let code = self.code;
        let fault = |buffer: BufferId, problem| {
            let buffer = code.buffers[buffer.index()].name.clone();
            Err(LoweringFault::Claim { claim: stated.to_string(), buffer, problem })
        };
        for &id in outputs.iter().chain(inputs) {
            let buffer = &code.buffers[id.index()];
            if buffer.words != code.towers[buffer.tower.index()].n {
                return fault(id, "must have a word for each coefficient");
            }
        }
        let tower = code.buffers[outputs[0].index()].tower;
        let contract = Contract::new(&mut self.domain, &stated, inputs, tower);
        let contract = contract.ok_or_else(|| LoweringFault::Uncovered { claim: stated.to_string() })?;
        for (&input, &words) in inputs.iter().zip(&contract.inputs) {
            if !self.assume(input, words) {
                return fault(input, "has claims that disagree on its content");
            }
        }
        self.contracts.push(contract);
        Ok(())
    }

    /// Fills a buffer. Returns whether it was empty or had this content before.
    fn assume(&mut self, buffer: BufferId, words: Words) -> bool {
        let (mut agree, start) = (true, self.code.start(buffer));
        let size = self.code.buffers[buffer.index()].words;
        let words_of_buffer = start.word as usize..(start.word + size) as usize;
        for (word, content) in self.memory[start.buffer.index()][words_of_buffer].iter_mut().enumerate() {
            let element = self.domain.element(words, word as u32);
            agree &= content.replace(element).is_none_or(|before| before == element);
        }
        agree
    }

    /// Interprets an instruction.
    pub(super) fn step(&mut self, number: u32, inst: &Inst) -> Result<(), LoweringFault> {
        let fault = |problem| LoweringFault::Malformed { inst: number, op: inst.op.info().mnemonic, problem };
        let count = |kind, direction| {
            let specs = inst.op.info().operands.iter();
            specs.filter(|spec| spec.kind == kind && spec.direction == direction).count()
        };
        let reads = inst.sources.len() + usize::from(inst.constant.is_some());
        if reads != count(OperandKind::VReg, Direction::Read)
            || inst.results.len() != count(OperandKind::VReg, Direction::Write)
            || usize::from(inst.scalar.is_some()) != count(OperandKind::SReg, Direction::Read)
        {
            return Err(fault("has another number of operands"));
        }
        let mut sources: Vec<(ValueId, Vector)> = Vec::with_capacity(3);
        for value in inst.sources.iter() {
            let vector = match sources.iter().find(|(other, _)| *other == value) {
                Some((_, vector)) => Some(vector.clone()),
                // Removed temporarily, restored below.
                None => self.values.get_mut(value.index()).and_then(Option::take),
            };
            sources.push((value, vector.ok_or(fault("reads a value that is not defined"))?));
        }
        let results = self.results_of(number, inst, &sources);
        for (value, vector) in sources {
            self.values[value.index()] = Some(vector);
        }
        for (value, vector) in inst.results.iter().zip(results?) {
            let slot =
                self.values.get_mut(value.index()).ok_or(fault("defines a value that does not exist"))?;
            if slot.replace(vector).is_some() {
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
    ) -> Result<Vec<Vector>, LoweringFault> {
        let fault = |problem| LoweringFault::Malformed { inst: number, op: inst.op.info().mnemonic, problem };
        let factors = self.factors(inst).map_err(fault)?;
        let source = |which: usize| &sources[which].1;
        let half = self.lanes / 2;
        let unpack = |high: bool| {
            let at = |lane: usize| source(lane % 2)[lane / 2 + if high { half } else { 0 }];
            vec![(0..self.lanes).map(at).collect()]
        };
        let pack = |odd: bool| {
            let at = |lane: usize| source(lane / half)[lane % half * 2 + usize::from(odd)];
            vec![(0..self.lanes).map(at).collect()]
        };
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
            (Op::Unpklo, None) => unpack(false),
            (Op::Unpkhi, None) => unpack(true),
            (Op::Vaff, None) => {
                let map = inst.map.ok_or(fault("has no map of lanes"))?;
                vec![(0..self.lanes).map(|lane| source(0)[map.source(lane, self.lanes)]).collect()]
            }
            (Op::Pklo, None) => pack(false),
            (Op::Pkhi, None) => pack(true),
            (Op::Vmul | Op::Vmuls, Some(factors)) => {
                vec![self.each_lane(|proof, lane| {
                    let u = source(0)[lane];
                    let factor = factors[lane % factors.len()];
                    let product = proof.domain.scale(u, factor, inst.tower);
                    product.ok_or_else(|| proof.scaling(number, inst.op, lane, u, factor))
                })?]
            }
            (Op::Vmul, None) => {
                vec![self.each_lane(|proof, lane| {
                    let (u, v) = (source(0)[lane], source(1)[lane]);
                    let product = proof.domain.multiply(u, v, inst.tower);
                    product.ok_or_else(|| proof.combination(number, inst.op, lane, u, v))
                })?]
            }
            (Op::Vadds | Op::Vsubs, Some(factors)) => {
                vec![self.each_lane(|proof, lane| {
                    let u = source(0)[lane];
                    let factor = factors[lane % factors.len()];
                    let results = proof.domain.offset(u, factor, inst.tower);
                    let [sum, difference] =
                        results.ok_or_else(|| proof.scaling(number, inst.op, lane, u, factor))?;
                    Ok(if inst.op == Op::Vadds { sum } else { difference })
                })?]
            }
            (Op::Vadd, None) => vec![self.sums(number, inst, sources, None)?.0],
            (Op::Vsub, None) => vec![self.sums(number, inst, sources, None)?.1],
            (Op::Bfly | Op::Gsbfly, Some(factors)) => {
                let (sums, differences) = self.sums(number, inst, sources, Some(&factors))?;
                vec![sums, differences]
            }
            (Op::Bfly, None) => {
                let pair = |proof: &mut Self, lane: usize| {
                    let [u, v, w] = [0, 1, 2].map(|which| source(which)[lane]);
                    let product = proof.domain.multiply(v, w, inst.tower);
                    let product = product.ok_or_else(|| proof.combination(number, inst.op, lane, v, w))?;
                    let results = proof.domain.combine(u, product, inst.tower);
                    results.ok_or_else(|| proof.combination(number, inst.op, lane, u, product))
                };
                let pairs = (0..self.lanes).map(|lane| pair(self, lane)).collect::<Result<Vec<_>, _>>()?;
                vec![
                    pairs.iter().map(|[sum, _]| *sum).collect(),
                    pairs.iter().map(|[_, difference]| *difference).collect(),
                ]
            }
            (
                Op::Vload
                | Op::Vstore
                | Op::Unpklo
                | Op::Unpkhi
                | Op::Pklo
                | Op::Pkhi
                | Op::Vaff
                | Op::Vadd
                | Op::Vsub,
                Some(_),
            )
            | (Op::Vadds | Op::Vsubs | Op::Vmuls | Op::Gsbfly, None) => {
                return Err(fault("has a constant in place of a value, or a value in place of a constant"));
            }
            (Op::Halt | Op::Sload | Op::Aload | Op::Mload, _) => {
                return Err(fault("is not an instruction of vector code"));
            }
        })
    }

    /// The known numbers of an instruction: its constant or its scalar. A short
    /// list repeats.
    fn factors(&mut self, inst: &Inst) -> Result<Option<Vec<Factor>>, &'static str> {
        let code = self.code;
        let (tower, numbers): (TowerId, &[Number]) = match (inst.constant, inst.scalar) {
            (None, None) => return Ok(None),
            (Some(id), _) => {
                let constant = code.constants.get(id.index()).ok_or("has no such constant")?;
                (constant.tower, &constant.numbers)
            }
            (None, Some(id)) => {
                let scalar = code.scalars.get(id.index()).ok_or("has no such scalar")?;
                (scalar.tower, std::slice::from_ref(&scalar.number))
            }
        };
        if tower != inst.tower {
            return Err("has a constant or scalar of another tower");
        }
        if !numbers.len().is_power_of_two() || numbers.len() > self.lanes {
            return Err("has a constant that does not fill a vector");
        }
        let factors = numbers.iter().map(|&number| self.domain.factor(number, tower));
        factors.collect::<Option<_>>().map(Some).ok_or("uses a number that has no value")
    }

    fn each_lane(
        &mut self,
        mut result: impl FnMut(&mut Self, usize) -> Result<Element, LoweringFault>,
    ) -> Result<Vector, LoweringFault> {
        (0..self.lanes).map(|lane| result(self, lane)).collect()
    }

    /// The sums and differences of an instruction, butterflies with a multiplication before or after
    /// included.
    fn sums(
        &mut self,
        number: u32,
        inst: &Inst,
        sources: &[(ValueId, Vector)],
        factors: Option<&[Factor]>,
    ) -> Result<(Vector, Vector), LoweringFault> {
        let mut sums = Vector::with_capacity(self.lanes);
        let mut differences = Vector::with_capacity(self.lanes);
        for lane in 0..self.lanes {
            let factor = factors.map(|factors| factors[lane % factors.len()]);
            let (u, right) = (sources[0].1[lane], sources[1].1[lane]);
            let v = match factor {
                Some(factor) if inst.op == Op::Bfly => self.domain.scale(right, factor, inst.tower),
                _ => Some(right),
            };
            let pair = v.and_then(|v| self.domain.combine(u, v, inst.tower));
            let pair = pair.and_then(|[sum, difference]| match factor {
                Some(factor) if inst.op == Op::Gsbfly => {
                    Some([sum, self.domain.scale(difference, factor, inst.tower)?])
                }
                _ => Some([sum, difference]),
            });
            let [sum, difference] =
                pair.ok_or_else(|| self.combination(number, inst.op, lane, u, v.unwrap_or(right)))?;
            sums.push(sum);
            differences.push(difference);
        }
        Ok((sums, differences))
    }

    // Memory.

    /// The words of a load or store, lane by lane.
    fn words(&self, number: u32, memory: MemRef) -> Result<Vec<usize>, LoweringFault> {
        let buffer = &self.code.buffers[memory.buffer.index()];
        let words = (0..self.lanes).map(|lane| {
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

    /// Compares the outputs with the claims.
    pub(super) fn results(mut self) -> Result<(), LoweringFault> {
        let code = self.code;
        for (claim, contract) in code.claims.iter().zip(std::mem::take(&mut self.contracts)) {
            let stated = code.stated(claim).expect("the claim has been checked");
            let expressions = stated.expressions.iter().map(|expression| stated.text(expression));
            for ((claimed, &output), &words) in expressions.zip(&claim.outputs).zip(&contract.outputs) {
                self.require(&claimed, output, words)?;
            }
        }
        Ok(())
    }

    /// Compares a buffer with its required content.
    fn require(&mut self, claimed: &str, output: BufferId, words: Words) -> Result<(), LoweringFault> {
        let (start, size) = (self.code.start(output), self.code.buffers[output.index()].words);
        let found = &self.memory[start.buffer.index()][start.word as usize..(start.word + size) as usize];
        let domain = &mut self.domain;
        let expected = (0..size).map(|word| domain.element(words, word));
        let pairs = found.iter().copied().zip(expected.collect::<Vec<_>>());
        let differing = (0..size).zip(pairs).filter(|(_, (found, expected))| *found != Some(*expected));
        let differing: Vec<_> = differing.collect();
        let Some(&(word, (found, expected))) = differing.first() else { return Ok(()) };
        let claimed = if claimed.len() <= LONGEST { claimed } else { "the claim" };
        let difference = match found {
            Some(found) => domain.difference_text(found, claimed, expected),
            None => format!("is never written, and {claimed} has {} there", domain.describe(expected)),
        };
        let output = domain.buffer_name(output).to_owned();
        Err(LoweringFault::Result { output, word, difference, count: differing.len(), size })
    }

    /// The fault of an operation with a known factor.
    fn scaling(&self, inst: u32, op: Op, lane: usize, left: Element, factor: Factor) -> LoweringFault {
        let left = self.domain.describe(left);
        let right = Domain::factor_text(factor);
        LoweringFault::Combination { inst, lane, op: op.info().mnemonic, left, right }
    }

    fn combination(&self, inst: u32, op: Op, lane: usize, left: Element, right: Element) -> LoweringFault {
        let [left, right] = [left, right].map(|element| self.domain.describe(element));
        LoweringFault::Combination { inst, lane, op: op.info().mnemonic, left, right }
    }
}

/// The most bytes of a claimed expression in a message.
const LONGEST: usize = 60;

/// Whether the proof needs psi of a tower: a claim is about its ring, or a number is a power of
/// psi.
fn needs_root(code: &Code, tower: TowerId) -> bool {
    let is_root = |number: &Number| matches!(number, Number::Root { .. });
    let has_root = |claim: &&Claim| {
        let mut calls = claim.expressions.iter().flat_map(Expression::calls);
        calls.any(|call| golden::find(&call.operation).is_some_and(Operation::has_root))
    };
    let claims = code.claims.iter().filter(has_root);
    let mut buffers = claims.flat_map(|claim| claim.outputs.iter().chain(&claim.inputs));
    buffers.any(|buffer| code.buffers[buffer.index()].tower == tower)
        || code.scalars.iter().any(|scalar| scalar.tower == tower && is_root(&scalar.number))
        || code
            .constants
            .iter()
            .any(|constant| constant.tower == tower && constant.numbers.iter().any(is_root))
}

#[cfg(test)]
mod tests;
