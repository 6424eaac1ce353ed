//! Programs from operations on ciphertexts.
//!
//! A [`Circuit`] emits the lines of each operation, declares the keys that it needs, and keeps a [`Ledger`].
//! A [`Ciphertext`] knows its level and its exact scale, so that operations refuse operands that do not fit,
//! by their names.
//!
//! * **Products** have three components until an operation needs two: a rotation, a product, a rescale. So
//!   sums of products cost one key switch. [`Circuit::relinearise`] asks for it at once.
//! * **Scales** are rational numbers. The summand of a higher level takes the other one's scale, which costs
//!   nothing; summands of one level and of different scales are an error.
//! * **Levels**: a level is a list of moduli. A rescale takes a ciphertext to the level below: it divides by
//!   the moduli that this one lacks, and multiplies by those that only it has. The operand of a higher level
//!   drops moduli, or is rescaled if a lower level has one that it lacks.
//!
//! ```
//! use programs::{Circuit, ParameterSet};
//!
//! let set = ParameterSet::built_in("ark", Some(1024)).unwrap()?;
//! let mut c = Circuit::new("dot-product", &set);
//! let x = c.input("x")?;
//! let w = c.factor("w", &x, None);
//! let product = c.multiply_plaintext(&x, &w)?;
//! let mut sum = c.rescale(&product)?;
//! for step in [1, 2, 4] {
//!     let rotated = c.rotate(&sum, step)?;
//!     sum = c.add(&sum, &rotated)?;
//! }
//! let square = c.product(&sum, &sum)?;
//! c.output("y", &square)?;
//! let generated = c.finish();
//! assert_eq!(generated.ledger.total().automorphisms, 3);
//! assert_eq!(generated.program.outputs()[0].name, "y.0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arithmetic;
mod bootstrap;
mod chebyshev;
mod function;
mod interface;
mod key_switches;
mod ledger;
mod linear;

pub use bootstrap::{BootstrapOptions, Bootstrapping};
pub(crate) use chebyshev::{polynomial, scaled_polynomial};
pub(crate) use function::Plaintexts;
pub use linear::Diagonals;
pub(crate) use linear::{LinearTransform, ModDowns, Plan};

use crate::base::{Extended, Step};
use crate::dataflow::Dataflow;
use crate::definition::{Definition, Input, SwitchingKey};
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use crate::switch::KeyLimbs;
use crate::{Error, ParameterSet};
pub use ledger::{Ledger, Stage};
use ring_program::{Parameters, RegionKind, RingProgram};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// A ciphertext of a circuit: polynomials c_0, c_1 and, as long as a product is only added, c_2.
///
/// # Panics
/// The operations of another circuit may panic, or take another ciphertext for it.
#[derive(Clone, Debug)]
pub struct Ciphertext {
    components: Vec<Polynomial>,
    level: usize,
    pub(crate) scale: Scale,
}

impl Ciphertext {
    /// Its level, from 1. In sets whose levels have one modulus each, it is the number of its moduli.
    pub fn level(&self) -> usize {
        self.level
    }

    /// What its slots are multiplied by.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Whether it is a product of three components.
    pub fn is_product(&self) -> bool {
        self.components.len() > 2
    }

    /// The ciphertext with another reading of its slots: what was m is m times the old scale over the new
    /// one.
    pub fn with_scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    fn new(components: Vec<Extended>, level: usize, scale: Scale) -> Self {
        Self { components: components.into_iter().map(Polynomial::Limbs).collect(), level, scale }
    }
}

/// A plaintext: limbs of q, and of p if it is a factor before a mod-down.
#[derive(Clone, Debug)]
pub struct Plaintext {
    limbs: Extended,
    scale: Scale,
}

impl Plaintext {
    /// What its slots are multiplied by.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }
}

/// How a circuit begins.
#[derive(Clone, Copy, Default, Debug)]
pub struct Setup {
    /// The highest level; all moduli of the set by default.
    pub level: Option<usize>,
    /// The order of key switches.
    pub dataflow: Dataflow,
    /// The output limbs of a tile, for dataflows with tiles.
    pub tile: Option<NonZeroUsize>,
}

