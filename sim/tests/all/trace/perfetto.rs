//! Perfetto traces, parsed by Perfetto's schema.

use super::run;
use b512_asm::Pipe;
use prost::Message;
use sim::Trace;
use sim::timing::Cause;
use sim::timing::scheduling::Decoder;
use std::collections::BTreeMap;

/// The parts of Perfetto's published schema that the test reads: its names, numbers and types. They repeat
/// what the writer states, so that a wrong number on either side is found. Members of a `oneof` are optional
/// fields on the wire.
mod schema {
    use prost::Message;

    #[derive(Message)]
    pub(super) struct Trace {
        #[prost(message, repeated, tag = "1")]
        pub(super) packet: Vec<TracePacket>,
    }

    #[derive(Message)]
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

    #[derive(Message)]
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

    #[derive(Message)]
    pub(super) struct CounterDescriptor {
        #[prost(string, optional, tag = "6")]
        pub(super) unit_name: Option<String>,
    }

    #[derive(Message)]
    pub(super) struct TrackEvent {
        #[prost(message, repeated, tag = "4")]
        pub(super) debug_annotations: Vec<DebugAnnotation>,
        /// 1 begins a slice, 2 ends it; 3 is an instant, 4 a counter.
        #[prost(int32, optional, tag = "9")]
        pub(super) kind: Option<i32>,
        #[prost(uint64, optional, tag = "11")]
        pub(super) track_uuid: Option<u64>,
        #[prost(string, optional, tag = "23")]
        pub(super) name: Option<String>,
        #[prost(int64, optional, tag = "30")]
        pub(super) counter_value: Option<i64>,
    }

    #[derive(Message)]
    pub(super) struct DebugAnnotation {
        #[prost(uint64, optional, tag = "3")]
        pub(super) uint_value: Option<u64>,
        #[prost(string, optional, tag = "10")]
        pub(super) name: Option<String>,
    }
}

/// The contents of one track.
#[derive(Default)]
struct Track {
    /// Name, begin and end.
    slices: Vec<(String, u64, u64)>,
    instants: Vec<(String, u64)>,
    counts: Vec<(u64, i64)>,
    unit: String,
}

fn read(bytes: &[u8]) -> BTreeMap<String, Track> {
    let trace = schema::Trace::decode(bytes).unwrap();
    // Fields that the schema does not know would be lost.
    assert_eq!(trace.encode_to_vec(), bytes);

    let mut names = BTreeMap::new();
    let mut tracks: BTreeMap<String, Track> = BTreeMap::new();
    let mut open: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    let mut now = 0;
    for packet in trace.packet {
        assert_eq!(packet.trusted_packet_sequence_id, Some(1));
        if let Some(descriptor) = packet.track_descriptor {
            let name = descriptor.name.unwrap_or_default();
            let unit = descriptor.counter.and_then(|counter| counter.unit_name).unwrap_or_default();
            assert!(names.insert(descriptor.uuid.unwrap(), name.clone()).is_none());
            tracks.insert(name, Track { unit, ..Track::default() });
            continue;
        }
        let event = packet.track_event.unwrap();
        let at = packet.timestamp.unwrap();
        assert!(at >= now, "time only advances");
        now = at;
        let uuid = event.track_uuid.unwrap();
        let track = tracks.get_mut(&names[&uuid]).unwrap();
        let name = event.name.unwrap_or_default();
        match event.kind.unwrap() {
            1 => assert!(open.insert(uuid, (name, at)).is_none(), "slices do not nest"),
            2 => {
                let (name, from) = open.remove(&uuid).unwrap();
                track.slices.push((name, from, at));
            }
            3 => track.instants.push((name, at)),
            4 => track.counts.push((at, event.counter_value.unwrap())),
            other => panic!("event of type {other}"),
        }
    }
    assert!(open.is_empty(), "every slice ends");
    tracks
}

#[test]
fn a_perfetto_trace_holds_units_stalls_and_counters() {
    let (machine, program, timing) = run();
    let mut bytes = Vec::new();
    Trace::new(&machine, &program, &timing).write_perfetto(&mut bytes).unwrap();
    let tracks = read(&bytes);
    let micro_ops = Decoder::program(&machine, &program);
    let instructions = || program.instructions.iter().zip(&timing.timestamps).zip(&micro_ops);
    for pipe in Pipe::VECTOR {
        let of_pipe = instructions().filter(|((instr, _), _)| instr.pipe() == pipe);
        let expected: Vec<_> = of_pipe
            .map(|((instr, s), micro_op)| {
                (program.listing().text(instr), s.issue.0, s.issue.0 + u64::from(micro_op.occupancy))
            })
            .collect();
        assert_eq!(tracks[pipe.name()].slices, expected);
        let queue = &tracks[&format!("{} queue", pipe.name())];
        assert_eq!(queue.unit, "instructions");
        assert!(queue.counts.iter().all(|&(_, n)| 0 <= n && n <= machine.frontend.queue_depth.into()));
        assert_eq!(queue.counts.last().unwrap().1, 0);
    }
    let front_end = &tracks["front end"];
    for cause in Cause::all().filter(|cause| !matches!(cause, Cause::Issue | Cause::Drain)) {
        let of_cause = front_end.slices.iter().filter(|(name, ..)| name == cause.name());
        let waited: u64 = of_cause.map(|(_, from, to)| to - from).sum();
        assert_eq!(waited, timing.stalls.get(cause), "{cause:?}");
    }
    let scalars = [
        (program.listing().text(&program.instructions[0]), 2),
        ("halt".to_owned(), timing.timestamps[6].dispatch.0),
    ];
    assert_eq!(front_end.instants, scalars);
    // The strided load holds the VBAR for 8 cycles instead of 4.
    let issue = timing.timestamps[1].issue.0;
    assert_eq!(tracks["bank conflicts"].counts, [(issue, 4), (issue + 8, 0)]);
}
