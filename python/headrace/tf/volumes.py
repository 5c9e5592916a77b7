"""Small parts of volumes; mirrors ``tf.extract_volume_patches``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .array_ops import reshape, shape, transpose
from .convert import convert
from .gathering import gather
from .joining import pad
from .kernels import static_shape

__all__ = ["extract_volume_patches"]


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Any:
    """Lay small parts of volumes out along channels; mirrors ``tf.extract_volume_patches``.

    Parameters
    ----------
    input
        Numbers ``[batch, planes, rows, columns, channels]``, of which sizes are known.
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
    if dims is None or len(dims) != 5 or None in dims[1:]:
        raise InvalidArgumentError(f"volumes [batch, planes, rows, columns, channels], got {dims}")
    steps = {"ksizes": ksizes, "strides": strides}
    for key, given in steps.items():
        numbers = [int(k) for k in given]
        if len(numbers) != 5 or numbers[0] != 1 or numbers[4] != 1 or min(numbers) < 1:
            raise InvalidArgumentError(f"{key} must be [1, planes, rows, columns, 1], got {given}")
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(f'padding must be "SAME" or "VALID", got {padding!r}')
    around, places = [[0, 0]], []
    for k in (1, 2, 3):
        length, own, step = int(dims[k] or 0), int(ksizes[k]), int(strides[k])
        count = -(-length // step) if padding == "SAME" else max(-(-(length - own + 1) // step), 0)
        more = (count - 1) * step + own - length if padding == "SAME" and count else 0
        # Where steps leave a part of the volume out, TensorFlow leaves out half of it in front.
        before = int(more / 2)
        around.append([max(before, 0), max(more - before, 0)])
        places.append(np.arange(count)[:, None] * step + np.arange(own) - min(before, 0))
    x = pad(x, [*around, [0, 0]]) if padding == "SAME" else x
    for k, lines in enumerate(places):
        x = gather(x, lines.reshape(-1), axis=1 + k)
    (planes, deep), (rows, high), (columns, wide) = (lines.shape for lines in places)
    batch = dims[0] if dims[0] is not None else shape(x)[0]
    x = reshape(x, [batch, planes, deep, rows, high, columns, wide, dims[4]])
    x = transpose(x, [0, 1, 3, 5, 2, 4, 6, 7])
    return reshape(x, [batch, planes, rows, columns, deep * high * wide * int(dims[4] or 0)])
