//! The best machine within the area of the paper's: searches whose results are committed as
//! `reports/NAME.csv.xz`.
//!
//! The charts show these results. The table has the same designs, computed again.

use crate::page::{Fault, Files, fill, lines, repository, text};
use lab_run::RunReport;
use lab_sweep::compose::{Composition, Condition, Form, Fronts, Mark, Pool};
use lab_sweep::explore::Space;
use lab_sweep::{Definition, Plan, Record, generate, records};
use ring_program::compression;
use sim::Clock;
use std::collections::BTreeMap;

/// A search, and the page on it.
struct Search {
    name: &'static str,
    /// What the machine is best for.
    task: &'static str,
    /// The origin of the numbers.
    origin: &'static str,
    /// What has the largest area of a design.
    within: &'static str,
    /// The key whose values have colours in the chart.
    colour: &'static str,
    /// The largest area in the chart, in mm2.
    chart_mm2: u32,
}

const TRANSFORM: Search = Search {
    name: "best-machine",
    task: "the 64K transform",
    origin: include_str!("best_machine/ntt.md"),
    within: "the paper's (128, 128)",
    colour: "vdm.banks",
    chart_mm2: 40,
};

const PRODUCT: Search = Search {
    name: "best-machine-hmult",
    task: "a product of ciphertexts",
    origin: include_str!("best_machine/hmult.md"),
    within: "the paper's (128, 128) with the interface of its off-chip memory",
    colour: "vdm.size_mib",
    chart_mm2: 70,
};

pub(crate) fn transform() -> Files {
    TRANSFORM.files()
}

pub(crate) fn product() -> Files {
    PRODUCT.files()
}

/// A row of the results, by column.
pub(crate) type Row = BTreeMap<String, String>;

pub(crate) fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is a number: {}", row[column]))
}

/// The row with the least number in a column.
pub(crate) fn least<'r>(rows: impl IntoIterator<Item = &'r Row>, column: &str) -> &'r Row {
    rows.into_iter().min_by(|a, b| number(a, column).total_cmp(&number(b, column))).expect("a design")
}

