//! The document of a run.

mod ring;

use crate::model::MODEL_VERSION;
use crate::pipes::{Instructions, Utilisation, Waits};
use crate::stages::StageCost;
use crate::stream::{OffChip, StreamReport};
use b512_asm::{Claim as ProgramClaim, Program, Setting, object};
use ring_program::{Manifest, Parameters, RingProgram};
use runtime::report::{Compute, Cost, Hbm};
use runtime::{Keys, Mapping, Merit, Profile, Runtime};
use serde::{Deserialize, Serialize};
use sim::Clock;
use sim::timing::{Cause, Timing};
use sim::{Area, Energy, Events, Machine, RunEnergy, Work};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

/// Version of the documents. It rises when the meaning of a key changes or a key is removed.
pub const SCHEMA: u32 = 3;

/// One run, of a kernel or of a ring program, as one JSON object; keys end in their units.
///
/// Everything except [`simulator`](Self::simulator) is determined by program, machine and seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunReport {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The program's name.
    pub program: String,
    /// BLAKE3 of the program, see [`ProgramFacts`].
    pub program_blake3: String,
    /// The program's claims; none of a ring program.
    pub computes: Vec<Claim>,
    /// The seed of the inputs, if any was drawn. One beyond 2^53 is a text: many readers of JSON have doubles
    /// only.
    #[serde(with = "exact")]
    pub seed: Option<u64>,
    /// Whether all outputs were compared and agreed: with the golden model, those of a ring program with the
    /// executor on big integers, or with given words.
    pub checked: bool,
    /// The outputs that agreed with given words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// Cycles from the start command to the completion of the last instruction. Of a ring program, the cycles
    /// of the clock in its time, rounded up. `None` after a functional run, which has no timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// The clock, with a timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_ghz: Option<f64>,
    /// What binds the clock: the machine's slowest part, or `clock.ghz`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_binds: Option<String>,
    /// Time of `cycles` at that clock; of a ring program, with all transfers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_us: Option<f64>,
    /// Instructions by pipe. This and the keys up to `waits` are there for a kernel with a timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// Lower bounds on the cycles, for any order of the instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// The ratio of the cycles to the larger bound; 1 for a run of no cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_ratio: Option<f64>,
    /// Cycles by cause; they add up to `cycles`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalls: Option<BTreeMap<String, u64>>,
    /// The busy share of each pipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<Utilisation>,
    /// Delays of instructions after their dispatch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
    /// The off-chip memory in a stream of such runs, if one was simulated, or in a ring program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hbm: Option<OffChip>,
    /// The ring degree. This and the keys up to `vdm_peak_words` are there for a ring program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// The parameter set, if the program's generator or manifest says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
    /// The origin of its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Keys>,
    /// The keys that a memory holds: the limbs that the program reads, once each, without what comes from a
    /// seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_mib: Option<f64>,
    /// Of a bootstrap, the time over the slots of the message and the levels that the program leaves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_level_ns: Option<f64>,
    /// What the mapping of a ring program minimises; none if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimise: Option<Merit>,
    /// How the program was mapped to the machine: `rpu run --mapping` takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// The number of schedules that the search for the mapping tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedules_tried: Option<usize>,
    /// The operations of the program: its lines, without `halt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// The operations by opcode, those of calls again and again; they add up to `operations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations_by_name: Option<BTreeMap<String, u64>>,
    /// The operations without a launch of their own: fused with others, or renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifted_operations: Option<u64>,
    /// The operations that no output depends on. They are not executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unused_operations: Option<u64>,
    /// The launches by name of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernels: Option<BTreeMap<String, u64>>,
    /// The costs by name of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<BTreeMap<String, Cost>>,
    /// The compulsory bytes of transfers: those of the inputs that the program reads and of its outputs, once
    /// each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_bytes: Option<u64>,
    /// The stages of the program, which add up to the run. Points of sweeps have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Vec<StageCost>>,
    /// Whose the time, the bytes and the energy are. Points of sweeps have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// All kernels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute: Option<Compute>,
    /// The share of the time that each resource limits, see [`Report::binds`](runtime::Report::binds).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binds: Option<BTreeMap<String, f64>>,
    /// The resource that limits most of each of some intervals of equal length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binds_over_time: Option<Vec<String>>,
    /// The largest occupancy of the VDM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vdm_peak_words: Option<u64>,
    /// The area of the machine, with what the run uses beside it ([`Area::of_run`]).
    pub area_mm2: f64,
    /// The area without the interface of the off-chip memory.
    pub area_rpu_mm2: f64,
    /// The area of each component.
    pub area_breakdown_mm2: Area,
    /// Whether the chip is larger than one exposure makes ([`Area::RETICLE_MM2`]).
    #[serde(default)]
    pub beyond_reticle: bool,
    /// The energy of the run: the sum of the following five. Of a stream, the energy of one run in it.
    pub energy_uj: f64,
    /// The energy of the instructions, which the paper prints.
    pub energy_kernels_uj: f64,
    /// The energy of the off-chip memory and its interface; 0 for a run that does not use it.
    pub energy_hbm_uj: f64,
    /// The energy of leakage and idle clocks; 0 without a timing.
    pub energy_static_uj: f64,
    /// The energy of the wires between the interface of the off-chip memory and the banks.
    #[serde(default)]
    pub energy_bus_uj: f64,
    /// The energy of the generator of seeded keys.
    #[serde(default)]
    pub energy_generator_uj: f64,
    /// The energy by the time, in W, with a timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_w: Option<f64>,
    /// The power of the RPU alone, without the off-chip memory and its interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_rpu_w: Option<f64>,
    /// The part of each component in `energy_kernels_uj`.
    pub energy_breakdown_uj: Energy,
    /// The machine, with every key.
    pub machine: Machine,
    /// The simulator itself.
    pub simulator: Simulator,
}

