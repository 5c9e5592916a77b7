"""Make shuffle_and_repeat.json: two passes over `shuffle(...).repeat(...)`.

`fused` says whether TensorFlow was let make one op of the two.
"""

import itertools
import json
from pathlib import Path

import tensorflow as tf

SIZES = [(0, 3), (1, 4), (5, 2), (5, 30), (7, -2), (20, 1), (20, 6)]
# No 0: the fused op refuses it.
COUNTS = [1, 3, 6]


def passes(n, buffer_size, count, reshuffle, below, fused):
    dataset = tf.data.Dataset.range(n)
    if below:
        dataset = dataset.shuffle(below, seed=5)
    dataset = dataset.shuffle(buffer_size, seed=7, reshuffle_each_iteration=reshuffle).repeat(count)
    options = tf.data.Options()
    options.experimental_optimization.shuffle_and_repeat_fusion = fused
    dataset = dataset.with_options(options)
    return [[int(x) for x in dataset.as_numpy_iterator()] for _ in range(2)]


def main():
    cases = []
    arguments = itertools.product(SIZES, COUNTS, [True, False], [None, 4], [True, False])
    for (n, buffer_size), count, reshuffle, below, fused in arguments:
        case = {
            "n": n,
            "buffer_size": buffer_size,
            "count": count,
            "reshuffle_each_iteration": reshuffle,
            "below": below,
            "fused": fused,
        }
        cases.append(case | {"passes": passes(*case.values())})
    path = Path(__file__).with_name("shuffle_and_repeat.json")
    lines = ",\n".join(f"  {json.dumps(case)}" for case in cases)
    path.write_text(f'{{"cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
