"""What functions rewritten by `rewriting` call: loops, branches and calls on values or symbols.

On values each does what the statement did that it stands for. On symbols the functions that it is
given become graphs; the variables that they set are read and put by two more.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ..ops import tracing
from ..trace import TraceRefused
from .control import recorded_cond, traced_part
from .convert import convert, is_symbol
from .dtypes import bool as bool_
from .kernels import run, run_all, static_shape
from .loops import recorded_loop
from .nest import flatten, is_nested, pack_sequence_as

__all__ = [
    "UNDEFINED",
    "both",
    "branch",
    "called",
    "choose",
    "either",
    "loop",
    "loop_over",
    "negated",
    "returned",
]


class _Undefined:
    """A variable that nothing was assigned to, or not on each way."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnboundLocalError("a local variable is not associated with a value on each way")

    def __bool__(self) -> bool:
        raise UnboundLocalError("a local variable is not associated with a value on each way")


UNDEFINED: Any = _Undefined()
Nullary = Callable[[], Any]
Put = Callable[[tuple[Any, ...]], None]


def _is_plain(leaf: Any) -> bool:
    """Tell whether a value may be a tensor."""
    if is_symbol(leaf):
        return True
    try:
        convert(leaf)
    except (TypeError, ValueError):
        return False
    return not getattr(type(leaf), "_is_composite", False)


def _refuse(reason: str) -> NoReturn:
    raise TraceRefused(tracing.tracer.place(reason))


class _State:
    """The variables of a statement: which go from turn to turn, and which only exist within one."""

    def __init__(self, get: Nullary, put: Put) -> None:
        self.get, self.put = get, put
        self.first: tuple[Any, ...] = get()
        self.leaves = [self._leaves(value) for value in self.first]
        self.carried = [found is not None for found in self.leaves]

    def _leaves(self, value: Any) -> list[Any] | None:
        """Return the tensors of a variable; None if it is no nest of tensors."""
        if value is UNDEFINED:
            return None
        found = flatten(value) if is_nested(value) else [value]
        return found if builtins.all(map(_is_plain, found)) else None

    def start(self) -> list[Any]:
        """Return the tensors of the first turn."""
        return [convert(leaf) for found in self.leaves for leaf in found or ()]

    def set(self, tensors: Any) -> None:
        """Put tensors into the variables; the others are what they were before."""
        rest = list(tensors)
        values = []
        for value, found in zip(self.first, self.leaves, strict=True):
            if found is None:
                values.append(value)
                continue
            own, rest = rest[: len(found)], rest[len(found) :]
            values.append(pack_sequence_as(value, own) if is_nested(value) else own[0])
        self.put(tuple(values))

    def after(self) -> list[Any]:
        """Return the tensors that the variables hold now."""
        tensors: list[Any] = []
        for value, first, found in zip(self.get(), self.first, self.leaves, strict=True):
            if found is not None:
                own = self._leaves(value)
                if own is None or len(own) != len(found):
                    _refuse("changes in a loop what a variable holds")
                tensors += map(convert, own)
            elif first is not UNDEFINED and value is not first:
                _refuse("sets in a loop a variable that is no tensor")
        return tensors


def loop(test: Nullary, turn: Nullary, get: Nullary, put: Put) -> None:
    """Do what ``while`` does."""
    while True:
        begun = get()
        first = test()
        if is_symbol(first):
            break
        if not first:
            return
        turn()
    put(begun)
    state = _State(get, put)

    def tested(*tensors: Any) -> Any:
        state.set(tensors)
        return _truth(test())

    def turned(*tensors: Any) -> tuple[list[Any], list[Any]]:
        state.set(tensors)
        turn()
        return state.after(), []

    _record(first._tracer, tested, turned, state)


def _record(
    tracer: Any, test: Any, turn: Any, state: _State, leading: tuple[Any, ...] = ()
) -> None:
    made = recorded_loop(tracer, test, turn, [*leading, *state.start()])
    if made is None:
        _refuse("loops on a value")
    state.set(made[0][len(leading) :])


def loop_over(items: Any, over: Nullary | None, turn: Any, get: Nullary, put: Put) -> None:
    """Do what ``for`` does; `over` tells whether it was left."""
    from .array_ops import shape

    dims = static_shape(items) if is_symbol(items) else ()
    if is_symbol(items) and (dims is None or (dims and dims[0] is None)):
        state = _State(get, put)
        count = shape(items)[0]

        def tested(number: Any, *tensors: Any) -> Any:
            below = number < count
            if over is None:
                return below
            state.set(tensors)
            return both(below, lambda: negated(over()))

        def turned(number: Any, *tensors: Any) -> tuple[list[Any], list[Any]]:
            state.set(tensors)
            turn(items[number])
            return [number + 1, *state.after()], []

        _record(items._tracer, tested, turned, state, (convert(0),))
        return
    for item in items:
        if over is not None:
            left = over()
            if is_symbol(left):
                # The turns are all there; those after the last one do nothing.
                branch(left, _nothing, functools.partial(turn, item), get, put)
                continue
            if left:
                return
        turn(item)


@contextlib.contextmanager
def _no_draws(tracer: Any) -> Iterator[None]:
    """Refuse random ops: on each way there would be others of a number."""
    while tracer.captured is not None and tracer.outer is not None:
        tracer = tracer.outer
    before = tracer.draws
    yield
    if tracer.draws != before:
        _refuse("draws random numbers in a branch")


def _nothing() -> None:
    """Do nothing."""


def _after(side: Nullary, get: Nullary) -> Any:
    side()
    return get()


