"""Datasets in files: what `Dataset.save` writes besides elements, and `Dataset.load` reads first.

``dataset_spec.json`` says what the elements look like. ``snapshot.metadata`` names the files of the
last complete saving; it comes last, in one piece, and what it does not name is not read.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from . import _headrace, checks
from .checkpoints import Checkpoints, write_whole
from .dataset import Dataset, make_step
from .dtypes import dtype_name
from .errors import DataLossError, InvalidArgumentError
from .function import Function
from .nest import is_structure, items
from .readers import Opening
from .recipe import dump_callable, load_callable
from .spec import OptionalSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec, UnknownSpec

__all__ = ["compression_of", "load", "save", "snapshot", "spec_from_json", "spec_to_json"]

# Asking again for a dataset that is still being saved.
_POLL = 0.1


def compression_of(value: str | None) -> str | None:
    """Return how the engine compresses for tf.data's name.

    ``"AUTO"`` stands for ``"SNAPPY"``, as in tf.data.
    """
    if value in (None, "", "NONE"):
        return None
    if value in ("AUTO", "SNAPPY"):
        return "SNAPPY"
    if value == "GZIP":
        return "GZIP"
    raise InvalidArgumentError(
        f"compression={value!r} is not known; valid are None, 'AUTO', 'GZIP' and 'SNAPPY'"
    )


def spec_to_json(spec: Any) -> Any:
    """Return an element spec as JSON can hold it.

    Examples
    --------
    >>> spec_to_json((hr.TensorSpec([None], np.int64), None))
    {'tuple': [{'tensor': 'int64', 'shape': [None]}, None]}
    """
    if spec is None:
        return None
    if isinstance(spec, Mapping):
        return {"dict": [[key, spec_to_json(value)] for key, value in spec.items()]}
    if isinstance(spec, tuple) and not hasattr(spec, "_fields"):
        return {"tuple": [spec_to_json(value) for value in spec]}
    if is_structure(spec):
        fields = [[name, spec_to_json(value)] for name, value in items(spec)]
        return {"record": type(spec).__name__, "fields": fields}
    if isinstance(spec, OptionalSpec):
        return {"optional": spec_to_json(spec.element_spec)}
    if not isinstance(spec, TensorSpec | SparseTensorSpec | RaggedTensorSpec):
        raise InvalidArgumentError(f"components of {spec!r} cannot be written to a file")
    shape = None if spec.shape is None else list(spec.shape)
    dtype = dtype_name(spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        splits = dtype_name(spec.row_splits_dtype)
        return {"ragged": dtype, "shape": shape, "rank": spec.ragged_rank, "splits": splits}
    return {"sparse" if isinstance(spec, SparseTensorSpec) else "tensor": dtype, "shape": shape}


@cache
def _record_class(name: str, fields: tuple[str, ...]) -> Any:
    """Return a namedtuple for instances of a class that is not known here."""
    # Not of this module: instances of headrace's classes are leaves.
    kind = namedtuple(name, fields, module="builtins")  # type: ignore[misc]
    made: Any = kind
    made.__reduce__ = lambda self: (_record, (name, fields, self[:]))
    return made


def _record(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return _record_class(name, fields)._make(values)


def spec_from_json(value: Any) -> Any:
    """Undo `spec_to_json`; an instance of any class comes back as a namedtuple."""
    if value is None:
        return None
    if "optional" in value:
        return OptionalSpec(spec_from_json(value["optional"]))
    if "dict" in value:
        return {key: spec_from_json(item) for key, item in value["dict"]}
    if "tuple" in value:
        return tuple(spec_from_json(item) for item in value["tuple"])
    if "record" in value:
        names = [name for name, _ in value["fields"]]
        kind = _record_class(value["record"], tuple(names))
        return kind._make(spec_from_json(item) for _, item in value["fields"])
    if "ragged" in value:
        return RaggedTensorSpec(value["shape"], value["ragged"], value["rank"], value["splits"])
    if "sparse" in value:
        return SparseTensorSpec(value["shape"], value["sparse"])
    return TensorSpec(value["shape"], value["tensor"])


def save(
    dataset: Dataset[Any],
    path: Any,
    compression: str | None,
    shard_func: Callable[..., Any] | None,
    checkpoint_args: Any,
) -> None:
    """Do what `Dataset.save` says."""
    folder = checks.path("path", path)
    codec = compression_of(compression)
    spec = dataset._plan.element_spec
    if not isinstance(spec, UnknownSpec):
        spec_to_json(spec)  # refuses what cannot be written before anything is
    written = dataset
    if shard_func is not None:
        written = dataset.map(_with_shard(shard_func, spec))
    options = dataset.options().to_json()
    sharded = shard_func is not None
    checkpoints = None
    if checkpoint_args:
        kept = Checkpoints(checkpoint_args)
        checkpoints = (kept.interval, kept.latest(), kept.keep)
    run, metadata, seen = _headrace.save(
        written._plan, options, folder, codec, sharded, checkpoints
    )
    known = None if isinstance(spec, UnknownSpec) and seen is None else spec
    if isinstance(spec, UnknownSpec) and seen is not None:
        known = seen
    write_whole(os.path.join(folder, "dataset_spec.json"), json.dumps(spec_to_json(known)))
    write_whole(os.path.join(folder, "snapshot.metadata"), metadata)
    for entry in os.scandir(folder):
        # Earlier runs: folders of 16 hexadecimal digits, as ours.
        if entry.is_dir() and entry.name != run and _is_run(entry.name):
            shutil.rmtree(entry.path, ignore_errors=True)


def _is_run(name: str) -> bool:
    return len(name) == 16 and set(name) <= set("0123456789abcdef")


def _sharded(dataset: Dataset[Any], shard_func: Callable[..., Any]) -> Dataset[Any]:
    """Return the elements with the number of its shard before each."""
    mapped = dataset.map(_with_shard(shard_func, dataset._plan.element_spec))
    spec = mapped._plan.element_spec
    if not isinstance(spec, UnknownSpec):
        number = spec[0]
        integer = isinstance(number, TensorSpec) and number.dtype in (np.int64, np.int32)
        if not integer or number.shape not in ((), None):
            raise TypeError(
                "Invalid `shard_func`. `shard_func` must return a scalar int64, it returns "
                f"{number!r}."
            )
    return mapped


def _with_shard(shard_func: Callable[..., Any], spec: Any) -> Callable[..., Any]:
    single = type(spec) is not tuple

    def with_shard(*components: Any) -> Any:
        element = components[0] if single and len(components) == 1 else components
        return shard_func(*components), element

    return with_shard


def load(
    path: Any,
    element_spec: Any,
    compression: str | None,
    reader_func: Callable[..., Any] | None,
    wait: bool,
) -> Dataset[Any]:
    """Do what `Dataset.load` says."""
    compression_of(compression)  # the files say how they are compressed
    folder = checks.path("path", path)
    while checks.flag("wait", wait) and not os.path.exists(
        os.path.join(folder, "snapshot.metadata")
    ):
        time.sleep(_POLL)
    if element_spec is None:
        element_spec = _stored_spec(folder)
    if reader_func is None:
        return make_step("load", (), path=folder, spec=element_spec, shard=None)
    # Tells what is wrong with the files, if something is.
    make_step("load", (), path=folder, spec=element_spec, shard=None)
    with open(os.path.join(folder, "snapshot.metadata")) as file:
        count = len(json.load(file)["shards"])
    return _read(reader_func, folder, count, element_spec)


def _read(
    reader_func: Callable[..., Any], folder: str, count: int, element_spec: Any
) -> Dataset[Any]:
    """Return what `reader_func` makes of the dataset of the shards in a folder."""
    opening = _ShardOpening("load", {"path": folder, "spec": element_spec}, element_spec)
    shards = Dataset.range(count)._derive(
        "map",
        function=opening,
        num_parallel_calls=None,
        deterministic=None,
        output_signature=None,
    )
    made = reader_func(shards)
    if not isinstance(made, Dataset):
        raise TypeError(f"`reader_func` must return a `Dataset` object. Got {type(made)}.")
    return made


def _in_turn(shards: Dataset[Any]) -> Dataset[Any]:
    """Read shards as tf.data does where nobody says how."""
    return shards.interleave(lambda shard: shard, os.cpu_count(), num_parallel_calls=-1)


class _SnapshotReading(Opening):
    """Makes the dataset of later passes of a snapshot of its folder and number of shards."""

    def __init__(self, reader_func: Callable[..., Any], element_spec: Any) -> None:
        super().__init__("snapshot", {}, element_spec)
        self.reader_func = reader_func
        self.name = f"the reader of snapshots {Function(reader_func).name}"

    def _open(self, *place: Any) -> Dataset[Any]:
        folder, count = place
        return _read(self.reader_func, folder, int(count), self.element_spec)

    def __reduce__(self) -> tuple[Any, ...]:
        blob = dump_callable(self.reader_func, self.name)
        return _load_reading, (blob, self.element_spec)


def _load_reading(blob: bytes, element_spec: Any) -> _SnapshotReading:
    return _SnapshotReading(load_callable(blob), element_spec)


def snapshot(
    dataset: Dataset[Any],
    path: Any,
    compression: str | None,
    reader_func: Callable[..., Any] | None,
    shard_func: Callable[..., Any] | None,
) -> Dataset[Any]:
    """Do what `Dataset.snapshot` says."""
    codec, folder = compression_of(compression), checks.path("path", path)
    if reader_func is None and shard_func is None:
        return dataset._derive("snapshot", path=folder, compression=codec)
    spec = dataset._plan.element_spec
    if shard_func is not None:
        dataset = _sharded(dataset, shard_func)
    return dataset._derive(
        "sharded_snapshot",
        path=folder,
        compression=codec,
        sharded=shard_func is not None,
        function=_SnapshotReading(reader_func or _in_turn, spec),
    )


class _ShardOpening(Opening):
    """Opens a shard by its place."""

    def _open(self, filename: Any) -> Dataset[Any]:
        return make_step(self.op, (), shard=int(filename), **self.args)

    def __reduce__(self) -> tuple[Any, ...]:
        return _ShardOpening, (self.op, self.args, self.element_spec)


def _stored_spec(folder: str) -> Any:
    path = os.path.join(folder, "dataset_spec.json")
    try:
        with open(path) as file:
            return spec_from_json(json.load(file))
    except FileNotFoundError:
        # The metadata is missing, too: the engine's error says so.
        return UnknownSpec()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataLossError(f"not the spec of a saved dataset: {error} ({path})") from None
