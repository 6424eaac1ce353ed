//! Places of polynomials in a batch.

use crate::Error;

/// Polynomials at equal distances in a [`crate::Batch`]: number `p` of `count` starts at word
/// `first + p stride`, with its limbs one after the other. The words between them stay as they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The first word of the first polynomial.
    pub first: usize,
    /// Words from the start of a polynomial to the start of the next: a multiple of N, at least the
    /// length of a polynomial.
    pub stride: usize,
    /// Number of polynomials, at least one.
    pub count: usize,
}

impl Layout {
    /// Checks that polynomials of `unit` words, a multiple of `n`, do not overlap and end within a batch
    /// of `words` words.
    pub(crate) fn check(self, unit: usize, n: usize, words: usize) -> Result<(), Error> {
        let Self { first, stride, count } = self;
        let fail = |instead: String| Err(Error::Unsupported { what: format!("{self:?}"), instead });
        if count == 0 || stride < unit || !stride.is_multiple_of(n) {
            return fail(format!(
                "use one or more polynomials, and a stride of at least {unit} words that is a multiple of N = {n}"
            ));
        }
        let end = (count - 1).checked_mul(stride).and_then(|last| last.checked_add(first)?.checked_add(unit));
        if end.is_none_or(|end| end > words) {
            return fail(format!("the last polynomial of {unit} words must end within the batch of {words}"));
        }
        Ok(())
    }
}
