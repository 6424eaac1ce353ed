//! The product of a vector and a scalar.
//!
//! The words of the vector may be any words, for instance residues of another modulus. A
//! multiplication by one reduces them.

use crate::elementwise::elementwise;

elementwise! {
    muls(words x; by) = y: "y = x * k with the scalar k = by, coefficient by coefficient; x may have any words",
    |q| x * by % q,
    textbook |_| x * by,
}
