// `he-booster`: a transform in one launch whose threads each do one butterfly a stage, with the data in global memory
// (HE-Booster, Algorithm 1). All threads must be resident together.
//
// LOCAL: a thread waits only for its two operands. Each element has a trigger that counts the stages that it has been through.
// An element has one reader a stage, which is also its next writer, so elements and triggers can be updated in place. A trigger
// travels with its element in one access, which nobody sees half of, so that no fence need order the two. Every output depends
// on every input, so that none is written before all inputs are read.
// Otherwise: a barrier across the grid between stages.
//
// Grid: x = blocks of one polynomial and limb, y = limb, z = polynomial. `sync` holds an `Element` for each of the launch, whose
// trigger is zero before and after it, or LOG_N + 1 counters of 32 bits that are.

#include "common.cuh"
#include "shoup.cuh"

template <class Word>
struct alignas(2 * sizeof(Word)) Element {
    Word value, trigger;
};

#ifndef EMULATED
INLINE Element<u32> load_element(const Element<u32>* at) {
    u64 both;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(both) : "l"(at) : "memory");
    return {(u32)both, (u32)(both >> 32)};
}
INLINE void store_element(Element<u32>* at, Element<u32> x) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"((u64)x.trigger << 32 | x.value) : "memory");
}
INLINE Element<u64> load_element(const Element<u64>* at) {
    Element<u64> x;
    asm volatile("{\n\t"
                 ".reg .b128 both;\n\t"
                 "ld.relaxed.gpu.global.b128 both, [%2];\n\t"
                 "mov.b128 {%0, %1}, both;\n\t"
                 "}"
                 : "=l"(x.value), "=l"(x.trigger)
                 : "l"(at)
                 : "memory");
    return x;
}
INLINE void store_element(Element<u64>* at, Element<u64> x) {
    asm volatile("{\n\t"
                 ".reg .b128 both;\n\t"
                 "mov.b128 both, {%1, %2};\n\t"
                 "st.relaxed.gpu.global.b128 [%0], both;\n\t"
                 "}" ::"l"(at),
                 "l"(x.value), "l"(x.trigger)
                 : "memory");
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
#else
template <class Word>
INLINE Element<Word> load_element(const Element<Word>* at) { return *at; }
template <class Word>
INLINE void store_element(Element<Word>* at, Element<Word> x) { *at = x; }
INLINE u32 load_acquire(const u32* at) { return *at; }
INLINE u32 add_release(u32* at, u32 value) { return (*at += value) - value; }
#endif

// Loads both operands of a butterfly as soon as they have been through so many stages.
template <class Word>
INLINE void wait_for_operands(const Element<Word>* first, const Element<Word>* second, u32 stages, Word& x, Word& y) {
    Element<Word> a = load_element(first), b = load_element(second);
    while (a.trigger != stages || b.trigger != stages) {
        spin_pause();
        if (a.trigger != stages) a = load_element(first);
        if (b.trigger != stages) b = load_element(second);
    }
    x = a.value;
    y = b.value;
}

// All threads of the grid pass together, the number-th time.
INLINE void grid_barrier(u32* counters, u32 number, u32 blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        add_release(counters + number, 1);
        while (load_acquire(counters + number) < blocks) spin_pause();
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
        Element<Word>* elements = static_cast<Element<Word>*>(sync) + base;
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
            // Asked for before the wait, so that it arrives meanwhile.
            const Twiddle w = load_entry(table + (1u << stage) + group);

            Word left, right;
            if (LOCAL && done > 0) {
                wait_for_operands(elements + at, elements + partner, done, left, right);
            } else {
                if (done > 0) grid_barrier(counters, done, blocks);
                left = (done == 0 ? in : out)[base + at];
                right = (done == 0 ? in : out)[base + partner];
            }
            Field::Reg x = done == 0 ? field.enter(left) : field.unpack(left);
            Field::Reg y = done == 0 ? field.enter(right) : field.unpack(right);
            if (FORWARD) {
                field.forward(x, y, w);
            } else if (last) {
                field.inverse_scaled(x, y, PRODUCT ? limb.product_scale : limb.scale,
                                     PRODUCT ? limb.product_scale_root : limb.scale_root);
            } else {
                field.inverse(x, y, w);
            }
            const Word upper = last ? field.leave(x) : field.pack(x), lower = last ? field.leave(y) : field.pack(y);
            if (LOCAL) {
                // After the last stage nobody waits, and zero is what the next launch wants.
                const Word trigger = last ? 0 : done + 1;
                store_element(elements + at, {upper, trigger});
                store_element(elements + partner, {lower, trigger});
            }
            if (!LOCAL || last) {
                out[base + at] = upper;
                out[base + partner] = lower;
            }
        }
        if (!LOCAL && threadIdx.x == 0 && add_release(counters, 1) == blocks - 1) {
            for (u32 i = 0; i < LOG_N; ++i) counters[i] = 0;
        }
    }
};

#define RESIDENT_KERNEL(NAME, LOG_N, LOCAL, FORWARD, PRODUCT)                                                              \
    extern "C" __global__ void __launch_bounds__(256)                                                                     \
        NAME(const Field::Word* in, Field::Word* out, const Field::Twiddle* __restrict__ tables,                          \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 polynomials, u32 each, void* sync) { \
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
