//! The constants and components of the area model.

use sim::Area;

/// The area constants in the order of a technology file, with their descriptions.
pub(super) const AREA: [(&str, &str); 14] = [
    ("sram_macro_um2", "A single-port SRAM macro of 128-bit words: the part independent of its size"),
    ("sram_um2_per_byte", "Each byte of such a macro"),
    ("sram_second_port", "The growth factor of a macro with a second port"),
    ("law_mm2", "A LAW engine"),
    ("vdm_bank_mm2_to_32", "Each of the first 32 VDM banks beyond its macro"),
    ("vdm_bank_mm2_to_64", "Each VDM bank from the 33rd to the 64th"),
    ("vdm_bank_mm2_to_128", "Each VDM bank from the 65th to the 128th"),
    ("vdm_bank_mm2_beyond_128", "Each VDM bank from the 129th on"),
    ("vbar_mm2", "The vector crossbar at 128 HPLEs and 128 banks"),
    ("vbar_growth_with_hples", "Its growth factor when HPLEs double"),
    ("vbar_growth_with_banks", "Its growth factor when banks double"),
    ("sbar_mm2", "The shuffle crossbar at 128 HPLEs"),
    ("sbar_growth_to_128", "Its growth factor when HPLEs double, up to 128 HPLEs"),
    ("sbar_growth_beyond_128", "Its growth factor when HPLEs double, beyond 128 HPLEs"),
];

/// The delays in the order of a technology file, with their descriptions.
pub(super) const DELAY: [(&str, &str); 3] = [
    ("fo4_ps", "An inverter that drives four others, in ps"),
    ("register_fo4", "The registers at the ends of a stage, with the margin for their clock, in FO4"),
    ("wire_ps", "The wires across the paper's machine, in ps"),
];

/// The constants of power in the order of a technology file, with their descriptions.
pub(super) const POWER: [(&str, &str); 2] = [
    ("leakage_mw_per_mm2", "The leakage of each mm2 on the chip, in mW"),
    (
        "idle_share",
        "The energy of a LAW engine in a cycle without a multiplication, as a share of the energy of a multiplication",
    ),
];

/// The constants of wires in the order of a technology file, with their descriptions.
pub(super) const WIRES: [(&str, &str); 3] = [
    ("given_side_mm", "The side of the machine whose energies are given, in mm: they have its wires"),
    ("pj_per_bit_mm", "A bit over a mm, in pJ, half of the bits toggling"),
    (
        "layout_factor",
        "The energy of events with the clock tree and the wires inside of parts over that without them",
    ),
];

/// The names of constants as a list for messages.
pub(super) fn list(constants: &[(&str, &str)]) -> String {
    constants.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The names of the area constants that the claims give, as a list for messages.
pub(super) fn names() -> String {
    list(&AREA[2..])
}

/// The components of an area, as [`Area`] names them.
pub(super) fn components() -> Vec<&'static str> {
    Area::default().components().iter().map(|(name, _)| *name).collect()
}
