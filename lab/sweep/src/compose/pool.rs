//! The points of a chart, from folders of sweeps and from tables of results.

use super::table::{KEY, LEADING, Table};
use super::{ComposeError, Condition, MAX_POINTS};
use crate::basis::VBAR_AREA;
use crate::columns::{Column, columns};
use crate::front::{Goals, is_ideal};
use crate::manifest::{Manifest, Reference};
use crate::measure::Measure;
use crate::names::{UnknownName, find};
use crate::parameter::Settings;
use crate::quantity::Better;
use crate::record::Record;
use crate::results::Results;
use crate::value::{ABSENT, plain};
use crate::view::{extrapolated, is_beyond_reticle, setting};
use crate::workload::{TECHNOLOGY, Workload};
use diagnostic::Diagnostic;
use serde_json::Value;
use sim::Area;
use sim::machine::VbarArea;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// The points that are read at a time.
const CHUNK: usize = 1024;
/// The column of the folder or the table of a point.
const FOLDER: &str = "folder";
/// The last column of a table.
const ERROR: &str = "error";

/// What makes points comparable. A name of a program says little: two folders may have a file of the same
/// name.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Task(Workload, String);

/// A successful point.
pub(super) struct Row {
    /// The folder or table of the point.
    source: String,
    content: Content,
    /// Whether it keeps the constraints of its exploration, if it is of one.
    is_allowed: bool,
}

enum Content {
    /// A record of a journal.
    Run(Box<Record>),
    /// The cells of a row of `results.csv`, by column; without those that are empty.
    Cells(Settings),
}

impl Row {
    /// The workload, for people.
    pub(super) fn workload(&self) -> Workload {
        match &self.content {
            Content::Run(record) => {
                let workload = Workload::of(&record.point);
                let is_set = workload.settings.contains_key(TECHNOLOGY);
                match record.report.as_ref().filter(|_| !is_set) {
                    Some(report) => workload.in_technology(&report.machine.technology_label()),
                    None => workload,
                }
            }
            Content::Cells(cells) => Workload::of(cells),
        }
    }

    /// What it computes: its workload, with a given program's content in place of its name.
    pub(super) fn task(&self) -> Task {
        let (settings, content) = match &self.content {
            Content::Run(record) => (&record.point, record.report.as_ref().map(|run| &*run.program_blake3)),
            Content::Cells(cells) => (cells, cells.get("program_blake3").and_then(Value::as_str)),
        };
        let workload = self.workload();
        match settings.get("program").and(content) {
            Some(content) => Task(Workload { kernel: String::new(), ..workload }, content.to_owned()),
            None => Task(workload, String::new()),
        }
    }

    /// Whether its machine is ideal by a setting.
    pub(super) fn is_ideal(&self) -> bool {
        match &self.content {
            Content::Run(record) => record.is_ideal(),
            Content::Cells(cells) => cells.iter().any(|(key, value)| is_ideal(key, value)),
        }
    }

    /// The origin of its program, if it is known.
    pub(super) fn source_of_program(&self) -> Option<&str> {
        match &self.content {
            Content::Run(record) => record.program_source.as_deref(),
            Content::Cells(cells) => cells.get("program_source")?.as_str(),
        }
    }

    /// Whether costs are extrapolated for its settings.
    pub(super) fn is_extrapolated(&self) -> bool {
        match &self.content {
            Content::Run(record) => !extrapolated(record).is_empty(),
            Content::Cells(cells) => cells.contains_key("extrapolated"),
        }
    }

    /// Whether its chip is larger than one exposure makes.
    pub(super) fn is_beyond_reticle(&self) -> bool {
        match &self.content {
            Content::Run(record) => is_beyond_reticle(record),
            Content::Cells(cells) => {
                let mm2 = cells.get(Measure::AreaMm2.name()).and_then(Value::as_f64);
                mm2.is_some_and(|mm2| mm2 > Area::RETICLE_MM2)
            }
        }
    }

