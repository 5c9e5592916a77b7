"""Ops of headrace.tf give what TensorFlow's give, called as they are and inside of a map."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import headrace.tf as tf

ANSWERS = json.loads((Path(__file__).parent / "golden" / "tf_ops.json").read_text())
NAMES = {"tf": tf, "np": np}


def described(value):
    if isinstance(value, tf.RaggedTensor | tf.SparseTensor):
        kind = "ragged" if isinstance(value, tf.RaggedTensor) else "sparse"
        dense = value.to_list() if kind == "ragged" else tf.sparse.to_dense(value).numpy().tolist()
        return {"kind": kind, "dtype": value.dtype.name, "value": dense}
    if isinstance(value, tf.Tensor):
        plain = value.numpy()
        return {
            "kind": "tensor",
            "dtype": value.dtype.name,
            "shape": value.shape.as_list(),
            "value": plain.tolist() if isinstance(plain, np.ndarray | np.generic) else plain,
        }
    if isinstance(value, list | tuple):
        return {"kind": "list", "items": [described(item) for item in value]}
    if isinstance(value, np.ndarray | np.generic):
        return {"kind": "array", "dtype": str(value.dtype), "value": value.tolist()}
    return {"kind": "other", "value": repr(value)}


def same(found, expected, atol=0.0):
    assert found["kind"] == expected["kind"]
    if found["kind"] == "list":
        assert len(found["items"]) == len(expected["items"])
        for ours, theirs in zip(found["items"], expected["items"], strict=True):
            same(ours, theirs, atol)
        return
    assert found.get("dtype") == expected.get("dtype")
    assert found.get("shape") == expected.get("shape")
    if found["kind"] == "other":
        assert found["value"] == expected["value"]
        return
    wanted = eval(expected["value"], {"inf": math.inf, "nan": math.nan})
    if "float" in found["dtype"] or "complex" in found["dtype"]:
        np.testing.assert_allclose(found["value"], wanted, rtol=max(1e-6, atol), atol=atol)
    else:
        assert found["value"] == wanted


# Those that TensorFlow can make a graph of.
TRACED = [case for case in ANSWERS["functions"] if case["traced"]["kind"] != "error"]


@pytest.mark.parametrize("case", ANSWERS["expressions"], ids=lambda case: case["text"])
def test_expressions(case):
    if case["kind"] != "error":
        same(described(eval(case["text"], NAMES)), case)
        return
    with pytest.raises(Exception) as caught:
        eval(case["text"], NAMES)
    ours = {kind.__name__ for kind in type(caught.value).__mro__}
    assert case["classes"][0] in ours


@pytest.mark.parametrize("case", ANSWERS["functions"], ids=lambda case: case["function"])
def test_functions_called_as_they_are(case):
    value = tf.constant(eval(case["argument"], NAMES))
    if case["eager"]["kind"] == "error":
        with pytest.raises(Exception) as caught:
            eval(case["function"], NAMES)(value)
        ours = {kind.__name__ for kind in type(caught.value).__mro__}
        assert ours & {case["eager"]["classes"][0], "TypeError", "ValueError"}
        return
    found = described(eval(case["function"], NAMES)(value))
    same(found, case["eager"], case.get("atol", 0.0))


@pytest.mark.parametrize("case", TRACED, ids=lambda case: case["function"])
def test_functions_inside_of_a_map(case):
    value = eval(case["argument"], NAMES)
    dataset = tf.data.Dataset.from_tensors(value).map(eval(case["function"], NAMES))
    same(described(next(iter(dataset))), case["traced"], case.get("atol", 0.0))


@pytest.mark.parametrize("case", TRACED, ids=lambda case: case["function"])
def test_what_a_map_gives_is_known_before_it_runs(case):
    value = eval(case["argument"], NAMES)
    dataset = tf.data.Dataset.from_tensors(value).map(eval(case["function"], NAMES))
    names = {name: getattr(tf, name) for name in dir(tf) if name.endswith(("Spec", "Shape"))}
    names |= dict.fromkeys(("TopKV2", "Unique"), lambda **fields: tuple(fields.values()))
    theirs = eval(case["traced"]["spec"].replace("<unknown>", "None"), {**names, "tf": tf})
    ours = dataset.element_spec
    flat, wanted = tf.nest.flatten(ours), tf.nest.flatten(theirs)
    assert len(flat) == len(wanted)
    for mine, other in zip(flat, wanted, strict=True):
        assert mine.is_compatible_with(other)


@pytest.mark.parametrize("case", ANSWERS["types"], ids=lambda case: case["text"])
def test_types_shapes_and_specs_read_as_tensorflows(case):
    if "repr" in case:
        assert repr(eval(case["text"], NAMES)) == case["repr"]
        return
    with pytest.raises(Exception) as caught:
        eval(case["text"], NAMES)
    assert case["error"] in {kind.__name__ for kind in type(caught.value).__mro__}


def lines(name):
    text = (Path(__file__).parent / "golden" / "tf_ops" / f"functions_{name}.txt").read_text()
    return set(text.splitlines())


WANTED = lines("sparse") | lines("ragged") | lines("sets") | lines("computed") | lines("bands")
# What the engine evaluates. Left is a number of values that only a run knows.
LEFT = ("tf.cast(x[0], tf.int32) + 2",)
NATIVE = [
    case
    for case in TRACED
    if f"{case['function']} | {case['argument']}" in WANTED
    and not any(text in case["function"] for text in LEFT)
]


@pytest.mark.parametrize("case", NATIVE, ids=lambda case: case["function"])
def test_functions_that_are_graphs(case):
    value = eval(case["argument"], NAMES)
    dataset = tf.data.Dataset.from_tensors(value).map(eval(case["function"], NAMES))
    assert "runs as a graph" in dataset.explain(), dataset.explain()
