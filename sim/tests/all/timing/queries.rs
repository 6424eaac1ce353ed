//! The engine's answers to a scheduler, in small known situations.
//!
//! On the machine of [`rules`](super::rules), a load that dispatches in cycle 2 issues in cycle 3, and writes
//! its register's SRAM in cycles 7 to 10.

use super::rules::{machine, program, v};
use b512_asm::{AReg, AddressMode, Instr, Log2, MReg, Offset, Op, Pipe, Program, SReg};
use rayon::prelude::*;
use sim::Machine;
use sim::testing as random;
use sim::timing::Cycle;
use sim::timing::scheduling::{Decoder, Engine, Expectations, MicroOp, Stall};
use std::collections::BTreeSet;

fn load(vd: usize) -> Instr {
    Instr::Vload { vd: v(vd), base: AReg::at(0), offset: Offset::default(), mode: AddressMode::Linear }
}

fn store(vs: usize) -> Instr {
    Instr::Vstore { vs: v(vs), base: AReg::at(0), offset: Offset::default(), mode: AddressMode::Linear }
}

fn vmul(vd: usize, vs: usize, vt: usize) -> Instr {
    Instr::Vmul { vd: v(vd), vs: v(vs), vt: v(vt), rm: MReg::at(0) }
}

fn sload() -> Instr {
    Instr::Sload { rt: SReg::at(0), offset: Offset::default() }
}

fn micro_op(machine: &Machine, instr: Instr) -> MicroOp {
    Decoder::program(machine, &program(&[instr]))[0]
}

/// The machine, and its engine after the dispatch of `instr` in cycle 2.
fn after(changes: &[&str], instr: Instr) -> (Machine, Engine) {
    let machine = machine(changes);
    let mut engine = Engine::new(&machine);
    assert_eq!(engine.dispatch(&micro_op(&machine, instr)), Cycle(2));
    (machine, engine)
}

#[test]
fn the_srams_that_writes_would_meet() {
    let (_, mut engine) = after(&[], load(5));
    assert_eq!(engine.srams_taken(Cycle(7), 1), 0, "it has not issued");
    engine.advance_to(Cycle(4));
    for from in 3..=12 {
        for count in 1..=9 {
            let meets = from <= 10 && from + u64::from(count) > 7;
            assert_eq!(engine.srams_taken(Cycle(from), count), u16::from(meets) << 5, "{from} {count}");
        }
    }
    // The same port serves reads, unless writes have their own.
    for (changes, expected) in [(&[][..], 1), (&["vrf.ports=two-port"], 0)] {
        let (_, mut engine) = after(changes, store(0));
        engine.advance_to(Cycle(4));
        assert_eq!(engine.srams_taken(Cycle(4), 1), expected, "{changes:?}");
    }
}

/// The SRAMs that a write would meet in each cycle in which there are any.
fn taken(engine: &Engine, expected: &Expectations, cycles: std::ops::Range<u64>) -> Vec<(u64, u16)> {
    let taken = |cycle| (cycle, engine.srams_taken_beside(Cycle(cycle), 1, expected));
    cycles.map(taken).filter(|(_, srams)| *srams != 0).collect()
}

