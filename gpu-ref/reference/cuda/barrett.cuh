// Barrett reduction of the full product, in three variants (Shivdikar et al., Algorithms 2, 3 and
// 4).
//
// With m the length of q in bits, x < 2^(2m) and mu = floor(2^(2m+k) / q), the quotient estimate is
//     ((x >> (m - a)) mu) >> (m + a + k).
// BARRETT 1: none of these; the built-in remainder.
// BARRETT 2: a = 1, k = 0, off by at most two, m <= bits - 2.
// BARRETT 3: a = 2, k = 3, off by at most one, m <= bits - 4.
// BARRETT 4: a = 2, k = 1, off by at most one, m <= bits - 2.
// Data are fully reduced throughout.

#include "common.cuh"
#include "butterflies.cuh"

#if WORD_BITS == 32
using Residue = u32;
using Double = u64;
#else
using Residue = u64;
using Double = u128;
#endif

constexpr int EARLY = BARRETT <= 2 ? 1 : 2;
constexpr int EXTRA = BARRETT <= 2 ? 0 : BARRETT == 3 ? 3 : 1;

struct Arithmetic {
    using Word = Residue;

    Word q, mu, length;

    INLINE explicit Arithmetic(const Constants<Word, Word>& c) : q(c.q), mu(c.aux[0]), length(c.aux[1]) {}

    // x mod q, for x < 2^(2m).
    INLINE Word reduce(Double x) const {
        if (BARRETT == 1) return (Word)(x % q);
        const Word top = (Word)(x >> (length - EARLY));
        const Word quotient = (Word)(((Double)top * mu) >> (length + EARLY + EXTRA));
        Word rest = reduce_once((Word)x - quotient * q, q);
        if (BARRETT == 2) rest = reduce_once(rest, q);
        return rest;
    }
    INLINE Word product(Word a, Word b) const { return reduce((Double)a * b); }
    INLINE Word add(Word x, Word y) const { return reduce_once(x + y, q); }
    INLINE Word subtract(Word x, Word y) const { return reduce_once(x + q - y, q); }
};

using Field = ReducedField<Arithmetic>;
