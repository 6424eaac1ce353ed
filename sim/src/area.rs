//! The area of a machine, by component.
//!
//! The constants of the technology give the area of the paper's machine, at any number of HPLEs and banks.
//! Any other key changes a component by the ratio of its logic to the paper's ([`gates`]), and macros by
//! their bytes, words and ports. The area of the vector crossbar is the paper's claim, or that of its logic
//! (`technology.vbar_area`).

use crate::gates::{self, FrontEnd, Gates, Generator, LanePermuter, Law, Paging, Vbar};
use crate::machine::{Machine, SRAMS, VbarArea};
use crate::tech::AreaConstants;
use serde::{Deserialize, Serialize};

/// Areas in mm2.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Area {
    /// The instruction memory.
    pub instruction_memory: f64,
    /// The scalar data memory.
    pub scalar_memory: f64,
    /// The vector data memory.
    pub vdm: f64,
    /// The vector register file.
    pub vrf: f64,
    /// The LAW engines.
    pub law: f64,
    /// The vector crossbar.
    pub vbar: f64,
    /// The shuffle crossbar, and the lane permuter.
    pub sbar: f64,
    /// The logic of the front end.
    #[serde(default)]
    pub front_end: f64,
    /// The memory of keys that stay on the chip; 0 for a run without.
    #[serde(default)]
    pub keys: f64,
    /// The generator of seeded keys; 0 for a run without.
    #[serde(default)]
    pub generator: f64,
    /// PHY and controller of the off-chip memory; 0 for a run that does not use it.
    #[serde(default)]
    pub hbm_phy: f64,
}

/// What a run uses beside the machine of the paper, which ends at its VDM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Whether data come from the off-chip memory or go there.
    pub off_chip: bool,
    /// The bytes of the keys in a memory of their own on the chip.
    pub key_bytes: u64,
    /// Whether keys are expanded from seeds.
    pub seeded: bool,
}

/// The bytes of a macro of the memory of keys: those of a bank of the paper's VDM, whatever the machine's
/// has.
const KEY_MACRO_BYTES: f64 = 32_768.0;

impl Area {
    /// The largest area that one exposure makes: 26 by 33 mm.
    pub const RETICLE_MM2: f64 = 858.0;

    /// The area of a machine.
    pub fn of(machine: &Machine) -> Self {
        Self::with(machine, &machine.technology.area)
    }

    /// The area of a machine with other constants than those of its technology, as a fit tries them.
    pub fn with(machine: &Machine, constants: &AreaConstants) -> Self {
        let word_bits = f64::from(machine.isa.word_bits);
        let (lanes, banks) = (machine.hple.count, machine.vdm.banks);
        let (hples, vdm_banks) = (f64::from(lanes), f64::from(banks));
        let vrf_macros = hples * SRAMS as f64;
        // Doublings from 128; negative for fewer HPLEs.
        let more_hples = (hples / 128.0).log2();
        let more_banks = (vdm_banks / 128.0).log2();
        let sbar_growth =
            if more_hples <= 0.0 { constants.sbar_growth_to_128 } else { constants.sbar_growth_beyond_128 };
        // The logic of each part, as a ratio to the paper's machine with the same HPLEs and banks.
        let given_law = Law::given(&machine.technology).gates().total();
        let law = Law::of(machine).gates().total() / given_law;
        let vbar = Vbar::of(machine).gates().total();
        let permuter = LanePermuter::of(machine).map_or(0.0, |permuter| permuter.gates().total());
        let sbar =
            (gates::sbar(machine).gates().total() + permuter) / gates::paper_sbar(lanes).gates().total();
        let gate_mm2 = constants.law_mm2 / given_law;
        Self {
            instruction_memory: constants
                .sram_mm2(f64::from(machine.frontend.instruction_memory_kib) * 1024.0, 128.0),
            scalar_memory: constants.sram_mm2(f64::from(machine.sdm.size_kib) * 1024.0, word_bits),
            vdm: vdm_banks
                * constants.sram_mm2(machine.vdm_bank_bytes(), word_bits)
                * machine.vdm_second_port()
                + constants.vdm_banks_mm2(vdm_banks) * (word_bits / 128.0)
                + vdm_banks * gate_mm2 * gates::vdm_access(machine).total(),
            vrf: vrf_macros
                * constants.sram_mm2(machine.vrf_sram_bytes(), word_bits)
                * machine.vrf_second_port(),
            law: hples * constants.law_mm2 * law,
            vbar: match machine.technology.vbar_area {
                VbarArea::Claim => {
                    constants.vbar_mm2
                        * constants.vbar_growth_with_hples.powf(more_hples)
                        * constants.vbar_growth_with_banks.powf(more_banks)
                        * (vbar / Vbar::paper(lanes, banks).gates().total())
                }
                VbarArea::Structure => gate_mm2 * vbar,
            },
            sbar: constants.sbar_mm2 * sbar_growth.powf(more_hples) * sbar,
            front_end: gate_mm2 * FrontEnd::of(machine).gates().total(),
            keys: 0.0,
            generator: 0.0,
            hbm_phy: 0.0,
        }
    }

