//! The structural models against synthesised RTL: `configs/tech/synthesis`.

use sim::gates::{
    Adder, BusyboardPorts, Crossbar, Gates, LanePermuter, Law, Multiplier, Queue, Vbar, fold, paper_sbar,
};
use sim::{Area, Machine};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/tech/synthesis/table.csv");
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

#[test]
fn ratios_agree_with_the_synthesis_but_for_the_known_exceptions() {
    let rows = table();
    let mut wrong = Vec::new();
    for (delay, comparisons) in [(false, sizes(&rows)), (true, delays(&rows))] {
        for comparison in comparisons {
            let agrees = comparison.deviation().abs() <= MARGIN;
            let row = comparison.row;
            if agrees == exception(delay, row).is_some() {
                let deviation = comparison.deviation();
                wrong.push(format!("delay {delay}, {} {}: {deviation:+.3}", row.module, row.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/synthesis.md");
    bless::fresh(path, page());
}

fn page() -> String {
    let rows = table();
    let mut page = format!(
        "\
# Structural models against synthesis

<!-- Generated from `configs/tech/synthesis/table.csv`: `BLESS=1 cargo test -p sim --test all synthesis`. -->

The models of area, energy and clock scale fitted constants by the size of logic (`sim/src/gates.rs`) and its delay
(`sim/src/clock.rs`). The RTL in `configs/tech/synthesis/rtl` is a second witness: `synthesize.py` maps it to NAND2
equivalents (transistors divided by four). The sizes of the models' cells, such as a bit of a product, were chosen with
knowledge of this table: what it checks is their structure, across words, stages, intervals, inputs and depths. Only ratios between configurations of one module count. They must agree within
{:.0} %; the others are listed as exceptions, with their reason.

RTL delays count the gates of the longest path before mapping. Model delays are in FO4.
",
        100.0 * MARGIN
    );
    write_page(&mut page, &rows).expect("writing to a string does not fail");
    page
}

fn write_page(page: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(page, "\n## Sizes\n")?;
    writeln!(
        page,
        "| module | configuration | NAND2, logic | NAND2, registers | ratio | model | off by | |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|---|")?;
    for comparison in sizes(rows) {
        let Gates { logic, registers } = comparison.row.synthesised;
        write_row(page, &comparison, &format!("{logic:.0} | {registers:.0}"), false)?;
    }
    writeln!(page, "\n## Delays\n")?;
    writeln!(page, "| module | configuration | levels | ratio | model | off by | |")?;
    writeln!(page, "|---|---|---|---|---|---|---|")?;
    for comparison in delays(rows) {
        write_row(page, &comparison, &format!("{:.0}", comparison.row.levels), true)?;
    }
    write_exceptions(page)?;
    write_components(page)
}

fn write_row(page: &mut String, comparison: &Comparison<'_>, columns: &str, delay: bool) -> std::fmt::Result {
    let Comparison { row, synthesised, model } = comparison;
    let off = 100.0 * comparison.deviation();
    let mark = if exception(delay, row).is_some() { "exception" } else { "" };
    let Row { module, text, .. } = row;
    writeln!(page, "| {module} | {text} | {columns} | {synthesised:.3} | {model:.3} | {off:+.1} % | {mark} |")
}

fn write_exceptions(page: &mut String) -> std::fmt::Result {
    writeln!(page, "\n## Exceptions\n")?;
    for (delay, module, text, reason) in EXCEPTIONS {
        writeln!(page, "* {} of {module} {text}: {reason}.", if *delay { "Delay" } else { "Size" })?;
    }
    Ok(())
}

/// The absolute sizes of the paper's components at the price of a gate in its LAW engines.
fn write_components(page: &mut String) -> std::fmt::Result {
    let machine = Machine::rpu_128x128();
    let area = Area::of(&machine);
    let gates = Law::given(&machine.technology).gates().total();
    let price = machine.technology.area.law_mm2 / gates;
    writeln!(
        page,
        "
## Fitted components in gates

The fit gives the LAW engine of the paper's machine {:.4} mm2, and the structural model {:.0} NAND2 equivalents: {:.3} um2
each. At this price, the crossbars of the paper's machine would have these areas. The models use ratios only, because the
fitted areas of crossbars differ: the paper calls the vector crossbar minimal.

| component | structural, mm2 | fitted, mm2 |
|---|---|---|",
        machine.technology.area.law_mm2,
        gates,
        price * 1e6
    )?;
    for (name, part, fitted) in
        [("vbar", Vbar::paper(128, 128).gates(), area.vbar), ("sbar", paper_sbar(128).gates(), area.sbar)]
    {
        writeln!(page, "| {name} | {:.3} | {fitted:.3} |", price * part.total())?;
    }
    writeln!(page, "\nGrowth with twice the HPLEs, from 128 to 256, fitted against structural:\n")?;
    writeln!(page, "| component | structural | fitted |\n|---|---|---|")?;
    let mut wide = machine.clone();
    wide.hple.count = 256;
    let wide = Area::of(&wide);
    let vbar = Vbar::paper(256, 128).gates().total() / Vbar::paper(128, 128).gates().total();
    let sbar = paper_sbar(256).gates().total() / paper_sbar(128).gates().total();
    writeln!(page, "| vbar | {vbar:.2} | {:.2} |", wide.vbar / area.vbar)?;
    writeln!(page, "| sbar | {sbar:.2} | {:.2} |", wide.sbar / area.sbar)
}
