//! The definition of a sweep, in TOML.
//!
//! ```toml
//! name = "latency"                   # for the results
//! title = "Multiplier latency"       # for the chart; made of kernel, n and modulus, if left out
//! machine = "rpu-128x128"            # a built-in machine, or a file's path relative to this one
//! schedule_for = "machine"           # or "base", or a list of keys, see `ScheduleFor`
//! seed = 0                           # of the data with which programs are checked
//! kernel = "ntt"                     # what all points share ...
//! n = 65536
//! modulus_bits = 128                 # or modulus = "0x.."
//! plan = "best"
//! tune = "quick"                     # the search for plan best: "off", "quick" or "full"
//! towers = 1                         # rings with moduli of their own, in one program
//! stream = 8                         # runs of the program with their off-chip transfers
//! # or, in place of kernel, n, modulus, plan, tune and towers:
//! program = "my.b512"                # assembly text or an object, relative to this file
//! input.a = "a.bin"                  # coefficients of an input symbol of 16 bytes each
//! expect.c = "c.bin"                 # ... and those that an output symbol must have
//! # or a generated ring program, timed with its transfers, not run on data:
//! kernel = "hmult"                   # as in `rpu gen program`
//! set = "dprive"                     # parameter set; a file's path is relative to this one
//! level = 13
//! dataflow = "oc"
//! keys = "streamed"                  # or "seeded" or "resident"
//!
//! [grid]                             # ... and what they do not: every combination,
//! vdm.banks = [64, 128]
//! [zip]                              # of rows whose keys advance together,
//! hple.multiplier_latency_cycles = [11, 22]
//! hple.initiation_interval = [1, 2]
//! [[list]]                           # and of tables written out;
//! n = 65536
//! [[list]]
//! n = 1024
//! [sample]                           # of all these, so many drawn without repetition
//! points = 6
//! seed = 1
//!
//! [explore]                          # for `rpu explore`, see `Exploration`
//! objectives = ["time_us", "area_mm2"]
//!
//! [[reference]]                      # results from elsewhere, shown in the chart
//! label = "paper"
//! time_us = 6.7
//! area_mm2 = 20.5
//! n = 65536                          # in the chart of these only; `kernel`, `modulus_bits` likewise
//! ```
//!
//! The axes may be [parameters of tasks](super::parameter), settings of operations and options of programs
//! among them, and every key of a machine file. The list varies fastest, then the zipped rows, then the last
//! axis of the grid.

mod checks;
mod read;

use super::front::{Constraint, Exploration};
use super::manifest::{MAX_LABEL, MAX_REFERENCES, Reference, Source};
use super::parameter::{self, Setting, Settings, is_parameter};
use diagnostic::document::{Document, Field, Item};
use diagnostic::{Code, Diagnostic, Diagnostics};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;
use sim::Override;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The maximum number of points in a sweep.
pub(super) const MAX_POINTS: usize = 1_000_000;

/// A sweep as written, with the positions of its parts for errors.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The file's name for errors.
    file: String,
    /// Where the files that it names are.
    folder: PathBuf,
    text: Arc<str>,
    /// The name in results.
    pub name: String,
    /// The title of the chart; if it is empty, the plan makes one of kernel, degree and modulus.
    pub title: String,
    /// The base machine: the name of a built-in one, or a path with `.toml`.
    pub machine: String,
    /// The machine for which programs are scheduled.
    pub schedule_for: ScheduleFor,
    /// Seed of the data for checking programs.
    pub seed: u64,
    /// Parameters of the task with one value for all points.
    pub(super) task: Vec<Setting>,
    /// Machine keys with one value for all points.
    pub(super) overrides: Vec<Override>,
    /// Machine and kernel keys that were set on the command line.
    pub(super) changes: Vec<String>,
    axes: Arc<[Axis]>,
    sample: Option<Sample>,
    /// Objectives and constraints of an exploration.
    pub(super) explore: Option<Exploration>,
    /// Their byte range; `0..0` without any.
    pub(super) explore_span: Range<usize>,
    /// Published results for comparison.
    pub references: Vec<Reference>,
    /// The files of input symbols and of expected outputs of given programs.
    pub(super) data: Vec<DataFile>,
}

