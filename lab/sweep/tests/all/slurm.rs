//! A sweep as a job array: its division into tasks, by the time of some points.

use lab_sweep::slurm::{Division, time_some};
use lab_sweep::{Definition, Journal, Plan, Shard, Spent, generate};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn plan(text: &str) -> Plan {
    Plan::new(&Definition::parse("test.toml", text).unwrap()).unwrap()
}

/// Four programs with three points each.
fn twelve() -> Plan {
    plan(
        "schedule_for = ['vdm.banks']\nn = 1024\n[grid]\nvdm.banks = [32, 64, 128, 256]\nvbar.latency_cycles = [4, 5, 6]",
    )
}

fn spent() -> Spent {
    Spent {
        programs: 2,
        generation: 10 * SECOND,
        executions: 2,
        execution: 2 * SECOND,
        answers: 2,
        golden: 8 * SECOND,
        points: 4,
        timing: 4 * SECOND,
    }
}

#[test]
fn tasks_are_as_many_as_the_work_keeps_busy() {
    let plan = twelve();
    let points: Vec<usize> = (0..plan.len()).collect();
    let divide =
        |tasks, threads, least| Division::new(&plan, &points, &spent(), tasks, threads, least * SECOND);
    // Four programs of 6 s, one golden result of 4 s, twelve points of 1 s.
    let all = divide(1, 1, 1);
    assert_eq!(all, Division { tasks: 1, whole: 40 * SECOND, longest: 40 * SECOND });
    let exceeds = |limit: &str| all.exceeds(&limit.parse().unwrap());
    assert_eq!(["0:39", "0:40", "0:41"].map(exceeds), [true, false, false]);
    // Every fourth point: three programs of three points.
    assert_eq!(divide(4, 1, 10), Division { tasks: 4, whole: 40 * SECOND, longest: 25 * SECOND });
    assert_eq!(divide(100, 1, 10).tasks, 4);
    assert_eq!(divide(100, 2, 10), Division { tasks: 2, whole: 20 * SECOND, longest: 17 * SECOND });
    assert_eq!(divide(100, 1, 120).tasks, 1);
    assert_eq!(divide(100, 1, 0).tasks, 12);
    // Completed points take no time.
    let half = Division::new(&plan, &points[..6], &spent(), 9, 1, 10 * SECOND);
    assert_eq!((half.tasks, half.whole), (2, 22 * SECOND));
    let none = Division::new(&plan, &[], &Spent::default(), 9, 1, 10 * SECOND);
    assert_eq!(none, Division { tasks: 1, whole: Duration::ZERO, longest: Duration::ZERO });
}

#[test]
fn timing_stops_after_its_limit_but_times_a_point() {
    let plan = plan("kernel = 'add'\nn = 1024\nplan = 'kl'\n[grid]\nvbar.latency_cycles = [4, 5, 6]");
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path(), Shard::WHOLE, &plan.manifest).unwrap();
    let mut timed = |limit| time_some(&plan, &mut journal, limit, &generate).unwrap().points;
    assert_eq!([Duration::ZERO, Duration::MAX, Duration::MAX].map(&mut timed), [1, 2, 0]);
}
