//! The clock of a machine: its slowest part limits it.
//!
//! Banks of the VDM have printed clocks, which set the clock of the paper's machines. All other limits are
//! estimates from the levels of logic between registers, in FO4 (the delay of an inverter with a fan-out of
//! four), and from the length of wires. Their constants are assumed: they order designs. The only printed
//! fact that checks them is that they do not limit the paper's machines.

use crate::gates::{Adder, BusyboardPorts, FrontEnd, Law, Multiplier};
use crate::machine::{Machine, Stages};

/// A level of carry-save addition: two exclusive ors.
const FULL_ADDER_FO4: f64 = 3.0;
/// A level of carry propagation.
const CARRY_FO4: f64 = 1.7;
/// A level of multiplexers.
const MUX_FO4: f64 = 2.0;
/// A product bit, the ends of an adder, and similar single gates.
const GATE_FO4: f64 = 2.0;
/// An access to the instruction memory, and the decoding of an instruction.
const FETCH_FO4: f64 = 52.0;
/// The check of an instruction's registers: its decoders, a level for each bit of a register number, and the
/// combination of five registers.
const BUSYBOARD_FO4: f64 = 16.0;
/// The release of sources, before the release of destinations.
const EARLY_RELEASE_FO4: f64 = 4.0;
/// The arbitration of the three queues for the SRAMs of the VRF.
const ARBITRATION_FO4: f64 = 10.0;

/// The clock that each part allows, in GHz.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    /// A bank of the VDM.
    pub vdm: f64,
    /// An SRAM of the VRF.
    pub vrf: f64,
    /// A stage of the multiplier.
    pub multiplier: f64,
    /// A stage of the adder.
    pub adder: f64,
    /// A stage of the vector crossbar.
    pub vbar: f64,
    /// A stage of the shuffle crossbar.
    pub sbar: f64,
    /// The front end.
    pub front_end: f64,
    /// The clock that `clock.ghz` sets.
    pub set: Option<f64>,
}

/// The stages of a crossbar that has no need of more: those of the paper's machine, which the time of its 1K
/// transform shows.
const LEAST_STAGES: u32 = 4;
/// The most stages that a machine chooses for a crossbar.
const MOST_STAGES: u32 = 64;

/// The delay of a crossbar, in ps: its multiplexers, and wires that grow with the root of its ports.
fn crossbar_ps(machine: &Machine, inputs: u32, outputs: u32) -> f64 {
    let delay = &machine.technology.delay;
    let levels = f64::from(inputs.max(outputs).max(2)).log2();
    let wire = delay.wire_ps * (f64::from(inputs + outputs) / 256.0).sqrt();
    levels * MUX_FO4 * delay.fo4_ps + wire
}

/// The clock of a stage with this delay between its registers.
fn stage_ghz(machine: &Machine, ps: f64) -> f64 {
    let delay = &machine.technology.delay;
    1000.0 / (ps + delay.register_fo4 * delay.fo4_ps)
}

impl Machine {
    /// The delays of the vector crossbar and of the shuffle crossbar, in ps.
    fn crossbars_ps(&self) -> [f64; 2] {
        let lanes = self.hple.count;
        [crossbar_ps(self, lanes, self.vdm.banks), crossbar_ps(self, lanes, lanes)]
    }

    /// The stages of crossbars that follow from the machine: the least, from [`LEAST_STAGES`] on, with which
    /// a crossbar does not limit the clock: `clock.ghz`, or that of the slowest other part.
    pub(crate) fn least_stages(&self) -> Stages {
        let others = Clock::with_stages(self, Stages { vbar: MOST_STAGES, sbar: MOST_STAGES }).slowest().1;
        let wanted = if self.clock.ghz > 0.0 { others.min(self.clock.ghz) } else { others };
        let [vbar, sbar] = self.crossbars_ps().map(|ps| {
            let keeps = |stages: &u32| stage_ghz(self, ps / f64::from(*stages)) >= wanted;
            (LEAST_STAGES..MOST_STAGES).find(keeps).unwrap_or(MOST_STAGES)
        });
        Stages { vbar, sbar }
    }

    /// The clock that the machine reaches, and the part that binds it, for messages.
    pub(crate) fn clock_help(&self) -> String {
        let (part, ghz) = Clock::of(self).slowest();
        format!("its slowest part, `{part}`, reaches {ghz:.3} GHz")
    }

    /// The bytes that the generator of seeded keys makes at some clock, in 1e9 bytes a second.
    pub fn generator_gb_per_s(&self, ghz: f64) -> f64 {
        f64::from(self.generator.words_per_cycle * self.isa.word_bits) / 8.0 * ghz
    }

    /// Whether the parts reach the clock that `clock.ghz` sets.
    pub(crate) fn reaches_its_clock(&self) -> bool {
        self.clock.ghz <= Clock::of(self).slowest().1
    }
}

impl Clock {
    /// The clocks that the parts of a machine allow.
    pub fn of(machine: &Machine) -> Self {
        Self::with_stages(machine, Stages { vbar: machine.vbar_stages(), sbar: machine.sbar_stages() })
    }

