"""Importing headrace is quick."""

import subprocess
import sys

import pytest

PROGRAM = """
import time, numpy
started = time.perf_counter()
import headrace
print(time.perf_counter() - started)
import sys
print(" ".join(sys.modules))
"""


def run():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=50, check=True
    )
    seconds, modules = done.stdout.splitlines()
    return float(seconds), set(modules.split())


def test_it_takes_less_than_a_tenth_of_a_second_beyond_numpy():
    assert min(run()[0] for _ in range(3)) < 0.1


@pytest.mark.parametrize(
    "module", ["headrace.trace", "headrace.purity", "headrace.explain", "cloudpickle"]
)
def test_what_is_seldom_needed_is_not_loaded(module):
    assert module not in run()[1]
