// 128-bit products and sums as carry chains on 32-bit limbs.
//
// The compiler's own 128-bit arithmetic rebuilds each carry with a comparison; these chains pass it
// from instruction to instruction. A pair mad.lo.cc, madc.hi.cc becomes one 32 x 32 + 64 bit
// multiply-add. The emulation uses the plain C++ code below each chain, so on a GPU the two are
// checked against each other.

// Both halves of a product.
template <class Word>
struct FullProduct {
    Word high, low;
};

INLINE FullProduct<u32> multiply_full(u32 a, u32 b) {
    const u64 p = (u64)a * b;
    return {(u32)(p >> 32), (u32)p};
}
INLINE FullProduct<u64> multiply_full(u64 a, u64 b) { return {__umul64hi(a, b), a * b}; }

INLINE u32 multiply_low(u32 a, u32 b) { return a * b; }
INLINE u64 multiply_low(u64 a, u64 b) { return a * b; }

// a b + c d modulo a power of two. One chain of multiply-adds: two products would need a sum.
INLINE u32 two_products_low(u32 a, u32 b, u32 c, u32 d) { return a * b + c * d; }
INLINE u64 two_products_low(u64 a, u64 b, u64 c, u64 d) { return a * b + c * d; }

#ifndef EMULATED

// a b / 2^64 without the product of the low halves: at most 1 too small.
INLINE u64 high_from_three(u64 a, u64 b) {
    u64 high;
    asm("{\n\t"
        ".reg .u32 a0, a1, b0, b1, m0, m1, m2, r0, r1;\n\t"
        "mov.b64 {a0, a1}, %1;          mov.b64 {b0, b1}, %2;\n\t"
        "mul.lo.u32 m0, a1, b0;         mul.hi.u32 m1, a1, b0;\n\t"
        "mad.lo.cc.u32 m0, a0, b1, m0;  madc.hi.cc.u32 m1, a0, b1, m1;\n\t"
        "addc.u32 m2, 0, 0;\n\t"
        "mad.lo.cc.u32 r0, a1, b1, m1;  madc.hi.u32 r1, a1, b1, m2;\n\t"
        "mov.b64 %0, {r0, r1};\n\t"
        "}"
        : "=l"(high)
        : "l"(a), "l"(b));
    return high;
}

INLINE u32 limb(u128 x, int i) { return (u32)(x >> (32 * i)); }
INLINE u128 from_limbs(u32 a, u32 b, u32 c, u32 d) { return (u128)((u64)d << 32 | c) << 64 | ((u64)b << 32 | a); }
#define LIMBS(x) "r"(limb(x, 0)), "r"(limb(x, 1)), "r"(limb(x, 2)), "r"(limb(x, 3))

// Products at even limb positions accumulate in e0..e7 and those at odd positions in o1..o7, so
// neighbouring products of one accumulator never overlap. One addition joins the two.
INLINE FullProduct<u128> multiply_full(u128 a, u128 b) {
    u32 r0, r1, r2, r3, r4, r5, r6, r7;
    asm("{\n\t"
        ".reg .u32 e1, e2, e3, e4, e5, e6, e7, o1, o2, o3, o4, o5, o6, o7;\n\t"
        "mul.lo.u32 %0, %8, %12;        mul.hi.u32 e1, %8, %12;\n\t"
        "mul.lo.u32 e2, %10, %12;       mul.hi.u32 e3, %10, %12;\n\t"
        "mul.lo.u32 o1, %9, %12;        mul.hi.u32 o2, %9, %12;\n\t"
        "mul.lo.u32 o3, %11, %12;       mul.hi.u32 o4, %11, %12;\n\t"
        "mad.lo.cc.u32 o1, %8, %13, o1;   madc.hi.cc.u32 o2, %8, %13, o2;\n\t"
        "madc.lo.cc.u32 o3, %10, %13, o3; madc.hi.cc.u32 o4, %10, %13, o4;\n\t"
        "addc.u32 o5, 0, 0;\n\t"
        "mad.lo.cc.u32 e2, %9, %13, e2;   madc.hi.cc.u32 e3, %9, %13, e3;\n\t"
        "madc.lo.cc.u32 e4, %11, %13, 0;  madc.hi.u32 e5, %11, %13, 0;\n\t"
        "mad.lo.cc.u32 e2, %8, %14, e2;   madc.hi.cc.u32 e3, %8, %14, e3;\n\t"
        "madc.lo.cc.u32 e4, %10, %14, e4; madc.hi.cc.u32 e5, %10, %14, e5;\n\t"
        "addc.u32 e6, 0, 0;\n\t"
        "mad.lo.cc.u32 o3, %9, %14, o3;   madc.hi.cc.u32 o4, %9, %14, o4;\n\t"
        "madc.lo.cc.u32 o5, %11, %14, o5; madc.hi.u32 o6, %11, %14, 0;\n\t"
        "mad.lo.cc.u32 o3, %8, %15, o3;   madc.hi.cc.u32 o4, %8, %15, o4;\n\t"
        "madc.lo.cc.u32 o5, %10, %15, o5; madc.hi.cc.u32 o6, %10, %15, o6;\n\t"
        "addc.u32 o7, 0, 0;\n\t"
        "mad.lo.cc.u32 e4, %9, %15, e4;   madc.hi.cc.u32 e5, %9, %15, e5;\n\t"
        "madc.lo.cc.u32 e6, %11, %15, e6; madc.hi.u32 e7, %11, %15, 0;\n\t"
        "add.cc.u32 %1, e1, o1;  addc.cc.u32 %2, e2, o2;\n\t"
        "addc.cc.u32 %3, e3, o3; addc.cc.u32 %4, e4, o4;\n\t"
        "addc.cc.u32 %5, e5, o5; addc.cc.u32 %6, e6, o6;\n\t"
        "addc.u32 %7, e7, o7;\n\t"
        "}"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3), "=&r"(r4), "=&r"(r5), "=&r"(r6), "=&r"(r7)
        : LIMBS(a), LIMBS(b));
    return {from_limbs(r4, r5, r6, r7), from_limbs(r0, r1, r2, r3)};
}

