"""What symbols know, record and refuse; results are compared in test_functions.py."""

import math
import sys

import numpy as np
import pytest

import headrace as hr
from headrace.function import Function
from headrace.trace import Tracer, trace

SCALAR = hr.TensorSpec((), np.int64)
MATRIX = hr.TensorSpec((2, 3), np.float32)
LOOSE = hr.TensorSpec((None, 3), np.float32)
UNRANKED = hr.TensorSpec(None, np.float32)
TEXT = hr.TensorSpec((), bytes)


def spec_of(function, spec):
    graph, refusal = trace(function, spec)
    assert graph is not None, refusal
    return graph.structure_spec


def reason(function, spec):
    graph, refusal = trace(function, spec)
    assert graph is None, str(graph)
    return str(refusal)


def test_what_is_known_without_a_run_can_be_read():
    def look(x):
        return x.ndim, x.size, x.itemsize, x.nbytes, len(x), x.shape, np.shape(x), x.dtype == "f4"

    dataset = hr.Dataset.from_tensors(np.zeros((2, 3), np.float32))
    (known,) = dataset.map(look, executor="native")
    assert known == (2, 6, 4, 24, 2, (2, 3), (2, 3), True)
    assert spec_of(lambda x: x.T, MATRIX) == hr.TensorSpec((3, 2), np.float32)


def test_known_sizes_of_a_loose_shape_can_be_read():
    assert spec_of(lambda x: x * x.shape[1], LOOSE) == LOOSE
    assert spec_of(lambda x: x.reshape(-1, *x.shape[1:]), LOOSE) == LOOSE
    assert spec_of(lambda x: x * x.ndim, LOOSE) == LOOSE


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x.shape[0],
        lambda x: x * len(x),
        lambda x: x * x.size,
        lambda x: x if x.shape == (2, 3) else -x,
        lambda x: sum(row for row in x),
        lambda x: np.split(x, 2),
        lambda x: np.trace(x),
    ],
)
def test_sizes_that_only_a_run_knows_refuse(function):
    assert "only a run knows" in reason(function, LOOSE)


def test_what_follows_a_loose_shape_is_recorded():
    assert spec_of(lambda x: np.zeros_like(x, np.int8), LOOSE) == hr.TensorSpec((None, 3), np.int8)
    assert spec_of(lambda x: x[x[:, 0] > 0], LOOSE) == LOOSE
    assert spec_of(lambda x: x[:, [2, 0]], LOOSE) == hr.TensorSpec((None, 2), np.float32)
    assert spec_of(lambda x: np.argwhere(x), LOOSE) == hr.TensorSpec((None, 2), np.int64)
    assert spec_of(lambda x: np.pad(x, 1), LOOSE) == hr.TensorSpec((None, 5), np.float32)


@pytest.mark.parametrize(
    "function", [lambda x: x.ndim, lambda x: x.T.shape, lambda x: x.swapaxes(0, 1)]
)
def test_an_unknown_rank_refuses(function):
    assert "only a run knows" in reason(function, UNRANKED)


