//! The table of operations.

/// Calls the macro `$then` with the table of operations, in three sections:
///
/// * `executable`: the variant of [`Operation`](crate::Operation), its [shape](crate::shape), the
///   opcode in text, and the meaning;
/// * `idioms`: as above, for operations that the text writes as a special case of another opcode;
/// * `refused`: opcodes of the format that cannot be executed from a file, and the reason.
///
/// In meanings, `d` is the destination; `a` and `b` are the sources; `q` is the modulus; `i` is an
/// index from 0 to n - 1.
///
/// ```
/// macro_rules! opcodes {
///     (executable { $(($Name:ident, $Shape:ident, $opcode:literal, $meaning:literal))* }
///      idioms { $($idiom:tt)* } refused { $($refused:tt)* }) => { [$($opcode),*] };
/// }
/// assert_eq!(ring_program::for_each_operation!(opcodes)[0], "sr_addp");
/// ```
#[macro_export]
macro_rules! for_each_operation {
    ($then:ident) => {
        $then! {
            executable {
                (Add, Binary, "sr_addp", "d[i] = a[i] + b[i] mod q")
                (Subtract, Binary, "sr_subp", "d[i] = a[i] - b[i] mod q")
                (Multiply, Binary, "sr_mulp", "d[i] = a[i] b[i] mod q")
                (AddScalar, Scalar, "sr_addps", "d[i] = a[i] + scalar mod q")
                (SubtractScalar, Scalar, "sr_subps", "d[i] = a[i] - scalar mod q")
                (MultiplyScalar, Scalar, "sr_mulps", "d[i] = a[i] scalar mod q; `a` is any word")
                (Negate, Unary, "sr_negp", "d[i] = -a[i] mod q")
                (Ntt, Transform, "sr_ntt", "d[i] = a(w^(2 brv(i) + 1)) mod q, w a primitive 2n-th root of unity")
                (Intt, Transform, "sr_intt", "the polynomial d with a[i] = d(w^(2 brv(i) + 1)) mod q")
                (AutomorphEvaluation, Galois, "sr_automorph_eval", "X to X^k on values: d[i] = a[brv((k (2 brv(i) + 1) - 1)/2 mod n)]")
                (AutomorphCoefficients, GaloisCoefficients, "sr_automorph_coeff", "X to X^k on coefficients: d[k i mod n] = (-1)^floor(k i/n) a[i] mod q")
                (MultiplyMonomial, Monomial, "sr_rot_automorph_coeff", "the product with X^-offset on coefficients: d[i] = a[i + offset], negated beyond n")
            }
            idioms {
                (Copy, Duplicate, "sr_addps", "d[i] = a[i], not reduced: the scalar is 0, and m=0")
                (Zero, Clear, "sr_mulps", "d[i] = 0: the scalar is 0, and `a` is not read")
            }
            refused {
                ("sr_permute", "the file does not contain its lists of indices and signs")
                ("sr_addps_coeff", "the format's documentation adds to coefficient 0, its simulator to all coefficients")
                ("sr_subps_coeff", "the format's documentation subtracts from coefficient 0, its simulator from all coefficients")
                ("sr_addp_ni", "operations without modulus work on real or complex numbers")
                ("sr_subp_ni", "operations without modulus work on real or complex numbers")
                ("sr_mulp_ni", "operations without modulus work on real or complex numbers")
                ("sr_addps_ni", "operations without modulus work on real or complex numbers")
                ("sr_subps_ni", "operations without modulus work on real or complex numbers")
                ("sr_mulps_ni", "operations without modulus work on real or complex numbers")
                ("sr_addps_coeff_ni", "operations without modulus work on real or complex numbers")
                ("sr_subps_coeff_ni", "operations without modulus work on real or complex numbers")
                ("sr_negp_ni", "operations without modulus work on real or complex numbers")
                ("sr_ft", "a Fourier transform works on complex numbers")
                ("sr_ift", "a Fourier transform works on complex numbers")
            }
        }
    };
}

macro_rules! refusals {
    (
        executable { $(($Name:ident, $Shape:ident, $opcode:literal, $meaning:literal))* }
        idioms { $(($Idiom:ident, $IdiomShape:ident, $written:literal, $case:literal))* }
        refused { $(($refused:literal, $reason:literal))* }
    ) => {
        /// The opcodes that a file may contain, executable ones only.
        pub const OPCODES: &[&str] = &[$($opcode),*];

        /// The opcodes that cannot be executed from a file, and the reasons.
        pub const REFUSED: &[(&str, &str)] = &[$(($refused, $reason)),*];
    };
}

for_each_operation!(refusals);
