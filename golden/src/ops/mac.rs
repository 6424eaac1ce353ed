//! A product plus a sum, coefficient by coefficient: a product of polynomials and a sum in
//! evaluation form, as key switching accumulates it.

use crate::elementwise::elementwise;

elementwise! {
    mac(residues a, residues b, residues c) = d: "d = a * b + c, coefficient by coefficient",
    |q| (a * b + c) % q,
    textbook |q| a * b % q + c,
}
