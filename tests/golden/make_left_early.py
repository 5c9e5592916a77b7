"""Writes left_early.json: what TensorFlow gives where passes end before their input does.

Run with TensorFlow 2.21, which must not read ahead here. Each case has the length of the range
that it starts from, its steps, and the elements of three passes over one dataset, of which the
second is left after some elements.
"""

import itertools
import json
import pathlib
import random

import tensorflow as tf

draw = random.Random(2022)
integer = draw.randint
Dataset = tf.data.Dataset
MOST = 60

ARGUMENTS = {
    "map": lambda: [integer(1, 5)],
    "filter": lambda: [integer(2, 4)],
    "shuffle": lambda: [integer(1, 6), integer(1, 9)],
    "repeat": lambda: [integer(2, 8)],
    "batch": lambda: [integer(1, 4), draw.random() < 0.5],
    "heads": lambda: [integer(1, 4)],
    "take": lambda: [integer(1, 9)],
    "take_while": lambda: [integer(2, 9)],
    "skip": lambda: [integer(1, 3)],
    "zip": lambda: [integer(1, 9)],
    "zip_after": lambda: [integer(1, 9)],
    "concatenate": lambda: [integer(1, 5), integer(1, 9)],
    "scan": list,
    "unique": list,
    "captured": lambda: [integer(1, 4), integer(1, 9)],
    "interleave": lambda: [integer(1, 4), integer(1, 3), integer(1, 3), integer(1, 9)],
}
WEIGHTS = {"shuffle": 3, "repeat": 5, "take": 2, "take_while": 3, "zip": 2}


def steps():
    names = list(ARGUMENTS)
    weights = [WEIGHTS.get(name, 1) for name in names]
    middle = draw.choices(names, weights, k=integer(2, 6))
    # Something that is drawn anew, read more than once.
    chosen = ["shuffle", *middle, "repeat"]
    # A repeat right on a shuffle reads the next epoch before this one is over.
    fused = any(pair == ("shuffle", "repeat") for pair in itertools.pairwise(chosen))
    return [[name, *ARGUMENTS[name]()] for name in chosen] if not fused else steps()


def shuffled(n, seed):
    return Dataset.range(n).shuffle(3, seed=seed)


def captured(dataset, n, seed):
    inner = shuffled(n, seed)
    return dataset.flat_map(lambda x: inner)


APPLY = {
    "map": lambda d, m: d.map(lambda x: x * m % 11),
    "filter": lambda d, m: d.filter(lambda x: x % m != 1),
    "shuffle": lambda d, size, seed: d.shuffle(size, seed=seed),
    "repeat": lambda d, n: d.repeat(n),
    "batch": lambda d, n, drop: d.batch(n, drop).unbatch(),
    "heads": lambda d, n: d.batch(n).map(lambda batch: batch[0]),
    "take": lambda d, n: d.take(n),
    "take_while": lambda d, m: d.take_while(lambda x: x < m),
    "skip": lambda d, n: d.skip(n),
    "zip": lambda d, n: Dataset.zip((d, Dataset.range(n))).map(lambda x, y: x),
    "zip_after": lambda d, n: Dataset.zip((Dataset.range(n), d)).map(lambda x, y: y),
    "concatenate": lambda d, n, seed: d.concatenate(shuffled(n, seed)),
    "scan": lambda d: d.scan(tf.constant(0, tf.int64), lambda s, x: ((s + x) % 11, (s + x) % 11)),
    "unique": lambda d: d.unique(),
    "captured": captured,
    "interleave": lambda d, n, cycle, block, seed: d.interleave(
        lambda x: shuffled(n, seed), cycle_length=cycle, block_length=block
    ),
}


def build(length, steps):
    dataset = Dataset.range(length)
    for name, *arguments in steps:
        dataset = APPLY[name](dataset, *arguments)
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.inject_prefetch = False
    return dataset.take(MOST).with_options(options)


def passes(dataset, left):
    for end in (None, left, None):
        elements = itertools.islice(dataset.as_numpy_iterator(), end)
        yield [int(x) for x in elements]


def main():
    cases = []
    while len(cases) < 300:
        case = {"range": integer(2, 7), "steps": steps(), "left": integer(1, 9)}
        elements = list(passes(build(case["range"], case["steps"]), case["left"]))
        if len(elements[0]) > 3:
            cases.append({**case, "passes": elements})
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    path = pathlib.Path(__file__).with_name("left_early.json")
    path.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
