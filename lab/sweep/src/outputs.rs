//! The output files of a sweep.

use super::chart::chart;
use super::checksums::{self, Checksums, Summed};
use super::columns::{Column, columns};
use super::front::{Constraint, Design, Goals, is_ideal};
use super::journal::JournalError;
use super::manifest::Manifest;
use super::measure::Measure;
use super::names::typed;
use super::page::page;
use super::parameter;
use super::quantity::Quantity;
use super::record::Record;
use super::results::Results;
use super::view::{
    EXTRAPOLATED, MAX_SHOWN, SAMPLE, View, efforts_differ, extrapolated, extrapolates, setting, text,
};
use super::workload::Workload;
use diagnostic::printable;
use lab_run::files;
use plot::{Figure, PlotError};
use rayon::prelude::*;
use serde_json::Value;
use sim::Clock;
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The reason why the files could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The results cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There is nothing to plot.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A file cannot be written.
    #[error("{}: {source}", diagnostic::path(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The table cannot be made.
    #[error("cannot write the table: {0}")]
    Table(#[from] csv::Error),
}

/// The files of all results.
const TABLES: [&str; 2] = ["results.jsonl", "results.csv"];

/// The page.
const PAGE: &str = "report.html";

/// What the name of a chart begins with.
const CHART: &str = "pareto";

/// The files of a folder that are not what its journals give.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Differing {
    /// Those that somebody altered.
    pub altered: Vec<String>,
    /// Charts and pages of the same tables that another version of rpu drew, as their checksums say.
    pub drawn_otherwise: Vec<String>,
}

/// The results of a sweep, ready for output.
#[derive(Debug)]
pub struct Outputs<'r> {
    results: &'r Results,
    /// The points of each workload. A sweep has at least one.
    groups: Vec<Group>,
}

/// Comparable points.
#[derive(Debug)]
struct Group {
    workload: Workload,
    goals: Goals,
    /// Those with a result, in the order of the sweep.
    members: Vec<usize>,
    /// The number of those that ran.
    ran: usize,
    /// The number of those that ran and exceed a constraint.
    beyond: usize,
    /// See [`Goals::unmet`].
    unmet: Vec<(Constraint, f64)>,
    /// Those on the front, in ascending order of the first objective.
    front: Vec<usize>,
    /// Those in charts and on the page, in the order of the sweep.
    shown: Vec<usize>,
}

impl Group {
    fn new(results: &Results, workload: Workload, members: Vec<usize>) -> Self {
        let goals = results.manifest.goals.clone().unwrap_or_else(|| Goals::of_sweep(workload.time()));
        let has_ideal = results.manifest.points.names().any(|name| is_ideal(name, &Value::Null));
        let designs = || {
            members.iter().filter_map(|&point| {
                let is_ideal = has_ideal && results.manifest.points.any_setting(point, is_ideal);
                Some(Design { id: point, costs: results.costs(point)?, is_ideal })
            })
        };
        let (ran, beyond) = (designs().count(), designs().filter(|of| !goals.allow(&of.costs)).count());
        let front: Vec<usize> = goals.front(designs());
        let mut shown = members.clone();
        if results.points() > MAX_SHOWN {
            // Keys are random numbers. Every n-th point would miss values of the last axes.
            let step = members.len().div_ceil(SAMPLE).max(1) as u64;
            let is_drawn = |&point: &usize| results.manifest.points.key(point).number().is_multiple_of(step);
            shown = members.iter().copied().filter(is_drawn).chain(front.iter().copied()).collect();
            shown.sort_unstable();
            shown.dedup();
        }
        let unmet = goals.unmet(members.iter().filter_map(|&point| results.costs(point)));
        Self { workload, goals, members, ran, beyond, unmet, front, shown }
    }
}

/// The points whose records are in memory at a time.
const CHUNK: usize = 1024;

/// The records in charts and on the page, by point. Boxed, since ascending keys leave the leaves of the map
/// half empty.
type Shown = BTreeMap<usize, Box<Record>>;

