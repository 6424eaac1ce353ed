//! `rpu crosscheck`

use crate::failure::Failure;
use crate::files;
use crate::generate::ring_failure;
use crate::machine::MachineArgs;
use b512_asm::reg::MAX_VDM_WORDS;
use codegen::Request;
use golden::Operation;
use gpu_ref::{Device, crosscheck as cuda};
use lab::crosscheck::{GoldenModel, Operands, Simulator, Witness, crosscheck};
use lab::kernel::{self, ModulusSpec, RequestSpec};
use rayon::prelude::*;
use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also run the CUDA kernels on a GPU; fails if there is none
    #[arg(long)]
    gpu: bool,
    /// Ring degrees, powers of two from 1024 to 131072
    #[arg(long, value_name = "N", value_parser = degree, default_values = ["1024", "65536"])]
    n: Vec<u32>,
    /// Modulus sizes in bits: each modulus is the largest such prime that is 1 mod 2n
    #[arg(long, value_name = "BITS", default_values = ["64", "128"])]
    bits: Vec<u32>,
    /// Seed of the random operands; by default a new one for each run
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Plan of the simulated programs: best, kl, pease, paper, unoptimised, or a plan's TOML file
    #[arg(long, value_name = "PLAN", default_value = "kl")]
    plan: String,
}

fn degree(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n @ 1024..=131_072) if u32::is_power_of_two(n) => Ok(n),
        _ => Err("choose a power of two from 1024 to 131072".into()),
    }
}

/// A CUDA kernel for 128-bit moduli, from degree, modulus, root and operands.
type CudaKernel = fn(&Device, usize, u128, u128, &[Vec<u128>]) -> Result<Vec<u128>, gpu_ref::Error>;

/// The operations that have a CUDA kernel.
const CUDA_KERNELS: [(Operation, CudaKernel); 3] = [
    (golden::NTT, |device, n, modulus, root, x| cuda::forward_wide(device, n, modulus, root, &x[0])),
    (golden::INTT, |device, n, modulus, root, y| cuda::inverse_wide(device, n, modulus, root, &y[0])),
    (golden::POLYMUL, |device, n, modulus, root, x| {
        cuda::product_wide(device, n, modulus, root, &x[0], &x[1])
    }),
];

/// The CUDA kernels for 128-bit moduli on one device.
struct Cuda {
    name: String,
    device: Device,
}

impl Witness for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn compute(
        &self,
        request: &Request,
        sets: &[Operands],
    ) -> Result<Vec<Vec<u128>>, Box<dyn Error + Send + Sync>> {
        let ring = &request.basis.rings()[0];
        let (n, modulus, root) = (ring.len(), ring.q(), ring.require_root()?);
        let operation = request.operation;
        let (_, kernel) = CUDA_KERNELS
            .iter()
            .find(|(known, _)| *known == operation)
            .ok_or_else(|| format!("there is no CUDA kernel for {operation}"))?;
        let operand = |number: usize| -> Vec<u128> {
            sets.iter().flat_map(|set| &set.vectors[number]).copied().collect()
        };
        let operands: Vec<Vec<u128>> = (0..operation.inputs().len()).map(operand).collect();
        let results = kernel(&self.device, n, modulus, root, &operands)?;
        Ok(results.chunks(n).map(<[u128]>::to_vec).collect())
    }
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let mut machine = args.machine.load()?;
    // The largest VDM that programs can address: a product of 65536 coefficients exceeds the paper's
    // machine, and no result depends on the size.
    machine.vdm.size_mib = (MAX_VDM_WORDS * machine.instruction_set().word_bytes()) >> 20;
    let plan = kernel::plan(&args.plan, Path::new(&args.plan))?;
    let simulator = Simulator { machine, plan };
    let requests = requests(args)?;
    let gpu = args.gpu.then(open_gpu).transpose()?;
    let emulated = emulated();
    let seed = args.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());

    let mut witnesses: Vec<&dyn Witness> = vec![&simulator];
    witnesses.extend(emulated.iter().chain(&gpu).map(|cuda| cuda as &dyn Witness));
    let verdicts = requests
        .par_iter()
        .map(|(_, request)| crosscheck(request, seed, &GoldenModel, &witnesses))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::Work(error.to_string()))?;

    let column = |head: &str, cell: &dyn Fn(usize) -> String| Column {
        head: head.into(),
        cells: (0..requests.len()).map(cell).collect(),
    };
    let mut columns = vec![
        column("transform", &|row| requests[row].1.operation.to_string()),
        column("n", &|row| requests[row].1.n().to_string()),
        column("bits", &|row| requests[row].0.to_string()),
    ];
    for (number, witness) in witnesses.iter().enumerate() {
        columns.push(column(witness.name(), &|row| match &verdicts[row][number] {
            Ok(()) => "agrees".into(),
            Err(difference) => format!("differs at {}", difference.index),
        }));
    }
    if emulated.is_none() {
        columns.push(column(EMULATED, &|_| "skipped".into()));
    }
    files::print(
        format!("with the golden model, on operands from seed {seed}:\n\n{}", table(&columns)).as_bytes(),
    )?;

    let differences: Vec<_> =
        verdicts.iter().flatten().filter_map(|verdict| verdict.as_ref().err()).collect();
    match differences[..] {
        [] => Ok(()),
        [first, ..] => Err(Failure::Work(format!(
            "{first}\n{} of {} comparisons fail; `--seed {seed}` repeats them",
            differences.len(),
            requests.len() * witnesses.len()
        ))),
    }
}

/// Every transform at every size, with the size of its modulus in bits.
fn requests(args: &Args) -> Result<Vec<(u32, Request)>, Failure> {
    let mut requests = Vec::new();
    for (operation, _) in CUDA_KERNELS {
        for &n in &args.n {
            for &bits in &args.bits {
                let modulus = ModulusSpec::Bits(bits);
                let spec = RequestSpec { operation, n, modulus, root: None, towers: 1 };
                requests.push((bits, spec.resolve().map_err(ring_failure)?));
            }
        }
    }
    Ok(requests)
}

const EMULATED: &str = "emulated CUDA";

/// Opens the CPU as a CUDA device. Returns `None` after a warning if that fails: most machines
/// without a C++ compiler still have the other witnesses.
fn emulated() -> Option<Cuda> {
    match Device::emulated() {
        Ok(device) => Some(Cuda { name: EMULATED.into(), device }),
        Err(error) => {
            note!("warning: SKIPPED the {EMULATED} kernels: {error}");
            None
        }
    }
}

fn open_gpu() -> Result<Cuda, Failure> {
    let open = || {
        let device = Device::open(0)?;
        Ok(Cuda { name: format!("CUDA on {}", device.name()?), device })
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
