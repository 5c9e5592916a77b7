"""The arguments of TensorFlow 1: old names, and the order that they had.

What stands in a place may mean something else there (``tf.compat.v1.size(x, "name")``), so
each function whose arguments have moved since has its old list here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["arranged"]

_AXES = "axis keepdims name reduction_indices:axis keep_dims:keepdims"
_POOL = "value:input ksize strides padding data_format name input"

# The arguments in their order, after a colon the name that one has now: none if it is ignored.
_ORDERS = {
    "argmax": "input axis name dimension:axis output_type",
    "argmin": "input axis name dimension:axis output_type",
    "avg_pool": _POOL,
    "avg_pool2d": _POOL,
    "boolean_mask": "tensor mask name axis",
    "cond": "pred true_fn false_fn strict: name fn1:true_fn fn2:false_fn",
    "confusion_matrix": "labels predictions num_classes dtype name weights",
    "constant": "value dtype shape name verify_shape:",
    "convert_to_tensor": "value dtype name preferred_dtype:dtype_hint dtype_hint",
    "count_nonzero": "input_tensor:input axis keepdims dtype name reduction_indices:axis "
    "keep_dims:keepdims input",
    "crelu": "features name axis",
    "depth_to_space": "input block_size name data_format",
    "expand_dims": "input axis name dim:axis",
    "gather": "params indices validate_indices name axis batch_dims",
    "gather_nd": "params indices name batch_dims bad_indices_policy",
    "in_top_k": "predictions targets k name",
    "log_softmax": "logits axis name dim:axis",
    "max_pool": _POOL,
    "moments": "x axes shift name keep_dims:keepdims keepdims",
    "norm": "tensor ord axis keepdims name keep_dims:keepdims",
    "ones_like": "tensor:input dtype name optimize:",
    "pad": "tensor paddings mode name constant_values",
    "reduce_all": f"input_tensor {_AXES}",
    "reduce_any": f"input_tensor {_AXES}",
    "reduce_logsumexp": f"input_tensor {_AXES}",
    "reduce_max": f"input_tensor {_AXES}",
    "reduce_mean": f"input_tensor {_AXES}",
    "reduce_min": f"input_tensor {_AXES}",
    "reduce_prod": f"input_tensor {_AXES}",
    "reduce_sum": f"input_tensor {_AXES}",
    "reverse_sequence": "input seq_lengths seq_axis batch_axis name seq_dim:seq_axis "
    "batch_dim:batch_axis",
    "shape": "input name out_type",
    "size": "input name out_type",
    "softmax": "logits axis name dim:axis",
    "space_to_depth": "input block_size name data_format",
    "squeeze": "input axis name squeeze_dims:axis",
    "string_to_hash_bucket": "string_tensor:input num_buckets name input",
    "transpose": "a perm name conjugate",
    "verify_tensor_all_finite": "t:x msg:message name x message",
    "zeros_like": "tensor:input dtype name optimize:",
}


@functools.cache
def arranged(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes the arguments of TensorFlow 1.

    Parameters
    ----------
    name
        Its name there. A function whose arguments are the same is returned as it is.
    function
        The function of today.

    Examples
    --------
    >>> from headrace.tf.compat.v1.arguments import arranged
    >>> arranged("reduce_sum", tf.reduce_sum)([[1, 2]], keep_dims=True).numpy()
    array([[3]], dtype=int32)
    """
    if name not in _ORDERS:
        return function
    pairs = [item.partition(":") for item in _ORDERS[name].split()]
    order = [old for old, _, _ in pairs]
    renamed = {old: new for old, colon, new in pairs if colon}
    taken = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(order):
            text = f"{name}() takes at most {len(order)} arguments, got {len(args)}"
            raise TypeError(text)
        given = dict(zip(order, args, strict=False))
        for key, value in kwargs.items():
            if key in given:
                raise TypeError(f"{name}() got multiple values for argument '{key}'")
            if key not in order:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            given[key] = value
        for old, new in renamed.items():
            value = given.pop(old, None)
            if value is None or not new:
                continue
            if given.get(new) is not None:
                raise ValueError(f"Cannot specify both '{old}' and '{new}'.")
            given[new] = value
        if "name" not in taken:
            given.pop("name", None)
        return function(**given)

    return call
