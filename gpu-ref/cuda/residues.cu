// `residues`: long integers to residues of several moduli and back (HE-Booster, Section 3.2), with Barrett's reduction.
//
// Coefficients are [polynomial][length][words], least significant word first; residues [polynomial][limb][length]. All moduli
// have the same length in bits, at least half of a word's. Grid: x = coefficients / threads, y = 1, z = polynomial.
//
// TRANSPOSED: neighbouring threads read and write neighbouring words of the coefficients; through shared memory each gets the
// words of its own. Otherwise every thread goes through its own words, and a warp's accesses are `words` apart.

#include "barrett.cuh"

using Word = Field::Word;
using Limb = Constants<Word, Field::Twiddle>;

constexpr int BITS = 8 * sizeof(Word);

// The words of this thread's coefficient: word k is at(k).
template <bool TRANSPOSED>
struct Coefficient {
    Word *base, *shared;
    u32 words;

    // `coefficients` are those of the polynomial; the block's shared memory starts with (threads + 1) words for each of theirs.
    INLINE Coefficient(Word* coefficients, Word* shared, u32 words)
        : base(coefficients + (size_t)blockIdx.x * blockDim.x * words), shared(shared), words(words) {}

    INLINE Word& at(u32 k) const {
        return TRANSPOSED ? shared[k * (blockDim.x + 1) + threadIdx.x] : base[(size_t)threadIdx.x * words + k];
    }
    // All threads of the block together.
    INLINE void fetch() const {
        if (!TRANSPOSED) return;
        for (u32 i = threadIdx.x; i < blockDim.x * words; i += blockDim.x) {
            shared[i % words * (blockDim.x + 1) + i / words] = base[i];
        }
        __syncthreads();
    }
    INLINE void put_back() const {
        if (!TRANSPOSED) return;
        __syncthreads();
        for (u32 i = threadIdx.x; i < blockDim.x * words; i += blockDim.x) {
            base[i] = shared[i % words * (blockDim.x + 1) + i / words];
        }
    }
};

// The residues of every coefficient by Horner's rule; `radices[limb]` is 2^BITS modulo the limb.
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

// Garner's algorithm: digits v_i < q_i with x = v_0 + q_0 (v_1 + q_1 (v_2 + ..)), and x by Horner's rule. `inverses[i limbs + j]`
// is the inverse of q_j modulo q_i, j < i. In shared memory, after the coefficients: a word for each thread and limb.
template <bool TRANSPOSED>
static __device__ void garner_body(const Word* residues, Word* coefficients, const Word* inverses, const Limb* constants,
                                   u32 limbs, u32 words, u32 length) {
    SHARED_ARRAY(Word, shared);
    const Coefficient<TRANSPOSED> own(coefficients + (size_t)blockIdx.z * length * words, shared, words);
    Word* digits = shared + (TRANSPOSED ? words * (blockDim.x + 1) : 0) + threadIdx.x;
    residues += (size_t)blockIdx.z * limbs * length + blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 i = 0; i < limbs; ++i) {
        const Field field(constants[i]);
        Word digit = residues[(size_t)i * length];
        for (u32 j = 0; j < i; ++j) {
            // A digit is below 2 q_i, since the moduli are equally long.
            const Word other = subtract_if_not_less(digits[j * blockDim.x], field.q);
            digit = field.product(field.subtract(digit, other), inverses[i * limbs + j]);
        }
        digits[i * blockDim.x] = digit;
    }
    for (u32 k = 0; k < words; ++k) own.at(k) = 0;
    for (u32 i = limbs; i-- > 0;) {
        const Word q = constants[i].q;
        Word carry = digits[i * blockDim.x];
        // The limbs from i on make at most as many words.
        const u32 used = limbs - i < words ? limbs - i : words;
        for (u32 k = 0; k < used; ++k) {
            const Double next = (Double)own.at(k) * q + carry;
            own.at(k) = (Word)next;
            carry = (Word)(next >> BITS);
        }
    }
    own.put_back();
}

// The sum of (r_i (Q / q_i)^-1 mod q_i) Q / q_i, reduced modulo Q after each term. `inverses[i]` are the inverses, `multiples`
// Q and then every Q / q_i, `words` words each.
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
        bool exceeds = true;  // the words so far are not less than the modulus's
        for (u32 k = 0; k < words; ++k) {
            const Double next = (Double)term[k] * factor + own.at(k) + carry;
            const Word word = (Word)next;
            own.at(k) = word;
            carry = (Word)(next >> BITS);
            exceeds = word != modulus[k] ? word > modulus[k] : exceeds;
        }
        // Both summands are less than Q, so that one subtraction suffices; a carry is part of it.
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
