// A transform that crosses memory once, for N = 2^15 and 2^16 in 32-bit words: all stages in one kernel.
//
// A cluster of one block or, for 2^16, of two, transforms one polynomial after the other. A block has 2^15 words, 32 in each of its 1024
// threads. The next polynomial is on its way to shared memory meanwhile. Clusters take the polynomials by tickets, so those that have begun
// share the work of those that have no room.
//
// The forward transform. A thread begins with the words
//     k 2^(LOG_N-5) + rank 2^10 + thread,   0 <= k < 32.
// For 2^16, stage 0 needs no other thread. Its results in the other half of the polynomial go to the same thread of the other block, and
// from then on each block has the half of its rank. Five stages each follow in three rounds. The registers of a round represent these bits of
// the index: 10 to 14, 5 to 9, 0 to 4. Between the first two, the block exchanges data, between the last two only each warp. The inverse
// runs all of it backwards.
//
// Shared memory. `exchange` has a block's half in the order of the index, rows of 32 words, in which groups of four words are permuted to
// spread accesses over the banks. A warp's 32 rows of bits 5 to 9 are its own: its region.
//
// Roots. The table of a limb has first the entries of all stages, then those of the middle round once more.
//   Stages before MIDDLE: entry 2^s + group. They are in shared memory.
//   Stages from MIDDLE to LAST - 1: for each group of stage MIDDLE, which is one warp's, 32 entries: of stage MIDDLE + d from 2^d on. Each
//     warp has its own in shared memory.
//   Stages from LAST on: of stage LAST + d, the parts with the same root (see `sharing` in pass.cuh) behind each other, then the threads.

struct TwoRoots {
    ShoupPair<u32> root[2];
};
INLINE ShoupPair<u32> root_at(const ShoupPair<u32>* at) {
    const uint2 v = *reinterpret_cast<const uint2*>(at);
    return {v.x, v.y};
}
INLINE TwoRoots roots_at(const ShoupPair<u32>* at) {
    const uint4 v = *reinterpret_cast<const uint4*>(at);
    return {{{v.x, v.y}, {v.z, v.w}}};
}
INLINE TwoRoots load_entries(const ShoupPair<u32>* at) {
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(at));
    return {{{v.x, v.y}, {v.z, v.w}}};
}

template <class Field, int LOG_N>
struct Once {
    using Word = typename Field::Word;
    using Twiddle = typename Field::Twiddle;
    using FieldConstants = Constants<Word, Twiddle>;
    static constexpr int POINTS = 32, THREADS = 1024, SHARED_ROOTS = 3;
    static constexpr int LAST = LOG_N - 5, MIDDLE = LOG_N - 10, CLUSTER_LOG = LOG_N - 15;
    static constexpr bool PAIR = CLUSTER_LOG == 1;
    static_assert(PAIR || CLUSTER_LOG == 0);
    static constexpr u32 TABLE = (1 << LOG_N) + (32 << MIDDLE);

    // Rows of a warp's words of the next polynomial: EARLY ones have memory of their own, the others wait until the exchange memory has
    // room.
    static constexpr int EARLY = 22, LATE = POINTS - EARLY;
    struct Memory {
        Word exchange[THREADS * POINTS];
        Word early[THREADS / 32][EARLY][32];
        Twiddle middle[THREADS / 32][32];
        Twiddle first[2][64];
        uint4 constants[2];
        uint4 tickets[2];  // x: of the next polynomial, for each parity
        Arrivals arrivals;
    };
    static_assert(LATE * 32 <= 512 && sizeof(Memory) <= 227 * 1024);

    static constexpr INLINE int bound(int stages) {
        int bound = 1;
        for (int stage = 0; stage < stages; ++stage) bound = Field::after_forward(bound);
        return bound;
    }
    // log2 of the number of parts that share a root in a stage.
    static constexpr INLINE int sharing(int stage) {
        const int shared = SHARED_ROOTS - (LOG_N - 1 - stage);
        return shared > 0 ? shared : 0;
    }

    // One polynomial modulo one limb.
    struct Tile {
        u32 limb, row;
        INLINE size_t start() const { return (size_t)row << LOG_N; }
    };
    struct Order {
        const FieldConstants* constants;
        const Twiddle* tables;
        u32 limbs, polynomials, count;
        u32* taken;
        // The polynomials of a limb are neighbours, so that they find its roots in the L2 cache.
        INLINE Tile tile(u32 number) const {
            const u32 limb = number / polynomials;
            return {limb, (number - limb * polynomials) * limbs + limb};
        }
        // A cluster takes AHEAD tickets before it begins, and one for each polynomial.
        static constexpr u32 AHEAD = PAIR ? 2 : 3;
        INLINE u32 take() const { return take_ticket(taken, count + AHEAD * (gridDim.x >> CLUSTER_LOG)); }
        INLINE const Twiddle* table(Tile tile) const { return tables + (size_t)tile.limb * TABLE; }
    };

