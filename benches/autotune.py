"""How close AUTOTUNE comes to the best numbers that a person could have set.

Four pipelines, each with a grid of hand settings of `num_parallel_calls` and `prefetch`:

- a map that computes: a graph of some array operations on rows of 16 KiB;
- a slow source: a Python function that waits some milliseconds for each element, as for a server;
- a slow consumer: such a source, now and then slower, and a training step that takes its time;
- an interleave: datasets whose elements come from such servers, read side by side.

Every setting is a new iterator, measured warm. The grid is measured in turn; its best setting and
AUTOTUNE then once more, by turns, several rounds, since the best of many measurements is also the
luckiest. AUTOTUNE is measured from two seconds after its start on, and has reached the goal where
the median of the rounds' ratios is 0.9. The rates of its first seconds are shown too, and what it
chose. All of it takes about two minutes.

    python benches/autotune.py [seconds per measurement] [rounds]
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import headrace as hr

Setting = tuple[int, int]
AUTO: Setting = (hr.AUTOTUNE, hr.AUTOTUNE)
GOAL = 0.9
# AUTOTUNE has so long to find its numbers; hand settings need only be warm.
START, WARM = 2.0, 0.25


def wait(number: int) -> int:
    """Wait for an element as for a server."""
    time.sleep(0.004)
    return number


def wait_unevenly(number: int) -> int:
    """Wait for an element as for a server that is busy now and then."""
    time.sleep(0.04 if number % 16 == 0 else 0.002)
    return number


def computing(calls: int, prefetch: int) -> hr.Dataset:
    rows = hr.Dataset.from_tensor_slices(np.ones((1024, 4096), np.float32)).repeat()
    mapped = rows.map(lambda x: np.sqrt(np.exp(-x) + np.tanh(x) * x), num_parallel_calls=calls)
    return mapped.batch(32).prefetch(prefetch)


def waiting(calls: int, prefetch: int) -> hr.Dataset:
    numbers = hr.Dataset.range(1 << 60).map(wait, num_parallel_calls=calls)
    return numbers.batch(4).prefetch(prefetch)


def uneven(calls: int, prefetch: int) -> hr.Dataset:
    numbers = hr.Dataset.range(1 << 60).map(wait_unevenly, num_parallel_calls=calls)
    return numbers.prefetch(prefetch)


def interleaved(calls: int, prefetch: int) -> hr.Dataset:
    sources = hr.Dataset.range(1 << 40)
    mixed = sources.interleave(
        lambda i: hr.Dataset.range(i * 7, i * 7 + 100).map(wait_unevenly), 16, 1, calls
    )
    return mixed.batch(4).prefetch(prefetch)


@dataclass
class Job:
    """A pipeline, what its consumer does, and the numbers a person would try."""

    name: str
    build: Callable[[int, int], hr.Dataset]
    calls: tuple[int, ...]
    prefetch: tuple[int, ...]
    step: float = 0.0


JOBS = [
    Job("CPU-bound map", computing, (1, 2, 4, 8), (1, 4, 16)),
    Job("slow source", waiting, (1, 2, 4, 8, 16, 32), (1, 8)),
    Job("slow consumer", uneven, (1, 2, 4, 8, 16), (1, 8, 32), step=0.005),
    Job("interleave", interleaved, (1, 2, 4, 8, 16), (1, 8)),
]


def rate(iterator: hr.Iterator, seconds: float, step: float) -> float:
    """Return how many elements come in a second."""
    count, start = 0, time.perf_counter()
    while (now := time.perf_counter()) < start + seconds:
        next(iterator)
        count += 1
        if step:
            time.sleep(step)
    return count / (now - start)


def measure(job: Job, setting: Setting, seconds: float) -> tuple[list[float], hr.Iterator]:
    """Return the rates of the time before, and of the time that counts."""
    iterator = iter(job.build(*setting))
    # What comes before the first element is the same for all.
    next(iterator)
    before = [START / 4] * 4 if setting == AUTO else [WARM]
    rates = [rate(iterator, seconds, job.step) for seconds in before]
    return [*rates, rate(iterator, seconds, job.step)], iterator


def run(job: Job, seconds: float, rounds: int) -> bool:
    """Measure a job, print its table, and tell whether the goal is reached."""
    grid = {}
    for setting in itertools.product(job.calls, job.prefetch):
        rates, iterator = measure(job, setting, seconds)
        iterator.close()
        grid[setting] = rates[-1]
    best = max(grid, key=lambda setting: grid[setting])
    print(f"\n{job.name}: elements per second")
    print("  calls \\ prefetch" + "".join(f"{p:>10}" for p in job.prefetch))
    for calls in job.calls:
        cells = (f"{grid[calls, p]:>10,.0f}" for p in job.prefetch)
        print(f"  {calls:>16}" + "".join(cells))
    ratios, beginnings, stats = [], [], ""
    for _ in range(rounds):
        hand, iterator = measure(job, best, seconds)
        iterator.close()
        auto, iterator = measure(job, AUTO, seconds)
        stats = str(iterator.stats())
        iterator.close()
        ratios.append(auto[-1] / hand[-1])
        beginnings.append(auto)
    begun = ", ".join(f"{statistics.median(rates):,.0f}" for rates in zip(*beginnings, strict=True))
    share = statistics.median(ratios)
    each = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"  AUTOTUNE: {share:.2f} of the best, which is {best[0]} and {best[1]} (rounds: {each})")
    print(f"  its rates, of each {START / 4} s and then of {seconds} s: {begun}")
    print("  " + stats.replace("\n", "\n  "), flush=True)
    return share >= GOAL


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    reached = [run(job, seconds, rounds) for job in JOBS]
    print(f"\nAUTOTUNE reaches {GOAL} of the best in {sum(reached)} of {len(reached)} pipelines")


if __name__ == "__main__":
    main()
