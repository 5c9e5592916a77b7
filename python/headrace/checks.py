"""Arguments of dataset methods: checked when the method is called, converted for the engine.

What tf.data refuses is refused here with the same class and its words, plus what would mend it.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .dtypes import as_dtype, dtype_name
from .errors import InvalidArgumentError
from .nest import flatten, is_structure, items, map_structure, same_structure
from .spec import (
    RaggedTensorSpec,
    Shape,
    SparseTensorSpec,
    TensorSpec,
    UnknownSpec,
    as_shape,
    object_dtype,
)
from .standin import SymbolicInt, SymbolicPaths, has_symbols, is_symbol, joined
from .tensors import RaggedTensor, SparseTensor

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

_COMPRESSIONS = ("", "GZIP", "ZLIB")


def integer(name: str, value: Any) -> int:
    """Return `value` as an int of 64 bits; TypeError if it is not an integer."""
    if is_symbol(value):
        return SymbolicInt(name != "index")
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"`{name}` must be an integer, got {value!r} ({kind})") from None
    if not -(2**63) <= number < 2**63:
        raise InvalidArgumentError(f"`{name}` must fit into 64 bits, got {number}")
    return number


def batch_size(value: Any) -> int:
    """Return a batch size, at least 1."""
    size = integer("batch_size", value)
    if size <= 0:
        raise InvalidArgumentError(f"Batch size must be greater than zero. Got batch_size={size}.")
    return size


def unbatched(element_spec: Any) -> None:
    """Check that elements can be split along axis 0, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    shapes = [getattr(spec, "shape", None) for spec in flatten(element_spec)]
    if () in shapes:
        raise ValueError("Cannot unbatch an input with scalar components.")
    sizes = [shape[0] for shape in shapes if shape is not None and shape[0] is not None]
    for size in sizes:
        if size != sizes[0]:
            raise ValueError(
                "`unbatch()` is only supported for datasets of elements whose components have a "
                f"matching leading dimension. Encountered both {sizes[0]} and {size}."
            )


def batched(element_spec: Any) -> None:
    """Check that elements can be taken for batches of one size, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    shapes = [getattr(spec, "shape", None) for spec in flatten(element_spec)]
    if () in shapes:
        raise ValueError(
            "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with "
            "scalar elements. Fix the issue by adding the `batch` transformation to the dataset."
        )
    sizes = [shape[0] for shape in shapes if shape is not None and shape[0] is not None]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"Invalid `input_dataset.` The batch dimension of component 0 is {sizes[0]}, while the "
            f"batch dimensions of all are {sizes}."
        )


def batch_sizes(value: Any) -> list[int]:
    """Return the batch sizes of `rebatch`: one or several, used in turn."""
    rank = np.ndim(value)
    if rank > 1:
        raise ValueError(
            "Invalid `batch_sizes`. Expected `batch_sizes` to be a scalar or a vector. Received "
            f"`batch_sizes` of rank {rank}."
        )
    if rank == 0:
        return [batch_size(value)]
    return [at_least("batch_size", size, 0) for size in value]


def at_least(name: str, value: Any, least: int) -> int:
    """Return `value` as an int that is not below `least`."""
    number = integer(name, value)
    if number < least:
        raise InvalidArgumentError(f"`{name}` must be at least {least}, got {number}")
    return number


def shard(num_shards: Any, index: Any) -> tuple[int, int]:
    """Return number of shards and index of one."""
    count, number = integer("num_shards", num_shards), integer("index", index)
    if count < 1:
        raise InvalidArgumentError(
            f"Number of shards must be greater than zero (currently num_shards = {count})."
        )
    if not 0 <= number < count:
        raise InvalidArgumentError(
            f"Index must be between 0 and {count - 1} (currently index = {number})."
        )
    return count, number


def number_dtype(name: str, value: Any) -> np.dtype[Any]:
    """Return a dtype of integers or floats."""
    dtype = as_dtype(value)
    if isinstance(dtype, type) or (dtype.kind not in "iuf" and dtype.name != "bfloat16"):
        raise TypeError(f"`{name}` must be of integers or floats, got {dtype_name(dtype)}")
    return dtype


def number_of(name: str, value: Any, dtype: np.dtype[Any]) -> int | float:
    """Return `value` as a Python number that `dtype` holds."""
    if dtype.kind not in "iu":
        return float(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"Cannot convert `{name}` {value!r} to {dtype}") from None
    if not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max and name != "step":
        raise InvalidArgumentError(f"`{name}` {number} is out of range of {dtype}")
    return number if number < 2**63 else number - 2**64


def size(name: str, value: Any) -> int:
    """Return a number of things, at least 1, or AUTOTUNE."""
    number = integer(name, value)
    if number <= 0 and number != AUTOTUNE:
        raise InvalidArgumentError(f"{name} must be greater than zero, got {number}.")
    return number


def within_cycle(cycle_length: Any, num_parallel_calls: Any) -> None:
    """Refuse more parallel calls than datasets are open at a time."""
    if cycle_length is None or num_parallel_calls is None or is_symbol(cycle_length):
        return
    cycle, calls = operator.index(cycle_length), operator.index(num_parallel_calls)
    if cycle != AUTOTUNE and calls > cycle > 0:
        raise InvalidArgumentError(
            "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "
            f"AUTOTUNE or a value less than or equal to `cycle_length`, got {calls} for {cycle}."
        )


def parallelism(name: str, value: Any) -> int | None:
    """Return a number of parallel calls, at least 1, or AUTOTUNE."""
    if value is None:
        return None
    count = integer(name, value)
    if count <= 0 and count != AUTOTUNE:
        raise InvalidArgumentError(
            f"{name} must be greater than zero. Got {count}; AUTOTUNE ({AUTOTUNE}) lets headrace "
            "choose."
        )
    return count


def flag(name: str, value: Any) -> bool:
    """Return `value`, which must be a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be a bool, got {value!r} ({type(value).__name__})")
    return bool(value)


