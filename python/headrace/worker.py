"""A worker process of ``executor="process"``: takes rows, calls a function, sends results back.

Nothing of the parent is here but what it sends: the function, and the main module where the
function or an argument refers to it. Rows are called in order and each result is sent at once; the
first that fails ends its batch. The process ends when its socket does, whatever the parent died of.
How messages are framed, and how arrays travel in shared memory, is in `headrace.wire`.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from . import _headrace
from .function import with_generator
from .wire import (
    ARENA,
    CALL,
    FAILED,
    FRESH,
    FUNCTION,
    MAIN,
    NOT_LOADED,
    RESULT,
    Channel,
    Reader,
    dump_any,
)

__all__ = ["is_preparing", "main"]

_WATCH_SECONDS = 0.5
_preparing = False


def is_preparing() -> bool:
    """Tell whether this process is a worker that runs the script of its parent for its names."""
    return _preparing


def main(fd: int) -> None:
    """Serve the parent at the other end of the socket `fd`, to its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, who ends its workers
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    try:
        # Python tells of sockets that nobody has closed.
        with socket.socket(fileno=fd) as connection:
            _Worker(Channel(connection)).serve()
    except (EOFError, ConnectionError):
        sys.exit(0)


def _watch(parent: int) -> None:
    """End the process once its parent is gone, even if another process holds the socket open."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


class _Worker:
    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.reader = Reader()
        self.function: Callable[..., Any] | None = None
        self.blob = b""
        self.refused: bytes | None = None

    def serve(self) -> None:
        while True:
            kind, payload, arena = self.channel.receive()
            if kind == ARENA:
                self.reader.arena = arena
            elif kind == FRESH:
                self.channel.writer.drop()
            elif kind == MAIN:
                self._prepare(payload)
            elif kind == FUNCTION:
                self.blob = payload
            elif kind == CALL:
                self._call(*pickle.loads(payload))

    def _prepare(self, payload: bytes) -> None:
        """Import the parent's main module, as `multiprocessing` does."""
        global _preparing
        from multiprocessing import spawn

        _preparing = True
        try:
            spawn.prepare(pickle.loads(payload))
        except BaseException as error:
            self.refused = describe(error)
        finally:
            _preparing = False

    def _load(self) -> Callable[..., Any] | None:
        if self.function is None and self.refused is None:
            try:
                self.function = with_generator(pickle.loads(self.blob))
            except BaseException as error:
                self.refused = describe(error)
        return self.function if self.refused is None else None

    def _call(self, rows: list[Any], sites: list[Any]) -> None:
        function = self._load()
        if function is None:
            self.channel.send(NOT_LOADED, self.refused or b"")
            return
        self.channel.writer.rewind()
        for left in reversed(range(len(rows))):
            try:
                args = self.reader.load(rows[-1 - left])
                result = _headrace.call_at(sites[-1 - left], function, args)
                args = None
                message = pickle.dumps(self.channel.writer.dump(result))
                result = None
            except BaseException as error:
                left, kind, message = 0, FAILED, describe(error)
                args = result = None
            else:
                kind = RESULT
            # The parent writes to the arena again after the last row: it is told before that.
            self.channel.send(kind, message, left == 0 and self.reader.is_held())
            if kind == FAILED:
                return


def describe(error: BaseException, causes: int = 8) -> bytes:
    """Pickle an exception, its traceback as text, and its causes, up to some of them.

    Of an exception that does not pickle, what does goes.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") == __name__:
        trace = trace.tb_next
    frames = "".join(traceback.format_tb(trace)).rstrip("\n")
    kind, text = type(error), "".join(traceback.format_exception_only(error)).strip()
    found = None
    for form in _forms(error):
        try:
            blob = dump_any(form)
            rebuild(pickle.loads(blob), text)
        except Exception:
            continue
        found = blob
        break
    cause = error.__cause__
    before = None if cause is None or causes <= 0 else describe(cause, causes - 1)
    return pickle.dumps((found, f"{kind.__module__}.{kind.__qualname__}", text, frames, before))


def _forms(error: BaseException) -> list[Any]:
    texts = tuple(arg if isinstance(arg, str | int | float) else repr(arg) for arg in error.args)
    # The second form is for classes whose `__init__` wants other arguments than `args`.
    return [error, (type(error), error.args, error.__dict__), (type(error), texts, {})]


def rebuild(form: Any, text: str) -> BaseException:
    """Return the exception that `describe` found a form for."""
    if isinstance(form, BaseException):
        return form
    kind, args, attributes = form
    error = kind.__new__(kind, *args)
    if not isinstance(error, BaseException):
        raise TypeError(text)
    error.args = args
    error.__dict__.update(attributes)
    return error
