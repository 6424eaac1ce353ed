//! `rpu isa`

use crate::failure::Failure;
use crate::files;
use b512_asm::Op;
use std::fmt::Write;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn main(_: &Args) -> Result<(), Failure> {
    let mut text = String::new();
    for op in Op::ALL {
        let info = op.info();
        let operands: Vec<&str> = info.operands.iter().map(|operand| operand.name).collect();
        let extension = info.feature.map_or(String::new(), |feature| format!(", extension isa.{feature}"));
        let bfly = u8::from(info.bfly);
        let head = format!("{} {}", info.mnemonic, operands.join(", "));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<34} opcode {:#x}, BFLY {bfly}, {}{extension}",
            head.trim_end(),
            info.opcode,
            op.pipe().name()
        );
        for line in info.doc {
            let _ = writeln!(text, "    {}", line.trim());
        }
        text.push('\n');
    }
    files::print(text.trim_end().as_bytes())?;
    files::print(b"\n")
}
