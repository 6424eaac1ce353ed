// `copy_rows`: copies planes of rows between layouts with different gaps, on one device or from
// another. `accumulate`: adds words, so that a device can sum the data of others.
//
// Addresses, pitches (from the start of a row to the start of the next) and the length of a row are
// multiples of 16 bytes. Heights (from the first row of a plane to that of the next) count rows.
// Grid: x = 16-byte pieces of a row / threads, rounded up, y = row, z = plane.

#include "common.cuh"

struct alignas(16) Piece {
    u64 low, high;
};

extern "C" __global__ void __launch_bounds__(128)
    copy_rows(const Piece* in, Piece* out, u32 pieces, u32 in_pitch, u32 in_height, u32 out_pitch, u32 out_height) {
    const u32 piece = blockIdx.x * blockDim.x + threadIdx.x;
    if (piece >= pieces) return;
    out[(size_t)(blockIdx.z * out_height + blockIdx.y) * out_pitch + piece] =
        in[(size_t)(blockIdx.z * in_height + blockIdx.y) * in_pitch + piece];
}
EXPORT_KERNEL(copy_rows)

// The words must be sums of residues that do not carry into a neighbour, if two share a word of 64 bits.
extern "C" __global__ void __launch_bounds__(128) accumulate(const u64* in, u64* out, u32 words) {
    const u32 word = blockIdx.x * blockDim.x + threadIdx.x;
    if (word < words) out[word] += in[word];
}
EXPORT_KERNEL(accumulate)
