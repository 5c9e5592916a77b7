"""What users are told of: errors and damage that runs leave out, and notices of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .recipe import dump_callable, load_callable

__all__ = ["ErrorReport", "Loss", "LossReport", "error_report", "loss_report", "notice"]


class ErrorReport:
    """A callable that hands an error on.

    Parameters
    ----------
    log_warning
        Whether it is logged.
    target
        A callable that is given it, a list that it is appended to, or ``None``.

    Raises
    ------
    TypeError
        `target` is something else.

    Examples
    --------
    >>> errors = []
    >>> ErrorReport(False, errors)(ValueError("too small"))
    >>> errors
    [ValueError('too small')]
    """

    def __init__(
        self, log_warning: bool, target: Callable[[Exception], object] | list[Exception] | None
    ) -> None:
        if not (target is None or callable(target) or isinstance(target, list)):
            raise TypeError(f"`report` must be a callable or a list, got {target!r}")
        self.log_warning = log_warning
        self.target = target

    def __call__(self, error: Exception) -> None:
        """Hand `error` on."""
        if self.log_warning:
            import logging

            logging.getLogger("headrace").warning(
                "an element is left out: %s: %s", type(error).__name__, error
            )
        if isinstance(self.target, list):
            self.target.append(error)
        elif self.target is not None:
            self.target(error)

    def __reduce__(self) -> tuple[Any, ...]:
        target: Any = self.target
        if callable(target):
            target = dump_callable(target, repr(target))
        return _load, (self.log_warning, target)

    def __repr__(self) -> str:
        return repr(self.target) if self.target is not None else "log"


def _load(log_warning: bool, target: Any) -> ErrorReport:
    return ErrorReport(log_warning, load_callable(target) if isinstance(target, bytes) else target)


def error_report(
    log_warning: bool, target: Callable[[Exception], object] | list[Exception] | None
) -> ErrorReport | None:
    """Return who is told of errors; ``None`` for nobody."""
    report = ErrorReport(log_warning, target)
    return report if log_warning or target is not None else None


def notice(text: str) -> None:
    """Log what a run came across that is no error, as a warning of the logger ``headrace``."""
    import logging

    logging.getLogger("headrace").warning("%s", text)


class Loss(NamedTuple):
    """A damaged place of a file that was left out."""

    file: str
    """Path of the file."""
    offset: int
    """Where the damaged record starts, in bytes of the decompressed file."""
    bytes: int | None
    """How many bytes were left out; ``None`` for the rest of a damaged compressed stream."""
    reason: str
    """What is wrong there."""


@dataclass(frozen=True)
class LossReport:
    """The damaged places that a run has left out so far, see `Iterator.report`.

    Examples
    --------
    >>> report = LossReport(1, 17, (Loss("a.tfrecord", 34, 17, "corrupted record at 46"),))
    >>> print(report)
    1 damaged place left out, 17 bytes
    a.tfrecord, byte 34: 17 bytes: corrupted record at 46
    """

    count: int
    """How many they are."""
    bytes: int
    """How many bytes were left out with them, as far as that is known."""
    places: tuple[Loss, ...]
    """The places, in the order in which they were met; the first thousand."""

    def __str__(self) -> str:
        lines = [
            f"{self.count} damaged place{'s' * (self.count != 1)} left out, {self.bytes} bytes"
        ]
        for file, offset, size, reason in self.places:
            lost = "the rest" if size is None else f"{size} bytes"
            lines.append(f"{file}, byte {offset}: {lost}: {reason}")
        if self.count > len(self.places):
            lines.append(f"and {self.count - len(self.places)} more")
        return "\n".join(lines)


def loss_report(
    count: int, size: int, places: list[tuple[str | None, int | None, int | None, str]]
) -> LossReport:
    """Return the engine's account of losses."""
    listed = (Loss(file or "", offset or 0, lost, why) for file, offset, lost, why in places)
    return LossReport(count, size, tuple(listed))
