//! Accesses of loads and stores to the banks of the VDM.

use crate::machine::{BankMapping, Machine, VbarPaths};
use b512_asm::{AddressMode, Isa};

/// Elements per beat between VDM and VRF.
fn vbar_lanes(m: &Machine) -> u32 {
    m.hple.count.min(m.vdm.banks)
}

/// Beats of a load or store without bank conflicts.
pub(super) fn vbar_beats(m: &Machine) -> u32 {
    m.vector_length() / vbar_lanes(m)
}

/// Rounds of bank accesses of a load or store at `address`, over all of its beats.
pub(super) fn rounds(m: &Machine, mode: AddressMode, address: u32, store: bool) -> u32 {
    let ports = if m.vbar.paths == VbarPaths::Split { 1 } else { m.vdm.ports };
    let mut accesses = vec![0; m.vdm.banks as usize];
    let mut rounds = 0;
    for beat in 0..vbar_beats(m) {
        accesses.fill(0);
        let most = count_beat(m, mode, address, store, beat, &mut accesses);
        rounds += most.div_ceil(u64::from(ports)) as u32;
    }
    rounds
}

/// The rounds of bank accesses of one load or store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rounds {
    /// The rounds that it needs.
    pub(crate) needed: u32,
    /// The rounds without conflicts: one a beat.
    pub(crate) least: u32,
}

/// The rounds of bank accesses of a load or store at `address`.
pub(crate) fn bank_rounds(m: &Machine, mode: AddressMode, address: u32, store: bool) -> Rounds {
    let least = vbar_beats(m);
    Rounds { needed: if m.ideal.bank_conflicts { least } else { rounds(m, mode, address, store) }, least }
}

/// The words of a load or store on a path with one port, in the order of the lanes. Each comes with the
/// number of rounds before its access. Lanes that share an access count once.
pub(super) fn word_rounds(m: &Machine, mode: AddressMode, address: u32, store: bool) -> Vec<(u32, u32)> {
    let lanes = vbar_lanes(m);
    let distinct = distinct_lanes(m, mode, store);
    let (mut words, mut begin) = (Vec::new(), 0);
    for beat in 0..vbar_beats(m) {
        let mut accesses = vec![0; m.vdm.banks as usize];
        let mut rounds = 1;
        for lane in beat * lanes..beat * lanes + distinct {
            let word = address.wrapping_add(mode.element(lane));
            let before: &mut u32 = &mut accesses[m.vdm.mapping.bank(word, m.vdm.banks)];
            words.push((word, begin + *before));
            if !m.ideal.bank_conflicts {
                *before += 1;
                rounds = rounds.max(*before);
            }
        }
        begin += rounds;
    }
    words
}

/// Adds the accesses of a load or store to each bank to `accesses`.
pub(super) fn count(m: &Machine, mode: AddressMode, address: u32, store: bool, accesses: &mut [u64]) {
    for beat in 0..vbar_beats(m) {
        count_beat(m, mode, address, store, beat, accesses);
    }
}

/// Adds the accesses of one beat to each bank to `accesses`, and returns the maximum among the
/// banks of the beat.
fn count_beat(
    m: &Machine,
    mode: AddressMode,
    address: u32,
    store: bool,
    beat: u32,
    accesses: &mut [u64],
) -> u64 {
    let lanes = vbar_lanes(m);
    let mut most = 0;
    for lane in beat * lanes..beat * lanes + distinct_lanes(m, mode, store) {
        let word = address.wrapping_add(mode.element(lane));
        let accesses = &mut accesses[m.vdm.mapping.bank(word, m.vdm.banks)];
        *accesses += 1;
        most = most.max(*accesses);
    }
    most
}

/// The lanes of a beat that make an access.
fn distinct_lanes(m: &Machine, mode: AddressMode, store: bool) -> u32 {
    let lanes = vbar_lanes(m);
    // With multicast, lanes of a load that read the word of an earlier one share its access.
    let shared = m.vdm.multicast && !store;
    match mode {
        AddressMode::Repeated(block) if shared => lanes.min(1 << block.value()),
        AddressMode::Linear
        | AddressMode::Strided(_)
        | AddressMode::StridedSkip(_)
        | AddressMode::Repeated(_) => lanes,
    }
}

/// An address with the same bank conflicts as `address`, out of a small set.
pub(super) fn representative(mapping: BankMapping, isa: Isa, mode: AddressMode, address: u32) -> u32 {
    match mapping {
        // The address only permutes the banks.
        BankMapping::Interleaved => 0,
        // So do the bits above the range of the elements' offsets, except for carries.
        BankMapping::Xor => {
            let (address, span) = (u64::from(address), u64::from(mode.span(isa)));
            let block = span.next_power_of_two();
            let (above, within) = (address / block, address % block);
            let trailing_ones = above & !(above + 1);
            let carries = if within + span > block { trailing_ones * block } else { 0 };
            (within + carries) as u32
        }
    }
}
