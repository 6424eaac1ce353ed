//! The sum of two polynomials.

use crate::arithmetic::add;
use crate::elementwise::elementwise;

elementwise! {
    add(residues a, residues b) = c: "c = a + b, coefficient by coefficient",
    |q| add(&a, &b, q),
    textbook |_| a + b,
}
