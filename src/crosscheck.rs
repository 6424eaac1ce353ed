//! `rpu crosscheck`

mod kernels;

use crate::failure::Failure;
use crate::files;
use crate::machine_options::MachineArgs;
use crate::numbers;
use codegen::{Parameters, Request};
use gpu_ref::Device;
use gpu_ref::recipe::LOG_N;
use kernels::{Kernels, Work};
use lab_run::crosscheck::{
    Composite, Difference, GoldenModel, Operands, Results, Simulator, Task, Witness, crosscheck,
};
use lab_run::kernel;
use rayon::prelude::*;
use ring::Degree;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also run the CUDA kernels on an NVIDIA GPU; needs driver 570 and NVRTC of CUDA 12, or later
    #[arg(long)]
    gpu: bool,
    /// Ring degrees, powers of two from 1024 on, with commas between them
    #[arg(long, value_name = "N", value_parser = degree, value_delimiter = ',', default_value = "1024,65536")]
    n: Vec<Degree>,
    /// Modulus sizes in bits, for the kernels that support them: moduli are the largest such primes that are
    /// 1 mod 2n. By default the longest moduli of each kernel
    #[arg(long, value_name = "BITS", value_parser = numbers::whole::<u32>, value_delimiter = ',')]
    bits: Vec<u32>,
    /// Only CUDA kernels whose name or operation contains one of these texts
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    kernels: Vec<String>,
    /// Seed of the random operands; by default a new one for each run
    #[arg(long, value_parser = numbers::whole::<u64>)]
    seed: Option<u64>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Plan of the simulated programs: best, kl, pease, paper, unoptimised, or a plan's TOML file
    #[arg(long, value_name = "PLAN", default_value = "kl")]
    plan: String,
}

/// A degree of the CUDA kernels: their blocks have no fewer points.
fn degree(text: &str) -> Result<Degree, String> {
    let of_kernels = numbers::degree(text).ok().filter(|degree| LOG_N.contains(&degree.log2()));
    of_kernels
        .ok_or_else(|| format!("choose a power of two from {} to {}", 1 << LOG_N.start(), 1 << LOG_N.end()))
}

/// Some kernels on one device.
struct Cuda<'k> {
    name: String,
    device: &'k Device,
    kernels: &'k Kernels,
}

impl Witness for Cuda<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn compute(&self, task: &Task, sets: &[Operands]) -> Results {
        match (&self.kernels.work, task) {
            (Work::Operation(_, compute), Task::Operation(request)) => compute(self.device, request, sets),
            (Work::Composition(_, compute), Task::Composite(composite)) => {
                sets.iter().map(|set| compute(self.device, composite, set)).collect()
            }
            (Work::Operation(..) | Work::Composition(..), _) => {
                Err(format!("these kernels do not compute {}", task.operation()).into())
            }
        }
    }
}

/// A task, and the kernels that compute it too.
struct Check<'k> {
    task: Task,
    bits: u32,
    limbs: usize,
    kernels: Vec<&'k Kernels>,
}

/// Whether a witness agrees; `None` if it was not asked.
type Verdict = Option<Result<(), Difference>>;

