"""Small parts of volumes; mirrors ``tf.extract_volume_patches``."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgumentError
from .arithmetic import maximum
from .array_ops import ensure_shape, expand_dims, reshape, shape, transpose
from .casting import cast
from .convert import convert
from .creation import range as numbers
from .creation import zeros_like
from .dtypes import int32
from .elementwise import clip_by_value
from .gathering import gather, where
from .kernels import static_shape

__all__ = ["extract_volume_patches"]


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Any:
    """Lay small parts of volumes out along channels; mirrors ``tf.extract_volume_patches``.

    Parameters
    ----------
    input
        Numbers ``[batch, planes, rows, columns, channels]``.
    ksizes, strides
        Sizes of parts, and how far apart they are: five numbers, the first and last of them 1.
    padding
        ``"VALID"``, or ``"SAME"`` for zeros around the volume.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Another rank, sizes that are not above zero, no such padding.

    Examples
    --------
    >>> volume = tf.ones([1, 2, 2, 2, 1])
    >>> tf.extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID").shape
    TensorShape([1, 1, 1, 1, 8])
    """
    x = convert(input)
    dims = static_shape(x)
    if dims is None:
        x, dims = ensure_shape(x, [None] * 5), (None,) * 5
    if len(dims) != 5:
        raise InvalidArgumentError(f"volumes [batch, planes, rows, columns, channels], got {dims}")
    steps = {"ksizes": ksizes, "strides": strides}
    for key, given in steps.items():
        numbers = [int(k) for k in given]
        if len(numbers) != 5 or numbers[0] != 1 or numbers[4] != 1 or min(numbers) < 1:
            raise InvalidArgumentError(f"{key} must be [1, planes, rows, columns, 1], got {given}")
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(f'padding must be "SAME" or "VALID", got {padding!r}')
    batch, *sides, channels = (shape(x)[k] if size is None else size for k, size in enumerate(dims))
    counts: list[Any] = []
    for k, length in enumerate(sides, 1):
        x, count = _parts(x, k + len(counts), length, int(ksizes[k]), int(strides[k]), padding)
        counts.append(count)
    x = transpose(x, [0, 1, 3, 5, 2, 4, 6, 7])
    own = int(ksizes[1]) * int(ksizes[2]) * int(ksizes[3])
    return reshape(x, [batch, *counts, own * channels])


def _parts(x: Any, axis: int, length: Any, own: int, step: int, padding: str) -> tuple[Any, Any]:
    """Make two axes of one, the parts and what is in them; and tell how many parts there are."""
    if padding == "SAME":
        count = -(-length // step)
        # Where steps leave a part of the volume out, TensorFlow leaves out half of it in front.
        more = (count - 1) * step + own - length
        before = cast(more / 2, int32)
    else:
        count = maximum(-(-(length - own + 1) // step), 0)
        before = 0
    lines = expand_dims(numbers(count) * step - before, 1) + numbers(own)
    inside = (lines >= 0) & (lines < length)
    found = gather(x, clip_by_value(lines, 0, maximum(length - 1, 0)), axis=axis)
    if padding == "SAME":
        rest = (static_shape(x) or ())[axis + 1 :]
        inside = reshape(inside, [count, own, *(1 for _ in rest)])
        found = where(inside, found, zeros_like(found))
    return found, count
