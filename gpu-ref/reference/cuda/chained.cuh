// Both passes of a transform, or all of a product, in one kernel that crosses memory once.
//
// The tiles of every step are blocks of one grid. A unit is a polynomial modulo a limb, with both factors in a product. Each step begins on
// a unit `lag` units after the step before has begun on it, in the order of blocks. A block waits until the blocks whose results it reads
// have finished. So only a few units are between two steps at a time, and these stay in the L2 cache.
//
// No order of blocks is promised. A block that waits for long does the tiles that it waits for and that
// nobody has begun, so whatever room it has taken, the launch ends. Therefore each block claims its tile: it
// asks while its data are on their way, and stores nothing if another block has been faster. Claims and the
// progress of units belong to the memory of the data (`Mark`): launches on other data share none of them.

// The state of a unit. `finished` counts the tiles that others wait for in its lower half, and the blocks of
// all steps, that have begun the last step or done the work of another, in its upper half. The last of ALL
// blocks makes it 0 for the next launch, with the claims of CLAIMED tiles.
template <u32 ALL, u32 CLAIMED>
struct Progress {
    static constexpr u32 TILE = 1, BLOCK = 1 << 16;
    static_assert(ALL < 1 << 16 && CLAIMED < 1 << 16);
    Mark* marks;

#ifndef EMULATED
    INLINE void add(u32 what) const { asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(&marks->finished), "r"(what) : "memory"); }
    INLINE u32 value() const {
        u32 value;
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(&marks->finished) : "memory");
        return value;
    }
    INLINE static u32 set(u32* bits, u32 bit) {
        u32 old;
        asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], %2;" : "=r"(old) : "l"(bits), "r"(bit) : "memory");
        return old;
    }
    // Returns the blocks before this one.
    INLINE u32 count_block() const {
        u32 old;
        asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(&marks->finished), "n"(BLOCK) : "memory");
        return old / BLOCK;
    }
    INLINE static void pause() { __nanosleep(32); }
    INLINE static void order() { __threadfence(); }
#else
    INLINE void add(u32 what) const { marks->finished += what; }
    INLINE u32 value() const { return marks->finished; }
    INLINE static u32 set(u32* bits, u32 bit) {
        const u32 old = *bits;
        *bits |= bit;
        return old;
    }
    INLINE u32 count_block() const { return (marks->finished += BLOCK) / BLOCK - 1; }
    INLINE static void pause() { spin_pause(); }
    INLINE static void order() {}
#endif
    // Returns false after that many looks. More than `end_hopeless_wait` allows are an error.
    INLINE bool wait(u32 least, u32 looks) const {
        for (u32 tries = 0; value() % BLOCK < least; ++tries) {
            if (tries == looks) return false;
            end_hopeless_wait(tries);
            pause();
        }
        return true;
    }
    // Returns true if the tile is this block's.
    INLINE bool claim(u32 tile) const { return !(set(&marks[tile / 32].taken, 1u << tile % 32) >> tile % 32 & 1); }
    // With what `count_block` has returned.
    INLINE void end_block(u32 before) const {
        if (before != ALL - 1) return;
        order();
        for (u32 word = 0; word < (CLAIMED + 31) / 32; ++word) marks[word].taken = 0;
        marks->finished = 0;
    }
};

// What a block tells itself in shared memory.
struct Notes {
    u32* words;
    INLINE u32& own() const { return words[0]; }      // whether the tile is this block's, or the blocks before this one
    INLINE u32& claimed() const { return words[1]; }  // the same of a tile of another block
    INLINE u32& ready() const { return words[2]; }
};

// The `Ready` of a tile that this block has claimed in any case.
struct AtOnce {
    INLINE void operator()() const {}
    INLINE void loaded() const {}
    INLINE bool keeps() const { return true; }
};
struct Nothing {
    INLINE void operator()() const {}
};
// Of a tile that the block claims while its data are on their way.
template <class Progress, class Before>
struct Claim {
    const Progress& progress;
    Notes notes;
    Before before;
    bool mine = false;
    INLINE Claim(const Progress& progress, Notes notes, u32 tile, Before before) : progress(progress), notes(notes), before(before) {
        if (threadIdx.x == 0) mine = progress.claim(tile);
    }
    INLINE void operator()() const { before(); }
    INLINE void loaded() const {
        if (threadIdx.x == 0) notes.own() = mine;
    }
    INLINE bool keeps() const { return notes.own(); }
    // After the tile.
    INLINE void finish() const {
        __syncthreads();
        if (threadIdx.x > 0) return;
        if (notes.own()) {
            progress.add(Progress::TILE + Progress::BLOCK);
        } else {
            Progress::order();
            progress.end_block(progress.count_block());
        }
    }
};
// Waits for LEAST tiles of the unit, and does them if need be.
template <class Progress, u32 LEAST, class Help>
struct AfterTiles {
    // About a tenth of a millisecond, where a microsecond suffices.
    static constexpr u32 PATIENCE = 100;
    const Progress& progress;
    Notes notes;
    Help help;
    INLINE void operator()() const {
        if (threadIdx.x == 0) notes.ready() = progress.wait(LEAST, PATIENCE);
        __syncthreads();
        if (notes.ready()) return;
        help();
        if (threadIdx.x == 0) progress.wait(LEAST, ~0u);
        __syncthreads();
    }
    INLINE void loaded() const {}
    INLINE bool keeps() const { return true; }
};
// The same in the last step.
template <class After, class Progress>
struct AtLast {
    After after;
    const Progress& progress;
    Notes notes;
    mutable u32 before = 0;
    INLINE void operator()() const {
        after();
        if (threadIdx.x == 0) before = progress.count_block();
    }
    INLINE void loaded() const {
        if (threadIdx.x == 0) notes.own() = before;
    }
    INLINE bool keeps() const { return true; }
    // After the tile.
    INLINE void finish() const {
        if (threadIdx.x == 0) progress.end_block(notes.own());
    }
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