/// A task, some of its kernels, and the verdicts of the simulator and of each device.
type Row<'r> = (&'r Check<'r>, &'r Kernels, &'r [Verdict]);

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let mut machine = args.machine.load()?;
    // A product of 65536 coefficients exceeds the paper's machine, and no result depends on the size.
    machine.edit(|values| values.vdm.size_mib = 32).expect("every machine may have a VDM of this size");
    let plan = kernel::plan(&args.plan, Path::new(&args.plan))?;
    let simulator = Simulator { machine, plan };
    let known = kernels::all();
    let gpu = args.gpu.then(open_gpu).transpose()?;
    let emulated = emulated();
    let devices: Vec<&(String, Device)> = emulated.iter().chain(&gpu).collect();
    let checks = checks(args, &known, &devices)?;
    let seed = args.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    let verdicts = checks
        .par_iter()
        .map(|check| verdicts(check, &simulator, &devices, seed))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::Work(error.to_string()))?;

    // A row for each task and its kernels.
    let rows: Vec<Row<'_>> = checks
        .iter()
        .zip(&verdicts)
        .flat_map(|(check, verdicts)| {
            check
                .kernels
                .iter()
                .zip(verdicts)
                .map(move |(&kernels, verdicts)| (check, kernels, &verdicts[..]))
        })
        .collect();
    let names = devices.iter().map(|(name, _)| &name[..]);
    let mut columns = columns(&rows, &[simulator.name()].into_iter().chain(names).collect::<Vec<_>>());
    if emulated.is_none() {
        let cells = rows.iter().map(|_| "skipped".into()).collect();
        columns.push(Column { head: EMULATED.into(), cells });
    }
    files::print(
        format!("with the golden model, on operands from seed {seed}:\n\n{}", table(&columns)).as_bytes(),
    )?;

    let asked: Vec<_> = rows.iter().flat_map(|row| row.2).flatten().collect();
    let differences: Vec<_> = asked.iter().filter_map(|verdict| verdict.as_ref().err()).collect();
    match differences[..] {
        [] => Ok(()),
        [first, ..] => Err(Failure::Work(format!(
            "{first}\n{} of {} comparisons fail; `--seed {seed}` repeats them",
            differences.len(),
            asked.len()
        ))),
    }
}

/// The output's columns: the tasks, and the verdicts of these witnesses.
fn columns(rows: &[Row<'_>], witnesses: &[&str]) -> Vec<Column> {
    let column = |head: &str, cell: &dyn Fn(usize) -> String| Column {
        head: head.into(),
        cells: (0..rows.len()).map(cell).collect(),
    };
    let mut columns = vec![
        column("operation", &|row| rows[row].0.task.operation().into()),
        column("n", &|row| rows[row].0.task.n().to_string()),
        column("bits", &|row| rows[row].0.bits.to_string()),
        column("moduli", &|row| rows[row].0.limbs.to_string()),
        column("kernels", &|row| rows[row].1.name.clone()),
    ];
    for (number, name) in witnesses.iter().enumerate() {
        columns.push(column(name, &|row| match &rows[row].2[number] {
            Some(Ok(())) => "agrees".into(),
            Some(Err(difference)) => format!("differs at {}", difference.index),
            None => "skipped".into(),
        }));
    }
    columns
}

/// For each of the kernels, whether the simulator and they agree with the golden model on each device.
fn verdicts(
    check: &Check<'_>,
    simulator: &Simulator,
    devices: &[&(String, Device)],
    seed: u64,
) -> Result<Vec<Vec<Verdict>>, lab_run::crosscheck::WitnessError> {
    let n = check.task.n();
    let asked = |kernels: &Kernels, device: &Device| kernels.suits(device, n);
    let pairs =
        || check.kernels.iter().flat_map(|&kernels| devices.iter().map(move |device| (kernels, device)));
    let cuda: Vec<Cuda<'_>> = pairs()
        .filter(|(kernels, (_, device))| asked(kernels, device))
        .map(|(kernels, (name, device))| Cuda { name: format!("{name} ({})", kernels.name), device, kernels })
        .collect();
    let witnesses: Vec<&dyn Witness> =
        [simulator as &dyn Witness].into_iter().chain(cuda.iter().map(|cuda| cuda as &dyn Witness)).collect();
    let mut verdicts = crosscheck(&check.task, seed, &GoldenModel, &witnesses)?.into_iter();
    let simulated = verdicts.next();
    let mut rows = Vec::new();
    for kernels in &check.kernels {
        let mut row = vec![simulated.clone()];
        for (_, device) in devices {
            row.push(if asked(kernels, device) { verdicts.next() } else { None });
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The checks that the options select: every operation with kernels, at every size. Kernels for some batches
/// only are left out at degrees where no batch on the devices uses them.
fn checks<'k>(
    args: &Args,
    known: &'k [Kernels],
    devices: &[&(String, Device)],
) -> Result<Vec<Check<'k>>, Failure> {
    let wanted = |kernels: &Kernels| {
        let operation = kernels.work.operation();
        args.kernels.is_empty()
            || args.kernels.iter().any(|text| kernels.name.contains(text) || operation.contains(text))
    };
    let mut checks: Vec<Check<'k>> = Vec::new();
    for kernels in known.iter().filter(|kernels| wanted(kernels)) {
        let used = |n: &&Degree| {
            let n = n.get() as u32;
            kernels.kind.is_none() || devices.iter().any(|(_, device)| kernels.suits(device, n))
        };
        for &n in args.n.iter().filter(used) {
            let own = [kernels.longest];
            let sizes = if args.bits.is_empty() { &own[..] } else { &args.bits };
            for &bits in sizes.iter().filter(|&&bits| bits <= kernels.longest) {
                let same = |check: &&mut Check<'_>| {
                    let task = &check.task;
                    (task.operation(), u64::from(task.n()), check.bits, check.limbs)
                        == (kernels.work.operation(), n.get(), bits, kernels.limbs)
                };
                match checks.iter_mut().find(same) {
                    Some(check) => check.kernels.push(kernels),
                    None => checks.push(Check {
                        task: task(&kernels.work, n, bits, kernels.limbs)?,
                        bits,
                        limbs: kernels.limbs,
                        kernels: vec![kernels],
                    }),
                }
            }
        }
    }
    if checks.is_empty() {
        let help = "`--bits` is at most 128, and less for most kernels; without `--kernels` all run";
        return Err(Failure::wrong("no CUDA kernels for these options", help));
    }
    Ok(checks)
}

impl Work {
    fn operation(&self) -> &'static str {
        match self {
            Self::Operation(operation, _) => operation.name(),
            Self::Composition(composition, _) => composition.name(),
        }
    }
}