def compression(value: str | None) -> str | None:
    """Return the name of a compression, None for none."""
    if value is not None and value not in _COMPRESSIONS:
        valid = ", ".join(repr(name) for name in _COMPRESSIONS)
        raise InvalidArgumentError(
            f"compression_type={value!r} is not known; valid are {valid} and None"
        )
    return value or None


def on_corruption(value: Any, limit: Any, index: Any) -> bool:
    """Return whether damage is passed over."""
    if value not in ("raise", "skip"):
        raise InvalidArgumentError(f"`on_corruption` must be 'raise' or 'skip', got {value!r}")
    if limit is not None:
        at_least("corruption_limit", limit, 0)
        if value == "raise":
            raise InvalidArgumentError(
                f"`corruption_limit` is {limit}, but damage is raised; pass on_corruption='skip'"
            )
    if value == "skip" and index is not None:
        raise InvalidArgumentError(
            "an index holds the places of all records, damaged ones too; leave out `index` or "
            "on_corruption='skip'"
        )
    return bool(value == "skip")


def paths(filenames: Any) -> list[str]:
    """Return one path or many as a list of str."""
    if has_symbols(filenames):
        return SymbolicPaths()
    if isinstance(filenames, str | bytes | os.PathLike):
        filenames = [filenames]
    elif isinstance(filenames, np.ndarray):
        filenames = filenames.ravel().tolist()
    elif not isinstance(filenames, Iterable) or isinstance(filenames, Mapping):
        filenames = [filenames]
    names = []
    for name in filenames:
        if not isinstance(name, str | bytes | os.PathLike):
            raise TypeError(
                "The `filenames` argument must contain `str` elements. Got "
                f"{name!r} ({type(name).__name__})."
            )
        names.append(os.fsdecode(name))
    return names


def index_place(index: Any) -> str | None:
    """Return where the indices of record files are: ``"auto"``, or a path."""
    if index is None or (isinstance(index, str) and index == "auto"):
        return index
    place = path("index", index)
    # A path of this name is none of our words.
    return os.path.join(os.curdir, place) if place == "auto" else place


