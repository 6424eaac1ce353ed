//! Explorations of a space whose front is known.

use codegen::Merit;
use lab_sweep::explore::{Explored, Space, explore};
use lab_sweep::outputs::Outputs;
use lab_sweep::{Definition, Journal, Measure, Plan, Record, Results, Shard, Task, generate, line, records};
use ring_program::Manifest;
use runtime::Runtime;
use sim::Clock;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// 10,080 designs: the axes of `configs/sweeps/explore.toml`, with a small kernel.
const SPACE: &str = "
name = 'space'
schedule_for = ['hple.count', 'vdm.banks']
kernel = 'ntt'
n = 1024
plan = 'kl'
[grid]
hple.count = [4, 8, 16, 32, 64, 128, 256]
vdm.banks = [32, 64, 128, 256]
hple.multiplier_latency_cycles = [4, 6, 8, 11, 16, 22]
hple.initiation_interval = [1, 2, 3]
vbar.latency_cycles = [4, 6, 8, 10, 12]
sbar.latency_cycles = [3, 5, 7, 9]
";

/// The logarithms of time and area.
type Costs = (f64, f64);

fn costs(record: &Record) -> Costs {
    let report = record.report.as_ref().expect("a run");
    (report.time_us.expect("a run in time").ln(), report.area_mm2.ln())
}

/// The area between the designs and the reference, counted strip by strip.
fn hypervolume(mut designs: Vec<Costs>, reference: Costs) -> f64 {
    designs.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    let (mut volume, mut lowest) = (0.0, reference.1);
    for (time, area) in designs {
        if time < reference.0 && area < lowest {
            volume += (reference.0 - time) * (lowest - area);
            lowest = area;
        }
    }
    volume
}

fn run(folder: &Path, text: &str, shard: Shard, evaluations: usize, seed: u64) -> Explored {
    let definition = Definition::parse("space.toml", text).unwrap();
    let space = Space::new(&definition).unwrap();
    let mut journal = Journal::open(folder, shard, &space.manifest()).unwrap();
    explore(&space, &mut journal, evaluations, seed, &generate, &|_| ()).unwrap()
}

fn found(folder: &Path) -> Vec<Record> {
    Results::merge(&[folder]).unwrap().records().unwrap()
}

#[test]
#[ignore = "long: `.ci/long` runs it"]
fn a_twentieth_of_the_evaluations_reaches_99_percent_of_the_hypervolume() {
    let plan = Plan::new(&Definition::parse("space.toml", SPACE).unwrap()).unwrap();
    let all: Vec<Costs> = records(&plan, &generate).iter().map(costs).collect();
    assert_eq!(all.len(), 10_080);
    let worst = |cost: fn(&Costs) -> f64| all.iter().map(cost).fold(f64::NEG_INFINITY, f64::max);
    let reference = (worst(|c| c.0), worst(|c| c.1));
    let whole = hypervolume(all.clone(), reference);
    let mut shares: Vec<f64> = (0..4)
        .map(|seed| {
            let folder = tempfile::tempdir().unwrap();
            let explored = run(folder.path(), SPACE, Shard::WHOLE, all.len() / 20, seed);
            let records = found(folder.path());
            assert_eq!((explored.evaluations, records.len()), (all.len() / 20, all.len() / 20));
            hypervolume(records.iter().map(costs).collect(), reference) / whole
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    assert!((shares[1] + shares[2]) / 2.0 >= 0.99, "{shares:?}");
}

/// Machines and plans at once. The areas are those of small, medium and large machines.
#[test]
fn a_tenth_of_the_evaluations_comes_within_5_percent_of_the_fastest_design_in_each_area() {
    let space = "kernel = 'ntt'\nn = 1024\nschedule_for = ['hple.count', 'vdm.banks']\n[grid]\n\
        plan = ['pease', 'kl', 'unoptimised']\nhple.count = [4, 8, 16, 32, 64, 128, 256]\n\
        vdm.banks = [32, 64, 128, 256]\nhple.multiplier_latency_cycles = [4, 8, 11, 16]\n\
        vbar.latency_cycles = [4, 8]\nsbar.latency_cycles = [3, 7]\n\
        [explore]\npopulation = 16\n";
    let plan = Plan::new(&Definition::parse("space.toml", space).unwrap()).unwrap();
    let all: Vec<Costs> = records(&plan, &generate).iter().map(costs).collect();
    let areas = [6.0, 8.0, 12.0, 20.0, 40.0, f64::INFINITY];
    let fastest = |designs: &[Costs]| {
        areas.map(|area: f64| {
            let within = designs.iter().filter(|(_, own)| *own <= area.ln());
            within.map(|(time, _)| *time).fold(f64::INFINITY, f64::min)
        })
    };
    let best = fastest(&all);
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), space, Shard::WHOLE, all.len() / 10, seed);
        let found = fastest(&found(folder.path()).iter().map(costs).collect::<Vec<_>>());
        let ratios = [0, 1, 2, 3, 4, 5].map(|area| (found[area] - best[area]).exp());
        println!("seed {seed}, {} of {} designs: {ratios:.3?}", all.len() / 10, all.len());
        assert!(ratios.iter().all(|ratio| *ratio <= 1.05), "seed {seed}: {ratios:?}");
    }
}

