"""Which functions may be traced: the purity walk says so before any call."""

from __future__ import annotations

import collections
import dataclasses
import functools
import linecache
import sys
import time

import numpy as np
import purity_objects
import pytest
from purity_objects import (
    COUNTER,
    COUNTS,
    LOG,
    MEAN,
    NAMES,
    SCALER,
    STREAM,
    Meta,
    NoisyPoint,
    Pair,
    Point,
    WithMeta,
    decorated_sleep,
    deeper,
    identity,
    noisy,
    sleepy,
)
from test_purity_allowed import ALLOWED, closure_over, gathers_by_captured_names, takes_default
from test_purity_refused import REFUSED

from headrace.purity import Refusal, captures, check, lists

# ruff: noqa: E731
# mypy: ignore-errors


def test_check_and_captures_run_nothing():
    LOG.clear()
    for function, _ in REFUSED.values():
        check(function)
        captures(function)
    for function in ALLOWED.values():
        check(function)

    def bomb(x):
        raise AssertionError("was called")

    assert check(bomb) is None
    assert check(lambda x: bomb(x)) is None
    assert LOG == []
    assert COUNTS == {}
    assert COUNTER == 0
    assert np.array_equal(MEAN, [0.5, 0.5])
    assert next(STREAM) == 0


def test_refusal_names_function_line_and_cure():
    refusal = check(decorated_sleep)
    line, file = sleepy.__code__.co_firstlineno + 1, sleepy.__code__.co_filename
    assert isinstance(refusal, Refusal)
    assert (refusal.filename, refusal.lineno) == (file, line)
    assert str(refusal) == (
        f"sleepy at purity_objects.py:{line}: calls time.sleep, which can be observed from outside "
        f"(`{linecache.getline(file, line).strip()}`); compute the time outside and capture it"
    )
    assert "draw with headrace.random" in check(lambda x: np.random.rand()).hint


def test_answer_follows_the_present_globals():
    names = {"scale": deeper}
    function = eval("lambda x: scale(x)", names)
    assert check(function) is None
    names["scale"] = noisy
    assert "append" in check(function).reason


def test_methods_of_element_types_are_walked():
    @dataclasses.dataclass
    class Quiet:
        image: object

        def mean(self):
            return self.image.mean()

    @dataclasses.dataclass
    class Noisy:
        image: object

        def mean(self):
            LOG.append(1)
            return self.image.mean()

    function = lambda element: element.mean()
    assert check(function, [Quiet, Point, Pair]) is None
    assert "append" in check(function, [Noisy]).reason
    assert "print" in check(function, [NoisyPoint]).reason


def test_classes_of_attrs_are_walked():
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Quiet:
        image: object
        scale: int = 2

        def scaled(self):
            return self.image * self.scale

    @attrs.define
    class Made:
        image: object = attrs.field(factory=lambda: LOG.append(1))

    @attrs.define
    class Validated:
        image: object = attrs.field(validator=lambda *_: print("seen"))

    @attrs.define
    class Initialised:
        image: object

        def __attrs_post_init__(self):
            LOG.append(1)

    quiet = Quiet(1)
    assert check(lambda x: x * quiet.scale) is None
    assert check(lambda x: identity(quiet).scaled()) is None
    assert check(lambda x: Quiet(x)) is None
    assert check(lambda x: x.scaled(), [Quiet]) is None
    assert "append" in check(lambda x: Made(x)).reason
    assert "print" in check(lambda x: Validated(x)).reason
    assert "post_init" in check(lambda x: Initialised(x)).reason


@pytest.mark.parametrize(
    "value",
    [
        [1],
        {1: 1},
        {1},
        np.ones(1),
        bytearray(1),
        collections.OrderedDict(),
        np.zeros(1, "i4,i4")[0],
    ],
    ids=lambda value: type(value).__name__,
)
def test_methods_that_change_a_captured_object_are_known(value):
    changing = set()
    for name in dir(value):
        names = {"value": value, "__name__": "user"}
        if not name.startswith("__") and check(eval(f"lambda x: value.{name}()", names)):
            changing.add(name)
    known = {
        "list": "append clear extend insert pop remove reverse sort",
        "dict": "clear pop popitem setdefault update",
        "set": "add clear difference_update discard intersection_update pop remove "
        "symmetric_difference_update update",
        "ndarray": "base byteswap ctypes data dump fill partition put resize setfield setflags "
        "sort tofile",
        "bytearray": "append clear extend insert pop remove reverse",
        "OrderedDict": "clear move_to_end pop popitem setdefault update",
        "void": "base byteswap data dump fill put resize setfield setflags sort tofile",
    }[type(value).__name__]
    assert set(known.split()) <= changing


def test_unknown_opcode_is_refused(monkeypatch):
    from headrace.purity import bytecode

    monkeypatch.setattr(bytecode, "_HARMLESS", bytecode._HARMLESS - {"RETURN_VALUE"})
    assert "RETURN_VALUE" in check(lambda x: x).reason


def test_captures_are_the_arrays_and_containers_reached():
    nested = {"mean": MEAN, "names": NAMES}

    def f(x):
        return closure_over(nested)(x) if NAMES else x - nested["mean"]

    found = captures(f)
    assert [id(item) for item in found] == [id(NAMES), id(nested), id(MEAN)]
    assert captures(lambda x: x) == []
    assert captures(takes_default)[0] is MEAN
    assert any(item is MEAN for item in captures(SCALER.scale))
    assert any(item is LOG for item in captures(noisy))


