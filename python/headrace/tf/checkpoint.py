"""Checkpoints of variables and iterators: ``tf.train.Checkpoint`` and its manager.

A checkpoint is one JSON file, ``<prefix>.index``: the states of iterators and the values of
variables, each under the path of attributes that leads to it. It is in place whole or not at all,
and so is the file ``checkpoint`` beside it, which names the checkpoints that there are, in
TensorFlow's words. Checkpoints of TensorFlow itself are not read.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..checkpoints import write_whole
from ..errors import DataLossError, NotFoundError
from .convert import convert
from .data.iterator import Iterator as DatasetIterator
from .data.iterator import NumpyIterator
from .tensor import raw
from .variables import Module, Variable

__all__ = ["Checkpoint", "CheckpointManager", "CheckpointOptions", "latest_checkpoint"]

_SUFFIX = ".index"
_LIST = "checkpoint"


class CheckpointOptions:
    """Mirrors ``tf.train.CheckpointOptions``, of which nothing matters here."""

    def __init__(self, *values: Any, **options: Any) -> None:
        self.options = options


class CheckpointLoadStatus:
    """What came of reading a checkpoint."""

    def __init__(self, missing: list[str], unused: list[str]) -> None:
        self._missing = missing
        self._unused = unused

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raise AssertionError if something has no value in the checkpoint."""
        if self._missing:
            raise AssertionError(
                f"nothing in the checkpoint is the value of {', '.join(self._missing)}; it has "
                f"{', '.join(self._unused) or 'nothing else'}"
            )
        return self

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raise AssertionError if something in the checkpoint was not used, too."""
        self.assert_existing_objects_matched()
        if self._unused:
            raise AssertionError(f"of the checkpoint {', '.join(self._unused)} was not used")
        return self

    assert_nontrivial_match = assert_existing_objects_matched

    def expect_partial(self) -> CheckpointLoadStatus:
        """Accept that not all was used."""
        return self


class Checkpoint:
    """Variables and iterators whose state goes to a file; mirrors ``tf.train.Checkpoint``.

    Parameters
    ----------
    root
        A holder of such things, whose attributes are kept as this one's.
    **kwargs
        `tf.Variable`, iterators of datasets, other checkpoints, and dicts and lists of them. Each
        becomes an attribute; attributes that are set later are kept, too.

    Raises
    ------
    ValueError
        There is something else.

    Examples
    --------
    >>> import os, tempfile
    >>> numbers = iter(tf.data.Dataset.range(9))
    >>> step = tf.Variable(0)
    >>> checkpoint = tf.train.Checkpoint(step=step, iterator=numbers)
    >>> path = checkpoint.save(os.path.join(tempfile.mkdtemp(), "ckpt"))
    >>> next(numbers).numpy(), int(step.assign_add(1))
    (np.int64(0), 1)
    >>> _ = checkpoint.restore(path).assert_consumed()
    >>> next(numbers).numpy(), int(step)
    (np.int64(0), 0)
    """

    save_counter: Variable

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        kept = dict(vars(root)) if root is not None else {}
        kept = {name: value for name, value in kept.items() if _is_kept(value)} | kwargs
        for name, value in kept.items():
            if not _is_kept(value):
                raise ValueError(f"a checkpoint keeps variables and iterators; {name} is {value!r}")
            setattr(self, name, value)
        if "save_counter" not in kept:
            self.save_counter = Variable(np.int64(0))

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write a file, and return `file_prefix`."""
        prefix: str = os.fspath(file_prefix)
        os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
        values = {path: _value_of(leaf) for path, leaf in _leaves(self)}
        write_whole(prefix + _SUFFIX, json.dumps({"format": 1, "values": values}))
        return prefix

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write a file with the next number, the latest of its folder; return its prefix."""
        self.save_counter.assign_add(1)
        path = self.write(f"{os.fspath(file_prefix)}-{int(self.save_counter)}")
        _write_list(os.path.dirname(path), path, [path])
        return path

    def read(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """Take all values from a file, in place.

        Raises
        ------
        NotFoundError
            There is no such checkpoint.
        InvalidArgumentError
            The state of an iterator is that of another pipeline.
        """
        values = _read(os.fspath(save_path))
        missing = []
        for path, leaf in _leaves(self):
            if path in values:
                _set_value(path, leaf, values.pop(path))
            else:
                missing.append(path)
        return CheckpointLoadStatus(missing, list(values))

    def restore(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """Take all values from a file, in place; ``None`` changes nothing."""
        if save_path is None:
            return CheckpointLoadStatus([], [])
        return self.read(save_path, options)


def _is_kept(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_kept, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_kept, value))
    return isinstance(value, Variable | DatasetIterator | NumpyIterator | Checkpoint | Module)


def _leaves(holder: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield variables and iterators with the path that leads to them."""
    if isinstance(holder, Variable | DatasetIterator | NumpyIterator):
        yield path, holder
        return
    if isinstance(holder, list | tuple):
        entries: Any = enumerate(holder)
    elif isinstance(holder, Mapping):
        entries = holder.items()
    else:
        entries = ((name, value) for name, value in vars(holder).items() if _is_kept(value))
    for name, value in entries:
        yield from _leaves(value, f"{path}/{name}" if path else str(name))