    /// Whether it keeps the constraints of its exploration, if it is of one. A table has no constraints.
    pub(super) const fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// The folder or table.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

/// The successful points of several sweeps that meet some conditions.
pub struct Pool {
    pub(super) points: Vec<Row>,
    /// Whether they are those that meet some conditions.
    pub(super) is_filtered: bool,
    columns: Vec<Column>,
    /// The axes of all sweeps.
    pub(super) varying: Vec<String>,
    /// The settings of all points.
    settings: BTreeSet<String>,
    /// The goals of the folders of explorations.
    goals: Vec<Goals>,
    /// Published results of the folders, each once.
    pub(super) references: Vec<Reference>,
    /// The title that the only sweep was given.
    pub(super) title: Option<String>,
    /// The points of all folders, and those of them that have not run.
    pub(super) missing: (usize, usize),
}

impl Pool {
    /// Reads the results in folders, and in tables of the form of `results.csv`, that meet `conditions`.
    ///
    /// # Errors
    /// Returns an error if a folder holds no sweep, if a folder or a table cannot be read, if a condition
    /// names an unknown column, or if more than [`MAX_POINTS`] points meet the conditions.
    pub fn read(sources: &[&Path], conditions: &[Condition]) -> Result<Self, ComposeError> {
        let mut pool = Self {
            points: Vec::new(),
            is_filtered: !conditions.is_empty(),
            columns: columns(),
            varying: Vec::new(),
            settings: BTreeSet::new(),
            goals: Vec::new(),
            references: Vec::new(),
            title: None,
            missing: (0, 0),
        };
        let sources = sources.iter().map(|source| Source::open(source));
        let mut sources: Vec<Source> = sources.collect::<Result<_, ComposeError>>()?;
        if let [Source::Folder(_, results)] = &sources[..] {
            let Manifest { title, name, .. } = &results.manifest;
            pool.title = (title != name).then(|| title.clone());
        }
        for source in &sources {
            if let Source::Folder(_, results) = source {
                pool.missing.0 += results.points();
                pool.missing.1 += results.missing();
            }
            let (varying, settings) = source.keys(&pool.columns);
            for key in varying {
                if !pool.varying.contains(&key) {
                    pool.varying.push(key);
                }
            }
            pool.settings.extend(settings);
            pool.goals.extend(source.goals().cloned());
            for reference in source.references() {
                if !pool.references.contains(reference) {
                    pool.references.push(reference.clone());
                }
            }
        }
        let conditions: Vec<Condition> =
            conditions.iter().map(|condition| pool.resolve(condition)).collect::<Result<_, _>>()?;
        let mut found = 0;
        for source in &mut sources {
            source.for_each_chunk(|rows| {
                for row in rows {
                    if pool.meets(&row, &conditions)? {
                        found += 1;
                        // The rest is only counted.
                        pool.points.extend((found <= MAX_POINTS).then_some(row));
                    }
                }
                Ok(())
            })?;
        }
        if found > MAX_POINTS { Err(ComposeError::TooMany { found }) } else { Ok(pool) }
    }

    /// Whether a point meets all conditions; an error if one of them does not fit its column.
    pub(super) fn meets(&self, row: &Row, conditions: &[Condition]) -> Result<bool, Diagnostic> {
        let mut conditions = conditions.iter();
        conditions.try_fold(true, |all, condition| {
            Ok(condition.holds(self.value(row, &condition.column).as_ref())? && all)
        })
    }

    /// The names of columns in their order: `folder`, `key`, settings of points, results. Every key of the
    /// machine is one, too.
    fn names(&self) -> Vec<&str> {
        let settings = self.settings.iter().map(String::as_str);
        let results = self.columns.iter().map(|column| column.name.as_str());
        [FOLDER, KEY].into_iter().chain(settings).chain(results).collect()
    }

    fn all_names(&self) -> Vec<&str> {
        self.names().into_iter().chain(sim::machine::keys().map(|key| key.path)).collect()
    }

    /// The columns, for users.
    fn known(&self) -> String {
        format!("every machine key, {}", self.names().join(", "))
    }

    /// The column with a name or a short name.
    pub(super) fn column(&self, name: &str) -> Result<String, ComposeError> {
        let unknown = |error: UnknownName| ComposeError::Unknown {
            message: error.to_string(),
            help: error.help(&self.known()),
        };
        find(name, &self.all_names()).map(str::to_owned).map_err(unknown)
    }

    /// A condition with the full name of its column.
    pub(super) fn resolve(&self, condition: &Condition) -> Result<Condition, ComposeError> {
        Ok(condition.clone().resolve(&self.all_names(), || self.known())?)
    }

    /// The value of a point in a column.
    pub(super) fn value(&self, row: &Row, name: &str) -> Option<Value> {
        if name == FOLDER {
            return Some(row.source.as_str().into());
        }
        let record = match &row.content {
            Content::Run(record) if name == KEY => return Some(record.key.to_string().into()),
            Content::Run(record) => record,
            Content::Cells(cells) => return cells.get(name).cloned(),
        };
        if let Some(column) = self.columns.iter().find(|column| column.name == name) {
            return column.value(record);
        }
        setting(record, name).map(Cow::into_owned)
    }

    /// The display text of a point's value in a column.
    pub(super) fn text(&self, row: &Row, name: &str) -> String {
        self.value(row, name).map_or_else(|| ABSENT.to_owned(), |value| plain(Some(&value)))
    }

