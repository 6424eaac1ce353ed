//! All programs in all dataflows compute what the formulas say, on integers of any size.

use num_bigint::BigUint;
use programs::{
    DATAFLOWS, Generator, Options, ParameterSet, Rescale, SETS, Security, find_program, generate,
};
use proptest::prelude::*;
use ring::host::Ntt;
use ring::{Degree, Ring};
use ring_program::{Inputs, RingProgram, execute};
use std::collections::BTreeMap;

/// The limbs of one polynomial.
type Limbs = Vec<Vec<u128>>;

/// The formulas for one set and level.
struct Golden {
    degree: Degree,
    /// The moduli in use: q_0 to q_(l-1), then p.
    q: Vec<u128>,
    p: Vec<u128>,
    levels: usize,
    digits: usize,
    t: u128,
}

fn modulo(x: &BigUint, q: u128) -> u128 {
    u128::try_from(x % BigUint::from(q)).unwrap()
}

/// a^-1 modulo a prime.
fn inverse(a: &BigUint, q: u128) -> u128 {
    u128::try_from(a.modpow(&BigUint::from(q - 2), &BigUint::from(q))).unwrap()
}

fn product(moduli: &[u128]) -> BigUint {
    moduli.iter().map(|&q| BigUint::from(q)).product()
}

fn multiply(a: u128, b: u128, q: u128) -> u128 {
    modulo(&(BigUint::from(a) * b), q)
}

fn add(a: u128, b: u128, q: u128) -> u128 {
    modulo(&(BigUint::from(a) + b), q)
}

fn subtract(a: u128, b: u128, q: u128) -> u128 {
    add(a, q - b % q, q)
}

/// The words of two limbs, one by one.
fn zip(a: &[u128], b: &[u128], then: impl Fn(u128, u128) -> u128) -> Vec<u128> {
    a.iter().zip(b).map(|(&a, &b)| then(a, b)).collect()
}

impl Golden {
    fn ntt(&self, q: u128) -> Ntt {
        Ntt::for_ring(&Ring::with_smallest_root(self.degree, q).unwrap()).unwrap()
    }

    fn values(&self, mut limb: Vec<u128>, q: u128) -> Vec<u128> {
        self.ntt(q).forward(&mut limb);
        limb
    }

    fn coefficients(&self, limb: &[u128], q: u128) -> Vec<u128> {
        let mut limb = limb.to_vec();
        self.ntt(q).inverse(&mut limb);
        limb
    }

    /// The fast conversion of coefficients: the integer x + u S below m S, for each of them.
    fn convert(&self, limbs: &[Vec<u128>], moduli: &[u128]) -> Vec<BigUint> {
        let all = product(moduli);
        let cofactors = moduli.iter().map(|&q| (&all / q, inverse(&(&all / q), q)));
        let cofactors: Vec<(BigUint, u128)> = cofactors.collect();
        let coefficient = |index: usize| {
            let limbs = limbs.iter().zip(moduli).zip(&cofactors);
            let terms =
                limbs.map(|((limb, &q), (cofactor, inverse))| cofactor * multiply(limb[index], *inverse, q));
            terms.sum()
        };
        (0..self.degree.len()).map(coefficient).collect()
    }

    fn all(&self) -> Vec<u128> {
        [&self.q[..], &self.p].concat()
    }

    /// The sums of the digits' products with a key, over all moduli in use.
    fn sums(&self, d: &Limbs, key: &[Vec<Limbs>; 2]) -> [Limbs; 2] {
        let size = self.levels.div_ceil(self.digits);
        let all = self.all();
        let mut sums = [0, 1].map(|_| vec![vec![0; self.degree.len()]; all.len()]);
        for (digit, first) in (0..self.q.len()).step_by(size).enumerate() {
            let own = first..(first + size).min(self.q.len());
            let limbs: Limbs = own.clone().map(|i| self.coefficients(&d[i], self.q[i])).collect();
            let converted = self.convert(&limbs, &self.q[own.clone()]);
            for (i, &q) in all.iter().enumerate() {
                let raised = match own.contains(&i) {
                    true => d[i].clone(),
                    false => self.values(converted.iter().map(|x| modulo(x, q)).collect(), q),
                };
                let index = if i < self.q.len() { i } else { i + self.levels - self.q.len() };
                for (sum, key) in sums.iter_mut().zip(key) {
                    let products = zip(&raised, &key[digit][index], |a, b| multiply(a, b, q));
                    sum[i] = zip(&sum[i], &products, |a, b| add(a, b, q));
                }
            }
        }
        sums
    }

