"""Random pipelines, used in random ways, for as long as asked: nothing may pile up, nothing hang.

Each round makes a plan from its seed and uses it: to the end, left in the middle, closed, taken up
again from a state, by several iterators or threads at once. What must be equal is compared. Between
rounds memory, threads and descriptors are looked at; after some warming up they must stay flat.

A failure shows the plan, and how to play its round again::

    python tests/soak.py --seed 7 --only 123
"""

import argparse
import contextlib
import faulthandler
import gc
import itertools
import logging
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from processes import wait_until

import headrace as hr

MB = 1 << 20
# A round takes a fraction of a second; one that takes so long hangs.
PATIENCE = 200


# ------------------------------------------------------------------ what plans are made of


def py(x):
    """Runs as Python: `str` cannot be traced."""
    str(x)
    return x


def slow(x):
    """Blocks for a moment now and then."""
    if int(x) % 16 == 0:
        time.sleep(0.001)
    return x


def fails(x):
    """An error for some elements."""
    if int(x) % 13 == 5:
        raise ValueError(f"element {x}")
    return x


def count(n):
    """Return a generator's factory."""

    def numbers():
        yield from range(n)

    return numbers


def records(folder, number, size):
    path = folder / f"{number}.tfrecord"
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(size):
            writer.write(np.int64(i).tobytes())
    return str(path)


def decode(record):
    return hr.io.decode_raw(record, np.int64)[0]


def small(x):
    return hr.math.cast(x, np.int64) % 1000


INT = hr.TensorSpec((), np.int64)

# A budget that most buffers exceed, and one task at a time.
TIGHT = hr.Options(autotune=hr.AutotuneOptions(ram_budget=4096))
ALONE = hr.Options(threading=hr.ThreadingOptions(private_threadpool_size=1))


