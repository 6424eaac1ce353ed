// Butterflies for fields whose roots are ordinary numbers, on top of a file's `Arithmetic`.

// Data are fully reduced at every stage: `Arithmetic` has `add`, `subtract` and `product`, all to
// [0, q).
template <class Arithmetic>
struct ReducedField : Arithmetic {
    using Word = typename Arithmetic::Word;
    using Reg = Word;
    using Twiddle = Word;
    using Arithmetic::Arithmetic;
    using Arithmetic::add;
    using Arithmetic::subtract;

    // Data have the same bound at every stage.
    static constexpr int PRODUCT = 0, TIMES = 0;
    static constexpr INLINE int after_forward(int) { return 0; }

    INLINE Reg enter(Word x) const { return x; }
    INLINE Reg unpack(Word x) const { return x; }
    INLINE Word pack(Reg x) const { return x; }
    template <int BOUND = 0>
    INLINE Word leave(Reg x) const { return x; }
    template <int BOUND = 0>
    INLINE Reg product(Reg x, Reg y) const { return Arithmetic::product(x, y); }

    template <int BOUND = 0>
    INLINE void forward(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg u = x, v = product(y, w);
        x = add(u, v);
        y = subtract(u, v);
    }
    INLINE void inverse(Reg& x, Reg& y, const Twiddle& w, bool) const {
        const Reg u = add(x, y), v = subtract(x, y);
        x = u;
        y = product(v, w);
    }
    INLINE void inverse_scaled(Reg& x, Reg& y, const Twiddle& scale, const Twiddle& w) const {
        const Reg u = add(x, y), v = subtract(x, y);
        x = product(u, scale);
        y = product(v, w);
    }
};

// Data are signed, within [-2q, 2q] between stages. `Arithmetic` has `times`, which maps such a
// value and a root to [-q, q], and `narrow`, which adds or subtracts q to reach [-q, q]. Only the
// operand that is not multiplied is narrowed.
template <class Arithmetic>
struct SignedField : Arithmetic {
    using Word = typename Arithmetic::Word;
    using Reg = typename Arithmetic::Reg;
    using Twiddle = Reg;
    using Arithmetic::Arithmetic;
    using Arithmetic::narrow;
    using Arithmetic::times;

    // Data have the same bound at every stage.
    static constexpr int PRODUCT = 0, TIMES = 0;
    static constexpr INLINE int after_forward(int) { return 0; }

    template <int BOUND = 0>
    INLINE Word leave(Reg x) const { return Arithmetic::leave(x); }
    template <int BOUND = 0>
    INLINE Reg product(Reg x, Reg y) const { return times(narrow(x), narrow(y)); }

    template <int BOUND = 0>
    INLINE void forward(Reg& x, Reg& y, const Twiddle& w) const {
        const Reg u = narrow(x), v = times(y, w);
        x = u + v;
        y = u - v;
    }
    INLINE void inverse(Reg& x, Reg& y, const Twiddle& w, bool) const {
        const Reg u = x + y, v = x - y;
        x = narrow(u);
        y = times(v, w);
    }
    INLINE void inverse_scaled(Reg& x, Reg& y, const Twiddle& scale, const Twiddle& w) const {
        const Reg u = x + y, v = x - y;
        x = times(u, scale);
        y = times(v, w);
    }
};
