//! Lattigo's lists of primes next to a power of two.

use ring::Degree;
use ring::prime::is_prime;
use std::iter::successors;

/// The square root of 2 times 2^127, rounded down. Lattigo's lists end half a bit above and below a power.
const ROOT_OF_TWO: u128 = 0xb504_f333_f9de_6484_597d_89b3_754a_be9f;

/// The primes that are 1 mod 2n within half a bit of 2^bits, in the order of Lattigo's
/// `NextAlternatingPrime`: the candidates above 2^bits and those below are tried in turn, and after each
/// prime those above come first. `bits` is from 1 to 128.
pub(crate) fn alternating_primes(bits: u32, degree: Degree) -> impl Iterator<Item = u128> + use<> {
    let (mut above, mut below) = (rising(bits, degree), falling(bits, degree));
    std::iter::from_fn(move || {
        loop {
            let next_above = above.next();
            if let Some(prime) = next_above.filter(|&q| is_prime(q)) {
                return Some(prime);
            }
            let next_below = below.next();
            if let Some(prime) = next_below.filter(|&q| is_prime(q)) {
                return Some(prime);
            }
            if next_above.is_none() && next_below.is_none() {
                return None;
            }
        }
    })
}

/// The primes that are 1 mod 2n from 2^bits to half a bit below, in the order of Lattigo's
/// `NextDownstreamPrime`. `bits` is from 1 to 128.
pub(crate) fn falling_primes(bits: u32, degree: Degree) -> impl Iterator<Item = u128> + use<> {
    falling(bits, degree).filter(|&q| is_prime(q))
}

/// The numbers that are 1 mod 2n from 2^bits to half a bit above, of at most 128 bits.
fn rising(bits: u32, degree: Degree) -> impl Iterator<Item = u128> + use<> {
    let most = ROOT_OF_TWO >> 127_u32.saturating_sub(bits);
    let order = degree.order();
    // A power below 2n has no such number near it.
    let first = (u128::MAX >> (128 - bits)).checked_add(2).filter(|first| first % order == 1);
    successors(first, move |q| q.checked_add(order)).take_while(move |&q| q <= most)
}

/// The numbers that are 1 mod 2n from 2^bits to half a bit below.
fn falling(bits: u32, degree: Degree) -> impl Iterator<Item = u128> + use<> {
    let (order, least) = (degree.order(), ROOT_OF_TWO >> (128 - bits));
    let first = (u128::MAX >> (128 - bits)).checked_sub(order - 2);
    successors(first, move |q| q.checked_sub(order)).take_while(move |&q| q > least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use ring::prime::largest_prime;

    fn degree(n: u64) -> Degree {
        Degree::new(n).unwrap()
    }

    /// Lattigo 6.2 at n = 65,536 and n = 1,024, from the moduli of its own parameters.
    #[test]
    fn primes_around_a_power_are_in_the_order_of_lattigo() {
        let first =
            |bits, n, count| -> Vec<u128> { alternating_primes(bits, degree(n)).take(count).collect() };
        let at_65536 = [
            0x100_0014_0001,
            0xff_ffe8_0001,
            0xff_ffc4_0001,
            0x100_003e_0001,
            0x100_0050_0001,
            0xff_ffb2_0001,
        ];
        assert_eq!(first(40, 65_536, 6), at_65536);
        let at_1024 = [
            0xff_ffff_7801,
            0xff_ffff_7001,
            0x100_0000_c801,
            0x100_0000_d801,
            0xff_fffe_f801,
            0xff_fffe_e801,
            0xff_fffe_d001,
            0xff_fffe_7001,
            0xff_fffd_f001,
        ];
        assert_eq!(first(40, 1024, 9), at_1024);
        assert_eq!(first(60, 1024, 1), [0xfff_ffff_ffff_c001]);
    }

    #[test]
    fn the_root_of_two_is_exact_in_all_its_bits() {
        let root = BigUint::from(2_u32).pow(255).sqrt();
        assert_eq!(BigUint::from(ROOT_OF_TWO), root);
    }

    /// Against a search by the definition, with the logarithms that Lattigo compares.
    #[test]
    fn lists_end_half_a_bit_from_the_power() {
        for bits in 1..=14 {
            for n in [2, 8, 64, 1024] {
                let (n, order) = (degree(n), degree(n).order());
                let is_near = |q: u128| ((q as f64).log2() - f64::from(bits)).abs() < 0.5;
                let mut near: Vec<u128> =
                    (1..1 << 15).filter(|q| q % order == 1 && is_prime(*q) && is_near(*q)).collect();
                let mut found: Vec<u128> = alternating_primes(bits, n).collect();
                found.sort_unstable();
                assert_eq!(found, near, "{bits}, {n:?}");
                near.retain(|&q| q < 1 << bits);
                near.reverse();
                assert_eq!(falling_primes(bits, n).collect::<Vec<_>>(), near, "{bits}, {n:?}");
            }
        }
        assert_eq!(
            alternating_primes(10, degree(8)).collect::<Vec<_>>(),
            [1009, 977, 929, 1153, 881, 1201, 1217, 1249, 1297, 769, 1361, 1409]
        );
    }

    /// Lattigo's moduli have 61 bits at most; ours end with the 128 bits of a word.
    #[test]
    fn the_largest_power_has_primes_below_only() {
        let n = degree(1024);
        let largest = largest_prime(128, n).unwrap();
        assert_eq!(alternating_primes(128, n).next(), Some(largest));
        assert!(alternating_primes(128, n).take(5).is_sorted_by(|a, b| a > b));
        let below: Vec<u128> = falling_primes(127, n).take(2).collect();
        let above = alternating_primes(127, n).take(20).filter(|&q| q > 1 << 127).count();
        assert!(below[0] < 1 << 127 && above > 0 && above < 20, "{below:?}, {above}");
    }
}
