"""Products, order, running sums and functions of `headrace.tf`: TensorFlow's values, as graphs."""

import numpy as np
import pytest
from conftest import golden
from laws import with_options

import headrace.tf as tf

ANSWERS = golden("tf_math.json")


def array(found):
    values = found["values"]
    if found["dtype"].startswith("complex"):
        values = [complex(*parts) for parts in values]
    return np.array(values, found["dtype"]).reshape(found["shape"])


def same(seen, case):
    wanted = array(case)
    seen = np.asarray(seen)
    assert seen.dtype == wanted.dtype
    assert seen.shape == wanted.shape
    tolerance = {"float16": 2e-3, "float64": 1e-12, "complex128": 1e-12}
    np.testing.assert_allclose(
        seen, wanted, rtol=tolerance.get(case["dtype"], 1e-5), atol=1e-6 if seen.ndim else 0
    )


def function(text):
    return eval(f"lambda x: {text}", {"tf": tf, "np": np})


@pytest.mark.parametrize("case", ANSWERS["cases"], ids=lambda case: case["text"])
def test_tensors_give_what_tensorflow_gives(case):
    x = tf.constant(array(ANSWERS["inputs"][case["input"]]))
    same(function(case["text"])(x).numpy(), case)


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("case", ANSWERS["cases"], ids=lambda case: case["text"])
def test_functions_of_a_map_are_graphs_and_give_the_same(case, rows):
    x = array(ANSWERS["inputs"][case["input"]])
    dataset = tf.data.Dataset.from_tensor_slices(np.stack([x, x, x])).map(function(case["text"]))
    assert "runs as a graph" in dataset.explain()
    for seen in with_options(dataset, _chunk_rows=rows):
        same(seen.numpy(), case)


def test_directions_and_sizes_that_do_not_fit_are_errors():
    with pytest.raises(ValueError, match="Direction UP"):
        tf.sort([1], direction="UP")
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least k columns"):
        tf.math.top_k([1, 2], 3)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.einsum("ij,jk->ik", [[1, 2]], [[1, 2]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.truncatediv([1], 0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.gather([[0, 1, 2], [3, 4, 5]], [[7]], axis=0), r"indices\[0,0\] = 7 is not in"),
        (
            lambda: tf.gather([[0, 1, 2]], [[0], [9]], axis=1),
            r"indices\[1,0\] = 9 is not in \[0, 3\)",
        ),
        (lambda: tf.gather([1, 2], 5), r"indices = 5 is not in \[0, 2\)"),
        (lambda: tf.gather([[1], [2]], [[0], [3]], batch_dims=1), r"indices\[1,0\] = 3 is not in"),
        (lambda: tf.pad([1], [[-1, 0]]), "must be non-negative"),
        (lambda: tf.pad([[1]], [[0], [3]]), "must be a matrix with 2 columns"),
        (lambda: tf.math.bincount([2, -1]), "must be non-negative, got -1"),
        (lambda: tf.reverse([[1, 2]], [0, -2]), "axis 0 specified more than once"),
        (lambda: tf.expand_dims(1, [0, 1]), "must be a tensor with a single value"),
        (lambda: tf.gather([0], 0.5), "'Tindices' of float32 is not in the list of allowed values"),
    ],
)
def test_values_outside_are_told_in_the_words_of_tensorflow(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()
