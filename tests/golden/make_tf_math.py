"""Writes tf_math.json: what TensorFlow gives for products, order, running sums and functions.

Each case has the text of a function of `tf`, `np` and one tensor, the number of an input, and the
dtype and values of the result (the class of the error, where there is one). Run it with a Python
that has TensorFlow.
"""

import json
import pathlib

import numpy as np
import tensorflow as tf

INPUTS = {
    "matrix": np.array([[1.5, -2.0, 0.5], [3.0, 0.25, -1.0]], np.float32),
    "square": np.array([[2.0, 1.0, 0.5], [0.0, 3.0, 1.0], [1.0, -1.0, 4.0]], np.float64),
    "batch": np.arange(12, dtype=np.float32).reshape(2, 2, 3) - 4,
    "ints": np.array([[3, 1, 2, 3], [7, -8, 0, 7]], np.int32),
    "small": np.array([100, 27, 100, -5], np.int8),
    "shares": np.array([-0.9, -0.3, 0.0, 0.4, 0.95], np.float64),
    "ones": np.array([1.0, 1.25, 3.5, 20.0], np.float32),
    "half": np.array([0.1, 0.7, -1.3, 2.0], np.float16),
    "complex": np.array([0.5 + 1j, -1 - 0.25j, 2j], np.complex64),
    "complex128": np.array([[0.5 + 1j, -1 - 0.25j], [2j, 3.0]], np.complex128),
}

CASES = """
matrix: tf.matmul(x, x, transpose_b=True)
matrix: tf.matmul(x, x, transpose_a=True)
batch: tf.matmul(x, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
batch: tf.matmul(x, x, transpose_b=True)
ints: tf.matmul(x, x, transpose_b=True)
half: tf.matmul(x[None], x[:, None])
complex128: tf.matmul(x, x, adjoint_a=True)
complex128: tf.matmul(x, x, adjoint_b=True)
matrix: tf.linalg.matvec(x, [1.0, 2.0, 3.0])
matrix: tf.einsum('ij,kj->ik', x, x)
matrix: tf.einsum('ij->ji', x)
batch: tf.einsum('bij,bkj->bik', x, x)
batch: tf.einsum('...ij,...ij->...', x, x)
square: tf.einsum('ii->i', x)
matrix: tf.tensordot(x, x, [[1], [1]])
matrix: tf.tensordot(x, x, 2)
square: tf.tensordot(x, x, 1)
square: tf.linalg.trace(x)
square: tf.linalg.diag_part(x)
matrix: tf.linalg.diag_part(x)
matrix: tf.linalg.diag(x)
square: tf.linalg.band_part(x, 1, 0)
square: tf.linalg.band_part(x, 0, -1)
matrix: tf.norm(x)
matrix: tf.norm(x, ord=1, axis=1)
matrix: tf.norm(x, ord=np.inf, axis=0, keepdims=True)
matrix: tf.linalg.normalize(x, axis=1)[0]
matrix: tf.math.l2_normalize(x, 1)
ints: tf.sort(x)
ints: tf.sort(x, axis=0, direction='DESCENDING')
ints: tf.argsort(x, stable=True)
ints: tf.argsort(x, axis=0, direction='DESCENDING', stable=True)
matrix: tf.sort(x, direction='DESCENDING')
ints: tf.math.top_k(x, 2)[0]
ints: tf.math.top_k(x, 2)[1]
matrix: tf.math.top_k(x, 3)[0]
ints: tf.cumsum(x)
ints: tf.cumsum(x, axis=1, exclusive=True)
ints: tf.cumsum(x, axis=-1, reverse=True)
matrix: tf.math.cumprod(x, axis=1, exclusive=True, reverse=True)
small: tf.cumsum(x)
complex: tf.cumsum(x)
ints: tf.reduce_mean(x)
ints: tf.reduce_mean(x, axis=1)
small: tf.reduce_mean(x, keepdims=True)
matrix: tf.math.reduce_std(x, axis=1)
matrix: tf.math.reduce_variance(x, keepdims=True)
matrix: tf.math.reduce_logsumexp(x, axis=0)
ints: tf.truncatediv(x, 2)
ints: tf.truncatemod(x, -3)
matrix: tf.truncatemod(x, 0.75)
shares: tf.math.erf(x)
shares: tf.asinh(x)
ones: tf.acosh(x)
shares: tf.atanh(x)
half: tf.math.erf(x)
complex: tf.exp(x)
complex: tf.sqrt(x)
complex: tf.math.log(x)
complex: tf.sin(x)
complex: tf.tanh(x)
complex: tf.math.reciprocal(x)
complex128: tf.asinh(x)
complex128: tf.pow(x, 2.0 + 0j)
complex: tf.abs(x)
""".strip().splitlines()


def described(value):
    value = np.asarray(value)
    if value.dtype.kind == "c":
        values = [[z.real, z.imag] for z in value.ravel().tolist()]
    else:
        values = value.ravel().tolist()
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": values}


cases = []
for line in CASES:
    name, text = line.split(": ", 1)
    result = eval(text, {"tf": tf, "np": np, "x": tf.constant(INPUTS[name])})
    cases.append({"input": name, "text": text, **described(result)})
found = {"inputs": {name: described(x) for name, x in INPUTS.items()}, "cases": cases}
lines = ",\n".join(json.dumps(case) for case in cases)
text = f'{{"tensorflow": "{tf.__version__}", "inputs": {json.dumps(found["inputs"])},\n'
text += f'"cases": [\n{lines}\n]}}\n'
pathlib.Path(__file__).with_name("tf_math.json").write_text(text)
