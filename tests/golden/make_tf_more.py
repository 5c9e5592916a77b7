"""Writes tf_more.json: what TensorFlow gives for functions of sparse, ragged and dense tensors.

Run with a Python that has TensorFlow. A case is the source of a function of one tensor, that of the
tensor, with `tf` and `np` known, and the value or the class of the error.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf
from make_tf_cases import shown

A = "tf.sparse.from_dense([[0, 2, 0], [-3, 0, 4]])"
B = "tf.sparse.from_dense([[1, -2, 0], [-1, 0, 0]])"
F = "tf.sparse.from_dense([[0.0, 2.0, 0.5], [0.0, 0.0, 0.0], [-3.0, 0.0, 4.0]])"
R = "tf.ragged.constant([[1, 3, 1], [], [0, 2]], tf.int64)"
S = "tf.ragged.constant([['a', 'b'], [], ['c']])"
IMAGES = "tf.reshape(tf.range(2.0 * 4 * 6 * 3), [2, 4, 6, 3]) / 50.0"
ROWS = "tf.reshape(tf.range(24.0), [2, 6, 2])"
PAIR = "tf.constant([1.0, 2.0])"
WAVE = "tf.sin(tf.range(24.0) * 0.7)"
CASES = [
    *((f"lambda x: tf.sparse.{name}(x, {B})", A) for name in ("maximum", "minimum", "add")),
    ("lambda x: tf.sparse.maximum(x, tf.sparse.from_dense([1, 2]))", A),
    *(
        (f"lambda x: tf.sparse.segment_{name}(x, [2, 0, 1], [0, 0, 2]{more})", value)
        for name in ("sum", "mean", "sqrt_n")
        for more in ("", ", num_segments=5")
        for value in ("tf.constant([1.0, 2.0, 4.0])", "tf.reshape(tf.range(6.0), [3, 2])")
    ),
    ("lambda x: tf.sparse.segment_sum(x, [2, 0], [0, 1], num_segments=1)", "tf.range(3.0)"),
    ("lambda x: tf.sparse.softmax(x)", F),
    *(
        (f"lambda x: tf.sparse.sparse_dense_matmul(x, tf.reshape(tf.range(6.0), {how}))", F)
        for how in ("[3, 2]", "[2, 3]), adjoint_b=True", "[3, 2]), adjoint_a=True", "[2, 3]")
        if "adjoint" not in how
    ),
    ("lambda x: tf.sparse.sparse_dense_matmul(x, tf.ones([2, 3]), adjoint_b=True)", F),
    ("lambda x: tf.sparse.sparse_dense_matmul(x, tf.ones([3, 2]), adjoint_a=True)", F),
    ("lambda x: tf.sparse.sparse_dense_matmul(tf.reshape(tf.range(6.0), [2, 3]), x)", F),
    *(
        (f"lambda x: tf.sparse.bincount(x{more})", value)
        for value in ("tf.constant([2, 3, 2, 0, 7])", "tf.constant([[2, 3], [2, 0]])", R,
                      "tf.sparse.from_dense([[1, 3, 1], [0, 0, 2]])")
        for more in ("", ", axis=-1", ", axis=-1, minlength=9", ", axis=-1, maxlength=3",
                     ", axis=-1, binary_output=True")
    ),
    ("lambda x: tf.sparse.bincount(x, weights=tf.constant([0.5, 1.0, 2.0]))",
     "tf.constant([1, 0, 1])"),
    ("lambda x: tf.ragged.stack_dynamic_partitions(x, [2, 0, 2], 4)", "tf.constant([1, 2, 3])"),
    ("lambda x: tf.ragged.stack_dynamic_partitions(x, [[1, 0], [1, 1]], 2)",
     "tf.reshape(tf.range(8), [2, 2, 2])"),
    (f"lambda x: tf.ragged.cross([x, {S}])", S),
    ("lambda x: tf.ragged.cross([x, tf.constant([['d'], ['e'], ['f']])])", S),
    (f"lambda x: tf.ragged.cross_hashed([x, {S}], 100)", S),
    (f"lambda x: tf.ragged.cross_hashed([x, {R}])", S),
    *(
        (f"lambda x: tf.space_to_batch(x, {block}, {pads})", IMAGES)
        for block, pads in (([2, 2], [[0, 0], [0, 0]]), ([2, 3], [[1, 1], [0, 0]]), ([2], [[0, 0]]),
                            ([3, 2], [[0, 0], [0, 0]]))
    ),
    ("lambda x: tf.batch_to_space(x, [2, 1], [[1, 0], [0, 2]])", IMAGES),
    ("lambda x: tf.batch_to_space(x, [3, 1], [[1, 0], [0, 2]])", IMAGES),
    *(
        (f"lambda x: tf.nn.{kind}_pool1d(x, 3, 2, {pad!r})", ROWS)
        for kind in ("avg", "max")
        for pad in ("SAME", "VALID")
    ),
    (f"lambda x: tf.nn.batch_normalization(x, {PAIR}, {PAIR}, {PAIR}, {PAIR} * 2, 1e-3)", ROWS),
    ("lambda x: tf.nn.batch_normalization(x, 1.0, 3.0, None, None, 1e-3)", ROWS),
    ("lambda x: tf.nn.local_response_normalization(x)", IMAGES),
    ("lambda x: tf.nn.lrn(x, 1, 2.0, 0.5, 0.75)", IMAGES),
    ("lambda x: tf.nn.weighted_moments(x, [1], tf.constant([[[1.0, 2.0]]]))", ROWS),
    ("lambda x: tf.nn.weighted_moments(x, [0, 1], x, keepdims=True)", ROWS),
    ("lambda x: tf.nn.collapse_repeated(x, [4, 2, 0])",
     "tf.constant([[1, 1, 2, 1], [3, 3, 4, 0], [5, 0, 0, 0]])"),
    *(
        (f"lambda x: tf.signal.{name}", "tf.constant(0)")
        for name in ("kaiser_window(7)", "kaiser_window(8, 4.5, tf.float64)", "kaiser_window(1)",
                     "kaiser_bessel_derived_window(8)", "vorbis_window(8)",
                     "vorbis_window(6, tf.float64)", "kaiser_bessel_derived_window(6, 3.0)")
    ),
    *(
        (f"lambda x: tf.signal.mdct(x, {how})", WAVE)
        for how in ("8", "8, None", "8, pad_end=True", "12, norm='ortho'", "6",
                    "8, tf.signal.kaiser_bessel_derived_window")
    ),
    ("lambda x: tf.signal.inverse_mdct(tf.signal.mdct(x, 8))", WAVE),
    ("lambda x: tf.signal.inverse_mdct(tf.signal.mdct(x, 8, norm='ortho'), norm='ortho')", WAVE),
    ("lambda x: tf.linalg.triangular_solve(x, [[1.0], [2.0]])", "tf.constant([[2.0, 5], [1, 4]])"),
    ("lambda x: tf.linalg.triangular_solve(x, [[1.0], [2.0]], lower=False, adjoint=True)",
     "tf.constant([[2.0, 5], [1, 4]])"),
    ("lambda x: tf.linalg.cholesky_solve(x, [[1.0], [2.0]])", "tf.constant([[2.0, 0], [1, 4]])"),
    ("lambda x: tf.debugging.assert_same_float_dtype([x, tf.constant(1)])", "tf.constant(1.0)"),
    ("lambda x: tf.debugging.assert_proper_iterable(x)", "tf.constant([1.0])"),
    ("lambda x: tf.math.accumulate_n([x, x * 2])", "tf.constant([1, 2])"),
]  # fmt: skip


def outcome(function, value):
    names = {"tf": tf, "np": np}
    try:
        return shown(eval(function, names)(eval(value, names)))
    except Exception as error:
        return {"error": type(error).__name__}


made = [{"function": f, "input": x, "expect": outcome(f, x)} for f, x in CASES]
text = json.dumps(made, indent=None, separators=(",", ":")).replace('{"function"', '\n{"function"')
Path(__file__).with_name("tf_more.json").write_text(text + "\n")
