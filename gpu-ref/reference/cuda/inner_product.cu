// `inner_product`: inner products of polynomials with pairs of keys, fused and in steps
// (HE-Booster, Section 3.4), with Barrett reduction.
//
// Data are rows of `length` words; row r belongs to limb r modulo `limbs`. Grid: x = columns /
// threads, y = rows of a polynomial.

#include "barrett.cuh"

using Word = Field::Word;
using Limb = Constants<Word, Field::Twiddle>;

INLINE u32 column() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The two sums over `terms` of polynomials[term] keys[term][part], in out[part]. Each word of the
// polynomials is read once for both. Polynomials and keys have `rows` rows, of which the grid
// covers the first, and all rows of `out`.
extern "C" __global__ void __launch_bounds__(128)
    inner_product(const Word* polynomials, const Word* keys, Word* out, const Limb* __restrict__ constants, u32 limbs,
                  u32 length, u32 terms, u32 rows) {
    const Field field(constants[blockIdx.y % limbs]);
    const size_t at = (size_t)blockIdx.y * length + column(), polynomial = (size_t)rows * length;
    Word first = 0, second = 0;
    for (u32 term = 0; term < terms; ++term) {
        const Word x = polynomials[term * polynomial + at];
        const Word* key = keys + 2 * term * polynomial + at;
        first = field.add(first, field.product(x, key[0]));
        second = field.add(second, field.product(x, key[polynomial]));
    }
    out[at] = first;
    out[(size_t)gridDim.y * length + at] = second;
}
EXPORT_KERNEL(inner_product)

// One product per word, and one sum.
extern "C" __global__ void __launch_bounds__(128)
    multiply(const Word* left, const Word* right, Word* out, const Limb* __restrict__ constants, u32 limbs, u32 length) {
    const size_t at = (size_t)blockIdx.y * length + column();
    out[at] = Field(constants[blockIdx.y % limbs]).product(left[at], right[at]);
}
EXPORT_KERNEL(multiply)
extern "C" __global__ void __launch_bounds__(128)
    add(const Word* left, const Word* right, Word* out, const Limb* __restrict__ constants, u32 limbs, u32 length) {
    const size_t at = (size_t)blockIdx.y * length + column();
    out[at] = Field(constants[blockIdx.y % limbs]).add(left[at], right[at]);
}
EXPORT_KERNEL(add)
