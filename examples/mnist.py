"""Train a small classifier on MNIST records, in plain NumPy.

``python examples/mnist.py [FILE ...]`` reads TFRecord files of ``tf.train.Example`` with a
28 x 28 image as 784 floats and a class; without an argument, the thousand records under
``tests/data``. It prints its progress and ends with the accuracy on the training records and
the records per second. It fails (exit code 1) if the accuracy is not above 90 %.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import headrace as hr

Images = NDArray[np.float32]  # [n, 28, 28]
Labels = NDArray[np.int64]  # [n]

FILES = [Path(__file__).parents[1] / "tests" / "data" / "mnist.tfrecord"]
EPOCHS = 20
BATCH = 128
GOAL = 0.9


def parse(record: bytes) -> tuple[Images, Labels]:
    """Give the image and the class of one serialised Example."""
    x = hr.io.parse_single_example(
        record,
        {
            "image_floats": hr.io.FixedLenFeature([784], np.float32),
            "image_class": hr.io.FixedLenFeature([], np.int64),
        },
    )
    return x["image_floats"].reshape(28, 28), x["image_class"]


class Classifier:
    """One hidden layer of ReLUs and a softmax, trained by gradient descent with momentum."""

    def __init__(self, hidden: int = 64, rate: float = 0.05, momentum: float = 0.9) -> None:
        rng = np.random.default_rng(0)
        self.rate, self.momentum = rate, momentum
        self.weights: list[NDArray[np.float32]] = [
            rng.normal(0, (2 / 784) ** 0.5, (784, hidden)).astype(np.float32),
            np.zeros(hidden, np.float32),
            rng.normal(0, (2 / hidden) ** 0.5, (hidden, 10)).astype(np.float32),
            np.zeros(10, np.float32),
        ]
        self.speed = [np.zeros_like(w) for w in self.weights]

    def forward(self, images: Images) -> tuple[Images, Images, Images]:
        """Give the inputs in rows, the hidden layer and the probability of each class."""
        w1, b1, w2, b2 = self.weights
        x = images.reshape(len(images), 784)
        h = np.maximum(x @ w1 + b1, 0)
        z = h @ w2 + b2
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return x, h, e / e.sum(axis=1, keepdims=True)

    def step(self, images: Images, labels: Labels) -> float:
        """Learn from one batch; give its mean cross-entropy before the step."""
        x, h, p = self.forward(images)
        rows = np.arange(len(labels))
        loss = -np.log(p[rows, labels] + 1e-9).mean()
        p[rows, labels] -= 1
        dz = p / np.float32(len(labels))
        dh = (dz @ self.weights[2].T) * (h > 0)
        for w, v, g in zip(
            self.weights, self.speed, (x.T @ dh, dh.sum(0), h.T @ dz, dz.sum(0)), strict=True
        ):
            v *= self.momentum
            v -= self.rate * g
            w += v
        return float(loss)

    def correct(self, images: Images, labels: Labels) -> int:
        """Count the images whose likeliest class is their label."""
        return int((self.forward(images)[2].argmax(axis=1) == labels).sum())


def train(model: Classifier, batches: Iterable[tuple[Images, Labels]]) -> int:
    """Take one step on every batch and print a line now and then; give the records seen."""
    records = 0
    for step, (images, labels) in enumerate(batches, 1):
        loss = model.step(images, labels)
        records += len(labels)
        if step % 20 == 0:
            print(f"step {step:4d}  {records:7,d} records  loss {loss:.3f}", flush=True)
    return records


def accuracy(model: Classifier, batches: Iterable[tuple[Images, Labels]]) -> float:
    """Give the share of records that the model classifies rightly."""
    right = total = 0
    for images, labels in batches:
        right += model.correct(images, labels)
        total += len(labels)
    return right / total


def main(files: list[str]) -> int:
    """Train, report, and tell by the exit code whether the goal was met."""
    records = hr.TFRecordDataset(files)
    training = (
        records.shuffle(10_000, seed=7)
        .repeat(EPOCHS)
        .map(parse, num_parallel_calls=hr.AUTOTUNE)
        .batch(BATCH)
        .prefetch(hr.AUTOTUNE)
    )
    model = Classifier()
    start = time.perf_counter()
    seen = train(model, training)
    seconds = time.perf_counter() - start
    share = accuracy(model, records.map(parse).batch(BATCH))
    print(f"accuracy {share:.1%} on the training records, {seen / seconds:,.0f} records per second")
    return 0 if share > GOAL else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [str(f) for f in FILES]))
