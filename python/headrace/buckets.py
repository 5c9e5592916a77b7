"""Buckets by length: the functions behind `Dataset.bucket_by_sequence_length`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import checks, standin
from .errors import InvalidArgumentError
from .nest import flatten, map_structure
from .ops import apply_op
from .spec import UnknownSpec

if TYPE_CHECKING:
    from .dataset import Dataset

__all__ = ["Buckets"]


class Buckets:
    """How elements are put into buckets, and buckets into batches.

    Parameters
    ----------
    element_spec
        What the elements look like.
    element_length_func, bucket_boundaries, bucket_batch_sizes
        See `Dataset.bucket_by_sequence_length`.
    padded_shapes, padding_values, pad_to_bucket_boundary, no_padding, drop_remainder
        How a bucket becomes a batch.

    Raises
    ------
    ValueError
        There is not one batch size more than boundaries.

    Examples
    --------
    >>> buckets = Buckets(hr.TensorSpec((), str), len, [3, 5], [8, 4, 2])
    >>> [int(buckets.key_func(text)) for text in ("ab", "abc", "abcdef")]
    [0, 1, 2]
    """

    def __init__(
        self,
        element_spec: Any,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: Any = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
    ) -> None:
        boundaries = [checks.integer("bucket_boundaries", value) for value in bucket_boundaries]
        sizes = [checks.batch_size(value) for value in bucket_batch_sizes]
        if len(sizes) != len(boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(sizes)}` and "
                f"`len(bucket_boundaries)={len(boundaries)}`."
            )
        limits = np.array(boundaries, np.int64)
        self.key_func = partial(_bucket_of, element_length_func, limits)
        self.window_size_func = partial(_size_of, np.array(sizes, np.int64))
        if no_padding:
            self.reduce_func: Any = partial(_batch, self.window_size_func, drop_remainder)
            return
        to_boundary = pad_to_bucket_boundary
        if not isinstance(element_spec, UnknownSpec):
            checks.each("pad_to_bucket_boundary", to_boundary, element_spec)
        self.reduce_func = partial(
            _padded_batch,
            self.window_size_func,
            boundaries if any(flatten(to_boundary)) else None,
            to_boundary,
            element_spec,
            padded_shapes,
            padding_values,
            drop_remainder,
        )


def _bucket_of(element_length_func: Callable[..., Any], limits: Any, *element: Any) -> Any:
    return (limits <= element_length_func(*element)).sum()


def _size_of(sizes: Any, bucket: Any) -> Any:
    return apply_op("getitem", {}, sizes, bucket)[0]


def _batch(
    size_of: Callable[[Any], Any], drop_remainder: bool, bucket: Any, window: Dataset[Any]
) -> Dataset[Any]:
    return window.batch(size_of(bucket), drop_remainder)


def _padded_batch(
    size_of: Callable[[Any], Any],
    boundaries: list[int] | None,
    to_boundary: Any,
    element_spec: Any,
    padded_shapes: Any,
    padding_values: Any,
    drop_remainder: bool,
    bucket: Any,
    window: Dataset[Any],
) -> Dataset[Any]:
    shapes = padded_shapes
    if boundaries is not None and not standin.is_symbol(bucket):
        if int(bucket) >= len(boundaries):
            raise InvalidArgumentError(
                "When pad_to_bucket_boundary=True, elements must have "
                "length < max(bucket_boundaries)."
            )
        spec = window._plan.element_spec if isinstance(element_spec, UnknownSpec) else element_spec
        shapes = _filled(shapes, spec, boundaries[int(bucket)] - 1, to_boundary)
    return window.padded_batch(size_of(bucket), shapes, padding_values, drop_remainder)


def _filled(shapes: Any, element_spec: Any, filler: int, to_boundary: Any) -> Any:
    """Return shapes with `filler` where sizes are unknown, and `to_boundary` says so."""
    found = checks.padded_shapes(element_spec, shapes)
    if found is None:
        found = [spec.shape for spec in flatten(element_spec)]
    flags = checks.each("pad_to_bucket_boundary", to_boundary, element_spec)
    filled = iter(
        [
            tuple(filler if dim is None else dim for dim in shape) if flag and shape else shape
            for shape, flag in zip(found, flags, strict=True)
        ]
    )
    return map_structure(lambda _: next(filled), element_spec)
