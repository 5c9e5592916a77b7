"""Functions that nobody can notice a call of may be traced."""

from __future__ import annotations

import enum
import functools
import itertools
import math
import operator
import types
import typing

import numpy as np
import pytest
from purity_objects import (
    CONFIG,
    LOG,
    MEAN,
    NAMES,
    OBJECTS,
    QUIET,
    SCALER,
    TABLE,
    Call,
    Config,
    Pair,
    Plain,
    Point,
    Scaler,
    Slots,
    WithFactory,
    decorate,
    decorated,
    deeper,
    factorial,
    helper,
    hr,
    identity,
)

from headrace.purity import check

# ruff: noqa: B008, C416, C417
# mypy: ignore-errors


def closure_over(value):
    return lambda x: x + value


def imports_inside(x):
    import math
    from operator import add, mul

    return add(mul(x, math.pi), 1)


def imports_time_inside(x):
    import time

    return x + time.time()


def imports_random_inside(x):
    import numpy as np

    return x + np.random.rand()


def imports_sleep_inside(x):
    from time import sleep

    sleep(0)
    return x


def imports_for_closure(x):
    import time

    return (lambda: time.time())()


def imports_unloaded(x):
    import antigravity

    return antigravity


def inner_function(x):
    scale = 2

    def inner(y):
        nonlocal scale
        scale = y
        return y * scale

    return inner(x)


def builds_local_list(x):
    out = []
    for k in range(3):
        out.append(x * k)
    out[0] = x
    return out[0] + sum(out)


def builds_dict(x):
    d = {}
    d["x"] = x
    d.update(y=x + 1)
    return {**d, "z": [v for v in d.values()]}


def inplace_on_local(x):
    y = x * 2
    y += 1
    return y


def scaled_with_table(x):
    x = x * TABLE["a"]
    x /= 255.0  # a dict has no `/=`
    return x


def matches(x):
    match TABLE["a"]:
        case 1:
            return x
        case _:
            return x + 1


def raises(x):
    if len(NAMES) > 5:
        raise ValueError(f"too many: {len(NAMES)}")
    return x


asserting: dict = {"NAMES": NAMES}  # exec'd, as pytest rewrites the asserts of this file
exec("def f(x):\n    assert NAMES, 'none'\n    return x", asserting)


def gathers_by_captured_names(x):
    total = 0
    out = []
    for name in NAMES:
        out.append(x[name] - MEAN)
        total += x[name]
    return np.stack(out), total


def fills_by_captured_names(x):
    out = {"first": 0}
    for name in NAMES:
        out[name] = x[name]
    scaled = x["a"] * 2
    scaled += 1
    out.update(TABLE)
    return out, scaled


def conditional_display(x):
    out = [] if x is None else LOG
    out.append(1)
    return x


def conditional_display_reversed(x):
    out = LOG if x is None else []
    out.append(1)
    return x


def display_rebound(x):
    out = []
    for out in [LOG]:
        out.append(1)
    return x


def display_in_argument(x, out=LOG):
    if x is None:
        out = []
    out.append(1)
    return x


def display_element(x):
    out = {"log": LOG}
    out["log"][0] = 1
    return x


def display_nested_key(x):
    out = {}
    LOG[out[0]] = 1
    return x


def element_of_a_display(x):
    out = [LOG]
    log = out[0]
    log += [x]
    return x


def stored_out(x):
    f = np.exp
    y = deeper(x)
    f(x, MEAN)
    return y


def clips_result(x):
    y = x * 2
    y.clip(0, 1, MEAN)
    return y


class Colour(enum.Enum):
    RED = 1


class Lazy:
    @functools.cached_property
    def table(self):
        LOG.append(1)
        return 1


class Bound:
    """A descriptor of the user's."""

    def __get__(self, item, owner):
        LOG.append(1)
        return 1


class Described:
    field = Bound()


def matches_class(x):
    match x:
        case Plain(factor=f):
            return f
    return x


def changes_first_argument(x):
    x["a"] += 1
    return x


class Same:
    def __add__(self, other):
        return LOG


def result_of_users_operator(x, same=Same()):
    out = same + 1
    out += [x]
    return x


def takes_default(x, mean=MEAN, *, names=("a", "b")):
    return x - mean


def loops(x):
    for k, n in enumerate(NAMES):
        x = x + k * len(n)
    while False:
        x = x + 1
    return x