    /// (x - t conv([t^-1 x]_S)) S^-1 with S the product of the moduli from `first` on.
    fn divide(&self, x: &Limbs, first: usize) -> Limbs {
        let all = self.all();
        let (kept, divisors) = all.split_at(first);
        let lowered = |(limb, &q): (&Vec<u128>, &u128)| {
            let scale = inverse(&BigUint::from(self.t), q);
            self.coefficients(limb, q).into_iter().map(|x| multiply(x, scale, q)).collect()
        };
        let lowered: Limbs = x[first..].iter().zip(divisors).map(lowered).collect();
        let converted = self.convert(&lowered, divisors);
        let divided = |(limb, &q): (&Vec<u128>, &u128)| {
            let remainder = converted.iter().map(|z| modulo(&(z * self.t), q)).collect();
            let inverse = inverse(&product(divisors), q);
            zip(limb, &self.values(remainder, q), |a, b| multiply(subtract(a, b, q), inverse, q))
        };
        x.iter().zip(kept).map(divided).collect()
    }

    fn key_switch(&self, d: &Limbs, key: &[Vec<Limbs>; 2]) -> [Limbs; 2] {
        self.sums(d, key).map(|sum| self.divide(&sum, self.q.len()))
    }

    /// Divided by the last modulus, rounded; in BGV to a multiple of t.
    fn rescaled(&self, x: &Limbs) -> Limbs {
        let (last, q) = x.split_last().map(|(last, rest)| (last, self.q[rest.len()])).unwrap();
        let scale = inverse(&BigUint::from(self.t), q);
        let residues = self.coefficients(last, q).into_iter().map(|x| multiply(x, scale, q));
        // Centred residues, as pairs of a part to subtract and a part to add.
        let centred: Vec<(u128, u128)> =
            residues.map(|r| if r > (q - 1) / 2 { (0, q - r) } else { (r, 0) }).collect();
        let divided = |(limb, &m): (&Vec<u128>, &u128)| {
            let residue =
                |&(plus, minus): &(u128, u128)| multiply(subtract(plus % m, minus, m), self.t % m, m);
            let remainder = self.values(centred.iter().map(residue).collect(), m);
            let inverse = inverse(&BigUint::from(q), m);
            zip(limb, &remainder, |a, b| multiply(subtract(a, b, m), inverse, m))
        };
        x[..x.len() - 1].iter().zip(&self.q).map(divided).collect()
    }

    /// X to X^g.
    fn automorphism(&self, x: &Limbs, g: u64) -> Limbs {
        let n = self.degree.get();
        let mapped = |(limb, &q): (&Vec<u128>, &u128)| {
            let mut out = vec![0; limb.len()];
            for (i, &word) in self.coefficients(limb, q).iter().enumerate() {
                let index = g * i as u64 % (2 * n);
                out[(index % n) as usize] = if index < n { word } else { (q - word) % q };
            }
            self.values(out, q)
        };
        x.iter().zip(&self.q).map(mapped).collect()
    }

    /// The formulas at a lower level.
    fn at_level(&self, level: usize) -> Self {
        let Self { degree, p, levels, digits, t, .. } = self;
        let (q, p) = (self.q[..level].to_vec(), p.clone());
        Self { degree: *degree, q, p, levels: *levels, digits: *digits, t: *t }
    }

