"""Numbers and arrays: what ``tf`` and ``tf.math`` have and NumPy lacks or names otherwise.

Functions take arrays and, inside a traced function, symbols alike; dtypes are NumPy's. What NumPy
has under the same name (`np.where`, `np.stack`, `np.concatenate`, …) is recorded as it is.
"""

from .counting import (
    bincount,
    bucketize,
    searchsorted,
    sequence_mask,
    unique,
    unique_with_counts,
)
from .numbers import (
    cast,
    clip_by_value,
    divide_no_nan,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_std,
    reduce_sum,
    reduce_variance,
)
from .picking import boolean_mask, gather, gather_nd, one_hot, slice
from .shaping import ensure_shape, fill, pad, range, rank, reshape, shape, size

__all__ = [
    "bincount",
    "boolean_mask",
    "bucketize",
    "cast",
    "clip_by_value",
    "divide_no_nan",
    "ensure_shape",
    "fill",
    "gather",
    "gather_nd",
    "one_hot",
    "pad",
    "range",
    "rank",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "reshape",
    "searchsorted",
    "sequence_mask",
    "shape",
    "size",
    "slice",
    "unique",
    "unique_with_counts",
]
