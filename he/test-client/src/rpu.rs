//! Generated programs on a simulated machine.

use crate::{Ciphertext, Client, SwitchKey};
use diagnostic::Diagnostic;
use programs::{Error, Generated, Generator, Options, ParameterSet, generate};
use ring_program::data::Words;
use ring_program::{Inputs, RingProgram};
use runtime::{Keys, Report, RunError, Runtime};
use sim::Machine;
use std::collections::BTreeMap;
use std::fmt;

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

/// The time, the energy, the off-chip traffic, and the resource that limits most of the time.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { time_us, energy, hbm, binds, .. } = &self.report;
        let bytes: u64 = hbm.bytes_by_kind.values().sum();
        let most = binds.iter().max_by(|a, b| a.1.total_cmp(b.1));
        write!(
            f,
            "simulated: {:.3} ms, {:.2} mJ, {:.1} MiB of off-chip traffic, limited by {}",
            time_us / 1e3,
            energy.total() / 1e3,
            bytes as f64 / f64::from(1 << 20),
            most.map_or("nothing", |(resource, _)| runtime::limit(resource))
        )
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
        self.step(&program, &inputs, true)
    }

    /// Runs a generated program on data and in time, with the keys and plaintexts that it defines.
    /// `is_checked` asks for a comparison with the executor on big integers.
    ///
    /// # Errors
    /// Returns an error if a ciphertext is missing or does not fit, or the run fails.
    pub fn run_generated(
        &self,
        client: &Client,
        generated: &Generated,
        ciphertexts: &[(&str, &Ciphertext)],
        is_checked: bool,
    ) -> Result<Step, RpuError> {
        let inputs = client.inputs(generated, ciphertexts).map_err(RpuError::Input)?;
        self.step(&generated.program, &inputs, is_checked)
    }

    fn step(&self, program: &RingProgram, inputs: &Inputs<'_>, is_checked: bool) -> Result<Step, RpuError> {
        let runtime = Runtime::new(program, &self.machine, Keys::Streamed).map_err(run_error)?;
        let outputs = runtime.execute(inputs).map_err(run_error)?;
        if is_checked {
            runtime.check(inputs, &outputs).map_err(run_error)?;
        }
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
