// Lazy Shoup multiplication (Harvey's butterflies), for q < 2^(WORD_BITS - SLACK).
//
// A root w comes with floor(w 2^bits / q). Then x w mod q costs two low products and one high
// product, and is in [0, 2q) for every word x. A shorter high product is a little too small, which
// adds a small multiple of q.
//
// A word holds values below LIMIT q, so sums need no reduction until they may exceed it. `BOUND` is
// the bound of a butterfly's operands, in multiples of q. It is the same for all elements of a
// stage and known at compile time. Only the last pass reduces fully.

#ifndef SLACK
#define SLACK 2
#endif

#if WORD_BITS == 32
using Residue = u32;
#elif WORD_BITS == 64
using Residue = u64;
#else
using Residue = u128;
#endif

struct Field {
    using Word = Residue;
    using Reg = Residue;
    using Twiddle = ShoupPair<Residue>;

    static constexpr int LIMIT = 1 << SLACK;
    static constexpr int HALF = LIMIT / 2;
    using High = HighProduct<Residue, SLACK>;
    // Bound of a product with a root.
    static constexpr int TIMES = 2 + High::ERROR;
    // Bound of `product`.
    static constexpr int PRODUCT = LIMIT / 4 + 1;

    // Multiples of q, which the host computes: the compiler would compute them at each use.
    Reg q, negated_q, two_q, half, times_bound;
    Reg negated_inverse;  // -1/q mod 2^bits
    // Of the leading bits of q, those from bit `early_shift`: about 2^(32 + late_shift) over them.
    u32 reciprocal, early_shift, late_shift;

    INLINE explicit Field(const Constants<Word, Twiddle>& c)
        : q(c.q), negated_q(0 - c.q), two_q(c.aux[3]), half(c.aux[1]), times_bound(c.aux[2]), negated_inverse(c.aux[0]),
          reciprocal((u32)c.aux[4]), early_shift((u32)c.aux[5]), late_shift((u32)c.aux[6]) {}

    static constexpr INLINE bool reduces_forward(int bound) { return bound + TIMES > LIMIT; }
    static constexpr INLINE int after_forward(int bound) { return (reduces_forward(bound) ? HALF : bound) + TIMES; }
    // Inverse data are below HALF q at every stage.

    INLINE Reg enter(Word x) const { return x; }
    INLINE Reg unpack(Word x) const { return x; }
    INLINE Word pack(Reg x) const { return x; }
    // x mod q, for x below BOUND q.
    template <int BOUND>
    INLINE Word leave(Reg x) const {
        if constexpr (BOUND > 4) {
            // The quotient is below 16, and its estimate from the leading bits at most 1 too small.
            const u32 estimate = multiply_high((u32)(x >> early_shift), reciprocal) >> late_shift;
            return reduce_once(x - multiply_low((Reg)estimate, q), q);
        } else if constexpr (BOUND > 2) {
            return leave<2>(reduce_once(x, two_q));
        } else {
            return BOUND > 1 ? reduce_once(x, q) : x;
        }
    }

    // x w mod q, in [0, TIMES q).
    INLINE Reg times(Reg x, const Twiddle& w) const {
        return two_products_low(x, w.root, High::of(x, w.quotient), negated_q);
    }

    template <int BOUND>
    INLINE void forward(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg u = reduces_forward(BOUND) ? reduce_once(x, half) : x, v = times(y, w);
        x = u + v;
        y = u + times_bound - v;
    }
    // If both operands are products with roots, their sum may need no reduction.
    INLINE void inverse(Reg& x, Reg& y, const Twiddle& w, bool products) const {
        const Reg u = x + y, v = x + half - y;
        x = products && 2 * TIMES <= HALF ? u : reduce_once(u, half);
        y = times(v, w);
    }
    INLINE void inverse_scaled(Reg& x, Reg& y, const Twiddle& scale, const Twiddle& w) const {
        const Reg u = x + y, v = x + half - y;
        x = times(u, scale);
        y = times(v, w);
    }
    // x y / 2^bits mod q, in [0, PRODUCT q), for x and y below BOUND q: a Montgomery reduction,
    // whose factor the scale removes.
    template <int BOUND>
    INLINE Reg product(Reg x, Reg y) const {
        if constexpr (BOUND > HALF) x = reduce_once(x, half), y = reduce_once(y, half);
        const FullProduct<Reg> z = multiply_full(x, y);
        const Reg carry = z.low != 0;  // z.low + (z.low negated_inverse q mod 2^bits) is 0 or 2^bits
        return z.high + multiply_high(multiply_low(z.low, negated_inverse), q) + carry;
    }
};