impl<'r> Outputs<'r> {
    /// Groups results by workload.
    pub fn new(results: &'r Results) -> Self {
        let mut members: BTreeMap<Workload, Vec<usize>> = BTreeMap::new();
        for point in results.recorded() {
            members.entry(results.manifest.points.workload(point)).or_default().push(point);
        }
        let group = |(workload, members)| Group::new(results, workload, members);
        Self { results, groups: members.into_iter().map(group).collect() }
    }

    /// Writes `results.jsonl`, `results.csv`, `pareto.svg`, `pareto.png` and `report.html` to
    /// `folder`, and returns their names.
    ///
    /// Points of different workloads are not comparable, so each workload then has its own chart,
    /// such as `pareto-ntt-16384-60.svg`. If no point succeeded, there is no chart and no page.
    ///
    /// # Errors
    /// Returns an error if a record is invalid, a chart cannot be drawn or a file cannot be
    /// written.
    pub fn write(&self, folder: &Path) -> Result<Vec<String>, OutputError> {
        let [lines, table] = TABLES.map(|name| folder.join(name));
        let (shown, sums) = self.write_records(&lines, &table)?;
        let sums = TABLES.map(str::to_owned).into_iter().zip(sums).collect();
        Ok(TABLES.map(str::to_owned).into_iter().chain(self.write_charts(folder, &shown, sums)?).collect())
    }

    /// Writes the charts and the page of [`Self::write`] alone, and returns their names: none if no point
    /// succeeded.
    ///
    /// # Errors
    /// Returns an error if a record is invalid, a chart cannot be drawn or a file cannot be
    /// written.
    pub fn draw(&self, folder: &Path) -> Result<Vec<String>, OutputError> {
        self.write_charts(folder, &self.shown()?, checksums::read(folder))
    }

    /// Writes charts, page, and the checksums of these and of other files. Charts and pages of an earlier
    /// definition, of other tasks, go unless somebody altered them, or the results are lost.
    fn write_charts(
        &self,
        folder: &Path,
        shown: &Shown,
        mut checksums: Checksums,
    ) -> Result<Vec<String>, OutputError> {
        let contents = self.charts_and_page(shown)?;
        let error = |path: PathBuf| move |source| OutputError::Write { path, source };
        contents.iter().try_for_each(|(name, content)| {
            let path = folder.join(name);
            files::write(&path, content).map_err(error(path))
        })?;
        for (name, written) in checksums::read(folder) {
            let is_of_others = is_drawn(&name) && contents.iter().all(|(new, _)| *new != name);
            let is_old = is_of_others && !self.groups.is_empty();
            let path = folder.join(&name);
            if is_old && checksums::of_file(&path) == Some(written) {
                fs::remove_file(&path).map_err(error(path))?;
            }
        }
        checksums.retain(|name, _| TABLES.contains(&&**name) || self.groups.is_empty());
        checksums.extend(contents.iter().map(|(name, content)| (name.clone(), blake3::hash(content))));
        checksums::write(folder, &checksums).map_err(error(folder.join(checksums::FILE)))?;
        Ok(contents.into_iter().map(|(name, _)| name).collect())
    }

    /// The tables, charts and pages in a folder that are not what the journals give.
    ///
    /// # Errors
    /// As [`Self::write`], which writes them to a folder of its own.
    pub fn differing(&self, folder: &Path) -> Result<Differing, OutputError> {
        let own = tempfile::tempdir();
        let own = own.map_err(|source| OutputError::Write { path: std::env::temp_dir(), source })?;
        let names = self.write(own.path())?;
        let (own, written) = (checksums::read(own.path()), checksums::read(folder));
        let has_own_tables = TABLES.iter().all(|table| written.get(*table) == own.get(*table));
        let mut differing = Differing::default();
        for name in names {
            let path = folder.join(&name);
            if path.symlink_metadata().is_err() {
                continue;
            }
            let present = checksums::of_file(&path);
            let as_written = written.get(&name).map(|checksum| Some(*checksum) == present);
            match (present.as_ref() == own.get(&name), as_written) {
                (true, Some(true) | None) => {}
                (true, Some(false)) => differing.altered.push(checksums::FILE.to_owned()),
                (false, Some(true)) if has_own_tables => differing.drawn_otherwise.push(name),
                (false, _) => differing.altered.push(name),
            }
        }
        Ok(differing)
    }

