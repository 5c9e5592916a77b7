"""The speeds that are promised for single cases, measured: ``python cases.py``.

No test asserts them, for those run on machines of any speed and load.

Needs a release build and a quiet machine; each line says what was promised. Measures are the best
of five. The exit code is the number of promises that are not kept. `index.py` measures those about
indices.
"""

import os
import subprocess
import sys
import tempfile
import threading
from time import perf_counter, sleep

import numpy as np

import headrace as hr

broken = 0


def best(work):
    """The least seconds of five runs."""
    times = []
    for _ in range(5):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def tell(name, value, promised, unit, *, at_least=True):
    global broken
    kept = value >= promised if at_least else value <= promised
    broken += not kept
    word = "at least" if at_least else "at most"
    mark = "" if kept else "   NOT KEPT"
    print(f"{name:52s} {value:14,.3g} {unit:10s} {word} {promised:,.3g}{mark}", flush=True)


def long_lists():
    """Parse 10,000 Examples of 1,000 random 63-bit values on one thread."""
    rng = np.random.default_rng(0)
    lists = (rng.integers(0, 1 << 62, 1000, np.int64) * 2 + 1 for _ in range(10_000))
    messages = [hr.io.serialize_example({"x": values}) for values in lists]
    features = {"x": hr.io.FixedLenFeature([1000], np.int64)}
    options = hr.Options()
    options.threading.private_threadpool_size = 1
    options.experimental_optimization.inject_prefetch = False
    dataset = hr.Dataset.from_tensor_slices(messages).batch(100)
    parsed = dataset.map(lambda m: hr.io.parse_example(m, features), executor="native")
    parsed = parsed.with_options(options)

    def work():
        for _ in parsed:
            pass

    tell("Example parsing, lists of 1,000 int64, one thread", 1e7 / best(work), 50e6, "values/s")


def generated_rows():
    """Batch 100,000 generated tuples of ten floats, against stacking each of the ten by NumPy."""
    rows = [tuple(float(i + k) for k in range(10)) for i in range(100_000)]
    signature = (hr.TensorSpec([], np.float64),) * 10

    def generate():
        yield from rows

    dataset = hr.Dataset.from_generator(generate, output_signature=signature)
    dataset = dataset.batch(100)

    def work():
        for _ in dataset:
            pass

    def bare():
        batch = []
        for row in generate():
            batch.append(row)
            if len(batch) == 100:
                tuple(np.stack(column) for column in zip(*batch, strict=True))
                batch.clear()

    taken = best(work)
    tell("from_generator of 10 floats, batch 100", 100_000 / taken, 150e3, "rows/s")
    tell("the same, times NumPy alone", taken / best(bare), 4, "times", at_least=False)


def salvage(path):
    """Reading on after damage: a search through a large hole."""
    hole = 64 << 20
    with open(path, "r+b") as file:
        data = file.read()
        file.seek(len(data) // 2)
        file.write(bytes(hole))
    dataset = hr.TFRecordDataset(path, on_corruption="skip")

    def work():
        for _ in dataset.batch(2048):
            pass

    tell("a search for the next record", hole / 1e6 / best(work), 50, "MB/s")


IMPORT = """
import time, numpy
started = time.perf_counter()
import headrace
print(time.perf_counter() - started)
"""


def importing():
    """Import headrace where NumPy is there."""
    times = [subprocess.check_output([sys.executable, "-c", IMPORT]) for _ in range(5)]
    tell("import headrace, beyond NumPy", 1e3 * min(map(float, times)), 100, "ms", at_least=False)


def windows():
    """Windows as arrays, against a dataset for each."""
    numbers = hr.Dataset.range(3000)
    arrays = numbers.window(3, shift=1, drop_remainder=True, as_arrays=True).batch(100)
    datasets = numbers.window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    ratio = best(lambda: list(datasets.batch(100))) / best(lambda: list(arrays))
    tell("windows as arrays, times datasets", ratio, 5, "times")


def state(path):
    """The state of a shuffle of which the buffer is full."""
    iterator = iter(hr.TFRecordDataset(path).shuffle(10_000, seed=1))
    next(iterator)
    tell("state of a shuffle of 10,000", 1e3 * best(iterator.state), 10, "ms", at_least=False)


def slow_sources():
    """Four sources of which each element sleeps, against one of them."""

    def slow(x):
        sleep(0.04)
        return x

    def read(count):
        numbers = hr.Dataset.range(8)
        mixed = hr.Dataset.range(count).interleave(
            lambda _: numbers.map(slow, executor="python"), 4, 1, 4
        )
        return best(lambda: list(mixed))

    tell("interleave of four that sleep, times one", 4 * read(1) / read(4), 3.5, "times")


def prefetching():
    """A producer and a consumer that sleep, against both one after the other."""

    def slow(x):
        sleep(0.03)
        return x

    def consume(dataset):
        for _ in dataset:
            sleep(0.03)

    dataset = hr.Dataset.range(20).map(slow, executor="python")
    ratio = best(lambda: consume(dataset)) / best(lambda: consume(dataset.prefetch(2)))
    tell("prefetch, producer and consumer that sleep", ratio, 1.4, "times")


def first_of_forty(path):
    """The first row of forty pipelines with tasks of their own."""

    def part():
        records = hr.TFRecordDataset(path).map(lambda r: hr.strings.length(r), 4)
        return records.map(lambda x: (print, x)[1], 2, executor="python").prefetch(2)

    zipped = hr.Dataset.zip(*[part() for _ in range(40)])
    tell("first row of forty pipelines", best(lambda: next(iter(zipped))), 2, "s", at_least=False)


def interrupted():
    """What a thread that closes a search waits for."""
    late = []
    for _ in range(5):
        iterator = iter(hr.Dataset.range(10**15).filter(lambda x: x < 0).prefetch(2))
        thread = threading.Thread(target=next, args=(iterator, None))
        thread.start()
        sleep(0.1)
        start = perf_counter()
        iterator.close()
        thread.join()
        late.append(perf_counter() - start)
    tell("closing a search in another thread", 1e3 * min(late), 200, "ms", at_least=False)


def main():
    importing()
    long_lists()
    generated_rows()
    windows()
    slow_sources()
    prefetching()
    interrupted()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.tfrecord")
        with hr.io.TFRecordWriter(path) as writer:
            for i in range(100_000):
                writer.write(i.to_bytes(4, "little") * 125)
        state(path)
        first_of_forty(path)
        salvage(path)
    sys.exit(broken)


if __name__ == "__main__":
    main()
