//! The golden model: what every program is held to.
//!
//! It is written to be seen to be right, over [`num_bigint`], and shares no arithmetic with the
//! simulator or the generated programs. The transforms follow the textbook: the recursion into even
//! and odd places, which the tests hold to the sums that define the transforms. Products of polynomials use no transform at all: one product of two
//! large integers contains every coefficient (Kronecker's substitution).

use b512_asm::{Equation, Function};
use num_bigint::BigUint;
use ring::number::bit_reverse;
use thiserror::Error;

/// Why a result could not be computed, or is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum GoldenError {
    /// A ring degree that is not a power of two.
    #[error("n = {0} is not a power of two")]
    Degree(usize),
    /// A modulus of 0 or 1.
    #[error("the modulus is {0}; it must be at least 2")]
    Modulus(u128),
    /// A number of operands that the function does not take.
    #[error("`{function}` takes {} operands, but {given} were given", function.arity())]
    Operands {
        /// The function.
        function: Function,
        /// The number given.
        given: usize,
    },
    /// An operand, or a result to be checked, with another length than n.
    #[error("{what} has {given} coefficients instead of {n}")]
    Length {
        /// Which: `operand 1`, `operand 2` or `the result`.
        what: String,
        /// The ring's degree.
        n: usize,
        /// The number of coefficients given.
        given: usize,
    },
    /// An operand that is not reduced.
    #[error("coefficient {index} of {what} is {value:#x}, which is not below the modulus {modulus:#x}")]
    NotReduced {
        /// Which: `operand 1` or `operand 2`.
        what: String,
        /// The place of the first such coefficient.
        index: usize,
        /// Its value.
        value: u128,
        /// The modulus.
        modulus: u128,
    },
    /// A root with which there is no transform.
    #[error("{root:#x} is no primitive {}-th root of unity modulo {modulus:#x}: its {n}th power is not -1", 2 * n)]
    Root {
        /// The root.
        root: u128,
        /// The ring's degree.
        n: usize,
        /// The modulus.
        modulus: u128,
    },
    /// A modulus in which n has no inverse.
    #[error("n = {n} has no inverse modulo {modulus:#x}, which is even: there is no inverse transform")]
    NoInverse {
        /// The ring's degree.
        n: usize,
        /// The modulus.
        modulus: u128,
    },
    /// A result that differs from the model's.
    #[error(
        "`{output}` differs from {function} at coefficient {index}: it is {found:#x} and should be {expected:#x}"
    )]
    Differs {
        /// The equation's output symbol.
        output: String,
        /// The equation's function.
        function: Function,
        /// The first place that differs.
        index: usize,
        /// The value there.
        found: u128,
        /// The model's value.
        expected: u128,
    },
}

/// `function(inputs)` over Z_modulus\[x\]/(x^n + 1), `n` coefficients each.
///
/// The transforms are defined by `root`, a primitive 2n-th root of unity; the other functions take
/// no notice of it. The modulus need not be prime.
///
/// # Errors
/// Where the number, length or size of the operands, or the parameters, make no sense.
pub fn evaluate(
    function: Function,
    inputs: &[&[u128]],
    n: usize,
    modulus: u128,
    root: u128,
) -> Result<Vec<u128>, GoldenError> {
    if !n.is_power_of_two() {
        return Err(GoldenError::Degree(n));
    }
    if modulus < 2 {
        return Err(GoldenError::Modulus(modulus));
    }
    if inputs.len() != function.arity() {
        return Err(GoldenError::Operands { function, given: inputs.len() });
    }
    for (i, input) in inputs.iter().enumerate() {
        let what = || format!("operand {}", i + 1);
        if input.len() != n {
            return Err(GoldenError::Length { what: what(), n, given: input.len() });
        }
        if let Some(index) = input.iter().position(|&value| value >= modulus) {
            return Err(GoldenError::NotReduced { what: what(), index, value: input[index], modulus });
        }
    }

    let q = BigUint::from(modulus);
    let result = match function {
        Function::Ntt => forward(&big(inputs[0]), &Root::new(root, n, modulus)?),
        Function::Intt => inverse(&big(inputs[0]), &Root::new(root, n, modulus)?)?,
        Function::Polymul => polymul(inputs[0], inputs[1], &q),
        Function::Add => coefficientwise(inputs, |a, b| add(&a, &b, &q)),
        Function::Sub => coefficientwise(inputs, |a, b| sub(&a, &b, &q)),
        Function::Mul => coefficientwise(inputs, |a, b| a * b % &q),
    };
    Ok(result.into_iter().map(|value| u128::try_from(value).expect("a residue below the modulus")).collect())
}

