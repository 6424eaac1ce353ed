//! Designs that a chart marks.

use crate::condition::{Condition, NOTATION};
use diagnostic::Diagnostic;

/// Designs to mark: `LABEL: CONDITIONS`, or conditions alone, which then are the label.
#[derive(Clone, PartialEq, Debug)]
pub struct Mark {
    pub(super) label: String,
    pub(super) conditions: Vec<Condition>,
}

impl Mark {
    /// Reads a mark. Errors are in a text called `name`.
    ///
    /// # Errors
    /// Returns an error if there are no conditions, or at the first part that is not one.
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let label = text.find(':').map(|end| &text[..end]).filter(|label| !label.contains(['<', '>', '=']));
        let conditions = Condition::parse_after(name, text, label.map_or(0, |label| label.len() + 1))
            .map_err(|error| {
                error.with_help(format!("{NOTATION}, and a label before it: `LABEL: CONDITIONS`"))
            })?;
        Ok(Self { label: label.unwrap_or(text).trim().to_owned(), conditions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_a_label() {
        let mark = |text: &str| Mark::parse("--mark", text).map(|mark| (mark.label, mark.conditions.len()));
        let two = mark("RPU paper: hple.count = 128 and vdm.banks = 128").unwrap();
        assert_eq!(two, ("RPU paper".to_owned(), 2));
        assert_eq!(mark("program = 'a:b'").unwrap(), ("program = 'a:b'".to_owned(), 1));
        let error = mark("RPU paper: hple.count").unwrap_err();
        assert_eq!((error.span, error.message.starts_with("expected `<`")), (Some(21..21), true));
    }
}
