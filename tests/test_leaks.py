"""Nothing stays: threads, memory, files, generators. Memory is measured in processes of its own."""

import contextlib
import gc
import json
import os
import threading
import time
import weakref

import numpy as np
import pytest
from processes import run, wait_until

import headrace as hr

MB = 1 << 20


def python(function):
    """A function that runs as Python: `str` cannot be traced."""

    def untraced(*args):
        str(args)
        return function(*args)

    return untraced


def seen(code, *args):
    """Run a script that tells what it saw."""
    ended = run(code, *args)
    assert ended.clean, ended
    return json.loads(ended.out)


# ------------------------------------------------------------------ flat over many runs

FLAT = {
    "native": """hr.Dataset.range(5_000).map(lambda x: x * 2, num_parallel_calls=4)
        .shuffle(1000).batch(100).prefetch(2)""",
    "python": "hr.Dataset.range(200).map(python(lambda x: x), num_parallel_calls=4).prefetch(2)",
    "generator": "generate(lambda: iter(range(200))).prefetch(2).map(lambda x: x + 1).batch(10)",
    "arrays": """hr.Dataset.from_tensor_slices((np.zeros((500, 100)), ["text"] * 500))
        .shuffle(500).repeat(2).batch(64).prefetch(hr.AUTOTUNE)""",
    "records": """hr.TFRecordDataset(path).shuffle(100).map(python(len), num_parallel_calls=4)
        .batch(32, drop_remainder=True).prefetch(2)""",
    "zip": """hr.Dataset.zip(hr.Dataset.range(1000).prefetch(1),
        generate(lambda: iter(range(200))).prefetch(2), hr.Dataset.range(1000))""",
}


@pytest.mark.parametrize("leave", [False, True], ids=["whole", "left early"])
def test_threads_and_memory_are_flat_over_many_runs(leave, tmp_path):
    built = "".join(f"    {kind!r}: lambda: {dataset},\n" for kind, dataset in FLAT.items())
    told = seen(
        f"""
path = os.path.join(sys.argv[1], "a.tfrecord")
with hr.io.TFRecordWriter(path) as writer:
    for i in range(200):
        writer.write(bytes(1000))
datasets = {{
{built}}}
def use(build, times):
    for _ in range(times):
        for i, x in enumerate(build()):
            if {leave} and i == 3:
                break
for build in datasets.values():
    use(build, 20)
# Threads that may block end when they have been idle for a moment.
wait_until(lambda: not others())
before = descriptors()
grown = {{
    kind: least_growth(lambda: use(build, 100), 6 << 20) for kind, build in datasets.items()
}}
wait_until(lambda: not others() and descriptors() <= before)
tell(grown=grown)
""",
        tmp_path,
    )
    assert all(grown <= 6 * MB for grown in told["grown"].values()), told


def test_iterators_that_are_never_read_leave_nothing():
    told = seen("""
dataset = generate(lambda: iter(range(100))).prefetch(2).map(python(lambda x: x), 4)
def make():
    for _ in range(1000):
        iter(dataset)
    wait_until(lambda: not others())
make()
tell(grown=least_growth(make, 5 << 20))
""")
    assert told["grown"] <= 5 * MB


# ------------------------------------------------------------------ objects


class Thing:
    pass


def counting(x):
    """A function that the walk refuses at its end."""
    COUNTS[0] += 1
    return x


COUNTS = [0]

UNCOLLECTED = {
    "traced": lambda: hr.Dataset.range(9).map(lambda x: x + 1),
    "refused": lambda: hr.Dataset.range(9).map(counting, num_parallel_calls=2),
    "refused in the trace": lambda: hr.Dataset.range(9).map(lambda x: x if x > 0 else -x),
    "called": lambda: hr.Dataset.range(9).filter(lambda x: counting(x) > 3),
    "nested": lambda: hr.Dataset.range(9).flat_map(
        lambda x: hr.Dataset.range(3).map(lambda y: counting(x) + y)
    ),
    "scan": lambda: hr.Dataset.range(9).scan(np.int64(0), lambda s, x: (s + x, counting(s))),
    "processes": lambda: hr.Dataset.range(9).map(abs, 1, executor="process"),
}


