"""Image functions under TensorFlow's names give its results and its errors, traced and not."""

import numpy as np
import pytest
from conftest import GOLDEN, golden

import headrace.tf as tf

ARRAYS = np.load(GOLDEN / "image_functions.npz")
CASES = golden("image_functions.json")["cases"]
IDS = [f"{i}-{case['op']}" for i, case in enumerate(CASES)]

# What TensorFlow's kernels call otherwise: there is one class for arguments that do not fit.
ERRORS = {
    "AttributeError": AttributeError,
    "InvalidArgumentError": ValueError,
    "TypeError": (TypeError, ValueError),
    "ValueError": ValueError,
}


def given(value):
    return ARRAYS[value["array"]] if isinstance(value, dict) else value


def tolerance_of(op, dtype):
    if dtype == np.float16:
        return 1e-3
    if "ssim" in op:  # quotients of small differences
        return 1e-4
    return 1e-5 if "resize" in op else 2e-6


def check(case, found):
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(case["results"])
    for value, name in zip(found, case["results"], strict=True):
        expected, value = ARRAYS[name], np.asarray(value)
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
        if expected.dtype.kind == "f":
            tolerance = tolerance_of(case["op"], expected.dtype)
            near = tolerance * np.abs(expected).max(initial=0)
            np.testing.assert_allclose(value, expected, rtol=tolerance, atol=near)
        else:
            np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_on_tensors(case):
    function, args = getattr(tf.image, case["op"]), [given(value) for value in case["args"]]
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]]):
            function(*args, **case["kwargs"])
    else:
        check(case, function(*args, **case["kwargs"]))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_in_a_function_of_a_dataset(case):
    function, args = getattr(tf.image, case["op"]), [given(value) for value in case["args"]]
    dataset = tf.data.Dataset.from_tensors(args[0])

    def call(first):
        return function(first, *args[1:], **case["kwargs"])

    if case["op"] == "adjust_hue" and case["args"][1] == 1.1:
        assert len(list(dataset.map(call))) == 1  # TensorFlow checks it on tensors only
    elif "error" in case:
        with pytest.raises(ERRORS[case["error"]]):
            list(dataset.map(call))
    else:
        (found,) = dataset.map(call)
        check(case, found)
