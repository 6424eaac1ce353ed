//! The document of a run.

use crate::model::MODEL_VERSION;
use crate::pipes::{Instructions, Utilisation, Waits};
use crate::ring_timing::RingTiming;
use crate::stream::StreamReport;
use b512_asm::{Claim as ProgramClaim, Program, Setting, object};
use serde::{Deserialize, Serialize};
use sim::timing::{Cause, Timing};
use sim::{Area, Energy, Events, Machine};
use std::collections::BTreeMap;

/// Version of the documents. It rises when the meaning of a key changes or a key is removed.
pub const SCHEMA: u32 = 2;

/// One run. Serialises to one JSON object; keys end in their units.
///
/// Everything except [`simulator`](Self::simulator) is determined by program, machine and seed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunReport {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The program's name.
    pub program: String,
    /// BLAKE3 of the program, as [`program_blake3`] computes it.
    pub program_blake3: String,
    /// The program's claims.
    pub computes: Vec<Claim>,
    /// The seed of the inputs, if any was drawn.
    pub seed: Option<u64>,
    /// Whether the outputs were compared with the golden model and agreed.
    pub checked: bool,
    /// Cycles, and the results that follow from them; `None` after a functional run.
    // Flattened for writing only: in reading, an error in a flattened option passes for its absence.
    #[serde(flatten)]
    pub timing: Option<TimingReport>,
    /// A stream of such runs with their off-chip transfers, if one was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hbm: Option<StreamReport>,
    /// The timing of a ring program, which has no cycle model of its own; such a run has no other timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingTiming>,
    /// The area of the machine.
    pub area_mm2: f64,
    /// The area of each component.
    pub area_breakdown_mm2: Area,
    /// The energy of the run.
    pub energy_uj: f64,
    /// The energy of each component.
    pub energy_breakdown_uj: Energy,
    /// The machine, with every key.
    pub machine: Machine,
    /// The simulator itself.
    pub simulator: Simulator,
}

/// A claim of the program: `outputs = operation(inputs), settings`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// The output symbols.
    pub outputs: Vec<String>,
    /// The operation.
    pub operation: String,
    /// The input symbols.
    pub inputs: Vec<String>,
    /// The settings. Numbers with names of one letter, such as the degree `n`, are numbers. Others
    /// are text in hexadecimal, such as the `modulus`.
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// The results of the cycle model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TimingReport {
    /// Cycles from the start command to the completion of the last instruction.
    pub cycles: u64,
    /// The clock.
    pub frequency_ghz: f64,
    /// Time of `cycles` at that clock.
    pub time_us: f64,
    /// Instructions by pipe.
    pub instructions: Instructions,
    /// Lower bounds on the cycles, for any order of the instructions.
    pub bounds: Bounds,
    /// The ratio of the cycles to the larger bound; 1 for a run of no cycles.
    pub bound_ratio: f64,
    /// Cycles by cause; they add up to `cycles`.
    pub stalls: BTreeMap<String, u64>,
    /// The busy share of each pipe.
    pub utilisation: Utilisation,
    /// Delays of instructions after their dispatch.
    pub waits: Waits,
}

/// Lower bounds on the cycles, for any order of the program's instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Bounds {
    /// The busy cycles of the most loaded unit.
    pub resource_cycles: u64,
    /// The latency of the longest chain of dependent instructions.
    pub dependence_cycles: u64,
}

impl Bounds {
    /// The larger bound; at least 1.
    pub fn cycles(&self) -> u64 {
        self.resource_cycles.max(self.dependence_cycles).max(1)
    }
}

/// The simulator of a report. Its speed varies between runs, so the points of a sweep hold `null`
/// instead.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Simulator {
    /// The version of the project.
    pub version: String,
    /// [`MODEL_VERSION`].
    pub model_version: u32,
    /// The processor's instructions that executed vector instructions: `AVX-512 IFMA`, `AVX-512F` or
    /// `scalar`. Results do not depend on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Wall-clock time of the whole simulation.
    pub wall_s: Option<f64>,
    /// Instructions simulated, functionally and in timing, per second of `wall_s`.
    pub instructions_per_s: Option<f64>,
    /// Wall-clock time of functional execution, inputs included.
    pub functional_wall_s: Option<f64>,
    /// Wall-clock time of the cycle model.
    pub timing_wall_s: Option<f64>,
}

