"""What stands for the user's code in states and fingerprints: 64 bits, the same in every process.

It is made of the qualified name, the bytecode and the constants of a function and of the functions
of the same project that it calls, and of what it captures: numbers, text, and tuples of them, as
long as the code does not assign them anew. Arrays, lists and dicts count where the function is
known not to change them. File and line do not count, so a function may move.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _headrace

__all__ = ["code_of", "fingerprint"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)
# Of long arrays and containers a sample counts.
_PIECE, _PIECES = 64 << 10, 16
_LONGEST = 10_000


def fingerprint(function: Callable[..., Any], arguments: tuple[Any, ...] = ()) -> int:
    """Return 64 bits that stand for `function`, called with these arguments.

    Examples
    --------
    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 2)
    False
    """
    found = _Parts()
    found.function(function)
    for argument in arguments:
        found.value(argument, 0)
    if found.captures_more and _is_pure(function):
        from .purity import captures

        for captured in captures(function):
            found.value(captured, 0)
    parts = (part.encode("utf-8", "surrogatepass") for part in found.parts)
    return _headrace.fingerprint(b"\0".join(parts))


def code_of(function: Any) -> Any:
    """Return the code-bearing function behind partials, methods and callable objects."""
    while not hasattr(function, "__code__"):
        if hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "__func__"):
            function = function.__func__
        else:
            return type(function).__call__
    return function


def _is_pure(function: Callable[..., Any]) -> bool:
    from .purity import check

    return check(function) is None


class _Parts:
    """Collects what identifies functions and values; nothing that differs between processes."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.seen: set[int] = set()
        # Arrays, containers or objects are captured, which the code may change.
        self.captures_more = False

    def function(self, function: Any) -> None:
        kind = type(function)
        self.parts.append(f"{kind.__module__}.{kind.__qualname__}")
        self.parts.append(str(getattr(function, "__qualname__", "")))
        while isinstance(function, functools.partial):
            for value in (*function.args, *sorted(function.keywords.items())):
                self._captured(value)
            function = function.func
        self.captures_more |= getattr(function, "__self__", None) is not None
        bare = code_of(function)
        self.captures_more |= bare is kind.__call__
        self.parts.append(str(getattr(bare, "__qualname__", "")))
        code = getattr(bare, "__code__", None)
        if code is None or id(code) in self.seen:
            return
        self.seen.add(id(code))
        self.parts.extend(_code_parts(code))
        for value in _values(bare, code):
            self._captured(value)

    def _captured(self, value: Any) -> None:
        if isinstance(value, types.FunctionType):
            if _is_of_user(value):
                self.function(value)
            else:
                self.parts.append(f"{value.__module__}.{value.__qualname__}")
        elif isinstance(value, functools.partial):
            self.function(value)
        elif isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
            self.parts.append(str(getattr(value, "__qualname__", value.__name__)))
        elif isinstance(value, tuple):
            self.parts.append(f"tuple {len(value)}")
            for item in value:
                self._captured(item)
        elif isinstance(value, _PLAIN):
            self.parts.append(f"{type(value).__name__} {value!r}")
        else:
            self.captures_more = True

    def value(self, value: Any, depth: int) -> None:
        """Add a value that does not change: containers and arrays with what they hold."""
        if len(self.parts) > 10 * _LONGEST:
            return
        if issubclass(type(value), np.ndarray):  # a symbol says that it is one
            value = np.asarray(value)  # a tensor has a dtype of its own kind
            self.parts.append(f"array {value.dtype} {value.shape}")
            if value.dtype.hasobject:
                for item in value.ravel()[:_LONGEST]:
                    self.value(item, depth + 1)
            else:
                self.parts.append(f"{_headrace.fingerprint(_sample(value)):016x}")
        elif isinstance(value, dict | list | tuple) and depth < 20:
            self.parts.append(f"{type(value).__name__} {len(value)}")
            for item in list(value.items() if isinstance(value, dict) else value)[:_LONGEST]:
                self.value(item, depth + 1)
        elif isinstance(value, set | frozenset):
            self.parts.append(f"set {sorted(map(repr, value))}")
        elif isinstance(value, _PLAIN):
            self.parts.append(f"{type(value).__name__} {value!r}")
        else:
            self.parts.append(type(value).__qualname__)


def _sample(array: np.ndarray[Any, Any]) -> bytes:
    """Return the bytes of an array, of a long one those at both ends and some between."""
    if array.nbytes <= _PIECE * _PIECES:
        return array.tobytes()
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    count = max(_PIECE // array.itemsize, 1)
    starts = np.linspace(0, array.size - count, _PIECES).astype(int)
    return b"".join(np.asarray(flat[start : start + count]).tobytes() for start in starts)


def _values(function: Any, code: types.CodeType) -> Iterator[Any]:
    """Yield what a function captures, but for variables that its code assigns."""
    yield from getattr(function, "__defaults__", None) or ()
    for _, value in sorted((getattr(function, "__kwdefaults__", None) or {}).items()):
        yield value
    closure = getattr(function, "__closure__", None) or ()
    names = getattr(function, "__globals__", {})
    if not closure and not code.co_names:
        return
    loaded, stored = _names(code)
    for name, cell in zip(code.co_freevars, closure, strict=False):
        if name not in stored:
            try:
                yield cell.cell_contents
            except ValueError:  # not assigned yet
                continue
    for name in loaded:
        if name in names and name not in stored:
            yield names[name]


def _names(code: types.CodeType) -> tuple[dict[str, None], set[str]]:
    """Return the globals that code loads, in order, and the variables around it that it stores."""
    from .purity.bytecode import steps

    loaded: dict[str, None] = {}
    stored: set[str] = set()
    for step in steps(code)[2]:
        if step.name in ("LOAD_GLOBAL", "LOAD_NAME"):
            loaded[str(step.value)] = None
        elif step.name in ("STORE_GLOBAL", "STORE_DEREF", "DELETE_GLOBAL", "DELETE_DEREF"):
            stored.add(str(step.value))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            more, changed = _names(constant)
            loaded.update(more)
            stored |= changed
    return loaded, stored


def _is_of_user(function: types.FunctionType) -> bool:
    """Tell whether a function is part of the user's project, and so may change with it."""
    module = (function.__module__ or "").partition(".")[0]
    return module not in ("headrace", "numpy") and not function.__code__.co_filename.startswith(
        _libraries()
    )


@functools.cache
def _libraries() -> tuple[str, ...]:
    import sysconfig

    paths = sysconfig.get_paths()
    return tuple({paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def _code_parts(code: types.CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield " ".join(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_parts(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))  # the order of a set differs per process
        else:
            yield repr(constant)
