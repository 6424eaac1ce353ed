// `residues`: conversion of long integers to residues of several moduli and back (HE-Booster,
// Section 3.2), with Barrett reduction.
//
// Coefficients are [polynomial][length][words], least significant word first; residues are
// [polynomial][limb][length]. All moduli have the same length in bits, at least half of a word's.
// Grid: x = coefficients / threads, y = 1, z = polynomial.
//
// TRANSPOSED: neighbouring threads read and write neighbouring words of the coefficients, and
// exchange them through shared memory. Otherwise every thread accesses its own words, and the
// accesses of a warp are `words` apart.

#include "barrett.cuh"

using Word = Field::Word;
using Limb = Constants<Word, Field::Twiddle>;

constexpr int BITS = 8 * sizeof(Word);

// The words of this thread's coefficient: word k is at(k).
template <bool TRANSPOSED>
struct Coefficient {
    Word *base, *shared;
    u32 words;

    // `coefficients` is the polynomial's first coefficient. The block's shared memory starts with
    // (threads + 1) words for each word of a coefficient.
    INLINE Coefficient(Word* coefficients, Word* shared, u32 words)
        : base(coefficients + (size_t)blockIdx.x * blockDim.x * words), shared(shared), words(words) {}

    INLINE Word& at(u32 k) const {
        return TRANSPOSED ? shared[k * (blockDim.x + 1) + threadIdx.x] : base[(size_t)threadIdx.x * words + k];
    }
    // To be called by all threads of the block.
    INLINE void fetch() const {
        if constexpr (TRANSPOSED) {
            for_all([](Word& in_shared, Word& in_global) { in_shared = in_global; });
            __syncthreads();
        }
    }
    INLINE void put_back() const {
        if constexpr (TRANSPOSED) {
            __syncthreads();
            for_all([](Word& in_shared, Word& in_global) { in_global = in_shared; });
        }
    }

private:
    // Words threadIdx.x, threadIdx.x + blockDim.x, .. of the block's coefficients, in both
    // memories. A division for each would take longer than the memory access.
    template <class Action>
    INLINE void for_all(Action action) const {
        const u32 coefficients_a_step = blockDim.x / words, words_a_step = blockDim.x % words;
        u32 coefficient = threadIdx.x / words, word = threadIdx.x % words;
        for (u32 step = 0; step < words; ++step) {
            action(shared[word * (blockDim.x + 1) + coefficient], base[step * blockDim.x + threadIdx.x]);
            coefficient += coefficients_a_step;
            word += words_a_step;
            if (word >= words) {
                word -= words;
                ++coefficient;
            }
        }
    }
};

// Residues of every coefficient by Horner's rule; `radices[limb]` is 2^BITS modulo the limb.
template <bool TRANSPOSED>
static __device__ void decompose_body(Word* coefficients, Word* residues, const Word* radices, const Limb* constants, u32 limbs,
                                      u32 words, u32 length) {
    SHARED_ARRAY(Word, shared);
    const Coefficient<TRANSPOSED> own(coefficients + (size_t)blockIdx.z * length * words, shared, words);
    own.fetch();
    residues += (size_t)blockIdx.z * limbs * length + blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 limb = 0; limb < limbs; ++limb) {
        const Field field(constants[limb]);
        const Word radix = radices[limb];
        Word rest = field.reduce(own.at(words - 1));
        for (u32 k = words - 1; k-- > 0;) rest = field.add(field.product(rest, radix), field.reduce(own.at(k)));
        residues[(size_t)limb * length] = rest;
    }
}