/// BLAKE3 of the program's object file, in hexadecimal. It is the same for a program from text,
/// from an object or from the code generator. A program that is not well-formed has no object; the
/// hash of its text is used.
pub fn program_blake3(program: &Program) -> String {
    let bytes = object::write(program).unwrap_or_else(|_| program.to_string().into_bytes());
    blake3::hash(&bytes).to_hex().to_string()
}

/// The machine-independent part of a program's report, computed once for many machines.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramFacts {
    /// The program's name.
    pub name: String,
    /// The program's hash, see [`program_blake3`].
    pub blake3: String,
    /// The program's claims.
    pub computes: Vec<Claim>,
    /// The operation counts of its instructions.
    pub events: Events,
}

impl ProgramFacts {
    /// The facts of a program.
    pub fn of(program: &Program) -> Self {
        Self {
            name: program.name.clone(),
            blake3: program_blake3(program),
            computes: program.claims.iter().map(Claim::from).collect(),
            events: Events::of(program),
        }
    }
}

impl RunReport {
    /// The report of a program that has not run yet: no cycles, not checked.
    pub fn new(program: &ProgramFacts, machine: &Machine) -> Self {
        let area = Area::of(machine);
        let energy = Energy::of(machine, &program.events);
        Self {
            schema: SCHEMA,
            program: program.name.clone(),
            program_blake3: program.blake3.clone(),
            computes: program.computes.clone(),
            seed: None,
            checked: false,
            timing: None,
            hbm: None,
            ring: None,
            area_mm2: area.total(),
            area_breakdown_mm2: area,
            energy_uj: energy.total(),
            energy_breakdown_uj: energy,
            machine: machine.clone(),
            simulator: Simulator {
                version: env!("CARGO_PKG_VERSION").into(),
                model_version: MODEL_VERSION,
                cpu: None,
                wall_s: None,
                instructions_per_s: None,
                functional_wall_s: None,
                timing_wall_s: None,
            },
        }
    }
}

impl RunReport {
    /// Time, in us, and cycles of the run; `None` after a functional run.
    pub fn duration(&self) -> Option<(f64, u64)> {
        let of_ring = || self.ring.as_ref().map(|ring| (ring.time_us, ring.cycles));
        self.timing.as_ref().map(|timing| (timing.time_us, timing.cycles)).or_else(of_ring)
    }
}

impl From<&ProgramClaim> for Claim {
    fn from(claim: &ProgramClaim) -> Self {
        let setting = |(name, value): &(String, Setting)| {
            let value = match value {
                Setting::Number(value) => match u64::try_from(*value) {
                    Ok(number) if name.len() == 1 => number.into(),
                    _ => format!("{value:#x}").into(),
                },
                Setting::Word(word) => word.as_str().into(),
            };
            (name.clone(), value)
        };
        Self {
            outputs: claim.outputs.clone(),
            operation: claim.operation.clone(),
            inputs: claim.inputs.clone(),
            settings: claim.settings.iter().map(setting).collect(),
        }
    }
}

impl TimingReport {
    /// Adds the result of the cycle model to a report.
    pub fn new(machine: &Machine, timing: &Timing) -> Self {
        let cycles = timing.cycles.0;
        let frequency_ghz = machine.frequency_ghz();
        let mut stalls: BTreeMap<String, u64> =
            Cause::all().map(|cause| (cause.name().to_owned(), timing.stalls.get(cause))).collect();
        stalls.insert("unattributed".into(), cycles.abs_diff(timing.stalls.total()));
        let bounds = Bounds {
            resource_cycles: timing.bounds.resource.0,
            dependence_cycles: timing.bounds.dependence.0,
        };
        Self {
            cycles,
            frequency_ghz,
            time_us: cycles as f64 / frequency_ghz * 1e-3,
            instructions: Instructions { pipes: timing.instructions },
            bounds,
            bound_ratio: if cycles == 0 { 1.0 } else { cycles as f64 / bounds.cycles() as f64 },
            stalls,
            utilisation: Utilisation { pipes: timing.utilisation(machine).pipes },
            waits: Waits { vrf_ports: timing.port_wait, bank_conflict_cycles: timing.bank_conflicts },
        }
    }
}

impl Simulator {
    /// Computes the totals from the parts, for a number of simulated instructions.
    pub(super) fn finish(&mut self, instructions: u64) {
        let wall_s = self.functional_wall_s.unwrap_or(0.0) + self.timing_wall_s.unwrap_or(0.0);
        self.wall_s = Some(wall_s);
        self.instructions_per_s = (wall_s > 0.0).then(|| instructions as f64 / wall_s);
    }
}
