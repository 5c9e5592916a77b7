"""`tf.function(input_signature=)`: arguments become tensors of the types that it says."""

import collections

import numpy as np
import pytest

import headrace.tf as tf

Pair = collections.namedtuple("Pair", "x y")


def signed(*specs):
    return tf.function(lambda *args: args, input_signature=specs)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [(3, tf.int32), (3, tf.float32), (np.int64(3), tf.int32), (np.array(3.0), tf.float32)],
)
def test_numbers_and_arrays_become_tensors_of_the_dtype(given, dtype):
    (found,) = signed(tf.TensorSpec([], dtype))(given)
    assert tf.is_tensor(found)
    assert found.dtype == dtype
    assert found.numpy() == 3


@pytest.mark.parametrize(
    ("shape", "given"),
    [
        ([], tf.constant(3, tf.int64)),
        ([], 3.5),
        ([], "a"),
        ([], [3]),
        ([None], 3),
        ([2], [1, 2, 3]),
    ],
)
def test_what_is_of_another_type_is_refused(shape, given):
    with pytest.raises(TypeError, match="Binding inputs to"):
        signed(tf.TensorSpec(shape, tf.int32))(given)


def test_parameters_are_bound_by_name_and_by_default():
    signature = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32)]

    @tf.function(input_signature=signature)
    def scaled(x, by=2.0):
        return tf.cast(x, tf.float32) * by

    assert scaled([1, 2]).numpy().tolist() == [2, 4]
    assert scaled([1, 2], by=3).numpy().tolist() == [3, 6]
    assert scaled.input_signature is signature
    for args in ((), ([1], 2.0, 3)):
        with pytest.raises(TypeError, match="Binding inputs"):
            scaled(*args)
    for args in ((), (1, 2)):
        with pytest.raises(TypeError, match="Binding inputs"):
            signed(tf.TensorSpec([], tf.int32))(*args)


def test_methods_have_no_spec_of_self():
    class Scale:
        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def half(self, x):
            return x / 2

    assert Scale().half(3).numpy() == 1.5


def test_nests_are_bound_leaf_by_leaf():
    spec = tf.TensorSpec([], tf.int64)
    call = signed({"a": spec}, [spec], Pair(spec, None))
    found, numbers, pair = call({"a": 1}, [2], Pair(3, "any"))
    assert found["a"].dtype == numbers[0].dtype == pair.x.dtype == tf.int64
    assert pair.y == "any"
    for wrong in (({"b": 1}, [2], Pair(3, 4)), ({"a": 1}, (2,), Pair(3, 4)), ({"a": 1}, [], 3)):
        with pytest.raises(TypeError, match="Binding inputs"):
            call(*wrong)
    with pytest.raises(TypeError, match="tuple or a list"):
        tf.function(lambda x: x, input_signature=spec)


def test_ragged_arguments_are_checked():
    call = signed(tf.RaggedTensorSpec([None, None], tf.int32))
    rows = tf.ragged.constant([[1], [2, 3]])
    assert call(rows)[0] is rows
    with pytest.raises(TypeError, match="Binding inputs"):
        call([[1], [2, 3]])


def test_a_function_with_a_signature_is_part_of_the_graph():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.string)])
    def words(text):
        return tf.strings.length(text) + 1

    dataset = tf.data.Dataset.from_tensor_slices(["a", "bcd"]).map(words)
    assert "runs as a graph" in dataset.explain()
    assert [int(x) for x in dataset] == [2, 4]
    with pytest.raises(TypeError, match="Binding inputs"):
        tf.data.Dataset.range(2).map(words)