#define ODD_PRODUCTS                                                                                \
    "mul.lo.u32 o3, %7, %8;         mul.hi.u32 o4, %7, %8;\n\t"                                     \
    "mad.lo.cc.u32 o3, %6, %9, o3;    madc.hi.cc.u32 o4, %6, %9, o4;   addc.u32 o5, 0, 0;\n\t"      \
    "mad.lo.cc.u32 o3, %5, %10, o3;   madc.hi.cc.u32 o4, %5, %10, o4;\n\t"                          \
    "madc.lo.cc.u32 o5, %7, %10, o5;  madc.hi.u32 o6, %7, %10, 0;\n\t"                              \
    "mad.lo.cc.u32 o3, %4, %11, o3;   madc.hi.cc.u32 o4, %4, %11, o4;\n\t"                          \
    "madc.lo.cc.u32 o5, %6, %11, o5;  madc.hi.cc.u32 o6, %6, %11, o6;  addc.u32 o7, 0, 0;\n\t"

// a b / 2^128 without the three products below 2^98: at most 1 too small.
INLINE u128 high_from_thirteen(u128 a, u128 b) {
    u32 r0, r1, r2, r3;
    asm("{\n\t"
        ".reg .u32 e2, e3, e4, e5, e6, e7, o3, o4, o5, o6, o7;\n\t"
        "mul.lo.u32 e2, %6, %8;         mul.hi.u32 e3, %6, %8;\n\t"
        "mad.lo.cc.u32 e2, %5, %9, e2;   madc.hi.cc.u32 e3, %5, %9, e3;\n\t"
        "madc.lo.cc.u32 e4, %7, %9, 0;   madc.hi.u32 e5, %7, %9, 0;\n\t"
        "mad.lo.cc.u32 e2, %4, %10, e2;  madc.hi.cc.u32 e3, %4, %10, e3;\n\t"
        "madc.lo.cc.u32 e4, %6, %10, e4; madc.hi.cc.u32 e5, %6, %10, e5;  addc.u32 e6, 0, 0;\n\t"
        "mad.lo.cc.u32 e4, %5, %11, e4;  madc.hi.cc.u32 e5, %5, %11, e5;\n\t"
        "madc.lo.cc.u32 e6, %7, %11, e6; madc.hi.u32 e7, %7, %11, 0;\n\t"
        ODD_PRODUCTS
        "add.cc.u32 e3, e3, o3;  addc.cc.u32 %0, e4, o4; addc.cc.u32 %1, e5, o5;\n\t"
        "addc.cc.u32 %2, e6, o6; addc.u32 %3, e7, o7;\n\t"
        "}"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : LIMBS(a), LIMBS(b));
    return from_limbs(r0, r1, r2, r3);
}

