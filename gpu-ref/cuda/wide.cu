// `wide`: 128-bit words and any odd modulus below 2^128, by Montgomery multiplication with fully reduced data.
//
// The reduction subtracts: t - m q with m = t / q mod 2^128 has a zero low half, and its high half lies in (-q, q), so that
// no intermediate needs a 129th bit whatever the modulus. Roots are stored times 2^128 mod q.

#include "common.cuh"

struct Field {
    using Word = u128;
    using Reg = u128;
    using Twiddle = u128;

    u128 q, inverse_of_q;  // 1/q mod 2^128

    INLINE explicit Field(const Constants<Word, Twiddle>& c) : q(c.q), inverse_of_q(c.aux[0]) {}

    INLINE Reg enter(Word x) const { return x; }
    INLINE Reg unpack(Word x) const { return x; }
    INLINE Word pack(Reg x) const { return x; }
    INLINE Word leave(Reg x) const { return x; }

    INLINE Reg add(Reg x, Reg y) const {
        u32 carry, borrow;
        const Reg sum = add_with_carry(x, y, carry);
        const Reg reduced = subtract_with_borrow(sum, q, borrow);
        return carry || !borrow ? reduced : sum;
    }
    INLINE Reg subtract(Reg x, Reg y) const {
        u32 borrow;
        const Reg difference = subtract_with_borrow(x, y, borrow);
        const u64 mask = (u64)borrow << 32 | borrow;
        return difference + (q & ((u128)mask << 64 | mask));
    }

    // x y / 2^128 mod q.
    INLINE Reg product(Reg x, Reg y) const {
        const FullProduct<u128> t = multiply_full(x, y);
        return subtract(t.high, multiply_high(multiply_low(t.low, inverse_of_q), q));
    }

    INLINE void forward(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg v = product(y, w), u = x;
        x = add(u, v);
        y = subtract(u, v);
    }
    INLINE void inverse(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg u = add(x, y), v = subtract(x, y);
        x = u;
        y = product(v, w);
    }
    INLINE void inverse_scaled(Reg& x, Reg& y, const Twiddle& scale, const Twiddle& w) const {
        const Reg u = add(x, y), v = subtract(x, y);
        x = product(u, scale);
        y = product(v, w);
    }
};

#include "pass.cuh"
