//! The columns of results: values of records by name, and which values are better.

use super::basis::VBAR_AREA;
use super::measure::Measure;
use super::quantity::Better;
use super::record::Record;
use super::value::whole;
use super::view::{extrapolated, setting};
use super::workload::TECHNOLOGY;
use b512_asm::Pipe;
use lab_run::RunReport;
use ring_program::Parameters;
use serde_json::Value;
use sim::Clock;
use sim::timing::Cause;
use sim::{Area, Energy};
use std::borrow::Cow;

/// A column of results beyond the points' settings.
pub(super) struct Column {
    /// The heading.
    pub(super) name: String,
    /// Its measure, if it is one.
    pub(super) measure: Option<Measure>,
    /// Its better values; `None` for text, and for counts and hashes, of which neither less nor more is
    /// better.
    pub(super) better: Option<Better>,
    value: Box<Read>,
}

/// Reads a value of a record.
type Read = dyn Fn(&Record) -> Option<Value> + Send + Sync;

impl Column {
    fn new(
        name: impl Into<String>,
        better: Option<Better>,
        value: impl Fn(&Record) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), measure: None, better, value: Box::new(value) }
    }

    /// A column of successful runs.
    fn of_run<T: Into<Value>>(
        name: impl Into<String>,
        better: Option<Better>,
        value: impl Fn(&RunReport) -> Option<T> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, better, move |record| Some(value(record.report.as_ref()?)?.into()))
    }

    /// The value in a record that has one.
    pub(super) fn value(&self, record: &Record) -> Option<Value> {
        (self.value)(record)
    }
}

/// Columns in which less, or more, is better.
const LESS: Option<Better> = Some(Better::Less);
const MORE: Option<Better> = Some(Better::More);

