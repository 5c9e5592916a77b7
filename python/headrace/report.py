"""What users are told of: errors that `Dataset.ignore_errors` leaves out, and notices of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .recipe import dump_callable, load_callable

__all__ = ["ErrorReport", "error_report", "notice"]


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
