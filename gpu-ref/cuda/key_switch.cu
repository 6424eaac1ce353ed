// `key_switch`: what a key switching does besides transforms, for residue number systems of equally long primes, with
// Barrett's reduction (Algorithm 4 of Shivdikar et al.).
//
// Data are rows of `length` words, one row for each limb. Of `extended` limbs the first `limbs` are those of the ciphertext,
// the others the special ones. Digit d of `digits` stands for limbs [d limbs / digits, (d + 1) limbs / digits). Every column
// of the rows is independent of the others, so a device may have all columns or some.
//
// Grid: x = columns / threads; y and z as each kernel says.

#include "shivdikar.cu"

using Word = Field::Word;
using Limb = Constants<Word, Field::Twiddle>;

INLINE u32 column() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Converts a column from `count` moduli to `target`: the sum of scaled[i] factors[i stride] modulo `target`. `scaled[i]` lie
// `blockDim.x` words apart. The result may be off by a small multiple of the product of the moduli.
INLINE Word convert(const Field& target, const Word* scaled, u32 count, const Word* factors, u32 stride) {
    Word sum = 0;
    for (u32 i = 0; i < count; ++i) {
        sum = target.add(sum, target.product(scaled[i * blockDim.x], factors[(size_t)i * stride]));
    }
    return sum;
}

// Extends digits first, first + step, .. (z) of a polynomial to all limbs. `inverses[j]` is the inverse modulo limb j of its
// digit's other limbs, and `factors[j extended + i]` their product modulo limb i. Shared memory: a word for each thread and
// limb of a digit.
extern "C" __global__ void __launch_bounds__(128)
    mod_up(const Word* in, Word* out, const Word* __restrict__ inverses, const Word* __restrict__ factors,
           const Limb* __restrict__ constants, u32 limbs, u32 extended, u32 length, u32 digits, u32 first, u32 step) {
    SHARED_ARRAY(Word, shared);
    const u32 digit = first + blockIdx.z * step;
    const u32 begin = digit * limbs / digits, end = (digit + 1) * limbs / digits;
    Word* scaled = shared + threadIdx.x;
    in += column();
    out += (size_t)blockIdx.z * extended * length + column();
    for (u32 j = begin; j < end; ++j) {
        scaled[(j - begin) * blockDim.x] = Field(constants[j]).product(in[(size_t)j * length], inverses[j]);
    }
    for (u32 i = 0; i < extended; ++i) {
        const bool own = begin <= i && i < end;
        out[(size_t)i * length] = own ? in[(size_t)i * length]
                                      : convert(Field(constants[i]), scaled, end - begin,
                                                factors + (size_t)begin * extended + i, extended);
    }
}
EXPORT_KERNEL(mod_up)

// Divides polynomials (z) by the product of the special limbs. `inverses` and `factors[k limbs + i]` are those of the special
// limbs, `quotients[i]` the inverse of their product modulo limb i. Shared memory: a word for each thread and special limb.
extern "C" __global__ void __launch_bounds__(128)
    mod_down(const Word* in, Word* out, const Word* __restrict__ inverses, const Word* __restrict__ factors,
             const Word* __restrict__ quotients, const Limb* __restrict__ constants, u32 limbs, u32 extended, u32 length) {
    SHARED_ARRAY(Word, shared);
    const u32 special = extended - limbs;
    Word* scaled = shared + threadIdx.x;
    in += (size_t)blockIdx.z * extended * length + column();
    out += (size_t)blockIdx.z * limbs * length + column();
    for (u32 k = 0; k < special; ++k) {
        const u32 limb = limbs + k;
        scaled[k * blockDim.x] = Field(constants[limb]).product(in[(size_t)limb * length], inverses[k]);
    }
    for (u32 i = 0; i < limbs; ++i) {
        const Field field(constants[i]);
        const Word rest = field.subtract(in[(size_t)i * length], convert(field, scaled, special, factors + i, limbs));
        out[(size_t)i * length] = field.product(rest, quotients[i]);
    }
}
EXPORT_KERNEL(mod_down)

// Of `digits` polynomials and as many keys of `parts` polynomials each, the sum of the products, for each part (z) and row (y).
// Row r is of limb r modulo `limbs`.
extern "C" __global__ void __launch_bounds__(128)
    inner_product(const Word* polynomials, const Word* keys, Word* out, const Limb* __restrict__ constants, u32 limbs,
                  u32 length, u32 digits) {
    const Field field(constants[blockIdx.y % limbs]);
    const u32 rows = gridDim.y, parts = gridDim.z, part = blockIdx.z;
    const size_t at = (size_t)blockIdx.y * length + column(), polynomial = (size_t)rows * length;
    Word sum = 0;
    for (u32 d = 0; d < digits; ++d) {
        sum = field.add(sum, field.product(polynomials[d * polynomial + at], keys[(d * parts + part) * polynomial + at]));
    }
    out[part * polynomial + at] = sum;
}
EXPORT_KERNEL(inner_product)

// Brings sums of up to `terms` residues back below their modulus, in rows (y) of limb y modulo `limbs`.
extern "C" __global__ void __launch_bounds__(128)
    settle(Word* data, const Limb* __restrict__ constants, u32 limbs, u32 length, u32 terms) {
    const Word q = constants[blockIdx.y % limbs].q;
    Word* at = data + (size_t)blockIdx.y * length + column();
    Word x = *at;
    for (u32 i = 1; i < terms; ++i) x = subtract_if_not_less(x, q);
    *at = x;
}
EXPORT_KERNEL(settle)