/// Checks that `output` is what `equation` says of `inputs`.
///
/// # Errors
/// [`GoldenError::Differs`] with the first wrong coefficient; any other where the equation cannot
/// be evaluated.
pub fn check(equation: &Equation, inputs: &[&[u128]], output: &[u128]) -> Result<(), GoldenError> {
    let &Equation { function, n, modulus, root, .. } = equation;
    let n = n as usize;
    let expected = evaluate(function, inputs, n, modulus, root)?;
    if output.len() != n {
        return Err(GoldenError::Length { what: "the result".into(), n, given: output.len() });
    }
    match (0..n).find(|&index| output[index] != expected[index]) {
        None => Ok(()),
        Some(index) => Err(GoldenError::Differs {
            output: equation.output.clone(),
            function,
            index,
            found: output[index],
            expected: expected[index],
        }),
    }
}

fn big(values: &[u128]) -> Vec<BigUint> {
    values.iter().copied().map(BigUint::from).collect()
}

fn coefficientwise(inputs: &[&[u128]], f: impl Fn(BigUint, BigUint) -> BigUint) -> Vec<BigUint> {
    big(inputs[0]).into_iter().zip(big(inputs[1])).map(|(a, b)| f(a, b)).collect()
}

/// psi, a primitive 2n-th root of unity modulo q.
struct Root {
    psi: BigUint,
    n: usize,
    q: BigUint,
}

impl Root {
    fn new(root: u128, n: usize, modulus: u128) -> Result<Self, GoldenError> {
        let (psi, q) = (BigUint::from(root), BigUint::from(modulus));
        // The order divides 2n, a power of two, but not n.
        if root < modulus && psi.modpow(&n.into(), &q) == &q - 1u32 {
            Ok(Self { psi, n, q })
        } else {
            Err(GoldenError::Root { root, n, modulus })
        }
    }

    fn inverse(&self) -> Self {
        // psi^2n = 1.
        let psi = self.psi.modpow(&(2 * self.n - 1).into(), &self.q);
        Self { psi, n: self.n, q: self.q.clone() }
    }

    /// The powers 0 to n - 1 of psi.
    fn powers(&self) -> Vec<BigUint> {
        let first = BigUint::from(1u32);
        std::iter::successors(Some(first), |power| Some(power * &self.psi % &self.q)).take(self.n).collect()
    }
}

/// `y[i] = x(psi^(2 bitrev(i) + 1))`: as psi^((2k + 1) j) = psi^j (psi^2)^(jk), the cyclic
/// transform of `x[j] psi^j` with the root psi^2, in bit-reversed order.
fn forward(x: &[BigUint], root: &Root) -> Vec<BigUint> {
    let powers = root.powers();
    let twisted: Vec<BigUint> = x.iter().zip(&powers).map(|(x, power)| x * power % &root.q).collect();
    bit_reversed(cyclic(&twisted, 1, &powers, &root.q))
}

/// `x[j] = 1/n psi^-j sum_k y[bitrev(k)] (psi^-2)^(jk)`.
fn inverse(y: &[BigUint], root: &Root) -> Result<Vec<BigUint>, GoldenError> {
    let (n, q) = (root.n, &root.q);
    let scale = BigUint::from(n).modinv(q).ok_or_else(|| GoldenError::NoInverse {
        n,
        modulus: u128::try_from(q).expect("the modulus was given in 128 bits"),
    })?;
    let powers = root.inverse().powers();
    let x = cyclic(&bit_reversed(y.to_vec()), 1, &powers, q);
    Ok(x.into_iter().zip(&powers).map(|(x, power)| x * power % q * &scale % q).collect())
}

