//! Dataflows of key switching over the size of the VDM and the bandwidth: `reports/dataflows.md`.

mod model;

use crate::page::{Files, fill, lines, text};
use model::Shape;
use plot::{Figure, Line, Lines, Panel};
use programs::{Options, ParameterSet, find_dataflow, find_program, generate};
use rayon::prelude::*;
use ring_program::RingProgram;
use runtime::flow::operation::{Batch, RingOperation};
use runtime::launches::kernels::Tables;
use runtime::mapping::{Candidates, Form, Mapping, Order, Recipes};
use runtime::schedule::traffic::Kind;
use runtime::{Flow, Kernels, Keys, Launches, Limits, Plan, Timeline, lift};
use sim::{Machine, MachineBase, Override};

/// Sizes of the VDM, in MiB.
const SIZES: [u32; 8] = [4, 8, 16, 32, 64, 128, 256, 512];

/// Bandwidths, in 1e9 bytes a second.
const BANDWIDTHS: [f64; 6] = [64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0];

/// The paper's bandwidth.
const PAPER: f64 = 512.0;

/// The size for the bandwidths: CiFlow's data memory.
const SIZE: u32 = 32;

/// The limbs of the memory that the model leaves to the table of a transform and to slices.
const RESERVED: usize = 1;

/// The limbs of a tile of `oct`.
const TILE: usize = 4;

const DATAFLOWS: [&str; 5] = ["mp", "dc", "oc", "oct", "ocs"];

/// A parameter set on a machine.
struct Subject {
    set: &'static str,
    title: &'static str,
    word_bits: u32,
    /// The largest VDM that the instruction set addresses, in MiB: kernels are generated for it.
    addressed_mib: u32,
}

const SUBJECTS: [Subject; 2] = [
    Subject { set: "ark", title: "ARK, words of 64 bits", word_bits: 64, addressed_mib: 16 },
    Subject {
        set: "dprive",
        title: "13 towers of 128 bits, words of 128 bits",
        word_bits: 128,
        addressed_mib: 32,
    },
];

/// A key switch in one dataflow, lifted to kernels.
struct Study {
    dataflow: &'static str,
    shape: Shape,
    program: RingProgram,
    flow: Flow,
    launches: Launches,
    /// With large tables and, if they differ, with small ones.
    kernels: Vec<Kernels>,
    machine: Machine,
    /// The timelines with each of [`SIZES`] at the paper's bandwidth, keys streamed; `None` if a launch does
    /// not fit, or no machine has so large a memory.
    by_size: Vec<Option<Timeline>>,
}

impl Study {
    fn new(subject: &Subject, dataflow: &'static str) -> Self {
        let set = ParameterSet::built_in(subject.set, None).unwrap().unwrap();
        let shape = Shape { level: set.levels(), special: set.p().len(), digits: set.digits() };
        let dataflow_of = find_dataflow(dataflow).unwrap();
        let mut options = Options::of([("dataflow", dataflow)]);
        if dataflow_of.has_tiles {
            options.set("tile", TILE.to_string());
        }
        let program = generate(&find_program("keyswitch").unwrap(), &set, &options).unwrap();
        let overrides = [
            format!("isa.word_bits={}", subject.word_bits),
            format!("vdm.size_mib={}", subject.addressed_mib),
        ];
        let overrides = overrides.map(|text| Override::parse(&text).unwrap());
        let machine = MachineBase::built_in("rpu-128x128").unwrap().machine(&overrides).unwrap();
        // A dataflow is an order of the program.
        let flow = Flow::of(&program, Order::Program);
        let launches = lift(&flow, Limits::new(program.degree().get(), &machine, Mapping::START.batch));
        let candidates = Candidates::new(&program, &launches, &machine).unwrap();
        let by = |recipes| candidates.kernels(&program, &launches, &machine, recipes).unwrap();
        let recipes = [Recipes::Fastest, Recipes::SmallTables].into_iter().filter_map(by);
        let in_forms = |kernels: Kernels| Form::ALL.map(|form| kernels.clone().in_form(form));
        let kernels: Vec<Kernels> = recipes.flat_map(in_forms).collect();
        let by_size = Vec::new();
        let mut study = Self { dataflow, shape, program, flow, launches, kernels, machine, by_size };
        study.by_size = SIZES.iter().map(|&size| study.time(size, PAPER, Keys::Streamed)).collect();
        study
    }