def _value_of(leaf: Any) -> dict[str, Any]:
    if not isinstance(leaf, Variable):
        return {"iterator": leaf.state()}
    array = np.asarray(raw(leaf.value()))
    if array.dtype == object:
        texts = [base64.b64encode(text).decode() for text in array.reshape(-1).tolist()]
        return {"strings": texts, "shape": array.shape}
    # NumPy's files do not know types of its extensions, as bfloat16.
    plain = array if array.dtype.kind in "biufc" else array.view(f"V{array.itemsize}")
    file = io.BytesIO()
    np.save(file, plain, allow_pickle=False)
    return {"array": base64.b64encode(file.getvalue()).decode(), "dtype": leaf.dtype.name}


def _set_value(path: str, leaf: Any, value: Mapping[str, Any]) -> None:
    if not isinstance(leaf, Variable):
        if "iterator" not in value:
            raise ValueError(f"{path} is an iterator, in the checkpoint it is a variable")
        leaf.restore(value["iterator"])
        return
    if "strings" in value:
        texts = [base64.b64decode(text) for text in value["strings"]]
        leaf.assign(np.array(texts, object).reshape(value["shape"]))
    elif "array" in value:
        array = np.load(io.BytesIO(base64.b64decode(value["array"])), allow_pickle=False)
        if value["dtype"] != leaf.dtype.name:
            raise ValueError(
                f"{path} is of dtype {leaf.dtype.name}, in the checkpoint {value['dtype']}"
            )
        leaf.assign(array if array.dtype.kind != "V" else array.view(leaf.dtype.dtype))
    else:
        raise ValueError(f"{path} is a variable, in the checkpoint it is an iterator")


