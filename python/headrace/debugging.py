"""Checks of values that stop a run; mirrors ``tf.debugging``.

On arrays a check happens at once. In a traced function it is part of the graph: the element for
which it fails is the error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidArgumentError
from .ops import apply_op, is_symbol, value

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_rank",
    "assert_rank_at_least",
    "assert_shapes",
    "assert_type",
]


def _require(condition: Any, text: str, message: str | None, **values: Any) -> None:
    """Record or make a check that all of a condition is true."""
    labels = [f"{name.replace('_', ' ')} =" for name in values]
    whole = f"{message}: {text}" if message else text
    apply_op("assert", {"message": whole, "labels": labels}, condition, *values.values())


def Assert(condition: Any, data: Any = (), message: str | None = None) -> None:
    """Check that all of a condition is true; mirrors ``tf.debugging.Assert``.

    Parameters
    ----------
    condition
        Truth values of any shape.
    data
        Arrays of which the text shows the first values.
    message
        What to say.

    Raises
    ------
    InvalidArgumentError
        Some of it is false.

    Examples
    --------
    >>> hr.debugging.Assert(np.array([True]))
    """
    shown = {f"value_{k}": value(item) for k, item in enumerate(data)}
    _require(_truth(condition), "the condition does not hold", message, **shown)


def _truth(condition: Any) -> Any:
    found = value(condition)
    return found if found.dtype == np.bool_ else found.astype(np.bool_)


def _comparison(name: str, sign: str, ufunc: np.ufunc, example: str) -> Any:
    def check(x: Any, y: Any, message: str | None = None) -> None:
        first, second = value(x), value(y)
        text = f"x {sign} y does not hold everywhere"
        _require(ufunc(first, second), text, message, x=first, y=second)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""Check that ``x {sign} y`` everywhere; mirrors ``tf.debugging.{name}``.

    Parameters
    ----------
    x, y
        Values that broadcast against each other.
    message
        What to say in front.

    Raises
    ------
    InvalidArgumentError
        It does not hold; the text shows the first values of both.

    Examples
    --------
    >>> hr.debugging.{name}({example})
    """
    return check


assert_equal = _comparison("assert_equal", "==", np.equal, "np.array([1, 2]), [1, 2]")
assert_none_equal = _comparison("assert_none_equal", "!=", np.not_equal, "np.array([1, 2]), 3")
assert_less = _comparison("assert_less", "<", np.less, "np.array([1, 2]), 3")
assert_less_equal = _comparison("assert_less_equal", "<=", np.less_equal, "np.array([1, 2]), 2")
assert_greater = _comparison("assert_greater", ">", np.greater, "np.array([1, 2]), 0")
assert_greater_equal = _comparison(
    "assert_greater_equal", ">=", np.greater_equal, "np.array([1, 2]), 1"
)


