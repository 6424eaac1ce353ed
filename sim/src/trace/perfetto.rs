//! Perfetto traces: TrackEvent packets as protocol buffers, for ui.perfetto.dev.
//!
//! A nanosecond of the trace is a cycle. The front end and each pipe are tracks whose slices are
//! stalls and instructions; the occupancy of each queue and the cycles lost to bank conflicts are
//! counters.

use super::Trace;
use crate::timing::Cycle;
use b512_asm::{PerPipe, Pipe};
use std::collections::BTreeMap;
use std::io::{self, Write};

// The numbers of the fields in Perfetto's schema, message by message.

mod trace {
    pub(super) const PACKET: u64 = 1;
}

mod packet {
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const TRUSTED_PACKET_SEQUENCE_ID: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
}

mod descriptor {
    pub(super) const UUID: u64 = 1;
    pub(super) const NAME: u64 = 2;
    pub(super) const PARENT_UUID: u64 = 5;
    pub(super) const COUNTER: u64 = 8;
    /// Of the counter.
    pub(super) const UNIT_NAME: u64 = 6;
}

mod event {
    pub(super) const DEBUG_ANNOTATIONS: u64 = 4;
    pub(super) const TYPE: u64 = 9;
    pub(super) const TRACK_UUID: u64 = 11;
    pub(super) const NAME: u64 = 23;
    pub(super) const COUNTER_VALUE: u64 = 30;
}

mod annotation {
    pub(super) const UINT_VALUE: u64 = 3;
    pub(super) const NAME: u64 = 10;
}

