"""`Dataset.skip`."""

import pytest
from laws import check_laws

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


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


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).skip(13))
