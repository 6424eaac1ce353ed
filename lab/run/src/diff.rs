//! Comparison of two runs: the changes of the machine and their effect on the cycles.

use crate::page_parts::cause_label;
use crate::pipes::vrf_ports_key;
use crate::stream::Bottleneck;
use crate::table::{bar, grouped, title};
use crate::{RunReport, SCHEMA};
use b512_asm::Pipe;
use diagnostic::{Diagnostic, counted};
use runtime::limit;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};
use sim::Change;
use sim::timing::Cause;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Two runs, number by number. Serialises to one JSON object.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`] of both documents, and of this one.
    pub schema: u32,
    /// The first run.
    pub a: Compared,
    /// The second run.
    pub b: Compared,
    /// Whether the runs have the same program.
    pub same_program: bool,
    /// Whether the runs come from the same models. If not, the models may cause a difference.
    pub same_model: bool,
    /// The keys of the machine that differ, in the order of the machine file.
    pub machine: Vec<Change>,
    /// Every number that both runs have, by its dotted name in the document of a run, such as
    /// `cycles` or `stalls.busy_compute`. Numbers that describe the run's input (seed, machine) or
    /// the simulator's speed are omitted.
    pub values: BTreeMap<String, Delta>,
}

/// One of the two runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Compared {
    /// The source of its document.
    pub file: String,
    /// The program's name.
    pub program: String,
    /// The program's hash.
    pub program_blake3: String,
    /// Program and machine in one line.
    #[serde(skip)]
    title: String,
    /// The runs of its stream and what binds them, if it is one.
    #[serde(skip)]
    stream: Option<(usize, Bottleneck)>,
}

/// One number of two runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Delta {
    /// In the first run.
    pub a: Number,
    /// In the second run.
    pub b: Number,
    /// The second minus the first.
    pub difference: Number,
    /// The second divided by the first; `None` if the first is zero.
    pub ratio: Option<f64>,
}

/// Keys of the parts of a sum, which are 0 where they are absent.
const PARTS: [&str; 3] = [BINDS, "kernels.", "hbm.bytes_by_kind."];
const BINDS: &str = "binds.";

/// Keys of a document whose numbers are not compared.
const NOT_COMPARED: [&str; 4] = ["schema", "seed", "machine", "simulator"];

impl RunReport {
    /// Reads the document of a run. `file` is its name in errors.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, comes from another version of the documents, or
    /// lacks a key. The error names the position and the dotted path of the key.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostic> {
        // The version first: documents of another version may have other keys.
        parse::<Head>(file, text)?;
        let report: Self = parse(file, text)?;
        let end = text.trim_end().len().saturating_sub(1);
        let missing = |key| error_at(file, text, end, format!("the key `{key}` is missing"));
        report.missing().map(missing).map_or(Ok(report), Err)
    }
}

/// The version of a document.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "schema", deserialize_with = "supported_schema")]
    _schema: (),
}

fn supported_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match u32::deserialize(deserializer)? {
        SCHEMA => Ok(()),
        other => Err(D::Error::custom(format_args!("unsupported version {other}, expected {SCHEMA}"))),
    }
}

/// Parses JSON; an error has its position in the text and the path of the key.
fn parse<'t, T: Deserialize<'t>>(file: &str, text: &'t str) -> Result<T, Diagnostic> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut deserializer);
    let at_path = |error: serde_path_to_error::Error<serde_json::Error>| {
        let path = error.path().to_string();
        (error.into_inner(), (path != ".").then_some(path))
    };
    let read = read.map_err(at_path).and_then(|read| {
        deserializer.end().map_err(|error| (error, None))?;
        Ok(read)
    });
    read.map_err(|(error, path)| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let text_of_error = error.to_string();
        let what = diagnostic::reason(text_of_error.strip_suffix(&place).unwrap_or(&text_of_error));
        let message = match path {
            _ if !error.is_data() => format!("invalid JSON: {what}"),
            Some(path) => format!("`{path}`: {what}"),
            None => what,
        };
        let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        let line_start: usize = lines.map(str::len).sum();
        let at = (line_start + error.column().saturating_sub(1)).min(text.len());
        error_at(file, text, at, message)
    })
}

/// An error at a character of a document.
fn error_at(file: &str, text: &str, at: usize, message: String) -> Diagnostic {
    let start = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let end = start + text[start..].chars().next().map_or(0, char::len_utf8);
    Diagnostic::new(message)
        .at(file, text, start..end)
        .with_help("expected the JSON document of a run, as this version writes it")
}

impl Comparison {
    /// Compares two runs; each comes with its file name.
    ///
    /// # Errors
    /// Returns an error if only one of the runs has cycles.
    pub fn new((file_a, a): (&str, &RunReport), (file_b, b): (&str, &RunReport)) -> Result<Self, Diagnostic> {
        let without_cycles = match (&a.cycles, &b.cycles) {
            (None, Some(_)) => Some(file_a),
            (Some(_), None) => Some(file_b),
            _ => None,
        };
        if let Some(file) = without_cycles {
            return Err(Diagnostic::new("this run has no cycles to compare")
                .in_file(file)
                .with_help("run the program again with timing"));
        }
        let (mut of_a, mut of_b) = (numbers(a), numbers(b));
        // A ring program without a kernel or a limit has none of its launches, and none of its time.
        let is_part = |name: &&String| PARTS.iter().any(|part| name.starts_with(part));
        let parts: Vec<String> = of_a.keys().chain(of_b.keys()).filter(is_part).cloned().collect();
        for name in parts {
            of_a.entry(name.clone()).or_insert_with(|| Number::from(0));
            of_b.entry(name).or_insert_with(|| Number::from(0));
        }
        let both = of_a.into_iter().filter_map(|(name, a)| {
            let delta = Delta::new(a, of_b.get(&name)?.clone());
            Some((name, delta))
        });
        Ok(Self {
            schema: SCHEMA,
            a: Compared::new(file_a, a),
            b: Compared::new(file_b, b),
            same_program: a.program_blake3 == b.program_blake3,
            same_model: a.simulator.model_version == b.simulator.model_version,
            machine: b.machine.changes_from(&a.machine),
            values: both.collect(),
        })
    }

    /// The comparison as text without colour.
    pub fn table(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("writing to a string does not fail");
        text
    }

    fn write(&self, f: &mut String) -> fmt::Result {
        let streams = [("A", &self.a), ("B", &self.b)];
        let has_streams = streams.iter().any(|(_, run)| run.stream.is_some());
        for (name, run) in streams {
            writeln!(f, "{name}  {}: {}", run.file, run.title)?;
            match run.stream {
                Some((runs, Bottleneck::Compute)) => {
                    writeln!(f, "   a stream of {}, which compute binds", counted(runs, "run", "runs"))?;
                }
                Some((runs, Bottleneck::Hbm)) => {
                    writeln!(
                        f,
                        "   a stream of {}, which off-chip memory binds",
                        counted(runs, "run", "runs")
                    )?;
                }
                None if has_streams => writeln!(f, "   one run without its transfers, not a stream")?,
                None => {}
            }
        }
        writeln!(f, "   {} program", if self.same_program { "the same" } else { "a different" })?;
        if !self.same_model {
            writeln!(f, "   different versions of the simulator, which may cause differences")?;
        }
        if !self.machine.is_empty() {
            writeln!(f, "\nChanges of the machine")?;
            let width = self.machine.iter().map(|change| change.key.len()).max().unwrap_or(0);
            for Change { key, from, to } in &self.machine {
                writeln!(f, "  {key:<width$}  {} -> {}", bare(from), bare(to))?;
            }
        }
        writeln!(f, "\n  {:<WIDTH$}{:>11}{:>11}{:>11}{:>8}", "", "A", "B", "B - A", "B / A")?;
        for (name, key, unit) in [
            ("time", "cycles", Unit::Cycles),
            ("time", "time_us", Unit::Decimal("us")),
            ("resource bound", "bounds.resource_cycles", Unit::Cycles),
            ("dependence bound", "bounds.dependence_cycles", Unit::Cycles),
            ("area", "area_mm2", Unit::Decimal("mm2")),
            ("energy", "energy_uj", Unit::Decimal("uJ")),
            ("  kernels", "energy_kernels_uj", Unit::Decimal("uJ")),
            ("  off chip", "energy_hbm_uj", Unit::Decimal("uJ")),
            ("  static", "energy_static_uj", Unit::Decimal("uJ")),
            ("power", "power_w", Unit::Decimal("W")),
        ] {
            self.row(f, &format!("{name} ({})", unit.name()), key, unit)?;
        }
        section(f, "The stream", |f| {
            for (name, key, unit) in [
                ("runs", "hbm.runs", Unit::Count),
                ("time (us)", "hbm.total_us", Unit::Decimal("us")),
                ("compute per run (us)", "hbm.compute_us_per_run", Unit::Decimal("us")),
                ("transfers per run (us)", "hbm.transfer_us_per_run", Unit::Decimal("us")),
                ("compute busy (%)", "hbm.compute_utilisation", Unit::Percent),
                ("off-chip memory busy (%)", "hbm.hbm_utilisation", Unit::Percent),
            ] {
                self.row(f, name, key, unit)?;
            }
            Ok(())
        })?;
        let headings = [
            ("What limits the time (%)", Unit::Percent),
            ("Launches", Unit::Count),
            ("Off-chip traffic (bytes)", Unit::Count),
        ];
        for ((heading, unit), key) in headings.into_iter().zip(PARTS) {
            self.write_parts(f, heading, key, unit)?;
        }
        if self.values.contains_key("stalls.issue") {
            self.write_cycles(f)?;
        }
        Ok(())
    }

    /// The numbers of a ring program under one key.
    fn write_parts(&self, f: &mut String, heading: &str, key: &str, unit: Unit) -> fmt::Result {
        let mut parts = self.values.keys().filter_map(|name| name.strip_prefix(key));
        let label = |part: &str| if key == BINDS { limit(part).to_owned() } else { part.replace('_', " ") };
        section(f, heading, |f| {
            parts.try_for_each(|part| self.row(f, &label(part), &format!("{key}{part}"), unit))
        })
    }

    fn write_cycles(&self, f: &mut String) -> fmt::Result {
        writeln!(f, "\nWhere the cycles of the front end go")?;
        let causes =
            self.values.iter().filter_map(|(key, delta)| Some((key.strip_prefix("stalls.")?, delta)));
        let mut causes: Vec<_> = causes.filter(|(_, delta)| !delta.is_zero()).collect();
        let change = |delta: &Delta| delta.difference.as_f64().unwrap_or(0.0).abs();
        causes.sort_by(|(_, a), (_, b)| change(b).total_cmp(&change(a)));
        let most = causes.iter().map(|(_, delta)| change(delta)).fold(1.0, f64::max);
        for (cause, delta) in causes {
            let bar = bar(change(delta) / most, 20);
            let known = Cause::all().find(|known| known.name() == cause);
            let label = known.map_or_else(|| cause.to_owned(), cause_label);
            write!(f, "{}", columns(&label, delta, Unit::Cycles))?;
            writeln!(f, "{}", format!("  {bar}").trim_end())?;
        }
        section(f, "Pipe utilisation (%)", |f| {
            Pipe::VECTOR.into_iter().try_for_each(|pipe| {
                self.row(f, pipe.label(), &format!("utilisation.{}", pipe.name()), Unit::Percent)
            })
        })?;
        section(f, "Instructions", |f| {
            Pipe::ALL.into_iter().try_for_each(|pipe| {
                self.row(f, pipe.label(), &format!("instructions.{}", pipe.name()), Unit::Count)
            })?;
            self.row(f, "all", "instructions.total", Unit::Count)
        })?;
        section(f, "Delays after dispatch (overlapping cycles)", |f| {
            for pipe in Pipe::VECTOR {
                let key = format!("waits.{}", vrf_ports_key(pipe));
                self.row(f, &format!("ports: {}", pipe.label()), &key, Unit::Cycles)?;
            }
            self.row(f, "bank conflicts", "waits.bank_conflict_cycles", Unit::Cycles)
        })
    }

    /// One line, or nothing if there is nothing to report.
    fn row(&self, f: &mut String, name: &str, key: &str, unit: Unit) -> fmt::Result {
        match self.values.get(key).filter(|delta| !delta.is_zero()) {
            Some(delta) => writeln!(f, "{}", columns(name, delta, unit).trim_end()),
            None => Ok(()),
        }
    }
}

/// A heading and its rows, unless there are none.
fn section(f: &mut String, heading: &str, rows: impl FnOnce(&mut String) -> fmt::Result) -> fmt::Result {
    let mut text = String::new();
    rows(&mut text)?;
    if text.is_empty() { Ok(()) } else { write!(f, "\n{heading}\n{text}") }
}

/// The width of the names.
const WIDTH: usize = 33;

/// The format of a number.
#[derive(Clone, Copy)]
enum Unit {
    Cycles,
    Count,
    /// A share from 0 to 1.
    Percent,
    Decimal(&'static str),
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Count => "",
            Self::Percent => "%",
            Self::Decimal(unit) => unit,
        }
    }

    /// The size of the number, without its sign.
    fn text(self, number: f64) -> String {
        match self {
            Self::Cycles | Self::Count => grouped(number.abs() as u64),
            Self::Percent => format!("{:.1}", number.abs() * 100.0),
            Self::Decimal(_) => format!("{:.3}", number.abs()),
        }
    }
}

/// Name, both numbers, difference and ratio, aligned.
fn columns(name: &str, delta: &Delta, unit: Unit) -> String {
    let value = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
    let (a, b) = (unit.text(value(&delta.a)), unit.text(value(&delta.b)));
    let difference = value(&delta.difference);
    let (difference, ratio) = if difference == 0.0 {
        ("=".to_owned(), String::new())
    } else {
        let sign = if difference < 0.0 { '-' } else { '+' };
        let ratio = delta.ratio.map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
        (format!("{sign}{}", unit.text(difference)), ratio)
    };
    format!("  {name:<WIDTH$}{a:>11}{b:>11}{difference:>11}{ratio:>8}")
}

/// A value in the syntax of `-p`.
fn bare(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Compared {
    fn new(file: &str, report: &RunReport) -> Self {
        Self {
            file: file.into(),
            program: report.program.clone(),
            program_blake3: report.program_blake3.clone(),
            title: title(report),
            stream: report.stream().map(|stream| (stream.runs, stream.bottleneck)),
        }
    }
}

impl Delta {
    fn new(a: Number, b: Number) -> Self {
        let (from, to) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
        let whole = || i64::try_from(b.as_i128()? - a.as_i128()?).ok().map(Number::from);
        // Numbers from JSON are finite, and so in practice is their difference.
        let difference = whole().or_else(|| Number::from_f64(to - from)).unwrap_or_else(|| Number::from(0));
        Self { a, b, difference, ratio: (from != 0.0).then(|| to / from) }
    }

    fn is_zero(&self) -> bool {
        [&self.a, &self.b].into_iter().all(|number| number.as_f64() == Some(0.0))
    }
}

/// The numbers of a report by their dotted names.
fn numbers(report: &RunReport) -> BTreeMap<String, Number> {
    fn walk(path: &str, value: Value, into: &mut BTreeMap<String, Number>) {
        match value {
            Value::Object(keys) => {
                let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
                for (key, value) in keys {
                    if !path.is_empty() || !NOT_COMPARED.contains(&key.as_str()) {
                        walk(&format!("{prefix}{key}"), value, into);
                    }
                }
            }
            Value::Number(number) => drop(into.insert(path.to_owned(), number)),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => {}
        }
    }
    let mut numbers = BTreeMap::new();
    walk("", serde_json::to_value(report).expect("a report is JSON"), &mut numbers);
    numbers
}
