//! Operations coefficient by coefficient.

/// Declares an operation: its operands with their ranges, perhaps a scalar, the result, the definition, the
/// residue of the result for words of the operands modulo `q`, and the same without a reduction for the
/// tests.
macro_rules! elementwise {
    (
        $name:ident($($range:ident $operand:ident),+ $(; $scalar:ident)?) = $result:ident: $definition:literal,
        |$q:pat_param| $residue:expr,
        textbook |$modulus:pat_param| $integer:expr,
    ) => {
        pub(crate) const SIGNATURE: $crate::Signature = $crate::Signature {
            name: stringify!($name),
            definition: $definition,
            inputs: &[$($crate::Operand::$range(stringify!($operand))),+],
            outputs: &[$crate::Operand::residues(stringify!($result))],
            settings: $crate::elementwise::elementwise!(@settings $($scalar)?),
            by_transforms: false,
        };

        pub(crate) fn evaluate(
            settings: &$crate::Settings<'_>,
            inputs: &[&[u128]],
        ) -> Result<Vec<u128>, $crate::GoldenError> {
            $(let $scalar = &num_bigint::BigUint::from(settings.number(stringify!($scalar)));)?
            Ok($crate::arithmetic::coefficientwise(settings, inputs, |[$($operand),+], $q| $residue))
        }

        #[cfg(test)]
        pub(crate) fn textbook(case: &$crate::tests::Case<'_>) -> Vec<u128> {
            let $modulus = &case.q();
            $(let $scalar = &case.setting(stringify!($scalar));)?
            case.each(|i| {
                let [$($operand),+] = std::array::from_fn(|operand| case.word(operand, i));
                $integer
            })
        }
    };
    (@settings) => { $crate::signature::settings::RING };
    (@settings $scalar:ident) => { $crate::signature::settings::SCALAR };
}
pub(crate) use elementwise;
