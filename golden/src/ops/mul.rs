//! The product of two vectors.

use crate::elementwise::elementwise;

elementwise! {
    mul(residues a, residues b) = c: "c = a * b, coefficient by coefficient",
    |q| a * b % q,
    textbook |_| a * b,
}
