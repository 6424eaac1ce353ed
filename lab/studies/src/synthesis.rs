//! The structural models against synthesised RTL: `configs/tech/synthesis`.

use crate::page::{Files, fill, lines, repository, text};
use sim::gates::{
    Adder, BusyboardPorts, Crossbar, Gates, LanePermuter, Law, Multiplier, Queue, Vbar, fold, paper_sbar,
};
use sim::{Area, Machine};
use std::collections::BTreeMap;

/// The deviation of a ratio that counts as agreement.
const MARGIN: f64 = 0.15;

/// The ratios beyond the margin: whether of a delay, module, configuration, reason.
const EXCEPTIONS: &[(bool, &str, &str, &str)] =
    &[(true, "adder", "W=32 STAGES=1", ADDERS), (true, "adder", "W=32 STAGES=4", ADDERS)];

const ADDERS: &str =
    "the path is that before optimisation, where one bit more costs more levels than in a prefix adder";

/// A row of the table: one synthesised configuration.
struct Row {
    module: String,
    text: String,
    parameters: BTreeMap<String, u32>,
    synthesised: Gates,
    levels: f64,
}

impl Row {
    fn get(&self, name: &str) -> u32 {
        self.parameters[name]
    }

    /// The model's size.
    fn gates(&self) -> Gates {
        let logic = |logic| Gates { logic, registers: 0.0 };
        match self.module.as_str() {
            "montgomery" => Multiplier {
                word_bits: self.get("W"),
                // A multiplication takes as many stages as digits, the subtraction one.
                stages: 3 * self.get("DIGITS") + 1,
                interval: self.get("INTERVAL"),
            }
            .gates(),
            "adder" => Adder { word_bits: self.get("W"), stages: self.get("STAGES") }.gates(),
            "crossbar" => Crossbar {
                inputs: self.get("N"),
                outputs: 1,
                bits: self.get("W"),
                stages: self.get("STAGES"),
                interval: 1,
            }
            .gates(),
            "permuter" => LanePermuter {
                lanes: self.get("N"),
                lane_bits: self.get("LANE_BITS"),
                word_bits: self.get("W"),
                stages: self.get("STAGES"),
            }
            .gates(),
            "busyboard" => self.busyboard().gates(),
            "queue" => Queue { depth: self.get("DEPTH") }.gates(),
            "fold" => logic(fold(self.get("ADDRESS"), self.get("BITS"))),
            module => panic!("`{module}` has no model"),
        }
    }

    fn busyboard(&self) -> BusyboardPorts {
        BusyboardPorts {
            width: self.get("WIDTH"),
            count_bits: 5 * self.get("SHARED"),
            early: self.get("EARLY") == 1,
        }
    }

    /// The model's delay, in FO4, if it has one for the part.
    fn fo4(&self) -> Option<f64> {
        match self.module.as_str() {
            // The longest stage is a whole multiplication.
            "montgomery" if self.get("DIGITS") == 1 => {
                Some(Multiplier { word_bits: self.get("W"), stages: 1, interval: 1 }.product_fo4())
            }
            "adder" => Some(Adder { word_bits: self.get("W"), stages: 1 }.fo4()),
            "busyboard" => Some(self.busyboard().fo4()),
            _ => None,
        }
    }
}

fn table() -> Vec<Row> {
    let path = repository("configs/tech/synthesis/table.csv");
    let text = std::fs::read_to_string(path).expect("the table is committed");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let row = |line: &str| {
        let [module, text, logic, registers, levels] =
            line.split(',').collect::<Vec<_>>().try_into().expect("five columns");
        let parameter = |part: &str| {
            let (name, value) = part.split_once('=').expect("`name=value`");
            (name.to_owned(), value.parse().expect("a whole number"))
        };
        Row {
            module: module.to_owned(),
            text: text.to_owned(),
            parameters: text.split(' ').map(parameter).collect(),
            synthesised: Gates { logic: number(logic), registers: number(registers) },
            levels: number(levels),
        }
    };
    text.lines().skip(1).map(row).collect()
}

/// The configurations to which sizes and delays of a module are compared.
const REFERENCES: [(&str, &str, &str); 7] = [
    ("montgomery", "W=128 DIGITS=4 INTERVAL=1", "W=128 DIGITS=1 INTERVAL=1"),
    ("adder", "W=128 STAGES=1", "W=128 STAGES=1"),
    ("crossbar", "W=128 N=128 STAGES=4", ""),
    ("permuter", "W=64 N=32 LANE_BITS=9 STAGES=4", ""),
    ("busyboard", "WIDTH=1 SHARED=0 EARLY=1", "WIDTH=1 SHARED=0 EARLY=1"),
    ("queue", "W=80 DEPTH=8", ""),
    ("fold", "ADDRESS=18 BITS=7", ""),
];

/// A ratio of one configuration to the reference of its module.
struct Comparison<'r> {
    row: &'r Row,
    synthesised: f64,
    model: f64,
}

impl Comparison<'_> {
    fn deviation(&self) -> f64 {
        self.model / self.synthesised - 1.0
    }
}

