//! Proof that a program computes its claims.
//!
//! The program is decoded to vector code, with its tables as known numbers. The checker of schedules proves
//! that both compute the same, the checker of lowerings that the code computes the claims.

use super::RewriteError;
use super::decode::{Decoded, decode};
use crate::check::{self, LoweringFault, ScheduleFault};
use crate::code::{BufferId, Claim, Code, Constant, Few, Inst, Tower, TowerId, ValueId};
use crate::number::{Expression, Number};
use crate::parameters::Parameters;
use b512_asm::{Op, Program, Role};
use golden::Kind;
use ring::modular::Modulus;
use rustc_hash::FxHashMap;
use thiserror::Error;

/// The gap in a proof. The program may still compute its claims.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProofError {
    /// A program without claims.
    #[error("the program has no claim to prove")]
    NoClaim,
    /// A claim about symbols or rings that vector code cannot have.
    #[error("no proof of `{claim}`: {problem}")]
    Claim {
        /// The claim.
        claim: String,
        /// The reason.
        problem: &'static str,
    },
    /// An input whose words no claim describes.
    #[error("no proof: no claim names the input `{0}`")]
    Unnamed(String),
    /// An instruction that the proof cannot follow.
    #[error("no proof: {0}")]
    Instruction(#[from] RewriteError),
    /// A program that the checker of schedules cannot follow.
    #[error("no proof: {0}")]
    Schedule(#[from] ScheduleFault),
    /// The step at which the proof of the claims ends.
    #[error("no proof: {0}")]
    Lowering(LoweringFault),
}

/// Proves that a program computes its claims, for all data.
///
/// # Errors
/// Returns the step at which the proof fails.
pub fn prove(program: &Program) -> Result<(), ProofError> {
    if program.claims.is_empty() {
        return Err(ProofError::NoClaim);
    }
    let mut decoded = decode(program)?;
    let claims = claims(program, &mut decoded.code)?;
    find_roots(&mut decoded.code);
    know_constants(program, &mut decoded)?;
    // The claims of the code are those of the program; the order of settings may differ.
    let scheduled = check::schedule(&decoded.code, &Program { claims: Vec::new(), ..program.clone() });
    if let Err(ScheduleFault::Code(fault)) = scheduled {
        return Err(decoded.fault(program, fault).into());
    }
    scheduled?;
    decoded.code.claims = claims;
    let number = |inst: u32| decoded.places[inst as usize];
    check::lowering(&decoded.code).map_err(|fault| ProofError::Lowering(fault.renumbered(number)))
}

impl ProofError {
    /// The instruction at which the proof ends, if it ends at one.
    pub fn instruction(&self) -> Option<usize> {
        match self {
            Self::Instruction(error) => error.instruction(),
            Self::Schedule(ScheduleFault::Instruction { at, .. }) => Some(*at),
            Self::Lowering(fault) => fault.instruction().map(|inst| inst as usize),
            Self::NoClaim | Self::Claim { .. } | Self::Unnamed(_) | Self::Schedule(_) => None,
        }
    }
}

/// The claims of a program over the code's buffers, which get their towers.
fn claims(program: &Program, code: &mut Code) -> Result<Vec<Claim>, ProofError> {
    let mut claims = Vec::new();
    let mut rings: FxHashMap<TowerId, Tower> = FxHashMap::default();
    for claim in &program.claims {
        let error = |problem| ProofError::Claim { claim: claim.to_string(), problem };
        let number = |name| claim.number(name);
        let (Some(n), Some(modulus)) = (number("n").and_then(|n| u32::try_from(n).ok()), number("modulus"))
        else {
            return Err(error("its settings are invalid"));
        };
        let ring = Tower { n, modulus, root: number("root").unwrap_or(0) };
        // Without arithmetic, no instruction has the modulus.
        let tower = code.towers.iter().position(|tower| tower.modulus == modulus);
        let tower = tower.map_or_else(|| code.tower(ring), |tower| TowerId(tower as u32));
        let ring = rings.entry(tower).or_insert(ring);
        if ring.root == 0 {
            ring.root = number("root").unwrap_or(0);
        }
        if (n, number("root").unwrap_or(ring.root)) != (ring.n, ring.root) {
            return Err(error("another claim has its modulus, but another degree or root"));
        }
        code.towers[tower.index()] = *ring;
        let mut buffers = |names: &[String]| {
            let buffer = |name: &String| {
                let known = code.buffers.iter().rposition(|buffer| buffer.name == *name)?;
                code.buffers[known].tower = tower;
                Some(BufferId(known as u32))
            };
            names
                .iter()
                .map(buffer)
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| error("its symbols are unknown"))
        };
        let (outputs, inputs) = (buffers(&claim.outputs)?, buffers(&claim.inputs)?);
        let of_rings = [Kind::Degree, Kind::Modulus, Kind::Root];
        let is_parameter = |name: &str| {
            let operations = claim.calls().filter_map(|call| golden::find(&call.operation));
            let mut specs = operations.flat_map(|operation| operation.settings());
            specs.any(|spec| spec.name == name && !of_rings.contains(&spec.kind))
        };
        let parameters = claim.settings.iter().filter(|(name, _)| is_parameter(name)).cloned().collect();
        let (expressions, parameters) = (claim.expressions.clone(), Parameters::new(parameters));
        claims.push(Claim { outputs, expressions, inputs, parameters });
    }
    let is_named = |name: &String| program.claims.iter().any(|claim| claim.inputs.contains(name));
    let mut inputs = program.symbols.iter().filter(|symbol| symbol.role == Role::Input);
    if let Some(symbol) = inputs.find(|symbol| !is_named(&symbol.name)) {
        return Err(ProofError::Unnamed(symbol.name.clone()));
    }
    let sorted = |mut claim: b512_asm::Claim| {
        claim.settings.sort_by(|(a, _), (b, _)| a.cmp(b));
        claim
    };
    for (claim, given) in claims.iter().zip(&program.claims) {
        if code.stated(claim).map(sorted) != Some(sorted(given.clone())) {
            let problem = "its inputs and outputs are in several rings";
            return Err(ProofError::Claim { claim: given.to_string(), problem });
        }
    }
    Ok(claims)
}

