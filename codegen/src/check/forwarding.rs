//! Proof that code after [`forward`](crate::forwarding::forward) computes the same as before; [the
//! parent](super) has the rules.

use super::terms::{CodeFault, Terms, Word, evaluate};
use crate::code::{BufferId, Claim, Code};
use b512_asm::Role;
use thiserror::Error;

/// The first difference that the proof finds between two versions of vector code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ForwardingFault {
    /// Vector code that is invalid by itself.
    #[error("{which}: {fault}")]
    Code {
        /// `before` or `after`.
        which: &'static str,
        /// The defect.
        fault: CodeFault,
    },
    /// A buffer that only one version has, or that has another size or role. Scratch buffers may
    /// disappear.
    #[error("buffer `{0}` has changed")]
    Buffer(String),
    /// Claims or rings that differ.
    #[error("the claims of the code have changed")]
    Claims,
    /// An output word with another result.
    #[error("word {word} of `{output}` was {before} and is now {after}")]
    Output {
        /// The output buffer.
        output: String,
        /// The word.
        word: usize,
        /// Its content before.
        before: String,
        /// Its content now.
        after: String,
    },
}

/// Proves that `after` leaves the same data as `before` in every word of every output, for all
/// inputs. Buffers are matched by name.
///
/// # Errors
/// Returns the first difference.
pub fn forwarding(before: &Code, after: &Code) -> Result<(), ForwardingFault> {
    // The index in `before` of each buffer of `after`.
    let mut inputs = Vec::new();
    for buffer in &after.buffers {
        let known = before.buffers.iter().position(|known| known == buffer);
        let known = known.ok_or_else(|| ForwardingFault::Buffer(buffer.name.clone()))?;
        inputs.push(BufferId(known as u32));
    }
    let claims = after.claims.iter().map(|claim| Claim {
        expressions: claim.expressions.clone(),
        outputs: claim.outputs.iter().map(|output| inputs[output.index()]).collect(),
        inputs: claim.inputs.iter().map(|input| inputs[input.index()]).collect(),
        parameters: claim.parameters.clone(),
    });
    if (before.isa, &before.towers) != (after.isa, &after.towers) || !before.claims.iter().cloned().eq(claims)
    {
        return Err(ForwardingFault::Claims);
    }
    let mut terms = Terms::default();
    let mut memory = |which, code, inputs: &[BufferId]| {
        evaluate(code, inputs, &mut terms).map_err(|fault| ForwardingFault::Code { which, fault })
    };
    let same: Vec<BufferId> = (0..before.buffers.len() as u32).map(BufferId).collect();
    let expected = memory("before", before, &same)?;
    let found = memory("after", after, &inputs)?;
    for (number, buffer) in before.buffers.iter().enumerate() {
        if buffer.role != Role::Output {
            continue;
        }
        let index = inputs.iter().position(|input| input.index() == number);
        let index = index.ok_or_else(|| ForwardingFault::Buffer(buffer.name.clone()))?;
        for (word, (&expected, &found)) in expected[number].iter().zip(&found[index]).enumerate() {
            if expected != found {
                let describe = |content: Word| terms.describe(before, content);
                return Err(ForwardingFault::Output {
                    output: buffer.name.clone(),
                    word,
                    before: describe(expected),
                    after: describe(found),
                });
            }
        }
    }
    Ok(())
}
