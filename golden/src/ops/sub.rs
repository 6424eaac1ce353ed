//! The difference of two polynomials.

use crate::arithmetic::sub;
use crate::elementwise::elementwise;

elementwise! {
    sub(residues a, residues b) = c: "c = a - b, coefficient by coefficient",
    |q| sub(&a, &b, q),
    textbook |q| a + q - b,
}
