"""Control flow and calls out of a traced function: `cond`, `while_loop`, `map_fn` and others.

On arrays these are plain Python. In a traced function each branch is a graph of its own, of which
only that of the branch taken runs, and so are test and body of a loop.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import InvalidArgumentError
from .nest import flatten, map_structure, same_structure
from .ops import is_symbol, tracing

__all__ = ["case", "cond", "map_fn", "numpy_function", "print", "py_function", "while_loop"]

# How often a loop is traced again with sizes left open that its turns change.
_MAX_TRACES = 4


def _graph_of(tracer: Any, function: Callable[..., Any], specs: list[Any]) -> Any:
    """Return the graph of a part of a function, its outputs as a nest, and what it captures."""
    from .trace import TraceRefused

    part = tracer.part()
    part.maps_rows = bool(specs) or tracer.maps_rows
    arguments = [part.wrap(part.builder.input(spec)) for spec in specs]
    outer, tracing.tracer = tracing.tracer, part
    try:
        outputs = part.outputs(function(*arguments))
    except TraceRefused as refused:
        tracer.refusal = tracer.refusal or refused.refusal
        raise
    finally:
        tracing.tracer = outer
    if part.meets:
        tracer.refuse(f"makes {part.meets} in a branch")
    return part.builder.finish(outputs), outputs, part.captured


def _rebuilt(outputs: Any, results: list[Any]) -> Any:
    found = iter(results)
    return map_structure(lambda _: next(found), outputs)


def _innermost(symbol: Any) -> Any:
    return symbol._tracer._now()


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return what one of two functions gives; mirrors ``tf.cond``.

    Parameters
    ----------
    pred
        A truth value.
    true_fn, false_fn
        Functions without arguments that return the same structure, with the same dtypes. The one
        that is not taken does not run: it may fail.

    Examples
    --------
    >>> hr.control.cond(True, lambda: 1, lambda: 2)
    1
    >>> ds = hr.Dataset.range(3).map(lambda x: hr.control.cond(x > 1, lambda: 6 // x, lambda: -x))
    >>> list(ds)
    [np.int64(0), np.int64(-1), np.int64(3)]
    """
    if not is_symbol(pred):
        return true_fn() if builtins.bool(pred) else false_fn()
    tracer = _innermost(pred)
    if pred._spec.dtype != np.dtype(bool):
        (pred,) = tracer.add("cast", {"dtype": np.dtype(bool)}, pred)
    then, first, captured = _graph_of(tracer, true_fn, [])
    other, second, more = _graph_of(tracer, false_fn, [])
    if not same_structure(first, second):
        tracer.refuse("gives another structure in each branch")
    attrs: dict[str, Any] = {"then": then, "other": other}
    return _rebuilt(first, tracer.add("cond", attrs, pred, *captured, *more))


def case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False
) -> Any:
    """Return what the function of the first true predicate gives; mirrors ``tf.case``.

    Parameters
    ----------
    pred_fn_pairs
        Pairs of a truth value and a function without arguments.
    default
        The function where none is true; else the last one.
    exclusive
        Check that no more than one is true, where that is known.

    Raises
    ------
    InvalidArgumentError
        There are no pairs, or several are true with `exclusive`.

    Examples
    --------
    >>> hr.control.case([(False, lambda: 1), (True, lambda: 2)], default=lambda: 3)
    2
    """
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise InvalidArgumentError("case needs at least one pair of a predicate and a function")
    if exclusive and sum(builtins.bool(pred) for pred, _ in pairs if not is_symbol(pred)) > 1:
        raise InvalidArgumentError("`exclusive` is set, but several predicates are true")
    (pred, action), rest = pairs[0], pairs[1:]
    if rest:
        return cond(pred, action, lambda: case(rest, default))
    return cond(pred, action, action if default is None else default)


