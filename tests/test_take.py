"""`Dataset.take`."""

import pytest
from laws import check_laws

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


@pytest.mark.parametrize(
    ("count", "expected"), [(-1, range(5)), (0, []), (3, range(3)), (1000, range(5))]
)
def test_take_keeps_the_first(count, expected):
    dataset = hr.Dataset.range(5).take(count)
    assert values(dataset) == list(expected)
    assert len(dataset) == len(expected)


def test_take_does_not_run_a_map_further_than_needed():
    calls = []

    def note(x):
        calls.append(x.item())
        return x

    list(hr.Dataset.range(100).map(note).take(3))
    assert calls == [0, 1, 2]


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).take(13))


def test_counts_beyond_the_end():
    numbers = hr.Dataset.range(5)
    assert list(numbers.take(1000)) == [0, 1, 2, 3, 4]
    assert list(numbers.skip(1000)) == []
    assert (numbers.take(1000).cardinality(), numbers.skip(1000).cardinality()) == (5, 0)
    assert list(numbers.take(0)) == []
    assert list(numbers.take(-1)) == [0, 1, 2, 3, 4]
