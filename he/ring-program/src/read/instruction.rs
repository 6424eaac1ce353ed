//! Instructions: from operands in text to operations.

use super::call::Keyword;
use super::operands::Operands;
use crate::code::Code;
use crate::fault::Fault;
use crate::part::{Name, Part};
use crate::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use crate::table::{OPCODES, REFUSED};
use crate::{Builder, Operation, for_each_operation};
use diagnostic::nearest;

/// The notation of one shape.
trait Parse: Sized {
    /// The operands.
    const SYNTAX: &'static str;
    /// The number of operands without a name.
    const COUNT: usize;
    /// The operands with names.
    const NAMES: &'static [Name];

    /// Reads the operands, whose number and names are right.
    fn parse(operands: &Operands<'_>, builder: &mut Builder) -> Result<Self, Fault>;

    /// Checks the number and names of operands, then reads them.
    fn read(operands: &Operands<'_>, builder: &mut Builder) -> Result<Self, Fault> {
        operands.expect(Self::COUNT, Self::NAMES, Self::SYNTAX)?;
        Self::parse(operands, builder)
    }
}

/// A special case of another notation.
trait Idiom: Parse {
    /// Whether the operands are the special case.
    fn matches(operands: &Operands<'_>) -> bool;
}

macro_rules! parsed {
    ($Shape:ident, $syntax:literal, $count:literal, [$($name:ident),*],
        |$operands:ident, $builder:ident| { $($field:ident: $value:expr),* }) => {
        impl Parse for $Shape {
            const SYNTAX: &'static str = $syntax;
            const COUNT: usize = $count;
            const NAMES: &'static [Name] = &[$(Name::$name),*];

            fn parse($operands: &Operands<'_>, $builder: &mut Builder) -> Result<Self, Fault> {
                let d = $operands.limb(Part::Destination, $builder)?;
                Ok(Self { d, $($field: $value),* })
            }
        }
    };
}

parsed!(Binary, "%d, %a, %b, m=i", 3, [Modulus], |operands, builder| {
    a: operands.limb(Part::First, builder)?,
    b: operands.limb(Part::Second, builder)?,
    m: operands.modulus(builder)?
});

parsed!(Scalar, "%d, %a, scalar, m=i", 3, [Modulus], |operands, builder| {
    a: operands.limb(Part::First, builder)?,
    scalar: operands.scalar(builder)?,
    m: operands.modulus(builder)?
});

parsed!(Unary, "%d, %a, m=i", 2, [Modulus], |operands, builder| {
    a: operands.limb(Part::First, builder)?,
    m: operands.modulus(builder)?
});

parsed!(Transform, "%d, %a, m=i, omega=w", 2, [Modulus, Root], |operands, builder| {
    a: operands.limb(Part::First, builder)?,
    root: operands.root(builder)?,
    m: operands.modulus(builder)?
});

parsed!(Galois, "%d, %a, m=i, mask=n-1, logn=l, k=k", 2, [Modulus, Mask, LogDegree, Exponent],
|operands, builder| {
    a: operands.limb(Part::First, builder)?,
    k: {
        let degree = builder.program().degree();
        operands.redundant(Name::Mask, "n - 1", degree.get() - 1)?;
        operands.redundant(Name::LogDegree, "log2(n)", degree.log2().into())?;
        operands.small(Name::Exponent)?
    },
    m: operands.modulus_of_moves(builder)?
});

parsed!(GaloisCoefficients, "%d, %a, k=k, m=i", 2, [Exponent, Modulus], |operands, builder| {
    a: operands.limb(Part::First, builder)?,
    k: operands.small(Name::Exponent)?,
    m: operands.modulus(builder)?
});

parsed!(Monomial, "%d, %a, offset=o, m=i", 2, [Offset, Modulus], |operands, builder| {
    a: operands.limb(Part::First, builder)?,
    offset: operands.small(Name::Offset)?,
    m: operands.modulus(builder)?
});

parsed!(Duplicate, "%d, %a, 0, m=0", 3, [Modulus], |operands, builder| {
    a: operands.limb(Part::First, builder)?
});

parsed!(Clear, "%d, %a, 0, m=i", 3, [Modulus], |operands, builder| {
    m: {
        // Not read, and perhaps mentioned nowhere else: no limb of the program.
        operands.id(Part::First)?;
        operands.optional_modulus(builder)?
    }
});

impl Idiom for Duplicate {
    fn matches(operands: &Operands<'_>) -> bool {
        operands.is_without_modulus() && operands.scalar_is_zero()
    }
}

impl Idiom for Clear {
    fn matches(operands: &Operands<'_>) -> bool {
        operands.scalar_is_zero()
    }
}

macro_rules! instructions {
    (
        executable { $(($Name:ident, $Shape:ident, $opcode:literal, $meaning:literal))* }
        idioms { $(($Idiom:ident, $IdiomShape:ident, $written:literal, $case:literal))* }
        refused { $($refused:tt)* }
    ) => {
        /// The notation of the operations that a file may contain: the opcode, the operands, and the meaning.
        pub const NOTATION: &[(&str, &str, &str)] = &[
            $(($opcode, <$Shape as Parse>::SYNTAX, $meaning),)*
            $(($written, <$IdiomShape as Parse>::SYNTAX, $case),)*
        ];

        /// Reads the instruction with an opcode, or returns `None` if the opcode is not executable.
        pub(super) fn read(
            opcode: &str,
            operands: &Operands<'_>,
            builder: &mut Builder,
        ) -> Result<Option<Operation>, Fault> {
            $(
                if opcode == $written && $IdiomShape::matches(operands) {
                    return Ok(Some(Operation::$Idiom($IdiomShape::read(operands, builder)?)));
                }
            )*
            Ok(Some(match opcode {
                $($opcode => Operation::$Name($Shape::read(operands, builder)?),)*
                _ => return Ok(None),
            }))
        }
    };
}

for_each_operation!(instructions);

/// The error for an opcode that is not executable.
pub(super) fn unknown(opcode: &str) -> Fault {
    if let Some((_, reason)) = REFUSED.iter().find(|(name, _)| *name == opcode) {
        let message = format!("`{opcode}` cannot be executed from a file: {reason}");
        return Fault::new(Part::Operation, message).code(Code::Opcode);
    }
    let fault = Fault::new(Part::Operation, format!("unknown opcode `{opcode}`")).code(Code::Opcode);
    let keywords = Keyword::ALL.map(|(word, _)| word);
    match nearest(opcode, OPCODES.iter().copied().chain(keywords).chain(["halt"])) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help(format!("the opcodes are {}, halt", OPCODES.join(", "))),
    }
}
