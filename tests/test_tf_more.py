"""Functions of sparse, ragged and dense tensors give what TensorFlow gives, in graphs too."""

import numpy as np
import pytest
from conftest import golden
from test_tf_cases import name_of, shown

import headrace.tf as tf

CASES = golden("tf_more.json")
NAMES = {"tf": tf, "np": np}


def alike(seen, expected):
    """Compare what is shown, floats within a few units of single precision."""
    if isinstance(expected, dict):
        assert set(seen) == set(expected)
        for key in expected:
            alike(seen[key], expected[key])
    elif isinstance(expected, list) and expected and isinstance(expected[0], float):
        np.testing.assert_allclose(seen, expected, rtol=4e-6, atol=4e-6)
    elif isinstance(expected, list):
        assert len(seen) == len(expected)
        for pair in zip(seen, expected, strict=True):
            alike(*pair)
    else:
        assert seen == expected


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_is_tensorflows_answer(case):
    function, expect = eval(case["function"], NAMES), case["expect"]
    if "error" in expect:
        with pytest.raises(Exception) as raised:
            function(eval(case["input"], NAMES))
        assert expect["error"] in [cls.__name__ for cls in type(raised.value).__mro__]
    else:
        alike(shown(function(eval(case["input"], NAMES))), expect)


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("case", [c for c in CASES if "error" not in c["expect"]], ids=name_of)
def test_is_the_same_in_a_graph(case, rows):
    value = eval(case["input"], NAMES)
    function = eval(case["function"], NAMES)
    dataset = tf.data.Dataset.from_tensors(value).repeat(3).map(function)
    assert "runs as a graph" in dataset.explain(), dataset.explain()
    options = tf.data.Options()
    options._chunk_rows = rows
    found = [shown(value) for value in dataset.with_options(options)]
    assert len(found) == 3
    for seen in found:
        alike(seen, case["expect"])


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["input"].startswith("tf.reshape(tf.range(")], ids=name_of
)
def test_images_and_rows_may_be_of_any_number(case):
    if "error" in case["expect"]:
        return
    value = eval(case["input"], NAMES)
    spec = tf.TensorSpec([None, *value.shape[1:]], value.dtype)
    dataset = tf.data.Dataset.from_generator(lambda: iter([value]), output_signature=spec)
    (seen,) = dataset.map(eval(case["function"], NAMES))
    alike(shown(seen), case["expect"])


def test_dropout_scales_what_it_keeps():
    x = tf.ones([1000])
    tf.random.set_seed(3)
    found = tf.nn.dropout(x, 0.25, seed=4).numpy()
    assert set(found.tolist()) == {0.0, float(np.float32(1) / np.float32(0.75))}
    assert 150 < (found == 0).sum() < 350
    tf.random.set_seed(3)
    dataset = tf.data.Dataset.from_tensors(x).map(lambda x: tf.nn.dropout(x, 0.25, [1], seed=4))
    assert "runs as a graph" in dataset.explain()
    (seen,) = dataset
    assert len(set(seen.numpy().tolist())) == 1
    with pytest.raises(ValueError, match="rate must be"):
        tf.nn.dropout(x, 1.0)
    with pytest.raises(ValueError, match="floating point"):
        tf.nn.dropout([1, 2], 0.5)
