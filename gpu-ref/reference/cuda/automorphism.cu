// `automorphism`: X -> X^power on transformed rows in bit-reversed order (Cheddar, Section 4.3).
//
// Word i of a row is the value at root^(2 bitrev(i) + 1). After the map it is the former value at
// the power-th power of that point. Neighbouring words come from neighbouring words in another
// order: the low bits of an index are the high bits of the exponent, and in the product with
// `power` no carry leaves those bits.
//
// Grid: x = words of a row / threads, y = row.

#include "common.cuh"

#if WORD_BITS == 32
using Word = u32;
#elif WORD_BITS == 64
using Word = u64;
#else
using Word = u128;
#endif

extern "C" __global__ void __launch_bounds__(256) automorphism(const Word* in, Word* out, u32 log_n, u32 power) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t row = (size_t)blockIdx.y << log_n;
    // Modulo 2N, which divides 2^32.
    const u32 exponent = (2 * (__brev(i) >> (32 - log_n)) + 1) * power;
    const u32 from = __brev(exponent >> 1) >> (32 - log_n);
    out[row + i] = in[row + from];
}
EXPORT_KERNEL(automorphism)
