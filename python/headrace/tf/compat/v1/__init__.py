"""Names of TensorFlow 1 that input code uses; mirrors ``tf.compat.v1``.

What is not listed here is the name of ``headrace.tf``.
"""

from __future__ import annotations

import importlib
from typing import Any

from ... import casting, errors, gathering
from ... import io as _io
from ...array_ops import reshape
from ...convert import convert
from ...io import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    decode_base64,
    decode_compressed,
    decode_json_example,
    deserialize_many_sparse,
    encode_base64,
    matching_files,
    parse_sequence_example,
    parse_single_sequence_example,
    parse_tensor,
    read_file,
    serialize_tensor,
    write_file,
)
from ...kernels import static_shape
from ...names import lookup as _lookup
from ...operands import operands
from ...sparse import SparseTensorValue
from .arguments import arranged
from .ragged import RaggedTensorValue

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "RaggedTensorValue",
    "SparseFeature",
    "SparseTensorValue",
    "VarLenFeature",
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "deserialize_many_sparse",
    "disable_eager_execution",
    "enable_eager_execution",
    "enable_resource_variables",
    "enable_v2_behavior",
    "encode_base64",
    "errors",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_tensor",
    "set_random_seed",
    "string_to_hash_bucket_fast",
    "string_to_number",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "where",
    "write_file",
]

_SUBMODULES = (
    "data", "gfile", "image", "io", "logging", "math", "nn", "python_io", "ragged", "strings"
)  # fmt: skip


def parse_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> Any:
    """Parse a batch of Examples; mirrors ``tf.compat.v1.parse_example``.

    Examples
    --------
    >>> features = {"x": tf.compat.v1.VarLenFeature(tf.int64)}
    >>> tf.compat.v1.parse_example([b""], features)["x"].shape
    TensorShape([1, 0])
    """
    return _io.parse_example(serialized, features, example_names)


def parse_single_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> Any:
    """Parse one Example; mirrors ``tf.compat.v1.parse_single_example``.

    Examples
    --------
    >>> features = {"x": tf.compat.v1.VarLenFeature(tf.int64)}
    >>> tf.compat.v1.parse_single_example(b"", features)["x"].shape
    TensorShape([0])
    """
    return _io.parse_single_example(serialized, features)


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Any = None,
) -> Any:
    """Read records of CSV; mirrors ``tf.compat.v1.decode_csv``.

    Examples
    --------
    >>> [column.numpy() for column in tf.compat.v1.decode_csv("1,", [[0], [2.0]])]
    [np.int32(1), np.float32(2.0)]
    """
    return _io.decode_csv(
        records, record_defaults, field_delim, use_quote_delim, na_value, select_cols
    )


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
) -> Any:
    """Read strings as numbers; mirrors ``tf.compat.v1.decode_raw``.

    Examples
    --------
    >>> tf.compat.v1.decode_raw("a", tf.uint8).numpy()
    array([97], dtype=uint8)
    """
    if out_type is None:
        raise ValueError("decode_raw requires out_type to be specified")
    return _io.decode_raw(bytes if input_bytes is None else input_bytes, out_type, little_endian)


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Cast to float32; mirrors ``tf.compat.v1.to_float``."""
    return casting.cast(x, "float32")


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """Cast to float64; mirrors ``tf.compat.v1.to_double``."""
    return casting.cast(x, "float64")


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Cast to int32; mirrors ``tf.compat.v1.to_int32``."""
    return casting.cast(x, "int32")


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """Cast to int64; mirrors ``tf.compat.v1.to_int64``."""
    return casting.cast(x, "int64")


def string_to_number(
    string_tensor: Any = None, out_type: Any = None, name: str | None = None, input: Any = None
) -> Any:
    """Read numbers; mirrors ``tf.compat.v1.string_to_number``.

    Examples
    --------
    >>> tf.compat.v1.string_to_number("1.5").numpy()
    np.float32(1.5)
    """
    value = input if string_tensor is None else string_tensor
    strings = _module("strings")
    return strings.to_number(value) if out_type is None else strings.to_number(value, out_type)


