//! Ring programs.

use crate::error::{CheckError, raise, wrong};
use crate::interrupt;
use crate::machine::PyMachine;
use diagnostic::Diagnostic;
use diagnostic::input::{self, Content};
use lab_run::{RingData, RingFile, RingRun, idle_outputs, ring_page, table};
use programs::{
    Generated, Options, ParameterSet, SETS, all_programs, find_program, generate_defined, heir, orion,
};
use pyo3::prelude::*;
use ring_program::data::Words;
use ring_program::{Group, Inputs, Manifest, RingProgram};
use runtime::{Keys, Merit, RunError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A ring program.
#[pyclass(frozen, name = "RingProgram", module = "rpu._rpu")]
pub(crate) struct PyRingProgram {
    program: Arc<RingProgram>,
    #[pyo3(get)]
    title: String,
    /// What its generator says of it: levels, transforms, key switches and keys by stage.
    #[pyo3(get)]
    summary: String,
    /// What its circuit knows of it, and its set.
    pub(crate) circuit: Option<Arc<(Generated, ParameterSet)>>,
}

impl PyRingProgram {
    /// n/2.
    pub(crate) fn slots(&self) -> usize {
        self.program.degree().len() / 2
    }

    /// The program of a circuit.
    pub(crate) fn of_circuit(title: String, generated: Generated, set: ParameterSet) -> Self {
        let (program, summary) = (Arc::new(generated.program.clone()), generated.ledger.to_string());
        Self { program, title, summary, circuit: Some(Arc::new((generated, set))) }
    }
}

#[pymethods]
impl PyRingProgram {
    /// Generates a program for the parameter set with this built-in name, or in this file. The options are
    /// names and texts.
    #[staticmethod]
    fn generate(
        py: Python<'_>,
        name: &str,
        set: &str,
        n: Option<u64>,
        options: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let Some(generator) = find_program(name) else {
            return Err(unknown("program", name, all_programs().map(|program| program.name)));
        };
        let set = parameter_set(set, n)?;
        let options = Options::of(options);
        interrupt::wait(py, move || {
            let generated = generate_defined(&generator, &set, &options).map_err(wrong)?;
            let title = programs::title(&generator, &set, &options);
            let program = Arc::new(generated.program);
            Ok(Self { program, title, summary: generated.ledger.to_string(), circuit: None })
        })?
    }

    /// Reads a program with its manifest, by default `P.manifest.json` or `P.json` beside `P.fhetch`, or with
    /// a degree.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf, manifest: Option<PathBuf>, n: Option<u64>) -> PyResult<Self> {
        let file = py.detach(|| RingFile::read(&path, manifest.as_deref(), n)).map_err(raise)?;
        Ok(Self { program: Arc::new(file.program), title: file.title, summary: String::new(), circuit: None })
    }

    /// Reads a program of HEIR, with the numbers of clear arguments in the order of rows. Beside it, the
    /// plaintexts that the file does not have, and the largest relative difference of the scales of summands.
    #[staticmethod]
    fn import_heir(
        py: Python<'_>,
        path: PathBuf,
        n: Option<u64>,
        arguments: BTreeMap<String, Vec<f64>>,
    ) -> PyResult<(Self, Vec<String>, f64)> {
        interrupt::wait(py, move || {
            let name = diagnostic::path(&path);
            let cannot_read =
                |error: &dyn std::fmt::Display| wrong(format_args!("cannot read `{name}`: {error}"));
            let bytes = input::read(&path, Content::Document).map_err(|error| cannot_read(&error))?;
            let text = input::text(bytes).map_err(|error| cannot_read(&error))?;
            let program = heir::Program::read(&name, &text).map_err(raise)?;
            let import = program.import(n, &arguments).map_err(raise)?;
            let (title, set) = (program.title(&import), import.generated.set.clone());
            Ok((Self::of_circuit(title, import.generated, set), import.given, import.worst_sum))
        })?
    }

    /// Reads a network of Orion. Beside it, the largest relative difference of the scales of summands.
    #[staticmethod]
    fn import_orion(py: Python<'_>, path: PathBuf) -> PyResult<(Self, f64)> {
        interrupt::wait(py, move || {
            let name = diagnostic::path(&path);
            let bytes = input::read(&path, Content::Program)
                .map_err(|error| wrong(format_args!("cannot read `{name}`: {error}")))?;
            let program = orion::Program::read(&name, &bytes).map_err(raise)?;
            let import = program.import().map_err(raise)?;
            let (title, set) = (program.title(&import), import.generated.set.clone());
            Ok((Self::of_circuit(title, import.generated, set), import.worst_sum))
        })?
    }

    #[getter]
    fn n(&self) -> u64 {
        self.program.degree().get()
    }

    #[getter]
    fn operations(&self) -> usize {
        self.program.length() as usize
    }

    #[getter]
    fn text(&self) -> String {
        self.program.to_text()
    }

    #[getter]
    fn manifest(&self) -> String {
        let mut manifest = Manifest::of(&self.program);
        manifest.title = Some(self.title.clone());
        manifest.to_json()
    }

    /// The moduli of each input's limbs; 0 for a limb that no operation reads.
    #[getter]
    fn inputs(&self) -> Vec<(String, Vec<u128>)> {
        let inputs = Inputs::new(&self.program);
        let moduli = |group: &Group| {
            let modulus =
                |&limb| inputs.modulus(limb).map_or(0, |of| self.program.moduli().value(of.modulus()));
            group.limbs.iter().map(modulus).collect()
        };
        self.program.inputs().iter().map(|group| (group.name.clone(), moduli(group))).collect()
    }

    /// The number of each output's limbs.
    #[getter]
    fn outputs(&self) -> Vec<(String, usize)> {
        self.program.outputs().iter().map(|group| (group.name.clone(), group.limbs.len())).collect()
    }

    /// Runs the program. Inputs have a list of limbs; those without one are drawn from the seed. A page is
    /// written to `page`.
    #[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
    fn run(
        &self,
        py: Python<'_>,
        machine: &PyMachine,
        inputs: BTreeMap<String, Vec<Vec<u128>>>,
        keys: &str,
        optimise: &str,
        seed: u64,
        check: bool,
        execute: bool,
        page: Option<PathBuf>,
    ) -> PyResult<PyRingRun> {
        let Some(keys) = Keys::ALL.into_iter().find(|known| known.name() == keys) else {
            return Err(unknown("origin of keys", keys, Keys::ALL.map(Keys::name)));
        };
        let merit = optimise.parse::<Merit>();
        let merit = merit.map_err(|_| unknown("merit", optimise, Merit::ALL.map(Merit::name)))?;
        if check && idle_outputs(&self.program).len() == self.program.outputs().len() {
            return Err(wrong(
                "there is nothing to check: no line of the program computes an output from an input",
            ));
        }
        let (program, title) = (Arc::clone(&self.program), self.title.clone());
        let machine = Arc::clone(&machine.machine);
        interrupt::wait(py, move || {
            let mut data = Inputs::new(&program);
            for (name, limbs) in &inputs {
                let limbs = limbs.iter().map(|limb| Words::from(limb.as_slice()));
                data.set(name, limbs).map_err(raise)?;
            }
            data.fill(seed);
            let data = match (execute, check) {
                (false, _) => RingData::None,
                (true, false) => RingData::Execute(data),
                (true, true) => RingData::Check(data, seed),
            };
            let on = (&*machine, keys, merit.into());
            let run = RingRun::timed(&program, &title, on, page.is_some());
            let run = run.and_then(|run| run.with_data(&program, &data)).map_err(|error| failure(&error))?;
            if let Some(path) = page {
                let content = ring_page(&run.report, &run.runtime, &run.timeline);
                lab_run::files::write(&path, content.as_bytes()).map_err(wrong)?;
            }
            let mut report = run.report;
            report.seed = execute.then_some(seed);
            let names = program.outputs().iter().map(|group| group.name.clone());
            let words = run.outputs.iter().map(|limbs| limbs.iter().map(Words::to_vec).collect());
            Ok(PyRingRun {
                table: table(&report),
                report: serde_json::to_string(&report).map_err(wrong)?,
                outputs: names.zip(words).collect(),
            })
        })?
    }
}

