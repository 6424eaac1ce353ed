//! Circuits: programs of homomorphic encryption by operations on ciphertexts.

use crate::error::{raise, wrong};
use crate::interrupt;
use crate::machine::PyMachine;
use crate::ring::{PyRingProgram, parameter_set, unknown};
use diagnostic::Diagnostic;
use num_complex::Complex64;
use programs::circuit::{BootstrapOptions, Setup};
use programs::{Ciphertext, Circuit, Definition, Diagonals, Error, Generated, Options, Scale, find_dataflow};
use pyo3::prelude::*;
use ring_program::{Inputs, execute_watched};
use runtime::{Keys, Runtime};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use test_client::{Client, ckks};

/// Slots as real and imaginary parts.
type Slots = Vec<(f64, f64)>;

fn complex(slots: &[(f64, f64)]) -> Vec<Complex64> {
    slots.iter().map(|&(re, im)| Complex64::new(re, im)).collect()
}

/// A ciphertext of a circuit.
#[pyclass(frozen, name = "Ciphertext", module = "rpu._rpu")]
pub(crate) struct PyCiphertext(Ciphertext);

#[pymethods]
impl PyCiphertext {
    #[getter]
    fn level(&self) -> usize {
        self.0.level()
    }

    /// log2 of the scale.
    #[getter]
    fn scale_bits(&self) -> f64 {
        self.0.scale().log2()
    }

    #[getter]
    fn is_product(&self) -> bool {
        self.0.is_product()
    }
}

/// A circuit under construction.
#[pyclass(frozen, name = "Circuit", module = "rpu._rpu")]
pub(crate) struct PyCircuit {
    circuit: Mutex<Circuit>,
    name: String,
}

/// The exception for an operation that does not fit, with what would be right.
fn refused(error: Error) -> PyErr {
    let help = match &error {
        // A modulus or more between them.
        Error::Scales { scales, .. } if (scales[0].log2() - scales[1].log2()).abs() > 15.0 => {
            "call `rescale()` on the product first"
        }
        Error::Scales { .. } => "`x.scaled_like(y)` gives `x` the scale of `y`, and a lower level",
        Error::NothingToDrop { .. } | Error::TooLow { .. } => {
            "`bootstrap()` gives a ciphertext more levels; `level` of a ciphertext says how many it has"
        }
        Error::BootstrapScale { .. } => "call `rescale()` before `bootstrap()`",
        Error::NoBootstrap { .. } => "choose a set with a bootstrap, such as `lattigo-n16qp1546`",
        Error::NoRoom { .. } => "choose a set or a level with more moduli",
        Error::Rotation { .. } => "a ciphertext has n/2 slots",
        Error::Name { .. } => "choose another name",
        Error::PackedSlots { .. } => "choose another number of `slots`",
        _ => return wrong(error),
    };
    raise(Diagnostic::new(error.to_string()).with_help(help))
}

impl PyCircuit {
    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make(&self, make: impl FnOnce(&mut Circuit) -> Result<Ciphertext, Error>) -> PyResult<PyCiphertext> {
        make(&mut self.circuit()).map(PyCiphertext).map_err(refused)
    }
}

#[pymethods]
impl PyCircuit {
    /// An empty circuit for the parameter set with this built-in name, or in this file.
    #[new]
    fn new(
        set: &str,
        n: Option<u64>,
        level: Option<usize>,
        levels_out: Option<usize>,
        dataflow: &str,
        name: String,
    ) -> PyResult<Self> {
        let set = parameter_set(set, n)?;
        let Some(dataflow) = find_dataflow(dataflow) else {
            return Err(unknown("dataflow", dataflow, programs::DATAFLOWS.iter().map(|flow| flow.name)));
        };
        if set.plaintext_modulus().is_some() {
            let message = format!("the set `{}` is of BGV; circuits compute with CKKS", set.name());
            return Err(raise(
                Diagnostic::new(message).with_help("choose a set without `plaintext_modulus`"),
            ));
        }
        let set = match levels_out {
            Some(left) => set.leaving(left).map_err(refused)?,
            None => set,
        };
        let setup = Setup { level, dataflow, tile: None };
        let circuit = Circuit::with_setup(name.as_str(), &set, setup).map_err(refused)?;
        Ok(Self { circuit: Mutex::new(circuit), name })
    }

    #[getter]
    fn slots(&self) -> usize {
        self.circuit().set().degree().len() / 2
    }

    #[getter]
    fn set(&self) -> String {
        self.circuit().set().name().to_owned()
    }

    #[getter]
    fn levels(&self) -> usize {
        self.circuit().level()
    }

    #[getter]
    fn message_level(&self) -> usize {
        self.circuit().message_level()
    }

