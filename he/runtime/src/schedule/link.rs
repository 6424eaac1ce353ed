//! The channel with what crosses it: traffic by kind, accounts of launches, and records.

use super::timeline::{Account, Transfer};
use crate::schedule::channel::{Channel, Direction};
use crate::schedule::place::Save;
use crate::schedule::record::{Action, Event, Records};
use crate::schedule::time::{Interval, Time};
use crate::schedule::traffic::{Kind, Traffic};
use sim::Machine;

/// The channel with what crosses it.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) channel: Channel,
    pub(super) traffic: Traffic,
    /// The bytes of transfers that were planned since the last run, without gathers and programs.
    pub(super) moved: u64,
    /// The end of the last transfer.
    pub(super) end: Time,
    /// The launch of that transfer.
    pub(super) last: u32,
    /// An account of each launch so far.
    pub(super) accounts: Option<Vec<Account>>,
    pub(super) transfers: Option<Vec<Transfer>>,
    /// What takes place, if it is recorded.
    pub(super) events: Option<Vec<Event>>,
}

impl Link {
    pub(super) fn new(machine: &Machine, Records { record, accounts, events }: Records) -> Self {
        Self {
            channel: Channel::new(&machine.hbm),
            traffic: Traffic::default(),
            moved: 0,
            end: Time::ZERO,
            last: 0,
            accounts: accounts.then(Vec::new),
            transfers: record.then(Vec::new),
            events: events.then(Vec::new),
        }
    }

    /// Opens the account of a launch.
    pub(super) fn open(&mut self, launch: u32) {
        if let Some(accounts) = &mut self.accounts {
            accounts.resize(launch as usize + 1, Account::default());
        }
    }

    /// Records an action.
    pub(super) fn record(&mut self, span: Interval, action: impl FnOnce() -> Action) {
        if let Some(events) = &mut self.events {
            events.push(Event { span: span.into(), action: action() });
        }
    }

    /// A transfer of a launch.
    pub(super) fn transfer(
        &mut self,
        launch: u32,
        (kind, bytes): (Kind, u64),
        ready: Time,
        direction: Direction,
    ) -> Interval {
        let interval = self.channel.transfer(bytes, ready, direction);
        if let Some(accounts) = &mut self.accounts {
            accounts[launch as usize].traffic[kind] += bytes;
        }
        if interval.end > self.end {
            self.last = launch;
        }
        self.traffic[kind] += bytes;
        self.moved += if matches!(kind, Kind::Permutations | Kind::Programs) { 0 } else { bytes };
        self.end = self.end.max(interval.end);
        if bytes > 0
            && let Some(transfers) = &mut self.transfers
        {
            transfers.push(Transfer { kind, bytes, span: interval.into() });
        }
        interval
    }

    pub(super) fn save(&mut self, save: &Save) -> Interval {
        let interval = self.transfer(save.launch, (save.kind, save.bytes), save.ready, Direction::Write);
        self.record(interval, || Action::Store(save.extents.clone()));
        interval
    }
}