/// A message of protocol buffers: fields in ascending order of their numbers, as libraries write them.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(mut self, field: u64, value: u64) -> Self {
        self.push(field << 3);
        self.push(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.push(field << 3 | 2);
        self.push(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// A number of variable length: seven bits in each byte, the lowest first.
    fn push(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EventType {
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
    Counter = 4,
}

/// An event of a track.
struct Event<'a> {
    kind: EventType,
    track: u64,
    name: Option<String>,
    annotations: Vec<(&'a str, u64)>,
    value: Option<i64>,
}

impl<'a> Event<'a> {
    const fn new(track: u64, kind: EventType) -> Self {
        Self { kind, track, name: None, annotations: Vec::new(), value: None }
    }

    fn begin(track: u64, name: &str, annotations: &[(&'a str, u64)]) -> Self {
        let (name, annotations) = (Some(name.to_owned()), annotations.to_vec());
        Self { name, annotations, ..Self::new(track, EventType::SliceBegin) }
    }

    fn end(track: u64) -> Self {
        Self::new(track, EventType::SliceEnd)
    }

    fn count(track: u64, value: i64) -> Self {
        Self { value: Some(value), ..Self::new(track, EventType::Counter) }
    }

    fn message(&self) -> Message {
        let mut message = Message::default();
        for (name, value) in &self.annotations {
            let one = Message::default().number(annotation::UINT_VALUE, *value).text(annotation::NAME, name);
            message = message.message(event::DEBUG_ANNOTATIONS, &one);
        }
        message = message.number(event::TYPE, self.kind as u64).number(event::TRACK_UUID, self.track);
        if let Some(name) = &self.name {
            message = message.text(event::NAME, name);
        }
        match self.value {
            Some(value) => message.number(event::COUNTER_VALUE, value as u64),
            None => message,
        }
    }
}

/// All packets are of one sequence.
const SEQUENCE: u64 = 1;

/// Writes a trace of tracks and of events with their times.
fn write(tracks: Vec<Message>, mut events: Vec<(u64, Event<'_>)>, out: &mut impl Write) -> io::Result<()> {
    // If one slice ends where another begins, the end comes first.
    events.sort_by_key(|(time, event)| (*time, event.kind != EventType::SliceEnd));
    let events = events.iter().map(|(time, event)| {
        Message::default()
            .number(packet::TIMESTAMP, *time)
            .number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE)
            .message(packet::TRACK_EVENT, &event.message())
    });
    for packet in tracks.into_iter().chain(events) {
        out.write_all(&Message::default().message(trace::PACKET, &packet).0)?;
    }
    Ok(())
}

/// Identifiers of the tracks: arbitrary distinct numbers above zero.
mod track {
    use b512_asm::Pipe;

    pub(super) const MACHINE: u64 = 1;
    pub(super) const FRONT_END: u64 = 2;
    pub(super) const BANK_CONFLICTS: u64 = 3;

    /// A pipe, or the store path of a split load/store pipe.
    pub(super) const fn pipe(pipe: Pipe, path: u8) -> u64 {
        10 + 2 * pipe.index() as u64 + path as u64
    }

    pub(super) const fn queue(pipe: Pipe) -> u64 {
        20 + pipe.index() as u64
    }
}

/// An interval on a track of [`write_slices`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slice<'a> {
    /// The index of the track.
    pub track: usize,
    /// The name.
    pub name: &'a str,
    /// The beginning, in ps.
    pub begin_ps: u64,
    /// The end, in ps, after the beginning. Slices of one track do not overlap.
    pub end_ps: u64,
    /// A number, and its name.
    pub annotation: (&'a str, u64),
}

/// The values of a counter of [`write_slices`] from some times on, in ps.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'a> {
    /// The name.
    pub name: &'a str,
    /// The unit.
    pub unit: &'a str,
    /// The times and values.
    pub values: &'a [(u64, u64)],
}

/// Writes a Perfetto trace of intervals and one counter. A nanosecond of the trace is a picosecond, so
/// that short intervals have a length.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_slices(
    tracks: &[&str],
    slices: &[Slice<'_>],
    counter: Counter<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let uuid = |index: usize| track::MACHINE + 1 + index as u64;
    let of_counter = uuid(tracks.len());
    let mut described = vec![track(track::MACHINE, "RPU (1 ns = 1 ps)", None)];
    described.extend(tracks.iter().enumerate().map(|(index, name)| track(uuid(index), name, None)));
    described.push(track(of_counter, counter.name, Some(counter.unit)));
    let mut events = Vec::new();
    for slice in slices {
        events.push((slice.begin_ps, Event::begin(uuid(slice.track), slice.name, &[slice.annotation])));
        events.push((slice.end_ps, Event::end(uuid(slice.track))));
    }
    let counts = counter.values.iter();
    events.extend(counts.map(|&(time, value)| (time, Event::count(of_counter, value as i64))));
    write(described, events, out)
}

impl Trace<'_> {
    /// Writes a Perfetto trace.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_perfetto(&self, out: &mut impl Write) -> io::Result<()> {
        let mut events = Vec::new();
        let mut queues: PerPipe<BTreeMap<Cycle, i64>> = PerPipe::default();
        let mut conflicts = BTreeMap::new();
        for row in self.rows() {
            for wait in row.waits {
                events.push((wait.from.0, Event::begin(track::FRONT_END, wait.cause.name(), &[])));
                events.push((wait.to.0, Event::end(track::FRONT_END)));
            }
            let pipe = row.micro_op.pipe;
            let timestamps = row.timestamps;
            let annotations = [
                ("instruction", row.index as u64),
                ("dispatch", timestamps.dispatch.0),
                ("complete", timestamps.complete.0),
            ];
            let unit =
                if pipe == Pipe::Scalar { track::FRONT_END } else { track::pipe(pipe, row.micro_op.path) };
            let name = self.text(row.index);
            if pipe == Pipe::Scalar {
                let event = Event { kind: EventType::Instant, ..Event::begin(unit, &name, &annotations) };
                events.push((timestamps.dispatch.0, event));
                continue;
            }
            events.push((timestamps.issue.0, Event::begin(unit, &name, &annotations)));
            events.push((row.pipe_free().0, Event::end(unit)));
            let queue = &mut queues[pipe];
            *queue.entry(timestamps.dispatch).or_default() += 1;
            *queue.entry(timestamps.issue).or_default() -= 1;
            let lost = i64::from(row.micro_op.bank_conflicts);
            if lost > 0 {
                *conflicts.entry(timestamps.issue).or_default() += lost;
                *conflicts.entry(row.pipe_free()).or_default() -= lost;
            }
        }
        for pipe in Pipe::VECTOR {
            count(track::queue(pipe), &queues[pipe], &mut events);
        }
        count(track::BANK_CONFLICTS, &conflicts, &mut events);
        write(self.tracks(), events, out)
    }

    fn tracks(&self) -> Vec<Message> {
        let mut tracks = vec![
            track(track::MACHINE, "RPU (1 ns = 1 cycle)", None),
            track(track::FRONT_END, "front end", None),
        ];
        let split = self.micro_ops.iter().any(|micro_op| micro_op.path == 1);
        for pipe in Pipe::VECTOR {
            tracks.push(track(track::pipe(pipe, 0), pipe.name(), None));
            if split && pipe == Pipe::LoadStore {
                tracks.push(track(track::pipe(pipe, 1), "load_store: stores", None));
            }
        }
        for pipe in Pipe::VECTOR {
            let name = format!("{} queue", pipe.name());
            tracks.push(track(track::queue(pipe), &name, Some("instructions")));
        }
        tracks.push(track(track::BANK_CONFLICTS, "bank conflicts", Some("cycles lost")));
        tracks
    }
}

/// A track below the machine's; a counter if it has a unit.
fn track(uuid: u64, name: &str, unit: Option<&str>) -> Message {
    let mut track = Message::default().number(descriptor::UUID, uuid).text(descriptor::NAME, name);
    if uuid != track::MACHINE {
        track = track.number(descriptor::PARENT_UUID, track::MACHINE);
    }
    if let Some(unit) = unit {
        track = track.message(descriptor::COUNTER, &Message::default().text(descriptor::UNIT_NAME, unit));
    }
    Message::default()
        .number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE)
        .message(packet::TRACK_DESCRIPTOR, &track)
}

/// Turns changes of a counter into its values.
fn count(track: u64, changes: &BTreeMap<Cycle, i64>, events: &mut Vec<(u64, Event<'_>)>) {
    let mut value = 0;
    for (&cycle, &change) in changes {
        if change != 0 {
            value += change;
            events.push((cycle.0, Event::count(track, value)));
        }
    }
}
