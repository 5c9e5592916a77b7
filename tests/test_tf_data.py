"""Datasets of headrace.tf look like TensorFlow's and yield the same."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import headrace.tf as tf

ANSWERS = json.loads((Path(__file__).parent / "golden" / "tf_data.json").read_text())
D = tf.data.Dataset
NAMES = {"tf": tf, "np": np, "D": D}
SPECS = {name: getattr(tf, name) for name in dir(tf) if name.endswith(("Spec", "Shape"))}


def plain(value):
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "value": value.tolist()}
    if isinstance(value, np.generic):
        return {"dtype": str(value.dtype), "value": value.item()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value)


def same(found, expected):
    if isinstance(expected, list):
        assert isinstance(found, list)
        assert len(found) == len(expected)
        for ours, theirs in zip(found, expected, strict=True):
            same(ours, theirs)
    elif isinstance(expected, dict) and set(expected) == {"dtype", "value"}:
        assert found["dtype"] == expected["dtype"]
        if "array(" in expected["value"]:
            assert repr(found["value"]) == expected["value"]
            return
        wanted = eval(expected["value"], {"nan": math.nan, "inf": math.inf})
        np.testing.assert_equal(found["value"], wanted)
    elif isinstance(expected, dict):
        assert set(found) == set(expected)
        for key in expected:
            same(found[key], expected[key])
    else:
        assert found == expected


@pytest.mark.parametrize("case", ANSWERS["datasets"], ids=lambda case: case["text"])
def test_datasets(case, tmp_path):
    text = case["text"].replace("PATH", str(tmp_path))
    errors = case.get("error") or case.get("raises")
    if errors:  # perhaps earlier than in TensorFlow
        with pytest.raises(Exception) as caught:
            list(eval(text, NAMES).as_numpy_iterator())
        ours = {kind.__name__ for kind in type(caught.value).__mro__}
        assert errors[0] in ours
        return
    dataset = eval(text, NAMES)
    wanted = eval(
        case["spec"].replace("<unknown>", "None"),
        {**SPECS, "DatasetSpec": tf.data.DatasetSpec, "tf": tf},
    )
    assert dataset.element_spec == wanted
    assert dataset.cardinality().numpy() == case["cardinality"]
    same([plain(x) for x in dataset.as_numpy_iterator()], case["elements"])


def test_generators_may_yield_every_kind_of_tensor():
    sparse, ragged = tf.sparse.from_dense([0, 1]), tf.ragged.constant([[1], [2, 3]])
    value = tf.compat.v1.SparseTensorValue([[1]], [1], [2])
    signature = (
        tf.SparseTensorSpec([2], tf.int32),
        tf.SparseTensorSpec([2], tf.int32),
        tf.RaggedTensorSpec([2, None], tf.int32),
        tf.TensorSpec([], tf.string),
    )
    dataset = D.from_generator(
        lambda: iter([(sparse, value, ragged, "é")]), output_signature=signature
    )
    assert dataset.element_spec == signature
    first, second, third, text = next(iter(dataset))
    assert tf.sparse.to_dense(first).numpy().tolist() == [0, 1]
    assert tf.sparse.to_dense(second).numpy().tolist() == [0, 1]
    assert third.to_list() == [[1], [2, 3]]
    assert text.numpy() == "é".encode()


def test_arguments_of_generators_are_arrays():
    seen = []

    def generate(*args):
        seen.extend(args)
        yield 1

    array = np.arange(3)
    list(D.from_generator(generate, tf.int32, args=(array, 2, "x", [1.5])))
    assert np.shares_memory(seen[0], array)
    assert [a.dtype for a in seen] == [np.int64, np.int32, object, np.float32]
