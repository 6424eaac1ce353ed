//! Parts of a program that are emitted once and called several times.

use super::{Ciphertext, Circuit, Ledger};
use crate::Error;
use crate::base::{Extended, Tower};
use crate::definition::Definition;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use ring_program::{FunctionIndex, Limb};
use std::collections::BTreeMap;

/// The name of a function, and the levels, components and scales of its arguments.
pub(super) type Signature = (String, Vec<(usize, usize, Scale)>);

/// The source of a function's plaintexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plaintexts<'n> {
    /// All calls have the same, whose names begin with this prefix.
    Shared(&'n str),
    /// Each call has its own, whose names begin with this prefix.
    Own(&'n str),
}

/// A call whose function is under construction.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// What names of plaintexts begin with.
    pub(super) prefix: String,
    pub(super) plaintexts: Vec<Declared>,
}

/// A plaintext of a function.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// The name without the prefix.
    pub(super) local: String,
    pub(super) definition: Definition,
    /// In the first call.
    pub(super) limbs: Extended,
}

/// A part of a program.
#[derive(Clone, Debug)]
pub(super) struct Function {
    index: FunctionIndex,
    /// The limbs of inputs that it reads beside its arguments, in the first call.
    captured: Vec<Limb>,
    plaintexts: Vec<Declared>,
    /// The levels and the scales of its results.
    results: Vec<(usize, Scale)>,
    ledger: Ledger,
}

impl Circuit {
    /// Calls a function, which `emit` makes from its arguments at the first call with this name, and with
    /// arguments of these levels and scales. It begins a stage. All lines of a program with functions are in
    /// functions.
    ///
    /// # Errors
    /// Returns the error of `emit`, or one if the program is too long.
    pub(crate) fn call(
        &mut self,
        name: &str,
        plaintexts: Plaintexts<'_>,
        arguments: &[&Ciphertext],
        emit: impl FnOnce(&mut Self, &[Ciphertext]) -> Result<Ciphertext, Error>,
    ) -> Result<Ciphertext, Error> {
        let [result] = self.call_with(name, plaintexts, arguments, |c, x| Ok([emit(c, x)?]))?;
        Ok(result)
    }

    /// As [`call`](Self::call), for a function of several results of two components.
    ///
    /// # Errors
    /// Returns the error of `emit`, or one if the program is too long.
    pub(crate) fn call_with<const RESULTS: usize>(
        &mut self,
        name: &str,
        plaintexts: Plaintexts<'_>,
        arguments: &[&Ciphertext],
        emit: impl FnOnce(&mut Self, &[Ciphertext]) -> Result<[Ciphertext; RESULTS], Error>,
    ) -> Result<[Ciphertext; RESULTS], Error> {
        let shape = |x: &&Ciphertext| (x.level(), x.components.len(), x.scale.clone());
        let signature: Signature = (name.to_owned(), arguments.iter().map(shape).collect());
        let limbs: Vec<Limb> = arguments.iter().flat_map(|x| given(x)).collect();
        let prefix = match plaintexts {
            Plaintexts::Shared(prefix) | Plaintexts::Own(prefix) => prefix.to_owned(),
        };
        let (function, renamed) = match self.functions.get(&signature) {
            None => {
                let function = self.function(&signature, prefix, emit)?;
                self.functions.insert(signature, function.clone());
                (function, BTreeMap::new())
            }
            Some(function) => {
                let function = function.clone();
                let renamed = match plaintexts {
                    Plaintexts::Shared(_) => BTreeMap::new(),
                    Plaintexts::Own(_) => self.renamed(&function, &prefix),
                };
                (function, renamed)
            }
        };
        self.ledger.add(&function.ledger);
        let captured = function.captured.iter().map(|limb| renamed.get(limb).unwrap_or(limb));
        let arguments = limbs.into_iter().chain(captured.copied()).collect();
        let mut limbs = self.emitter.call(function.index, arguments).into_iter();
        self.room()?;
        let base = self.emitter.base();
        let mut component =
            |level: usize| base.at(level).q().into_iter().zip(limbs.by_ref()).collect::<Extended>();
        Ok(std::array::from_fn(|index| {
            let (level, scale) = function.results[index].clone();
            Ciphertext::new(vec![component(level), component(level)], level, scale)
        }))
    }

    /// The plaintexts of another call, by the limbs of those of the first.
    fn renamed(&mut self, function: &Function, prefix: &str) -> BTreeMap<Limb, Limb> {
        let mut renamed = BTreeMap::new();
        for Declared { local, definition, limbs } in &function.plaintexts {
            let towers: Vec<Tower> = limbs.keys().copied().collect();
            let new = self.declare(format!("{prefix}{local}"), &towers, definition.clone());
            renamed.extend(limbs.values().copied().zip(new.into_values()));
        }
        renamed
    }

    /// Emits the lines of a function.
    fn function<const RESULTS: usize>(
        &mut self,
        (name, shapes): &Signature,
        prefix: String,
        emit: impl FnOnce(&mut Self, &[Ciphertext]) -> Result<[Ciphertext; RESULTS], Error>,
    ) -> Result<Function, Error> {
        let before = self.emitter.transforms();
        self.ledger.finish(before);
        let outer = std::mem::replace(&mut self.ledger, Ledger::begin_at(before));
        self.scope = Some(Scope { prefix, plaintexts: Vec::new() });
        let base = self.emitter.base().clone();
        let towers = |level: &usize| base.at(*level).q();
        let count = shapes.iter().map(|(level, components, _)| towers(level).len() * components).sum();
        let parameters = self.emitter.begin_function(count);
        let mut limbs = parameters.iter().copied();
        let argument = |(level, components, scale): &(usize, usize, Scale)| {
            let component = |_| towers(level).into_iter().zip(limbs.by_ref()).collect();
            Ciphertext::new((0..*components).map(component).collect(), *level, scale.clone())
        };
        let arguments: Vec<Ciphertext> = shapes.iter().map(argument).collect();
        let results = emit(self, &arguments)?.map(|result| self.relinearised(result));
        let components = results.iter().flat_map(|result| &result.components);
        let limbs: Vec<Limb> =
            components.flat_map(|component| component.limbs(&mut self.emitter).into_values()).collect();
        self.room()?;
        let scope = self.scope.take().expect("the call has begun");
        let others = self.functions.keys().filter(|(known, _)| known == name).count();
        let name = if others == 0 { name.clone() } else { format!("{name}.{others}") };
        let (index, captured) = self.emitter.end_function(&name, &parameters, &limbs);
        let after = self.emitter.transforms();
        let mut ledger = std::mem::replace(&mut self.ledger, outer);
        ledger.finish(after);
        self.ledger.skip_to(after);
        let results = results.map(|result| (result.level(), result.scale)).to_vec();
        Ok(Function { index, captured, plaintexts: scope.plaintexts, results, ledger })
    }
}

/// The limbs of a ciphertext that is an input or the result of a call.
fn given(x: &Ciphertext) -> Vec<Limb> {
    let limbs = |component: &Polynomial| match component {
        Polynomial::Limbs(limbs) => limbs.values().copied().collect::<Vec<_>>(),
        Polynomial::Products(_) => unreachable!("results of calls are computed"),
    };
    x.components.iter().flat_map(limbs).collect()
}