    // What a block knows for all of its polynomials.
    struct Block {
        Memory& memory;
        u32 rank, lane, warp;
    };

    // Takes the ticket of a parity at once. A pair gives it to the other block, where it is the phase of `arrivals` with that number.
    INLINE static void take_now(Memory* memory, const Order& order, u32 parity, u32 phase) {
        uint4* at = &memory->tickets[parity];
        const u32 rank = PAIR ? block_rank() : 0;
        if (threadIdx.x == 0 && rank == 0) {
            const uint4 ticket{order.take(), 0, 0, 0};
            *at = ticket;
            if (PAIR) send(at, ticket, &memory->arrivals);
        } else if (threadIdx.x == 0) {
            expect_arrivals(&memory->arrivals, sizeof(uint4));
        }
        if (rank == 1) wait_for_arrivals(&memory->arrivals, phase);
        __syncthreads();
    }
    // Before the first polynomial, whose ticket is then that of parity 1.
    INLINE static Block begin(Memory* memory, const Order& order) {
        if (threadIdx.x == 0) start_arrivals(&memory->arrivals);
        cluster_arrive();
        cluster_wait();
        wait_for_previous_kernel();
        take_now(memory, order, 1, 0);
        return {*memory, PAIR ? block_rank() : 0, threadIdx.x & 31, threadIdx.x >> 5};
    }
    // The tickets of the next polynomials, while the first is on its way. Those of all blocks come after all of the first.
    INLINE static void take_next(Memory* memory, const Order& order) {
        // Phase 0 must have ended in the other block, or this ticket would count in it.
        cluster_arrive_after_reads();
        cluster_wait();
        take_now(memory, order, 0, 1);
        if (!PAIR) take_now(memory, order, 1, 0);
    }
    // One thread of a cluster takes a ticket: of a pair before the blocks exchange data, for the polynomial after the next, and gives it to
    // both; of a block alone while its registers are empty, for the one after that. It looks at the ticket later, when it has come.
    // All threads know the ticket as one number, which takes no register of each.
    INLINE static u32 ticket_of(const Block& block, u32 parity) { return of_first_lane(block.memory.tickets[parity].x); }
    INLINE static bool takes(const Block& block, bool pair) { return pair == PAIR && block.rank == 0 && threadIdx.x == 0; }

