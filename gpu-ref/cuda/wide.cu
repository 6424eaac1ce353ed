// `wide`: 128-bit words and any odd modulus below 2^128, by Montgomery multiplication with fully reduced data.
//
// The reduction subtracts: t - m q with m = t / q mod 2^128 has a zero low half, and its high half lies in (-q, q), so that
// no intermediate needs a 129th bit whatever the modulus. Roots are stored times 2^128 mod q.

#include "common.cuh"

// High and low halves of a 256-bit product.
struct Product256 {
    u128 high, low;
};

INLINE u128 widening(u64 a, u64 b) { return (u128)a * b; }

INLINE Product256 multiply_full(u128 a, u128 b) {
    const u64 a0 = (u64)a, a1 = (u64)(a >> 64), b0 = (u64)b, b1 = (u64)(b >> 64);
    const u128 p00 = widening(a0, b0), p01 = widening(a0, b1), p10 = widening(a1, b0), p11 = widening(a1, b1);
    const u128 middle = (p00 >> 64) + (u64)p01 + (u64)p10;
    return {p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64), middle << 64 | (u64)p00};
}

INLINE u128 multiply_high(u128 a, u128 b) { return multiply_full(a, b).high; }

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
        const Reg sum = x + y;
        return sum < x || sum >= q ? sum - q : sum;
    }
    INLINE Reg subtract(Reg x, Reg y) const { return x < y ? x - y + q : x - y; }

    // x y / 2^128 mod q.
    INLINE Reg product(Reg x, Reg y) const {
        const Product256 t = multiply_full(x, y);
        return subtract(t.high, multiply_high(t.low * inverse_of_q, q));
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
