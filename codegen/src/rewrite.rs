//! Programs written by hand, in another order and with other registers.
//!
//! A program is decoded to vector code, which is scheduled as generated code is, under several settings. The
//! fastest schedule becomes the program's instructions; its memory, symbols and claims stay. The checker of schedules proves
//! that the program and its new version each compute the same as the vector code, so decoding needs no trust.

mod decode;
mod prove;

use self::decode::{Decoded, decode};
pub use self::prove::{ProofError, prove};
use crate::bounds::{PassBound, passes};
use crate::check::{self, ScheduleFault};
use crate::code::Code;
use crate::schedule::{Addresses, Graph, ScheduleError, Scheduled, Tuning, schedule};
use crate::search::settings;
use b512_asm::{AReg, Instr, MReg, Program, Role, Space, Symbol};
use rayon::prelude::*;
use sim::Machine;
use sim::timing::{Cycle, simulate};
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

/// The fastest of some schedules of a program on a machine, proven to leave the same words in its outputs. The program
/// must fit the machine.
///
/// # Errors
/// Returns the first instruction whose operands are undefined or not known before a run, an access beyond the address field, or
/// the step at which the proof fails.
pub fn reschedule(program: &Program, machine: &Machine) -> Result<Rescheduled, RewriteError> {
    let Decoded { code: given, scalars } = decode(program)?;
    // The code makes no claims: the program's follow from equal outputs.
    let prove =
        |program: &Program| check::schedule(&given, &Program { claims: Vec::new(), ..program.clone() });
    prove(program)?;
    let mut code = given.clone();
    code.remove_unread();
    let before = simulate(machine, program).cycles;
    let place = Place::new(&code, scalars);
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
    let suits = |(cycles, other): &(Cycle, Program)| {
        let overtakes = || simulate(machine, other).overtaking(machine, other).is_some();
        *cycles < before && machine.check_fits(other).is_ok() && !overtakes()
    };
    let (after, other) = tried.into_iter().find(suits).unwrap_or_else(|| (before, program.clone()));
    prove(&other)?;
    Ok(Rescheduled { program: other, before, after, bound })
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
        let moduli = (0..).map(MReg::at).zip(&code.towers).map(|(reg, tower)| (reg, tower.modulus));
        Program { instructions, symbols, addresses, moduli: moduli.collect(), ..program.clone() }
    }
}
