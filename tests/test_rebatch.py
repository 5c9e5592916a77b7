"""`Dataset.rebatch`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def lists(dataset):
    return [batch.tolist() for batch in dataset]


def batches(count=10, size=3, **arguments):
    return hr.Dataset.range(count).batch(size, **arguments)


@pytest.mark.parametrize(
    ("sizes", "drop", "expected"),
    [
        (4, False, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
        (4, True, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ([2, 4], False, [[0, 1], [2, 3, 4, 5], [6, 7], [8, 9]]),
        ([2, 4], True, [[0, 1], [2, 3, 4, 5], [6, 7]]),
        (np.array([6, 2]), False, [[0, 1, 2, 3, 4, 5], [6, 7], [8, 9]]),
        ([5, 0], False, [[0, 1, 2, 3, 4], [], [5, 6, 7, 8, 9], []]),
        ([0, 6], False, [[], [0, 1, 2, 3, 4, 5], [], [6, 7, 8, 9]]),
        (100, False, [list(range(10))]),
    ],
)
def test_batches_are_cut_and_joined(sizes, drop, expected):
    dataset = batches().rebatch(sizes, drop_remainder=drop)
    assert lists(dataset) == expected
    assert dataset.cardinality() == hr.UNKNOWN_CARDINALITY


@pytest.mark.parametrize(
    ("dataset", "size"),
    [
        (batches().rebatch(4), None),
        (batches().rebatch(4, drop_remainder=True), 4),
        (batches().rebatch([4, 2], drop_remainder=True), None),
        (batches().rebatch([4, 4], drop_remainder=True), 4),
        (batches(drop_remainder=True).rebatch(3), 3),
        (batches(size=4, drop_remainder=True).rebatch(2), 2),
        (batches(drop_remainder=True).rebatch(2), None),
    ],
)
def test_the_batch_size_is_known_where_no_batch_is_short(dataset, size):
    assert dataset.element_spec == hr.TensorSpec((size,), np.int64)


def test_components_are_cut_alike():
    pairs = hr.Dataset.range(5).map(lambda x: {"a": x, "b": (np.stack([x, x]), None)}).batch(3)
    first, *_ = pairs.rebatch(2)
    assert first["a"].tolist() == [0, 1]
    assert first["b"][0].tolist() == [[0, 0], [1, 1]]


def test_ragged_and_sparse_batches_stay_so():
    rows = hr.Dataset.from_generator(
        lambda: iter([[1], [2, 3], [], [4]]), output_signature=hr.TensorSpec([None], np.int64)
    )
    ragged = rows.ragged_batch(3).rebatch(2)
    assert ragged.element_spec == hr.RaggedTensorSpec((None, None), np.int64, 1)
    assert [batch.to_list() for batch in ragged] == [[[1], [2, 3]], [[], [4]]]
    (sparse,) = rows.sparse_batch(2, [2]).rebatch(4)
    assert sparse.dense_shape.tolist() == [4, 2]
    assert sparse.indices.tolist() == [[0, 0], [1, 0], [1, 1], [3, 0]]


def test_an_error_of_the_input_loses_no_row_around_it():
    def fail_on_4(x):
        if x == 4:
            raise ValueError("four")
        return x

    iterator = iter(hr.Dataset.range(10).map(fail_on_4).batch(1).rebatch(3))
    assert next(iterator).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="four"):
        next(iterator)
    assert lists(iterator) == [[3, 5, 6], [7, 8, 9]]


@pytest.mark.parametrize("sizes", [0, -1, [0], [2, -1], []])
def test_sizes_that_never_end_are_refused(sizes):
    with pytest.raises(hr.errors.InvalidArgumentError, match="batch"):
        batches().rebatch(sizes)


def test_wrong_inputs_are_refused():
    with pytest.raises(ValueError, match="scalar elements"):
        hr.Dataset.range(10).rebatch(2)
    with pytest.raises(ValueError, match="rank 2"):
        batches().rebatch([[2]])
    with pytest.raises(ValueError, match="batch dimension of component 0 is 2"):
        hr.Dataset.from_tensors((np.zeros(2), np.zeros(3))).rebatch(2)


def test_elements_that_only_a_run_knows():
    unknown = hr.Dataset.range(4).map(lambda x: np.arange(x), executor="python")
    assert unknown.rebatch(4).element_spec == hr.UnknownSpec()
    assert lists(unknown.rebatch(4)) == [[0, 0, 1, 0], [1, 2]]
    scalars = hr.Dataset.range(4).map(lambda x: int(x), executor="python")
    with pytest.raises(hr.errors.InvalidArgumentError, match="scalar components"):
        next(iter(scalars.rebatch(2)))


def test_the_laws_hold():
    check_laws(lambda: batches(20).rebatch(4))
    check_laws(lambda: batches(20).rebatch([2, 0, 5]))
    check_laws(lambda: batches(9).repeat(4).rebatch([2, 1], drop_remainder=True))
    check_laws(lambda: hr.Dataset.range(9).shuffle(4, 1).batch(2).repeat(3).rebatch(5))