/// Data of a symbol in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DataFile {
    /// Whether it is the expected content of an output, not an input.
    pub(super) expected: bool,
    /// The symbol.
    pub(super) symbol: String,
    /// The path in the definition.
    pub(super) path: String,
    /// Byte range in the definition.
    pub(super) span: Range<usize>,
}

/// The machine for which the programs of a sweep are scheduled.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ScheduleFor {
    /// Each point has its own program, scheduled for its machine.
    #[default]
    Machine,
    /// All points run the program for the base machine: this shows the effect of machine changes on
    /// a given program.
    Base,
    /// The program is for the base machine with the point's values of these keys; the other axes
    /// change the machine under a given program.
    Keys(Vec<String>),
}

/// Alternatives, of which each point takes one: values of some keys.
pub(super) type Axis = Vec<Vec<Setting>>;

/// The parts of a definition that are checked together with others.
#[derive(Default)]
struct Parts {
    /// The axes of the grid.
    grid: Vec<Axis>,
    zip: Axis,
    list: Axis,
    /// The position of each key in `schedule_for`.
    scheduled_spans: Vec<Range<usize>>,
}

/// The number of points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    points: usize,
    #[serde(default)]
    seed: u64,
}

const TOP_KEYS: [&str; 13] = [
    "name",
    "title",
    "machine",
    "schedule_for",
    "seed",
    "grid",
    "zip",
    "list",
    "sample",
    "explore",
    "reference",
    "input",
    "expect",
];

impl Definition {
    /// The parts of a definition that can be read, and the errors of the others.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML or has another format.
    pub(super) fn read_parts(file: &str, text: &str) -> Result<(Self, Diagnostics), Diagnostics> {
        let mut definition = Self {
            file: file.into(),
            folder: Path::new(file).parent().unwrap_or(Path::new("")).into(),
            text: text.into(),
            name: Path::new(file).file_stem().map_or_else(String::new, diagnostic::path),
            title: String::new(),
            machine: "rpu-128x128".into(),
            schedule_for: ScheduleFor::default(),
            seed: 0,
            task: Vec::new(),
            overrides: Vec::new(),
            changes: Vec::new(),
            axes: Arc::default(),
            sample: None,
            explore: None,
            explore_span: 0..0,
            references: Vec::new(),
            data: Vec::new(),
        };
        let document = Document::toml(file, text)?;
        definition.check_format(document.root())?;
        let (mut errors, mut parts) = (Diagnostics::default(), Parts::default());
        for field in document.root().fields() {
            errors.keep(definition.entry(&document, field, &mut parts));
        }
        let others = [parts.zip, parts.list].into_iter().filter(|axis| !axis.is_empty());
        definition.axes = parts.grid.into_iter().chain(others).collect();
        errors.keep(definition.check_axes());
        errors.keep(definition.check_scheduled_keys(&parts.scheduled_spans));
        Ok((definition, errors))
    }