@pytest.mark.parametrize("build", UNCOLLECTED.values(), ids=UNCOLLECTED)
def test_an_iterator_is_gone_without_the_collector(build):
    def use():
        iterator = iter(build())
        next(iterator)
        # Whatever keeps this frame keeps the iterator.
        return weakref.ref(iterator)

    gc.collect()
    gc.disable()
    try:
        assert use()() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("finish", ["drop", "close", "exhaust", "fail"])
@pytest.mark.parametrize("kind", ["generator", "prefetch", "map", "parallel map", "filter"])
def test_what_a_function_holds_is_freed(kind, finish):
    def build():
        thing = Thing()

        def generate():
            for i in range(20):
                assert thing
                if finish == "fail" and i == 12:
                    raise KeyError(i)
                yield i

        def use(x):
            assert thing
            return x

        signature = hr.TensorSpec((), np.int64)
        dataset = hr.Dataset.from_generator(generate, output_signature=signature)
        if kind == "prefetch":
            dataset = dataset.prefetch(2)
        if kind in ("map", "parallel map"):
            calls = 4 if kind == "parallel map" else None
            dataset = dataset.map(python(use), num_parallel_calls=calls)
        if kind == "filter":
            dataset = dataset.filter(python(lambda x: use(x) >= 0))
        return weakref.ref(thing), dataset

    alive, dataset = build()
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(10)] == list(range(10))
    if finish == "close":
        iterator.close()
    elif finish == "exhaust":
        list(iterator)
    elif finish == "fail":
        with pytest.raises(KeyError):
            list(iterator)
    del dataset, iterator

    def freed():
        gc.collect()
        return alive() is None

    wait_until(freed)


def test_objects_do_not_pile_up_over_a_thousand_rounds():
    told = seen("""
class Thing: pass
dead = 0
def round():
    global dead
    thing = Thing()
    thing.bulk = bytes(10_000)
    def numbers():
        while True:
            yield len(thing.bulk)
    iterator = iter(generate(numbers).prefetch(2))
    for _ in range(10):
        next(iterator)
    weakref.finalize(thing, lambda: globals().__setitem__("dead", dead + 1))
made = 0
def rounds(count=1000):
    global made
    for _ in range(count):
        round()
    made += count
    gc.collect()
    wait_until(lambda: dead == made)
rounds(100)
tell(grown=least_growth(rounds, 5 << 20))
""")
    assert told["grown"] <= 5 * MB


def test_arrays_are_freed_with_the_last_iterator():
    array = np.zeros(100_000)
    alive = weakref.ref(array)
    dataset = hr.Dataset.from_tensor_slices(array).batch(10).prefetch(2)
    iterator = iter(dataset)
    kept = next(iterator)
    del array, dataset
    gc.collect()
    assert alive() is not None
    del iterator

    def freed():
        gc.collect()
        next(iter(hr.Dataset.range(1)))
        return alive() is None

    wait_until(freed)
    assert (kept == 0).all()


# ------------------------------------------------------------------ files


def open_files(path):
    """Return how many descriptors of this process are of the file."""
    count = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            count += os.readlink(f"/proc/self/fd/{descriptor}") == str(path)
    return count


