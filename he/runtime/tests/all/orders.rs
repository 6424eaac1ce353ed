//! The order in which a program is written decides little.
//!
//! `ORDER_CASES=5 cargo test -p runtime --test all order -- --nocapture` prints the times for all dataflows.

use crate::measures::cases;
use programs::{DATAFLOWS, Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::{Interface, Limb, Operation, RingProgram, Shape};
use runtime::{Keys, Runtime};
use sim::Machine;

/// A program of the same lines in another order.
fn reordered(program: &RingProgram, order: &[usize]) -> RingProgram {
    let text = program.to_text();
    let (head, lines) = split(&text);
    let lines: Vec<&str> = order.iter().map(|&line| lines[line]).collect();
    read(program, &head, &lines)
}

/// The lines before the first operation, and those with operations.
fn split(text: &str) -> (String, Vec<&str>) {
    let is_operation = |line: &&str| line.starts_with("sr_");
    let head: Vec<&str> = text.lines().take_while(|line| !is_operation(line)).collect();
    (head.join("\n"), text.lines().filter(is_operation).collect())
}

fn read(program: &RingProgram, head: &str, lines: &[&str]) -> RingProgram {
    let text = format!("{head}\n{}\nhalt\n", lines.join("\n"));
    ring_program::read("p.fhetch", text.as_bytes(), Interface::Degree(program.degree().get())).unwrap()
}

/// Two copies, line by line.
fn interleaved(program: &RingProgram) -> RingProgram {
    let text = program.to_text();
    let (head, lines) = split(&text);
    let other: Vec<String> = lines.iter().map(|line| line.replace('%', "%1000")).collect();
    let both: Vec<&str> = lines.iter().zip(&other).flat_map(|(a, b)| [a, b.as_str()]).collect();
    read(program, &head, &both)
}

/// Two copies, line by line, whose results are added. So they are one part of the program, and compete for the VDM.
fn meeting(program: &RingProgram) -> RingProgram {
    let text = program.to_text();
    let (head, lines) = split(&text);
    let other: Vec<String> = lines.iter().map(|line| line.replace('%', "%1000")).collect();
    let mut both: Vec<String> =
        lines.iter().zip(&other).flat_map(|(a, b)| [(*a).to_owned(), b.clone()]).collect();
    for &limb in program.outputs().iter().flat_map(|group| &group.limbs) {
        let id = program.limbs().id(limb).0;
        let line = lines.iter().rev().find(|line| line.contains(&format!(" %{id},"))).unwrap();
        let m = line.split("m=").nth(1).unwrap().split(',').next().unwrap();
        both.push(format!("sr_addp %2000{id}, %{id}, %1000{id}, m={m}"));
    }
    let both: Vec<&str> = both.iter().map(String::as_str).collect();
    read(program, &head, &both)
}

/// Whether two lines may change places.
fn are_independent(one: &Operation, other: &Operation) -> bool {
    let reads = |op: &Operation, limb: Limb| op.sources().into_iter().flatten().any(|source| source == limb);
    let (first, second) = (one.destination(), other.destination());
    !reads(other, first) && !reads(one, second) && first != second
}

/// The order after each pair of independent neighbours has changed places, the first pair first: some lines move far.
fn carried(operations: &[Operation]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..operations.len()).collect();
    for at in 1..order.len() {
        if are_independent(&operations[order[at - 1]], &operations[order[at]]) {
            order.swap(at - 1, at);
        }
    }
    order
}

/// The order after some passes, each of which swaps independent neighbours with a probability of one half.
fn swapped(operations: &[Operation], passes: usize) -> Vec<usize> {
    let mut rng = Random::seed_from_u64(3);
    let mut order: Vec<usize> = (0..operations.len()).collect();
    for pass in 0..passes {
        for pair in order[pass % 2..].chunks_exact_mut(2) {
            if are_independent(&operations[pair[0]], &operations[pair[1]]) && rng.random_range(0..2) == 0 {
                pair.swap(0, 1);
            }
        }
    }
    order
}

fn time_ns(program: &RingProgram, machine: &Machine) -> f64 {
    Runtime::new(program, machine, Keys::Streamed).unwrap().time(false).unwrap().total_ns
}

#[test]
fn the_order_of_independent_lines_decides_little() {
    let set = ParameterSet::built_in("ark", Some(8192)).unwrap().unwrap();
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| (values.isa.word_bits, values.vdm.size_mib) = (64, 2)).unwrap();
    for &dataflow in DATAFLOWS.iter().rev().take(cases("ORDER_CASES", 1) as usize) {
        let options = Options { dataflow, ..Options::default() };
        let program = generate(&find_program("keyswitch").unwrap(), &set, &options).unwrap();
        let one = time_ns(&program, &machine);
        let two = time_ns(&interleaved(&program), &machine) / one;
        let met = time_ns(&meeting(&program), &machine) / one;
        let operations = program.operations();
        let orders = [carried(operations), swapped(operations, 1), swapped(operations, 4)];
        let ratios = orders.map(|order| time_ns(&reordered(&program, &order), &machine) / one);
        println!(
            "{}: two copies take {two:.3}, {met:.3} if they meet, other orders {ratios:.3?}",
            dataflow.name
        );
        assert!(two < 2.1 && met < 2.2 && ratios.iter().all(|&ratio| ratio < 1.08), "{}", dataflow.name);
    }
}