def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Hash strings; mirrors ``tf.compat.v1.string_to_hash_bucket_fast``."""
    return _module("strings").to_hash_bucket_fast(input, num_buckets)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose between two tensors of one shape; mirrors ``tf.compat.v1.where``.

    A `condition` of shape [n] chooses rows of `x` and `y`. Nothing is broadcast otherwise.

    Raises
    ------
    InvalidArgumentError
        The shapes differ.

    Examples
    --------
    >>> tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy()
    array([[1, 2],
           [7, 8]], dtype=int32)
    """
    if x is None or y is None or any(hasattr(arg, "_where") for arg in (condition, x, y)):
        return gathering.where(condition, x, y)
    mask, (first, second) = convert(condition, "bool"), operands("Select", x, y, strict=True)
    chosen, left, right = (static_shape(arg) for arg in (mask, first, second))
    if chosen is not None and left is not None and len(chosen) == 1 != len(left):
        mask = reshape(mask, [-1, *[1] * (len(left) - 1)])
        chosen = (*chosen, *left[1:])
    for number, dims in ((1, left), (2, right)):
        if not _fits(chosen or left, dims):
            raise errors.InvalidArgumentError(
                "Inputs to operation Select of type Select must have the same size and shape.  "
                f"Input 0: {chosen} != input {number}: {dims}"
            )
    return gathering.where(mask, first, second)


def _fits(dims: Any, others: Any) -> bool:
    if dims is None or others is None:
        return True
    same = all(None in pair or pair[0] == pair[1] for pair in zip(dims, others, strict=False))
    return len(dims) == len(others) and same


def set_random_seed(seed: int | None) -> None:
    """Set the global seed; mirrors ``tf.compat.v1.set_random_seed``.

    Examples
    --------
    >>> tf.compat.v1.set_random_seed(None)
    """
    _module("random").set_seed(seed)


def enable_eager_execution(*args: Any, **kwargs: Any) -> None:
    """Do nothing: there is nothing else."""


enable_v2_behavior = enable_resource_variables = enable_eager_execution


def disable_eager_execution() -> None:
    """Raise NotImplementedError: there are no graphs and sessions."""
    raise NotImplementedError("headrace.tf has no graphs and sessions; it is always eager")


def _module(name: str) -> Any:
    return importlib.import_module(f"headrace.tf.{name}")


_find = _lookup(__name__, _SUBMODULES)


# Names of TensorFlow 1 whose functions have another name, or live in a module, by now.
_RENAMED = {
    "Dimension": "shapes.Dimension",
    "depth_to_space": "nn.depth_to_space",
    "dimension_value": "shapes.dimension_value",
    "div": "math.floordiv",
    "div_no_nan": "math.divide_no_nan",
    "extract_image_patches": "compat.v1.image.extract_image_patches",
    "floor_div": "math.floordiv",
    "lin_space": "creation.linspace",
    "matrix_band_part": "linalg.band_part",
    "matrix_diag": "linalg.diag",
    "py_func": "control.numpy_function",
    "random_crop": "image.random_crop",
    "random_gamma": "random.gamma",
    "random_normal": "random.normal",
    "random_shuffle": "random.shuffle",
    "random_uniform": "random.uniform",
    "reduce_join": "compat.v1.strings.reduce_join",
    "space_to_depth": "nn.space_to_depth",
    "sparse_add": "sparse.add",
    "sparse_reorder": "sparse.reorder",
    "sparse_reshape": "sparse.reshape",
    "sparse_retain": "sparse.retain",
    "sparse_slice": "sparse.slice",
    "sparse_tensor_to_dense": "sparse.to_dense",
    "sparse_transpose": "sparse.transpose",
    "string_join": "strings.join",
    "string_split": "compat.v1.strings.string_split",
    "string_strip": "strings.strip",
    "string_to_hash_bucket": "strings.to_hash_bucket",
    "string_to_hash_bucket_strong": "strings.to_hash_bucket_strong",
    "substr": "compat.v1.strings.substr",
    "tensor_scatter_add": "gathering.tensor_scatter_nd_add",
    "tensor_scatter_sub": "gathering.tensor_scatter_nd_sub",
    "tensor_scatter_update": "gathering.tensor_scatter_nd_update",
    "truncated_normal": "random.truncated_normal",
    "verify_tensor_all_finite": "debugging.assert_all_finite",
    "where_v2": "gathering.where",
}
_MODULES = ("math", "strings", "debugging", "linalg")


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return _find(name)
    if name in _RENAMED:
        module, _, function = _RENAMED[name].rpartition(".")
        home = importlib.import_module(f"headrace.tf.{module}")
        return arranged(name, getattr(home, function))
    found = getattr(importlib.import_module("headrace.tf"), name, None)
    for module in _MODULES if found is None else ():
        home = importlib.import_module(f"headrace.tf.{module}")
        if name in home.__all__:
            return arranged(name, getattr(home, name))
    return _find(name) if found is None or name.startswith("_") else arranged(name, found)
