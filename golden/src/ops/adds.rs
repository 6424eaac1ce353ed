//! The sum of a vector and a scalar.

use crate::elementwise::elementwise;

elementwise! {
    adds(residues x; by) = y: "y = x + k with the scalar k = by, coefficient by coefficient",
    |q| (x + by) % q,
    textbook |_| x + by,
}
