"""What holds for every dataset, whatever it does.

`check_laws` takes a function that builds a dataset (anew, so that seeds start over) and checks: the
same elements for any size of chunks and any number of threads, `skip(n)` is dropping n, going on
from a state at every position is going on, the cardinality is the count.
"""

from conftest import assert_same_elements

import headrace as hr

CHUNK_SIZES = (1, 2, 7, 1024)
POOL_SIZES = (1, 4)
REWRITES = (
    "inject_prefetch",
    "map_fusion",
    "map_and_filter_fusion",
    "filter_fusion",
    "map_parallelization",
    "parallel_batch",
    "noop_elimination",
    "shuffle_and_repeat_fusion",
)


def with_options(dataset, **values):
    options = hr.Options()
    for name, value in values.items():
        target = options.threading if name == "private_threadpool_size" else options
        setattr(target, name, value)
    return dataset.with_options(options)


def check_laws(build, limit=200):
    """Check every law on the dataset that `build()` makes; infinite ones up to `limit` elements."""
    infinite = build().cardinality() == hr.INFINITE_CARDINALITY

    def make():
        return build().take(limit) if infinite else build()

    expected = list(make())
    check_chunk_sizes(make, expected)
    check_threads(make, expected)
    check_rewrites(make, expected)
    check_skip(make, expected)
    check_resume(make, expected)
    check_cardinality(make(), expected)


def check_chunk_sizes(build, expected):
    for rows in CHUNK_SIZES:
        assert_same_elements(list(with_options(build(), _chunk_rows=rows)), expected)


def check_threads(build, expected):
    for size in POOL_SIZES:
        seen = list(with_options(build(), private_threadpool_size=size))
        assert_same_elements(seen, expected)


def check_rewrites(build, expected):
    for switch in (True, False):
        options = hr.Options()
        for name in REWRITES:
            setattr(options.experimental_optimization, name, switch)
        assert_same_elements(list(build().with_options(options)), expected)


def check_skip(build, expected):
    for count in _positions(len(expected)):
        assert_same_elements(list(build().skip(count)), expected[count:])


def check_resume(build, expected):
    for count in _positions(len(expected)):
        iterator = iter(build())
        for _ in range(count):
            next(iterator)
        state = iterator.state()
        assert_same_elements(list(build().iterator(state=state)), expected[count:])
        # Taking a state changes nothing.
        assert_same_elements(list(iterator), expected[count:])


def check_cardinality(dataset, expected):
    cardinality = dataset.cardinality()
    assert cardinality in (len(expected), hr.UNKNOWN_CARDINALITY)
    if cardinality >= 0:
        assert len(dataset) == len(expected)


def _positions(length):
    """All positions of a short run; of a long one some, with its ends."""
    if length <= 24:
        return range(length + 1)
    return sorted({0, 1, 2, length // 3, length // 2, length - 1, length})
