"""The memory budget of an iterator: what waits, what is counted, what is told."""

import json
import logging
import os
import re

import numpy as np
import pytest
from conftest import assert_same_elements
from processes import run

import headrace as hr

MB = 1 << 20


def python(function):
    """A function that runs as Python: `str` cannot be traced."""

    def untraced(*args):
        str(args)
        return function(*args)

    return untraced


def budget(size):
    return hr.Options(autotune=hr.AutotuneOptions(ram_budget=size))


def seen(code, *args):
    """Run a script that tells what it saw."""
    # Development mode has memory of its own.
    ended = run(code, *args, dev=False)
    assert ended.clean, ended
    return json.loads(ended.out)


# ------------------------------------------------------------------ what waits

# A consumer of ten elements a second, and producers of megabytes that are far faster.
SLOW_CONSUMER = """
MB = 1 << 20
numbers = hr.Dataset.range(1_000_000)
mebibyte = python(lambda x: np.full(MB // 8, x))
def traced(x):
    return np.zeros(MB // 8, np.int64) + x
options = hr.Options()
options.autotune.ram_budget = int(sys.argv[1]) * MB
dataset = {dataset}
iterator = iter(dataset.with_options(options))
next(iterator)
before = anonymous()
most, end = before, now() + float(sys.argv[2])
while now() < end:
    time.sleep(0.1)
    next(iterator)
    most = max(most, anonymous())
tell(grown=most - before, stats=iterator.stats()[0])
"""


@pytest.mark.parametrize(
    "dataset",
    [
        "numbers.map(mebibyte, num_parallel_calls=hr.AUTOTUNE).batch(1).prefetch(hr.AUTOTUNE)",
        "numbers.map(mebibyte, num_parallel_calls=hr.AUTOTUNE).batch(1).prefetch(1000)",
        "numbers.map(traced, num_parallel_calls=hr.AUTOTUNE).batch(1).prefetch(hr.AUTOTUNE)",
        "numbers.map(traced, num_parallel_calls=hr.AUTOTUNE).batch(1).prefetch(1000)",
    ],
    ids=["functions", "functions far ahead", "graphs", "graphs far ahead"],
)
def test_a_fast_producer_stays_within_the_budget(dataset):
    told = seen(SLOW_CONSUMER.format(dataset=dataset), 128, 5)
    # Each task may have begun an element before anything was known of its size.
    tasks = len(os.sched_getaffinity(0))
    assert told["grown"] < (160 + tasks) * MB, told
    assert told["stats"]["ram_budget"] == 128 * MB
    assert told["stats"]["peak_total_bytes"] <= (130 + tasks) * MB


@pytest.mark.parametrize(
    "dataset",
    [
        "numbers.map(mebibyte, num_parallel_calls=200).prefetch(1000)",
        "numbers.map(traced).prefetch(1000).map(lambda x: x + 1).prefetch(1000)",
        """numbers.interleave(lambda i: numbers.map(mebibyte, num_parallel_calls=20).prefetch(50),
        cycle_length=4, num_parallel_calls=4).prefetch(100)""",
        """hr.Dataset.sample_from_datasets([numbers.map(mebibyte).prefetch(100),
        numbers.map(traced).prefetch(100)], [0.9, 0.1]).prefetch(100)""",
    ],
    ids=["calls", "one above the other", "nested", "mixed"],
)
def test_all_queues_share_the_budget(dataset):
    told = seen(SLOW_CONSUMER.format(dataset=dataset), 24, 2)
    assert told["grown"] < 64 * MB, told
    assert told["stats"]["peak_total_bytes"] <= 40 * MB


def test_a_budget_that_is_not_given_is_a_part_of_the_memory():
    with open("/proc/meminfo") as file:
        total = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemTotal"))
    for options in (hr.Options(), budget(0), budget(None)):
        iterator = iter(hr.Dataset.range(3).with_options(options))
        assert 0 < iterator.stats()[0]["ram_budget"] <= total // 4


def test_the_older_name_of_the_option_is_heard():
    options = hr.Options()
    options.experimental_optimization.autotune_ram_budget = 12345
    iterator = iter(hr.Dataset.range(3).with_options(options))
    assert iterator.stats()[0]["ram_budget"] == 12345


# ------------------------------------------------------------------ nothing else changes


def numbers(n=30):
    return hr.Dataset.range(n)


def fail_on_seven(x):
    if x == 7:
        raise ValueError("seven")
    return x


