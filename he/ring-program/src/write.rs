//! The writer: programs as text.

use crate::part::Name;
use crate::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use crate::{Call, Limb, ModulusIndex, Operation, RingProgram, SENTINEL, Step, for_each_operation};
use std::io::{self, Write};

impl RingProgram {
    /// Writes the program. [`read`](crate::read()) reads it back.
    ///
    /// Each line of `comment` becomes a comment at the head. Scalars are decimal, moduli
    /// hexadecimal; roots are written if the program states them.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written to.
    pub fn write(&self, comment: &str, mut out: impl Write) -> io::Result<()> {
        for line in comment.lines() {
            writeln!(out, "# {line}")?;
        }
        writeln!(out, "modulus_count {}", self.moduli.len() + 1)?;
        writeln!(out, "m[0] {SENTINEL:#X}")?;
        for (index, modulus) in self.moduli.iter() {
            writeln!(out, "m[{}] {modulus:#X}", index.get())?;
        }
        for function in &self.functions {
            write!(out, "function {}", function.name())?;
            let body = function.body();
            write_signature(body, function.parameters(), function.results(), &mut out)?;
            body.operations.iter().try_for_each(|operation| write_operation(operation, body, &mut out))?;
            writeln!(out, "end")?;
        }
        for operation in &self.operations {
            write_operation(operation, self, &mut out)?;
        }
        self.write_steps(&self.steps, &mut out)?;
        writeln!(out, "halt")
    }

    fn write_steps(&self, steps: &[Step], out: &mut impl Write) -> io::Result<()> {
        for step in steps {
            match step {
                Step::Call(Call { function, arguments, results }) => {
                    write!(out, "call {}", self.function(*function).name())?;
                    write_signature(self, arguments, results, out)?;
                }
                Step::Repeat(count, steps) => {
                    writeln!(out, "repeat {count}")?;
                    self.write_steps(steps, out)?;
                    writeln!(out, "end")?;
                }
            }
        }
        Ok(())
    }

    /// The program as text.
    pub fn to_text(&self) -> String {
        let mut text = Vec::new();
        self.write("", &mut text).expect("memory can be written to");
        String::from_utf8(text).expect("the notation is ASCII")
    }
}

/// Writes ` %1..%3, %7 -> %8` and the end of the line.
fn write_signature(
    program: &RingProgram,
    from: &[Limb],
    to: &[Limb],
    out: &mut impl Write,
) -> io::Result<()> {
    for (limbs, before) in [(from, ""), (to, " ->")] {
        out.write_all(before.as_bytes())?;
        let mut ids = limbs.iter().map(|&limb| program.limbs.id(limb)).peekable();
        let mut separator = " ";
        while let Some(first) = ids.next() {
            let mut last = first;
            while let Some(next) = ids.next_if(|next| last.0.checked_add(1) == Some(next.0)) {
                last = next;
            }
            write!(out, "{separator}{first}")?;
            if last != first {
                write!(out, "..{last}")?;
            }
            separator = ", ";
        }
    }
    writeln!(out)
}

/// The notation of one shape, after the opcode.
trait Print {
    fn print(&self, program: &RingProgram, out: &mut dyn Write) -> io::Result<()>;
}

macro_rules! printed {
    ($Shape:ident, |$operands:ident, $program:ident| $format:literal $(, $value:expr)*) => {
        impl Print for $Shape {
            fn print(&self, $program: &RingProgram, out: &mut dyn Write) -> io::Result<()> {
                let $operands = self;
                let d = $program.limbs.id($operands.d);
                write!(out, concat!(" {}, ", $format), d $(, $value)*)
            }
        }
    };
}

printed!(Binary, |x, program| "{}, {}, m={}", program.limbs.id(x.a), program.limbs.id(x.b), x.m.get());
printed!(
    Scalar,
    |x, program| "{}, {}, m={}",
    program.limbs.id(x.a),
    program.constants.value(x.scalar),
    x.m.get()
);
printed!(Unary, |x, program| "{}, m={}", program.limbs.id(x.a), x.m.get());
printed!(GaloisCoefficients, |x, program| "{}, k={}, m={}", program.limbs.id(x.a), x.k, x.m.get());
printed!(Monomial, |x, program| "{}, offset={}, m={}", program.limbs.id(x.a), x.offset, x.m.get());
printed!(Duplicate, |x, program| "{}, 0, m=0", program.limbs.id(x.a));
// The source is not read, so any limb will do.
printed!(Clear, |x, program| "{}, 0, m={}", program.limbs.id(x.d), x.m.map_or(0, ModulusIndex::get));

impl Print for Transform {
    fn print(&self, program: &RingProgram, out: &mut dyn Write) -> io::Result<()> {
        let (d, a) = (program.limbs.id(self.d), program.limbs.id(self.a));
        write!(out, " {d}, {a}, m={}", self.m.get())?;
        match self.root {
            Some(root) => write!(out, ", {}={}", Name::Root.text(), program.constants.value(root)),
            None => Ok(()),
        }
    }
}

impl Print for Galois {
    fn print(&self, program: &RingProgram, out: &mut dyn Write) -> io::Result<()> {
        let (d, a, k) = (program.limbs.id(self.d), program.limbs.id(self.a), self.k);
        let degree = program.degree;
        match self.m {
            None => write!(out, " {d}, {a}, k={k}, m=0"),
            Some(m) => {
                let (m, mask, log) = (m.get(), degree.get() - 1, degree.log2());
                write!(out, " {d}, {a}, m={m}, mask={mask}, logn={log}, k={k}")
            }
        }
    }
}

macro_rules! instructions {
    (
        executable { $(($Name:ident, $Shape:ident, $opcode:literal, $meaning:literal))* }
        idioms { $(($Idiom:ident, $IdiomShape:ident, $written:literal, $case:literal))* }
        refused { $($refused:tt)* }
    ) => {
        fn write_operation(operation: &Operation, program: &RingProgram, out: &mut dyn Write) -> io::Result<()> {
            out.write_all(operation.opcode().as_bytes())?;
            match operation {
                $(Operation::$Name(operands) => operands.print(program, out)?,)*
                $(Operation::$Idiom(operands) => operands.print(program, out)?,)*
            }
            out.write_all(b"\n")
        }
    };
}

for_each_operation!(instructions);
