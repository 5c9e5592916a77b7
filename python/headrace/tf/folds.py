"""Functions that go over the rows of tensors with a state; mirrors ``tf.scan``, ``tf.foldl``."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import InvalidArgumentError
from .convert import convert
from .kernels import static_shape, symbol_of
from .nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__all__ = ["foldl", "foldr", "scan"]


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Combine rows from the first to the last; mirrors ``tf.foldl``.

    In a traced function `fn` is called for each row; where only a run knows how many there are it
    is called once, and its graph is the body of a loop.

    Parameters
    ----------
    fn
        Gets the state and a row, gives the next state.
    elems
        A tensor or a nest of them, with one number of rows.
    initializer
        The first state; the first row by default.
    parallel_iterations, back_prop, swap_memory, name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.foldl(lambda state, row: state + row, tf.constant([1, 2, 3])).numpy()
    np.int32(6)
    """
    return _folded("foldl", fn, elems, initializer, reverse=False)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Combine rows from the last to the first; mirrors ``tf.foldr``, else as `foldl`.

    Examples
    --------
    >>> tf.foldr(lambda state, row: state * 10 + row, tf.constant([1, 2, 3])).numpy()
    np.int32(321)
    """
    return _folded("foldr", fn, elems, initializer, reverse=True)


def _folded(name: str, fn: Any, elems: Any, initializer: Any, reverse: bool) -> Any:
    found = _looped(name, fn, elems, initializer, reverse, stacked=False)
    if found is not None:
        return found[0]
    rows = _rows(name, fn, elems, reverse)
    state = _first(rows, initializer)
    for row in rows:
        state = map_structure(convert, fn(state, row))
    return state


def scan(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    reverse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Combine rows as `foldl` does and stack all states; mirrors ``tf.scan``.

    Parameters
    ----------
    fn, elems, initializer
        As of `foldl`; what `fn` gives has the structure of the first state.
    reverse
        Go from the last row to the first; the states lie where their rows do.
    parallel_iterations, back_prop, swap_memory, infer_shape, name
        Accepted for TensorFlow's sake.

    Raises
    ------
    TypeError
        `fn` is no function, or gives another structure than the first state has.

    Examples
    --------
    >>> tf.scan(lambda state, row: state + row, tf.constant([1, 2, 3])).numpy()
    array([1, 3, 6], dtype=int32)
    """
    from .joining import stack

    found = _looped("scan", fn, elems, initializer, reverse, stacked=True)
    if found is not None:
        return found[0]
    rows = _rows("scan", fn, elems, reverse)
    state = _first(rows, initializer)
    states = [state] if initializer is None else []
    for row in rows:
        made = fn(state, row)
        assert_same_structure(state, made)
        state = map_structure(convert, made)
        states.append(state)
    if not states:
        return map_structure(lambda leaf: stack([leaf])[:0], state)
    if reverse:
        states.reverse()
    return map_structure(lambda *leaves: stack(list(leaves)), *states)


def _first(rows: Iterator[Any], initializer: Any) -> Any:
    if initializer is not None:
        return map_structure(convert, initializer)
    for row in rows:
        return row
    raise InvalidArgumentError("there is no row to start with; give an initializer")


def _looped(
    name: str, fn: Any, elems: Any, initializer: Any, reverse: bool, stacked: bool
) -> list[Any] | None:
    """Return the result, in a list, where only a run knows the number of rows; else None.

    Where `fn` is no graph the function that is traced runs as Python, and what is known of the
    result is returned.
    """
    from .array_ops import reverse as turned
    from .array_ops import shape
    from .joining import concat
    from .loops import recorded_loop

    tensors = _tensors(fn, elems)
    found = symbol_of(builtins.tuple(tensors))
    if found is None or any((static_shape(x) or (None,))[0] is not None for x in tensors):
        return None
    count, begun = shape(tensors[0])[0], int(initializer is None)

    def packed(row: list[Any]) -> Any:
        return pack_sequence_as(elems, row) if is_nested(elems) else row[0]

    first = packed([x[-1 if reverse else 0] for x in tensors])
    state = first if initializer is None else map_structure(convert, initializer)

    def restored(leaves: list[Any]) -> Any:
        return pack_sequence_as(state, leaves) if is_nested(state) else leaves[0]

    def body(number: Any, *leaves: Any) -> tuple[list[Any], list[Any]]:
        at = count - 1 - number if reverse else number
        made = fn(restored(list(leaves)), packed([x[at] for x in tensors]))
        assert_same_structure(state, made)
        after = [convert(leaf) for leaf in _leaves(made)]
        return [number + 1, *after], after if stacked else []

    start = [convert(begun), *_leaves(state)]
    looped = recorded_loop(found._tracer, lambda number, *_: number < count, body, start)
    if looped is None:
        return [_guessed(name, found._tracer, fn(state, first), stacked)]
    after, kept = looped
    if not stacked:
        return [restored(after[1:])]
    if reverse:
        kept = [turned(x, [0]) for x in kept]
    if initializer is None:
        rows = [x[None] for x in _leaves(first)]
        pairs = zip(rows, kept, strict=True)
        kept = [concat([x, row] if reverse else [row, x], 0) for row, x in pairs]
    return [restored(kept)]


def _leaves(nest: Any) -> list[Any]:
    return flatten(nest) if is_nested(nest) else [nest]


def _guessed(name: str, tracer: Any, made: Any, stacked: bool) -> Any:
    """Return stand-ins for what `fn` gives, or for all of it stacked."""

    def stand_in(leaf: Any) -> Any:
        leaf = convert(leaf)
        dims = static_shape(leaf)
        dims = dims if dims is None or not stacked else (None, *dims)
        return tracer.unrecorded(f"{name} over rows of an unknown number", dims, leaf.dtype)

    return map_structure(stand_in, made)


def _tensors(fn: Any, elems: Any) -> list[Any]:
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable. Please provide a callable function.")
    found = [convert(leaf) for leaf in (flatten(elems) if is_nested(elems) else [elems])]
    if any(static_shape(x) == () for x in found):
        raise ValueError("elems must be tensors of one axis or more, not scalars")
    return found


def _rows(name: str, fn: Any, elems: Any, reverse: bool) -> Iterator[Any]:
    """Return the rows of all tensors, one after the other, in the structure of `elems`."""
    tensors = _tensors(fn, elems)
    counts = {(static_shape(x) or (None,))[0] for x in tensors}
    if len(counts) > 1 or None in counts:
        raise InvalidArgumentError(f"tensors of one number of rows are needed, got {elems}")
    (count,) = counts
    numbers = reversed(range(count or 0)) if reverse else range(count or 0)
    for k in numbers:
        row = [x[k] for x in tensors]
        yield pack_sequence_as(elems, row) if is_nested(elems) else row[0]
