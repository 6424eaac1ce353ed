//! The document of a run as it is read: all keys at one level.

use crate::pipes::{Instructions, Utilisation, Waits};
use crate::report::{Bounds, Claim, RunReport, Simulator, TimingReport};
use crate::ring_timing::RingTiming;
use crate::stream::StreamReport;
use serde::de::{Deserialize, Deserializer, Error as _};
use sim::{Area, Energy, Machine};
use std::collections::BTreeMap;
use thiserror::Error;

/// A [`RunReport`] with the keys of its timing among the others: all of them are there, or none.
#[derive(serde::Deserialize)]
struct Document {
    schema: u32,
    program: String,
    program_blake3: String,
    computes: Vec<Claim>,
    seed: Option<u64>,
    checked: bool,
    cycles: Option<u64>,
    frequency_ghz: Option<f64>,
    time_us: Option<f64>,
    instructions: Option<Instructions>,
    bounds: Option<Bounds>,
    bound_ratio: Option<f64>,
    stalls: Option<BTreeMap<String, u64>>,
    utilisation: Option<Utilisation>,
    waits: Option<Waits>,
    hbm: Option<StreamReport>,
    ring: Option<RingTiming>,
    area_mm2: f64,
    area_breakdown_mm2: Area,
    energy_uj: f64,
    energy_breakdown_uj: Energy,
    machine: Machine,
    simulator: Simulator,
}

/// A document with some of the keys of a timing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("missing field `{0}`")]
struct MissingField(&'static str);

impl Document {
    fn timing(&mut self) -> Result<Option<TimingReport>, MissingField> {
        let is_there = self.cycles.is_some()
            || self.frequency_ghz.is_some()
            || self.time_us.is_some()
            || self.instructions.is_some()
            || self.bounds.is_some()
            || self.bound_ratio.is_some()
            || self.stalls.is_some()
            || self.utilisation.is_some()
            || self.waits.is_some();
        if !is_there {
            return Ok(None);
        }
        fn take<T>(value: &mut Option<T>, key: &'static str) -> Result<T, MissingField> {
            value.take().ok_or(MissingField(key))
        }
        Ok(Some(TimingReport {
            cycles: take(&mut self.cycles, "cycles")?,
            frequency_ghz: take(&mut self.frequency_ghz, "frequency_ghz")?,
            time_us: take(&mut self.time_us, "time_us")?,
            instructions: take(&mut self.instructions, "instructions")?,
            bounds: take(&mut self.bounds, "bounds")?,
            bound_ratio: take(&mut self.bound_ratio, "bound_ratio")?,
            stalls: take(&mut self.stalls, "stalls")?,
            utilisation: take(&mut self.utilisation, "utilisation")?,
            waits: take(&mut self.waits, "waits")?,
        }))
    }
}

impl<'de> Deserialize<'de> for RunReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Document::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl TryFrom<Document> for RunReport {
    type Error = MissingField;

    fn try_from(mut document: Document) -> Result<Self, MissingField> {
        let timing = document.timing()?;
        Ok(Self {
            schema: document.schema,
            program: document.program,
            program_blake3: document.program_blake3,
            computes: document.computes,
            seed: document.seed,
            checked: document.checked,
            timing,
            hbm: document.hbm,
            ring: document.ring,
            area_mm2: document.area_mm2,
            area_breakdown_mm2: document.area_breakdown_mm2,
            energy_uj: document.energy_uj,
            energy_breakdown_uj: document.energy_breakdown_uj,
            machine: document.machine,
            simulator: document.simulator,
        })
    }
}
