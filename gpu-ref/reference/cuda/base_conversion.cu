// `base_conversion`: from the residues of one set of moduli to those of another, as a matrix
// product (Cheddar, Algorithm 3) in signed Montgomery arithmetic.
//
// out[i][c] = sum_k matrix[i][k] in[k][c] mod q_i. The matrix entries are scaled by 2^32 and lie
// within [-q_i / 2, q_i / 2], so that `terms` products can be summed in 64 bits before a reduction:
// terms p < 2^32 for every input modulus p.
//
// Data are rows of `length` words, [polynomial][limb][length]. Grid: x = columns / (threads COLUMNS),
// y = target limbs / LIMBS, z = polynomial. Each thread computes LIMBS x COLUMNS words. Shared memory
// holds the block's rows of the matrix.

#include "montgomery.cuh"

constexpr int LIMBS = 3, COLUMNS = 4;

struct alignas(4 * COLUMNS) Columns {
    u32 at[COLUMNS];
};

extern "C" __global__ void __launch_bounds__(256)
    convert(const u32* in, u32* out, const i32* __restrict__ matrix, const Constants<u32, i32>* __restrict__ constants,
            u32 from, u32 to, u32 length, u32 terms) {
    SHARED_ARRAY(i32, rows);
    const u32 first = blockIdx.y * LIMBS, column = (blockIdx.x * blockDim.x + threadIdx.x) * COLUMNS;
    in += (size_t)blockIdx.z * from * length + column;
    out += (size_t)blockIdx.z * to * length + column;
    const u32 entries = (first + LIMBS < to ? LIMBS : to - first) * from;
    for (u32 i = threadIdx.x; i < LIMBS * from; i += blockDim.x) {
        rows[i] = i < entries ? matrix[(size_t)first * from + i] : 0;
    }
    __syncthreads();

    i32 result[LIMBS][COLUMNS] = {};
    for (u32 begin = 0; begin < from; begin += terms) {
        const u32 end = begin + terms < from ? begin + terms : from;
        i64 sum[LIMBS][COLUMNS] = {};
        for (u32 k = begin; k < end; ++k) {
            const Columns x = *reinterpret_cast<const Columns*>(in + (size_t)k * length);
#pragma unroll
            for (int i = 0; i < LIMBS; ++i) {
#pragma unroll
                for (int j = 0; j < COLUMNS; ++j) sum[i][j] += (i64)rows[i * from + k] * (i32)x.at[j];
            }
        }
#pragma unroll
        for (int i = 0; i < LIMBS; ++i) {
            if (first + i >= to) break;
            const Field field(constants[first + i]);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) result[i][j] = field.narrow(result[i][j] + field.reduce(sum[i][j]));
        }
    }
#pragma unroll
    for (int i = 0; i < LIMBS; ++i) {
        if (first + i >= to) break;
        const Field field(constants[first + i]);
        Columns y;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) y.at[j] = field.leave(result[i][j]);
        *reinterpret_cast<Columns*>(out + (size_t)(first + i) * length) = y;
    }
}
EXPORT_KERNEL(convert)

// Multiplies row y of the data by `factors[y mod from]`, in place. The conversion needs this for
// inputs that no inverse transform has multiplied. The factors are scaled by 2^32.
extern "C" __global__ void __launch_bounds__(256)
    scale(u32* data, const i32* __restrict__ factors, const Constants<u32, i32>* __restrict__ constants, u32 from, u32 length) {
    const u32 limb = blockIdx.y % from;
    const Field field(constants[limb]);
    u32* at = data + (size_t)blockIdx.y * length + blockIdx.x * blockDim.x + threadIdx.x;
    *at = field.leave(field.times((i32)*at, factors[limb]));
}
EXPORT_KERNEL(scale)
