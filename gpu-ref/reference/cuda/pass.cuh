// One pass of a negacyclic NTT: STAGES consecutive stages in one kernel.
//
// The transform. Forward: natural order in, bit-reversed order out,
//     out[j] = sum_i in[i] psi^(i (2 bitrev(j) + 1)),
// by Cooley-Tukey stages s = 0 .. LOG_N-1; stage s has 2^s groups, and group i uses psi^bitrev(2^s
// + i). The inverse runs the Gentleman-Sande stages backwards with the inverse roots and multiplies
// by 1/N in its last stage.
//
// A pass. Stages FIRST .. FIRST+STAGES-1 split the transform into independent sub-transforms of
// 2^STAGES elements. The sub-transform of row r (0 <= r < 2^FIRST) and column c (0 <= c < COLUMNS)
// owns the elements
//     r 2^(LOG_N-FIRST) + i COLUMNS + c,   0 <= i < 2^STAGES.
// FIRST = 0 is a pass over columns, COLUMNS = 1 a pass over contiguous rows, and both at once the
// whole transform.
//
// A block computes 2^LANES_LOG neighbouring sub-transforms ("lanes"); 2^(STAGES-POINTS_LOG) threads
// share one, each with 2^POINTS_LOG elements in registers. A round covers as many stages as the
// registers allow: register number r represents POINTS_LOG adjacent bits of i, the "window", and
// the thread number the other bits. Between rounds the window moves down, through shared memory.
//
// A tile is the work of one block: 2^LANES_LOG sub-transforms of one polynomial and limb. Grid: x =
// tile, y = polynomial, z = limb (the modulus), so that the polynomials of a limb run together and
// find its roots in the L2 cache. Data: [polynomial][limb][N] words.
//
// Roots. The table of a limb has N entries; stage s owns entries 2^s .. 2^(s+1)-1. Within a stage,
// entries are in the order in which the threads of a warp read them: (row, register part of the
// group, thread part of the group).
//
// Variants, selected by macros that the host defines before this file:
//   EARLY_ROOTS: a thread loads all its roots into registers before it waits for the
//     preceding kernel. The first pass also brings its data to the L2 cache.
//   EARLY_START: the last of several passes lets the next kernel start before it waits.
//   ALTERNATING: every pass but the first goes through polynomials and limbs backwards, so that it finds in
//     the L2 cache what the pass before has written last.
//   CHAINED: all passes are one kernel; see chained.cuh.
// In the last SHARED_ROOTS stages, parts share table entries; see `sharing`. With three such stages
// the transform reads 5/16 of its table.

template <class Field, int LOG_N, int FIRST, int STAGES, int POINTS_LOG, int LANES_LOG, int SHARED_ROOTS>
struct Pass {
    using Word = typename Field::Word;        // in global memory
    using Reg = typename Field::Reg;          // in registers and shared memory
    using Twiddle = typename Field::Twiddle;  // in tables
    using FieldConstants = Constants<Word, Twiddle>;

    static constexpr int SIZE_LOG = LOG_N, POINTS = 1 << POINTS_LOG;
    static constexpr int LOG_COLUMNS = LOG_N - FIRST - STAGES;
    static constexpr int LOG_TEAM = STAGES - POINTS_LOG;  // threads of one sub-transform
    static constexpr int THREADS = 1 << (LANES_LOG + LOG_TEAM);
    static constexpr u32 TILES = 1u << (LOG_N - STAGES - LANES_LOG);  // of a polynomial modulo a limb
    static constexpr int ROUNDS = (STAGES + POINTS_LOG - 1) / POINTS_LOG;
    static constexpr bool ROWS = LOG_COLUMNS == 0;
    static constexpr bool OPENS = FIRST == 0;               // the forward transform's first pass
    static constexpr bool CLOSES = FIRST + STAGES == LOG_N;  // and its last
    // Global memory is accessed through shared memory.
    static constexpr bool STAGED = ROWS && CLOSES && ROUNDS > 1;
    static_assert(POINTS_LOG <= STAGES && LOG_COLUMNS >= 0);

    // A tile's number among those of its polynomial modulo a limb.
    struct Tile {
        u32 number, polynomial, limb;
    };
    // The tile of this block, in a kernel of one pass.
    INLINE static Tile own_tile() {
#ifdef ALTERNATING
        if (!OPENS) return {blockIdx.x, gridDim.y - 1 - blockIdx.y, gridDim.z - 1 - blockIdx.z};
#endif
        return {blockIdx.x, blockIdx.y, blockIdx.z};
    }

