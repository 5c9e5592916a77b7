"""`Dataset.ragged_batch`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def vectors(rows, shape=(None,), dtype=np.int64):
    return hr.Dataset.from_generator(
        lambda: iter(rows), output_signature=hr.TensorSpec(shape, dtype)
    )


def test_rows_of_differing_lengths_become_ragged():
    rows = vectors([[1], [1, 2, 3], [], [4, 5]])
    batches = rows.ragged_batch(3)
    assert [batch.to_list() for batch in batches] == [[[1], [1, 2, 3], []], [[4, 5]]]
    assert batches.element_spec == hr.RaggedTensorSpec((None, None), np.int64, 1)
    whole = rows.ragged_batch(3, drop_remainder=True, row_splits_dtype=np.int32)
    assert whole.element_spec == hr.RaggedTensorSpec((3, None), np.int64, 1, np.int32)
    splits = whole.map(lambda batch: batch.row_splits, executor="native")
    assert splits.element_spec == hr.TensorSpec((4,), np.int32)
    (batch,) = whole
    assert batch.row_splits.dtype == np.int32
    assert batch.shape == (3, None)


def test_components_of_known_shape_become_dense():
    pairs = hr.Dataset.zip(hr.Dataset.range(3), vectors([["a"], [], ["b", "c"]], dtype=str))
    batches = pairs.ragged_batch(2)
    assert batches.element_spec == (
        hr.TensorSpec((None,), np.int64),
        hr.RaggedTensorSpec((None, None), str, 1),
    )
    (numbers, words), _ = batches
    assert numbers.tolist() == [0, 1]
    assert words.to_list() == [["a"], []]
    assert pairs.ragged_batch(2).cardinality() == hr.UNKNOWN_CARDINALITY
    assert hr.Dataset.range(5).ragged_batch(2).cardinality() == 3


def test_axes_of_known_size_behind_the_last_unknown_one_stay_dense():
    rows = vectors([[[1, 2]], [[3, 4], [5, 6]]], (None, 2))
    assert rows.ragged_batch(2).element_spec == hr.RaggedTensorSpec((None, None, 2), np.int64, 1)
    (batch,) = rows.ragged_batch(2)
    assert batch.to_list() == [[[1, 2]], [[3, 4], [5, 6]]]
    assert batch.values.shape == (3, 2)


def test_axes_before_an_unknown_one_are_partitions():
    rows = vectors([[[1, 2]], [[1], [3]]], (None, None))
    assert rows.ragged_batch(2).element_spec == hr.RaggedTensorSpec((None,) * 3, np.int64, 2)
    (batch,) = rows.ragged_batch(2)
    assert batch.row_splits.tolist() == [0, 1, 3]
    assert batch.values.row_splits.tolist() == [0, 2, 3, 4]
    assert batch.values.values.tolist() == [1, 2, 1, 3]


def test_without_a_known_rank_all_axes_are_ragged():
    rows = hr.Dataset.from_generator(lambda: iter([[1], [1, 2], [3, 4], [5, 6]]), np.int64)
    first, second = rows.ragged_batch(2)
    assert first.row_lengths().tolist() == [1, 2]
    assert second.row_lengths().tolist() == [2, 2]
    assert second.values.flags.c_contiguous
    unknown = hr.Dataset.range(3).map(lambda x: np.arange(x), executor="python")
    assert unknown.ragged_batch(3).element_spec == hr.UnknownSpec()
    (batch,) = unknown.ragged_batch(3)
    assert batch.to_list() == [[], [0], [0, 1]]


def test_ragged_batches_of_ragged_batches():
    rows = vectors([[1], [], [2, 3]]).ragged_batch(2).ragged_batch(2)
    assert rows.element_spec == hr.RaggedTensorSpec((None,) * 3, np.int64, 2)
    (batch,) = rows
    assert batch.to_list() == [[[1], []], [[2, 3]]]
    assert [row.to_list() for row in rows.unbatch()] == [[[1], []], [[2, 3]]]


def test_wrong_arguments_are_refused():
    with pytest.raises(hr.errors.InvalidArgumentError, match="greater than zero"):
        vectors([[1]]).ragged_batch(0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="int32 or int64"):
        vectors([[1]]).ragged_batch(2, row_splits_dtype=np.float32)


def test_elements_that_differ_elsewhere_are_refused():
    unknown = hr.Dataset.range(1, 3).map(lambda x: np.zeros((1,) * int(x)), executor="python")
    with pytest.raises(hr.errors.InvalidArgumentError, match="cannot batch"):
        list(unknown.ragged_batch(2))


def test_the_laws_hold():
    rows = [[1], [1, 2, 3], [], [4, 5], [6], [7, 8]]
    check_laws(lambda: vectors(rows).ragged_batch(4))
    check_laws(lambda: vectors(rows).repeat(3).ragged_batch(4, drop_remainder=True))
    check_laws(lambda: hr.Dataset.range(9).shuffle(4, 1).repeat(2).ragged_batch(4))


def test_rows_whose_shape_nobody_declared_become_ragged():
    rows = [[1], [2, 3], [4, 5], [6, 7]]
    generated = hr.Dataset.from_generator(lambda: iter(rows), np.int64)
    computed = hr.Dataset.range(4).map(lambda i: np.array(rows[int(i)]), executor="python")
    for dataset in (generated, computed):
        first, second = dataset.ragged_batch(2)
        assert np.diff(first.row_splits).tolist() == [1, 2]
        assert first.values.tolist() == [1, 2, 3]
        assert first.values.flags.c_contiguous
        assert np.diff(second.row_splits).tolist() == [2, 2]
        assert second.values.tolist() == [4, 5, 6, 7]
