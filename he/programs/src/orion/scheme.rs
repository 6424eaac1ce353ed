//! The parameters: primes for sizes, as Lattigo takes them.

use super::header::{Header, Params};
use crate::ParameterSet;
use crate::foreign::{BOOTSTRAP_SET, Messages, Parameters, log2};
use crate::set::{alternating_primes, falling_primes};
use diagnostic::{Code, Diagnostic};
use ring::Degree;
use std::collections::BTreeMap;

/// The most bits of a modulus in Lattigo, of q and of p.
const MOST_BITS: [u32; 2] = [60, 61];

/// The most moduli of a list: their search takes time. Assumed.
const MOST_MODULI: usize = 128;

/// The parameters of a file, and the number of moduli of ciphertexts without those of bootstraps.
pub(super) fn parameters(
    file: &str,
    header: &Header<'_>,
    bootstraps: bool,
) -> Result<(Parameters, usize), Diagnostic> {
    let wrong = |message: String| Diagnostic::new(message).in_file(file);
    let Params { logn, logq, logp, log_default_scale, h, ring_type, boot_logp, btp_logn } = &header.params;
    if *ring_type != "standard" {
        let message = format!("params.ring_type: the ring `{}`", diagnostic::one_line(ring_type));
        return Err(wrong(message).with_help("`standard` is read: CKKSParams(.., ring_type=\"standard\")"));
    }
    let degree = 1_u64.checked_shl(*logn).and_then(|n| Degree::new(n).ok());
    let Some(degree) = degree else {
        return Err(wrong(format!("params.logn: no ring has the degree 2^{logn}")));
    };
    if let Some(other) = btp_logn.filter(|other| other != logn) {
        let message = format!("params.btp_logn: bootstraps in the ring of degree 2^{other}");
        return Err(wrong(message)
            .with_help(format!("only bootstraps in the ring of the network are read: btp_logn={logn}")));
    }
    for (key, bits, most) in [("logq", logq, MOST_BITS[0]), ("logp", logp, MOST_BITS[1])] {
        let is_size = |&bits: &u32| (logn + 2..=most).contains(&bits);
        if bits.is_empty() || bits.len() > MOST_MODULI || !bits.iter().all(is_size) {
            let message = format!("params.{key}: {} moduli of the sizes {bits:?}", bits.len());
            let help = format!("1 to {MOST_MODULI} moduli, each of {} to {most} bits", logn + 2);
            return Err(wrong(message).with_help(help));
        }
    }
    if !(1..=MOST_BITS[0]).contains(log_default_scale) {
        let message = format!("params.log_default_scale: {log_default_scale}");
        return Err(wrong(message).with_help(format!("from 1 to {}", MOST_BITS[0])));
    }
    if header.input_level >= logq.len() {
        let (level, count) = (header.input_level, logq.len());
        let message = format!("input_level: {level}, and params.logq has {count} moduli, levels from 0");
        return Err(wrong(message).with_code(Code::Contradiction.name()));
    }
    let mut primes = Primes { degree, lists: BTreeMap::new() };
    let too_few =
        |bits: u32| wrong(format!("params: too few primes of {bits} bits are 1 mod 2^{}", logn + 1));
    let mut take = |bits: u32| primes.next(bits).ok_or_else(|| too_few(bits));
    let mut q = logq.iter().map(|&bits| take(bits)).collect::<Result<Vec<_>, _>>()?;
    let mut p = logp.iter().map(|&bits| take(bits)).collect::<Result<Vec<_>, _>>()?;
    let residual = q.len();
    let mut bootstrap = None;
    if bootstraps {
        let special = boot_logp.as_deref().filter(|bits| !bits.is_empty()).ok_or_else(|| {
            wrong("params.boot_logp: no moduli for the bootstraps".to_owned())
                .with_help("CKKSParams(.., boot_logp=(61,) * 5)")
        })?;
        if special.len() > MOST_MODULI || !special.iter().all(|bits| (logn + 2..=MOST_BITS[1]).contains(bits))
        {
            return Err(wrong(format!("params.boot_logp: moduli of the sizes {special:?}")));
        }
        let of = ParameterSet::built_in(BOOTSTRAP_SET, Some(degree.get())).expect("a built-in set");
        let of = of.map_err(|errors| wrong(format!("params: no bootstrap: {errors}")))?;
        let settings = of.bootstrap().expect("a set with a bootstrap");
        // The special moduli of the network do not occur in bootstraps, so that theirs may be the same.
        let mut primes = Primes { degree, lists: BTreeMap::new() };
        let mut take = |bits: u32| {
            let prime = std::iter::from_fn(|| primes.alternating(bits)).find(|prime| !q.contains(prime));
            prime.ok_or_else(|| too_few(bits))
        };
        let of_circuit = &of.q()[of.levels() - settings.depth()..];
        let further = of_circuit.iter().map(|&modulus| take(log2(modulus).round() as u32));
        let further = further.collect::<Result<Vec<_>, _>>()?;
        p = special.iter().map(|&bits| take(bits)).collect::<Result<_, _>>()?;
        q.extend(further);
        let room = (log2(q[0]).round() as u32).saturating_sub(*log_default_scale);
        let ratio_bits = settings.message_ratio_bits.min(room);
        bootstrap = Some(Messages { scale_bits: *log_default_scale, ratio_bits });
    }
    let parameters = Parameters {
        name: "orion".to_owned(),
        origin: format!("params of {file}"),
        n: degree.get(),
        q,
        p,
        hamming_weight: Some(*h),
        bootstrap,
    };
    Ok((parameters, residual))
}

/// The primes that have not been taken, by their size.
struct Primes {
    degree: Degree,
    lists: BTreeMap<u32, Box<dyn Iterator<Item = u128>>>,
}

impl Primes {
    /// Lattigo's `GenModuli`: the primes next to 2^bits, above and below; of the largest size those below.
    fn next(&mut self, bits: u32) -> Option<u128> {
        if bits < MOST_BITS[1] {
            return self.alternating(bits);
        }
        let falling = || Box::new(falling_primes(bits, self.degree)) as Box<dyn Iterator<Item = u128>>;
        self.lists.entry(bits).or_insert_with(falling).next()
    }

    fn alternating(&mut self, bits: u32) -> Option<u128> {
        let list = || Box::new(alternating_primes(bits, self.degree)) as Box<dyn Iterator<Item = u128>>;
        self.lists.entry(bits).or_insert_with(list).next()
    }
}
