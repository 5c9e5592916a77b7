"""Tells a length that ``list`` would like from one that somebody needs.

``list(dataset)``, ``tuple(dataset)`` and ``[*dataset]`` ask for an iterator and then, in the same
instruction of the caller, for a length to make room for. They can do without, so nothing is read
for it: to count the records of files would be a pass over them right before the one that is wanted.
"""

import sys
import threading
import time
from types import CodeType

__all__ = ["is_hint", "note_iteration"]

# What lies between the two is a few calls in C, but the system may run others meanwhile. Another
# call of the same code may find a frame at the same address.
_SOON_NS = 1_000_000_000


class _Last(threading.local):
    """Where an iterator was opened last: the caller's code, frame and instruction; and when."""

    place: tuple[CodeType, int, int] | None = None
    time_ns = 0


_last = _Last()


def note_iteration() -> None:
    """Remember who opens an iterator; called at the end of ``__iter__``."""
    caller = sys._getframe(2)
    _last.place = (caller.f_code, id(caller), caller.f_lasti)
    _last.time_ns = time.perf_counter_ns()


def is_hint() -> bool:
    """Return whether the caller of ``__len__`` opened an iterator in the same instruction."""
    caller = sys._getframe(2)
    place, _last.place = _last.place, None
    here = (caller.f_code, id(caller), caller.f_lasti)
    if place is None or place[0] is not here[0] or place[1:] != here[1:]:
        return False
    return time.perf_counter_ns() - _last.time_ns < _SOON_NS
