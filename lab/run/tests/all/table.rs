//! Documents of runs as tables.

use crate::samples::{kernel, ring, stream, untimed};
use lab_run::{Bottleneck, RunReport, Waits, table};
use runtime::report::Compute;

fn fresh(name: &str, report: &RunReport) {
    diagnostic::snapshot::fresh(
        format!("{}/tests/table/{name}.txt", env!("CARGO_MANIFEST_DIR")),
        table(report),
    );
}

#[test]
fn the_table_of_a_kernel_shows_its_claims_and_where_cycles_go() {
    fresh("kernel", &kernel(&[]));
    let changes = ["vdm.banks=64", "hbm.buffers=3", "technology=gf12"];
    fresh("stream", &stream(&changes, Bottleneck::Hbm));
}

#[test]
fn the_table_of_a_ring_program_shows_what_limits_its_time() {
    fresh("ring", &ring());
}

#[test]
fn a_table_has_no_lines_for_what_a_run_has_not() {
    fresh("untimed", &untimed(&[]));
    // No cycle, no wait, no operation without effect.
    let calm = |conflicts| {
        let waits = Waits { bank_conflict_cycles: conflicts, ..Default::default() };
        table(&RunReport { waits: Some(waits), ..kernel(&[]) })
    };
    assert!(!calm(0).contains("Delays after dispatch") && calm(1).contains("Delays after dispatch"));
    let compute = Some(Compute { busy: 0.0, bound_ratio: None });
    let idle = table(&RunReport { compute, unused_operations: Some(2), ..ring() });
    assert!(!idle.contains("times the bounds") && idle.contains("2 without effect on an output"), "{idle}");
}

#[test]
fn a_table_says_what_was_compared() {
    let line = |report: RunReport| {
        let table = table(&report);
        let found = table.lines().find(|line| line.contains("compared") || line.contains("agrees"));
        found.unwrap_or_default().trim().to_owned()
    };
    let expected = || vec!["y".to_owned(), "z".to_owned()];
    assert_eq!(line(untimed(&[])), "");
    assert_eq!(line(kernel(&[])), "checked: every coefficient agrees with the golden model");
    assert_eq!(line(ring()), "checked: every coefficient agrees with big integers");
    assert_eq!(line(RunReport { expected: expected(), ..kernel(&[]) }), "compared: `y`, `z` as expected");
    let some = RunReport { expected: expected(), checked: false, ..kernel(&[]) };
    assert_eq!(line(some), "compared: `y`, `z` as expected; other outputs were not compared");
}

#[test]
fn the_bottleneck_of_a_stream_is_marked() {
    for (bottleneck, name) in [(Bottleneck::Compute, "compute"), (Bottleneck::Hbm, "off-chip memory")] {
        let table = table(&stream(&[], bottleneck));
        let marked = table.lines().filter(|line| line.ends_with("the bottleneck"));
        let marked: Vec<&str> = marked.map(|line| line.trim().split("  ").next().unwrap()).collect();
        assert_eq!(marked, [name]);
    }
}
