//! Code generation.

use crate::error::{raise, wrong};
use crate::machine::PyMachine;
use crate::program::PyProgram;
use b512_asm::Setting;
use codegen::search::Effort;
use codegen::{Merit, Parameters, choose, compile};
use golden::Operation;
use lab_run::kernel::{self, RingsSpec};
use lab_run::program::ProgramFile;
use pyo3::prelude::*;
use std::path::Path;

/// The value of a setting.
#[derive(FromPyObject)]
pub(crate) enum Value {
    Number(u128),
    Numbers(Vec<u128>),
    Word(String),
}

/// Generates a program. `plan` is its name or file, and what plan `best` minimises. `moduli` and `roots` may be empty; the largest primes and the smallest roots are
/// found.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn generate(
    py: Python<'_>,
    operation: &str,
    n: u32,
    moduli: Vec<u128>,
    modulus_bits: u32,
    towers: usize,
    roots: Vec<u128>,
    plan: (String, String),
    settings: Vec<(String, Value)>,
    machine: &PyMachine,
) -> PyResult<PyProgram> {
    let operation: Operation = operation.parse().map_err(wrong)?;
    let (plan, optimise) = plan;
    let plan = kernel::plan(&plan, Path::new(&plan)).map_err(raise)?;
    let merit: Merit = optimise.parse().map_err(wrong)?;
    let plan = kernel::minimising(plan, merit, Some(Effort::QUICK));
    let setting = |(name, value)| {
        let value = match value {
            Value::Number(number) => vec![Setting::Number(number)],
            Value::Numbers(numbers) => numbers.into_iter().map(Setting::Number).collect(),
            Value::Word(word) => vec![Setting::Word(word)],
        };
        (name, value)
    };
    let parameters = Parameters::by_ring(settings.into_iter().map(setting).collect());
    let rings = RingsSpec { n, moduli, modulus_bits, towers, roots };
    let machine = &machine.machine;
    py.detach(|| {
        let request = kernel::request(operation, &rings, parameters, machine).map_err(wrong)?;
        let choice = choose(&request, machine, &plan).map_err(wrong)?;
        let program = compile(&request, &choice.recipe, machine).map_err(wrong)?.program;
        Ok(PyProgram { file: ProgramFile::of(program), origin: Some(choice.origin.to_string()) })
    })
}

/// The operations with their definitions.
#[pyfunction]
pub(crate) fn operations() -> Vec<(String, String)> {
    let operations = golden::OPERATIONS.iter();
    operations.map(|operation| (operation.name().to_owned(), operation.definition().to_owned())).collect()
}
