//! The difference of a vector and a scalar.

use crate::arithmetic::sub;
use crate::elementwise::elementwise;

elementwise! {
    subs(residues x; by) = y: "y = x - k with the scalar k = by, coefficient by coefficient",
    |q| sub(&x, &(by % q), q),
    textbook |q| x + (q - by % q),
}
