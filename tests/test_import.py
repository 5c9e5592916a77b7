"""Importing headrace is quick, for it loads little."""

import re
import subprocess
import sys

import pytest

import headrace as hr

PROGRAM = """
import sys, numpy
before = set(sys.modules)
import headrace
print(" ".join(set(sys.modules) - before))
"""


def output(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=True
    ).stdout


# Beside NumPy, and what NumPy itself loads in one version or another.
FEW = "annotationlib atexit bisect copy dataclasses errno heapq numpy random threading zlib"


def test_little_is_loaded_beside_numpy():
    # benches/cases.py measures how long that takes.
    loaded = output(PROGRAM).split()
    others = {name.split(".")[0] for name in loaded} - {"headrace"}
    assert {name for name in others if not name.startswith("_")} <= set(FEW.split())


SELDOM = "cli explain hints image make_csv math numpy_ops process_pool saved strings tf"


def test_what_is_seldom_needed_is_not_loaded():
    assert not {f"headrace.{name}" for name in SELDOM.split()} & set(output(PROGRAM).split())


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


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("data", "headrace.Dataset"),
        ("one_hot", "headrace.math.one_hot"),
        ("decode_jpeg", "headrace.image.decode_jpeg"),
        ("from_tensor_slices", "headrace.Dataset.from_tensor_slices"),
        ("TFRecordsDataset", "TFRecordDataset"),
        ("constant", "headrace.tf"),
    ],
)
def test_names_that_are_elsewhere_say_where(name, place):
    with pytest.raises(AttributeError, match=re.escape(place)):
        getattr(hr, name)
    assert not hasattr(hr, "no_such_thing_at_all")


@pytest.mark.parametrize("seed", ["a", 1.5])
def test_a_seed_that_is_no_integer_is_named(seed):
    with pytest.raises(TypeError, match="`seed` must be an integer"):
        hr.Dataset.range(3).shuffle(3, seed=seed)
    with pytest.raises(TypeError, match="`seed` must be an integer"):
        hr.set_seed(seed)
