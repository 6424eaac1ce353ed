//! Programs, and their generation.

mod hmult;
mod hoisted_rotations;
mod hrot;
mod keyswitch;
mod layers;
mod rescale;

use crate::dataflow::{Dataflow, find_dataflow};
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::switch::{Key, Switch};
use crate::{Error, ParameterSet};
use ring_program::{Limb, RingProgram};
use std::num::NonZeroUsize;

/// When a product is divided by its last modulus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rescale {
    /// Together with the special moduli, in the mod-down of the key switch.
    #[default]
    Merged,
    /// After the key switch. The product before it is an output too.
    Separate,
    /// Not at all.
    None,
}

/// The options of programs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of moduli q in use; all by default.
    pub level: Option<usize>,
    /// The order of key switches.
    pub dataflow: Dataflow,
    /// The output limbs of a tile, for dataflows with tiles.
    pub tile: Option<NonZeroUsize>,
    /// The rotations in slots, for programs that rotate. Negative ones go the other way.
    pub rotations: Option<Vec<i64>>,
    /// The rescale of products.
    pub rescale: Option<Rescale>,
    /// The layers of a program with layers; by default as many as the moduli allow.
    pub layers: Option<usize>,
}

impl Default for Options {
    /// The dataflow `oc`, and the defaults of the program.
    fn default() -> Self {
        let dataflow = find_dataflow("oc").expect("a dataflow");
        Self { level: None, dataflow, tile: None, rotations: None, rescale: None, layers: None }
    }
}

/// A generator of programs.
#[derive(Clone, Copy)]
pub struct Generator {
    /// The name on the command line.
    pub name: &'static str,
    /// Inputs, outputs and meaning, in one line.
    pub definition: &'static str,
    /// Whether the program rotates.
    pub rotates: bool,
    /// Whether the program rescales a product.
    pub rescales_products: bool,
    /// Whether the program has layers.
    pub has_layers: bool,
    /// Emits inputs, lines and outputs.
    emit: fn(&mut Emitter, &Options) -> Result<(), Error>,
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
    let refused = [
        ("rotations", options.rotations.is_some() && !program.rotates),
        ("rescale", options.rescale.is_some() && !program.rescales_products),
        ("layers", options.layers.is_some() && !program.has_layers),
    ];
    if let Some(&(option, _)) = refused.iter().find(|(_, is_refused)| *is_refused) {
        return Err(Error::Option { program: program.name, option });
    }
    if options.tile.is_some() && !options.dataflow.has_tiles {
        return Err(Error::Tile { dataflow: options.dataflow.name });
    }
    let mut emitter = Emitter::new(set.base(options.level)?);
    (program.emit)(&mut emitter, options)?;
    Ok(emitter.finish())
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
    for (key, source) in set.sources() {
        text += &format!("  {key}: {source}\n");
    }
    text
}

/// Switches `input` with `keys` in the order of the dataflow. Returns two polynomials for each key.
fn switch(
    e: &mut Emitter,
    input: Polynomial,
    keys: Vec<Key>,
    rescales: bool,
    options: &Options,
) -> Vec<[Vec<Limb>; 2]> {
    let mut switch = Switch::new(e, input, keys, rescales);
    options.dataflow.run(&mut switch, options.tile);
    switch.results()
}

/// The exponent 5^rotation mod 2n of the automorphism that rotates slots.
fn exponent(e: &Emitter, rotation: i64) -> Result<u32, Error> {
    let n = e.base().ring(crate::base::Tower(0)).degree().get();
    let slots = n / 2;
    if rotation == 0 || rotation.unsigned_abs() >= slots {
        return Err(Error::Rotation { rotation, slots });
    }
    let steps = rotation.rem_euclid(slots as i64);
    let exponent = (0..steps).fold(1, |power: u64, _| power * 5 % (2 * n));
    Ok(exponent as u32)
}
