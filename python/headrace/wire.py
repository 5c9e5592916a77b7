"""How a process and its workers talk: framed messages, and arrays in shared memory.

A message is a head, of kind, flag and length, and a payload. Values are pickled; their large
buffers stand in an *arena* instead, memory that both ends have mapped and that has no name: nothing
is left of it when the processes are gone, whatever ended them. Each end has an arena that it alone
writes to, made anew, larger, when it is too small, or when the other end still holds arrays in it.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import struct
import tempfile
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "ARENA",
    "CALL",
    "FAILED",
    "FRESH",
    "FUNCTION",
    "MAIN",
    "NOT_LOADED",
    "RESULT",
    "Channel",
    "Message",
    "Reader",
    "Writer",
    "dump_any",
]

ARENA, CALL, FAILED, FRESH, FUNCTION, MAIN, NOT_LOADED, RESULT = range(8)

# What is pickled, and where in the arena its buffers stand.
Message: TypeAlias = tuple[bytes, list[tuple[int, int]]]

_HEAD = struct.Struct("<BBQ")
_SMALL = 1 << 16  # below this a copy through the socket is as fast
_LEAST_ARENA = 1 << 20
_ALIGN = 64


class Channel:
    """One end of the socket between a process and a worker, and what it writes to.

    Parameters
    ----------
    connection
        A Unix socket: file descriptors go through it.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.writer = Writer(self)
        self.flag = False

    def send(self, kind: int, payload: bytes = b"", flag: bool = False, fd: int = -1) -> None:
        """Send a message, with the arena `fd` if that is one."""
        head = _HEAD.pack(kind, flag, len(payload))
        if fd >= 0:
            socket.send_fds(self.socket, [head], [fd])
            self.socket.sendall(payload)
        else:
            self.socket.sendall(head + payload)

    def receive(self) -> tuple[int, bytes, mmap.mmap | None]:
        """Return kind, payload and arena of the next message; `flag` is that of the message.

        Raises
        ------
        EOFError
            The other end is closed.
        """
        head, fds, _, _ = socket.recv_fds(self.socket, _HEAD.size, 1)
        head += self._exactly(_HEAD.size - len(head)) if head else b""
        if not head:
            raise EOFError("the other end is closed")
        kind, flag, size = _HEAD.unpack(head)
        payload = self._exactly(size)
        arena = None
        if fds:
            arena = mmap.mmap(fds[0], os.fstat(fds[0]).st_size)
            os.close(fds[0])
        self.flag = bool(flag)
        return kind, payload, arena

    def _exactly(self, size: int) -> bytes:
        if not size:
            return b""
        data = bytearray(size)
        view = memoryview(data)
        while view:
            count = self.socket.recv_into(view)
            if not count:
                raise EOFError("the other end is closed")
            view = view[count:]
        return bytes(data)


class Writer:
    """Pickles values for the other end, large buffers into the arena of this one."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._arena: mmap.mmap | None = None
        self._used = 0

    def rewind(self) -> None:
        """Begin anew: the other end has read what was written."""
        self._used = 0

    def drop(self) -> None:
        """Leave the arena to the other end, which holds arrays in it."""
        self._arena = None
        self._used = 0

    def dump(self, value: Any) -> Message:
        """Pickle `value`.

        Raises
        ------
        Exception
            What its pickling raises.
        """
        large: list[memoryview] = []

        def in_band(buffer: pickle.PickleBuffer) -> bool:
            view = buffer.raw()
            if view.nbytes < _SMALL:
                return True
            large.append(view)
            return False

        blob = dump_any(value, in_band, large.clear)
        return blob, self._place(large)

    def _place(self, views: list[memoryview]) -> list[tuple[int, int]]:
        if not views:
            return []
        need = sum(-(-view.nbytes // _ALIGN) * _ALIGN for view in views)
        if self._arena is None or self._used + need > len(self._arena):
            self._open(need)
        assert self._arena is not None
        target = np.frombuffer(self._arena, np.uint8)
        spans = []
        for view in views:
            target[self._used : self._used + view.nbytes] = np.frombuffer(view, np.uint8)
            spans.append((self._used, view.nbytes))
            self._used += -(-view.nbytes // _ALIGN) * _ALIGN
        return spans

    def _open(self, need: int) -> None:
        """Make an arena of at least `need` bytes and tell the other end."""
        size = max(_LEAST_ARENA, 1 << (2 * need - 1).bit_length())
        fd = _nameless(size)
        try:
            self._arena = mmap.mmap(fd, size)
            self._used = 0
            self._channel.send(ARENA, fd=fd)
        finally:
            os.close(fd)


def dump_any(
    value: Any,
    in_band: Callable[[pickle.PickleBuffer], bool] | None = None,
    again: Callable[[], object] | None = None,
) -> bytes:
    """Pickle a value; by value, where cloudpickle is installed, what has no name to import it by.

    `in_band` is pickle's callback for buffers; `again` is called before a second try.
    """
    try:
        return pickle.dumps(value, 5, buffer_callback=in_band)
    except Exception:
        try:
            import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            cloudpickle = None
        if cloudpickle is None:
            raise
    if again is not None:
        again()
    return cloudpickle.dumps(value, 5, buffer_callback=in_band)  # type: ignore[no-any-return, unused-ignore]


def _nameless(size: int) -> int:
    """Return a descriptor of memory that no other process can find."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("headrace", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(fd, 0, size)  # or a write to it may kill the process
        else:
            os.ftruncate(fd, size)
    except BaseException:
        os.close(fd)
        raise
    return fd


class Reader:
    """Unpickles values of the other end; arrays are views of its arena while they live."""

    def __init__(self) -> None:
        self.arena: mmap.mmap | None = None
        self._views: list[weakref.ref[Any]] = []

    def load(self, message: Message) -> Any:
        """Return the value of a message."""
        blob, spans = message
        if not spans:
            return pickle.loads(blob)
        assert self.arena is not None
        # An array that is made of a view keeps it alive.
        whole = np.frombuffer(self.arena, np.uint8)
        views = [whole[start : start + size] for start, size in spans]
        self._views += map(weakref.ref, views)
        return pickle.loads(blob, buffers=views)

    def is_held(self) -> bool:
        """Tell whether arrays are left in the arena, which is then given up; forget about them."""
        held = any(view() is not None for view in self._views)
        self._views = []
        if held:
            self.arena = None
        return held
