"""Arrays to image files: JPEG and PNG, and the faults of JPEG alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidArgumentError
from ..ops import apply_op
from ..standin import is_symbol
from .colour import convert_image_dtype
from .decoding import decode_jpeg

__all__ = ["adjust_jpeg_quality", "encode_jpeg", "encode_png"]


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: Any = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Any:
    r"""Encode an image as JPEG; mirrors ``tf.io.encode_jpeg``.

    Parameters
    ----------
    image
        uint8, height x width x 1 or 3.
    format
        ``"grayscale"``, ``"rgb"``, or ``""`` for what the image is.
    quality
        0 to 100; an int32 scalar, so that it may differ from element to element.
    progressive
        Write it so that it can be shown from coarse to fine.
    optimize_size
        Spend more time for a smaller file; the pixels are the same.
    chroma_downsampling
        Store the colours at half the resolution.
    density_unit, x_density, y_density
        Pixels per ``"in"`` or ``"cm"``.
    xmp_metadata
        Metadata to embed.
    name
        Accepted for tf's sake.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    InvalidArgumentError
        The image has another dtype or shape, or an argument is out of range.

    Examples
    --------
    >>> hr.image.encode_jpeg(np.zeros((2, 3, 3), np.uint8), quality=50)[:3]
    b'\xff\xd8\xff'
    """
    attrs: dict[str, Any] = {
        "format": format,
        "progressive": checks.flag("progressive", progressive),
        "optimize_size": checks.flag("optimize_size", optimize_size),
        "chroma_downsampling": checks.flag("chroma_downsampling", chroma_downsampling),
        "density_unit": density_unit,
        "x_density": checks.integer("x_density", x_density),
        "y_density": checks.integer("y_density", y_density),
        "xmp_metadata": xmp_metadata,
    }
    if is_symbol(quality):
        return apply_op("encode_jpeg", attrs, checks.tensor(image), quality)[0]
    attrs["quality"] = checks.integer("quality", quality)
    return apply_op("encode_jpeg", attrs, checks.tensor(image))[0]


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """Encode images as PNG; mirrors ``tf.io.encode_png``.

    Parameters
    ----------
    image
        uint8 or uint16, height x width x 1 to 4, perhaps with axes of a batch in front.
    compression
        0 for none to 9 for the smallest; -1 chooses.
    name
        Accepted for tf's sake.

    Returns
    -------
    bytes
        The file, or an array of one for each image of the batch.

    Raises
    ------
    InvalidArgumentError
        The image has another dtype or shape, or `compression` is out of range.

    Examples
    --------
    >>> hr.image.encode_png(np.zeros((2, 3, 3), np.uint8))[1:4]
    b'PNG'
    """
    attrs = {"compression": checks.integer("compression", compression)}
    return apply_op("encode_png", attrs, checks.tensor(image))[0]


def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Any:
    """Give an image the faults of JPEG; mirrors ``tf.image.adjust_jpeg_quality``.

    Parameters
    ----------
    image
        Height x width x 1 or 3, of any dtype of images.
    jpeg_quality
        0 to 100; an int32 scalar.
    dct_method
        As of `decode_jpeg`.
    name
        Accepted for tf's sake.

    Returns
    -------
    array
        Encoded and decoded, of the shape and dtype of `image`.

    Raises
    ------
    InvalidArgumentError
        The image has another shape, or the quality is out of range.

    Examples
    --------
    >>> hr.image.adjust_jpeg_quality(np.full((2, 2, 3), 200, np.uint8), 50).shape
    (2, 2, 3)
    """
    image = checks.tensor(image)
    if image.ndim != 3:
        raise InvalidArgumentError(f"image must be 3-dimensional, got shape {image.shape}")
    dtype = image.dtype
    channels = (image._spec.shape if is_symbol(image) else image.shape)[-1]
    file = encode_jpeg(convert_image_dtype(image, np.uint8, saturate=True), quality=jpeg_quality)
    adjusted = decode_jpeg(file, channels=channels or 0, dct_method=dct_method)
    return convert_image_dtype(adjusted, dtype, saturate=True)
