"""Make mixes.json: orders of tf.data's mixes that the other vectors do not hold.

Run it with TensorFlow 2.21 installed: python tests/golden/make_mixes.py
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

Dataset = tf.data.Dataset


def ints(dataset):
    return [int(x) for x in dataset]


def sample(seed, **options):
    return Dataset.sample_from_datasets(
        [Dataset.range(0, 12), Dataset.range(100, 115), Dataset.range(200, 209)],
        seed=seed,
        **options,
    )


def shuffled(seed):
    return Dataset.range(20).shuffle(7, seed=seed)


def each_weight():
    rows = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 1.0], [5.0, 0.1, 0.0]], np.float32)
    return Dataset.from_tensor_slices(rows).repeat(6)


def doubly():
    return shuffled(3).shuffle(5, seed=6)


CHOICES = Dataset.from_tensor_slices(np.array([1, 1, 0, 1, 0, 0, 0, 1, 1, 0] * 4, np.int64))


def unchosen():
    """Two passes of a shuffle on a shuffle, after a mix that does not choose it."""
    twice = doubly()
    nought = Dataset.from_tensor_slices(np.zeros(3, np.int64))
    mixed = ints(Dataset.choose_from_datasets([Dataset.range(9), twice], nought))
    return [mixed, ints(twice), ints(twice)]


def build():
    tf.random.set_seed(None)
    both = shuffled(3)
    mixes = {
        "float64 weights": lambda: sample(5, weights=np.array([0.3, 0.5, 0.2])),
        "rerandomized": lambda: sample(5, rerandomize_each_iteration=True),
        "not rerandomized": lambda: sample(5, rerandomize_each_iteration=False),
        "negative seed": lambda: sample(-3, weights=[0.3, 0.5, 0.2]),
        "weights for each draw": lambda: sample(5, weights=each_weight()),
        "weights for each draw, stopping": lambda: sample(
            5, weights=each_weight(), stop_on_empty_dataset=True
        ),
        "repeated": lambda: sample(5).repeat(2),
        "repeated, rerandomized": lambda: sample(5, rerandomize_each_iteration=True).repeat(2),
        "shuffled": lambda: sample(5).shuffle(9, seed=2),
        "of shuffled": lambda: Dataset.sample_from_datasets(
            [shuffled(1), shuffled(2).repeat(2)], [0.3, 0.7], seed=4
        ),
        "twice the same shuffled": lambda: Dataset.sample_from_datasets([both, both], seed=4),
        "chosen from shuffled": lambda: Dataset.choose_from_datasets(
            [shuffled(1).repeat(2), shuffled(2)],
            Dataset.range(2).shuffle(2, seed=8).repeat(30),
            stop_on_empty_dataset=False,
        ),
        "twice a shuffle on a shuffle": lambda: Dataset.sample_from_datasets(
            [doubly()] * 2, seed=4
        ),
        "twice a shuffle on a shuffle, the second first": lambda: Dataset.choose_from_datasets(
            [doubly()] * 2, CHOICES
        ).repeat(2),
        "twice a shuffle on a repeated shuffle": lambda: Dataset.choose_from_datasets(
            [shuffled(3).repeat(2).shuffle(5, seed=6)] * 2, CHOICES
        ),
        "a shuffle on a mix of two": lambda: Dataset.choose_from_datasets(
            [doubly()] * 2, CHOICES
        ).shuffle(4, seed=2),
        "chosen from one shuffled": lambda: Dataset.choose_from_datasets(
            [both, both.map(lambda x: x + 100)], both.map(lambda x: x % 2)
        ),
    }
    cases = []
    for name, mix in mixes.items():
        dataset = mix()
        cases.append({"name": name, "epochs": [ints(dataset), ints(dataset)]})
    cases.append({"name": "a shuffle on a shuffle, not chosen", "epochs": unchosen()})
    tf.random.set_seed(11)
    dataset = sample(None, weights=[0.3, 0.5, 0.2])
    cases.append({"name": "global seed 11", "epochs": [ints(dataset), ints(dataset)]})
    return {"tf": tf.__version__, "cases": cases}


if __name__ == "__main__":
    Path(__file__).with_name("mixes.json").write_text(json.dumps(build()) + "\n")
