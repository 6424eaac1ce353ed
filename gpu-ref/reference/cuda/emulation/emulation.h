// Runs CUDA kernels on a CPU: precedes a kernel's text, compiled as C++20.
//
// Each thread of a block is a fiber. A fiber runs until it reaches a barrier or ends; then the next
// one runs. Blocks run one after the other. Successive barrier intervals run the fibers in
// alternating order, so that a kernel with a missing barrier reads a stale value in one of them. The
// last block runs first, because CUDA promises no order. A
// cooperative launch keeps all blocks alive together, and `spin_pause` lets the others run while a
// thread waits for a flag.
//
// Time, warps, and memory orders weaker than sequential consistency are not modelled.

// Only C headers: the C++ ones take longer to compile than the kernels.

#define EMULATED 1

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __restrict__
#define __align__(n) alignas(n)

struct uint2 { unsigned int x, y; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct dim3 { unsigned int x = 1, y = 1, z = 1; };

inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {

constexpr size_t STACK_BYTES = 64 * 1024;

enum class State { Ready, AtBarrier, Done };

struct Fiber {
    ucontext_t begin;  // entry point; later switches use `context`
    jmp_buf context;
    bool begun;
    State state;
    dim3 thread, block;
    unsigned char* shared;
    unsigned arrived_at;  // the generation of the cluster's barrier
    unsigned warp_arrived, warp_generation;  // of the barrier of the warp that begins with this thread
};

// Memory that only grows and is not cleared.
template <class T>
struct Pool {
    T* items = nullptr;
    size_t count = 0;
    ~Pool() { free(items); }
    T* at_least(size_t wanted) {
        if (count < wanted) {
            free(items);
            items = static_cast<T*>(malloc(wanted * sizeof(T)));
            count = wanted;
        }
        return items;
    }
};
struct Stack {
    char bytes[STACK_BYTES];
};

// One launch on this host thread.
struct Launch {
    Pool<Fiber> fibers;
    Pool<Stack> stacks;
    Pool<ulonglong2> shared;
    jmp_buf scheduler;
    Fiber* running = nullptr;
    void (*body)(void*) = nullptr;
    void* argument = nullptr;
    // Blocks that are alive together, with all their fibers, are also a cluster.
    unsigned alive = 0, arrived = 0, generation = 0;
    size_t shared_bytes = 0;

    void suspend(State state) {
        Fiber* self = running;
        self->state = state;
        // Unlike swapcontext, these make no system call.
        if (!_setjmp(self->context)) _longjmp(scheduler, 1);
    }
    void arrive() {
        running->arrived_at = generation;
        if (++arrived == alive) arrived = 0, ++generation;
    }
    void wait_for_all() {
        while (running->arrived_at == generation) suspend(State::Ready);
    }
    void sync_warp() {
        Fiber* warp = running - running->thread.x % 32;
        const unsigned generation = warp->warp_generation;
        if (++warp->warp_arrived == 32) {
            warp->warp_arrived = 0, ++warp->warp_generation;
        } else {
            while (warp->warp_generation == generation) suspend(State::Ready);
        }
    }
    // Words behind the array in the block's shared memory.
    unsigned* own_words() { return reinterpret_cast<unsigned*>(running->shared + shared_bytes - sizeof(ulonglong2)); }
    // The place in the shared memory of another block of the cluster that `at` is in this block's.
    template <class T>
    T* in_block(T* at, unsigned number) {
        const size_t offset = reinterpret_cast<unsigned char*>(at) - running->shared;
        return reinterpret_cast<T*>(reinterpret_cast<unsigned char*>(shared.items) + number * shared_bytes + offset);
    }
    void resume(Fiber& fiber) {
        running = &fiber;
        threadIdx = fiber.thread;
        blockIdx = fiber.block;
        if (_setjmp(scheduler)) return;
        if (fiber.begun) _longjmp(fiber.context, 1);
        fiber.begun = true;
        setcontext(&fiber.begin);
    }
    void start(Fiber& fiber, Stack& stack, dim3 block, unsigned thread, void* shared) {
        fiber.block = block;
        fiber.thread = dim3{thread, 0, 0};
        fiber.shared = static_cast<unsigned char*>(shared);
        fiber.state = State::Ready;
        fiber.warp_arrived = fiber.warp_generation = 0;
        fiber.begun = false;
        getcontext(&fiber.begin);
        fiber.begin.uc_stack.ss_sp = stack.bytes;
        fiber.begin.uc_stack.ss_size = STACK_BYTES;
        fiber.begin.uc_link = nullptr;
        makecontext(&fiber.begin, entry, 0);
    }
    static void entry();
};

inline thread_local Launch current;

inline void Launch::entry() {
    current.body(current.argument);
    current.suspend(State::Done);
}

// Runs the blocks with fibers [0, blocks * threads) of `current` to their end. Returns false if
// some threads of a block ended while others waited at a barrier, or if waiting threads made no
// progress for very long.
inline bool run(unsigned blocks, unsigned threads) {
    bool ascending = true;
    for (uint64_t sweep = 0; sweep < 100'000; ++sweep, ascending = !ascending) {
        bool all_done = true;
        for (unsigned b = 0; b < blocks; ++b) {
            Fiber* block = current.fibers.items + size_t(b) * threads;
            for (unsigned i = 0; i < threads; ++i) {
                Fiber& fiber = block[ascending ? i : threads - 1 - i];
                if (fiber.state == State::Ready) current.resume(fiber);
            }
            unsigned waiting = 0, done = 0;
            for (unsigned i = 0; i < threads; ++i) {
                waiting += block[i].state == State::AtBarrier;
                done += block[i].state == State::Done;
            }
            if (waiting > 0 && done > 0) return false;
            if (waiting == threads) {
                for (unsigned i = 0; i < threads; ++i) block[i].state = State::Ready;
            }
            all_done &= done == threads;
        }
        if (all_done) return true;
    }
    return false;
}

template <size_t... I>
struct Indices {};

// Launches `kernel` with `arguments`, one pointer per argument, as cuLaunchKernel takes them.
template <class... A>
int launch(void (*kernel)(A...), const unsigned* grid, unsigned threads, unsigned shared_bytes, unsigned cluster,
           bool cooperative, void** arguments) {
    auto call = [&] {
        [&]<size_t... I>(Indices<I...>) {
            kernel(*static_cast<A*>(arguments[I])...);
        }(Indices<__integer_pack(sizeof...(A))...>{});
    };
    current.body = [](void* f) { (*static_cast<decltype(call)*>(f))(); };
    current.argument = &call;
    gridDim = dim3{grid[0], grid[1], grid[2]};
    blockDim = dim3{threads, 1, 1};

    const unsigned total = grid[0] * grid[1] * grid[2];
    const unsigned together = cooperative ? total : cluster;
    const size_t shared_items = (shared_bytes + sizeof(ulonglong2) - 1) / sizeof(ulonglong2) + 1;
    Fiber* fibers = current.fibers.at_least(size_t(together) * threads);
    Stack* stacks = current.stacks.at_least(size_t(together) * threads);
    ulonglong2* shared = current.shared.at_least(shared_items * together);
    current.alive = together * threads;
    current.shared_bytes = shared_items * sizeof(ulonglong2);
    for (unsigned first = total; first > 0;) {
        first -= together;
        // Poisoned, because a GPU does not clear shared memory either.
        memset(shared, 0xA5, shared_items * together * sizeof(ulonglong2));
        for (unsigned b = 0; b < together; ++b) {
            const unsigned number = first + b;
            const dim3 block{number % grid[0], number / grid[0] % grid[1], number / (grid[0] * grid[1])};
            for (unsigned t = 0; t < threads; ++t) {
                const size_t at = size_t(b) * threads + t;
                current.start(fibers[at], stacks[at], block, t, shared + b * shared_items);
            }
        }
        if (!run(together, threads)) return 1;
    }
    return 0;
}

// The sizes of a kernel's parameters in bytes, and their number.
template <class... A>
unsigned parameters(void (*)(A...), unsigned char* sizes) {
    const unsigned char all[] = {sizeof(A)...};
    memcpy(sizes, all, sizeof(all));
    return sizeof(all);
}

}  // namespace emulation

inline void __syncthreads() { emulation::current.suspend(emulation::State::AtBarrier); }
// Of whole warps.
inline void __syncwarp() { emulation::current.sync_warp(); }
inline void spin_pause() { emulation::current.suspend(emulation::State::Ready); }

template <class T>
T __ldg(const T* at) { return *at; }

inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1) << (31 - i);
    return reversed;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline long long __double_as_longlong(double d) { return __builtin_bit_cast(long long, d); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double copysign(double x, double sign) { return __builtin_copysign(x, sign); }

#define SHARED_ARRAY(T, NAME) T* NAME = reinterpret_cast<T*>(emulation::current.running->shared)

#define SHARED_WORDS(NAME, COUNT) unsigned* NAME = emulation::current.own_words()

#define EXPORT_KERNEL(NAME) EXPORT_CLUSTER_KERNEL(NAME, 1)
#define EXPORT_CLUSTER_KERNEL(NAME, BLOCKS)                                                                       \
    extern "C" int emulated_##NAME(const unsigned* grid, unsigned threads, unsigned shared, bool cooperative,     \
                                   void** arguments) {                                                            \
        return emulation::launch(NAME, grid, threads, shared, BLOCKS, cooperative, arguments);                            \
    }                                                                                                             \
    extern "C" unsigned parameters_##NAME(unsigned char* sizes) { return emulation::parameters(NAME, sizes); }