    /// The vector crossbar by its logic, whatever the technology takes its area from.
    pub fn vbar_by_structure(machine: &Machine) -> f64 {
        gate_mm2(machine) * Vbar::of(machine).gates().total()
    }

    /// The area of a machine with what a run uses beside it. Launches that are planned with the off-chip
    /// memory have registers of their own, and pages. Keys on the chip lie in macros of 32 KiB with one port.
    /// RPUs that share the off-chip memory share its interface.
    pub fn of_run(machine: &Machine, usage: &Usage) -> Self {
        let constants = &machine.technology.area;
        let macros = (usage.key_bytes as f64 / KEY_MACRO_BYTES).ceil();
        let macro_mm2 = constants.sram_mm2(KEY_MACRO_BYTES, f64::from(machine.isa.word_bits));
        let interfaces = if usage.off_chip { machine.hbm.stacks() } else { 0.0 };
        let generator = Generator::of(machine).filter(|_| usage.seeded);
        let machine_alone = Self::of(machine);
        let planned = |gates: Gates| if usage.off_chip { gate_mm2(machine) * gates.total() } else { 0.0 };
        let paging = Paging::of(machine);
        Self {
            vdm: machine_alone.vdm + planned(paging.choices()),
            front_end: machine_alone.front_end + planned(paging.registers()),
            keys: macros * macro_mm2,
            generator: generator.map_or(0.0, |generator| gate_mm2(machine) * generator.gates().total()),
            hbm_phy: interfaces * machine.hbm.phy_mm2_per_stack,
            ..machine_alone
        }
    }

    /// Name, as in the fields, and area of each component, in the order of the fields.
    pub const fn components(&self) -> [(&'static str, f64); 11] {
        [
            ("instruction_memory", self.instruction_memory),
            ("scalar_memory", self.scalar_memory),
            ("vdm", self.vdm),
            ("vrf", self.vrf),
            ("law", self.law),
            ("vbar", self.vbar),
            ("sbar", self.sbar),
            ("front_end", self.front_end),
            ("keys", self.keys),
            ("generator", self.generator),
            ("hbm_phy", self.hbm_phy),
        ]
    }

    /// The sum of the components.
    pub fn total(&self) -> f64 {
        self.components().iter().map(|(_, area)| area).sum()
    }

    /// The sum without the interface of the off-chip memory.
    pub fn rpu(&self) -> f64 {
        self.total() - self.hbm_phy
    }

    /// Whether the chip, with the interface of its off-chip memory, is larger than one exposure makes.
    pub fn is_beyond_reticle(&self) -> bool {
        self.total() > Self::RETICLE_MM2
    }

    /// The HPLEs with their slices of the register file.
    pub fn hples(&self) -> f64 {
        self.law + self.vrf
    }
}

/// The area of a NAND2 equivalent, by that of a LAW engine.
fn gate_mm2(machine: &Machine) -> f64 {
    machine.technology.area.law_mm2 / Law::given(&machine.technology).gates().total()
}

impl AreaConstants {
    /// The area of a single-port SRAM macro in mm². The columns, one per bit of a word, are the part that
    /// does not depend on its size.
    pub fn sram_mm2(&self, bytes: f64, word_bits: f64) -> f64 {
        (self.sram_macro_um2 * (word_bits / 128.0) + self.sram_um2_per_byte * bytes) * 1e-6
    }

    /// The area of the VDM banks beyond their macros.
    fn vdm_banks_mm2(&self, banks: f64) -> f64 {
        // Each bank above `from` and up to `to` has this area.
        let steps = [
            (0.0, 32.0, self.vdm_bank_mm2_to_32),
            (32.0, 64.0, self.vdm_bank_mm2_to_64),
            (64.0, 128.0, self.vdm_bank_mm2_to_128),
            (128.0, f64::INFINITY, self.vdm_bank_mm2_beyond_128),
        ];
        steps.into_iter().map(|(from, to, each)| (banks.min(to) - from).max(0.0) * each).sum()
    }
}
