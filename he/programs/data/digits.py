"""Trains the network of the ring program `digits`, and writes the images of its test set.

Run by hand, in the root of the repository, with NumPy and scikit-learn (2.4.6 and 1.9.1 wrote the committed files):

    python3 he/programs/data/digits.py

It writes he/programs/data/digits.toml, weights in units of 1/100, and he/test-client/data/digits.txt. The data are scikit-learn's
`load_digits`, 1,797 images of the test set of "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, UCI
Machine Learning Repository, 1998, CC BY 4.0), in its order: the first 1,437 train the network, the last 360 test it.
"""

import numpy as np
from sklearn.datasets import load_digits

CHANNELS, HIDDEN, TRAINING, EPOCHS, BATCHES, UNITS = 4, 16, 1437, 60, 45, 100
TAPS = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)]


def windows(images):
    """The 3 x 3 windows of all pixels, with zeros beyond the border: image, pixel, tap."""
    padded = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    shifts = [padded[:, 1 + y : 9 + y, 1 + x : 9 + x].reshape(-1, 64) for y, x in TAPS]
    return np.stack(shifts, -1)


def forward(windows, weights):
    maps = np.einsum("ipt,ct->icp", windows, weights["convolution"])
    maps += weights["convolution_bias"][None, :, None]
    squares = (maps**2).reshape(len(windows), -1)
    hidden = squares @ weights["hidden"].T + weights["hidden_bias"]
    logits = hidden**2 @ weights["output"].T + weights["output_bias"]
    return maps, squares, hidden, logits


def gradients(windows, classes, weights):
    maps, squares, hidden, logits = forward(windows, weights)
    slopes = np.exp(logits - logits.max(1, keepdims=True))
    slopes /= slopes.sum(1, keepdims=True)
    slopes[np.arange(len(classes)), classes] -= 1
    slopes /= len(classes)
    of_hidden = slopes @ weights["output"] * 2 * hidden
    of_maps = (of_hidden @ weights["hidden"]).reshape(maps.shape) * 2 * maps
    return {
        "convolution": np.einsum("icp,ipt->ct", of_maps, windows),
        "convolution_bias": of_maps.sum((0, 2)),
        "hidden": of_hidden.T @ squares,
        "hidden_bias": of_hidden.sum(0),
        "output": slopes.T @ hidden**2,
        "output_bias": slopes.sum(0),
    }


def train(windows, classes):
    """Adam, with a little decay of weights."""
    random = np.random.default_rng(1)
    weights = {
        "convolution": random.normal(0, 0.3, (CHANNELS, len(TAPS))),
        "convolution_bias": np.zeros(CHANNELS),
        "hidden": random.normal(0, 1 / 16, (HIDDEN, CHANNELS * 64)),
        "hidden_bias": np.zeros(HIDDEN),
        "output": random.normal(0, 1 / 4, (10, HIDDEN)),
        "output_bias": np.zeros(10),
    }
    means = {name: np.zeros_like(value) for name, value in weights.items()}
    squares = {name: np.zeros_like(value) for name, value in weights.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = 1e-5 + 0.003 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for batch in np.array_split(random.permutation(len(classes)), BATCHES):
            step += 1
            for name, gradient in gradients(windows[batch], classes[batch], weights).items():
                gradient = gradient + 1e-4 * weights[name]
                means[name] = 0.9 * means[name] + 0.1 * gradient
                squares[name] = 0.999 * squares[name] + 0.001 * gradient**2
                mean = means[name] / (1 - 0.9**step)
                root = np.sqrt(squares[name] / (1 - 0.999**step))
                weights[name] = weights[name] - rate * mean / (root + 1e-8)
    return {name: np.round(UNITS * value).astype(int) for name, value in weights.items()}


def main():
    data = load_digits()
    pixels, classes = data.data.astype(int), data.target
    weights = train(windows(pixels[:TRAINING] / 16), classes[:TRAINING])
    _, _, _, logits = forward(windows(pixels[TRAINING:] / 16), {name: w / UNITS for name, w in weights.items()})
    right = (logits.argmax(1) == classes[TRAINING:]).sum()
    print(f"{right} of {len(logits)} test images are right")
    with open("he/programs/data/digits.toml", "w", encoding="utf-8") as file:
        file.write("# Written by digits.py, which says from which data. Weights in units of 1/100.\n")
        for name, value in weights.items():
            file.write(f"{name} = {value.tolist()}\n")
    with open("he/test-client/data/digits.txt", "w", encoding="utf-8") as file:
        file.write("# Written by he/programs/data/digits.py: the class of an image, and its pixels from 0 to g, 16.\n")
        for image, label in zip(pixels[TRAINING:], classes[TRAINING:]):
            file.write(f"{label} " + "".join("0123456789abcdefg"[pixel] for pixel in image) + "\n")


main()
