// `he-booster`: a transform in one launch with one butterfly per thread and stage and the data in
// global memory (HE-Booster, Algorithm 1). All threads must be resident together.
//
// LOCAL: a thread waits only for its two operands. Since q < 2^(WORD_BITS - 2), two trigger bits
// fit above a reduced element. Both travel in one access, so no fence is needed to order them. An
// element has PLACES places, used in turn; its trigger bits count the turns. A reader may be ahead
// of an element by any number of stages, so it must distinguish all stages, which place and turn
// allow. An element has one reader per stage, which is also its next writer, so nothing is
// overwritten before it is read. Every output depends on every input, so no input is overwritten
// too early. Otherwise: a barrier across the grid between stages.
//
// Grid: x = blocks of one polynomial and limb, y = limb, z = polynomial. `sync` belongs to one launch, and holds
// zeros before and after it: PLACES words for each element of the launch, or LOG_N + 1 counters of 32
// bits.

#include "common.cuh"
#include "shoup.cuh"

#ifndef EMULATED
INLINE u32 load_relaxed(const u32* at) {
    u32 value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
INLINE u64 load_relaxed(const u64* at) {
    u64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}
INLINE void store_relaxed(u32* at, u32 value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
INLINE void store_relaxed(u64* at, u64 value) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
INLINE u32 load_acquire(const u32* at) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
INLINE u32 add_release(u32* at, u32 value) {
    u32 before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
}
INLINE void spin_pause() {}
// If many threads wait for long, their loads delay the stores that they wait for.
INLINE void back_off(u32 tries) {
    if (tries >= 4) __nanosleep(100);
    end_hopeless_wait(tries);
}
#else
INLINE void back_off(u32 tries) { spin_pause(); }
template <class Word>
INLINE Word load_relaxed(const Word* at) { return *at; }
template <class Word>
INLINE void store_relaxed(Word* at, Residue value) { *at = value; }
INLINE u32 load_acquire(const u32* at) { return *at; }
INLINE u32 add_release(u32* at, u32 value) { return (*at += value) - value; }
#endif

constexpr u32 PLACES = 6;

// The trigger bits of an element after `stages` stages.
INLINE Residue trigger(u32 stages) { return (Residue)((stages - 1) / PLACES + 1) << (WORD_BITS - 2); }

// Both operands of a butterfly, once they have passed the given number of stages.
INLINE void wait_for_operands(const Residue* first, const Residue* second, u32 stages, Residue& x, Residue& y) {
    constexpr int BITS = WORD_BITS - 2;
    const Residue wanted = trigger(stages);
    x = load_relaxed(first) ^ wanted;
    y = load_relaxed(second) ^ wanted;
    for (u32 tries = 0; x >> BITS != 0 || y >> BITS != 0; ++tries) {
        back_off(tries);
        if (x >> BITS != 0) x = load_relaxed(first) ^ wanted;
        if (y >> BITS != 0) y = load_relaxed(second) ^ wanted;
    }
}

// Barrier number `number`: all threads of the grid pass together.
INLINE void grid_barrier(u32* counters, u32 number, u32 blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        add_release(counters + number, 1);
        for (u32 tries = 0; load_acquire(counters + number) < blocks; ++tries) {
            end_hopeless_wait(tries);
            spin_pause();
        }
    }
    __syncthreads();
}

template <int LOG_N, bool LOCAL, bool FORWARD, bool PRODUCT>
struct Resident {
    using Word = Field::Word;
    using Twiddle = Field::Twiddle;
    using FieldConstants = Constants<Word, Twiddle>;

    static __device__ void transform(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants,
                                     void* sync) {
        const FieldConstants& limb = constants[blockIdx.y];
        const Field field(limb);
        const Twiddle* table = tables + ((size_t)blockIdx.y << LOG_N);
        const size_t base = (size_t)(blockIdx.z * gridDim.y + blockIdx.y) << LOG_N;
        static_assert(LOG_N - 1 <= 3 * PLACES);
        const size_t elements = (size_t)(gridDim.y * gridDim.z) << LOG_N;
        auto place = [&](u32 stages) { return static_cast<Word*>(sync) + (stages - 1) % PLACES * elements + base; };
        u32* counters = static_cast<u32*>(sync);
        const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
        const u32 blocks = gridDim.x * gridDim.y * gridDim.z;

        for (u32 done = 0; done < LOG_N; ++done) {
            const u32 stage = FORWARD ? done : LOG_N - 1 - done;
            const u32 step_log = LOG_N - 1 - stage;
            const u32 group = thread >> step_log;
            const u32 at = (group << (step_log + 1)) + (thread & ((1u << step_log) - 1));
            const u32 partner = at + (1u << step_log);
            const bool last = done == LOG_N - 1;
            // Loaded before the wait, so that it arrives meanwhile.
            const Twiddle w = load_entry(table + (1u << stage) + group);

            Word left, right;
            if (LOCAL && done > 0) {
                Word* from = place(done);
                wait_for_operands(from + at, from + partner, done, left, right);
                if (done + PLACES >= LOG_N) {
                    // No thread returns here, and the next launch expects zero.
                    store_relaxed(from + at, 0);
                    store_relaxed(from + partner, 0);
                }
            } else {
                if (done > 0) grid_barrier(counters, done, blocks);
                left = (done == 0 ? in : out)[base + at];
                right = (done == 0 ? in : out)[base + partner];
            }
            Field::Reg x = done == 0 ? field.enter(left) : field.unpack(left);
            Field::Reg y = done == 0 ? field.enter(right) : field.unpack(right);
            if (FORWARD) {
                field.forward<Field::LIMIT>(x, y, w);
            } else if (last) {
                field.inverse_scaled(x, y, PRODUCT ? limb.product_scale : limb.scale,
                                     PRODUCT ? limb.product_scale_root : limb.scale_root);
            } else {
                field.inverse(x, y, w, false);
            }
            const bool reduced = LOCAL || last;
            const Word upper = reduced ? field.leave<Field::LIMIT>(x) : field.pack(x), lower = reduced ? field.leave<Field::LIMIT>(y) : field.pack(y);
            if (LOCAL && !last) {
                Word* to = place(done + 1);
                store_relaxed(to + at, upper | trigger(done + 1));
                store_relaxed(to + partner, lower | trigger(done + 1));
            } else {
                out[base + at] = upper;
                out[base + partner] = lower;
            }
        }
        if (!LOCAL && threadIdx.x == 0 && add_release(counters, 1) == blocks - 1) {
            for (u32 i = 0; i < LOG_N; ++i) counters[i] = 0;
        }
    }
};

// The same number of blocks of every kernel fits a multiprocessor, since the host queries only one
// kernel for the number of resident blocks.
#define RESIDENT_KERNEL(NAME, LOG_N, LOCAL, FORWARD, PRODUCT)                                                              \
    extern "C" __global__ void __launch_bounds__(256, RESIDENT<256, 8>)                                                 \
        NAME(const Field::Word* in, Field::Word* out, const Field::Twiddle* __restrict__ tables,                          \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs, void* sync) { \
        Resident<LOG_N, LOCAL, FORWARD, PRODUCT>::transform(in, out, tables, constants, sync);                            \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)

// Products of two transformed batches, two elements per thread.
#define POINTWISE_KERNEL(NAME, LOG_N)                                                                                      \
    extern "C" __global__ void __launch_bounds__(256)                                                                     \
        NAME(const Field::Word* left, const Field::Word* right, Field::Word* out, const Field::Twiddle* forward_tables,   \
             const Field::Twiddle* inverse_tables,                                                                        \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs) {           \
        const Field field(constants[blockIdx.y]);                                                                         \
        wait_for_previous_kernel();                                                                                       \
        const size_t base = (size_t)(blockIdx.z * gridDim.y + blockIdx.y) << LOG_N;                                       \
        for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << LOG_N; i += gridDim.x * blockDim.x) {               \
            out[base + i] = field.leave<Field::PRODUCT>(field.product<1>(left[base + i], right[base + i]));                                  \
        }                                                                                                                 \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)