    // A column pass gives neighbouring threads neighbouring columns; a row pass gives them
    // neighbouring elements.
    INLINE static u32 lane() { return ROWS ? threadIdx.x >> LOG_TEAM : threadIdx.x & ((1u << LANES_LOG) - 1); }
    INLINE static u32 member() { return ROWS ? threadIdx.x & ((1u << LOG_TEAM) - 1) : threadIdx.x >> LANES_LOG; }

    static constexpr INLINE int window(int round) {
        return STAGES > POINTS_LOG * (round + 1) ? STAGES - POINTS_LOG * (round + 1) : 0;
    }
    static constexpr INLINE int first_stage(int round) { return POINTS_LOG * round; }
    static constexpr INLINE int end_stage(int round) { return STAGES - window(round); }

    // Bound of all data after `stages` stages of the forward transform, from the field.
    static constexpr INLINE int forward_bound(int stages) {
        int bound = 1;
        for (int stage = 0; stage < stages; ++stage) bound = Field::after_forward(bound);
        return bound;
    }
    static constexpr int OUTPUT_BOUND = forward_bound(FIRST + STAGES);

    // The element index i of register r is base(round) + (r << window(round)). All offsets below
    // are sums of a base that depends on the thread and a constant that depends on r, so r costs no
    // instructions.
    INLINE static u32 base(int round) {
        const int low = window(round);
        const u32 t = member();
        return (t >> low) << (low + POINTS_LOG) | (t & ((1u << low) - 1));
    }

    // Position of the elements of this thread's lane in shared memory. One word of padding for each
    // 128 bytes spreads power-of-two strides over the banks. For numbers without a common bit,
    // padded(a + b) = padded(a) + padded(b).
    static constexpr int PAD_LOG = sizeof(Reg) == 4 ? 5 : sizeof(Reg) == 8 ? 4 : 3;
    static constexpr INLINE u32 padded(u32 slot) { return slot + (slot >> PAD_LOG); }
    INLINE static Reg* shared_base(Reg* shared, int round) {
        return shared + padded(ROWS ? lane() << STAGES | base(round) : base(round) << LANES_LOG | lane());
    }
    static constexpr INLINE u32 shared_offset(int round, u32 r) {
        return padded(r << (ROWS ? window(round) : window(round) + LANES_LOG));
    }
    INLINE static void put(const Reg (&x)[POINTS], Reg* shared, int round) {
        Reg* to = shared_base(shared, round);
#pragma unroll
        for (int r = 0; r < POINTS; ++r) to[shared_offset(round, r)] = x[r];
    }
    INLINE static void get(Reg (&x)[POINTS], const Reg* shared, int round) {
        const Reg* from = shared_base(const_cast<Reg*>(shared), round);
#pragma unroll
        for (int r = 0; r < POINTS; ++r) x[r] = from[shared_offset(round, r)];
    }

    template <int FROM, int TO>
    INLINE static void exchange(Reg (&x)[POINTS], Reg* shared) {
        put(x, shared, FROM);
        __syncthreads();
        get(x, shared, TO);
    }

    // Roots of this thread for one round. For stage STAGE, `at` returns the root for part p of the
    // thread's registers.
    // Number of group bits in the thread number, and in the register number.
    static constexpr INLINE int hidden(int round) { return LOG_TEAM - window(round); }
    static constexpr INLINE int depth(int round, int stage) { return stage - hidden(round); }
    template <int ROUND>
    struct RoundRoots {
        const Twiddle* own;
        u32 row;
        INLINE RoundRoots(const Twiddle* table, u32 row) : own(table + (member() >> window(ROUND))), row(row) {}
        template <int STAGE>
        INLINE Twiddle at(int part) const {
            return load_entry(own + ((1u << (FIRST + STAGE)) + (row << STAGE)) + (part << hidden(ROUND)));
        }
    };
    // Table entries per limb.
    static constexpr u32 TABLE = 1u << LOG_N;

