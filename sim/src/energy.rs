//! The energy of a run, by component, from event counts of its instructions.

use crate::floorplan::Floorplan;
use crate::gates::{self, FrontEnd, Generator, LanePermuter, Law, Vbar};
use crate::machine::{EnergyConstants, Machine};
use b512_asm::{Class, Instr, Isa, Permutation, Pipe, Program};
use serde::{Deserialize, Serialize};

/// Bytes of a word of the paper's machine.
const PAPER_WORD_BYTES: f64 = 16.0;
/// Bytes of an SRAM of its VRF.
const PAPER_VRF_BYTES: f64 = 256.0;
/// Bytes of a bank of its VDM.
const PAPER_VDM_BYTES: f64 = KNEE_BYTES;
/// Bytes of its instruction memory.
const PAPER_INSTRUCTION_BYTES: f64 = 524_288.0;
/// The bytes of an SRAM beyond which accesses grow faster with its words.
const KNEE_BYTES: f64 = 32_768.0;
/// The share of the instruction memory in the energy of an instruction: half of an access to a memory of
/// 32,768 words of 128 bits, by the growth of accesses with words.
const MEMORY_SHARE: f64 = 0.73;

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
        let word_bytes = f64::from(machine.isa.word_bits) / 8.0;
        let access = |bytes: f64, word_bytes: f64, paper_bytes: f64| {
            constants.access(bytes, word_bytes) / constants.access(paper_bytes, PAPER_WORD_BYTES)
        };
        let vrf = access(machine.vrf_sram_bytes() * machine.vrf_second_port(), word_bytes, PAPER_VRF_BYTES);
        let vdm = access(machine.vdm_bank_bytes() * machine.vdm_second_port(), word_bytes, PAPER_VDM_BYTES);
        let instructions = 1024.0 * f64::from(machine.frontend.instruction_memory_kib);
        let memory = access(instructions, PAPER_WORD_BYTES, PAPER_INSTRUCTION_BYTES);
        let front_end = FrontEnd::of(machine).work() / FrontEnd::PAPER.work();
        let uj = |count: u64, pj: f64| count as f64 * pj * 1e-6;
        let add_pj = constants.add_pj * (law.adder.gates().total() / given.adder.gates().total());
        let vbar = Vbar::of(machine).load.work() / Vbar::paper(128, 128).load.work();
        let paper_sbar = gates::paper_sbar(128).work();
        let sbar = gates::sbar(machine).work() / paper_sbar;
        let permuter = LanePermuter::of(machine).map_or(0.0, |permuter| permuter.work() / paper_sbar);
        let vdm_registers = gates::vdm_access(machine).total() / paper_sbar;
        // An element passes wires of as many bits as a word.
        let wires_pj = Floorplan::of(machine).crossbar_pj_per_bit() * f64::from(machine.isa.word_bits);
        let energy = Self {
            law: uj(events.multiplications, Self::multiplication_pj(machine)) + uj(events.additions, add_pj),
            vrf: uj(events.vrf_accesses, constants.vrf_access_pj * bits * vrf),
            vdm: uj(events.vdm_accesses, constants.vdm_access_pj * bits * vdm)
                + uj(events.vdm_accesses, constants.sbar_element_pj * vdm_registers),
            vbar: uj(events.vbar_elements, constants.vbar_element_pj * vbar + wires_pj),
            sbar: uj(events.sbar_elements, constants.sbar_element_pj * sbar + wires_pj)
                + uj(events.permuter_elements, constants.sbar_element_pj * permuter + wires_pj),
            front_end: uj(
                events.instructions,
                constants.instruction_pj * (MEMORY_SHARE * memory + (1.0 - MEMORY_SHARE) * front_end),
            ),
        };
        energy.times(machine.technology.wires.layout_factor)
    }

    /// So many times the energy of each component.
    fn times(self, factor: f64) -> Self {
        let Self { law, vrf, vdm, vbar, sbar, front_end } = self;
        let [law, vrf, vdm, vbar, sbar, front_end] =
            [law, vrf, vdm, vbar, sbar, front_end].map(|energy| factor * energy);
        Self { law, vrf, vdm, vbar, sbar, front_end }
    }

    /// A byte of a generator of seeded keys, in pJ: its gates at the energy of those of a multiplication.
    pub fn generated_byte_pj(machine: &Machine) -> f64 {
        let technology = &machine.technology;
        let gate_pj = technology.energy.multiply_pj / Law::given(technology).multiply_work();
        technology.wires.layout_factor * gate_pj * Generator::work_per_byte()
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

impl EnergyConstants {
    /// An access to an SRAM of some bytes over one to an SRAM of a single word of the same width.
    fn access(&self, bytes: f64, word_bytes: f64) -> f64 {
        self.sram_growth_with_words.powf((bytes.min(KNEE_BYTES) / word_bytes).log2())
            * self.sram_growth_beyond_32_kib.powf((bytes / KNEE_BYTES).max(1.0).log2())
    }
}