    /// Writes the records and their table. Returns the records that are shown, and the checksums of the two
    /// files.
    fn write_records(&self, lines: &Path, table: &Path) -> Result<(Shown, [blake3::Hash; 2]), OutputError> {
        let error = |path: &Path| {
            let path = path.to_owned();
            move |source| OutputError::Write { path, source }
        };
        let mut lines_file = Summed::create(lines).map_err(error(lines))?;
        let mut table_file = Summed::create(table).map_err(error(table))?;
        let wanted: HashSet<usize> = self.groups.iter().flat_map(|group| &group.shown).copied().collect();
        let columns = Table::new(self);
        table_file.write_all(&columns.header()?).map_err(error(table))?;
        let (all, mut shown) = (self.results.recorded().collect::<Vec<usize>>(), Shown::new());
        for chunk in all.chunks(CHUNK) {
            let records = self.results.read(chunk)?;
            let rows = records.par_iter().map(|(point, _, record)| columns.row(*point, record));
            let rows: Vec<Vec<u8>> = rows.collect::<Result<_, csv::Error>>()?;
            for ((point, mut line, record), row) in records.into_iter().zip(rows) {
                line.push('\n');
                lines_file.write_all(line.as_bytes()).map_err(error(lines))?;
                table_file.write_all(&row).map_err(error(table))?;
                if wanted.contains(&point) {
                    shown.insert(point, Box::new(record));
                }
            }
        }
        let sums = [lines_file.finish().map_err(error(lines))?, table_file.finish().map_err(error(table))?];
        Ok((shown, sums))
    }

    /// The records in charts and on the page.
    fn shown(&self) -> Result<Shown, JournalError> {
        let wanted: Vec<usize> = self.groups.iter().flat_map(|group| &group.shown).copied().collect();
        let records = self.results.read(&wanted)?.into_iter();
        Ok(records.map(|(point, _, record)| (point, Box::new(record))).collect())
    }

    /// The chart of a group, if a point of it ran.
    fn chart(&self, group: &Group, shown: &Shown) -> Option<Figure> {
        (group.ran > 0).then(|| chart(&self.view(group, shown)))
    }

    /// The charts and the page around them, each with its file name.
    fn charts_and_page(&self, shown: &Shown) -> Result<Vec<(String, Vec<u8>)>, PlotError> {
        let draw = |group: &Group| {
            let Some(chart) = self.chart(group, shown) else { return Ok(None) };
            let (svg, png) = rayon::join(|| chart.svg(), || chart.png());
            Ok(Some((svg?, png?)))
        };
        let charts: Vec<Option<(String, Vec<u8>)>> =
            self.groups.par_iter().map(draw).collect::<Result<_, PlotError>>()?;
        let mut contents = Vec::new();
        if charts.iter().any(Option::is_some) {
            let mut sections = Vec::new();
            for (group, chart) in self.groups.iter().zip(&charts) {
                sections.push((self.view(group, shown), chart.as_ref().map(|(svg, _)| svg.as_str())));
            }
            let page = page(self.results, &sections).into_string();
            let page = printable(&page).into_owned();
            contents.push((PAGE.to_owned(), page.into_bytes()));
        }
        let slugs = Workload::slugs(self.groups.iter().map(|group| &group.workload));
        for (slug, chart) in slugs.into_iter().zip(charts) {
            let Some((svg, png)) = chart else { continue };
            let name = if self.groups.len() == 1 { CHART.to_owned() } else { format!("{CHART}-{slug}") };
            contents.push((format!("{name}.svg"), svg.into_bytes()));
            contents.push((format!("{name}.png"), png));
        }
        Ok(contents)
    }