/// The columns after those of the settings, in the order of the table.
pub(super) fn columns() -> Vec<Column> {
    let measure = |&measure: &Measure| {
        let value = move |record: &Record| number(measure, measure.of(&record.outcome().costs?));
        Column { measure: Some(measure), ..Column::new(measure.name(), LESS, value) }
    };
    let mut columns: Vec<Column> = Measure::ALL.iter().map(measure).collect();
    columns.extend([
        Column::of_run(TECHNOLOGY, None, |r| Some(r.machine.technology_label())),
        Column::new(VBAR_AREA, None, |r| setting(r, VBAR_AREA).map(Cow::into_owned)),
        Column::of_run("frequency_ghz", MORE, |r| Some(Clock::of(&r.machine).ghz())),
        Column::of_run("clock_binds", None, |r| Some(Clock::of(&r.machine).binds())),
        Column::of_run("beyond_reticle", None, |r| Some(r.beyond_reticle)),
        Column::of_run("energy_bus_uj", LESS, |r| Some(r.energy_bus_uj)),
        Column::of_run("energy_generator_uj", LESS, |r| Some(r.energy_generator_uj)),
        Column::new("extrapolated", None, |r| Some(extrapolated(r).join(" ").into())),
    ]);
    let of_set = |name, value: fn(&Parameters) -> Value| {
        Column::of_run(name, None, move |r| Some(value(r.parameters.as_ref()?)))
    };
    columns.extend([
        of_set("log2_q", |set| set.log2_q.into()),
        of_set("log2_p", |set| set.log2_p.into()),
        of_set("log2_qp", |set| set.log2_qp.into()),
        of_set("security", |set| set.security.clone().into()),
        of_set("key_switch_noise_bits", |set| set.key_switch_noise_bits.into()),
    ]);
    for pipe in Pipe::VECTOR {
        let name = format!("{}_instructions", pipe.name());
        columns.push(Column::of_run(name, None, move |r| Some(r.instructions.as_ref()?.pipes[pipe])));
    }
    columns.extend([
        Column::of_run("resource_bound_cycles", LESS, |r| Some(r.bounds?.resource_cycles)),
        Column::of_run("dependence_bound_cycles", LESS, |r| Some(r.bounds?.dependence_cycles)),
        Column::of_run("bound_ratio", LESS, |r| r.bound_ratio),
    ]);
    for pipe in Pipe::VECTOR {
        let name = format!("{}_utilisation", pipe.name());
        columns.push(Column::of_run(name, MORE, move |r| Some(r.utilisation.as_ref()?.pipes[pipe])));
    }
    columns.extend([
        Column::of_run("binds", None, |r| Some(binds(r)?.0.to_owned())),
        Column::of_run("binds_share", None, |r| Some(binds(r)?.1)),
    ]);
    columns.extend([
        Column::of_run("checked", None, |r| Some(r.checked)),
        Column::new("program_source", None, |r| r.program_source.clone().map(Value::from)),
        Column::new("recipes_tried", None, |r| r.recipes_tried.map(Value::from)),
        Column::of_run("mapping_order", None, |r| Some(r.mapping?.order.name())),
        Column::of_run("mapping_batch", None, |r| Some(r.mapping?.batch.name())),
        Column::of_run("mapping_recipes", None, |r| Some(r.mapping?.recipes.name())),
        Column::of_run("mapping_elementwise", None, |r| Some(r.mapping?.elementwise.name())),
        Column::of_run("schedules_tried", None, |r| r.schedules_tried),
        Column::of_run("least_bytes", LESS, |r| r.least_bytes),
        Column::of_run("program_blake3", None, |r| Some(r.program_blake3.clone())),
    ]);
    for (part, (name, _)) in Area::default().components().into_iter().enumerate() {
        let value = move |r: &RunReport| Some(r.area_breakdown_mm2.components()[part].1);
        columns.push(Column::of_run(format!("{name}_mm2"), LESS, value));
    }
    for (part, (name, _)) in Energy::default().components().into_iter().enumerate() {
        let value = move |r: &RunReport| Some(r.energy_breakdown_uj.components()[part].1);
        columns.push(Column::of_run(format!("{name}_uj"), LESS, value));
    }
    for cause in Cause::all() {
        let value = move |r: &RunReport| r.stalls.as_ref()?.get(cause.name()).copied();
        columns.push(Column::of_run(format!("{}_cycles", cause.name()), LESS, value));
    }
    for pipe in Pipe::VECTOR {
        let name = format!("wait_vrf_ports_{}_cycles", pipe.name());
        columns.push(Column::of_run(name, LESS, move |r| Some(r.waits.as_ref()?.vrf_ports[pipe])));
    }
    let conflicts = |r: &RunReport| Some(r.waits.as_ref()?.bank_conflict_cycles);
    columns.push(Column::of_run("wait_bank_conflict_cycles", LESS, conflicts));
    let stream = |r: &RunReport| Some(r.stream()?.hbm_utilisation);
    columns.push(Column::of_run("stream_hbm_utilisation", MORE, stream));
    columns
}

/// What limits most of a run, and its share of the time: a resource of a ring program, a cause of the cycles
/// of a kernel.
pub(super) fn binds(report: &RunReport) -> Option<(&str, f64)> {
    if let Some(binds) = &report.binds {
        return binds.iter().map(|(name, &share)| (name.as_str(), share)).max_by(|a, b| a.1.total_cmp(&b.1));
    }
    let stalls = report.stalls.as_ref()?;
    let cycles = |cause: Cause| stalls.get(cause.name()).copied().unwrap_or(0);
    let largest = Cause::all().max_by_key(|&cause| cycles(cause))?;
    let all: u64 = Cause::all().map(cycles).sum();
    (all > 0).then(|| (largest.name(), cycles(largest) as f64 / all as f64))
}

/// The value of a measure in a table; `None` if it is not a number.
fn number(measure: Measure, value: f64) -> Option<Value> {
    let whole = whole(value).filter(|_| measure.is_count());
    whole.map(Value::from).or_else(|| serde_json::Number::from_f64(value).map(Value::from))
}
