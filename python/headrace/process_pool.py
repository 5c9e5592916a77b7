"""Functions in worker processes: ``executor="process"``.

A pool belongs to one function of one run. It starts a worker when a call finds none idle, so it has
as many as the engine makes calls at once. The workers are fresh interpreters, never forks of this
process with its threads and locks. The function goes to them by name where it can be imported, else
with cloudpickle; values go as `headrace.wire` says. The pool ends with the run: idle workers at
once, busy ones are killed. tf.data has nothing like it.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

from .errors import FailedPreconditionError, UnimplementedError, UnknownError
from .recipe import dump_callable
from .wire import ARENA, CALL, FAILED, FRESH, FUNCTION, MAIN, NOT_LOADED, Channel, Reader
from .worker import is_preparing, rebuild

__all__ = ["Ended", "ProcessPool", "WorkerDied"]

_POLL_MS = 50
_PATIENCE = 0.3  # seconds that idle workers have to end by themselves
_GUARD = (
    "a worker process runs the script of its parent again, to find the functions in it, and came "
    "to the code that starts worker processes; put that code under "
    '`if __name__ == "__main__":`, or the functions into a module'
)


class WorkerDied(Exception):
    """A worker ended while it ran a function; the engine makes an error of it."""


class Ended(Exception):
    """The run is over; the engine makes no error of it."""


class ProcessPool:
    """The workers of one function in one run.

    Parameters
    ----------
    function
        What is called there.
    name
        How messages call it.
    finish
        Called here with each result; gives what the engine gets.
    is_over
        Tells whether the run has ended.

    Raises
    ------
    FailedPreconditionError
        This process is itself a worker that has not found its function yet.
    pickle.PicklingError
        The function cannot be sent.
    UnimplementedError
        The system has no Unix sockets.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        finish: Callable[[Any], Any] | None,
        is_over: Callable[[], bool],
    ) -> None:
        if is_preparing():
            raise FailedPreconditionError(_GUARD)
        if not hasattr(socket, "send_fds"):
            raise UnimplementedError('executor="process" needs Unix sockets; use "python"')
        self.name = name
        self._function = function
        self._by_value, self._blob = _dump(function, name)
        self._finish = finish
        self._is_over = is_over
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._closed = False

    def run(
        self, rows: list[tuple[Any, ...]], sites: list[tuple[int, ...]]
    ) -> Generator[Any, None, None]:
        """Yield the result for each of `rows`, the arguments of a call.

        `sites` are what random ops in the calls draw by. Each result must be done with when the
        next is asked for.

        Raises
        ------
        Exception
            What the function raises, with the traceback of the worker as a note.
        WorkerDied
            The worker ended.
        Ended
            The run is over.
        """
        worker = self._take()
        whole = False
        try:
            worker.send(rows, sites)
            for _ in rows:
                try:
                    result = worker.receive(self._is_over)
                except _NotFound as missing:
                    if not self._send_by_value():
                        raise missing.error from None
                    worker.kill()
                    worker = self._take()
                    worker.send(rows, sites)
                    result = worker.receive(self._is_over)
                if self._finish is not None:
                    result = self._finish(result)
                yield result
                result = None
            whole = True
        except _Raised as raised:
            whole = True
            raise raised.error from raised.error.__cause__
        finally:
            # After anything else the worker may have results to send still.
            self._give_back(worker, whole)

    def _take(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise Ended
            if self._idle:
                return self._idle.pop()
        return _Worker(self._blob, self._by_value, self.name)

    def _send_by_value(self) -> bool:
        """Have new workers get the function itself, not its name; false if that cannot be."""
        if self._by_value or not _can_send_by_value():
            return False
        self._by_value, self._blob = True, dump_callable(self._function, self.name)
        return True

    def _give_back(self, worker: _Worker, whole: bool) -> None:
        with self._lock:
            if whole and not self._closed:
                self._idle.append(worker)
                return
        worker.kill()

    def close(self) -> None:
        """End the workers; those in use end when their call notices that the run is over."""
        with self._lock:
            workers, self._idle, self._closed = self._idle, [], True
        for worker in workers:
            worker.channel.socket.close()
        end = time.monotonic() + _PATIENCE
        for worker in workers:
            try:
                worker.process.wait(max(end - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                worker.kill()


class _Raised(Exception):
    """Carries what the function raised."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class _NotFound(_Raised):
    """Carries why the worker has no such function."""


class _Worker:
    """A worker process as its parent sees it."""

    def __init__(self, blob: bytes, by_value: bool, name: str) -> None:
        self.name = name
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                _command(theirs.fileno()),
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C is for this process, which ends its workers
            )
        self.channel = Channel(ours)
        self.reader = Reader()
        self._poll = select.poll()
        self._poll.register(ours, select.POLLIN)
        self._knows_main = False
        if not by_value:
            self._telling(lambda: self._send_main(blob))
        self._telling(lambda: self.channel.send(FUNCTION, blob))

    def _telling(self, send: Callable[[], None]) -> None:
        try:
            send()
        except (BrokenPipeError, ConnectionResetError):
            raise self._died() from None

    def _send_main(self, data: bytes) -> None:
        """Have the worker import the main module, the first time that `data` refers to it."""
        if not self._knows_main and _needs_main(data) and _main_is_importable():
            from multiprocessing import spawn

            self._knows_main = True
            prepared = spawn.get_preparation_data(f"headrace worker of {self.name}")
            # The key of this process's own `multiprocessing` pickles only in its own hands.
            prepared.pop("authkey", None)
            self.channel.send(MAIN, pickle.dumps(prepared))

    def send(self, rows: list[tuple[Any, ...]], sites: list[tuple[int, ...]]) -> None:
        """Ask for the results of `rows`."""

        def send() -> None:
            if self.reader.is_held():
                self.channel.send(FRESH)
            self.channel.writer.rewind()
            messages = [self.channel.writer.dump(row) for row in rows]
            for blob, _ in messages:
                self._send_main(blob)
            self.channel.send(CALL, pickle.dumps((messages, sites)))

        self._telling(send)

    def receive(self, is_over: Callable[[], bool]) -> Any:
        """Return the next result."""
        while True:
            while not self._poll.poll(_POLL_MS):
                if is_over():
                    raise Ended
            try:
                kind, payload, arena = self.channel.receive()
            except (EOFError, ConnectionResetError):
                raise self._died() from None
            if kind == ARENA:
                self.reader.arena = arena
                continue
            if self.channel.flag:
                self.channel.writer.drop()
            if kind == NOT_LOADED:
                raise self._not_loaded(payload)
            if kind == FAILED:
                raise _Raised(self._error(payload))
            return self.reader.load(pickle.loads(payload))

    def _error(self, payload: bytes) -> BaseException:
        form, kind, text, frames, cause = pickle.loads(payload)
        error: BaseException
        try:
            error = rebuild(pickle.loads(form), text)
        except Exception:
            error = UnknownError(f"{text} (an exception of type {kind} that does not pickle)")
        where = f"in worker process {self.process.pid}"
        error.add_note(f"{where}:\n{frames}" if frames else where)
        if cause is not None:
            error.__cause__ = self._error(cause)
        return error

    def _not_loaded(self, payload: bytes) -> Exception:
        error = self._error(payload)
        if isinstance(error, FailedPreconditionError) and _GUARD in str(error):
            return _Raised(FailedPreconditionError(_GUARD))
        kind = type(error).__name__
        loaded = FailedPreconditionError(
            f"a worker process could not load {self.name} ({kind}: {error}); what it needs must be "
            "importable there, or install headrace[process] to send it by value"
        )
        for note in getattr(error, "__notes__", ()):
            loaded.add_note(note)
        return _NotFound(loaded)

    def _died(self) -> WorkerDied:
        try:
            code = self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self.process.returncode
        if code < 0:
            try:
                how = f"was killed by {signal.Signals(-code).name}"
            except ValueError:
                how = f"was killed by signal {-code}"
        else:
            how = f"ended with exit status {code}"
        return WorkerDied(
            f"the worker process {self.process.pid} {how} while it ran {self.name}; what it wrote "
            "to stderr may tell more"
        )

    def kill(self) -> None:
        """End the process, whatever it does."""
        self.channel.socket.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def _command(fd: int) -> list[str]:
    from multiprocessing import spawn

    executable = os.fsdecode(spawn.get_executable() or sys.executable)
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    paths = [path for path in sys.path if isinstance(path, str)]
    code = (
        f"import sys; sys.path[:], sys.argv[:] = {paths!r}, {sys.argv!r}; "
        f"from headrace.worker import main; main({fd})"
    )
    return [executable, *flags, "-c", code]


def _needs_main(data: bytes) -> bool:
    return b"__main__" in data


def _main_is_importable() -> bool:
    main = sys.modules.get("__main__")
    if main is None:
        return False
    path = getattr(main, "__file__", None)
    return getattr(main, "__spec__", None) is not None or bool(path and os.path.exists(path))


def _dump(function: Callable[..., Any], name: str) -> tuple[bool, bytes]:
    """Pickle a function by name if it can be found by it, else by value; tell which."""
    try:
        blob = pickle.dumps(function, 5)
    except Exception:
        return True, dump_callable(function, name)
    if not _needs_main(blob) or _main_is_importable():
        return False, blob
    if not _can_send_by_value():
        raise pickle.PicklingError(
            f"{name} is defined where worker processes cannot import it; move it to a module, or "
            "install cloudpickle: pip install headrace[process]"
        )
    return True, dump_callable(function, name)


def _can_send_by_value() -> bool:
    from importlib.util import find_spec

    return find_spec("cloudpickle") is not None
