"""What a traced function may reach: the lists behind the purity walk.

Everything is compared by identity, never by name or by ``==``: a user's object may carry any name
and run any code when compared.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import operator
import sys
import types
from collections import OrderedDict
from typing import Any

import numpy as np

from .bytecode import words

RANDOM_HINT = "draw with headrace.random, whose numbers a graph can draw"
_CLOCK_HINT = "compute the time outside and capture it"
_IO_HINT = "do input and output outside the function"

# The modules whose functions are refused before anything else is asked, with the hint to give.
HINTS = {
    "random": RANDOM_HINT,
    "numpy.random": RANDOM_HINT,
    "secrets": RANDOM_HINT,
    "uuid": RANDOM_HINT,
    "time": _CLOCK_HINT,
    "datetime": _CLOCK_HINT,
    **dict.fromkeys(
        words(
            "os posix nt io _io sys subprocess socket shutil tempfile pathlib logging threading "
            "_thread multiprocessing queue asyncio urllib ctypes gc atexit signal importlib pickle "
            "warnings contextvars contextlib inspect types weakref builtins"
        ),
        _IO_HINT,
    ),
}
# Builtins that are no input and output: `headrace.hints` has a remedy for each of them.
UNLIKE_IO = frozenset(words("getattr eval exec hash object __import__"))

ATOMS: frozenset[type] = frozenset(
    {
        *(type(None), bool, int, float, complex, str, bytes, range, slice),
        *(type(...), type(NotImplemented)),
    }
)

BUILTINS: dict[int, str] = {
    id(getattr(builtins, name)): name
    for name in words("""
    abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float format
    frozenset hex int isinstance issubclass iter len list map max min next oct ord pow range repr
    reversed round set slice sorted str sum tuple zip
    """)
}
# With a dataset at hand, these may run it.
ITERATING = words("""
    all any bytearray bytes dict enumerate filter frozenset iter list map max min next reduce
    reversed set sorted sum tuple zip array asarray fromiter stack concatenate
    """)

_OPERATOR_DENIED = words("""
    attrgetter delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub
    itruediv ixor methodcaller setitem
    """)


_stdlib: dict[int, str] = {}
_stdlib_loaded: set[str] = set()


def stdlib() -> dict[int, str]:
    """Return the allowed functions of the standard library by identity."""
    if not _stdlib:
        _stdlib.update(_functional())
    for name in ("math", "cmath"):  # nobody has a function of a module that is not loaded
        if name not in _stdlib_loaded and name in sys.modules:
            _stdlib_loaded.add(name)
            _stdlib.update((id(v), f"{name}.{k}") for k, v in vars(sys.modules[name]).items())
    return _stdlib


def _functional() -> dict[int, str]:
    table: dict[int, str] = {}
    for name in operator.__all__:
        if name not in _OPERATOR_DENIED:
            table[id(getattr(operator, name))] = f"operator.{name}"
    for name, item in vars(itertools).items():
        if not name.startswith("_"):
            table[id(item)] = f"itertools.{name}"
    table[id(functools.reduce)] = "functools.reduce"
    table[id(functools.partial)] = "functools.partial"
    return table


_NUMPY_DENIED = words("""
    DataSource array2string array_repr array_str copyto datetime64 empty empty_like errstate
    fill_diagonal frompyfunc fromfile fromregex genfromtxt get_include get_printoptions getbufsize
    geterr geterrcall info load loadtxt matrix memmap nditer nested_iters open_memmap place
    printoptions put put_along_axis putmask recarray save savetxt savez savez_compressed
    set_printoptions setbufsize seterr seterrcall show_config show_runtime test vectorize
    disp lookfor source who safe_eval deprecate add_newdoc set_string_function set_numeric_ops
    bmat asmatrix chararray record
    """)
# The number of leading positional arguments before `out`, where NumPy gives no signature.
_NUMPY_LIMITS = {"concatenate": 2, "dot": 2, "is_busday": 4, "busday_offset": 6, "busday_count": 5}


# Modules that NumPy loads when they are first used: nobody has a function of theirs before.
_NUMPY_LAZY = {name: f"numpy.{name}" for name in ("char", "fft", "strings")}
_numpy_loaded: set[str] = set()


def numpy_table() -> dict[int, str]:
    """Return the allowed NumPy functions, types and indexing helpers by identity."""
    table = _numpy_table()
    for full in _NUMPY_LAZY.values():
        if full in sys.modules and full not in _numpy_loaded:
            _numpy_loaded.add(full)
            module = sys.modules[full]
            _admit(table, full, module, list(getattr(module, "__all__", vars(module))))
    return table


# Kinds of functions and classes that have a name of their own, by which they are found at once.
_NAMED = (np.ufunc, type, types.FunctionType, types.BuiltinFunctionType, type(np.concatenate))


def is_numpy(item: Any) -> bool:
    """Tell whether `item` is one of the allowed NumPy functions, types and indexing helpers."""
    if type(item) in _NAMED:
        name = item.__name__
        for module in () if name.startswith("_") else (np, np.linalg):
            if vars(module).get(name) is item and _is_public(module, name):
                return True
    # What the table holds is of NumPy or of a kind of NumPy's; building it takes a millisecond.
    if type(item) is np.ndarray or not module_of(item).startswith("numpy"):
        return False
    return id(item) in numpy_table()


@functools.cache
def _is_public(module: Any, name: str) -> bool:
    # NumPy lists some 500 names.
    return name in module.__all__ and name not in _NUMPY_DENIED


def load_numpy(name: str) -> None:
    """Load the submodule of NumPy that ``np.name`` is, as reading it would."""
    if name in _NUMPY_LAZY:
        getattr(np, name, None)


def _admit(table: dict[int, str], prefix: str, module: Any, names: list[str]) -> None:
    for name in names:
        item = vars(module).get(name)
        if (
            item is None
            or name.startswith("_")
            or name in _NUMPY_DENIED
            or isinstance(item, types.ModuleType)
        ):
            continue
        if not isinstance(item, dict | tuple | float | int | bool):
            table[id(item)] = f"{prefix}.{name}"


@functools.cache
def _numpy_table() -> dict[int, str]:
    table: dict[int, str] = {}
    stride = np.lib.stride_tricks
    groups: list[tuple[str, Any, list[str]]] = [
        ("numpy", np, [name for name in np.__all__ if name not in _NUMPY_LAZY]),
        ("numpy.linalg", np.linalg, list(np.linalg.__all__)),
        ("numpy.emath", np.emath, list(np.emath.__all__)),
        ("numpy.dtypes", getattr(np, "dtypes", np), list(getattr(np.dtypes, "__all__", ()))),
        ("numpy.lib.stride_tricks", stride, ["as_strided", "sliding_window_view"]),
    ]
    for prefix, module, names in groups:
        _admit(table, prefix, module, names)
    for item in vars(np).values():  # the C names of the scalar types: np.intc, np.longlong, ...
        if isinstance(item, type) and issubclass(item, np.generic) and item is not np.datetime64:
            table.setdefault(id(item), f"numpy.{item.__name__}")
    table.pop(id(np.record), None)
    return table


@functools.cache
def numpy_limit(item: Any) -> int | None:
    """Return how many positional arguments `item` takes before one that may be written to.

    None means that it writes to none of its arguments, whatever is passed.
    """
    if isinstance(item, np.ufunc):
        return item.nin
    if isinstance(item, type):
        return None
    name = getattr(item, "__name__", "")
    if name in _NUMPY_LIMITS:
        return _NUMPY_LIMITS[name]
    if name == "nan_to_num":
        return 1
    # Imported when needed: it takes longer than all the rest of the walk.
    import inspect

    try:
        parameters = list(inspect.signature(item).parameters.values())
    except (TypeError, ValueError):
        return None
    for k, parameter in enumerate(parameters):
        if parameter.name in ("out", "overwrite_input"):
            return k if parameter.kind is not parameter.KEYWORD_ONLY else len(parameters)
    return None


# As `numpy_limit`, for methods of a value that is not known.
METHOD_LIMITS = {
    **dict.fromkeys(("all", "any", "argmax", "argmin", "choose", "dot", "max", "min", "round"), 1),
    **dict.fromkeys(("clip", "compress", "cumprod", "cumsum", "mean", "prod", "std", "sum"), 2),
    **dict.fromkeys(("take", "var"), 2),
    **dict.fromkeys(("reduce", "accumulate"), 3),
    **dict.fromkeys(("reduceat", "trace"), 4),
    "outer": 2,
}
WRITING_KEYWORDS = frozenset({"out", "overwrite_input", "inplace"})

# Mutable kinds of captured values, and the names of methods that change them.
KINDS: dict[str, type] = {
    "list": list,
    "dict": dict,
    "set": set,
    "array": np.ndarray,
    "bytearray": bytearray,
    "record": np.void,
    "ordered": OrderedDict,
}
OPAQUE = "object"
EVERY_KIND = frozenset({*KINDS, OPAQUE})
SUBSCRIPT_KINDS = EVERY_KIND - {"set"}
# Methods of these kinds that change nothing. Any other method of theirs is taken to change them, so
# that one added by a new Python or NumPy is not missed.
_PURE_METHODS = frozenset(vars(bytes)) | words(
    """
    T all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy
    cumprod cumsum denominator device diagonal difference dot dtype dumps flags flat flatten
    fromkeys get getfield imag intersection is_integer isdisjoint issubset issuperset item items
    itemsize keys mT max mean min nbytes ndim newbyteorder nonzero numerator prod ptp ravel real
    repeat reshape round searchsorted shape size squeeze std strides sum swapaxes
    symmetric_difference take to_device tobytes tolist tostring trace transpose union values var
    view
    """
)
# Names that change objects of other classes.
_OTHER_MUTATORS = words("at put write")


@functools.cache
def kinds_changed_by(name: str) -> frozenset[str]:
    """Return the mutable kinds that a method called `name` changes."""
    if name == "at":  # ufunc.at
        return frozenset({"array", OPAQUE})
    pure = name in _PURE_METHODS and name != "partition"  # of bytes, and of arrays
    kinds = frozenset(k for k, cls in KINDS.items() if hasattr(cls, name) and not pure)
    return kinds | {OPAQUE} if kinds or name in _OTHER_MUTATORS else kinds


@functools.cache
def kinds_inplace(symbol: str) -> frozenset[str]:
    """Return the mutable kinds that the operator `symbol` (``+=``) changes in place."""
    method = {
        "+=": "__iadd__",
        "*=": "__imul__",
        "|=": "__ior__",
        "&=": "__iand__",
        "^=": "__ixor__",
        "-=": "__isub__",
    }.get(symbol)
    if method is None:
        return frozenset({"array", "record", OPAQUE})
    return frozenset(k for k, cls in KINDS.items() if hasattr(cls, method)) | {OPAQUE}


# Attributes of a value that is not known. Frames, code and raw memory lead anywhere.
ITERATING_METHODS = words("difference extend fromkeys intersection join reduce union update")
DUNDERS_READ = frozenset({"__name__", "__qualname__", "__len__", "__getitem__", "__contains__"})
PRIVATE_READ = frozenset({"_replace", "_asdict", "_fields", "_make"})
ATTRIBUTES_DENIED = words("""
    ag_code ag_frame base cr_code cr_frame ctypes data dump f_back f_builtins f_globals f_locals
    flush func_globals gi_code gi_frame gi_yieldfrom keywords metadata release save send tb_frame
    register tb_next throw to_file tofile writelines as_numpy_iterator make_one_shot_iterator
    make_initializable_iterator get_single_element load
    """)

# Compared in lower case. No regular expression: compiling one takes longer than a whole walk.
_DENIED_PARTS = ("writ", "save", "snapshot_to", "regist")
_DENIED_STARTS = ("set_", "load", "enable", "disable")
_DENIED_ENDS = ("seed", "iterator", "reader", "checkpoint")
_DENIED_NAMES = words("py_function numpy_function get_single_element cli main")


def is_headrace_name(module: object) -> bool:
    """Tell whether a module name is headrace's own."""
    return type(module) is str and (module == "headrace" or module.startswith("headrace."))


