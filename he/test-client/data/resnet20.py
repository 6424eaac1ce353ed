"""Writes the weights and the images of the example `resnet20`: target/resnet20/weights.txt and images.txt.

Run in the root of the repository, with NumPy and pip (Python 3.12, NumPy 2.4 and these two packages wrote the files that the book tells of):

    python3 he/test-client/data/resnet20.py

Two packages of PyPI have them, and neither is installed: `ace-fhe` 0.2.2 the weights of a ResNet-20 that its authors trained on
CIFAR-10 (Apache-2.0 with the LLVM exception), `foolbox` 3.3.4 (MIT) twenty images of the test set of CIFAR-10 (A. Krizhevsky, 2009).
Nothing of them is in this repository.

Batch norms are folded into the convolutions before them. The largest inputs of ReLU are those of the profile that `ace-fhe` has beside
its weights. The class of each image is computed here too, as a second witness of the network in Rust.
"""

import collections
import io
import json
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np

OUT = pathlib.Path("target/resnet20")
WEIGHTS = ("ace-fhe==0.2.2", ["--python-version", "3.12", "--platform", "manylinux_2_39_x86_64"])
IMAGES = ("foolbox==3.3.4", [])
FOLDER = "ace/model/resnet"
# Of the images of CIFAR-10, by the authors of the weights.
MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)
CLASSES = "airplane automobile bird cat deer dog frog horse ship truck".split()


