"""`Dataset.repeat`, `take` and `skip`."""

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


@pytest.mark.parametrize(
    ("count", "expected"), [(-1, range(5)), (0, []), (3, range(3)), (1000, range(5))]
)
def test_take_keeps_the_first(count, expected):
    dataset = hr.Dataset.range(5).take(count)
    assert values(dataset) == list(expected)
    assert len(dataset) == len(expected)


@pytest.mark.parametrize(("count", "expected"), [(-1, []), (0, range(5)), (3, [3, 4]), (1000, [])])
def test_skip_leaves_out_the_first(count, expected):
    dataset = hr.Dataset.range(5).skip(count)
    assert values(dataset) == list(expected)
    assert len(dataset) == len(expected)


def test_skip_does_not_run_a_map():
    calls = []

    def note(x):
        calls.append(x.item())
        return x

    assert values(hr.Dataset.range(6).map(note).skip(4)) == [4, 5]
    assert calls == [4, 5]


def test_take_does_not_run_a_map_further_than_needed():
    calls = []

    def note(x):
        calls.append(x.item())
        return x

    list(hr.Dataset.range(100).map(note).take(3))
    assert calls == [0, 1, 2]


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(5).repeat(4))
    check_laws(lambda: hr.Dataset.range(5).repeat(), limit=17)
    check_laws(lambda: hr.Dataset.range(20).take(13))
    check_laws(lambda: hr.Dataset.range(20).skip(13))
    check_laws(lambda: hr.Dataset.range(9).skip(2).take(5).repeat(3).skip(4))
