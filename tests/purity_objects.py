"""What the functions of the tests of purity reach: values, classes, other functions."""

from __future__ import annotations

import abc
import dataclasses
import functools
import io
import random
import threading
import time
import types
import typing
from collections import namedtuple

import numpy as np

# ruff: noqa: B024
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