/// A small set with a bootstrap of two matrices each.
const SMALL: &str = "n = 512\nq = [{ bits = 45, count = 9 }]\np = [{ bits = 60, count = 3 }]\n\
    digits = 3\nsecurity = 'none'\n[bootstrap]\nscale_bits = 30\nmessage_ratio_bits = 8\ncoeff_to_slot = 2\n\
    eval_mod = 3\nslot_to_coeff = 2\nrange = 1\ndegree = 2\ndouble_angles = 1\nephemeral_weight = 8\n\
    steps = 'lattigo'\n";

/// What computes the same is one task: its forms are axes beside those of machines.
#[test]
fn forms_of_an_algorithm_and_keys_of_machines_are_axes_of_one_space() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    let file = folder.path().join("space.toml").display().to_string();
    let parsed = |axes: &str| {
        let text = format!("kernel = 'bootstrap'\nset = 'small.toml'\n[grid]\nisa.word_bits = [64]\n{axes}");
        Definition::parse(&file, &text).unwrap()
    };
    let axes = "hoisting = ['double', 'min-ks']\nrescale = ['separate', 'merged']\n\
        slot_to_coeff = ['last', 'first']\ndataflow = ['oc', 'dc']\ndigits = [3, 2, 5]\n\
        coeff_to_slot_matrices = [2, 1]\nslot_to_coeff_matrices = [2, 1, 3]\nhple.count = [64, 128]\n\
        [explore]\nobjectives = ['slot_level_ns', 'area_rpu_mm2']\npopulation = 4";
    let space = Space::new(&parsed(axes)).unwrap();
    assert_eq!(space.designs(), 576.0);
    // All are one task. Five digits do not divide every number of moduli.
    let axes = axes.replace("digits = [3, 2, 5]", "digits = [3, 2]");
    let plan = Plan::new(&parsed(&format!("{axes}\n[sample]\npoints = 8"))).unwrap();
    let tasks: Vec<_> = plan.points().map(|point| point.workload()).collect();
    assert!(tasks.len() == 8 && tasks.iter().all(|task| *task == tasks[0]), "{tasks:?}");
    for point in plan.points() {
        for key in ["hoisting", "rescale", "slot_to_coeff", "digits", "coeff_to_slot_matrices"] {
            assert!(point.settings.contains_key(key), "{key}: {:?}", point.settings);
        }
    }
    // As keys were spelled before.
    let old = Plan::new(&parsed("slot-to-coeff = ['first']")).unwrap();
    let new = Plan::new(&parsed("slot_to_coeff = ['first']")).unwrap();
    assert_eq!(old.point(0).settings, new.point(0).settings);
    assert_eq!(old.point(0).settings["slot_to_coeff"], "first");
    // Each number makes a program of its own; the set's own numbers make that of the set.
    let programs = |axes: &str| -> Vec<String> {
        let plan = Plan::new(&parsed(axes)).unwrap();
        let blake3 = |point: usize| match plan.point(point).task {
            Task::Ring(task) => task.blake3.clone(),
            task => panic!("{task:?}"),
        };
        (0..plan.len()).map(blake3).collect()
    };
    let own = programs("hple.count = [64]");
    for axes in
        ["digits = [3, 2, 5]", "coeff_to_slot_matrices = [2, 1]", "slot_to_coeff_matrices = [2, 1, 3]"]
    {
        let varied = programs(axes);
        assert_eq!(varied[0], own[0], "{axes}");
        assert!((1..varied.len()).all(|point| !varied[..point].contains(&varied[point])), "{axes}");
    }
    let error = |axes: &str| Plan::new(&parsed(axes)).unwrap_err().to_string();
    assert!(error("digits = [4]").contains("cannot be divided into 4 digits"), "{}", error("digits = [4]"));
    let text = "kernel = 'hmult'\nset = 'ark'\nn = 8192\ncoeff_to_slot_matrices = 2";
    let other = Plan::new(&Definition::parse("s.toml", text).unwrap()).unwrap_err().to_string();
    assert!(other.contains("`coeff_to_slot_matrices` is of `bootstrap`"), "{other}");
}

