"""Checkpoints of `Dataset.save`: files that say how far a saving has come.

Each is a JSON file of its own, ``<name>-<number>.json``; the one with the highest number counts. A
checkpoint is in place whole or not at all, and older ones go only once it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from . import checks
from .errors import InvalidArgumentError

__all__ = ["Checkpoints", "write_whole"]

_KEYS = ("directory", "max_to_keep", "checkpoint_interval", "step_counter", "checkpoint_name")


def write_whole(path: str, text: str) -> None:
    """Put a file in place whole or not at all, whatever ends the program or the machine."""
    with open(path + ".partial", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".partial", path)


class Checkpoints:
    """The checkpoints that ``checkpoint_args`` describe, as ``tf.train.CheckpointManager`` would.

    Parameters
    ----------
    args
        What `Dataset.save` was given.
    """

    def __init__(self, args: Any) -> None:
        if not isinstance(args, Mapping):
            raise TypeError(f"`checkpoint_args` must be a dict, got {type(args).__name__}")
        if "checkpoint" in args:
            raise InvalidArgumentError(
                "`checkpoint_args` are not allowed to include 'checkpoint': the iterator is what "
                "is kept"
            )
        unknown = [key for key in args if key not in _KEYS]
        if unknown:
            raise InvalidArgumentError(
                f"`checkpoint_args` has no {unknown[0]!r}; it may have {', '.join(_KEYS)}"
            )
        if "directory" not in args:
            raise InvalidArgumentError("`checkpoint_args` must say the 'directory'")
        self._directory = checks.path("directory", args["directory"])
        kept = args.get("max_to_keep", 1)
        self._kept = None if kept is None else checks.at_least("max_to_keep", kept, 1)
        interval = args.get("checkpoint_interval")
        self.interval = (
            1 if interval is None else checks.at_least("checkpoint_interval", interval, 1)
        )
        self._counter = args.get("step_counter")
        if self._counter is not None and not hasattr(self._counter, "assign_add"):
            raise TypeError("`step_counter` must be a variable, with the method `assign_add`")
        self._name = str(args.get("checkpoint_name") or "ckpt")

    def latest(self) -> str | None:
        """Return the text of the last checkpoint, if there is one."""
        if not (numbers := self._numbers()):
            return None
        with open(self._path(numbers[-1]), encoding="utf-8") as file:
            return file.read()

    def keep(self, text: str, elements: int) -> None:
        """Write a checkpoint; `elements` have come since the one before."""
        if self._counter is not None and elements:
            self._counter.assign_add(elements)
        os.makedirs(self._directory, exist_ok=True)
        numbers = self._numbers()
        path = self._path(numbers[-1] + 1 if numbers else 1)
        write_whole(path, text)
        if self._kept is not None:
            for number in self._numbers()[: -self._kept]:
                os.remove(self._path(number))

    def _path(self, number: int) -> str:
        return os.path.join(self._directory, f"{self._name}-{number}.json")

    def _numbers(self) -> list[int]:
        pattern = re.compile(re.escape(self._name) + r"-(\d+)\.json")
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        return sorted(int(match[1]) for match in map(pattern.fullmatch, names) if match)
