//! The clock of machines.

use sim::machine::Assignment;
use sim::{Area, Clock, Machine, MachineBase, MachineFile, Override};

#[test]
fn the_vdm_limits_the_papers_machines() {
    for machine in [Machine::rpu_128x128(), Machine::rpu_128x128_paper()] {
        for hples in [4, 8, 16, 32, 64, 128, 256] {
            for (banks, ghz) in [(32, 1.29), (64, 1.53), (128, 1.68), (256, 1.68)] {
                let mut machine = machine.clone();
                machine.edit(|values| (values.hple.count, values.vdm.banks) = (hples, banks)).unwrap();
                assert_eq!(Clock::of(&machine).ghz(), ghz, "({hples}, {banks})");
            }
        }
    }
}

/// A bank of up to 4 MiB takes longer to answer, and not longer between two accesses.
#[test]
fn a_larger_vdm_is_later_and_not_slower() {
    for (size_mib, cycles, alone) in [
        (4, 1, 1.68),
        (8, 2, 1.53),
        (16, 2, 1.29),
        (64, 2, 0.877),
        (128, 3, 0.709),
        (256, 3, 0.613),
        (512, 4, 0.485),
    ] {
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| values.vdm.size_mib = size_mib).unwrap();
        assert_eq!(machine.vdm_access_cycles(), cycles, "{size_mib} MiB");
        assert_eq!(Clock::of(&machine).ghz(), 1.68, "{size_mib} MiB");
        machine.edit(|values| values.vdm.access_cycles = 1).unwrap();
        assert_eq!(Clock::of(&machine).ghz(), alone, "{size_mib} MiB in one cycle");
    }
}

#[test]
fn the_clock_is_the_papers_at_its_points_and_flat_beyond_them() {
    let technology = Machine::rpu_128x128().technology.clone();
    for (banks, ghz) in
        [(32, 1.29), (64, 1.53), (128, 1.68), (256, 1.68), (512, 1.68), (16, 1.064), (1, 0.485)]
    {
        assert_eq!(technology.bank_ghz(f64::from(banks)), ghz, "{banks} banks");
    }
}

#[test]
fn the_clock_is_interpolated_in_the_logarithm_of_the_banks() {
    let mut technology = Machine::rpu_128x128().technology.clone();
    technology.clock.retain(|point| point.banks != 64);
    assert!((technology.bank_ghz(64.0) - (1.29 + 1.68) / 2.0).abs() < 1e-12);
}

fn with(text: &str) -> Machine {
    let settings: Vec<Assignment> = text.split(' ').map(|setting| setting.parse().unwrap()).collect();
    Machine::rpu_128x128().with(&settings).unwrap()
}

/// On small machines four stages are enough. On large ones, a crossbar has the least number with which it
/// does not limit the clock, and with one less it does.
#[test]
fn stages_of_crossbars_follow_from_the_machine() {
    for hples in [4, 32, 128, 512] {
        let machine = with(&format!("hple.count={hples}"));
        assert_eq!((machine.vbar_stages(), machine.sbar_stages()), (4, 4), "{hples}");
    }
    for hples in [1024, 2048, 4096] {
        let text = format!("isa.vector_length=4096 hple.count={hples} vdm.banks={hples}");
        let machine = with(&text);
        let Clock { vbar, sbar, vdm, .. } = Clock::of(&machine);
        assert!(
            vbar >= vdm && sbar >= vdm && Clock::of(&machine).ghz() == vdm,
            "{hples}: {vbar} {sbar} {vdm}"
        );
        let [vbar, sbar] = [machine.vbar_stages(), machine.sbar_stages()];
        if sbar > 4 {
            let fewer = with(&format!("{text} sbar.latency_cycles={}", sbar - 1));
            assert_eq!(Clock::of(&fewer).binds(), "sbar", "{hples}");
        }
        // Given ones are taken, and resolved ones are the same.
        let given = with(&format!("{text} sbar.latency_cycles={sbar} vbar.latency_cycles={vbar}"));
        assert_eq!(machine.resolved(), given.resolved(), "{hples}");
        assert!(machine.has_the_timing_of(&given));
    }
    assert_eq!(with("isa.vector_length=4096 hple.count=4096 vdm.banks=4096").sbar_stages(), 6);
}

/// A clock can be set, up to what the slowest part reaches; crossbars then have no more stages than it takes.
#[test]
fn a_clock_can_be_set_up_to_what_the_machine_reaches() {
    let machine = with("clock.ghz=1.2");
    let clock = Clock::of(&machine);
    assert_eq!((clock.ghz(), clock.binds()), (1.2, "clock.ghz"));
    assert_eq!(Clock::of(&Machine::rpu_128x128()).binds(), "vdm");
    assert_eq!(Clock::of(&with("clock.ghz=1.68")).binds(), "vdm");
    let large = "isa.vector_length=4096 hple.count=4096 vdm.banks=4096";
    assert!(with(&format!("{large} clock.ghz=1.2")).sbar_stages() < with(large).sbar_stages());
    let too_fast = MachineFile::built_in("rpu-128x128", &[Override::parse("clock.ghz=2").unwrap()]);
    let error = too_fast.unwrap_err().to_string();
    assert!(error.contains("its slowest part, `vdm`, reaches 1.680 GHz"), "{error}");
}

/// A technology file is recognised, and a label names what differs from the built-in one.
#[test]
fn a_technology_has_a_label() {
    let label = |text: &str| {
        let overrides: Vec<Override> = text.split(' ').map(|text| Override::parse(text).unwrap()).collect();
        MachineFile::built_in("rpu-128x128", &overrides).unwrap().technology_label()
    };
    assert_eq!(label("name=x"), "gf12");
    assert_eq!(label("technology=scaled-7nm"), "scaled-7nm");
    assert_eq!(label("technology.energy.multiply_pj=1"), "gf12 with energy.multiply_pj = 1");
    for name in [
        "gf12",
        "gf12-built",
        "scaled-7nm",
        concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/tech/scaled-7nm.toml"),
    ] {
        assert!(MachineBase::of_technology(name).is_some_and(|base| base.is_ok()), "{name}");
    }
    for name in
        ["rpu-128x128", "nosuch", concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/machines/fast.toml")]
    {
        assert!(MachineBase::of_technology(name).is_none(), "{name}");
    }
}

/// The vector crossbar by its logic, at all sizes alike: no jump between two of them, and that of the
/// synthesis at 128.
#[test]
fn the_vector_crossbar_by_structure_grows_smoothly() {
    let of = |lanes: u32, banks: u32| {
        let lengths = format!("isa.vector_length=4096 hple.count={lanes} vdm.banks={banks}");
        let overrides: Vec<Override> = format!("technology=gf12-built {lengths}")
            .split(' ')
            .map(|text| Override::parse(text).unwrap())
            .collect();
        Area::of(&MachineFile::built_in("rpu-128x128", &overrides).unwrap()).vbar
    };
    assert!((of(128, 128) - 2.0).abs() < 0.1, "{}", of(128, 128));
    for lanes in [4, 16, 64, 256, 1024, 4096] {
        let mut before = of(lanes, 4);
        for banks in [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] {
            let area = of(lanes, banks);
            // Twice the banks: at most twice the multiplexers, and as many more words' registers.
            assert!(area > before && area < 2.6 * before, "{lanes}, {banks}: {before} {area}");
            before = area;
        }
    }
}
