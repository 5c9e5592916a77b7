"""Checks of values; mirrors ``tf.debugging``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arithmetic import abs as tf_abs
from .arithmetic import subtract
from .comparison import equal, greater, greater_equal, less, less_equal, not_equal
from .control import Assert
from .convert import convert, is_dense, is_symbol
from .dtypes import as_dtype
from .kernels import run_all
from .names import lookup
from .shapes import TensorShape
from .tensor import raw

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "is_numeric_tensor",
]


def _record(condition: Any, message: str, **values: Any) -> None:
    """Make a check a part of the graph."""
    labels = [f"First elements of {name}:" for name in values]
    attrs = {"message": message, "labels": labels}
    run_all("assert", (condition, *values.values()), [], **attrs)


_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": equal,
    "!=": not_equal,
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
}


def _comparison(name: str, sign: str, holds: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def check(
        x: Any, y: Any, message: str | None = None, summarize: int | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        first = convert(x)
        second = convert(y, None, first.dtype)
        if is_symbol(first) or is_symbol(second):
            text = f"Condition x {sign} y did not hold."
            good = _SIGNS[sign](first, second)
            _record(good, "\n".join([*([message] if message else []), text]), x=first, y=second)
            return
        a, b = raw(first), raw(second)
        good = np.asarray(holds(a, b))
        if good.all():
            return
        lines = [message] if message else []
        lines.append(f"Condition x {sign} y did not hold.")
        if good.shape == a.shape == b.shape and good.ndim:
            at = np.argwhere(~good)[:3]
            lines.append(f"Indices of first {len(at)} different values:\n{at}")
            lines.append(f"Corresponding x values:\n{a[tuple(at.T)]}")
            lines.append(f"Corresponding y values:\n{b[tuple(at.T)]}")
        for letter, array in (("x", a), ("y", b)):
            flat = array.reshape(-1)[:3]
            lines.append(f"First {len(flat)} elements of {letter}:\n{flat}")
        raise InvalidArgumentError("\n".join(lines))

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Check that ``x {sign} y`` everywhere; mirrors ``tf.debugging.{name}``."
    return check


assert_equal = _comparison("assert_equal", "==", np.equal)
_none_equal = _comparison("assert_none_equal", "!=", np.not_equal)


def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> None:  # fmt: skip
    """Check that ``x != y`` everywhere; mirrors ``tf.debugging.assert_none_equal``."""
    _none_equal(x, y, message, summarize, name)


assert_less = _comparison("assert_less", "<", np.less)
assert_less_equal = _comparison("assert_less_equal", "<=", np.less_equal)
assert_greater = _comparison("assert_greater", ">", np.greater)
assert_greater_equal = _comparison("assert_greater_equal", ">=", np.greater_equal)


def _sign(name: str, check: Callable[..., None]) -> Callable[..., None]:
    def signed(
        x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        found = convert(x)
        check(found, found.dtype.dtype.type(0), message)

    signed.__name__ = signed.__qualname__ = name
    signed.__doc__ = f"Check the sign; mirrors ``tf.debugging.{name}``."
    return signed


assert_positive = _sign("assert_positive", assert_greater)
assert_negative = _sign("assert_negative", assert_less)
assert_non_negative = _sign("assert_non_negative", assert_greater_equal)
assert_non_positive = _sign("assert_non_positive", assert_less_equal)


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None,
    summarize: int | None = None, name: str | None = None,
) -> None:  # fmt: skip
    """Check that values are close; mirrors ``tf.debugging.assert_near``."""
    first = convert(x)
    second = convert(y, None, first.dtype)
    eps = 10 * float(np.finfo(first.dtype.dtype).eps) if first.dtype.is_floating else 0
    relative, absolute = (eps if given is None else given for given in (rtol, atol))
    if is_symbol(first) or is_symbol(second):
        gap = tf_abs(subtract(first, second))
        near = less_equal(gap, absolute + relative * tf_abs(second))
        text = "x and y not equal to tolerance"
        _record(near, "\n".join([*([message] if message else []), text]), x=first, y=second)
        return
    a, b = raw(first), raw(second)
    if (np.abs(a - b) > absolute + relative * np.abs(b)).any():
        raise InvalidArgumentError(f"{message or ''}\nx and y not equal to tolerance\n{a}\n{b}")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """Check that there is no NaN and no infinity; mirrors ``tf.debugging.assert_all_finite``."""
    return check_numerics(x, message)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """Check that there is no NaN and no infinity; mirrors ``tf.debugging.check_numerics``."""
    x = convert(tensor)
    if is_symbol(x):
        from .elementwise import is_finite

        _record(is_finite(x), f"{message} : Tensor had NaN or Inf values", x=x)
    else:
        array = raw(x)
        if np.isnan(array).any():
            raise InvalidArgumentError(f"{message} : Tensor had NaN values")
        if np.isinf(array).any():
            raise InvalidArgumentError(f"{message} : Tensor had Inf values")
    return x


def _rank(x: Any) -> Any:
    found = x if getattr(x, "_is_composite", False) else convert(x)
    return found.shape.rank


def assert_rank(x: Any, rank: int, message: str | None = None, name: str | None = None) -> None:
    """Check the number of axes; mirrors ``tf.debugging.assert_rank``.

    Raises
    ------
    ValueError
        It is another.
    """
    found = _rank(x)
    if found is not None and found != int(rank):
        raise ValueError(
            f"{message or ''}Tensor must have rank {rank}.  Received rank {found}, shape "
            f"{convert(x).shape}"
        )


def assert_rank_at_least(
    x: Any, rank: int, message: str | None = None, name: str | None = None
) -> None:
    """Check that there are enough axes; mirrors ``tf.debugging.assert_rank_at_least``."""
    found = _rank(x)
    if found is not None and found < int(rank):
        raise ValueError(
            f"{message or ''}Tensor must have rank at least {rank}.  Received rank {found}"
        )


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Check that the number of axes is one of some; mirrors ``tf.debugging.assert_rank_in``."""
    found = _rank(x)
    if found is not None and found not in [int(rank) for rank in ranks]:
        raise ValueError(
            f"{message or ''}Tensor must have rank in {tuple(ranks)}.  Received rank {found}"
        )


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Any:
    """Check that there are no axes; mirrors ``tf.debugging.assert_scalar``."""
    x = convert(tensor)
    if x.shape.rank not in (0, None):
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {x.shape}.")
    return x


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Check that the dtype is an integer type; mirrors ``tf.debugging.assert_integer``."""
    found = convert(x).dtype
    if not found.is_integer:
        raise TypeError(f'{message or ""}Expected "x" to be integer type.  Found: {found!r}')


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Check the dtype; mirrors ``tf.debugging.assert_type``."""
    found = (tensor if getattr(tensor, "_is_composite", False) else convert(tensor)).dtype
    if found is not as_dtype(tf_type):
        raise TypeError(
            f"{message or ''}tensor must be of type {as_dtype(tf_type)!r}; got {found!r}"
        )


