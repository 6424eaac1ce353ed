//! The energy of a run, by component, from event counts of its instructions.

use crate::gates::{self, FrontEnd, LanePermuter, Law, Vbar};
use crate::machine::Machine;
use b512_asm::{Class, Instr, Isa, Permutation, Pipe, Program};
use serde::{Deserialize, Serialize};

/// Words of an SRAM of the VRF of the paper's machine.
const PAPER_VRF_WORDS: f64 = 16.0;
/// Words of a bank of its VDM.
const PAPER_VDM_WORDS: f64 = 2048.0;
/// The share of the instruction memory in the energy of an instruction: half of an access to a memory of
/// 32,768 words of 128 bits, by the growth of accesses with words.
const MEMORY_SHARE: f64 = 0.41;

/// Event counts: elements that pass each unit, and instructions that pass the front end.
///
/// A vector of L elements counts L times for each unit that it passes. A shuffle of two sources reads half of
/// the elements of each. Lanes of a load that share an access (`vdm.multicast`) count as accesses of their
/// own. Scalar instructions and `halt` count as instructions only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Events {
    /// Modular multiplications.
    pub multiplications: u64,
    /// Modular additions and subtractions.
    pub additions: u64,
    /// Elements read from or written to the VRF.
    pub vrf_accesses: u64,
    /// Elements read from or written to the VDM.
    pub vdm_accesses: u64,
    /// Elements through the vector crossbar.
    pub vbar_elements: u64,
    /// Elements through the shuffle crossbar.
    pub sbar_elements: u64,
    /// Elements through the lane permuter.
    #[serde(default)]
    pub permuter_elements: u64,
    /// Instructions fetched, decoded and dispatched.
    pub instructions: u64,
}

impl Events {
    /// The events of a program: each of its instructions executes once.
    pub fn of(program: &Program) -> Self {
        let mut events = Self::default();
        for instr in &program.instructions {
            events.add(program.isa, instr);
        }
        events
    }

    /// Adds the events of a number of runs.
    pub fn add_runs(&mut self, run: &Self, runs: u64) {
        let Self {
            multiplications,
            additions,
            vrf_accesses,
            vdm_accesses,
            vbar_elements,
            sbar_elements,
            permuter_elements,
            instructions,
        } = run;
        self.multiplications += multiplications * runs;
        self.additions += additions * runs;
        self.vrf_accesses += vrf_accesses * runs;
        self.vdm_accesses += vdm_accesses * runs;
        self.vbar_elements += vbar_elements * runs;
        self.sbar_elements += sbar_elements * runs;
        self.permuter_elements += permuter_elements * runs;
        self.instructions += instructions * runs;
    }

    /// Adds the events of one instruction, with vectors of the length in `isa`.
    pub fn add(&mut self, isa: Isa, instr: &Instr) {
        let length = u64::from(isa.vector_length());
        let (multiplications, additions) = match instr.class() {
            Class::Multiply => (1, 0),
            Class::Add | Class::Subtract => (0, 1),
            Class::Butterfly(_) => (1, 2),
            Class::Halt | Class::ScalarLoad | Class::Load | Class::Store | Class::Permute(_) => (0, 0),
        };
        self.instructions += 1;
        self.multiplications += multiplications * length;
        self.additions += additions * length;
        let registers = (instr.vector_reads().len() + instr.vector_writes().len()) as u64;
        match instr.pipe() {
            Pipe::Scalar => {}
            Pipe::Compute => self.vrf_accesses += registers * length,
            Pipe::LoadStore => {
                self.vrf_accesses += length;
                self.vdm_accesses += length;
                self.vbar_elements += length;
            }
            Pipe::Shuffle => {
                // Each of two sources contributes half of its elements.
                self.vrf_accesses += 2 * length;
                if instr.class() == Class::Permute(Permutation::Affine) {
                    self.permuter_elements += length;
                } else {
                    self.sbar_elements += length;
                }
            }
        }
    }
}

/// Energies in uJ.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Energy {
    /// The LAW engines.
    pub law: f64,
    /// The vector register file.
    pub vrf: f64,
    /// The vector data memory.
    pub vdm: f64,
    /// The vector crossbar.
    pub vbar: f64,
    /// The shuffle crossbar, and the lane permuter.
    pub sbar: f64,
    /// The instruction memory and the front end.
    pub front_end: f64,
}

