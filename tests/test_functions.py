"""Functions: recorded or run as Python, results are NumPy's and side effects happen as written."""

import random
import threading
import time
from collections import namedtuple

import numpy as np
import pytest
from conftest import assert_same_elements
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
COUNTER = 0


def both_ways(function, *components, exact=True):
    """Run a function as a graph and as Python over slices of `components`; compare."""
    source = components[0] if len(components) == 1 else components
    dataset = hr.Dataset.from_tensor_slices(source)
    native = list(dataset.map(function, executor="native"))
    python = list(dataset.map(function, executor="python"))
    if exact:
        assert_same_elements(native, python)
    for seen, expected in zip(native, python, strict=True):
        assert np.asarray(seen).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(seen, expected, rtol=1e-2 if "16" in str(seen.dtype) else 1e-5)


def values(dtype, shape=(5, 3), seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        low = -100 if kind == "i" else 0
        return rng.integers(low, 120, shape).astype(dtype)
    if kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (rng.standard_normal(shape) * 10).astype(dtype)


ARITHMETIC = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "x // y": lambda x, y: x // y,
    "x % y": lambda x, y: x % y,
    "maximum": lambda x, y: np.maximum(x, y),
    "minimum": lambda x, y: np.minimum(x, y),
    "x == y": lambda x, y: x == y,
    "x != y": lambda x, y: x != y,
    "x < y": lambda x, y: x < y,
    "x >= y": lambda x, y: x >= y,
    "x & y": lambda x, y: x & y,
    "x | y": lambda x, y: x | y,
    "x ^ y": lambda x, y: x ^ y,
    "logical_and": lambda x, y: np.logical_and(x, y),
    "where": lambda x, y: np.where(x > y, x, y),
    "stack": lambda x, y: np.stack([x, y]),
    "concatenate": lambda x, y: np.concatenate([x, y], axis=-1),
}


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic_has_numpys_values_and_dtypes(name, dtype):
    x, y = values(dtype), values(dtype, seed=1)
    _traced_or_refused(ARITHMETIC[name], x, y)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("name", ["x + y", "x * y", "x / y", "x < y", "where", "stack"])
@given(st.sampled_from(DTYPES), st.sampled_from(DTYPES))
def test_mixed_dtypes_are_promoted_as_numpy_does(name, first, second):
    _traced_or_refused(ARITHMETIC[name], values(first), values(second, seed=1))


def _traced_or_refused(function, *components):
    """Compare both ways; where NumPy itself refuses or no kernel exists, there is no graph."""
    dataset = hr.Dataset.from_tensor_slices(components)
    try:
        native = list(dataset.map(function, executor="native"))
    except hr.errors.InvalidArgumentError:
        return
    python = list(dataset.map(function, executor="python"))
    for seen, expected in zip(native, python, strict=True):
        assert np.asarray(seen).dtype == np.asarray(expected).dtype
        tolerance = 1e-2 if np.asarray(seen).dtype == np.float16 else 1e-5
        np.testing.assert_allclose(seen, expected, rtol=tolerance, atol=1e-6)


SCALARS = {
    "x + 1": lambda x: x + 1,
    "1 - x": lambda x: 1 - x,
    "x * 2.5": lambda x: x * 2.5,
    "x / 2": lambda x: x / 2,
    "x ** 2": lambda x: x**2,
    "-x": lambda x: -x,
    "abs": lambda x: abs(x),
    "x > 3": lambda x: x > 3,
    "clip": lambda x: np.clip(x, 0, 5),
    "sqrt": lambda x: np.sqrt(np.abs(x)),
    "exp": lambda x: np.exp(x / 64),
    "sin": lambda x: np.sin(x),
    "floor": lambda x: np.floor(x),
    "isnan": lambda x: np.isnan(x),
    "sign": lambda x: np.sign(x),
    "astype": lambda x: x.astype(np.float32),
    "sum": lambda x: x.sum(),
    "sum axis": lambda x: np.sum(x, axis=0),
    "mean": lambda x: x.mean(),
    "std": lambda x: x.std(),
    "max": lambda x: x.max(axis=-1),
    "argmax": lambda x: x.argmax(),
    "any": lambda x: x.any(),
    "prod": lambda x: np.prod(x.astype(np.float64)),
    "reshape": lambda x: x.reshape(1, -1),
    "transpose": lambda x: x[None].T,
    "index": lambda x: x[0],
    "slice": lambda x: x[::-1],
    "newaxis": lambda x: x[:, None],
    "ravel": lambda x: x.ravel(),
    "squeeze": lambda x: x[None].squeeze(),
    "zeros_like": lambda x: x + np.zeros_like(x),
    "float32 scalar": lambda x: x * np.float32(2),
    "iterate": lambda x: sum(list(x)),
    "len": lambda x: x * len(x),
    "isinstance": lambda x: x + 1 if isinstance(x, np.ndarray) else x - 1,
    "flip": lambda x: np.flip(x),
    "copy": lambda x: x.copy(),
    "round": lambda x: np.round(x),
}


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one_array_have_numpys_values_and_dtypes(name, dtype):
    _traced_or_refused(SCALARS[name], values(dtype))


