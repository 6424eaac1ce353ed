//! The rules for the operands of one operation.

use crate::fault::Fault;
use crate::part::{Name, Part};
use crate::program::RingProgram;
use crate::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use crate::{ConstantIndex, ModulusIndex, Operation, for_each_operation};
use ring::Modulus;
use rustc_hash::FxHashSet;

/// The roots that were found valid.
pub(crate) type Roots = FxHashSet<(ModulusIndex, ConstantIndex)>;

/// The rules of one shape that types do not enforce.
trait Rules {
    fn check(&self, program: &mut RingProgram, roots: &mut Roots) -> Result<(), Fault>;
}

macro_rules! no_rules {
    ($($Shape:ident)*) => {
        $(impl Rules for $Shape {
            fn check(&self, _: &mut RingProgram, _: &mut Roots) -> Result<(), Fault> {
                Ok(())
            }
        })*
    };
}

no_rules!(Binary Scalar Unary Duplicate Clear);

impl Rules for Transform {
    fn check(&self, program: &mut RingProgram, roots: &mut Roots) -> Result<(), Fault> {
        let Some(root) = self.root else { return program.find_default_root(self.m) };
        if roots.contains(&(self.m, root)) {
            return Ok(());
        }
        let fault = |error: &dyn std::fmt::Display| Fault::new(Part::Named(Name::Root), error.to_string());
        let modulus = Modulus::new(program.moduli().value(self.m)).map_err(|error| fault(&error))?;
        let root_value = program.constants().value(root);
        ring::root::check_root(&modulus, program.degree(), root_value).map_err(|error| {
            let (index, value) = (self.m.get(), modulus.value());
            fault(&error)
                .help(format!("m[{index}] is {value:#x}; without `omega`, the smallest root is used"))
        })?;
        roots.insert((self.m, root));
        Ok(())
    }
}

impl Rules for Galois {
    fn check(&self, program: &mut RingProgram, _: &mut Roots) -> Result<(), Fault> {
        exponent(self.k, program)
    }
}

impl Rules for GaloisCoefficients {
    fn check(&self, program: &mut RingProgram, _: &mut Roots) -> Result<(), Fault> {
        exponent(self.k, program)
    }
}

fn exponent(k: u32, program: &RingProgram) -> Result<(), Fault> {
    let order = program.degree().order();
    if k % 2 == 1 && u128::from(k) < order {
        return Ok(());
    }
    let reason = if k.is_multiple_of(2) { "it is even" } else { "it is not below 2n" };
    Err(Fault::new(Part::Named(Name::Exponent), format!("invalid exponent {k}: {reason}"))
        .help(format!("an automorphism X to X^k has an odd k from 1 to {}", order - 1)))
}

impl Rules for Monomial {
    fn check(&self, program: &mut RingProgram, _: &mut Roots) -> Result<(), Fault> {
        let n = program.degree().get();
        if u64::from(self.offset) < n {
            return Ok(());
        }
        let message = format!("invalid offset {}: it is not below n", self.offset);
        Err(Fault::new(Part::Named(Name::Offset), message).help(format!("offsets are from 0 to {}", n - 1)))
    }
}

macro_rules! check {
    (
        executable { $(($Name:ident, $Shape:ident, $opcode:literal, $meaning:literal))* }
        idioms { $(($Idiom:ident, $IdiomShape:ident, $written:literal, $case:literal))* }
        refused { $($refused:tt)* }
    ) => {
        /// Checks the operands of an operation.
        pub(crate) fn check(
            operation: &Operation,
            program: &mut RingProgram,
            roots: &mut Roots,
        ) -> Result<(), Fault> {
            match operation {
                $(Operation::$Name(operands) => operands.check(program, roots),)*
                $(Operation::$Idiom(operands) => operands.check(program, roots),)*
            }
        }
    };
}

for_each_operation!(check);