// a b / 2^128 without the six products below 2^128: at most 4 too small.
INLINE u128 high_from_ten(u128 a, u128 b) {
    u32 r0, r1, r2, r3;
    asm("{\n\t"
        ".reg .u32 e4, e5, e6, e7, o3, o4, o5, o6, o7;\n\t"
        "mul.lo.u32 e4, %7, %9;         mul.hi.u32 e5, %7, %9;\n\t"
        "mad.lo.cc.u32 e4, %6, %10, e4;  madc.hi.cc.u32 e5, %6, %10, e5;  addc.u32 e6, 0, 0;\n\t"
        "mad.lo.cc.u32 e4, %5, %11, e4;  madc.hi.cc.u32 e5, %5, %11, e5;\n\t"
        "madc.lo.cc.u32 e6, %7, %11, e6; madc.hi.u32 e7, %7, %11, 0;\n\t"
        ODD_PRODUCTS
        "add.cc.u32 %0, e4, o4;  addc.cc.u32 %1, e5, o5;\n\t"
        "addc.cc.u32 %2, e6, o6; addc.u32 %3, e7, o7;\n\t"
        "}"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : LIMBS(a), LIMBS(b));
    return from_limbs(r0, r1, r2, r3);
}

// Of the low half of a product: e0 (%0) to e3, and o1 to o3, whose sum is LOW_SUM.
#define LOW_PRODUCTS                                                          \
    ".reg .u32 e1, e2, e3, o1, o2, o3;\n\t"                                   \
    "mul.lo.u32 %0, %4, %8;         mul.hi.u32 e1, %4, %8;\n\t"               \
    "mul.lo.u32 e2, %6, %8;         mul.hi.u32 e3, %6, %8;\n\t"               \
    "mad.lo.cc.u32 e2, %5, %9, e2;  madc.hi.u32 e3, %5, %9, e3;\n\t"          \
    "mad.lo.cc.u32 e2, %4, %10, e2; madc.hi.u32 e3, %4, %10, e3;\n\t"         \
    "mul.lo.u32 o3, %7, %8;\n\t"                                              \
    "mad.lo.u32 o3, %5, %10, o3;\n\t"                                         \
    "mad.lo.u32 o3, %4, %11, o3;\n\t"                                         \
    "mul.lo.u32 o1, %5, %8;         mul.hi.u32 o2, %5, %8;\n\t"               \
    "mad.lo.cc.u32 o1, %4, %9, o1;  madc.hi.cc.u32 o2, %4, %9, o2;\n\t"       \
    "madc.lo.u32 o3, %6, %9, o3;\n\t"
#define LOW_SUM "add.cc.u32 %1, e1, o1; addc.cc.u32 %2, e2, o2; addc.u32 %3, e3, o3;\n\t"

INLINE u128 multiply_low(u128 a, u128 b) {
    u32 r0, r1, r2, r3;
    asm("{\n\t" LOW_PRODUCTS LOW_SUM "}"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : LIMBS(a), LIMBS(b));
    return from_limbs(r0, r1, r2, r3);
}

INLINE u128 two_products_low(u128 a, u128 b, u128 c, u128 d) {
    u32 r0, r1, r2, r3;
    asm("{\n\t" LOW_PRODUCTS
        "mad.lo.cc.u32 %0, %12, %16, %0;   madc.hi.cc.u32 e1, %12, %16, e1;\n\t"
        "madc.lo.cc.u32 e2, %14, %16, e2;  madc.hi.u32 e3, %14, %16, e3;\n\t"
        "mad.lo.cc.u32 e2, %13, %17, e2;   madc.hi.u32 e3, %13, %17, e3;\n\t"
        "mad.lo.cc.u32 e2, %12, %18, e2;   madc.hi.u32 e3, %12, %18, e3;\n\t"
        "mad.lo.cc.u32 o1, %13, %16, o1;   madc.hi.cc.u32 o2, %13, %16, o2;\n\t"
        "madc.lo.u32 o3, %15, %16, o3;\n\t"
        "mad.lo.cc.u32 o1, %12, %17, o1;   madc.hi.cc.u32 o2, %12, %17, o2;\n\t"
        "madc.lo.u32 o3, %14, %17, o3;\n\t"
        "mad.lo.u32 o3, %13, %18, o3;\n\t"
        "mad.lo.u32 o3, %12, %19, o3;\n\t" LOW_SUM "}"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : LIMBS(a), LIMBS(b), LIMBS(c), LIMBS(d));
    return from_limbs(r0, r1, r2, r3);
}

// x - y, and all ones if that is negative, else zero.
INLINE u128 subtract_with_borrow(u128 x, u128 y, u32& borrow) {
    u32 r0, r1, r2, r3;
    asm("sub.cc.u32 %0, %5, %9;   subc.cc.u32 %1, %6, %10;\n\t"
        "subc.cc.u32 %2, %7, %11; subc.cc.u32 %3, %8, %12;\n\t"
        "subc.u32 %4, 0, 0;"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3), "=&r"(borrow)
        : LIMBS(x), LIMBS(y));
    return from_limbs(r0, r1, r2, r3);
}