    // One stage on COUNT registers whose distance is DISTANCE. `own` has the entries of this thread.
    template <bool FORWARD, int STAGE, int COUNT, int DISTANCE>
    INLINE static void stage(const Field& field, Word* x, const Twiddle* own, const Twiddle* first) {
        constexpr int PARTS = COUNT / (2 * DISTANCE), EACH = 1 << sharing(STAGE), ROOTS = PARTS / EACH;
#pragma unroll
        for (int two = 0; two < ROOTS; two += 2) {
            TwoRoots roots;
            if constexpr (STAGE >= LAST) {
                roots.root[0] = own[two];
                if (ROOTS > 1) roots.root[1] = own[two + 1];
            } else if constexpr (ROOTS > 1) {
                roots = roots_at(own + two);
            } else {
                roots.root[0] = root_at(own);
            }
#pragma unroll
            for (int part = two * EACH; part < (two + 2) * EACH && part < PARTS; ++part) {
#pragma unroll
                for (int j = 0; j < DISTANCE; ++j) {
                    Word &a = x[part * 2 * DISTANCE + j], &b = x[part * 2 * DISTANCE + DISTANCE + j];
                    const Twiddle& root = roots.root[part / EACH - two];
                    if constexpr (FORWARD) {
                        if (part % EACH) b = field.times(b, root_at(first + part % EACH));
                        field.template forward<bound(STAGE)>(a, b, root);
                    } else {
                        // The stage before has multiplied the elements with this bit.
                        field.inverse(a, b, root, DISTANCE > 1 && j >= DISTANCE / 2);
                        if (part % EACH) b = field.times(b, root_at(first + part % EACH));
                    }
                }
            }
        }
    }
    // Of a pair, stages 1 to 4 on the registers of half a round.
    template <bool FORWARD, int STEP = 0>
    INLINE static void half_round(const Field& field, Word* x, const Twiddle* first, u32 rank) {
        constexpr int STAGE = FORWARD ? 1 + STEP : 4 - STEP;
        stage<FORWARD, STAGE, 16, (16 >> STAGE)>(field, x, first + (1 << STAGE) + (rank << (STAGE - 1)), first);
        if constexpr (STEP < 3) half_round<FORWARD, STEP + 1>(field, x, first, rank);
    }
    // Of a block alone, stages 0 to 4, or 4 to 1: the last stage of the inverse scales.
    template <bool FORWARD, int STEP = 0>
    INLINE static void whole_round(const Field& field, Word (&x)[POINTS], const Twiddle* first) {
        constexpr int STAGE = FORWARD ? STEP : 4 - STEP;
        stage<FORWARD, STAGE, POINTS, (16 >> STAGE)>(field, x, first + (1 << STAGE), first);
        if constexpr (STEP < (FORWARD ? 4 : 3)) whole_round<FORWARD, STEP + 1>(field, x, first);
    }
    template <bool FORWARD, int STEP = 0>
    INLINE static void middle_round(const Field& field, Word (&x)[POINTS], const Twiddle* tree) {
        constexpr int DEPTH = FORWARD ? STEP : 4 - STEP;
        stage<FORWARD, MIDDLE + DEPTH, POINTS, (16 >> DEPTH)>(field, x, tree + (1 << DEPTH), tree);
        if constexpr (STEP < 4) middle_round<FORWARD, STEP + 1>(field, x, tree);
    }
    // Roots of the last round come to registers two stages early: more do not fit.
    struct LastRoots {
        const Twiddle* table;
        u32 row;
        TwoRoots roots[5];
        template <int DEPTH>
        INLINE void load() {
            if constexpr (DEPTH < 0 || DEPTH > 4) return;
            else {
                constexpr int STAGE = LAST + DEPTH;
                const Twiddle* at = table + (1u << STAGE) + (row << (DEPTH - sharing(STAGE)));
                if constexpr (DEPTH == 0) roots[DEPTH].root[0] = load_entry(at);
                else roots[DEPTH] = load_entries(at);
            }
        }
    };
    template <bool FORWARD, int STEP = 0>
    INLINE static void last_round(const Field& field, Word (&x)[POINTS], LastRoots& roots, const Twiddle* first) {
        constexpr int DEPTH = FORWARD ? STEP : 4 - STEP;
        roots.template load<FORWARD ? DEPTH + 2 : DEPTH - 2>();
        stage<FORWARD, LAST + DEPTH, POINTS, (16 >> DEPTH)>(field, x, roots.roots[DEPTH].root, first);
        if constexpr (STEP < 4) last_round<FORWARD, STEP + 1>(field, x, roots, first);
    }

    // Accesses to the exchange memory. Group g of a row is at group g ^ (row % 8).
    // In the first round the registers are every 2^10-th word.
    INLINE static Word* first_place(Block& block) {
        return block.memory.exchange + (block.warp << 5 | (block.lane ^ (block.warp & 7) << 2));
    }
    INLINE static Word* region(Block& block) { return block.memory.exchange + (block.warp << 10); }
    // In the middle round they are a column of the region. Eight rows differ in their permutation; the compiler would compute an address
    // for each of the 32.
    template <bool PUT>
    INLINE static void middle(Block& block, Word (&x)[POINTS]) {
#pragma unroll
        for (u32 permutation = 0; permutation < 8; ++permutation) {
            u32 place = block.lane ^ permutation << 2;
            asm volatile("" : "+r"(place));
            Word* column = region(block) + place;
#pragma unroll
            for (u32 r = permutation; r < POINTS; r += 8) {
                if (PUT) column[r << 5] = x[r];
                else x[r] = column[r << 5];
            }
        }
    }
    // In the last round they are a row of the region.
    INLINE static uint4* last_place(Word* rows, u32 lane, int v) {
        return reinterpret_cast<uint4*>(rows + (lane << 5 | (v ^ (lane & 7)) << 2));
    }
    INLINE static void set(Word* x, uint4 four) { x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w; }

