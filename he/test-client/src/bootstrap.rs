//! A bootstrap of a random message, and the bits of its slots that each stage keeps.
//!
//! All errors have one unit, that of slots: the remaining stages are applied to the result of a stage,
//! without errors.

use crate::ckks::{encode, errors, mean_bits, repeated, slots};
use crate::rpu::run_error;
use crate::{Ciphertext, Client, RpuError};
use num_complex::Complex64;
use num_traits::ToPrimitive;
use programs::{
    Bootstrap, Generated, Ledger, Options, Order, ParameterSet, Scale, find_program, generate_defined,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring::bits;
use ring_program::execute;
use runtime::{Keys, Runtime};
use sim::Machine;
use std::collections::BTreeMap;
use std::fmt;

/// -log2 of errors of complex slots.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bits {
    /// Of the mean error.
    pub mean: f64,
    /// Of the largest error.
    pub worst: f64,
    /// The slot that has it.
    pub worst_slot: usize,
    /// The mean of -log2 of the errors of real and imaginary parts, as Lattigo prints it. For normal errors
    /// it is larger than `mean` by 1.24.
    pub of_parts: f64,
}

impl Bits {
    fn of(found: &[Complex64], expected: &[Complex64]) -> Self {
        let parts = found.iter().zip(expected).flat_map(|(a, b)| [a.re - b.re, a.im - b.im]);
        let of_parts = parts.map(|part| -part.abs().log2()).sum::<f64>() / (2 * found.len()) as f64;
        let worst = errors(found, expected).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let (worst_slot, worst) = worst.expect("a ciphertext has slots");
        Self { mean: mean_bits(found, expected), worst: -worst.log2(), worst_slot, of_parts }
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:5.1} {:5.1}", self.mean, self.worst)
    }
}

/// The bits that a stage keeps.
#[derive(Clone, Copy, Debug)]
pub struct StageBits {
    /// The name.
    pub name: &'static str,
    /// Its result beside the float model of what it was given.
    pub alone: Bits,
    /// Its result beside the message.
    pub left: Bits,
    /// The float model of all stages so far beside the message.
    pub model: Bits,
}

/// A bootstrap that ran.
#[derive(Debug)]
pub struct Outcome {
    /// The counts of the program.
    pub ledger: Ledger,
    /// The level of the result.
    pub level: usize,
    /// The largest multiple of q_0 after the mod-raise.
    pub overflow: f64,
    /// The stages in order, from the encryption on.
    pub stages: Vec<StageBits>,
}

impl Outcome {
    /// The last stage.
    pub fn result(&self) -> &StageBits {
        self.stages.last().expect("a bootstrap has stages")
    }
}

/// A table of the stages: mean and worst bits of each alone and its worst slot, those of what is left, and of
/// the float model.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "bits of slots        alone               left         float model")?;
        writeln!(f, "                     mean  worst  slot   mean  worst  mean  worst")?;
        for StageBits { name, alone, left, model } in &self.stages {
            writeln!(f, "  {name:<18} {alone} {:5}  {left}  {model}", alone.worst_slot)?;
        }
        Ok(())
    }
}