    fn with_stages(machine: &Machine, stages: Stages) -> Self {
        let technology = &machine.technology;
        let logic = |fo4: f64| stage_ghz(machine, fo4 * technology.delay.fo4_ps);
        let [vbar, sbar] = machine.crossbars_ps();
        let law = Law::of(machine);
        Self {
            vdm: technology
                .sram_ghz(machine.vdm_bank_bytes() * machine.vdm_second_port(), machine.vdm_access_cycles()),
            vrf: technology.sram_ghz(machine.vrf_sram_bytes() * machine.vrf_second_port(), 1),
            multiplier: logic(law.multiplier.stage_fo4()),
            adder: logic(law.adder.fo4() / f64::from(law.adder.stages)),
            vbar: stage_ghz(machine, vbar / f64::from(stages.vbar)),
            sbar: stage_ghz(machine, sbar / f64::from(stages.sbar)),
            front_end: logic(FrontEnd::of(machine).cycle_fo4(machine.frontend.cycles_per_instruction)),
            set: (machine.clock.ghz > 0.0).then_some(machine.clock.ghz),
        }
    }

    /// The clock of each part, with its name as in the fields.
    pub const fn parts(&self) -> [(&'static str, f64); 7] {
        [
            ("vdm", self.vdm),
            ("vrf", self.vrf),
            ("multiplier", self.multiplier),
            ("adder", self.adder),
            ("vbar", self.vbar),
            ("sbar", self.sbar),
            ("front_end", self.front_end),
        ]
    }

    /// The slowest part and its clock, in GHz; of equals the first.
    pub fn slowest(&self) -> (&'static str, f64) {
        let slower =
            |one: (&'static str, f64), other: (&'static str, f64)| if other.1 < one.1 { other } else { one };
        self.parts().into_iter().fold(("", f64::INFINITY), slower)
    }

    /// The machine's clock, in GHz: the one that is set, or that of the slowest part.
    pub fn ghz(&self) -> f64 {
        self.set.unwrap_or_else(|| self.slowest().1)
    }

    /// What binds the clock: the name of the slowest part, or `clock.ghz` if that is set below it.
    pub fn binds(&self) -> &'static str {
        let (part, ghz) = self.slowest();
        if self.set.is_some_and(|set| set < ghz) { "clock.ghz" } else { part }
    }
}

/// The delay of an adder of `bits` bits, in FO4.
fn adder(bits: f64) -> f64 {
    CARRY_FO4 * bits.log2().ceil() + GATE_FO4
}

impl Adder {
    /// The delay of a modular addition: one level of carry-save addition for the modulus, the adder, and
    /// the choice.
    pub fn fo4(self) -> f64 {
        FULL_ADDER_FO4 + adder(f64::from(self.word_bits)) + MUX_FO4
    }
}

impl Multiplier {
    /// The delay of one of the three multiplications, in FO4: product bits, a tree of carry-save adders, and
    /// an adder of two words.
    pub fn product_fo4(self) -> f64 {
        let digit = self.word_bits.div_ceil(self.interval);
        // With several digits, each product is added to the sum before it.
        let rows = if self.interval == 1 { digit } else { digit + 2 };
        GATE_FO4 + FULL_ADDER_FO4 * f64::from(levels(rows)) + adder(2.0 * f64::from(self.word_bits))
    }

    /// The delay of a stage, in FO4.
    pub fn stage_fo4(self) -> f64 {
        let subtraction = Adder { word_bits: self.word_bits, stages: 1 }.fo4();
        (3.0 * self.product_fo4() + subtraction) / f64::from(self.working_stages())
    }
}

/// Levels of carry-save adders that reduce `rows` rows to two.
fn levels(rows: u32) -> u32 {
    let (mut levels, mut reach) = (0, 2);
    while reach < rows {
        reach = reach * 3 / 2;
        levels += 1;
    }
    levels
}

impl FrontEnd {
    /// The delay of a cycle, in FO4, if instructions dispatch every `interval` cycles.
    pub fn cycle_fo4(self, interval: u32) -> f64 {
        let fetch_in_check = if self.fetch_stages == 0 { FETCH_FO4 } else { 0.0 };
        let arbitration = if self.issue_stages == 0 { ARBITRATION_FO4 } else { 0.0 };
        let check = fetch_in_check + self.busyboard.fo4() + arbitration;
        let fetch = FETCH_FO4 / f64::from(self.fetch_stages.max(1));
        (check / f64::from(interval)).max(fetch)
    }
}

impl BusyboardPorts {
    /// The delay of the check of a cycle's instructions.
    pub fn fo4(self) -> f64 {
        // Whether all instructions before one dispatch: a tree over them.
        let among = f64::from(self.width).log2().ceil();
        let counted = if self.count_bits > 0 { GATE_FO4 } else { 0.0 };
        let early = if self.early { EARLY_RELEASE_FO4 } else { 0.0 };
        BUSYBOARD_FO4 + among + counted + early
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_of_carry_save_adders_are_as_high_as_daddas() {
        for (rows, expected) in [(2, 0), (3, 1), (4, 2), (6, 3), (9, 4), (13, 5), (64, 10), (128, 11)] {
            assert_eq!(levels(rows), expected, "{rows} rows");
        }
    }
}
