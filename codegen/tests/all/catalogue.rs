//! The catalogue of operations, `docs/operations.md`.

use b512_asm::Pipe;
use codegen::{PlanChoice, Request, generate};
use golden::{Kind, Operand, Operation, Range};
use ring::Degree;
use sim::Machine;
use sim::timing::simulate;
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "\
<!-- Generated from the golden model and the simulator: do not edit. See docs/generated.md. -->

# The ring operations

Each operation is a kernel of `rpu gen`. Its golden model defines the result, a proof covers its code for all data, and a
program states it as a claim. Operands and results are vectors of n residues in Z_q[X]/(X^n + 1). A list of moduli stands for
one operand or result each, numbered from 0.

The counts are those of an example: n = 4096, primes of 60 bits, lists of two moduli, the classical pair of transforms, the
paper's machine. Cycles are simulated. The bound is the demand on the busiest resource. `rpu gen KERNEL --n N --explain`
shows them for other requests.

## Instructions

| operation | load/store | compute | shuffle | cycles | bound |
|---|--:|--:|--:|--:|--:|
";

/// The names of operands, with their numbers.
fn operands(operation: Operation, operands: &[Operand]) -> String {
    let name = |operand: &Operand| {
        let is_list = |name| operation.lists().any(|list| list.name == name && list.kind == Kind::Moduli);
        let places = match operand.count {
            Some(count) => format!(", `{count}` of them"),
            None if is_list(operand.modulus) => ", a list".to_owned(),
            None => String::new(),
        };
        let range = match operand.range {
            Range::Residue => "",
            Range::Word => ", any words",
        };
        format!("`{}` (modulo `{}`{places}{range})", operand.name, operand.modulus)
    };
    operands.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn section(operation: Operation) -> String {
    let mut text = format!("\n### `{operation}`\n\n```text\n{}\n```\n\n", operation.definition());
    writeln!(text, "* operands: {}", operands(operation, operation.inputs())).unwrap();
    writeln!(text, "* results: {}", operands(operation, operation.outputs())).unwrap();
    for setting in operation.settings() {
        writeln!(text, "* `{}`, a {}: {}", setting.name, setting.kind.name(), setting.doc).unwrap();
    }
    text
}

/// The counts of an example.
fn row(operation: Operation, machine: &Machine) -> String {
    let towers = if operation.in_one_ring() { 1 } else { 2 };
    let degree = Degree::try_from(4096u32).unwrap();
    let request = Request::with_primes(operation, degree, 60, towers).unwrap();
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
    bless::fresh(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md"), text);
}
