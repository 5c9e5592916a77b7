"""`Dataset.filter`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


@pytest.mark.parametrize("executor", ["native", "python"])
def test_elements_are_kept_where_the_predicate_is_true(executor):
    dataset = hr.Dataset.range(6).filter(lambda x: x % 2 == 0, executor=executor)
    assert [x.item() for x in dataset] == [0, 2, 4]


def test_the_count_is_unknown_and_the_spec_stays():
    dataset = hr.Dataset.range(6).filter(lambda x: x > 9)
    assert dataset.cardinality() == hr.UNKNOWN_CARDINALITY
    assert dataset.element_spec == hr.TensorSpec((), np.int64)
    assert list(dataset) == []
    with pytest.raises(TypeError, match="length is unknown"):
        len(dataset)


def test_tuples_are_unpacked():
    dataset = hr.Dataset.from_tensor_slices(([1, 2], [3, 0])).filter(lambda x, y: x > y)
    assert list(dataset) == [(2, 0)]


@pytest.mark.parametrize("executor", ["native", "python"])
def test_a_predicate_that_gives_no_scalar_bool_is_refused(executor):
    with pytest.raises(ValueError, match="predicate"):
        list(hr.Dataset.range(3).filter(lambda x: x + 1, executor=executor))


def test_a_graph_that_gives_no_scalar_bool_is_refused_at_once():
    with pytest.raises(ValueError, match="predicate"):
        hr.Dataset.range(3).filter(lambda x: x + 1)


def test_no_more_is_pulled_than_needed():
    pulled = []

    def note(x):
        pulled.append(x.item())
        return x

    iterator = iter(hr.Dataset.range(100).map(note).filter(lambda x: x % 3 == 2))
    assert next(iterator) == 2
    assert pulled == [0, 1, 2]


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).filter(lambda x: x % 3 == 0))

    def python(x):
        return bool(x % 3)

    check_laws(lambda: hr.Dataset.range(20).filter(python))