    /// c0 + c1 s + c2 s^2 at a level with its last modulus dropped; c2 is switched with `key`.
    fn merged_product(&self, tensor: [&Limbs; 2], d: &Limbs, key: &[Vec<Limbs>; 2]) -> [Limbs; 2] {
        let (level, special) = (self.q.len(), product_modulo(&self.p, &self.q));
        let mut sums = self.sums(d, key).into_iter();
        tensor.map(|c| {
            let sum = sums.next().unwrap();
            let scaled = c.iter().zip(&special).zip(&self.q);
            let scaled: Limbs = scaled
                .map(|((limb, &special), &q)| limb.iter().map(|&x| multiply(x, special, q)).collect())
                .collect();
            let sum = [self.each(&sum[..level].to_vec(), &scaled, add), sum[level..].to_vec()].concat();
            self.divide(&sum, level - 1)
        })
    }

    /// A layer: the sum of weights times rotations, rescaled, and its square, rescaled.
    fn layer(
        &self,
        ciphertext: &[Limbs; 2],
        rotations: &[(u32, &Limbs, [Vec<Limbs>; 2])],
        square_key: &[Vec<Limbs>; 2],
    ) -> [Limbs; 2] {
        let zero = vec![vec![0; self.degree.len()]; self.q.len()];
        let mut sums = [zero.clone(), zero];
        for (rotation, weight, key) in rotations {
            let [c0, c1] = [&ciphertext[0], &ciphertext[1]];
            let rotated = match rotation {
                0 => ciphertext.clone(),
                &rotation => self.rotation([c0, c1], key, rotation),
            };
            for (sum, rotated) in sums.iter_mut().zip(&rotated) {
                *sum = self.each(sum, &self.each(rotated, weight, multiply), add);
            }
        }
        let [c0, c1] = sums.map(|sum| self.rescaled(&sum));
        let golden = self.at_level(self.q.len() - 1);
        let cross = golden.each(&c0, &c1, multiply);
        let tensor = [&golden.each(&c0, &c0, multiply), &golden.each(&cross, &cross, add)];
        golden.merged_product(tensor, &golden.each(&c1, &c1, multiply), square_key)
    }

    fn each(&self, a: &Limbs, b: &Limbs, then: fn(u128, u128, u128) -> u128) -> Limbs {
        let moduli = self.all();
        a.iter().zip(b).zip(moduli).map(|((a, b), q)| zip(a, b, |a, b| then(a, b, q))).collect()
    }

    fn rotation(&self, [c0, c1]: [&Limbs; 2], key: &[Vec<Limbs>; 2], rotation: u32) -> [Limbs; 2] {
        let [first, second] = self.key_switch(c1, key);
        let g = (0..rotation).fold(1, |g, _| g * 5 % (2 * self.degree.get()));
        [self.each(&first, c0, add), second].map(|x| self.automorphism(&x, g))
    }
}

/// A set, a level and a dataflow.
#[derive(Clone, Debug)]
struct Case {
    log2: u32,
    bits: (u32, u32),
    counts: (usize, usize),
    digits: usize,
    level: usize,
    t: Option<u128>,
    dataflow: usize,
    tile: usize,
    seed: u64,
}

impl Case {
    fn set(&self) -> ParameterSet {
        let Self { bits, counts, digits, .. } = self;
        let t = self.t.map_or(String::new(), |t| format!("plaintext_modulus = {t}\n"));
        let text = format!(
            "n = {}\nq = [{{ bits = {}, count = {} }}]\np = [{{ bits = {}, count = {} }}]\ndigits = {digits}\nsecurity = \"none\"\n{t}",
            1 << self.log2,
            bits.0,
            counts.0,
            bits.1,
            // P is no less than a digit.
            counts.1.max(counts.0.div_ceil(*digits)),
        );
        ParameterSet::parse("random", "random.toml", &text, None).unwrap()
    }

    fn options(&self) -> Options {
        let dataflow = DATAFLOWS[self.dataflow];
        let options =
            Options::of([("level", self.level.to_string()), ("dataflow", dataflow.name.to_owned())]);
        if dataflow.has_tiles { options.with("tile", self.tile.to_string()) } else { options }
    }

    fn golden(&self, set: &ParameterSet) -> Golden {
        let q = set.q()[..self.level].to_vec();
        let t = self.t.unwrap_or(1);
        Golden { degree: set.degree(), q, p: set.p(), levels: self.counts.0, digits: self.digits, t }
    }
}