    static_assert(Columns::ROUNDS > 1 && Rows::ROUNDS > 1);  // so that all threads know what `loaded` has noted

    struct Units {
        Mark* marks;
        u32 polynomials, count, lag;
    };
    // What a block of a kernel with COLUMN_STEPS steps over columns and one over rows does. Blocks of all steps alternate.
    template <u32 COLUMN_STEPS>
    struct Block {
        static constexpr u32 PERIOD = COLUMN_STEPS + EACH, ALL = COLUMN_TILES * PERIOD;
        u32 unit, period, number;
        INLINE Block() : unit(blockIdx.x / ALL), period(blockIdx.x % ALL / PERIOD), number(blockIdx.x % PERIOD) {}
        INLINE bool rows() const { return number < EACH; }
        INLINE u32 column_step() const { return number - EACH; }
        INLINE u32 row_number() const { return period * EACH + number; }
        // Returns false if the block has nothing to do in a step behind that many others.
        INLINE bool begin(const Units& units, u32 behind) {
            unit -= behind * units.lag;
            return unit < units.count;  // also false below 0
        }
        INLINE Tile tile(const Units& units, u32 number) const {
            const u32 limb = unit / units.polynomials;
            return {number, unit - limb * units.polynomials, limb};
        }
        INLINE Mark* marks(const Units& units, u32 limbs) const {
            static_assert(LOG_N >= 10);
            const Tile own = tile(units, 0);
            return units.marks + ((size_t)(own.polynomial * limbs + own.limb) << (LOG_N - 10));
        }
    };
    INLINE static typename Rows::Tile of_rows(Tile tile) { return {tile.number, tile.polynomial, tile.limb}; }

    // Does those of a unit's tiles that nobody has begun, from `first` on. `Do` takes a number.
    template <class Progress, class Do>
    INLINE static void help(const Progress& progress, Notes notes, u32 first, u32 tiles, const Do& tile) {
        for (u32 number = 0; number < tiles; ++number) {
            if (threadIdx.x == 0) notes.claimed() = progress.claim(first + number);
            __syncthreads();
            if (notes.claimed()) {
                tile(number);
                __syncthreads();
                if (threadIdx.x == 0) progress.add(Progress::TILE);
            }
            __syncthreads();
        }
    }
    // All that a kernel gets, for functions of their own: only few blocks ever call them.
    struct Kernel {
        const Word* in;
        Word* out;
        const Twiddle *tables, *inverse_tables;
        const FieldConstants* constants;
        u32 limbs;
        Notes notes;
        Tile unit;
        INLINE Tile at(u32 number) const { return {number, unit.polynomial, unit.limb}; }
    };
    template <class Progress>
    struct HelpColumns {
        const Kernel& kernel;
        const Progress& progress;
        static __device__ NOT_INLINE void run(Kernel k, Progress progress) {
            help(progress, k.notes, 0, COLUMN_TILES, [&](u32 number) {
                Columns::forward(k.in, k.out, k.tables, k.constants, k.limbs, k.at(number), AtOnce());
            });
        }
        INLINE void operator()() const { run(kernel, progress); }
    };
    template <class Progress>
    struct HelpRows {
        const Kernel& kernel;
        const Progress& progress;
        static __device__ NOT_INLINE void run(Kernel k, Progress progress) {
            help(progress, k.notes, 0, ROW_TILES, [&](u32 number) {
                Rows::template inverse<false>(k.in, k.out, k.tables, k.constants, k.limbs, of_rows(k.at(number)), AtOnce());
            });
        }
        INLINE void operator()() const { run(kernel, progress); }
    };
    // Both factors, `out` the first.
    template <class Progress>
    struct HelpFactors {
        const Kernel& kernel;
        const Progress& progress;
        static __device__ NOT_INLINE void run(Kernel k, Word* right, Progress progress) {
            help(progress, k.notes, 0, 2 * COLUMN_TILES, [&](u32 number) {
                Word* factor = number < COLUMN_TILES ? k.out : right;
                Columns::forward(factor, factor, k.tables, k.constants, k.limbs, k.at(number % COLUMN_TILES), AtOnce());
            });
        }
        INLINE void operator()() const { run(kernel, const_cast<Word*>(kernel.in), progress); }
    };
    template <class Progress>
    struct HelpProducts {
        const Kernel& kernel;
        const Progress& progress;
        static __device__ NOT_INLINE void run(Kernel k, Word* right, Progress progress) {
            HelpFactors<Progress>::run(k, right, progress);
            const AfterTiles<Progress, 2 * COLUMN_TILES, Nothing> ready{progress, k.notes};
            help(progress, k.notes, 2 * COLUMN_TILES, ROW_TILES, [&](u32 number) {
                Rows::product(k.out, right, k.out, k.tables, k.inverse_tables, k.constants, k.limbs, of_rows(k.at(number)), ready);
            });
        }
        INLINE void operator()() const { run(kernel, const_cast<Word*>(kernel.in), progress); }
    };

