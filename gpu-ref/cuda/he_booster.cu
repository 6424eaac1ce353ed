// `he-booster`: a transform in one launch whose threads each do one butterfly a stage, with the data in global memory
// (HE-Booster, Algorithm 1). All threads must be resident together.
//
// LOCAL: a thread waits only for its two operands. Each element has a trigger word that counts the stages that it has been
// through. An element has one reader a stage, which is also its next writer, so data and triggers can be updated in place.
// Otherwise: a barrier across the grid between stages.
//
// Grid: x = blocks of one polynomial and limb, y = limb, z = polynomial. `sync` holds zeros before and after a launch: one
// trigger for each element of the launch, or LOG_N + 1 counters.

#include "common.cuh"
#include "shoup.cuh"

// Words that threads signal with, and what orders them: a fence between data and a signal, on either side. One fence serves
// both operands, and is what takes the time.
#ifndef EMULATED
INLINE u32 load_signal(const u32* at) {
    u32 value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
INLINE void store_signal(u32* at, u32 value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
INLINE u32 add_signal(u32* at, u32 value) {
    u32 before;
    asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
}
INLINE void fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
INLINE void spin_pause() {}
#else
INLINE u32 load_signal(const u32* at) { return *at; }
INLINE void store_signal(u32* at, u32 value) { *at = value; }
INLINE u32 add_signal(u32* at, u32 value) { return (*at += value) - value; }
INLINE void fence() {}
#endif

INLINE void wait_for(const u32* at, u32 value) {
    while (load_signal(at) < value) spin_pause();
}

// All threads of the grid pass together, the number-th time.
INLINE void grid_barrier(u32* counters, u32 number, u32 blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        fence();
        add_signal(counters + number, 1);
        wait_for(counters + number, blocks);
        fence();
    }
    __syncthreads();
}

template <int LOG_N, bool LOCAL, bool FORWARD, bool PRODUCT>
struct Resident {
    using Word = Field::Word;
    using Twiddle = Field::Twiddle;
    using FieldConstants = Constants<Word, Twiddle>;

    static __device__ void transform(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants,
                                     u32* sync) {
        const FieldConstants& limb = constants[blockIdx.y];
        const Field field(limb);
        const Twiddle* table = tables + ((size_t)blockIdx.y << LOG_N);
        const size_t base = (size_t)(blockIdx.z * gridDim.y + blockIdx.y) << LOG_N;
        u32* triggers = sync + base;
        const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
        const u32 blocks = gridDim.x * gridDim.y * gridDim.z;

        for (u32 done = 0; done < LOG_N; ++done) {
            const u32 stage = FORWARD ? done : LOG_N - 1 - done;
            const u32 step_log = LOG_N - 1 - stage;
            const u32 group = thread >> step_log;
            const u32 at = (group << (step_log + 1)) + (thread & ((1u << step_log) - 1));
            const u32 partner = at + (1u << step_log);
            const bool last = done == LOG_N - 1;
            // Asked for before the wait, so that it arrives meanwhile.
            const Twiddle w = load_entry(table + (1u << stage) + group);

            Field::Reg x, y;
            if (done == 0) {
                x = field.enter(in[base + at]);
                y = field.enter(in[base + partner]);
            } else {
                if (LOCAL) {
                    wait_for(triggers + at, done);
                    wait_for(triggers + partner, done);
                    fence();
                } else {
                    grid_barrier(sync, done, blocks);
                }
                x = field.unpack(out[base + at]);
                y = field.unpack(out[base + partner]);
            }
            if (FORWARD) {
                field.forward(x, y, w);
            } else if (last) {
                field.inverse_scaled(x, y, PRODUCT ? limb.product_scale : limb.scale,
                                     PRODUCT ? limb.product_scale_root : limb.scale_root);
            } else {
                field.inverse(x, y, w);
            }
            out[base + at] = last ? field.leave(x) : field.pack(x);
            out[base + partner] = last ? field.leave(y) : field.pack(y);
            if (LOCAL) {
                // After the last stage nobody waits, and zero is what the next launch wants.
                if (!last) fence();
                store_signal(triggers + at, last ? 0 : done + 1);
                store_signal(triggers + partner, last ? 0 : done + 1);
            }
        }
        // The block that is the last to come here finds all others past their last barrier.
        if (!LOCAL && threadIdx.x == 0 && add_signal(sync, 1) == blocks - 1) {
            for (u32 i = 0; i < LOG_N; ++i) store_signal(sync + i, 0);
        }
    }
};

#define RESIDENT_KERNEL(NAME, LOG_N, LOCAL, FORWARD, PRODUCT)                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                                                     \
        NAME(const Field::Word* in, Field::Word* out, const Field::Twiddle* __restrict__ tables,                          \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 polynomials, u32 each, u32* sync) { \
        Resident<LOG_N, LOCAL, FORWARD, PRODUCT>::transform(in, out, tables, constants, sync);                            \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)

// The products of two transformed batches, two elements a thread.
#define POINTWISE_KERNEL(NAME, LOG_N)                                                                                      \
    extern "C" __global__ void __launch_bounds__(256)                                                                     \
        NAME(const Field::Word* left, const Field::Word* right, Field::Word* out, const Field::Twiddle* forward_tables,   \
             const Field::Twiddle* inverse_tables,                                                                        \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 polynomials, u32 each) {           \
        const Field field(constants[blockIdx.y]);                                                                         \
        wait_for_previous_kernel();                                                                                       \
        const size_t base = (size_t)(blockIdx.z * gridDim.y + blockIdx.y) << LOG_N;                                       \
        for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << LOG_N; i += gridDim.x * blockDim.x) {               \
            out[base + i] = field.leave(field.product(left[base + i], right[base + i]));                                  \
        }                                                                                                                 \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)
