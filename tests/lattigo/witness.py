"""A foreign witness of the bootstrap: Lattigo makes keys and encrypts, the simulated RPU bootstraps, Lattigo decrypts.

    python witness.py RPU EXAMPLE [LOG_N]

RPU is the binary `rpu`, EXAMPLE the example `bootstrap` of the crate `test_client`, whose precision on the same set is the measure. The
set is the built-in `lattigo-n16qp1546`, at n = 2^LOG_N, by default 2^11; its own degree is 2^16.
`check.sh` installs what the imports need. The chapter "Keys of other libraries" of the book describes names and forms.
"""

import ctypes
import itertools
import json
import math
import mmap
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from lattigo import ckks, ffi, rlwe
from sympy import isprime, primefactors

LOG_N = int(sys.argv[3]) if len(sys.argv) > 3 else 11
N = 1 << LOG_N
SET = "lattigo-n16qp1546"
SCALE_BITS = 40
WEIGHT = 192
# Bits of the moduli of Lattigo's N16QP1546H192H32: those that remain after a bootstrap, from SlotToCoeff on, and special ones.
RESIDUAL = [60] + [40] * 9
CIRCUIT = [39] * 3 + [60] * 8 + [56] * 4
SPECIAL = [61] * 5


def alternating(bits):
    """Primes that are 1 mod 2n, above and below 2^bits, as Lattigo's `NextAlternatingPrime` finds them."""
    candidates = itertools.count((1 << bits) + 1, 2 * N), itertools.count((1 << bits) + 1 - 2 * N, -2 * N)
    while True:
        for direction in candidates:
            if isprime(prime := next(direction)):
                yield prime
                break


def moduli_of(program):
    """The table of moduli of a program's text, without the sentinel."""
    return [int(value, 0) for value in re.findall(r"^m\[\d+\] (\S+)$", program, re.MULTILINE)[1:]]


def reversed_bits(index):
    return int(f"{index:0{LOG_N}b}"[::-1], 2)


REVERSED = np.array([reversed_bits(index) for index in range(N)])