    static __device__ void forward(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants, u32 limbs, Units units) {
        SHARED_WORDS(words, 3);
        wait_for_previous_kernel();
        Block<1> block;
        if (!block.begin(units, block.rows())) return;
        using P = Progress<Block<1>::ALL, COLUMN_TILES>;
        const P progress{block.marks(units, limbs)};
        if (!block.rows()) {
            const Claim<P, AtOnce> claim{progress, {words}, block.period, {}};
            Columns::forward(in, out, tables, constants, limbs, block.tile(units, block.period), claim);
            claim.finish();
        } else {
            const Kernel kernel{in, out, tables, tables, constants, limbs, {words}, block.tile(units, 0)};
            const AtLast<AfterTiles<P, COLUMN_TILES, HelpColumns<P>>, P> ready{{progress, {words}, {kernel, progress}}, progress, {words}};
            Rows::forward(out, out, tables, constants, limbs, of_rows(block.tile(units, block.row_number())), ready);
            ready.finish();
        }
    }

    static __device__ void inverse(const Word* in, Word* out, const Twiddle* tables, const FieldConstants* constants, u32 limbs, Units units) {
        SHARED_WORDS(words, 3);
        wait_for_previous_kernel();
        Block<1> block;
        if (!block.begin(units, !block.rows())) return;
        using P = Progress<Block<1>::ALL, ROW_TILES>;
        const P progress{block.marks(units, limbs)};
        if (block.rows()) {
            const Claim<P, AtOnce> claim{progress, {words}, block.row_number(), {}};
            Rows::template inverse<false>(in, out, tables, constants, limbs, of_rows(block.tile(units, block.row_number())), claim);
            claim.finish();
        } else {
            const Kernel kernel{in, out, tables, tables, constants, limbs, {words}, block.tile(units, 0)};
            const AtLast<AfterTiles<P, ROW_TILES, HelpRows<P>>, P> ready{{progress, {words}, {kernel, progress}}, progress, {words}};
            Columns::template inverse<false>(out, out, tables, constants, limbs, block.tile(units, block.period), ready);
            ready.finish();
        }
    }

    // The first pass of each factor, the heart, the last pass.
    static __device__ void product(Word* left, Word* right, const Twiddle* forward_tables, const Twiddle* inverse_tables,
                                   const FieldConstants* constants, u32 limbs, Units units) {
        SHARED_WORDS(words, 3);
        wait_for_previous_kernel();
        Block<3> block;
        const bool last = !block.rows() && block.column_step() == 2;
        if (!block.begin(units, block.rows() ? 1 : last ? 2 : 0)) return;
        using P = Progress<Block<3>::ALL, 2 * COLUMN_TILES + ROW_TILES>;
        const P progress{block.marks(units, limbs)};
        const Kernel kernel{right, left, forward_tables, inverse_tables, constants, limbs, {words}, block.tile(units, 0)};
        if (block.rows()) {
            using After = AfterTiles<P, 2 * COLUMN_TILES, HelpFactors<P>>;
            const Claim<P, After> claim{progress, {words}, 2 * COLUMN_TILES + block.row_number(), {progress, {words}, {kernel, progress}}};
            Rows::product(left, right, left, forward_tables, inverse_tables, constants, limbs, of_rows(block.tile(units, block.row_number())), claim);
            claim.finish();
        } else if (!last) {
            Word* factor = block.column_step() ? right : left;
            const Claim<P, AtOnce> claim{progress, {words}, block.column_step() * COLUMN_TILES + block.period, {}};
            Columns::forward(factor, factor, forward_tables, constants, limbs, block.tile(units, block.period), claim);
            claim.finish();
        } else {
            using After = AfterTiles<P, 2 * COLUMN_TILES + ROW_TILES, HelpProducts<P>>;
            const AtLast<After, P> ready{{progress, {words}, {kernel, progress}}, progress, {words}};
            Columns::template inverse<true>(left, left, inverse_tables, constants, limbs, block.tile(units, block.period), ready);
            ready.finish();
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
