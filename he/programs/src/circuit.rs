//! Programs from operations on ciphertexts.
//!
//! A [`Circuit`] emits the lines of each operation, declares the keys that it needs, and keeps a [`Ledger`]. A
//! [`Ciphertext`] knows its level and its scale, so that operations refuse operands that do not fit.

mod function;
mod key_switches;
mod ledger;
mod linear;

pub(crate) use function::Plaintexts;
pub(crate) use linear::{LinearTransform, ModDowns, Plan};

use crate::base::Tower;
use crate::definition::{Definition, Input, KeyPart, SwitchingKey};
use crate::emitter::Emitter;
use crate::option::Options;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use crate::switch::{Extended, KeyLimbs};
use crate::{Error, ParameterSet};
pub use ledger::{Ledger, Stage};
use num_bigint::BigInt;
use ring_program::{Limb, Parameters, RegionKind, RingProgram};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A ciphertext: polynomials c_0, c_1 and, as long as a product is only added, c_2.
#[derive(Clone, Debug)]
pub(crate) struct Ciphertext {
    components: Vec<Polynomial>,
    pub(crate) scale: Scale,
}

impl Ciphertext {
    /// The number of its moduli.
    pub(crate) fn level(&self) -> usize {
        self.components[0].level()
    }

    /// The ciphertext modulo the first `level` moduli.
    pub(crate) fn at(&self, level: usize) -> Self {
        let components = self.components.iter().map(|component| component.truncated(level)).collect();
        Self { components, scale: self.scale.clone() }
    }

    /// The ciphertext with another reading of its slots: what was m is m times a factor.
    pub(crate) fn with_scale(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    fn new(components: Vec<Vec<Limb>>, scale: Scale) -> Self {
        Self { components: components.into_iter().map(Polynomial::Limbs).collect(), scale }
    }
}

/// A plaintext: limbs of q, and of p if it is a factor before a mod-down.
#[derive(Clone, Debug)]
pub(crate) struct Plaintext {
    limbs: Extended,
    scale: Scale,
}

/// A program under construction.
#[derive(Debug)]
pub(crate) struct Circuit<'s> {
    pub(crate) set: &'s ParameterSet,
    pub(crate) options: &'s Options,
    program: &'static str,
    emitter: Emitter,
    keys: BTreeMap<SwitchingKey, Arc<KeyLimbs>>,
    /// The names of the keys in inputs.
    key_names: BTreeMap<SwitchingKey, String>,
    inputs: Vec<Input>,
    scales: BTreeMap<String, Scale>,
    /// By name.
    plaintexts: BTreeMap<String, Plaintext>,
    functions: BTreeMap<function::Signature, function::Function>,
    /// The call in whose function further lines are.
    scope: Option<function::Scope>,
    ledger: Ledger,
}

/// A program with what its generator knows of it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The program.
    pub program: RingProgram,
    /// What its inputs are, in the order of the program.
    pub inputs: Vec<Input>,
    /// The scales of the ciphertexts among its outputs, by name without the component.
    pub scales: BTreeMap<String, Scale>,
    /// Its transforms, key switches and keys, by stage.
    pub ledger: Ledger,
}

impl<'s> Circuit<'s> {
    pub(crate) fn new(
        program: &'static str,
        set: &'s ParameterSet,
        options: &'s Options,
    ) -> Result<Self, Error> {
        Ok(Self {
            set,
            options,
            program,
            emitter: Emitter::new(set.base(options.level)?, set.parameters()),
            keys: BTreeMap::new(),
            key_names: BTreeMap::new(),
            inputs: Vec::new(),
            scales: BTreeMap::new(),
            plaintexts: BTreeMap::new(),
            functions: BTreeMap::new(),
            scope: None,
            ledger: Ledger::default(),
        })
    }

    /// Declares the slots of a bootstrap's message times the levels that the program leaves it.
    pub(crate) fn declare_slot_levels(&mut self, slot_levels: usize) {
        let slot_levels = Some(slot_levels as u64).filter(|&count| count > 0);
        self.emitter.declare(Parameters { slot_levels, ..self.set.parameters() });
    }

    pub(crate) fn finish(mut self) -> Generated {
        self.ledger.finish(self.emitter.transforms());
        let degree = self.set.degree();
        let keys = self.key_names.iter().map(|(key, name)| (name.clone(), key.purpose(degree))).collect();
        Generated {
            program: self.emitter.finish(keys),
            inputs: self.inputs,
            scales: self.scales,
            ledger: self.ledger,
        }
    }