    /// The timeline with a memory of this size in place of the VDM and the faster kernels; `None` if a launch
    /// does not fit.
    fn time(&self, size_mib: u32, gb_per_s: f64, keys: Keys) -> Option<Timeline> {
        let mut machine = self.machine.clone();
        machine
            .edit(|values| {
                values.vdm.size_mib = size_mib;
                values.hbm.gb_per_s = gb_per_s;
            })
            .ok()?;
        let Self { program, flow, launches, kernels, .. } = self;
        let timeline = |kernels| {
            Plan {
                program,
                flow,
                launches,
                kernels,
                machine: &machine,
                keys,
                record: false,
                accounts: false,
                events: false,
            }
            .timeline()
            .ok()
        };
        kernels.iter().filter_map(timeline).min_by(|a, b| a.total_ns.total_cmp(&b.total_ns))
    }

    fn limb_bytes(&self) -> u64 {
        self.machine.instruction_set().bytes(self.program.degree().get())
    }

    /// Limbs loaded and stored, without keys, tables and programs.
    fn traffic(&self, timeline: &Timeline) -> f64 {
        let kinds = [Kind::Inputs, Kind::Outputs, Kind::Spills];
        let bytes: u64 = kinds.into_iter().map(|kind| timeline.traffic[kind]).sum();
        bytes as f64 / self.limb_bytes() as f64
    }

    /// The model's traffic with a memory of this size.
    fn model(&self, size_mib: u32, tables: bool) -> Option<usize> {
        let capacity = ((u64::from(size_mib) << 20) / self.limb_bytes()) as usize;
        model::traffic(self.dataflow, self.shape, TILE, tables, capacity.checked_sub(RESERVED)?)
    }
}

/// All dataflows of a subject.
struct Results {
    subject: &'static Subject,
    studies: Vec<Study>,
}

impl Results {
    fn new(subject: &'static Subject) -> Self {
        Self {
            subject,
            studies: DATAFLOWS.par_iter().map(|dataflow| Study::new(subject, dataflow)).collect(),
        }
    }

    /// Lines of all dataflows.
    fn panel(&self, texts: [&str; 3], points: impl Fn(&Study) -> Vec<(f64, f64)>) -> Panel {
        let [title, x_label, y_label] = texts;
        let line = |study: &Study| Line { label: study.dataflow.into(), points: points(study) };
        Panel::Lines(Lines {
            title: format!("{}: {title}", self.subject.title),
            x_label: x_label.into(),
            x_logarithmic: true,
            y_label: y_label.into(),
            series_label: "dataflow".into(),
            series: self.studies.iter().map(line).collect(),
        })
    }

    fn panels(&self) -> Vec<Panel> {
        let over_sizes = |study: &Study, y: &dyn Fn(&Timeline) -> f64| {
            let point =
                |(&size, timeline): (&u32, &Option<Timeline>)| Some((f64::from(size), y(timeline.as_ref()?)));
            SIZES.iter().zip(&study.by_size).filter_map(point).collect()
        };
        let over_bandwidths = |study: &Study, keys| {
            let point =
                |&bandwidth: &f64| Some((bandwidth, study.time(SIZE, bandwidth, keys)?.total_ns / 1e6));
            BANDWIDTHS.iter().filter_map(point).collect()
        };
        let of_size = "VDM size (MiB)";
        let of_bandwidth = "Bandwidth (GB/s)";
        vec![
            self.panel(["loads and stores", of_size, "Limbs, without the key"], |study| {
                over_sizes(study, &|timeline| study.traffic(timeline))
            }),
            self.panel(["keys streamed, 512 GB/s", of_size, "Time (ms)"], |study| {
                over_sizes(study, &|timeline| timeline.total_ns / 1e6)
            }),
            self.panel(["keys streamed, 32 MiB", of_bandwidth, "Time (ms)"], |study| {
                over_bandwidths(study, Keys::Streamed)
            }),
            self.panel(["keys on chip, 32 MiB", of_bandwidth, "Time (ms)"], |study| {
                over_bandwidths(study, Keys::Resident)
            }),
        ]
    }

    fn study(&self, dataflow: &str) -> &Study {
        self.studies.iter().find(|study| study.dataflow == dataflow).expect("a dataflow of the table")
    }