    /// The fronts as text, each in ascending order of the first objective.
    ///
    /// # Errors
    /// Returns an error if a record on a front is invalid.
    pub fn summary(&self) -> Result<String, JournalError> {
        let manifest = &self.results.manifest;
        let mut text = format!("{}\n", manifest.title);
        let none = Shown::new();
        for group in &self.groups {
            if self.groups.len() > 1 {
                text += &format!("\n{}\n", group.workload);
            }
            let view = self.view(group, &none);
            let front = self.results.read(&group.front)?;
            let shared = front.first().and_then(|(.., record)| view.shared(record));
            let basis = View::basis(front.iter().map(|(.., record)| record));
            for note in shared.into_iter().chain(basis).chain(view.notes()) {
                text += &format!("{note}\n");
            }
            let members = group.members.len();
            text += &format!("Pareto front, {} of {members} points\n", front.len());
            if !front.is_empty() {
                text += &front_table(&view, &front);
            }
            let outside = self.extrapolated(group)?;
            if outside > 0 {
                text += &format!("{EXTRAPOLATED} in {outside} of {members} points\n");
            }
        }
        Ok(text)
    }

    /// The number of points whose costs are extrapolated. Points that set the same keys share the values of
    /// all others, so one record tells about these.
    fn extrapolated(&self, group: &Group) -> Result<usize, JournalError> {
        let points = &self.results.manifest.points;
        let mut others: HashMap<Vec<bool>, bool> = HashMap::new();
        let mut count = 0;
        for &point in group.members.iter().filter(|&&point| self.results.costs(point).is_some()) {
            let set: Vec<bool> = points.names().map(|name| points.value(point, name).is_some()).collect();
            let by_others = match others.entry(set) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(place) => {
                    let record = self.results.record(point)?;
                    let is_other = |record: &Record| {
                        extrapolated(record).iter().any(|key| !record.point.contains_key(*key))
                    };
                    *place.insert(record.as_ref().is_some_and(is_other))
                }
            };
            count += usize::from(by_others || points.any_setting(point, extrapolates));
        }
        Ok(count)
    }

    fn view<'v>(&'v self, group: &'v Group, shown: &'v Shown) -> View<'v> {
        let manifest = &self.results.manifest;
        // With several workloads, each has its own heading with these.
        let several = self.groups.len() > 1;
        let said = |key: &str| several && parameter::find(key).is_some_and(|parameter| parameter.identifies);
        let title = if !several {
            manifest.title.clone()
        } else if manifest.title == manifest.name {
            format!("{}: {}", group.workload, group.goals.title())
        } else {
            format!("{}: {}", manifest.title, group.workload)
        };
        let records: Vec<&Record> =
            group.shown.iter().filter_map(|point| shown.get(point).map(Box::as_ref)).collect();
        View {
            title,
            manifest,
            workload: &group.workload,
            goals: &group.goals,
            ran: group.ran,
            beyond: group.beyond,
            unmet: &group.unmet,
            varying: manifest.varying.iter().map(String::as_str).filter(|key| !said(key)).collect(),
            points: group.members.len(),
            efforts_differ: efforts_differ(records.iter().map(|record| record.program_source.as_deref())),
            records,
            front: group.front.iter().map(|&point| manifest.points.key(point)).collect(),
        }
    }
}

/// Whether a file of a sweep's folder has this name and is a chart or a page.
fn is_drawn(name: &str) -> bool {
    name == PAGE || name.starts_with(CHART) && !name.contains(['/', '\\'])
}