class Plans:
    """Random plans of int64 scalars, as text that Python evaluates."""

    def __init__(self, folder):
        self.files = [records(folder, i, 60 + 40 * i) for i in range(4)]
        numbers = itertools.count()
        texts = folder / "lines.txt"
        texts.write_text("".join(f"{i}\n" for i in range(150)))
        self.names = {
            "hr": hr,
            "np": np,
            "py": py,
            "slow": slow,
            "fails": fails,
            "count": count,
            "decode": decode,
            "small": small,
            "INT": INT,
            "TIGHT": TIGHT,
            "ALONE": ALONE,
            "fresh": lambda: str(folder / f"written {next(numbers)}"),
            "files": self.files,
            "lines": str(texts),
        }

    def build(self, text):
        return eval(text, dict(self.names))  # the text is our own

    def source(self, rng):
        n = rng.choice([0, 1, 50, 300, 1500])
        return rng.choice(
            [
                f"hr.Dataset.range({n})",
                f"hr.Dataset.from_tensor_slices(np.arange({n}))",
                f"hr.Dataset.from_generator(count({n}), output_signature=INT)",
                "hr.TFRecordDataset(files).map(decode)",
                f"hr.TFRecordDataset(files, num_parallel_reads={rng.choice([2, 4])}).map(decode)",
                "hr.TextLineDataset(lines).map(lambda line: hr.strings.to_number(line, np.int64))",
                f"hr.Dataset.random(seed={rng.randrange(99)}).take({n}).map(small)",
            ]
        )

    def step(self, rng):
        calls = rng.choice(["", "", ", num_parallel_calls=3", ", num_parallel_calls=hr.AUTOTUNE"])
        size = rng.choice([1, 2, 7, 64])
        seed = rng.randrange(99)
        inner = "lambda x: hr.Dataset.range(3).map(lambda y: x + y)"
        return rng.choice(
            [
                f".map(lambda x: x + 1{calls})",
                f".map(py{calls})",
                f".map(slow{calls})",
                f".map(fails{calls}).ignore_errors()",
                ".filter(lambda x: x % 3 != 0)",
                ".filter(lambda x: py(x) % 5 != 0)",
                f".shuffle({rng.choice([2, 30, 500])}, seed={seed})",
                f".shuffle(20, seed={seed}).repeat(2)",
                ".repeat(2)",
                f".take({rng.choice([0, 5, 400])})",
                f".skip({rng.choice([1, 30])})",
                ".shard(3, 1)",
                ".cache()",
                f".prefetch({rng.choice(['1', '4', 'hr.AUTOTUNE'])})",
                ".enumerate().map(lambda i, x: x + i)",
                ".scan(np.int64(0), lambda s, x: (s + x, s + x))",
                f".batch({size}).unbatch()",
                f".batch({size}{calls}).prefetch(2).unbatch()",
                f".window({size}).flat_map(lambda w: w)",
                f".take(60).interleave({inner}, cycle_length=3{calls})",
                f".take(60).flat_map({inner})",
                ".concatenate(hr.Dataset.range(9).map(py, num_parallel_calls=2))",
                ".padded_batch(5).unbatch()",
                f".ragged_batch(4{calls}).unbatch()",
                f".group_by_window(lambda x: x % 3, lambda k, w: w.batch(4), {size}).unbatch()",
                ".take(200).snapshot(fresh())",
                ".with_options(TIGHT)",
                ".with_options(ALONE)",
            ]
        )

    def text(self, rng):
        text = self.source(rng) + "".join(self.step(rng) for _ in range(rng.randrange(1, 7)))
        if rng.random() < 0.2:
            other = self.source(rng) + self.step(rng)
            text = f"hr.Dataset.zip({text}, {other}.prefetch(2)).map(lambda x, y: x - y)"
        elif rng.random() < 0.1:
            other = self.source(rng) + self.step(rng)
            text = f"hr.Dataset.sample_from_datasets([{text}, {other}], seed={rng.randrange(99)})"
        elif rng.random() < 0.03:
            text += '.take(50).map(abs, num_parallel_calls=2, executor="process")'
        if rng.random() < 0.3:
            text += f".batch({rng.choice([8, 100])}).prefetch(2)"
        return text


# ------------------------------------------------------------------ what is done with them


def numbers(elements):
    """What elements hold, to be compared."""
    return [np.asarray(element).tolist() for element in elements]


def whole(dataset, rng):
    """Two passes go their ways, each to its end."""
    first, second = iter(dataset), iter(dataset)
    lengths = [0, 0]
    for end, iterator in enumerate((first, second)):
        for _ in iterator:
            lengths[end] += 1
        assert next(iterator, None) is None


def left(dataset, rng):
    """Left in the middle."""
    stop = rng.randrange(40)
    for i, _ in enumerate(dataset):
        if i == stop:
            break


def closed(dataset, rng):
    """Closed in the middle; closed again."""
    with dataset.iterator() as iterator:
        for _ in range(rng.randrange(10)):
            next(iterator, None)
        iterator.stats()
    iterator.close()
    assert next(iterator, None) is None


def resumed(dataset, rng):
    """Taken up again from its state."""
    iterator = iter(dataset)
    for _ in range(rng.randrange(60)):
        next(iterator, None)
    state = iterator.state()
    rest = numbers(iterator)
    other = dataset.iterator(state=state)
    assert numbers(other) == rest, "the rest differs"


def several(dataset, rng):
    """Several iterators in turn."""
    iterators = [iter(dataset) for _ in range(rng.choice([2, 5]))]
    for _ in range(30):
        next(rng.choice(iterators), None)
    rng.shuffle(iterators)
    while iterators:
        iterators.pop()


def shared(dataset, rng):
    """Threads share one iterator: each element is somebody's, once."""
    state = dataset.iterator().state()
    expected = Counter(map(str, numbers(dataset.iterator(state=state))))
    iterator = dataset.iterator(state=state)
    parts = [[] for _ in range(4)]
    failures = []

    def consume(part):
        try:
            part.extend(iterator)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=consume, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    seen = Counter(map(str, numbers(element for part in parts for element in part)))
    assert seen == expected, "threads got other elements"


