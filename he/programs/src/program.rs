//! Programs, and their generation.

mod bootstrap;
mod digits;
mod hmult;
mod hoisted_rotations;
mod hrot;
mod keyswitch;
mod layers;
mod logistic_regression;
mod rescale;
mod resnet20;

use crate::circuit::{Circuit, Generated, Setup};
use crate::option::{COMMON, DATAFLOW, LEVELS_OUT, OptionSpec, Options, TILE};
use crate::{Error, ParameterSet};
use ring_program::RingProgram;
use std::sync::OnceLock;

/// A generator of programs: a value, so that users have their own.
///
/// ```
/// use programs::option::LAYERS;
/// use programs::{Circuit, Error, Generator, Options};
///
/// /// Powers x^2, x^4, ..
/// pub const POWERS: Generator = Generator {
///     name: "powers",
///     definition: "y.0, y.1 is x.0, x.1 to the power of two with the exponent `layers`",
///     options: &[&LAYERS],
///     defaults: &["layers=2"],
///     emit,
/// };
///
/// fn emit(c: &mut Circuit, options: &Options) -> Result<(), Error> {
///     let mut x = c.input("x")?;
///     for _ in 0..options.count("layers").unwrap_or(1) {
///         x = c.product(&x, &x)?;
///     }
///     c.output("y", &x)
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Generator {
    /// The name on the command line.
    pub name: &'static str,
    /// Inputs, outputs and meaning, in one line.
    pub definition: &'static str,
    /// Its own options; all take [`COMMON`] too.
    pub options: &'static [&'static OptionSpec],
    /// Its own defaults, such as `slots=16`.
    pub defaults: &'static [&'static str],
    /// Emits inputs, lines and outputs. The options have the defaults.
    pub emit: fn(&mut Circuit, &Options) -> Result<(), Error>,
}