fn cases() -> BoxedStrategy<Case> {
    let sizes = (9_u32..=10, (20_u32..=128, 20_u32..=128), (1_usize..=5, 1_usize..=3), any::<u64>());
    let choices = (any::<u64>(), any::<u64>(), prop_oneof![Just(None), Just(Some(65537)), Just(Some(2))]);
    (sizes, choices, 0..DATAFLOWS.len(), 1_usize..=5)
        .prop_map(|((log2, bits, counts, seed), (digits, level, t), dataflow, tile)| {
            let fits = |digits: &usize| counts.0 > counts.0.div_ceil(*digits) * (digits - 1);
            let allowed: Vec<usize> = (1..=counts.0).filter(fits).collect();
            let digits = allowed[digits as usize % allowed.len()];
            let level = 1 + level as usize % counts.0;
            let bits = (bits.0.min(bits.1), bits.0.max(bits.1));
            Case { log2, bits, counts, digits, level, t, dataflow, tile, seed }
        })
        .boxed()
}

/// The inputs and the outputs of a program on pseudo-random data, by name.
fn run(program: &RingProgram, seed: u64) -> BTreeMap<String, Limbs> {
    let mut inputs = Inputs::new(program);
    inputs.fill(seed);
    let outputs = execute(&inputs).unwrap();
    let mut data = BTreeMap::new();
    for group in program.inputs() {
        // Limbs of dropped moduli have no words.
        let words = |&limb| inputs.words(limb).map_or(Vec::new(), |words| words.to_vec());
        data.insert(group.name.clone(), group.limbs.iter().map(words).collect());
    }
    for (group, words) in program.outputs().iter().zip(outputs) {
        data.insert(group.name.clone(), words.iter().map(|words| words.to_vec()).collect());
    }
    data
}

fn key(data: &BTreeMap<String, Limbs>, name: &str) -> [Vec<Limbs>; 2] {
    ["b", "a"].map(|component| {
        let digits = (0..).map_while(|digit| data.get(&format!("{name}.{component}.{digit}")));
        digits.cloned().collect()
    })
}

