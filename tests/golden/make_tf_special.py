"""Writes tf_special.json: what TensorFlow gives for the functions beyond the elementary ones.

Run with a Python that has TensorFlow. Values are kept as texts of float64, which they fit into;
errors as the names of their classes.
"""

import json
import pathlib

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(5)

ODD = [0.0, -0.0, 1.0, -1.0, -2.0, -0.5, -1.5, np.inf, -np.inf, np.nan, 1e-5, 1e-30, 0.5, 2.0]
WIDE = np.concatenate([ODD, rng.normal(0, 3, 20), rng.uniform(0, 60, 20)])
UNIT = np.concatenate([ODD, rng.uniform(-1, 1, 20), [1e-8, 0.999, 0.9999999, -0.9999]])
PARTS = np.concatenate([[0.0, 1.0, 2.0, 0.5, 1e-10, 1.5], rng.uniform(0, 1, 20)])
POSITIVE = np.concatenate([[1.0, 0.5, 2.0, 1e-3], rng.uniform(0, 30, 24), rng.uniform(0, 2, 12)])
UNARY = {
    "erfc": WIDE,
    "erfinv": UNIT,
    "erfcinv": PARTS,
    "ndtri": PARTS,
    "lgamma": WIDE,
    "digamma": WIDE,
    "bessel_i0": WIDE,
    "bessel_i0e": WIDE,
    "bessel_i1": WIDE,
    "bessel_i1e": WIDE,
    "special.bessel_k0": POSITIVE,
    "special.bessel_k0e": POSITIVE,
    "special.bessel_k1": POSITIVE,
    "special.bessel_k1e": POSITIVE,
    "special.bessel_j0": POSITIVE,
    "special.bessel_j1": POSITIVE,
    "special.bessel_y0": POSITIVE,
    "special.bessel_y1": POSITIVE,
    "special.dawsn": WIDE,
    "special.expint": POSITIVE,
    "special.spence": POSITIVE,
}
A = np.concatenate([[1.0, 2.0, 0.5, 0.0, -1.0, 3.0, np.inf, 2.0], rng.uniform(0, 25, 24)])
X = np.concatenate([[2.0, 0.0, 0.5, 1.0, 1.0, -1.0, 2.0, np.inf], rng.uniform(0, 30, 24)])
ORDERS = np.concatenate([[0.0, 1.0, 2.0, 1.5, -1.0, 3.0], rng.integers(0, 6, 12).astype(float)])
PLACES = np.concatenate([[1.0, 0.5, 2.0, 1.0, 1.0, -1.5], rng.uniform(0, 12, 12)])
POWERS = np.concatenate([[2.0, 1.0, 0.5, 3.0, 2.0, 3.0, 2.0, 2.5], rng.uniform(1, 9, 12)])
SHIFTS = np.concatenate([[1.0, 1.0, 1.0, 0.5, 0.0, 0.0, -1.5, -1.5], rng.uniform(0, 12, 12)])
BINARY = {
    "igamma": (A, X),
    "igammac": (A, X),
    "zeta": (POWERS, SHIFTS),
    "polygamma": (ORDERS, PLACES),
}


def function_of(name):
    found = tf.math
    for part in name.split("."):
        found = getattr(found, part)
    return found


def kept(array):
    return [repr(float(value)) for value in np.asarray(array, np.float64).ravel()]


cases = []
for dtype in ("float32", "float64", "float16", "int32"):
    for name, arguments in {**{k: (v,) for k, v in UNARY.items()}, **BINARY}.items():
        with np.errstate(all="ignore"):
            given = [np.nan_to_num(a) if dtype == "int32" else a for a in arguments]
            given = [a.clip(-9, 9) if dtype == "int32" else a for a in given]
            given = [tf.constant(a.astype(dtype)) for a in given]
        case = {"name": name, "dtype": dtype, "arguments": [kept(x) for x in given]}
        try:
            case["result"] = kept(function_of(name)(*given))
        except Exception as error:
            case["error"] = type(error).__name__
        cases.append(case)
lists = [rng.uniform(0.1, 5, (3, n)).astype(np.float32) for n in (1, 2, 4)]
beta = [{"x": x.tolist(), "result": kept(tf.math.lbeta(x))} for x in lists]
text = json.dumps({"cases": cases, "lbeta": beta}, indent=None, separators=(",", ":"))
(HERE / "tf_special.json").write_text(text.replace('{"name"', '\n{"name"') + "\n")
