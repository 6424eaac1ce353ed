// Both passes of a transform, or all of a product, in one kernel that crosses memory once.
//
// The tiles of every step are blocks of one grid. A unit is a polynomial modulo a limb, with both factors in a product. Each step begins on
// a unit `lag` units after the step before has begun on it, in the order of blocks. A block waits until the blocks whose results it reads
// have finished. So only a few units are between two steps at a time, and these stay in the L2 cache.
//
// A block takes a ticket, which is its place in the order. So the blocks that it waits for have begun, in whatever order a device begins
// blocks. The tickets and the progress of units belong to the memory of the data (`Mark`): launches on other data share none of them.

// How far a unit is: the blocks that have finished, or, of the last step, begun. The last of ALL blocks makes it 0 for the next launch.
template <u32 ALL>
struct Progress {
    u32* blocks;

#ifndef EMULATED
    INLINE void add() const { asm volatile("red.release.gpu.global.inc.u32 [%0], %1;" ::"l"(blocks), "n"(ALL - 1) : "memory"); }
    INLINE u32 value() const {
        u32 value;
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(blocks) : "memory");
        return value;
    }
    INLINE void wait(u32 least) const {
        for (u32 tries = 0; value() < least; ++tries) {
            end_hopeless_wait(tries);
            __nanosleep(32);
        }
    }
#else
    INLINE void add() const { *blocks = (*blocks + 1) % ALL; }
    INLINE void wait(u32 least) const {
        while (*blocks < least) spin_pause();
    }
#endif
    INLINE void finish() const {
        __syncthreads();
        if (threadIdx.x == 0) add();
    }
};

// Returns when the blocks of the steps before, LEAST in all, have finished.
template <u32 ALL, u32 LEAST>
struct AfterBlocks {
    Progress<ALL> progress;
    INLINE void operator()() const {
        if (threadIdx.x == 0) progress.wait(LEAST);
        __syncthreads();
    }
};
// The same in the last step.
template <u32 ALL, u32 LEAST>
struct AfterBlocksAtLast {
    Progress<ALL> progress;
    INLINE void operator()() const {
        if (threadIdx.x == 0) progress.wait(LEAST), progress.add();
        __syncthreads();
    }
};
struct AtOnce {
    INLINE void operator()() const {}
};

template <class Columns, class Rows>
struct Chain {
    using Word = typename Columns::Word;
    using Twiddle = typename Columns::Twiddle;
    using FieldConstants = typename Columns::FieldConstants;
    using Tile = typename Columns::Tile;
    static constexpr int THREADS = Columns::THREADS, LOG_N = Columns::SIZE_LOG;
    static constexpr u32 COLUMN_TILES = Columns::TILES, ROW_TILES = Rows::TILES;
    // Tiles of rows for each tile of columns.
    static constexpr u32 EACH = ROW_TILES / COLUMN_TILES;
    static_assert(THREADS == Rows::THREADS && COLUMN_TILES * EACH == ROW_TILES);

    // A launch takes its tickets from its first unit's mark.
    struct Units {
        Mark* marks;
        u32 polynomials, count, lag;
    };
    // What a block of a kernel with COLUMN_STEPS steps over columns and one over rows does. Blocks of all steps alternate.
    template <u32 COLUMN_STEPS>
    struct Block {
        static constexpr u32 PERIOD = COLUMN_STEPS + EACH, ALL = COLUMN_TILES * PERIOD;
        u32 unit, period, number;
        INLINE explicit Block(u32 ticket) : unit(ticket / ALL), period(ticket % ALL / PERIOD), number(ticket % PERIOD) {}
        INLINE bool rows() const { return number < EACH; }
        INLINE u32 column_step() const { return number - EACH; }
        // Returns false if the block has nothing to do in a step behind that many others.
        INLINE bool begin(const Units& units, u32 behind) {
            unit -= behind * units.lag;
            return unit < units.count;  // also false below 0
        }
        INLINE typename Columns::Tile column_tile(const Units& units) const {
            const u32 limb = unit / units.polynomials;
            return {period, unit - limb * units.polynomials, limb};
        }
        INLINE typename Rows::Tile row_tile(const Units& units) const {
            const u32 limb = unit / units.polynomials;
            return {period * EACH + number, unit - limb * units.polynomials, limb};
        }
        INLINE Progress<ALL> progress(const Units& units, u32 limbs) const {
            static_assert(LOG_N >= 10);
            const u32 limb = unit / units.polynomials;
            const size_t row = (size_t)(unit - limb * units.polynomials) * limbs + limb;
            return {&units.marks[row << (LOG_N - 10)].finished};
        }
    };