@pytest.mark.parametrize("name", SCALARS)
def test_the_common_functions_are_traced(name):
    dataset = hr.Dataset.from_tensor_slices(values("float32"))
    assert "runs as a graph" in dataset.map(SCALARS[name]).explain()


def test_in_place_changes_of_own_arrays_are_recorded():
    def normalise(x):
        x = x.astype(np.float32) / 255
        x -= 0.5
        y = x * 2
        y += x
        return y, x

    both_ways(lambda x: normalise(x)[0], values("uint8"))
    dataset = hr.Dataset.from_tensor_slices(values("uint8"))
    native = list(dataset.map(normalise, executor="native"))
    assert_same_elements(native, list(dataset.map(normalise, executor="python")))


def test_in_place_changes_that_views_would_show_refuse():
    def aliased(x):
        y = x * 2
        view = y[1:]
        y += 1
        return view

    dataset = hr.Dataset.from_tensor_slices(values("int64"))
    assert "in place" in dataset.map(aliased).explain()
    expected = [2 * row[1:] + 1 for row in values("int64")]
    assert_same_elements(list(dataset.map(aliased)), expected)


REFUSED = {
    "branches on a value": lambda x: x if x > 3 else -x,
    "Python int": lambda x: int(x),
    "Python float": lambda x: float(x),
    "makes text": lambda x: f"{x}",
    "makes text of a value": lambda x: str(x),
    "hashes": lambda x: {1: 2}.get(x, 0),
    "assigns to items": lambda x: x.__setitem__(0, 1),
    "which is not recorded": lambda x: np.linalg.matrix_rank(x),
    "branches": lambda x: x and 1,
    "array of a value": lambda x: np.array([x, x]),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_recorded_runs_as_python_with_reason_and_line(reason):
    text = hr.Dataset.range(5).map(REFUSED[reason]).explain()
    assert "runs as Python" in text
    assert "test_functions.py:" in text


def test_native_insists_and_says_why_not():
    with pytest.raises(hr.errors.InvalidArgumentError, match="branches on a value"):
        list(hr.Dataset.range(5).map(lambda x: x if x > 3 else -x, executor="native"))


def test_an_unknown_executor_is_refused():
    with pytest.raises(hr.errors.InvalidArgumentError, match="executor"):
        hr.Dataset.range(5).map(lambda x: x, executor="gpu")


def test_captured_arrays_are_read_anew_by_each_run():
    offset = np.array([10])
    dataset = hr.Dataset.range(2).map(lambda x: x + offset[0])
    assert list(dataset) == [10, 11]
    offset[0] = 20
    assert list(dataset) == [20, 21]


def test_captured_arrays_do_not_change_during_a_run():
    offset = np.array([10])
    iterator = iter(hr.Dataset.range(3000).map(lambda x: x + offset, executor="native"))
    first = next(iterator)
    offset[0] = 20
    assert first == 10
    assert all(x == 10 + i for i, x in enumerate(iterator, 1))


def once_per_element_in_order(function, seen, count=25, **options):
    """Check that `function`, which appends its argument to `seen`, runs as written."""
    dataset = hr.Dataset.range(count).map(function, **options)
    assert "runs as Python" in dataset.explain()
    assert seen == []
    list(dataset)
    assert sorted(seen) == list(range(count))
    if not options:
        assert seen == list(range(count))
    seen.clear()
    list(dataset.batch(7).prefetch(2))
    assert sorted(seen) == list(range(count))


@pytest.mark.parametrize("options", [{}, {"num_parallel_calls": 4}])
def test_a_log_append_runs_once_per_element(options):
    log = []

    def note(x):
        log.append(int(x))
        return x + 1

    once_per_element_in_order(note, log, **options)


def test_a_counter_runs_once_per_element():
    seen = []

    def count(x):
        global COUNTER
        COUNTER += 1
        seen.append(int(x))
        return x

    once_per_element_in_order(count, seen)


def test_a_global_counter_alone_runs_once_per_element():
    global COUNTER
    COUNTER = 0

    def count(x):
        global COUNTER
        COUNTER += 1
        return x

    assert len(list(hr.Dataset.range(25).map(count))) == COUNTER == 25


def test_a_sleep_runs_for_each_element():
    def slow(x):
        time.sleep(0.002)
        return x

    # A clock that goes on, and calls that sleep: no machine makes that shorter.
    started = time.monotonic()
    list(hr.Dataset.range(25).map(slow))
    assert time.monotonic() - started >= 0.05


def test_a_random_augmentation_draws_for_each_element():
    rng = np.random.default_rng(1)
    drawn = {x.item() for x in hr.Dataset.range(50).map(lambda x: x * 0 + rng.random())}
    assert len(drawn) == 50
    drawn = {x.item() for x in hr.Dataset.range(50).map(lambda x: x * 0 + random.random())}
    assert len(drawn) == 50
    drawn = {x.item() for x in hr.Dataset.range(50).map(lambda x: x * 0 + np.random.rand())}
    assert len(drawn) == 50


def test_a_captured_dict_that_changes_runs_as_python():
    counts = {}

    def count(x):
        counts[int(x) % 3] = counts.get(int(x) % 3, 0) + 1
        return x

    list(hr.Dataset.range(9).map(count))
    assert counts == {0: 3, 1: 3, 2: 3}


def test_a_nonlocal_and_an_attribute_are_side_effects():
    class Box:
        count = 0

    box, total = Box(), 0

    def by_attribute(x):
        box.count += 1
        return x

    def by_nonlocal(x):
        nonlocal total
        total += 1
        return x

    list(hr.Dataset.range(9).map(by_attribute).map(by_nonlocal))
    assert (box.count, total) == (9, 9)


def test_side_effects_of_a_helper_are_seen():
    log = []

    def helper(x):
        log.append(1)
        return x

    list(hr.Dataset.range(9).map(lambda x: helper(x) + 1))
    assert len(log) == 9


def test_thread_locals_and_current_threads_run_as_python():
    def who(x):
        return threading.get_ident() * 0 + x

    assert "runs as Python" in hr.Dataset.range(3).map(who).explain()


def test_named_tuples_go_through_graphs():
    pair = namedtuple("pair", "x y")
    dataset = hr.Dataset.from_tensor_slices(pair(np.arange(3), np.arange(3.0)))
    seen = list(dataset.map(lambda p: pair(p.y, p.x * 2), executor="native"))
    assert seen[2] == pair(2.0, 4)
    assert type(seen[0]) is pair


def test_text_is_compared_and_handed_on():
    dataset = hr.Dataset.from_tensor_slices(["a", "b"])
    seen = list(dataset.map(lambda s: (s, s == "b"), executor="native"))
    assert seen == [("a", False), ("b", True)]


def test_a_graph_that_disagrees_with_its_function_is_not_used():
    # A symbol has no `type`, so only the trial can tell that this is not what it looks like.
    def sly(x):
        return x * (2 if repr(x).startswith("<symbol") else 3)

    assert list(hr.Dataset.range(1, 4).map(sly)) == [3, 6, 9]


class Methods:
    def of_none(self):
        return 1

    def of_one(self, x):
        return x


NUMBERS = hr.Dataset.range(3)
WRONG_ARGUMENTS = {
    "too many": (
        lambda: NUMBERS.map(lambda x, y: x),
        "takes 2 positional arguments, but is given 1",
    ),
    "a tuple": (
        lambda: NUMBERS.enumerate().map(lambda x: x),
        "each part of a tuple is an argument",
    ),
    "a dict": (
        lambda: hr.Dataset.from_tensor_slices({"a": [1], "b": [2]}).map(lambda a, b: a),
        "only the parts of a tuple",
    ),
    "none": (lambda: NUMBERS.filter(lambda: True), "takes 0 positional arguments"),
    "a state": (lambda: NUMBERS.scan(0, lambda state: state), "takes 1 positional argument, but"),
    "a method": (lambda: NUMBERS.map(Methods().of_none), "of_none at .* takes 0 positional"),
    "an unbound method": (lambda: NUMBERS.map(Methods.of_one), "takes 2 positional arguments"),
    "executor": (lambda: NUMBERS.map(lambda x, y: x, executor="python"), "takes 2 positional"),
}


@pytest.mark.parametrize("name", WRONG_ARGUMENTS)
def test_another_number_of_arguments_is_refused_when_the_dataset_is_built(name):
    build, text = WRONG_ARGUMENTS[name]
    with pytest.raises(TypeError, match=text):
        build()


def test_optional_arguments_may_stay_away():
    assert list(NUMBERS.map(lambda x, y=3: x + y)) == [3, 4, 5]
    assert list(NUMBERS.enumerate().map(lambda *both: both[0] + both[1])) == [0, 2, 4]
    assert list(NUMBERS.map(Methods().of_one)) == [0, 1, 2]


def test_the_result_of_a_call_is_no_function():
    with pytest.raises(TypeError, match=r"got 1 \(int\); give the function itself"):
        hr.Dataset.range(3).map((lambda x: x)(1))
