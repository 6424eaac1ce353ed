//! Programs written by hand, in another order and with other registers.
//!
//! A program is decoded to vector code, which is scheduled as generated code is, under several settings. The
//! fastest schedule becomes the program's instructions; its memory, symbols and claims stay. The checker of
//! schedules proves that the program and its new version each compute the same as the vector code, so
//! decoding needs no trust.

mod decode;
mod prove;

use self::decode::decode;
pub use self::prove::{ProofError, prove};
use crate::bounds::{PassBound, passes};
use crate::check::{self, ScheduleFault};
use crate::code::Code;
use crate::schedule::{Addresses, Graph, ScheduleError, Scheduled, Tuning, schedule};
use crate::search::settings;
use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, Instr, MReg, Operand, Program, Role, Space, Symbol};
use rayon::prelude::*;
use sim::timing::{Cycle, simulate};
use sim::{Machine, lint};
use thiserror::Error;

/// The instructions of all schedules together: a long program is tried with fewer settings.
const INSTRUCTIONS: usize = 1 << 17;
/// The fewest and the most settings.
const SETTINGS: [usize; 2] = [16, 300];
/// The name of the memory for spilled vectors.
const SPILLS: &str = "spills";

/// An error of [`reschedule`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RewriteError {
    /// An instruction with an operand that is undefined, or not known before a run.
    #[error("instruction {at} `{instr}` {problem}")]
    Instruction {
        /// Its index in the program.
        at: usize,
        /// The instruction, as assembly text.
        instr: String,
        /// The defect.
        problem: String,
    },
    /// An address beyond the field of the instruction.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A program that the checker cannot follow.
    #[error("no proof that another order computes the same: {0}")]
    Unproven(#[from] ScheduleFault),
}

impl RewriteError {
    /// The instruction that it is about, if it is about one of the given program.
    pub fn instruction(&self) -> Option<usize> {
        match self {
            Self::Instruction { at, .. } | Self::Unproven(ScheduleFault::Instruction { at, .. }) => Some(*at),
            Self::Schedule(_) | Self::Unproven(_) => None,
        }
    }
}

/// The result of [`reschedule`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rescheduled {
    /// The new program, or the given one if no schedule is faster.
    pub program: Program,
    /// The cycles of the given program.
    pub before: Cycle,
    /// The cycles of the new one.
    pub after: Cycle,
    /// The least cycles of any program with these vector instructions, by resources and by dependences.
    pub bound: Cycle,
}

/// The fastest of some schedules of a program on a machine, proven to leave the same words in its outputs.
/// The program must fit the machine.
///
/// # Errors
/// Returns the first instruction whose operands are undefined or not known before a run, an access beyond the
/// address field, or the step at which the proof fails.
pub fn reschedule(program: &Program, machine: &Machine) -> Result<Rescheduled, RewriteError> {
    let decoded = decode(program)?;
    let given = &decoded.code;
    // The code makes no claims: the program's follow from equal outputs.
    let prove = |other: &Program| {
        let proof = check::schedule(given, &Program { claims: Vec::new(), ..other.clone() });
        if let Err(ScheduleFault::Code(fault)) = proof {
            return Err(decoded.fault(program, fault));
        }
        Ok(proof?)
    };
    prove(program)?;
    let mut code = given.clone();
    code.remove_unread();
    let before = simulate(machine, program).cycles;
    let place = Place::new(&code, decoded.scalars.clone());
    let bounds = passes(&code, &place.addresses, &place.launch(), machine);
    let bound = bounds.iter().map(PassBound::cycles).max().unwrap_or_default();
    let [fewest, most] = SETTINGS;
    let tunings = settings(machine, (INSTRUCTIONS / code.insts.len().max(1)).clamp(fewest, most));
    let mut tried: Vec<(Cycle, Program)> = Vec::new();
    for by_demand in [false, true] {
        if by_demand {
            code.order_by_demand();
        }
        let graph = Graph::of(&code);
        let scheduled = |tuning: &Tuning| {
            let scheduled = schedule(&code, &graph, &place.addresses, &place.launch(), machine, tuning)?;
            let other = place.program(program, &code, scheduled);
            Ok((simulate(machine, &other).cycles, other))
        };
        let scheduled: Result<Vec<_>, ScheduleError> = tunings.par_iter().map(scheduled).collect();
        tried.extend(scheduled?);
    }
    // Of equally fast ones the first.
    tried.sort_by_key(|(cycles, _)| *cycles);
    let suits = |(cycles, other): &(Cycle, Program)| *cycles < before && replaces(other, program, machine);
    let (after, other) = tried.into_iter().find(suits).unwrap_or_else(|| (before, program.clone()));
    prove(&other)?;
    Ok(Rescheduled { program: other, before, after, bound })
}

