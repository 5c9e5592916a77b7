"""Every vector of TensorFlow's image functions, on arrays and in a traced function."""

import re

import numpy as np
import pytest
from conftest import GOLDEN, golden

import headrace as hr

ARRAYS = np.load(GOLDEN / "image_ops.npz")
CASES = [
    case
    for case in golden("image_ops.json")["cases"]
    if hasattr(hr.image, case["op"].removeprefix("image."))
]
IDS = [f"{i}-{case['op'].removeprefix('image.')}" for i, case in enumerate(CASES)]


def parts(case):
    """Return the function and its arguments."""
    kwargs = dict(case["kwargs"])
    if "dtype" in kwargs:
        kwargs["dtype"] = np.dtype(kwargs["dtype"])
    return getattr(hr.image, case["op"].removeprefix("image.")), kwargs


def check(case, found):
    expected = ARRAYS[case["key"]]
    assert found.dtype == expected.dtype
    if expected.dtype.kind == "f":
        tolerance = 1e-5 if "resize" in case["op"] else 1e-6
        finite = expected[np.isfinite(expected)].astype(np.float64)
        near = tolerance * np.abs(finite).max(initial=0)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=near)
    else:
        np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_an_array(case):
    function, kwargs = parts(case)
    image = ARRAYS[case["input"]]
    if "error" in case:
        with pytest.raises(ValueError, match=re.escape(case["error"]["message"].rstrip("."))):
            function(image, **kwargs)
    else:
        check(case, function(image, **kwargs))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_traced_function(case):
    function, kwargs = parts(case)
    dataset = hr.Dataset.from_tensors(ARRAYS[case["input"]])
    if "error" in case:
        with pytest.raises(ValueError, match=re.escape(case["error"]["message"].rstrip("."))):
            list(dataset.map(lambda x: function(x, **kwargs), executor="native"))
    else:
        (found,) = dataset.map(lambda x: function(x, **kwargs), executor="native")
        check(case, found)
