use super::*;
use crate::ModulusError;

#[test]
fn four_points_modulo_seventeen_are_the_definition() {
    // psi = 2 is a primitive eighth root of unity: 2^4 = -1 mod 17.
    let q = Modulus::new(17).unwrap();
    let ntt = Ntt::new(q, 4, 2).unwrap();
    let x = [3, 1, 4, 15];
    let at = |point: u128| x.iter().rev().fold(0, |sum, &c| (sum * point + c) % 17);
    // The exponents 2 bitrev(i) + 1 are 1, 5, 3, 7.
    let expected = [at(2), at(15), at(8), at(9)];
    let mut y = x;
    ntt.forward(&mut y);
    assert_eq!(y, expected);
    ntt.inverse(&mut y);
    assert_eq!(y, x);
}

#[test]
fn invalid_transforms_are_rejected() {
    let q = Modulus::new(17).unwrap();
    assert_eq!(Ntt::new(q, 6, 2).unwrap_err(), Error::Degree(6));
    assert_eq!(Ntt::new(q, 1, 16).unwrap_err(), Error::Degree(1));
    assert_eq!(Ntt::new(q, 4, 4).unwrap_err(), Error::NotARoot { root: 4, modulus: 17, order: 8 });
    assert_eq!(Ntt::new(q, 4, 19).unwrap_err(), Error::NotARoot { root: 19, modulus: 17, order: 8 });
}

#[test]
fn unavailable_implementations_are_rejected() {
    // 3^8 = -1 mod 17, and 2^8 = -1 mod 257; AVX-512 starts at 32 points.
    for implementation in [Implementation::Ifma, Implementation::Avx512] {
        let error = Fast::with_implementation(implementation, 8, 17, 3).unwrap_err();
        assert_eq!(error, Error::Implementation { implementation, n: 8, modulus: 17 });
    }
    assert_eq!(
        Fast::with_implementation(Implementation::Ifma, 8, 17, 3).unwrap_err().to_string(),
        "the implementation `AVX-512 IFMA` is not available on this processor for 8 points modulo 0x11"
    );
    let chosen = Fast::new(8, 257, 2).unwrap();
    assert_eq!((chosen.implementation(), chosen.len()), (Implementation::Lazy, 8));
    // 2^64 = -1 = (2^16)^4.
    let q = (1 << 64) + 1;
    let x = [q - 1, 0, q - 2, 1];
    let results = [Implementation::Lazy, Implementation::Plain].map(|implementation| {
        let mut y = x;
        Fast::with_implementation(implementation, 4, q, 1 << 16).unwrap().forward(&mut y);
        y
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(Fast::new(4, 16, 3).unwrap_err(), Error::Modulus(ModulusError::Even(16)));
    assert_eq!(Fast::new(4, 17, 3).unwrap_err(), Error::NotARoot { root: 3, modulus: 17, order: 8 });
    assert_eq!(Ntt64::new(6, 17, 2).unwrap_err(), Error::Degree(6));
    assert_eq!(
        Ntt64::new(4, u64::MAX, 2).unwrap_err(),
        Error::NotARoot { root: 2, modulus: u64::MAX.into(), order: 8 }
    );
}

#[test]
fn a_batch_on_any_number_of_threads_is_its_transforms_one_by_one() {
    // psi = 2 has psi^n = -1 modulo 2^n + 1.
    let transforms = [4, 8, 16, 32, 64].map(|n| Fast::new(n, (1 << n) + 1, 2).unwrap());
    let inputs: Vec<Vec<u128>> = transforms.iter().map(|t| (0..t.len() as u128).collect()).collect();
    let mut expected = inputs.clone();
    for (transform, x) in transforms.iter().zip(&mut expected) {
        transform.forward(x);
    }
    for threads in 0..7 {
        let mut results = inputs.clone();
        let mut towers: Vec<_> =
            transforms.iter().zip(&mut results).map(|(transform, x)| (transform, &mut x[..])).collect();
        forward_all(&mut towers, threads);
        assert_eq!(results, expected, "{threads} threads");
    }
}
