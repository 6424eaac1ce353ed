//! Sets of SRAMs of the vector register file, four cycles at a time.

use crate::machine::SRAMS;

/// A set of SRAMs for each of four consecutive cycles: 16 bits each, the first cycle's lowest.
///
/// The model tests and reserves four cycles at a time.
pub(super) type FourCycles = u64;

/// The cycles of [`FourCycles`].
pub(super) const CYCLES: u32 = 4;

const _: () = assert!(FourCycles::BITS == CYCLES * SRAMS as u32);

/// The SRAM, 0 to 15, in the first of four cycles.
pub(super) const fn sram(number: u8) -> FourCycles {
    1 << number
}

/// All SRAMs in the first `cycles` of four; in all four if `cycles` is larger.
pub(super) const fn first(cycles: u32) -> FourCycles {
    if cycles < CYCLES { (1 << (cycles * SRAMS as u32)) - 1 } else { FourCycles::MAX }
}

/// The accesses of a beat, repeated every `interval` cycles.
#[inline]
pub(super) const fn repeated(beat: FourCycles, interval: u32) -> FourCycles {
    match interval {
        1 => beat * 0x0001_0001_0001_0001,
        2 => beat * 0x0000_0001_0000_0001,
        3 => beat | beat << (3 * SRAMS),
        _ => beat,
    }
}

/// The next four of accesses that repeat every three cycles.
#[inline]
pub(super) const fn after_four_of_three(accesses: FourCycles) -> FourCycles {
    let next = accesses >> SRAMS;
    next | next << (3 * SRAMS)
}

/// The interval between beats and the latency for which the instruction does not conflict with itself, if the
/// SRAMs have a single port or a port for writes. See "Ports of the vector register file" in the header of
/// [`timing`](super).
#[inline]
pub(super) fn interleave(
    reads: FourCycles,
    writes: FourCycles,
    beats: u32,
    initiation_interval: u32,
    latency: u32,
    writes_have_a_port: bool,
) -> (u32, u32) {
    let (most_reads, most_writes) = (cycles_of(reads), cycles_of(writes));
    let interval = initiation_interval.max(most_reads).max(most_writes);
    let both = reads & writes & first(1);
    if both == 0 || writes_have_a_port || latency >= beats * interval {
        return (interval, latency);
    }
    // As above, for the SRAMs that are both read and written.
    let both = both * 0x0001_0001_0001_0001;
    let (reads, writes) = (cycles_of(reads & both), cycles_of(writes & both));
    let interval = interval.max(reads + writes);
    let latency = (latency..).find(|l| (reads..=interval - writes).contains(&(l % interval)));
    (interval, latency.expect("one residue in every interval fits"))
}

/// The cycles of a beat's accesses: the maximum number of accesses to one SRAM.
fn cycles_of(beat: FourCycles) -> u32 {
    (FourCycles::BITS - beat.leading_zeros()).div_ceil(SRAMS as u32)
}
