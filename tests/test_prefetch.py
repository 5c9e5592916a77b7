"""`Dataset.prefetch`."""

import time

import pytest
from laws import check_laws
from overlap import assert_overlap
from processes import wait_until

import headrace as hr


def test_prefetch_changes_nothing_but_when():
    assert [x.item() for x in hr.Dataset.range(5).prefetch(2)] == [0, 1, 2, 3, 4]
    with pytest.raises(hr.errors.InvalidArgumentError, match="buffer_size"):
        hr.Dataset.range(3).prefetch(-2)


@pytest.mark.parametrize(("size", "least", "most"), [(4, 5, 6), (0, 1, 1)])
def test_prefetch_runs_ahead_as_far_as_asked(size, least, most):
    calls = []

    def note(x):
        calls.append(x)
        return x

    iterator = iter(hr.Dataset.range(100).map(note).prefetch(size))
    next(iterator)
    wait_until(lambda: len(calls) >= least)
    time.sleep(0.3)
    assert len(calls) <= most


def test_prefetch_overlaps_producer_and_consumer():
    assert_overlap(lambda function: hr.Dataset.range(12).map(function).prefetch(2))


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).prefetch(3))


def test_a_window_larger_than_memory_costs_nothing():
    dataset = hr.Dataset.range(5).map(lambda x: (print, x)[1]).prefetch(1 << 40)
    assert list(dataset) == list(range(5))
