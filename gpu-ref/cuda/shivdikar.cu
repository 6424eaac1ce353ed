// `shivdikar`: Barrett reduction of the full product, three ways (Shivdikar et al., Algorithms 2, 3 and 4).
//
// With m the length of q in bits, x < 2^(2m) and mu = floor(2^(2m+k) / q), the quotient estimate is
//     ((x >> (m - a)) mu) >> (m + a + k).
// BARRETT 1: none of these, the language's remainder.
// BARRETT 2: a = 1, k = 0, off by at most two, m <= bits - 2.
// BARRETT 3: a = 2, k = 3, off by at most one, m <= bits - 4.
// BARRETT 4: a = 2, k = 1, off by at most one, m <= bits - 2.
// Data are fully reduced throughout.

#include "common.cuh"

#if WORD_BITS == 32
using Residue = u32;
using Double = u64;
#else
using Residue = u64;
using Double = u128;
#endif

constexpr int EARLY = BARRETT <= 2 ? 1 : 2;
constexpr int EXTRA = BARRETT <= 2 ? 0 : BARRETT == 3 ? 3 : 1;

struct Field {
    using Word = Residue;
    using Reg = Residue;
    using Twiddle = Residue;

    Reg q, mu, length;

    INLINE explicit Field(const Constants<Word, Twiddle>& c) : q(c.q), mu(c.aux[0]), length(c.aux[1]) {}

    INLINE Reg enter(Word x) const { return x; }
    INLINE Reg unpack(Word x) const { return x; }
    INLINE Word pack(Reg x) const { return x; }
    INLINE Word leave(Reg x) const { return x; }

    INLINE Reg product(Reg a, Reg b) const {
        const Double x = (Double)a * b;
        if (BARRETT == 1) return (Reg)(x % q);
        const Reg top = (Reg)(x >> (length - EARLY));
        const Reg quotient = (Reg)(((Double)top * mu) >> (length + EARLY + EXTRA));
        Reg rest = subtract_if_not_less((Reg)x - quotient * q, q);
        if (BARRETT == 2) rest = subtract_if_not_less(rest, q);
        return rest;
    }
    INLINE Reg add(Reg x, Reg y) const { return subtract_if_not_less(x + y, q); }
    INLINE Reg subtract(Reg x, Reg y) const { return subtract_if_not_less(x + q - y, q); }

    INLINE void forward(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg u = x, v = product(y, w);
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
