// Clusters of two blocks and asynchronous copies, for compute capability 9.0 and later.

// Counts the bytes that arrive in a block's shared memory. A phase, the first is 0, ends when the counter has been told how many to expect
// and all have arrived.
struct alignas(8) Arrivals {
    i32 missing;
    unsigned short told, phase;
};

#ifndef EMULATED

INLINE u32 shared_address(const void* at) { return (u32)__cvta_generic_to_shared(at); }

// This block's number in its cluster.
INLINE u32 block_rank() {
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// All threads of a cluster. Between the two calls a thread may do other work. `arrive_after_reads` orders only this thread's reads of its
// own shared memory before what others do after they have waited, so stores on their way to memory do not delay it.
INLINE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
INLINE void cluster_arrive_after_reads() {
    asm volatile("fence.acq_rel.cta;\n\tbarrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
INLINE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

INLINE void start_arrivals(Arrivals* at) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(shared_address(at)) : "memory");
}
INLINE void expect_arrivals(Arrivals* at, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(at)), "r"(bytes) : "memory");
}
// Waits for the end of the phase of this parity.
INLINE void wait_for_arrivals(Arrivals* at, u32 parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n"
        "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra again;\n\t}" ::"r"(shared_address(at)), "r"(parity)
        : "memory");
}
// Stores to the place that `at` has in the other block, and counts the bytes there.
INLINE void send(uint4* at, uint4 x, Arrivals* arrivals) {
    asm volatile(
        "{\n\t.reg .u32 there, count;\n\t"
        "mapa.shared::cluster.u32 there, %0, %6;\n\tmapa.shared::cluster.u32 count, %1, %6;\n\t"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [there], {%2, %3, %4, %5}, [count];\n\t}" ::"r"(shared_address(at)),
        "r"(shared_address(arrivals)), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(block_rank() ^ 1)
        : "memory");
}
// Starts a copy of 16 bytes to shared memory. A thread waits for all of its own.
INLINE void start_copy(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
INLINE void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

#else

INLINE u32 block_rank() { return blockIdx.x & 1; }
INLINE void cluster_arrive() { emulation::current.arrive(); }
INLINE void cluster_arrive_after_reads() { emulation::current.arrive(); }
INLINE void cluster_wait() { emulation::current.wait_for_all(); }
INLINE void start_arrivals(Arrivals* at) { *at = {}; }
INLINE void count_arrivals(Arrivals* at) {
    if (at->told && at->missing == 0) at->told = 0, ++at->phase;
}
INLINE void expect_arrivals(Arrivals* at, u32 bytes) {
    at->missing += (i32)bytes;
    at->told = 1;
    count_arrivals(at);
}
INLINE void wait_for_arrivals(Arrivals* at, u32 parity) {
    while ((at->phase & 1) == parity) spin_pause();
}
INLINE void send(uint4* at, uint4 x, Arrivals* arrivals) {
    *emulation::current.in_block(at, block_rank() ^ 1) = x;
    Arrivals* there = emulation::current.in_block(arrivals, block_rank() ^ 1);
    there->missing -= sizeof(x);
    count_arrivals(there);
}
INLINE void start_copy(void* to, const void* from) { memcpy(to, from, 16); }
INLINE void wait_for_copies() {}

#endif