def path(name: str, value: Any) -> str:
    """Return one path as a str."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"`{name}` must be a path, got {value!r} ({type(value).__name__})")
    return os.fsdecode(value)


def tensor(value: Any) -> Any:
    """Return a leaf given as data: an array, text, a sparse or ragged value, an opaque object.

    A list is one tensor by NumPy's rules; lists of text become object arrays, which keep every
    byte.

    Raises
    ------
    InvalidArgumentError
        Text and numbers are mixed in one list.
    """
    value = joined(value)
    if is_symbol(value):
        return value
    if isinstance(value, np.ndarray | np.generic | bytes | str | SparseTensor | RaggedTensor):
        return value
    from .dataset import Dataset

    # NumPy would take a dataset for a sequence.
    if isinstance(value, Dataset) or holds_datasets(value):
        return value
    array = np.asarray(value)
    if array.dtype.kind in "SU":
        array = np.asarray(value, dtype=object)
        try:
            object_dtype(array)
        except TypeError as error:
            raise InvalidArgumentError(f"{error}; got {_short(value)}") from None
    if array.dtype.kind == "O" and array.ndim == 0:
        return value
    return array


def holds_datasets(value: Any) -> bool:
    """Tell whether the first leaf of nested lists, or of an object array, is a dataset."""
    from .dataset import Dataset

    while type(value) is list and value:
        value = value[0]
    if type(value) is np.ndarray and value.dtype == object and value.size:
        value = value.flat[0]
    return isinstance(value, Dataset)


def state(value: Any) -> Any:
    """Return the initial state of `scan` or `reduce` as a nest of arrays and scalars."""
    return map_structure(lambda leaf: _scalar(tensor(leaf)), value)


def zeros(spec: Any) -> Any:
    """Return an array of zeros, or of empty text, that looks as `spec` says."""
    shape = getattr(spec, "shape", None)
    if not isinstance(spec, TensorSpec) or shape is None or None in shape:
        raise ValueError(f"Cannot make zeros of {spec!r}: its shape must be known.")
    if isinstance(spec.dtype, type):
        return np.full(shape, spec.dtype(), dtype=object) if shape else spec.dtype()
    return np.zeros(shape, spec.dtype)[()]


def _scalar(leaf: Any) -> Any:
    return leaf[()] if isinstance(leaf, np.ndarray) and leaf.ndim == 0 else leaf


def comparable(element_spec: Any) -> None:
    """Check that `unique` can compare elements, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    specs = flatten(element_spec)
    if len(specs) != 1:
        raise InvalidArgumentError(
            f"unique supports elements with a single component only, got {element_spec!r}"
        )
    dtype = getattr(specs[0], "dtype", None)
    if not isinstance(specs[0], TensorSpec) or dtype not in (np.int32, np.int64, bytes, str):
        name = getattr(specs[0], "dtype_name", "object")
        raise TypeError(
            f"`Dataset.unique` does not support type {name} -- only int32, int64, bytes and str "
            f"are supported, in dense components; got {specs[0]!r}"
        )