/// Gives each ring without a claimed psi one that the initial words have, for products by transforms: any
/// psi will do.
fn find_roots(code: &mut Code) {
    let segments = code.buffers.iter().flat_map(|buffer| &buffer.content.segments);
    let words: Vec<u128> = segments.flat_map(|segment| segment.words.iter().copied()).collect();
    for tower in code.towers.iter_mut().filter(|tower| tower.n > 1 && tower.root == 0) {
        let Ok(modulus) = Modulus::new(tower.modulus) else { continue };
        let is_root =
            |&&word: &&u128| word < tower.modulus && modulus.pow(word, tower.n.into()) == tower.modulus - 1;
        tower.root = words.iter().find(is_root).copied().unwrap_or(0);
    }
}

/// Turns constants into known numbers: multiplications by loaded ones have constants, and no code loads
/// them.
///
/// # Errors
/// Returns the first instruction that uses a constant in another way.
fn know_constants(program: &Program, decoded: &mut Decoded) -> Result<(), RewriteError> {
    let code = &mut decoded.code;
    let numbers: Vec<FxHashMap<u128, Number>> = code.towers.iter().map(roots).collect();
    for scalar in 0..code.scalars.len() {
        let tower = code.scalars[scalar].tower;
        let Number::Expression(id) = code.scalars[scalar].number else { continue };
        if let Expression::Value(value) = code.expressions[id.index()]
            && let Some(&root) = numbers[tower.index()].get(&value)
        {
            code.scalars[scalar].number = root;
        }
    }
    let mut words = initial_words(code);
    let mut known: FxHashMap<ValueId, Vec<u128>> = FxHashMap::default();
    let (mut insts, mut places) = (Vec::new(), Vec::new());
    for (mut inst, &place) in std::mem::take(&mut code.insts).into_iter().zip(&decoded.places) {
        let error = |problem: &str| {
            let (at, problem) = (place as usize, problem.to_owned());
            Err(RewriteError::Instruction { at, instr: program.instructions[at].to_string(), problem })
        };
        match inst.memory {
            Some(memory) if inst.op == Op::Vload => {
                let loaded = memory.words(code.isa).map(|word| words.get(&word).copied());
                if let Some(loaded) = loaded.clone().collect::<Option<Vec<_>>>() {
                    inst.results.iter().for_each(|value| _ = known.insert(value, loaded.clone()));
                    continue;
                }
                if loaded.flatten().next().is_some() {
                    return error("loads constants together with other words, which no rule covers");
                }
            }
            // From here on, they are no longer what they were before the run.
            Some(memory) => memory.words(code.isa).for_each(|word| _ = words.remove(&word)),
            None => multiply_by_constant(code, &mut inst, &known, &numbers),
        }
        if inst.sources.iter().any(|value| known.contains_key(&value)) {
            return error(
                "reads constants from memory other than as the factors of `vmul`, `bfly` or `gsbfly`",
            );
        }
        insts.push(inst);
        places.push(place);
    }
    (code.insts, decoded.places) = (insts, places);
    Ok(())
}

