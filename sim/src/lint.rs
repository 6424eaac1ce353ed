//! Faults of a program that a run on data does not show.
//!
//! A program has no branches, and its addresses come from launch values and the SDM. So one pass over the
//! instructions knows the source of every word: whether it has been written, and from which inputs. The pass
//! shares nothing with [`functional`](crate::functional).
//!
//! ```
//! use sim::{MachineBase, lint};
//!
//! let machine = MachineBase::built_in("rpu-128x128")?.machine(&[])?;
//! let source = ".output y, 512\n.modulus m1, 97\nvadd v1, v2, v2, m1\nvstore v1, a0, y\nhalt\n";
//! let program = b512_asm::assemble(source)?;
//! let errors = lint::errors(&program, &machine);
//! assert_eq!(errors[0].to_string(), "B022: `v2` is read before it is written (load it first)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod flow;
mod memory;
mod ranges;

use crate::machine::{Machine, VbarPaths};
use crate::timing::{Overtaking, Timing, bank_rounds, simulate};
use b512_asm::{Claim, Code, Defect, Part, Program, Role, Space, Symbol};
use flow::{Flow, Follow, word_of};

pub use ranges::ranges;

/// The faults of a program on a machine, in the order of the program: values that are read before they are
/// written, accesses outside the memories, unset moduli, outputs that overlap inputs, outputs that are not
/// written or do not depend on the inputs of their claim. With split paths, the first access that overtakes
/// another.
pub fn errors(program: &Program, machine: &Machine) -> Vec<Defect> {
    let mut flow = Flow::new(program, machine, Follow::Origins);
    flow.run();
    let mut errors = flow.take_defects();
    errors.extend(overlaps(program));
    errors.extend(flow.outputs());
    // Timing tells which accesses overtake others: none on a machine without split paths.
    if machine.vbar.paths == VbarPaths::Split && errors.is_empty() {
        errors.extend(overtaking(program, machine, &simulate(machine, program)));
    }
    errors
}

/// The outputs of a program that have the same words whatever its inputs are. Words to compare them with show
/// nothing.
pub fn constant_outputs<'p>(program: &'p Program, machine: &Machine) -> Vec<&'p Symbol> {
    let mut flow = Flow::new(program, machine, Follow::Origins);
    flow.run();
    flow.constant_outputs()
}

/// The first access of a program that overtakes another in a run on a machine with split paths.
pub fn overtaking(program: &Program, machine: &Machine, timing: &Timing) -> Option<Defect> {
    let Overtaking { earlier, later, word } = timing.overtaking(machine, program)?;
    let (word, earlier) = (word_of(program, Space::Vdm, word), &program.instructions[earlier]);
    Some(Defect {
        code: Code::Overtaking,
        part: Part::Instruction(later),
        message: format!("it reaches {word} before an earlier `{earlier}` on the other path"),
        help: Some("place other loads or stores between them".into()),
    })
}

/// What costs time for nothing, in the order of the program: results that nothing reads, and bank conflicts
/// of the machine.
pub fn warnings(program: &Program, machine: &Machine) -> Vec<Defect> {
    let mut flow = Flow::new(program, machine, Follow::Uses);
    flow.run();
    flow.outputs();
    let mut warnings = flow.unused();
    for access in flow.accesses() {
        let rounds = bank_rounds(machine, access.mode, access.address, access.store);
        if rounds.needed > rounds.least {
            warnings.push(Defect {
                code: Code::BankConflict,
                part: Part::Instruction(access.instruction),
                message: format!("{} rounds of bank accesses instead of {}", rounds.needed, rounds.least),
                help: None,
            });
        }
    }
    warnings.sort_by_key(|defect| defect.part.instruction());
    warnings
}

/// Outputs that overlap inputs, unless a claim computes the output from exactly these words.
fn overlaps(program: &Program) -> Vec<Defect> {
    let of = |role| (0..).zip(&program.symbols).filter(move |(_, symbol)| symbol.role == role);
    let mut defects = Vec::new();
    for (number, output) in of(Role::Output) {
        for (_, input) in of(Role::Input).filter(|(_, input)| overlap(output, input)) {
            if program.claims.iter().any(|claim| is_in_place(claim, output, input)) {
                continue;
            }
            defects.push(Defect {
                code: Code::Overlap,
                part: Part::Symbol(number),
                message: format!("output `{}` overlaps input `{}`", output.name, input.name),
                help: Some("place it elsewhere, or claim an operation in place".into()),
            });
        }
    }
    defects
}

/// Whether two symbols share words.
fn overlap(a: &Symbol, b: &Symbol) -> bool {
    let end = |symbol: &Symbol| u64::from(symbol.start) + u64::from(symbol.words);
    a.space == b.space && u64::from(a.start) < end(b) && u64::from(b.start) < end(a)
}

/// Whether `claim` computes `output` from `input`, and both have the same words.
fn is_in_place(claim: &Claim, output: &Symbol, input: &Symbol) -> bool {
    let same_words = (output.start, output.words) == (input.start, input.words);
    same_words && claim.outputs.contains(&output.name) && claim.inputs.contains(&input.name)
}
