//! Explorations of a space whose front is known.

use lab_run::RunReport;
use lab_sweep::explore::{Explored, Space, explore};
use lab_sweep::outputs::Outputs;
use lab_sweep::{Definition, Journal, Plan, Record, Results, Shard, Task, generate, line, records};
use ring_program::compression;
use runtime::Runtime;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// 10,080 designs: the axes of `configs/sweeps/explore.toml`, with a small kernel. The constraint is far
/// from all designs.
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
    (report.timing.as_ref().expect("a run in time").time_us.ln(), report.area_mm2.ln())
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

/// Every design of the space.
fn all() -> &'static [Costs] {
    static ALL: OnceLock<Vec<Costs>> = OnceLock::new();
    ALL.get_or_init(|| {
        let plan = Plan::new(&Definition::parse("space.toml", SPACE).unwrap()).unwrap();
        records(&plan, &generate).iter().map(costs).collect()
    })
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
fn a_twentieth_of_the_evaluations_reaches_99_percent_of_the_hypervolume() {
    let all = all();
    assert_eq!(all.len(), 10_080);
    let worst = |cost: fn(&Costs) -> f64| all.iter().map(cost).fold(f64::NEG_INFINITY, f64::max);
    let reference = (worst(|c| c.0), worst(|c| c.1));
    let whole = hypervolume(all.to_vec(), reference);
    let mut shares: Vec<f64> = (0..10)
        .map(|seed| {
            let folder = tempfile::tempdir().unwrap();
            let explored = run(folder.path(), SPACE, Shard::WHOLE, all.len() / 20, seed);
            let records = found(folder.path());
            assert_eq!((explored.evaluations, records.len()), (all.len() / 20, all.len() / 20));
            hypervolume(records.iter().map(costs).collect(), reference) / whole
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    println!("{shares:.4?}");
    assert!((shares[4] + shares[5]) / 2.0 >= 0.99, "{shares:?}");
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

    // Each shard searches on its own; their records make one result.
    let shards = tempfile::tempdir().unwrap();
    for (shard, seed) in [("1/2", 7), ("2/2", 8)] {
        run(shards.path(), SPACE, shard.parse().unwrap(), 60, seed);
    }
    let both = found(shards.path()).len();
    assert!((60..=120).contains(&both), "{both}");
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

/// A search whose results are committed: `configs/spaces/NAME.toml`, `reports/NAME.csv.xz` and `reports/NAME.md`.
struct Study {
    name: &'static str,
    /// What the machine is best for.
    task: &'static str,
    /// The origin of the numbers.
    origin: &'static str,
    /// The key whose values have colours in the chart.
    colour: &'static str,
    /// The largest area in the chart, in mm2.
    chart_mm2: u32,
}

const TRANSFORM: Study = Study {
    name: "best-machine",
    task: "the 64K transform",
    origin: "Each design has the program of plan `best`, which was checked on data. Cycles are simulated; areas, clocks and\n\
        energies are modelled ([`docs/costs.md`](../../docs/costs.md)).",
    colour: "vdm.banks",
    chart_mm2: 40,
};

const PRODUCT: Study = Study {
    name: "best-machine-hmult",
    task: "a product of ciphertexts",
    origin: "The product is `hmult` of the parameter set `dprive`: n = 65,536, 13 moduli of 128 bits, keys streamed. Each\n\
        design has the kernels that plan `best` finds for it. Times include the transfers between VDM and off-chip memory, and are\n\
        simulated; areas, clocks and energies are modelled ([`docs/costs.md`](../../docs/costs.md)). Sizes of the VDM other than 4 MiB\n\
        are beyond what printed numbers check (*extrapolated*).",
    colour: "vdm.size_mib",
    chart_mm2: 40,
};

/// A row of the results, by column.
type Row = BTreeMap<String, String>;

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is a number: {}", row[column]))
}

impl Study {
    fn file(&self, folder: &str, extension: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../{folder}/{}.{extension}", self.name))
    }

    fn rows(&self) -> Vec<Row> {
        let mut reader =
            csv::Reader::from_reader(compression::open(&self.file("reports", "csv.xz")).unwrap());
        let rows: Vec<Row> = reader.deserialize().collect::<Result<_, _>>().unwrap();
        rows.into_iter().filter(|row| row["status"] == "ok").collect()
    }

    /// The run of the design in a row, computed again.
    fn again(columns: &[String], row: &Row) -> RunReport {
        let setting = |key: &String| {
            let value = &row[key];
            let plain = value.parse::<i64>().is_ok() || ["true", "false"].contains(&value.as_str());
            if plain { format!("{key} = {value}\n") } else { format!("{key} = '{value}'\n") }
        };
        let settings: String = columns.iter().filter(|key| !row[*key].is_empty()).map(setting).collect();
        let definition = Definition::parse("again.toml", &format!("[[list]]\n{settings}")).unwrap();
        let record = records(&Plan::new(&definition).unwrap(), &generate).remove(0);
        record.report.unwrap_or_else(|| panic!("{:?}", record.error))
    }

    /// Holds the page to the designs that the search found, each computed again.
    fn check(&self) {
        let Self { name, task, origin, colour, chart_mm2 } = self;
        let text = fs::read_to_string(self.file("configs/spaces", "toml")).unwrap();
        let space = Space::new(&Definition::parse(&format!("{name}.toml"), &text).unwrap()).unwrap();
        let (manifest, rows) = (space.manifest(), self.rows());
        let limit = space.exploration().constraints[0].limit;
        let paper = values_of_the_paper();
        // Settings that are not keys of the machine, such as the dataflow, may differ.
        let is_paper =
            |row: &&Row| manifest.varying.iter().all(|key| paper(key).is_none_or(|value| row[key] == value));
        let within: Vec<&Row> = rows.iter().filter(|row| number(row, "area_mm2") <= limit).collect();
        let least = |rows: &mut dyn Iterator<Item = &'_ Row>, column: &str| -> Row {
            let order = |a: &&Row, b: &&Row| number(a, column).total_cmp(&number(b, column));
            rows.min_by(order).expect("a design").clone()
        };
        let of_paper = least(&mut rows.iter().filter(is_paper), "time_us");
        let as_fast = |row: &&&Row| number(row, "time_us") <= number(&of_paper, "time_us");
        let designs = [
            of_paper.clone(),
            least(&mut within.iter().copied(), "time_us"),
            least(&mut within.iter().filter(as_fast).copied(), "area_mm2"),
            least(&mut within.iter().copied(), "energy_delay_uj_us"),
        ];
        let mut known: BTreeMap<&str, RunReport> = BTreeMap::new();
        let runs = designs.each_ref().map(|row| {
            known.entry(row["key"].as_str()).or_insert_with(|| Self::again(&manifest.columns, row)).clone()
        });
        for (row, run) in designs.iter().zip(&runs) {
            assert_eq!(
                run.area_mm2,
                number(row, "area_mm2"),
                "explore again: see configs/spaces/{name}.toml"
            );
        }

        let mut page = format!(
            "# The best machine within the area of the paper's, for {task}\n\n\
            <!-- Generated from reports/{name}.csv.xz: `BLESS=1 cargo test -p lab-sweep --test all explore`. -->\n\n\
            {} of the {:.1e} designs in [`configs/spaces/{name}.toml`](../../configs/spaces/{name}.toml) were evaluated, {} of\n\
            them within the area of the paper's (128, 128), {limit} mm2.\n\
            {origin}\n\
            The designs are those of one search, not all: better ones may exist. Charts and `{name}.csv.xz` have the results of the\n\
            search; the table has the same designs, computed again with the programs of today.\n\n\
            ```\n\
            rpu explore configs/spaces/{name}.toml --evaluations {} --out out\n\
            xz -9 --stdout out/results.csv > reports/{name}.csv.xz\n\
            rpu plot reports/{name}.csv.xz --where 'area_mm2 <= {chart_mm2}' --colour {colour} \
            --limit 'area_mm2 <= {limit}' --mark 'RPU paper, (128, 128): key = {}' -o reports/{name}.svg\n\
            rpu plot reports/{name}.csv.xz --form parallel --where 'area_mm2 <= {limit}' -o reports/{name}-parallel.svg\n\
            ```\n\n\
            ![Area against time]({name}.svg)\n\n\
            ![All designs within the area]({name}-parallel.svg)\n\n",
            rows.len(),
            space.designs(),
            within.len(),
            rows.len(),
            of_paper["key"],
        );
        page += "| | paper's | fastest | smallest that was as fast as the paper's in the search | least energy-delay |\n|---|--:|--:|--:|--:|\n";
        let time = |run: &RunReport| run.duration().expect("a run in time");
        let mut line = |title: &str, cell: &dyn Fn(&RunReport) -> String| {
            page +=
                &format!("| {title} |{}\n", runs.each_ref().map(|run| format!(" {} |", cell(run))).concat());
        };
        line("time, us", &|run| format!("{:.3}", time(run).0));
        line("cycles", &|run| time(run).1.to_string());
        line("clock, GHz", &|run| format!("{:.3}", run.machine.frequency_ghz()));
        line("area, mm2", &|run| format!("{:.2}", run.area_mm2));
        line("energy, uJ", &|run| format!("{:.1}", run.energy_uj));
        line("energy-delay, uJ ms", &|run| format!("{:.3}", run.energy_uj * time(run).0 / 1e3));
        if runs[0].timing.is_some() {
            let ratio = |run: &RunReport| run.timing.as_ref().map_or(0.0, |timing| timing.bound_ratio);
            line("cycles over the bound", &|run| format!("{:.3}", ratio(run)));
        }
        for key in manifest.varying.iter().filter(|key| designs.iter().any(|row| row[*key] != of_paper[*key]))
        {
            page += &format!(
                "| `{key}` |{}\n",
                designs.each_ref().map(|row| format!(" {} |", row[key])).concat()
            );
        }
        let extrapolated = designs.each_ref().map(|row| format!(" {} |", row["extrapolated"]));
        page += &format!("| extrapolated |{}\n", extrapolated.concat());
        page += &format!(
            "\nThe fastest design within the area takes {:.2} of the time of the paper's machine with its best program.\n",
            time(&runs[1]).0 / time(&runs[0]).0
        );
        bless::fresh(self.file("reports", "md"), page);
    }
}

/// The values of the keys of the paper's machine, as the table of results has them.
fn values_of_the_paper() -> impl Fn(&str) -> Option<String> {
    let machine = serde_json::to_value(sim::Machine::rpu_128x128()).unwrap();
    move |key| {
        let value = key.split('.').try_fold(&machine, |value, part| value.get(part))?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

#[test]
fn the_best_machine_for_the_transform_is_fresh() {
    TRANSFORM.check();
}

#[test]
fn the_best_machine_for_a_product_of_ciphertexts_is_fresh() {
    PRODUCT.check();
}

/// Sweeps time ring programs as `rpu run` does, and split their energy.
#[test]
fn a_ring_program_is_a_point_like_others() {
    let text = "kernel = 'hmult'\nset = 'ark'\nn = 2048\nlevel = 3\n[grid]\ndataflow = ['oc', 'mp']\nvdm.size_mib = [1, 4]";
    let plan = Plan::new(&Definition::parse("ring.toml", text).unwrap()).unwrap();
    let found = records(&plan, &generate);
    let task = |point: usize| match plan.point(point).task {
        Task::Ring(task) => task,
        task => panic!("{task:?}"),
    };
    for (point, record) in found.iter().enumerate() {
        let report = record.report.as_ref().unwrap_or_else(|| panic!("{record:?}"));
        let (task, machine) = (task(point), plan.point(point).machine);
        let runtime = Runtime::new(&task.program, &machine).unwrap();
        let expected = runtime.report(&runtime.time(task.keys, false).unwrap());
        let (time_us, cycles) = report.duration().unwrap();
        assert_eq!((time_us, report.area_mm2), (expected.time_us, expected.area_mm2));
        assert_eq!(cycles, (time_us * 1e3 * machine.frequency_ghz()).ceil() as u64);
        assert!((report.energy_uj / expected.energy_uj - 1.0).abs() < 1e-12);
        let again: Record = serde_json::from_str(&line(record).unwrap()).unwrap();
        assert_eq!(again, *record);
    }
    assert_ne!(task(0).program, task(2).program);

    let folder = tempfile::tempdir().unwrap();
    let space = "kernel = 'hmult'\nset = 'ark'\nn = 2048\nlevel = 3\n[grid]\nvdm.size_mib = [1, 4]\nhple.count = [64, 128]";
    assert_eq!(run(folder.path(), space, Shard::WHOLE, 8, 0).evaluations, 4);
    let results = Results::merge(&[folder.path()]).unwrap();
    Outputs::new(&results).write(folder.path()).unwrap();
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("hmult of the parameter set ark, n = 2048"));

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
}
