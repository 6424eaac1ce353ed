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
    /// A program that cannot be decoded.
    #[error(transparent)]
    Decode(#[from] RewriteError),
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
    let Decoded { mut code, .. } = decode(program)?;
    let claims = claims(program, &mut code)?;
    find_roots(&mut code);
    let places = know_tables(&mut code);
    // The claims of the code are those of the program; the order of settings may differ.
    check::schedule(&code, &Program { claims: Vec::new(), ..program.clone() })?;
    code.claims = claims;
    let number = |inst: u32| places[inst as usize];
    check::lowering(&code).map_err(|fault| ProofError::Lowering(fault.renumbered(number)))
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

/// Gives each ring without a claimed psi one that its tables have, for products by transforms: any psi will
/// do.
fn find_roots(code: &mut Code) {
    let tables = code.buffers.iter().filter(|buffer| buffer.role == Role::Table);
    let words: Vec<u128> = tables.flat_map(|table| table.content.iter().copied()).collect();
    for tower in code.towers.iter_mut().filter(|tower| tower.n > 1 && tower.root == 0) {
        let Ok(modulus) = Modulus::new(tower.modulus) else { continue };
        let is_root =
            |&&word: &&u128| word < tower.modulus && modulus.pow(word, tower.n.into()) == tower.modulus - 1;
        tower.root = words.iter().find(is_root).copied().unwrap_or(0);
    }
}

/// Turns the words of tables into known numbers: multiplications by loaded tables have constants, and no code
/// loads the tables. Returns the number of each instruction before.
fn know_tables(code: &mut Code) -> Vec<u32> {
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
    let words = table_words(code);
    let mut known: FxHashMap<ValueId, Vec<u128>> = FxHashMap::default();
    let (mut insts, mut places) = (Vec::new(), Vec::new());
    for (place, mut inst) in (0..).zip(std::mem::take(&mut code.insts)) {
        if inst.op == Op::Vload
            && let Some(memory) = inst.memory
            && let Some(table) =
                memory.words(code.isa).map(|word| words.get(&word).copied()).collect::<Option<Vec<_>>>()
        {
            inst.results.iter().for_each(|value| _ = known.insert(value, table.clone()));
            continue;
        }
        multiply_by_constant(code, &mut inst, &known, &numbers);
        insts.push(inst);
        places.push(place);
    }
    code.insts = insts;
    places
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

/// The words of tables that no instruction overwrites, by their address.
fn table_words(code: &Code) -> FxHashMap<u32, u128> {
    let mut words = FxHashMap::default();
    for buffer in code.buffers.iter().filter(|buffer| buffer.role == Role::Table) {
        let start = buffer.within.map_or(0, |start| start.word);
        words.extend((start..).zip(buffer.content.iter().copied()));
    }
    for memory in code.insts.iter().filter(|inst| inst.op == Op::Vstore).filter_map(|inst| inst.memory) {
        memory.words(code.isa).for_each(|word| _ = words.remove(&word));
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
