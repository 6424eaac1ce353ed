//! Batch products and key switching on 1, 2, 4, .. GPUs: checks each against the host model and
//! prints its times.
//!
//! `multi [--log-n L] [--limbs L] [--special K] [--digits D] [--bits B] [--polynomials P] [--gpus
//! R].. [--transport peer|nccl|host] [--emulated]`. The defaults are N = 2^16, 24 limbs and 6
//! special limbs of 62 bits (30 with `--bits 32`), 4 digits, 8 polynomials, all available GPUs, and
//! all transports. Lines are `what,partition,transport,devices,us,low,high,speedup`, with speedups
//! over one device, then the steps of each key switch (`step: ..`, a single time each), with all
//! devices synchronised after each. Times are medians by the host's clock, shortest and longest, without transfers from and to the host. Products need no transport. `--emulated` selects
//! emulated devices, whose times are meaningless.

use gpu_ref::multi::{Basis, Cluster, KeySwitch, Partition, Products, RowKeySwitch};
use gpu_ref::{Device, Modulus, Timing, Word, host};
use rand::RngExt;
use std::collections::BTreeMap;
use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Options {
    log_n: u32,
    limbs: usize,
    special: usize,
    digits: usize,
    bits: u32,
    polynomials: usize,
    devices: Vec<usize>,
    transports: Vec<Transport>,
    emulated: bool,
}

fn parse() -> Outcome<Options> {
    let mut options = Options {
        log_n: 16,
        limbs: 24,
        special: 6,
        digits: 4,
        bits: 64,
        polynomials: 8,
        devices: Vec::new(),
        transports: vec![Transport::Peer, Transport::Nccl, Transport::Host],
        emulated: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--emulated" {
            options.emulated = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--log-n" => options.log_n = value.parse()?,
            "--limbs" => options.limbs = value.parse()?,
            "--special" => options.special = value.parse()?,
            "--digits" => options.digits = value.parse()?,
            "--bits" => options.bits = value.parse()?,
            "--polynomials" => options.polynomials = value.parse()?,
            "--gpus" => options.devices.push(value.parse()?),
            "--transport" => {
                options.transports.retain(|transport| transport.name() == value);
                if options.transports.is_empty() {
                    return Err(format!("unknown transport {value}; expected peer, nccl or host").into());
                }
            }
            _ => return Err(format!("unknown option {argument}").into()),
        }
    }
    if options.devices.is_empty() {
        let there = |&count: &usize| options.emulated || Device::open(count - 1).is_ok();
        options.devices = [1, 2, 4].into_iter().filter(there).collect();
    }
    Ok(options)
}

fn main() -> Outcome<()> {
    let options = parse()?;
    match options.bits {
        32 => run::<u32>(&options),
        64 => run::<u64>(&options),
        _ => Err("expected --bits 32 or 64".into()),
    }
}

/// Communication between devices.
#[derive(Clone, Copy, PartialEq)]
enum Transport {
    Peer,
    Nccl,
    Host,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Transport::Peer => "peer",
            Transport::Nccl => "nccl",
            Transport::Host => "host",
        }
    }
}

