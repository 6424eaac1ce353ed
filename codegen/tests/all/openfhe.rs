//! The golden model compared with transforms and products from OpenFHE (`data/README.md`).

use ring::Degree;
use ring::prime::largest_prime;
use ring::root::smallest_root;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

/// A number in hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Hex(u128);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        u128::from_str_radix(&digits, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

#[derive(Deserialize)]
struct Summary {
    n: usize,
    q_bits: u32,
    q: Hex,
    psi: Hex,
    sha256_a: String,
    head_a: Vec<Hex>,
    tail_a: Vec<Hex>,
    sha256_b: String,
    head_b: Vec<Hex>,
    tail_b: Vec<Hex>,
    sha256_fwd_a: String,
    head_fwd_a: Vec<Hex>,
    tail_fwd_a: Vec<Hex>,
    sha256_c: String,
    head_c: Vec<Hex>,
    tail_c: Vec<Hex>,
}

#[derive(Deserialize)]
struct Full {
    n: usize,
    q_bits: u32,
    hex_digits: usize,
    q: Hex,
    psi: Hex,
    a: String,
    b: String,
    fwd_a: String,
    c: String,
}

/// The generator of the inputs, by Steele, Lea and Flood.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

fn input(q_bits: u32, q: u128, n: usize, which: u64) -> Vec<u128> {
    let mut random = SplitMix64((u64::from(q_bits) << 32) + 4 * n as u64 + which);
    let draw = |_| {
        let (high, low) = (u128::from(random.next()), u128::from(random.next()));
        if q_bits > 64 { (high << 64 | low) % q } else { low % q }
    };
    (0..n).map(draw).collect()
}

fn check_summary(name: &str, values: &[u128], sha256: &str, head: &[Hex], tail: &[Hex]) {
    let hex: Vec<Hex> = values.iter().copied().map(Hex).collect();
    assert!(hex.starts_with(head), "the first values of {name}");
    assert!(hex.ends_with(tail), "the last values of {name}");
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, sha256, "the digest of {name}");
}

#[test]
fn transforms_and_products_have_openfhes_digests() {
    let sets: Vec<Summary> = serde_json::from_str(include_str!("../data/digests.json")).unwrap();
    assert_eq!(sets.len(), 8);
    for set in sets {
        let (n, q, psi) = (set.n, set.q.0, set.psi.0);
        assert_eq!(largest_prime(set.q_bits, Degree::try_from(n).unwrap()), Ok(q));
        assert_eq!(smallest_root(q, Degree::try_from(n).unwrap()), Ok(psi));
        let (a, b) = (input(set.q_bits, q, n, 0), input(set.q_bits, q, n, 1));
        let forward = golden::NTT.result(&[&a], n, q, psi).unwrap();
        let product = golden::POLYMUL.result(&[&a, &b], n, q, psi).unwrap();
        let name = |what| format!("{what} for n = {n}, {} bits", set.q_bits);
        check_summary(&name("a"), &a, &set.sha256_a, &set.head_a, &set.tail_a);
        check_summary(&name("b"), &b, &set.sha256_b, &set.head_b, &set.tail_b);
        check_summary(&name("fwd_a"), &forward, &set.sha256_fwd_a, &set.head_fwd_a, &set.tail_fwd_a);
        check_summary(&name("c"), &product, &set.sha256_c, &set.head_c, &set.tail_c);
        assert_eq!(golden::INTT.result(&[&forward], n, q, psi).unwrap(), a, "{}", name("the inverse"));
    }
}

#[test]
fn transforms_and_products_are_openfhes_value_by_value() {
    for text in
        [include_str!("../data/native64_q60_n1024.json"), include_str!("../data/native128_q121_n1024.json")]
    {
        let set: Full = serde_json::from_str(text).unwrap();
        let (n, q, psi) = (set.n, set.q.0, set.psi.0);
        let parse = |digits: &str| -> Vec<u128> {
            let values = digits.as_bytes().chunks_exact(set.hex_digits);
            values.map(|d| u128::from_str_radix(str::from_utf8(d).unwrap(), 16).unwrap()).collect()
        };
        let (a, b) = (parse(&set.a), parse(&set.b));
        assert_eq!(a, input(set.q_bits, q, n, 0));
        assert_eq!(b, input(set.q_bits, q, n, 1));
        assert_eq!(golden::NTT.result(&[&a], n, q, psi).unwrap(), parse(&set.fwd_a));
        assert_eq!(golden::POLYMUL.result(&[&a, &b], n, q, psi).unwrap(), parse(&set.c));
    }
}
