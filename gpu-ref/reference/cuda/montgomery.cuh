// Signed Montgomery reduction on 32 bits (Cheddar, Algorithm 2), for q < 2^30.
//
// A product is reduced to (-q, q) by two high multiplications and one low one, without carries. The
// value between stages stays in (-2q, 2q), and only the operand that is not multiplied is brought
// back to [-q, q). Roots are stored times 2^32 mod q, so coefficients never change their form.

#include "common.cuh"
#include "butterflies.cuh"

struct Arithmetic {
    using Word = u32;
    using Reg = i32;

    Reg q, inverse_of_q;  // 1/q mod 2^32

    INLINE explicit Arithmetic(const Constants<Word, Reg>& c) : q((i32)c.q), inverse_of_q((i32)c.aux[0]) {}

    INLINE Reg enter(Word x) const { return (i32)x; }
    INLINE Reg unpack(Word x) const { return (i32)x; }
    INLINE Word pack(Reg x) const { return (u32)x; }
    INLINE Word leave(Reg x) const {
        const Reg y = narrow(x);
        return (u32)(y < 0 ? y + q : y);
    }

    // From [-2q, 2q) to [-q, q).
    INLINE Reg narrow(Reg x) const { return x < 0 ? x + q : x - q; }

    // x / 2^32 mod q in (-q, q), for |x| < 2^31 q. The low halves of x and of the subtrahend agree
    // and cancel.
    INLINE Reg reduce(i64 x) const {
        const i32 low = (i32)((u32)x * (u32)inverse_of_q);
        return (i32)(x >> 32) - multiply_high(low, q);
    }
    // x w / 2^32 mod q in (-q, q), for |x w| < 2^31 q.
    INLINE Reg times(Reg x, Reg w) const { return reduce((i64)x * w); }
};

using Field = SignedField<Arithmetic>;