fn bit_reversed(values: Vec<BigUint>) -> Vec<BigUint> {
    let bits = values.len().ilog2();
    (0..values.len()).map(|i| values[bit_reverse(i, bits)].clone()).collect()
}

/// `y[k] = sum_j x[stride j] w^(jk)` with `w = psi^(2 stride)`, over the elements of `x` at
/// multiples of `stride`, from the powers of psi: the sums over even and over odd `j` are two such
/// transforms of half the length.
fn cyclic(x: &[BigUint], stride: usize, powers: &[BigUint], q: &BigUint) -> Vec<BigUint> {
    if x.len() <= stride {
        return vec![x[0].clone()];
    }
    let mut low = cyclic(x, 2 * stride, powers, q);
    let mut high = cyclic(&x[stride..], 2 * stride, powers, q);
    for (k, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
        let odd = &*high * &powers[2 * stride * k] % q;
        *high = sub(low, &odd, q);
        *low = add(low, &odd, q);
    }
    low.append(&mut high);
    low
}

/// `a + b mod q`, for residues.
fn add(a: &BigUint, b: &BigUint, q: &BigUint) -> BigUint {
    let rest = q - b;
    if *a >= rest { a - rest } else { a + b }
}

/// `a - b mod q`, for residues.
fn sub(a: &BigUint, b: &BigUint, q: &BigUint) -> BigUint {
    if a >= b { a - b } else { a + (q - b) }
}

