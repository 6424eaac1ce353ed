//! The product of two polynomials in the memory of its operands and its result.
//!
//! The last pass of the forward transforms and the first pass of the inverse one have the same blocks if one
//! plan reverses the other. Such a block of both operands is transformed, multiplied and transformed back in
//! registers. The passes before and after it work in place, or rotate through the three buffers.

use super::{Dialect, Factored, blocks};
use crate::code::{BufferId, Code, TowerId};
use crate::plan::{Plan, PlanError, TracedPass};
use b512_asm::Op;

/// Appends the code of `c = a b` modulo X^n + 1, for the buffers `[a, b, c]`. It overwrites `a` and `b`.
/// Returns false, without code, if the plans of the forward and of the inverse transform do not allow it.
///
/// # Errors
/// Returns the first invalid plan, by its index, and its error.
pub fn product(
    code: &mut Code,
    dialect: Dialect,
    [forward, inverse]: [&Plan; 2],
    tower: TowerId,
    [a, b, c]: [BufferId; 3],
) -> Result<bool, (usize, PlanError)> {
    let mut forward = Factored::new(forward).map_err(|error| (0, error))?;
    let mut inverse = Factored::new(inverse).map_err(|error| (1, error))?;
    let (forward_passes, inverse_passes) = (forward.passes.clone(), inverse.passes.clone());
    let ([before @ .., last], [first, after @ ..]) = (&forward_passes[..], &inverse_passes[..]) else {
        unreachable!("a plan has passes");
    };
    // The free buffer when both operands are in values.
    let middle = [c, b, a][moves(before) % 3];
    let mut moves_left = moves(after);
    let reaches_the_result = moves_left > 1 || (moves_left == 0) == (middle == c);
    if last.end != first.start || last.to != first.from || last.blocks != first.blocks || !reaches_the_result
    {
        return Ok(false);
    }

    let (mut operands, mut free) = ([a, b], c);
    for pass in before {
        let [x, y] = operands;
        let mut lowering = forward.lowering(code, dialect, tower);
        if pass.in_place() {
            lowering.pass(pass, &[[x, x], [y, y]], None);
        } else {
            lowering.pass(pass, &[[x, free]], None);
            lowering.pass(pass, &[[y, x]], None);
            (operands, free) = ([free, x], y);
        }
        code.end_pass();
    }
    for block in blocks(last) {
        let mut lowering = forward.lowering(code, dialect, tower);
        let mut values = operands.map(|operand| lowering.load(last, block, operand));
        lowering.compute(last, block, &mut values);
        let pairs = values[0].iter().zip(&values[1]);
        let product = pairs.map(|(&x, &y)| code.apply(Op::Vmul, [x, y], None, tower)).collect();
        let mut lowering = inverse.lowering(code, dialect, tower);
        let mut product = [product];
        lowering.compute(first, block, &mut product);
        lowering.store(first, block, &product[0], free, None);
    }
    code.end_pass();
    let mut at = free;
    for pass in after {
        let mut to = at;
        if !pass.in_place() {
            moves_left -= 1;
            to = match moves_left {
                0 => c,
                _ if at == a => b,
                _ => a,
            };
        }
        inverse.lowering(code, dialect, tower).pass(pass, &[[at, to]], None);
        code.end_pass();
        at = to;
    }
    code.remove_unread();
    Ok(true)
}

/// The number of passes that need a second buffer.
fn moves(passes: &[TracedPass]) -> usize {
    passes.iter().filter(|pass| !pass.in_place()).count()
}