// Garner's algorithm: digits v_i < q_i with x = v_0 + q_0 (v_1 + q_1 (v_2 + ..)), and x by Horner's
// rule. `inverses[i limbs + j]` is the inverse of q_j modulo q_i, j < i. In shared memory, after
// the coefficients: a word for each thread and limb.
template <bool TRANSPOSED>
static __device__ void garner_body(const Word* residues, Word* coefficients, const Word* inverses, const Limb* constants,
                                   u32 limbs, u32 words, u32 length) {
    SHARED_ARRAY(Word, shared);
    const Coefficient<TRANSPOSED> own(coefficients + (size_t)blockIdx.z * length * words, shared, words);
    Word* digits = shared + (TRANSPOSED ? words * (blockDim.x + 1) : 0) + threadIdx.x;
    residues += (size_t)blockIdx.z * limbs * length + blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 i = 0; i < limbs; ++i) digits[i * blockDim.x] = residues[(size_t)i * length];
    // Each new digit updates all later ones, several at once. The updates of one digit are
    // sequential; those of different digits are independent.
    constexpr u32 TOGETHER = 4;
    for (u32 j = 0; j + 1 < limbs; ++j) {
        const Word known = digits[j * blockDim.x];
        for (u32 first = j + 1; first < limbs; first += TOGETHER) {
            Word later[TOGETHER];
#pragma unroll
            for (u32 t = 0; t < TOGETHER; ++t) {
                const u32 i = first + t < limbs ? first + t : limbs - 1;
                const Field field(constants[i]);
                // A digit is below 2 q_i, since the moduli are equally long.
                const Word difference = field.subtract(digits[i * blockDim.x], subtract_if_not_less(known, field.q));
                later[t] = field.product(difference, inverses[i * limbs + j]);
            }
#pragma unroll
            for (u32 t = 0; t < TOGETHER; ++t) {
                if (first + t < limbs) digits[(first + t) * blockDim.x] = later[t];
            }
        }
    }
    for (u32 k = 0; k < words; ++k) own.at(k) = 0;
    for (u32 i = limbs; i-- > 0;) {
        const Word q = constants[i].q;
        Word carry = digits[i * blockDim.x];
        // The limbs from i on need at most that many words.
        const u32 used = limbs - i < words ? limbs - i : words;
        for (u32 k = 0; k < used; ++k) {
            const Double next = (Double)own.at(k) * q + carry;
            own.at(k) = (Word)next;
            carry = (Word)(next >> BITS);
        }
    }
    own.put_back();
}

// The sum of (r_i (Q / q_i)^-1 mod q_i) Q / q_i, reduced modulo Q after each term. `inverses[i]`
// are the inverses; `multiples` holds Q and then every Q / q_i, `words` words each.
template <bool TRANSPOSED>
static __device__ void direct_body(const Word* residues, Word* coefficients, const Word* inverses, const Word* multiples,
                                   const Limb* constants, u32 limbs, u32 words, u32 length) {
    SHARED_ARRAY(Word, shared);
    const Coefficient<TRANSPOSED> own(coefficients + (size_t)blockIdx.z * length * words, shared, words);
    residues += (size_t)blockIdx.z * limbs * length + blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 k = 0; k < words; ++k) own.at(k) = 0;
    for (u32 i = 0; i < limbs; ++i) {
        const Word factor = Field(constants[i]).product(residues[(size_t)i * length], inverses[i]);
        const Word *term = multiples + (i + 1) * words, *modulus = multiples;
        Word carry = 0;
        bool exceeds = true;  // the words so far are at least the modulus's
        for (u32 k = 0; k < words; ++k) {
            const Double next = (Double)term[k] * factor + own.at(k) + carry;
            const Word word = (Word)next;
            own.at(k) = word;
            carry = (Word)(next >> BITS);
            exceeds = word != modulus[k] ? word > modulus[k] : exceeds;
        }
        // Both summands are less than Q, so one subtraction suffices; it includes the carry.
        if (carry != 0 || exceeds) {
            Word borrow = 0;
            for (u32 k = 0; k < words; ++k) {
                const Word before = own.at(k), rest = before - modulus[k];
                own.at(k) = rest - borrow;
                borrow = before < modulus[k] || rest < borrow;
            }
        }
    }
    own.put_back();
}

#define RESIDUE_KERNELS(TRANSPOSED)                                                                                        \
    extern "C" __global__ void __launch_bounds__(128)                                                                     \
        decompose(Word* coefficients, Word* residues, const Word* __restrict__ radices,                                   \
                  const Limb* __restrict__ constants, u32 limbs, u32 words, u32 length) {                                 \
        decompose_body<TRANSPOSED>(coefficients, residues, radices, constants, limbs, words, length);                     \
    }                                                                                                                     \
    EXPORT_KERNEL(decompose)                                                                                              \
    extern "C" __global__ void __launch_bounds__(128)                                                                     \
        garner(const Word* residues, Word* coefficients, const Word* __restrict__ inverses,                               \
               const Limb* __restrict__ constants, u32 limbs, u32 words, u32 length) {                                    \
        garner_body<TRANSPOSED>(residues, coefficients, inverses, constants, limbs, words, length);                       \
    }                                                                                                                     \
    EXPORT_KERNEL(garner)                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128)                                                                     \
        direct(const Word* residues, Word* coefficients, const Word* __restrict__ inverses,                               \
               const Word* __restrict__ multiples, const Limb* __restrict__ constants, u32 limbs, u32 words,              \
               u32 length) {                                                                                              \
        direct_body<TRANSPOSED>(residues, coefficients, inverses, multiples, constants, limbs, words, length);            \
    }                                                                                                                     \
    EXPORT_KERNEL(direct)