/// Gives a product whose last factor is known that constant.
fn multiply_by_constant(
    code: &mut Code,
    inst: &mut Inst,
    known: &FxHashMap<ValueId, Vec<u128>>,
    numbers: &[FxHashMap<u128, Number>],
) {
    if !matches!(inst.op, Op::Vmul | Op::Bfly | Op::Gsbfly) {
        return;
    }
    let mut sources = inst.sources.as_slice().to_vec();
    // A product may have its factors in any order.
    if inst.op == Op::Vmul && known.contains_key(&sources[0]) {
        sources.reverse();
    }
    let Some(words) = sources.last().and_then(|last| known.get(last)) else { return };
    let tower = inst.tower;
    let number = |&word: &u128| {
        let root = numbers[tower.index()].get(&word).copied();
        root.unwrap_or_else(|| code.number(Expression::Value(word)))
    };
    let constant = Constant { tower, numbers: words.iter().map(number).collect() };
    sources.pop();
    (inst.sources, inst.constant) = (Few::of(&sources), Some(code.constant(constant)));
}

/// The words of the memory before a run that are the same in every run, by their address.
fn initial_words(code: &Code) -> FxHashMap<u32, u128> {
    let mut words = FxHashMap::default();
    for segment in code.buffers.iter().flat_map(|buffer| &buffer.content.segments) {
        words.extend((segment.start..).zip(segment.words.iter().copied()));
    }
    for (number, buffer) in (0..).zip(&code.buffers).filter(|(_, buffer)| buffer.role == Role::Input) {
        (code.start(BufferId(number)).word..)
            .take(buffer.words as usize)
            .for_each(|word| _ = words.remove(&word));
    }
    words
}

/// The powers of a tower's psi, and those divided by n, by their values.
fn roots(tower: &Tower) -> FxHashMap<u128, Number> {
    let mut roots = FxHashMap::default();
    let Ok(modulus) = Modulus::new(tower.modulus) else { return roots };
    let Some(over_n) = modulus.inverse(modulus.residue(tower.n.into())) else { return roots };
    if tower.root < 2 || tower.root >= tower.modulus {
        return roots;
    }
    for (first, scaled) in [(1, false), (over_n, true)] {
        let mut power = first;
        for exponent in 0..2 * tower.n {
            roots.entry(power).or_insert(Number::Root { exponent, scaled });
            power = modulus.mul(power, tower.root);
        }
    }
    roots
}
