//! The output files of a sweep.

use super::chart::chart;
use super::columns::columns;
use super::journal::JournalError;
use super::manifest::Workload;
use super::page::page;
use super::record::{Record, Status};
use super::results::Results;
use super::view::{EXTRAPOLATED, View, costs, extrapolated, plain, title};
use crate::files;
use diagnostic::printable;
use plot::PlotError;
use plot::pareto::{self, Costs};
use rayon::prelude::*;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io;
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
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The table cannot be written.
    #[error("cannot write the table: {0}")]
    Table(#[from] csv::Error),
}

/// The results of a sweep, ready for output.
#[derive(Clone, PartialEq, Debug)]
pub struct Outputs<'r> {
    results: &'r Results,
    records: Vec<Record>,
    /// The points of each workload. A sweep has at least one.
    groups: Vec<Group>,
}

/// Comparable points.
#[derive(Clone, PartialEq, Debug)]
struct Group {
    workload: Workload,
    /// Indices of records, in the order of the sweep.
    members: Vec<usize>,
    /// Those on the front of latency and area, the fastest first.
    front: Vec<usize>,
}

impl<'r> Outputs<'r> {
    /// Groups results by workload.
    ///
    /// # Errors
    /// Returns an error if a record has another version.
    pub fn new(results: &'r Results) -> Result<Self, JournalError> {
        let records = results.records()?;
        let mut members: BTreeMap<Workload, Vec<usize>> = BTreeMap::new();
        for (index, record) in records.iter().enumerate() {
            members.entry(Workload::of(&record.point)).or_default().push(index);
        }
        let group = |(workload, members): (Workload, Vec<usize>)| {
            let (indices, designs): (Vec<usize>, Vec<Costs>) = members
                .iter()
                .filter_map(|&index| {
                    let (timing, area) = costs(&records[index])?;
                    Some((index, Costs { first: timing.time_us, second: area }))
                })
                .unzip();
            let front = pareto::front(&designs).into_iter().map(|i| indices[i]).collect();
            Group { workload, members, front }
        };
        let groups = members.into_iter().map(group).collect();
        Ok(Self { results, records, groups })
    }

