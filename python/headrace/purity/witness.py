"""What a walk read, to be read again: whether a later walk would see just the same.

A function is walked and traced anew for each run, since what it reads may have changed. Most read a
few names of modules and constants. Of such a function the walk notes each name with the object it
found; while all of them still lead to the same objects, and these cannot change, walk and trace
would only repeat themselves.
"""

from __future__ import annotations

import types
from typing import Any

__all__ = ["Witness"]

_ABSENT: Any = object()


class Witness:
    """The names that a walk looked up, and what it found.

    Examples
    --------
    >>> names, witness = {"scale": 2}, Witness()
    >>> witness.name(names, "scale")
    >>> witness.holds()
    True
    >>> names["scale"] = 3
    >>> witness.holds()
    False
    """

    __slots__ = ("_cells", "_functions", "_names", "is_whole")

    def __init__(self) -> None:
        # Whether all that matters is among the notes.
        self.is_whole = True
        self._names: list[tuple[dict[str, Any], str, object]] = []
        self._cells: list[tuple[types.CellType, object]] = []
        self._functions: list[tuple[types.FunctionType, object, object]] = []

    def name(self, names: dict[str, Any], name: str) -> None:
        """Note what a dictionary of names holds, be it nothing."""
        self._names.append((names, name, names.get(name, _ABSENT)))

    def function(self, function: types.FunctionType) -> None:
        """Note what a function is made of; what its variables hold are names and cells."""
        if function.__kwdefaults__ or function.__dict__:
            self.is_whole = False
        self._functions.append((function, function.__code__, function.__defaults__))
        for cell in function.__closure__ or ():
            try:
                self._cells.append((cell, cell.cell_contents))
            except ValueError:  # assigned later, perhaps
                self.is_whole = False

    def holds(self) -> bool:
        """Tell whether all is as it was."""
        if not self.is_whole:
            return False
        try:
            return (
                all(names.get(name, _ABSENT) is found for names, name, found in self._names)
                and all(cell.cell_contents is found for cell, found in self._cells)
                and all(
                    function.__code__ is code
                    and function.__defaults__ is defaults
                    and not function.__kwdefaults__
                    and not function.__dict__
                    for function, code, defaults in self._functions
                )
            )
        except ValueError:  # a variable that was deleted
            return False