fn sizes(rows: &[Row]) -> Vec<Comparison<'_>> {
    compare(rows, |(_, size, _)| size, |row| Some((row.synthesised.total(), row.gates().total())))
}

fn delays(rows: &[Row]) -> Vec<Comparison<'_>> {
    compare(rows, |(_, _, delay)| delay, |row| Some((row.levels, row.fo4()?)))
}

/// The ratios of a quantity, synthesised and of the model, to its value in the reference.
fn compare(
    rows: &[Row],
    reference: fn((&'static str, &'static str, &'static str)) -> &'static str,
    quantity: fn(&Row) -> Option<(f64, f64)>,
) -> Vec<Comparison<'_>> {
    let mut all = Vec::new();
    for names in REFERENCES {
        let of_module = || rows.iter().filter(move |row| row.module == names.0);
        let Some(base) = of_module().find(|row| row.text == reference(names)).and_then(quantity) else {
            continue;
        };
        all.extend(of_module().filter_map(|row| {
            let (synthesised, model) = quantity(row)?;
            Some(Comparison { row, synthesised: synthesised / base.0, model: model / base.1 })
        }));
    }
    all
}

/// The known exceptions to [`MARGIN`], with the reason.
fn exception(delay: bool, row: &Row) -> Option<&'static str> {
    EXCEPTIONS
        .iter()
        .find(|known| known.0 == delay && known.1 == row.module && known.2 == row.text)
        .map(|known| known.3)
}

pub(crate) fn files() -> Files {
    let rows = table();
    check(&rows)?;
    Ok(vec![text("reports/synthesis.md", page(&rows))])
}

/// Ratios agree but for the known exceptions, and these do not.
fn check(rows: &[Row]) -> Result<(), String> {
    let comparisons = [(false, sizes(rows)), (true, delays(rows))];
    let all = comparisons.iter().flat_map(|(delay, all)| all.iter().map(move |one| (*delay, one)));
    let wrong = all.filter_map(|(delay, one)| {
        let Row { module, text, .. } = one.row;
        let is_wrong = (one.deviation().abs() <= MARGIN) == exception(delay, one.row).is_some();
        is_wrong.then(|| format!("{} of {module} {text}: {:+.3}", quantity(delay), one.deviation()))
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("the margin is {MARGIN}, but\n{}", wrong.join("\n"))) }
}

fn quantity(delay: bool) -> &'static str {
    if delay { "Delay" } else { "Size" }
}

fn page(rows: &[Row]) -> String {
    let machine = Machine::rpu_128x128();
    let [area, wide] = [128, 256].map(|hples| {
        let mut machine = machine.clone();
        machine.edit(|values| values.hple.count = hples).expect("a machine of the study");
        Area::of(&machine)
    });
    let gates = Law::given(&machine.technology).gates().total();
    let law_mm2 = machine.technology.area.law_mm2;
    let price = law_mm2 / gates;
    let vbar = |hples| Vbar::paper(hples, 128).gates().total();
    let sbar = |hples| paper_sbar(hples).gates().total();
    let mm2 = [("vbar", vbar(128), area.vbar), ("sbar", sbar(128), area.sbar)];
    let growth = [
        ("vbar", vbar(256) / vbar(128), wide.vbar / area.vbar),
        ("sbar", sbar(256) / sbar(128), wide.sbar / area.sbar),
    ];
    fill(
        include_str!("synthesis.md"),
        &[
            ("margin", &format!("{:.0}", 100.0 * MARGIN)),
            (
                "sizes",
                &lines(sizes(rows).iter().map(|size| {
                    let Gates { logic, registers } = size.row.synthesised;
                    row(size, &format!("{logic:.0} | {registers:.0}"), false)
                })),
            ),
            (
                "delays",
                &lines(
                    delays(rows).iter().map(|delay| row(delay, &format!("{:.0}", delay.row.levels), true)),
                ),
            ),
            (
                "exceptions",
                &lines(EXCEPTIONS.iter().map(|(delay, module, text, reason)| {
                    format!("* {} of {module} {text}: {reason}.", quantity(*delay))
                })),
            ),
            ("law", &format!("{law_mm2:.4}")),
            ("gates", &format!("{gates:.0}")),
            ("price", &format!("{:.3}", price * 1e6)),
            (
                "areas",
                &lines(
                    mm2.map(|(name, part, fitted)| format!("| {name} | {:.3} | {fitted:.3} |", price * part)),
                ),
            ),
            (
                "growth",
                &lines(
                    growth.map(|(name, structural, fitted)| {
                        format!("| {name} | {structural:.2} | {fitted:.2} |")
                    }),
                ),
            ),
        ],
    )
}

fn row(comparison: &Comparison<'_>, columns: &str, delay: bool) -> String {
    let Comparison { row, synthesised, model } = comparison;
    let off = 100.0 * comparison.deviation();
    let mark = if exception(delay, row).is_some() { "exception" } else { "" };
    let Row { module, text, .. } = row;
    format!("| {module} | {text} | {columns} | {synthesised:.3} | {model:.3} | {off:+.1}% | {mark} |")
}
