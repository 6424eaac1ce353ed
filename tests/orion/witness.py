"""A foreign witness of whole networks: Orion's evaluator runs them in Lattigo, the example `orion` on big integers.

    python witness.py EXAMPLE FILE.orion DIGITS

EXAMPLE is the example `orion` of the crate `test_client`, DIGITS he/test-client/data/digits.txt. Both get the first 20 images; each has its own
keys and encryptions. Decrypted logits must be within 2^-15, and classes equal. `check.sh` installs what the imports need.
"""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
from lattigo import ckks, rlwe
from orion_evaluator import Evaluator, Model

IMAGES, CLASSES, MOST = 20, 10, 2**-15


def images(path):
    lines = [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]
    return [[int(digit, 17) / 16 for digit in line[2:]] for line in lines[:IMAGES]]


def of_lattigo(data, images):
    with Model.load(data) as model:
        names, manifest, level = model.client_params()
        parameters = ckks.Parameters.from_dict(names)
        generator = rlwe.KeyGenerator(parameters)
        secret = generator.gen_secret_key()
        galois = [generator.gen_galois_key(secret, element) for element in manifest["galois_elements"]]
        keys = rlwe.MemEvaluationKeySet(generator.gen_relin_key(secret), galois)
        encryptor = rlwe.Encryptor(parameters, generator.gen_public_key(secret))
        decryptor, encoder = rlwe.Decryptor(parameters, secret), ckks.Encoder(parameters)
        slots, scale = parameters.max_slots(), parameters.default_scale()
        logits = []
        with Evaluator(names, keys.marshal_binary()) as evaluator:
            for pixels in images:
                image = pixels + [0.0] * (slots - len(pixels))
                ciphertext = encryptor.encrypt_new(encoder.encode(image, level, scale))
                (result,) = evaluator.forward(model, [ciphertext.marshal_binary()])
                result = decryptor.decrypt_new(rlwe.Ciphertext.unmarshal_binary(result))
                logits.append(encoder.decode(result, slots)[:CLASSES])
        return np.array(logits), parameters.moduli_chain() + parameters.aux_moduli_chain()


def main(example, file, digits):
    theirs, moduli = of_lattigo(Path(file).read_bytes(), images(digits))
    lines = subprocess.run([example, file, str(IMAGES)], check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines[0].split() == [str(modulus) for modulus in moduli], f"{lines[0]}, Lattigo has {moduli}"
    ours = np.array([[float(number) for number in line.split()] for line in lines[1:]])
    assert ours.shape == theirs.shape == (IMAGES, CLASSES)
    error = np.abs(ours - theirs).max()
    equal = (ours.argmax(1) == theirs.argmax(1)).sum()
    print(
        f"{Path(file).stem}: Lattigo's logits of {IMAGES} images and ours differ by 2^{math.log2(error):.1f} at most, "
        f"where they are up to {np.abs(theirs).max():.1f}; {equal} classes are equal"
    )
    if error > MOST or equal < IMAGES:
        sys.exit("the results differ from Lattigo's")


main(*sys.argv[1:])
