"""Elements gathered into windows, groups and packed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from .. import checks
from ..buckets import Buckets
from ..errors import InvalidArgumentError
from ..function import Function, GroupFunction
from ..nest import map_structure
from .step import R, Step, T_co

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Grouping"]


class Grouping(Step[T_co]):
    """The methods of `Dataset` that gather elements which belong together."""

    __slots__ = ()

    def window(
        self,
        size: SupportsIndex,
        shift: SupportsIndex | None = None,
        stride: SupportsIndex = 1,
        drop_remainder: bool = False,
        name: str | None = None,
        *,
        as_arrays: bool = False,
    ) -> Dataset[Any]:
        """Yield runs of elements that follow each other; mirrors ``tf.data.Dataset.window``.

        Each component of a window is a `Dataset` of the elements in it.

        Parameters
        ----------
        size
            Elements in a window; at the end there may be fewer.
        shift
            How many elements further the next window starts; ``None``: `size`.
        stride
            How many elements further each element of a window is than the one before.
        drop_remainder
            Leave shorter windows at the end out.
        name
            Accepted for tf.data's sake.
        as_arrays
            Each component is an array with a new first axis instead, as of a batch.

        Raises
        ------
        InvalidArgumentError
            `size`, `shift` or `stride` is 0 or negative.

        Examples
        --------
        >>> windows = hr.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [[x.item() for x in window] for window in windows]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        >>> list(hr.Dataset.range(5).window(3, shift=2, as_arrays=True))
        [array([0, 1, 2]), array([2, 3, 4]), array([4])]
        """
        return self._derive(
            "window",
            size=checks.integer("size", size),
            shift=None if shift is None else checks.integer("shift", shift),
            stride=checks.integer("stride", stride),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            as_arrays=checks.flag("as_arrays", as_arrays),
        )

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Dataset[T_co]], Dataset[R]],
        window_size: SupportsIndex | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
        *,
        order: Literal["key", "first"] = "key",
    ) -> Dataset[R]:
        """Gather elements by key and reduce each group.

        Mirrors ``tf.data.Dataset.group_by_window``. A group is reduced as soon as it is full; those
        that are left follow at the end, in the order of their keys.

        Parameters
        ----------
        key_func
            Gets arguments as the function of `map` does; returns an int64 scalar.
        reduce_func
            Gets a key and a dataset of its elements; returns the dataset to yield from.
        window_size
            How many elements make a group.
        window_size_func
            Gets a key and returns how many, instead.
        name
            Accepted for tf.data's sake.
        order
            How the groups that are left at the end follow: by ``"key"``, as in tf.data, or as their
            ``"first"`` elements came.

        Raises
        ------
        ValueError
            Not just one of `window_size` and `window_size_func` is given, or `key_func` returns
            something else than an int64 scalar.
        TypeError
            `reduce_func` returns something else than a `Dataset`.
        InvalidArgumentError
            A size is 0 or negative, or `order` is unknown.

        Examples
        --------
        >>> numbers = hr.Dataset.range(7)
        >>> list(numbers.group_by_window(lambda x: x % 2, lambda _, group: group.batch(2), 2))
        [array([0, 2]), array([1, 3]), array([4, 6]), array([5])]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be "
                "specified, and not both."
            )
        if order not in ("key", "first"):
            raise InvalidArgumentError(f'`order` must be "key" or "first", got {order!r}')
        sizes = window_size_func and GroupFunction(window_size_func, "window_size_func")
        return self._derive(
            "group_by_window",
            key_func=Function(key_func),
            reduce_func=GroupFunction(reduce_func, "reduce_func"),
            window_size=0 if window_size is None else checks.integer("window_size", window_size),
            window_size_func=sizes,
            order=order,
        )

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Iterable[SupportsIndex],
        bucket_batch_sizes: Iterable[SupportsIndex],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: Any = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset[T_co]:
        """Batch elements of like lengths; mirrors ``tf.data.Dataset.bucket_by_sequence_length``.

        Parameters
        ----------
        element_length_func
            Gets arguments as the function of `map` does; returns the length, an integer.
        bucket_boundaries
            Lengths at which the next bucket begins, in ascending order.
        bucket_batch_sizes
            Batch size of each bucket: one more than boundaries.
        padded_shapes, padding_values
            See `padded_batch`.
        pad_to_bucket_boundary
            Pad unknown sizes to the longest length of the bucket, which is one below its boundary,
            not to that of the batch. An element as long as the last boundary is an error. A nest
            like the elements says so of each component.
        no_padding
            Batch without padding; elements of one batch must have one shape.
        drop_remainder
            Leave shorter batches at the end out.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            There is not one batch size more than boundaries, or `pad_to_bucket_boundary` is a nest
            of another structure than the elements.
        InvalidArgumentError
            A batch size is 0 or negative.

        Examples
        --------
        >>> texts = hr.Dataset.range(1, 6).map(
        ...     lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> [b.shape for b in texts.bucket_by_sequence_length(lambda x: x.shape[0], [3], [2, 3])]
        [(2, 2), (3, 5)]
        """
        buckets = Buckets(
            self._plan.element_spec,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            map_structure(partial(checks.flag, "pad_to_bucket_boundary"), pad_to_bucket_boundary),
            checks.flag("no_padding", no_padding),
            checks.flag("drop_remainder", drop_remainder),
        )
        return self.group_by_window(
            buckets.key_func, buckets.reduce_func, window_size_func=buckets.window_size_func
        )

    def pack(
        self,
        length: SupportsIndex,
        open_rows: SupportsIndex = 16,
        padding_values: Any = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Pack several sequences into one row, first fit; tf.data has nothing like it.

        Yields ``(packed, segment_ids, positions)``: the components with `length` places along axis
        0; for each place the number of its sequence in the row, from 1 (0 is padding); and its
        position in that sequence. An element goes into the first open row with room for it; where
        none has, the oldest row is yielded. Empty sequences take no place.

        Parameters
        ----------
        length
            Places in a row.
        open_rows
            How many rows are filled at a time: more waste less, and hold more.
        padding_values
            What is put into places that are left: a nest like the elements, or one value;
            ``None``: zeros, ``b""`` or ``False``.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            A number is 0 or negative, or a component is no dense sequence. During iteration: a
            sequence is longer than a row, or the components of an element differ in length.

        Examples
        --------
        >>> words = hr.Dataset.range(1, 4).map(
        ...     lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> for packed, segment_ids, positions in words.pack(4):
        ...     print(packed, segment_ids, positions)
        [0 0 1 0] [1 2 2 0] [0 0 1 0]
        [0 1 2 0] [1 1 1 0] [0 1 2 0]
        """
        values = None
        if padding_values is not None:
            values = checks.padding_values(self._plan.element_spec, padding_values)
        return self._derive(
            "pack",
            length=checks.integer("length", length),
            open_rows=checks.integer("open_rows", open_rows),
            padding_values=values,
        )