    /// Reads one key of the file.
    fn entry(
        &mut self,
        document: &Document<'_>,
        Field { key, span: key_span, item }: &Field<'_>,
        parts: &mut Parts,
    ) -> Result<(), Diagnostics> {
        let span = item.span.clone();
        match &*parameter::canonical(key) {
            "name" => self.name = self.label(document, key, item)?,
            "title" => self.title = self.label(document, key, item)?,
            "machine" => self.machine = self.read(document, key, item)?,
            "schedule_for" => (self.schedule_for, parts.scheduled_spans) = self.schedule_for(item)?,
            "seed" => self.seed = self.read(document, key, item)?,
            "sample" => self.sample = Some(self.read(document, key, item)?),
            "input" => self.add_data(false, item)?,
            "expect" => self.add_data(true, item)?,
            "halving" => {
                let message = "sweeps with a halving are no longer supported";
                let help =
                    "leave [halving] out; `rpu explore` finds the front without simulating every point";
                return Err(self.error(key_span.clone(), message, help).into());
            }
            "explore" => {
                let mut errors = Diagnostics::default();
                for item in item.get("constraints").into_iter().flat_map(Item::items) {
                    if let Some(Err(error)) = item.text().map(Constraint::parse_all) {
                        let span = error.span.map_or(item.span.clone(), |span| document.part(item, &span));
                        let help = error.help.unwrap_or_default();
                        errors.push(self.error(span, error.message, help));
                    }
                }
                errors.or(())?;
                let explore: Exploration = self.read(document, key, item)?;
                explore.check().map_err(|(message, help)| self.error(span.clone(), message, help))?;
                (self.explore, self.explore_span) = (Some(explore), span);
            }
            "reference" => {
                self.references = self.read(document, key, item)?;
                if self.references.len() > MAX_REFERENCES {
                    let message = format!("more than {MAX_REFERENCES} references");
                    return Err(self.error(span, message, "keep those that the chart is about").into());
                }
                if self.references.iter().any(|reference| !diagnostic::is_line(&reference.label)) {
                    let message = "a `label` is not one line of text";
                    return Err(self.error(span, message, "write it in one line, as charts show it").into());
                }
                let long = self.references.iter().find(|reference| reference.label.len() > MAX_LABEL);
                if long.is_some() {
                    return Err(self.too_long(span, "label").into());
                }
            }
            "grid" => {
                let mut errors = Diagnostics::default();
                for values in self.columns(item)? {
                    errors.keep(self.check_distinct(&values));
                    parts.grid.push(values.into_iter().map(|setting| vec![setting]).collect());
                }
                errors.or(())?;
            }
            "zip" => {
                parts.zip = self.zip(item)?;
                self.check_rows("zip", &parts.zip)?;
            }
            "list" => {
                parts.list = self.list(item)?;
                self.check_rows("list", &parts.list)?;
            }
            key if is_parameter(key) => {
                let value = self.plain(item)?;
                let setting = Setting { key: key.into(), key_span: key_span.clone(), value, span };
                self.task.push(setting);
            }
            unknown => return Err(self.unknown_key(key_span.clone(), unknown).into()),
        }
        Ok(())
    }

