//! Machines.

use crate::error::{raise, wrong};
use diagnostic::Diagnostics;
use pyo3::prelude::*;
use sim::{Area, Machine, MachineBase, Override};
use std::sync::Arc;

/// A machine: every key has a value.
#[pyclass(frozen, name = "Machine", module = "rpu._rpu")]
pub(crate) struct PyMachine {
    pub(crate) machine: Arc<Machine>,
}

#[pymethods]
impl PyMachine {
    /// The machine with this built-in name, or in this file if the name ends in `.toml` or has a folder. Each
    /// override,
    /// `key=value`, changes a key.
    #[new]
    fn new(name: &str, overrides: Vec<String>) -> PyResult<Self> {
        let base = MachineBase::named(name);
        let mut errors = Diagnostics::default();
        let overrides: Vec<Override> =
            overrides.iter().filter_map(|text| errors.keep(Override::parse(text))).collect();
        let overrides = errors.or(overrides).map_err(raise)?;
        let machine = base.and_then(|base| base.machine(&overrides)).map_err(raise)?;
        Ok(Self { machine: Arc::new(machine) })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.machine.name
    }

    #[getter]
    fn area_mm2(&self) -> f64 {
        Area::of(&self.machine).total()
    }

    #[getter]
    fn frequency_ghz(&self) -> f64 {
        sim::Clock::of(&self.machine).ghz()
    }

    /// All keys with their values, as one JSON object of tables.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&*self.machine).map_err(wrong)
    }
}
