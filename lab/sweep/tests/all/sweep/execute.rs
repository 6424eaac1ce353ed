//! What runs how often, and for which points.

use super::plan;
use b512_asm::Segment;
use codegen::{PlanChoice, Request};
use lab_sweep::{Journal, Shard, Status, execute, generate, records};
use ring::Degree;
use sim::Machine;

/// A program that is right in itself, but for another degree; and one that only claims its result.
#[test]
fn a_point_is_checked_against_its_own_request() {
    let text = "n = 4096\nplan = 'kl'";
    let plan = plan(text);
    let small = |request: &Request, choice: &PlanChoice, machine: &Machine| {
        let degree = Degree::new(1024).unwrap();
        generate(&Request::with_primes(request.operation, degree, 128, 1).unwrap(), choice, machine)
    };
    let error = records(&plan, &small)[0].error.clone().unwrap();
    assert!(error.starts_with("the program does not claim what was requested"), "{error}");

    let idle = |request: &Request, choice: &PlanChoice, machine: &Machine| {
        let mut generated = generate(request, choice, machine)?;
        let program = &mut generated.program;
        program.instructions.drain(..program.instructions.len() - 1);
        // Zero is its own transform.
        let x = program.symbol("x").unwrap();
        let words = vec![0; x.words as usize];
        program.vdm.segments = vec![Segment { start: x.start, words }];
        Ok(generated)
    };
    let error = records(&plan, &idle)[0].error.clone().unwrap();
    assert!(error.contains("no instruction writes"), "{error}");
}

/// Also on the machine where a fault is most likely, to see whether it may stand for the others.
#[test]
fn a_program_is_executed_once_for_all_machines() {
    let executions = |axes: &str| {
        let text = format!("kernel = 'add'\nn = 1024\nplan = 'kl'\nschedule_for = 'base'\n{axes}");
        let (plan, folder) = (plan(&text), tempfile::tempdir().unwrap());
        let mut journal = Journal::open(folder.path(), Shard::WHOLE, &plan.manifest).unwrap();
        let all: Vec<usize> = (0..plan.len()).collect();
        execute(&plan, &all, &mut journal, &generate, &|_| ()).unwrap().executions
    };
    assert_eq!(executions("[grid]\nvdm.size_mib = [8]"), 1);
    assert_eq!(executions("[grid]\nvdm.size_mib = [4, 8, 16, 32]"), 2);
}

#[test]
fn records_are_in_the_order_of_the_sweep_whatever_the_number_of_threads() {
    let text = "n = 1024\n[grid]\nhple.count = [128, 64]\nplan = ['kl', 'best']";
    let plan = plan(text);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| records(&plan, &generate))
    };
    let found = with(1);
    assert_eq!(found, with(3));
    assert!(found.iter().all(|record| record.status == Status::Ok), "{found:?}");
    assert!(found.iter().map(|r| r.key).eq(plan.points().map(|p| p.key)));
}
