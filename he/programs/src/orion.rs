//! Networks of Orion: `.orion` files of version 2, which its compiler writes and its evaluator reads.
//!
//! ```text
//! ORION 00 02 00       the mark and the version
//! length, header       u32, then JSON: parameters, and a graph of layers
//! count, blobs         u32, then each u64 of bytes and its bytes: diagonals of matrices, biases
//! ```
//!
//! All numbers are little-endian. A layer is an operation on the ciphertexts of its predecessors; the graph
//! goes to a [`Circuit`], layer by layer.
//!
//! * **Moduli** are not in the file, only their sizes: they are the primes that Lattigo takes for them.
//! * **Scales** are exact. A message of the client has 2^`log_default_scale`, as the result of a polynomial;
//!   a matrix keeps the scale. Summands whose scales still differ, by at most 2^-16, are added as they are;
//!   [`Import::worst_sum`] is the largest difference.
//! * **Layouts** are in the matrices. So the degree is the file's.
//! * **Bootstraps** have the moduli that Lattigo takes by default, those of the set `lattigo-n16qp1546`, and
//!   the file's special ones, for all operations.
//! * **Operations** are rows of a table, in a file for each kind. What a file has beyond them is refused.
//!
//! ```
//! use programs::orion::Program;
//!
//! let program = Program::read("perceptron.orion", include_bytes!("../tests/orion/perceptron.orion"))?;
//! let import = program.import()?;
//! assert_eq!(import.counts["linear_transform"], 2);
//! assert_eq!(import.counts["quad"], 1);
//! # Ok::<(), diagnostic::Diagnostic>(())
//! ```

mod arithmetic;
mod bootstrap;
mod container;
mod evaluate;
mod header;
mod linear;
mod operations;
mod polynomial;
mod scheme;

use crate::circuit::{Circuit, Generated};
use crate::foreign::Parameters;
use container::Container;
use diagnostic::Diagnostic;
use evaluate::{Evaluation, Row};
use header::{Header, Order};
use std::collections::BTreeMap;

/// The release whose files are read. A file says the version of its form only.
pub const RELEASE: &str = "2.1.8";

/// Whether bytes begin as an `.orion` file of any version.
pub fn is_orion(bytes: &[u8]) -> bool {
    container::is_orion(bytes)
}

/// A network in an `.orion` file.
#[derive(Debug)]
pub struct Program<'t> {
    file: &'t str,
    header: Header<'t>,
    blobs: Vec<&'t [u8]>,
    order: Order,
    /// The number of ciphertexts of the input.
    inputs: usize,
    parameters: Parameters,
    /// The moduli of ciphertexts without those of bootstraps.
    residual: usize,
    rows: &'static [&'static Row],
}

/// A network as a circuit.
#[derive(Clone, Debug)]
pub struct Import {
    /// The program, with its set, its inputs and its counts.
    pub generated: Generated,
    /// The names of the input's ciphertexts: `input`, or `input_0`, `input_1`, .. of several.
    pub inputs: Vec<String>,
    /// Those of the output: `output`, or `output_0`, ..
    pub outputs: Vec<String>,
    /// The layers by operation.
    pub counts: BTreeMap<&'static str, usize>,
    /// The largest relative difference of the scales of summands.
    pub worst_sum: f64,
}

impl<'t> Program<'t> {
    /// Reads a file. `file` is its name in errors.
    ///
    /// # Errors
    /// Returns the first error: another version, a header with other keys than those of release [`RELEASE`],
    /// an invalid graph, parameters that no set has, or the other ring of Orion. The import checks layers.
    pub fn read(file: &'t str, bytes: &'t [u8]) -> Result<Self, Diagnostic> {
        let Container { header, blobs } = Container::read(file, bytes)?;
        let header = Header::read(file, header, blobs.len())?;
        let order = header.order(file)?;
        let (inputs, bootstraps) = (operations::inputs(&header, &order), operations::bootstraps(&header));
        let (parameters, residual) = scheme::parameters(file, &header, bootstraps)?;
        let rows = &operations::ROWS;
        Ok(Self { file, header, blobs, order, inputs, parameters, residual, rows })
    }

    /// The name of the file, without folder and ending.
    pub fn name(&self) -> &'t str {
        let name = self.file.rsplit(['/', '\\']).next().unwrap_or(self.file);
        name.strip_suffix(".orion").unwrap_or(name)
    }

    /// The title of an import.
    pub fn title(&self, import: &Import) -> String {
        let set = &import.generated.set;
        let (n, q, p) = (set.degree().get(), set.levels(), set.p().len());
        let name = diagnostic::one_line(self.name());
        format!("{name} of Orion, n = {n}, {q} moduli q, {p} special moduli")
    }

    /// The ring degree.
    pub fn degree(&self) -> u64 {
        self.parameters.n
    }

    /// The slots of a ciphertext, n/2.
    pub fn slots(&self) -> usize {
        self.parameters.n as usize / 2
    }

    /// The slots of the input's ciphertexts: numbers in the order of rows, then zeros.
    ///
    /// # Errors
    /// Returns an error for numbers that do not fit, or are not finite.
    pub fn pack(&self, numbers: &[f64]) -> Result<Vec<Vec<f64>>, Diagnostic> {
        let most = self.inputs * self.slots();
        if numbers.len() > most || !numbers.iter().all(|number| number.is_finite()) {
            let message = format!("{} numbers for an input of {most} slots", numbers.len());
            let help = format!("give at most {most} numbers, all of them finite");
            return Err(self.error(message).with_help(help));
        }
        let mut slots = numbers.to_vec();
        slots.resize(most, 0.0);
        Ok(slots.chunks(self.slots()).map(<[f64]>::to_vec).collect())
    }

    /// The network as a circuit: with the inputs `input.0` and `input.1`, and the outputs `output.0` and
    /// `output.1`.
    ///
    /// # Errors
    /// Returns the first error: a layer that is unknown or that has no meaning, or that the circuit refuses.
    pub fn import(&self) -> Result<Import, Diagnostic> {
        let set = self.parameters.set(None).map_err(|reason| self.error(reason))?;
        let circuit = Circuit::new(self.name(), &set);
        Evaluation::new(self, circuit).run()
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).in_file(self.file)
    }
}