/// A claim of the program: `outputs = expressions, settings`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// The output symbols.
    pub outputs: Vec<String>,
    /// What each output is: operations on inputs and numbers.
    pub expressions: Vec<String>,
    /// The input symbols.
    pub inputs: Vec<String>,
    /// The settings. Numbers with names of one letter, such as the degree `n`, are numbers. Others
    /// are text in hexadecimal, such as the `modulus`.
    pub settings: BTreeMap<String, serde_json::Value>,
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

/// BLAKE3 of a ring program, in hexadecimal: of its text without comments, and of the names of its limbs, by
/// which keys are known.
pub fn ring_blake3(program: &RingProgram) -> String {
    let mut hasher = BufWriter::with_capacity(1 << 16, blake3::Hasher::new());
    let written = program.write("", &mut hasher);
    let names = Manifest::of(program).bare();
    let named = written.and_then(|()| hasher.write_all(names.to_json().as_bytes()));
    let hasher = named.and_then(|()| Ok(hasher.into_inner()?)).expect("hashing does not fail");
    hasher.finalize().to_hex().to_string()
}

/// The machine-independent part of a program's report, computed once for many machines.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramFacts {
    /// The program's name.
    pub name: String,
    /// The program's hash: [`program_blake3`], or [`ring_blake3`].
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

    /// The facts of a ring program.
    pub fn of_ring(name: &str, program: &RingProgram, runtime: &Runtime<'_>) -> Self {
        Self {
            name: name.to_owned(),
            blake3: ring_blake3(program),
            computes: Vec::new(),
            events: runtime.events(),
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
            expected: Vec::new(),
            cycles: None,
            frequency_ghz: None,
            clock_binds: None,
            time_us: None,
            instructions: None,
            bounds: None,
            bound_ratio: None,
            stalls: None,
            utilisation: None,
            waits: None,
            hbm: None,
            n: None,
            parameters: None,
            keys: None,
            key_mib: None,
            slot_level_ns: None,
            optimise: None,
            mapping: None,
            schedules_tried: None,
            operations: None,
            operations_by_name: None,
            lifted_operations: None,
            unused_operations: None,
            kernels: None,
            costs: None,
            least_bytes: None,
            stages: None,
            profile: None,
            compute: None,
            binds: None,
            binds_over_time: None,
            vdm_peak_words: None,
            area_mm2: area.total(),
            area_rpu_mm2: area.rpu(),
            area_breakdown_mm2: area,
            beyond_reticle: area.is_beyond_reticle(),
            energy_uj: energy.total(),
            energy_kernels_uj: energy.total(),
            energy_hbm_uj: 0.0,
            energy_static_uj: 0.0,
            energy_bus_uj: 0.0,
            energy_generator_uj: 0.0,
            power_w: None,
            power_rpu_w: None,
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
    /// Name and energy of each component of the kernels, then of the off-chip memory and static energy where
    /// there is some. They add up to `energy_uj`.
    pub fn energy_parts_uj(&self) -> Vec<(&'static str, f64)> {
        let others = [
            ("hbm", self.energy_hbm_uj),
            ("bus", self.energy_bus_uj),
            ("generator", self.energy_generator_uj),
            ("static", self.energy_static_uj),
        ];
        let others = others.into_iter().filter(|(_, energy)| *energy > 0.0);
        self.energy_breakdown_uj.components().into_iter().chain(others).collect()
    }

    /// Time, in us, and cycles of the run; `None` after a functional run.
    pub fn duration(&self) -> Option<(f64, u64)> {
        self.time_us.zip(self.cycles)
    }

    /// The report with the result of the cycle model for a program of these events, and of a stream of its
    /// runs.
    pub fn timed(self, events: &Events, timing: &Timing, stream: Option<StreamReport>) -> Self {
        let clock = Clock::of(&self.machine);
        let (cycles, frequency_ghz) = (timing.cycles.0, clock.ghz());
        let mut stalls: BTreeMap<String, u64> =
            Cause::all().map(|cause| (cause.name().to_owned(), timing.stalls.get(cause))).collect();
        stalls.insert("unattributed".into(), cycles.abs_diff(timing.stalls.total()));
        let bounds = Bounds {
            resource_cycles: timing.bounds.resource.0,
            dependence_cycles: timing.bounds.dependence.0,
        };
        let time_us = cycles as f64 / frequency_ghz * 1e-3;
        let work = match &stream {
            None => Work { events, time_us, off_chip_bytes: None, key_bytes: 0, seeded_bytes: None },
            // One run, and its part of the stream.
            Some(stream) => {
                let runs = stream.runs.max(1);
                let off_chip_bytes = Some(stream.hbm_bytes / runs as u64);
                Work {
                    events,
                    time_us: stream.total_us / runs as f64,
                    off_chip_bytes,
                    key_bytes: 0,
                    seeded_bytes: None,
                }
            }
        };
        let area = Area::of_run(&self.machine, &work.usage());
        let energy = RunEnergy::of(&self.machine, &work);
        Self {
            hbm: stream.map(OffChip::Stream),
            area_mm2: area.total(),
            area_rpu_mm2: area.rpu(),
            area_breakdown_mm2: area,
            beyond_reticle: area.is_beyond_reticle(),
            cycles: Some(cycles),
            frequency_ghz: Some(frequency_ghz),
            clock_binds: Some(clock.binds().to_owned()),
            time_us: Some(time_us),
            instructions: Some(Instructions { pipes: timing.instructions }),
            bounds: Some(bounds),
            bound_ratio: Some(if cycles == 0 { 1.0 } else { cycles as f64 / bounds.cycles() as f64 }),
            stalls: Some(stalls),
            utilisation: Some(Utilisation { pipes: timing.utilisation(&self.machine).pipes }),
            waits: Some(Waits { vrf_ports: timing.port_wait, bank_conflict_cycles: timing.bank_conflicts }),
            ..self.with_energy(&energy, work.time_us)
        }
    }

    /// The report with the energy that some work takes in some time.
    fn with_energy(self, energy: &RunEnergy, time_us: f64) -> Self {
        let power_w = |uj: f64| Some(if time_us > 0.0 { uj / time_us } else { 0.0 });
        Self {
            energy_uj: energy.total(),
            energy_kernels_uj: energy.kernels,
            energy_hbm_uj: energy.hbm,
            energy_static_uj: energy.idle(),
            energy_bus_uj: energy.bus,
            energy_generator_uj: energy.generator,
            power_w: power_w(energy.total()),
            power_rpu_w: power_w(energy.total() - energy.hbm),
            ..self
        }
    }

    /// The stream of runs, if one was simulated.
    pub fn stream(&self) -> Option<&StreamReport> {
        match self.hbm.as_ref()? {
            OffChip::Stream(stream) => Some(stream),
            OffChip::Ring(_) => None,
        }
    }

    /// The off-chip memory of a ring program's run.
    pub fn ring_hbm(&self) -> Option<&Hbm> {
        match self.hbm.as_ref()? {
            OffChip::Ring(hbm) => Some(hbm),
            OffChip::Stream(_) => None,
        }
    }

    /// The first key that the document lacks: a timing has all its keys, or none.
    pub(super) fn missing(&self) -> Option<&'static str> {
        let of_all = [
            ("cycles", self.cycles.is_some()),
            ("frequency_ghz", self.frequency_ghz.is_some()),
            ("time_us", self.time_us.is_some()),
        ];
        let of_kernel = [
            ("instructions", self.instructions.is_some()),
            ("bounds", self.bounds.is_some()),
            ("bound_ratio", self.bound_ratio.is_some()),
            ("stalls", self.stalls.is_some()),
            ("utilisation", self.utilisation.is_some()),
            ("waits", self.waits.is_some()),
        ];
        let of_ring = [
            ("operations", self.operations.is_some()),
            ("kernels", self.kernels.is_some()),
            ("compute", self.compute.is_some()),
            ("binds", self.binds.is_some()),
            ("hbm", self.hbm.is_some()),
        ];
        let of_form = if self.n.is_some() { &of_ring[..] } else { &of_kernel };
        let needed = || of_all.iter().chain(of_form);
        let is_timed = self.n.is_some() || needed().any(|(_, is_there)| *is_there);
        needed().find(|(_, is_there)| is_timed && !is_there).map(|(key, _)| *key)
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
            expressions: claim.expressions.iter().map(|expression| claim.text(expression)).collect(),
            inputs: claim.inputs.clone(),
            settings: claim.settings.iter().map(setting).collect(),
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

/// Whole numbers in JSON that survive readers with doubles: as text beyond 2^53.
mod exact {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// The numbers up to this one are doubles.
    const LARGEST: u64 = 1 << 53;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged, expecting = "expected a whole number, as a text beyond 2^53")]
    enum Form {
        Number(u64),
        Text(String),
    }

    pub(super) fn serialize<S: Serializer>(number: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        let form = |number: u64| {
            if number > LARGEST { Form::Text(number.to_string()) } else { Form::Number(number) }
        };
        number.map(form).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        match Option::deserialize(deserializer)? {
            None => Ok(None),
            Some(Form::Number(number)) => Ok(Some(number)),
            Some(Form::Text(text)) => {
                let number =
                    diagnostic::number(text.as_bytes()).ok().and_then(|number| number.try_into().ok());
                number.map(Some).ok_or_else(|| D::Error::custom("expected a whole number of at most 64 bits"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_beyond_doubles_are_texts() {
        #[derive(Serialize, Deserialize, PartialEq, Debug)]
        struct Seed(#[serde(with = "exact")] Option<u64>);
        for (seed, json) in [
            (None, "null"),
            (Some(1 << 53), "9007199254740992"),
            (Some((1 << 53) + 1), "\"9007199254740993\""),
            (Some(u64::MAX), "\"18446744073709551615\""),
        ] {
            assert_eq!(serde_json::to_string(&Seed(seed)).unwrap(), json);
            assert_eq!(serde_json::from_str::<Seed>(json).unwrap(), Seed(seed));
        }
        for wrong in ["{}", "-1", "1.5", "\"+5\"", "\"18446744073709551616\"", "\"\""] {
            let error = serde_json::from_str::<Seed>(wrong).map(drop).unwrap_err().to_string();
            assert!(error.starts_with("expected a whole number"), "{wrong}: {error}");
        }
    }
}
