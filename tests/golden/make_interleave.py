"""Writes interleave.json: the order in which TensorFlow interleaves datasets, errors included.

Run with TensorFlow 2.21. Each case has the sizes of the datasets (dataset i has 10 i, 10 i + 1, …),
which of them cannot be made, which elements fail, the arguments, and the outcomes: numbers, and
`"error"`.
"""

import json
import pathlib
import random

import tensorflow as tf

draw = random.Random(2021)


def outcomes(sizes, unmade, failing, cycle, block, calls):
    table = tf.constant(sizes, tf.int64)

    def fails(x, numbers):
        hit = tf.reduce_any(tf.equal(x, tf.constant(numbers, tf.int64)))
        number = tf.debugging.check_numerics(tf.where(hit, float("nan"), 0.0), "fails")
        return x + tf.cast(number, tf.int64)

    def make(i):
        i = fails(i, unmade or [-1])
        return tf.data.Dataset.range(10 * i, 10 * i + table[i]).map(
            lambda x: fails(x, failing or [-1])
        )

    dataset = tf.data.Dataset.range(len(sizes)).interleave(
        make, cycle, block, num_parallel_calls=calls
    )
    seen, run = [], iter(dataset)
    while True:
        try:
            seen.append(int(next(run)))
        except StopIteration:
            return seen
        except tf.errors.InvalidArgumentError:
            seen.append("error")


def cases():
    for number in range(40):
        sizes = [draw.randint(0, 4) for _ in range(draw.randint(1, 6))]
        cycle, block = draw.randint(1, 4), draw.randint(1, 3)
        elements = [10 * i + j for i, size in enumerate(sizes) for j in range(size)]
        failing = unmade = []
        if number >= 10:
            failing = sorted(draw.sample(elements, min(len(elements), draw.randint(0, 3))))
            unmade = sorted(draw.sample(range(len(sizes)), draw.randint(0, min(2, len(sizes)))))
        for calls in [None, *sorted({1, cycle}), -1]:
            arguments = (sizes, unmade, failing, cycle, block, calls)
            yield [*arguments, outcomes(*arguments)]


target = pathlib.Path(__file__).with_name("interleave.json")
lines = ",\n".join(json.dumps(case) for case in cases())
target.write_text(f"[\n{lines}\n]\n")