def test_an_unknown_rank_may_be_a_scalar():
    assert spec_of(lambda x: x + 1, UNRANKED) == UNRANKED
    assert "scalar or an array" in reason(lambda x: isinstance(x, np.ndarray), UNRANKED)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: bool(x),
        lambda x: x and 1,
        lambda x: not x,
        lambda x: 0 < x < 5,
        lambda x: int(x),
        lambda x: float(x),
        lambda x: complex(x),
        lambda x: [1, 2, 3][x],
        lambda x: list(range(x)),
        lambda x: {x: 1},
        lambda x: str(x),
        lambda x: f"{x:3}",
        lambda x: round(x),
        lambda x: math.sqrt(x),
        lambda x: x.item(),
        lambda x: x.tolist(),
        lambda x: max(x, 3),
        lambda x: sorted([x, 1]),
        lambda x: x in (1, 2),
        lambda x: np.arange(5)[x],
        lambda x: np.zeros(3)[x],
        lambda x: np.float32(x),
        lambda x: np.array([x, 1]),
        lambda x: np.add.reduce([x, x]),
        lambda x: pow(x, 2, 3),
        lambda x: np.sort(x),
        lambda x: x.view(np.uint64),
        lambda x: x < 2**70,
    ],
)
def test_uses_of_a_value_refuse_with_the_line(function):
    assert "test_trace.py:" in reason(function, SCALAR)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[True],
        lambda x: x[x[0] > 0, 0.5],
        lambda x: x["a"],
        lambda x: np.delete(x, x[0].astype(int)),
        lambda x: np.pad(x, 1, "mean"),
        lambda x: np.add(x, 1, out=np.zeros((2, 3), np.float32)),
        lambda x: x.reshape(3, 2, order="F"),
        lambda x: x.astype(str),
        lambda x: 1.0 in x,
        lambda x: x.flat,
    ],
)
def test_uses_of_arrays_that_are_not_recorded_refuse(function):
    assert "test_trace.py:" in reason(function, MATRIX)


@pytest.mark.parametrize(
    "function",
    [
        lambda s: s.decode(),
        lambda s: s * 2,
        lambda s: len(s),
        lambda s: s[0],
        lambda s: s.upper(),
    ],
)
def test_uses_of_text_refuse(function):
    assert "test_trace.py:" in reason(function, TEXT)


def test_text_is_not_compared_with_other_kinds():
    assert spec_of(lambda s: s == b"x", TEXT) == hr.TensorSpec((), bool)
    assert "bytes with str" in reason(lambda s: s == "x", TEXT)
    assert "bytes with str" in reason(lambda s: s == np.int64(1), TEXT)


def test_a_refusal_cannot_be_swallowed():
    def swallow(x):
        try:
            return int(x)
        except BaseException:
            return x

    assert "catches exceptions" in reason(swallow, SCALAR)
    tracer = Tracer()
    symbol = tracer.input(SCALAR)
    assert swallow(symbol) is symbol
    assert "Python int" in str(tracer.refusal)


def test_an_error_in_the_function_is_the_reason():
    def broken(x):
        raise KeyError("k")

    assert "KeyError" in reason(broken, SCALAR)
    assert "TypeError" in reason(lambda a, b: a, SCALAR)
    assert "AttributeError" in reason(lambda x: x.no_such_name, SCALAR)


def test_results_are_nests_of_values():
    result = spec_of(lambda x: {"a": [x, 1], "b": (None, 2.5, "t", b"t")}, SCALAR)
    assert result == {
        "a": (SCALAR, SCALAR),
        "b": (None, hr.TensorSpec((), float), hr.TensorSpec((), str), TEXT),
    }
    assert "returns an object of" in reason(lambda x: {1, 2}, SCALAR)
    assert "returns an object of" in reason(lambda x: slice(1), SCALAR)


def test_parts_of_sparse_values_are_recorded():
    spec = hr.SparseTensorSpec((None, 4), np.int64)
    parts = spec_of(lambda s: (s.values, s.indices, s.dense_shape, s), spec)
    assert parts == (
        hr.TensorSpec((None,), np.int64),
        hr.TensorSpec((None, 2), np.int64),
        hr.TensorSpec((2,), np.int64),
        spec,
    )
    assert "sparse" in reason(lambda s: s.dtype_of(), spec)


def test_parts_of_ragged_values_are_recorded():
    spec = hr.RaggedTensorSpec((None, None), np.float32, 1, np.int32)
    values, splits, lengths = spec_of(lambda r: (r.values, r.row_splits, r.row_lengths()), spec)
    assert values == hr.TensorSpec((None,), np.float32)
    assert splits.dtype == lengths.dtype == np.int32
    assert "ragged" in reason(lambda r: r.to_list(), spec)
    assert "ragged" in reason(lambda r: list(r), spec)


