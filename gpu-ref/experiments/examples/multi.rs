//! Batch products and key switching on 1, 2, 4, .. GPUs: checks each against the host model and
//! prints its times.
//!
//! Lines are `what,partition,transport,devices,us,low,high,speedup`, with speedups over one device.
//! Times are medians by the host's clock, shortest and longest, without transfers from and to the host.
//! Products need no transport.

use clap::{Parser, ValueEnum};
use gpu_experiments::multi::{Cluster, KeySwitch, Partition, Products};
use gpu_ref::key_switch::Basis;
use gpu_ref::testing::{compare, random};
use gpu_ref::{Device, Modulus, Timing, Word};
use std::collections::BTreeMap;
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Options {
    /// N is 2^L
    #[arg(long, value_name = "L", default_value_t = 16)]
    log_n: u32,
    /// Limbs of a polynomial
    #[arg(long, default_value_t = 24)]
    limbs: usize,
    /// Special limbs
    #[arg(long, default_value_t = 6)]
    special: usize,
    /// Digits of a key
    #[arg(long, default_value_t = 4)]
    digits: usize,
    /// Word size: 32 or 64. Moduli are two bits shorter
    #[arg(long, default_value_t = 64)]
    bits: u32,
    /// Polynomials of a batch of products
    #[arg(long, default_value_t = 8)]
    polynomials: usize,
    /// Numbers of devices; by default 1, 2 and 4 as far as there are GPUs
    #[arg(long)]
    gpus: Vec<usize>,
    /// Transports; by default all
    #[arg(long, value_enum, default_values = ["peer", "host"])]
    transport: Vec<Transport>,
    /// Uses emulated devices, whose times are meaningless
    #[arg(long)]
    emulated: bool,
}

fn main() -> Outcome<()> {
    let mut options = Options::parse();
    if options.gpus.is_empty() {
        let there = |&count: &usize| options.emulated || Device::open(count - 1).is_ok();
        options.gpus = [1, 2, 4].into_iter().filter(there).collect();
    }
    if options.emulated {
        options.transport = vec![Transport::Host];
    }
    match options.bits {
        32 => run::<u32>(&options),
        64 => run::<u64>(&options),
        _ => Err("expected --bits 32 or 64".into()),
    }
}

/// Communication between devices.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Transport {
    /// Peer pointers
    Peer,
    /// Host memory
    Host,
}

impl std::fmt::Display for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Peer => "peer",
            Self::Host => "host",
        })
    }
}

fn run<W: Word>(options: &Options) -> Outcome<()> {
    let n = 1 << options.log_n;
    let all = gpu_ref::testing::moduli::<W>(options.limbs + options.special, W::BITS - 2, n)?;
    let (moduli, special) = all.split_at(options.limbs);
    let basis = Basis::new(moduli, special, options.digits)?;
    let emulated = if options.emulated { Some(Device::emulated()?) } else { None };
    let cluster = |transport, count: usize| {
        Ok::<_, Box<dyn Error>>(match (&emulated, transport) {
            (Some(device), _) => Cluster::staged(&vec![device.clone(); count]),
            (None, Transport::Peer) => Cluster::peer(count)?,
            (None, Transport::Host) => {
                Cluster::staged(&(0..count).map(Device::open).collect::<Result<Vec<_>, _>>()?)
            }
        })
    };
    println!("what,partition,transport,devices,us,low,high,speedup");
    multiply(options, moduli, &|count| cluster(options.transport[0], count))?;
    let mut work = Work::new(basis);
    // `rows` first, as in the committed files.
    let [segments, limbs, ring, rows] = Partition::ALL;
    for &transport in &options.transport {
        for partition in [rows, segments, limbs, ring] {
            let name = format!("{partition},{transport}");
            switch(options, &mut work, (partition, &name), &|count| cluster(transport, count))?;
        }
    }
    Ok(())
}

/// Median, shortest and longest time, and the speedup over the first of several.
fn columns(time: Timing, alone: &mut Option<f64>) -> String {
    let Timing { median, low, high } = time;
    format!("{median:.1},{low:.1},{high:.1},{:.2}", *alone.get_or_insert(median) / median)
}

/// Products of a batch. The first and last polynomial are checked.
fn multiply<W: Word>(
    options: &Options,
    moduli: &[Modulus<W>],
    cluster: &impl Fn(usize) -> Outcome<Cluster>,
) -> Outcome<()> {
    let (left, right) = (random(moduli, options.polynomials), random(moduli, options.polynomials));
    let words = moduli.len() * moduli[0].n();
    let checked = [0..words, left.len() - words..left.len()];
    let want = checked.clone().map(|at| gpu_ref::testing::products(moduli, &left[at.clone()], &right[at]));
    let mut alone = None;
    for &count in &options.gpus {
        let mut products = Products::new(cluster(count)?, moduli, options.polynomials)?;
        let got = products.run(&left, &right)?;
        for (at, want) in checked.iter().zip(&want) {
            compare("a product", &got[at.clone()], want)?;
        }
        println!("products,limbs,none,{count},{}", columns(products.time()?, &mut alone));
    }
    Ok(())
}

/// A polynomial and a key, with the results of the host model by number of groups.
struct Work<W> {
    basis: Basis<W>,
    polynomial: Vec<W>,
    key: Vec<W>,
    models: BTreeMap<usize, Vec<W>>,
}

impl<W: Word> Work<W> {
    fn new(basis: Basis<W>) -> Self {
        let polynomial = random(&basis.moduli()[..basis.limbs()], 1);
        let key = random(basis.moduli(), 2 * basis.digits());
        Self { basis, polynomial, key, models: BTreeMap::new() }
    }
}

/// A key switch. All words are checked.
fn switch<W: Word>(
    options: &Options,
    work: &mut Work<W>,
    (partition, name): (Partition, &str),
    cluster: &impl Fn(usize) -> Outcome<Cluster>,
) -> Outcome<()> {
    let Work { basis, polynomial, key, models } = work;
    let mut alone = None;
    for &count in &options.gpus {
        let mut switch = KeySwitch::new(cluster(count)?, basis.clone(), partition, key)?;
        let groups = switch.groups();
        let want = models.entry(groups).or_insert_with(|| basis.model(polynomial, key, groups));
        compare("a key switch", &switch.run(polynomial)?, want)?;
        println!("key switching,{name},{count},{}", columns(switch.time()?, &mut alone));
    }
    Ok(())
}
