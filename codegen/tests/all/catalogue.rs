//! The catalogue of operations, `docs/operations.md`.

use b512_asm::Pipe;
use codegen::{Parameters, PlanChoice, Request, generate};
use golden::{Operand, Operation, Range};
use ring::Degree;
use sim::Machine;
use sim::timing::simulate;
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "\
<!-- Generated from the golden model and the simulator: do not edit. See docs/generated.md. -->

# The ring operations

Each operation is a kernel of `rpu gen`. Its golden model defines the result, a proof covers its code for all data, and a
program states it as a claim. Operands and results are vectors of n residues in Z_q[X]/(X^n + 1). What works modulo
several numbers, such as a rescale, is a ring program: `rpu gen program`. A claim may have any n from 2 on, a kernel any from the
vector length of its machine on, `isa.vector_length`.

The counts are those of an example: n = 4096, a prime of 60 bits, the classical pair of transforms, the paper's
machine. Cycles are simulated. The bound is the demand on the busiest resource. `rpu gen KERNEL --n N --explain`
shows them for other requests.

## Instructions

| operation | load/store | compute | shuffle | cycles | bound |
|---|--:|--:|--:|--:|--:|
";

fn operands(operands: &[Operand]) -> String {
    let name = |operand: &Operand| match operand.range {
        Range::Residue => format!("`{}`", operand.name),
        Range::Word => format!("`{}` (any words)", operand.name),
    };
    operands.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn section(operation: Operation) -> String {
    let mut text = format!("\n### `{operation}`\n\n```text\n{}\n```\n\n", operation.definition());
    writeln!(text, "* operands: {}", operands(operation.inputs())).unwrap();
    writeln!(text, "* results: {}", operands(operation.outputs())).unwrap();
    for setting in operation.settings() {
        let (kind, range) = (setting.kind.name(), setting.kind.range());
        writeln!(text, "* `{}`, a {kind}, {range}: {}", setting.name, setting.doc).unwrap();
    }
    text
}

/// The counts of an example.
fn row(operation: Operation, machine: &Machine) -> String {
    let degree = Degree::try_from(4096u32).unwrap();
    let request = Request::with_primes(operation, degree, 60, 1).unwrap();
    let request = request.with(Parameters::new(operation.examples()));
    let timing = simulate(machine, &generate(&request, machine, &PlanChoice::Classical).unwrap().program);
    let [memory, compute, shuffle] = Pipe::VECTOR.map(|pipe| timing.instructions[pipe]);
    let (cycles, bound) = (timing.cycles, timing.bounds.resource);
    format!("| [`{operation}`](#{operation}) | {memory} | {compute} | {shuffle} | {cycles} | {bound} |\n")
}

#[test]
fn the_catalogue_is_fresh() {
    let machine = Machine::rpu_128x128();
    let mut text = INTRODUCTION.to_owned();
    golden::OPERATIONS.iter().for_each(|&operation| text += &row(operation, &machine));
    text += "\n## Definitions\n";
    golden::OPERATIONS.iter().for_each(|&operation| text += &section(operation));
    diagnostic::snapshot::fresh(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md"), text);
}
