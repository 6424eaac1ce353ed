//! The command line `rpu` with a program of one's own: an encrypted dot product.

use programs::{Circuit, Error, Generator, OptionKind, OptionSpec, Options};
use std::process::ExitCode;

const LENGTH: OptionSpec = OptionSpec {
    name: "length",
    kind: OptionKind::Count,
    doc: "Numbers of a vector, a power of two",
    default: "8",
    identifies: true,
};

const DOT_PRODUCT: Generator = Generator {
    name: "dot-product",
    definition: "y.0, y.1 is the square of the sum of x.0, x.1 times the plaintext w, over `length` slots",
    options: &[&LENGTH],
    defaults: &["length=8"],
    emit,
};

fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
    let length = options.count(LENGTH.name).unwrap_or(8);
    let x = c.input("x")?;
    let w = c.factor("w", &x, None);
    let product = c.multiply_plaintext(&x, &w)?;
    let product = c.rescale(&product)?;
    let sum = c.sum_of_rotations(&product, 1, length as i64)?;
    let square = c.product(&sum, &sum)?;
    c.output("y", &square)
}

fn main() -> ExitCode {
    rpu::run(&[DOT_PRODUCT])
}