def single_dense(op: str, element_spec: Any) -> None:
    """Check that elements are one dense component, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    specs = flatten(element_spec)
    if len(specs) != 1 or not isinstance(specs[0], TensorSpec):
        raise TypeError(
            f"`{op}` requires an input dataset whose elements have a single dense component, but "
            f"the given dataset has {element_spec!r}"
        )


def row_shape(value: Any) -> tuple[int | None, ...]:
    """Return the row shape of `sparse_batch`."""
    for dim in value if isinstance(value, Iterable) else ():
        if isinstance(dim, int | np.integer) and dim < -1:
            raise ValueError(f"Dimension {dim} must be >= 0")
    shape = as_shape(value)
    if shape is None:
        raise InvalidArgumentError("`row_shape` must have a known rank")
    return shape


def columns(elements: Any) -> Any:
    """Return the nest of lists whose slices are the elements of a list."""
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    first = elements[0]
    if not all(same_structure(first, element) for element in elements):
        raise ValueError("Invalid `elements`. All elements must be nested alike.")
    lists = map(list, zip(*map(flatten, elements), strict=True))
    return map_structure(lambda _: next(lists), first)


def sliceable(components: Any) -> Any:
    """Check that the components of `from_tensor_slices` have one size along axis 0."""
    from .nest import paths as leaf_paths

    first: tuple[str, int] | None = None
    shape: tuple[int, ...]
    for path, leaf in leaf_paths(components, "tensors"):
        if isinstance(leaf, RaggedTensor | list):  # a list of datasets
            shape = (len(leaf),)
        else:
            shape = getattr(leaf, "shape", ())
        if len(shape) == 0:
            raise InvalidArgumentError(
                "Unbatching a tensor is only supported for rank >= 1: "
                f"{path} is {_short(leaf)}; use from_tensors for one element"
            )
        if first is not None and first[1] != shape[0]:
            raise InvalidArgumentError(
                f"Dimensions {first[1]} and {shape[0]} are not compatible: {first[0]} has "
                f"{first[1]} rows, {path} has {shape[0]}"
            )
        first = first or (path, shape[0])
    if first is None:
        raise InvalidArgumentError("`tensors` has no components to slice")
    return components


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def zip_inputs(args: tuple[Any, ...], datasets: Any) -> Any:
    """Return the nest of datasets that `zip` was given."""
    if not args and datasets is None:
        raise TypeError("Must pass at least one dataset to `zip`.")
    if args and datasets is not None:
        raise TypeError("Both `*args` and `datasets` cannot be set.")
    nest = datasets if datasets is not None else args[0] if len(args) == 1 else args
    from .dataset import Dataset

    for leaf in flatten(nest):
        if isinstance(leaf, list):
            raise TypeError(
                f"Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`Dataset` objects. Python `list` is not supported and you should use `tuple` "
                f"instead. Got {leaf!r}."
            )
        if not isinstance(leaf, Dataset):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`Dataset` objects. Got {leaf!r} ({type(leaf).__name__})."
            )
    return nest


def alike(first: Any, second: Any) -> bool:
    """Tell whether two element specs are equal up to shapes, as far as they are known."""
    if isinstance(first, UnknownSpec) or isinstance(second, UnknownSpec):
        return True
    return same_structure(first, second) and all(
        type(a) is type(b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)
        for a, b in zip(flatten(first), flatten(second), strict=True)
    )


def same_elements(first: Any, second: Any) -> None:
    """Check that `concatenate` joins datasets of one structure and the same dtypes."""
    if not alike(first, second):
        raise TypeError(
            f"Incompatible dataset elements: the first dataset has {first!r}, the one to append "
            f"{second!r}; structure and dtypes must be equal"
        )


def mixed(datasets: Any) -> tuple[Any, ...]:
    """Return the datasets of a mix, which must be alike up to shapes."""
    from .dataset import Dataset

    if isinstance(datasets, Dataset) or not isinstance(datasets, Iterable):
        raise TypeError(f"Invalid `datasets`. Expected a list of datasets, got {datasets!r}.")
    sources = tuple(datasets)
    if not sources:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for source in sources:
        if not isinstance(source, Dataset):
            raise TypeError(
                f"Invalid `datasets`. Expected datasets, got {source!r} ({type(source).__name__})."
            )
    first = sources[0]._plan.element_spec
    for number, source in enumerate(sources[1:], 1):
        if not alike(first, source._plan.element_spec):
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n"
                f"Dataset 0 element_spec={first!r}.\n"
                f"Dataset {number} element_spec={source._plan.element_spec!r}."
            )
    return sources


def choices(dataset: Any) -> Any:
    """Return the dataset of choices, whose elements are int64 scalars."""
    from .dataset import Dataset

    if not isinstance(dataset, Dataset):
        raise TypeError(
            "Invalid `choice_dataset`. `choice_dataset` should be a headrace.Dataset but is "
            f"{type(dataset)}."
        )
    spec = dataset._plan.element_spec
    if not isinstance(spec, UnknownSpec) and not TensorSpec((), np.int64).is_compatible_with(spec):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar int64 tensors "
            f"but are {spec!r}."
        )
    return dataset


def weights(values: Any, count: int) -> np.ndarray[Any, Any]:
    """Return the weights of `count` datasets as an array of float32 or float64.

    Python floats are float32, as in tf.data, so that the same numbers are drawn.
    """
    if not isinstance(values, np.ndarray):
        values = list(values)
    if len(values) != count:
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={len(values)}` vs. `len(datasets)={count}`."
        )
    array = np.asarray(values)
    if array.dtype == np.float64 and not any(isinstance(v, np.float64) for v in values):
        array = array.astype(np.float32)
    if array.dtype not in (np.float32, np.float64):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either float32 or float64 but is "
            f"{array.dtype}; write 1.0, not 1."
        )
    if array.ndim != 1:
        raise ValueError(
            "Invalid `weights`. Expected one number for each dataset, got an array of shape "
            f"{array.shape}."
        )
    return array


def distribution(name: str, value: Any, classes: int | None = None) -> list[float]:
    """Return a distribution over `classes` classes as floats."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be a vector of numbers, got {value!r}") from None
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"`{name}` must have one number a class, got shape {array.shape}")
    if classes is not None and array.size != classes:
        raise InvalidArgumentError(
            f"`{name}` has {array.size} classes, `target_dist` has {classes}; they must be the same"
        )
    return [float(number) for number in array]


