//! Faults of operations, for all sources of programs.

use crate::code::Code;
use crate::part::Part;
use std::fmt;

/// An invalid operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub code: Code,
    /// The part that is wrong.
    pub part: Part,
    /// The error in one line.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl Fault {
    /// A fault without help.
    pub fn new(part: Part, message: impl Into<String>) -> Self {
        Self { code: Code::of(part), part, message: message.into(), help: None }
    }

    /// The fault as one of another kind than its part suggests.
    pub(crate) fn code(self, code: Code) -> Self {
        Self { code, ..self }
    }

    /// The fault with help.
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Fault {}