#[test]
fn a_search_that_was_stopped_goes_on_as_if_it_had_not_been() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let uninterrupted = run(whole.path(), SPACE, Shard::WHOLE, 120, 7);
    run(parts.path(), SPACE, Shard::WHOLE, 50, 7);
    let resumed = run(parts.path(), SPACE, Shard::WHOLE, 120, 7);
    assert_eq!(resumed.simulated, 70);
    assert_eq!(resumed.hypervolume, uninterrupted.hypervolume);
    assert_eq!(found(parts.path()), found(whole.path()));
    let both = Results::merge(&[parts.path(), whole.path()]).unwrap();
    assert_eq!(both.records().unwrap(), found(whole.path()));

    // Each shard searches on its own; their records make one result.
    let shards = tempfile::tempdir().unwrap();
    for (shard, seed) in [("1/2", 7), ("2/2", 8)] {
        run(shards.path(), SPACE, shard.parse().unwrap(), 60, seed);
    }
    let both = found(shards.path()).len();
    assert!((60..=120).contains(&both), "{both}");
    // A saved one has each record once.
    let saved = tempfile::tempdir().unwrap();
    Results::merge(&[shards.path()]).unwrap().save(saved.path()).unwrap();
    assert_eq!(fs::read_to_string(saved.path().join("journal.jsonl")).unwrap().lines().count(), both);
}

/// All records of a folder are designs of its space; goals may change.
#[test]
fn a_folder_has_designs_of_one_space() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\n";
    run(folder.path(), text, Shard::WHOLE, 9, 0);
    let open = |text: &str| {
        let space = Space::new(&Definition::parse("space.toml", text).unwrap()).unwrap();
        Journal::open(folder.path(), Shard::WHOLE, &space.manifest()).map(drop)
    };
    assert!(open(&format!("# the same\n{text}[explore]\nobjectives = ['energy_uj', 'area_mm2']\n")).is_ok());
    for (from, to) in [
        ("512", "1024"),
        ("'add'", "'sub'"),
        ("[64, 128]", "[64]"),
        ("[64, 128]", "[64, 128, 256]"),
        ("[grid]", "[grid]\nvdm.banks = [32, 64]"),
        ("n = ", "seed = 1\nn = "),
        ("n = ", "machine = 'rpu-128x128-paper'\nn = "),
    ] {
        let error = open(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.ends_with("holds the exploration `space` of another space"), "{to}: {error}");
    }
    let shards = ["1/2", "2/2"].map(|shard| (tempfile::tempdir().unwrap(), shard.parse().unwrap()));
    for ((folder, shard), n) in shards.iter().zip(["512", "1024"]) {
        run(folder.path(), &text.replace("512", n), *shard, 2, 0);
    }
    let error = Results::merge(&[shards[0].0.path(), shards[1].0.path()]).unwrap_err().to_string();
    assert!(error.contains("belongs to another definition of the sweep `space`"), "{error}");
}

