"""Datasets as components: several in one component, batches of them and their slices."""

import numpy as np
import pytest

import headrace as hr

INT = hr.TensorSpec((), np.int64)


def short():
    return hr.Dataset.range(3)


def long():
    return hr.Dataset.range(5)


def windows():
    return hr.Dataset.range(6).window(2)


def lists(datasets):
    return [[int(x) for x in dataset] for dataset in datasets]


def test_a_list_of_datasets_is_sliced():
    dataset = hr.Dataset.from_tensor_slices([short(), long()])
    assert dataset.element_spec == hr.DatasetSpec(INT)
    assert len(dataset) == 2
    assert lists(dataset) == [[0, 1, 2], [0, 1, 2, 3, 4]]
    grid = hr.Dataset.from_tensor_slices([[short(), long()], [long(), short()]])
    assert grid.element_spec == hr.DatasetSpec(INT, (2,))
    assert lists(next(iter(grid))) == [[0, 1, 2], [0, 1, 2, 3, 4]]


def test_a_list_of_datasets_is_one_component():
    dataset = hr.Dataset.from_tensors(([short(), long()], 1))
    assert dataset.element_spec == (hr.DatasetSpec(INT, (2,)), INT)
    ((both, one),) = dataset
    assert (lists(both), one) == ([[0, 1, 2], [0, 1, 2, 3, 4]], 1)


def test_datasets_of_two_kinds_are_no_component():
    with pytest.raises(hr.errors.InvalidArgumentError, match="element spec"):
        hr.Dataset.from_tensor_slices([short(), hr.Dataset.from_tensors("x")])
    with pytest.raises(hr.errors.InvalidArgumentError, match="holds 3"):
        hr.Dataset.from_tensors([short(), 3])
    with pytest.raises(hr.errors.InvalidArgumentError, match="one length"):
        hr.Dataset.from_tensors([[short()], [short(), long()]])
    with pytest.raises(ValueError, match="rank >= 1"):
        hr.Dataset.from_tensor_slices((short(), long()))


def test_batches_of_datasets_have_a_shape():
    assert windows().batch(2).element_spec == hr.DatasetSpec(INT, (None,))
    whole = windows().batch(2, drop_remainder=True)
    assert (whole.element_spec, len(whole)) == (hr.DatasetSpec(INT, (2,)), 1)
    first, last = windows().batch(2)
    assert first.dtype == object
    assert first.shape == (2,)
    assert (lists(first), lists(last)) == ([[0, 1], [2, 3]], [[4, 5]])
    assert "datasets (?) of int64 ()" in windows().batch(2).explain()
    twice = windows().batch(1).batch(2)
    assert twice.element_spec == hr.DatasetSpec(INT, (None, None))
    assert [batch.shape for batch in twice] == [(2, 1), (1, 1)]


def test_batches_of_datasets_are_taken_apart():
    apart = windows().batch(2).unbatch()
    assert apart.element_spec == hr.DatasetSpec(INT)
    assert lists(apart) == [[0, 1], [2, 3], [4, 5]]
    assert list(apart.flat_map(lambda window: window)) == [0, 1, 2, 3, 4, 5]
    assert lists(windows().batch(1).batch(2).unbatch().unbatch()) == [[0, 1], [2, 3], [4, 5]]
    again = windows().batch(2).flat_map(lambda batch: hr.Dataset.from_tensor_slices(batch))
    assert lists(again) == [[0, 1], [2, 3], [4, 5]]
    three = windows().batch(2).rebatch(3)
    assert three.element_spec == hr.DatasetSpec(INT, (None,))
    assert [lists(batch) for batch in three] == [[[0, 1], [2, 3], [4, 5]]]


def test_functions_see_a_batch_of_datasets_as_an_array():
    joined = windows().batch(2).map(lambda batch: np.int64(len(batch)))
    assert list(joined) == [2, 1]
    with pytest.raises(hr.errors.InvalidArgumentError, match="must return a `Dataset`"):
        list(windows().batch(2).flat_map(lambda batch: batch))


def test_batches_of_datasets_resume():
    dataset = windows().batch(2).repeat(2)
    whole = [lists(batch) for batch in dataset]
    for count in range(len(whole) + 1):
        iterator = iter(dataset)
        for _ in range(count):
            next(iterator)
        rest = dataset.iterator(iterator.state())
        assert [lists(batch) for batch in rest] == whole[count:]


def test_datasets_are_not_padded():
    with pytest.raises(hr.errors.InvalidArgumentError, match="dataset of int64"):
        windows().padded_batch(2)


def test_specs_of_datasets_compare_shapes():
    spec = hr.DatasetSpec(INT, (None,))
    assert spec.is_compatible_with(hr.DatasetSpec(INT, (2,)))
    assert not spec.is_compatible_with(hr.DatasetSpec(INT))
    assert spec != hr.DatasetSpec(INT)
    assert repr(spec) == (
        "DatasetSpec(element_spec=TensorSpec(shape=(), dtype=int64), shape=(None,))"
    )


def test_datasets_in_datasets_under_tensorflow_names():
    import headrace.tf as tf

    inner = tf.TensorSpec([], tf.int64)
    sliced = tf.data.Dataset.from_tensor_slices(
        [tf.data.Dataset.range(2), tf.data.Dataset.range(3)]
    )
    assert sliced.element_spec == tf.data.DatasetSpec(inner)
    assert [[int(x) for x in d.as_numpy_iterator()] for d in sliced] == [[0, 1], [0, 1, 2]]
    whole = tf.data.Dataset.from_tensors([tf.data.Dataset.range(2), tf.data.Dataset.range(3)])
    assert whole.element_spec == tf.data.DatasetSpec(inner, [2])
    batched = sliced.batch(2)
    assert batched.element_spec == tf.data.DatasetSpec(inner, [None])
    assert repr(batched.element_spec) == (
        "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([None]))"
    )
    flat = batched.unbatch().flat_map(lambda d: d)
    assert [int(x) for x in flat.as_numpy_iterator()] == [0, 1, 0, 1, 2]
    with pytest.raises(ValueError, match="rank"):
        tf.data.Dataset.from_tensor_slices((tf.data.Dataset.range(2), tf.data.Dataset.range(3)))


def test_functions_under_tensorflow_names_hand_batches_of_datasets_on():
    import headrace.tf as tf

    inner = tf.data.Dataset.range(6).map(tf.data.Dataset.from_tensors).batch(3).map(lambda x: x)
    flat = inner.unbatch().flat_map(lambda x: x)
    assert [int(x) for x in flat.as_numpy_iterator()] == [0, 1, 2, 3, 4, 5]
    many = tf.data.Dataset.from_tensors([tf.data.Dataset.range(2) for _ in range(3)])
    flat = many.flat_map(tf.data.Dataset.from_tensor_slices).flat_map(lambda x: x)
    assert [int(x) for x in flat.as_numpy_iterator()] == [0, 1, 0, 1, 0, 1]