PLANS = {
    "map": lambda: numbers().map(lambda x: x * 2, num_parallel_calls=4).prefetch(3),
    "python": lambda: numbers().map(python(lambda x: x * 2), num_parallel_calls=4),
    "first come": lambda: numbers(1).map(
        python(lambda x: x), num_parallel_calls=4, deterministic=False
    ),
    "batch": lambda: numbers().batch(4).prefetch(2).unbatch().batch(7).prefetch(hr.AUTOTUNE),
    "padded": lambda: (
        numbers(12).map(python(lambda x: np.ones(x % 4)), num_parallel_calls=2).padded_batch(3)
    ),
    "shuffle": lambda: numbers().shuffle(10, seed=1).repeat(2).prefetch(4),
    "cache": lambda: numbers().map(python(lambda x: x + 1)).cache().repeat(3).prefetch(2),
    "window": lambda: numbers().window(5, shift=3).flat_map(lambda w: w.batch(5)).prefetch(2),
    "group": lambda: numbers().group_by_window(lambda x: x % 3, lambda k, w: w.batch(4), 4),
    "flat_map": lambda: numbers(8).flat_map(lambda x: hr.Dataset.range(x).prefetch(2)),
    "interleave": lambda: numbers(8).interleave(
        lambda x: numbers(5).map(lambda y: x + y, num_parallel_calls=2).prefetch(2),
        cycle_length=3,
        block_length=2,
        num_parallel_calls=3,
    ),
    "sample": lambda: hr.Dataset.sample_from_datasets(
        [numbers().prefetch(4), numbers().map(lambda x: -x, num_parallel_calls=2)], seed=3
    ).prefetch(4),
    "zip": lambda: hr.Dataset.zip(
        (numbers().prefetch(2), numbers().map(python(lambda x: str(x)), 3), numbers().batch(1))
    ),
    "generator": lambda: hr.Dataset.from_generator(
        lambda: iter(range(20)), output_signature=hr.TensorSpec((), np.int64)
    ).prefetch(5),
    "slices": lambda: (
        hr.Dataset.from_tensor_slices((np.arange(40).reshape(20, 2), ["a"] * 20))
        .shuffle(20, seed=2)
        .batch(3)
        .prefetch(3)
    ),
    "rest": lambda: (
        numbers().enumerate().filter(lambda i, x: x % 2 == 0).skip(2).take(9).shard(2, 1)
    ),
    "errors": lambda: (
        numbers(12).map(python(fail_on_seven), num_parallel_calls=3).ignore_errors().prefetch(2)
    ),
}


@pytest.mark.parametrize("plan", PLANS)
def test_a_tiny_budget_changes_no_element(plan):
    expected = list(PLANS[plan]())
    for size in (1, 1024):
        for rows in (None, 1, 7):
            options = budget(size)
            options._chunk_rows = rows
            assert_same_elements(list(PLANS[plan]().with_options(options)), expected)


def test_a_state_holds_under_another_budget():
    expected = list(PLANS["interleave"]())
    iterator = iter(PLANS["interleave"]().with_options(budget(1)))
    for _ in range(9):
        next(iterator)
    rest = PLANS["interleave"]().with_options(budget(1 << 30)).iterator(state=iterator.state())
    assert_same_elements(list(rest), expected[9:])


# ------------------------------------------------------------------ what is told


def megabytes(n):
    return numbers(n).map(python(lambda x: np.full(MB // 8, x)))


def told_of(caplog, dataset, size):
    caplog.clear()
    with caplog.at_level(logging.WARNING, "headrace"):
        for _ in dataset.with_options(budget(size)):
            pass
    return [record.getMessage() for record in caplog.records]


def test_buffers_that_exceed_the_budget_are_told_of_once(caplog):
    dataset = megabytes(20).shuffle(12, seed=1)
    (text,) = told_of(caplog, dataset, 7 * MB)
    assert re.match(r"shuffle holds (7|8|9|1\d|2[0-4]) MiB", text)
    assert "7 MiB for all buffers" in text
    assert "buffer_size" in text
    assert "autotune.ram_budget" in text
    assert told_of(caplog, dataset, 7 * MB) == []
    assert told_of(caplog, dataset, 64 * MB) == []


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("batch", lambda: megabytes(10).batch(9)),
        ("cache", lambda: megabytes(10).cache()),
        ("window", lambda: megabytes(10).window(9, as_arrays=True)),
        ("group_by_window", lambda: megabytes(10).group_by_window(lambda x: 0, lambda k, w: w, 9)),
        ("rebatch", lambda: megabytes(10).batch(1).rebatch(9)),
        ("unique", lambda: megabytes(10).unique()),
    ],
)
def test_every_step_that_must_hold_elements_counts_them(caplog, name, build):
    (text,) = told_of(caplog, build(), 6 * MB)
    assert text.startswith(f"{name} holds ")
    iterator = iter(build())
    list(iterator)
    held = {step["name"]: step["peak_bytes"] for step in iterator.stats()}
    assert 8 * MB <= held[name] < 24 * MB


def test_queues_tell_what_they_take():
    dataset = megabytes(40).prefetch(4).map(lambda x: x + 1, num_parallel_calls=2)
    iterator = iter(dataset)
    for _ in range(30):
        next(iterator)
    outer, *inner = iterator.stats()
    steps = {step["name"]: step for step in [outer, *inner]}
    assert MB <= steps["prefetch"]["peak_queued_bytes"] <= 8 * MB
    assert MB <= outer["peak_total_bytes"] <= 40 * MB
    assert all("total_bytes" not in step for step in inner)


def test_arrays_of_the_user_are_no_buffers():
    array = np.zeros((200, MB // 8))
    iterator = iter(hr.Dataset.from_tensor_slices(array).prefetch(8).shuffle(20).batch(2))
    next(iterator)
    held = {step["name"]: step for step in iterator.stats()}
    assert held["shuffle"]["held_bytes"] < MB
    assert held["prefetch"]["peak_queued_bytes"] == 0