// x + y, with the 129th bit.
INLINE u128 add_with_carry(u128 x, u128 y, u32& carry) {
    u32 r0, r1, r2, r3;
    asm("add.cc.u32 %0, %5, %9;   addc.cc.u32 %1, %6, %10;\n\t"
        "addc.cc.u32 %2, %7, %11; addc.cc.u32 %3, %8, %12;\n\t"
        "addc.u32 %4, 0, 0;"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3), "=&r"(carry)
        : LIMBS(x), LIMBS(y));
    return from_limbs(r0, r1, r2, r3);
}

#else

// The sum of the products of 32-bit limbs i and j with i + j = column.
INLINE u128 column_sum(u128 a, u128 b, int column) {
    u128 sum = 0;
    for (int i = 0; i < 4; ++i) {
        const int j = column - i;
        if (j >= 0 && j < 4) sum += (u128)(u32)(a >> (32 * i)) * (u32)(b >> (32 * j));
    }
    return sum;
}
INLINE FullProduct<u128> multiply_full(u128 a, u128 b) {
    const u64 a0 = (u64)a, a1 = (u64)(a >> 64), b0 = (u64)b, b1 = (u64)(b >> 64);
    const u128 p00 = (u128)a0 * b0, p01 = (u128)a0 * b1, p10 = (u128)a1 * b0, p11 = (u128)a1 * b1;
    const u128 middle = (p00 >> 64) + (u64)p01 + (u64)p10;
    return {p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64), middle << 64 | (u64)p00};
}
// The partial products of limbs i and j of 32 bits with i + j < `columns` are left out.
INLINE u128 high_without(u128 a, u128 b, int columns) {
    u128 carry = 0;
    for (int column = columns; column < 4; ++column) carry = (carry >> 32) + column_sum(a, b, column);
    u128 high = 0;
    carry >>= 32;
    for (int column = 4; column < 7; ++column) {
        carry += column_sum(a, b, column);
        high |= (u128)(u32)carry << (32 * (column - 4));
        carry >>= 32;
    }
    return high | carry << 96;
}
INLINE u128 high_from_thirteen(u128 a, u128 b) { return high_without(a, b, 2); }
INLINE u128 high_from_ten(u128 a, u128 b) { return high_without(a, b, 3); }
INLINE u64 high_from_three(u64 a, u64 b) {
    const u128 middle = (u128)(a >> 32) * (u32)b + (u128)(u32)a * (b >> 32);
    return (a >> 32) * (b >> 32) + (u64)(middle >> 32);
}
INLINE u128 multiply_low(u128 a, u128 b) { return a * b; }
INLINE u128 two_products_low(u128 a, u128 b, u128 c, u128 d) { return a * b + c * d; }
INLINE u128 subtract_with_borrow(u128 x, u128 y, u32& borrow) {
    borrow = x < y ? ~0u : 0u;
    return x - y;
}
INLINE u128 add_with_carry(u128 x, u128 y, u32& carry) {
    carry = x + y < x;
    return x + y;
}

#endif

INLINE u128 multiply_high(u128 a, u128 b) { return multiply_full(a, b).high; }

// The high half of a product from its larger partial products: at most ERROR too small. FREE is
// the number of bits that a modulus leaves free, which limits the error.
template <class Word, int FREE>
struct HighProduct {
    static constexpr int ERROR = 0;
    static INLINE Word of(Word a, Word b) { return multiply_high(a, b); }
};
template <int FREE>
    requires(FREE > 2)
struct HighProduct<u64, FREE> {
    static constexpr int ERROR = 1;
    static INLINE u64 of(u64 a, u64 b) { return high_from_three(a, b); }
};
#ifdef SHORT_QUOTIENTS
// The omitted products are below 2^97, so a quotient loses less than 2^-31 before it is rounded down.
// The host uses this only if that is less than a product's distance from 2 q: see
// `Field::allows_short_quotients` in field.rs.
template <>
struct HighProduct<u128, 2> {
    static constexpr int ERROR = 0;
    static INLINE u128 of(u128 a, u128 b) { return high_from_thirteen(a, b); }
};
#endif
template <>
struct HighProduct<u128, 3> {
    static constexpr int ERROR = 1;
    static INLINE u128 of(u128 a, u128 b) { return high_from_thirteen(a, b); }
};
template <int FREE>
    requires(FREE > 3)
struct HighProduct<u128, FREE> {
    static constexpr int ERROR = 4;
    static INLINE u128 of(u128 a, u128 b) { return high_from_ten(a, b); }
};

INLINE u128 reduce_once(u128 x, u128 bound) {
    u32 borrow;
    const u128 reduced = subtract_with_borrow(x, bound, borrow);
    return borrow ? x : reduced;
}
