"""Image files to arrays and back: JPEG, PNG, GIF, BMP, WebP."""

from __future__ import annotations

from typing import Any

from .. import checks
from ..ops import apply_op

__all__ = ["is_jpeg"]


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    r"""Tell whether bytes start as a JPEG does; mirrors ``tf.io.is_jpeg``.

    Parameters
    ----------
    contents
        Bytes, or an array of them.
    name
        Accepted for tf's sake.

    Returns
    -------
    bool
        Of the shape of `contents`.

    Examples
    --------
    >>> hr.image.is_jpeg(b"\xff\xd8\xff\xe0"), hr.image.is_jpeg(b"GIF89a")
    (np.True_, np.False_)
    """
    return apply_op("is_jpeg", {}, checks.tensor(contents))[0]