@pytest.mark.parametrize(
    "build",
    [
        lambda d: d,
        lambda d: d.prefetch(2),
        lambda d: d.map(python(len), num_parallel_calls=4).prefetch(2),
        lambda d: d.repeat().shuffle(5).batch(2).prefetch(2),
    ],
    ids=["directly", "prefetch", "parallel map", "repeat and shuffle"],
)
@pytest.mark.parametrize("finish", ["drop", "close", "exhaust"])
def test_files_are_closed_soon_after_the_last_iterator(record_file, build, finish):
    iterator = iter(build(hr.TFRecordDataset(record_file)))
    next(iterator)
    other = iter(build(hr.TFRecordDataset(record_file)))
    next(other)
    if finish == "close":
        iterator.close()
        other.close()
        assert open_files(record_file) == 0
    elif finish == "exhaust":
        for each in (iterator, other):
            for _, _ in zip(range(100), each, strict=False):
                pass
    iterator = other = each = None
    wait_until(lambda: open_files(record_file) == 0)


# ------------------------------------------------------------------ generators

BELOW = {
    "directly": lambda dataset: dataset,
    "below prefetch": lambda dataset: dataset.prefetch(3),
    "below a parallel map": lambda dataset: dataset.map(python(lambda x: x), num_parallel_calls=3),
    "below all of it": lambda dataset: (
        dataset.prefetch(2).map(python(lambda x: x), num_parallel_calls=3).shuffle(5).batch(2)
    ),
    "below zip": lambda dataset: hr.Dataset.zip(hr.Dataset.range(10**9), dataset.prefetch(1)),
}


@pytest.mark.parametrize("below", BELOW.values(), ids=BELOW)
@pytest.mark.parametrize("finish", ["drop", "close", "with", "break"])
def test_a_generator_is_closed_when_iteration_stops_early(below, finish):
    events, threads = [], set()

    def endless():
        threads.add(threading.get_ident())
        try:
            i = 0
            while True:
                threads.add(threading.get_ident())
                yield i
                i += 1
        finally:
            threads.add(threading.get_ident())
            time.sleep(0.1)
            events.append("closed")

    signature = hr.TensorSpec((), np.int64)
    dataset = below(hr.Dataset.from_generator(endless, output_signature=signature))
    if finish == "break":
        for _ in dataset:
            break
    elif finish == "with":
        with dataset.iterator() as iterator:
            next(iterator)
        assert events == ["closed"]
    else:
        iterator = iter(dataset)
        next(iterator)
        if finish == "close":
            iterator.close()
            assert events == ["closed"]
        del iterator
    wait_until(lambda: events == ["closed"])
    # It was entered, and left, by one thread.
    assert len(threads) == 1


def test_a_generator_that_was_not_started_is_not():
    started = []

    def generate():
        started.append(1)
        yield 1

    signature = hr.TensorSpec((), np.int64)
    for below in BELOW.values():
        below(hr.Dataset.from_generator(generate, output_signature=signature)).iterator().close()
    assert started == []


# ------------------------------------------------------------------ memory


def test_a_large_array_is_not_copied(tmp_path):
    told = seen(
        """
array = np.memmap(sys.argv[1], np.float32, "w+", shape=(1 << 16, 1 << 12))  # a sparse GB
before = anonymous()
dataset = hr.Dataset.from_tensor_slices(array).shuffle(1 << 16, seed=1)
dataset = dataset.map(lambda x: x[:10], num_parallel_calls=8).batch(16).prefetch(2)
for i, batch in enumerate(dataset):
    if i == 50:
        break
tell(grown=anonymous() - before, shape=batch.shape)
""",
        tmp_path / "array",
    )
    assert told["shape"] == [16, 10]
    assert told["grown"] < 64 * MB