impl Generator {
    /// All options that it takes.
    pub fn all_options(&self) -> impl Iterator<Item = &'static OptionSpec> {
        COMMON.iter().chain(self.options).copied()
    }

    /// Options with the program's own defaults where they give nothing.
    pub fn with_defaults(&self, options: &Options) -> Options {
        let mut all = options.clone();
        for text in self.defaults {
            let (name, value) = text.split_once('=').expect("a default is an assignment");
            if options.text(name).is_none() {
                all.set(name, value);
            }
        }
        all
    }

    /// Checks that the program takes all options and allows their values.
    ///
    /// # Errors
    /// Returns the first option that it does not take, or whose value it does not allow.
    pub fn check(&self, options: &Options) -> Result<(), Error> {
        for (name, value) in options.iter() {
            let Some(option) = self.all_options().find(|option| option.name == name) else {
                return Err(Error::Option { program: self.name.to_owned(), option: name.to_owned() });
            };
            option.check(value).map_err(|reason| Error::OptionValue { option: name.to_owned(), reason })?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The programs of this crate.
const BUILT_IN: &[Generator] = &[
    keyswitch::KEY_SWITCH,
    hmult::PRODUCT,
    hrot::ROTATION,
    rescale::RESCALE,
    hoisted_rotations::HOISTED_ROTATIONS,
    layers::LAYERS_OF_MATRICES,
    bootstrap::BOOTSTRAP,
    digits::DIGITS,
    logistic_regression::LOGISTIC_REGRESSION,
    logistic_regression::HELR,
    resnet20::RESNET_20,
];

/// The programs that a user adds.
static ADDED: OnceLock<&'static [Generator]> = OnceLock::new();

/// Adds programs to those that commands, sweeps and explorations know by their names: once, before anything
/// asks for them.
///
/// # Errors
/// Returns an error if a program has the name of another one, or if programs were added or asked for before.
pub fn add_programs(programs: &'static [Generator]) -> Result<(), Error> {
    for (index, program) in programs.iter().enumerate() {
        if BUILT_IN.iter().chain(&programs[..index]).any(|known| known.name == program.name) {
            return Err(Error::KnownProgram { program: program.name.to_owned() });
        }
    }
    ADDED.set(programs).map_err(|_| Error::LateProgram { program: programs[0].name.to_owned() })
}

/// All programs: those of this crate, then those that were added.
pub fn all_programs() -> impl Iterator<Item = &'static Generator> + Clone {
    BUILT_IN.iter().chain(*ADDED.get_or_init(|| &[]))
}

/// The options of all programs, each once and with the programs that take it; none for an option that all
/// take.
pub fn all_options() -> Vec<(&'static OptionSpec, Vec<&'static str>)> {
    let mut all: Vec<_> = COMMON.iter().map(|option| (*option, Vec::new())).collect();
    for program in all_programs() {
        for option in program.options {
            match all.iter_mut().find(|(known, _)| known.name == option.name) {
                Some((_, programs)) => programs.push(program.name),
                None => all.push((option, vec![program.name])),
            }
        }
    }
    all
}

/// The program with this name.
pub fn find_program(name: &str) -> Option<Generator> {
    all_programs().copied().find(|program| program.name == name)
}

/// Generates a program for a parameter set.
///
/// Inputs and outputs are values in bit-reversed order, with a limb for each modulus in use. Limbs of keys
/// have the moduli of the highest level.
///
/// # Errors
/// Returns an error if the set lacks the level, or the program does not have one of the options.
pub fn generate(program: &Generator, set: &ParameterSet, options: &Options) -> Result<RingProgram, Error> {
    Ok(generate_defined(program, set, options)?.program)
}

/// As [`generate`], with what the inputs are, the scales of the outputs, and the counts by stage.
///
/// # Errors
/// Returns an error if the set lacks the level, or the program does not have one of the options.
pub fn generate_defined(
    program: &Generator,
    set: &ParameterSet,
    options: &Options,
) -> Result<Generated, Error> {
    program.check(options)?;
    let leaving = options.count(LEVELS_OUT.name).map(|left| set.leaving(left)).transpose()?;
    let set = leaving.as_ref().unwrap_or(set);
    let setup = Setup { level: options.level(), dataflow: options.dataflow(), tile: options.tile() };
    let mut circuit = Circuit::with_setup(program.name, set, setup)?;
    (program.emit)(&mut circuit, &program.with_defaults(options))?;
    circuit.room()?;
    let generated = circuit.finish();
    if generated.ledger.total().keys.is_empty() {
        no_effect(program, options, &[&DATAFLOW, &TILE], "has no key switch")?;
    }
    Ok(generated)
}

/// Refuses some of the options, but for those that are the program's defaults.
fn no_effect(
    program: &Generator,
    given: &Options,
    options: &[&OptionSpec],
    reason: &'static str,
) -> Result<(), Error> {
    let is_default = |name: &str, value: &str| program.defaults.contains(&&*format!("{name}={value}"));
    match options
        .iter()
        .find(|option| given.text(option.name).is_some_and(|value| !is_default(option.name, value)))
    {
        None => Ok(()),
        Some(option) => {
            Err(Error::NoEffect { program: program.name.to_owned(), option: option.name, reason })
        }
    }
}

/// A program in one line: its name, its parameters and the order of its key switches.
pub fn title(program: &Generator, set: &ParameterSet, options: &Options) -> String {
    let (n, level) = (set.degree().get(), options.level().unwrap_or(set.levels()));
    format!(
        "{} of the set {}, n = {n}, level {level}, dataflow {}",
        program.name,
        set.name(),
        options.dataflow().name
    )
}

/// A comment for the head of a program's text: what it is, and the origin of its parameters.
pub fn comment(program: &Generator, set: &ParameterSet, options: &Options) -> String {
    let level = options.level().unwrap_or(set.levels()).clamp(1, set.levels());
    let mut text = format!("{}: {}\n", program.name, program.definition);
    text += &format!(
        "set {}: n = {}, {} of {} moduli q, {} special moduli, {} digits; dataflow {}\n",
        set.name(),
        set.degree().get(),
        set.level_moduli(level).len(),
        set.q().len(),
        set.p().len(),
        set.digits(),
        options.dataflow().name
    );
    text += &format!("{}\n", set.parameters());
    if let Some(failure) = set.bootstrap_failure().filter(|_| program.name == bootstrap::BOOTSTRAP.name) {
        text += &format!("{failure}\n");
    }
    for (key, source) in set.sources() {
        text += &format!("  {key}: {source}\n");
    }
    text
}
