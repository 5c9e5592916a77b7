"""Which functions may be traced: the purity walk says so before any call."""

from __future__ import annotations

import abc
import builtins
import collections
import copy
import dataclasses
import enum
import functools
import heapq
import io
import itertools
import linecache
import logging
import math
import operator
import os
import queue
import random
import re
import sys
import threading
import time
import types
import typing
from collections import namedtuple
from datetime import datetime
from time import sleep

import numpy as np
import numpy.random as npr
import pytest

from headrace.purity import Refusal, captures, check, lists

# ruff: noqa: B006, B008, B009, B018, B024, C408, C416, C417, E731, F811, SIM115
# mypy: ignore-errors

MEAN = np.array([0.5, 0.5], np.float32)
TABLE = {"a": 1, "b": 2}
NAMES = ["a", "b"]
LOG: list = []
COUNTS: dict = {}
RNG = np.random.default_rng(0)
PYRNG = random.Random(0)
STREAM = iter(range(10))
FILE = io.StringIO()
LOCK = threading.Lock()
COUNTER = 0
TM = time
NPR = np.random
OBJECTS = np.array(["a", b"b", None], object)
Point = namedtuple("Point", "x y")


class Pair(typing.NamedTuple):
    left: int
    right: int = 0


@dataclasses.dataclass(frozen=True)
class Config:
    scale: float = 2.0
    names: tuple = ("a",)

    def times(self, x):
        return x * self.scale


@dataclasses.dataclass
class WithFactory:
    items: list = dataclasses.field(default_factory=list)


CONFIG = Config()


def helper(x):
    return np.sqrt(x) + deeper(x)


def deeper(x):
    return x * 2


def noisy(x):
    return noisier(x)


def noisier(x):
    LOG.append(1)
    return x


def sleepy(x):
    time.sleep(0)
    return x


def identity(x):
    return x