/// A program under construction.
#[derive(Clone, Debug)]
pub struct Circuit {
    pub(crate) set: Arc<ParameterSet>,
    setup: Setup,
    program: Arc<str>,
    emitter: Emitter,
    keys: BTreeMap<SwitchingKey, Arc<KeyLimbs>>,
    /// The names of the keys in inputs.
    key_names: BTreeMap<SwitchingKey, String>,
    inputs: Vec<Input>,
    scales: BTreeMap<String, Scale>,
    /// By name.
    plaintexts: BTreeMap<String, (Plaintext, Definition)>,
    outputs: BTreeSet<String>,
    functions: BTreeMap<function::Signature, function::Function>,
    /// The call in whose function further lines are.
    scope: Option<function::Scope>,
    ledger: Ledger,
}

/// A program with what its generator knows of it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The parameter set: that of the circuit, whose moduli may be fewer than those of the set that the user
    /// named.
    pub set: ParameterSet,
    /// The program.
    pub program: RingProgram,
    /// What its inputs are, in the order of the program.
    pub inputs: Vec<Input>,
    /// The scales of the ciphertexts among its outputs, by name without the component.
    pub scales: BTreeMap<String, Scale>,
    /// Its transforms, key switches and keys, by stage.
    pub ledger: Ledger,
}

impl Circuit {
    /// An empty circuit at the highest level of a set. The name is for errors.
    pub fn new(program: impl Into<Arc<str>>, set: &ParameterSet) -> Self {
        Self::with_setup(program, set, Setup::default()).expect("the highest level, without tiles")
    }

    /// An empty circuit.
    ///
    /// # Errors
    /// Returns an error if the set lacks the level, the level does not hold the plaintexts of BGV, or the
    /// dataflow has no tiles.
    pub fn with_setup(program: impl Into<Arc<str>>, set: &ParameterSet, setup: Setup) -> Result<Self, Error> {
        if setup.tile.is_some() && !setup.dataflow.has_tiles {
            return Err(Error::Tile { dataflow: setup.dataflow.name });
        }
        let circuit = Self {
            emitter: Emitter::new(set.base(setup.level)?, set.parameters()),
            set: Arc::new(set.clone()),
            setup,
            program: program.into(),
            keys: BTreeMap::new(),
            key_names: BTreeMap::new(),
            inputs: Vec::new(),
            scales: BTreeMap::new(),
            plaintexts: BTreeMap::new(),
            outputs: BTreeSet::new(),
            functions: BTreeMap::new(),
            scope: None,
            ledger: Ledger::default(),
        };
        circuit.holds_plaintexts(circuit.level())?;
        Ok(circuit)
    }

    /// The parameter set.
    pub fn set(&self) -> &ParameterSet {
        &self.set
    }

    /// The name of the program.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Declares the slots of a bootstrap's message times the levels that the program leaves it.
    pub(crate) fn declare_slot_levels(&mut self, slot_levels: usize) {
        let slot_levels = Some(slot_levels as u64).filter(|&count| count > 0);
        self.emitter.declare(Parameters { slot_levels, ..self.set.parameters() });
    }

    /// The program, with what its generator knows of it.
    pub fn finish(mut self) -> Generated {
        self.ledger.finish(self.emitter.transforms());
        let degree = self.set.degree();
        let keys = self.key_names.iter().map(|(key, name)| (name.clone(), key.purpose(degree))).collect();
        Generated {
            set: Arc::unwrap_or_clone(self.set),
            program: self.emitter.finish(keys),
            inputs: self.inputs,
            scales: self.scales,
            ledger: self.ledger,
        }
    }

    /// The highest level of the circuit.
    pub fn level(&self) -> usize {
        self.emitter.base().level()
    }

    /// The level of messages: what a bootstrap leaves of the circuit's level, or all of it in a set without
    /// one.
    pub fn message_level(&self) -> usize {
        let depth = self.set.bootstrap().map_or(0, |bootstrap| bootstrap.depth());
        self.level().saturating_sub(depth).max(1)
    }