fn program(name: &str) -> Generator {
    find_program(name).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn key_switches_equal_the_formulas(case in cases()) {
        let set = case.set();
        let golden = case.golden(&set);
        let data = run(&generate(&program("keyswitch"), &set, &case.options()).unwrap(), case.seed);
        let expected = golden.key_switch(&data["d"], &key(&data, "evk"));
        prop_assert_eq!([&data["ks0"], &data["ks1"]], [&expected[0], &expected[1]]);
    }

    #[test]
    fn products_equal_the_formulas(case in cases(), rescale in 0..3) {
        let rescale = [Rescale::Merged, Rescale::Separate, Rescale::None][rescale as usize];
        let rescale = if case.level == 1 { Rescale::None } else { rescale };
        let set = case.set();
        let golden = case.golden(&set);
        let options = case.options().with(
            "rescale",
            match rescale {
                Rescale::Merged => "merged",
                Rescale::Separate => "separate",
                Rescale::None => "none",
            },
        );
        let data = run(&generate(&program("hmult"), &set, &options).unwrap(), case.seed);
        let product = |a: &str, b: &str| golden.each(&data[a], &data[b], multiply);
        let tensor = [
            product("ct1.0", "ct2.0"),
            golden.each(&product("ct1.0", "ct2.1"), &product("ct1.1", "ct2.0"), add),
        ];
        let (d, key) = (product("ct1.1", "ct2.1"), key(&data, "evk"));
        let expected: Vec<Limbs> = match rescale {
            Rescale::Merged => golden.merged_product([&tensor[0], &tensor[1]], &d, &key).into(),
            Rescale::Separate | Rescale::None => {
                let switched = golden.key_switch(&d, &key);
                switched.iter().zip(&tensor).map(|(x, c)| golden.each(x, c, add)).collect()
            }
        };
        prop_assert_eq!([&data["prod.0"], &data["prod.1"]], [&expected[0], &expected[1]]);
        if rescale == Rescale::Separate {
            let rescaled: Vec<Limbs> = expected.iter().map(|x| golden.rescaled(x)).collect();
            prop_assert_eq!([&data["rescaled.0"], &data["rescaled.1"]], [&rescaled[0], &rescaled[1]]);
        }
    }

    #[test]
    fn rotations_equal_the_formulas(case in cases(), rotations in (1_u32..200, 200_u32..255)) {
        let set = case.set();
        let golden = case.golden(&set);
        let options = |rotations: &[u32]| {
            let texts: Vec<String> = rotations.iter().map(u32::to_string).collect();
            case.options().with("rotations", texts.join(","))
        };
        let data = run(&generate(&program("hrot"), &set, &options(&[rotations.0])).unwrap(), case.seed);
        let expected = golden.rotation([&data["ct.0"], &data["ct.1"]], &key(&data, "evk"), rotations.0);
        prop_assert_eq!([&data["rot.0"], &data["rot.1"]], [&expected[0], &expected[1]]);

        let both = options(&[rotations.0, rotations.1]);
        let data = run(&generate(&program("hoisted-rotations"), &set, &both).unwrap(), case.seed);
        for rotation in [rotations.0, rotations.1] {
            let key = key(&data, &format!("evk{rotation}"));
            let expected = golden.rotation([&data["ct.0"], &data["ct.1"]], &key, rotation);
            let found = [0, 1].map(|component| &data[&format!("rot{rotation}.{component}")]);
            prop_assert_eq!(found, [&expected[0], &expected[1]]);
        }
    }

    #[test]
    fn layers_equal_the_formulas(case in cases(), rotations in (1_u32..200, 200_u32..255), layers in 1_usize..=2) {
        // Two levels a layer, and one that is left.
        let levels = (2 * layers + 1).max(case.counts.0);
        let case = Case { counts: (levels, case.counts.1), digits: 1 + case.digits % 2, level: levels, ..case };
        let set = case.set();
        let rotations = [rotations.0, rotations.1];
        let options = case.options().with("rotations", format!("{},{}", rotations[0], rotations[1]));
        let options = options.with("layers", layers.to_string());
        let data = run(&generate(&program("layers"), &set, &options).unwrap(), case.seed);
        let mut ciphertext = [data["ct.0"].clone(), data["ct.1"].clone()];
        let square_key = key(&data, "evk");
        for layer in 0..layers {
            let golden = case.golden(&set).at_level(levels - 2 * layer);
            let of = |rotation: u32| {
                (rotation, &data[&format!("pt{layer}.{rotation}")], key(&data, &format!("evk{rotation}")))
            };
            ciphertext = golden.layer(&ciphertext, &[0, rotations[0], rotations[1]].map(of), &square_key);
        }
        prop_assert_eq!([&data["out.0"], &data["out.1"]], [&ciphertext[0], &ciphertext[1]]);
    }

    #[test]
    fn rescales_equal_the_formulas(case in cases()) {
        let case = Case { level: case.level.max(2), counts: (case.counts.0.max(2), case.counts.1), ..case };
        let case = Case { digits: 1, ..case };
        let set = case.set();
        let golden = case.golden(&set);
        let options = Options::of([("level", case.level.to_string())]);
        let data = run(&generate(&program("rescale"), &set, &options).unwrap(), case.seed);
        for component in [0, 1] {
            let expected = golden.rescaled(&data[&format!("ct.{component}")]);
            prop_assert_eq!(&data[&format!("rescaled.{component}")], &expected);
        }
    }
}

/// The product of `moduli` modulo each of `modulo_each`.
fn product_modulo(moduli: &[u128], modulo_each: &[u128]) -> Vec<u128> {
    let all = product(moduli);
    modulo_each.iter().map(|&q| modulo(&all, q)).collect()
}

#[test]
fn all_dataflows_have_the_same_inputs_and_results() {
    for set in ["ark", "bts1", "dprive"] {
        let set = ParameterSet::built_in(set, Some(512)).unwrap().unwrap();
        let run = |dataflow: &programs::Dataflow| {
            let options = Options::of([("dataflow", dataflow.name)]);
            run(&generate(&program("hmult"), &set, &options).unwrap(), 1)
        };
        let first = run(&DATAFLOWS[0]);
        for dataflow in &DATAFLOWS[1..] {
            assert!(run(dataflow) == first, "{} {dataflow:?}", set.name());
        }
    }
}