def _read(prefix: str) -> dict[str, Any]:
    try:
        with open(prefix + _SUFFIX, encoding="utf-8") as file:
            found = json.load(file)
        return dict(found["values"])
    except FileNotFoundError:
        raise NotFoundError(
            f"no checkpoint is at {prefix} ({prefix}{_SUFFIX} is missing)"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise DataLossError(f"not a checkpoint of headrace: {prefix}{_SUFFIX}") from None


def _write_list(folder: str, latest: str, paths: list[str]) -> None:
    """Write down which checkpoints a folder has."""

    def shown(path: str) -> str:
        return json.dumps(os.path.relpath(path, folder or "."))

    lines = [f"model_checkpoint_path: {shown(latest)}"]
    lines += [f"all_model_checkpoint_paths: {shown(path)}" for path in paths]
    write_whole(os.path.join(folder, _LIST), "\n".join(lines) + "\n")


def _listed(folder: str, key: str) -> list[str]:
    try:
        with open(os.path.join(folder, _LIST), encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return []
    names = re.findall(rf"^{key}: (\".*\")$", text, re.MULTILINE)
    return [os.path.join(folder, json.loads(name)) for name in names]


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """Return the latest checkpoint of a folder; mirrors ``tf.train.latest_checkpoint``.

    Examples
    --------
    >>> import tempfile
    >>> tf.train.latest_checkpoint(tempfile.mkdtemp()) is None
    True
    """
    found = _listed(os.fspath(checkpoint_dir), "model_checkpoint_path")
    return found[0] if found and os.path.exists(found[0] + _SUFFIX) else None


class CheckpointManager:
    """Keeps the last checkpoints of a folder; mirrors ``tf.train.CheckpointManager``.

    Parameters
    ----------
    checkpoint
        What is kept.
    directory
        The folder, which is made if there is none.
    max_to_keep
        How many checkpoints stay; ``None``: all.
    keep_checkpoint_every_n_hours
        One that is so much younger than the last that stayed for good stays for good.
    checkpoint_name
        How the files' names begin.
    step_counter, checkpoint_interval
        A variable, and by how much it must have grown since the last checkpoint for `save` to write
        one.
    init_fn
        Called by `restore_or_initialize` where there is no checkpoint.

    Raises
    ------
    ValueError
        `max_to_keep` is not positive, or an interval has no counter.

    Examples
    --------
    >>> import tempfile
    >>> step = tf.Variable(0)
    >>> checkpoint = tf.train.Checkpoint(step=step)
    >>> manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
    >>> for _ in range(3):
    ...     _ = step.assign_add(1)
    ...     _ = manager.save()
    >>> [path[-6:] for path in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    """

    def __init__(
        self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None, checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None, checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
    ) -> None:  # fmt: skip
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed with `checkpoint_interval`.")
        self.checkpoint = checkpoint
        self.directory = os.fspath(directory)
        self.checkpoint_interval = checkpoint_interval
        self._prefix = os.path.join(self.directory, checkpoint_name)
        self._most = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._counter = step_counter
        self._init = init_fn
        self._saved_at: int | None = None
        self._kept_for_good = time.time()
        found = _listed(self.directory, "all_model_checkpoint_paths")
        self._paths = [path for path in found if os.path.exists(path + _SUFFIX)]

    @property
    def checkpoints(self) -> list[str]:
        """Those that are there, the oldest first."""
        return list(self._paths)

    @property
    def latest_checkpoint(self) -> str | None:
        """The last one."""
        return self._paths[-1] if self._paths else None

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Write a checkpoint and remove what is too much; return its prefix.

        ``None`` where the last one is younger than the interval.
        """
        step = None if self._counter is None else int(self._counter)
        if check_interval and not self._is_due(step):
            return None
        self.checkpoint.save_counter.assign_add(1)
        number = self.checkpoint.save_counter if checkpoint_number is None else checkpoint_number
        path = self.checkpoint.write(f"{self._prefix}-{int(raw(convert(number)))}")
        self._saved_at = step
        self._paths = [*(other for other in self._paths if other != path), path]
        surplus = [] if self._most is None else self._paths[: -self._most]
        self._paths = self._paths[len(surplus) :]
        _write_list(self.directory, path, self._paths)
        for old in surplus:
            self._remove(old + _SUFFIX)
        return path

    def _is_due(self, step: int | None) -> bool:
        if self.checkpoint_interval is None or step is None or self._saved_at is None:
            return True
        return step >= self._saved_at + self.checkpoint_interval

    def _remove(self, file: str) -> None:
        if self._hours is not None:
            made = os.stat(file).st_mtime
            if made - self._kept_for_good >= self._hours * 3600:
                self._kept_for_good = made
                return
        os.remove(file)

    def restore_or_initialize(self) -> str | None:
        """Read the latest checkpoint; without one call ``init_fn``. Return what was read."""
        if (latest := self.latest_checkpoint) is not None:
            self.checkpoint.restore(latest)
            self._saved_at = None if self._counter is None else int(self._counter)
        elif self._init is not None:
            self._init()
        return latest
