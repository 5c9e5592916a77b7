"""Random compositions of ops give what the plain Python of reference.py gives."""

import numpy as np
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

size = st.integers(1, 7)
small = st.integers(0, 9)
flag = st.booleans()
executor = st.sampled_from([None, "python"])


def third(x):
    return x % 3 == 1


def twice(x):
    return x * 2


def small_enough(x):
    return x < 25


def add_up(state, x):
    return state + x, state + x * 2


# Each takes a dataset of int64 scalars to another; beside it the same on lists.
STEPS = {
    "map": st.builds(
        lambda e: (lambda d: d.map(twice, executor=e), lambda x: reference.map_(x, twice)), executor
    ),
    "filter": st.builds(
        lambda e: (
            lambda d: d.filter(third, executor=e),
            lambda x: reference.filter_(x, third),
        ),
        executor,
    ),
    "take_while": st.builds(
        lambda e: (
            lambda d: d.take_while(small_enough, executor=e),
            lambda x: reference.take_while(x, small_enough),
        ),
        executor,
    ),
    "scan": st.builds(
        lambda e: (
            lambda d: d.scan(0, add_up, executor=e),
            lambda x: reference.scan(x, 0, add_up),
        ),
        executor,
    ),
    "unique": st.just((lambda d: d.unique(), reference.unique)),
    "take": st.builds(
        lambda n: (lambda d: d.take(n), lambda x: reference.take(x, n)), st.integers(-1, 12)
    ),
    "skip": st.builds(
        lambda n: (lambda d: d.skip(n), lambda x: reference.skip(x, n)), st.integers(-1, 5)
    ),
    "repeat": st.builds(
        lambda n: (lambda d: d.repeat(n), lambda x: reference.repeat(x, n)), st.integers(0, 3)
    ),
    "concatenate": st.builds(
        lambda n: (
            lambda d: d.concatenate(hr.Dataset.range(n)),
            lambda x: reference.concatenate(x, list(range(n))),
        ),
        small,
    ),
    "zip": st.builds(
        lambda n: (
            lambda d: hr.Dataset.zip(d, hr.Dataset.range(n)).map(lambda a, b: a - b),
            lambda x: [a - b for a, b in reference.zip_(x, range(n))],
        ),
        small,
    ),
    "enumerate": st.builds(
        lambda n: (
            lambda d: d.enumerate(n).map(lambda i, x: i * 10 + x),
            lambda x: [i * 10 + y for i, y in reference.enumerate_(x, n)],
        ),
        small,
    ),
    "shard": st.builds(
        lambda n, i, equal: (
            lambda d: d.shard(n, i % n, equal=equal),
            lambda x: reference.shard(x, n, i % n, equal),
        ),
        st.integers(1, 4),
        small,
        st.sampled_from([None, "drop", "wrap"]),
    ),
    "batch": st.builds(
        lambda n, drop: (
            lambda d: d.batch(n, drop).unbatch(),
            lambda x: reference.unbatch(reference.batch(x, n, drop)),
        ),
        size,
        flag,
    ),
    "sums of batches": st.builds(
        lambda n, drop: (
            lambda d: d.batch(n, drop).map(np.sum),
            lambda x: list(map(sum, reference.batch(x, n, drop))),
        ),
        size,
        flag,
    ),
    "padded_batch": st.builds(
        lambda n, m, drop: (
            lambda d: d.batch(n).padded_batch(m, drop_remainder=drop).unbatch().unbatch(),
            lambda x: reference.unbatch(
                reference.unbatch(reference.padded_batch(reference.batch(x, n), m, drop))
            ),
        ),
        size,
        size,
        flag,
    ),
    "ragged_batch": st.builds(
        lambda n, m, drop: (
            lambda d: d.batch(n).ragged_batch(m, drop).unbatch().unbatch(),
            lambda x: reference.unbatch(
                reference.unbatch(reference.batch(reference.batch(x, n), m, drop))
            ),
        ),
        size,
        size,
        flag,
    ),
    "rebatch": st.builds(
        lambda n, sizes, drop: (
            lambda d: d.batch(n).rebatch(sizes, drop).map(np.sum),
            lambda x: list(map(sum, reference.rebatch(reference.batch(x, n), sizes, drop))),
        ),
        size,
        st.lists(size, min_size=1, max_size=3),
        flag,
    ),
    "prefetch": st.builds(lambda n: (lambda d: d.prefetch(n), list), small),
    "ignore_errors": st.just((lambda d: d.ignore_errors(), list)),
    "cache": st.just((lambda d: d.cache(), list)),
    "flat_map": st.builds(
        lambda n: (
            lambda d: d.flat_map(lambda x: hr.Dataset.range(n).map(lambda y: y + x)),
            lambda x: reference.flat_map(x, lambda y: [y + i for i in range(n)]),
        ),
        st.integers(0, 3),
    ),
    "interleave": st.builds(
        lambda n, cycle, block: (
            lambda d: d.interleave(
                lambda x: hr.Dataset.range(n).map(lambda y: y * 100 + x),
                cycle_length=cycle,
                block_length=block,
            ),
            lambda x: reference.interleave(
                x, lambda y: [i * 100 + y for i in range(n)], cycle, block
            ),
        ),
        st.integers(0, 4),
        st.integers(1, 4),
        st.integers(1, 3),
    ),
}


@settings(max_examples=200)
@given(st.integers(0, 25), st.lists(st.one_of(*STEPS.values()), min_size=1, max_size=6))
def test_compositions_give_what_plain_python_gives(count, steps):
    dataset, expected = hr.Dataset.range(count), list(range(count))
    for ours, theirs in steps:
        dataset, expected = ours(dataset).take(300), theirs(expected)[:300]
    assert [x.item() for x in dataset] == expected
    assert dataset.cardinality() in (len(expected), hr.UNKNOWN_CARDINALITY)
    total = dataset.reduce(0, lambda s, x: s + x % 1000)
    assert total == reference.reduce(expected, 0, lambda s, x: s + x % 1000)