    // log2 of the number of parts that share a root in a stage: SHARED_ROOTS in the transform's last,
    // one less in each stage before. By the same rule as above, psi^bitrev(j + p) is psi^bitrev(j)
    // psi^bitrev(p) if j and p have no common bit, so part p multiplies by entry p in addition.
    static constexpr INLINE int sharing(int stage) {
        const int shared = SHARED_ROOTS - (STAGES - 1 - stage);
        return CLOSES && shared > 0 ? shared : 0;
    }
    // x times what a part's root lacks.
    template <int STAGE>
    INLINE static void complete(const Field& field, Reg& x, const Twiddle* table, int part) {
        if constexpr (sharing(STAGE) > 0) {
            const int own = part & ((1 << sharing(STAGE)) - 1);
            if (own) x = field.times(x, load_entry(table + own));
        }
    }

    // Roots of this thread for every round: `of<ROUND>()` reads those of a round.
    struct TableRoots {
        const Twiddle* table;
        u32 row;
        INLINE TableRoots(const Twiddle* table, u32 row) : table(table), row(row) {}
        template <int ROUND>
        INLINE RoundRoots<ROUND> of() const { return {table, row}; }
    };
    // The same in registers.
    struct HeldRoots {
        // `trees[round][2^d + p]` is the root of part p in the round's stage with 2^d parts.
        Twiddle trees[ROUNDS][POINTS];
        INLINE HeldRoots(const Twiddle* table, u32 row) { hold<0, 0>(TableRoots(table, row)); }
        template <int ROUND, int STAGE>
        INLINE void hold(const TableRoots& roots) {
            if constexpr (STAGE < end_stage(ROUND)) {
                constexpr int PARTS = 1 << depth(ROUND, STAGE);
                const auto own = roots.template of<ROUND>();
#pragma unroll
                for (int part = 0; part < PARTS; ++part) trees[ROUND][PARTS | part] = own.template at<STAGE>(part);
                hold<ROUND, STAGE + 1>(roots);
            } else if constexpr (ROUND + 1 < ROUNDS) {
                hold<ROUND + 1, first_stage(ROUND + 1)>(roots);
            }
        }
        template <int ROUND>
        struct Of {
            const Twiddle (&tree)[POINTS];
            template <int STAGE>
            INLINE Twiddle at(int part) const { return tree[1 << depth(ROUND, STAGE) | part]; }
        };
        template <int ROUND>
        INLINE Of<ROUND> of() const { return {trees[ROUND]}; }
    };
#ifdef EARLY_ROOTS
    static constexpr bool FETCHES = true;
    using Roots = HeldRoots;
#else
    static constexpr bool FETCHES = false;
    using Roots = TableRoots;
#endif
#ifdef EARLY_START
    static constexpr bool STARTS_NEXT = true;
#else
    static constexpr bool STARTS_NEXT = false;
#endif

    // The stages of one pass on registers: x holds window(0) before forward and window(ROUNDS-1)
    // after, and vice versa for inverse. Shared memory must be free on entry. Recursion instead of
    // loops over rounds and stages keeps every index into x constant; otherwise x would not be in
    // registers.
    template <int ROUND = 0, class Roots>
    INLINE static void forward_rounds(const Field& field, Reg (&x)[POINTS], const Roots& roots, const Twiddle* table,
                                      Reg* shared) {
        forward_stages<ROUND, first_stage(ROUND)>(field, x, roots.template of<ROUND>(), table);
        if constexpr (ROUND + 1 < ROUNDS) {
            exchange<ROUND, ROUND + 1>(x, shared);
            forward_rounds<ROUND + 1>(field, x, roots, table, shared);
        }
    }
    template <int ROUND, int STAGE, class Roots>
    INLINE static void forward_stages(const Field& field, Reg (&x)[POINTS], const Roots& roots, const Twiddle* table) {
        if constexpr (STAGE < end_stage(ROUND)) {
            constexpr int DISTANCE = STAGES - 1 - STAGE - window(ROUND);
#pragma unroll
            for (int part = 0; part < POINTS >> (DISTANCE + 1); ++part) {
                const Twiddle w = roots.template at<STAGE>(part >> sharing(STAGE) << sharing(STAGE));
#pragma unroll
                for (int j = 0; j < 1 << DISTANCE; ++j) {
                    const int at = part << (DISTANCE + 1) | j;
                    complete<STAGE>(field, x[at | 1 << DISTANCE], table, part);
                    field.template forward<forward_bound(FIRST + STAGE)>(x[at], x[at | 1 << DISTANCE], w);
                }
            }
            forward_stages<ROUND, STAGE + 1>(field, x, roots, table);
        }
    }