/// What executes a bootstrap.
#[derive(Clone, Copy, Debug)]
pub enum Engine<'m> {
    /// A machine.
    Rpu(&'m Machine),
    /// A machine, whose results are compared with those on big integers.
    Checked(&'m Machine),
    /// The executor on big integers.
    BigIntegers,
}

/// Encrypts a random message with slots in the unit square, bootstraps it, and decrypts it after each stage.
///
/// # Errors
/// Returns an error if the set has no bootstrap, or the run fails.
///
/// # Panics
/// Panics if a modulus of the set has no transform.
pub fn run(set: &ParameterSet, options: &Options, engine: Engine<'_>) -> Result<Outcome, RpuError> {
    let options = options.clone().with("intermediates", "outputs");
    let program = find_program("bootstrap").expect("a program");
    let generated = generate_defined(&program, set, &options).map_err(RpuError::Program)?;
    let set = &generated.set;
    let mut client = Client::new(set.clone(), 1).expect("the moduli have transforms");
    let half = set.degree().len() / 2;
    let message = message(options.slots().unwrap_or(half));
    let settings = set.bootstrap_with(&options).expect("the program is a bootstrap");
    let scale = f64::from(settings.scale_bits).exp2();
    let given = generated.inputs.iter().find(|input| input.name == "ct.0").expect("its input");
    let ciphertext = client.encrypt(&encode(&repeated(&message, half), scale));
    let ciphertext = client.modulo(&ciphertext, &given.moduli);
    let inputs = client.inputs(&generated, &[("ct", &ciphertext)]).map_err(RpuError::Input)?;
    let outputs = match engine {
        Engine::BigIntegers => execute(&inputs).expect("all inputs have words below their moduli"),
        Engine::Rpu(machine) | Engine::Checked(machine) => {
            let runtime = Runtime::new(&generated.program, machine, Keys::Streamed).map_err(run_error)?;
            let outputs = runtime.execute(&inputs).map_err(run_error)?;
            if matches!(engine, Engine::Checked(_)) {
                runtime.check(&inputs, &outputs).map_err(run_error)?;
            }
            outputs
        }
    };
    let mut ciphertexts = BTreeMap::from([("ct", ciphertext)]);
    for (group, limbs) in generated.program.outputs().iter().zip(outputs) {
        let (name, component) = group.name.rsplit_once('.').expect("components of ciphertexts");
        let ciphertext: &mut Ciphertext = ciphertexts.entry(name).or_default();
        ciphertext[usize::from(component == "1")] = limbs;
    }
    let level = set.level_of(ciphertexts["boot"][0].len()).expect("a level with as many limbs");
    let gap = half / message.len();
    let order = options.order().unwrap_or_default();
    let run = Run { client: &client, generated: &generated, ciphertexts, gap, order };
    let (overflow, stages) = run.compare(&settings, &message);
    Ok(Outcome { ledger: generated.ledger.clone(), level, overflow, stages })
}

fn message(slots: usize) -> Vec<Complex64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut part = || random.random_range(-1.0..1.0);
    (0..slots).map(|_| Complex64::new(part(), part())).collect()
}

/// The ciphertexts of a run, by name without the component.
struct Run<'r> {
    client: &'r Client,
    generated: &'r Generated,
    ciphertexts: BTreeMap<&'r str, Ciphertext>,
    /// The message has only powers of X that are multiples of it.
    gap: usize,
    order: Order,
}

