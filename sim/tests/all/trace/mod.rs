//! Traces, parsed back.

mod perfetto;

use b512_asm::{AReg, AddressMode, Instr, Log2, MReg, Offset, Program, Role, SReg, Space, Symbol, VReg};
use sim::timing::{Cause, Cycle, Timing, simulate};
use sim::{Machine, MachineFile, Override, Trace};
use std::collections::BTreeMap;

fn machine() -> Machine {
    let overrides = ["frontend.source_release=complete", "frontend.dispatch_to_issue_cycles=1"];
    let overrides = overrides.map(|change| Override::parse(change).unwrap());
    MachineFile::built_in("rpu-128x128", &overrides).unwrap()
}

/// A scalar load, a load with bank conflicts, a multiplication that depends on it, a shuffle that
/// depends on both, and a store.
fn program() -> Program {
    let v = VReg::at;
    let (base, rm, offset) = (AReg::at(0), MReg::at(0), Offset::default());
    let strided = AddressMode::Strided(Log2::new(1).unwrap());
    let instructions = vec![
        Instr::Sload { rt: SReg::at(0), offset },
        Instr::Vload { vd: v(0), base, offset, mode: strided },
        Instr::Vload { vd: v(1), base, offset, mode: AddressMode::Linear },
        Instr::Vmul { vd: v(2), vs: v(0), vt: v(3), rm },
        Instr::Unpklo { vd: v(4), vs: v(2), vt: v(1) },
        Instr::Vstore { vs: v(4), base, offset, mode: AddressMode::Linear },
        Instr::Halt {},
    ];
    let x = Symbol { name: "x".into(), space: Space::Vdm, start: 0, words: 1024, role: Role::Input };
    Program { instructions, symbols: vec![x], ..Program::default() }
}

fn run() -> (Machine, Program, Timing) {
    let (machine, program) = (machine(), program());
    let timing = simulate(&machine, &program);
    (machine, program, timing)
}

#[test]
fn the_timeline_shows_each_cycle_of_each_instruction() {
    let (machine, program, timing) = run();
    let mut text = Vec::new();
    Trace::new(&machine, &program, &timing).write_ascii(1, 3, &mut text).unwrap();
    let expected = "                                        10        20        30
1  vload v0, a0, x, strided 2^1  sDeeeeeeee----C
2  vload v1, a0, x                 D=======eeee----C
3  vmul v2, v0, v3, m0              bbbbbbbbbbbDeeee-----------C
f fetch, s scalar load, b busy register, q full queue; D dispatch, = in its queue,
e in its pipe, - in the pipe's later stages, C complete
";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn a_long_timeline_continues_below() {
    let (machine, mut program) = (machine(), program());
    // Loads that wait for each other, over hundreds of cycles.
    let load = program.instructions[1];
    program.instructions = [vec![load; 40], vec![Instr::Halt {}]].concat();
    let timing = simulate(&machine, &program);
    let trace = Trace::new(&machine, &program, &timing);
    let mut text = Vec::new();
    trace.write_ascii(0, 40, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    let parts: Vec<&str> = text.split("\n\n").collect();
    assert!(parts.len() > 2, "{text}");
    // The parts together have each cycle of an instruction from its dispatch to its completion.
    for (index, timestamps) in timing.timestamps.iter().enumerate().take(40) {
        let name = format!("{index:>2}  {}  ", trace.text(index));
        let cells: String = text.lines().filter_map(|line| line.strip_prefix(&name)).map(str::trim).collect();
        let from_dispatch = &cells[cells.find('D').expect("it dispatches")..];
        let cycles = timestamps.complete - timestamps.dispatch + 1;
        assert_eq!((from_dispatch.len() as u64, from_dispatch.ends_with('C')), (cycles, true), "{cells}");
    }
}

#[test]
fn a_timeline_that_starts_beyond_the_end_says_so() {
    let (machine, program, timing) = run();
    let mut text = Vec::new();
    Trace::new(&machine, &program, &timing).write_ascii(7, 10, &mut text).unwrap();
    let all = program.instructions.len();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        format!("no instructions from 7 on: the program has {all}\n")
    );
    let mut text = Vec::new();
    Trace::new(&machine, &program, &timing).write_ascii(0, 0, &mut text).unwrap();
    let expected = format!("none of the {all} instructions: a timeline of 0 was asked for\n");
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

/// The entries of one instruction in a Kanata log.
#[derive(Default)]
struct Logged {
    label: String,
    /// For each lane: stage name, first cycle, and one past the last cycle.
    stages: BTreeMap<u8, Vec<(String, u64, Option<u64>)>>,
    producers: Vec<usize>,
    retired: Option<(u64, u64)>,
}

/// Parses a Kanata log and checks the rules of the format: commands are tab-separated, time only
/// advances, and every entry of an instruction lies between its begin and its end.
fn read_kanata(text: &str) -> BTreeMap<usize, Logged> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Kanata\t0004"));
    assert_eq!(lines.next(), Some("C=\t0"));
    let mut now = 0;
    let mut log: BTreeMap<usize, Logged> = BTreeMap::new();
    for line in lines {
        let fields: Vec<_> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap();
        if fields[0] == "C" {
            assert!(number(1) > 0);
            now += number(1);
            continue;
        }
        let id = number(1) as usize;
        if fields[0] == "I" {
            assert!(log.insert(id, Logged::default()).is_none(), "{id} begins twice");
            continue;
        }
        if fields[0] == "W" {
            assert!(log.contains_key(&(number(2) as usize)), "a producer begins before its consumer");
        }
        let logged = log.get_mut(&id).unwrap();
        assert!(logged.retired.is_none(), "{line} comes after the end");
        match fields[0] {
            "L" if fields[2] == "0" => logged.label += fields[3],
            "L" => assert_eq!(fields[2], "1"),
            "S" => {
                let lane = logged.stages.entry(fields[2].parse().unwrap()).or_default();
                assert!(lane.last().is_none_or(|(.., end)| end.is_some()), "stages do not overlap");
                lane.push((fields[3].to_owned(), now, None));
            }
            "E" => {
                let (stage, _, end) =
                    logged.stages.get_mut(&fields[2].parse().unwrap()).unwrap().last_mut().unwrap();
                assert_eq!((stage.as_str(), *end), (fields[3], None));
                *end = Some(now);
            }
            "W" => logged.producers.push(number(2) as usize),
            "R" => {
                assert_eq!(fields[3], "0");
                logged.retired = Some((now, number(2)));
            }
            other => panic!("unknown command `{other}`"),
        }
    }
    log
}