    /// The scale of messages: the set's, or what a rescale at their level divides by in a set without a
    /// bootstrap.
    pub fn message_scale(&self) -> Scale {
        match self.set.bootstrap() {
            Some(bootstrap) => Scale::power_of_two(bootstrap.scale_bits),
            None => self.divisor(self.message_level()),
        }
    }

    /// Refuses a program that is too long.
    pub(crate) fn room(&self) -> Result<(), Error> {
        match self.emitter.full() {
            Some(reason) => {
                Err(Error::TooLong { program: self.program.to_string(), reason: reason.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Refuses a level at which the program cannot use up `depth` moduli and leave some.
    pub(crate) fn needs_levels(&self, depth: usize, left: usize) -> Result<(), Error> {
        let (needed, level) = (depth + left, self.level());
        if level >= needed {
            return Ok(());
        }
        let set = self.set.name().to_owned();
        Err(Error::NoRoom { set, program: self.program.to_string(), needed, left, level })
    }

    /// Refuses a set of BGV: for bootstraps, and for plaintexts of numbers that are no integers.
    pub(crate) fn needs_ckks(&self) -> Result<(), Error> {
        let Some(t) = self.set.plaintext_modulus() else { return Ok(()) };
        Err(Error::Bgv { program: self.program.to_string(), set: self.set.name().to_owned(), t: t as u64 })
    }

    /// Refuses a level whose moduli do not hold a plaintext of BGV.
    pub(crate) fn holds_plaintexts(&self, level: usize) -> Result<(), Error> {
        let base = self.emitter.base().at(level);
        let (product, t) = (base.product_of(&base.q()), base.t);
        if product > t.into() {
            return Ok(());
        }
        let (set, bits) = (self.set.name().to_owned(), product.bits() - 1);
        Err(Error::Plaintexts { set, level, bits, t: t as u64 })
    }

    /// The number of slots; an error if there are fewer than `needed`.
    pub(crate) fn slots(&self, needed: usize) -> Result<usize, Error> {
        let slots = self.set.degree().len() / 2;
        if slots >= needed {
            Ok(slots)
        } else {
            Err(Error::Slots { program: self.program.to_string(), needed, slots })
        }
    }

    /// The product of the moduli of a level, as a scale.
    ///
    /// # Panics
    /// Panics if the circuit has no such level.
    pub fn modulus(&self, level: usize) -> Scale {
        let base = self.emitter.base().at(level);
        Scale::product(&base.product_of(&base.q()))
    }

    /// What the next rescale of a ciphertext at a level divides by: the product of the level's moduli over
    /// the product of the moduli of the level below. At level 1, the product of its moduli.
    ///
    /// # Panics
    /// Panics if the circuit has no such level.
    pub fn divisor(&self, level: usize) -> Scale {
        if level == 1 { self.modulus(1) } else { self.divisor_to(level, level - 1) }
    }

    /// What a rescale from a level to a lower one divides by.
    pub(crate) fn divisor_to(&self, level: usize, lower: usize) -> Scale {
        let base = self.emitter.base().at(level);
        let Step { dropped, added } = base.step(lower);
        Scale::product(&base.product_of(&dropped)).over(&Scale::product(&base.product_of(&added)))
    }

    /// Counts what follows under this name, and names its lines.
    pub fn stage(&mut self, name: impl Into<Arc<str>>, level: usize) {
        let name = name.into();
        self.ledger.begin(name.clone(), level, self.emitter.transforms());
        self.emitter.stage(name);
    }

    /// What `emit` does, as the lines of a stage inside the others.
    pub fn in_stage<T>(&mut self, name: impl Into<Arc<str>>, emit: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(RegionKind::Stage, name, emit)
    }

    /// What `emit` does, as the lines of an operation, or of a part of the operation around it.
    pub(super) fn in_operation<T>(
        &mut self,
        name: impl Into<Arc<str>>,
        emit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.scoped(RegionKind::Operation, name, emit)
    }

    fn scoped<T>(
        &mut self,
        kind: RegionKind,
        name: impl Into<Arc<str>>,
        emit: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let scope = self.emitter.open(kind, name);
        let result = emit(self);
        self.emitter.close(scope);
        result
    }
}
