//! Plans written by hand.

use crate::plan::Plan;
use sim::Machine;
use sim::machine::BankMapping;

fn machine(hples: u32, banks: u32, mapping: BankMapping) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| (values.hple.count, values.vdm.banks, values.vdm.mapping) = (hples, banks, mapping))
        .expect("a machine of these sizes is valid");
    machine
}

/// Forward plans written by hand, and the machines for which each was made, with the library's most frequent
/// parameters.
pub fn by_hand() -> Vec<(Plan, Machine)> {
    use BankMapping::{Interleaved, Xor};
    let (plain, folded) = (machine(128, 128, Interleaved), machine(128, 128, Xor));
    let texts = [
        // Korn-Lambiotte in one pass.
        (
            "forward 2^10 kl
          [9 | 8..0] S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 -> 9..0",
            plain.clone(),
        ),
        // One vector, twice.
        (
            "forward 2^9 copied
          [9 | 8..0] U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 9..0",
            plain.clone(),
        ),
        // A first pass with the topmost stages, and a second pass with the rest.
        (
            "forward 2^16 windowed-4-1
          [15..12 | 8..0] S15 U15 S14 S13 S12 -> 14..0 15
          [11..8 | 7..0 15] S11 S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 15..0",
            plain.clone(),
        ),
        (
            "forward 2^14 windowed-3-2
          [13..11 | 8..0] S13 U13 S12 U12 S11 -> 11..0 13 12
          [10..7 | 6..0 13 12] S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 13..0",
            plain.clone(),
        ),
        // All lane bits through one register position.
        (
            "forward 2^12 through-9-0
          [11..9 | 8..0] S11 S10 S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 11..0",
            plain,
        ),
        // Strides instead of shuffles, in two passes.
        (
            "forward 2^16 folded-1
          [15..11 | 10..2] S15 S14 S13 U13 S12 S11 S10 -> 15 14 1 0 9..2 13..10
          [9..7 1 0 | 6..2 13..10] S9 U9 S8 U8 S7 U7 S6 U6 S5 U5 S4 S3 S2 S1 S0 -> 15..0",
            machine(8, 256, Interleaved),
        ),
        // Strides instead of shuffles, in three passes.
        (
            "forward 2^16 transposing
          [15..11 | 10..2] S15 U15 S14 S13 S12 S11 S10 -> 9..2 15 14 1 0 13..10
          [9..5 | 4..2 15 14 1 0 13 12] S9 S8 S7 S6 S5 -> 4..2 15 14 1 0 13..5
          [4..0 | 13..5] S4 S3 S2 S1 S0 -> 15..0",
            folded.clone(),
        ),
        (
            "forward 2^14 transposing
          [13..9 | 8..0] S13 S12 S11 S10 S9 -> 8..0 13..9
          [8..4 | 3..0 13..9] S8 S7 S6 S5 S4 -> 3..0 13..4
          [3..0 | 12..4] S3 S2 S1 S0 -> 13..0",
            folded,
        ),
    ];
    let plan = |text: &str| text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    texts.into_iter().map(|(text, machine)| (plan(text), machine)).collect()
}