def handed_over(dataset, rng):
    """Made here, read and dropped in another thread, in a reference cycle."""
    holder = [iter(dataset)]
    holder.append(holder)

    def consume(holder):
        for _ in range(20):
            next(holder[0], None)
        holder.clear()

    thread = threading.Thread(target=consume, args=(holder,))
    del holder
    thread.start()
    thread.join()


USES = [whole, left, left, closed, resumed, resumed, several, shared, handed_over]


# ------------------------------------------------------------------ what must not grow


def anonymous():
    """Anonymous memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no RssAnon")


def threads():
    """Names of this process' threads that are not of the work pool, which stays."""
    names = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            names.append((task / "comm").read_text().strip())
    return sorted(name for name in names if name != "headrace-work")


def descriptors():
    return len(os.listdir("/proc/self/fd"))


class Watch:
    """Memory over time, and what there was at the start."""

    def __init__(self):
        self.threads, self.descriptors = threads(), descriptors()
        self.samples = []

    def at_rest(self):
        """Look at everything once no iterator lives."""
        gc.collect()
        with contextlib.suppress(AssertionError):
            wait_until(self.is_at_rest)
        assert self.is_at_rest(), (
            f"threads {threads()} for {self.threads}, "
            f"{descriptors()} descriptors for {self.descriptors}"
        )
        self.samples.append((time.monotonic(), anonymous()))

    def is_at_rest(self):
        """Tell whether there is no more than at the start."""
        return Counter(threads()) <= Counter(self.threads) and descriptors() <= self.descriptors

    def growth(self):
        """Bytes that memory has grown by, after a third of the time to warm up."""
        samples = self.samples[len(self.samples) // 3 :]
        if len(samples) < 4:
            return 0.0
        times, sizes = zip(*samples, strict=True)
        return statistics.linear_regression(times, sizes).slope * (times[-1] - times[0])


# ------------------------------------------------------------------ the run


def play(plans, seed, number):
    """Play one round; raises what was wrong with it, the plan in a note."""
    rng = random.Random(f"{seed}/{number}")
    text, use = plans.text(rng), rng.choice(USES)
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    try:
        use(plans.build(text), rng)
    except Exception as error:
        error.add_note(f"round {number}: {use.__name__} of {text}")
        raise
    finally:
        faulthandler.cancel_dump_traceback_later()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", type=int, help="number of the one round to play")
    parser.add_argument(
        "--allow", type=float, default=16, help="MB that memory may seem to grow by"
    )
    args = parser.parse_args()
    # It tells of budgets that are exceeded, as they are meant to be here.
    logging.getLogger("headrace").addHandler(logging.NullHandler())
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        plans = Plans(Path(folder))
        if args.only is not None:
            play(plans, args.seed, args.only)
            return
        began, told, number = time.monotonic(), 0.0, 0
        play(plans, args.seed, number)
        gc.collect()
        time.sleep(1.5)
        watch = Watch()
        while time.monotonic() - began < args.minutes * 60:
            number += 1
            try:
                play(plans, args.seed, number)
                if number % 20 == 0:
                    watch.at_rest()
            except BaseException:
                print(f"failed: --seed {args.seed} --only {number}", flush=True)
                raise
            if time.monotonic() - told > 15:
                told = time.monotonic()
                print(
                    f"{told - began:6.0f} s: {number} rounds, {anonymous() / MB:.0f} MB", flush=True
                )
    growth = watch.growth() / MB
    print(f"{number} rounds; memory moved by {growth:+.1f} MB", flush=True)
    if growth > args.allow:
        sys.exit(f"memory has grown by {growth:.1f} MB")


if __name__ == "__main__":
    main()
