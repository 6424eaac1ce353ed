//! From a program to C text.

use super::read::suffix;
use super::{Argument, CALLS, ModeKind, prefix};
use crate::isa::{Instr, Op, Operand};
use crate::parameters::Isa;
use crate::program::Program;
use crate::reg::LaneMap;
use crate::space::Space;
use std::fmt::Write;

/// Prints a program in intrinsics: directives in comments, then the function. [`assemble`](super::assemble)
/// turns the text back into the program.
pub fn print(program: &Program) -> String {
    let mut text = String::new();
    // The function has the kernel's name, if that is one in C.
    let is_c_name = !program.name.is_empty() && !program.name.contains('.');
    let directives = program.directives();
    for line in directives.lines().filter(|line| !(is_c_name && line.starts_with(".kernel"))) {
        text.extend(["//", line, "\n"]);
    }
    for space in Space::ALL {
        for segment in &program.image(space).segments {
            // Writing to a string cannot fail.
            let name = match space {
                Space::Vdm => "vdm",
                Space::Sdm => "sdm",
            };
            let _ = write!(text, "//.words {:#x}, {name} {{", segment.start);
            segment.words.iter().for_each(|word| _ = write!(text, " {word:#x}"));
            text.push_str(" }\n");
        }
    }
    let name = if is_c_name { &program.name } else { "kernel" };
    let _ = writeln!(text, "void {name}() {{\n    enter(OP_DEFAULT);");
    for instr in &program.instructions {
        let _ = writeln!(text, "    {};", call(instr, program.isa));
    }
    text + "}\n"
}

/// The call of an instruction.
fn call(instr: &Instr, isa: Isa) -> String {
    if instr.op() == Op::Halt {
        return "leave(OP_DEFAULT)".to_owned();
    }
    let (mut offset, mut mode, mut value, mut map) = (0, None, None, None);
    let mut registers = Vec::new();
    instr.for_each_operand(|spec, operand| match operand {
        Operand::VReg(register) => registers.push((spec, register.index())),
        Operand::SReg(register) => registers.push((spec, register.index())),
        Operand::AReg(register) => registers.push((spec, register.index())),
        Operand::MReg(register) => registers.push((spec, register.index())),
        Operand::Offset(words) => offset = words.words(),
        Operand::Map(given) => map = Some(given),
        Operand::Mode(given) => {
            let (kind, of_kind) = ModeKind::of(given);
            (mode, value) = (Some(kind), of_kind);
        }
    });
    let row = CALLS.iter().find(|row| row.op == instr.op() && row.mode == mode);
    let row = row.expect("every instruction has a call");
    let argument = |argument: &Argument| match argument {
        Argument::Register(name) => {
            let (spec, index) = registers.iter().find(|(spec, _)| spec.name == *name).expect("a register");
            format!("{}{index}", prefix(spec.kind).unwrap_or_default())
        }
        Argument::Bytes => (u64::from(offset) * u64::from(isa.word_bytes())).to_string(),
        Argument::Words => offset.to_string(),
        Argument::Mode => value.map_or(1_u64, |log2| 1 << log2.value()).to_string(),
        Argument::Multiplier => map.map_or(1, LaneMap::multiplier).to_string(),
        Argument::Shift => map.map_or(0, LaneMap::shift).to_string(),
    };
    let arguments: Vec<String> = row.arguments.iter().map(argument).collect();
    format!("_{}{}({})", row.name, suffix(isa), arguments.join(", "))
}