/// The space that was searched, `configs/spaces/SPACE.toml`, and the designs that ran,
/// `reports/TABLE.csv.xz`.
pub(crate) fn searched(space: &str, table: &str) -> Result<(Space, Vec<Row>), Fault> {
    let path = format!("configs/spaces/{space}.toml");
    let text = std::fs::read_to_string(repository(&path))?;
    let space = Space::new(&Definition::parse(&path, &text)?)?;
    let table = repository(format!("reports/{table}.csv.xz"));
    let mut reader = csv::Reader::from_reader(compression::open(&table)?);
    let rows: Vec<Row> = reader.deserialize().collect::<Result<_, _>>()?;
    let mut rows: Vec<Row> = rows.into_iter().filter(|row| row["status"] == "ok").collect();
    // A table may be older than what is the same for all designs of its space.
    for (key, value) in constants(&text)? {
        for row in &mut rows {
            row.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    Ok((space, rows))
}

/// The axes of a definition with one value.
fn constants(definition: &str) -> Result<Vec<(String, String)>, Fault> {
    let definition: toml::Table = toml::from_str(definition)?;
    let mut found = Vec::new();
    let mut open: Vec<(String, toml::Value)> = Vec::new();
    open.extend(definition.get("grid").map(|grid| (String::new(), grid.clone())));
    while let Some((path, value)) = open.pop() {
        match value {
            toml::Value::Table(table) => {
                let below =
                    |(key, value)| (if path.is_empty() { key } else { format!("{path}.{key}") }, value);
                open.extend(table.into_iter().map(below));
            }
            toml::Value::Array(values) => {
                if let [value] = &values[..] {
                    found.push((path, value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The values of the keys of the paper's machine, as the table of results has them; none of its technology,
/// which is a file.
fn values_of_the_paper() -> impl Fn(&str) -> Option<String> {
    let machine = serde_json::to_value(sim::Machine::rpu_128x128().resolved()).unwrap();
    move |key| {
        let value = key.split('.').try_fold(&machine, |value, part| value.get(part))?;
        let is_key = !value.is_object();
        is_key.then(|| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// The design in a row, computed again.
pub(crate) fn again(columns: &[String], row: &Row) -> Result<Record, Fault> {
    let setting = |key: &String| {
        let value = &row[key];
        let plain = value.parse::<i64>().is_ok() || ["true", "false"].contains(&value.as_str());
        if plain { format!("{key} = {value}\n") } else { format!("{key} = '{value}'\n") }
    };
    let is_set = |key: &&String| row.get(*key).is_some_and(|value| !value.is_empty());
    let settings: String = columns.iter().filter(is_set).map(setting).collect();
    let definition = Definition::parse("again.toml", &format!("[[list]]\n{settings}"))?;
    Ok(records(&Plan::new(&definition)?, &generate).remove(0))
}

/// Conditions behind a label, on lines of a command that fit a page.
fn folded(label: &str, conditions: impl Iterator<Item = String>) -> String {
    let mut text = label.to_owned();
    let mut length = text.len();
    for (number, condition) in conditions.enumerate() {
        let space = if length + condition.len() > 88 { "\n        " } else { " " };
        if number > 0 {
            text += &format!("and{space}");
        }
        length = if space == " " { length } else { 0 } + condition.len() + " and ".len();
        text += &format!("{condition} ");
    }
    text.trim_end().to_owned()
}

impl Search {
    fn files(&self) -> Files {
        let Self { name, task, origin, within: area, colour, chart_mm2 } = self;
        let (space, rows) = searched(name, name)?;
        let manifest = space.manifest();
        let limit = space.exploration().constraints[0].limit;
        let paper = values_of_the_paper();
        // Settings that are not keys of the machine, such as the dataflow, may differ.
        let is_paper =
            |row: &&Row| manifest.varying.iter().all(|key| paper(key).is_none_or(|value| row[key] == value));
        let within = || rows.iter().filter(|row| number(row, "area_mm2") <= limit);
        let of_paper = least(rows.iter().filter(is_paper), "time_us");
        let as_fast = |row: &&Row| number(row, "time_us") <= number(of_paper, "time_us");
        let designs = [
            of_paper,
            least(within(), "time_us"),
            least(within().filter(as_fast), "area_mm2"),
            least(within(), "energy_delay_uj_us"),
        ];
        let mut known: BTreeMap<&str, RunReport> = BTreeMap::new();
        let mut runs = Vec::new();
        for row in designs {
            let key = row["key"].as_str();
            if !known.contains_key(key) {
                let record = again(&manifest.columns, row)?;
                known.insert(key, record.report.ok_or_else(|| format!("{:?}", record.error))?);
            }
            let run = known[key].clone();
            if run.area_mm2 != number(row, "area_mm2") {
                return Err(
                    format!("areas have changed: explore again, see configs/spaces/{name}.toml").into()
                );
            }
            runs.push(run);
        }

        let time = |run: &RunReport| run.duration().expect("a run in time");
        let line = |title: &str, cell: &dyn Fn(&RunReport) -> String| {
            format!("| {title} |{}", runs.iter().map(|run| format!(" {} |", cell(run))).collect::<String>())
        };
        let mut results = vec![
            line("time, µs", &|run| format!("{:.3}", time(run).0)),
            line("cycles", &|run| time(run).1.to_string()),
            line("clock, GHz", &|run| format!("{:.3}", Clock::of(&run.machine).ghz())),
            line("area, mm²", &|run| format!("{:.2}", run.area_mm2)),
            line("energy, µJ", &|run| format!("{:.1}", run.energy_uj)),
            line("energy-delay, µJ ms", &|run| format!("{:.3}", run.energy_uj * time(run).0 / 1e3)),
        ];
        if runs[0].bound_ratio.is_some() {
            let ratio = |run: &RunReport| run.bound_ratio.unwrap_or(0.0);
            results.push(line("cycles over the bound", &|run| format!("{:.3}", ratio(run))));
        }
        let values = |title: &str, key: &str| {
            format!("| {title} |{}", designs.map(|row| format!(" {} |", row[key])).concat())
        };
        let differ =
            manifest.varying.iter().filter(|key| designs.iter().any(|row| row[*key] != of_paper[*key]));
        results.extend(differ.map(|key| values(&format!("`{key}`"), key)));
        results.push(values("extrapolated", "extrapolated"));

        let condition = |key: &String| format!("{key} = {}", of_paper[key]);
        let mark = folded("machine of the paper, (128, 128): ", manifest.varying.iter().map(condition));
        let limits = format!("area_mm2 <= {limit}");
        let page = fill(
            include_str!("best_machine.md"),
            &[
                ("basis", &lab_sweep::basis(runs.iter().map(|run| &run.machine))),
                ("task", task),
                ("origin", &origin.trim_end()),
                ("name", name),
                ("area", area),
                ("colour", colour),
                ("chart", chart_mm2),
                ("evaluations", &rows.len()),
                ("designs", &format!("{:.1e}", space.designs())),
                ("within", &within().count()),
                ("limit", &limit),
                ("mark", &mark),
                ("results", &lines(results)),
                ("ratio", &format!("{:.2}", time(&runs[1]).0 / time(&runs[0]).0)),
            ],
        );
        let scatter = Composition {
            colour: Some((*colour).to_owned()),
            marks: vec![Mark::parse("the mark of a page", &mark)?],
            limits: Condition::parse_all("the limit of a page", &limits)?,
            ..Self::composition(Form::Scatter)
        };
        Ok(vec![
            text(&format!("reports/{name}.md"), page),
            text(&format!("reports/{name}.svg"), self.chart(&format!("area_mm2 <= {chart_mm2}"), &scatter)?),
            text(
                &format!("reports/{name}-parallel.svg"),
                self.chart(&limits, &Self::composition(Form::Parallel))?,
            ),
        ])
    }

    fn composition(form: Form) -> Composition {
        Composition {
            form,
            x: "time_us".to_owned(),
            y: "area_mm2".to_owned(),
            colour: None,
            label: None,
            facet: None,
            fronts: Fronts::IfBetter,
            marks: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// A chart of the designs that meet conditions.
    fn chart(&self, conditions: &str, composition: &Composition) -> Result<String, Fault> {
        let table = repository(format!("reports/{}.csv.xz", self.name));
        let conditions = Condition::parse_all("the conditions of a page", conditions)?;
        Ok(Pool::read(&[&table], &conditions)?.compose(composition)?.svg()?)
    }
}
