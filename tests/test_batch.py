"""`Dataset.batch`."""

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws, with_options

import headrace as hr


def test_a_short_last_batch_is_kept_unless_dropped():
    assert_same_elements(list(hr.Dataset.range(5).batch(3)), [np.arange(3), np.array([3, 4])])
    assert_same_elements(list(hr.Dataset.range(5).batch(3, drop_remainder=True)), [np.arange(3)])


@pytest.mark.parametrize("shuffled", [False, True])
def test_67_rows_are_four_batches_of_16_and_a_rest(shuffled):
    rows = hr.Dataset.range(67)
    rows = rows.shuffle(67) if shuffled else rows
    assert [len(batch) for batch in rows.batch(16)] == [16, 16, 16, 16, 3]
    assert [len(batch) for batch in rows.batch(16, drop_remainder=True)] == [16] * 4
    assert len(rows.batch(16)) == rows.batch(16).cardinality() == 5
    assert len(rows.batch(16, drop_remainder=True)) == 4


@pytest.mark.parametrize(("drop", "count"), [(False, 5), (True, 4)])
def test_the_length_is_known(drop, count):
    dataset = hr.Dataset.range(67).shuffle(5, seed=1).batch(16, drop_remainder=drop)
    assert len(dataset) == len(list(dataset)) == count


def test_the_batch_size_is_known_only_when_the_remainder_is_dropped():
    assert hr.Dataset.range(5).batch(3).element_spec == hr.TensorSpec((None,), np.int64)
    dropped = hr.Dataset.range(5).batch(3, drop_remainder=True)
    assert dropped.element_spec == hr.TensorSpec((3,), np.int64)


def test_structures_are_batched_by_component():
    dataset = hr.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]})
    (batch,) = dataset.batch(2)
    assert batch["a"].tolist() == [1, 2]
    assert batch["b"].tolist() == ["x", "y"]
    assert batch["b"].dtype == object


def test_batches_of_batches_have_two_axes():
    (batch,) = hr.Dataset.range(4).batch(2).batch(2)
    assert batch.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("size", [0, -1])
def test_a_size_below_one_is_refused_when_the_dataset_is_built(size):
    with pytest.raises(
        hr.errors.InvalidArgumentError, match="Batch size must be greater than zero"
    ):
        hr.Dataset.range(3).batch(size)


def test_a_size_that_is_no_integer_is_refused():
    with pytest.raises(TypeError, match="batch_size"):
        hr.Dataset.range(3).batch(2.5)


def test_different_shapes_are_refused_with_both():
    dataset = hr.Dataset.from_generator(lambda: iter([[1], [1, 2]]), np.int64)
    with pytest.raises(hr.errors.InvalidArgumentError, match="different shapes"):
        list(dataset.batch(2))


def test_an_error_in_a_batch_is_that_batch():
    def fail_on_one(x):
        if x == 1:
            raise KeyError("one")
        return x

    iterator = iter(hr.Dataset.range(11).map(fail_on_one).batch(3))
    with pytest.raises(KeyError):
        next(iterator)
    assert [batch.tolist() for batch in iterator] == [[3, 4, 5], [6, 7, 8], [9, 10]]


def test_what_is_handed_out_is_owned():
    batches = list(hr.Dataset.from_tensor_slices(np.arange(6)).batch(2))
    assert all(batch.flags.writeable for batch in batches)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 3, 50])
def test_the_laws_hold(size, drop):
    check_laws(lambda: hr.Dataset.range(20).batch(size, drop_remainder=drop))


def test_batches_that_are_slices_need_no_tasks():
    text = hr.Dataset.range(10).batch(2, num_parallel_calls=4).explain()
    assert "slices" in text
    options = hr.Options()
    options.experimental_optimization.parallel_batch = True
    text = hr.Dataset.range(10).batch(2).with_options(options).explain()
    assert "slices, which need no tasks (parallel_batch)" in text


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
def test_batches_before_one_that_fails_come(rows):
    lengths = hr.Dataset.from_tensor_slices([1, 1, 2, 2, 3, 1, 4, 4])
    arrays = lengths.map(np.zeros, executor="python", output_signature=hr.TensorSpec([None]))
    run = iter(with_options(arrays.batch(2), _chunk_rows=rows))
    assert [next(run).shape for _ in range(2)] == [(2, 1), (2, 2)]
    with pytest.raises(hr.errors.InvalidArgumentError, match="different shapes"):
        next(run)
    assert next(run).shape == (2, 4)
    assert next(run, None) is None
