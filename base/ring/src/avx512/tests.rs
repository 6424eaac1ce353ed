use super::multiply::SimdCode;
use super::simd::{Avx512, Vector};
use super::*;
use crate::modular::Modulus;
use proptest::prelude::*;

/// The multiplication in software, with the two instructions as the manual defines them.
#[derive(Clone, Copy)]
struct Emulated(Avx512);

/// The elements of a vector.
fn elements(x: Vector) -> [u64; 8] {
    let mut words = [0; 4];
    x.store(&mut words);
    std::array::from_fn(|i| (words[i / 2] >> (64 * (i % 2))) as u64)
}

impl Emulated {
    fn multiply(self, x: Vector, y: Vector, z: Vector, half: impl Fn(u128) -> u64) -> Vector {
        let (x, y, z) = (elements(x), elements(y), elements(z));
        let product = |i: usize| u128::from(y[i] & LIMB) * u128::from(z[i] & LIMB);
        self.0.spread::<8>(&std::array::from_fn(|i| x[i].wrapping_add(half(product(i)))), 0)
    }
}

impl Multiply52 for Emulated {
    type Operand = Vector;

    fn avx512(self) -> Avx512 {
        self.0
    }

    fn operand(self, x: Vector) -> Vector {
        x
    }

    fn stored(limb: u64) -> u64 {
        limb
    }

    fn loaded(self, x: Vector) -> Vector {
        x
    }

    /// VPMADD52LUQ.
    fn low(self, x: Vector, y: Vector, z: Vector) -> Vector {
        self.multiply(x, y, z, |product| product as u64 & LIMB)
    }

    /// VPMADD52HUQ.
    fn high(self, x: Vector, y: Vector, z: Vector) -> Vector {
        self.multiply(x, y, z, |product| (product >> LIMB_BITS) as u64)
    }

    fn call<T: SimdCode>(self, code: T) -> T::Output {
        code.run()
    }
}

/// A check of the kernels with one multiplication.
trait Check {
    fn with(&self, m: impl Multiply52);
}

/// Runs `check` with each multiplication that the processor has.
fn with_each(check: impl Check) {
    if let Some(avx512) = Avx512::detect() {
        check.with(Emulated(avx512));
    }
    if let Some(fma) = Fma::detect() {
        check.with(fma);
    }
    if let Some(ifma) = Ifma::detect() {
        check.with(ifma);
    }
}

const N: usize = 16;

/// Compares all kernels with the scalar code, on any words `x` and on residues `a`, `w` and x mod q.
fn check(q: u128, a: [u128; N], x: [u128; N], w: [u128; N]) {
    let b = x.map(|x| x % q);
    let q = Modulus::new(q).unwrap();
    let product: [u128; N] = std::array::from_fn(|i| q.mul(b[i], w[i]));
    let expected = [
        product,
        std::array::from_fn(|i| q.add(a[i], product[i])),
        std::array::from_fn(|i| q.sub(a[i], product[i])),
        std::array::from_fn(|i| q.add(a[i], b[i])),
        std::array::from_fn(|i| q.mul(q.sub(a[i], b[i]), w[i])),
    ];
    with_each(Lanes { q, a, b, x, w, expected });
}

struct Lanes {
    q: Modulus,
    a: [u128; N],
    b: [u128; N],
    x: [u128; N],
    w: [u128; N],
    expected: [[u128; N]; 5],
}

impl Check for Lanes {
    fn with(&self, m: impl Multiply52) {
        let Self { q, a, b, x, w, expected } = self;
        let quotients = w.map(|w| q.divide(w, 128).0);
        let w = Shoup { factors: w, quotients: &quotients };
        let mut out = [[0; N]; 5];
        let [o0, o1, o2, o3, o4] = &mut out;
        w.multiply(m, q, o0, x);
        w.butterfly(m, q, [o1, o2], a, x);
        w.inverse_butterfly(m, q, [o3, o4], a, b);
        assert_eq!(out, *expected, "modulo {:#x}", q.value());
    }
}

/// Compares the transforms of `x` with a scalar one. The factors need not be powers of a root.
fn check_transform(q: u128, x: &[u128], factors: &[u128]) {
    let q = Modulus::new(q).unwrap();
    let mut expected = x.to_vec();
    let mut half = x.len() / 2;
    while half > 0 {
        let blocks = x.len() / (2 * half);
        for (block, w) in expected.chunks_mut(2 * half).zip(&factors[blocks..]) {
            for i in 0..half {
                let t = q.mul(block[i + half], *w);
                (block[i], block[i + half]) = (q.add(block[i], t), q.sub(block[i], t));
            }
        }
        half /= 2;
    }
    with_each(Forward { q, x, factors, expected });
}

struct Forward<'a> {
    q: Modulus,
    x: &'a [u128],
    factors: &'a [u128],
    expected: Vec<u128>,
}

impl Check for Forward<'_> {
    fn with(&self, m: impl Multiply52) {
        let mut y = self.x.to_vec();
        Transform::new(m, &self.q, self.factors).forward(&mut y);
        assert!(y == self.expected, "{} points modulo {:#x}", y.len(), self.q.value());
    }
}

/// Moduli at the ends of limbs and words.
const MODULI: [u128; 10] = [
    3,
    5,
    (1 << 52) - 1,
    (1 << 52) + 1,
    (1 << 104) - 1,
    (1 << 104) + 1,
    (1 << 127) - 1,
    (1 << 127) + 1,
    u128::MAX - 158,
    u128::MAX,
];

#[test]
fn extreme_operands_agree_with_the_scalar_code() {
    for q in MODULI {
        let edges = [0, 1, q / 2, q - 2, q - 1];
        let words = [q, q.saturating_add(1), u128::MAX / q * q, u128::MAX - 1, u128::MAX];
        for a in edges {
            for x in edges.into_iter().chain(words) {
                check(q, [a; N], [x; N], std::array::from_fn(|i| edges[i % 5]));
            }
        }
    }
}

#[test]
fn extreme_transforms_of_all_lengths_agree_with_the_scalar_code() {
    for q in MODULI {
        for log2_n in 5..=12 {
            let edges = [q - 1, 0, q - 1, q / 2, 1, q - 2];
            let choose = |step: usize| (0..1 << log2_n).map(|i| edges[i * i / step % 6]).collect::<Vec<_>>();
            check_transform(q, &choose(1), &choose(3));
            check_transform(q, &vec![q - 1; 1 << log2_n], &vec![q - 1; 1 << log2_n]);
            check_transform(q, &vec![q - 1; 1 << log2_n], &vec![1; 1 << log2_n]);
        }
    }
}

proptest! {
    #[test]
    fn random_operands_agree_with_the_scalar_code(
        q in any::<u128>(), shift in 0u32..126,
        a in any::<[u128; N]>(), x in any::<[u128; N]>(), w in any::<[u128; N]>()
    ) {
        let q = (q >> shift | 1).max(3);
        check(q, a.map(|a| a % q), x, w.map(|w| w % q));
    }

    #[test]
    fn random_transforms_agree_with_the_scalar_code(
        q in any::<u128>(), shift in 0u32..126, log2_n in 5u32..=9,
        values in proptest::collection::vec(any::<u128>(), 1024)
    ) {
        let q = (q >> shift | 1).max(3);
        let values: Vec<u128> = values.iter().map(|x| x % q).collect();
        let (x, factors) = values.split_at(512);
        check_transform(q, &x[..1 << log2_n], &factors[..1 << log2_n]);
    }
}
