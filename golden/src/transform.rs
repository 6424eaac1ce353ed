//! The transforms and their root of unity.

use crate::arithmetic::{add, bit_reversed, sub};
use crate::error::GoldenError;
use crate::settings::Settings;
use num_bigint::BigUint;

/// psi, a primitive 2n-th root of unity modulo q.
pub(crate) struct Root {
    psi: BigUint,
    n: usize,
    q: BigUint,
}

impl Root {
    /// The root of a claim.
    ///
    /// # Errors
    /// Returns an error if it is not a primitive 2n-th root of unity.
    pub(crate) fn new(settings: &Settings<'_>) -> Result<Self, GoldenError> {
        let (n, modulus, root) = (settings.degree(), settings.modulus(), settings.number("root"));
        let (psi, q) = (BigUint::from(root), BigUint::from(modulus));
        // The order divides 2n, a power of two, but not n.
        if psi.modpow(&n.into(), &q) == &q - 1u32 {
            Ok(Self { psi, n, q })
        } else {
            Err(GoldenError::Root { root, n, modulus })
        }
    }

    /// 1/psi: psi^2n = 1.
    pub(crate) fn inverse(&self) -> Self {
        let psi = self.psi.modpow(&(2 * self.n - 1).into(), &self.q);
        Self { psi, n: self.n, q: self.q.clone() }
    }

    /// The powers 0 to n - 1 of psi.
    pub(crate) fn powers(&self) -> Vec<BigUint> {
        let first = BigUint::from(1u32);
        std::iter::successors(Some(first), |power| Some(power * &self.psi % &self.q)).take(self.n).collect()
    }
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

/// The values of `x` at the odd powers of psi, in bit-reversed order.
///
/// As psi^((2k + 1) j) = psi^j (psi^2)^(jk), it is the cyclic transform of `x[j] psi^j` with the root
/// psi^2.
pub(crate) fn forward(x: &[BigUint], root: &Root) -> Vec<BigUint> {
    let powers = root.powers();
    let twisted: Vec<BigUint> = x.iter().zip(&powers).map(|(x, power)| x * power % &root.q).collect();
    bit_reversed(&cyclic(&twisted, 1, &powers, &root.q))
}

/// The polynomial with these values: `x[j] = 1/n psi^-j sum_k y[bitrev(k)] (psi^-2)^(jk)`.
pub(crate) fn inverse(y: &[BigUint], root: &Root) -> Vec<BigUint> {
    let q = &root.q;
    let scale = BigUint::from(root.n).modinv(q).expect("n is a power of two and the modulus is odd");
    let powers = root.inverse().powers();
    let x = cyclic(&bit_reversed(y), 1, &powers, q);
    x.into_iter().zip(&powers).map(|(x, power)| x * power % q * &scale % q).collect()
}