def assert_shapes(
    shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None,
    name: str | None = None,
) -> None:  # fmt: skip
    """Check shapes whose sizes have names; mirrors ``tf.debugging.assert_shapes``."""
    sizes: dict[Any, int] = {}
    for x, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        found = list(convert(x).shape)
        names = list(wanted) if isinstance(wanted, list | tuple | str | TensorShape) else [wanted]
        if len(names) != len(found):
            raise ValueError(f"{message or ''}Specified shape {names} does not fit shape {found}")
        for name_of, size in zip(names, found, strict=True):
            if size is None or name_of is None or name_of == ".":
                continue
            known = name_of if isinstance(name_of, int) else sizes.setdefault(name_of, size)
            if known != size:
                raise ValueError(
                    f"{message or ''}Specified by {name_of}: dimension {known}, got {size}"
                )


def is_numeric_tensor(tensor: Any) -> bool:
    """Tell whether a tensor holds numbers; mirrors ``tf.debugging.is_numeric_tensor``."""
    from .convert import is_dense

    return is_dense(tensor) and bool(tensor.dtype.is_numeric)


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Return the float type that tensors have; mirrors ``tf.debugging.assert_same_float_dtype``.

    Parameters
    ----------
    tensors
        A list of tensors; None among them are passed over.
    dtype
        The type they must have; by default that of the first, float32 where there is none.

    Raises
    ------
    ValueError
        It is no float type, or a tensor has another one.

    Examples
    --------
    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
    tf.float32
    """
    wanted = None if dtype is None else as_dtype(dtype)
    for x in tensors or []:
        if x is None:
            continue
        own = convert(x).dtype
        wanted = own if wanted is None else wanted
        if own is not wanted:
            raise ValueError(f"Expected {wanted!r}, got {own!r} of {x!r}.")
    wanted = as_dtype("float32") if wanted is None else wanted
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted!r}.")
    return wanted


def assert_proper_iterable(values: Any) -> None:
    """Refuse what is iterated by mistake; mirrors ``tf.debugging.assert_proper_iterable``.

    Raises
    ------
    TypeError
        `values` is a tensor, an array or text, or no iterable.

    Examples
    --------
    >>> tf.debugging.assert_proper_iterable([1, 2])
    """
    composite = getattr(values, "_is_composite", False)
    odd = composite or is_dense(values) or isinstance(values, np.ndarray | bytes | str)
    if odd or not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument 'values' to be iterable. Found: {type(values)}")


__getattr__ = lookup(__name__)
