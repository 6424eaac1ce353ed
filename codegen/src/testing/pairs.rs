//! Random pairs of machines of which one is better.

use sim::Machine;
use sim::machine::Assignment;
use std::collections::BTreeMap;
use std::fmt;

/// The keys with an order: some values, from the best to the worst for speed. Repeated values are likelier.
pub const ORDERED: &[(&str, &[&str])] = &[
    ("hple.count", &["256", "128", "64", "32", "16", "8", "4"]),
    ("vdm.banks", &["256", "128", "64", "32"]),
    (
        "hple.multiplier_latency_cycles",
        &["2", "4", "6", "8", "9", "11", "12", "14", "16", "20", "24", "32", "40"],
    ),
    ("hple.initiation_interval", &["1", "1", "1", "2", "3", "4"]),
    ("hple.adder_latency_cycles", &["1", "1", "2", "3", "4", "6"]),
    ("sbar.latency_cycles", &["1", "2", "3", "4", "5", "6", "7", "9", "12", "16"]),
    ("sbar.initiation_interval", &["1", "1", "1", "2"]),
    ("vbar.latency_cycles", &["1", "2", "4", "5", "6", "8", "10", "12", "16", "24"]),
    ("vbar.initiation_interval", &["1", "1", "1", "2"]),
    ("vbar.paths", &["split", "shared", "shared", "shared"]),
    ("frontend.width", &["4", "2", "1", "1"]),
    ("frontend.cycles_per_instruction", &["1", "1", "1", "2"]),
    ("frontend.queue_depth", &["64", "16", "8", "6", "4", "2", "1"]),
    ("frontend.fetch_to_dispatch_cycles", &["1", "2", "4"]),
    ("frontend.dispatch_to_issue_cycles", &["0", "0", "1", "2", "3", "4"]),
    ("frontend.busyboard", &["shared-reads", "strict", "strict"]),
    ("frontend.source_release", &["read", "read", "complete"]),
    ("scalar.load_latency_cycles", &["1", "2", "4"]),
    ("vrf.ports", &["two-port", "single-port", "single-port", "single-port"]),
    ("vdm.ports", &["2", "1", "1"]),
    ("vdm.multicast", &["true", "true", "true", "false"]),
    ("ideal.vrf_ports", &["true", "false", "false", "false", "false", "false"]),
    ("ideal.queues", &["true", "false", "false", "false", "false", "false"]),
    ("ideal.front_end", &["true", "false", "false", "false", "false", "false"]),
    ("ideal.bank_conflicts", &["true", "false", "false", "false", "false", "false"]),
];