ALLOWED = {
    "arithmetic": lambda x: (x * 2 + 1) ** 2 // 3 % 5,
    "structure": lambda x, y: {"a": (x, y), "b": [x, None]},
    "comparison": lambda x: (x > 0) & ~(x == 1) | (x != 2),
    "subscript": lambda x: x[..., 1:2, None],
    "methods of the argument": lambda x: x.reshape(28, 28).astype("float32").sum(axis=0).T,
    "numpy functions": lambda x: np.where(np.isnan(x), np.float32(0), np.exp(x)),
    "numpy submodules": lambda x: np.linalg.norm(np.fft.fft(x)),
    "numpy functions in plain Python": lambda x: np.broadcast_to(
        x, np.broadcast_shapes((1,), (2,))
    ),
    "numpy constants": lambda x: x * np.pi + np.inf if np.newaxis is None else x,
    "numpy types": lambda x: x.astype(np.uint8).view(np.dtype("int8")),
    "numpy index helpers": lambda x: np.r_[x, x] + np.s_[1:2].start,
    "ufunc method": lambda x: np.add.reduce(x),
    "ufunc method with an array": lambda x: np.add.reduce(x) + MEAN,
    "strings": lambda x: np.strings.upper(x),
    "string formatting": lambda k: "{}-{}".format(f"{3:>4}", 2).upper(),
    "math": lambda x: math.sqrt(2) * x + math.pi,
    "captured array": lambda x: (x - MEAN) / MEAN.std(),
    "captured array in a ufunc": lambda x: np.subtract(x, MEAN),
    "captured array in a reduction": lambda x: x + np.sum(MEAN, 0) + MEAN.max(0),
    "captured array and conditional argument": lambda x: np.add(x if NAMES else 0, MEAN),
    "captured array and axis": lambda x: np.concatenate([x, MEAN], axis=0),
    "captured dict": lambda x: x + TABLE["a"] + TABLE.get("b", 0),
    "captured list": lambda x: [x[n] for n in NAMES],
    "captured object array of text": lambda x: OBJECTS[0],
    "captured namedtuple": lambda x, p=Point(1, 2): x + p.x + p[1],
    "captured typed namedtuple": lambda x, p=Pair(1, 2): x + p.left,
    "captured dataclass": lambda x: x * CONFIG.scale,
    "dataclass passed on": lambda x: operator.mul(x, identity(CONFIG).scale),
    "dataclass method": lambda x: CONFIG.times(x),
    "slots": lambda x, s=Slots(): x * s.scale,
    "builds a namedtuple": lambda x: Point(x, y=x)._replace(x=1),
    "builds a typed namedtuple": lambda x: Pair(x),
    "builds a dataclass": lambda x: Config(scale=x),
    "builds a dataclass with a factory": lambda x: WithFactory(),
    "nested lambda": lambda x: (lambda y: y + 1)(x),
    "comprehension": lambda x: tuple(x * k for k in range(3)) + tuple([k for k in {1: 2}]),
    "nested comprehensions": lambda x: [[x * i * j for i in range(2)] for j in range(2)],
    "map and filter": lambda x: list(map(lambda k: x * k, filter(None, [0, 1, 2]))),
    "sorted keys": lambda d: [d[k] for k in sorted(TABLE, key=lambda k: -TABLE[k])],
    "reduce": lambda x: functools.reduce(operator.add, [x, x, x]),
    "itertools": lambda x: [x * a * b for a, b in itertools.product(range(2), range(2))],
    "helpers": helper,
    "helpers of a helper": lambda x: helper(helper(x)),
    "recursion": factorial,
    "decorated": decorated,
    "decorated twice": decorate(decorate(deeper)),
    "partial": functools.partial(takes_default, mean=1.0),
    "partial inside": lambda x: functools.partial(deeper, x)(),
    "method": SCALER.scale,
    "method that calls methods": SCALER.through_other,
    "class method": SCALER.bounded,
    "class method of the class": Scaler.bounded,
    "static method": Scaler.fixed,
    "method of a captured object": lambda x: SCALER.scale(x),
    "attribute of a captured object": lambda x: x * SCALER.factor,
    "attribute of a class": lambda x: x * Scaler.limit,
    "self in a lambda": SCALER.in_lambda,
    "callable object": Call(3),
    "decorated method": QUIET.decorated,
    "quiet property through a local": lambda x: identity(QUIET).double * x,
    "captured callable object": lambda x, f=Call(3): f(x),
    "closure": closure_over(3),
    "closure over an array": closure_over(MEAN),
    "imports inside": imports_inside,
    "inner nonlocal": inner_function,
    "local list": builds_local_list,
    "local dict": builds_dict,
    "in-place on a local": inplace_on_local,
    "in-place that no captured dict could see": scaled_with_table,
    "local list by captured names": gathers_by_captured_names,
    "local dict by captured names": fills_by_captured_names,
    "array argument by comprehension": lambda x: np.stack([x[k] - MEAN for k in range(3) if k]),
    "array arguments by expressions": lambda x: np.add(
        np.exp(x or 1), MEAN if NAMES else np.sum([k for k in (x and NAMES)], axis=0)
    ),
    "starred with an array": lambda x: max(*[x, x]) + hr.op(*[x]) + MEAN,
    "match": matches,
    "raise": raises,
    "defaults": takes_default,
    "loops": loops,
    "starred": lambda *args, **kw: (args[0], *args, {**kw}),
    "bound method of a dict": functools.partial(map, TABLE.get),
    "bound get": lambda x, get=TABLE.get: x + get("a"),
    "method descriptor": lambda x: list(map(str.upper, NAMES)),
    "numpy function": np.abs,
    "ufunc": np.add,
    "math function": math.sqrt,
    "builtin": len,
    "type": float,
    "numpy type": np.float32,
    "namedtuple class": Point,
    "itemgetter": operator.itemgetter(0),
    "typing.cast": lambda x: typing.cast("int", x),
    "headrace op": lambda x: hr.op(x) + hr.AUTOTUNE,
    "outer symbol": lambda x: [y := x * hr.symbol, y.append(1)],
    "subscript store to the argument": changes_first_argument,
    "headrace dataset": lambda x: hr.dataset.map(lambda y: y + x),
    "exec'd": eval("lambda x: x + 1", {}),
    "assert": asserting["f"],
    "captured sentinel": lambda x, none=object(): x if x is not none else none,
    "captured simple namespace": lambda x, ns=types.SimpleNamespace(a=1): x + ns.a,
}


@pytest.mark.parametrize("name", ALLOWED)
def test_pure_function_may_be_traced(name):
    assert check(ALLOWED[name]) is None
