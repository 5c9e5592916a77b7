"""Threads: iterators that are shared, and threads that go on beside one."""

import itertools
import json
import threading
import time

import numpy as np
import pytest
from overlap import PATIENCE, Calls, assert_overlap, seen_by_others
from processes import run

import headrace as hr


def python(function):
    """A function that runs as Python: `str` cannot be traced."""

    def untraced(*args):
        str(args)
        return function(*args)

    return untraced


def in_threads(count, work):
    """Run `work` in so many threads at once; raises what any of them raised."""
    failures = []
    barrier = threading.Barrier(count)

    def guarded(number):
        try:
            barrier.wait(PATIENCE)
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "threads hang"
    if failures:
        raise failures[0]


def numbers(count=10_000):
    def count_up():
        yield from range(count)

    return hr.Dataset.from_generator(count_up, output_signature=hr.TensorSpec((), np.int64))


SHARED = {
    "range": lambda: hr.Dataset.range(10_000),
    "native map": lambda: hr.Dataset.range(10_000).map(lambda x: x + 0, num_parallel_calls=4),
    "python map": lambda: hr.Dataset.range(10_000).map(python(lambda x: x), num_parallel_calls=4),
    "serial map": lambda: hr.Dataset.range(10_000).map(python(lambda x: x)),
    "prefetch": lambda: hr.Dataset.range(10_000).prefetch(4),
    "generator": lambda: numbers(),
    "generator, prefetch": lambda: numbers().prefetch(4),
    "batches": lambda: hr.Dataset.range(10_000).batch(7).prefetch(2).unbatch(),
    "shuffle": lambda: hr.Dataset.range(10_000).shuffle(100, seed=1),
    "any order": lambda: hr.Dataset.range(10_000).map(
        python(lambda x: x), num_parallel_calls=4, deterministic=False
    ),
}


@pytest.mark.parametrize("make", SHARED.values(), ids=SHARED)
def test_thirty_two_threads_get_every_element_once(make):
    iterator = iter(make())
    parts = [[] for _ in range(32)]
    # A for loop ends by StopIteration only.
    in_threads(32, lambda number: parts[number].extend(int(x) for x in iterator))
    assert sorted(itertools.chain(*parts)) == list(range(10_000))
    # What each thread gets keeps the order of the run.
    if make not in (SHARED["shuffle"], SHARED["any order"]):
        assert all(part == sorted(part) for part in parts)


def test_each_thread_may_have_an_iterator_of_one_dataset():
    dataset = hr.Dataset.range(500).map(lambda x: x * 2, num_parallel_calls=2).batch(10).prefetch(2)

    def work(_):
        assert [x.item() for batch in dataset for x in batch] == list(range(0, 1000, 2))

    in_threads(16, work)


def slow_sources():
    """Datasets whose first element takes long, and a flag that lets it come."""
    release = threading.Event()

    def wait(x):
        release.wait(PATIENCE)
        return x

    def generate():
        yield wait(0)

    slow = hr.Dataset.range(4).map(python(wait))
    signature = hr.TensorSpec((), np.int64)
    return release, {
        "serial map": slow,
        "parallel map": hr.Dataset.range(4).map(python(wait), num_parallel_calls=2),
        "prefetch": slow.prefetch(2),
        "generator": hr.Dataset.from_generator(generate, output_signature=signature).prefetch(2),
    }


@pytest.mark.parametrize("kind", list(slow_sources()[1]))
def test_closing_ends_the_wait_of_another_thread(kind):
    release, datasets = slow_sources()
    iterator = iter(datasets[kind])
    ends = []

    def consume():
        try:
            ends.append(next(iterator, "end"))
        except hr.errors.CancelledError:
            ends.append("end")

    waiting = threading.Thread(target=consume)
    waiting.start()
    time.sleep(0.1)
    closing = threading.Thread(target=iterator.close)
    closing.start()
    # A driver that stood idle is run by its consumer, which then is inside the function.
    if kind not in ("serial map", "prefetch"):
        # The wait ends though the function goes on; `close` waits for the function too.
        waiting.join(PATIENCE / 2)
        assert not waiting.is_alive()
        assert closing.is_alive()
    else:
        time.sleep(0.2)
    release.set()
    for thread in (waiting, closing):
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert ends == ["end"]
    assert next(iterator, "end") == "end"


def test_closing_ends_a_search_that_finds_nothing():
    for dataset in (
        hr.Dataset.range(10**15).filter(lambda x: x < 0),
        hr.Dataset.range(10**15).filter(lambda x: x < 0).prefetch(2),
        hr.Dataset.range(9).filter(lambda x: x < 0).repeat(10**15),
    ):
        iterator, ends = iter(dataset), []
        waiting = threading.Thread(target=lambda i=iterator, e=ends: e.append(next(i, "end")))
        waiting.start()
        time.sleep(0.1)
        iterator.close()
        waiting.join(PATIENCE)
        assert ends == ["end"]


