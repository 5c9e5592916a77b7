"""Functions with effects are refused, and told why."""

from __future__ import annotations

import builtins
import collections
import copy
import functools
import heapq
import itertools
import logging
import math
import operator
import os
import queue
import random
import re
import sys
import time
import types
from datetime import datetime
from time import sleep

import numpy as np
import numpy.random as npr
import pytest
from purity_objects import (
    COUNTER,
    COUNTS,
    FILE,
    LOCK,
    LOG,
    MEAN,
    NAMES,
    NOISY_UFUNC,
    NPR,
    PLAIN,
    PYRNG,
    RNG,
    SCALER,
    STREAM,
    TM,
    Adding,
    Always,
    Config,
    CountingCall,
    Dynamic,
    Faking,
    Hooked,
    Initialised,
    Missing,
    MyArray,
    MyList,
    NoisyPoint,
    Point,
    PostInit,
    Scaler,
    SneakyCall,
    Sub,
    Subscripted,
    WithMeta,
    decorated_print,
    decorated_sleep,
    deeper,
    helper,
    hr,
    identity,
    noisy,
    raises_captured,
    sleepy,
)
from test_purity_allowed import (
    Colour,
    Described,
    Lazy,
    clips_result,
    conditional_display,
    conditional_display_reversed,
    display_element,
    display_in_argument,
    display_nested_key,
    display_rebound,
    element_of_a_display,
    imports_for_closure,
    imports_random_inside,
    imports_sleep_inside,
    imports_time_inside,
    imports_unloaded,
    matches_class,
    result_of_users_operator,
    stored_out,
)

from headrace.purity import check

# ruff: noqa: B006, B008, B009, B018, C408, C416, F811, F821, SIM115
# mypy: ignore-errors


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
    return x + this_name_is_nowhere


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