#[test]
fn built_in_sets_state_the_source_of_every_parameter() {
    for (name, _) in SETS {
        let set = ParameterSet::built_in(name, None).unwrap().unwrap();
        let named: Vec<&str> = set.sources().iter().map(|(key, _)| &**key).collect();
        assert_eq!(named[..4], ["n", "q", "p", "digits"], "{name}");
        assert_eq!(named[4..].contains(&"security"), set.security() == Security::None, "{name}");
        assert!(set.sources().iter().all(|(_, source)| !source.is_empty()));
    }
}

#[test]
fn the_sets_have_the_sizes_of_their_sources() {
    let sizes = |name: &str| {
        let set = ParameterSet::built_in(name, None).unwrap().unwrap();
        (set.degree().get(), set.levels(), set.p().len(), set.digits())
    };
    assert_eq!(sizes("ark"), (1 << 16, 24, 6, 4));
    assert_eq!(sizes("bts1"), (1 << 17, 28, 28, 1));
    assert_eq!(sizes("bts2"), (1 << 17, 40, 20, 2));
    assert_eq!(sizes("bts3"), (1 << 17, 45, 15, 3));
    assert_eq!(sizes("dprive"), (1 << 16, 13, 4, 4));
    let log2_qp = |name: &str| ParameterSet::built_in(name, None).unwrap().unwrap().parameters().log2_qp;
    for (name, size, log2) in [
        ("lattigo-n16qp1546", (1 << 16, 25, 5, 5), 1_546.0),
        ("lattigo-n16qp1547", (1 << 16, 24, 4, 6), 1_547.0),
        ("lattigo-n16qp1767", (1 << 16, 29, 6, 5), 1_767.0),
        ("lattigo-n15qp768", (1 << 15, 14, 2, 7), 768.0),
        ("cheddar-31", (1 << 16, 29, 12, 4), 1_745.0),
        ("cinnamon-28", (1 << 16, 27, 13, 4), 1_779.0),
        ("sharp-36", (1 << 16, 23, 12, 3), 1_591.0),
    ] {
        assert_eq!((sizes(name), log2_qp(name).round()), (size, log2), "{name}");
    }
}

#[test]
fn sets_have_the_largest_class_whose_bound_they_meet() {
    let class = |n: u32, bits: u32, count: usize, more: &str, other: Option<u64>| {
        let text = format!(
            "n = {n}\nq = [{{ bits = {bits}, count = {count} }}]\np = [{{ bits = {bits}, count = 1 }}]\ndigits = {count}\n{more}"
        );
        ParameterSet::parse("set", "set.toml", &text, other).map(|set| set.security().to_string()).ok()
    };
    let of = |n, bits, count| class(n, bits, count, "", None);
    let some = |class: &str| Some(class.to_owned());
    assert_eq!(of(4096, 29, 1), some("256"));
    assert_eq!(of(4096, 37, 1), some("192"));
    assert_eq!(of(4096, 36, 2), some("128"));
    assert_eq!(of(4096, 55, 1), None);
    assert_eq!(of(512, 20, 1), None);
    assert_eq!(class(512, 20, 1, "security = \"none\"", None), some("none"));
    assert_eq!(class(4096, 29, 1, "security = \"none\"", None), some("none"));
    assert_eq!(class(4096, 36, 2, "", Some(512)), some("none"));
    assert_eq!(class(4096, 36, 2, "", Some(8192)), some("256"));
    assert_eq!(class(4096, 36, 2, "hamming_weight = 192", None), some("unclassified"));
    assert_eq!(class(4096, 55, 1, "hamming_weight = 192", None), None);
    let bts = ParameterSet::built_in("bts1", None).unwrap().unwrap();
    // Its degree is beyond the tables.
    assert_eq!(bts.security(), Security::Unclassified);
    let of = bts.parameters();
    assert_eq!((of.log2_q, of.log2_p, of.log2_qp), (1652.0, 1652.0, 3304.0));
}