/// The classical pair and the plan of Pease are one at this degree, and a search does not change either.
#[test]
fn designs_that_are_the_same_point_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel = 'ntt'\nn = 1024\n[grid]\nplan = ['kl', 'pease']\ntune = ['off', 'quick']\nhple.count = [64, 128]";
    let explored = run(folder.path(), text, Shard::WHOLE, 100, 0);
    let points = found(folder.path());
    assert_eq!((explored.evaluations, explored.simulated, points.len()), (2, 2, 2));
    let again = run(folder.path(), text, Shard::WHOLE, 100, 1);
    assert_eq!((again.evaluations, again.simulated), (2, 0));
}

/// The hypervolume depends on the front only, not on the way there.
#[test]
fn searches_that_find_the_same_front_have_the_same_hypervolume() {
    let text = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [16, 32, 64, 128]\nvdm.banks = [32, 64, 128]\n\
        vbar.latency_cycles = [3, 4, 5]\nsbar.latency_cycles = [3, 4, 5]";
    let volumes = [0, 1].map(|seed| {
        let folder = tempfile::tempdir().unwrap();
        // All 108 designs, also those that random children do not reach.
        let explored = run(folder.path(), text, Shard::WHOLE, 1000, seed);
        assert_eq!(explored.evaluations, 108);
        explored.hypervolume.expect("the base has a run")
    });
    assert!(volumes[0] > 0.0);
    assert_eq!(volumes[0], volumes[1]);
}

/// Rounds of few designs reach every value of a long axis.
#[test]
fn a_small_population_leaves_designs_that_are_evaluated_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<String> = (100..300).map(|value| value.to_string()).collect();
    let text = format!(
        "kernel = 'add'\nn = 512\nplan = 'kl'\n[grid]\nhbm.gb_per_s = [{}]\n[explore]\npopulation = 4",
        values.join(", ")
    );
    assert_eq!(run(folder.path(), &text, Shard::WHOLE, 1000, 1).evaluations, values.len());
}

#[test]
fn programs_are_checked_on_the_data_of_the_space() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel = 'add'\nn = 512\nplan = 'kl'\nseed = 7\n[grid]\nhple.count = [64, 128]\n";
    let space = Space::new(&Definition::parse("space.toml", text).unwrap()).unwrap();
    let mut journal = Journal::open(folder.path(), Shard::WHOLE, &space.manifest()).unwrap();
    let told = AtomicUsize::new(0);
    let tell = |_: &Explored| _ = told.fetch_add(1, Ordering::Relaxed);
    explore(&space, &mut journal, 2, 0, &generate, &tell).unwrap();
    // The first designs are both, and nothing is left to search for.
    assert_eq!(told.into_inner(), 1);
    let seeds = found(folder.path()).into_iter().map(|record| record.report.and_then(|report| report.seed));
    assert!(seeds.eq([Some(7), Some(7)]));
}

