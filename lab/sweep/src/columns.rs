//! The columns of results: values of records by name, and which values are better.

use super::quantity::Better;
use super::record::Record;
use super::view::{costs, extrapolated, timing};
use b512_asm::Pipe;
use lab_run::{RunReport, TimingReport};
use serde_json::Value;
use sim::timing::Cause;
use sim::{Area, Energy};

/// A column of results beyond the points' settings.
pub(super) struct Column {
    /// The heading.
    pub(super) name: String,
    /// Its better values; `None` for text, and for counts and hashes, of which neither less nor more is better.
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
        Self { name: name.into(), better, value: Box::new(value) }
    }

    /// A column of successful runs in time.
    fn of_timing<T: Into<Value>>(
        name: impl Into<String>,
        better: Option<Better>,
        value: impl Fn(&TimingReport) -> T + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, better, move |record| Some(value(timing(record)?).into()))
    }

    /// A column of successful runs.
    fn of_run<T: Into<Value>>(
        name: impl Into<String>,
        better: Option<Better>,
        value: impl Fn(&RunReport) -> T + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, better, move |record| Some(value(record.report.as_ref()?).into()))
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
    let mut columns = vec![
        Column::new("cycles", LESS, |r| Some(r.report.as_ref()?.duration()?.1.into())),
        Column::of_run("frequency_ghz", MORE, |r| r.machine.frequency_ghz()),
        Column::new("time_us", LESS, |r| Some(costs(r)?.0.into())),
        Column::of_run("area_mm2", LESS, |r| r.area_mm2),
        Column::of_run("energy_uj", LESS, |r| r.energy_uj),
        Column::new("area_delay_mm2_us", LESS, |r| costs(r).map(|(time_us, area)| (area * time_us).into())),
        Column::new("energy_delay_uj_us", LESS, |r| {
            let (time_us, energy) = (costs(r)?.0, r.report.as_ref()?.energy_uj);
            Some((energy * time_us).into())
        }),
        Column::new("extrapolated", None, |r| Some(extrapolated(r).join(" ").into())),
    ];
    for pipe in Pipe::VECTOR {
        let name = format!("{}_instructions", pipe.name());
        columns.push(Column::of_timing(name, None, move |t| t.instructions.pipes[pipe]));
    }
    columns.extend([
        Column::of_timing("resource_bound_cycles", LESS, |t| t.bounds.resource_cycles),
        Column::of_timing("dependence_bound_cycles", LESS, |t| t.bounds.dependence_cycles),
        Column::of_timing("bound_ratio", LESS, |t| t.bound_ratio),
    ]);
    for pipe in Pipe::VECTOR {
        let name = format!("{}_utilisation", pipe.name());
        columns.push(Column::of_timing(name, MORE, move |t| t.utilisation.pipes[pipe]));
    }
    columns.extend([
        Column::of_run("checked", None, |r| r.checked),
        Column::new("program_source", None, |r| r.program_source.clone().map(Value::from)),
        Column::new("recipes_tried", None, |r| r.recipes_tried.map(Value::from)),
        Column::of_run("program_blake3", None, |r| r.program_blake3.clone()),
    ]);
    for (part, (name, _)) in Area::default().components().into_iter().enumerate() {
        let value = move |r: &RunReport| r.area_breakdown_mm2.components()[part].1;
        columns.push(Column::of_run(format!("{name}_mm2"), LESS, value));
    }
    for (part, (name, _)) in Energy::default().components().into_iter().enumerate() {
        let value = move |r: &RunReport| r.energy_breakdown_uj.components()[part].1;
        columns.push(Column::of_run(format!("{name}_uj"), LESS, value));
    }
    for cause in Cause::all() {
        let value = move |r: &Record| timing(r)?.stalls.get(cause.name()).map(|&cycles| cycles.into());
        columns.push(Column::new(format!("{}_cycles", cause.name()), LESS, value));
    }
    for pipe in Pipe::VECTOR {
        let name = format!("wait_vrf_ports_{}_cycles", pipe.name());
        columns.push(Column::of_timing(name, LESS, move |t| t.waits.vrf_ports[pipe]));
    }
    columns.push(Column::of_timing("wait_bank_conflict_cycles", LESS, |t| t.waits.bank_conflict_cycles));
    let stream = |r: &Record| r.report.as_ref()?.hbm.clone();
    columns.push(Column::new("stream_us", LESS, move |r| Some(stream(r)?.total_us.into())));
    columns
        .push(Column::new("stream_hbm_utilisation", MORE, move |r| Some(stream(r)?.hbm_utilisation.into())));
    columns
}