    /// A ciphertext that the user encrypts.
    fn input(&self, name: &str, level: Option<usize>, scale_bits: Option<u32>) -> PyResult<PyCiphertext> {
        self.make(|c| {
            let level = level.unwrap_or(c.message_level());
            let scale = scale_bits.map_or_else(|| c.message_scale(), Scale::power_of_two);
            c.input_at(name, level, scale)
        })
    }

    fn output(&self, name: &str, a: &PyCiphertext) -> PyResult<()> {
        let mut circuit = self.circuit();
        let a = circuit.relinearise(&a.0);
        circuit.output(name, &a).map_err(refused)
    }

    fn add(&self, a: &PyCiphertext, b: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.make(|c| c.add(&a.0, &b.0))
    }

    fn subtract(&self, a: &PyCiphertext, b: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.make(|c| c.subtract(&a.0, &b.0))
    }

    fn multiply(&self, a: &PyCiphertext, b: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.make(|c| Ok(c.multiply(&a.0, &b.0)))
    }

    fn multiply_integer(&self, a: &PyCiphertext, factor: i128) -> PyResult<PyCiphertext> {
        self.make(|c| Ok(c.multiply_integer(&a.0, &factor.into())))
    }

    /// The product with a real number, of a scale that a rescale takes back.
    fn multiply_real(&self, a: &PyCiphertext, factor: f64) -> PyResult<PyCiphertext> {
        self.make(|c| {
            let scale = a.0.scale().times(&c.divisor(a.0.level()));
            Ok(c.multiply_real(&a.0, factor, &scale))
        })
    }

    fn add_real(&self, a: &PyCiphertext, addend: f64) -> PyResult<PyCiphertext> {
        self.make(|c| Ok(c.add_real(&a.0, addend)))
    }

    /// The product with a plaintext: with these slots, or with those that the user gives under the name.
    fn multiply_plaintext(
        &self,
        a: &PyCiphertext,
        name: &str,
        slots: Option<Slots>,
    ) -> PyResult<PyCiphertext> {
        self.make(|c| {
            let factor = c.factor(name, &a.0, slots.as_deref().map(complex));
            c.multiply_plaintext(&a.0, &factor)
        })
    }

    fn add_plaintext(&self, a: &PyCiphertext, name: &str, slots: Option<Slots>) -> PyResult<PyCiphertext> {
        self.make(|c| {
            let summand = c.summand(name, &a.0, slots.as_deref().map(complex));
            c.add_plaintext(&a.0, &summand)
        })
    }

    fn relinearise(&self, a: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.make(|c| Ok(c.relinearise(&a.0)))
    }

    fn rescale(&self, a: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.make(|c| c.relinearise_and_rescale(&a.0))
    }

    fn rotations(&self, a: &PyCiphertext, by: Vec<i64>) -> PyResult<Vec<PyCiphertext>> {
        let rotated = self.circuit().rotations(&a.0, &by).map_err(refused)?;
        Ok(rotated.into_iter().map(PyCiphertext).collect())
    }

    fn conjugate(&self, a: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.make(|c| Ok(c.conjugate(&a.0)))
    }

    /// The ciphertext at a lower level.
    fn at(&self, a: &PyCiphertext, level: usize) -> PyResult<PyCiphertext> {
        if !(1..=a.0.level()).contains(&level) {
            return Err(wrong(format!(
                "invalid level {level}: the ciphertext has levels 1 to {}",
                a.0.level()
            )));
        }
        self.make(|c| c.at(&a.0, level))
    }

    /// The ciphertext with the scale of another one, at a lower level.
    fn scaled_like(&self, a: &PyCiphertext, b: &PyCiphertext) -> PyResult<PyCiphertext> {
        self.make(|c| {
            let level = b.0.level().min(a.0.level().saturating_sub(1)).max(1);
            c.scaled_to(&a.0, level, b.0.scale())
        })
    }

    fn chebyshev(&self, a: &PyCiphertext, coefficients: Vec<f64>) -> PyResult<PyCiphertext> {
        self.make(|c| c.chebyshev(&a.0, &coefficients))
    }

    fn linear_transform(
        &self,
        name: &str,
        a: &PyCiphertext,
        diagonals: BTreeMap<i64, Slots>,
        hoisting: &str,
    ) -> PyResult<PyCiphertext> {
        let options = options(vec![("hoisting".to_owned(), hoisting.to_owned())])?;
        let diagonals: Diagonals =
            diagonals.into_iter().map(|(diagonal, slots)| (diagonal, complex(&slots))).collect();
        self.make(|c| c.linear_transform(name, &a.0, &diagonals, options.hoisting))
    }

    /// A bootstrap with options of `rpu gen program bootstrap`, as names and texts.
    fn bootstrap(&self, a: &PyCiphertext, given: Vec<(String, String)>) -> PyResult<PyCiphertext> {
        let options = options(given)?;
        self.make(|c| c.bootstrap(&a.0, options))
    }