#[test]
fn constraints_hold_on_the_front_and_small_spaces_are_exhausted() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [32, 64, 128, 256]\n\
        vdm.ports = [1, 2]\nvbar.paths = ['shared', 'split']\n[explore]\n\
        objectives = ['time_us', 'energy_uj']\nconstraints = ['area < 20 mm2']\npopulation = 6\n";
    let explored = run(folder.path(), text, Shard::WHOLE, 1000, 0);
    // Split paths need two ports, so a quarter of the sixteen designs does not exist.
    assert_eq!(explored.evaluations, 12);
    let within = |record: &&Record| record.report.as_ref().unwrap().area_mm2 < 20.0;
    let all = found(folder.path());
    let feasible = all.iter().filter(within).count();
    assert!(feasible > 0 && feasible < 12, "{feasible}");
    assert!((1..=feasible).contains(&explored.front));

    let error = |text: &str| match Definition::parse("space.toml", text).map(|d| Space::new(&d).map(|_| ())) {
        Ok(Ok(())) => String::new(),
        Ok(Err(error)) | Err(error) => error.to_string(),
    };
    assert!(error("n = 1024").contains("nothing varies"));
    assert!(error("n = 1024\n[grid]\nhple.count = [4, 5]").starts_with("space.toml:3:18: "));
    assert!(
        error("n = 1024\n[explore]\nconstraints = ['area = 3']").contains("write `<`, `<=`, `>` or `>=`")
    );
    assert!(error("n = 1024\n[explore]\nobjectives = ['time_us']").contains("a list of 2 values or more"));
}

/// Sweeps time ring programs as `rpu run` does, and split their energy.
#[test]
fn a_ring_program_is_a_point_like_others() {
    let text = "kernel = 'hmult'\nset = 'ark'\nn = 8192\nlevel = 3\n[zip]\ndataflow = ['oc', 'mp']\nvdm.size_mib = [1, 4]";
    let plan = Plan::new(&Definition::parse("ring.toml", text).unwrap()).unwrap();
    let found = records(&plan, &generate);
    let task = |point: usize| match plan.point(point).task {
        Task::Ring(task) => task,
        task => panic!("{task:?}"),
    };
    for (point, record) in found.iter().enumerate() {
        let report = record.report.as_ref().unwrap_or_else(|| panic!("{record:?}"));
        let (task, machine) = (task(point), plan.point(point).machine);
        let runtime = Runtime::mapped(&task.program, &machine, (task.keys, task.merit.into())).unwrap();
        let expected = runtime.report(&runtime.time(false).unwrap());
        let (time_us, cycles) = report.duration().unwrap();
        assert_eq!((time_us, report.area_mm2), (expected.time_us, expected.area.total()));
        assert_eq!(cycles, (time_us * 1e3 * Clock::of(&machine).ghz()).ceil() as u64);
        assert!((report.energy_uj / expected.energy.total() - 1.0).abs() < 1e-12);
        let again = Record::parse(&line(record).unwrap()).unwrap();
        assert_eq!(again, *record);
    }
    assert_ne!(task(0).program, task(1).program);
    assert_eq!(task(0).merit, Merit::Cycles);
    let efficient = Definition::parse("ring.toml", &format!("optimise = 'energy'\n{text}")).unwrap();
    let other = Plan::new(&efficient).unwrap().point(0).task;
    assert!(matches!(&other, Task::Ring(task) if task.merit == Merit::Energy), "{other:?}");

    // A program from a file is the same point: a program is its content.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.fhetch");
    let mut content = Vec::new();
    task(0).program.write("a comment", &mut content).unwrap();
    fs::write(&file, content).unwrap();
    fs::write(folder.path().join("own.json"), Manifest::of(&task(0).program).to_json()).unwrap();
    let name = folder.path().join("own.toml").display().to_string();
    let own = |text: &str| Plan::new(&Definition::parse(&name, text).unwrap());
    let points =
        own("program = 'own.fhetch'\n[zip]\nkeys = ['streamed', 'resident']\nvdm.size_mib = [1, 4]").unwrap();
    let records = records(&points, &generate);
    let cycles = |record: &Record| record.report.as_ref().unwrap().cycles;
    assert_eq!((records[0].key, cycles(&records[0])), (found[0].key, cycles(&found[0])));
    assert_eq!(records[1].point["keys"], "resident");
    assert!(
        own("program = 'own.fhetch'\nlevel = 2")
            .unwrap_err()
            .to_string()
            .contains("`level` is of generated ring programs")
    );
    assert!(
        own("program = 'other.fhetch'")
            .unwrap_err()
            .to_string()
            .contains("own.toml:1:11: D004: cannot read `other.fhetch`")
    );

    let space = "kernel = 'hmult'\nset = 'ark'\nn = 8192\nlevel = 2\n[grid]\nhple.count = [64, 128]";
    assert_eq!(run(folder.path(), space, Shard::WHOLE, 8, 0).evaluations, 2);
    let results = Results::merge(&[folder.path()]).unwrap();
    Outputs::new(&results).write(folder.path()).unwrap();
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("hmult of the parameter set ark, n = 8192"));

    let error = |text: &str| Plan::new(&Definition::parse("s.toml", text).unwrap()).unwrap_err().to_string();
    assert!(error("kernel = 'hmul'\nset = 'ark'").contains("did you mean \"hmult\"?"));
    assert!(error("kernel = 'hmult'\nset = 'ark'\ntowers = 2").starts_with("s.toml:3:"));
    assert!(error("kernel = 'hmult'\nset = 'nothing'").contains("the sets are ark"));
    assert!(error("kernel = 'hmult'\nn = 2048").contains(
        "a ring program without a parameter set; add `set = \"ark\"`, for example; the sets are ark"
    ));
    assert!(error("kernel = 'hmult'\nset = 'ark'\nlevel = 99").starts_with("s.toml:3:"));
    let based = "schedule_for = 'base'\nkernel = 'hmult'\nset = 'ark'";
    assert!(error(based).contains("kernels of its own"));
    // A plan that the task does not take is not read.
    let planned = "kernel = 'hmult'\nset = 'ark'\nplan = 'absent.toml'";
    assert!(
        error(planned).starts_with("s.toml:3:1: ") && !error(planned).contains("cannot read"),
        "{}",
        error(planned)
    );
}