    /// Looks for the files that the definition names in a folder, whose path need not be text, in place of
    /// the folder of its own name.
    pub fn in_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), ..self }
    }

    /// Parses a definition again, with the keys that the command line had set.
    ///
    /// # Errors
    /// Returns the errors of [`Definition::parse`] and [`Definition::set`].
    pub fn from_source(source: &Source) -> Result<Self, Diagnostics> {
        let mut definition = Self::parse(&source.file, &source.text)?;
        if let Some(folder) = &source.folder {
            definition = definition.in_folder(folder);
        }
        for change in &source.changes {
            definition.set(&Override::parse(change)?)?;
        }
        Ok(definition)
    }

    /// Sets a key for all points, like an override `key=value`.
    ///
    /// Another kernel, degree or modulus drops the title and the references.
    ///
    /// # Errors
    /// Returns an error if the key is an axis of the sweep.
    pub fn set(&mut self, change: &Override) -> Result<(), Diagnostic> {
        let key = &*parameter::canonical(change.key());
        if let Some(setting) = self.varied().find(|setting| &*setting.key == key) {
            let message = format!("the override `{key}={}` sets a key that the sweep varies", change.value());
            return Err(self.error(setting.span.clone(), message, "set another key, or change the sweep"));
        }
        self.changes.push(format!("{key}={}", change.value()));
        if is_parameter(key) {
            if parameter::find(key).is_some_and(|parameter| parameter.identifies) {
                // They describe the kernel that the file names.
                self.title.clear();
                self.references.clear();
            }
            let bare = || toml::Value::String(change.value().into());
            let value = change.value().parse().unwrap_or_else(|_| bare());
            self.task.push(Setting { key: key.into(), key_span: 0..0, value, span: 0..0 });
        } else {
            self.overrides.push(change.clone());
        }
        Ok(())
    }

    /// Everything needed to read the definition again.
    pub(super) fn source(&self) -> Source {
        let said = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        Source {
            file: self.file.clone(),
            folder: (said != self.folder).then(|| self.folder.clone().into()),
            text: self.text.to_string(),
            changes: self.changes.clone(),
        }
    }

    /// The settings on axes.
    pub(super) fn varied(&self) -> impl Iterator<Item = &Setting> {
        self.axes.iter().flatten().flatten()
    }

    /// The setting of a parameter for all points, if it has one. Axes take precedence.
    pub(super) fn common(&self, key: &str) -> Option<&Setting> {
        self.task.iter().rfind(|setting| &*setting.key == key)
    }

    /// The axes, in the order of their first appearance.
    pub(super) fn varying(&self) -> Vec<String> {
        let mut keys: Vec<String> = Vec::new();
        for setting in self.varied() {
            if !keys.iter().any(|key| **key == *setting.key) {
                keys.push(setting.key.to_string());
            }
        }
        keys
    }

    /// The number of each point among all combinations of the axes, in ascending order.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, Diagnostic> {
        let sizes = self.axes.iter().map(|axis| axis.len() as u64);
        let total = sizes.clone().try_fold(1, |product: u64, size| product.checked_mul(size));
        let drawn = self.sample.map(|sample| sample.points as u64);
        let total = total.filter(|&total| drawn.unwrap_or(u64::MAX).min(total) <= MAX_POINTS as u64);
        let total = total.filter(|&total| usize::try_from(total).is_ok()).ok_or_else(|| {
            let help = format!("draw a sample with [sample]; the maximum is {MAX_POINTS} points");
            self.error(0..0, "the sweep has too many points", help)
        })?;
        let Some(Sample { seed, points }) = self.sample else { return Ok((0..total).collect()) };
        let mut source = Xoshiro256PlusPlus::seed_from_u64(seed);
        let points = points.min(total as usize);
        let mut chosen: Vec<u64> = rand::seq::index::sample(&mut source, total as usize, points)
            .iter()
            .map(|at| at as u64)
            .collect();
        chosen.sort_unstable();
        Ok(chosen)
    }

    /// The alternatives of the point with this number: its digits, one an axis. The last axis varies fastest.
    pub(super) fn digits(&self, mut number: u64) -> Vec<usize> {
        let mut digits = vec![0; self.axes.len()];
        for (digit, axis) in digits.iter_mut().zip(&*self.axes).rev() {
            *digit = (number % axis.len() as u64) as usize;
            number /= axis.len() as u64;
        }
        digits
    }

    /// Points that together have each alternative of each axis; the other axes have their first one.
    pub(super) fn alternatives(&self) -> Vec<Vec<usize>> {
        let first = vec![0; self.axes.len()];
        let mut points = Vec::new();
        for (axis, alternatives) in self.axes.iter().enumerate() {
            points.extend((1..alternatives.len()).map(|number| {
                let mut point = first.clone();
                point[axis] = number;
                point
            }));
        }
        points.push(first);
        points
    }

    /// The axes.
    pub(super) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The number of alternatives of each axis.
    pub(super) fn axis_lengths(&self) -> impl Iterator<Item = usize> {
        self.axes.iter().map(Vec::len)
    }

    /// The settings of one alternative of an axis.
    pub(super) fn alternative(&self, axis: usize, number: usize) -> &[Setting] {
        &self.axes[axis][number]
    }

    /// The settings of the point with these alternatives, one of each axis.
    pub(super) fn point_at(&self, alternatives: &[usize]) -> Vec<&Setting> {
        let chosen = self.axes.iter().zip(alternatives).map(|(axis, &number)| &axis[number]);
        chosen.flatten().collect()
    }

    /// The alternative of an axis that a point with these settings has.
    pub(super) fn alternative_of(&self, axis: usize, settings: &Settings) -> Option<usize> {
        let same = |setting: &Setting| {
            settings.get(&*setting.key) == Some(&parameter::column(&setting.key, &setting.value))
        };
        // Of several rows of a list, the one with the most settings.
        let fits = self.axes[axis].iter().enumerate().filter(|(_, row)| row.iter().all(same));
        fits.max_by_key(|(_, row)| row.len()).map(|(number, _)| number)
    }

    /// An error at a position of the definition, or, with `0..0`, in the whole definition.
    pub(super) fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let span = (span != (0..0)).then_some(span);
        let error = Diagnostic::new(message).with_code(Code::Value.name());
        error.at(&self.file, Arc::clone(&self.text), span).with_help(help)
    }

    /// The path of a file that the definition names.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