    // Sends 16 words to the same thread of the other block, and a ticket.
    INLINE static void send_half(Block& block, const Word* x, uint4* to, u32 ticket, u32 parity) {
        if (threadIdx.x == 0) {
            expect_arrivals(&block.memory.arrivals, 16 * THREADS * sizeof(Word) + block.rank * (u32)sizeof(uint4));
            if (block.rank == 0) send(&block.memory.tickets[parity ^ 1], uint4{ticket, 0, 0, 0}, &block.memory.arrivals);
        }
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            send(to + v * THREADS + threadIdx.x, uint4{x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]}, &block.memory.arrivals);
        }
    }
    INLINE static void receive_half(Block& block, Word* x, const uint4* from, u32 parity) {
        wait_for_arrivals(&block.memory.arrivals, parity);
#pragma unroll
        for (int v = 0; v < 4; ++v) set(x + 4 * v, from[v * THREADS + threadIdx.x]);
    }
    // Starts copies of the roots before MIDDLE and of a field's numbers, by one warp, which waits for them before a barrier.
    INLINE static void copy_first(Block& block, const Order& order, Tile tile, u32 parity) {
        if (block.warp > 0) return;
        start_copy(&block.memory.first[parity][2 * block.lane], order.table(tile) + 2 * block.lane);
        if (block.lane == 0) start_copy(&block.memory.constants[parity], order.constants + tile.limb);
    }
    INLINE static Field field(Block& block, u32 parity) {
        const uint4 four = block.memory.constants[parity];
        FieldConstants constants;
        constants.q = four.x, constants.aux[0] = four.y;
        // The same number, which the compiler does not know.
        constants.aux[1] = constants.aux[2] = constants.aux[3] = four.z;
        return Field(constants);
    }
    // Of this warp's roots of the middle round.
    INLINE static void copy_middle(Block& block, const Twiddle* table) {
        if (block.lane < 16) {
            start_copy(&block.memory.middle[block.warp][2 * block.lane],
                       table + ((1 << LOG_N) + ((block.rank << 5 | block.warp) << 5)) + 2 * block.lane);
        }
    }

    // The place of a warp's words of a polynomial: rows of 32 words. FORWARD, they are 2^(LOG_N-5) apart in the polynomial.
    template <bool FORWARD>
    struct Source {
        static constexpr int DISTANCE_LOG = FORWARD ? LOG_N - 5 : 5;
        const Word* words;
        INLINE Source(Block& block, const Word* in, Tile tile)
            : words(in + tile.start() + (FORWARD ? block.rank << 10 | block.warp << 5 : block.rank << 15 | block.warp << 10)) {}
        // Each instruction copies four rows. The first four begin at `rows`.
        INLINE void copy(Block& block, Word* rows, int begin, int end) const {
            const u32 row = block.lane >> 3, group = block.lane & 7;
            const Word* from = words + ((size_t)row << DISTANCE_LOG) + (group << 2);
            Word* to[2];
#pragma unroll
            for (u32 odd = 0; odd < 2; ++odd) to[odd] = rows + (row << 5) + ((FORWARD ? group : group ^ (begin + 4 * odd + row) % 8) << 2);
#pragma unroll
            for (int r = begin; r < end; r += 4) {
                if (r + 4 <= end || row < (u32)(end - r)) start_copy(to[(r - begin) / 4 % 2] + ((r - begin) << 5), from + ((size_t)r << DISTANCE_LOG));
            }
        }
        INLINE void copy_early(Block& block) const { copy(block, block.memory.early[block.warp][0], 0, EARLY); }
        INLINE void copy_late(Block& block, Word* to) const { copy(block, to, EARLY, POINTS); }
    };

    // Copies what the first polynomial needs, and takes the next tickets. Then all warps have both.
    template <bool FORWARD>
    INLINE static void copy_all(Block& block, const Order& order, const Word* in, u32 number, Word* late) {
        if (number < order.count) {
            const Tile tile = order.tile(number);
            const Source<FORWARD> source(block, in, tile);
            copy_first(block, order, tile, 0);
            copy_middle(block, order.table(tile));
            source.copy_early(block);
            source.copy_late(block, late);
        }
        take_next(&block.memory, order);
        wait_for_copies();
        __syncthreads();
    }

    static __device__ void forward(const Word* in, Word* out, Order order) {
        SHARED_ARRAY(Memory, memory);
        Block block = begin(memory, order);
        u32 number = ticket_of(block, 1), parity = 0;
        Tile tile = order.tile(number);
        Word *own = region(block), *late = own + 512;
        // Free until the copies of the next polynomial.
        uint4* received = reinterpret_cast<uint4*>(memory->early);
        copy_all<true>(block, order, in, number, late);
#pragma unroll 1
        for (Tile next; number < order.count; tile = next, parity ^= 1) {
            const Field field = Once::field(block, parity);
            const Twiddle* table = order.table(tile);
            const Twiddle* first = memory->first[parity];
            number = ticket_of(block, parity);
            next = order.tile(number);
            Word x[POINTS];
            wait_for_copies();
            __syncwarp();
#pragma unroll
            for (int r = 0; r < POINTS; ++r) {
                x[r] = r < EARLY ? memory->early[block.warp][r][block.lane] : late[(r - EARLY) * 32 + block.lane];
            }
            cluster_arrive_after_reads();
            u32 ticket = 0;
            if (takes(block, true)) ticket = order.take();
            if constexpr (PAIR) {
                // The results of stage 0 for this block are x[k], those for the other one x[16 + k].
                Twiddle root = root_at(first + 1);
                if (block.rank) root.root = field.q - root.root, root.quotient = ~root.quotient;
#pragma unroll
                for (int k = 0; k < 16; ++k) field.template forward<bound(0)>(x[k], x[16 + k], root);
                half_round<true>(field, x, first, block.rank);
            } else {
                whole_round<true>(field, x, first);
            }
            // All have read the exchange memories of both blocks.
            cluster_wait();
            if (number < order.count) copy_first(block, order, next, parity ^ 1);
            if (takes(block, true)) memory->tickets[parity ^ 1].x = ticket;
            Word* to = first_place(block);
            if constexpr (PAIR) {
                send_half(block, x + 16, received, ticket, parity);
                receive_half(block, x + 16, received, parity);
                half_round<true>(field, x + 16, first, block.rank);
#pragma unroll
                for (int k = 0; k < 16; k += 2) {
                    const TwoRoots roots = roots_at(first + 32 + 16 * block.rank + k);
#pragma unroll
                    for (int i = 0; i < 2; ++i) {
                        Word a = block.rank ? x[16 + k + i] : x[k + i], b = block.rank ? x[k + i] : x[16 + k + i];
                        field.template forward<bound(5)>(a, b, roots.root[i]);
                        to[(2 * (k + i)) << 10] = a;
                        to[(2 * (k + i) + 1) << 10] = b;
                    }
                }
            } else {
#pragma unroll
                for (int r = 0; r < POINTS; ++r) to[r << 10] = x[r];
            }
            if (takes(block, false)) ticket = order.take();
            wait_for_copies();
            __syncthreads();
            const Source<true> source(block, in, next);
            if (number < order.count) source.copy_early(block);
            if (takes(block, false)) memory->tickets[parity].x = ticket;
            middle<false>(block, x);
            middle_round<true>(field, x, memory->middle[block.warp]);
            middle<true>(block, x);
            LastRoots roots{table, block.rank << 10 | threadIdx.x};
            roots.template load<0>();
            roots.template load<1>();
            __syncwarp();
#pragma unroll
            for (int v = 0; v < 8; ++v) set(x + 4 * v, *last_place(own, block.lane, v));
            __syncwarp();
            if (number < order.count) {
                copy_middle(block, order.table(next));
                source.copy_late(block, late);
            }
            last_round<true>(field, x, roots, first);
            // Through shared memory, so that a warp stores neighbouring words.
            uint4* rows = reinterpret_cast<uint4*>(out + tile.start() + (block.rank << 15 | block.warp << 10));
            uint4* staged = reinterpret_cast<uint4*>(own);
            const u32 lane = block.lane;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
#pragma unroll
                for (int v = 0; v < 4; ++v) {
                    Word done[4];
#pragma unroll
                    for (int i = 0; i < 4; ++i) done[i] = field.template leave<bound(LOG_N)>(x[16 * half + 4 * v + i]);
                    staged[lane << 2 | (v ^ (lane >> 1 & 3))] = uint4{done[0], done[1], done[2], done[3]};
                }
                __syncwarp();
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    const u32 row = 8 * k + (lane >> 2), v = lane & 3;
                    rows[row << 3 | half << 2 | v] = staged[row << 2 | (v ^ (row >> 1 & 3))];
                }
                if (half == 0) __syncwarp();
            }
        }
    }

    static __device__ void inverse(const Word* in, Word* out, Order order) {
        SHARED_ARRAY(Memory, memory);
        Block block = begin(memory, order);
        u32 number = ticket_of(block, 1), parity = 0;
        Tile tile = order.tile(number);
        uint4* received = reinterpret_cast<uint4*>(memory->exchange);
        // The words that wait for the exchange memory, behind those that the other block sends.
        Word* late = memory->exchange + 16 * THREADS + block.warp * (LATE * 32);
        copy_all<false>(block, order, in, number, late);
#pragma unroll 1
        for (Tile next; number < order.count; tile = next, parity ^= 1) {
            const Field field = Once::field(block, parity);
            const Twiddle* table = order.table(tile);
            const Twiddle* first = memory->first[parity];
            Word x[POINTS];
            LastRoots roots{table, block.rank << 10 | threadIdx.x};
            roots.template load<4>();
            roots.template load<3>();
            wait_for_copies();
            __syncthreads();
            number = ticket_of(block, parity);
            next = order.tile(number);
            if (number < order.count) copy_first(block, order, next, parity ^ 1);
            const u32 lane = block.lane;
            {
                const Word* row = lane < EARLY ? memory->early[block.warp][lane] : late + (lane - EARLY) * 32;
#pragma unroll
                for (int v = 0; v < 8; ++v) set(x + 4 * v, *reinterpret_cast<const uint4*>(row + ((v ^ (lane & 7)) << 2)));
            }
            last_round<false>(field, x, roots, first);
            // This region may hold words of other warps.
            __syncthreads();
            const Source<false> source(block, in, next);
#pragma unroll
            for (int v = 0; v < 8; ++v) *last_place(region(block), lane, v) = uint4{x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]};
            __syncwarp();
            middle<false>(block, x);
            middle_round<false>(field, x, memory->middle[block.warp]);
            middle<true>(block, x);
            u32 ticket = 0;
            if (takes(block, false)) ticket = order.take();
            wait_for_copies();
            __syncthreads();
            if (number < order.count) {
                copy_middle(block, order.table(next));
                source.copy_early(block);
            }
            if (takes(block, false)) memory->tickets[parity].x = ticket;
            const Word* from = first_place(block);
            if constexpr (PAIR) {
#pragma unroll
                for (int k = 0; k < 16; k += 2) {
                    const TwoRoots roots = roots_at(first + 32 + 16 * block.rank + k);
#pragma unroll
                    for (int i = 0; i < 2; ++i) {
                        Word a = from[(2 * (k + i)) << 10], b = from[(2 * (k + i) + 1) << 10];
                        field.inverse(a, b, roots.root[i], false);
                        x[k + i] = block.rank ? b : a;
                        x[16 + k + i] = block.rank ? a : b;
                    }
                }
            } else {
#pragma unroll
                for (int r = 0; r < POINTS; ++r) x[r] = from[r << 10];
            }
            cluster_arrive_after_reads();
            if (takes(block, true)) ticket = order.take();
            if constexpr (PAIR) {
                half_round<false>(field, x + 16, first, block.rank);
            } else {
                whole_round<false>(field, x, first);
            }
            cluster_wait();
            if (takes(block, true)) memory->tickets[parity ^ 1].x = ticket;
            if constexpr (PAIR) send_half(block, x + 16, received, ticket, parity);
            if (number < order.count) source.copy_late(block, late);
            if constexpr (PAIR) half_round<false>(field, x, first, block.rank);
            const Twiddle scale = order.constants[tile.limb].scale;
            Twiddle root = order.constants[tile.limb].scale_root;
            if (block.rank) root.root = field.q - root.root, root.quotient = ~root.quotient;
            if constexpr (PAIR) receive_half(block, x + 16, received, parity);
            Word* to = out + tile.start() + (block.rank << 10 | threadIdx.x);
#pragma unroll
            for (int k = 0; k < 16; ++k) {
                field.inverse_scaled(x[k], x[16 + k], scale, root);
                to[k << LAST] = field.template leave<Field::TIMES>(x[k]);
                to[(16 + k) << LAST] = field.template leave<Field::TIMES>(x[16 + k]);
            }
        }
    }
};

// The kernels, one for each direction.
#define ONCE_KERNEL(NAME, BODY, LOG_N)                                                                                    \
    extern "C" __global__ void __cluster_dims__(1 << (LOG_N - 15), 1, 1) __launch_bounds__(Once<Field, LOG_N>::THREADS, 1) \
        NAME(const Field::Word* in, Field::Word* out, const Field::Twiddle* __restrict__ tables,                          \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs, u32 polynomials, u32 count,  \
             Mark* marks) {                                                                                               \
        Once<Field, LOG_N>::BODY(in, out, {constants, tables, limbs, polynomials, count, &marks->taken});                 \
    }                                                                                                                     \
    EXPORT_CLUSTER_KERNEL(NAME, 1 << (LOG_N - 15))
