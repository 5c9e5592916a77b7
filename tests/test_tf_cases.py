"""`headrace.tf` gives what TensorFlow gives, where TensorFlow's own tests look."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import headrace.tf as tf

CASES = json.loads(Path(__file__).with_name("golden").joinpath("tf_cases.json").read_text())
NAMES = {"tf": tf, "np": np, "T": tf.train}


def shown(value):
    if isinstance(value, tf.RaggedTensor):
        splits = [np.asarray(item).tolist() for item in value.nested_row_splits]
        return {"ragged": {"values": shown(value.flat_values), "row_splits": splits}}
    if isinstance(value, tf.SparseTensor):
        parts = value.indices, value.values, value.dense_shape
        return {"sparse": [shown(part) for part in parts]}
    if isinstance(value, dict):
        return {"dict": {key: shown(item) for key, item in value.items()}}
    if isinstance(value, tuple | list):
        return {"tuple": [shown(item) for item in value]}
    array = np.asarray(value)
    flat = array.reshape(-1).tolist()
    if array.dtype == object:
        flat = [base64.b64encode(item).decode() for item in flat]
    return {"dtype": value.dtype.name, "shape": list(array.shape), "data": flat}


def name_of(case):
    return f"{case['function'].removeprefix('lambda x: ')[:70]}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_is_tensorflows_answer(case):
    function, expect = eval(case["function"], NAMES), case["expect"]
    if "error" in expect:
        with pytest.raises(Exception) as raised:
            function(eval(case["input"], NAMES))
        assert expect["error"] in [cls.__name__ for cls in type(raised.value).__mro__]
    else:
        assert shown(function(eval(case["input"], NAMES))) == expect


@pytest.mark.parametrize("case", [c for c in CASES if "error" not in c["expect"]], ids=name_of)
def test_is_the_same_in_a_map(case):
    dataset = tf.data.Dataset.from_tensors(eval(case["input"], NAMES))
    (value,) = dataset.map(eval(case["function"], NAMES))
    assert shown(value) == case["expect"]
