//! The clock of machines.

use sim::{Clock, Machine};

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
