// `caramel`: modular multiplication in double precision, for q < 2^50. The data stay in double from
// the first kernel of a transform to its last; only the outermost loads and stores convert. In
// the paper every kernel converts.
//
// The quotient x w / q is rounded to an integer by adding and subtracting 2^52 + 2^51; a fused
// multiply-add gives the product's rounding error. For |x| <= 2q the rounded quotient is off by at
// most one half plus 2^-52 (|x w / q| + ...), so the remainder stays within [-q, q]. As in
// `cheddar`, values between stages are in [-2q, 2q].

#include "common.cuh"
#include "butterflies.cuh"

struct Arithmetic {
    using Word = u64;
    using Reg = double;

    Reg q, reciprocal;

    INLINE explicit Arithmetic(const Constants<Word, Reg>& c)
        : q((double)c.q), reciprocal(__longlong_as_double((i64)c.aux[0])) {}

    INLINE Reg enter(Word x) const { return (double)x; }
    INLINE Reg unpack(Word x) const { return __longlong_as_double((i64)x); }
    INLINE Word pack(Reg x) const { return (u64)__double_as_longlong(x); }
    INLINE Word leave(Reg x) const {
        Reg y = narrow(x);           // [-q, q]
        y = y < 0.0 ? y + q : y;     // [0, q]
        return (u64)(y >= q ? y - q : y);
    }

    // From [-2q, 2q] to [-q, q].
    INLINE Reg narrow(Reg x) const { return x - copysign(q, x); }

    INLINE Reg times(Reg x, Reg w) const {
        constexpr double ROUND = 6755399441055744.0;  // 2^52 + 2^51
        const Reg high = __dmul_rn(x, w);
        const Reg low = __fma_rn(x, w, -high);
        const Reg quotient = __dadd_rn(__fma_rn(high, reciprocal, ROUND), -ROUND);
        return __dadd_rn(__fma_rn(-quotient, q, high), low);
    }
};

using Field = SignedField<Arithmetic>;

#include "pass.cuh"
#ifdef CHAINED
#include "chained.cuh"
#endif