    /// The highest level of the program.
    pub(crate) fn level(&self) -> usize {
        self.emitter.base().level()
    }

    /// Refuses a level at which the program cannot use up `depth` moduli and leave some.
    pub(crate) fn needs_levels(&self, depth: usize, left: usize) -> Result<(), Error> {
        let (needed, level) = (depth + left, self.level());
        if level >= needed {
            return Ok(());
        }
        let set = self.set.name().to_owned();
        Err(Error::NoRoom { set, program: self.program, needed, left, level })
    }

    /// The number of slots; an error if there are fewer than `needed`.
    pub(crate) fn slots(&self, needed: usize) -> Result<usize, Error> {
        let slots = self.set.degree().len() / 2;
        if slots >= needed { Ok(slots) } else { Err(Error::Slots { program: self.program, needed, slots }) }
    }

    /// The modulus q with an index.
    pub(crate) fn modulus(&self, index: usize) -> u128 {
        self.emitter.base().ring(Tower(index)).q()
    }

    /// The modulus that the next rescale of a ciphertext at a level divides by, as a scale.
    pub(crate) fn last_modulus(&self, level: usize) -> Scale {
        Scale::integer(self.modulus(level - 1))
    }

    /// Counts what follows under this name, and names its lines.
    pub(crate) fn stage(&mut self, name: &'static str, level: usize) {
        self.ledger.begin(name, level, self.emitter.transforms());
        self.emitter.stage(name);
    }