#[test]
fn a_kanata_log_holds_the_schedule_the_stalls_and_the_dependences() {
    let (machine, program, timing) = run();
    let mut text = Vec::new();
    Trace::new(&machine, &program, &timing).write_kanata(&mut text).unwrap();
    let log = read_kanata(&String::from_utf8(text).unwrap());
    assert_eq!(log.len(), program.instructions.len());
    let mut stalls: BTreeMap<&str, u64> = BTreeMap::new();
    let mut retired = Vec::new();
    for (&id, logged) in &log {
        assert_eq!(logged.label, format!("{id}: {}", program.listing().text(&program.instructions[id])));
        let timestamps = timing.timestamps[id];
        let start = |stage: &str| {
            let stage = logged.stages[&0].iter().find(|(name, ..)| name == stage);
            stage.map(|(_, from, _)| Cycle(*from))
        };
        let pipe = program.instructions[id].pipe();
        assert_eq!(start(&format!("X{}", pipe.name())), Some(timestamps.issue));
        if timestamps.dispatch < timestamps.issue {
            assert_eq!(start("Ds"), Some(timestamps.dispatch));
        }
        for (cause, from, to) in logged.stages.get(&1).into_iter().flatten() {
            *stalls.entry(cause).or_default() += to.unwrap() - from;
        }
        let (cycle, order) = logged.retired.unwrap();
        assert!(Cycle(cycle) >= timestamps.complete);
        retired.push(order);
    }
    retired.sort_unstable();
    assert!(retired.into_iter().eq(0..log.len() as u64), "retirement is numbered without gaps");
    for cause in Cause::all() {
        let at_front_end = !matches!(cause, Cause::Issue | Cause::Drain);
        let expected = if at_front_end { timing.stalls.get(cause) } else { 0 };
        assert_eq!(stalls.get(cause.name()).copied().unwrap_or(0), expected, "{cause:?}");
    }
    let producers: Vec<_> = log.values().map(|logged| logged.producers.clone()).collect();
    assert_eq!(producers, [vec![], vec![], vec![], vec![1], vec![3, 2], vec![4], vec![]]);
}
