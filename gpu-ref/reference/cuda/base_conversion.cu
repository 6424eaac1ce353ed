// `base_conversion`: from the residues of one set of moduli to those of another, as a matrix
// product (Cheddar, Algorithm 3) in signed Montgomery arithmetic.
//
// out[i][c] = sum_k matrix[i][k] in[k][c] mod q_i. The matrix entries are scaled by 2^32 and lie
// within [-q_i / 2, q_i / 2], so that `terms` products can be summed in 64 bits before a reduction:
// terms p < 2^32 for every input modulus p.
//
// Data are rows of `length` words, [polynomial][limb][length]. Grid: x = columns / (threads of a
// row COLUMNS), y = target limbs / (rows of threads LIMBS), z = polynomial. A block has `across`
// threads along the columns and blockDim.x / across along the limbs; each thread computes LIMBS x
// COLUMNS words. Shared memory holds the block's rows of the matrix and, if it has more than one
// row of threads (SHARED), its columns of the input.

#include "montgomery.cuh"

template <int LIMBS, int COLUMNS, bool SHARED>
struct Conversion {
    struct alignas(4 * COLUMNS) Columns {
        u32 at[COLUMNS];
    };

    static __device__ void convert(const u32* in, u32* out, const i32* matrix, const Constants<u32, i32>* constants, u32 from,
                                   u32 to, u32 length, u32 terms, u32 across) {
        SHARED_ARRAY(u32, shared);
        const u32 down = blockDim.x / across, across_at = threadIdx.x % across, down_at = threadIdx.x / across;
        const u32 first_row = blockIdx.y * down * LIMBS, first_limb = first_row + down_at * LIMBS;
        const u32 column = (blockIdx.x * across + across_at) * COLUMNS;
        in += (size_t)blockIdx.z * from * length;
        out += (size_t)blockIdx.z * to * length + column;

        i32* rows = reinterpret_cast<i32*>(shared + (SHARED ? from * across * COLUMNS : 0));
        const u32 entries = (first_row + down * LIMBS < to ? down * LIMBS : to - first_row) * from;
        for (u32 i = threadIdx.x; i < down * LIMBS * from; i += blockDim.x) {
            rows[i] = i < entries ? matrix[(size_t)first_row * from + i] : 0;
        }
        if constexpr (SHARED) {
            for (u32 k = down_at; k < from; k += down) {
                *reinterpret_cast<Columns*>(shared + (k * across + across_at) * COLUMNS) =
                    *reinterpret_cast<const Columns*>(in + (size_t)k * length + column);
            }
        }
        __syncthreads();

        i32 result[LIMBS][COLUMNS] = {};
        for (u32 begin = 0; begin < from; begin += terms) {
            const u32 end = begin + terms < from ? begin + terms : from;
            i64 sum[LIMBS][COLUMNS] = {};
            for (u32 k = begin; k < end; ++k) {
                const Columns x = *reinterpret_cast<const Columns*>(SHARED ? shared + (k * across + across_at) * COLUMNS
                                                                           : in + (size_t)k * length + column);
#pragma unroll
                for (int i = 0; i < LIMBS; ++i) {
                    const i32 factor = rows[(down_at * LIMBS + i) * from + k];
#pragma unroll
                    for (int j = 0; j < COLUMNS; ++j) sum[i][j] += (i64)factor * (i32)x.at[j];
                }
            }
#pragma unroll
            for (int i = 0; i < LIMBS; ++i) {
                if (first_limb + i >= to) break;
                const Field field(constants[first_limb + i]);
#pragma unroll
                for (int j = 0; j < COLUMNS; ++j) result[i][j] = field.narrow(result[i][j] + field.reduce(sum[i][j]));
            }
        }
#pragma unroll
        for (int i = 0; i < LIMBS; ++i) {
            if (first_limb + i >= to) break;
            const Field field(constants[first_limb + i]);
            Columns y;
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) y.at[j] = field.leave(result[i][j]);
            *reinterpret_cast<Columns*>(out + (size_t)(first_limb + i) * length) = y;
        }
    }
};

#define CONVERT_KERNEL(NAME, THREADS, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                                 \
        NAME(const u32* in, u32* out, const i32* __restrict__ matrix, const Constants<u32, i32>* __restrict__ constants,  \
             u32 from, u32 to, u32 length, u32 terms, u32 across) {                                                       \
        Conversion<__VA_ARGS__>::convert(in, out, matrix, constants, from, to, length, terms, across);                    \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)

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
