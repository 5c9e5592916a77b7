"""Image files to tensors and back; mirrors the coders of ``tf.image`` and ``tf.io``."""

from __future__ import annotations

from typing import Any

from ... import image as own
from ..bridge import to_own
from ..convert import convert, is_symbol
from ..dtypes import as_dtype, int32, string, uint8, uint16
from ..dtypes import to_own as dtype_to_own
from ..kernels import DTypeError, static_shape
from ..tensor import raw
from ..values import result
from .arguments import of_size

__all__ = [
    "adjust_jpeg_quality",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
]


def _string(value: Any) -> Any:
    return to_own(convert(value, string))


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Any:
    """Decode a JPEG; mirrors ``tf.io.decode_jpeg``; see `headrace.image.decode_jpeg`.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format or too large.

    Examples
    --------
    >>> tf.io.decode_jpeg(tf.io.encode_jpeg(tf.zeros([8, 6, 3], tf.uint8)), ratio=2).shape
    TensorShape([4, 3, 3])
    """
    return result(
        own.decode_jpeg(
            _string(contents),
            int(channels or 0),
            ratio,
            bool(fancy_upscaling),
            bool(try_recover_truncated),
            acceptable_fraction,
            dct_method or "",
        )
    )


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
    """Decode a window of a JPEG: y, x, height, width; mirrors ``tf.io.decode_and_crop_jpeg``.

    Raises
    ------
    InvalidArgumentError
        The file is no JPEG or damaged, or the window is not inside of it.

    Examples
    --------
    >>> file = tf.io.encode_jpeg(tf.zeros([8, 6, 3], tf.uint8))
    >>> tf.io.decode_and_crop_jpeg(file, [1, 2, 4, 3]).shape
    TensorShape([4, 3, 3])
    """
    window = convert(crop_window, int32)
    found = result(
        own.decode_and_crop_jpeg(
            _string(contents),
            to_own(window),
            int(channels or 0),
            ratio,
            bool(fancy_upscaling),
            bool(try_recover_truncated),
            acceptable_fraction,
            dct_method or "",
        )
    )
    if is_symbol(window) or static_shape(window) != (4,):
        return found
    return of_size(found, *raw(window)[2:].tolist())


def decode_png(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Any:
    """Decode a PNG as uint8 or uint16; mirrors ``tf.io.decode_png``.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format or too large.

    Examples
    --------
    >>> tf.io.decode_png(tf.io.encode_png(tf.zeros([2, 3, 1], tf.uint8)), channels=4).shape
    TensorShape([2, 3, 4])
    """
    if as_dtype(dtype) not in (uint8, uint16):
        raise DTypeError(f"dtype must be uint8 or uint16, got {as_dtype(dtype).name}")
    made = dtype_to_own(as_dtype(dtype))
    return result(own.decode_png(_string(contents), int(channels or 0), made))


def decode_gif(contents: Any, name: str | None = None) -> Any:
    """Decode all frames of a GIF; mirrors ``tf.io.decode_gif``.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format or too large.

    Examples
    --------
    >>> tf.io.decode_gif(tf.io.encode_png(tf.zeros([2, 3, 3], tf.uint8))).shape
    TensorShape([1, 2, 3, 3])
    """
    return result(own.decode_gif(_string(contents)))


def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Any:
    """Decode a BMP without compression; mirrors ``tf.io.decode_bmp``.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format or too large.

    Examples
    --------
    >>> tf.io.decode_bmp(b"BM")
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidArgumentError: Incomplete bmp content, ...
    """
    return result(own.decode_bmp(_string(contents), int(channels or 0)))


def decode_webp(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Any:
    """Decode all frames of a WebP as uint8; mirrors ``tf.io.decode_webp``.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format, of other channels or too large.

    Examples
    --------
    >>> tf.io.decode_webp(b"RIFF....WEBP")
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidArgumentError: Failed to decode WebP image: ...
    """
    if as_dtype(dtype) != uint8:
        raise DTypeError(f"dtype must be uint8, got {as_dtype(dtype).name}")
    return result(own.decode_webp(_string(contents), int(channels or 0)))


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """Decode a file of any format; mirrors ``tf.io.decode_image``.

    Raises
    ------
    InvalidArgumentError
        The file is damaged, of another format or too large.

    Examples
    --------
    >>> file = tf.io.encode_png(tf.constant([[[51], [102]]], tf.uint8))
    >>> tf.io.decode_image(file, dtype=tf.float32)[0, :, 0].numpy()
    array([0.2, 0.4], dtype=float32)
    """
    made = dtype_to_own(as_dtype(dtype))
    return result(
        own.decode_image(
            _string(contents), channels, made, expand_animations=bool(expand_animations)
        )
    )


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: Any = "",
    name: str | None = None,
) -> Any:
    """Encode an image as JPEG; mirrors ``tf.io.encode_jpeg``; see `headrace.image.encode_jpeg`.

    Raises
    ------
    InvalidArgumentError
        The image has another dtype or shape, or an argument is out of range.

    Examples
    --------
    >>> tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([2, 3, 3], tf.uint8))).numpy()
    np.True_
    """
    return result(
        own.encode_jpeg(
            to_own(convert(image, uint8)),
            format or "",
            quality,
            bool(progressive),
            bool(optimize_size),
            bool(chroma_downsampling),
            density_unit,
            x_density,
            y_density,
            xmp_metadata.decode() if isinstance(xmp_metadata, bytes) else xmp_metadata,
        )
    )


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Any:
    """Encode images of uint8 or uint16 as PNG; mirrors ``tf.io.encode_png``.

    Raises
    ------
    InvalidArgumentError
        The image has another dtype or shape, or `compression` is out of range.

    Examples
    --------
    >>> tf.io.encode_png(tf.zeros([4, 2, 3, 3], tf.uint8)).shape
    TensorShape([4])
    """
    dtype = getattr(image, "dtype", None)
    made = convert(image) if dtype in (uint8, uint16) else convert(image, uint8)
    return result(own.encode_png(to_own(made), compression))


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    r"""Tell whether strings start as a JPEG does; mirrors ``tf.io.is_jpeg``.

    Examples
    --------
    >>> bool(tf.io.is_jpeg(b"\xff\xd8\xff\xe0"))
    True
    """
    return result(own.is_jpeg(_string(contents)))


def extract_jpeg_shape(contents: Any, output_type: Any = int32, name: str | None = None) -> Any:
    """Read height, width and channels of a JPEG; mirrors ``tf.io.extract_jpeg_shape``.

    Raises
    ------
    InvalidArgumentError
        The file is no JPEG.

    Examples
    --------
    >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([2, 3, 1], tf.uint8))).numpy()
    array([2, 3, 1], dtype=int32)
    """
    made = dtype_to_own(as_dtype(output_type))
    return result(own.extract_jpeg_shape(_string(contents), made))


def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Any:
    """Give an image the faults of JPEG; mirrors ``tf.image.adjust_jpeg_quality``.

    Raises
    ------
    InvalidArgumentError
        The image has another shape, or the quality is out of range.

    Examples
    --------
    >>> tf.image.adjust_jpeg_quality(tf.zeros([2, 2, 3], tf.uint8), 50).shape
    TensorShape([2, 2, 3])
    """
    quality = jpeg_quality
    if not isinstance(jpeg_quality, int):
        quality = to_own(convert(jpeg_quality, int32))
        quality = quality if is_symbol(quality) else int(quality)
    return result(own.adjust_jpeg_quality(to_own(convert(image)), quality, dct_method or ""))
