//! The result: the time of each launch and each transfer, their costs, and what limits the time.

use super::HbmUse;
use crate::launches::facts::Resource;
use crate::schedule::record::{Event, Places};
use crate::schedule::time::{Interval, Span, Time};
use crate::schedule::traffic::{Kind, Traffic};
use sim::{Events, Work};

/// A run of a kernel, or a movement of words.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Run {
    /// The index of the launch.
    pub launch: u32,
    /// The time of the kernel, or of the transfer of a movement.
    pub span: Span,
    /// The words of the VDM in use.
    pub vdm_words: u64,
}

/// A transfer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    /// Its kind.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: u64,
    /// Its time.
    pub span: Span,
}

/// The cost of all launches of one name.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Cost {
    /// The launches.
    pub launches: u64,
    /// The lines that they execute.
    pub lines: u64,
    /// The time of their kernels, in ns.
    pub time_ns: f64,
    /// A lower bound of this time: for each kernel, the busiest resource or the longest chain of dependent
    /// instructions.
    pub bound_ns: f64,
    /// The energy of their kernels, in uJ.
    pub energy_uj: f64,
}

/// The time and the bytes of a launch. Those of all launches add up to the program's, exactly: launches run
/// one after the other, and the time from the end of one to the end of the next belongs to the later one.
/// What is left after the last launch belongs to that of the last transfer. A load belongs to the launch that
/// needs it, and a save to that which made or evicted the limb, whenever it is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// The time, in ps.
    pub time_ps: u64,
    /// The part of the time in which its kernel runs or is launched, in ps; all else is waiting for
    /// transfers.
    pub busy_ps: u64,
    /// The bytes.
    pub traffic: Traffic,
    /// The bytes of keys that are expanded from seeds for it.
    pub expanded_bytes: u64,
}

/// What limits the time: intervals that meet, from the beginning on. A long program has tens of millions, so
/// none has its beginning.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Binds {
    resources: Vec<Resource>,
    ends: Vec<Time>,
}

impl Binds {
    /// A resource limits the time from the last end to this one.
    pub(crate) fn until(&mut self, resource: Resource, end: Time) {
        if let (Some(last), Some(of)) = (self.ends.last_mut(), self.resources.last())
            && *of == resource
        {
            *last = end;
        } else {
            self.resources.push(resource);
            self.ends.push(end);
        }
    }

    /// The resources with their intervals, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Resource, Span)> + '_ {
        let begins = [Time::ZERO].into_iter().chain(self.ends.iter().copied());
        let intervals = begins.zip(&self.ends).map(|(begin, &end)| Interval { begin, end }.into());
        self.resources.iter().copied().zip(intervals)
    }
}

/// The timing of a program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timeline {
    /// The end of the last launch and the last transfer.
    pub total_ns: f64,
    /// The time in which kernels run, with their launches.
    pub compute_ns: f64,
    /// The time in which the channel is busy.
    pub channel_ns: f64,
    /// The bytes of all transfers.
    pub traffic: Traffic,
    /// The costs by name of the kernel, in the order of the first launches.
    pub costs: Vec<(&'static str, Cost)>,
    /// The time that each resource limits.
    pub binds: Binds,
    /// The largest number of words in the VDM.
    pub peak_vdm_words: u64,
    /// The bytes of keys that the generator expands from seeds; none if it expands none.
    pub expanded_bytes: Option<u64>,
    /// Whether the time is beyond what is counted, 213 days.
    pub is_too_long: bool,
    /// The use of the off-chip memory.
    pub hbm: HbmUse,
    /// An account of each launch, if asked for.
    pub accounts: Vec<Account>,
    /// All launches, if they are recorded.
    pub runs: Vec<Run>,
    /// All transfers, if they are recorded.
    pub transfers: Vec<Transfer>,
    /// All runs and transfers with their addresses in the order in which they are planned, if they are
    /// recorded.
    pub events: Vec<Event>,
    /// The place of everything in the off-chip memory, if events are recorded.
    pub places: Places,
}

impl Timeline {
    /// The work of a run with these events, and so many bytes of keys on the chip.
    pub(crate) fn work<'e>(&self, events: &'e Events, key_bytes: u64) -> Work<'e> {
        let off_chip_bytes = Some(Kind::ALL.iter().map(|&kind| self.traffic[kind]).sum());
        let seeded_bytes = self.expanded_bytes;
        Work { events, time_us: self.total_ns / 1e3, off_chip_bytes, key_bytes, seeded_bytes }
    }
}
