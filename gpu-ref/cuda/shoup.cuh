// Lazy Shoup multiplication (Harvey's butterflies), for q < 2^(WORD_BITS - 2).
//
// A root w comes with floor(w 2^bits / q). Then x w mod q costs two low products and one high
// product, and is in [0, 2q) for every word x. Forward data stay in [0, 4q), inverse data in [0,
// 2q); only the last pass reduces fully.

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

    Reg q, two_q, negated_inverse;  // negated_inverse = -1/q mod 2^bits

    INLINE explicit Field(const Constants<Word, Twiddle>& c) : q(c.q), two_q(2 * c.q), negated_inverse(c.aux[0]) {}

    INLINE Reg enter(Word x) const { return x; }
    INLINE Reg unpack(Word x) const { return x; }
    INLINE Word pack(Reg x) const { return x; }
    INLINE Word leave(Reg x) const { return subtract_if_not_less(subtract_if_not_less(x, two_q), q); }

    // x w mod q, in [0, 2q).
    INLINE Reg times(Reg x, const Twiddle& w) const {
        return multiply_low(x, w.root) - multiply_low(multiply_high(x, w.quotient), q);
    }

    INLINE void forward(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg u = subtract_if_not_less(x, two_q), v = times(y, w);
        x = u + v;
        y = u + two_q - v;
    }
    INLINE void inverse(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg u = x + y, v = x + two_q - y;
        x = subtract_if_not_less(u, two_q);
        y = times(v, w);
    }
    INLINE void inverse_scaled(Reg& x, Reg& y, const Twiddle& scale, const Twiddle& w) const {
        const Reg u = x + y, v = x + two_q - y;
        x = times(u, scale);
        y = times(v, w);
    }
    // x y / 2^bits mod q, in [0, 2q), for x and y in [0, 4q): a Montgomery reduction, whose factor
    // the scale removes.
    INLINE Reg product(Reg x, Reg y) const {
        const FullProduct<Reg> z = multiply_full(subtract_if_not_less(x, two_q), subtract_if_not_less(y, two_q));
        const Reg carry = z.low != 0;  // z.low + (z.low negated_inverse q mod 2^bits) is 0 or 2^bits
        return z.high + multiply_high(multiply_low(z.low, negated_inverse), q) + carry;
    }
};
