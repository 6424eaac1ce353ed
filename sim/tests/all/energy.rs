//! The energy of programs and the power of machines.

use b512_asm::{AReg, AddressMode, Instr, Isa, MReg, Offset, VReg};
use sim::machine::Assignment;
use sim::{Area, Energy, Events, Machine, MachineFile, Override, RunEnergy, Usage, Work};

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
    seeded_bytes: None,
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
    let area = Area::of_run(&machine, &Usage { off_chip: true, key_bytes: 72 << 20, seeded: false });
    assert_eq!(area.hbm_phy, 30.0);
    // As many macros as 18 VDMs of 4 MiB have.
    let vdm_macros = 128.0 * (1626.0 + 0.75 * 32_768.0) * 1e-6;
    assert!((area.keys / (18.0 * vdm_macros) - 1.0).abs() < 1e-9, "{area:?}");
    assert_eq!(Area::of_run(&machine, &Usage::default()), Area::of(&machine));
}

fn with(text: &str) -> Machine {
    let settings: Vec<Assignment> = text.split(' ').map(|setting| setting.parse().unwrap()).collect();
    Machine::rpu_128x128().with(&settings).unwrap()
}

/// A memory of keys is one for itself: 20 sizes and numbers of banks of the VDM change nothing.
#[test]
fn resident_keys_cost_the_same_beside_any_vdm() {
    let usage = Usage { off_chip: false, key_bytes: 150 << 20, seeded: false };
    let expected = Area::of_run(&Machine::rpu_128x128(), &usage).keys;
    for size_mib in [1, 2, 3, 4, 6, 8, 12, 16, 24, 32] {
        for banks in [64, 512] {
            let machine = with(&format!("vdm.size_mib={size_mib} vdm.banks={banks}"));
            assert_eq!(Area::of_run(&machine, &usage).keys, expected, "{size_mib} MiB in {banks} banks");
        }
    }
}

/// A generator costs area and energy by its rate, at every word width, and nothing where keys are not seeded.
#[test]
fn seeded_keys_are_not_free() {
    let events = Events::default();
    let area =
        |machine: &Machine| Area::of_run(machine, &Usage { seeded: true, ..Usage::default() }).generator;
    let mut before = 0.0;
    for rate in [1, 4, 16, 64, 256] {
        let machine = with(&format!("generator.words_per_cycle={rate}"));
        assert!(area(&machine) > before, "{rate} words a cycle");
        before = area(&machine);
        assert_eq!(Area::of_run(&machine, &Usage::default()), Area::of(&machine));
    }
    let uj = |bytes| {
        let work =
            Work { events: &events, time_us: 1.0, off_chip_bytes: None, key_bytes: 0, seeded_bytes: bytes };
        RunEnergy::of(&Machine::rpu_128x128(), &work).generator
    };
    assert_eq!(uj(None), 0.0);
    assert!(uj(Some(1 << 20)) > 0.0);
    assert_eq!(uj(Some(2 << 20)), 2.0 * uj(Some(1 << 20)));
    // About 26 GB/s take three cores, far below 2% of the paper's machine.
    let machine = with("generator.words_per_cycle=1");
    assert!(area(&machine) < 0.02 * Area::of(&machine).total(), "{}", area(&machine));
}

/// The printed shares at 128 HPLEs stay as they are; the wires of larger machines cost more, and a larger VDM
/// makes the ways of the same elements longer.
#[test]
fn wires_grow_with_the_side_of_the_machine() {
    let events = Events { vbar_elements: 1 << 20, sbar_elements: 1 << 20, ..Events::default() };
    let of = |text: &str| Energy::of(&with(text), &events);
    let paper = of("vdm.size_mib=4");
    assert!((paper.vbar - 1.799 * 1.048_576).abs() < 1e-9, "{paper:?}");
    let mut before = paper.vbar;
    for size_mib in [16, 64, 256] {
        let energy = of(&format!("isa.word_bits=128 vdm.size_mib={size_mib}"));
        assert!(energy.vbar > before, "{size_mib} MiB");
        before = energy.vbar;
    }
    // 512 MiB: a side of 20 mm, two thirds of the rest of the way, 128 bits.
    let machine = with("vdm.size_mib=512");
    let side = Area::of(&machine).rpu().sqrt();
    let wires = 0.07 * 2.0 / 3.0 * (side - 4.528) * 128.0;
    assert!((of("vdm.size_mib=512").vbar / 1.048_576 - (1.799 + wires)).abs() < 1e-9);
}

/// Bandwidth, size, interfaces and background power are those of whole stacks.
#[test]
fn stacks_belong_together() {
    for (text, stacks, gib) in [
        ("hbm.gb_per_s=256", 1.0, 8),
        ("hbm.gb_per_s=257", 2.0, 16),
        ("hbm.gb_per_s=4096", 16.0, 128),
        ("hbm.stacks=8", 8.0, 64),
        ("hbm.stacks=8 hbm.stack_mib=16384", 8.0, 128),
        ("hbm.stacks=8 hbm.stack_mib=16384 hbm.size_mib=131072", 8.0, 128),
    ] {
        let machine = with(text);
        assert_eq!(machine.hbm.capacity_bytes(), gib << 30, "{text}");
        let usage = Usage { off_chip: true, ..Usage::default() };
        assert_eq!(Area::of_run(&machine, &usage).hbm_phy, 15.0 * stacks, "{text}");
        let idle = RunEnergy::of(&machine, &Work { off_chip_bytes: Some(0), ..WORK });
        assert!((idle.hbm - 0.5 * stacks * WORK.time_us).abs() < 1e-9, "{text}");
    }
    let refused = |text: &str| {
        let overrides: Vec<Override> = text.split(' ').map(|text| Override::parse(text).unwrap()).collect();
        MachineFile::built_in("rpu-128x128", &overrides).unwrap_err().to_string()
    };
    let error = refused("hbm.size_mib=131072");
    assert!(
        error.contains("2 stacks of 8192 MiB hold 16384 MiB; 131072 MiB take `hbm.stacks = 16`"),
        "{error}"
    );
    let error = refused("hbm.stacks=2 hbm.gb_per_s=1024");
    assert!(error.contains("1024 GB/s take `hbm.stacks = 4`"), "{error}");
}