#[test]
fn instructions_in_queues_are_expected_to_access_srams() {
    for two_ports in [false, true] {
        let changes: &[&str] = if two_ports { &["vrf.ports=two-port"] } else { &[] };
        let (machine, engine) = after(changes, load(0));
        let mut expected = Engine::expectations(&machine);
        engine.expect(&mut expected, &micro_op(&machine, load(0)), Cycle(3));
        assert_eq!(taken(&engine, &expected, 2..500), [(7, 1), (8, 1), (9, 1), (10, 1)]);
        assert_eq!(engine.srams_taken_beside(Cycle(2), 6, &expected), 1);
        assert_eq!(engine.srams_taken_beside(Cycle(2), 7, &expected), 1);
        assert_eq!(engine.srams_taken_beside(Cycle(2), 5, &expected), 0);

        // A product that reads SRAM 0 for four cycles.
        let reader = micro_op(&machine, vmul(1, 16, 2));
        assert_eq!(engine.earliest_issue(&reader, Cycle(4)), Cycle(4));
        let beside = |from| engine.earliest_issue_beside(&reader, Cycle(from), &expected).0;
        assert_eq!([3, 4, 11].map(beside), if two_ports { [3, 4, 11] } else { [3, 11, 11] });
        // A load that writes it.
        let writer = micro_op(&machine, load(32));
        let beside = |from| engine.earliest_issue_beside(&writer, Cycle(from), &expected).0;
        assert_eq!([3, 6, 7].map(beside), [7, 7, 7]);

        // Reads are expected too, and only writes meet a port of their own.
        engine.expect(&mut expected, &micro_op(&machine, store(5)), Cycle(20));
        let all: Vec<_> = (7..11).map(|at| (at, 1)).chain((20..24).map(|at| (at, 32))).collect();
        assert_eq!(taken(&engine, &expected, 2..500), all[..if two_ports { 4 } else { 8 }]);
    }
}

#[test]
fn an_sram_may_be_taken_and_expected_in_different_cycles() {
    let (machine, mut engine) = after(&[], load(0));
    engine.advance_to(Cycle(4));
    let mut expected = Engine::expectations(&machine);
    engine.expect(&mut expected, &micro_op(&machine, load(0)), Cycle(7));
    assert_eq!(taken(&engine, &expected, 4..100), (7..15).map(|at| (at, 1)).collect::<Vec<_>>());
    assert_eq!(engine.srams_taken_beside(Cycle(4), 20, &expected), 1);
}

#[test]
fn expected_accesses_are_as_far_apart_as_beats() {
    let (machine, engine) = after(&["hple.initiation_interval=2"], sload());
    let mut expected = Engine::expectations(&machine);
    engine.expect(&mut expected, &micro_op(&machine, vmul(1, 16, 2)), Cycle(3));
    let reads = [3, 5, 7, 9].map(|at| (at, 0b101));
    let writes = [14, 16, 18, 20].map(|at| (at, 0b10));
    assert_eq!(taken(&engine, &expected, 2..500), [reads, writes].concat());
    // Two beats.
    let (machine, engine) = after(&["hple.count=256", "hple.initiation_interval=3"], sload());
    let mut expected = Engine::expectations(&machine);
    engine.expect(&mut expected, &micro_op(&machine, vmul(1, 16, 2)), Cycle(3));
    assert_eq!(taken(&engine, &expected, 2..500), [(3, 0b101), (6, 0b101), (14, 0b10), (17, 0b10)]);
}

#[test]
fn a_long_delay_before_issue_is_within_the_table() {
    let (machine, engine) = after(&["frontend.dispatch_to_issue_cycles=1000"], sload());
    let mut expected = Engine::expectations(&machine);
    engine.expect(&mut expected, &micro_op(&machine, load(0)), Cycle(1002));
    assert_eq!(taken(&engine, &expected, 2..1500), [1006, 1007, 1008, 1009].map(|at| (at, 1)));
}

/// The table is a ring, which moves with the front end.
#[test]
fn expectations_are_forgotten_once_they_are_past() {
    let (machine, mut engine) = after(&[], sload());
    let reader = micro_op(&machine, store(5));
    let mut expected = Engine::expectations(&machine);
    for now in (3..20_000).step_by(7) {
        engine.advance_to(Cycle(now));
        engine.expect(&mut expected, &reader, Cycle(now + 5));
        let own = (now + 5..now + 9).map(|at| (at, 32));
        // The previous reader has two cycles left.
        let before = (now..now + 2).filter(|_| now > 3).map(|at| (at, 32));
        assert_eq!(taken(&engine, &expected, now..now + 100), before.chain(own).collect::<Vec<_>>());
    }
}

