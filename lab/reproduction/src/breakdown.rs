//! Fig. 6: area by component over banks and over HPLEs, and energy by component.

use super::evaluation::{BANKS, Code, Evaluation, HPLES};
use super::figure::Figure;
use super::table::{Table, cell, significant};
use plot::{Bar, Bars, Panel, Stacking};
use sim::{Area, Energy};

/// Reads one component off a model.
type Measure<T> = fn(&T) -> f64;

/// The components of the area with their names in a legend, from the bottom of a bar to its top.
const AREA: [(&str, Measure<Area>); 6] = [
    ("LAW engines", |area| area.law),
    ("VRF", |area| area.vrf),
    ("VDM", |area| area.vdm),
    ("VBAR", |area| area.vbar),
    ("SBAR", |area| area.sbar),
    ("IM and SDM", |area| area.instruction_memory + area.scalar_memory),
];

/// Components of the energy with their names in a legend and their shares in the paper, in percent.
const ENERGY: [(&str, Measure<Energy>, f64); 6] = [
    ("LAW engines", |energy| energy.law, 66.7),
    ("VRF", |energy| energy.vrf, 19.3),
    ("VDM", |energy| energy.vdm, 10.5),
    ("VBAR", |energy| energy.vbar, 2.3),
    ("SBAR", |energy| energy.sbar, 1.0),
    // The remainder of the printed shares.
    ("front end", |energy| energy.front_end, 0.2),
];

/// The paper's energy of the 64K transform, in uJ.
const PRINTED_UJ: f64 = 49.18;

/// Fig. 6.
pub(super) fn area_and_energy(evaluation: &Evaluation) -> Figure {
    let mut table =
        Table { header: vec!["panel", "what", "hples", "banks", "component", "value"], ..Table::default() };
    let mut row = |panel: &str, what: &str, (hples, banks): (u32, u32), component: &str, value: f64| {
        table.rows.push(
            [panel, what, &hples.to_string(), &banks.to_string(), component, &cell(value)]
                .map(str::to_owned)
                .into(),
        );
    };
    let area =
        |(hples, banks): (u32, u32)| evaluation.design(Code::Paper, hples, banks).report.area_breakdown_mm2;

    let mut area_panel = |letter: &str, title: &str, x_label: &str, designs: &[(u32, u32)], names: &[u32]| {
        let totals: Vec<String> =
            designs.iter().map(|&design| significant(area(design).total(), 3)).collect();
        let series = AREA.iter().enumerate().map(|(number, (label, component))| {
            let values = designs.iter().map(|&design| {
                let value = component(&area(design));
                row(letter, "area_mm2", design, label, value);
                Some(value)
            });
            let notes = if number + 1 == AREA.len() { totals.clone() } else { Vec::new() };
            Bar { label: (*label).into(), values: values.collect(), notes }
        });
        Panel::Bars(Bars {
            title: title.into(),
            x_label: x_label.into(),
            y_label: "Area (mm²)".into(),
            categories: names.iter().map(u32::to_string).collect(),
            series: series.collect(),
            stacking: Stacking::OnTop,
        })
    };
    let over_banks = area_panel(
        "a",
        "(a) Area over VDM banks at 128 HPLEs",
        "VDM banks",
        &BANKS.map(|banks| (128, banks)),
        &BANKS,
    );
    let over_hples = area_panel(
        "b",
        "(b) Area over HPLEs at 128 VDM banks",
        "HPLEs",
        &HPLES.map(|hples| (hples, 128)),
        &HPLES,
    );

    let energy = |code| evaluation.design(code, 128, 128).report.energy_breakdown_uj;
    let [ours, best] = Code::BOTH.map(energy);
    let total = |energy: f64| significant(energy, 4);
    let series = ENERGY.iter().enumerate().map(|(number, (label, component, share))| {
        let values = [PRINTED_UJ * share / 100.0, component(&ours), component(&best)];
        for (what, value) in ["printed_uj", "paper_uj", "best_uj"].into_iter().zip(values) {
            row("c", what, (128, 128), label, value);
        }
        let last = number + 1 == ENERGY.len();
        let notes = [total(PRINTED_UJ), total(ours.total()), total(best.total())];
        Bar {
            label: (*label).into(),
            values: values.map(Some).into(),
            notes: if last { notes.into() } else { Vec::new() },
        }
    });
    let energy_panel = Panel::Bars(Bars {
        title: "(c) Energy of a 64K NTT on (128, 128)".into(),
        x_label: "as printed, and two programs of ours".into(),
        y_label: "Energy (µJ)".into(),
        categories: ["printed", "paper's program", "our fastest"].map(str::to_owned).into(),
        series: series.collect(),
        stacking: Stacking::OnTop,
    });
    let last = area((256, 128));
    Figure {
        number: 6,
        caption: format!(
            "Area (modelled) over banks and over HPLEs, and energy (modelled on simulated events): at 256 HPLEs and \
             128 banks the shuffle crossbar takes {} mm² of {}; the paper's program takes {} µJ where the paper \
             prints 49.18, our fastest {}.",
            significant(last.sbar, 3),
            significant(last.total(), 3),
            total(ours.total()),
            total(best.total())
        ),
        drawing: plot::Figure {
            columns: 3,
            basis: evaluation.basis(),
            panel: (440, 460),
            panels: vec![over_banks, over_hples, energy_panel],
        },
        table,
    }
}
