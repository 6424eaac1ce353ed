//! Perfetto traces: TrackEvent packets as protocol buffers, for ui.perfetto.dev.
//!
//! A nanosecond of the trace is a cycle. The front end and each pipe are tracks whose slices are
//! stalls and instructions; the occupancy of each queue and the cycles lost to bank conflicts are
//! counters.

use super::Trace;
use crate::timing::Cycle;
use b512_asm::{PerPipe, Pipe};
use prost::Message;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The part of Perfetto's schema that is needed, with its field numbers.
mod schema {
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Trace {
        #[prost(message, repeated, tag = "1")]
        pub(super) packet: Vec<TracePacket>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct TracePacket {
        #[prost(uint64, optional, tag = "8")]
        pub(super) timestamp: Option<u64>,
        #[prost(uint32, optional, tag = "10")]
        pub(super) trusted_packet_sequence_id: Option<u32>,
        #[prost(message, optional, tag = "11")]
        pub(super) track_event: Option<TrackEvent>,
        #[prost(message, optional, tag = "60")]
        pub(super) track_descriptor: Option<TrackDescriptor>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct TrackDescriptor {
        #[prost(uint64, optional, tag = "1")]
        pub(super) uuid: Option<u64>,
        #[prost(string, optional, tag = "2")]
        pub(super) name: Option<String>,
        #[prost(uint64, optional, tag = "5")]
        pub(super) parent_uuid: Option<u64>,
        #[prost(message, optional, tag = "8")]
        pub(super) counter: Option<CounterDescriptor>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct CounterDescriptor {
        #[prost(string, optional, tag = "6")]
        pub(super) unit_name: Option<String>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct TrackEvent {
        #[prost(message, repeated, tag = "4")]
        pub(super) debug_annotations: Vec<DebugAnnotation>,
        #[prost(enumeration = "EventType", optional, tag = "9")]
        pub(super) r#type: Option<i32>,
        #[prost(uint64, optional, tag = "11")]
        pub(super) track_uuid: Option<u64>,
        #[prost(string, optional, tag = "23")]
        pub(super) name: Option<String>,
        #[prost(int64, optional, tag = "30")]
        pub(super) counter_value: Option<i64>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct DebugAnnotation {
        #[prost(uint64, optional, tag = "3")]
        pub(super) uint_value: Option<u64>,
        #[prost(string, optional, tag = "10")]
        pub(super) name: Option<String>,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug, prost::Enumeration)]
    #[repr(i32)]
    pub(super) enum EventType {
        Unspecified = 0,
        SliceBegin = 1,
        SliceEnd = 2,
        Instant = 3,
        Counter = 4,
    }
}

use schema::EventType;

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
    let mut packets = vec![track(track::MACHINE, "RPU (1 ns = 1 ps)", None)];
    packets.extend(tracks.iter().enumerate().map(|(index, name)| track(uuid(index), name, None)));
    packets.push(track(of_counter, counter.name, Some(counter.unit)));
    let mut events = Vec::new();
    for slice in slices {
        events.push((slice.begin_ps, begin(uuid(slice.track), slice.name, &[slice.annotation])));
        events.push((slice.end_ps, end(uuid(slice.track))));
    }
    events.extend(counter.values.iter().map(|&(time, value)| {
        let event = event(of_counter, EventType::Counter);
        (time, schema::TrackEvent { counter_value: Some(value as i64), ..event })
    }));
    // If one slice ends where another begins, the end comes first.
    events.sort_by_key(|(time, event)| (*time, event.r#type != Some(EventType::SliceEnd.into())));
    packets.extend(events.into_iter().map(|(time, event)| schema::TracePacket {
        timestamp: Some(time),
        track_event: Some(event),
        ..packet()
    }));
    out.write_all(&schema::Trace { packet: packets }.encode_to_vec())
}

impl Trace<'_> {
    /// Writes a Perfetto trace.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_perfetto(&self, out: &mut impl Write) -> io::Result<()> {
        let mut packets = self.tracks();
        let mut events = Vec::new();
        let mut queues: PerPipe<BTreeMap<Cycle, i64>> = PerPipe::default();
        let mut conflicts = BTreeMap::new();
        for row in self.rows() {
            for wait in row.waits {
                events.push((wait.from, begin(track::FRONT_END, wait.cause.name(), &[])));
                events.push((wait.to, end(track::FRONT_END)));
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
                events.push((timestamps.dispatch, instant(unit, &name, &annotations)));
                continue;
            }
            events.push((timestamps.issue, begin(unit, &name, &annotations)));
            events.push((row.pipe_free(), end(unit)));
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
        // If one slice ends where another begins, the end comes first.
        events.sort_by_key(|(cycle, event)| (*cycle, event.r#type != Some(EventType::SliceEnd.into())));
        packets.extend(events.into_iter().map(|(cycle, event)| schema::TracePacket {
            timestamp: Some(cycle.0),
            track_event: Some(event),
            ..packet()
        }));
        out.write_all(&schema::Trace { packet: packets }.encode_to_vec())
    }

    fn tracks(&self) -> Vec<schema::TracePacket> {
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

fn packet() -> schema::TracePacket {
    schema::TracePacket { trusted_packet_sequence_id: Some(1), ..Default::default() }
}

/// A track below the machine's; a counter if it has a unit.
fn track(uuid: u64, name: &str, unit: Option<&str>) -> schema::TracePacket {
    let descriptor = schema::TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name.to_owned()),
        parent_uuid: (uuid != track::MACHINE).then_some(track::MACHINE),
        counter: unit.map(|unit| schema::CounterDescriptor { unit_name: Some(unit.to_owned()) }),
    };
    schema::TracePacket { track_descriptor: Some(descriptor), ..packet() }
}

fn event(track: u64, kind: EventType) -> schema::TrackEvent {
    schema::TrackEvent { r#type: Some(kind.into()), track_uuid: Some(track), ..Default::default() }
}

fn begin(track: u64, name: &str, annotations: &[(&str, u64)]) -> schema::TrackEvent {
    let annotations = annotations.iter().map(|&(name, value)| schema::DebugAnnotation {
        uint_value: Some(value),
        name: Some(name.to_owned()),
    });
    schema::TrackEvent {
        name: Some(name.to_owned()),
        debug_annotations: annotations.collect(),
        ..event(track, EventType::SliceBegin)
    }
}

fn instant(track: u64, name: &str, annotations: &[(&str, u64)]) -> schema::TrackEvent {
    schema::TrackEvent { r#type: Some(EventType::Instant.into()), ..begin(track, name, annotations) }
}

fn end(track: u64) -> schema::TrackEvent {
    event(track, EventType::SliceEnd)
}

/// Turns changes of a counter into its values.
fn count(track: u64, changes: &BTreeMap<Cycle, i64>, events: &mut Vec<(Cycle, schema::TrackEvent)>) {
    let mut value = 0;
    for (&cycle, &change) in changes {
        if change != 0 {
            value += change;
            let event = schema::TrackEvent { counter_value: Some(value), ..event(track, EventType::Counter) };
            events.push((cycle, event));
        }
    }
}