fn run<W: Word>(options: &Options) -> Outcome<()> {
    let n = 1 << options.log_n;
    let all = (0..options.limbs + options.special)
        .map(|skip| Modulus::<W>::find(W::BITS - 2, n, skip))
        .collect::<Result<Vec<_>, _>>()?;
    let (moduli, special) = all.split_at(options.limbs);
    let basis = Basis::new(moduli, special, options.digits)?;
    let emulated = if options.emulated { Some(Device::emulated()?) } else { None };
    let cluster = |transport, count: usize| {
        Ok::<_, Box<dyn Error>>(match (&emulated, transport) {
            (Some(device), _) => Cluster::staged(&vec![device.clone(); count]),
            (None, Transport::Peer) => Cluster::peer(count)?,
            (None, Transport::Nccl) => Cluster::nccl(count)?,
            (None, Transport::Host) => {
                Cluster::staged(&(0..count).map(Device::open).collect::<Result<Vec<_>, _>>()?)
            }
        })
    };
    let transports = if options.emulated { &[Transport::Host] } else { &options.transports[..] };
    let mut steps = Vec::new();
    println!("what,partition,transport,devices,us,low,high,speedup");
    multiply(options, moduli, &|count| cluster(transports[0], count))?;
    let mut work = Work::new(basis);
    let partitions = std::iter::once(None).chain(Partition::ALL.map(Some));
    for &transport in transports {
        for partition in partitions.clone() {
            let setting = Setting { partition, transport };
            switch(options, &mut work, setting, &|count| cluster(transport, count), &mut steps)?;
        }
    }
    steps.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// Rows of random words below the moduli, repeated.
fn random<W: Word>(moduli: &[Modulus<W>], polynomials: usize) -> Vec<W> {
    let mut rng = rand::rng();
    let rows = (0..polynomials).flat_map(|_| moduli);
    rows.flat_map(|modulus| std::iter::repeat_n(modulus.q().widen(), modulus.n()))
        .map(|q| W::narrow(rng.random_range(0..q)))
        .collect()
}

fn agree<W: Word>(what: &str, got: &[W], want: &[W]) -> Outcome<()> {
    match want.iter().zip(got).position(|(want, got)| want != got) {
        Some(at) => Err(format!("{what} differs from the host model at word {at}").into()),
        None => Ok(()),
    }
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
    let product = |polynomial: usize| -> Vec<W> {
        let range = polynomial * words..(polynomial + 1) * words;
        let rows = left[range.clone()].chunks(moduli[0].n()).zip(right[range].chunks(moduli[0].n()));
        rows.zip(moduli).flat_map(|((x, y), modulus)| host::product(modulus, x, y)).collect()
    };
    let (first, last) = (product(0), product(options.polynomials - 1));
    let mut alone = None;
    for &count in &options.devices {
        let mut products = Products::new(cluster(count)?, moduli, options.polynomials)?;
        let got = products.run(&left, &right)?;
        agree("a product", &got[..words], &first)?;
        agree("a product", &got[got.len() - words..], &last)?;
        println!("products,limbs,none,{count},{}", columns(products.time()?, &mut alone));
    }
    Ok(())
}

/// How a key switch is divided: as in a paper, or by limbs from start to end (`rows`).
#[derive(Clone, Copy)]
struct Setting {
    partition: Option<Partition>,
    transport: Transport,
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.partition {
            Some(partition) => write!(f, "{partition},{}", self.transport.name()),
            None => write!(f, "rows,{}", self.transport.name()),
        }
    }
}

/// A key switch in either form.
enum Switch<W> {
    Rows(RowKeySwitch<W>),
    Parts(KeySwitch<W>),
}

impl<W: Word> Switch<W> {
    fn groups(&self) -> usize {
        match self {
            Self::Rows(_) => 1,
            Self::Parts(switch) => switch.groups(),
        }
    }

    fn run(&mut self, polynomial: &[W]) -> Result<Vec<W>, gpu_ref::Error> {
        match self {
            Self::Rows(switch) => switch.run(polynomial),
            Self::Parts(switch) => switch.run(polynomial),
        }
    }

    fn time(&mut self) -> Result<Timing, gpu_ref::Error> {
        match self {
            Self::Rows(switch) => switch.time(),
            Self::Parts(switch) => switch.time(),
        }
    }

    fn profile(&mut self) -> Result<Vec<(&'static str, f64)>, gpu_ref::Error> {
        match self {
            Self::Rows(switch) => switch.profile(),
            Self::Parts(switch) => switch.profile(),
        }
    }
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
    setting: Setting,
    cluster: &impl Fn(usize) -> Outcome<Cluster>,
    steps: &mut Vec<String>,
) -> Outcome<()> {
    let Work { basis, polynomial, key, models } = work;
    let mut alone = None;
    for &count in &options.devices {
        let cluster = cluster(count)?;
        let mut switch = match setting.partition {
            None => Switch::Rows(RowKeySwitch::new(cluster, basis.clone(), key)?),
            Some(partition) => Switch::Parts(KeySwitch::new(cluster, basis.clone(), partition, key)?),
        };
        let groups = switch.groups();
        let want = models.entry(groups).or_insert_with(|| basis.model(polynomial, key, groups));
        agree("a key switch", &switch.run(polynomial)?, want)?;
        println!("key switching,{setting},{count},{}", columns(switch.time()?, &mut alone));
        steps.extend(
            switch
                .profile()?
                .into_iter()
                .map(|(step, us)| format!("step: {step},{setting},{count},{us:.1},,,")),
        );
    }
    Ok(())
}
