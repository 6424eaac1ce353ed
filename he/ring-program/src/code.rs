//! Kinds of error in the text of ring programs.

use crate::part::{Name, Part};
use diagnostic::Diagnostic;

diagnostic::codes! {
    /// No operation has this opcode, or it cannot be executed from a file. Opcodes may have capitals. The
    /// chapter "The text of ring programs" of the book lists them with their operands and meanings.
    Opcode = "F001", "unknown opcode";

    /// The operands of a line stand between commas. Those with a name, such as `m=1`, stand in any order
    /// behind the others, each once:
    ///
    /// ```text
    /// sr_mulp %3, %1, %2, m=1
    /// sr_automorph_eval %4, %3, k=5, m=1
    /// ```
    Operands = "F002", "wrong operands";

    /// A limb is `%` and a decimal number of at most 64 bits. It must have a value: an earlier line writes
    /// it, the manifest lists it among the inputs, or it is a parameter of the function. A program without a
    /// manifest reads inputs before it writes them. An output must be written, or be an input.
    Limb = "F003", "wrong limb";

    /// A number is decimal, or hexadecimal after `0x`, without leading zeros and of at most 128 bits. Some
    /// readers take a leading zero for an octal number.
    Number = "F004", "invalid number";

    /// A program begins with its table of moduli. The count includes `m[0]`, the sentinel, which means "no
    /// modulus". The other moduli are distinct primes q with q = 1 mod 2n for the ring degree n, so that a
    /// transform exists:
    ///
    /// ```text
    /// modulus_count 2
    /// m[0] 0xFFFFFFFFFFFFFFFF
    /// m[1] 0x3001
    /// ```
    Moduli = "F005", "wrong table of moduli";

    /// `m=i` names the entry `m[i]` of the table. `m=0` stands only in a copy, which is `sr_addps` of 0, in a
    /// zero, which is `sr_mulps` by 0, and in `sr_automorph_eval`.
    Modulus = "F006", "wrong index of a modulus";

    /// `omega` is a primitive 2n-th root of unity modulo the line's modulus. Without it, or with `omega=0`,
    /// the smallest one is taken. A limb that one root transforms should be transformed back with the same
    /// root.
    Root = "F007", "invalid root of unity";

    /// The exponent `k` of an automorphism is odd and below 2n: even exponents are not invertible. The
    /// `offset` of a monomial is below n.
    Exponent = "F008", "invalid exponent";

    /// `mask` is n - 1, and `logn` is log2(n). Both may be absent. If they differ from the ring degree, the
    /// program was written for another one: `--n` or the manifest's `ring_dimension` is wrong.
    Degree = "F009", "operand of another ring degree";

    /// `halt` ends a program; a second one may follow, as recordings have it. A text without `halt` is an
    /// error, since it may be truncated. Nothing but comments follows.
    Halt = "F010", "misplaced or missing `halt`";

    /// A program has operations, or functions with operations and calls of them. A function stands before its
    /// first call and outside of repeats, and has operations only. It writes all its results. A call has as
    /// many arguments and results as the function has:
    ///
    /// ```text
    /// function triple %1 -> %2
    ///   sr_mulps %2, %1, 3, m=1
    /// end
    /// repeat 4
    ///   call triple %1 -> %1
    /// end
    /// halt
    /// ```
    ///
    /// The calls may have 33,554,432 operations in all, and at most 16 repeats stand inside each other.
    Function = "F011", "wrong function, call or repeat";

    /// The text begins with none of a ring program's lines, or a line is longer than 65,535 bytes. `rpu run`
    /// takes a file for a ring program by its ending `.fhetch`, also with `.gz` or `.xz` behind it.
    Text = "F012", "no ring program";

    /// A warning of `rpu lint` and of `rpu run --check`. A limb holds the coefficients of a polynomial, or
    /// its values at the roots. `sr_ntt` and `sr_intt` turn one form into the other. Products and
    /// `sr_automorph_eval` take values; `sr_automorph_coeff` and monomials take coefficients; sums take two
    /// limbs of one form. An input has the form that the first such line demands:
    ///
    /// ```text
    /// sr_ntt %3, %1, m=1
    /// sr_mulp %4, %3, %1, m=1   # %1 has coefficients
    /// ```
    Form = "F013", "limb in another form";

    /// A warning of `rpu lint` and of `rpu run --check`. The operand has residues modulo another entry of the
    /// table than the line. Only `sr_mulps` takes the words of any modulus, to begin a conversion between
    /// bases. Or the manifest's `moduli` name another modulus for a limb of an input or an output than the
    /// lines do.
    Residues = "F014", "residues of another modulus";

    /// A warning of `rpu lint`. No line reads the value before another one replaces it, and it is no output;
    /// or no line reads any limb of an input.
    Unread = "F015", "value that nothing reads";
}

impl Code {
    /// An error of this kind.
    pub(crate) fn error(self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).with_code(self.name())
    }

    /// What is wrong about a part of an operation.
    pub(crate) const fn of(part: Part) -> Self {
        match part {
            Part::Operation => Self::Operands,
            Part::Destination | Part::First | Part::Second => Self::Limb,
            Part::Scalar => Self::Number,
            Part::Named(Name::Modulus) => Self::Modulus,
            Part::Named(Name::Root) => Self::Root,
            Part::Named(Name::Exponent | Name::Offset) => Self::Exponent,
            Part::Named(Name::Mask | Name::LogDegree) => Self::Degree,
            Part::Argument(_) | Part::Result(_) => Self::Function,
        }
    }
}