    /// The program so far.
    fn program(&self, py: Python<'_>) -> PyResult<PyRingProgram> {
        let circuit = self.circuit().clone();
        let set = circuit.set().clone();
        let title = format!("{} of the set {}, n = {}", self.name, set.name(), set.degree());
        interrupt::wait(py, move || PyRingProgram::of_circuit(title, circuit.finish(), set))
    }
}

/// Options of a bootstrap, which have values that it allows.
fn options(given: Vec<(String, String)>) -> PyResult<BootstrapOptions> {
    let options = Options::of(given);
    let bootstrap = programs::find_program("bootstrap").expect("a program");
    bootstrap.check(&options).map_err(wrong)?;
    Ok(BootstrapOptions::of(&options))
}

/// Makes keys from the seed, encrypts slots, runs the program of a circuit, and decrypts its results: not
/// secure. It runs on big integers, or on a machine's functional model. The slots of each output.
#[pyfunction]
pub(crate) fn test_circuit(
    program: &PyRingProgram,
    py: Python<'_>,
    slots: BTreeMap<String, Slots>,
    machine: Option<&PyMachine>,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<BTreeMap<String, Slots>> {
    let Some(of_circuit) = program.circuit.clone() else {
        let help = "`Circuit.program()` makes programs that a test can run";
        return Err(raise(Diagnostic::new("the program is of no circuit").with_help(help)));
    };
    let most = program.slots();
    if let Some((name, slots)) = slots.iter().find(|(_, slots)| slots.len() != most) {
        return Err(wrong(format!("`{name}` has {} slots, the circuit {most}", slots.len())));
    }
    let machine = machine.map(|machine| Arc::clone(&machine.machine));
    let result = interrupt::watch(py, progress, move |watch| {
        let (generated, set) = &*of_circuit;
        let mut client = Client::new(set.clone(), seed).map_err(|error| error.to_string())?;
        let given: BTreeMap<&str, Vec<Complex64>> =
            slots.iter().map(|(name, slots)| (name.as_str(), complex(slots))).collect();
        let ciphertexts: Vec<_> = given
            .iter()
            .filter(|(name, _)| generated.inputs.iter().any(|input| input.name == format!("{name}.0")))
            .map(|(name, slots)| (*name, client.encrypt_input(generated, name, slots)))
            .collect();
        let ciphertexts: Vec<_> = ciphertexts.iter().map(|(name, ciphertext)| (*name, ciphertext)).collect();
        let mut inputs = client.inputs(generated, &ciphertexts).map_err(|error| error.to_string())?;
        set_plaintexts(&client, generated, &given, &mut inputs)?;
        let outputs = match &machine {
            None => execute_watched(&inputs, watch).map_err(|error| error.to_string())?,
            Some(machine) => {
                let runtime = Runtime::new(&generated.program, machine, Keys::Streamed);
                let runtime = runtime.map_err(|error| error.to_string())?;
                Some(runtime.execute(&inputs).map_err(|error| error.to_string())?)
            }
        };
        let Some(outputs) = outputs else { return Ok(BTreeMap::new()) };
        Ok::<_, String>(decrypted(&client, generated, outputs))
    })?;
    result.map_err(wrong)
}

/// Sets the plaintexts whose slots the user gives.
fn set_plaintexts(
    client: &Client,
    generated: &Generated,
    given: &BTreeMap<&str, Vec<Complex64>>,
    inputs: &mut Inputs<'_>,
) -> Result<(), String> {
    for input in &generated.inputs {
        if let Definition::Given { .. } = input.definition {
            let name = input.label.as_deref().unwrap_or(&input.name);
            let slots = given.get(name).ok_or_else(|| format!("the plaintext `{name}` has no slots"))?;
            let limbs = client.encode_input(generated, &input.name, slots);
            inputs.set(&input.name, limbs).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

/// The slots of all outputs.
fn decrypted(
    client: &Client,
    generated: &Generated,
    outputs: Vec<Vec<ring_program::data::Words>>,
) -> BTreeMap<String, Slots> {
    let groups = generated.program.outputs().iter().zip(outputs);
    let mut components: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (group, limbs) in groups {
        let (name, _) = group.name.rsplit_once('.').expect("a component of a ciphertext");
        components.entry(name.to_owned()).or_default().push(limbs);
    }
    let slots = |(name, components): (String, Vec<_>)| {
        let ciphertext = components.try_into().expect("two components");
        let scale = generated.scales[&name].to_f64();
        let slots = ckks::decode(&client.phase(&ciphertext), scale);
        (name, slots.into_iter().map(|slot| (slot.re, slot.im)).collect())
    };
    components.into_iter().map(slots).collect()
}
