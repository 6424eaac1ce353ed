// Word types, and the few differences between a GPU compiler and a plain C++ compiler.
//
// Every kernel of this crate is compiled in two ways: by NVRTC for a GPU, and by g++ after
// emulation/emulation.h, which runs a fiber for each thread. The second defines EMULATED.

using u32 = unsigned int;
using i32 = int;
using u64 = unsigned long long;
using i64 = long long;
using u128 = unsigned __int128;

#define INLINE __device__ __forceinline__
#define NOT_INLINE __noinline__

#ifndef EMULATED
// The block's dynamic shared memory as an array of T.
#define SHARED_ARRAY(T, NAME)                          \
    extern __shared__ __align__(16) unsigned char NAME##_bytes[]; \
    T* NAME = reinterpret_cast<T*>(NAME##_bytes)
// Up to four words of the block's shared memory, beside the array.
#define SHARED_WORDS(NAME, COUNT) __shared__ u32 NAME[COUNT]
// Exports a kernel by name to the host, with the number of blocks in its clusters. The CUDA driver needs nothing for that.
#define EXPORT_KERNEL(NAME)
#define EXPORT_CLUSTER_KERNEL(NAME, BLOCKS)

// The most threads that a multiprocessor holds.
#if (__CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200
constexpr int RESIDENT_THREADS = 1536;
#else
constexpr int RESIDENT_THREADS = 2048;
#endif

// The blocks of THREADS threads for which the compiler leaves registers on a multiprocessor: BLOCKS,
// or as many as it holds. No function, because the run-time compiler takes one for host code.
template <int THREADS, int BLOCKS>
constexpr int RESIDENT = THREADS * BLOCKS <= RESIDENT_THREADS ? BLOCKS : RESIDENT_THREADS / THREADS;

// A launch may let the blocks of a kernel start before the preceding kernel has finished. Every
// kernel calls this before it accesses data written by other kernels. After an ordinary launch, and
// on devices before Hopper, it has no effect.
INLINE void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    // Not earlier: waiting blocks of several later kernels would fill the multiprocessors unevenly.
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
// The next kernel may start before this block has waited. At most every second kernel calls this, so that only
// two wait at a time.
INLINE void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
#else
INLINE void wait_for_previous_kernel() {}
INLINE void let_next_kernel_start() {}
#endif
// Brings what is at an address to the L2 cache, also before `wait_for_previous_kernel`: every later load sees all stores, because that
// cache has the only copy.
#ifndef EMULATED
INLINE void fetch(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }
#else
INLINE void fetch(const void*) {}
#endif
// Ends the kernel in an error after so many looks at what a thread waits for: seconds, where microseconds suffice.
INLINE void end_hopeless_wait(u32 tries) {
#ifndef EMULATED
    if (tries == 1u << 24) __trap();
#endif
}

// State that launches leave at zero, beside the data: one mark for each 2^10 words.
struct alignas(8) Mark {
    u32 finished;  // tiles and blocks of a unit, see chained.cuh
    u32 taken;     // tiles of a unit, or tickets of a launch, see once.cuh
};
// The next ticket, from 0 on. After `all` the next is 0 again.
INLINE u32 take_ticket(u32* taken, u32 all) {
#ifndef EMULATED
    u32 ticket;
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(ticket) : "l"(taken), "r"(all - 1) : "memory");
    return ticket;
#else
    const u32 ticket = *taken;
    *taken = ticket == all - 1 ? 0 : ticket + 1;
    return ticket;
#endif
}
// What the first lane of a warp has, as a number that all have: the compiler keeps it in no register of each.
#ifndef EMULATED
INLINE u32 of_first_lane(u32 x) { return __shfl_sync(~0u, x, 0); }
#else
INLINE u32 of_first_lane(u32 x) { return x; }
#endif

// As a value, for what waits in a way that its caller chooses.
struct AfterPreviousKernel {
    INLINE void operator()() const { wait_for_previous_kernel(); }
    INLINE void loaded() const {}
    INLINE bool keeps() const { return true; }
};

// Constants of one modulus, prepared by the host. Each field defines the meaning of `aux` and of
// the product's factor.
template <class Word, class Twiddle>
struct Constants {
    Word q;
    Word aux[7];
    Twiddle scale;               // 1/N
    Twiddle scale_root;          // 1/N times the inverse root of the last inverse stage
    Twiddle product_scale;       // the same two for data from Field::product,
    Twiddle product_scale_root;  // which may leave a constant factor behind
};

// A root and its companion floor(root 2^bits / q).
template <class Word>
struct alignas(2 * sizeof(Word)) ShoupPair {
    Word root;
    Word quotient;
};

// Reads a table entry through the read-only path.
INLINE u32 load_entry(const u32* at) { return __ldg(at); }
INLINE i32 load_entry(const i32* at) { return __ldg(at); }
INLINE u64 load_entry(const u64* at) { return __ldg(at); }
INLINE double load_entry(const double* at) { return __ldg(at); }
INLINE ShoupPair<u32> load_entry(const ShoupPair<u32>* at) {
    const uint2 v = __ldg(reinterpret_cast<const uint2*>(at));
    return {v.x, v.y};
}
INLINE ShoupPair<u64> load_entry(const ShoupPair<u64>* at) {
    const ulonglong2 v = __ldg(reinterpret_cast<const ulonglong2*>(at));
    return {v.x, v.y};
}
INLINE u128 load_entry(const u128* at) {
    const ulonglong2 v = __ldg(reinterpret_cast<const ulonglong2*>(at));
    return (u128)v.y << 64 | v.x;
}
INLINE ShoupPair<u128> load_entry(const ShoupPair<u128>* at) {
    return {load_entry(&at->root), load_entry(&at->quotient)};
}

INLINE u32 multiply_high(u32 a, u32 b) { return __umulhi(a, b); }
INLINE u64 multiply_high(u64 a, u64 b) { return __umul64hi(a, b); }
INLINE i32 multiply_high(i32 a, i32 b) { return __mulhi(a, b); }

// x - bound if that is not negative, else x.
template <class Word>
INLINE Word subtract_if_not_less(Word x, Word bound) { return x < bound ? x : x - bound; }

// The same for bound <= 2^(bits - 1) and x < bound + 2^(bits - 1). The sign of the difference then
// decides, or a minimum: a negative difference is larger than x.
INLINE u32 reduce_once(u32 x, u32 bound) {
    const u32 reduced = x - bound;
    return reduced < x ? reduced : x;
}
INLINE u64 reduce_once(u64 x, u64 bound) {
    const u64 reduced = x - bound;
    return (i32)(reduced >> 32) < 0 ? x : reduced;
}

#include "wide_integer.cuh"
