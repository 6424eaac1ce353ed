//! The effect of shuffle instructions on the lanes of their registers.
//!
//! Sources and destinations never overlap: the executor writes a result to a scratch register and
//! exchanges it with the destination. All slices of a call have the same, even length.

/// Interleaves half of `a` with half of `b`: the low halves for `HALF_INDEX` 0, the high for 1.
pub(super) fn unpack<const HALF_INDEX: usize, T: Copy>(out: &mut [T], a: &[T], b: &[T]) {
    let half = out.len() / 2;
    let (a, b) = (&a[HALF_INDEX * half..][..half], &b[HALF_INDEX * half..][..half]);
    let (pairs, _) = out.as_chunks_mut::<2>();
    for ((pair, &a), &b) in pairs.iter_mut().zip(a).zip(b) {
        *pair = [a, b];
    }
}

/// Gathers the elements of `a`, then of `b`, whose index has the given `PARITY`.
pub(super) fn pack<const PARITY: usize, T: Copy>(out: &mut [T], a: &[T], b: &[T]) {
    let (out_a, out_b) = out.split_at_mut(out.len() / 2);
    for (out, source) in [(out_a, a), (out_b, b)] {
        let (pairs, _) = source.as_chunks::<2>();
        for (out, pair) in out.iter_mut().zip(pairs) {
            *out = pair[PARITY];
        }
    }
}