def order(q):
    """The places of our words among Lattigo's: our root is the smallest, a power of Lattigo's."""
    psi = root(q)
    square, power, smallest, e = psi * psi % q, psi, psi, 1
    for exponent in range(3, 2 * N, 2):
        power = power * square % q
        if power < smallest:
            smallest, e = power, exponent
    # Word j is the value at psi^(2 brv(j) + 1).
    return REVERSED[(e * (2 * REVERSED + 1) % (2 * N) - 1) // 2]


def root(q):
    """Lattigo's primitive 2n-th root of unity: a power of the smallest generator from 3 on."""
    cofactors = [(q - 1) // factor for factor in primefactors(q - 1)]
    generator = next(g for g in itertools.count(3) if all(pow(g, cofactor, q) != 1 for cofactor in cofactors))
    return pow(generator, (q - 1) // (2 * N), q)


class Reader:
    """Lattigo's binary form: counts of 8 bytes before vectors, words of 8 bytes, all little-endian."""

    def __init__(self, data):
        self.data, self.position = data, 0

    def number(self, form="Q"):
        (value,) = struct.unpack_from("<" + form, self.data, self.position)
        self.position += struct.calcsize(form)
        return value

    def vector(self, item):
        return [item() for _ in range(self.number())]

    def limb(self):
        n = self.number()
        self.position += 8 * n
        return np.frombuffer(self.data, "<u8", n, self.position - 8 * n)

    def polynomial(self):
        return self.vector(self.limb)

    def key(self):
        """The digits, each with b and a, each with the limbs modulo q and then p."""
        assert self.number() == 0, "a decomposition by powers of two"
        pair = lambda: self.vector(lambda: self.polynomial() + self.polynomial())
        return [pair for (pair,) in self.vector(lambda: self.vector(pair))]

    def bootstrapping_keys(self):
        """The keys under the names of a program's inputs."""
        keys = {}
        # Four keys between rings, which this ring does not need.
        for name in (None, None, None, None, "switch.dense-sparse", "switch.sparse-dense"):
            if self.number("B"):
                keys[name] = self.key()
        assert None not in keys and self.number("B") and self.number("B")
        keys["relin"] = self.key()
        assert self.number("B")
        for _ in range(self.number("I")):
            exponent, _, _ = self.number(), self.number(), self.number()
            keys[f"galois.{exponent}"] = self.key()
        assert self.position == len(self.data)
        return keys


def ciphertext_parts(ciphertext):
    """Lattigo's metadata, and the limbs of both components."""
    data = ciphertext.marshal_binary()
    _, end = json.JSONDecoder().raw_decode(data[1:].decode("latin-1"))
    reader = Reader(data)
    reader.position = 1 + end
    return data[: 1 + end], reader.vector(reader.polynomial)


def ciphertext_of(metadata, components):
    counts = lambda count, parts: struct.pack("<Q", count) + b"".join(parts)
    limb = lambda words: counts(len(words), [words.astype("<u8").tobytes()])
    polynomials = [counts(len(limbs), map(limb, limbs)) for limbs in components]
    return rlwe.Ciphertext.unmarshal_binary(metadata + counts(len(polynomials), polynomials))


def times(words, factors, q):
    return (words.astype(object) * factors % q).astype(np.uint64)


def times_i(components, moduli, roots, sign=1):
    """Ciphertexts times X^(n/2), or its inverse: i in each slot, since 5^j is 1 mod 4."""

    def limb(words, q, psi):
        i = pow(psi, sign * N // 2, q)
        return times(words, np.repeat(np.array([i, q - i], object), N // 2), q)

    return [[limb(words, q, roots[q]) for words, q in zip(component, moduli)] for component in components]


def added(left, right, moduli):
    return [[(x + y) % np.uint64(q) for x, y, q in zip(*limbs, moduli)] for limbs in zip(left, right)]


def lattigo_parameters():
    return ckks.Parameters(LOG_N, RESIDUAL, [61], SCALE_BITS, "standard", h=WEIGHT)


def write_keys(folder):
    """Lattigo's keys in files. At n = 2^16 the 51 bootstrapping keys have 7.9 GB, of which the library has three copies at once: only
    this process has them in its memory, which takes 24 GB and some swap space."""
    parameters = lattigo_parameters()
    generator = rlwe.KeyGenerator(parameters)
    secret = generator.gen_secret_key()
    (folder / "secret").write_bytes(secret.marshal_binary())
    (folder / "public").write_bytes(generator.gen_public_key(secret).marshal_binary())
    bootstrap = rlwe.BootstrapParams(parameters, logn=LOG_N, logp=SPECIAL, h=WEIGHT, log_slots=LOG_N - 1)
    _, keys = bootstrap.gen_eval_keys(secret)
    # As `keys.marshal_binary`, which copies the bytes twice more.
    length, error = ctypes.c_ulong(), ctypes.c_char_p()
    handle = ctypes.c_size_t(keys._handle.raw)
    data = ffi._lib_call().BootstrapEvalKeysMarshal(handle, ctypes.byref(length), ctypes.byref(error))
    assert data and not error.value, error.value
    block = 1 << 30
    with open(folder / "keys", "wb") as file:
        for begin in range(0, length.value, block):
            size = min(block, length.value - begin)
            file.write((ctypes.c_char * size).from_address(data + begin))


def main(rpu, example):
    with tempfile.TemporaryDirectory() as name:
        witness(rpu, example, Path(name))


def witness(rpu, example, folder):
    arguments = [__file__, rpu, example, str(LOG_N), str(folder)]
    subprocess.run([sys.executable, "-W", "error", *arguments], check=True)
    parameters = lattigo_parameters()
    secret = rlwe.SecretKey.unmarshal_binary((folder / "secret").read_bytes())
    encryptor = rlwe.Encryptor(parameters, rlwe.PublicKey.unmarshal_binary((folder / "public").read_bytes()))
    decryptor, encoder = rlwe.Decryptor(parameters, secret), ckks.Encoder(parameters)
    with open(folder / "keys", "rb") as file:
        keys = Reader(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).bootstrapping_keys()

    def encrypt(slots, level):
        return encryptor.encrypt_new(encoder.encode(slots, level, 1 << SCALE_BITS))

    def decrypt(ciphertext):
        return np.array(encoder.decode(decryptor.decrypt_new(ciphertext), N // 2))

    # The package has real slots only.
    real, imaginary = ([random.uniform(-1, 1) for _ in range(N // 2)] for _ in range(2))
    (_, left), (_, right) = (ciphertext_parts(encrypt(slots, 0)) for slots in (real, imaginary))

    inputs = folder / "inputs"
    run = lambda *command: subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    generate = ("gen", "program", "bootstrap", "--set", SET, "--n", str(N), "-o", "boot.fhetch")
    run(rpu, *generate, "--plaintexts", "inputs")
    residual = parameters.moduli_chain()
    primes = {bits: (q for q in alternating(bits) if q not in residual) for bits in set(CIRCUIT + SPECIAL)}
    q, p = residual + [next(primes[bits]) for bits in CIRCUIT], [next(primes[bits]) for bits in SPECIAL]
    moduli = q + p
    assert sorted(moduli) == sorted(moduli_of((folder / "boot.fhetch").read_text())), "the set has other moduli"
    roots = {modulus: root(modulus) for modulus in moduli}
    orders = {modulus: order(modulus) for modulus in moduli}
    ours = lambda limbs, moduli: np.array([limb[orders[modulus]] for limb, modulus in zip(limbs, moduli)])
    theirs = lambda limbs, moduli: [limb[np.argsort(orders[modulus])] for limb, modulus in zip(limbs, moduli)]
    message = added(left, times_i(right, q, roots), q)
    for component in range(2):
        np.save(inputs / f"ct.{component}.npy", ours(message[component], q))
    for key, digits in keys.items():
        of_key = (q[:1] + p[:1]) if key == "switch.dense-sparse" else q + p
        inverses = [pow(1 << 64, -1, modulus) for modulus in of_key]
        for digit, pair in enumerate(digits):
            for part, limbs in zip("ba", pair, strict=True):
                limbs = [times(*limb) for limb in zip(limbs, inverses, of_key, strict=True)]
                np.save(inputs / f"{key}.{part}.{digit}.npy", ours(limbs, of_key))
    named = json.loads((folder / "boot.manifest.json").read_text())["inputs"]
    rotations = lambda names: {name.split(".")[1] for name in names if name.startswith("galois.")}
    assert rotations(named) == rotations(keys), "Lattigo's bootstrap has other rotations"

    outputs = [f"boot.{component}" for component in range(2)]
    arguments = [text for name in outputs for text in ("--output", f"{name}={name}.npy")]
    # At n = 2^16 keys do not fit two stacks.
    run(rpu, "run", "boot.fhetch", "--inputs", "inputs", "-p", "hbm.stacks=3", *arguments)
    result = [theirs(np.load(folder / f"{name}.npy"), q) for name in outputs]
    own = run(example, str(N))

    metadata, _ = ciphertext_parts(encrypt(real, len(residual) - 1))
    found_real = decrypt(ciphertext_of(metadata, result))
    found_imaginary = decrypt(ciphertext_of(metadata, times_i(result, q, roots, -1)))
    errors = np.abs(found_real - real + 1j * (found_imaginary - imaginary))
    bits = -math.log2(errors.mean())
    # The table of stages: mean and worst bits of a stage alone, then those that are left.
    own_bits = float(re.search(r"slot-to-coeff +\S+ +\S+ +\S+ +(\S+) +\S+ +\S+ +\S+\n", own)[1])
    print(
        f"n = {N}, {len(q)} + {len(p)} moduli, {len(keys)} keys of Lattigo: Lattigo decrypts {bits:.1f} bits of slots in the mean, "
        f"{-math.log2(errors.max()):.1f} in the worst slot; with our client's keys they are {own_bits:.1f} in the mean"
    )
    if bits < own_bits - 1:
        sys.exit("Lattigo loses more than a bit against our client")


if __name__ == "__main__":
    if len(sys.argv) > 4:
        write_keys(Path(sys.argv[4]))
    else:
        main(*(str(Path(path).resolve(strict=True)) for path in sys.argv[1:3]))
