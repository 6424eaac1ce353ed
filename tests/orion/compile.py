"""Trains our two networks and compiles them with Orion: the committed samples, and their results in the clear.

    python compile.py DIGITS FOLDER

DIGITS is he/test-client/data/digits.txt: the images from the 21st on train the networks. FOLDER gets NAME.orion and NAME.txt: for each of
the first 20 images a line of what PyTorch computes with the same weights and polynomials. `check.sh` says what this needs.
"""

import os
import sys
from pathlib import Path

os.environ["TQDM_DISABLE"] = "1"

import numpy as np
import orion_compiler.nn as on
import torch
from orion_compiler import CKKSParams, Compiler
from torch.utils.data import DataLoader, TensorDataset

IMAGES, UNITS, EPOCHS = 20, 128, 300
# A ring for tests, not a secure one.
PARAMETERS = {"logn": 9, "logp": (51,), "log_default_scale": 40, "h": 64, "ring_type": "standard"}


class Perceptron(on.Module):
    """Two dense layers, and a square between them."""

    LEVELS = 3

    def __init__(self):
        super().__init__()
        self.flatten = on.Flatten()
        self.fc1 = on.Linear(64, 16)
        self.act1 = on.Quad()
        self.fc2 = on.Linear(16, 10)

    def forward(self, x):
        return self.fc2(self.act1(self.fc1(self.flatten(x))))


class Convolution(on.Module):
    """Windows of 3 x 3 pixels with a stride of 2 to four channels, a polynomial of degree 7 for SiLU, and a dense layer."""

    LEVELS = 5

    def __init__(self):
        super().__init__()
        self.conv1 = on.Conv2d(1, 4, 3, stride=2, padding=1)
        self.act1 = on.SiLU(degree=7)
        self.flatten = on.Flatten()
        self.fc1 = on.Linear(64, 10)

    def forward(self, x):
        return self.fc1(self.flatten(self.act1(self.conv1(x))))


def read(path):
    lines = [line for line in Path(path).read_text().splitlines() if not line.startswith("#")]
    pixels = [[int(digit, 17) / 16 for digit in line[2:]] for line in lines]
    classes = [int(line[0]) for line in lines]
    return torch.tensor(pixels).reshape(-1, 1, 8, 8), torch.tensor(classes)


def train(net, images, classes):
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-4)
    for _ in range(EPOCHS):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(images), classes).backward()
        optimiser.step()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_((parameter * UNITS).round() / UNITS)


def in_the_clear(net, images):
    """The logits in double precision, with polynomials in place of the functions that they stand for."""
    net = net.double()
    for module in net.modules():
        if getattr(module, "coeffs", None) is not None:

            def polynomial(x, module=module):
                scaled = module.prescale * x + module.constant
                return torch.from_numpy(np.polynomial.chebyshev.chebval(scaled.numpy(), module.coeffs))

            module.forward = polynomial
    with torch.no_grad():
        return net(images.double())


def main(digits, folder):
    images, classes = read(digits)
    for kind in (Perceptron, Convolution):
        torch.manual_seed(1)
        net, name = kind(), kind.__name__.lower()
        train(net, images[IMAGES:], classes[IMAGES:])
        compiler = Compiler(net, CKKSParams(logq=(50, *[40] * kind.LEVELS), **PARAMETERS))
        compiler.fit(DataLoader(TensorDataset(images[IMAGES:]), batch_size=1))
        compiler.compile().to_file(f"{folder}/{name}.orion")
        found = in_the_clear(net, images[:IMAGES])
        right = (found.argmax(1) == classes[:IMAGES]).sum()
        print(f"{name}: {right} of {IMAGES} images are right")
        lines = [" ".join(f"{logit:.9f}" for logit in image) + "\n" for image in found.tolist()]
        Path(folder, f"{name}.txt").write_text("".join(lines))


main(*sys.argv[1:])