/// The task modulo the largest primes of a size.
fn task(work: &Work, degree: Degree, bits: u32, limbs: usize) -> Result<Task, Failure> {
    let task = match work {
        Work::Operation(operation, _) => Request::with_primes(*operation, degree, bits, limbs)
            .map(|request| Task::Operation(request.with(Parameters::new(operation.examples())))),
        Work::Composition(composition, _) => {
            Composite::with_primes(*composition, degree, bits).map(Task::Composite)
        }
    };
    task.map_err(|error| Failure::wrong(error, "choose other --bits"))
}

const EMULATED: &str = "emulated CUDA";

/// Opens the CPU as a CUDA device. Returns `None` after a warning if that fails: most machines
/// without a C++ compiler still have the other witnesses.
fn emulated() -> Option<(String, Device)> {
    match Device::emulated() {
        Ok(device) => Some((EMULATED.into(), device)),
        Err(error) => {
            note!("warning: SKIPPED the {EMULATED} kernels: {error}");
            None
        }
    }
}

fn open_gpu() -> Result<(String, Device), Failure> {
    let open = || {
        let device = Device::open(0)?;
        Ok((format!("CUDA on {}", device.name()?), device))
    };
    let help = "leave --gpu out: the kernels still run, emulated on the CPU";
    open().map_err(|error: gpu_ref::Error| Failure::wrong(error, help))
}

/// A heading and a cell for each row.
struct Column {
    head: String,
    cells: Vec<String>,
}

/// Columns side by side, aligned.
fn table(columns: &[Column]) -> String {
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut text = String::new();
    for row in 0..=rows {
        let mut line = String::new();
        for Column { head, cells } in columns {
            let width = cells.iter().map(String::len).fold(head.len(), usize::max);
            let cell = if row == 0 { head } else { &cells[row - 1] };
            line += &format!("{cell:<width$}  ");
        }
        text += line.trim_end();
        text += "\n";
    }
    text
}