#[test]
fn an_instruction_without_its_writes_meets_reads_only() {
    let (machine, mut engine) = after(&[], load(0));
    engine.advance_to(Cycle(4));
    // Its load writes SRAM 0 in cycles 7 to 10.
    let product = micro_op(&machine, vmul(0, 16, 2));
    let issue = |micro_op| [2, 7].map(|from| engine.earliest_issue(&micro_op, Cycle(from)).0);
    assert_eq!(issue(micro_op(&machine, load(16))), [7, 7]);
    assert_eq!(issue(micro_op(&machine, load(16)).without_writes()), [3, 7]);
    assert_eq!(issue(product), issue(product.without_writes()));
}

#[test]
fn a_decoder_knows_the_least_occupancy_and_follows_addresses() {
    let machine = machine(&["vdm.mapping=xor", "hple.initiation_interval=2", "vbar.initiation_interval=3"]);
    let mut decoder = Decoder::new(&machine);
    for (op, occupancy) in [(Op::Vmul, 8), (Op::Unpklo, 4), (Op::Vload, 12), (Op::Vstore, 12)] {
        assert_eq!(decoder.least_occupancy(op), occupancy, "{op:?}");
    }
    let strided = |offset| {
        let mode = AddressMode::Strided(Log2::new(7).unwrap());
        Instr::Vload { vd: v(0), base: AReg::at(2), offset: Offset::new(offset).unwrap(), mode }
    };
    let mut occupancies = BTreeSet::new();
    for address in 0..500 {
        decoder.set_address(AReg::at(2), 37 * address);
        let mut program = program(&[strided(0)]);
        program.addresses = vec![(AReg::at(2), 37 * address)];
        let found = decoder.decode(&strided(0));
        assert_eq!(found, Decoder::program(&machine, &program)[0]);
        occupancies.insert(found.occupancy);
    }
    assert!(occupancies.len() > 1, "{occupancies:?}");
}

#[test]
fn nothing_is_known_of_the_past_and_of_the_far_future() {
    let (machine, mut engine) = after(&[], load(0));
    let writer = micro_op(&machine, load(0));
    let mut expected = Engine::expectations(&machine);
    engine.expect(&mut expected, &writer, Cycle(3));
    // Beyond the table, which is a ring.
    engine.expect(&mut expected, &writer, Cycle(200_011));
    assert_eq!(taken(&engine, &expected, 11..5000), []);
    for cycle in 100_000..105_000 {
        assert_eq!(engine.srams_taken_beside(Cycle(cycle), 1, &expected), 0);
        assert_eq!(engine.earliest_issue_beside(&writer, Cycle(cycle), &expected), Cycle(cycle));
    }
    for now in [30, 20_000] {
        engine.advance_to(Cycle(now));
        engine.expect(&mut expected, &writer, Cycle(now + 1));
        let own = [5, 6, 7, 8].map(|cycle| (now + cycle, 1));
        assert_eq!(taken(&engine, &expected, now..now + 5000), own);
    }
}

/// The table of reservations moves with the issues, however far apart.
#[test]
fn the_machine_may_pause() {
    let (machine, mut engine) = after(&[], load(0));
    for now in [100_000, 100_020, 1_000_000] {
        engine.advance_to(Cycle(now));
        engine.dispatch(&micro_op(&machine, load(0)));
        engine.advance_to(Cycle(now + 2));
        let own = [5, 6, 7, 8].map(|cycle| (now + cycle, 1));
        assert_eq!(taken(&engine, &Engine::expectations(&machine), now..now + 5000), own);
    }
}

#[test]
fn a_machine_is_idle_once_everything_has_completed() {
    let idle_from = |changes: &[&str], instr| {
        let (_, mut engine) = after(changes, instr);
        (2..100).find(|&now| {
            engine.advance_to(Cycle(now));
            engine.idle()
        })
    };
    assert!(Engine::new(&machine(&[])).idle());
    // In its queue up to cycle 3, in its pipe up to cycle 10.
    assert_eq!(idle_from(&[], load(0)), Some(11));
    assert_eq!(idle_from(&["frontend.dispatch_to_issue_cycles=20"], load(0)), Some(30));
    assert_eq!(idle_from(&["scalar.load_latency_cycles=5"], sload()), Some(7));
    assert_eq!(
        idle_from(&["scalar.load_latency_cycles=1", "frontend.cycles_per_instruction=4"], sload()),
        Some(6)
    );
}

