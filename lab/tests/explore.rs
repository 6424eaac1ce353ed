//! Explorations of a space whose front is known.

use lab::sweep::explore::{Explored, Space, explore};
use lab::sweep::{Definition, Journal, Plan, Record, Results, Shard, generate, records};
use std::collections::BTreeMap;
use std::path::Path;
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

#[test]
fn constraints_hold_on_the_front_and_small_spaces_are_exhausted() {
    let folder = tempfile::tempdir().unwrap();
    let text = "kernel = 'ntt'\nn = 1024\nplan = 'kl'\n[grid]\nhple.count = [32, 64, 128, 256]\n\
        vdm.ports = [1, 2]\nvbar.paths = ['shared', 'split']\n[explore]\n\
        objectives = ['time_us', 'energy_uj']\nconstraints = ['area < 20 mm2']\npopulation = 6\n";
    let explored = run(folder.path(), text, Shard::WHOLE, 1000, 0);
    // Split paths need two ports, so a quarter of the sixteen designs does not exist.
    assert_eq!(explored.evaluations, 12);
    let within = |record: &&Record| record.report.as_ref().unwrap().area_mm2 <= 20.0;
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
    assert!(error("n = 1024\n[explore]\nconstraints = ['area > 3']").contains("write MEASURE < NUMBER"));
    assert!(error("n = 1024\n[explore]\nobjectives = ['time_us']").contains("two different objectives"));
}

/// A row of the study's results, by column.
type Row = BTreeMap<String, String>;

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is a number: {}", row[column]))
}

fn study() -> (Definition, Vec<Row>) {
    let text = include_str!("../../configs/spaces/best-machine.toml");
    let definition = Definition::parse("best-machine.toml", text).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/best-machine.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows: Vec<Row> = reader.deserialize().collect::<Result<_, _>>().unwrap();
    (definition, rows.into_iter().filter(|row| row["status"] == "ok").collect())
}

/// The records of the designs in some rows, computed again.
fn again(axes: &[String], rows: &[&Row]) -> Vec<Record> {
    let row = |row: &&Row| -> String {
        let value = |key: &String| {
            let value = &row[key];
            let plain = value.parse::<i64>().is_ok() || ["true", "false"].contains(&value.as_str());
            if plain { format!("{key} = {value}\n") } else { format!("{key} = '{value}'\n") }
        };
        axes.iter().map(value).collect()
    };
    let list: String = rows.iter().map(|one| format!("[[list]]\n{}", row(one))).collect();
    let text = format!("kernel = 'ntt'\nn = 65536\nmodulus_bits = 128\nplan = 'best'\n{list}");
    records(&Plan::new(&Definition::parse("again.toml", &text).unwrap()).unwrap(), &generate)
}

/// The study's page follows from its committed results, of which the best design is computed again.
#[test]
fn the_study_of_the_best_machine_is_fresh() {
    let (definition, rows) = study();
    let space = Space::new(&definition).unwrap();
    let axes = space.manifest().varying;
    let limit = space.exploration().constraints[0].limit;
    let paper = lab_base(&axes);
    let is_paper = |row: &&Row| axes.iter().all(|key| row[key] == paper[key]);
    let of_paper = rows.iter().find(is_paper).expect("the first design is the paper's machine");
    let within: Vec<&Row> = rows.iter().filter(|row| number(row, "area_mm2") <= limit).collect();
    let least = |column: &str| -> &Row {
        let order = |a: &&Row, b: &&Row| number(a, column).total_cmp(&number(b, column));
        within.iter().copied().min_by(order).expect("designs")
    };
    let (fastest, thriftiest) = (least("time_us"), least("energy_delay_uj_us"));

    let computed = again(&axes, &[of_paper, fastest]);
    for (record, row) in computed.iter().zip([of_paper, fastest]) {
        let cycles = record.report.as_ref().unwrap().timing.as_ref().unwrap().cycles;
        assert_eq!(
            cycles as f64,
            number(row, "cycles"),
            "explore again: see configs/spaces/best-machine.toml"
        );
    }

    let mut page = format!(
        "# The best machine within the area of the paper's, for the 64K transform\n\n\
        <!-- Generated from reports/best-machine.csv: `BLESS=1 cargo test -p lab --test explore`. -->\n\n\
        {} of the {:.1e} designs in [`configs/spaces/best-machine.toml`](../configs/spaces/best-machine.toml) were\n\
        evaluated, {} of them within the area of the paper's (128, 128), {} mm2. Each has the program of plan `best`;\n\
        cycles are simulated, and areas, clocks and energies modelled ([`docs/costs.md`](../docs/costs.md)). The designs are\n\
        those of one search, not all: better ones may exist.\n\n\
        ```\n\
        rpu explore configs/spaces/best-machine.toml --evaluations {} --out out\n\
        rpu plot out --where 'area_mm2 <= 40' --colour hple.count --label frontend.width -o reports/best-machine.svg\n\
        rpu plot out --form parallel --where 'area_mm2 <= {limit}' -o reports/best-machine-parallel.svg\n\
        cp out/results.csv reports/best-machine.csv\n\
        ```\n\n\
        ![Area against time](best-machine.svg)\n\n\
        ![All designs within the area](best-machine-parallel.svg)\n\n",
        rows.len(),
        space.designs(),
        within.len(),
        limit,
        rows.len()
    );
    page += "| | paper's | fastest | least energy-delay |\n|---|--:|--:|--:|\n";
    let designs = [of_paper, fastest, thriftiest];
    for (name, column, digits) in [
        ("time, us", "time_us", 3),
        ("cycles", "cycles", 0),
        ("clock, GHz", "frequency_ghz", 3),
        ("area, mm2", "area_mm2", 2),
        ("energy, uJ", "energy_uj", 2),
        ("energy-delay, uJ us", "energy_delay_uj_us", 1),
        ("cycles over the bound", "bound_ratio", 3),
    ] {
        let cell = |row: &Row| format!(" {:.digits$} |", number(row, column));
        page += &format!("| {name} |{}\n", designs.map(cell).concat());
    }
    for key in axes.iter().filter(|key| designs.iter().any(|row| row[*key] != of_paper[*key])) {
        page += &format!("| `{key}` |{}\n", designs.map(|row| format!(" {} |", row[key])).concat());
    }
    page +=
        &format!("| extrapolated |{}\n", designs.map(|row| format!(" {} |", row["extrapolated"])).concat());
    page += &format!(
        "\nThe fastest design within the area takes {:.2} of the time of the paper's machine with its best program.\n",
        number(fastest, "time_us") / number(of_paper, "time_us")
    );
    bless::fresh(Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/best-machine.md"), page);
}

/// The values of the paper's machine as the table of results has them.
fn lab_base(axes: &[String]) -> BTreeMap<String, String> {
    let machine = serde_json::to_value(sim::Machine::rpu_128x128()).unwrap();
    let value = |key: &String| {
        let value = key.split('.').fold(&machine, |value, part| &value[part]);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    axes.iter().map(|key| (key.clone(), value(key))).collect()
}
