//! How lines join launches.

use ring_program::{Interface, Manifest, RingProgram};
use runtime::mapping::Order;
use runtime::{Flow, Launches, Limits, lift};
use std::path::Path;

/// The program of these lines, with the inputs `%1` and `%2` and an output.
fn program(lines: &str, output: u32) -> RingProgram {
    let manifest = format!(
        r#"{{"ring_dimension": 1024, "inputs": {{"x": [1], "y": [2]}}, "outputs": {{"z": [{output}]}}}}"#
    );
    let manifest = Manifest::parse("p.json", &manifest, Path::new("")).unwrap();
    let text = format!("modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n{lines}halt\n");
    ring_program::read("p.fhetch", text.as_bytes(), Interface::Manifest(&manifest)).unwrap()
}

/// Launches of at most so many inputs and outputs.
fn launches(program: &RingProgram, operands: usize) -> Launches {
    let limits =
        Limits { operands, steps: 16, rings: 1, window: 16, reach: 16, unrelated: true, constants: false };
    lift(&Flow::of(program, Order::Program), limits)
}

/// A square has one operand: it takes the room of one, and it can be the only reader of a limb.
#[test]
fn a_limb_that_a_line_reads_twice_is_one_operand() {
    let squares = program("sr_mulp %3, %1, %1, m=1\nsr_mulp %4, %3, %3, m=1\n", 4);
    let [one, two] = [2, 1].map(|operands| launches(&squares, operands).launches.len());
    assert_eq!((one, two), (1, 2), "an input and an output");

    let sum = "sr_mulp %3, %1, %1, m=1\nsr_mulp %4, %2, %2, m=1\nsr_addp %5, %3, %4, m=1\n";
    let [one, two] = [4, 3].map(|operands| launches(&program(sum, 5), operands).launches.len());
    assert_eq!((one, two), (1, 2), "two inputs and two outputs before the sum");
}