def branch(value: Any, then: Nullary, other: Nullary, get: Nullary, put: Put) -> None:
    """Do what ``if`` does."""
    if not is_symbol(value):
        (then if value else other)()
        return
    value = _truth(value)
    tracer = value._tracer._now()
    before = get()
    sides: list[Any] = []
    for side in (then, other):
        put(before)
        with _no_draws(tracer):
            sides.append(traced_part(tracer, functools.partial(_after, side, get)))
        if sides[-1] is None:
            _refuse("branches on a value")
    (first, ours), (second, theirs) = sides
    leaves: list[tuple[Any, Any]] = []
    made: list[Any] = []  # for each variable its value, or how many tensors it takes
    for a, b in zip(ours, theirs, strict=True):
        if a is UNDEFINED or b is UNDEFINED:
            made.append((UNDEFINED, None))
        elif a is b:
            made.append((a, None))
        else:
            pairs = _pairs(a, b)
            made.append((a, len(pairs)))
            leaves += pairs
    outs = [(_either_shape(a, b), a.dtype) for a, b in leaves]
    numbers = [
        tuple(part.value(pair[k]) for pair in leaves) for k, part in enumerate((first, second))
    ]
    attrs = {
        name: part.builder.finish(own)
        for name, part, own in zip(("then", "other"), (first, second), numbers, strict=True)
    }
    captured = (*first.captured, *second.captured)
    if first.why is not None or second.why is not None:
        tracer.why = tracer.why or first.why or second.why
        found = [tracer._stand_in("branches", out) for out in outs]
    else:
        found = run_all("cond", (value, *captured), outs, **attrs)
    values = []
    for a, count in made:
        if count is None:
            values.append(a)
            continue
        own, found = found[:count], found[count:]
        values.append(pack_sequence_as(a, own) if is_nested(a) else own[0])
    put(tuple(values))


def returned(value: Any, then: Nullary, other: Nullary, get: Nullary, put: Put) -> Any:
    """Do what ``if`` does where one of its sides returns: each goes on to the function's end."""
    if not is_symbol(value):
        return then() if value else other()
    before = get()
    truth = _truth(value)

    def from_here(side: Nullary) -> Any:
        put(before)
        return side()

    with _no_draws(value._tracer):
        made = recorded_cond(
            truth, functools.partial(from_here, then), functools.partial(from_here, other)
        )
    if made is None:
        _refuse("branches on a value")
    return made


def _pairs(a: Any, b: Any) -> list[tuple[Any, Any]]:
    """Return the tensors that a variable holds on two ways."""
    ours, theirs = (flatten(x) if is_nested(x) else [x] for x in (a, b))
    if len(ours) != len(theirs) or not builtins.all(map(_is_plain, [*ours, *theirs])):
        _refuse("gives a variable another structure on each way of a branch")
    pairs = [(convert(x), convert(y)) for x, y in zip(ours, theirs, strict=True)]
    if builtins.any(x.dtype is not y.dtype for x, y in pairs):
        _refuse("gives a variable another dtype on each way of a branch")
    return pairs


def _either_shape(a: Any, b: Any) -> Any:
    from .control import _wider

    return _wider(static_shape(a), static_shape(b))


def _truth(value: Any) -> Any:
    """Return a value as a bool tensor."""
    value = convert(value)
    if value.dtype is bool_:
        return value
    if static_shape(value) != () or not (value.dtype.is_integer or value.dtype.is_floating):
        _refuse("branches on a value that is no number")
    return run("not_equal", (value, convert(0, value.dtype)), ((), bool_))


def choose(value: Any, then: Nullary, other: Nullary) -> Any:
    """Do what ``then if value else other`` does."""
    if not is_symbol(value):
        return then() if value else other()
    with _no_draws(value._tracer):
        made = recorded_cond(_truth(value), then, other)
    return (then() if value else other()) if made is None else made


def both(value: Any, other: Nullary) -> Any:
    """Do what ``and`` does."""
    if not is_symbol(value):
        return value and other()
    return choose(value, other, lambda: value)


def either(value: Any, other: Nullary) -> Any:
    """Do what ``or`` does."""
    if not is_symbol(value):
        return value or other()
    return choose(value, lambda: value, other)


def negated(value: Any) -> Any:
    """Do what ``not`` does."""
    if not is_symbol(value):
        return not value
    return run("logical_not", (_truth(value),), ((), bool_))


def _range(*ends: Any) -> Any:
    from .creation import range as tensor_range

    if builtins.any(map(is_symbol, ends)):
        return tensor_range(*ends)
    return builtins.range(*ends)


def _len(x: Any) -> Any:
    from .array_ops import shape

    if is_symbol(x):
        dims = static_shape(x)
        if dims is None or (dims and dims[0] is None):
            return shape(x)[0]
    return builtins.len(x)


def _int(*args: Any, **kwargs: Any) -> Any:
    return _number(builtins.int, "int32", args, kwargs)


def _float(*args: Any, **kwargs: Any) -> Any:
    return _number(builtins.float, "float32", args, kwargs)


def _number(kind: Any, dtype: str, args: Any, kwargs: Any) -> Any:
    from . import dtypes
    from .casting import cast
    from .strings import to_number

    if len(args) == 1 and is_symbol(args[0]):
        wanted = dtypes.as_dtype(dtype)
        if args[0].dtype is dtypes.string:
            return to_number(args[0], wanted)
        return cast(args[0], wanted)
    return kind(*args, **kwargs)


_BUILTINS: dict[Any, Any] = {
    builtins.range: _range,
    builtins.len: _len,
    builtins.int: _int,
    builtins.float: _float,
}


def called(function: Any) -> Any:
    """Return what is called where the code calls `function`."""
    from .rewriting import rewritten

    try:
        if function in _BUILTINS:
            return _BUILTINS[function]
        made = rewritten(function)
    except TypeError:  # not hashable
        return function
    return function if made is None else made
