//! The area of machines, against the printed one.

use sim::gates::{FrontEnd, Law, Vbar, paper_sbar, sbar};
use sim::{Area, Machine};

fn area(hples: u32, banks: u32) -> Area {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.hple.count = hples;
            values.vdm.banks = banks;
        })
        .unwrap();
    Area::of(&machine)
}

#[track_caller]
fn assert_near(measured: f64, printed: f64, tolerance: f64) {
    assert!((measured / printed - 1.0).abs() <= tolerance, "{measured} is not near {printed}");
}

#[test]
fn the_papers_design_has_its_printed_areas() {
    let area = area(128, 128);
    assert_near(area.total(), 20.5, 0.001);
    assert_near(area.hples(), 12.61, 0.001);
}

#[test]
fn doubling_hples_grows_each_component_as_printed() {
    for hples in [4, 8, 16, 32, 64, 128] {
        let (small, large) = (area(hples, 128), area(2 * hples, 128));
        assert_near(large.law / small.law, 2.0, 1e-9);
        assert!(large.vbar > 2.0 * small.vbar);
        assert_near(large.sbar / small.sbar, if hples < 128 { 3.0 } else { 5.0 }, 1e-9);
        assert_eq!(large.vdm, small.vdm);
    }
    // The VRF grows by a factor of 1.5 to 2 if the fixed part of the small macros dominates.
    for hples in [64, 128, 256] {
        let growth = area(2 * hples, 128).vrf / area(hples, 128).vrf;
        assert!((1.5..=2.0).contains(&growth), "{hples}: {growth}");
    }
}

/// 128 banks have 139 flip-flops for each cycle beyond one; a NAND2 has 0.17 square micrometres here, and a
/// flip-flop six of them.
#[test]
fn each_cycle_of_an_access_costs_a_register_for_each_bank() {
    let vdm = |cycles: u32| {
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| values.vdm.access_cycles = cycles).unwrap();
        Area::of(&machine).vdm
    };
    let (one, each) = (vdm(1), vdm(2) - vdm(1));
    assert_near(each, 128.0 * 139.0 * 6.0 * 0.167e-6, 0.01);
    assert_near(vdm(4) - one, 3.0 * each, 1e-9);
    assert_eq!(vdm(0), one);
}

#[test]
fn more_banks_cost_what_the_paper_prints() {
    assert_near(area(4, 256).total() / area(4, 32).total(), 2.5, 0.05);
    assert_near(area(256, 256).total() / area(256, 32).total(), 1.2, 0.02);
    for (few, many) in [(32, 64), (64, 128), (128, 256)] {
        let growth = area(128, many).total() / area(128, few).total();
        assert!((1.08..=1.26).contains(&growth), "{few}: {growth}");
    }
}

#[test]
fn the_macros_are_the_papers() {
    let constants = Machine::rpu_128x128().technology.area.clone();
    assert_near(constants.sram_mm2(512.0, 128.0), 2010e-6, 1e-9);
    assert_near(constants.sram_mm2(256.0, 128.0), 1818e-6, 1e-9);
}

#[test]
fn the_references_are_the_papers_machine() {
    let machine = Machine::rpu_128x128();
    assert_eq!(Vbar::of(&machine), Vbar::paper(128, 128));
    assert_eq!(sbar(&machine), paper_sbar(128));
    assert_eq!(FrontEnd::of(&machine), FrontEnd::PAPER);
    assert_eq!(Law::of(&machine), Law::given(&machine.technology));
}
