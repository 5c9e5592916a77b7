"""Loops of one's own over a dataset, and functions that return one."""

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf


def make_tensors():
    return tf.data.Dataset.range(3)


def make_arrays():
    return hr.Dataset.range(3)


EVERY = pytest.mark.parametrize("make", [make_tensors, make_arrays])


@EVERY
def test_for_and_next_end_with_stop_iteration(make):
    run = iter(make())
    assert [int(x) for x in run] == [0, 1, 2]
    with pytest.raises(StopIteration):
        next(run)
    with pytest.raises(StopIteration):
        run.next()


@EVERY
def test_get_next_ends_out_of_range(make):
    run = iter(make())
    assert [int(run.get_next()), int(run.next()), int(next(run))] == [0, 1, 2]
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            run.get_next()
        with pytest.raises(hr.errors.OutOfRangeError):
            run.get_next()


def test_a_one_shot_iterator():
    dataset = make_tensors().batch(2)
    run = tf.compat.v1.data.make_one_shot_iterator(dataset)
    assert run.get_next().numpy().tolist() == [0, 1]
    assert run.get_next().numpy().tolist() == [2]
    with pytest.raises(tf.errors.OutOfRangeError):
        run.get_next()


def test_a_one_shot_iterator_of_the_dataset_itself():
    run = make_tensors().make_one_shot_iterator()
    seen = []
    while True:
        try:
            seen.append(int(run.get_next()))
        except tf.errors.OutOfRangeError:
            break
    assert seen == [0, 1, 2]


def test_elements_as_numpy():
    run = make_tensors().as_numpy_iterator()
    assert type(next(run)) is np.int64
    assert run.next() == 1


def test_an_input_function_that_returns_a_dataset():
    def input_fn(batch_size=2):
        def named(x):
            return {"x": tf.cast(x, tf.float32)}, x % 2

        return make_tensors().map(named).shuffle(3).repeat(2).batch(batch_size)

    steps = list(input_fn())
    assert [sorted(features) for features, _ in steps] == [["x"]] * 3
    features, labels = steps[0]
    assert (features["x"].numpy() % 2 == labels.numpy()).all()


def test_an_input_function_of_arrays():
    def input_fn(batch_size=2):
        dataset = make_arrays().map(lambda x: ({"x": x.astype(np.float32)}, x % 2))
        return dataset.shuffle(3).repeat(2).batch(batch_size)

    for features, labels in input_fn():
        assert features["x"].dtype == np.float32
        assert (features["x"] % 2 == labels).all()