/// The table of a front: the settings in which points differ, the measures, and the clock if clocks differ.
fn front_table(view: &View<'_>, front: &[(usize, String, Record)]) -> String {
    let ran = front.iter().filter_map(|(.., record)| {
        let report = record.report.as_ref()?;
        Some((record, record.outcome().costs?, Clock::of(&report.machine).ghz()))
    });
    let ran: Vec<_> = ran.collect();
    let measures = view.goals.measures(view.workload.time());
    let clocks_differ = ran.iter().any(|(.., clock)| *clock != ran[0].2);
    let mut columns: Vec<Vec<String>> = Vec::new();
    for key in &view.varying {
        let values = ran.iter().map(|(record, ..)| text(record, key));
        columns.push([Quantity::of(key).with_unit()].into_iter().chain(values).collect());
    }
    for measure in measures {
        let values = ran.iter().map(|(_, costs, _)| short(measure, measure.of(costs)));
        columns.push([heading(measure)].into_iter().chain(values).collect());
    }
    if clocks_differ {
        let values = ran.iter().map(|(.., clock)| format!("{clock:.3}"));
        columns.push(["GHz".to_owned()].into_iter().chain(values).collect());
    }
    let widths: Vec<usize> = columns
        .iter()
        .map(|cells| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in 0..=ran.len() {
        for (cells, width) in columns.iter().zip(&widths) {
            text += &format!("  {:>width$}", cells[row]);
        }
        text.push('\n');
    }
    text
}

/// The heading of a measure in a table of text: `latency (us)`.
fn heading(measure: Measure) -> String {
    let Quantity { name, unit } = Quantity::of(measure.name());
    unit.map_or_else(|| name.clone(), |unit| format!("{name} ({})", typed(&unit)))
}

/// The value of a measure in a table: two digits after the point, or three in all if it is below 1; none of a
/// count.
fn short(measure: Measure, value: f64) -> String {
    let digits = match value {
        _ if measure.is_count() => 0,
        value if value > 0.0 => (2 - value.log10().floor() as i32).clamp(2, 12) as usize,
        _ => 2,
    };
    format!("{value:.digits$}")
}

/// All results as CSV: settings, [`columns`], the error.
struct Table<'r> {
    manifest: &'r Manifest,
    columns: Vec<Column>,
    front: HashSet<usize>,
}

impl<'r> Table<'r> {
    fn new(outputs: &Outputs<'r>) -> Self {
        let front = outputs.groups.iter().flat_map(|group| &group.front).copied().collect();
        let manifest = &outputs.results.manifest;
        // A setting of the same name, such as a technology, is a column already.
        let is_new = |column: &Column| manifest.columns.iter().all(|name| *name != column.name);
        Self { manifest, columns: columns().into_iter().filter(is_new).collect(), front }
    }

    fn header(&self) -> Result<Vec<u8>, csv::Error> {
        let mut header: Vec<&str> = vec!["key", "status", "pareto"];
        header.extend(self.manifest.columns.iter().map(String::as_str));
        header.extend(self.columns.iter().map(|column| column.name.as_str()));
        header.push("error");
        csv_line(header.into_iter().map(|name| neutral(name).into_owned()))
    }

    fn row(&self, point: usize, record: &Record) -> Result<Vec<u8>, csv::Error> {
        let status = record.status.name().to_owned();
        let mut row = vec![record.key.to_string(), status, self.front.contains(&point).to_string()];
        row.extend(self.manifest.columns.iter().map(|column| cell(setting(record, column).as_deref())));
        row.extend(self.columns.iter().map(|column| cell(column.value(record).as_ref())));
        row.push(neutral(record.error.as_deref().unwrap_or_default()).into_owned());
        csv_line(row)
    }
}

fn csv_line(cells: impl IntoIterator<Item = String>) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells)?;
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// A value as a cell of a table.
fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => neutral(text).into_owned(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// A text as a cell of a table. Spreadsheets evaluate cells that begin with one of these characters, perhaps
/// after blanks; an apostrophe in front makes them text. Control characters are escaped.
pub(crate) fn neutral(text: &str) -> Cow<'_, str> {
    let text = printable(text);
    let visible = text.trim_start();
    if visible.starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
        || text.starts_with('\t')
    {
        Cow::Owned(format!("'{text}"))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_three_digits_of_small_values() {
        for (value, text) in [
            (0.0, "0.00"),
            (f64::NAN, "NaN"),
            (123.456, "123.46"),
            (1.0, "1.00"),
            (0.1234, "0.123"),
            (0.001_234, "0.00123"),
            (1e-20, "0.000000000000"),
        ] {
            assert_eq!(short(Measure::TimeUs, value), text);
        }
        assert_eq!(short(Measure::Cycles, 12.0), "12");
    }
}
