//! The proofs of generated programs, on programs with injected faults.

use b512_asm::{Instr, Program, Setting};
use codegen::{Kernel, PlanChoice, Request, check, generate};
use golden::Operation;
use lab_run::draw;
use ring::Degree;
use sim::Machine;
use sim::functional::Executor;
use std::sync::LazyLock;

/// Small kernels of several operations.
static KERNELS: LazyLock<Vec<(Machine, Kernel)>> = LazyLock::new(|| {
    let kernel = |operation: Operation, plan: &PlanChoice, gs_butterfly: bool| {
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| values.isa.gs_butterfly = gs_butterfly).unwrap();
        let degree = Degree::try_from(1024u32).expect("a valid degree");
        let request = Request::with_primes(operation, degree, 60, 1).expect("there is such a prime");
        let kernel = generate(&request, &machine, plan).expect("a valid request");
        (machine, kernel)
    };
    vec![
        kernel(golden::NTT, &PlanChoice::Classical, false),
        kernel(golden::NTT, &PlanChoice::Best, false),
        kernel(golden::INTT, &PlanChoice::Best, false),
        kernel(golden::INTT, &PlanChoice::Classical, true),
        kernel(golden::POLYMUL, &PlanChoice::Best, false),
    ]
});

/// A changed program that the proof accepts still computes what the kernel claims. The first byte selects the
/// kernel; then, every twelve bytes are a fault.
pub fn checkers(data: &[u8]) {
    let Some((&first, faults)) = data.split_first() else { return };
    let (machine, Kernel { code, program, .. }) = &KERNELS[usize::from(first) % KERNELS.len()];
    let mut mutant = program.clone();
    for fault in faults.as_chunks::<12>().0.iter().take(3) {
        inject(&mut mutant, fault);
    }
    if mutant != *program && check::schedule(code, &mutant).is_ok() {
        assert!(computes(machine, &mutant, program), "the proof accepts a wrong program:\n{mutant}");
    }
}

/// Applies one fault: its kind, an index, and a value.
fn inject(program: &mut Program, fault: &[u8; 12]) {
    let position = usize::from(u16::from_le_bytes([fault[1], fault[2]]));
    let value = u64::from_le_bytes(*fault[4..].first_chunk().expect("eight bytes"));
    let count = program.instructions.len();
    let (at, to) = (position % count.max(1), value as usize % count.max(1));
    match fault[0] % 12 {
        _ if count < 2 => {}
        // One or two bits of an instruction, or another word instead.
        0..=3 => {
            let bits =
                [1 << (value % 64), 1 << (value % 64) | 1 << (value / 64 % 64)][usize::from(fault[3] & 1)];
            let known = program.instructions[at];
            program.instructions[at] = Instr::decode(known.encode() ^ bits).unwrap_or(known);
        }
        4 => drop(program.instructions.remove(at)),
        5 => program.instructions.insert(to, program.instructions[at]),
        6 => program.instructions.swap(at, to),
        7 => {
            let moved = program.instructions.remove(at);
            program.instructions.insert((at + 1 + value as usize % 60).min(count - 1), moved);
        }
        8 => {
            let images = [&mut program.vdm, &mut program.sdm];
            let mut words =
                images.into_iter().flat_map(|image| &mut image.segments).flat_map(|part| &mut part.words);
            if let Some(word) = words.nth(position) {
                *word ^= u128::from(value);
            }
        }
        9 => {
            let addresses = program.addresses.len().max(1);
            if let Some((_, address)) = program.addresses.get_mut(position % addresses) {
                *address ^= 1 << (value % 21);
            }
        }
        10 => {
            let symbols = program.symbols.len().max(1);
            if let Some(symbol) = program.symbols.get_mut(position % symbols) {
                symbol.start ^= 1 << (value % 12);
            }
        }
        _ => {
            let claim = program.claims.first_mut().expect("a kernel has a claim");
            let settings = claim.settings.len().max(1);
            if let Some((_, Setting::Number(number))) = claim.settings.get_mut(position % settings) {
                *number ^= u128::from(value);
            }
        }
    }
}

/// Whether `mutant` computes what `program` claims, on random data.
fn computes(machine: &Machine, mutant: &Program, program: &Program) -> bool {
    let claim = &program.claims[0];
    let q = program.moduli[0].1;
    let mut executor = Executor::for_machine(machine);
    if executor.load(mutant).is_err() {
        return false;
    }
    let mut inputs = Vec::new();
    for (operand, name) in (0..).zip(&claim.inputs) {
        let words = draw(7, operand, 1024, q);
        if executor.write(name, &words).is_err() {
            return false;
        }
        inputs.push(words);
    }
    if executor.run().is_err() {
        return false;
    }
    let inputs: Vec<&[u128]> = inputs.iter().map(Vec::as_slice).collect();
    let outputs: Result<Vec<_>, _> = claim.outputs.iter().map(|name| executor.read(name)).collect();
    outputs.is_ok_and(|outputs| {
        let outputs: Vec<&[u128]> = outputs.iter().map(Vec::as_slice).collect();
        golden::compare(claim, &inputs, &outputs).is_ok()
    })
}