def test_dropping_the_last_reference_in_another_thread():
    for make in SHARED.values():
        holder = [iter(make())]
        next(holder[0])
        in_threads(1, lambda _, holder=holder: holder.clear())


def test_an_iterator_made_in_one_thread_works_in_another():
    for make in SHARED.values():
        iterator, rest = iter(make()), []
        next(iterator)
        in_threads(1, lambda _, i=iterator, r=rest: r.extend(i))
        assert len(rest) == 9_999


def test_states_taken_while_other_threads_iterate_are_whole():
    dataset = hr.Dataset.range(2_000).shuffle(50, seed=3, reshuffle_each_iteration=False)
    dataset = dataset.map(lambda x: x + 1, num_parallel_calls=2)
    expected = [int(x) for x in dataset]
    iterator = iter(dataset)
    states = []

    def work(number):
        if number:
            for _ in iterator:
                time.sleep(0)
        else:
            for _ in range(20):
                states.append(iterator.state())
                time.sleep(0.001)

    in_threads(4, work)
    for state in states:
        rest = [int(x) for x in dataset.iterator(state)]
        assert rest == expected[len(expected) - len(rest) :]


@pytest.mark.parametrize("calls", [1, 4, 8])
def test_a_limit_of_one_runs_one_function_at_a_time(calls):
    work = Calls(0.002)
    options = hr.Options()
    options.threading.private_threadpool_size = 1
    dataset = hr.Dataset.range(40).map(python(work), num_parallel_calls=calls)
    dataset = dataset.map(python(work), num_parallel_calls=hr.AUTOTUNE).prefetch(2)
    assert [int(x) for x in dataset.with_options(options)] == list(range(40))
    assert work.most == 1


def test_a_slow_element_holds_up_only_what_must_keep_its_order():
    dataset = hr.Dataset.range(32)

    def take(seen):
        def last(x):
            if x == 0:
                seen.wait_for(31)
            return x

        loose = dataset.map(python(last), num_parallel_calls=4, deterministic=False)
        seen.take(iter(loose), 32)

    elements = seen_by_others(take)
    assert sorted(elements) == list(range(32))
    assert elements[-1] == 0


def test_prefetch_overlaps_the_producer_with_the_consumer():
    assert_overlap(lambda function: hr.Dataset.range(12).map(python(function)).prefetch(2))


def test_a_python_thread_goes_on_while_the_engine_works():
    # benches/gil.py measures how much of its speed it keeps.
    iterator = iter(hr.Dataset.range(10**15).filter(lambda x: x < 0).prefetch(2))

    def count():
        for _ in range(1_000_000):
            pass
        iterator.close()

    thread = threading.Thread(target=count)
    thread.start()
    assert next(iterator, "closed") == "closed"
    thread.join()


def test_what_a_function_keeps_for_its_thread_lives_as_long_as_the_thread():
    ended = run("""
class Kept:
    made = []
    def __init__(self):
        Kept.made.append(weakref.ref(self))
local, ran_on = threading.local(), set()
def connect(x):
    ran_on.add(threading.get_native_id())
    if not hasattr(local, "kept"):
        local.kept = Kept()
    time.sleep(0.001)
    return x
dataset = hr.Dataset.range(200).map(python(connect), num_parallel_calls=4)
assert list(dataset) == list(range(200))
tell(made=len(Kept.made), threads=len(ran_on), limit=4 * len(os.sched_getaffinity(0)) + 16)
wait_until(lambda: not any(kept() for kept in Kept.made))
""")
    assert ended.clean
    seen = json.loads(ended.out)
    assert seen["made"] == seen["threads"] <= seen["limit"]


def test_many_pipelines_share_few_threads():
    ended = run("""
import tempfile
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a.tfrecord")
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(2500):
            writer.write(np.int64(i).tobytes())
    def part():
        records = hr.TFRecordDataset(path)
        native = records.map(lambda r: hr.io.decode_raw(r, np.int64)[0], num_parallel_calls=4)
        return native.map(python(lambda x: x), num_parallel_calls=2).prefetch(2)
    iterator = iter(hr.Dataset.zip(*[part() for _ in range(40)]))
    assert next(iterator) == (0,) * 40
    most = 0
    for i, row in enumerate(iterator):
        most = max(most, len(threads()))
    tell(rows=i + 2, most=most, limit=4 * len(os.sched_getaffinity(0)) + 16)
""")
    assert ended.clean
    seen = json.loads(ended.out)
    assert seen["rows"] == 2500
    assert seen["most"] <= seen["limit"]
