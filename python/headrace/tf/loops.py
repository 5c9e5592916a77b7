"""Loops whose number of turns only a run knows: `while_loop`, and how loops are recorded.

A loop is two graphs, its test and its body, as arguments of one op. What they read of the function
around are inputs, after the values that go from turn to turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops import tracing
from .control import _is_no_array, _wider, traced_part
from .convert import convert, is_dense, is_symbol, tracer_now
from .dtypes import bool as bool_
from .dtypes import int32
from .kernels import Dims, run_all, static_shape
from .nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as
from .shapes import TensorShape

__all__ = ["while_loop"]

# How often a loop is traced again with sizes left open that its turns change.
_MAX_TRACES = 4


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    maximum_iterations: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Run `body` while `cond` holds; mirrors ``tf.while_loop``.

    In a traced function both are graphs, and each element takes as many turns as it needs.

    Parameters
    ----------
    cond, body
        Get the values of `loop_vars`, and give a truth value, and the next values.
    loop_vars
        A list or tuple of what goes from turn to turn: numbers, tensors, nests of them.
    shape_invariants
        In the same structure, the shapes that hold in all turns; by default the first ones.
    maximum_iterations
        The most turns.
    parallel_iterations, back_prop, swap_memory, name
        Accepted for TensorFlow's sake.

    Raises
    ------
    TypeError
        `cond` or `body` is no function, or a turn changes a dtype.
    ValueError
        A turn changes the structure, or a shape that was not stated to change.

    Examples
    --------
    >>> tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), [tf.constant(0)])[0].numpy()
    np.int32(3)
    """
    for what, each in (("cond", cond), ("body", body)):
        if not callable(each):
            raise TypeError(f"'{what}' must be callable.")
    single = not isinstance(loop_vars, list | tuple)
    variables: Any = [loop_vars] if single else loop_vars
    tracer = tracer_now()
    if tracer is not None and hasattr(tracer, "doubt"):
        given = [shape_invariants] if single and shape_invariants is not None else shape_invariants
        made = _recorded(tracer, cond, body, variables, given, maximum_iterations)
        if made is not None:
            return made[0] if single else made
    count, limit = 0, None if maximum_iterations is None else int(maximum_iterations)
    while (limit is None or count < limit) and bool(cond(*variables)):
        variables, count = _as_list(body(*variables)), count + 1
    variables = map_structure(lambda leaf: leaf if _is_no_array(leaf) else convert(leaf), variables)
    return variables[0] if single else variables


def _as_list(result: Any) -> Any:
    return result if isinstance(result, list | tuple) else [result]


def _recorded(
    tracer: Any, cond: Any, body: Any, variables: Any, invariants: Any, limit: Any
) -> Any:
    """Record what `while_loop` was given; None where it is no graph, or nothing of it is one."""
    leaves = flatten(list(variables))
    if any(leaf is None or _is_no_array(leaf) for leaf in leaves):
        return None
    state = [convert(leaf) for leaf in leaves]
    stated = None if invariants is None else _stated(variables, invariants, state)
    limited = limit is not None
    most = convert(limit, int32) if limited else None

    def unpacked(values: list[Any]) -> Any:
        return pack_sequence_as(list(variables), values)

    def test(*values: Any) -> Any:
        if not limited:
            return cond(*unpacked(list(values)))
        from .control import cond as choose

        below = values[0] < most
        return choose(below, lambda: convert(cond(*unpacked(list(values[1:])))), lambda: below)

    def turn(*values: Any) -> tuple[list[Any], list[Any]]:
        made = _as_list(body(*unpacked(list(values[limited:]))))
        assert_same_structure(list(made), list(variables))
        after = [convert(leaf) for leaf in flatten(list(made))]
        return [values[0] + 1, *after] if limited else after, []

    if limited:
        state = [convert(0), *state]
        stated = None if stated is None else [(), *stated]
    found = recorded_loop(tracer, test, turn, state, stated, strict=True)
    if found is None:
        return None
    return pack_sequence_as(variables, found[0][limited:])


