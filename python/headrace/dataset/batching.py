"""Elements stacked into batches, dense, padded, ragged or sparse, and batches taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from .. import checks
from ..dtypes import as_dtype, dtype_name
from ..tensors import SparseTensor
from .step import Step, T_co

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Batching"]


class Batching(Step[T_co]):
    """The methods of `Dataset` that stack elements."""

    __slots__ = ()

    def batch(
        self,
        batch_size: SupportsIndex,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Stack elements along a new axis 0; mirrors ``tf.data.Dataset.batch``.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        drop_remainder
            Leave a shorter last batch out. Then the batch size is part of the element spec.
        num_parallel_calls
            How many batches may be put together at once; `AUTOTUNE` lets headrace choose; ``None``:
            one. Only rows whose shapes may differ, or that are no arrays, are copied together; of
            others a batch is a slice, for which there are no tasks.
        deterministic
            ``False``: batches that are put together at once may come as they get ready. ``None``:
            what the options say.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            `batch_size` is 0 or negative; during iteration, elements of different shapes.

        Examples
        --------
        >>> list(hr.Dataset.range(5).batch(2))
        [array([0, 1]), array([2, 3]), array([4])]
        """
        return self._derive(
            "batch",
            batch_size=checks.batch_size(batch_size),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
        )

    def padded_batch(
        self,
        batch_size: SupportsIndex,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
        *,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[Any]:
        """Stack elements padded to one shape; mirrors ``tf.data.Dataset.padded_batch``.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        padded_shapes
            A nest of shapes, one per component; ``None`` or -1 for an axis pads it to the longest
            of the batch. ``None`` does that for all axes.
        padding_values
            A nest of scalars, or one for all; zero, empty text and ``False`` if not given.
        drop_remainder
            Leave a shorter last batch out.
        name
            Accepted for tf.data's sake.
        num_parallel_calls
            How many batches may be put together at once, which `tf.data` has no word for here;
            `AUTOTUNE` lets headrace choose; ``None``: one.
        deterministic
            ``False``: batches may come as they get ready. ``None``: what the options say.

        Raises
        ------
        ValueError
            A padded shape is smaller than a static shape, or a rank is unknown.
        TypeError
            A padding value of another dtype.
        DataLossError
            During iteration, an element larger than its padded shape.

        Examples
        --------
        >>> rows = hr.Dataset.range(1, 3).map(lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> list(rows.padded_batch(2, padding_values=-1))
        [array([[ 0, -1],
               [ 0,  1]])]
        """
        spec = self._plan.element_spec
        return self._derive(
            "padded_batch",
            batch_size=checks.batch_size(batch_size),
            padded_shapes=checks.padded_shapes(spec, padded_shapes),
            padding_values=checks.padding_values(spec, padding_values),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
        )

    def ragged_batch(
        self,
        batch_size: SupportsIndex,
        drop_remainder: bool = False,
        row_splits_dtype: Any = np.int64,
        name: str | None = None,
        *,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[Any]:
        """Batch elements of differing shapes without padding.

        Mirrors ``tf.data.Dataset.ragged_batch``. Components of a known shape become dense batches,
        others `RaggedTensor`. Where the rank is known in a run only, all axes are ragged; tf.data
        makes a dense batch of those.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        drop_remainder
            Leave a shorter last batch out.
        row_splits_dtype
            ``int64`` or ``int32``.
        name
            Accepted for tf.data's sake.
        num_parallel_calls
            How many batches may be put together at once, which `tf.data` has no word for here;
            `AUTOTUNE` lets headrace choose; ``None``: one.
        deterministic
            ``False``: batches may come as they get ready. ``None``: what the options say.

        Raises
        ------
        InvalidArgumentError
            `batch_size` is 0 or negative; during iteration, elements that differ along an axis of
            known size.

        Examples
        --------
        >>> rows = hr.Dataset.range(3).map(lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> next(iter(rows.ragged_batch(3))).to_list()
        [[], [0], [0, 1]]
        """
        return self._derive(
            "ragged_batch",
            batch_size=checks.batch_size(batch_size),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            row_splits_dtype=dtype_name(as_dtype(row_splits_dtype)),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
        )

    def sparse_batch(
        self, batch_size: SupportsIndex, row_shape: Any, name: str | None = None
    ) -> Dataset[SparseTensor]:
        """Batch elements of differing shapes as rows of `SparseTensor`.

        Mirrors ``tf.data.Dataset.sparse_batch``. All values are in it, zeros too.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        row_shape
            The dense shape of a row; ``None`` or -1 for an axis: as long as the longest of the
            batch.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            The elements are not one dense component.
        InvalidArgumentError
            `batch_size` is 0 or negative, or elements have another rank than `row_shape`.
        DataLossError
            During iteration, an element larger than `row_shape`.

        Examples
        --------
        >>> batch = next(iter(hr.Dataset.from_tensor_slices([[7, 0], [8, 9]]).sparse_batch(2, [3])))
        >>> batch.values, batch.dense_shape
        (array([7, 0, 8, 9]), array([2, 3]))
        """
        checks.single_dense("sparse_batch", self._plan.element_spec)
        return self._derive(
            "sparse_batch",
            batch_size=checks.batch_size(batch_size),
            row_shape=checks.row_shape(row_shape),
        )

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset[Any]:
        """Cut and join batches to other sizes; mirrors ``tf.data.Dataset.rebatch``.

        The same as ``unbatch().batch(batch_size)``, without taking the batches apart.

        Parameters
        ----------
        batch_size
            Rows in a batch, or a list of sizes that are used in turn; a size of 0 in a list gives
            an empty batch.
        drop_remainder
            Leave a shorter last batch out.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            A component is a scalar, or no size is above 0.

        Examples
        --------
        >>> list(hr.Dataset.range(6).batch(3).rebatch([1, 2]))
        [array([0]), array([1, 2]), array([3]), array([4, 5])]
        """
        checks.batched(self._plan.element_spec)
        return self._derive(
            "rebatch",
            batch_size=checks.batch_sizes(batch_size),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
        )

    def unbatch(self, name: str | None = None) -> Dataset[Any]:
        """Split elements along axis 0; mirrors ``tf.data.Dataset.unbatch``.

        Parameters
        ----------
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            A component is a scalar, or the sizes differ.

        Examples
        --------
        >>> list(hr.Dataset.from_tensors([1, 2]).unbatch())
        [np.int64(1), np.int64(2)]
        """
        checks.unbatched(self._plan.element_spec)
        return self._derive("unbatch")