    static __device__ void forward(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants, u32 limbs, Units units) {
        wait_for_previous_kernel();
        Block<1> block(own_ticket(&units.marks->taken, gridDim.x));
        if (!block.begin(units, block.rows())) return;
        const auto progress = block.progress(units, limbs);
        if (!block.rows()) {
            Columns::forward(in, out, tables, constants, limbs, block.column_tile(units), AtOnce());
            progress.finish();
        } else {
            const AfterBlocksAtLast<Block<1>::ALL, COLUMN_TILES> ready{progress};
            Rows::forward(out, out, tables, constants, limbs, block.row_tile(units), ready);
        }
    }

    static __device__ void inverse(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants, u32 limbs, Units units) {
        wait_for_previous_kernel();
        Block<1> block(own_ticket(&units.marks->taken, gridDim.x));
        if (!block.begin(units, !block.rows())) return;
        const auto progress = block.progress(units, limbs);
        if (block.rows()) {
            Rows::template inverse<false>(in, out, tables, constants, limbs, block.row_tile(units), AtOnce());
            progress.finish();
        } else {
            const AfterBlocksAtLast<Block<1>::ALL, ROW_TILES> ready{progress};
            Columns::template inverse<false>(out, out, tables, constants, limbs, block.column_tile(units), ready);
        }
    }

    // The first pass of each factor, the heart, the last pass.
    static __device__ void product(Word* left, Word* right, const Twiddle* forward_tables, const Twiddle* inverse_tables,
                                   const FieldConstants* constants, u32 limbs, Units units) {
        wait_for_previous_kernel();
        Block<3> block(own_ticket(&units.marks->taken, gridDim.x));
        const bool last = !block.rows() && block.column_step() == 2;
        if (!block.begin(units, block.rows() ? 1 : last ? 2 : 0)) return;
        const auto progress = block.progress(units, limbs);
        if (block.rows()) {
            const AfterBlocks<Block<3>::ALL, 2 * COLUMN_TILES> ready{progress};
            Rows::product(left, right, left, forward_tables, inverse_tables, constants, limbs, block.row_tile(units), ready);
            progress.finish();
        } else if (!last) {
            Word* factor = block.column_step() ? right : left;
            Columns::forward(factor, factor, forward_tables, constants, limbs, block.column_tile(units), AtOnce());
            progress.finish();
        } else {
            const AfterBlocksAtLast<Block<3>::ALL, 2 * COLUMN_TILES + ROW_TILES> ready{progress};
            Columns::template inverse<true>(left, left, inverse_tables, constants, limbs, block.column_tile(units), ready);
        }
    }
};

// The kernels. COLUMNS and ROWS are the other arguments of `Pass` in parentheses.
#define ARGUMENTS(...) __VA_ARGS__
#define CHAIN(COLUMNS, ROWS) Chain<Pass<Field, ARGUMENTS COLUMNS>, Pass<Field, ARGUMENTS ROWS>>
#define CHAINED_KERNEL(NAME, BODY, BLOCKS, COLUMNS, ROWS)                                                              \
    extern "C" __global__ void __launch_bounds__(CHAIN(COLUMNS, ROWS)::THREADS, RESIDENT<CHAIN(COLUMNS, ROWS)::THREADS, BLOCKS>) \
        NAME(const Field::Word* in, Field::Word* out, const Field::Twiddle* __restrict__ tables,                       \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs, u32 polynomials, u32 count,  \
             u32 lag, Mark* marks) {                                                                                 \
        CHAIN(COLUMNS, ROWS)::BODY(in, out, tables, constants, limbs, {marks, polynomials, count, lag});            \
    }                                                                                                                  \
    EXPORT_KERNEL(NAME)
#define CHAINED_PRODUCT_KERNEL(NAME, BLOCKS, COLUMNS, ROWS)                                                            \
    extern "C" __global__ void __launch_bounds__(CHAIN(COLUMNS, ROWS)::THREADS, RESIDENT<CHAIN(COLUMNS, ROWS)::THREADS, BLOCKS>) \
        NAME(Field::Word* left, Field::Word* right, const Field::Twiddle* __restrict__ forward_tables,                 \
             const Field::Twiddle* __restrict__ inverse_tables,                                                        \
             const Constants<Field::Word, Field::Twiddle>* __restrict__ constants, u32 limbs, u32 polynomials, u32 count,  \
             u32 lag, Mark* marks) {                                                                                 \
        CHAIN(COLUMNS, ROWS)::product(left, right, forward_tables, inverse_tables, constants, limbs,                   \
                                      {marks, polynomials, count, lag});                                            \
    }                                                                                                                  \
    EXPORT_KERNEL(NAME)
