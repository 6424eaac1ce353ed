//! The negative of a polynomial.

use crate::arithmetic::sub;
use crate::elementwise::elementwise;
use num_bigint::BigUint;

elementwise! {
    neg(residues x) = y: "y = -x, coefficient by coefficient",
    |q| sub(&BigUint::ZERO, &x, q) % q,
    textbook |q| q - x,
}
