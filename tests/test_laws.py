"""The laws of laws.py on pipelines put together at random."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import check_laws

import headrace as hr


def plus_one(x):
    return x + 1


def as_python(x):
    return type(x)(x.item() + 1)


def odd(x):
    return x % 2 == 1


def odd_as_python(x):
    return bool(x.item() % 2)


def add_up(state, x):
    return state + x, state + x


def below_twenty(x):
    return x < 20


def odd_class(x):
    return x % 2


def second(first, second):
    return second


small = st.integers(0, 12)
size = st.integers(1, 9)
executor = st.sampled_from([None, "python"])
calls = st.sampled_from([None, 1, 3, hr.AUTOTUNE])

# Each takes a dataset of int64 scalars to another.
STEPS = {
    "map": st.builds(
        lambda f, n: lambda d: d.map(f, num_parallel_calls=n),
        st.sampled_from([plus_one, as_python]),
        calls,
    ),
    "filter": st.builds(
        lambda f: lambda d: d.filter(f), st.sampled_from([odd, odd_as_python])
    ),
    "shuffle": st.builds(
        lambda n, seed, again: lambda d: d.shuffle(n, seed, again), size, small, st.booleans()
    ),
    "repeat": st.builds(lambda n: lambda d: d.repeat(n), st.integers(0, 3)),
    "take": st.builds(lambda n: lambda d: d.take(n), small),
    "skip": st.builds(lambda n: lambda d: d.skip(n), small),
    "batch": st.builds(
        lambda n, drop: lambda d: d.batch(n, drop_remainder=drop).unbatch(), size, st.booleans()
    ),
    "padded_batch": st.builds(
        lambda n: lambda d: d.batch(n).padded_batch(2).unbatch().unbatch(), size
    ),
    "ragged_batch": st.builds(lambda n: lambda d: d.ragged_batch(n).unbatch(), size),
    "sparse_batch": st.builds(
        lambda n: lambda d: d.sparse_batch(n, []).map(
            lambda batch: batch.values, executor="python"
        ).unbatch(), size
    ),
    "rebatch": st.builds(
        lambda n, sizes: lambda d: d.batch(n).rebatch(sizes).unbatch(),
        size, st.lists(st.integers(1, 9), min_size=1, max_size=3),
    ),
    "take_while": st.builds(lambda e: lambda d: d.take_while(below_twenty, executor=e), executor),
    "scan": st.builds(lambda e: lambda d: d.scan(0, add_up, executor=e), executor),
    "unique": st.just(lambda d: d.unique()),
    "shard": st.builds(
        lambda n, i, equal: lambda d: d.shard(n, i % n, equal=equal),
        st.integers(1, 4), small, st.sampled_from([None, "drop", "wrap"]),
    ),
    "ignore_errors": st.just(lambda d: d.ignore_errors()),
    "prefetch": st.builds(lambda n: lambda d: d.prefetch(n), st.integers(0, 4)),
    "zip": st.builds(
        lambda n: lambda d: hr.Dataset.zip(d, hr.Dataset.range(n)).map(lambda x, y: x + y), size
    ),
    "cache": st.just(lambda d: d.cache()),
    "concatenate": st.builds(lambda n: lambda d: d.concatenate(hr.Dataset.range(n)), size),
    "rejection_resample": st.builds(
        lambda seed, known: lambda d: d.rejection_resample(
            odd_class, [0.3, 0.7], [0.5, 0.5] if known else None, seed
        ).map(second),
        small,
        st.booleans(),
    ),
    "choose_from_datasets": st.builds(
        lambda n, stop: lambda d: hr.Dataset.choose_from_datasets(
            [d, hr.Dataset.range(n)], hr.Dataset.range(2).repeat(9), stop
        ),
        size,
        st.booleans(),
    ),
    "sample_from_datasets": st.builds(
        lambda n, seed, stop, again: lambda d: hr.Dataset.sample_from_datasets(
            [d, hr.Dataset.range(n)], [0.7, 0.3], seed, stop, again
        ),
        size,
        small,
        st.booleans(),
        st.booleans(),
    ),
    "enumerate": st.builds(
        lambda n: lambda d: d.enumerate(n).map(lambda i, x: i * 10 + x), small
    ),
}  # fmt: skip
SOURCES = st.one_of(
    st.builds(lambda n: lambda: hr.Dataset.range(n), st.integers(0, 15)),
    st.builds(
        lambda values: lambda: hr.Dataset.from_tensor_slices(values),
        st.lists(st.integers(-9, 9), min_size=1, max_size=15),
    ),
    st.builds(
        lambda values: lambda: hr.Dataset.from_generator(lambda: iter(values), "int64", ()),
        st.lists(st.integers(-9, 9), max_size=15),
    ),
)


def _pipeline(source, steps):
    def build():
        dataset = source()
        for step in steps:
            dataset = step(dataset)
        return dataset

    return build


@settings(max_examples=30)
@given(SOURCES, st.lists(st.one_of(*STEPS.values()), min_size=1, max_size=4))
def test_the_laws_hold_for_pipelines(source, steps):
    check_laws(_pipeline(source, steps), limit=60)


@pytest.mark.parametrize("first", STEPS)
@settings(max_examples=6)
@given(SOURCES, st.data())
def test_the_laws_hold_for_pairs_of_steps(first, source, data):
    steps = [data.draw(STEPS[first]), data.draw(st.one_of(*STEPS.values()))]
    check_laws(_pipeline(source, steps), limit=60)