/// Whether every reader takes the new program as it takes the given one, with the same inputs.
fn replaces(new: &Program, given: &Program, machine: &Machine) -> bool {
    let is_claimed = |input: &&Symbol| given.claims.iter().any(|claim| claim.inputs.contains(&input.name));
    let mut inputs = given.symbols.iter().filter(|symbol| symbol.role == Role::Input);
    // The only modulus bounds the inputs that no claim bounds.
    (new.only_modulus() == given.only_modulus() || inputs.all(|input| is_claimed(&input)))
        && new.check().is_ok()
        && golden::defects(new, true).is_empty()
        && machine.check_fits(new).is_ok()
        && lint::errors(new, machine).is_empty()
}

/// The moduli of a program with new instructions: those that the instructions read, and those that the given
/// program has for its claims and the range of its inputs. A tower that no instruction reads may be a
/// substitute for a missing modulus.
fn moduli(program: &Program, code: &Code, instructions: &[Instr]) -> Vec<(MReg, u128)> {
    let mut is_read = [false; REGISTERS];
    for instr in instructions {
        instr.for_each_operand(|_, operand| {
            if let Operand::MReg(reg) = operand {
                is_read[reg.index()] = true;
            }
        });
    }
    let towers = (0..).map(MReg::at).zip(code.towers.iter().map(|tower| tower.modulus));
    let mut moduli: Vec<(MReg, u128)> = towers.filter(|(reg, _)| is_read[reg.index()]).collect();
    let mut free = (0..REGISTERS).filter(|&index| !is_read[index]).map(MReg::at);
    for modulus in launch_moduli(program) {
        if moduli.iter().all(|&(_, known)| known != modulus)
            && let Some(reg) = free.next()
        {
            moduli.push((reg, modulus));
        }
    }
    moduli.sort_by_key(|(reg, _)| reg.index());
    moduli
}

/// The moduli of a program's registers, at launch and later.
fn launch_moduli(program: &Program) -> impl Iterator<Item = u128> + '_ {
    let loaded = program.instructions.iter().filter_map(|instr| {
        let Instr::Mload { offset, .. } = instr else { return None };
        Some(program.sdm.word(offset.words()))
    });
    program.moduli.iter().map(|&(_, modulus)| modulus).chain(loaded)
}

/// The places of all data: where the given program has them.
struct Place {
    addresses: Addresses,
    /// The first word of the memory for spilled vectors.
    spills: u32,
}

impl Place {
    fn new(code: &Code, scalars: Vec<u32>) -> Self {
        let memory = AReg::at(0);
        let addresses = Addresses {
            buffers: vec![memory; code.buffers.len()],
            // There are no constants.
            table: memory,
            constants: Vec::new(),
            spills: AReg::at(1),
            moduli: (0..code.towers.len()).map(|tower| Some(MReg::at(tower))).collect(),
            scalars,
        };
        Self { addresses, spills: code.buffers[0].words.next_multiple_of(code.isa.vector_length()) }
    }

    fn launch(&self) -> [(AReg, u32); 2] {
        [(AReg::at(0), 0), (self.addresses.spills, self.spills)]
    }

    /// The program with the instructions of a schedule.
    fn program(&self, program: &Program, code: &Code, scheduled: Scheduled) -> Program {
        let Scheduled { mut instructions, spill_words, .. } = scheduled;
        instructions.push(Instr::Halt {});
        let mut symbols = program.symbols.clone();
        let mut addresses = Vec::new();
        if spill_words > 0 {
            let mut name = SPILLS.to_owned();
            while program.symbol(&name).is_some() {
                name.push('_');
            }
            symbols.push(Symbol {
                name,
                space: Space::Vdm,
                start: self.spills,
                words: spill_words,
                role: Role::Scratch,
            });
            addresses.push((self.addresses.spills, self.spills));
        }
        let moduli = moduli(program, code, &instructions);
        Program { instructions, symbols, addresses, moduli, ..program.clone() }
    }
}
