//! Generated programs on a simulated machine.

use crate::{Ciphertext, SwitchKey};
use diagnostic::Diagnostic;
use programs::{Error, Generator, Options, ParameterSet, generate};
use ring_program::Inputs;
use ring_program::data::Words;
use runtime::{Keys, Report, RunError, Runtime};
use sim::Machine;
use std::collections::BTreeMap;

/// A simulated machine.
#[derive(Debug)]
pub struct Rpu {
    machine: Machine,
}

/// The result of one program.
#[derive(Debug)]
pub struct Step {
    /// The outputs by name: limbs of values.
    pub outputs: BTreeMap<String, Vec<Words>>,
    /// The time, the resource that limits it, the energy.
    pub report: Report,
}

impl Step {
    /// The ciphertext with the outputs `NAME.0` and `NAME.1`.
    ///
    /// # Panics
    /// Panics if the program has no such outputs.
    pub fn ciphertext(&self, name: &str) -> Ciphertext {
        [0, 1].map(|component| self.outputs[&format!("{name}.{component}")].clone())
    }
}

/// The names and limbs of inputs.
#[derive(Debug, Default)]
pub struct Arguments(Vec<(String, Vec<Words>)>);

impl Arguments {
    /// The inputs `NAME.0` and `NAME.1` of a ciphertext.
    pub fn ciphertext(mut self, name: &str, ciphertext: &Ciphertext) -> Self {
        for (component, limbs) in ciphertext.iter().enumerate() {
            self.0.push((format!("{name}.{component}"), limbs.clone()));
        }
        self
    }

    /// The inputs `NAME.b.J` and `NAME.a.J` of a key.
    pub fn key(mut self, name: &str, key: &SwitchKey) -> Self {
        for (component, digits) in ["b", "a"].iter().zip(key) {
            for (digit, limbs) in digits.iter().enumerate() {
                self.0.push((format!("{name}.{component}.{digit}"), limbs.clone()));
            }
        }
        self
    }
}

impl Rpu {
    /// A machine.
    pub fn new(machine: Machine) -> Self {
        Self { machine }
    }

    /// Generates a program and runs it on data and in time. The results are compared with the executor's on
    /// big integers. Arguments that the program lacks, such as digits beyond its level, are left out.
    ///
    /// # Errors
    /// Returns an error if the program cannot be generated, an input is missing or does not fit, or the run
    /// fails.
    pub fn run(
        &self,
        program: &Generator,
        set: &ParameterSet,
        options: &Options,
        arguments: Arguments,
    ) -> Result<Step, RpuError> {
        let program = generate(program, set, options).map_err(RpuError::Program)?;
        let mut inputs = Inputs::new(&program);
        let has = |name: &str| program.inputs().iter().any(|group| group.name == name);
        for (name, limbs) in arguments.0.into_iter().filter(|(name, _)| has(name)) {
            inputs.set(&name, limbs).map_err(RpuError::Input)?;
        }
        let runtime = Runtime::new(&program, &self.machine, Keys::Streamed).map_err(run_error)?;
        let outputs = runtime.execute(&inputs).map_err(run_error)?;
        runtime.check(&inputs, &outputs).map_err(run_error)?;
        let timeline = runtime.time(false).map_err(run_error)?;
        let names = program.outputs().iter().map(|group| group.name.clone());
        Ok(Step { outputs: names.zip(outputs).collect(), report: runtime.report(&timeline) })
    }
}

/// The reason why a program did not run.
#[derive(Debug, thiserror::Error)]
pub enum RpuError {
    /// It cannot be generated.
    #[error(transparent)]
    Program(Error),
    /// An input does not fit.
    #[error(transparent)]
    Input(Diagnostic),
    /// The run failed.
    #[error(transparent)]
    Run(Box<RunError>),
}

pub(crate) fn run_error(error: RunError) -> RpuError {
    RpuError::Run(Box::new(error))
}
