//! Shapes: the operands of operations.

use crate::{ConstantIndex, Limb, ModulusIndex};

/// What all operations have, for code that treats them alike.
pub trait Shape: Copy {
    /// The operation with other names of its destination, its sources and its constant.
    fn renamed(
        self,
        d: Limb,
        source: &mut impl FnMut(Limb) -> Limb,
        constant: &mut impl FnMut(ConstantIndex) -> ConstantIndex,
    ) -> Self;

    /// The limb that the operation writes.
    fn destination(&self) -> Limb;
    /// The limbs that the operation reads, in order; a limb may occur twice.
    fn sources(&self) -> [Option<Limb>; 2];
    /// The modulus, if the operation has one.
    fn modulus(&self) -> Option<ModulusIndex>;
}

/// An operand, some of which have names in a program.
trait Operand: Copy {
    fn renamed(
        self,
        source: &mut impl FnMut(Limb) -> Limb,
        constant: &mut impl FnMut(ConstantIndex) -> ConstantIndex,
    ) -> Self;
}

macro_rules! operands {
    ($($Type:ty: |$operand:ident, $source:ident, $constant:ident| $renamed:expr;)*) => {
        $(impl Operand for $Type {
            fn renamed(
                self,
                $source: &mut impl FnMut(Limb) -> Limb,
                $constant: &mut impl FnMut(ConstantIndex) -> ConstantIndex,
            ) -> Self {
                let $operand = self;
                $renamed
            }
        })*
    };
}

operands! {
    Limb: |x, source, _constant| source(x);
    Option<ConstantIndex>: |x, _source, constant| x.map(constant);
    ConstantIndex: |x, _source, constant| constant(x);
    ModulusIndex: |x, _source, _constant| x;
    Option<ModulusIndex>: |x, _source, _constant| x;
    u32: |x, _source, _constant| x;
}

macro_rules! shapes {
    ($($(#[$doc:meta])* $Name:ident { $($(#[$note:meta])* $field:ident: $Type:ty,)* }
        reads [$a:expr, $b:expr], modulus |$self:ident| $modulus:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub struct $Name {
                /// The limb that the operation writes.
                pub d: Limb,
                $($(#[$note])* pub $field: $Type,)*
            }

            impl Shape for $Name {
                #[allow(unused_variables)]
                fn renamed(
                    self,
                    d: Limb,
                    source: &mut impl FnMut(Limb) -> Limb,
                    constant: &mut impl FnMut(ConstantIndex) -> ConstantIndex,
                ) -> Self {
                    Self { d, $($field: self.$field.renamed(source, constant)),* }
                }

                fn destination(&self) -> Limb {
                    self.d
                }

                fn sources(&self) -> [Option<Limb>; 2] {
                    let read: [Option<fn(&Self) -> Limb>; 2] = [$a, $b];
                    read.map(|source| source.map(|source| source(self)))
                }

                fn modulus(&self) -> Option<ModulusIndex> {
                    let $self = self;
                    $modulus
                }
            }
        )*
    };
}

shapes! {
    /// Two limbs: `%d, %a, %b, m=i`.
    Binary {
        /// The first source.
        a: Limb,
        /// The second source.
        b: Limb,
        /// The modulus.
        m: ModulusIndex,
    } reads [Some(|x| x.a), Some(|x| x.b)], modulus |x| Some(x.m);

    /// A limb and a number: `%d, %a, scalar, m=i`.
    Scalar {
        /// The source.
        a: Limb,
        /// The number as the text has it. It may exceed the modulus.
        scalar: ConstantIndex,
        /// The modulus.
        m: ModulusIndex,
    } reads [Some(|x| x.a), None], modulus |x| Some(x.m);

    /// One limb: `%d, %a, m=i`.
    Unary {
        /// The source.
        a: Limb,
        /// The modulus.
        m: ModulusIndex,
    } reads [Some(|x| x.a), None], modulus |x| Some(x.m);

    /// A negacyclic transform: `%d, %a, m=i[, omega=w]`.
    Transform {
        /// The source.
        a: Limb,
        /// The primitive 2n-th root of unity; `None` for the smallest.
        root: Option<ConstantIndex>,
        /// The modulus.
        m: ModulusIndex,
    } reads [Some(|x| x.a), None], modulus |x| Some(x.m);

    /// The automorphism X to X^k on values: `%d, %a, m=i, mask=n-1, logn=l, k=k` or `%d, %a, k=k, m=0`.
    Galois {
        /// The source.
        a: Limb,
        /// The exponent, odd and below 2n.
        k: u32,
        /// The modulus, which has no influence on the result.
        m: Option<ModulusIndex>,
    } reads [Some(|x| x.a), None], modulus |x| x.m;

    /// The automorphism X to X^k on coefficients: `%d, %a, k=k, m=i`.
    GaloisCoefficients {
        /// The source.
        a: Limb,
        /// The exponent, odd and below 2n.
        k: u32,
        /// The modulus.
        m: ModulusIndex,
    } reads [Some(|x| x.a), None], modulus |x| Some(x.m);

    /// The product with a monomial, X^-offset: `%d, %a, offset=o, m=i`.
    Monomial {
        /// The source.
        a: Limb,
        /// The offset, below n.
        offset: u32,
        /// The modulus.
        m: ModulusIndex,
    } reads [Some(|x| x.a), None], modulus |x| Some(x.m);

    /// A copy: `%d, %a, 0, m=0`.
    Duplicate {
        /// The source.
        a: Limb,
    } reads [Some(|x| x.a), None], modulus |_x| None;

    /// Zero: `%d, %a, 0, m=i`, where `a` is not read.
    Clear {
        /// The modulus, if the text names one. It has no influence on the result.
        m: Option<ModulusIndex>,
    } reads [None, None], modulus |x| x.m;
}