@pytest.mark.parametrize(
    ("dataset", "count"),
    [
        ("hr.Dataset.from_tensor_slices(rows)", 1000),
        # A random page of a mapped file takes the system milliseconds.
        ("hr.Dataset.from_tensor_slices(rows).shuffle(len(rows), seed=1)", 100),
        (
            """hr.Dataset.from_generator(lambda: iter(rows),
            output_signature=hr.TensorSpec((1000,), np.uint16))""",
            1000,
        ),
    ],
    ids=["in order", "shuffled", "generator"],
)
def test_a_memmap_is_read_as_needed(tmp_path, dataset, count):
    told = seen(
        f"""
rows = np.memmap(sys.argv[1], np.uint16, "w+", shape=(1 << 21, 1000))  # sparse, 4 GB
rows[:1000, 1] = np.arange(1000)
dataset = {dataset}
before = anonymous()
iterator = iter(dataset)
kept = [next(iterator) for _ in range({count})]
grown = anonymous() - before
firsts = [int(row[1]) for row in kept]
del iterator, dataset, rows
gc.collect()
os.remove(sys.argv[1])
tell(grown=grown, valid=[int(row[1]) for row in kept] == firsts, size=len(kept[0]),
     firsts=firsts[:5])
""",
        tmp_path / "rows",
    )
    assert told["grown"] < 64 * MB
    assert told["valid"]
    assert told["size"] == 1000


def test_a_pass_over_large_sources_costs_no_memory():
    told = seen("""
array = np.zeros((1 << 16, 250), np.float32)  # 64 MB
array += 1
texts = [f"text {i}" for i in range(100_000)]
dataset = hr.Dataset.from_tensor_slices(array).map(lambda x: x[:2], num_parallel_calls=8)
words = hr.Dataset.from_tensor_slices(texts)
before = anonymous()
count = sum(1 for _ in dataset.batch(100)) + sum(1 for _ in words)
tell(grown=anonymous() - before, count=count)
""")
    assert told["count"] == 656 + 100_000
    assert told["grown"] < 40 * MB


def test_a_pass_over_a_gigabyte_and_a_million_texts_costs_no_memory():
    told = seen(
        """
array = np.zeros((1 << 18, 1 << 10), np.float32)  # a GB of pages that nobody wrote
texts = [f"text {i}" for i in range(1_000_000)]
def children():
    return open(f"/proc/self/task/{os.getpid()}/children").read().split()
before = anonymous()
rows = hr.Dataset.from_tensor_slices(array).map(lambda x: x[:2], num_parallel_calls=8)
words = hr.Dataset.from_tensor_slices(texts)
words = words.map(lambda x: hr.strings.length(x), num_parallel_calls=8)
built = anonymous()
count = sum(1 for _ in rows.batch(100))
letters = sum(int(x.sum()) for x in words.batch(1000))
tell(source=built - before, grown=anonymous() - built, count=count, letters=letters,
     children=children())
""",
    )
    assert told["count"] == 2622
    assert told["letters"] == 10_888_890
    assert told["children"] == []
    assert told["grown"] < 100 * MB, told
    # The texts in the memory of the plan.
    assert told["source"] < 50 * MB, told


# ------------------------------------------------------------------ how far ahead


def counted():
    calls = []

    def count(x):
        calls.append(x)
        return x

    return calls, hr.Dataset.range(1000).map(python(count))


@pytest.mark.parametrize(("size", "most"), [(0, 1), (1, 3), (4, 6)])
def test_prefetch_runs_no_further_ahead_than_it_says(size, most):
    calls, dataset = counted()
    iterator = iter(dataset.prefetch(size))
    next(iterator)
    wait_until(lambda: len(calls) > size)
    time.sleep(0.3)
    assert len(calls) <= most
    iterator.close()


def test_shuffle_takes_no_more_than_its_buffer():
    calls, dataset = counted()
    iterator = iter(dataset.shuffle(10))
    next(iterator)
    time.sleep(0.2)
    assert 10 <= len(calls) <= 11


def test_a_parallel_map_runs_no_further_ahead_than_its_calls():
    calls, dataset = counted()
    running = []

    def work(x):
        running.append(x)
        return x

    iterator = iter(dataset.map(python(work), num_parallel_calls=4))
    next(iterator)
    time.sleep(0.3)
    # One is with the user, four are running or finished and unread.
    assert len(running) <= 5
    assert len(calls) <= 5
    iterator.close()
