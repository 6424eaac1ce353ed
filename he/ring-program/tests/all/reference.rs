//! The operations of ring programs as a page: `docs/fhetch.md`.

use ring_program::{NOTATION, REFUSED};
use std::path::Path;

/// Text between bars of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_committed_reference_is_fresh() {
    let executable = NOTATION
        .iter()
        .map(|(opcode, operands, meaning)| format!("| `{opcode} {operands}` | {} |\n", cell(meaning)));
    let refused = REFUSED.iter().map(|(opcode, reason)| format!("| `{opcode}` | {} |\n", cell(reason)));
    let text = format!(
        "<!-- Generated from the table of operations: do not edit. See docs/generated.md. -->\n\n\
         | line | meaning |\n|---|---|\n{}\n\
         Opcodes of the format that no file can express, and the reasons:\n\n\
         | opcode | reason |\n|---|---|\n{}",
        executable.collect::<String>(),
        refused.collect::<String>(),
    );
    diagnostic::snapshot::fresh(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fhetch.md"), text);
}
