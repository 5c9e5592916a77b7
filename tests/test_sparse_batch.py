"""`Dataset.sparse_batch`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def vectors(rows):
    return hr.Dataset.from_generator(
        lambda: iter(rows), output_signature=hr.TensorSpec([None], np.int64)
    )


ROWS = [[1], [1, 0, 3], [], [4, 5]]


def test_every_value_is_in_it():
    batches = vectors(ROWS).sparse_batch(3, [4])
    assert batches.element_spec == hr.SparseTensorSpec((None, 4), np.int64)
    first, second = batches
    assert first.indices.tolist() == [[0, 0], [1, 0], [1, 1], [1, 2]]
    assert first.values.tolist() == [1, 1, 0, 3]
    assert first.dense_shape.tolist() == [3, 4]
    assert second.dense_shape.tolist() == [1, 4]


@pytest.mark.parametrize("row_shape", [[None], [-1], (None,)])
def test_an_open_axis_is_as_long_as_the_longest_row(row_shape):
    batches = vectors(ROWS).sparse_batch(3, row_shape)
    assert batches.element_spec == hr.SparseTensorSpec((None, None), np.int64)
    assert [batch.dense_shape.tolist() for batch in batches] == [[3, 3], [1, 2]]


def test_scalars_and_matrices():
    (batch,) = hr.Dataset.range(2).sparse_batch(4, [])
    assert batch.indices.tolist() == [[0], [1]]
    (batch,) = hr.Dataset.from_tensors([[1, 2], [3, 4]]).sparse_batch(4, [3, None])
    assert batch.indices.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    assert batch.dense_shape.tolist() == [1, 3, 2]
    assert hr.Dataset.range(5).sparse_batch(2, []).cardinality() == 3


def test_a_row_larger_than_its_shape_is_lost_data():
    with pytest.raises(hr.errors.DataLossError, match=r"shape \(3,\) that is larger .* \(2,\)"):
        list(vectors(ROWS).sparse_batch(3, [2]))


def test_a_row_of_another_rank_is_refused():
    with pytest.raises(hr.errors.InvalidArgumentError, match="incompatible with the row shape"):
        vectors(ROWS).sparse_batch(3, [2, 2])
    unknown = hr.Dataset.range(3).map(lambda x: np.arange(x), executor="python")
    with pytest.raises(hr.errors.InvalidArgumentError, match="incompatible with the row shape"):
        list(unknown.sparse_batch(3, [2, 2]))
    assert unknown.sparse_batch(3, [2]).element_spec == hr.UnknownSpec()
    assert len(list(unknown.sparse_batch(3, [2]))) == 1


def test_only_one_dense_component_is_taken():
    with pytest.raises(TypeError, match="single dense component"):
        hr.Dataset.zip(vectors(ROWS), vectors(ROWS)).sparse_batch(3, [4])
    with pytest.raises(TypeError, match="single dense component"):
        vectors(ROWS).ragged_batch(2).sparse_batch(3, [4])
    with pytest.raises(hr.errors.InvalidArgumentError, match="greater than zero"):
        vectors(ROWS).sparse_batch(0, [4])
    with pytest.raises(ValueError, match="Dimension -2 must be >= 0"):
        vectors(ROWS).sparse_batch(2, [-2])
    with pytest.raises(hr.errors.InvalidArgumentError, match="known rank"):
        vectors(ROWS).sparse_batch(2, None)


def test_an_error_ends_its_batch():
    numbers = hr.Dataset.range(7).map(lambda x: x + 0 * (1 // (int(x) - 1)), executor="python")
    iterator = iter(numbers.sparse_batch(3, []))
    with pytest.raises(ZeroDivisionError):
        next(iterator)
    assert [batch.values.tolist() for batch in iterator] == [[2, 3, 4], [5, 6]]


def test_the_laws_hold():
    check_laws(lambda: vectors(ROWS).sparse_batch(3, [4]))
    check_laws(lambda: vectors(ROWS).repeat(3).sparse_batch(5, [None]))
    check_laws(lambda: hr.Dataset.range(9).shuffle(4, 1).repeat(2).sparse_batch(4, []))
