"""Plans of a thousand steps, one on the other: no stack overflows on the way."""

import itertools
import pickle

import pytest

import headrace as hr

STEPS = 1000


# A step, and the elements that a thousand of them have first.
CHAINS = {
    "take": (lambda d: d.take(9), [0, 1, 2, 3]),
    "skip": (lambda d: d.skip(1), [1000, 1001, 1002, 1003]),
    "python map": (lambda d: d.map(lambda x: x + 1, executor="python"), [1000, 1001, 1002, 1003]),
}


def chain(name):
    dataset = hr.Dataset.range(1004)
    for _ in range(STEPS):
        dataset = CHAINS[name][0](dataset)
    return dataset


def first(dataset, count=4):
    return [int(x) for x in itertools.islice(dataset, count)]


@pytest.mark.parametrize("name", CHAINS)
def test_a_deep_plan_runs_and_is_explained(name):
    dataset = chain(name)
    assert first(dataset) == CHAINS[name][1]
    told = dataset.explain()
    assert len(told.splitlines()) > STEPS
    assert "range(" in told


@pytest.mark.parametrize("name", CHAINS)
def test_a_deep_plan_pickles(name):
    pytest.importorskip("cloudpickle")
    dataset = chain(name)
    again = pickle.loads(pickle.dumps(dataset))
    assert first(again) == first(dataset)
    assert again.fingerprint() == dataset.fingerprint()


def test_what_a_deep_plan_shares_is_shared_after_pickling():
    drawn = hr.Dataset.range(8).shuffle(8)
    dataset = drawn.concatenate(drawn)
    for _ in range(100):
        dataset = dataset.skip(0)
    dataset, drawn = pickle.loads(pickle.dumps((dataset, drawn)))
    assert len({id(step) for step in (*_sources(dataset), *_sources(drawn))}) == 1


def _sources(dataset):
    found, pending = [], [dataset]
    while pending:
        step = pending.pop()
        below = step._inputs if isinstance(step._inputs, tuple) else (step._inputs,)
        found += [] if below else [step]
        pending += below
    return found
