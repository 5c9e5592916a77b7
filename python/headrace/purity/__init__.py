"""Whether a function may be traced, decided before it is ever called.

Tracing calls the user's function with stand-ins, so it must only ever happen to functions whose
calls nobody can notice. `check` walks the bytecode of the function, and of every Python function it
may call, and looks at each object the code can reach. It runs none of it. Refusing a function that
would have been safe costs speed only: such a function runs as plain Python. tf.data's AutoGraph
has no such check; it traces whatever it is given, side effects included.

The answer holds for the present values of globals, closures and attributes: ask again right before
each trace, or ask its witness whether they are what they were. It says nothing of what the function
does with the values it is given; a use that cannot be recorded is found while tracing.
"""

from __future__ import annotations

import contextlib
import linecache
import os.path
from collections.abc import Callable, Iterable
from typing import Any

from ..spec import UnknownSpec
from .walk import Refused, Walk
from .witness import Witness

__all__ = ["Refusal", "Witness", "captures", "check", "examine"]

_LONGEST = 80  # characters of a line of source


class Refusal:
    """Why a function runs as Python.

    Attributes
    ----------
    reason
        What the code does, such as ``calls time.sleep, which can be observed from outside``.
    hint
        What would make it traceable; by default what `headrace.hints` knows for the reason.
    filename, lineno
        The line in question; it may lie in a function that the checked one calls.
    function
        The qualified name of the function that line belongs to.
    gives
        The element spec of the results where it is known all the same.
    """

    # No named tuple: making the class would take longer than a whole walk.
    __slots__ = ("filename", "function", "gives", "hint", "lineno", "reason")

    def __init__(
        self,
        reason: str,
        hint: str,
        filename: str | None,
        lineno: int | None,
        function: str = "",
        gives: Any = UnknownSpec(),  # noqa: B008 (it cannot change)
    ) -> None:
        if not hint:
            from ..hints import mend

            hint = mend(reason)
        self.reason = reason
        self.hint = hint
        self.filename = filename
        self.lineno = lineno
        self.function = function
        self.gives = gives

    def giving(self, spec: Any) -> Refusal:
        """Return the same for a function whose results have this spec."""
        return Refusal(self.reason, self.hint, self.filename, self.lineno, self.function, spec)

    def __str__(self) -> str:
        name = self.function or "the function"
        place = f" at {os.path.basename(self.filename)}:{self.lineno}" if self.filename else ""
        source = self.source
        shown = f" (`{source}`)" if source else ""
        return f"{name}{place}: {self.reason}{shown}; {self.hint}"

    @property
    def source(self) -> str:
        """The line itself, shortened; empty where there is no file to read it from."""
        if self.filename is None or self.lineno is None:
            return ""
        line = linecache.getline(self.filename, self.lineno).strip()
        return line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."


def check(function: Callable[..., Any], element_types: Iterable[type] = ()) -> Refusal | None:
    """Tell whether `function` may be called with symbols, without running it.

    Parameters
    ----------
    function
        Any callable: a function, method, partial, ufunc, class or callable object.
    element_types
        The namedtuple, dataclass and attrs classes in the structure of the elements. The function
        may call their methods, which the walk cannot see from the function alone.

    Returns
    -------
    Refusal or None
        None if every object the function can reach is known to be harmless.

    Examples
    --------
    >>> check(lambda x: x * 2)
    >>> log = []
    >>> check(lambda x: log.append(x)).reason
    'calls the method append while `log` is captured and could change'
    """
    return examine(function, element_types)[0]


def examine(
    function: Callable[..., Any], element_types: Iterable[type] = ()
) -> tuple[Refusal | None, Witness]:
    """Return what `check` does, and what tells whether it would do so again."""
    walk = Walk()
    refusal = None
    try:
        walk.run(function, element_types)
    except Refused as refused:
        refusal = Refusal(refused.reason, refused.hint, *refused.place)
    except Exception as error:  # an object too odd to look at is an object to leave alone
        reason = f"cannot be examined ({type(error).__name__}: {error})"
        refusal = Refusal(reason, "", *walk.place)
    return refusal, walk.witness


def captures(function: Callable[..., Any]) -> list[object]:
    """Return the arrays and containers that `function` reaches, each once.

    Containers come before what they hold. Where the walk refuses `function`, these are the objects
    reached until then.
    """
    walk = Walk()
    with contextlib.suppress(Exception):  # as in `check`
        walk.run(function, ())
    return list({id(item): item for item in walk.captured}.values())
