//! Primality, and primes with roots of unity.

use crate::modular::Modulus;
use crate::{Degree, Error};

/// The largest prime of exactly `bits` bits that is 1 mod 2n, for the `degree` n.
///
/// # Errors
/// Returns an error if there is no such prime.
pub fn largest_prime(bits: u32, degree: Degree) -> Result<u128, Error> {
    largest_primes(bits, degree, 1).map(|primes| primes[0])
}

/// The `count` largest primes of exactly `bits` bits that are 1 mod 2n, largest first, for the
/// `degree` n.
///
/// # Errors
/// Returns an error if there are fewer such primes.
pub fn largest_primes(bits: u32, degree: Degree, count: usize) -> Result<Vec<u128>, Error> {
    let order = degree.order();
    let none = Error::NoPrime { bits, order };
    if !(2..=128).contains(&bits) {
        return Err(none);
    }
    let (smallest, largest) = (1 << (bits - 1), u128::MAX >> (128 - bits));
    let first = (largest - 1) / order * order + 1;
    let candidates = std::iter::successors(Some(first), |candidate| candidate.checked_sub(order))
        .take_while(|&candidate| candidate >= smallest && candidate > 1);
    let primes: Vec<u128> = candidates.filter(|&candidate| is_prime(candidate)).take(count).collect();
    match primes.len() {
        found if found == count => Ok(primes),
        0 => Err(none),
        found => Err(Error::TooFewPrimes { bits, order, found, count }),
    }
}

/// The prime nearest to `value` that is 1 mod 2n, for the `degree` n; the smaller one of two. None if no
/// prime of at most 128 bits is 1 mod 2n.
pub fn nearest_prime(value: u128, degree: Degree) -> Option<u128> {
    let order = degree.order();
    let start = value.saturating_sub(1) / order * order + 1;
    let below = std::iter::successors(Some(start), |candidate| candidate.checked_sub(order));
    let mut above = std::iter::successors(start.checked_add(order), |candidate| candidate.checked_add(order));
    let below = below.take_while(|&candidate| candidate > 1).find(|&candidate| is_prime(candidate));
    let above = above.find(|&candidate| is_prime(candidate));
    [below, above].into_iter().flatten().min_by_key(|&prime| (prime.abs_diff(value), prime))
}

/// Whether `value` is prime.
///
/// The test: strong Miller-Rabin tests to the 13 prime bases up to 41, then a strong Lucas test with
/// Selfridge's parameters. Below 3.3 * 10^24 (more than 2^81) the bases alone decide without error
/// (Sorenson and Webster, 2015). Above, the test includes the Baillie-PSW test, to which no
/// counterexample is known.
pub fn is_prime(value: u128) -> bool {
    const BASES: [u128; 13] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
    if let Some(divisor) = BASES.into_iter().find(|&p| value.is_multiple_of(p)) {
        return value == divisor;
    }
    let Ok(q) = Modulus::new(value) else { return false };
    BASES.into_iter().all(|base| is_strong_probable_prime(&q, base)) && is_strong_lucas_probable_prime(&q)
}

/// Miller's condition: with q - 1 = d 2^s, d odd, base^d is 1 or one of its first s squarings is -1.
fn is_strong_probable_prime(q: &Modulus, base: u128) -> bool {
    let s = (q.value() - 1).trailing_zeros();
    let minus_one = q.value() - 1;
    let mut power = q.pow(q.residue(base), minus_one >> s);
    if power == 1 || power == minus_one {
        return true;
    }
    for _ in 1..s {
        power = q.mul(power, power);
        if power == minus_one {
            return true;
        }
    }
    false
}

/// The strong Lucas condition with P = 1, Q = (1 - D)/4 and D the first of 5, -7, 9, -11, ..
/// with Jacobi symbol (D/q) = -1: with q + 1 = d 2^s, d odd, U_d = 0 or one of V_d, V_2d, ..
/// V_(d 2^(s-1)) is 0.
fn is_strong_lucas_probable_prime(q: &Modulus) -> bool {
    // If q is a square, there is no such D.
    if q.value().isqrt().pow(2) == q.value() {
        return false;
    }
    let mut magnitude = 5;
    let d = loop {
        let d = if magnitude % 4 == 1 { q.residue(magnitude) } else { q.neg(q.residue(magnitude)) };
        match jacobi(d, q.value()) {
            -1 => break d,
            0 if !magnitude.is_multiple_of(q.value()) => return false,
            _ => magnitude += 2,
        }
    };
    // (q + 1)/2 is the inverse of 2; this form cannot overflow.
    let half = q.value() / 2 + 1;
    let q_parameter = q.mul(q.sub(1, d), q.mul(half, half));

    // q + 1 may be 2^128, so it is halved first. It is even, so that is exact.
    let halved = q.value() / 2 + 1;
    let s = 1 + halved.trailing_zeros();
    let odd = halved >> (s - 1);

    // U and V at 1, then along the bits of the odd part: U_2k = U_k V_k, V_2k = V_k^2 - 2 Q^k,
    // U_(k+1) = (U_k + V_k)/2, V_(k+1) = (D U_k + V_k)/2.
    let (mut u, mut v, mut power) = (1, 1, q_parameter);
    for bit in (0..odd.ilog2()).rev() {
        u = q.mul(u, v);
        v = q.sub(q.mul(v, v), q.add(power, power));
        power = q.mul(power, power);
        if odd >> bit & 1 == 1 {
            (u, v) = (q.mul(q.add(u, v), half), q.mul(q.add(q.mul(d, u), v), half));
            power = q.mul(power, q_parameter);
        }
    }
    if u == 0 || v == 0 {
        return true;
    }
    for _ in 1..s {
        v = q.sub(q.mul(v, v), q.add(power, power));
        power = q.mul(power, power);
        if v == 0 {
            return true;
        }
    }
    false
}