/// The product modulo x^n + 1: the integers a(2^w) and b(2^w) are multiplied, with w so large that
/// no coefficient of the product a b overflows into the next.
fn polymul(a: &[u128], b: &[u128], q: &BigUint) -> Vec<BigUint> {
    let n = a.len();
    let bytes = (2 * q.bits() as usize + n.ilog2() as usize).div_ceil(8);
    let pack = |x: &[u128]| {
        let mut packed = vec![0; bytes * n];
        for (place, value) in packed.chunks_exact_mut(bytes).zip(x) {
            let value = BigUint::from(*value).to_bytes_le();
            place[..value.len()].copy_from_slice(&value);
        }
        BigUint::from_bytes_le(&packed)
    };
    let mut product = (pack(a) * pack(b)).to_bytes_le();
    product.resize(2 * n * bytes, 0);
    let (low, high) = product.split_at(n * bytes);
    let coefficient = |bytes: &[u8]| BigUint::from_bytes_le(bytes) % q;
    // x^n = -1.
    let places = low.chunks_exact(bytes).zip(high.chunks_exact(bytes));
    places.map(|(low, high)| sub(&coefficient(low), &coefficient(high), q)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ring::number::{largest_prime, smallest_root};

    const Q: u128 = 12289;

    /// The sums that define the transforms, and the schoolbook product.
    fn definition(function: Function, inputs: &[&[u128]], n: usize, modulus: u128, root: u128) -> Vec<u128> {
        let q = BigUint::from(modulus);
        let x = |i: usize, j: usize| BigUint::from(inputs[i][j]);
        let psi = |exponent: usize| BigUint::from(root).modpow(&BigUint::from(exponent % (2 * n)), &q);
        let odd = |i: usize| 2 * bit_reverse(i, n.ilog2()) + 1;
        let sum = |term: &dyn Fn(usize) -> BigUint| (0..n).map(term).sum::<BigUint>() % &q;
        let results = (0..n).map(|i| match function {
            Function::Ntt => sum(&|j| x(0, j) * psi(odd(i) * j)),
            Function::Intt => {
                let scale = BigUint::from(n).modinv(&q).unwrap();
                sum(&|k| x(0, k) * psi((2 * n - odd(k)) * i) * &scale)
            }
            Function::Polymul => sum(&|j| {
                let product = x(0, j) * x(1, (n + i - j) % n) % &q;
                if j <= i { product } else { &q - product }
            }),
            Function::Add => (x(0, i) + x(1, i)) % &q,
            Function::Sub => (x(0, i) + &q - x(1, i)) % &q,
            Function::Mul => x(0, i) * x(1, i) % &q,
        });
        results.map(|value| u128::try_from(value).unwrap()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn every_function_is_its_definition(
            log2_n in 1u32..7, bits in 20u32..=128, seed in proptest::collection::vec(any::<u128>(), 128)
        ) {
            let n = 1 << log2_n;
            let q = largest_prime(bits, n as u64).unwrap();
            let root = smallest_root(q, n as u64).unwrap();
            let values: Vec<u128> = seed.iter().map(|value| value % q).collect();
            let inputs = [&values[..n], &values[n..2 * n]];
            for function in Function::ALL {
                let inputs = &inputs[..function.arity()];
                prop_assert_eq!(
                    evaluate(function, inputs, n, q, root).unwrap(),
                    definition(function, inputs, n, q, root),
                    "{} of {} points modulo {:#x}", function, n, q
                );
            }
        }
    }

    #[test]
    fn the_largest_coefficients_fit_the_product() {
        let (n, q) = (64, u128::MAX);
        let x = vec![q - 1; n];
        let inputs = [&x[..], &x[..]];
        assert_eq!(
            evaluate(Function::Polymul, &inputs, n, q, 0).unwrap(),
            definition(Function::Polymul, &inputs, n, q, 0)
        );
    }

    #[test]
    fn a_large_transform_is_its_definition_at_some_points_and_comes_back() {
        let n = 65536;
        let q = largest_prime(128, n as u64).unwrap();
        let psi = smallest_root(q, n as u64).unwrap();
        let x: Vec<u128> = (0..n as u128).map(|i| q - 1 - i * i * i).collect();
        let y = evaluate(Function::Ntt, &[&x], n, q, psi).unwrap();
        let big_q = BigUint::from(q);
        for i in [0, 1, 4097, n - 1] {
            let point = BigUint::from(psi).modpow(&(2 * bit_reverse(i, 16) + 1).into(), &big_q);
            let value = x.iter().rev().fold(BigUint::ZERO, |sum, &c| (sum * &point + c) % &big_q);
            assert_eq!(BigUint::from(y[i]), value, "y[{i}]");
        }
        assert_eq!(evaluate(Function::Intt, &[&y], n, q, psi).unwrap(), x);
    }

    #[test]
    fn a_wrong_result_is_named() {
        let equation = Equation {
            output: "y".into(),
            function: Function::Sub,
            inputs: vec!["a".into(), "b".into()],
            n: 4,
            modulus: Q,
            root: 0,
        };
        let (a, b) = ([5, 6, 7, 8], [6, 6, 6, 6]);
        assert_eq!(check(&equation, &[&a, &b], &[Q - 1, 0, 1, 2]), Ok(()));
        assert_eq!(
            check(&equation, &[&a, &b], &[Q - 1, 0, 2, 3]).unwrap_err().to_string(),
            "`y` differs from sub at coefficient 2: it is 0x2 and should be 0x1"
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let error = |function, inputs: &[&[u128]], n, modulus, root| {
            evaluate(function, inputs, n, modulus, root).unwrap_err().to_string()
        };
        let x: &[u128] = &[1, 2, 3, Q];
        assert_eq!(error(Function::Add, &[x, x], 3, Q, 0), "n = 3 is not a power of two");
        assert_eq!(error(Function::Add, &[x, x], 4, 1, 0), "the modulus is 1; it must be at least 2");
        assert_eq!(error(Function::Add, &[x], 4, Q, 0), "`add` takes 2 operands, but 1 were given");
        assert_eq!(error(Function::Ntt, &[x], 8, Q, 0), "operand 1 has 4 coefficients instead of 8");
        assert_eq!(
            error(Function::Ntt, &[x], 4, Q, 0),
            "coefficient 3 of operand 1 is 0x3001, which is not below the modulus 0x3001"
        );
        assert_eq!(
            error(Function::Ntt, &[&x[..2]], 2, Q, 5),
            "0x5 is no primitive 4-th root of unity modulo 0x3001: its 2th power is not -1"
        );
        // Modulo 2, 1 = -1 is a root, but 1/2 does not exist.
        assert_eq!(
            error(Function::Intt, &[&[0, 1]], 2, 2, 1),
            "n = 2 has no inverse modulo 0x2, which is even: there is no inverse transform"
        );
    }
}
