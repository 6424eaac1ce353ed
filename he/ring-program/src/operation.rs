//! Operations.

use crate::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Shape, Transform, Unary,
};
use crate::{ConstantIndex, Limb, ModulusIndex, for_each_operation};

macro_rules! operations {
    (
        executable { $(($Name:ident, $Shape:ident, $opcode:literal, $meaning:literal))* }
        idioms { $(($Idiom:ident, $IdiomShape:ident, $written:literal, $case:literal))* }
        refused { $(($refused:literal, $reason:literal))* }
    ) => {
        /// One operation on limbs. All sources are read before the destination is written; the destination
        /// may be a source.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Operation {
            $(#[doc = concat!("`", $opcode, "`:\n\n```text\n", $meaning, "\n```")] $Name($Shape),)*
            $(#[doc = concat!("`", $written, "`:\n\n```text\n", $case, "\n```")] $Idiom($IdiomShape),)*
        }

        impl Operation {
            /// The opcode in text.
            pub fn opcode(&self) -> &'static str {
                match self {
                    $(Self::$Name(_) => $opcode,)*
                    $(Self::$Idiom(_) => $written,)*
                }
            }

            /// The meaning, in one line.
            pub fn meaning(&self) -> &'static str {
                match self {
                    $(Self::$Name(_) => $meaning,)*
                    $(Self::$Idiom(_) => $case,)*
                }
            }
        }

        impl Shape for Operation {
            fn renamed(
                self,
                d: Limb,
                source: &mut impl FnMut(Limb) -> Limb,
                constant: &mut impl FnMut(ConstantIndex) -> ConstantIndex,
            ) -> Self {
                match self {
                    $(Self::$Name(operands) => Self::$Name(operands.renamed(d, source, constant)),)*
                    $(Self::$Idiom(operands) => Self::$Idiom(operands.renamed(d, source, constant)),)*
                }
            }

            fn destination(&self) -> Limb {
                match self {
                    $(Self::$Name(operands) => operands.destination(),)*
                    $(Self::$Idiom(operands) => operands.destination(),)*
                }
            }

            fn sources(&self) -> [Option<Limb>; 2] {
                match self {
                    $(Self::$Name(operands) => operands.sources(),)*
                    $(Self::$Idiom(operands) => operands.sources(),)*
                }
            }

            fn modulus(&self) -> Option<ModulusIndex> {
                match self {
                    $(Self::$Name(operands) => operands.modulus(),)*
                    $(Self::$Idiom(operands) => operands.modulus(),)*
                }
            }
        }
    };
}

for_each_operation!(operations);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_small() {
        // Programs have millions of them.
        assert!(size_of::<Operation>() <= 24, "{}", size_of::<Operation>());
    }
}