    /// The record of each point that has one, in the order of the sweep.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Writes `results.jsonl`, `results.csv`, `pareto.svg`, `pareto.png` and `report.html` to
    /// `folder`, and returns their names.
    ///
    /// Points of different workloads are not comparable, so each workload then has its own chart,
    /// such as `pareto-ntt-16384-60.svg`. If no point succeeded, there is no chart and no page.
    ///
    /// # Errors
    /// Returns an error if a chart cannot be drawn or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<String>, OutputError> {
        // Each of these is slow in a large sweep.
        let (table, (lines, shown)) =
            rayon::join(|| self.table(), || rayon::join(|| self.lines(), || self.charts_and_page()));
        let mut contents =
            vec![("results.jsonl".to_owned(), lines.into_bytes()), ("results.csv".to_owned(), table?)];
        contents.extend(shown?);
        contents.par_iter().try_for_each(|(name, content)| {
            let path = folder.join(name);
            files::write(&path, content).map_err(|source| OutputError::Write { path, source })
        })?;
        Ok(contents.into_iter().map(|(name, _)| name).collect())
    }

    /// The content of `results.jsonl`.
    fn lines(&self) -> String {
        self.results.lines().flat_map(|(_, line)| [line, "\n"]).collect()
    }

    /// The charts and the page around them, each with its file name.
    fn charts_and_page(&self) -> Result<Vec<(String, Vec<u8>)>, PlotError> {
        let draw = |group: &Group| {
            if group.front.is_empty() {
                return Ok(None);
            }
            let chart = chart(&self.view(group));
            let (svg, png) = rayon::join(|| plot::svg(&chart), || plot::png(&chart));
            Ok(Some((svg?, png?)))
        };
        let charts: Vec<Option<(String, Vec<u8>)>> =
            self.groups.par_iter().map(draw).collect::<Result<_, PlotError>>()?;
        let mut contents = Vec::new();
        if charts.iter().any(Option::is_some) {
            let mut sections = Vec::new();
            for (group, chart) in self.groups.iter().zip(&charts) {
                sections.push((self.view(group), chart.as_ref().map(|(svg, _)| svg.as_str())));
            }
            let page = page(self.results, &self.records, &sections, None).into_string();
            let page = printable(&page).into_owned();
            contents.push(("report.html".to_owned(), page.into_bytes()));
        }
        for (group, chart) in self.groups.iter().zip(charts) {
            let Some((svg, png)) = chart else { continue };
            let name = if self.groups.len() == 1 {
                "pareto".to_owned()
            } else {
                format!("pareto-{}", group.workload.slug())
            };
            contents.push((format!("{name}.svg"), svg.into_bytes()));
            contents.push((format!("{name}.png"), png));
        }
        Ok(contents)
    }

    /// The page of a sweep that is still running, with the state by which its script sees a change.
    ///
    /// # Errors
    /// Returns an error if a chart cannot be drawn.
    pub fn live_page(&self, state: &str) -> Result<String, PlotError> {
        let charts: Vec<Option<String>> = self
            .groups
            .iter()
            .map(|group| (!group.front.is_empty()).then(|| plot::svg(&chart(&self.view(group)))).transpose())
            .collect::<Result<_, _>>()?;
        let sections: Vec<_> =
            self.groups.iter().zip(&charts).map(|(group, svg)| (self.view(group), svg.as_deref())).collect();
        Ok(page(self.results, &self.records, &sections, Some(state)).into_string())
    }

    /// The fronts as text, slowest design last.
    pub fn summary(&self) -> String {
        let manifest = &self.results.manifest;
        let mut text = format!("{}\n", manifest.title);
        for group in &self.groups {
            if self.groups.len() > 1 {
                text += &format!("\n{}\n", group.workload);
            }
            let view = self.view(group);
            for note in view.notes() {
                text += &format!("{note}\n");
            }
            let View { varying, records, .. } = view;
            let pruned = records.iter().filter(|record| record.status == Status::Pruned).count();
            text += &format!("Pareto front, {} of {} points", group.front.len(), records.len());
            text +=
                &if pruned > 0 { format!("; {pruned} were dropped on small rings\n") } else { "\n".into() };
            let names: Vec<&str> = varying.iter().map(|key| title(key)).collect();
            let mut row = |settings: &[String], rest: [&str; 3]| {
                for (name, setting) in names.iter().zip(settings) {
                    text += &format!("  {setting:>width$}", width = name.chars().count().max(5));
                }
                let [latency, area, cycles] = rest;
                text += &format!("  {latency:>12}  {area:>10}  {cycles:>10}\n");
            };
            let heading: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            row(&heading, ["latency (us)", "area (mm2)", "cycles"]);
            let front = group.front.iter().map(|&index| &self.records[index]);
            for (record, (timing, area)) in front.filter_map(|record| Some((record, costs(record)?))) {
                let settings: Vec<String> = varying.iter().map(|key| plain(record.point.get(*key))).collect();
                let [latency, area] = [timing.time_us, area].map(|value| format!("{value:.2}"));
                row(&settings, [&latency, &area, &timing.cycles.to_string()]);
            }
            let outside = records.iter().filter(|record| !extrapolated(record).is_empty()).count();
            if outside > 0 {
                text += &format!("{EXTRAPOLATED} in {outside} of {} points\n", records.len());
            }
        }
        text
    }

    fn view<'v>(&'v self, group: &'v Group) -> View<'v> {
        let manifest = &self.results.manifest;
        // With several workloads, each has its own heading with these.
        let several = self.groups.len() > 1;
        let said = |key: &str| several && ["kernel", "n", "modulus_bits", "modulus"].contains(&key);
        let title = if !several {
            manifest.title.clone()
        } else if manifest.title == manifest.name {
            format!("{}: area against latency", group.workload)
        } else {
            format!("{}: {}", manifest.title, group.workload)
        };
        View {
            title,
            manifest,
            workload: &group.workload,
            varying: manifest.varying.iter().map(String::as_str).filter(|key| !said(key)).collect(),
            records: group.members.iter().map(|&index| &self.records[index]).collect(),
            front: group.front.iter().map(|&index| self.records[index].key.as_str()).collect(),
        }
    }

    /// All results as CSV: settings, [`columns`], the error.
    fn table(&self) -> Result<Vec<u8>, csv::Error> {
        let manifest = &self.results.manifest;
        let front: HashSet<usize> = self.groups.iter().flat_map(|group| &group.front).copied().collect();
        let columns = columns();
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut header: Vec<&str> = vec!["key", "status", "pareto"];
        header.extend(manifest.halving.iter().map(|_| "rung"));
        header.extend(manifest.columns.iter().map(String::as_str));
        header.extend(columns.iter().map(|column| column.name.as_str()));
        header.push("error");
        writer.write_record(header.into_iter().map(|name| neutral(name).into_owned()))?;
        for (index, record) in self.records.iter().enumerate() {
            let status = record.status.name().to_owned();
            let mut row = vec![record.key.clone(), status, front.contains(&index).to_string()];
            // The ring on which the point was simulated last.
            let rung = |_| record.rung.map_or_else(|| plain(record.point.get("n")), |n| n.to_string());
            row.extend(manifest.halving.iter().map(rung));
            row.extend(manifest.columns.iter().map(|column| cell(record.point.get(column))));
            row.extend(columns.iter().map(|column| cell(column.value(record).as_ref())));
            row.push(neutral(record.error.as_deref().unwrap_or_default()).into_owned());
            writer.write_record(&row)?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }
}

/// A value as a cell of a table.
fn cell(value: Option<&Value>) -> String {
    match value.and_then(Value::as_str) {
        Some(text) => neutral(text).into_owned(),
        None => plain(value),
    }
}

/// A text as a cell of a table. Spreadsheets evaluate cells that begin with one of these characters; an
/// apostrophe in front makes them text.
fn neutral(text: &str) -> Cow<'_, str> {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}