def _stated(variables: Any, invariants: Any, state: list[Any]) -> list[Dims]:
    """Return the shapes that were stated for each value."""
    shapes: list[Dims] = []
    given = [getattr(each, "shape", each) for each in _shapes(invariants)]
    if len(given) != len(state):
        assert_same_structure(list(variables), list(invariants))
    for wanted, x in zip(given, state, strict=True):
        own, shape = TensorShape(static_shape(x)), TensorShape(wanted)
        if not shape.is_compatible_with(own):
            raise ValueError(
                f"The shape invariant specified for {x!r} is not compatible with the initial shape "
                f"of the loop variable. It enters the loop with shape {own}, but the specified "
                f"shape invariant is {shape}."
            )
        shapes.append(None if shape.rank is None else tuple(shape))
    return shapes


def _shapes(nest: Any) -> list[Any]:
    """Return the shapes of a nest; a `TensorShape` can be iterated, but is one."""
    if isinstance(nest, TensorShape) or not is_nested(nest):
        return [nest]
    children = [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else list(nest)
    return [shape for child in children for shape in _shapes(child)]


def recorded_loop(
    tracer: Any,
    test: Callable[..., Any],
    body: Callable[..., tuple[list[Any], list[Any]]],
    state: list[Any],
    stated: list[Dims] | None = None,
    strict: bool = False,
) -> tuple[list[Any], list[Any]] | None:
    """Record a loop; None where it is no graph, or a loop over values that are all known.

    Parameters
    ----------
    tracer
        The trace of the function.
    test, body
        Get the state. The body gives the next state, and what is to be stacked of each turn.
    state
        The tensors and symbols of the first turn.
    stated
        Shapes that hold in all turns; by default those of the first turn, made wider as needed.
    strict
        Refuse turns that change a shape which was not stated, as TensorFlow does.
    """
    now = tracer._now()
    if now.why is not None:
        return None
    root: Any = now
    while root.captured is not None and root.outer is not None:
        root = root.outer
    draws = root.draws
    shapes = [static_shape(x) for x in state] if stated is None else stated
    dtypes = [x.dtype for x in state]
    for _ in range(_MAX_TRACES):
        kinds = list(zip(shapes, dtypes, strict=True))
        checked = _part(now, test, kinds)
        if checked is None:
            break
        asked, truth = checked
        truth = convert(truth)
        if truth.dtype is not bool_ or static_shape(truth) != ():
            break
        turned = _part(now, body, kinds)
        if turned is None:
            break
        turn, (after, kept) = turned
        for x, (first, dtype), again in zip(state, kinds, after, strict=True):
            _check(x, dtype, first, again, strict)
        wider = [_wider(a, static_shape(b)) for a, b in zip(shapes, after, strict=True)]
        if wider != shapes:
            shapes = wider
            continue
        args = (*state, *asked.captured, *turn.captured)
        if not any(map(is_symbol, args)):
            break
        if asked.why is not None or turn.why is not None:
            now.why = asked.why or turn.why
            made = [now._stand_in("loops", kind) for kind in kinds]
            return made, [now._stand_in("loops", _stacked(x)) for x in kept]
        attrs = {
            "test": asked.builder.finish((asked.value(truth),)),
            "body": turn.builder.finish(tuple(turn.value(x) for x in (*after, *kept))),
            "state": len(state),
        }
        results = run_all("while_loop", args, [*kinds, *map(_stacked, kept)], **attrs)
        return results[: len(state)], results[len(state) :]
    root.draws = draws
    return None


def _stacked(x: Any) -> Any:
    dims = static_shape(x)
    return (None if dims is None else (None, *dims)), x.dtype


def _part(tracer: Any, function: Callable[..., Any], kinds: list[Any]) -> Any:
    """Trace a part of a loop; None where it is no graph."""
    looping = tracing.looping
    tracing.looping = True
    try:
        return traced_part(tracer, function, kinds)
    finally:
        tracing.looping = looping


def _check(x: Any, dtype: Any, first: Dims, again: Any, strict: bool) -> None:
    name = getattr(x, "name", "Const:0") if is_dense(x) else "Const:0"
    if again.dtype is not dtype:
        raise TypeError(
            f"Loop var {name} enters the loop with type {dtype!s} but has type {again.dtype!s} "
            f"after 1 iteration. {name} type should remain constant."
        )
    shape = TensorShape(static_shape(again))
    if strict and not TensorShape(first).is_compatible_with(shape):
        raise ValueError(
            f"Input tensor `{name}` enters the loop with shape {TensorShape(first)}, but has shape "
            f"{shape} after one iteration. To allow the shape to vary across iterations, use the "
            "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
        )