/// The keys without an order. Both machines of a pair have the same value.
pub const UNORDERED: &[(&str, &[&str])] = &[
    ("isa.vector_length", &["512", "512", "512", "512", "64", "128", "256", "1024", "2048", "4096"]),
    ("vrf.placement", &["mod", "mod", "div"]),
    ("vrf.arbitration", &["oldest-first", "oldest-first", "pipe-order"]),
    ("vdm.mapping", &["interleaved", "interleaved", "interleaved", "xor"]),
    ("vdm.size_mib", &["4", "4", "4", "16", "64"]),
    ("vdm.access_cycles", &["0", "0", "0", "1", "3"]),
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Two machines of which the first is better in one to three keys and otherwise like the second.
pub struct Pair {
    /// The ring degree.
    pub n: u32,
    /// The dominating machine.
    pub better: Machine,
    /// The dominated machine.
    pub worse: Machine,
    /// The degree and the settings of both machines.
    pub text: String,
}

/// The values of some keys.
type Values = BTreeMap<&'static str, &'static str>;

fn pair(random: &mut Random, most: u32) -> Pair {
    let n = most.min(1 << (10 + random.below(7)));
    let mut both = Values::new();
    for (key, values) in UNORDERED {
        both.insert(key, values[random.below(values.len())]);
    }
    if both["isa.vector_length"].parse::<u32>().unwrap() > n {
        both.remove("isa.vector_length");
    }
    let (mut better, mut worse) = (both.clone(), both);
    let count = [1, 1, 1, 2, 3][random.below(5)];
    let mut differ: Vec<usize> = (0..ORDERED.len()).collect();
    while differ.len() > count {
        differ.swap_remove(random.below(differ.len()));
    }
    for (number, (key, values)) in ORDERED.iter().enumerate() {
        let mut value = || random.below(values.len());
        let (good, bad) = if differ.contains(&number) {
            let (a, b) = loop {
                let pair = (value(), value());
                if values[pair.0] != values[pair.1] {
                    break pair;
                }
            };
            (a.min(b), a.max(b))
        } else if random.below(3) == 0 {
            let same = random.below(values.len());
            (same, same)
        } else {
            continue;
        };
        better.insert(key, values[good]);
        worse.insert(key, values[bad]);
    }
    make_possible(&mut better);
    make_possible(&mut worse);
    // Of two ports, a split path has one to itself: loads that take both on a shared path would be slower.
    if better.get("vbar.paths") == Some(&"split") && worse.get("vbar.paths") != Some(&"split") {
        worse.insert("vdm.ports", "1");
    }
    Pair::new(n, &better, &worse)
}

impl Pair {
    fn new(n: u32, better: &Values, worse: &Values) -> Self {
        let text = format!("n = {n}, better: {better:?}, worse: {worse:?}");
        let [better, worse] = [better, worse].map(|values| {
            let settings = values.iter().map(|(key, value)| format!("{key}={value}").parse().unwrap());
            let settings: Vec<Assignment> = settings.collect();
            Machine::rpu_128x128().with(&settings).unwrap_or_else(|| panic!("{values:?}"))
        });
        Self { n, better, worse, text }
    }
}

/// Pairs that differ in what programs feel most: a delay of each issue, slow shuffles on few HPLEs, whose
/// plans need few of them, the multiplier of the library's programs, and the HPLEs for vectors of each
/// length.
pub fn selected() -> Vec<Pair> {
    let pair = |n, shared: &[(&'static str, &'static str)], key, [better, worse]: [&'static str; 2]| {
        let with = |value| shared.iter().copied().chain([(key, value)]).collect::<Values>();
        Pair::new(n, &with(better), &with(worse))
    };
    let delay = |delay| pair(4096, &[], "frontend.dispatch_to_issue_cycles", ["0", delay]);
    let shuffles = |hples| pair(8192, &[("hple.count", hples)], "sbar.initiation_interval", ["1", "2"]);
    let multiplier =
        |banks| pair(4096, &[("vdm.banks", banks)], "hple.multiplier_latency_cycles", ["8", "11"]);
    let lanes = |n, lanes, hples| pair(n, &[("isa.vector_length", lanes)], "hple.count", hples);
    let lanes =
        [lanes(2048, "64", ["8", "4"]), lanes(4096, "128", ["16", "8"]), lanes(8192, "256", ["32", "16"])];
    let mut pairs =
        vec![delay("1"), delay("4"), shuffles("8"), shuffles("16"), multiplier("32"), multiplier("256")];
    pairs.extend(lanes);
    pairs
}

/// An HPLE needs a lane, and split paths need two ports.
fn make_possible(values: &mut Values) {
    if let Some(&lanes) = values.get("isa.vector_length") {
        let hples = values.entry("hple.count").or_insert("128");
        if hples.parse::<u32>().unwrap() > lanes.parse().unwrap() {
            *hples = lanes;
        }
    }
    if values.get("vbar.paths") == Some(&"split") {
        values.insert("vdm.ports", "2");
    }
}

/// Random pairs of machines, `default` many, for degrees up to `most`. The environment variables `RPU_PAIRS`,
/// for a number of pairs of any degree, and `RPU_SEED` override the arguments.
///
/// # Panics
/// Panics if the value of a variable is not a number.
pub fn pairs(default: usize, most: u32, seed: u64) -> Vec<Pair> {
    let count = std::env::var("RPU_PAIRS").ok().map(|count| count.parse().unwrap());
    let seed = std::env::var("RPU_SEED").map_or(seed, |seed| seed.parse().unwrap());
    let mut random = Random(seed);
    let most = if count.is_some() { u32::MAX } else { most };
    (0..count.unwrap_or(default)).map(|_| pair(&mut random, most)).collect()
}

/// How often the better of two machines has the slower program.
pub struct Noise {
    pairs: usize,
    /// By how much these are slower, in percent, ascending.
    slower: Vec<f64>,
}

impl Noise {
    /// From the cycles of the better machine over those of the worse one.
    pub fn of(ratios: &[f64]) -> Self {
        let slower = ratios.iter().map(|ratio| 100.0 * (ratio - 1.0)).filter(|&percent| percent > 0.0);
        let mut slower: Vec<f64> = slower.collect();
        slower.sort_by(f64::total_cmp);
        Self { pairs: ratios.len(), slower }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pairs, slower } = self;
        let more = slower.iter().filter(|&&percent| percent > 0.5).count();
        write!(f, "{pairs} pairs, {} slower, {more} by more than 0.5%", slower.len())?;
        if let Some(worst) = slower.last() {
            let [median, most] = [50, 99].map(|percent| slower[slower.len() * percent / 100]);
            write!(f, "; median {median:.2}%, 99% {most:.2}%, worst {worst:.2}%")?;
        }
        Ok(())
    }
}
