//! Perfetto traces, parsed with a protobuf library and Perfetto's schema.

use crate::run;
use b512_asm::Pipe;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage, Value};
use sim::Trace;
use sim::timing::Cause;
use sim::timing::scheduling::Decoder;
use std::collections::BTreeMap;

/// A field of a message, if present.
fn get(message: &DynamicMessage, field: &str) -> Option<Value> {
    assert!(message.descriptor().get_field_by_name(field).is_some(), "the schema has no {field}");
    message.has_field_by_name(field).then(|| message.get_field_by_name(field).unwrap().into_owned())
}

fn number(message: &DynamicMessage, field: &str) -> u64 {
    let value = get(message, field);
    let number = value.and_then(|value| value.as_u64().or(value.as_u32().map(u64::from)));
    number.unwrap_or_else(|| panic!("missing number `{field}`"))
}

fn text(message: &DynamicMessage, field: &str) -> String {
    get(message, field).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn message(of: &DynamicMessage, field: &str) -> Option<DynamicMessage> {
    get(of, field).map(|value| value.as_message().unwrap().clone())
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
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/trace");
    let files = protox::compile(["perfetto.proto"], [folder]).unwrap();
    let pool = DescriptorPool::from_file_descriptor_set(files).unwrap();
    let schema = pool.get_message_by_name("perfetto.protos.Trace").unwrap();
    let trace = DynamicMessage::decode(schema, bytes).unwrap();
    assert_eq!(trace.unknown_fields().count(), 0);

    let mut names = BTreeMap::new();
    let mut tracks: BTreeMap<String, Track> = BTreeMap::new();
    let mut open: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    let mut now = 0;
    for packet in trace.get_field_by_name("packet").unwrap().as_list().unwrap() {
        let packet = packet.as_message().unwrap();
        assert_eq!(packet.unknown_fields().count(), 0);
        assert_eq!(number(packet, "trusted_packet_sequence_id"), 1);
        if let Some(descriptor) = message(packet, "track_descriptor") {
            let name = text(&descriptor, "name");
            let counter = message(&descriptor, "counter");
            let unit = counter.map(|counter| text(&counter, "unit_name")).unwrap_or_default();
            assert!(names.insert(number(&descriptor, "uuid"), name.clone()).is_none());
            tracks.insert(name, Track { unit, ..Track::default() });
            continue;
        }
        let event = message(packet, "track_event").unwrap();
        assert_eq!(event.unknown_fields().count(), 0);
        let at = number(packet, "timestamp");
        assert!(at >= now, "time only advances");
        now = at;
        let uuid = number(&event, "track_uuid");
        let track = tracks.get_mut(&names[&uuid]).unwrap();
        match get(&event, "type").unwrap().as_enum_number().unwrap() {
            1 => assert!(open.insert(uuid, (text(&event, "name"), at)).is_none(), "slices do not nest"),
            2 => {
                let (name, from) = open.remove(&uuid).unwrap();
                track.slices.push((name, from, at));
            }
            3 => track.instants.push((text(&event, "name"), at)),
            4 => track.counts.push((at, get(&event, "counter_value").unwrap().as_i64().unwrap())),
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