def map_fn(fn: Callable[..., Any], elems: Any) -> Any:
    """Apply a function to each row and stack what it gives; mirrors ``tf.map_fn``.

    Parameters
    ----------
    fn
        Gets one row: a nest like `elems`, without the first axis.
    elems
        An array, or a nest of arrays of one size in front.

    Raises
    ------
    InvalidArgumentError
        The sizes differ, or there are no rows and so nothing to tell what is given.

    Examples
    --------
    >>> hr.control.map_fn(lambda row: row[::-1], np.array([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]])
    """
    leaves = flatten(elems)
    symbol = next(filter(is_symbol, leaves), None)
    if symbol is None:
        return _map_arrays(fn, elems, leaves)
    tracer = _innermost(symbol)
    rows = [leaf if is_symbol(leaf) else tracer.wrap(tracer.constant(leaf)) for leaf in leaves]
    specs = []
    for row in rows:
        shape = row._spec.shape
        if shape == ():
            raise TypeError("map_fn needs arrays with at least one axis")
        specs.append(type(row._spec)(None if shape is None else shape[1:], row._spec.dtype))
    graph, outputs, captured = _graph_of(tracer, lambda *row: fn(_rebuilt(elems, list(row))), specs)
    attrs = {"graph": graph, "mapped": len(rows)}
    return _rebuilt(outputs, tracer.add("map_rows", attrs, *rows, *captured))


def _map_arrays(fn: Callable[..., Any], elems: Any, leaves: list[Any]) -> Any:
    counts = {len(leaf) for leaf in leaves}
    if len(counts) != 1:
        raise InvalidArgumentError(f"the arrays must have one size in front, got {sorted(counts)}")
    (count,) = counts
    if count == 0:
        raise InvalidArgumentError("there are no rows, so nothing tells what the function gives")
    arrays = [np.asarray(leaf) for leaf in leaves]
    given = [fn(_rebuilt(elems, [array[k] for array in arrays])) for k in range(count)]
    columns = zip(*map(flatten, given), strict=True)
    return _rebuilt(given[0], [_stacked(column) for column in columns])


def _stacked(rows: tuple[Any, ...]) -> Any:
    if isinstance(rows[0], bytes | str):
        return np.array([*rows, None], dtype=object)[:-1]
    return np.stack(rows)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """Call `body` on values as long as `cond` holds of them; mirrors ``tf.while_loop``.

    Parameters
    ----------
    cond, body
        Get the values of `loop_vars`, and give a truth value, and the next values: as many, of the
        same dtypes. Shapes may change.
    loop_vars
        A list or tuple of arrays, or of nests of them.
    maximum_iterations
        The most turns.

    Returns
    -------
    tuple
        The last values.

    Raises
    ------
    ValueError
        `body` gives another number of values.

    Examples
    --------
    >>> hr.control.while_loop(lambda n, k: n > 1, lambda n, k: (n // 2, k + 1), (20, 0))
    (1, 4)
    >>> ds = hr.Dataset.range(1, 5).map(
    ...     lambda x: hr.control.while_loop(lambda y: y < 10, lambda y: (y * 3,), (x,))[0])
    >>> list(ds)
    [np.int64(27), np.int64(18), np.int64(27), np.int64(12)]
    """
    variables = tuple(loop_vars)
    if any(map(is_symbol, flatten(variables))):
        return _looped(cond, body, variables, maximum_iterations)
    turns = 0
    while (maximum_iterations is None or turns < maximum_iterations) and builtins.bool(
        cond(*variables)
    ):
        variables, turns = _next(body(*variables), variables), turns + 1
    return variables


def _next(given: Any, before: tuple[Any, ...]) -> tuple[Any, ...]:
    made = tuple(given) if isinstance(given, list | tuple) else (given,)
    if len(made) != len(before):
        raise ValueError(f"body must give {len(before)} values, it gave {len(made)}")
    return made