    /// What `emit` does, as the lines of a stage inside the others.
    pub(crate) fn in_stage<T>(&mut self, name: impl Into<Arc<str>>, emit: impl FnOnce(&mut Self) -> T) -> T {
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

    /// Declares an input with a limb for each of some towers.
    fn declare(&mut self, name: String, towers: &[Tower], definition: Definition) -> Vec<Limb> {
        let limbs = self.emitter.input(name.clone(), towers);
        let moduli = towers.iter().map(|&tower| self.emitter.base().ring(tower).q()).collect();
        self.inputs.push(Input { name, moduli, definition });
        limbs
    }

    /// Declares the inputs `NAME.0` and `NAME.1` of a ciphertext at the highest level of the program.
    pub(crate) fn input(&mut self, name: &str, scale: Scale) -> Ciphertext {
        self.input_at(name, self.level(), scale)
    }

    /// Declares the inputs `NAME.0` and `NAME.1` of a ciphertext.
    pub(crate) fn input_at(&mut self, name: &str, level: usize, scale: Scale) -> Ciphertext {
        let towers = self.emitter.base().at(level).q();
        let component = |component: usize| {
            let definition = Definition::Ciphertext { component, scale: scale.clone() };
            self.declare(format!("{name}.{component}"), &towers, definition)
        };
        let components = [0, 1].map(component).to_vec();
        Ciphertext::new(components, scale)
    }

    /// Declares the input of a polynomial without meaning, at the highest level of the program.
    pub(crate) fn polynomial(&mut self, name: &str) -> Polynomial {
        let towers = self.emitter.base().q();
        Polynomial::Limbs(self.declare(name.to_owned(), &towers, Definition::Free))
    }

    /// The input of a plaintext, modulo P too if `extended`. It is declared at its first use, at whose level or below it all
    /// others are.
    pub(crate) fn plaintext(
        &mut self,
        name: String,
        (level, extended): (usize, bool),
        scale: Scale,
        definition: Definition,
    ) -> Plaintext {
        let local = name;
        let name = match &self.scope {
            Some(scope) => format!("{}{local}", scope.prefix),
            None => local.clone(),
        };
        if let Some(known) = self.plaintexts.get(&name) {
            let highest = Tower(level - 1);
            assert!(known.scale == scale && known.limbs.contains_key(&highest), "one plaintext for one name");
            return known.clone();
        }
        let base = self.emitter.base().at(level);
        let towers = if extended { base.all() } else { base.q() };
        let limbs = self.declare(name.clone(), &towers, definition.clone());
        if let Some(scope) = &mut self.scope {
            scope.plaintexts.push(function::Declared {
                local,
                towers: towers.clone(),
                definition,
                limbs: limbs.clone(),
            });
        }
        let plaintext = Plaintext { limbs: towers.into_iter().zip(limbs).collect(), scale };
        self.plaintexts.insert(name, plaintext.clone());
        plaintext
    }

    /// Declares the outputs `NAME.0` and `NAME.1`.
    pub(crate) fn output(&mut self, name: &str, ciphertext: &Ciphertext) {
        for (component, polynomial) in ciphertext.components.iter().enumerate() {
            let limbs = self.in_operation("product", |c| polynomial.limbs(&mut c.emitter));
            self.emitter.output(format!("{name}.{component}"), limbs);
        }
        self.scales.insert(name.to_owned(), ciphertext.scale.clone());
    }

    /// Declares the output of a polynomial.
    pub(crate) fn output_polynomial(&mut self, name: &str, limbs: Vec<Limb>) {
        self.emitter.output(name, limbs);
    }

    /// Declares a key under its own name, or another one.
    pub(crate) fn declare_key(&mut self, key: SwitchingKey, name: &str) {
        let base = self.emitter.base();
        // One key serves all levels.
        let (whole, digits) = match key {
            SwitchingKey::DenseToSparse => (base.at(1).with_special(1), base.at(1)),
            SwitchingKey::Relinearisation
            | SwitchingKey::Galois(_)
            | SwitchingKey::SparseToDense
            | SwitchingKey::Unnamed => (base.highest(), base.clone()),
        };
        let towers = whole.all();
        let limbs = [KeyPart::B, KeyPart::A].map(|part| {
            let digit = |digit: usize| {
                let definition = Definition::Key { key, part, digit };
                let limbs = self.declare(format!("{name}.{part}.{digit}"), &towers, definition);
                towers.iter().copied().zip(limbs).collect()
            };
            digits.digits().map(|index| index.0).map(digit).collect()
        });
        self.keys.insert(key, Arc::new(limbs));
        self.key_names.insert(key, name.to_owned());
    }

    fn components(
        &mut self,
        operands: [&Ciphertext; 2],
        operation: fn(&mut Emitter, Limb, Limb, Tower) -> Limb,
    ) -> Vec<Vec<Limb>> {
        let [a, b] = operands.map(|operand| &operand.components);
        let e = &mut self.emitter;
        let mut sums = Vec::new();
        for component in 0..a.len().max(b.len()) {
            let limbs = match (a.get(component), b.get(component)) {
                (Some(a), Some(b)) => {
                    let towers = (0..a.level()).map(Tower);
                    let sum = |tower| {
                        let (a, b) = (a.limb(e, tower), b.limb(e, tower));
                        operation(e, a, b, tower)
                    };
                    towers.map(sum).collect()
                }
                (Some(a), None) => a.limbs(e),
                (None, Some(b)) => b.limbs(e),
                (None, None) => unreachable!("one operand has the component"),
            };
            sums.push(limbs);
        }
        sums
    }

    /// Both operands at the lower level of the two.
    fn aligned(
        &self,
        operation: &'static str,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<[Ciphertext; 2], Error> {
        if a.scale != b.scale {
            let (program, scales) = (self.program, Box::new([a.scale.clone(), b.scale.clone()]));
            return Err(Error::Scales { program, operation, scales });
        }
        let level = a.level().min(b.level());
        Ok([a.at(level), b.at(level)])
    }

    /// The sum of two ciphertexts of one scale.
    pub(crate) fn add(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let [a, b] = self.aligned("sum", a, b)?;
        let sums = self.in_operation("sum", |c| c.components([&a, &b], Emitter::add));
        Ok(Ciphertext::new(sums, a.scale))
    }

    /// The difference of two ciphertexts of one scale. The second one has no third component.
    pub(crate) fn subtract(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let [a, b] = self.aligned("difference", a, b)?;
        assert!(b.components.len() <= a.components.len(), "a product to subtract is relinearised");
        let differences = self.in_operation("difference", |c| c.components([&a, &b], Emitter::subtract));
        Ok(Ciphertext::new(differences, a.scale))
    }

    /// The product of two ciphertexts, of three components. An operand of three components is relinearised.
    pub(crate) fn multiply(&mut self, a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
        let level = a.level().min(b.level());
        let [a, b] = [a, b].map(|operand| self.relinearised(operand.at(level)));
        let e = &mut self.emitter;
        let [[a0, a1], [b0, b1]] = [&a, &b].map(|x| [0, 1].map(|index| x.components[index].limbs(e)));
        self.ledger.current().products += 1;
        let components = vec![
            Polynomial::Products(vec![[a0.clone(), b0.clone()]]),
            Polynomial::Products(vec![[a0, b1.clone()], [a1.clone(), b0]]),
            Polynomial::Products(vec![[a1, b1]]),
        ];
        Ciphertext { components, scale: a.scale.times(&b.scale) }
    }

    /// The sum of `sum` and the product of a ciphertext and a plaintext.
    pub(crate) fn multiply_add(
        &mut self,
        sum: Option<Ciphertext>,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, Error> {
        let scale = a.scale.times(&plaintext.scale);
        if let Some(sum) = sum.as_ref().filter(|sum| sum.scale != scale) {
            let scales = Box::new([sum.scale.clone(), scale]);
            return Err(Error::Scales { program: self.program, operation: "sum of products", scales });
        }
        let scope = self.emitter.open(RegionKind::Operation, "product with a plaintext");
        let e = &mut self.emitter;
        let mut sums = sum.map(|sum| sum.components.iter().map(|limbs| limbs.limbs(e)).collect::<Vec<_>>());
        let mut components = Vec::new();
        for (component, polynomial) in a.components.iter().enumerate() {
            let sum = sums.as_mut().map(|sums| std::mem::take(&mut sums[component]));
            let add = |tower: Tower| {
                let limb = polynomial.limb(e, tower);
                let product = e.multiply(limb, plaintext.limbs[&tower], tower);
                e.accumulate(sum.as_ref().map(|limbs| limbs[tower.0]), product, tower)
            };
            components.push((0..a.level()).map(Tower).map(add).collect());
        }
        self.emitter.close(scope);
        self.ledger.current().plaintext_products += 1;
        Ok(Ciphertext::new(components, scale))
    }

    /// The sum of a ciphertext and a plaintext of one scale.
    pub(crate) fn add_plaintext(
        &mut self,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, Error> {
        if a.scale != plaintext.scale {
            let scales = Box::new([a.scale.clone(), plaintext.scale.clone()]);
            return Err(Error::Scales { program: self.program, operation: "sum with a plaintext", scales });
        }
        let scope = self.emitter.open(RegionKind::Operation, "sum with a plaintext");
        let e = &mut self.emitter;
        let mut components: Vec<Vec<Limb>> = a.components.iter().map(|limbs| limbs.limbs(e)).collect();
        for (tower, limb) in components[0].iter_mut().enumerate() {
            let tower = Tower(tower);
            *limb = e.add(*limb, plaintext.limbs[&tower], tower);
        }
        e.close(scope);
        Ok(Ciphertext::new(components, a.scale.clone()))
    }

    /// The product with an integer. The scale stays: what was m is m times the integer.
    pub(crate) fn multiply_integer(&mut self, a: &Ciphertext, factor: &BigInt) -> Ciphertext {
        let scope = self.emitter.open(RegionKind::Operation, "product with a number");
        let e = &mut self.emitter;
        let component = |polynomial: &Polynomial| {
            let product = |tower: Tower| {
                let limb = polynomial.limb(e, tower);
                let factor = residue(factor, e.base().ring(tower).q());
                e.multiply_scalar(limb, factor, tower)
            };
            (0..polynomial.level()).map(Tower).map(product).collect()
        };
        let components = a.components.iter().map(component).collect();
        self.emitter.close(scope);
        Ciphertext::new(components, a.scale.clone())
    }

    /// The product with a real number, with this scale.
    pub(crate) fn multiply_real(&mut self, a: &Ciphertext, factor: f64, scale: &Scale) -> Ciphertext {
        let integer = scale.over(&a.scale).round(factor);
        self.multiply_integer(a, &integer).with_scale(scale.clone())
    }

    /// The sum with a real number in all slots.
    pub(crate) fn add_real(&mut self, a: &Ciphertext, addend: f64) -> Ciphertext {
        let integer = a.scale.round(addend);
        let scope = self.emitter.open(RegionKind::Operation, "sum with a number");
        let e = &mut self.emitter;
        let mut components: Vec<Vec<Limb>> =
            a.components.iter().map(|polynomial| polynomial.limbs(e)).collect();
        for (tower, limb) in components[0].iter_mut().enumerate() {
            let tower = Tower(tower);
            let addend = residue(&integer, e.base().ring(tower).q());
            *limb = e.add_scalar(*limb, addend, tower);
        }
        e.close(scope);
        Ciphertext::new(components, a.scale.clone())
    }

    /// The product with i in all slots: with X^(n/2), which is an input.
    pub(crate) fn multiply_i(&mut self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        let exponent = self.set.degree().get() / 2;
        let definition = Definition::Monomial { exponent };
        let name = format!("monomial.{exponent}");
        let plaintext = self.plaintext(name, (self.level(), false), Scale::one(), definition);
        self.in_operation("product with i", |c| c.multiply_add(None, a, &plaintext))
    }

    /// The division by the last modulus, rounded. A product is relinearised first.
    pub(crate) fn rescale(&mut self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        let level = a.level();
        if level == 1 {
            return Err(Error::NothingToDrop { program: self.program });
        }
        let a = self.relinearised(a.clone());
        let scope = self.emitter.open(RegionKind::Operation, "rescale");
        let e = &mut self.emitter;
        let component = |polynomial: &Polynomial| {
            let limbs = polynomial.limbs(e);
            rescaled(e, &limbs)
        };
        let components = a.components.iter().map(component).collect();
        self.emitter.close(scope);
        let scale = a.scale.over(&self.last_modulus(level));
        Ok(Ciphertext::new(components, scale))
    }
}

/// An integer modulo q.
fn residue(x: &BigInt, q: u128) -> u128 {
    let q = BigInt::from(q);
    let residue = ((x % &q) + &q) % &q;
    u128::try_from(residue).expect("a residue of 128 bits")
}

/// A polynomial divided by its last modulus q_l, limb by limb:
///
/// ```text
/// r = [t^-1 x_l] mod q_l, from -(q_l - 1)/2 to (q_l - 1)/2
/// out_i = (x_i - t r) q_l^-1 mod q_i
/// ```
///
/// With t = 1 this is x/q_l, rounded to the nearest integer.
fn rescaled(e: &mut Emitter, limbs: &[Limb]) -> Vec<Limb> {
    let base = e.base().clone();
    let (t, last) = (base.t, Tower(limbs.len() - 1));
    let modulus = base.ring(last).q();
    let half = (modulus - 1) / 2;
    let mut residues = e.intt(limbs[last.0], last);
    if t > 1 {
        residues = e.multiply_scalar(residues, base.inverse(last, t), last);
    }
    // From 0 to q_l - 1, and half more than the centred residue.
    let shifted = e.add_scalar(residues, half, last);
    let divide = |tower: Tower| {
        let reduced = e.multiply_scalar(shifted, t % base.ring(tower).q(), tower);
        let remainder = e.subtract_scalar(reduced, base.product(tower, half, t), tower);
        let remainder = e.ntt(remainder, tower);
        let multiple = e.subtract(limbs[tower.0], remainder, tower);
        e.multiply_scalar(multiple, base.inverse(tower, modulus), tower)
    };
    (0..last.0).map(Tower).map(divide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No program has operands of different scales, so the operations are called themselves.
    #[test]
    fn operands_of_different_scales_are_refused() {
        let set = ParameterSet::built_in("ark", Some(64)).expect("a built-in set").unwrap();
        let options = Options::default();
        let mut c = Circuit::new("test", &set, &options).unwrap();
        let [a, b] = [40, 41].map(|bits| c.input(&format!("x{bits}"), Scale::power_of_two(bits)));
        let plaintext =
            c.plaintext("pt".to_owned(), (c.level(), false), Scale::power_of_two(41), Definition::Free);
        let product = c.multiply_add(None, &a, &plaintext).unwrap();
        let found = [
            c.add(&a, &b).unwrap_err(),
            c.subtract(&a, &b).unwrap_err(),
            c.add_plaintext(&a, &plaintext).unwrap_err(),
            c.multiply_add(Some(product), &b, &plaintext).unwrap_err(),
        ];
        let expected = [
            ("sum", 40, 41),
            ("difference", 40, 41),
            ("sum with a plaintext", 40, 41),
            ("sum of products", 81, 82),
        ]
        .map(|(operation, one, other)| {
            format!(
                "the {operation} of `test` has operands of the scales 2^{one}.000000 and 2^{other}.000000: multiply one of them by \
                 their quotient first"
            )
        });
        assert_eq!(found.map(|error| error.to_string()), expected);
        // With the quotient, they fit.
        let a = c.multiply_real(&a, 1.0, &b.scale);
        assert!(c.add(&a, &b).is_ok());
    }
}
