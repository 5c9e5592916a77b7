"""How much of its speed a pure-Python thread keeps while headrace works.

A thread counts; the main thread waits in `next`; the engine is limited to one task at a time
(`private_threadpool_size = 1`) and runs flat out. On two cores the law is a ratio of at least 0.8.
Prints the ratio of each pipeline, the median of several rounds, beside three references: a main
thread that sleeps; one that sleeps while another process computes, which is the most that is to be
had where the cores are shared; one that computes in Python. The second number tells of the GIL
alone: the share of the time in which the counting thread did not wait for it, but ran or waited
for a core (Linux only).

    python benches/gil.py [seconds per round] [rounds]
"""

from __future__ import annotations

import contextlib
import math
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np

import headrace as hr


def limited(dataset: hr.Dataset) -> hr.Dataset:
    """Return the dataset with one task at a time."""
    options = hr.Options()
    options.threading.private_threadpool_size = 1
    return dataset.with_options(options)


def endless() -> hr.Dataset:
    return hr.Dataset.range(1 << 62)


def rows() -> hr.Dataset:
    return hr.Dataset.from_tensor_slices(np.ones((4096, 256), np.float32)).repeat()


# `next` of these never comes, or rarely: the main thread waits.
PIPELINES: dict[str, Callable[[], hr.Dataset]] = {
    "filter that finds nothing": lambda: endless().filter(lambda x: x < 0).prefetch(2),
    "parallel map of chunks": lambda: (
        endless().map(lambda x: x * 3 + 1, num_parallel_calls=4).filter(lambda x: x < 0).prefetch(2)
    ),
    "map, shuffle, large batches": lambda: (
        rows()
        .map(lambda x: np.sqrt(x * 2 + 1), num_parallel_calls=hr.AUTOTUNE)
        .shuffle(1000, seed=1)
        .batch(8192)
        .prefetch(2)
    ),
}


class Counter:
    """A thread that counts.

    Attributes
    ----------
    free
        Share of the last measurement's time in which it did not wait for the GIL.
    """

    def __init__(self) -> None:
        self.count = 0
        self.done = False
        self.free = 1.0
        self.thread = threading.Thread(target=self.run)

    def scheduled(self) -> float:
        """Return for how long it ran or waited for a core."""
        with (
            contextlib.suppress(OSError),
            open(f"/proc/self/task/{self.thread.native_id}/schedstat") as file,
        ):
            return sum(map(int, file.read().split()[:2])) / 1e9
        return math.nan

    def run(self) -> None:
        count = 0
        while not self.done:
            count += 1
            self.count = count

    def speed(self, work: Callable[[float], None], seconds: float) -> float:
        """Return how much it counts in a second while `work` goes on."""
        self.thread.start()
        began, first, before = time.perf_counter(), self.count, self.scheduled()
        work(seconds)
        taken, counted = time.perf_counter() - began, self.count - first
        self.free = (self.scheduled() - before) / taken
        self.done = True
        self.thread.join()
        return counted / taken


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def compute(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def beside_a_process(seconds: float) -> None:
    """Let another process compute: what two threads cost each other on this machine at best."""
    code = "while True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        time.sleep(seconds)
        process.kill()


def waiting(build: Callable[[], hr.Dataset]) -> Callable[[float], None]:
    def wait(seconds: float) -> None:
        iterator: Iterator[object] = limited(build()).iterator()
        end = time.perf_counter() + seconds
        closing = threading.Timer(seconds, iterator.close)  # type: ignore[attr-defined]
        closing.start()
        while time.perf_counter() < end and next(iterator, None) is not None:
            pass
        closing.join()

    return wait


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    works = {"asleep": sleep, "another process": beside_a_process, "Python code": compute}
    works |= {name: waiting(build) for name, build in PIPELINES.items()}
    ratios: dict[str, list[float]] = {name: [] for name in works}
    free: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        # The machine changes its speed: each is compared with its neighbour in time.
        for name, work in works.items():
            alone = Counter().speed(sleep, seconds / 2)
            counter = Counter()
            ratios[name].append(counter.speed(work, seconds) / alone)
            free[name].append(counter.free)
    print("speed kept, not waiting for the GIL; medians (and ranges)")
    for name in works:
        columns = [
            f"{statistics.median(values):5.2f} ({min(values):.2f} to {max(values):.2f})"
            for values in (ratios[name], free[name])
        ]
        print(f"{name:30}", *columns)


if __name__ == "__main__":
    main()