def _looped(
    cond: Callable[..., Any], body: Callable[..., Any], variables: tuple[Any, ...], limit: Any
) -> Any:
    """Record a loop."""
    leaves: list[Any] = flatten(variables)
    tracer = _innermost(next(filter(is_symbol, leaves)))
    if limit is not None:
        leaves = [np.int64(0), *leaves]
    skipped = len(leaves) - len(flatten(variables))
    state = [leaf if is_symbol(leaf) else tracer.wrap(tracer.constant(leaf)) for leaf in leaves]

    def test(*values: Any) -> Any:
        on = np.asarray(True) if skipped == 0 else values[0] < limit
        asked = cond(*_rebuilt(variables, list(values[skipped:])))
        return np.logical_and(on, asked)

    def turn(*values: Any) -> Any:
        before = _rebuilt(variables, list(values[skipped:]))
        after = _next(body(*before), variables)
        if not same_structure(after, variables):
            tracer.refuse("changes a structure in a loop")
        return tuple([value + 1 for value in values[:skipped]] + flatten(after))

    specs = [x._spec for x in state]
    for _ in range(_MAX_TRACES):
        checked, _, asks = _graph_of(tracer, test, specs)
        turned, _, reads = _graph_of(tracer, turn, specs)
        given = turned.structure_spec
        if any(a.dtype != b.dtype for a, b in zip(specs, given, strict=True)):
            tracer.refuse("changes a dtype in a loop", "cast it back in the body")
        wider = [_wider(a, b) for a, b in zip(specs, given, strict=True)]
        if wider == specs:
            attrs: dict[str, Any] = {"test": checked, "body": turned, "state": len(state)}
            results = tracer.add("while_loop", attrs, *state, *asks, *reads)
            return _rebuilt(variables, results[skipped:])
        specs = wider
    return tracer.refuse("changes a shape in each turn of a loop")


def _wider(first: Any, again: Any) -> Any:
    """Return the spec of arrays of either shape."""
    shapes = first.shape, again.shape
    if None in shapes or len(first.shape) != len(again.shape):
        return type(first)(None, first.dtype)
    pairs = zip(*shapes, strict=True)
    return type(first)(tuple(a if a == b else None for a, b in pairs), first.dtype)


def print(*inputs: Any, sep: str = " ", end: str = "\n") -> None:
    """Print values to standard error, when the function runs; mirrors ``tf.print``.

    A function that prints runs as Python, once per element and in order.

    Examples
    --------
    >>> hr.control.print("loss", np.float32(0.5), end="")
    """
    import sys

    if tracing.tracer is not None:
        tracing.tracer.refuse("prints")
    builtins.print(*inputs, sep=sep, end=end, file=sys.stderr)


def numpy_function(func: Callable[..., Any], inp: Any, Tout: Any = None) -> Any:
    """Call a function that is not to be traced; mirrors ``tf.numpy_function``.

    Parameters
    ----------
    func
        Gets arrays, returns an array or several.
    inp
        Its arguments.
    Tout
        Dtypes of what it returns: one, or a list. None takes what comes.

    Raises
    ------
    InvalidArgumentError
        It returns another number of arrays, or other dtypes.

    Examples
    --------
    >>> hr.control.numpy_function(np.sum, [np.array([1, 2])], np.int64)
    np.int64(3)
    """
    if tracing.tracer is not None:
        tracing.tracer.refuse("calls a function that is not to be traced")
    result = func(*inp)
    if Tout is None:
        return result
    single = not isinstance(Tout, list | tuple)
    given, dtypes = ([result], [Tout]) if single else (list(result), list(Tout))
    if len(given) != len(dtypes):
        raise InvalidArgumentError(
            f"the function returned {len(given)} values, `Tout` declares {len(dtypes)}"
        )
    for found, declared in zip(given, dtypes, strict=True):
        kind = type(found) if isinstance(found, bytes | str) else np.asarray(found).dtype
        if kind != (declared if declared in (bytes, str) else np.dtype(declared)):
            raise InvalidArgumentError(
                f"the function returned {kind} where `Tout` declares {declared}"
            )
    return given[0] if single else tuple(given)


def py_function(func: Callable[..., Any], inp: Any, Tout: Any = None) -> Any:
    """Call a function that is not to be traced; mirrors ``tf.py_function``.

    There is no difference from `numpy_function` here: values are arrays.

    Examples
    --------
    >>> hr.control.py_function(lambda x: x + 1, [np.int64(1)], np.int64)
    np.int64(2)
    """
    return numpy_function(func, inp, Tout)
