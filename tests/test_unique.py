"""`Dataset.unique`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def test_first_occurrences_stay_in_order():
    numbers = hr.Dataset.from_tensor_slices(np.array([1, 37, 2, 37, 2, 1], np.int32))
    seen = list(numbers.unique())
    assert [x.item() for x in seen] == [1, 37, 2]
    assert {x.dtype for x in seen} == {np.dtype(np.int32)}
    assert numbers.unique().cardinality() == hr.UNKNOWN_CARDINALITY


@pytest.mark.parametrize(
    "values", [["a", "", "a", "é", ""], [b"a", b"", b"\x00", b"a", b""], [[1, 2], [2, 1], [1, 2]]]
)
def test_text_and_vectors(values):
    elements = hr.Dataset.from_tensor_slices(values).unique()
    seen = [x.tolist() if isinstance(x, np.ndarray) else x for x in elements]
    expected = []
    for value in values:
        if value not in expected:
            expected.append(value)
    assert seen == expected


def test_vectors_of_different_lengths():
    rows = hr.Dataset.from_generator(
        lambda: iter([[1], [1, 1], [], [1], []]), output_signature=hr.TensorSpec([None], np.int64)
    )
    assert [row.tolist() for row in rows.unique()] == [[1], [1, 1], []]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, bool, np.float32, np.float64, np.complex64])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match="does not support type"):
        hr.Dataset.from_tensor_slices(np.zeros(2, dtype)).unique()


def test_only_one_component_is_compared():
    with pytest.raises(hr.errors.InvalidArgumentError, match="single component"):
        hr.Dataset.range(3).map(lambda x: (x, x)).unique()
    one = hr.Dataset.from_tensor_slices({"a": [1, 1]}).unique()
    assert [row["a"].item() for row in one] == [1]


def test_elements_that_only_a_run_knows():
    unknown = hr.Dataset.range(6).map(lambda x: x % 3, executor="python")
    assert [x.item() for x in unknown.unique()] == [0, 1, 2]
    floats = hr.Dataset.range(6).map(lambda x: float(x), executor="python").unique()
    with pytest.raises(ValueError, match="float64"):
        next(iter(floats))


def test_what_it_remembers_is_counted():
    iterator = iter(hr.Dataset.range(1000).map(lambda x: x % 10).unique())
    assert len(list(iterator)) == 10
    (stats,) = [stage for stage in iterator.stats() if stage["name"] == "unique"]
    assert 80 <= stats["peak_bytes"] < 1000


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(30).map(lambda x: x % 7).unique())
    check_laws(lambda: hr.Dataset.range(9).shuffle(5, 1).repeat(3).unique())
    check_laws(lambda: hr.Dataset.range(9).map(lambda x: x % 4).unique().repeat(3))