#[test]
fn the_time_of_a_stream_counts_where_designs_have_one() {
    let grid = "[grid]\nn = [1024]\nhple.count = [4, 8]\n";
    for (text, time) in [
        (grid.to_owned(), Measure::TimeUs),
        (format!("stream = 8\n{grid}"), Measure::StreamUs),
        (format!("{grid}stream = [8]\n"), Measure::StreamUs),
    ] {
        let space = Space::new(&Definition::parse("space.toml", &text).unwrap()).unwrap();
        assert_eq!(space.goals().objectives, [time, Measure::AreaMm2], "{text}");
    }
}

#[test]
fn charts_and_pages_say_what_they_hide_and_what_exceeds_a_constraint() {
    let text = "kernel = 'add'\nn = 512\nplan = 'kl'\n[grid]\nhple.count = [64, 128]\nvdm.size_mib = [4, 8, 16]\n\
                [explore]\nconstraints = ['area < 20 mm2']\n";
    let folder = tempfile::tempdir().unwrap();
    let front = run(folder.path(), text, Shard::WHOLE, 6, 0).front;
    let results = Results::merge(&[folder.path()]).unwrap();
    let areas: Vec<f64> =
        found(folder.path()).iter().map(|record| record.report.as_ref().unwrap().area_mm2).collect();
    let beyond = areas.iter().filter(|area| **area >= 20.0).count();
    assert!(areas.len() == 6 && (1..6).contains(&beyond) && (1..4).contains(&front), "{beyond}, {front}");

    let outputs = Outputs::new(&results);
    outputs.write(folder.path()).unwrap();
    let chart = fs::read_to_string(folder.path().join("pareto.svg")).unwrap();
    assert_eq!(chart.matches("opacity=\"0.15\"").count(), beyond);
    // Nothing is hidden.
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert_eq!(page.matches(" data-key=").count(), 6);
    assert!(!page.contains("Charts and table show") && !chart.contains(" other points"), "{page}");
}