    template <int ROUND = ROUNDS - 1, class Roots>
    INLINE static void inverse_rounds(const Field& field, Reg (&x)[POINTS], const Roots& roots, const Twiddle* table,
                                      Reg* shared, const Twiddle& scale, const Twiddle& scale_root) {
        inverse_stages<ROUND, end_stage(ROUND) - 1>(field, x, roots.template of<ROUND>(), table, scale, scale_root);
        if constexpr (ROUND > 0) {
            exchange<ROUND, ROUND - 1>(x, shared);
            inverse_rounds<ROUND - 1>(field, x, roots, table, shared, scale, scale_root);
        }
    }
    template <int ROUND, int STAGE, class Roots>
    INLINE static void inverse_stages(const Field& field, Reg (&x)[POINTS], const Roots& roots, const Twiddle* table,
                                      const Twiddle& scale, const Twiddle& scale_root) {
        if constexpr (STAGE >= first_stage(ROUND)) {
            constexpr int DISTANCE = STAGES - 1 - STAGE - window(ROUND);
            constexpr bool LAST = OPENS && STAGE == 0;
#pragma unroll
            for (int part = 0; part < POINTS >> (DISTANCE + 1); ++part) {
                const Twiddle w = LAST ? scale_root : roots.template at<STAGE>(part >> sharing(STAGE) << sharing(STAGE));
#pragma unroll
                for (int j = 0; j < 1 << DISTANCE; ++j) {
                    const int at = part << (DISTANCE + 1) | j;
                    if constexpr (LAST) {
                        field.inverse_scaled(x[at], x[at | 1 << DISTANCE], scale, w);
                    } else {
                        // The stage before has multiplied the elements with this bit.
                        const bool products = STAGE < end_stage(ROUND) - 1 && at >> (DISTANCE - 1) & 1;
                        field.inverse(x[at], x[at | 1 << DISTANCE], w, products);
                        complete<STAGE>(field, x[at | 1 << DISTANCE], table, part);
                    }
                }
            }
            inverse_stages<ROUND, STAGE - 1>(field, x, roots, table, scale, scale_root);
        }
    }

    // Direct copies between global memory and registers: window(round) of the sub-transform that
    // starts at `from` or `to`.
    INLINE static void load(const Field& field, Reg (&x)[POINTS], const Word* from, int round, bool fresh) {
        from += (size_t)base(round) << LOG_COLUMNS;
#pragma unroll
        for (int r = 0; r < POINTS; ++r) {
            const Word word = from[(size_t)r << (window(round) + LOG_COLUMNS)];
            x[r] = fresh ? field.enter(word) : field.unpack(word);
        }
    }
    // Fetches what the block will load. Threads whose words are in one sector of the cache divide its rows, or the block its words.
    INLINE static void fetch_words(const Word* in, size_t thread, size_t block) {
        constexpr u32 SECTOR = 32 / sizeof(Word);
        if constexpr (ROWS) {
            for (u32 word = threadIdx.x * SECTOR; word < (u32)(THREADS * POINTS); word += THREADS * SECTOR) fetch(in + block + word);
        } else {
            const Word* from = in + thread + ((size_t)base(0) << LOG_COLUMNS);
#pragma unroll
            for (u32 r = 0; r < POINTS; r += SECTOR) {
                const u32 own = r + (lane() & (SECTOR - 1));
                if (own < POINTS) fetch(from + ((size_t)own << (window(0) + LOG_COLUMNS)));
            }
        }
    }
    template <int BOUND>
    INLINE static void store(const Field& field, const Reg (&x)[POINTS], Word* to, int round, bool finished) {
        to += (size_t)base(round) << LOG_COLUMNS;
#pragma unroll
        for (int r = 0; r < POINTS; ++r) {
            to[(size_t)r << (window(round) + LOG_COLUMNS)] = finished ? field.template leave<BOUND>(x[r]) : field.pack(x[r]);
        }
    }

    // As above, for a row pass at its last window, where a thread's elements are adjacent: through
    // shared memory, so that a warp accesses neighbouring words. `block` is the first word of this
    // block's rows.
    INLINE static void load_staged(const Field& field, Reg (&x)[POINTS], const Word* block, Reg* shared) {
        block += threadIdx.x;
        Reg* at = shared + padded(threadIdx.x);
#pragma unroll
        for (int r = 0; r < POINTS; ++r) at[padded(r * THREADS)] = field.enter(block[r * THREADS]);
        __syncthreads();
        get(x, shared, ROUNDS - 1);
    }
    INLINE static void store_staged(const Field& field, const Reg (&x)[POINTS], Word* block, Reg* shared) {
        put(x, shared, ROUNDS - 1);
        __syncthreads();
        block += threadIdx.x;
        const Reg* at = shared + padded(threadIdx.x);
#pragma unroll
        for (int r = 0; r < POINTS; ++r) {
            block[r * THREADS] = field.template leave<OUTPUT_BOUND>(at[padded(r * THREADS)]);
        }
    }