#[test]
fn the_last_completion_need_not_be_that_of_the_last_issue() {
    // The product completes in cycle 18. The sum issues in cycle 7 and completes in cycle 12.
    let (machine, mut engine) = after(&[], vmul(1, 2, 3));
    engine.dispatch(&micro_op(&machine, Instr::Vadd { vd: v(4), vs: v(5), vt: v(6), rm: MReg::at(0) }));
    for now in 4..20 {
        engine.advance_to(Cycle(now));
        assert_eq!(engine.idle(), now >= 18, "{now}");
    }
}

#[test]
fn the_front_end_says_what_it_waits_for() {
    let (machine, mut engine) = after(&["scalar.load_latency_cycles=5"], sload());
    let next = micro_op(&machine, load(1));
    assert_eq!((engine.accepts(), engine.try_dispatch(&next)), (false, Err(Stall::Until(Cycle(3)))));
    engine.advance_to(Cycle(3));
    assert_eq!((engine.accepts(), engine.try_dispatch(&next)), (false, Err(Stall::Until(Cycle(7)))));
    engine.advance_to(Cycle(7));
    assert_eq!((engine.accepts(), engine.try_dispatch(&next)), (true, Ok(())));

    let (machine, mut engine) = after(&["frontend.width=2", "frontend.queue_depth=1"], load(0));
    let next = micro_op(&machine, load(1));
    assert!(engine.accepts() && !engine.has_room(Pipe::LoadStore) && engine.has_room(Pipe::Compute));
    assert_eq!(engine.try_dispatch(&next), Err(Stall::UntilIssue));
    engine.advance_to(Cycle(4));
    assert!(engine.has_room(Pipe::LoadStore));
    assert_eq!(engine.try_dispatch(&next), Ok(()));
    // A register in use: its load completes in cycle 11.
    assert_eq!(engine.try_dispatch(&micro_op(&machine, vmul(1, 0, 2))), Err(Stall::Until(Cycle(11))));
}

#[test]
fn each_path_of_a_pipe_is_free_by_itself() {
    let (_, engine) = after(&["vbar.paths=split", "vdm.ports=2"], store(0));
    // The store takes its path in cycles 3 to 6.
    assert_eq!([0, 1].map(|path| engine.pipe_free(Pipe::LoadStore, path)), [Cycle(3), Cycle(7)]);
    assert_eq!(engine.pipe_free(Pipe::Compute, 0), Cycle(3));
    let (_, engine) = after(&[], store(0));
    assert_eq!(engine.pipe_free(Pipe::LoadStore, 0), Cycle(7));
}

#[test]
fn registers_are_free_for_readers_and_for_writers() {
    // For each cycle, the registers that are not free for a reader, and those not free for a writer.
    let busy = |changes: &[&str], instr, cycles: std::ops::Range<u64>| -> Vec<(u64, u64)> {
        let (_, mut engine) = after(changes, instr);
        let mut at = |now| {
            engine.advance_to(Cycle(now));
            let free = engine.free_registers();
            (!free.readable, !free.writable)
        };
        cycles.map(&mut at).collect()
    };
    // The load completes in cycle 11, the product in cycle 18.
    let [strict, shared] = ["strict", "shared-reads"].map(|board| format!("frontend.busyboard={board}"));
    assert_eq!(busy(&[&strict], load(5), 2..13), [[(32, 32)].repeat(9), [(0, 0)].repeat(2)].concat());
    assert_eq!(busy(&[&shared], load(5), 2..13), [[(32, 32)].repeat(9), [(0, 0)].repeat(2)].concat());
    assert_eq!(busy(&[&strict], vmul(1, 0, 2), 2..20), [[(7, 7)].repeat(16), [(0, 0)].repeat(2)].concat());
    assert_eq!(busy(&[&shared], vmul(1, 0, 2), 2..20), [[(2, 7)].repeat(16), [(0, 0)].repeat(2)].concat());
    // Of two readers, one is in the pipe and one waits for it.
    let (machine, mut engine) = after(&[&shared], vmul(1, 0, 2));
    engine.dispatch(&micro_op(&machine, vmul(3, 0, 2)));
    engine.advance_to(Cycle(5));
    let free = engine.free_registers();
    assert_eq!((!free.readable, !free.writable), (0b1010, 0b1111));
}

