"""Every refusal to trace names the line and what would mend it; `hr.trace` shows the graph."""

import random
import re
import time
from pathlib import Path

import numpy as np
import pytest

import headrace as hr
from headrace.hints import _WHOLE, mend

SCALAR = hr.TensorSpec((), np.int64)
VECTOR = hr.TensorSpec((4,), np.float32)
LOOSE = hr.TensorSpec((None,), np.float32)
RAGGED = hr.RaggedTensorSpec((None, None), np.float32)
SPARSE = hr.SparseTensorSpec((4,), np.float32)
TEXT = hr.TensorSpec((), str)
NAME = "T"
LOG = []


def store_global(x):
    global COUNT
    COUNT = x
    return x


def with_block(x):
    with np.errstate():
        return x


def catches(x):
    try:
        return x + 1
    except ValueError:
        return x


def in_place(x):
    y = x * 2
    view = y[1:]
    y += 1
    return view


def assigns(x):
    y = x * 2
    y[0] = 1
    return y


def local_class(x):
    class Local:
        pass

    return x


def generator(x):
    yield x


REFUSED = {
    "branches on a value": (lambda x: x if x > 3 else -x, SCALAR, "np.where"),
    "makes a Python int": (lambda x: int(x), SCALAR, "astype(np.int64)"),
    "makes a Python float": (lambda x: float(x), SCALAR, "astype(np.float64)"),
    "makes text": (lambda x: f"{x}", SCALAR, "headrace.strings"),
    "hashes": (lambda x: {1: 2}.get(x, 0), SCALAR, "table"),
    "as a Python index": (lambda x: [1, 2][x], SCALAR, "np.asarray(values)[x]"),
    "assigns to items": (assigns, VECTOR, "np.where"),
    "in place": (in_place, VECTOR, "x = x +"),
    "only a run knows": (lambda x: x * len(x), LOOSE, "shape"),
    "is not recorded": (lambda x: np.linalg.svd(x[None])[1], VECTOR, "np.linalg.inv"),
    "of a ragged value": (lambda x: x.mean(), RAGGED, ".values"),
    "of a sparse value": (lambda x: x.mean(), SPARSE, ".values"),
    "returns": (lambda x: range(3), SCALAR, "arrays"),
    "raises": (lambda x: x.reshape(3, 3), VECTOR, "mend"),
    "random.random": (lambda x: x + random.random(), SCALAR, "headrace.random"),
    "time.time": (lambda x: x + time.time(), SCALAR, "compute the time outside"),
    "calls print": (lambda x: print(x), SCALAR, "do input and output outside"),
    "calls getattr": (lambda x: getattr(x, NAME), SCALAR, "value.name"),
    "calls hash": (lambda x: hash((x, 1)), SCALAR, "to_hash_bucket"),
    "calls eval": (lambda x: eval("x"), SCALAR, "write the expression"),
    "append": (lambda x: LOG.append(x), SCALAR, "return new values"),
    "stores to a global": (store_global, SCALAR, "scan"),
    "enters a with block": (with_block, SCALAR, "outside"),
    "catches exceptions": (catches, SCALAR, "ignore_errors"),
    "defines a class": (local_class, SCALAR, "outside"),
    "is a generator": (generator, SCALAR, "return a value"),
    "not defined": (lambda x: x + undefined, SCALAR, "define it"),  # noqa: F821
    "private attribute": (lambda x: (x + 1)._value, SCALAR, "outside"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_refusal_names_line_source_and_remedy(reason):
    function, spec, remedy = REFUSED[reason]
    with pytest.raises(hr.errors.InvalidArgumentError) as raised:
        hr.trace(function, spec)
    text = str(raised.value)
    assert reason in text
    before, hint = text.rsplit("; ", 1)
    assert remedy in hint
    # The file and line, and what stands there.
    line = int(re.search(r" at test_refusals\.py:(\d+): ", before).group(1))
    first = function.__code__.co_firstlineno
    assert first <= line <= first + 6
    source = Path(__file__).read_text().splitlines()[line - 1].strip()
    assert f"(`{source[:60]}" in before


def test_native_and_explain_say_the_same():
    def choose(x):
        return x if x > 3 else -x

    with pytest.raises(hr.errors.InvalidArgumentError) as raised:
        hr.trace(choose, SCALAR)
    text = str(raised.value)
    with pytest.raises(hr.errors.InvalidArgumentError) as native:
        hr.Dataset.range(3).map(choose, executor="native")
    assert str(native.value) == text
    assert text.removeprefix("not traceable: ") in hr.Dataset.range(3).map(choose).explain()


def reasons():
    """The reasons that stand in the code, with words for what is filled in."""
    package = Path(hr.__file__).parent
    names = r"(?<![a-z])(?:refuse|refused|_refused|_refusal)"
    calls = re.compile(names + r"\(\s*(?:function, )?f?\"([^\"]+)\"")
    for path in sorted(package.rglob("*.py")):
        for found in calls.finditer(path.read_text()):
            yield re.sub(r"\{[^}]*\}", "x", found.group(1))


@pytest.mark.parametrize("reason", sorted(set(reasons())))
def test_every_reason_in_the_code_has_a_remedy(reason):
    hint = mend(reason)
    assert hint
    assert "runs as Python" not in hint
    if not reason.startswith(("uses", "x ", "slices", "draws")):
        assert hint != _WHOLE, "say in hints.py what would mend this"


def test_a_trace_shows_its_graph_and_can_be_called():
    table = np.arange(10.0)
    traced = hr.trace(lambda x, y: {"sum": x + y, "at": x * table[3]}, (SCALAR, VECTOR))
    text = repr(traced)
    assert "add" in text
    assert "float32" in text
    assert traced.spec == (SCALAR, VECTOR)
    assert traced.element_spec["sum"].shape == (4,)
    got = traced(2, np.ones(4, np.float32))
    np.testing.assert_array_equal(got["sum"], [3.0] * 4)
    assert got["at"] == 6.0
    with pytest.raises(hr.errors.InvalidArgumentError):
        traced("text", np.ones(4, np.float32))


def test_a_trace_takes_what_an_element_spec_says():
    dataset = hr.Dataset.from_tensor_slices({"x": np.arange(6).reshape(3, 2)})
    traced = hr.trace(lambda e: e["x"].sum(), dataset.element_spec)
    assert [traced(e) for e in dataset] == [1, 5, 9]
    with pytest.raises(TypeError):
        hr.trace(3, SCALAR)
