"""Make tf_random.json: the numbers of TensorFlow's random ops.

Each case is an expression that the tests evaluate with headrace.tf in TensorFlow's place. Values
are kept as the bytes of the array, in hexadecimal digits.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

SEEDS = ["[1, 2]", "[0, 0]", "[-1, 7]", "[2**31 - 1, -(2**31)]", "np.array([-5, 2**40])"]
FLOATS = ["tf.float16", "tf.bfloat16", "tf.float32", "tf.float64"]
STATELESS = [
    *[f"stateless_uniform([7], {seed}, dtype={dtype})" for seed in SEEDS for dtype in FLOATS],
    *[f"stateless_normal([7], {seed}, dtype={dtype})" for seed in SEEDS for dtype in FLOATS],
    *[
        f"stateless_truncated_normal([45], {seed}, dtype={dtype})"
        for seed in SEEDS
        for dtype in FLOATS
    ],
    *[
        f"stateless_uniform([5], {seed}, None, None, tf.{dtype})"
        for seed in SEEDS
        for dtype in ("int32", "int64", "uint32", "uint64")
    ],
    *[
        f"stateless_uniform([9], {seed}, {limits}, tf.{dtype})"
        for seed in SEEDS
        for dtype in ("int32", "int64")
        for limits in ("0, 10", "-3, 4", "-(2**31), 2**31 - 1", "5, 6")
    ],
    "stateless_uniform([9], [1, 2], -(2**63), 2**63 - 1, tf.int64)",
    "stateless_uniform([], [3, 4])",
    "stateless_uniform([0, 3], [3, 4])",
    "stateless_uniform([2, 3, 5], [3, 4], -2.5, 7)",
    "stateless_uniform([3], [3, 4], [0.0, 1.0, 2.0], [1.0, 2.0, 3.0])",
    "stateless_uniform([2, 2], [3, 4], -2.5, 7, tf.float16)",
    "stateless_uniform([2, 2], [3, 4], -2.5, 7, tf.bfloat16)",
    "stateless_uniform(tf.constant([2, 3]), [3, 4], 1, 5, tf.float64)",
    "stateless_uniform([3], tf.constant([3, 4], tf.int64))",
    "stateless_uniform([3], [3, 4], alg='philox')",
    "stateless_uniform([1000], [5, 6])",
    "stateless_normal([3, 3], [3, 4], 10.0, 0.5)",
    "stateless_normal([3, 3], [3, 4], 10.0, 0.5, tf.float16)",
    "stateless_normal([3], [3, 4], [0.0, 1.0, 2.0], [1.0, 2.0, 3.0])",
    "stateless_normal([2000], [8, 9])",
    "stateless_normal([2000], [8, 9], dtype=tf.float64)",
    "stateless_truncated_normal([3, 3], [3, 4], 10.0, 0.5)",
    "stateless_truncated_normal([2000], [8, 9])",
    "stateless_truncated_normal([2000], [8, 9], dtype=tf.float64)",
    *[
        f"stateless_categorical(np.log(np.array([[1, 2, 3, 0.5]], np.{dtype})), 20, {seed})"
        for seed in SEEDS
        for dtype in ("float16", "float32", "float64")
    ],
    "stateless_categorical([[0.0, 1.0], [2.0, -1.0], [5.0, 5.0]], 5, [1, 2])",
    "stateless_categorical([[0.0, 1.0], [2.0, -1.0]], 4, [1, 2], tf.int32)",
    "stateless_categorical([[0.0, -np.inf, 1.0]], 9, [1, 2])",
    "stateless_categorical([[0.0, 1.0]], 0, [1, 2])",
    *[f"stateless_gamma([9], {seed}, {alpha})" for seed in SEEDS for alpha in (0.3, 1.0, 4.5)],
    "stateless_gamma([2, 4], [1, 2], alpha=[0.5, 1.0, 2.0, 3.0])",
    "stateless_gamma([3, 2, 2], [1, 2], alpha=[[0.5], [2.0]], beta=[1.0, 3.0])",
    "stateless_gamma([5], [1, 2], 0.01, dtype=tf.float16)",
    "stateless_gamma([5], [1, 2], 2.0, 0.5, dtype=tf.float64)",
    "stateless_gamma([0, 2], [1, 2], [2.0, 1.0])",
    *[f"stateless_poisson([9], {seed}, {rate})" for seed in SEEDS for rate in (0.3, 9.5, 44.0)],
    "stateless_poisson([500], [1, 2], 10.0)",
    "stateless_poisson([3, 4], [1, 2], [0.5, 5.0, 20.0, 1000.0], tf.int64)",
    "stateless_poisson([5], [1, 2], 3, tf.float32)",
    "stateless_poisson([5], [1, 2], 30.0, tf.float64)",
    "stateless_poisson([5], [1, 2], 30.0, tf.float16)",
    *[
        f"stateless_binomial([9], {seed}, {counts}, {probs})"
        for seed in SEEDS
        for counts in (8.0, 100.0, 5000.0)
        for probs in (0.05, 0.5, 0.93)
    ],
    "stateless_binomial([500], [1, 2], 40.0, 0.3)",
    "stateless_binomial([500], [1, 2], 4.0, 0.7, tf.int64)",
    "stateless_binomial([3, 4], [1, 2], 50.0, [0.0, 0.1, 0.9, 1.0], tf.float32)",
    "stateless_binomial([5, 2, 2], [1, 2], [[5.0], [200.0]], [0.25, 0.6], tf.float64)",
    "stateless_binomial([7], [1, 2], np.float64(90), np.float64(0.9))",
    "stateless_binomial([7], [1, 2], -3.0, 0.5)",
    "stateless_binomial([0], [1, 2], 3.0, 0.5)",
    *[
        f"experimental.index_shuffle(tf.range(20, dtype=tf.{dtype}), {seed}, 19)"
        for seed in ([5, 9], [0, 0], [-1, 2**31 - 1])
        for dtype in ("int32", "int64")
    ],
    *[
        f"experimental.index_shuffle({index}, [5, 9], {most})"
        for index, most in ((0, 0), (1, 1), (300, 65536), (7, 2**31 - 1))
    ],
    "experimental.index_shuffle(tf.constant(2**40, tf.int64), [1, 2], 2**62)",
    "experimental.index_shuffle(3, tf.constant([2**40 + 1, 5], tf.int64), 9)",
    *[f"experimental.stateless_shuffle(tf.range(13), {seed})" for seed in SEEDS],
    "experimental.stateless_shuffle(tf.reshape(tf.range(12), [4, 3]), [1, 2])",
    "experimental.stateless_shuffle(['a', 'b', 'c', 'd'], [1, 2])",
    "experimental.stateless_shuffle(tf.zeros([0]), [1, 2])",
    *[f"split({seed}, 3)" for seed in SEEDS],
    *[f"fold_in({seed}, 5)" for seed in SEEDS],
    "fold_in(tf.constant([1, 2], tf.int64), tf.constant(3, tf.int64))",
    "experimental.stateless_split([1, 2])",
    "experimental.stateless_fold_in([1, 2], 9)",
]
ERRORS = [
    "stateless_uniform([2], [1, 2, 3])",
    "stateless_uniform([2], 1)",
    "stateless_uniform(2, [1, 2])",
    "stateless_uniform([2], [1.5, 2.0])",
    "stateless_uniform([2], [1, 2], 5, 3, tf.int32)",
    "stateless_uniform([2], [1, 2], 0, None, tf.int32)",
    "stateless_uniform([2], [1, 2], None, 3, tf.int32)",
    "stateless_uniform([2], [1, 2], 0, 5, tf.uint32)",
    "stateless_uniform([2], [1, 2], dtype=tf.int16)",
    "stateless_uniform([-2], [1, 2])",
    "stateless_uniform([2], [1, 2], [0, 1], 5, tf.int32)",
    "stateless_uniform([2], [1, 2], alg='threefry')",
    "stateless_uniform([2], [1, 2], alg='other')",
    "stateless_uniform([2], [1, 2], alg=1.5)",
    "stateless_normal([2], [1, 2], dtype=tf.int32)",
    "stateless_gamma([3], [1, 2], [1.0, 2.0])",
    "stateless_poisson([3], [1, 2], [1.0, 2.0])",
    "stateless_binomial([3], [1, 2], [1.0, 2.0], 0.5)",
    "stateless_binomial([2], [1, 2, 3], 1.0, 0.5)",
    "experimental.index_shuffle(5, [1, 2, 3], 9)",
    "stateless_gamma([3], [1, 2], 1.0, dtype=tf.int32)",
    "stateless_categorical([0.0, 1.0], 3, [1, 2])",
    "stateless_categorical([[0.0, 1.0]], -1, [1, 2])",
    "stateless_categorical([[0.0, 1.0]], 3, [1, 2], tf.int16)",
    "stateless_categorical([[]], 3, [1, 2])",
]

# Global seed, None for none, and calls one after the other. Those without come first: a global
# seed cannot be taken back.
PROGRAMS = [
    (None, ["uniform([3], seed=1)", "uniform([2], seed=1)", "normal([3], seed=2)"]),
    (None, ["shuffle(tf.range(9), seed=1)", "categorical([[0.0, 1.0, 2.0]], 5, seed=-3)"]),
    (7, ["uniform([3])", "uniform([2])", "normal([2])", "uniform([], 0, 9, tf.int32)"]),
    (0, ["uniform([2], seed=0)", "uniform([2])", "uniform([2], seed=2**31 - 1)"]),
    (2**40, ["uniform([2], seed=2**33)", "uniform([2])"]),
    (7, ["uniform([3], seed=1)", "uniform([2, 2], seed=1)", "uniform([0], seed=1)"] * 2),
    (7, ["uniform([3], seed=1)", "uniform([3], seed=1, dtype=tf.float64)"] * 2),
    (7, ["uniform([3], 1, 5, seed=1)", "uniform([3], [1.0, 2.0, 3.0], 5.0, seed=1)"] * 2),
    (7, ["uniform([3], 0, 10, tf.int32, 1)", "uniform([3], -5, 10, tf.int64, 1)"] * 2),
    (7, ["uniform([3], seed=1)", "uniform([3], 0, 10, tf.int32, 1)", "normal([3], seed=1)"] * 2),
    (7, ["normal([5], 2.0, 3.0, seed=1)", "normal([3], seed=1, dtype=tf.float16)"] * 2),
    (7, ["normal([5], seed=1, dtype=tf.float64)", "normal([3], seed=1, dtype=tf.bfloat16)"] * 2),
    (7, ["truncated_normal([9], seed=1)", "truncated_normal([3], 1.0, 2.0, tf.float64, 1)"] * 2),
    (7, ["categorical([[0.0, 1.0, 2.0]], 5, seed=1)"] * 3),
    (7, ["categorical([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]], 5, seed=1)"] * 3),
    (
        7,
        ["categorical(np.array([[0.0, 1.0]]), 6, tf.int32, 1)", "categorical([[0.0, 1.0]], 6)"] * 2,
    ),
    (7, ["shuffle(tf.range(9), seed=1)", "shuffle(tf.reshape(tf.range(12), [6, 2]), 1)"] * 2),
    (7, ["gamma([3], [0.5, 2.0], seed=3)"] * 3 + ["gamma([], 2.0)"]),
    (7, ["gamma([2], [0.5], [1.0, 2.0], seed=3)", "gamma([2], 3.0, seed=3, dtype=tf.float64)"] * 2),
    (7, ["poisson([4], [0.5, 20.0], seed=3)", "poisson([4], 3.0, tf.int32, seed=3)"] * 2),
    (7, ["shuffle(tf.range(5))", "shuffle(['a', 'b', 'c'], seed=1)", "shuffle(tf.zeros([0]), 1)"]),
    (7, ["uniform([40000], seed=1)[-5:]", "uniform([2], seed=1)"]),
]
GENERATORS = [
    "Generator.from_seed(1)",
    "Generator.from_seed(2**70, alg='philox')",
    "Generator.from_seed(-5)",
    "Generator.from_state([1, 2, 3], 'philox')",
    "Generator.from_state([-1, -1, 3], 1)",
    "Generator(state=[1, 2, 3], alg='philox')",
    "Generator.from_key_counter(5, [1, 2], 'philox')",
]
USES = [
    "uniform([5])",
    "uniform([3], dtype=tf.float64)",
    "uniform([3], 2, 5)",
    "uniform([3], 0, 10, tf.int32)",
    "uniform([3], -9, 10, tf.int64)",
    "uniform_full_int([3])",
    "uniform_full_int([3], tf.uint32)",
    "normal([5], 1.0, 2.0)",
    "normal([2], dtype=tf.float64)",
    "truncated_normal([6])",
    "skip(5)",
    "normal([1])",
    "make_seeds(3)",
    "uniform([2])",
]
STATES = [
    "create_rng_state(1, 'philox')",
    "create_rng_state(2**64 + 5, 'philox')",
    "create_rng_state(-7, 'philox')",
    "create_rng_state([1, 2], 'philox')",
    "create_rng_state([1, 2, 3, 4], 1)",
]


def answer(text):
    return encoded(eval(f"tf.random.{text}", {"tf": tf, "np": np}), text=text)


def refused(text):
    try:
        eval(f"tf.random.{text}", {"tf": tf, "np": np})
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"text": text, "classes": kinds, "message": str(error).split(" [Op:")[0]}
    raise AssertionError(f"{text} is not refused")


def encoded(value, **more):
    array = value.numpy()
    if array.dtype == object:
        return more | {"strings": [item.decode() for item in array.ravel().tolist()]}
    name, shape = value.dtype.name, value.shape.as_list()
    return more | {"dtype": name, "shape": shape, "hex": array.tobytes().hex()}


def program(seed, calls):
    if seed is not None:
        tf.random.set_seed(seed)
    names = {"tf": tf, "np": np}
    results = [encoded(eval(f"tf.random.{text}", names), text=text) for text in calls]
    return {"seed": seed, "calls": results}


def generator(text):
    names = {"tf": tf, "np": np}
    made = eval(f"tf.random.{text}", names)
    uses = []
    for use in USES:
        value = eval(f"made.{use}", {**names, "made": made})
        uses.append(encoded(value if value is not None else made.state.value(), text=use))
    return {"text": text, "uses": uses, "state": encoded(made.state.value())}


def main():
    answers = {
        # Before a global seed is set.
        "eager": [program(*each) for each in PROGRAMS],
        "generators": [generator(text) for text in GENERATORS],
        "states": [
            encoded(tf.convert_to_tensor(eval(f"tf.random.{text}")), text=text) for text in STATES
        ],
        "stateless": [answer(text) for text in STATELESS],
        "errors": [refused(text) for text in ERRORS],
    }
    path = Path(__file__).parent / "tf_random.json"
    path.write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
