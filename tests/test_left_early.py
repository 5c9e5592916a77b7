"""A pass that ends before its input does draws what it draws in tf.data, however it runs."""

import itertools
import random
import time

import numpy as np
import pytest
from conftest import golden
from laws import with_options

import headrace as hr

CASES = golden("left_early.json")
Dataset = hr.Dataset


def shuffled(n, seed):
    return Dataset.range(n).shuffle(3, seed=seed)


def captured(dataset, n, seed):
    inner = shuffled(n, seed)
    return dataset.flat_map(lambda x: inner)


def zipped(first, second, kept):
    return Dataset.zip((first, second)).map(lambda *pair: pair[kept])


def scanned(dataset):
    return dataset.scan(np.int64(0), lambda s, x: ((s + x) % 11, (s + x) % 11))


APPLY = {
    "map": lambda d, m: d.map(lambda x: x * m % 11),
    "filter": lambda d, m: d.filter(lambda x: x % m != 1),
    "shuffle": lambda d, size, seed: d.shuffle(size, seed=seed),
    "repeat": lambda d, n: d.repeat(n),
    "batch": lambda d, n, drop: d.batch(n, drop).unbatch(),
    "heads": lambda d, n: d.batch(n).map(lambda batch: batch[0]),
    "take": lambda d, n: d.take(n),
    "take_while": lambda d, m: d.take_while(lambda x: x < m),
    "skip": lambda d, n: d.skip(n),
    "zip": lambda d, n: zipped(d, Dataset.range(n), 0),
    "zip_after": lambda d, n: zipped(Dataset.range(n), d, 1),
    "concatenate": lambda d, n, seed: d.concatenate(shuffled(n, seed)),
    "scan": scanned,
    "unique": lambda d: d.unique(),
    "captured": captured,
    "interleave": lambda d, n, cycle, block, seed: d.interleave(
        lambda x: shuffled(n, seed), cycle_length=cycle, block_length=block
    ),
}


def build(case, change=lambda dataset: dataset):
    dataset = Dataset.range(case["range"])
    for name, *arguments in case["steps"]:
        dataset = APPLY[name](change(dataset), *arguments)
    return change(dataset).take(60)


def passes(dataset, left):
    return [[int(x) for x in itertools.islice(dataset, end)] for end in (None, left, None)]


@pytest.mark.parametrize("rows", [1, 3, 1024])
def test_the_order_is_that_of_tf_data(rows):
    for case in CASES:
        dataset = with_options(build(case), _chunk_rows=rows)
        assert passes(dataset, case["left"]) == case["passes"], case["steps"]


def sleepy(x):
    time.sleep(random.random() / 3000)
    return x


@pytest.mark.parametrize("rows", [1, 1024])
@pytest.mark.parametrize("ahead", [1, 3, hr.AUTOTUNE])
def test_what_is_read_ahead_draws_nothing_that_counts(ahead, rows):
    for case in CASES:
        dataset = build(case, lambda dataset: dataset.prefetch(ahead))
        dataset = with_options(dataset, _chunk_rows=rows)
        assert passes(dataset, case["left"]) == case["passes"], case["steps"]


@pytest.mark.parametrize("calls", [None, 2])
def test_it_does_not_matter_when_threads_run(calls):
    def change(dataset):
        slow = dataset.map(sleepy, num_parallel_calls=calls, executor="python")
        return slow.prefetch(2)

    for case in CASES[::10]:
        dataset = build(case, change)
        assert passes(dataset, case["left"]) == case["passes"], case["steps"]


def test_a_state_leaves_out_what_was_drawn_ahead():
    for case in CASES[::6]:

        def make(case=case):
            return build(case, lambda dataset: dataset.prefetch(2))

        iterator = iter(make())
        expected = case["passes"][0]
        for taken in range(len(expected)):
            state = iterator.state()
            rest = [int(x) for x in make().iterator(state=state)]
            assert rest == expected[taken:], (case["steps"], taken)
            next(iterator)