def decorate(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


def logged(fn):
    @functools.wraps(fn)
    def wrapper(x):
        print(x)
        return fn(x)

    return wrapper


@decorate
def decorated(x):
    return x + MEAN


@decorate
def decorated_sleep(x):
    return sleepy(x)


@logged
def decorated_print(x):
    return x


def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


class Scaler:
    """A plain object with data, methods and a property."""

    limit = 3
    seen: typing.ClassVar[list] = []
    total = 0

    def __init__(self, factor):
        self.factor = factor
        self.count = 0
        self.mean = MEAN
        self.rng = RNG
        self.clock = time

    def scale(self, x):
        return x * self.factor + self.mean + self.limit

    def through_other(self, x):
        return self.scale(x) + self.fixed(x)

    @staticmethod
    def fixed(x):
        return x + 1

    @classmethod
    def bounded(cls, x):
        return x + cls.limit

    def counting(self, x):
        self.count += 1
        return x

    def class_counting(self, x):
        Scaler.total += 1
        return x

    def seeing(self, x):
        self.seen.append(x)
        return x

    def random(self, x):
        return x + self.rng.normal()

    def ticking(self, x):
        return x + self.clock.time()

    def in_lambda(self, x):
        return (lambda: self.scale(x))()

    def rebinding(self, x):
        self = x
        return self.anything(x)

    @decorate
    def decorated(self, x):
        return x * self.factor

    @property
    def noisy(self):
        LOG.append(1)
        return 1


SCALER = Scaler(2.0)


class Plain:
    seen: typing.ClassVar[list] = []
    factor = 2

    def aliased(self, x):
        me = self
        me.seen.append(x)
        return x

    @property
    def noisy(self):
        LOG.append(1)
        return 1


class Quiet:
    factor = 2

    @property
    def double(self):
        return self.factor * 2

    @decorate
    def decorated(self, x):
        return x * self.factor


PLAIN = Plain()
QUIET = Quiet()


class Subscripted:
    def __class_getitem__(cls, k):
        LOG.append(k)


class Hooked(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        LOG.append(other)
        return True


class Faking:
    """Answers for its class by running code."""

    @property
    def __class__(self):
        LOG.append("looked")
        return int


class Missing(dict):
    def __missing__(self, key):
        LOG.append(key)
        return 1


ERROR = ValueError("made outside")
NOISY_UFUNC = np.frompyfunc(noisy, 1, 1)


class Sub(Plain):
    def scale(self, x):
        return super().aliased(x)


def raises_captured(x):
    raise ERROR


class Call:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


class CountingCall:
    def __init__(self):
        self.n = 0

    def __call__(self, x):
        self.n += 1
        return x


class SneakyCall:
    """Its call is harmless; a method that can be reached from it is not."""

    def __call__(self, x):
        return x

    def shout(self, x):
        print(x)


class Dynamic:
    def __getattr__(self, name):
        LOG.append(name)
        return 1


class Always:
    def __getattribute__(self, name):
        LOG.append(name)
        return 1


class Adding:
    def __radd__(self, other):
        print(other)
        return 1


class MyArray(np.ndarray):
    def __array_finalize__(self, obj):
        LOG.append(obj)


class MyList(list):
    def __getitem__(self, k):
        LOG.append(k)
        return 0


class Slots:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 2.0


class Initialised:
    def __init__(self):
        LOG.append(self)


@dataclasses.dataclass
class PostInit:
    a: int = 0

    def __post_init__(self):
        LOG.append(self)


class NoisyPoint(Point):
    def report(self):
        print(self)


class Meta(type):
    def __getattr__(cls, name):
        LOG.append(name)


class WithMeta(metaclass=Meta):
    pass


def fake_headrace():
    """Objects that look as headrace's own do to the walk."""
    names = {"__name__": "headrace.fake"}
    module = types.ModuleType("headrace.fake")
    code = "def op(x): return x\ndef write_records(x): return x\ndef py_function(f): return f"
    exec(code, names)
    symbol = type("Symbol", (), {"__module__": "headrace.trace"})
    tensor = type("Ragged", (), {"__module__": "headrace.tensors"})
    dataset = type("Dataset", (), {"__module__": "headrace.dataset", "map": lambda s, f: s})
    iterator = type("Iter", (), {"__module__": "headrace.iterator", "__next__": lambda s: 1})
    vars(module).update(
        op=names["op"],
        write_records=names["write_records"],
        py_function=names["py_function"],
        Dataset=dataset,
        dataset=dataset(),
        iterator=iterator(),
        symbol=symbol(),
        ragged=tensor(),
        AUTOTUNE=-1,
    )
    return module


hr = fake_headrace()


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


def default_log(x, log=[]):
    log.append(1)
    return x


def kwonly_default_log(x, *, log=[]):
    log.append(1)
    return x


def store_global(x):
    global COUNTER
    COUNTER = COUNTER + 1
    return x


def delete_global(x):
    global COUNTER
    del COUNTER
    return x


def store_subscript(x):
    COUNTS["n"] = 1
    return x


def inplace_subscript(x):
    COUNTS["n"] += 1
    return x


def delete_subscript(x):
    del COUNTS["n"]
    return x


def store_slice(x):
    LOG[0:1] = [1]
    return x


def unpack_into_captured(x):
    _, LOG[0] = x, x
    return x


def loop_into_captured(x):
    for LOG[0] in range(3):
        pass
    return x


def aliased(x):
    log = LOG
    log.append(1)
    return x


def alias_in_tuple(x):
    holder = (LOG,)
    holder[0].append(1)
    return x


def alias_in_place(x):
    log = LOG
    log += [1]
    return x


def alias_of_alias(x):
    return noisy_argument(x, LOG)


def noisy_argument(x, log):
    log.append(1)
    return x


def write_array(x):
    MEAN[0] = 1
    return x


def write_array_slice(x):
    MEAN[:] = 0
    return x


def write_array_view(x):
    view = MEAN.reshape(-1)
    view[0] = 1
    return x


def write_array_in_place(x):
    mean = MEAN
    mean += 1
    return x


def module_alias(x):
    t = time
    t.sleep(0)
    return x


def module_in_tuple(x):
    (t,) = (time,)
    t.sleep(0)
    return x


def module_choice(x):
    (math if NAMES else time).sleep(0)
    return x


def module_default(x, t=time):
    t.sleep(0)
    return x


def random_alias(x):
    r = np.random
    return x + r.rand()


def numpy_alias(x):
    n = np
    return x + n.random.rand()


def by_getattr(x):
    f = getattr(time, "sleep")
    f(0)
    return x


def by_globals(x):
    globals()["COUNTER"] = 1
    return x


def by_dunder_globals(x):
    helper.__globals__["COUNTER"] = 1
    return x


def by_dunder_self(x):
    f = math.sqrt
    f.__self__
    return len.__self__.print(x)


def by_class(x):
    return x.__class__.__mro__[-1].__subclasses__()


def by_frame(x):
    g = (k for k in range(3))
    return g.gi_frame.f_globals["print"](x)


def with_block(x):
    with LOCK:
        return x


def with_errstate(x):
    with np.errstate(all="raise"):
        return np.log(x)


def catches(x):
    try:
        return int(x)
    except Exception:
        return 0


def generator(x):
    yield x


def yields_from(x):
    yield from x


async def coroutine(x):
    return x


async def async_generator(x):
    yield x


def defines_class(x):
    class Local:
        LOG.append(1)

    return x


def function_attribute(x):
    function_attribute.calls = 1
    return x


def with_log(x):
    with_log.log.append(1)
    return x


with_log.log = []


def with_log_alias(x):
    me = with_log
    return me.log.append(x)


def delete_attribute(x):
    del SCALER.factor
    return x


def rebinds_import(x):
    import math as m

    m = x
    return m.sleep(0)


def counter():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x * n

    return f


def deep_counter():
    n = 0

    def f(x):
        def g():
            nonlocal n
            n += 1

        g()
        return x

    return f


def unbound_cell():
    def f(x):
        return x + later

    if False:
        later = 1
    return f


def star_imported():
    names = {"__name__": "user"}
    exec("from time import *\nf = lambda x: x + time()", names)
    return names["f"]


def mentions_later(x):
    return x + this_name_is_nowhere  # noqa: F821


def bound(name, *args):
    return lambda x: (name(*args), x)[1]


def lazily(x):
    return lambda: time.sleep(0)


def spoofed():
    @functools.wraps(hr.op)
    def f(x):
        print(x)
        return x

    return f


def iterates_dataset(x):
    return [e for e in hr.dataset]


def relative_import(x):
    from . import nothing

    return nothing


def walrus_global(x):
    global COUNTER
    return [COUNTER := k for k in range(3)]


REFUSED = {
    # randomness
    "np.random": (lambda x: x + np.random.rand(), "random"),
    "np.random.default_rng": (lambda x: x + np.random.default_rng(0).normal(), "random"),
    "np.random under a name": (lambda x: x + NPR.rand(), "random"),
    "numpy.random as npr": (lambda x: x + npr.rand(), "random"),
    "np.random through a local": (random_alias, "random"),
    "np through a local": (numpy_alias, "module"),
    "captured Generator": (lambda x: x + RNG.normal(), "Generator"),
    "captured Generator passed on": (lambda x: identity(RNG).normal(), "Generator"),
    "captured Generator method": (lambda x, draw=RNG.normal: x + draw(), "random"),
    "random.random": (lambda x: x + random.random(), "random"),
    "random.choice": (lambda x: random.choice(NAMES), "random"),
    "captured Random": (lambda x: x + PYRNG.random(), "Random"),
    "Generator in a dict": (lambda x, d={"rng": RNG}: d["rng"].normal(), "random"),
    "Generator on an object": (SCALER.random, "Generator"),
    "np.random.shuffle direct": (np.random.shuffle, "random"),
    # clocks and the outside world
    "time.sleep": (lambda x: time.sleep(0), "time.sleep"),
    "time.time": (lambda x: x + time.time(), "time.time"),
    "from time import sleep": (lambda x: sleep(0), "time.sleep"),
    "time under a name": (lambda x: TM.sleep(0), "time.sleep"),
    "time through a local": (module_alias, "module"),
    "time through a tuple": (module_in_tuple, "module"),
    "time by a conditional": (module_choice, "module"),
    "time as a default": (module_default, "module"),
    "star import": (star_imported(), "time.time"),
    "datetime.now": (lambda x: datetime.now(), "datetime"),
    "datetime64 now": (lambda x: x + np.array("now", "M8[s]"), "now"),
    "np.datetime64": (lambda x: np.datetime64(NAMES[0]), "datetime64"),
    "os.environ": (lambda x: os.environ["HOME"], "environ"),
    "os.getpid": (lambda x: os.getpid(), "getpid"),
    "sys.stdout": (lambda x: sys.stdout.write("x"), "stdout"),
    "print": (lambda x: print(x), "print"),
    "print as a value": (lambda x: list(map(print, [x])), "print"),
    "builtins.print": (lambda x: builtins.print(x), "print"),
    "open": (lambda x: open("f"), "open"),
    "input": (lambda x: input(), "input"),
    "eval": (lambda x: eval("x"), "eval"),
    "exec": (lambda x: exec("x"), "exec"),
    "globals": (by_globals, "globals"),
    "locals": (lambda x: locals(), "locals"),
    "vars": (lambda x: vars(SCALER), "vars"),
    "setattr": (lambda x: setattr(SCALER, "factor", 1), "setattr"),
    "getattr": (by_getattr, "getattr"),
    "getattr on a local": (lambda x: getattr(x, "sum")(), "getattr"),
    "id": (lambda x: id(x), "id"),
    "hash": (lambda x: hash(x), "hash"),
    "type": (lambda x: type(x), "type"),
    "__import__": (lambda x: __import__("time").sleep(0), "__import__"),
    "logging": (lambda x: logging.info("x"), "logging"),
    "captured file": (lambda x: FILE.write("x"), "StringIO"),
    "captured lock": (lambda x: LOCK.acquire(), "lock"),
    "captured queue": (lambda x, q=queue.Queue(): q.put(x), "Queue"),
    "captured iterator": (lambda x: next(STREAM), "iterator"),
    "captured iterator in a loop": (lambda x: [x for _ in STREAM], "iterator"),
    "captured count": (lambda x, c=itertools.count(): x + next(c), "count"),
    "captured generator": (lambda x, g=(k for k in range(3)): next(g), "generator"),
    "captured map": (lambda x, m=map(str, range(3)): next(m), "map"),
    "print directly": (print, "print"),
    "time.sleep directly": (time.sleep, "time.sleep"),
    "partial of print": (functools.partial(print, 1), "print"),
    "partial of a noisy function": (functools.partial(noisy), "append"),
    "partial over a log": (functools.partial(noisy_argument, log=LOG), "append"),
    "partial of a partial": (functools.partial(functools.partial(sleepy)), "time.sleep"),
    "lru_cache": (functools.lru_cache(deeper), "lru_cache"),
    # captured state
    "log.append": (lambda x: LOG.append(1), "append"),
    "append as a value": (lambda x: list(map(LOG.append, [x])), "append"),
    "append captured bound": (lambda x, add=LOG.append: add(x), "append"),
    "list.append": (lambda x: list.append(LOG, x), "append"),
    "append directly": (LOG.append, "append"),
    "default list": (default_log, "append"),
    "keyword-only default list": (kwonly_default_log, "append"),
    "dict store": (store_subscript, "subscript"),
    "dict in-place": (inplace_subscript, "subscript"),
    "dict delete": (delete_subscript, "subscript"),
    "dict update": (lambda x: COUNTS.update(n=1), "update"),
    "dict setdefault": (lambda x: COUNTS.setdefault("n", x), "setdefault"),
    "dict |=": (lambda x: operator.ior(COUNTS, {}), "ior"),
    "operator.setitem": (lambda x: operator.setitem(COUNTS, 1, x), "setitem"),
    "methodcaller": (lambda x: operator.methodcaller("append", 1)(LOG), "methodcaller"),
    "__setitem__": (lambda x: COUNTS.__setitem__(1, x), "__setitem__"),
    "bound __setitem__": (lambda x, put=COUNTS.__setitem__: put(1, x), "pure"),
    "slice store": (store_slice, "subscript"),
    "unpacking into a captured list": (unpack_into_captured, "subscript"),
    "looping into a captured list": (loop_into_captured, "subscript"),
    "defaultdict": (lambda x, d=collections.defaultdict(list): d[1], "defaultdict"),
    "Counter": (lambda x, d=collections.Counter(): d[1], "Counter"),
    "deque": (lambda x, d=collections.deque(): d.append(1), "deque"),
    "set add": (lambda x, s={1}: s.add(2), "add"),
    "bytearray": (lambda x, b=bytearray(3): b.extend(b"x"), "extend"),
    "alias": (aliased, "append"),
    "alias in a tuple": (alias_in_tuple, "append"),
    "alias in place": (alias_in_place, "+="),
    "alias through an argument": (alias_of_alias, "append"),
    "alias through an identity": (lambda x: identity(LOG).append(1), "append"),
    "list in a tuple": (lambda x, t=(1, [2]): t[1].append(1), "append"),
    "list in a namedtuple": (lambda x, p=Point([], 1): p.x.append(1), "append"),
    "list in a frozen dataclass": (lambda x, c=Config(names=([],)): c.names[0].pop(), "pop"),
    "list in a namespace": (lambda x, n=types.SimpleNamespace(a=[]): n.a.pop(), "pop"),
    "array store": (write_array, "subscript"),
    "array slice store": (write_array_slice, "subscript"),
    "array view store": (write_array_view, "subscript"),
    "array in place": (write_array_in_place, "+="),
    "array fill": (lambda x: MEAN.fill(0), "fill"),
    "array sort": (lambda x: MEAN.sort(), "sort"),
    "array out=": (lambda x: np.add(x, 1, out=MEAN), "out="),
    "array out= of a method": (lambda x: x.sum(out=MEAN), "out="),
    "array positional out": (lambda x: np.exp(x, MEAN), "output"),
    "array positional out, reduction": (lambda x: np.sum(x, 0, None, MEAN), "output"),
    "array positional out, method": (lambda x: x.clip(0, 1, MEAN), "output"),
    "array positional out, starred": (lambda x: np.add(*(x, x, MEAN)), "output"),
    "array out by **": (lambda x: np.add(x, x, **dict(out=MEAN)), "out"),
    "array out by a local": (lambda x: (lambda f: f(x, MEAN))(np.exp), "output"),
    "array out by map": (lambda x: list(map(np.exp, [x], [MEAN])), "output"),
    "array out in a conditional": (lambda x: (np.exp if NAMES else deeper)(x, MEAN), "output"),
    "array out in a list": (lambda x: [np.exp][0](x, MEAN), "output"),
    "array out by partial": (functools.partial(np.add, out=MEAN), "output"),
    "array nan_to_num": (lambda x: np.nan_to_num(MEAN, False), "output"),
    "array nan_to_num keyword": (lambda x: np.nan_to_num(MEAN, copy=False), "output"),
    "array median": (lambda x: np.median(MEAN, overwrite_input=True), "overwrite_input"),
    "np.add.at": (lambda x: np.add.at(MEAN, 0, 1), "at"),
    "np.copyto": (lambda x: np.copyto(MEAN, 1), "copyto"),
    "np.put": (lambda x: np.put(MEAN, 0, 1), "put"),
    "np.fill_diagonal": (lambda x: np.fill_diagonal(MEAN, 0), "fill_diagonal"),
    "np.save": (lambda x: np.save("f", x), "save"),
    "np.load": (lambda x: np.load("f"), "load"),
    "np.seterr": (lambda x: np.seterr(all="raise"), "seterr"),
    "np.empty": (lambda x: np.empty(3), "empty"),
    "tofile": (lambda x: MEAN.tofile("f"), "tofile"),
    "ctypes": (lambda x: MEAN.ctypes, "ctypes"),
    "structured scalar": (lambda x, v=np.zeros(1, "i4,i4")[0]: v.setfield(0, "i4"), "setfield"),
    "np.load through numpy.lib": (lambda x: np.lib.npyio.NpzFile, "Npz"),
    "array out after a comprehension": (
        lambda x: np.add([k for k in range(3) if k], x and 1, MEAN),
        "output",
    ),
    "array out by a stored function": (stored_out, "output"),
    "array out of a local result": (clips_result, "output"),
    "array out by or": (lambda x: (np.exp or deeper)(x, MEAN), "output"),
    "list or display": (conditional_display, "append"),
    "list or display, reversed": (conditional_display_reversed, "append"),
    "display rebound by a loop": (display_rebound, "append"),
    "display in an argument": (display_in_argument, "append"),
    "list in a local display": (display_element, "subscript"),
    "captured list by a display's element": (display_nested_key, "subscript"),
    "list out of a local display": (element_of_a_display, "+="),
    "list from a user's operator": (result_of_users_operator, "+="),
    # stores
    "global": (store_global, "global"),
    "del global": (delete_global, "global"),
    "nonlocal": (counter(), "nonlocal"),
    "nonlocal two levels up": (deep_counter(), "nonlocal"),
    "unbound cell": (unbound_cell(), "later"),
    "undefined name": (mentions_later, "not defined"),
    "function attribute": (function_attribute, "attribute"),
    "list on a function": (with_log, "append"),
    "list on a function, aliased": (with_log_alias, "append"),
    "del attribute": (delete_attribute, "attribute"),
    "rebinds an import": (rebinds_import, "imports into"),
    "class": (defines_class, "class"),
    # ways around
    "__globals__": (by_dunder_globals, "__globals__"),
    "__self__": (by_dunder_self, "__self__"),
    "__class__": (by_class, "__class__"),
    "frame": (by_frame, "gi_frame"),
    "with a lock": (with_block, "lock"),
    "with errstate": (with_errstate, "with block"),
    "except": (catches, "exceptions"),
    "generator": (generator, "generator"),
    "generator from": (yields_from, "generator"),
    "coroutine": (coroutine, "coroutine"),
    "asynchronous generator": (async_generator, "coroutine"),
    "import time inside": (imports_time_inside, "time.time"),
    "import numpy inside": (imports_random_inside, "random"),
    "from time import sleep inside": (imports_sleep_inside, "time.sleep"),
    "import for a closure": (imports_for_closure, "time.time"),
    "import of an unloaded module": (imports_unloaded, "antigravity"),
    "copied module name": (spoofed(), "print"),
    "returned lambda": (lazily, "time.sleep"),
    # callees
    "helper two levels deep": (noisy, "append"),
    "helper in a lambda": (lambda x: noisy(x), "append"),
    "helper as a value": (lambda x: list(map(noisy, [x])), "append"),
    "helper in a dict": (lambda x, d={"f": noisy}: d["f"](x), "append"),
    "helper in a comprehension": (lambda x: [sleepy(k) for k in range(3)], "time.sleep"),
    "lambda in a comprehension": (lambda x: [(lambda: print(x))() for _ in NAMES], "print"),
    "generator expression": (lambda x: sum(sleepy(k) for k in range(3)), "time.sleep"),
    "decorated helper": (decorated_sleep, "time.sleep"),
    "noisy decorator": (decorated_print, "print"),
    "noisy default": (lambda x, f=noisy: f(x), "append"),
    "noisy sort key": (lambda x: sorted(NAMES, key=print), "print"),
    "bound by closure": (bound(LOG.append, 1), "append"),
    # users' objects
    "self.count += 1": (SCALER.counting, "attribute"),
    "class counter": (SCALER.class_counting, "attribute"),
    "list on the class": (SCALER.seeing, "append"),
    "list on the class, aliased": (PLAIN.aliased, "append"),
    "module on an object": (SCALER.ticking, "time.time"),
    "self rebound": (SCALER.rebinding, "rebinds"),
    "unbound method": (Scaler.counting, "attribute"),
    "property": (lambda x: x + SCALER.noisy, "property"),
    "property through a local": (lambda x: identity(PLAIN).noisy, "append"),
    "callable object that counts": (CountingCall(), "attribute"),
    "captured callable object": (lambda x, f=CountingCall(): f(x), "attribute"),
    "other method of a callable": (lambda x, f=SneakyCall(): identity(f).shout(x), "print"),
    "__getattr__": (lambda x, d=Dynamic(): d.anything, "__getattr__"),
    "__getattribute__": (lambda x, d=Always(): d.anything, "__getattribute__"),
    "operator of an object": (lambda x, a=Adding(): x + a, "print"),
    "metaclass": (lambda x: WithMeta.anything, "metaclass"),
    "subclass of ndarray": (lambda x, a=np.ones(2).view(MyArray): x + a, "MyArray"),
    "subclass of list": (lambda x, a=MyList(): a[0], "MyList"),
    "object in an array": (lambda x, a=np.array([Adding()]): x + a[0], "print"),
    "object as a key": (lambda x, d={RNG: 1}: d, "Generator"),
    "class with __init__": (lambda x: Initialised(), "__init__"),
    "dataclass with __post_init__": (lambda x: PostInit(), "__post_init__"),
    "method of a namedtuple": (lambda x, p=NoisyPoint(1, 2): p.report(), "print"),
    "decorated method of an object that draws": (SCALER.decorated, "Generator"),
    "__class_getitem__": (lambda x: Subscripted[x], "append"),
    "__subclasshook__": (lambda x: isinstance(x, Hooked), "append"),
    "__class__ as a property": (lambda x, f=Faking(): [x, f], "append"),
    "__missing__": (lambda x, d=Missing(): d[1], "Missing"),
    "globals of a dict subclass": (eval("lambda x: x + y", Missing(y=1)), "plain dict"),
    "captured exception": (raises_captured, "exception"),
    "super": (Sub().scale, "super"),
    "ufunc made of a Python function": (lambda x: NOISY_UFUNC(x), "ufunc"),
    "its reduce": (lambda x: NOISY_UFUNC.reduce(x), "ufunc"),
    "its reduce, bound": (lambda x, f=NOISY_UFUNC.reduce: f(x), "ufunc"),
    "np.vectorize": (lambda x: np.vectorize(deeper)(x), "vectorize"),
    "array over a bytearray": (
        lambda x, b=bytearray(4): np.frombuffer(b, np.uint8).fill(0),
        "fill",
    ),
    "list.__init__": (lambda x: list.__init__(LOG), "__init__"),
    "list.clear as a value": (lambda x: [f(LOG) for f in [list.clear]], "clear"),
    "self.__dict__": (lambda x: SCALER.__dict__.update(n=1), "__dict__"),
    "relative import": (relative_import, "relatively"),
    "a private attribute of a local": (lambda x, a=MEAN: a._mmap, "_mmap"),
    "heappush": (lambda x: heapq.heappush(LOG, x), "heappush"),
    "random.shuffle": (lambda x: random.shuffle(LOG), "random"),
    "re.sub": (lambda x: re.sub("a", "b", "c"), ""),
    "copy": (lambda x: copy.copy(LOG), "type"),
    "walrus into a global": (walrus_global, "global"),
    "enum": (lambda x: Colour.RED, "Enum"),
    "enum member as a default": (lambda x, c=Colour.RED: c, "Enum"),
    "cached property": (lambda x, o=Lazy(): o.table, "descriptor"),
    "descriptor": (lambda x, o=Described(): o.field, "descriptor"),
    "descriptor through a local": (lambda x, o=Described(): identity(o).field, "descriptor"),
    "class pattern": (matches_class, "class pattern"),
    "singledispatch": (functools.singledispatch(deeper), ""),
    "staticmethod object": (lambda x, f=staticmethod(deeper): f(x), "staticmethod"),
    "ABC.register": (lambda x, c=Hooked: identity(c).register(int), ""),
    "wrapper descriptor": (lambda x, f=list.__iadd__: f(LOG, [x]), "wrapper_descriptor"),
    "module's __dict__": (lambda x: math.__dict__.update(n=1), "__dict__"),
    "np.ma": (lambda x: np.ma.masked_where(x, x), "ma"),
    "numpy's docstrings": (lambda x: np.lib.add_docstring(x, "s"), "add_docstring"),
    # headrace
    "change beside a headrace tensor": (lambda x: [hr.ragged, x.fill(0)], "fill"),
    "counting in a dataset": (lambda x: operator.countOf(hr.dataset, x), "countOf"),
    "headrace writer": (lambda x: hr.write_records(x), "write_records"),
    "headrace py_function": (lambda x: hr.py_function(x), "py_function"),
    "headrace iterator": (lambda x: hr.iterator, "iterator"),
    "iterating a dataset": (iterates_dataset, "iterates"),
    "list of a dataset": (lambda x: list(hr.dataset), "list"),
    "extending by a dataset": (lambda x: [].extend(hr.dataset), "extend"),
    "searching a dataset": (lambda x: x in hr.dataset, "iterates"),
    "loading a dataset": (lambda x: hr.Dataset.load("d"), "load"),
    "reducing a dataset": (lambda x: hr.dataset.reduce(0, deeper), "reduce"),
    "saving a dataset": (lambda x: hr.dataset.save("d"), "save"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_function_with_effects_is_refused_and_told_why(name):
    function, word = REFUSED[name]
    refusal = check(function)
    assert refusal is not None
    assert word in refusal.reason
    assert "cannot be examined" not in refusal.reason
    assert refusal.hint


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
    line = sleepy.__code__.co_firstlineno + 1
    assert isinstance(refusal, Refusal)
    assert (refusal.filename, refusal.lineno) == (__file__, line)
    assert str(refusal) == (
        f"sleepy at test_purity.py:{line}: calls time.sleep, which can be observed from outside "
        f"(`{linecache.getline(__file__, line).strip()}`); compute the time outside and capture it"
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
    names = {**globals(), "__name__": "user"}
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
