"""`Dataset.repeat`."""

import pytest
from laws import check_laws

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


@pytest.mark.parametrize(("count", "expected"), [(0, []), (1, [0, 1, 2]), (2, [0, 1, 2, 0, 1, 2])])
def test_repeat_goes_round_as_often_as_asked(count, expected):
    dataset = hr.Dataset.range(3).repeat(count)
    assert values(dataset) == expected
    assert len(dataset) == len(expected)


@pytest.mark.parametrize("count", [None, -1, -5])
def test_repeat_without_a_count_has_no_end(count):
    dataset = hr.Dataset.range(3).repeat(count)
    assert dataset.cardinality() == hr.INFINITE_CARDINALITY
    assert values(dataset.take(7)) == [0, 1, 2, 0, 1, 2, 0]
    with pytest.raises(TypeError, match="infinite"):
        len(dataset)


def test_repeating_nothing_ends():
    assert values(hr.Dataset.range(0).repeat()) == []


@pytest.mark.parametrize("op", ["repeat", "take", "skip"])
def test_a_count_that_is_no_integer_is_refused(op):
    with pytest.raises(TypeError, match="count"):
        getattr(hr.Dataset.range(3), op)(1.5)


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(5).repeat(4))
    check_laws(lambda: hr.Dataset.range(5).repeat(), limit=17)
    check_laws(lambda: hr.Dataset.range(9).skip(2).take(5).repeat(3).skip(4))