    // Position of this thread's elements.
    struct Place {
        u32 row;
        size_t thread;  // first word of its sub-transform in the batch
        size_t block;   // first word of its block's rows (row passes only)
        INLINE Place(Tile tile, u32 limbs) {
            const u32 number = tile.number << LANES_LOG | lane();
            const u32 column = number & ((1u << LOG_COLUMNS) - 1);
            const size_t base = (size_t)(tile.polynomial * limbs + tile.limb) << LOG_N;
            row = OPENS ? 0 : number >> LOG_COLUMNS;  // a constant saves the first pass address arithmetic
            thread = base + ((size_t)row << (LOG_N - FIRST)) + column;
            block = base + ((size_t)tile.number << (LANES_LOG + STAGES));
        }
    };

    // `ready` returns when the block may read its data, `ready.loaded` is called when it has, and
    // `ready.keeps` says whether it stores its results.
    template <class Ready>
    INLINE static void forward(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants, u32 limbs,
                               Tile tile, Ready ready) {
        SHARED_ARRAY(Reg, shared);
        const Field field(constants[tile.limb]);
        const Twiddle* table = tables + (size_t)tile.limb * TABLE;
        const Place place(tile, limbs);
        const Roots roots(table, place.row);
        if constexpr (FETCHES && OPENS) fetch_words(in, place.thread, place.block);
        if constexpr (STARTS_NEXT && CLOSES && !OPENS) let_next_kernel_start();
        ready();
        Reg x[POINTS];
        load(field, x, in + place.thread, 0, OPENS);
        ready.loaded();
        forward_rounds(field, x, roots, table, shared);
        if (!ready.keeps()) return;
        if constexpr (STAGED) {
            store_staged(field, x, out + place.block, shared);
        } else {
            store<OUTPUT_BOUND>(field, x, out + place.thread, ROUNDS - 1, CLOSES);
        }
    }

    template <bool PRODUCT, class Ready>
    INLINE static void inverse(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants, u32 limbs,
                               Tile tile, Ready ready) {
        SHARED_ARRAY(Reg, shared);
        const FieldConstants& own = constants[tile.limb];
        const Field field(own);
        const Twiddle* table = tables + (size_t)tile.limb * TABLE;
        const Twiddle scale = PRODUCT ? own.product_scale : own.scale;
        const Twiddle scale_root = PRODUCT ? own.product_scale_root : own.scale_root;
        const Place place(tile, limbs);
        const Roots roots(table, place.row);
        if constexpr (FETCHES && CLOSES) fetch_words(in, place.thread, place.block);
        if constexpr (STARTS_NEXT && OPENS && !CLOSES) let_next_kernel_start();
        ready();
        Reg x[POINTS];
        if constexpr (STAGED) {
            load_staged(field, x, in + place.block, shared);
            // The first exchange of the rounds writes only words that this thread has just read.
        } else {
            load(field, x, in + place.thread, ROUNDS - 1, CLOSES);
        }
        ready.loaded();
        Word* to = out + place.thread;
        inverse_rounds(field, x, roots, table, shared, scale, scale_root);
        if (!ready.keeps()) return;
        store<Field::TIMES>(field, x, to, 0, OPENS);
    }

    // Products of two transformed batches in memory format, as a separate kernel.
    static __device__ void pointwise(const Word* left, const Word* right, Word* out, const FieldConstants* constants, u32 limbs) {
        const Field field(constants[blockIdx.z]);
        wait_for_previous_kernel();
        const size_t base = (size_t)(blockIdx.y * limbs + blockIdx.z) << LOG_N;
        const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
        for (u32 i = thread; i < 1u << LOG_N; i += threads) {
            const Reg x = field.enter(left[base + i]), y = field.enter(right[base + i]);
            out[base + i] = field.template leave<Field::PRODUCT>(field.template product<1>(x, y));
        }
    }