/// The decoder looks a load or store up by a smaller address with the same conflicts.
#[test]
fn rounds_are_those_of_the_address() {
    let log = |log| Log2::new(log).unwrap();
    for banks in [8, 32, 128] {
        let machine = machine(&["vdm.mapping=xor", &format!("vdm.banks={banks}")]);
        let lanes = machine.hple.count.min(banks);
        let by_definition = |mode: AddressMode, address: u32| -> u32 {
            let beats = (0..machine.vector_length()).step_by(lanes as usize);
            beats
                .map(|first| {
                    let mut accesses = vec![0; banks as usize];
                    for lane in first..first + lanes {
                        let word = address.wrapping_add(mode.element(lane));
                        accesses[machine.vdm.mapping.bank(word, banks)] += 1;
                    }
                    accesses.into_iter().max().unwrap_or(0)
                })
                .sum()
        };
        let mut decoder = Decoder::new(&machine);
        for mode in [AddressMode::Linear, AddressMode::Strided(log(2)), AddressMode::StridedSkip(log(3))] {
            let block = u64::from(mode.span(machine.instruction_set())).next_power_of_two();
            // Carries into the bits above run through ones.
            let within = (0..block).step_by(37).chain([1, block - 1]);
            for (ones, within) in within.flat_map(|at| (0..16).map(move |ones| (ones, at))) {
                let address = (((1 << ones) - 1) * block + within) as u32;
                let expected = by_definition(mode, address);
                assert_eq!(
                    decoder.vbar_cycles(mode, address, true),
                    expected,
                    "{banks} {mode:?} {address:#x}"
                );
            }
        }
    }
}

/// The answer is the first cycle that is its own answer: no conflict in it, but one in each cycle before.
#[test]
fn an_instruction_issues_in_the_first_cycle_without_a_conflict() {
    let compare = |program: &Program, machine: &Machine| {
        let program = Program { isa: machine.instruction_set(), ..program.clone() };
        let mut ops = Decoder::program(machine, &program);
        ops.retain(|op| op.pipe != Pipe::Scalar);
        let mut engine = Engine::new(machine);
        let mut expected = Engine::expectations(machine);
        for (number, op) in ops.iter().enumerate() {
            let now = engine.now();
            let from = Cycle(now.0 + number as u64 % 7);
            let beside = |from| engine.earliest_issue_beside(op, from, &expected);
            let at = beside(from);
            // The first cycles of a long wait, and the last ones.
            let cycles = (from.0..at.0).take(64).chain(at.0.saturating_sub(64).max(from.0)..at.0);
            if let Some(early) = cycles.map(Cycle).find(|&cycle| beside(cycle) != at) {
                return Err(format!("{number}: {at} from {from}, but {} from {early}", beside(early)));
            }
            if beside(at) != at || engine.earliest_issue(op, at) != at {
                return Err(format!("{number}: a conflict in {at}"));
            }
            if number % 3 == 0 {
                engine.dispatch(op);
            } else {
                // The first half has no conflict. The second half may meet accesses that are expected
                // already.
                engine.expect(&mut expected, op, if number % 3 == 1 { at } else { from });
            }
        }
        Ok(())
    };
    (0..8).into_par_iter().for_each(|seed| {
        random::check(seed, 100, (random::programs(40), random::machines()), compare);
    });
}
