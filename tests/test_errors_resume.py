"""Errors are outcomes: chunking does not move them, and a resumed run meets the same ones."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import with_options
from test_laws import SOURCES, STEPS, _pipeline, calls

import headrace as hr

LIMIT = 80


def fails_on_some(x):
    if x.item() % 3 == 1:
        raise KeyError(x.item())
    return x


failing = st.builds(lambda n: lambda d: d.map(fails_on_some, num_parallel_calls=n), calls)
# Resuming a shuffle over errors is tested apart, below.
others = [step for name, step in STEPS.items() if name != "shuffle"]


def outcomes(iterator, limit=LIMIT):
    """Return what an iterator gives: elements as text, errors by class and message."""
    seen = []
    for _ in range(limit):
        try:
            seen.append(str(next(iterator)))
        except StopIteration:
            break
        except (KeyError, hr.errors.HeadraceError) as error:
            seen.append((type(error), str(error)))
    return seen


def check_outcomes(build):
    expected = outcomes(iter(build()))
    for rows in (1, 2, 7):
        assert outcomes(iter(with_options(build(), _chunk_rows=rows))) == expected
    for position in range(len(expected) + 1):
        iterator = iter(build())
        outcomes(iterator, position)
        resumed = build().iterator(iterator.state())
        assert outcomes(resumed, LIMIT - position) == expected[position:]


@settings(max_examples=40)
@given(SOURCES, failing, st.lists(st.one_of(failing, *others), max_size=3))
def test_errors_stay_where_they_are(source, first, steps):
    check_outcomes(_pipeline(source, [first, *steps]))


def test_enumerate_counts_errors_too():
    dataset = hr.Dataset.from_tensor_slices([1, 0, 2]).map(fails_on_some).enumerate()
    check_outcomes(lambda: dataset)
    assert [number.item() for number, _ in dataset.ignore_errors()] == [1, 2]


@pytest.mark.parametrize("size", [1, 2])
def test_a_shuffle_is_resumed_over_errors(size):
    source = [0, 1, 3, 4, 2]
    check_outcomes(
        lambda: hr.Dataset.from_tensor_slices(source).map(fails_on_some).shuffle(size, seed=0)
    )


def test_an_epoch_is_longer_by_its_errors():
    check_outcomes(lambda: hr.Dataset.range(3).map(fails_on_some).take(2).repeat(2))