def _sign(name: str, sign: str, ufunc: np.ufunc, example: str) -> Any:
    def check(x: Any, message: str | None = None) -> None:
        found = value(x)
        _require(ufunc(found, 0), f"x {sign} 0 does not hold everywhere", message, x=found)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""Check that ``x {sign} 0`` everywhere; mirrors ``tf.debugging.{name}``.

    Parameters
    ----------
    x
        Numbers.
    message
        What to say in front.

    Raises
    ------
    InvalidArgumentError
        It does not hold; the text shows the first values.

    Examples
    --------
    >>> hr.debugging.{name}({example})
    """
    return check


assert_positive = _sign("assert_positive", ">", np.greater, "np.array([1, 2])")
assert_negative = _sign("assert_negative", "<", np.less, "np.array([-1, -2])")
assert_non_negative = _sign("assert_non_negative", ">=", np.greater_equal, "np.array([0, 2])")
assert_non_positive = _sign("assert_non_positive", "<=", np.less_equal, "np.array([0, -2])")


def assert_near(
    x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, message: str | None = None
) -> None:
    """Check that values are close; mirrors ``tf.debugging.assert_near``.

    Parameters
    ----------
    x, y
        Numbers that broadcast against each other.
    rtol, atol
        As `np.isclose` has them.
    message
        What to say in front.

    Raises
    ------
    InvalidArgumentError
        They are not.

    Examples
    --------
    >>> hr.debugging.assert_near(np.float32(1), np.float32(1.000001))
    """
    first, second = value(x), value(y)
    close = np.isclose(first, second, rtol, atol)
    _require(close, "x and y are not close everywhere", message, x=first, y=second)


def assert_all_finite(x: Any, message: str | None = None) -> Any:
    """Check that there is no NaN and no infinity; mirrors ``tf.debugging.assert_all_finite``.

    Parameters
    ----------
    x
        Numbers.
    message
        What to say in front.

    Returns
    -------
    array
        `x` itself.

    Raises
    ------
    InvalidArgumentError
        There is one.

    Examples
    --------
    >>> hr.debugging.assert_all_finite(np.array([1.0]))
    array([1.])
    """
    found = value(x)
    _require(np.isfinite(found), "x is not finite everywhere", message, x=found)
    return x


def _rank(x: Any) -> int:
    return int(np.ndim(value(x)))


def assert_rank(x: Any, rank: int, message: str | None = None) -> None:
    """Check the number of axes; mirrors ``tf.debugging.assert_rank``.

    Parameters
    ----------
    x
        An array.
    rank
        How many axes it must have.
    message
        What to say in front.

    Raises
    ------
    InvalidArgumentError
        It has another number.

    Examples
    --------
    >>> hr.debugging.assert_rank(np.zeros((2, 3)), 2)
    """
    found = _rank(x)
    if found != rank:
        raise InvalidArgumentError(_text(message, f"x must have rank {rank}, has {found}"))


def assert_rank_at_least(x: Any, rank: int, message: str | None = None) -> None:
    """Check that there are enough axes; mirrors ``tf.debugging.assert_rank_at_least``.

    Parameters
    ----------
    x
        An array.
    rank
        How many axes it must have at least.
    message
        What to say in front.

    Raises
    ------
    InvalidArgumentError
        It has fewer.

    Examples
    --------
    >>> hr.debugging.assert_rank_at_least(np.zeros((2, 3)), 1)
    """
    found = _rank(x)
    if found < rank:
        text = f"x must have rank {rank} at least, has {found}"
        raise InvalidArgumentError(_text(message, text))


def _text(message: str | None, text: str) -> str:
    return f"{message}: {text}" if message else text


def assert_type(x: Any, dtype: Any, message: str | None = None) -> None:
    """Check the dtype; mirrors ``tf.debugging.assert_type``.

    Parameters
    ----------
    x
        An array.
    dtype
        The dtype that it must have.
    message
        What to say in front.

    Raises
    ------
    InvalidArgumentError
        It has another.

    Examples
    --------
    >>> hr.debugging.assert_type(np.float32(1), np.float32)
    """
    found = value(x).dtype
    if found != np.dtype(dtype):
        raise InvalidArgumentError(_text(message, f"x must be of dtype {dtype}, is of {found}"))


def assert_shapes(shapes: Any, message: str | None = None) -> None:
    """Check shapes whose sizes have names; mirrors ``tf.debugging.assert_shapes``.

    Parameters
    ----------
    shapes
        Pairs of an array and its sizes: numbers, names that mean one number, or None for any.
    message
        What to say in front.

    Raises
    ------
    InvalidArgumentError
        They are others. Sizes that only a run knows are checked in the run.

    Examples
    --------
    >>> hr.debugging.assert_shapes([(np.zeros((2, 3)), ("n", 3)), (np.zeros(2), ("n",))])
    """
    known: dict[Any, Any] = {}
    for x, names in shapes:
        found = value(x)
        sizes = apply_op("shape", {}, found)[0] if is_symbol(found) else found.shape
        if _rank(found) != len(names):
            text = f"x must have shape {tuple(names)}, has rank {_rank(found)}"
            raise InvalidArgumentError(_text(message, text))
        for axis, name in enumerate(names):
            if name is None:
                continue
            size = np.int64(sizes[axis]) if not is_symbol(sizes) else sizes[axis]
            wanted = name if isinstance(name, int) else known.setdefault(name, size)
            text = f"axis {axis} must be of size {name}"
            _require(np.equal(size, wanted), text, message, size=size)