    /// The time of `mp` over that of another dataflow with keys on chip: the largest over the bandwidths.
    fn gain(&self, dataflow: &str) -> f64 {
        let time = |dataflow: &str, bandwidth| {
            let timeline = self.study(dataflow).time(SIZE, bandwidth, Keys::Resident);
            timeline.expect("32 MiB are enough").total_ns
        };
        let gains = BANDWIDTHS.iter().map(|&bandwidth| time("mp", bandwidth) / time(dataflow, bandwidth));
        gains.fold(0.0, f64::max)
    }

    /// The part of the page on a subject.
    fn section(&self) -> String {
        let first = &self.studies[0];
        let places = || 0..SIZES.len();
        fill(
            include_str!("dataflows/set.md"),
            &[
                ("title", &self.subject.title),
                ("parameters", &first.program.parameters().expect("the program is generated")),
                ("limb", &format!("{:.1}", first.limb_bytes() as f64 / f64::from(1 << 20))),
                ("key", &first.shape.key()),
                ("compulsory", &first.shape.compulsory()),
                (
                    "traffic",
                    &lines(self.studies.iter().flat_map(|study| places().map(|place| study.row(place)))),
                ),
                ("kernels", &lines(first.rows_of_kernels())),
            ],
        )
    }
}

impl Study {
    /// The row of a size: its place in [`SIZES`].
    fn row(&self, place: usize) -> String {
        let size = SIZES[place];
        let Some(timeline) = &self.by_size[place] else {
            return format!("| {} | {size} | does not fit | | | | | | |", self.dataflow);
        };
        let simulated = self.traffic(timeline);
        let number =
            |limbs: Option<usize>| limbs.map_or_else(|| "does not fit".to_owned(), |n| n.to_string());
        let model = self.model(size, true);
        let ratio = model.map_or_else(String::new, |model| format!("{:.2}", simulated / model as f64));
        format!(
            "| {} | {size} | {simulated:.0} | {:.0} | {} | {ratio} | {} | {:.0} | {:.3} |",
            self.dataflow,
            timeline.traffic[Kind::Spills] as f64 / self.limb_bytes() as f64,
            number(model),
            number(self.model(size, false)),
            timeline.traffic[Kind::Tables] as f64 / self.limb_bytes() as f64,
            timeline.total_ns / 1e6
        )
    }

    /// The rows of the kernels of transforms.
    fn rows_of_kernels(&self) -> Vec<String> {
        let limbs = |words: u64| words as f64 / self.program.degree().get() as f64;
        let names = [(Tables::Large, "large"), (Tables::Small, "small")];
        let row = |operation, kernels: &Kernels, tables: &str| {
            let kernel = kernels.operation(Batch { operation, rings: 1 });
            format!(
                "| {} | {tables} | {} | {:.2} | {:.2} | {} |",
                kernel.name,
                kernel.timing.cycles.0,
                limbs(kernel.table_words.into()),
                limbs(kernel.scratch_words),
                if kernel.may_work_in_place { "the operand's" } else { "its own" },
            )
        };
        let rows = [RingOperation::Ntt, RingOperation::Intt].into_iter().flat_map(|operation| {
            let with = |tables| self.kernels.iter().find(|kernels| kernels.tables() == tables);
            names.into_iter().filter_map(move |(tables, name)| Some(row(operation, with(tables)?, name)))
        });
        rows.collect()
    }
}

pub(crate) fn files() -> Files {
    let results: Vec<Results> = SUBJECTS.iter().map(Results::new).collect();
    let gains = results.iter().map(|results| {
        let [oc, oct, ocs] = ["oc", "oct", "ocs"].map(|dataflow| results.gain(dataflow));
        format!("| {} | {oc:.2} | {oct:.2} | {ocs:.2} |", results.subject.title)
    });
    let studies = results.iter().flat_map(|results| &results.studies);
    let basis = lab_sweep::basis(studies.map(|study| &study.machine));
    let page = fill(
        include_str!("dataflows.md"),
        &[
            ("basis", &basis),
            ("sets", &lines(results.iter().map(Results::section))),
            ("gains", &lines(gains)),
        ],
    );
    let panels = results.iter().flat_map(Results::panels).collect();
    let figure = Figure { columns: 2, panel: (560, 400), panels, basis };
    Ok(vec![text("reports/dataflows.md", page), text("reports/dataflows.svg", figure.svg()?)])
}