def padded_shapes(element_spec: Any, shapes: Any) -> list[Shape] | None:
    """Return one padded shape per component; None for all: as wide as the batch needs.

    Raises
    ------
    ValueError
        A rank is unknown and no shapes are given, a shape does not fit its component, or the
        shapes are nested differently.
    TypeError
        A component is sparse or ragged, or a shape is not of integers.
    """
    if isinstance(element_spec, UnknownSpec):
        return None if shapes is None else [as_shape(leaf) for leaf in _shape_leaves(shapes)]
    specs = flatten(element_spec)
    for spec in specs:
        if isinstance(spec, SparseTensorSpec | RaggedTensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but "
                f"the input dataset produces {spec!r}; convert it to a dense array first"
            )
    if shapes is None:
        for number, spec in enumerate(specs):
            if getattr(spec, "shape", ()) is None:
                raise ValueError(
                    "You must provide `padded_shapes` argument because component "
                    f"{number} has unknown rank."
                )
        return None
    found = [_padded_shape(leaf) for leaf in _along(element_spec, shapes, "padded_shapes")]
    for spec, shape in zip(specs, found, strict=True):
        own = spec.shape if isinstance(spec, TensorSpec) else None
        if own is None or shape is None:
            continue
        if len(own) != len(shape):
            raise ValueError(
                f"The padded shape {shape} is not compatible with the corresponding input "
                f"component shape {own}. The ranks differ."
            )
        if any(a is not None and b is not None and b < a for a, b in zip(own, shape, strict=True)):
            raise ValueError(
                f"The padded shape {shape} is not compatible with the corresponding input "
                f"component shape {own}. It is smaller."
            )
    return found


def each(name: str, value: Any, element_spec: Any) -> list[Any]:
    """Return one value per component: those of a nest like the elements, or the same for all.

    Raises
    ------
    ValueError
        The values are nested differently.
    """
    if is_structure(value):
        return _along(element_spec, value, name)
    return [value] * len(flatten(element_spec))


def _padded_shape(shape: Any) -> Shape:
    """Return a padded shape; a list or array of sizes is one of numbers along one axis."""
    if isinstance(shape, list | np.ndarray):
        given = [-1 if size is None else size for size in shape] if type(shape) is list else shape
        sizes = np.asarray(given)
        text = f"Padded shape {shape!r} must be a 1-D tensor of tf.int64 values, but its "
        if sizes.ndim > 1:
            raise ValueError(f"{text}shape was {sizes.shape}.")
        if sizes.size and sizes.dtype.kind not in "iu":
            raise TypeError(f"{text}element type was {sizes.dtype}.")
    return as_shape(shape)


def _shape_leaves(shapes: Any) -> list[Any]:
    """Guess which tuples are shapes where no element spec tells: those of sizes only."""
    if not is_structure(shapes) or shapes == ():
        return [shapes]
    children = [child for _, child in items(shapes)]
    if all(child is None or isinstance(child, int | np.integer) for child in children):
        return [shapes]
    return [leaf for child in children for leaf in _shape_leaves(child)]


def _along(spec: Any, value: Any, name: str) -> list[Any]:
    """Flatten `value` as far as `spec` is nested."""
    if not is_structure(spec):
        return [value]
    if spec is None:
        return []
    if value is None and name == "padding_values":  # the defaults for all that is below
        return [None for _ in flatten(spec)]
    children = items(spec)
    try:
        found = dict(items(value)) if is_structure(value) else None
    except (TypeError, ValueError):
        found = None
    if found is None or set(found) != {key for key, _ in children}:
        raise ValueError(f"`{name}` {value!r} must be nested as the elements: {spec!r}")
    return [leaf for key, child in children for leaf in _along(child, found[key], name)]


def padding_values(element_spec: Any, values: Any) -> list[Any] | None:
    """Return one padding value per component, of its dtype; None for the default.

    A Python number takes the dtype of its component where its kind allows; a NumPy value must have
    that dtype.

    Raises
    ------
    TypeError
        A value of another dtype.
    """
    if values is None:
        return None
    if isinstance(element_spec, UnknownSpec):
        return flatten(values)
    specs = flatten(element_spec)
    if is_structure(values):
        given = _along(element_spec, values, "padding_values")
    else:
        given = [values for _ in specs]
    from .convert import to_dtype

    result = []
    for value, spec in zip(given, specs, strict=True):
        if value is None or not isinstance(spec, TensorSpec):
            zero = spec.dtype() if isinstance(spec.dtype, type) else spec.dtype.type(0)
            result.append(zero if value is None else value)
            continue
        seen = getattr(value, "dtype", None)
        try:
            if seen is not None and seen.kind not in "SUO" and seen != spec.dtype:
                raise TypeError
            result.append(to_dtype(value, spec.dtype))
        except (TypeError, OverflowError):
            raise TypeError(
                f"Invalid `padding_values`. `padding_values` value {value!r} of type "
                f"{seen or type(value).__name__} does not match type {spec.dtype_name} of the "
                "corresponding input component."
            ) from None
    return result
