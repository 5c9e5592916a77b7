"""tf.strings gives what TensorFlow gives, called as it is and inside of a function."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import headrace.tf as tf
from headrace import errors

CASES = [
    case
    for case in json.loads((Path(__file__).parent / "golden" / "strings_raw_csv.json").read_text())[
        "cases"
    ]
    # Broken UTF-16 is cut into other pieces than ICU's, as docs/migrating.md says.
    if case["op"].startswith("strings.") and case["kwargs"].get("input_encoding") != "UTF-16-BE"
]
# Left out: codings whose broken characters ICU cuts its own way.


def value(spec, dtype=None):
    if spec["dtype"] == "bytes":
        flat = np.empty(len(spec["data"]), object)
        flat[:] = [base64.b64decode(item) for item in spec["data"]]
        if dtype is not None:  # inf and nan are written as text
            flat = flat.astype(dtype)
    else:
        flat = np.asarray([_number(item) for item in spec["data"]], spec["dtype"])
    return flat.reshape(spec["shape"])


def _number(item):
    return float(item) if isinstance(item, str) else item


def same(found, expected):
    array = found.numpy()
    floating = found.dtype.is_floating and expected["dtype"] == "bytes"
    wanted = value(expected, found.dtype.as_numpy_dtype if floating else None)
    assert found.shape.as_list() == list(expected["shape"])
    assert floating or found.dtype.name == expected["dtype"].replace("bytes", "string")
    if wanted.dtype == object:
        assert np.asarray(array, object).reshape(-1).tolist() == wanted.reshape(-1).tolist()
    else:
        np.testing.assert_array_equal(array, wanted)


def call(case):
    function = getattr(tf.strings, case["op"].split(".")[1])
    args = [value(arg) for arg in case["args"]]
    kwargs = dict(case["kwargs"])
    if "out_type" in kwargs:
        kwargs["out_type"] = getattr(tf, kwargs["out_type"])
    if case["op"] == "strings.join":
        return function(args, **kwargs)
    return function(*args, **kwargs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["op"] + str(case["kwargs"]))
def test_results_are_tensorflows(case):
    expected = case["expect"]
    if "error" in expected:
        with pytest.raises(getattr(errors, expected["error"]["class"])):
            call(case)
        return
    found = call(case)
    if "ragged" in expected:
        same(found.values, expected["ragged"]["values"])
        same(found.row_splits, expected["ragged"]["row_splits"])
    else:
        same(found, expected)


def test_functions_give_the_same_inside_of_a_map():
    dataset = tf.data.Dataset.from_tensors(["a b", "c"]).map(tf.strings.split)
    assert next(iter(dataset)).to_list() == [[b"a", b"b"], [b"c"]]
    dataset = tf.data.Dataset.from_tensor_slices(["1.5", "2"]).map(tf.strings.to_number)
    assert dataset.element_spec == tf.TensorSpec([], tf.float32)
    assert list(dataset.as_numpy_iterator()) == [1.5, 2.0]


@pytest.mark.parametrize("size", [0, 1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 127, 128, 200])
def test_hashes_are_tensorflows_at_every_length(size):
    path = Path(__file__).parent / "golden" / "tf_hashes.json"
    expected = json.loads(path.read_text())[str(size)]
    text = bytes(k * 7 % 256 for k in range(size))
    most = 2**63 - 1
    found = [
        tf.strings.to_hash_bucket_fast(text, most),
        tf.strings.to_hash_bucket(text, most),
        tf.strings.to_hash_bucket_strong(text, most, [1, 2]),
    ]
    assert [int(x) for x in found] == expected