impl Run<'_> {
    /// The coefficients of a decrypted ciphertext over its scale, of the powers of X that are multiples of
    /// `gap`.
    fn coefficients(&self, name: &str, scale: f64, gap: usize) -> Vec<f64> {
        let phase = self.client.phase(&self.ciphertexts[name]);
        phase.iter().step_by(gap).map(|x| x.to_f64().expect("a number below 2^1024") / scale).collect()
    }

    /// The slots of a decrypted output, of which there may be more than the message has.
    fn slots(&self, name: &str, gap: usize) -> Vec<Complex64> {
        slots(self.coefficients(name, self.generated.scales[name].to_f64(), gap).into_iter())
    }

    /// The slots of a message whose coefficients at the mod-raise are these.
    fn message_of(&self, coefficients: Vec<f64>) -> Vec<Complex64> {
        match self.order {
            Order::SlotToCoeffLast => slots(coefficients.into_iter()),
            Order::SlotToCoeffFirst => {
                let slots = coefficients.len() / 2;
                let slot = |slot: usize| {
                    let place = bits::bit_reverse(slot, slots.ilog2());
                    Complex64::new(coefficients[place], coefficients[slots + place])
                };
                (0..slots).map(slot).collect()
            }
        }
    }

    /// The coefficients of a message at the mod-raise.
    fn coefficients_of(&self, message: &[Complex64]) -> Vec<f64> {
        match self.order {
            Order::SlotToCoeffLast => {
                let unit = 60_f64.exp2();
                encode(message, unit).into_iter().map(|x| x as f64 / unit).collect()
            }
            Order::SlotToCoeffFirst => {
                let (real, imaginary) = message.iter().map(|slot| (slot.re, slot.im)).unzip();
                in_order([real, imaginary])
            }
        }
    }

    /// The largest multiple of q_0 after the mod-raise, and the stages.
    fn compare(&self, settings: &Bootstrap, message: &[Complex64]) -> (f64, Vec<StageBits>) {
        let set = self.client.set();
        let sine = set.bootstrap_sine(settings);
        let q0: f64 = set.level_moduli(1).iter().map(|&modulus| modulus as f64).product();
        let scale = f64::from(settings.scale_bits).exp2();
        let lowered = self.generated.scales.get("lowered").map(Scale::to_f64);
        // An integer brings the message next to q_0/2^r.
        let ratio = q0 / lowered.unwrap_or(scale);
        let ratio = ratio / (ratio / f64::from(settings.message_ratio_bits).exp2()).round().max(1.0);
        // The message of coefficients over q_0: as they are, and without their multiples of q_0.
        let finished = |t: &[f64]| self.message_of(t.iter().map(|t| t * ratio).collect());
        let exact = |t: &[f64]| self.message_of(t.iter().map(|t| (t - t.round()) * ratio).collect());
        let reduced = |t: &[f64]| self.message_of(t.iter().map(|&t| sine.reduce(t) * ratio).collect());

        let encrypted = slots(self.coefficients("ct", scale, self.gap).into_iter());
        let raised = self.coefficients("raised", q0, self.gap);
        let range = f64::from(settings.range);
        let part = |name| self.slots(name, 1).iter().map(|slot| slot.re * range).collect();
        let (parts, sines) = if self.gap > 1 {
            let halves = |slots: Vec<f64>| {
                let (real, imaginary) = slots[..2 * message.len()].split_at(message.len());
                in_order([real.to_vec(), imaginary.to_vec()])
            };
            (halves(part("packed")), halves(self.slots("reduced", 1).iter().map(|slot| slot.re).collect()))
        } else {
            let (real, imaginary) = self.slots("reduced", 1).iter().map(|slot| (slot.re, slot.im)).unzip();
            (in_order(["real", "imaginary"].map(part)), in_order([real, imaginary]))
        };

        let coefficients = self.coefficients_of(message).into_iter().map(|x| x / ratio);
        let model: Vec<f64> = raised.iter().zip(coefficients).map(|(t, x)| (t - x).round() + x).collect();
        let [before, after] = [exact(&model), reduced(&model)];
        let given = match lowered {
            None => encrypted.clone(),
            Some(scale) => self.message_of(self.coefficients("lowered", scale, self.gap)),
        };
        let is_corrected = self.ciphertexts.contains_key("first");
        let once = self.slots(if is_corrected { "first" } else { "boot" }, self.gap);
        let mut stages = vec![("encryption", message.to_vec(), encrypted.clone(), &before)];
        if lowered.is_some() {
            stages.push(("slot-to-coeff", encrypted, given.clone(), &before));
        }
        stages.extend([
            ("mod-raise", given, exact(&raised), &before),
            ("coeff-to-slot", exact(&raised), exact(&parts), &before),
            ("eval-mod", reduced(&parts), finished(&sines), &after),
            (if lowered.is_some() { "join" } else { "slot-to-coeff" }, finished(&sines), once, &after),
        ]);
        if is_corrected {
            stages.push(("meta-bootstrap", message.to_vec(), self.slots("boot", self.gap), &before));
        }
        let overflow = raised.iter().fold(0.0, |most: f64, t| most.max(t.round().abs()));
        let bits = |(name, given, found, model): (_, Vec<_>, Vec<_>, &Vec<_>)| StageBits {
            name,
            alone: Bits::of(&found, &given),
            left: Bits::of(&found, message),
            model: Bits::of(model, message),
        };
        (overflow, stages.into_iter().map(bits).collect())
    }
}

/// The coefficients whose lower and upper halves are in slots, in bit-reversed order.
fn in_order(halves: [Vec<f64>; 2]) -> Vec<f64> {
    let slots = halves[0].len();
    let mut coefficients = vec![0.0; 2 * slots];
    for (half, values) in halves.into_iter().enumerate() {
        for (slot, value) in values.into_iter().enumerate() {
            coefficients[half * slots + bits::bit_reverse(slot, slots.ilog2())] = value;
        }
    }
    coefficients
}