def test_opaque_objects_are_not_traced():
    assert "opaque" in reason(lambda x: x, hr.ObjectSpec())


def test_functions_that_differ_each_time_are_not_traced():
    state = iter(range(10))
    assert "state" in reason(lambda x: x + next(state), SCALAR)


def test_helpers_and_methods_are_traced():
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return self.half(x) * self.by

        def half(self, x):
            return x / 2

    assert spec_of(Scale(3), SCALAR) == hr.TensorSpec((), np.float64)
    assert spec_of(np.square, SCALAR) == SCALAR


SCALE = 2


def scaled(x):
    return np.minimum(x * SCALE, 5)


def traces_of(function, spec=SCALAR):
    """Tell whether a function prepared twice has equal graphs, and whether they are one."""
    prepared = Function(function)
    first, second = prepared.prepare(spec), prepared.prepare(spec)
    return first == second, first is second


def test_a_function_that_reads_what_cannot_change_is_traced_once():
    limit, more = 3, (1, 2.5)
    assert traces_of(scaled) == (True, True)
    assert traces_of(lambda x: np.minimum(x, limit) + more[0]) == (True, True)


def test_a_function_that_reads_what_can_change_is_traced_for_each_run():
    class Options:
        scale = 2

    array, table, options = np.arange(3), {"scale": 2}, Options()
    for function in (
        lambda x: x + array,
        lambda x: x * table["scale"],
        lambda x: x * Options.scale,
        lambda x: x * options.scale,
        lambda x: x + hr.random.uniform((), seed=1),  # reads the global seed
    ):
        assert traces_of(function) == (True, False)


def calls_of(function, spec=SCALAR):
    """Count the calls of a function while it is prepared once."""
    calls = 0

    def count(frame, event, _):
        nonlocal calls
        calls += event == "call" and frame.f_code is function.__code__

    sys.setprofile(count)
    try:
        Function(function).prepare(spec)
    finally:
        sys.setprofile(None)
    return calls


def test_only_a_function_that_reads_what_can_change_is_traced_on_trial():
    array = np.arange(3)
    assert calls_of(scaled) == 1
    assert calls_of(lambda x: x + array) == 2


def test_names_that_lead_elsewhere_are_seen_by_the_next_run(monkeypatch):
    dataset = hr.Dataset.range(4).map(scaled, executor="native")
    assert list(dataset) == [0, 2, 4, 5]
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert list(dataset) == [0, 3, 5, 5]
    monkeypatch.setattr(np, "minimum", np.maximum)
    assert list(dataset) == [5, 5, 6, 9]


def test_a_variable_of_the_function_around_is_seen_by_the_next_run():
    scale = 2
    dataset = hr.Dataset.range(3).map(lambda x: x * scale, executor="native")
    assert list(dataset) == [0, 2, 4]
    scale = 5
    assert list(dataset) == [0, 5, 10]


def test_new_code_of_a_function_is_seen_by_the_next_run():
    def inner(x, step=1):
        return x + step

    dataset = hr.Dataset.range(3).map(lambda x: inner(x), executor="native")
    assert list(dataset) == [1, 2, 3]
    inner.__defaults__ = (2,)
    assert list(dataset) == [2, 3, 4]
    inner.__code__ = (lambda x, step=1: x - step).__code__
    assert list(dataset) == [-2, -1, 0]


def test_a_name_that_hides_a_builtin_is_seen_by_the_next_run(monkeypatch):
    dataset = hr.Dataset.range(-2, 1).map(lambda x: abs(x), executor="native")
    assert list(dataset) == [2, 1, 0]
    monkeypatch.setitem(globals(), "abs", np.negative)
    assert list(dataset) == [2, 1, 0]
    monkeypatch.setitem(globals(), "abs", np.square)
    assert list(dataset) == [4, 1, 0]