def wheel(package, options):
    """A package's wheel, which pip fetches for any Python."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "-d", folder]
        subprocess.run([*pip, *options, package], check=True)
        (file,) = pathlib.Path(folder).iterdir()
        return zipfile.ZipFile(io.BytesIO(file.read_bytes()))


class Reader(pickle.Unpickler):
    """The tensors of a PyTorch file, without PyTorch. Nothing else is read."""

    def __init__(self, archive):
        self.archive, self.folder = archive, archive.namelist()[0].split("/")[0]
        super().__init__(io.BytesIO(archive.read(f"{self.folder}/data.pkl")))

    def find_class(self, module, name):
        known = {
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): self.tensor,
            ("torch", "FloatStorage"): np.dtype("<f4"),
            ("torch", "LongStorage"): np.dtype("<i8"),
        }
        return known[module, name]

    def persistent_load(self, place):
        _, kind, key, _, _ = place
        return np.frombuffer(self.archive.read(f"{self.folder}/data/{key}"), kind)

    @staticmethod
    def tensor(storage, offset, size, stride, *_):
        bytes_of = [step * storage.itemsize for step in stride]
        return np.lib.stride_tricks.as_strided(storage[offset:], size, bytes_of).astype(float)


def folded(tensors, convolution, norm):
    """The weights and the biases of a convolution and the batch norm after it."""
    mean, variance = tensors[f"{norm}.running_mean"], tensors[f"{norm}.running_var"]
    factor = tensors[f"{norm}.weight"] / np.sqrt(variance + 1e-5)
    weights = tensors[f"{convolution}.weight"] * factor[:, None, None, None]
    return weights, tensors[f"{norm}.bias"] - factor * mean


def network(tensors):
    """The layers by the names of the ring program: weights of channels to channels, and biases."""
    layers = {"first": folded(tensors, "conv1", "bn1")}
    for stage in range(1, 4):
        for block in range(3):
            place, name = f"layer{stage}.{block}", f"stage{stage}.block{block + 1}"
            layers[f"{name}.a"] = folded(tensors, f"{place}.conv1", f"{place}.bn1")
            layers[f"{name}.b"] = folded(tensors, f"{place}.conv2", f"{place}.bn2")
            if f"{place}.downsample.0.weight" in tensors:
                layers[f"{name}.skip"] = folded(tensors, f"{place}.downsample.0", f"{place}.downsample.1")
    layers["classifier"] = tensors["fc.weight"][:, :, None, None], tensors["fc.bias"]
    return layers


def ranges(profile):
    """The largest size of an input of ReLU in the profile, by layer."""
    found = {"first": profile["relu_Relu"]["abs_max"]}
    for stage in range(1, 4):
        for block in range(3):
            for layer, suffix in (("a", ""), ("b", "_1")):
                node = f"layer{stage}_{block}_relu{suffix}_Relu"
                found[f"stage{stage}.block{block + 1}.{layer}"] = profile[node]["abs_max"]
    return found


def convolution(maps, layer, stride):
    weights, bias = layer
    side = maps.shape[1]
    edge = weights.shape[2] // 2
    padded = np.pad(maps, ((0, 0), (edge, edge), (edge, edge)))
    sums = bias[:, None, None]
    for y in range(weights.shape[2]):
        for x in range(weights.shape[3]):
            window = padded[:, y : y + side : stride, x : x + side : stride]
            sums = sums + np.tensordot(weights[:, :, y, x], window, 1)
    return sums


def logits(layers, image):
    x = np.maximum(convolution(image, layers["first"], 1), 0)
    for stage in range(1, 4):
        for block in range(1, 4):
            name = f"stage{stage}.block{block}"
            stride = 2 if f"{name}.skip" in layers else 1
            y = np.maximum(convolution(x, layers[f"{name}.a"], stride), 0)
            y = convolution(y, layers[f"{name}.b"], 1)
            x = convolution(x, layers[f"{name}.skip"], 2) if stride == 2 else x
            x = np.maximum(x + y, 0)
    weights, bias = layers["classifier"]
    return weights[:, :, 0, 0] @ x.mean((1, 2)) + bias


def png(data):
    """The pixels of a PNG file of 8-bit colours that is not interlaced: row, column, colour."""
    at, compressed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", body)
            if form != [8, 2, 0, 0, 0]:
                raise ValueError(f"a PNG file of the form {form} in place of 8-bit colours")
        compressed += body if kind == b"IDAT" else b""
        at += 12 + length
    lines = np.frombuffer(zlib.decompress(compressed), np.uint8).reshape(height, 1 + 3 * width).astype(int)
    rows = np.zeros((height + 1, 3 * width + 3), int)
    for row, (kind, *line) in enumerate(lines, 1):
        for column, value in enumerate(line, 3):
            left, up, corner = rows[row, column - 3], rows[row - 1, column], rows[row - 1, column - 3]
            middle = left + up - corner
            near = min((left, up, corner), key=lambda other: abs(middle - other))
            rows[row, column] = (value + (0, left, up, (left + up) // 2, near)[kind]) % 256
    return rows[1:, 3:].reshape(height, width, 3)


def line(*numbers):
    return " ".join(f"{number:.9g}" for number in numbers)


def main():
    ace = wheel(*WEIGHTS)
    with zipfile.ZipFile(io.BytesIO(ace.read(f"{FOLDER}/weights/resnet20_cifar10.pt"))) as archive:
        tensors = Reader(archive).load()
    layers = network(tensors.get("state_dict", tensors))
    largest = ranges(json.loads(ace.read(f"{FOLDER}/profiles/resnet20_cifar10.json"))["per_node"])
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "weights.txt", "w", encoding="utf-8") as file:
        file.write("# Written by he/test-client/data/resnet20.py, which says from which data: a layer, the largest input of its ReLU or 0, its\n")
        file.write("# channels, those of its operand, the pixels of its windows, biases, and weights in this order of indices.\n")
        for name, (weights, bias) in layers.items():
            shape = [weights.shape[0], weights.shape[1], weights.shape[2] * weights.shape[3]]
            file.write(f"{name} {line(largest.get(name, 0), *shape, *bias, *weights.ravel())}\n")
    foolbox = wheel(*IMAGES)
    names = sorted(name for name in foolbox.namelist() if name.startswith("foolbox/data/cifar10_"))
    right = 0
    with open(OUT / "images.txt", "w", encoding="utf-8") as file:
        file.write("# Written by resnet20.py: the class of an image, the logits by NumPy, and the pixels of three maps of 32 x 32.\n")
        for name in names:
            label = int(pathlib.PurePath(name).stem.rsplit("_", 1)[1])
            pixels = png(foolbox.read(name)) / 255
            maps = np.moveaxis((pixels - MEAN) / DEVIATION, 2, 0)
            found = logits(layers, maps)
            right += found.argmax() == label
            file.write(f"{label} {line(*found, *maps.ravel())}\n")
            print(f"{name.rsplit('/', 1)[1]}: {CLASSES[label]}, found {CLASSES[found.argmax()]}")
    print(f"{right} of {len(names)} images are right")


if __name__ == "__main__":
    main()
