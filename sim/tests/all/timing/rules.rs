//! Each rule of the cycle model in isolation: an instruction is blocked up to a cycle and ready in
//! it.
//!
//! On the machine of these tests, an instruction takes 4 beats. The multiplier has 11 stages, the
//! adder 1, the shuffle crossbar 5 and the vector crossbar 4. The first dispatch is in cycle 2. An
//! instruction issues at least 1 cycle after its dispatch.

use b512_asm::{AReg, AddressMode, Image, Instr, Log2, MReg, Offset, Pipe, Program, SReg, Segment, VReg};
use sim::testing as random;
use sim::timing::scheduling::{Decoder, Engine};
use sim::timing::{Cause, Cycle, Timing};
use sim::{Machine, MachineFile, Override};

pub(crate) fn v(register: usize) -> VReg {
    VReg::at(register)
}

/// The settings that these tests assume, independent of the calibration of the paper's machine.
const FIXED: [&str; 3] =
    ["frontend.source_release=complete", "frontend.dispatch_to_issue_cycles=1", "sbar.latency_cycles=5"];

/// The machine of these tests, with changes.
pub(crate) fn machine(changes: &[&str]) -> Machine {
    let changes = FIXED.iter().chain(changes);
    let overrides: Vec<_> = changes.map(|change| Override::parse(change).unwrap()).collect();
    MachineFile::built_in("rpu-128x128", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn program(instructions: &[Instr]) -> Program {
    Program { instructions: instructions.to_vec(), ..Program::default() }
}

/// The timing of a program; asserts that both models agree.
fn run(changes: &[&str], instructions: &[Instr]) -> Timing {
    let (machine, program) = (machine(changes), program(instructions));
    random::compare(&machine, &program).unwrap_or_else(|difference| panic!("{difference}"))
}

const RM: MReg = MReg::at(0);
const RT: SReg = SReg::at(0);

fn vmul(vd: usize, vs: usize, vt: usize) -> Instr {
    Instr::Vmul { vd: v(vd), vs: v(vs), vt: v(vt), rm: RM }
}

fn vadd(vd: usize, vs: usize, vt: usize) -> Instr {
    Instr::Vadd { vd: v(vd), vs: v(vs), vt: v(vt), rm: RM }
}

fn bfly(vd: usize, vd1: usize, vs: usize, vt: usize, vt1: usize) -> Instr {
    Instr::Bfly { vd: v(vd), vd1: v(vd1), vs: v(vs), vt: v(vt), vt1: v(vt1), rm: RM }
}

fn unpklo(vd: usize, vs: usize, vt: usize) -> Instr {
    Instr::Unpklo { vd: v(vd), vs: v(vs), vt: v(vt) }
}

fn load_as(vd: usize, words: u32, mode: AddressMode) -> Instr {
    Instr::Vload { vd: v(vd), base: AReg::at(0), offset: Offset::new(words).unwrap(), mode }
}

fn store_as(vs: usize, words: u32, mode: AddressMode) -> Instr {
    Instr::Vstore { vs: v(vs), base: AReg::at(0), offset: Offset::new(words).unwrap(), mode }
}

fn load(vd: usize) -> Instr {
    load_as(vd, 0, AddressMode::Linear)
}

fn store(vs: usize) -> Instr {
    store_as(vs, 0, AddressMode::Linear)
}

fn sload() -> Instr {
    Instr::Sload { rt: RT, offset: Offset::default() }
}

fn log2(value: u8) -> Log2 {
    Log2::new(value).unwrap()
}

/// Asserts that `next`, after `before`, is blocked in the cycle before `cycle` and dispatches in it.
#[track_caller]
fn assert_dispatches(changes: &[&str], before: &[Instr], next: Instr, cycle: u64) {
    let machine = machine(changes);
    let mut decoder = Decoder::new(&machine);
    let mut engine = Engine::new(&machine);
    for instr in before {
        engine.dispatch(&decoder.decode(instr));
    }
    let micro_op = decoder.decode(&next);
    while engine.now() < Cycle(cycle) {
        assert!(engine.try_dispatch(&micro_op).is_err(), "not blocked in cycle {}", engine.now());
        engine.advance();
    }
    assert_eq!(engine.try_dispatch(&micro_op), Ok(()), "blocked in cycle {cycle}");
    let all: Vec<_> = before.iter().copied().chain([next]).collect();
    assert_eq!(run(changes, &all).timestamps[before.len()].dispatch, Cycle(cycle));
}

#[track_caller]
fn assert_issues(changes: &[&str], instructions: &[Instr], cycles: &[u64]) {
    let issues: Vec<_> = run(changes, instructions).timestamps.iter().map(|s| s.issue.0).collect();
    assert_eq!(issues, cycles);
}

#[test]
fn the_first_instruction_dispatches_once_it_is_fetched() {
    assert_dispatches(&[], &[], load(0), 2);
    assert_dispatches(&["frontend.fetch_to_dispatch_cycles=0"], &[], load(0), 0);
    assert_eq!(run(&[], &[load(0)]).stalls.get(Cause::Fetch), 2);
}

#[test]
fn as_many_dispatch_in_a_cycle_as_the_front_end_is_wide() {
    assert_dispatches(&[], &[load(0)], load(1), 3);
    assert_dispatches(&["frontend.width=2"], &[load(0)], load(1), 2);
    assert_dispatches(&["frontend.width=2"], &[load(0), load(1)], load(2), 3);
    let slow = "frontend.cycles_per_instruction=3";
    assert_dispatches(&[slow], &[load(0)], load(1), 5);
    assert_dispatches(&[slow, "frontend.width=2"], &[load(0)], load(1), 2);
    assert_dispatches(&[slow, "frontend.width=2"], &[load(0), load(1)], load(2), 5);
    assert_dispatches(&[slow, "frontend.width=2"], &[load(0), load(1), load(2)], load(3), 5);
    assert_dispatches(&[slow, "ideal.front_end=true"], &[load(0)], load(1), 2);
    assert_dispatches(&["ideal.front_end=true"], &[load(0), load(1), load(2)], load(3), 2);
}

#[test]
fn a_scalar_load_holds_the_front_end() {
    for next in [load(0), sload(), Instr::Halt {}] {
        assert_dispatches(&[], &[sload()], next, 4);
        assert_dispatches(&["scalar.load_latency_cycles=7"], &[sload()], next, 9);
    }
    let loads = [
        Instr::Aload { rt: AReg::at(1), offset: Offset::default() },
        Instr::Mload { rt: MReg::at(1), offset: Offset::default() },
    ];
    for scalar_load in loads {
        assert_dispatches(&[], &[scalar_load], load(0), 4);
    }
    // A halt reserves no registers.
    assert_dispatches(&[], &[Instr::Halt {}], load(0), 3);
    assert_eq!(run(&[], &[sload(), load(0)]).stalls.get(Cause::Scalar), 1);
}

#[test]
fn a_register_in_use_blocks_until_its_user_completes() {
    // The product issues in 3 and completes 11 + 4 cycles later.
    let product = vmul(0, 1, 2);
    for (name, next) in [("read", vadd(3, 0, 4)), ("written", vadd(0, 3, 4))] {
        assert_dispatches(&[], &[product], next, 18);
        let stalls = run(&[], &[product, next]).stalls;
        assert_eq!(stalls.get(Cause::Busy(Pipe::Compute)), 18 - 3, "{name}");
    }
    // Its sources are busy as well.
    assert_dispatches(&[], &[product], vadd(1, 3, 4), 18);
    assert_dispatches(&[], &[product], vadd(3, 1, 4), 18);
    // An unused register is free.
    assert_dispatches(&[], &[product], vadd(3, 4, 5), 3);
}

#[test]
fn readers_share_a_register_where_the_busyboard_lets_them() {
    let shared = ["frontend.busyboard=shared-reads"];
    assert_dispatches(&shared, &[vmul(0, 1, 2)], vadd(3, 1, 4), 3);
    assert_dispatches(&shared, &[vmul(0, 1, 2)], vadd(1, 3, 4), 18);
    assert_dispatches(&shared, &[vmul(0, 1, 2)], vadd(3, 0, 4), 18);
}

#[test]
fn a_source_can_be_released_once_it_is_read() {
    // It issues in cycle 3 and takes four beats.
    let release = ["frontend.source_release=read"];
    assert_dispatches(&release, &[vmul(0, 1, 2)], vadd(1, 3, 4), 7);
    assert_dispatches(&release, &[vmul(0, 1, 2)], vadd(3, 1, 4), 7);
    // A destination that is also a source stays busy.
    assert_dispatches(&release, &[vmul(1, 1, 2)], vadd(3, 1, 4), 18);
}

#[test]
fn a_full_queue_blocks_until_the_cycle_after_its_head_issues() {
    // The instructions issue in cycles 3, 7 and 11.
    let depth = ["frontend.queue_depth=1", "ideal.vrf_ports=true"];
    assert_dispatches(&depth, &[load(0)], load(1), 4);
    assert_dispatches(&depth, &[load(0), load(1)], load(2), 8);
    assert_dispatches(&["frontend.queue_depth=2"], &[load(0), load(1)], load(2), 4);
    assert_eq!(run(&depth, &[load(0), load(1), load(2)]).stalls.get(Cause::Queue(Pipe::LoadStore)), 1 + 3);
    // The queues of other pipes are unaffected, as are all queues of an ideal machine.
    assert_dispatches(&depth, &[load(0), load(1)], vmul(2, 3, 4), 5);
    let ideal = ["frontend.queue_depth=1", "ideal.queues=true"];
    assert_dispatches(&ideal, &[load(0), load(1)], load(2), 4);
}

#[test]
fn instructions_that_dispatch_in_one_cycle_fill_a_queue_together() {
    let changes = ["frontend.width=4", "frontend.queue_depth=2"];
    assert_dispatches(&changes, &[load(0), load(1)], load(2), 4);
}

#[test]
fn an_issue_waits_for_its_dispatch_and_its_pipe() {
    assert_issues(&[], &[load(0), load(1)], &[3, 7]);
    assert_issues(&["frontend.dispatch_to_issue_cycles=5"], &[load(0), load(1)], &[7, 11]);
    assert_issues(&["frontend.dispatch_to_issue_cycles=0"], &[load(0)], &[2]);
    // Pipes do not wait for one another.
    assert_issues(&["ideal.vrf_ports=true"], &[load(0), vmul(1, 2, 3), unpklo(4, 5, 6)], &[3, 4, 5]);
}

#[test]
fn split_paths_carry_a_load_and_a_store_at_once() {
    let split = ["vbar.paths=split", "vdm.ports=2"];
    let split: Vec<_> = split.into_iter().rev().collect();
    assert_issues(&split, &[load(0), store(1), load(2), store(3)], &[3, 4, 7, 8]);
    assert_issues(&[], &[load(0), store(1), load(2), store(3)], &[3, 7, 11, 15]);
    // The rate is still one per cycle.
    let wide = ["vdm.ports=2", "vbar.paths=split", "frontend.width=2"];
    assert_issues(&wide, &[load(0), store(1)], &[3, 4]);
}

#[test]
fn completion_follows_issue_by_latency_and_occupancy() {
    let changes = ["hple.adder_latency_cycles=2"];
    for (instr, latency) in [
        (vmul(0, 1, 2), 11),
        (Instr::Vmuls { vd: v(0), vs: v(1), rt: RT, rm: RM }, 11),
        (vadd(0, 1, 2), 2),
        (Instr::Vsub { vd: v(0), vs: v(1), vt: v(2), rm: RM }, 2),
        (Instr::Vadds { vd: v(0), vs: v(1), rt: RT, rm: RM }, 2),
        (Instr::Vsubs { vd: v(0), vs: v(1), rt: RT, rm: RM }, 2),
        (bfly(0, 1, 2, 3, 4), 13),
        (Instr::Gsbfly { vd: v(0), vd1: v(1), vs: v(2), vt: v(3), vt1: v(4), rm: RM }, 13),
        (unpklo(0, 1, 2), 5),
        (load(0), 4),
        (store(0), 4),
    ] {
        let timing = run(&changes, &[instr]);
        assert_eq!(timing.timestamps[0].complete, Cycle(3 + latency + 4), "{instr:?}");
        assert_eq!(timing.cycles, timing.timestamps[0].complete);
    }
}

#[test]
fn beats_are_one_element_per_hple_at_the_units_interval() {
    for (change, instr, occupancy) in [
        ("hple.count=64", vmul(0, 1, 2), 8),
        ("hple.count=512", vmul(0, 1, 2), 1),
        ("hple.initiation_interval=3", vmul(0, 1, 2), 12),
        ("hple.initiation_interval=3", unpklo(0, 1, 2), 4),
        ("sbar.initiation_interval=2", unpklo(0, 1, 2), 8),
        ("vbar.initiation_interval=2", load(0), 8),
        // Loads and stores transfer min(HPLEs, banks) elements per beat.
        ("hple.count=64", load(0), 8),
        ("vdm.banks=32", load(0), 16),
        ("vdm.banks=512", load(0), 4),
    ] {
        let busy = run(&[change], &[instr]).busy;
        assert_eq!(busy[instr.pipe()], occupancy, "{change} {instr:?}");
    }
}

#[test]
fn a_stream_takes_its_fill_and_then_one_occupancy_each() {
    // The n-th instruction of a stream, and its latency.
    type Stream = (fn(usize) -> Instr, u64);
    let streams: [Stream; 4] = [
        (load, 4),
        (|i| vmul(3 * i, 3 * i + 1, 3 * i + 2), 11),
        (|i| unpklo(3 * i, 3 * i + 1, 3 * i + 2), 5),
        (store, 4),
    ];
    for (hples, interval) in [(128, 1), (64, 1), (32, 2), (512, 3)] {
        let changes = [
            format!("hple.count={hples}"),
            format!("vdm.banks={hples}"),
            format!("hple.initiation_interval={interval}"),
            format!("sbar.initiation_interval={interval}"),
            format!("vbar.initiation_interval={interval}"),
            "ideal.vrf_ports=true".to_owned(),
        ];
        let changes: Vec<_> = changes.iter().map(String::as_str).collect();
        let occupancy = 512 / hples * interval;
        for (nth, latency) in streams {
            for length in [1, 2, 7, 21] {
                let stream: Vec<_> = (0..length as usize).map(nth).collect();
                let fill = 2 + 1 + latency + occupancy;
                let cycles = run(&changes, &stream).cycles;
                assert_eq!(cycles, Cycle(fill + (length - 1) * occupancy), "{:?} {changes:?}", stream[0]);
            }
        }
    }
}

#[test]
fn an_sram_serves_one_instruction_at_a_time() {
    // v16 and v0 share SRAM 0, which the product reads in cycles 3 to 6.
    assert_issues(&[], &[vmul(1, 0, 2), store(16)], &[3, 7]);
    assert_issues(&[], &[vmul(1, 0, 2), store(17)], &[3, 4]);
    // The product writes SRAM 1 in cycles 14 to 17; the third load would write it from cycle 15 on.
    let late = [vmul(1, 0, 2), load(3), load(4), load(17)];
    assert_issues(&[], &late, &[3, 4, 8, 14]);
    let waited = run(&[], &late).port_wait;
    assert!(waited.iter().all(|(pipe, &wait)| wait == if pipe == Pipe::LoadStore { 14 - 12 } else { 0 }));
    // Ideal ports cause no waits.
    assert_issues(&["ideal.vrf_ports=true"], &[vmul(1, 0, 2), store(16)], &[3, 4]);
}

#[test]
fn a_port_for_writes_serves_them_beside_reads() {
    let two = "vrf.ports=two-port";
    // Two reads of SRAM 0 meet, and two writes of SRAM 1; a read and a write do not.
    assert_issues(&[two], &[vmul(1, 0, 2), store(16)], &[3, 7]);
    assert_issues(&[two], &[vmul(1, 0, 2), load(3), load(4), load(17)], &[3, 4, 8, 14]);
    // The load writes SRAM 0 in cycles 7 to 10; the product would read it in cycles 4 to 7.
    assert_issues(&[], &[load(0), vmul(1, 16, 2)], &[3, 11]);
    assert_issues(&[two], &[load(0), vmul(1, 16, 2)], &[3, 4]);
    // Reads and writes of one instruction need not interleave.
    let timing = run(&[two, "hple.count=16"], &[vmul(0, 16, 1)]);
    assert_eq!((timing.busy[Pipe::Compute], timing.cycles), (32, Cycle(3 + 11 + 32)));
    let timing = run(&[two, "hple.count=16"], &[bfly(0, 16, 32, 48, 0)]);
    assert_eq!((timing.busy[Pipe::Compute], timing.cycles), (96, Cycle(3 + 12 + 96)));
}

#[test]
fn the_longest_accesses_fit_the_table_of_reservations() {
    // Three reads and two writes of SRAM 0 in each of 128 beats.
    let timing = run(&["hple.count=4"], &[bfly(0, 16, 32, 48, 0), store(1)]);
    assert_eq!(timing.busy[Pipe::Compute], 5 * 128);
}

#[test]
fn registers_share_an_sram_by_remainder_or_by_quotient() {
    assert_issues(&["vrf.placement=div"], &[vmul(1, 4, 8), store(16)], &[3, 4]);
    assert_issues(&["vrf.placement=div"], &[vmul(1, 4, 8), store(7)], &[3, 7]);
}

#[test]
fn the_older_or_the_first_pipe_goes_first() {
    // A shuffle and a store reach the heads of their queues in the same cycle; both read SRAM 0.
    let both = [unpklo(1, 0, 2), store(16)];
    let wide = "frontend.width=2";
    assert_issues(&[wide], &both, &[3, 7]);
    assert_issues(&[wide, "vrf.arbitration=pipe-order"], &both, &[7, 3]);
}

#[test]
fn operands_in_one_sram_lengthen_the_beat() {
    for (instr, occupancy) in [
        (vmul(1, 0, 2), 4),
        (vmul(1, 0, 16), 8),
        (bfly(1, 2, 0, 16, 32), 12),
        (bfly(1, 17, 3, 4, 5), 8),
        // An instruction that names a register twice reads it once.
        (vmul(1, 0, 0), 4),
        (bfly(1, 1, 3, 4, 5), 4),
    ] {
        assert_eq!(run(&[], &[instr]).busy[Pipe::Compute], occupancy, "{instr:?}");
    }
    // Port conflicts overlap with the initiation interval.
    assert_eq!(run(&["hple.initiation_interval=2"], &[vmul(1, 0, 16)]).busy[Pipe::Compute], 8);
}

#[test]
fn reading_and_writing_one_sram_interleave() {
    // The interval is 1 + 1; the latency is 1 modulo 2.
    let timing = run(&["hple.count=16"], &[vmul(0, 16, 1)]);
    assert_eq!((timing.busy[Pipe::Compute], timing.cycles), (64, Cycle(3 + 11 + 64)));
    let timing = run(&["hple.count=16", "hple.multiplier_latency_cycles=12"], &[vmul(0, 16, 1)]);
    assert_eq!((timing.busy[Pipe::Compute], timing.cycles), (64, Cycle(3 + 13 + 64)));
    // Three reads and two writes: the interval is 5, and the latency is 3 modulo 5.
    let timing = run(&["hple.count=16"], &[bfly(0, 16, 32, 48, 0)]);
    assert_eq!((timing.busy[Pipe::Compute], timing.cycles), (160, Cycle(3 + 13 + 160)));
    // The writes start after the last read, so the interval does not grow.
    assert_eq!(run(&["hple.count=512"], &[vmul(0, 16, 1)]).busy[Pipe::Compute], 1);
}

#[test]
fn banks_conflict_beat_by_beat() {
    let (linear, strided) = (AddressMode::Linear, |value| AddressMode::Strided(log2(value)));
    let skip = |value| AddressMode::StridedSkip(log2(value));
    let repeated = |value| AddressMode::Repeated(log2(value));
    for (changes, instr, occupancy) in [
        (&[][..], load_as(0, 5, linear), 4),
        // Every 2^k-th bank has 2^k accesses.
        (&[], load_as(0, 0, strided(1)), 8),
        (&[], load_as(0, 3, strided(3)), 32),
        (&[], store_as(0, 0, strided(7)), 512),
        (&[], store_as(0, 0, strided(12)), 512),
        // Two words map to each of half the banks, unless a block fills a beat.
        (&[], load_as(0, 0, skip(0)), 8),
        (&[], load_as(0, 0, skip(6)), 8),
        (&[], load_as(0, 0, skip(7)), 4),
        // A load reads a word once for all lanes; a store writes it once per lane.
        (&[], load_as(0, 9, repeated(0)), 4),
        (&[], store_as(0, 9, repeated(0)), 512),
        (&[], store_as(0, 9, repeated(5)), 16),
        // Without multicast, a load also reads it once per lane.
        (&["vdm.multicast=false"], load_as(0, 9, repeated(0)), 512),
        (&["vdm.multicast=false"], load_as(0, 9, repeated(5)), 16),
        // Two ports serve two accesses per cycle.
        (&["vdm.ports=2"], load_as(0, 0, strided(1)), 4),
        (&["vdm.ports=2"], load_as(0, 0, strided(3)), 16),
        (&["vdm.ports=2", "vbar.paths=split"], load_as(0, 0, strided(1)), 8),
        // Folded banks have no conflicts at aligned power-of-two strides.
        (&["vdm.mapping=xor"], load_as(0, 0, strided(1)), 4),
        (&["vdm.mapping=xor"], load_as(0, 0, strided(5)), 4),
        (&["vdm.mapping=xor"], load_as(0, 0, linear), 4),
        // With fewer HPLEs than banks, a beat has fewer lanes and therefore fewer conflicts.
        (&["hple.count=32"], load_as(0, 0, strided(1)), 16),
        (&["ideal.bank_conflicts=true"], load_as(0, 0, strided(7)), 4),
        (&["vbar.initiation_interval=2"], load_as(0, 0, strided(1)), 16),
    ] {
        let timing = run(changes, &[instr]);
        assert_eq!(timing.busy[Pipe::LoadStore], occupancy, "{changes:?} {instr:?}");
    }
    assert_eq!(run(&[], &[load_as(0, 0, strided(3))]).bank_conflicts, 32 - 4);
}

#[test]
fn an_address_register_moves_the_access() {
    // Folded banks: words 1 and 128 share bank 1.
    let program = |base| Program {
        addresses: vec![(AReg::at(0), base)],
        ..program(&[load(0), Instr::Aload { rt: AReg::at(0), offset: Offset::default() }, load(1)])
    };
    let machine = machine(&["vdm.mapping=xor"]);
    let busy = |base| random::compare(&machine, &program(base)).unwrap().busy[Pipe::LoadStore];
    // The address load then sets the register to 0, the SDM's first word.
    assert_eq!(busy(0), 4 + 4);
    assert!(busy(1) > 4 + 4);
}

#[test]
fn banks_are_used_at_the_addresses_that_the_program_loads() {
    let load = |vd, base| {
        let mode = AddressMode::Repeated(log2(0));
        Instr::Vload { vd: v(vd), base: AReg::at(base), offset: Offset::default(), mode }
    };
    let set = Instr::Aload { rt: AReg::at(0), offset: Offset::default() };
    let program = Program {
        sdm: Image { segments: vec![Segment { start: 0, words: vec![5] }] },
        addresses: vec![(AReg::at(1), 7)],
        ..program(&[load(0, 0), set, load(1, 0), load(2, 1)])
    };
    let machine = machine(&[]);
    let timing = random::compare(&machine, &program).unwrap();
    // One access in each beat: its lanes share the word.
    let share = 4.0 / timing.cycles.0 as f64;
    let banks = timing.bank_utilisation(&machine, &program).unwrap();
    let expected: Vec<f64> =
        (0..128).map(|bank| if [0, 5, 7].contains(&bank) { share } else { 0.0 }).collect();
    assert_eq!(banks, expected);
}

#[test]
fn banks_are_used_as_much_as_they_are_accessed() {
    let (machine, program) = (machine(&[]), program(&[load_as(0, 0, AddressMode::Strided(log2(1)))]));
    let timing = random::compare(&machine, &program).unwrap();
    let cycles = timing.cycles.0 as f64;
    let banks = timing.bank_utilisation(&machine, &program).unwrap();
    assert_eq!(banks.len(), 128);
    for (bank, share) in banks.into_iter().enumerate() {
        let accesses = if bank % 2 == 0 { 8.0 } else { 0.0 };
        assert_eq!(share, accesses / cycles, "bank {bank}");
    }
}

#[test]
fn cycles_are_charged_to_the_first_rule_that_fails() {
    // Sources are checked before destinations, and the store's pipe before the shuffle's.
    let shared = ["frontend.busyboard=shared-reads", "ideal.vrf_ports=true"];
    let stalls = run(&shared, &[store(0), unpklo(1, 0, 2), vadd(0, 3, 4)]).stalls;
    // The store issues in 3 and completes in 11, the shuffle issues in 4 and completes in 13.
    assert_eq!(stalls.get(Cause::Busy(Pipe::LoadStore)), 11 - 4);
    assert_eq!(stalls.get(Cause::Busy(Pipe::Shuffle)), 13 - 11);
    assert_eq!(stalls.get(Cause::Issue), 3);
    assert_eq!(stalls.get(Cause::Fetch), 2);
    // The sum issues in 14 and completes in 19.
    assert_eq!(stalls.get(Cause::Drain), 19 - 14);
    assert_eq!(stalls.total(), 19);
    assert_eq!(Cause::all().map(|cause| stalls.get(cause)).sum::<u64>(), 19);
}

#[test]
fn a_chain_leads_through_any_source() {
    let chain = |[vs, vt, vt1]: [usize; 3]| {
        run_with_bounds(&[], &[vmul(1, 2, 3), bfly(8, 9, vs, vt, vt1)]).bounds.dependence
    };
    let first = chain([1, 4, 5]);
    assert!(first > chain([6, 4, 5]));
    assert_eq!([chain([4, 1, 5]), chain([4, 5, 1])], [first; 2]);
}

#[test]
fn the_bounds_are_those_of_the_busiest_unit_and_the_longest_chain() {
    let timing = run_with_bounds(&[], &[load(0), vmul(1, 0, 2), unpklo(3, 1, 4), store(3)]);
    // Each link takes 1 cycle to issue, plus its latency and 4 beats.
    assert_eq!(timing.bounds.dependence, Cycle(2 + (1 + 8) + (1 + 15) + (1 + 9) + (1 + 8)));
    assert_eq!(timing.cycles, timing.bounds.dependence);
    // Four instructions of one pipe; two of them need SRAM 0 for eight cycles each.
    let timing = run_with_bounds(&[], &[vmul(1, 0, 16), vmul(2, 32, 48), vmul(3, 4, 5), vmul(6, 7, 8)]);
    assert_eq!(timing.bounds.resource, Cycle(8 + 8 + 4 + 4));
    // An SRAM that several pipes need can be the busiest resource.
    let timing = run_with_bounds(&[], &[vmul(1, 0, 16), unpklo(2, 32, 48), store(16)]);
    assert_eq!(timing.bounds.resource, Cycle(8 + 8 + 4));
    // The front end: five instructions; each scalar load but the last holds it for 2 cycles.
    let timing = run_with_bounds(&[], &[sload(), sload(), sload(), sload(), Instr::Halt {}]);
    assert_eq!(timing.bounds.resource, Cycle(5 + 3));
    let program = [sload(), sload(), sload(), sload(), Instr::Halt {}];
    let timing = run_with_bounds(&["frontend.cycles_per_instruction=3"], &program);
    assert_eq!(timing.bounds.resource, Cycle(4 * 3 + 1));
}

fn run_with_bounds(changes: &[&str], instructions: &[Instr]) -> Timing {
    sim::timing::simulate(&machine(changes), &program(instructions))
}

#[test]
fn instructions_are_counted_by_pipe() {
    let timing = run(&[], &[load(0), store(1), vmul(2, 3, 4), unpklo(5, 6, 7), sload(), Instr::Halt {}]);
    let pipes = [Pipe::LoadStore, Pipe::Compute, Pipe::Shuffle, Pipe::Scalar];
    assert_eq!(pipes.map(|pipe| timing.instructions[pipe]), [2, 1, 1, 2]);
    assert_eq!(pipes.map(|pipe| timing.busy[pipe]), [8, 4, 4, 0]);
}

/// A unit with two paths or two ports can be twice as busy.
#[test]
fn utilisation_is_a_share_of_the_cycles_of_all_paths_and_ports() {
    for (changes, paths, ports) in [
        (&[][..], 1.0, 1.0),
        (&["vbar.paths=split", "vdm.ports=2"], 2.0, 1.0),
        (&["vrf.ports=two-port"], 1.0, 2.0),
    ] {
        let timing = run(changes, &[load(0), vmul(1, 2, 3)]);
        let found = timing.utilisation(&machine(changes));
        let share = 4.0 / timing.cycles.0 as f64;
        let of = |pipe| found.pipes[pipe];
        assert_eq!([of(Pipe::LoadStore), of(Pipe::Compute), of(Pipe::Shuffle)], [share / paths, share, 0.0]);
        assert_eq!(found.srams[..5], [share / ports, share / ports, share / ports, share / ports, 0.0]);
    }
}

/// An SRAM is read once a beat for all operands in one register.
#[test]
fn a_register_that_is_read_thrice_is_read_once() {
    assert_eq!(run(&[], &[bfly(1, 2, 16, 16, 16)]).sram_busy[..3], [4, 4, 4]);
}