impl Energy {
    /// The energy of `events` on a machine.
    ///
    /// The constants of the technology give the energies of the paper's machine. On another machine, an event
    /// scales with the gates that it uses ([`gates`]), an access to a memory with the bits and the number of
    /// its words.
    pub fn of(machine: &Machine, events: &Events) -> Self {
        let constants = &machine.technology.energy;
        let (law, given) = (Law::of(machine), Law::given(&machine.technology));
        let bits = f64::from(machine.isa.word_bits) / 128.0;
        // An access to a memory of `words` words over one to a memory of `paper` words.
        let access = |words: f64, paper: f64| constants.sram_growth_with_words.powf((words / paper).log2());
        let word_bytes = f64::from(machine.isa.word_bits) / 8.0;
        let vrf = access(machine.vrf_sram_bytes() / word_bytes * machine.vrf_second_port(), PAPER_VRF_WORDS);
        let vdm = access(machine.vdm_bank_bytes() / word_bytes * machine.vdm_second_port(), PAPER_VDM_WORDS);
        let memory = access(f64::from(machine.frontend.instruction_memory_kib), 512.0);
        let front_end = FrontEnd::of(machine).work() / FrontEnd::PAPER.work();
        let uj = |count: u64, pj: f64| count as f64 * pj * 1e-6;
        let add_pj = constants.add_pj * (law.adder.gates().total() / given.adder.gates().total());
        let vbar = Vbar::of(machine).load.work() / Vbar::paper(128, 128).load.work();
        let paper_sbar = gates::paper_sbar(128).work();
        let sbar = gates::sbar(machine).work() / paper_sbar;
        let permuter = LanePermuter::of(machine).map_or(0.0, |permuter| permuter.work() / paper_sbar);
        Self {
            law: uj(events.multiplications, Self::multiplication_pj(machine)) + uj(events.additions, add_pj),
            vrf: uj(events.vrf_accesses, constants.vrf_access_pj * bits * vrf),
            vdm: uj(events.vdm_accesses, constants.vdm_access_pj * bits * vdm),
            vbar: uj(events.vbar_elements, constants.vbar_element_pj * vbar),
            sbar: uj(events.sbar_elements, constants.sbar_element_pj * sbar)
                + uj(events.permuter_elements, constants.sbar_element_pj * permuter),
            front_end: uj(
                events.instructions,
                constants.instruction_pj * (MEMORY_SHARE * memory + (1.0 - MEMORY_SHARE) * front_end),
            ),
        }
    }

    /// A modular multiplication, in pJ.
    pub fn multiplication_pj(machine: &Machine) -> f64 {
        let (law, given) = (Law::of(machine), Law::given(&machine.technology));
        machine.technology.energy.multiply_pj * (law.multiply_work() / given.multiply_work())
    }

    /// Name, as in the fields, and energy of each component, in the order of the fields.
    pub const fn components(&self) -> [(&'static str, f64); 6] {
        [
            ("law", self.law),
            ("vrf", self.vrf),
            ("vdm", self.vdm),
            ("vbar", self.vbar),
            ("sbar", self.sbar),
            ("front_end", self.front_end),
        ]
    }

    /// The sum of the components.
    pub fn total(&self) -> f64 {
        self.components().iter().map(|(_, energy)| energy).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use b512_asm::{AReg, AddressMode, MReg, Offset, VReg};

    #[test]
    fn the_papers_program_takes_its_printed_energy_with_its_printed_shares() {
        let v = VReg::at;
        let (rm, base) = (MReg::at(0), AReg::at(0));
        let butterfly = Instr::Bfly { vd: v(0), vd1: v(1), vs: v(2), vt: v(3), vt1: v(4), rm };
        let shuffle = Instr::Unpklo { vd: v(0), vs: v(1), vt: v(2) };
        let load = Instr::Vload { vd: v(0), base, offset: Offset::default(), mode: AddressMode::Linear };
        let mut events = Events::default();
        for (instr, count) in [(butterfly, 1024), (shuffle, 1920), (load, 1200)] {
            (0..count).for_each(|_| events.add(Isa::B512, &instr));
        }
        let energy = Energy::of(&Machine::rpu_128x128(), &events);
        let near = |measured: f64, printed: f64| (measured / printed - 1.0).abs() < 0.02;
        assert!(near(energy.total(), 49.18), "{energy:?}");
        for (name, share) in
            [("law", 0.667), ("vrf", 0.193), ("vdm", 0.105), ("vbar", 0.023), ("sbar", 0.010)]
        {
            let (_, part) = energy.components().into_iter().find(|(n, _)| *n == name).unwrap();
            assert!(near(part / energy.total(), share), "{name}: {}", part / energy.total());
        }
    }
}