/// A finished run of a ring program.
#[pyclass(frozen, get_all, name = "RingRun", module = "rpu._rpu")]
pub(crate) struct PyRingRun {
    /// The document of the run, one JSON object.
    report: String,
    /// The limbs of each output.
    outputs: BTreeMap<String, Vec<Vec<u128>>>,
    /// The report as a terminal shows it.
    table: String,
}

/// The programs that can be generated, with their definitions.
#[pyfunction]
pub(crate) fn ring_programs() -> Vec<(&'static str, &'static str)> {
    all_programs().map(|program| (program.name, program.definition)).collect()
}

/// The built-in set with this name, or the set in this file.
pub(crate) fn parameter_set(name: &str, n: Option<u64>) -> PyResult<ParameterSet> {
    if let Some(set) = ParameterSet::built_in(name, n) {
        return set.map_err(raise);
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err(unknown("parameter set", name, SETS.iter().map(|(known, _)| *known)));
    }
    let cannot_read =
        |error: &dyn std::fmt::Display| raise(Diagnostic::new(format!("cannot read `{name}`: {error}")));
    let bytes = input::read(path, Content::Document).map_err(|error| cannot_read(&error))?;
    let text = input::text(bytes).map_err(|error| cannot_read(&error))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    ParameterSet::parse(&stem, name, &text, n).map_err(raise)
}

/// The error of a name that no table has.
pub(crate) fn unknown(what: &str, name: &str, known: impl IntoIterator<Item = &'static str>) -> PyErr {
    let known: Vec<&str> = known.into_iter().collect();
    let help = match diagnostic::nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    raise(Diagnostic::new(format!("unknown {what} `{name}`")).with_help(help))
}

fn failure(error: &RunError) -> PyErr {
    if error.is_wrong_result() { CheckError::new_err(error.to_string()) } else { wrong(error) }
}
