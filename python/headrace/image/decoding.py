"""Image files to arrays: JPEG, PNG, GIF, BMP, WebP.

A decoded image, or all frames of one, may take 512 MiB; what claims to be larger is refused before
there is room for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..ops import apply_op
from ..standin import is_symbol
from .colour import convert_image_dtype

__all__ = [
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "extract_jpeg_shape",
    "is_jpeg",
]


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
    *,
    apply_orientation: bool = False,
) -> Any:
    """Decode a JPEG; mirrors ``tf.io.decode_jpeg``, pixel for pixel.

    PNG and GIF of one frame are decoded too, as by TensorFlow.

    Parameters
    ----------
    contents
        The file: scalar bytes.
    channels
        0 for those of the file (CMYK becomes RGB), 1 for grey, 3 for RGB.
    ratio
        1, 2, 4 or 8: shrinks while decoding, which is faster.
    fancy_upscaling
        Smooth the colours that the file has at half the resolution.
    try_recover_truncated
        Fill in what is missing at the end rather than fail.
    acceptable_fraction
        The share of the lines that must be there; missing ones are black.
    dct_method
        ``"INTEGER_FAST"``, which ``""`` stands for, or ``"INTEGER_ACCURATE"``.
    name
        Accepted for tf's sake.
    apply_orientation
        Turn the image upright by what the camera wrote into it (the orientation of EXIF).

    Returns
    -------
    array
        uint8, height x width x channels.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format, or larger than 512 MiB when decoded.

    Examples
    --------
    >>> file = hr.image.encode_jpeg(np.full((8, 6, 3), 200, np.uint8))
    >>> hr.image.decode_jpeg(file).shape, hr.image.decode_jpeg(file, channels=1, ratio=2).shape
    ((8, 6, 3), (4, 3, 1))
    """
    attrs = _jpeg_attrs(
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    )
    attrs["apply_orientation"] = checks.flag("apply_orientation", apply_orientation)
    return apply_op("decode_jpeg", attrs, checks.tensor(contents))[0]


def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """Decode a part of a JPEG; mirrors ``tf.io.decode_and_crop_jpeg``.

    Parameters
    ----------
    contents
        The file: scalar bytes.
    crop_window
        Four int32: y and x of the upper left corner, height and width.
    channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
        As of `decode_jpeg`.
    name
        Accepted for tf's sake.

    Returns
    -------
    array
        uint8, height x width x channels, of the window.

    Raises
    ------
    InvalidArgumentError
        The file is no JPEG or damaged, or the window is not inside of it.

    Examples
    --------
    >>> file = hr.image.encode_jpeg(np.full((8, 6, 3), 200, np.uint8))
    >>> hr.image.decode_and_crop_jpeg(file, [1, 2, 4, 3]).shape
    (4, 3, 3)
    """
    attrs = _jpeg_attrs(
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    )
    contents, window = checks.tensor(contents), checks.tensor(crop_window)
    if is_symbol(window):
        window = window.astype(np.int32) if window.dtype != np.int32 else window
    else:
        window = np.asarray(window)
        if window.ndim != 1:
            raise InvalidArgumentError(f"crop_window must be 1-D, got shape {window.shape}")
        if window.dtype.kind not in "iu" or abs(window.astype(np.int64)).max(initial=0) >= 2**31:
            raise InvalidArgumentError(f"crop_window must be integers of 32 bits, got {window}")
        window = window.astype(np.int32)
    return apply_op("decode_and_crop_jpeg", attrs, contents, window)[0]


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = np.uint8, name: str | None = None
) -> Any:
    """Decode a PNG; mirrors ``tf.io.decode_png``.

    JPEG and GIF of one frame are decoded too, as by TensorFlow.

    Parameters
    ----------
    contents
        The file: scalar bytes.
    channels
        0 for those of the file, 1 for grey, 3 for RGB, 4 for RGBA.
    dtype
        uint8 or uint16.
    name
        Accepted for tf's sake.

    Returns
    -------
    array
        Height x width x channels.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format, or larger than 512 MiB when decoded.

    Examples
    --------
    >>> file = hr.image.encode_png(np.array([[[7], [8]]], np.uint16))
    >>> hr.image.decode_png(file, dtype=np.uint16)[0, :, 0]
    array([7, 8], dtype=uint16)
    """
    attrs = {"channels": _channels(channels), "dtype": as_dtype(dtype)}
    return apply_op("decode_png", attrs, checks.tensor(contents))[0]


def decode_gif(contents: Any, name: str | None = None) -> Any:
    """Decode all frames of a GIF; mirrors ``tf.io.decode_gif``.

    The canvas is as large as the largest frame, and each frame is drawn over the one before. JPEG
    and PNG are one frame.

    Parameters
    ----------
    contents
        The file: scalar bytes.
    name
        Accepted for tf's sake.

    Returns
    -------
    array
        uint8, frames x height x width x 3.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format, or its frames take more than 512 MiB.

    Examples
    --------
    >>> hr.image.decode_gif(hr.image.encode_png(np.zeros((2, 3, 3), np.uint8))).shape
    (1, 2, 3, 3)
    """
    return apply_op("decode_gif", {}, checks.tensor(contents))[0]


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    r"""Decode a BMP without compression; mirrors ``tf.io.decode_bmp``.

    Parameters
    ----------
    contents
        The file: scalar bytes. It has 8, 24 or 32 bits a pixel.
    channels
        0 for those of the file, 3 for RGB, 4 for RGBA.
    name
        Accepted for tf's sake.

    Returns
    -------
    array
        uint8, height x width x channels.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format, or larger than 512 MiB when decoded.

    Examples
    --------
    >>> file = b"BM" + b"\0" * 8 + bytes([32, 0, 0, 0]) + b"\0" * 4
    >>> file += bytes([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0]) + b"\0" * 2 + bytes([3, 2, 1, 0])
    >>> hr.image.decode_bmp(file)
    array([[[1, 2, 3]]], dtype=uint8)
    """
    return apply_op("decode_bmp", {"channels": _channels(channels)}, checks.tensor(contents))[0]


def decode_webp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    """Decode all frames of a WebP; mirrors ``tf.io.decode_webp``.

    Parameters
    ----------
    contents
        The file: scalar bytes.
    channels
        0 for those of the file, which are 3 or 4, or that number.
    name
        Accepted for tf's sake.

    Returns
    -------
    array
        uint8, frames x height x width x channels; one frame if it is not animated.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format, of other channels, or its frames take more than
        512 MiB.

    Examples
    --------
    >>> hr.image.decode_webp(b"GIF89a")
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidArgumentError: Trying to decode GIF format using a wrong op. ...
    """
    return apply_op("decode_webp", {"channels": _channels(channels)}, checks.tensor(contents))[0]


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = np.uint8,
    name: str | None = None,
    expand_animations: bool = True,
    *,
    apply_orientation: bool = False,
) -> Any:
    """Decode a file of any format; mirrors ``tf.io.decode_image``.

    Parameters
    ----------
    contents
        A JPEG, PNG, GIF, BMP or WebP: scalar bytes.
    channels
        None or 0 for those of the file, 1 for grey, 3 for RGB, 4 for RGBA, where the format has it.
    dtype
        uint8, uint16, or float32 from 0 to 1; other types by way of `convert_image_dtype`.
    name
        Accepted for tf's sake.
    expand_animations
        Give all frames of GIF and WebP with an axis in front, even if there is one; else only the
        first, so that all images have three axes.
    apply_orientation
        Turn a JPEG upright by what the camera wrote into it (the orientation of EXIF).

    Returns
    -------
    array
        Height x width x channels, of an animation frames x height x width x channels.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format, or larger than 512 MiB when decoded.

    Examples
    --------
    >>> file = hr.image.encode_png(np.array([[[51], [102]]], np.uint8))
    >>> hr.image.decode_image(file, dtype=np.float32)[0, :, 0]
    array([0.2, 0.4], dtype=float32)
    """
    wanted = as_dtype(dtype)
    direct = wanted in (np.uint8, np.uint16, np.float32)
    attrs = {
        "channels": _channels(0 if channels is None else channels),
        "dtype": wanted if direct else np.dtype(np.uint16),
        "expand_animations": checks.flag("expand_animations", expand_animations),
        "apply_orientation": checks.flag("apply_orientation", apply_orientation),
    }
    (image,) = apply_op("decode_image", attrs, checks.tensor(contents))
    return image if direct else convert_image_dtype(image, wanted, saturate=True)


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


def extract_jpeg_shape(contents: Any, output_type: Any = np.int32, name: str | None = None) -> Any:
    """Read the size of a JPEG from its header; mirrors ``tf.io.extract_jpeg_shape``.

    Parameters
    ----------
    contents
        The file: scalar bytes. Its start is enough.
    output_type
        int32 or int64.
    name
        Accepted for tf's sake.

    Returns
    -------
    array
        Height, width and channels.

    Raises
    ------
    InvalidArgumentError
        The file is no JPEG.

    Examples
    --------
    >>> hr.image.extract_jpeg_shape(hr.image.encode_jpeg(np.zeros((2, 3, 1), np.uint8)))
    array([2, 3, 1], dtype=int32)
    """
    attrs = {"output_type": as_dtype(output_type)}
    return apply_op("extract_jpeg_shape", attrs, checks.tensor(contents))[0]


def _channels(channels: Any) -> int:
    return checks.integer("channels", channels)


def _jpeg_attrs(
    channels: Any,
    ratio: Any,
    fancy_upscaling: Any,
    try_recover_truncated: Any,
    acceptable_fraction: Any,
    dct_method: str,
) -> dict[str, Any]:
    return {
        "channels": _channels(channels),
        "ratio": checks.integer("ratio", ratio),
        "fancy_upscaling": checks.flag("fancy_upscaling", fancy_upscaling),
        "try_recover_truncated": checks.flag("try_recover_truncated", try_recover_truncated),
        "acceptable_fraction": float(acceptable_fraction),
        "dct_method": dct_method,
    }
