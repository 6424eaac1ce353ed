//! The effect of ideal switches on the cycle count.
//!
//! Without port conflicts in the register file, every event occurs as soon as its dependences allow,
//! so removing a limit never slows a program. With port conflicts, it can: an instruction that
//! arrives earlier may take an SRAM from a more critical one. This is the classic anomaly of list
//! scheduling. The tests below show an example for each switch.

use super::rules::{machine, program, v};
use b512_asm::{AReg, AddressMode, Instr, Log2, MReg, Offset, SReg};
use sim::Machine;
use sim::machine::Ideal;
use sim::testing as random;
use sim::timing::{Timing, simulate};

type Switch = fn(&mut Ideal);

const SWITCHES: [(&str, Switch); 4] = [
    ("bank_conflicts", |ideal| ideal.bank_conflicts = true),
    ("queues", |ideal| ideal.queues = true),
    ("vrf_ports", |ideal| ideal.vrf_ports = true),
    ("front_end", |ideal| ideal.front_end = true),
];

#[test]
fn without_port_conflicts_no_switch_slows_a_program() {
    random::check(1, 4000, (random::programs(24), random::machines()), |program, machine| {
        let mut machine = machine.clone();
        machine.edit(|values| values.ideal.vrf_ports = true).unwrap();
        let real = simulate(&machine, program).cycles;
        for (name, switch) in SWITCHES {
            let mut ideal = machine.clone();
            ideal.edit(|values| switch(&mut values.ideal)).unwrap();
            let cycles = simulate(&ideal, program).cycles;
            if cycles > real {
                return Err(format!("{name}: {cycles} cycles instead of {real}"));
            }
        }
        Ok(())
    });
}

#[test]
fn ideal_ports_slow_no_program() {
    random::check(2, 4000, (random::programs(24), random::machines()), |program, machine| {
        let mut machine = machine.clone();
        machine.edit(|values| values.ideal.vrf_ports = false).unwrap();
        let real = simulate(&machine, program).cycles;
        machine.edit(|values| values.ideal.vrf_ports = true).unwrap();
        let ideal = simulate(&machine, program).cycles;
        if ideal > real { Err(format!("{ideal} cycles instead of {real}")) } else { Ok(()) }
    });
}

/// Runs a program on a machine, first unchanged and then with a switch on.
fn both(machine: &Machine, instructions: &[Instr], switch: Switch) -> (Timing, Timing) {
    let mut ideal = machine.clone();
    ideal.edit(|values| switch(&mut values.ideal)).unwrap();
    let program = program(instructions);
    (simulate(machine, &program), simulate(&ideal, &program))
}

const RM: MReg = MReg::at(0);
const BASE: AReg = AReg::at(0);
const START: Offset = Offset::new(0).unwrap();

/// A load at stride 2: two accesses to every second bank in each beat.
const EVERY_SECOND: AddressMode = AddressMode::StridedSkip(Log2::new(0).unwrap());

#[test]
fn queues_without_end_can_slow_a_program() {
    // The first instruction reads and writes one SRAM, so it occupies its pipe for eight cycles. With
    // a queue of one entry, the third instruction waits to dispatch, and the store behind it waits as
    // well. With unlimited queues, the store dispatches early and reads SRAM 9 for eight cycles. The
    // second instruction also needs SRAM 9 and has to wait, although its pipe is free.
    let instructions = [
        Instr::Vadds { vd: v(26), vs: v(26), rt: SReg::at(0), rm: RM },
        Instr::Vadd { vd: v(48), vs: v(57), vt: v(50), rm: RM },
        Instr::Vmul { vd: v(36), vs: v(23), vt: v(19), rm: RM },
        Instr::Vstore { vs: v(41), base: BASE, offset: START, mode: EVERY_SECOND },
    ];
    let (real, ideal) = both(&machine(&["frontend.queue_depth=1"]), &instructions, |i| i.queues = true);
    assert!(real.timestamps[1].issue < real.timestamps[3].issue);
    assert!(ideal.timestamps[1].issue > ideal.timestamps[3].issue);
    assert!(ideal.cycles > real.cycles, "{} {}", ideal.cycles, real.cycles);
}

#[test]
fn a_front_end_without_limits_can_slow_a_program() {
    // With one dispatch per cycle, the shuffle arrives one cycle late: its write to SRAM 0 would then
    // conflict with that of the first product, so the second product reads SRAM 4 first. With an
    // ideal front end, the shuffle arrives in time and reads SRAM 4 first, which delays the second
    // product.
    let instructions = [
        Instr::Vmul { vd: v(16), vs: v(16), vt: v(16), rm: RM },
        Instr::Vmul { vd: v(17), vs: v(3), vt: v(20), rm: RM },
        Instr::Pklo { vd: v(0), vs: v(5), vt: v(4) },
    ];
    let (real, ideal) = both(&machine(&["frontend.queue_depth=1"]), &instructions, |i| i.front_end = true);
    assert!(real.timestamps[1].issue < real.timestamps[2].issue);
    assert!(ideal.timestamps[1].issue > ideal.timestamps[2].issue);
    assert!(ideal.cycles > real.cycles, "{} {}", ideal.cycles, real.cycles);
}

#[test]
fn banks_without_conflicts_can_slow_a_program() {
    // The shuffle waits for the store to release v16. Without bank conflicts, the store releases it
    // early enough for the shuffle to take SRAM 0 from the last sum, which then completes later.
    let instructions = [
        Instr::Vmuls { vd: v(17), vs: v(16), rt: SReg::at(1), rm: RM },
        Instr::Vmul { vd: v(33), vs: v(3), vt: v(2), rm: RM },
        Instr::Mload { rt: RM, offset: START },
        Instr::Mload { rt: RM, offset: START },
        Instr::Vstore { vs: v(16), base: BASE, offset: START, mode: EVERY_SECOND },
        Instr::Vsubs { vd: v(32), vs: v(1), rt: SReg::at(1), rm: RM },
        Instr::Pkhi { vd: v(16), vs: v(3), vt: v(5) },
    ];
    let changes = ["frontend.busyboard=shared-reads", "frontend.queue_depth=3"];
    let (real, ideal) = both(&machine(&changes), &instructions, |i| i.bank_conflicts = true);
    assert!(ideal.timestamps[6].issue < real.timestamps[6].issue);
    assert!(ideal.timestamps[5].issue > real.timestamps[5].issue);
    assert!(ideal.cycles > real.cycles, "{} {}", ideal.cycles, real.cycles);
}
