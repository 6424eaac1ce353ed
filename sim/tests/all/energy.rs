//! The energy of programs and the power of machines.

use b512_asm::{AReg, AddressMode, Instr, Isa, MReg, Offset, VReg};
use sim::{Area, Energy, Events, Machine, RunEnergy, Usage, Work};

/// Twice the bytes of a bank take 1.24 times the energy up to 32 KiB, and 1.43 times beyond.
#[test]
fn large_banks_grow_faster() {
    let access_pj = |mib: u32, cycles: u32| {
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| (values.vdm.size_mib, values.vdm.access_cycles) = (mib, cycles)).unwrap();
        Energy::of(&machine, &Events { vdm_accesses: 1_000_000, ..Events::default() }).vdm
    };
    let growth = |mib| access_pj(2 * mib, 1) / access_pj(mib, 1);
    for (mib, expected) in [(1, 1.24), (2, 1.24), (4, 1.43), (256, 1.43)] {
        assert!((growth(mib) - expected).abs() < 1e-9, "{mib} MiB");
    }
    assert_eq!(access_pj(4, 1), 8.213);
    // Beside a bank's access, the registers of a cycle more take little; each cycle has as many.
    let [one, two, three] = [1, 2, 3].map(|cycles| access_pj(4, cycles));
    assert!(two > one && two < 1.1 * one && (three - two - (two - one)).abs() < 1e-9, "{one} {two} {three}");
}

#[test]
fn the_papers_program_takes_its_printed_energy_with_its_printed_shares() {
    let v = VReg::at;
    let (rm, base) = (MReg::at(0), AReg::at(0));
    let butterfly = Instr::Bfly { vd: v(0), vd1: v(1), vs: v(2), vt: v(3), vt1: v(4), rm };
    let shuffle = Instr::Unpklo { vd: v(0), vs: v(1), vt: v(2) };
    let load = Instr::Vload { vd: v(0), base, offset: Offset::default(), mode: AddressMode::Linear };
    let mut events = Events::default();
    for (instr, count) in [(butterfly, 1024), (shuffle, 1920), (load, 1200)] {
        (0..count).for_each(|_| events.add(Isa::B512, &instr));
    }
    let energy = Energy::of(&Machine::rpu_128x128(), &events);
    let near = |measured: f64, printed: f64| (measured / printed - 1.0).abs() < 0.02;
    assert!(near(energy.total(), 49.18), "{energy:?}");
    for (name, share) in [("law", 0.667), ("vrf", 0.193), ("vdm", 0.105), ("vbar", 0.023), ("sbar", 0.010)] {
        let (_, part) = energy.components().into_iter().find(|(n, _)| *n == name).unwrap();
        assert!(near(part / energy.total(), share), "{name}: {}", part / energy.total());
    }
}

const WORK: Work<'static> = Work {
    events: &Events {
        multiplications: 524_288,
        additions: 0,
        vrf_accesses: 0,
        vdm_accesses: 0,
        vbar_elements: 0,
        sbar_elements: 0,
        permuter_elements: 0,
        instructions: 0,
    },
    time_us: 6.7,
    off_chip_bytes: None,
    key_bytes: 0,
};

/// Leakage of 20.5 mm2, and idle clocks for 64% of the time of 128 multipliers of 104 mW.
#[test]
fn the_papers_machine_has_the_static_power_of_its_assumptions() {
    let energy = RunEnergy::of(&Machine::rpu_128x128(), &WORK);
    let watts = energy.idle() / WORK.time_us;
    let (leakage, clocks) = (0.015 * 20.5, 0.1 * 128.0 * 0.104 * (1.0 - 4096.0 / (6700.0 * 1.68)));
    assert!((watts / (leakage + clocks) - 1.0).abs() < 0.01, "{watts}");
    assert_eq!(energy.hbm, 0.0);
    assert_eq!(energy.total(), energy.kernels + energy.idle());
}

/// 461 GB/s of random data take about 24 W, and two stacks 1 W beside.
#[test]
fn a_busy_channel_takes_more_than_the_chip() {
    let machine = Machine::rpu_128x128();
    let bytes = (machine.hbm.sustained_gb_per_s() * 1e3 * WORK.time_us) as u64;
    let energy = RunEnergy::of(&machine, &Work { off_chip_bytes: Some(bytes), ..WORK });
    let watts = energy.hbm / WORK.time_us;
    assert!((watts - (460.8 * 8.0 * 6.5e-3 + 1.0)).abs() < 0.01, "{watts}");
}

#[test]
fn keys_on_the_chip_and_the_interface_have_area() {
    let machine = Machine::rpu_128x128();
    let area = Area::of_run(&machine, &Usage { off_chip: true, key_bytes: 72 << 20 });
    assert_eq!(area.hbm_phy, 30.0);
    // As many macros as 18 VDMs of 4 MiB have.
    let vdm_macros = 128.0 * (1626.0 + 0.75 * 32_768.0) * 1e-6;
    assert!((area.keys / (18.0 * vdm_macros) - 1.0).abs() < 1e-9, "{area:?}");
    assert_eq!(Area::of_run(&machine, &Usage::default()), Area::of(&machine));
}
