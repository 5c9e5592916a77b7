"""States of iterators: how long they are, how long they take to write, how fast runs are opened.

``python state.py [--sources N] [--only WORD ...]`` prints a table; each line says what it must
show, and whether it does. Times are the best of five. Nothing else may run meanwhile.
"""

import argparse
import itertools
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import headrace as hr

KIB = 1024
failed = []


def best(work, times=5):
    """The least seconds, and what the work gave last."""
    seconds = []
    for _ in range(times):
        start = perf_counter()
        result = work()
        seconds.append(perf_counter() - start)
    return min(seconds), result


def tell(what, value, unit, bound):
    good = value <= bound
    word = "ok" if good else "MISSED"
    print(f"  {what:40s} {value:12,.4g} {unit:6s} <= {bound:<10,.6g} {word}", flush=True)
    if not good:
        failed.append(what)


def measure(name, dataset, inner, steps=2000):
    """Open, go on for some steps, take states, go on from the last."""
    print(name, flush=True)

    def opened():
        iterator = iter(dataset)
        next(iterator)
        return iterator

    seconds, iterator = best(opened)
    tell("opening, and the first element", seconds * 1e3, "ms", 1000 if inner else 100)
    start = perf_counter()
    length, longest = len(iterator.state()), perf_counter() - start
    for _ in range(3):
        seconds, state = best(iterator.state)
        longest, length = max(longest, seconds), max(length, len(state))
        for _ in itertools.islice(iterator, steps):
            pass
    seconds, state = best(iterator.state)
    tell("a state", max(longest, seconds) * 1e3, "ms", 10)
    limit = min(4 * KIB + 64 * inner, 256 * KIB)
    tell("its length", max(length, len(state)), "bytes", limit)
    seconds, _ = best(lambda: next(dataset.iterator(state)))
    tell("going on from it", seconds * 1e3, "ms", 1000)


def as_python(x):
    return x if x.item() >= 0 else -x


def python_map(i):
    return hr.Dataset.range(i, i + 1000).map(lambda x: as_python(x) + i, executor="python")


def long_pipeline():
    """Twenty steps, each with a seed or a function."""
    dataset = hr.Dataset.range(1000)
    for _ in range(9):
        dataset = dataset.shuffle(10).map(as_python, num_parallel_calls=2, executor="python")
    return dataset.repeat()


def sources(count, folder):
    """Kinds of datasets to mix, by name."""
    paths = [str(folder / f"{i}.tfrecord") for i in range(count)]
    for i, path in enumerate(paths):
        with hr.io.TFRecordWriter(path) as writer:
            for j in range(100):
                writer.write(f"{i} {j}".encode())
    weights = [float(i) for i in range(count)]
    return {
        "range": [hr.Dataset.range(i, i + 1000) for i in range(count)],
        "range, map": [hr.Dataset.range(i, i + 1000).map(lambda x: x * 2) for i in range(count)],
        "range, map in Python": [python_map(i) for i in range(count)],
        "range, shuffle, map, repeat": [
            hr.Dataset.range(50 + i).shuffle(10).map(lambda x, w=w: x * w).repeat()
            for i, w in enumerate(weights)
        ],
        "records": [hr.TFRecordDataset(path) for path in paths],
        "records, shuffle, map in Python": [
            hr.TFRecordDataset(path).shuffle(10).map(lambda x: len(x), executor="python").repeat()
            for path in paths
        ],
    }


def mixes(kinds, count):
    """Datasets with `count` inner ones each, by name."""
    for name, inner in kinds.items():
        yield f"sample_from_datasets: {name}", hr.Dataset.sample_from_datasets(inner, seed=3)
        choices = hr.Dataset.range(count).shuffle(count, seed=4).repeat()
        yield f"choose_from_datasets: {name}", hr.Dataset.choose_from_datasets(inner, choices)
        for calls in (None, 2):
            yield (
                f"interleave, num_parallel_calls={calls}: {name}",
                hr.Dataset.range(count).interleave(
                    inner.__getitem__, cycle_length=count, num_parallel_calls=calls
                ),
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=1000)
    parser.add_argument("--only", nargs="+", default=[""], help="words of names")
    args = parser.parse_args()
    measure("twenty steps", long_pipeline(), 0)
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        kinds = sources(args.sources, Path(folder))
        seconds = perf_counter() - start
        print(f"{args.sources} sources of {len(kinds)} kinds, made in {seconds:.2f} s")
        for name, dataset in mixes(kinds, args.sources):
            if any(word in name for word in args.only):
                measure(name, dataset, args.sources)
    sys.exit(f"missed: {len(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
