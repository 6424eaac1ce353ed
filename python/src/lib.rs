//! The extension module of the Python package `rpu`.
//!
//! Classes and functions here accept and return plain values: numbers, texts, lists. The Python files in
//! `python/rpu` wrap and document them; `_rpu.pyi` has their types. Work runs without the interpreter's lock.

mod chart;
mod circuit;
mod error;
mod interrupt;
mod kernel;
mod machine;
mod program;
mod ring;
mod run;
mod sweep;

use pyo3::prelude::*;
use pyo3::types::PyTuple;

#[pymodule]
fn _rpu(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let errors = py.get_type::<error::RpuError>();
    errors.setattr("diagnostics", PyTuple::empty(py))?;
    module.add("RpuError", errors)?;
    module.add("CheckError", py.get_type::<error::CheckError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<error::Finding>()?;
    module.add_class::<machine::PyMachine>()?;
    module.add_class::<program::PyProgram>()?;
    module.add_class::<run::PyRun>()?;
    module.add_class::<circuit::PyCircuit>()?;
    module.add_class::<circuit::PyCiphertext>()?;
    module.add_class::<ring::PyRingProgram>()?;
    module.add_class::<ring::PyRingRun>()?;
    module.add_function(wrap_pyfunction!(kernel::generate, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::operations, module)?)?;
    module.add_function(wrap_pyfunction!(kernel::tune, module)?)?;
    module.add_function(wrap_pyfunction!(circuit::test_circuit, module)?)?;
    module.add_function(wrap_pyfunction!(ring::ring_programs, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::diff, module)?)?;
    module.add_function(wrap_pyfunction!(run::read_coefficients, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::explore, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::tasks, module)?)?;
    module.add_function(wrap_pyfunction!(chart::front, module)?)?;
    module.add_function(wrap_pyfunction!(chart::plot, module)?)
}