    /// The technology of a point, and the source of the area of its vector crossbar, if they are known.
    pub(super) fn basis(&self, row: &Row) -> (Option<String>, Option<VbarArea>) {
        let technology = self.value(row, TECHNOLOGY).map(|name| plain(Some(&name)));
        let source = self.value(row, VBAR_AREA).and_then(|source| serde_json::from_value(source).ok());
        (technology, source)
    }

    /// The better values of a column; `None` for settings, and for results of which neither less nor more is
    /// better.
    pub(super) fn better(&self, name: &str) -> Option<Better> {
        self.columns.iter().find(|column| column.name == name)?.better
    }

    /// The horizontal and the vertical column of a chart, unless others are chosen: those of the charts of
    /// explorations if they are all the same. Otherwise time and area. The time is that of the stream if all
    /// points have one.
    pub fn axes(&self) -> [&'static str; 2] {
        let axes = match &self.goals[..] {
            [first, rest @ ..] if rest.iter().all(|goals| goals.axes() == first.axes()) => first.axes(),
            _ => {
                let have_streams = self.points.iter().all(|point| point.workload().stream > 0);
                [if have_streams { Measure::StreamUs } else { Measure::TimeUs }, Measure::AreaMm2]
            }
        };
        axes.map(Measure::name)
    }

    pub(super) fn number(&self, row: &Row, name: &str) -> Result<f64, ComposeError> {
        let value = self.value(row, name).ok_or_else(|| ComposeError::Empty(name.to_owned()))?;
        value.as_f64().ok_or_else(|| ComposeError::NotNumbers(name.to_owned()))
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("points", &self.points.len()).field("varying", &self.varying).finish()
    }
}

/// The origin of points.
enum Source {
    /// The folder of a sweep.
    Folder(String, Box<Results>),
    /// A table with its rows.
    Table(String, Table),
}

impl Source {
    fn open(path: &Path) -> Result<Self, ComposeError> {
        let name = diagnostic::path(path);
        let is_table = [".csv", ".csv.gz", ".csv.xz"].iter().any(|ending| name.ends_with(ending));
        if path.is_dir() || !is_table {
            return Ok(Self::Folder(name, Box::new(Results::merge(&[path])?)));
        }
        Ok(Self::Table(name, Table::read(path)?))
    }

    /// The axes, and all settings. The axes of a table are the settings in which its rows differ.
    fn keys(&self, results: &[Column]) -> (Vec<String>, Vec<String>) {
        match self {
            Self::Folder(_, results) => {
                let manifest = &results.manifest;
                (manifest.varying.clone(), manifest.points.names().map(str::to_owned).collect())
            }
            Self::Table(_, table) => {
                let is_setting = |name: &&String| {
                    let name = name.as_str();
                    !LEADING.contains(&name)
                        && name != ERROR
                        && results.iter().all(|column| column.name != name)
                };
                let settings: Vec<String> = table.header.iter().filter(is_setting).cloned().collect();
                (settings.iter().filter(|name| table.varies(name)).cloned().collect(), settings)
            }
        }
    }

    /// The goals of an exploration.
    fn goals(&self) -> Option<&Goals> {
        match self {
            Self::Folder(_, results) => results.manifest.goals.as_ref(),
            Self::Table(..) => None,
        }
    }

    /// The published results of a sweep.
    fn references(&self) -> &[Reference] {
        match self {
            Self::Folder(_, results) => &results.manifest.references,
            Self::Table(..) => &[],
        }
    }

    /// Hands over the points, some at a time.
    fn for_each_chunk(
        &mut self,
        mut take: impl FnMut(Vec<Row>) -> Result<(), ComposeError>,
    ) -> Result<(), ComposeError> {
        match self {
            Self::Folder(name, results) => {
                let recorded: Vec<usize> = results.recorded().collect();
                for chunk in recorded.chunks(CHUNK) {
                    let ran = results.read(chunk)?.into_iter().filter(|(.., record)| record.report.is_some());
                    let row = |record: Record| Row {
                        source: name.clone(),
                        is_allowed: results.manifest.goals.as_ref().is_none_or(|goals| {
                            record.outcome().costs.is_some_and(|costs| goals.allow(&costs))
                        }),
                        content: Content::Run(Box::new(record)),
                    };
                    take(ran.map(|(.., record)| row(record)).collect())?;
                }
            }
            Self::Table(name, table) => {
                let row =
                    |cells| Row { source: name.clone(), content: Content::Cells(cells), is_allowed: true };
                let mut rows = table.take().map(row).peekable();
                while rows.peek().is_some() {
                    take(rows.by_ref().take(CHUNK).collect())?;
                }
            }
        }
        Ok(())
    }
}
