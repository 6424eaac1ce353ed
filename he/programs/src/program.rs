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

use crate::circuit::{Circuit, Generated};
use crate::option::{OPTIONS, OptionSpec, Options};
use crate::{Error, ParameterSet};
use ring_program::RingProgram;

/// A generator of programs.
#[derive(Clone, Copy)]
pub struct Generator {
    /// The name on the command line.
    pub name: &'static str,
    /// Inputs, outputs and meaning, in one line.
    pub definition: &'static str,
    /// The names of the [`OPTIONS`](crate::OPTIONS) that this program takes and not all others do.
    pub options: &'static [&'static str],
    /// Its own defaults, such as `slots=16`.
    pub defaults: &'static [&'static str],
    /// Emits inputs, lines and outputs.
    emit: fn(&mut Circuit<'_>) -> Result<(), Error>,
}

impl OptionSpec {
    /// Whether a program takes it.
    pub fn is_of(&self, program: &Generator) -> bool {
        self.is_common || program.options.contains(&self.name)
    }

    /// The programs that take it.
    pub fn programs(&self) -> impl Iterator<Item = &'static Generator> {
        PROGRAMS.iter().filter(|program| self.is_of(program))
    }
}

impl Generator {
    /// Options with the program's own defaults where they give nothing.
    pub fn with_defaults(&self, options: &Options) -> Options {
        let mut all = options.clone();
        for text in self.defaults {
            let (name, value) = text.split_once('=').expect("a default is an assignment");
            let option = OPTIONS.iter().find(|option| option.name == name).expect("a default is an option");
            if !(option.given)(options) {
                option.set(&mut all, value).expect("a default is a value of its option");
            }
        }
        all
    }
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// All programs.
pub const PROGRAMS: &[Generator] = &[
    keyswitch::KEY_SWITCH,
    hmult::PRODUCT,
    hrot::ROTATION,
    rescale::RESCALE,
    hoisted_rotations::HOISTED_ROTATIONS,
    layers::LAYERS,
    bootstrap::BOOTSTRAP,
    digits::DIGITS,
    logistic_regression::LOGISTIC_REGRESSION,
    logistic_regression::HELR,
    resnet20::RESNET_20,
];

/// The program with this name.
pub fn find_program(name: &str) -> Option<Generator> {
    PROGRAMS.iter().copied().find(|program| program.name == name)
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
    if let Some(option) = OPTIONS.iter().find(|option| (option.given)(options) && !option.is_of(program)) {
        return Err(Error::Option { program: program.name, option: option.name });
    }
    if options.tile.is_some() && !options.dataflow.has_tiles {
        return Err(Error::Tile { dataflow: options.dataflow.name });
    }
    let options = &program.with_defaults(options);
    let mut circuit = Circuit::new(program.name, set, options)?;
    (program.emit)(&mut circuit)?;
    Ok(circuit.finish())
}

/// A program in one line: its name, its parameters and the order of its key switches.
pub fn title(program: &Generator, set: &ParameterSet, options: &Options) -> String {
    let (n, level) = (set.degree().get(), options.level.unwrap_or(set.levels()));
    format!(
        "{} of the set {}, n = {n}, level {level}, dataflow {}",
        program.name,
        set.name(),
        options.dataflow.name
    )
}

/// A comment for the head of a program's text: what it is, and the origin of its parameters.
pub fn comment(program: &Generator, set: &ParameterSet, options: &Options) -> String {
    let level = options.level.unwrap_or(set.levels());
    let mut text = format!("{}: {}\n", program.name, program.definition);
    text += &format!(
        "set {}: n = {}, {} of {} moduli q, {} special moduli, {} digits; dataflow {}\n",
        set.name(),
        set.degree().get(),
        level,
        set.levels(),
        set.p().len(),
        set.digits(),
        options.dataflow.name
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
