// `key_switch`: the kernels of key switching other than transforms, for residue number systems of
// equally long primes, with Barrett reduction (Algorithm 4 of Shivdikar et al.).
//
// Data are rows of `length` words, one row for each limb. Of `extended` limbs, the first `limbs`
// are those of the ciphertext and the others the special limbs. Digit d of `digits` consists of
// limbs [d limbs / digits, (d + 1) limbs / digits). Every column of the rows is independent of the
// others, so a device may have all columns or some.
//
// Grid: x = columns / threads; y and z are described at each kernel.

#include "inner_product.cu"

// Converts a column from `count` moduli to `target`: the sum of scaled[i] factors[i stride] modulo
// `target`. The `scaled[i]` are `blockDim.x` words apart. The result may be off by a small multiple
// of the product of the moduli.
INLINE Word convert(const Field& target, const Word* scaled, u32 count, const Word* factors, u32 stride) {
    Word sum = 0;
    for (u32 i = 0; i < count; ++i) {
        sum = target.add(sum, target.product(scaled[i * blockDim.x], factors[(size_t)i * stride]));
    }
    return sum;
}

// Extends digits first, first + step, .. (z) of a polynomial to `targets` limbs: `count` from
// `begin_target`, then others from `begin_others`. `inverses[j]` is the inverse modulo limb j of its
// digit's other limbs, and `factors[j extended + i]` their product modulo limb i. Shared memory: a
// word for each thread and limb of a digit.
extern "C" __global__ void __launch_bounds__(128)
    mod_up(const Word* in, Word* out, const Word* __restrict__ inverses, const Word* __restrict__ factors,
           const Limb* __restrict__ constants, u32 limbs, u32 extended, u32 length, u32 digits, u32 first, u32 step,
           u32 begin_target, u32 count, u32 begin_others, u32 targets) {
    SHARED_ARRAY(Word, shared);
    const u32 digit = first + blockIdx.z * step;
    const u32 begin = digit * limbs / digits, end = (digit + 1) * limbs / digits;
    Word* scaled = shared + threadIdx.x;
    in += column();
    out += (size_t)blockIdx.z * targets * length + column();
    for (u32 j = begin; j < end; ++j) {
        scaled[(j - begin) * blockDim.x] = Field(constants[j]).product(in[(size_t)j * length], inverses[j]);
    }
    for (u32 target = 0; target < targets; ++target) {
        const u32 i = target < count ? begin_target + target : begin_others + (target - count);
        const bool own = begin <= i && i < end;
        out[(size_t)target * length] = own ? in[(size_t)i * length]
                                      : convert(Field(constants[i]), scaled, end - begin,
                                                factors + (size_t)begin * extended + i, extended);
    }
}
EXPORT_KERNEL(mod_up)

// Divides polynomials (z) by the product of the special limbs. `inverses` and `factors[k limbs +
// i]` are those of the special limbs, `quotients[i]` the inverse of their product modulo limb i.
// Shared memory: a word for each thread and special limb.
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

// The special limbs of polynomials (z), converted to `count` limbs from `first`, with the same
// constants.
extern "C" __global__ void __launch_bounds__(128)
    convert_rests(const Word* in, Word* out, const Word* __restrict__ inverses, const Word* __restrict__ factors,
                  const Limb* __restrict__ constants, u32 limbs, u32 extended, u32 length, u32 first, u32 count) {
    SHARED_ARRAY(Word, shared);
    const u32 special = extended - limbs;
    Word* scaled = shared + threadIdx.x;
    in += (size_t)blockIdx.z * special * length + column();
    out += (size_t)blockIdx.z * count * length + column();
    for (u32 k = 0; k < special; ++k) {
        scaled[k * blockDim.x] = Field(constants[limbs + k]).product(in[(size_t)k * length], inverses[k]);
    }
    for (u32 i = 0; i < count; ++i) {
        out[(size_t)i * length] = convert(Field(constants[first + i]), scaled, special, factors + first + i, limbs);
    }
}
EXPORT_KERNEL(convert_rests)

// (x - rest) quotients[limb] for rows (y) of limb y modulo `limbs`. The result replaces the rests.
extern "C" __global__ void __launch_bounds__(128)
    divide_rows(const Word* in, Word* rests, const Word* __restrict__ quotients, const Limb* __restrict__ constants,
                u32 limbs, u32 length) {
    const u32 limb = blockIdx.y % limbs;
    const Field field(constants[limb]);
    const size_t at = (size_t)blockIdx.y * length + column();
    rests[at] = field.product(field.subtract(in[at], rests[at]), quotients[limb]);
}
EXPORT_KERNEL(divide_rows)

// Reduces sums of up to `terms` residues below their modulus, in rows (y) of limb y modulo `limbs`.
extern "C" __global__ void __launch_bounds__(128)
    settle(Word* data, const Limb* __restrict__ constants, u32 limbs, u32 length, u32 terms) {
    const Word q = constants[blockIdx.y % limbs].q;
    Word* at = data + (size_t)blockIdx.y * length + column();
    Word x = *at;
    for (u32 i = 1; i < terms; ++i) x = subtract_if_not_less(x, q);
    *at = x;
}
EXPORT_KERNEL(settle)