/// The Jacobi symbol (a/n) for an odd n.
fn jacobi(mut a: u128, mut n: u128) -> i32 {
    let mut symbol = 1;
    a %= n;
    while a != 0 {
        let twos = a.trailing_zeros();
        a >>= twos;
        if twos % 2 == 1 && matches!(n % 8, 3 | 5) {
            symbol = -symbol;
        }
        if a % 4 == 3 && n % 4 == 3 {
            symbol = -symbol;
        }
        (a, n) = (n % a, a);
    }
    if n == 1 { symbol } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_below_ten_thousand_are_those_of_the_sieve() {
        let mut composite = [false; 10_000];
        for i in 2..composite.len() {
            for multiple in (2 * i..composite.len()).step_by(i) {
                composite[multiple] = true;
            }
        }
        for (value, &composite) in composite.iter().enumerate() {
            assert_eq!(is_prime(value as u128), value >= 2 && !composite, "{value}");
        }
    }

    #[test]
    fn no_prime_that_is_1_mod_2n_is_nearer() {
        let degree = Degree::new(16).unwrap();
        let primes: Vec<u128> = (1..3000).map(|k| 32 * k + 1).filter(|&q| is_prime(q)).collect();
        for value in (0..50_000).step_by(7) {
            let nearest = primes.iter().copied().min_by_key(|&prime| (prime.abs_diff(value), prime));
            assert_eq!(nearest_prime(value, degree), nearest, "{value}");
        }
        assert_eq!(nearest_prime(u128::MAX, degree), largest_prime(128, degree).ok());
    }

    #[test]
    fn known_primes_and_pseudoprimes_of_many_sizes_are_distinguished() {
        for prime in [
            u128::from(u64::MAX) - 58,
            (1 << 61) - 1,
            (1 << 89) - 1,
            (1 << 107) - 1,
            (1 << 127) - 1,
            u128::MAX - 158,
            u128::MAX - 172,
        ] {
            assert!(is_prime(prime), "{prime} is prime");
        }
        for composite in [
            // Strong pseudoprimes to the bases up to 13, 37 and 41, and a Carmichael number.
            3_474_749_660_383,
            318_665_857_834_031_151_167_461,
            3_317_044_064_679_887_385_961_981,
            561,
            // 2^67 - 1 and 2^101 - 1, Cole's and another, and squares of primes.
            (1 << 67) - 1,
            (1 << 101) - 1,
            (u128::from(u64::MAX) - 58).pow(2),
            1093 * 1093,
            u128::MAX,
            0,
            1,
        ] {
            assert!(!is_prime(composite), "{composite} is not prime");
        }
    }

    #[test]
    fn the_lucas_test_alone_errs_exactly_on_the_known_pseudoprimes() {
        let pseudoprimes: Vec<u128> = (3..60_000)
            .step_by(2)
            .filter(|&n| is_strong_lucas_probable_prime(&Modulus::new(n).unwrap()) && !is_prime(n))
            .collect();
        // The strong Lucas pseudoprimes below 60000 (OEIS A217255).
        assert_eq!(pseudoprimes, [5459, 5777, 10877, 16109, 18971, 22499, 24569, 25199, 40309, 58519]);
        let missed = (3..60_000)
            .step_by(2)
            .find(|&n| is_prime(n) && !is_strong_lucas_probable_prime(&Modulus::new(n).unwrap()));
        assert_eq!(missed, None);
    }

    #[test]
    fn largest_primes_have_the_requested_size_and_residue() {
        let degree = |n| Degree::new(n).unwrap();
        assert_eq!(largest_prime(60, degree(1024)), Ok(0xfff_ffff_ffff_c001));
        assert_eq!(largest_prime(121, degree(65536)), Ok(0x1ff_ffff_ffff_ffff_ffff_ffff_ff0e_0001));
        for bits in [20, 60, 121, 127, 128] {
            let q = largest_prime(bits, degree(65536)).unwrap();
            assert_eq!((q.ilog2() + 1, q % (1 << 17)), (bits, 1));
        }
        assert_eq!(largest_prime(3, degree(2)), Ok(5));
        assert_eq!(largest_prime(10, degree(1024)), Err(Error::NoPrime { bits: 10, order: 2048 }));
        assert_eq!(largest_prime(129, degree(2)), Err(Error::NoPrime { bits: 129, order: 4 }));
        assert_eq!(
            largest_primes(4, degree(2), 3),
            Err(Error::TooFewPrimes { bits: 4, order: 4, found: 1, count: 3 })
        );
    }
}
