//! Further searches for points that are slower than others on worse machines.

use codegen::search::lags_behind;
use lab_sweep::{
    CatchUp, Definition, Journal, JournalError, Plan, PlannedPoint, Record, Replay, Results, Shard, Verdict,
    execute, generate, verify,
};
use sim::timing::Cycle;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// With a multiplier of five stages, a quick search for 1,024 points does less well if banks have two ports; and for
/// 8,192 points on another machine, if queues are longer.
const SWEEP: &str = "
kernel = 'ntt'
modulus_bits = 60
[[list]]
n = 1024
hple.multiplier_latency_cycles = 5
frontend.queue_depth = 1
vdm.ports = 1
[[list]]
n = 1024
hple.multiplier_latency_cycles = 5
frontend.queue_depth = 1
vdm.ports = 2
[[list]]
n = 1024
hple.multiplier_latency_cycles = 5
frontend.queue_depth = 8
vdm.ports = 1
[[list]]
n = 1024
hple.multiplier_latency_cycles = 5
frontend.queue_depth = 8
vdm.ports = 2
[[list]]
n = 8192
sbar.latency_cycles = 7
frontend.dispatch_to_issue_cycles = 2
frontend.queue_depth = 1
[[list]]
n = 8192
sbar.latency_cycles = 7
frontend.dispatch_to_issue_cycles = 2
frontend.queue_depth = 8
";

fn plan(text: &str) -> Plan {
    Plan::new(&Definition::parse("test.toml", text).unwrap()).unwrap()
}

fn journal(folder: &Path, plan: &Plan) -> Journal {
    Journal::open(folder, Shard::WHOLE, &plan.manifest).unwrap()
}

/// Simulates the points of a shard, without further searches.
fn first_records(folder: &Path, plan: &Plan, shard: Shard) {
    let mut journal = Journal::open(folder, shard, &plan.manifest).unwrap();
    let batch = journal.pending(plan, shard, false);
    execute(plan, &batch, &mut journal, &generate, &|_| ()).unwrap();
}

/// Makes the further searches, and returns the number of machines.
fn catch_up(folder: &Path, plan: &Plan, journal: &mut Journal) -> Result<usize, JournalError> {
    let (mut searches, mut machines) = (CatchUp::default(), 0);
    while let Some(wave) = searches.next(plan, &Results::merge(&[folder])?)? {
        machines += wave.machines();
        assert!(!wave.batch().points.is_empty());
        searches.execute(plan, &wave, journal, &|_| ())?;
    }
    Ok(machines)
}

fn records(folder: &Path) -> Vec<Record> {
    Results::merge(&[folder]).unwrap().records().unwrap()
}

fn lines(folder: &Path) -> Vec<String> {
    Results::merge(&[folder]).unwrap().lines().collect::<Result<_, _>>().unwrap()
}

/// The points that are slower than another on a worse machine.
fn slower(plan: &Plan, records: &[Record]) -> Vec<(PlannedPoint, Cycle, Cycle)> {
    let points: Vec<PlannedPoint> = plan.points().collect();
    let cycles = |number: usize| {
        let timing = records[number].report.as_ref().unwrap().timing.as_ref().unwrap();
        Cycle(timing.cycles)
    };
    let mut slower = Vec::new();
    for (better, point) in points.iter().enumerate() {
        for (worse, other) in points.iter().enumerate() {
            let is_better = point.task == other.task && point.machine.dominates(&other.machine);
            if is_better && lags_behind(cycles(better), cycles(worse)) {
                slower.push((point.clone(), cycles(better), cycles(worse)));
            }
        }
    }
    slower
}

#[test]
fn no_point_stays_slower_than_one_on_a_worse_machine() {
    let plan = plan(SWEEP);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    first_records(folder, &plan, Shard::WHOLE);
    let before = records(folder);
    assert_eq!(slower(&plan, &before).len(), 4, "{:?}", slower(&plan, &before));

    assert_eq!(catch_up(folder, &plan, &mut journal(folder, &plan)).unwrap(), 3);
    let after = records(folder);
    assert!(slower(&plan, &after).is_empty(), "{:?}", slower(&plan, &after));
    let searched: Vec<&Record> = after.iter().filter(|record| record.beside.is_some()).collect();
    let sources: Vec<&str> = searched.iter().filter_map(|record| record.program_source.as_deref()).collect();
    assert_eq!(sources, ["dominated", "dominated", "tuned"]);
    for (old, new) in before.iter().zip(&after) {
        assert!(new.beside.is_some() || old == new);
        assert_eq!(new.report.as_ref().map(|report| report.checked), Some(true));
    }

    // Once is enough.
    assert_eq!(catch_up(folder, &plan, &mut journal(folder, &plan)).unwrap(), 0);
    // A new simulation of these points has the same results.
    for record in searched {
        let replay = Replay::find(folder, &record.key.to_string()).unwrap();
        assert_eq!(replay.run(&generate).unwrap().verdict, Verdict::Same);
    }
    let verified = verify(folder, None, 0, &generate, &|_, _| ()).unwrap();
    assert_eq!((verified.verified, verified.differing.len()), (6, 0));

    // Neither shards nor an interruption change the results.
    let shards = tempfile::tempdir().unwrap();
    for shard in Shard::all(2) {
        first_records(shards.path(), &plan, shard);
        // Not before all points have run.
        let early = if shard.number() == 1 { 0 } else { 1 };
        let mut stopped = journal(shards.path(), &plan).stopped_by(Arc::new(AtomicBool::new(true)));
        assert_eq!(catch_up(shards.path(), &plan, &mut stopped).is_err(), early == 1);
    }
    catch_up(shards.path(), &plan, &mut journal(shards.path(), &plan)).unwrap();
    assert_eq!(lines(shards.path()), lines(folder));
    let saved = tempfile::tempdir().unwrap();
    Results::merge(&[shards.path(), folder]).unwrap().save(saved.path()).unwrap();
    assert_eq!(lines(saved.path()), lines(folder));
    assert!(fs::read_to_string(saved.path().join("journal.jsonl")).unwrap().lines().count() == 6);
}

/// Programs that many points share on purpose stay shared.
#[test]
fn sweeps_with_given_programs_stay_as_they_are() {
    for change in ["schedule_for = 'base'", "plan = 'kl'", "tune = 'off'"] {
        let plan = plan(&format!("{change}{SWEEP}"));
        let folder = tempfile::tempdir().unwrap();
        first_records(folder.path(), &plan, Shard::WHOLE);
        let results = Results::merge(&[folder.path()]).unwrap();
        assert!(CatchUp::default().next(&plan, &results).unwrap().is_none(), "{change}");
    }
}
