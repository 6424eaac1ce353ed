//! The cycle model.
//!
//! Timing never touches data: it needs the instructions, the addresses that they access, and the
//! machine. This header is the specification. Two models implement it:
//! [`Engine`](scheduling::Engine), the event-driven model for users, and `stepped`, which steps
//! every clock and every unit and serves to check the first. They agree on every cycle of every
//! instruction.
//!
//! # Life of an instruction
//!
//! An instruction *dispatches* from the front end to the queue of its pipe, *issues* from the
//! head of the queue into the pipe, and *completes*. Within one cycle, the registers that become free in
//! it are released first, then the front end dispatches, then the pipes issue.
//!
//! **Dispatch.** In program order, at most `frontend.width` in any `frontend.cycles_per_instruction`
//! consecutive cycles (any number with `ideal.front_end`), the first in cycle
//! `frontend.fetch_to_dispatch_cycles`. An instruction dispatches in the first cycle that this allows and
//! in which all of these conditions hold:
//!
//! 1. no earlier scalar load holds the front end: a scalar load that dispatches in cycle t lets the
//!    next instruction dispatch from t + `scalar.load_latency_cycles` on;
//! 2. none of its vector registers is busy;
//! 3. its queue holds fewer than `frontend.queue_depth` instructions: those that were waiting at
//!    the end of the previous cycle, and those that have dispatched in this one (no condition with
//!    `ideal.queues`).
//!
//! Scalar instructions (`sload`, `aload`, `mload`, `halt`) execute in the front end: they issue and
//! complete as they dispatch, and of the conditions only the first applies to them. Scalar operands are
//! read at dispatch and travel with the instruction, so they need no hazard check.
//!
//! **Busy registers.** With the strict busyboard, a register is busy from the dispatch of an
//! instruction that reads or writes it until that instruction releases it. With shared reads, a
//! register that is only being read is not busy for a reader. A destination is released when its
//! instruction completes; so is a source, or, with `frontend.source_release = "read"`, at issue +
//! occupancy.
//!
//! **Issue.** In order within each queue, one a cycle. The head issues in the first cycle t in
//! which t >= dispatch + `frontend.dispatch_to_issue_cycles`, its pipe is free, and every SRAM of
//! the vector register file that it needs is free in every cycle in which it needs it. If heads of
//! several queues could issue in one cycle, `vrf.arbitration` gives the order in which they are
//! tried; each one that issues reserves its SRAMs before the next is tried. The pipe is free again
//! at issue + occupancy. With `vbar.paths = "split"` the load/store pipe is two: one for loads, one
//! for stores, behind one queue.
//!
//! **Completion.** At issue + latency + occupancy.
//!
//! # Occupancy and latency
//!
//! Let L be the vector length, 512 for B512. A compute or shuffle instruction takes L / HPLEs *beats*. Two
//! beats are at least one *initiation interval* apart: `hple.initiation_interval` for all compute
//! instructions, additions too, and `sbar.initiation_interval` for shuffles. The latency is
//!
//! * `hple.multiplier_latency_cycles` for `vmul` and `vmuls`;
//! * `hple.adder_latency_cycles` for `vadd`, `vadds`, `vsub` and `vsubs`;
//! * the sum of both for a butterfly, whatever its order;
//! * `sbar.latency_cycles` for a shuffle, `vaff` too.
//!
//! A load or store takes L / min(HPLEs, banks) beats of as many consecutive lanes. A beat takes
//! `vbar.initiation_interval` cycles for each round of bank accesses, and as many rounds as the
//! most loaded bank has accesses, divided by its ports (a split path has one port to itself) and
//! rounded up. With `vdm.multicast`, lanes of a load that read the same word share its access;
//! without it, and in a store, every lane makes an access of its own. With `ideal.bank_conflicts`
//! every beat takes one round. The latency is `vbar.latency_cycles`; a load has `vdm.access_cycles` - 1 more.
//! If that key is 0, an access takes one cycle in a VDM of up to 4 MiB; beyond, one in a bank of up to 32
//! KiB, two to 512 KiB, three to 2 MiB, four above. Accesses of any latency occupy a bank for one cycle.
//!
//! Word addresses have 32 bits and wrap around: an address register takes the low 32 bits of the
//! word that `aload` reads, and the sums of register, offset and lane are modulo 2^32. Functional
//! execution rejects addresses beyond the memories; timing only needs them to be defined.
//!
//! The vector data memory is at the same stage of the VBAR for loads and stores, so accesses reach it in
//! issue order, which within the load/store queue is program order. With split paths, a load does not wait
//! for a store. Each access takes its beats in the order of the lanes, from the same number of cycles after
//! its issue on; within a beat, the rounds take the accesses of each bank in the order of the lanes. So a
//! load may follow the store of the same words at once if both have the same address and the same mode, but
//! not `repeated`: then each word is accessed in the same round of both. A `repeated` load begins to read
//! words that a `repeated` store writes again in later beats. In all other cases the programmer must ensure
//! that the store's last access to a word comes before the load's, and the same for a store behind a load. A
//! program in which an access overtakes an earlier one is refused, with the code B030.
//!
//! # Ports of the vector register file
//!
//! Each SRAM makes one access a cycle with `vrf.ports = "single-port"`, and one read and one write with
//! `vrf.ports = "two-port"` (any number with `ideal.vrf_ports`). With two ports, "the SRAM" of the rule of
//! issue is its port for reads or that for writes. Let an instruction read `r` and write `w` distinct
//! registers of an SRAM.
//!
//! * The *interval* between its beats is the maximum of its initiation interval, the largest `r` and the
//!   largest `w` over all SRAMs. For loads and stores a beat is here one cycle of the occupancy computed
//!   above, and the initiation interval is 1: that occupancy contains `vbar.initiation_interval`.
//! * If an SRAM with a single port is both read and written, and the latency is below beats times this
//!   interval, so that writing starts before reading has ended, the two must interleave. Let r' and w' be the
//!   largest `r` and `w` over such SRAMs. The interval becomes at least r' + w', and the latency is rounded
//!   up until latency mod interval lies between r' and interval - w', both included.
//! * For every beat i, from 0 on, it reads that SRAM in the `r` cycles that begin with issue + i * interval,
//!   and writes it in the `w` cycles that begin with issue + latency + i * interval.
//!
//! The occupancy is beats * interval.
//!
//! # Where the cycles go
//!
//! A run takes the cycles from 0 up to the last completion, or up to and including the last
//! dispatch, whichever is later. A cycle in which the front end dispatches is charged to `issue`.
//! Every other cycle up to the last dispatch is charged to the cause that stalls the next
//! instruction: to `fetch` if the number of instructions does not allow it, else to
//! the first condition of dispatch, in the order above, that does not hold. For a busy
//! register, it is the pipe of the instruction that makes it busy: of the first busy register in
//! operand order (sources, then destinations), and if several pipes use that register, the first in
//! the order load/store, compute, shuffle. Cycles after the last dispatch are charged to `drain`.
//!
//! Documents of runs also have `unattributed`, the difference between the cycles and the sum of the causes.
//! It is 0.
//!
//! # Derived results
//!
//! * *Utilisation* of a pipe is the sum of the occupancies of its instructions, divided by the cycles of the
//!   run. With split paths, the load/store pipe is two, so its sum is divided by twice the cycles.
//! * *Utilisation* of an SRAM is the number of its accesses over the number that its ports can make in the
//!   run.
//! * *Waits for ports* count, for each queue, the cycles in which its head could issue but for the SRAMs that
//!   it needs. Waits of several queues overlap, and they overlap the causes above.
//! * *Bank conflict cycles* are the occupancy of loads and stores beyond one round for each beat, summed.
//! * The *resource bound* is the largest sum of occupancies of a path, of busy cycles of a port of an SRAM
//!   (with limited ports), or of cycles in which the front end must dispatch. The *dependence bound* is the
//!   longest chain of instructions through vector registers: from the first dispatch on, each takes
//!   `frontend.dispatch_to_issue_cycles` + latency + occupancy. No order of the instructions takes fewer
//!   cycles than either.

mod accounting;
mod banks;
mod busyboard;
mod decode;
mod engine;
mod expectations;
mod micro_op;
mod outcome;
mod overtaking;
mod registers;
mod reservations;
pub mod scheduling;
mod srams;
pub mod stepped;
mod units;

pub use accounting::{Bounds, Cause, Stalls, Wait};
pub(crate) use banks::bank_rounds;
pub use decode::DecodedProgram;
pub use engine::Timestamps;
pub use outcome::{Timing, Utilisation, simulate, simulate_decoded};
pub use overtaking::Overtaking;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in time: the number of cycles since the start command.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cycle(pub u64);

impl Cycle {
    /// The start command.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    const NEVER: Self = Self(u64::MAX);
}

impl Add<u32> for Cycle {
    type Output = Self;
    #[inline]
    fn add(self, cycles: u32) -> Self {
        Self(self.0 + u64::from(cycles))
    }
}

impl AddAssign<u32> for Cycle {
    #[inline]
    fn add_assign(&mut self, cycles: u32) {
        *self = *self + cycles;
    }
}

impl Sub for Cycle {
    type Output = u64;
    #[inline]
    fn sub(self, earlier: Self) -> u64 {
        self.0 - earlier.0
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