    // The heart of a fused product: the last forward pass of both factors, the products, and the
    // first inverse pass. Intermediate results stay in registers. Both inputs come from the
    // preceding forward passes. The second factor is loaded while the first is computed.
    template <class Ready>
    INLINE static void product(const Word* left, const Word* right, Word* out, const Twiddle* forward_tables,
                               const Twiddle* inverse_tables, const FieldConstants* constants, u32 limbs, Tile tile,
                               Ready ready) {
        static_assert(CLOSES);
        SHARED_ARRAY(Reg, shared);
        const FieldConstants& own_constants = constants[tile.limb];
        const Field field(own_constants);
        forward_tables += (size_t)tile.limb * TABLE;
        inverse_tables += (size_t)tile.limb * TABLE;
        const Place place(tile, limbs);
        ready();
        Reg x[POINTS], y[POINTS];
        load(field, x, left + place.thread, 0, OPENS);
        load(field, y, right + place.thread, 0, OPENS);
        ready.loaded();
        const TableRoots roots(forward_tables, place.row);
        forward_rounds(field, x, roots, forward_tables, shared);
        __syncthreads();
        forward_rounds(field, y, roots, forward_tables, shared);
#pragma unroll
        for (int r = 0; r < POINTS; ++r) x[r] = field.template product<OUTPUT_BOUND>(x[r], y[r]);
        // No barrier: the first exchange back writes only words that this thread read last.
        inverse_rounds(field, x, TableRoots(inverse_tables, place.row), inverse_tables, shared, own_constants.product_scale,
                       own_constants.product_scale_root);
        if (!ready.keeps()) return;
        store<Field::TIMES>(field, x, out + place.thread, 0, OPENS);
    }
};

// The kernels of one pass. The host appends one of these lines for each kernel that a plan
// launches. `Field` is the field chosen by the strategy's file.
#define TRANSFORM_KERNEL(NAME, BODY, BLOCKS, ...)                                                                         \
    extern "C" __global__ void __launch_bounds__(Pass<Field, __VA_ARGS__>::THREADS,                                   \
                                                        RESIDENT<Pass<Field, __VA_ARGS__>::THREADS, BLOCKS>)           \
        NAME(const Field::Word* in, Field::Word* out, const Field::Twiddle* __restrict__ tables,                          \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs) {           \
        using P = Pass<Field, __VA_ARGS__>;                                                                               \
        P::BODY(in, out, tables, constants, limbs, P::own_tile(), AfterPreviousKernel());                                 \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)
#define FORWARD_KERNEL(NAME, BLOCKS, ...) TRANSFORM_KERNEL(NAME, forward, BLOCKS, __VA_ARGS__)
#define INVERSE_KERNEL(NAME, BLOCKS, ...) TRANSFORM_KERNEL(NAME, template inverse<false>, BLOCKS, __VA_ARGS__)
#define INVERSE_PRODUCT_KERNEL(NAME, BLOCKS, ...) TRANSFORM_KERNEL(NAME, template inverse<true>, BLOCKS, __VA_ARGS__)
#define SEPARATE_PRODUCT_KERNEL(NAME, BLOCKS, ...)                                                                        \
    extern "C" __global__ void __launch_bounds__(256)                                                                     \
        NAME(const Field::Word* left, const Field::Word* right, Field::Word* out,                                         \
             const Field::Twiddle* __restrict__ forward_tables, const Field::Twiddle* __restrict__ inverse_tables,        \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs) {           \
        Pass<Field, __VA_ARGS__>::pointwise(left, right, out, constants, limbs);                                              \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)
#define PRODUCT_KERNEL(NAME, BLOCKS, ...)                                                                                 \
    extern "C" __global__ void __launch_bounds__(Pass<Field, __VA_ARGS__>::THREADS,                                   \
                                                        RESIDENT<Pass<Field, __VA_ARGS__>::THREADS, BLOCKS>)           \
        NAME(const Field::Word* left, const Field::Word* right, Field::Word* out,                                         \
             const Field::Twiddle* __restrict__ forward_tables, const Field::Twiddle* __restrict__ inverse_tables,        \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs) {           \
        using P = Pass<Field, __VA_ARGS__>;                                                                               \
        P::product(left, right, out, forward_tables, inverse_tables, constants, limbs, P::own_tile(), AfterPreviousKernel()); \
    }                                                                                                                     \
    EXPORT_KERNEL(NAME)
