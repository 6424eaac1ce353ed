//! Reads a definition, and reports all its errors.

use super::definition::Definition;
use super::resolver::Resolver;
use diagnostic::{Diagnostic, Diagnostics};

/// The most alternatives whose values are checked beside other errors, so that the errors of a long file come
/// soon.
const MOST: usize = 10_000;

impl Definition {
    /// Parses a definition; `file` is its name in errors and the base of its relative paths.
    ///
    /// # Errors
    /// Returns all errors: the text is not TOML, has an unknown key or an invalid value. Of a definition
    /// whose parts can be read, [`Plan::new`](super::Plan::new) checks keys and values of machines and
    /// kernels.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostics> {
        let (definition, mut errors) = Self::read_parts(file, text)?;
        if !errors.is_empty() {
            // There will be no plan, so the values in the other parts are checked now.
            let known: Vec<Diagnostic> = errors.iter().cloned().collect();
            let is_new = |error: &&Diagnostic| known.iter().all(|known| !overlap(known, error));
            definition.value_errors().iter().filter(is_new).for_each(|error| errors.push(error.clone()));
        }
        errors.in_order().or(definition)
    }

    /// The errors of all values that have a place.
    fn value_errors(&self) -> Diagnostics {
        let resolver = match Resolver::new(self) {
            Ok(resolver) => resolver,
            Err(errors) => return errors,
        };
        let mut placed = Diagnostics::default();
        let errors = resolver.errors(self.alternatives().into_iter().take(MOST));
        errors.iter().filter(|error| error.span.is_some()).for_each(|error| placed.push(error.clone()));
        placed
    }
}

/// Whether two errors are about the same part of a text.
fn overlap(a: &Diagnostic, b: &Diagnostic) -> bool {
    let (Some(first), Some(second)) = (&a.span, &b.span) else { return false };
    a.file == b.file && first.start < second.end && second.start < first.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_overlap_that_share_a_byte_of_a_file() {
        let text = "0123456789";
        let at = |file: &str, from, to| Diagnostic::new("wrong").at(file, text, from..to);
        let first = at("a", 2, 5);
        for (other, expected) in [
            (at("a", 2, 5), true),
            (at("a", 4, 9), true),
            (at("a", 0, 3), true),
            (at("a", 3, 4), true),
            (at("a", 5, 9), false),
            (at("a", 0, 2), false),
            (at("b", 2, 5), false),
            (Diagnostic::new("wrong").in_file("a"), false),
        ] {
            assert_eq!(overlap(&first, &other), expected, "{other:?}");
        }
    }
}