def test_running_code_under_a_tracer_changes_no_answer():
    names: dict = {"time": time}
    exec("def f(x):\n    return x + 1\ndef g(x):\n    time.sleep(0)\n    return x", names)
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        for _ in range(20):
            names["f"](1)
            names["g"](1)
        assert check(names["f"]) is None
        assert "time.sleep" in check(names["g"]).reason
    finally:
        sys.settrace(before)


def test_code_run_many_times_changes_no_answer():
    for _ in range(2000):
        gathers_by_captured_names({"a": MEAN, "b": MEAN})
    assert check(gathers_by_captured_names) is None


def test_containers_that_hold_themselves_end():
    ring = [1]
    ring.append(ring)
    assert check(lambda x: (x, ring)) is None


def test_odd_callables_give_an_answer():
    for odd in (None, 3, object(), type, Meta, WithMeta, np, time, str.join, "".join, [1].append):
        assert check(odd) is None or check(odd).reason


# Enough constants and locals for extended arguments and long jumps.
PADDING = "\n".join(f"    v{k} = x + {k}.5\n    w{k} = 'w{k}' if v{k} else {k}" for k in range(300))
CONTEXTS = {
    "return": "return {E}",
    "statement": "{E}\n    return x",
    "conditional": "return {E} if x is None else x",
    "other arm": "return x if x is None else {E}",
    "if": "if x is None:\n        {E}\n    return x",
    "while": "while False or x:\n        {E}\n    return x",
    "for": "for k in range(3):\n        {E}\n    else:\n        return x",
    "or": "return x or {E}",
    "and": "return x and {E}",
    "chained comparison": "return 0 < x < {E}",
    "list": "return [x, {E}]",
    "dict": "return {{'a': {E}}}",
    "key": "return {{{E}: 1}}",
    "starred": "return [*[{E}]]",
    "subscript": "return x[{E}]",
    "slice": "return x[1:{E}]",
    "f-string": "return f'{{{E}}}'",
    "format spec": "return f'{{x:{{{E}}}}}'",
    "keyword": "return dict(a={E})",
    "argument": "return deeper({E})",
    "argument of a ufunc": "return np.add(x, {E})",
    "unpacked": "return deeper(*[{E}])",
    "keywords unpacked": "return dict(**dict(a={E}))",
    "walrus": "return [y := {E}, y]",
    "comprehension": "return [{E} for k in range(3)]",
    "source of a comprehension": "return [k for k in [{E}]]",
    "condition of a comprehension": "return [k for k in range(3) if {E}]",
    "dict comprehension": "return {{k: {E} for k in range(3)}}",
    "generator expression": "return sum({E} for k in range(3))",
    "nested comprehension": "return [[{E} for j in range(2)] for k in range(3)]",
    "lambda": "return (lambda: {E})()",
    "lambda's default": "return (lambda a={E}: a)()",
    "inner function": "def g(y):\n        return {E}\n    return g(x)",
    "inner inner function": "def g():\n        def h():\n            return {E}\n        return h\n"
    "    return g()()",
    "decorator": "@identity\n    def g(y={E}):\n        return y\n    return g()",
    "key function": "return sorted([1], key=lambda k: {E})",
    "partial": "return functools.partial(lambda a: {E}, 1)()",
    "assert": "assert {E}\n    return x",
    "raise": "raise ValueError({E})",
    "in-place": "y = 0\n    y += {E}\n    return y",
    "unpacking": "a, b = x, {E}\n    return a",
    "match": "match {E}:\n        case 1:\n            return x\n    return x",
    "guard": "match 1:\n        case _ if {E}:\n            return x\n    return x",
    "del": "y = {E}\n    del y\n    return x",
    "far away": PADDING.lstrip() + "\n    return {E}",
    "far away in a branch": PADDING.lstrip() + "\n    return x if v1 else np.add(x, {E})",
}
EFFECTS = [
    "time.sleep(0)",
    "TM.time()",
    "print(x)",
    "LOG.append(x)",
    "COUNTS.update(a=x)",
    "np.random.rand()",
    "RNG.normal()",
    "next(STREAM)",
    "np.exp(x, MEAN)",
    "np.exp(x, out=MEAN)",
    "x.sum(0, None, MEAN)",
    "MEAN.fill(0)",
    "noisy(x)",
    "sleepy(x)",
    "SCALER.counting(x)",
    "SCALER.noisy",
    "identity(LOG).pop()",
    "[].__class__",
    "(lambda f: f(x, MEAN))(np.exp)",
    "(np.exp if x else np.log)(x, MEAN)",
    "(deeper if x else noisy)(x)",
]


def in_context(context: str, expression: str):
    names = {**vars(purity_objects), "functools": functools, "np": np, "__name__": "user"}
    exec("def f(x):\n    " + CONTEXTS[context].format(E=expression), names)
    return names["f"]


@pytest.mark.parametrize("context", CONTEXTS)
def test_effects_are_found_wherever_they_stand(context):
    assert check(in_context(context, "deeper(x)")) is None
    assert check(in_context(context, "np.add(x, MEAN)")) is None
    for effect in EFFECTS:
        assert check(in_context(context, effect)) is not None, effect


def test_what_numpy_offers_is_found_by_its_origin():
    offered = [item for part in (np, np.linalg, np.dtypes) for item in vars(part).items()]
    for name, item in offered:
        assert lists.is_numpy(item) == (id(item) in lists.numpy_table()), name


def test_a_function_put_in_the_place_of_one_of_numpy_is_walked(monkeypatch):
    monkeypatch.setattr(np, "clip", lambda *args: print(args))
    assert check(lambda x: np.clip(x, 0, 1)) is not None
