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


def output(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    ).stdout


def run():
    seconds, modules = output(PROGRAM).splitlines()
    return float(seconds), set(modules.split())


def test_it_takes_less_than_a_tenth_of_a_second_beyond_numpy():
    assert min(run()[0] for _ in range(3)) < 0.1


SELDOM = ["headrace.explain", "headrace.hints", "headrace.numpy_ops", "cmath", "cloudpickle"]


@pytest.mark.parametrize("module", SELDOM)
def test_what_is_seldom_needed_is_not_loaded(module):
    assert module not in run()[1]


FIRST_TRACE = """
import sys
import numpy as np
import headrace as hr
before = set(sys.modules)
ds = hr.Dataset.range(3).map(lambda x: np.sin(x) + 1, executor="native")
assert len(list(ds)) == 3
print(" ".join(set(sys.modules) - before))
"""

LAZY_NUMPY = """
import sys
import numpy as np
from headrace.purity import check
assert check(lambda x: np.sin(x)) is None
assert "numpy.fft" not in sys.modules
assert check(lambda x: np.fft.fft(x)) is None
from numpy.char import upper
assert check(lambda x: upper(x)) is None
assert check(lambda x: np.char.lower(x)) is None
assert check(lambda x: np.random.rand()) is not None
assert check(lambda x: np.no_such_name) is not None
"""


def test_modules_that_numpy_loads_late_are_known_as_soon_as_they_are_there():
    assert output(LAZY_NUMPY) == ""


def test_the_first_trace_loads_nothing():
    assert output(FIRST_TRACE).split() == []
