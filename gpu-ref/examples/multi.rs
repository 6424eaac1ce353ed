//! Batch products and key switching on 1, 2, 4, .. GPUs: checks each against the host model and
//! prints its times.
//!
//! `multi [--log-n L] [--limbs L] [--special K] [--digits D] [--bits B] [--polynomials P] [--gpus
//! R].. [--transport nccl|host] [--emulated]`. The defaults are N = 2^16, 24 limbs and 6 special
//! limbs of 62 bits (30 with `--bits 32`), 4 digits, 8 polynomials, all available GPUs, and both
//! transports. Lines are `what,partition,transport,devices,us,speedup`, with speedups over one
//! device, then the steps of each key switch, with all devices synchronised after each:
//! `step,partition,transport,devices,us`. Times are medians by the host's clock, without transfers
//! from and to the host. `--emulated` selects emulated devices, whose times are meaningless.

use gpu_ref::multi::{Basis, Cluster, KeySwitch, Partition, Products};
use gpu_ref::{Device, Modulus, Word, host};
use rand::RngExt;
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
        transports: vec![Transport::Nccl, Transport::Host],
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
                    return Err(format!("unknown transport {value}; expected nccl or host").into());
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
    Nccl,
    Host,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
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
            (None, Transport::Nccl) => Cluster::nccl(count)?,
            (None, Transport::Host) => {
                Cluster::staged(&(0..count).map(Device::open).collect::<Result<Vec<_>, _>>()?)
            }
        })
    };
    let transports = if options.emulated { &[Transport::Host] } else { &options.transports[..] };
    let mut steps = Vec::new();
    println!("what,partition,transport,devices,us,speedup");
    for &transport in transports {
        multiply(options, moduli, transport, &cluster)?;
        for partition in Partition::ALL {
            switch(options, &basis, partition, transport, &cluster, &mut steps)?;
        }
    }
    println!("\nstep,partition,transport,devices,us");
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

/// Products of a batch. The first and last polynomial are checked.
fn multiply<W: Word>(
    options: &Options,
    moduli: &[Modulus<W>],
    transport: Transport,
    cluster: &impl Fn(Transport, usize) -> Outcome<Cluster>,
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
        let mut products = Products::new(cluster(transport, count)?, moduli, options.polynomials)?;
        let got = products.run(&left, &right)?;
        agree("a product", &got[..words], &first)?;
        agree("a product", &got[got.len() - words..], &last)?;
        let us = products.time()?;
        let speedup = *alone.get_or_insert(us) / us;
        println!("products,segments,{},{count},{us:.1},{speedup:.2}", transport.name());
    }
    Ok(())
}

/// A key switch. All words are checked.
fn switch<W: Word>(
    options: &Options,
    basis: &Basis<W>,
    partition: Partition,
    transport: Transport,
    cluster: &impl Fn(Transport, usize) -> Outcome<Cluster>,
    steps: &mut Vec<String>,
) -> Outcome<()> {
    let polynomial = random(&basis.moduli()[..basis.limbs()], 1);
    let key = random(basis.moduli(), 2 * basis.digits());
    let mut models: Vec<(usize, Vec<W>)> = Vec::new();
    let mut alone = None;
    for &count in &options.devices {
        let mut switch = KeySwitch::new(cluster(transport, count)?, basis.clone(), partition, &key)?;
        let groups = switch.groups();
        if models.iter().all(|(known, _)| *known != groups) {
            models.push((groups, basis.model(&polynomial, &key, groups)));
        }
        let want = models.iter().find_map(|(known, words)| (*known == groups).then_some(words));
        agree("a key switch", &switch.run(&polynomial)?, want.ok_or("no model")?)?;
        let us = switch.time()?;
        let speedup = *alone.get_or_insert(us) / us;
        let setting = format!("{partition},{},{count}", transport.name());
        println!("key switching,{setting},{us:.1},{speedup:.2}");
        steps.extend(switch.profile()?.into_iter().map(|(step, us)| format!("{step},{setting},{us:.1}")));
    }
    Ok(())
}