def headrace_denies(name: str) -> bool:
    """Tell whether a name of headrace has effects outside the graph."""
    name = name.lower()
    return (
        name in _DENIED_NAMES
        or name.startswith(_DENIED_STARTS)
        or name.endswith(_DENIED_ENDS)
        or any(part in name for part in _DENIED_PARTS)
    )


METHOD_OWNERS: frozenset[type] = frozenset(
    {str, bytes, int, float, complex, bool, list, dict, tuple, set, frozenset, range, np.ndarray}
)
BOUND_OWNERS: frozenset[type] = frozenset(
    {*METHOD_OWNERS, np.ufunc, bytearray, OrderedDict, *(type(np.dtype(c)) for c in "bifd")}
)
EXCEPTIONS: frozenset[int] = frozenset(
    id(v) for v in vars(builtins).values() if isinstance(v, type) and issubclass(v, BaseException)
)


def module_of(item: object) -> str:
    """Name the module that a function or class comes from, without running its code."""
    if type(item) is types.FunctionType:
        return str(item.__globals__.get("__name__", ""))
    cls: Any = type(item)
    if issubclass(cls, type):
        found = type.__dict__["__module__"].__get__(item)
        return found if type(found) is str else ""
    if cls in (types.BuiltinFunctionType, types.MethodWrapperType):
        owner: Any = getattr(item, "__self__", None)
        if type(owner) is types.ModuleType:
            return owner.__name__
        if owner is not None:
            return module_of(owner if issubclass(type(owner), type) else type(owner))
        named = getattr(item, "__module__", None)
        if type(named) is str:
            return named
    found = type.__dict__["__module__"].__get__(cls)
    return found if type(found) is str else ""


def hint_for(module: str) -> str | None:
    """Return the hint for a module known to have effects or hidden inputs."""
    parts = module.split(".")
    for k in range(len(parts), 0, -1):
        hint = HINTS.get(".".join(parts[:k]))
        if hint is not None:
            return hint
    return None
