"""Writes compositions.json: what TensorFlow gives for pipelines put together at random.

Run with TensorFlow 2.21. Each case has the length of the range that it starts from, its steps, the
cardinality, and the outcomes: numbers, and `"error"` for an element that fails (`fail_on` does).
Left out: `skip` above a function that fails, which headrace does not run for skipped elements.
"""

import json
import pathlib
import random

import tensorflow as tf

draw = random.Random(2021)
integer = draw.randint


def shard():
    count = integer(1, 4)
    return [count, integer(0, count - 1)]


def rebatch():
    sizes = [integer(1, 4)] + [integer(0, 4) for _ in range(integer(0, 2))]
    return [integer(1, 5), sizes, draw.random() < 0.5]


ARGUMENTS = {
    "map": lambda: [integer(1, 5)],
    "filter": lambda: [integer(2, 4)],
    "fail_on": lambda: [integer(2, 5), integer(0, 2)],
    "take_while": lambda: [integer(3, 40)],
    "scan": list,
    "unique": list,
    "shard": shard,
    "batch": lambda: [integer(1, 5), draw.random() < 0.5],
    "padded_batch": lambda: [integer(1, 5), draw.random() < 0.5],
    "ragged_batch": lambda: [integer(1, 5), draw.random() < 0.5],
    "sparse_batch": lambda: [integer(1, 5)],
    "rebatch": rebatch,
    "take": lambda: [integer(0, 12)],
    "skip": lambda: [integer(0, 5)],
    "repeat": lambda: [integer(1, 3)],
    "ignore_errors": list,
    "concatenate": lambda: [integer(1, 6)],
    "enumerate": lambda: [integer(0, 5)],
}


def step(failing):
    name = draw.choice([name for name in ARGUMENTS if not (failing and name == "skip")])
    return [name, *ARGUMENTS[name]()]


def steps():
    made = []
    for _ in range(integer(1, 6)):
        made.append(step(any(name == "fail_on" for name, *_ in made)))
    return made


def zero():
    return tf.constant(0, tf.int64)


APPLY = {
    "map": lambda d, m: d.map(lambda x: x * m),
    "filter": lambda d, m: d.filter(lambda x: x % m != 1),
    "fail_on": lambda d, m, r: d.map(
        lambda x: x + zero() * (tf.constant(7, tf.int64) // (x % m - r))
    ),
    "take_while": lambda d, m: d.take_while(lambda x: x < m),
    "scan": lambda d: d.scan(zero(), lambda s, x: (s + x, s + x)),
    "batch": lambda d, n, drop: d.batch(n, drop).unbatch(),
    "padded_batch": lambda d, n, drop: d.padded_batch(n, drop_remainder=drop).unbatch(),
    "ragged_batch": lambda d, n, drop: d.ragged_batch(n, drop).unbatch(),
    "sparse_batch": lambda d, n: d.sparse_batch(n, []).map(lambda batch: batch.values).unbatch(),
    "rebatch": lambda d, n, sizes, drop: d.batch(n).rebatch(sizes, drop).unbatch(),
    "concatenate": lambda d, n: d.concatenate(tf.data.Dataset.range(n)),
    "enumerate": lambda d, start: d.enumerate(start).map(lambda i, x: i * 10 + x),
}


def outcomes(dataset):
    iterator, seen = iter(dataset), []
    while len(seen) < 400:
        try:
            seen.append(int(next(iterator)))
        except StopIteration:
            break
        except tf.errors.OpError:
            seen.append("error")
    return seen


cases = []
for _ in range(300):
    length, made = integer(0, 20), steps()
    dataset = tf.data.Dataset.range(length)
    for name, *arguments in made:
        apply = APPLY.get(name) or (lambda d, *args, name=name: getattr(d, name)(*args))
        dataset = apply(dataset, *arguments)
    expect = {"cardinality": int(dataset.cardinality()), "outcomes": outcomes(dataset)}
    cases.append({"range": length, "steps": made} | expect)

lines = ",\n".join(json.dumps(case) for case in cases)
text = f'{{"tf": {json.dumps(tf.__version__)}, "cases": [\n{lines}\n]}}\n'
pathlib.Path(__file__).with_name("compositions.json").write_text(text)
