"""A pass that ends before its input does draws what it draws in tf.data, however it runs."""

import itertools

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
