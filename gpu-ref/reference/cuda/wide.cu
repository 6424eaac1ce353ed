// `wide`: 128-bit words and any odd modulus below 2^128, by Montgomery multiplication with fully
// reduced data.
//
// The reduction subtracts: t - m q with m = t / q mod 2^128 has a zero low half, and its high half
// is in (-q, q), so no intermediate needs a 129th bit, whatever the modulus. Roots are stored times
// 2^128 mod q.

#include "common.cuh"
#include "butterflies.cuh"

struct Arithmetic {
    using Word = u128;

    u128 q, inverse_of_q;  // 1/q mod 2^128

    INLINE explicit Arithmetic(const Constants<Word, Word>& c) : q(c.q), inverse_of_q(c.aux[0]) {}

    INLINE Word add(Word x, Word y) const {
        u32 carry, borrow;
        const Word sum = add_with_carry(x, y, carry);
        const Word reduced = subtract_with_borrow(sum, q, borrow);
        return carry || !borrow ? reduced : sum;
    }
    INLINE Word subtract(Word x, Word y) const {
        u32 borrow;
        const Word difference = subtract_with_borrow(x, y, borrow);
        const u64 mask = (u64)borrow << 32 | borrow;
        return difference + (q & ((u128)mask << 64 | mask));
    }

    // x y / 2^128 mod q.
    INLINE Word product(Word x, Word y) const {
        const FullProduct<u128> t = multiply_full(x, y);
        return subtract(t.high, multiply_high(multiply_low(t.low, inverse_of_q), q));
    }
};

using Field = ReducedField<Arithmetic>;

#include "pass.cuh"
