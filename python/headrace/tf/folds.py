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

    In a traced function `fn` is called for each row, so the number of rows must be known.

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
    guessed = _guessed(name, fn, elems, initializer, stacked=False)
    if guessed is not None:
        return guessed
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

    guessed = _guessed("scan", fn, elems, initializer, stacked=True)
    if guessed is not None:
        return guessed
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


def _guessed(name: str, fn: Any, elems: Any, initializer: Any, stacked: bool) -> Any:
    """Return what is known of a result where only a run knows the number of rows; else None.

    The function that is traced runs as Python then.
    """
    tensors = _tensors(fn, elems)
    found = symbol_of(builtins.tuple(tensors))
    if found is None or any((static_shape(x) or (None,))[0] is not None for x in tensors):
        return None
    row = [x[0] for x in tensors]
    packed = pack_sequence_as(elems, row) if is_nested(elems) else row[0]
    state = packed if initializer is None else map_structure(convert, initializer)
    made = map_structure(convert, fn(state, packed))

    def stand_in(leaf: Any) -> Any:
        dims = static_shape(leaf)
        dims = dims if dims is None or not stacked else (None, *dims)
        return found._tracer.unrecorded(f"{name} over rows of an unknown number", dims, leaf.dtype)

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
