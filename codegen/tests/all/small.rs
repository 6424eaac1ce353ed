//! Transforms and automorphisms of small rings against those of Lattigo, HEXL, HEIR and SEAL
//! (`data/README.md`).

use b512_asm::{Isa, Setting};
use codegen::{Parameters, PlanChoice, Request, generate};
use golden::{INTT, NTT, Operation};
use ring::{Degree, Ring};
use serde::Deserialize;
use sim::Machine;
use sim::functional::Executor;

#[derive(Deserialize)]
struct Vector {
    source: String,
    operation: String,
    n: u32,
    modulus: u128,
    root: Option<u128>,
    g: Option<u128>,
    order: Option<String>,
    input: Vec<u128>,
    output: Vec<u128>,
    #[serde(default)]
    natural: bool,
}

impl Vector {
    fn ring(&self) -> Ring {
        let degree = Degree::try_from(self.n).unwrap();
        match self.root {
            Some(root) => Ring::with_root(degree, self.modulus, root),
            None => Ring::with_smallest_root(degree, self.modulus),
        }
        .unwrap()
    }

    fn request(&self, operation: Operation) -> Request {
        let number = self.g.map(|g| ("g".to_owned(), Setting::Number(g)));
        let word = self.order.clone().map(|order| ("order".to_owned(), Setting::Word(order)));
        Request::single(operation, self.ring())
            .with(Parameters::new(number.into_iter().chain(word).collect()))
    }

    /// The result in this project's order.
    fn expected(&self) -> Vec<u128> {
        let bits = self.n.ilog2();
        let reversed = |i: u32| (i.reverse_bits() >> (u32::BITS - bits)) as usize;
        if self.natural {
            (0..self.n).map(|i| self.output[reversed(i)]).collect()
        } else {
            self.output.clone()
        }
    }
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("../data/small.json")).unwrap()
}

/// The paper's machine with shorter vectors.
fn machine(vector_length: u32) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.isa.vector_length = vector_length;
            values.hple.count = values.hple.count.min(vector_length);
        })
        .unwrap();
    machine
}

/// The result of an operation on a machine.
fn run(request: &Request, machine: &Machine, x: &[u128]) -> Vec<u128> {
    let kernel = generate(request, machine, &PlanChoice::Classical).unwrap();
    codegen::check::schedule(&kernel.code, &kernel.program).unwrap();
    let claim = &kernel.program.claims[0];
    let mut executor = Executor::for_machine(machine);
    executor.load(&kernel.program).unwrap();
    executor.write(&claim.inputs[0], x).unwrap();
    executor.run().unwrap();
    let y = executor.read(&claim.outputs[0]).unwrap();
    assert_eq!(golden::compare(claim, &[x], &[&y]), Ok(()), "{claim}");
    y
}

#[test]
fn small_rings_on_machines_with_short_vectors_have_other_libraries_results() {
    let vectors = vectors();
    for vector in &vectors {
        let (source, n, expected) = (&vector.source, vector.n, vector.expected());
        let operation = vector.operation.parse::<Operation>().unwrap();
        let lengths = Isa::MIN_VECTOR_LENGTH.ilog2()..=n.ilog2();
        for machine in lengths.map(|log2| machine(1 << log2)) {
            let name = format!("{operation} of {source}, n = {n}, {} lanes", machine.vector_length());
            assert_eq!(run(&vector.request(operation), &machine, &vector.input), expected, "{name}");
            if operation == NTT {
                assert_eq!(run(&vector.request(INTT), &machine, &expected), vector.input, "inverse {name}");
            }
        }
    }
    for source in ["Lattigo", "HEXL", "HEIR", "SEAL"] {
        assert!(vectors.iter().any(|vector| vector.source == source && vector.n == 8), "{source}");
    }
    assert!([8, 16, 32, 64, 128, 256].iter().all(|n| vectors.iter().any(|vector| vector.n == *n)));
}

#[test]
fn degrees_below_the_vector_length_are_refused_with_the_key() {
    for vector in vectors() {
        let operation = vector.operation.parse::<Operation>().unwrap();
        let error = generate(&vector.request(operation), &machine(2 * vector.n), &PlanChoice::Classical);
        let message = error.unwrap_err().to_string();
        assert!(message.contains("`isa.vector_length`"), "{message}");
    }
}
