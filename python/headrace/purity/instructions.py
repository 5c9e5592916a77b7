"""The instructions of a code object, as ``dis`` reads them but several times as fast.

``dis`` is made for people: it looks up how to show each argument. A function is read before its
first trace, where that takes longer than the trace. What this page does not know is read by
``dis``: versions of Python to come, and code with handlers of exceptions.
"""

from __future__ import annotations

import dis
import sys
import types
from typing import Any

__all__ = ["Instruction", "instructions"]

_IS_KNOWN = (3, 11) <= sys.version_info[:2] <= (3, 13)

_OPERATORS = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")
_INTRINSICS = {
    3: "INTRINSIC_STOPITERATION_ERROR",
    5: "INTRINSIC_UNARY_POSITIVE",
    6: "INTRINSIC_LIST_TO_TUPLE",
}
_PAIRS = ("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST")
_OTHERS = {"BINARY_OP": "operator", "CALL_INTRINSIC_1": "intrinsic"}
# Names whose lowest bits are flags.
_FLAGGED = {"LOAD_GLOBAL": 1, "LOAD_SUPER_ATTR": 2}
if sys.version_info >= (3, 12):
    _FLAGGED["LOAD_ATTR"] = 1


class Instruction:
    """One instruction; the attributes are those of ``dis.Instruction`` and the line.

    ``argrepr`` is told of operators and of the intrinsics that the walk allows, else empty.
    """

    __slots__ = (
        "arg",
        "argrepr",
        "argval",
        "is_jump_target",
        "lineno",
        "offset",
        "opcode",
        "opname",
    )

    def __init__(
        self,
        opcode: int,
        opname: str,
        arg: int | None,
        argval: Any,
        argrepr: str,
        offset: int,
        lineno: int | None,
    ) -> None:
        self.opcode = opcode
        self.opname = opname
        self.arg = arg
        self.argval = argval
        self.argrepr = argrepr
        self.offset = offset
        self.lineno = lineno
        self.is_jump_target = False


def instructions(code: types.CodeType) -> list[Instruction]:
    """Return the instructions of `code`, without the room for caches.

    Examples
    --------
    >>> instructions((lambda x: x).__code__)[-1].opname
    'RETURN_VALUE'
    """
    return _read(code) if _IS_KNOWN and not code.co_exceptiontable else _read_by_dis(code)


def _read_by_dis(code: types.CodeType) -> list[Instruction]:
    found = []
    for step in dis.get_instructions(code):
        if step.opname != "CACHE":
            line = step.positions.lineno if step.positions else None
            own = (step.opcode, step.opname, step.arg, step.argval, step.argrepr, step.offset, line)
            found.append(Instruction(*own))
            found[-1].is_jump_target = step.is_jump_target
    return found


def _kinds() -> tuple[str, ...]:
    """Return what the argument of each opcode is, the empty string if it has none."""
    kinds = [""] * 256
    groups = [(getattr(dis, "hasarg", range(dis.HAVE_ARGUMENT, 256)), "number")]
    groups += [(dis.hasconst, "const"), (dis.hasname, "name"), (dis.hasfree, "local")]
    groups += [(dis.haslocal, "local"), (dis.hasjrel, "jump")]
    one = {name: [dis.opmap[name]] for name in (*_PAIRS, *_OTHERS) if name in dis.opmap}
    groups += [(opcodes, _OTHERS.get(name, "pair")) for name, opcodes in one.items()]
    for opcodes, kind in groups:
        for opcode in opcodes:
            if opcode < 256:
                kinds[opcode] = kind
    return tuple(kinds)


_OPNAMES = tuple(dis.opname[:256])
_KINDS = _kinds()
_SHIFTS = tuple(_FLAGGED.get(name, 0) for name in _OPNAMES)
_CACHE, _EXTENDED = dis.opmap["CACHE"], dis.opmap["EXTENDED_ARG"]


def _read(code: types.CodeType) -> list[Instruction]:
    raw, consts, names = code.co_code, code.co_consts, code.co_names
    lines = [position[0] for position in code.co_positions()]
    inner = [name for name in code.co_cellvars if name not in code.co_varnames]
    local = (*code.co_varnames, *inner, *code.co_freevars)
    found: list[Instruction] = []
    places: dict[int, Instruction] = {}  # by the offset that a jump to it has
    jumps: list[int] = []
    extended, start = 0, -1
    for offset in range(0, len(raw), 2):
        opcode = raw[offset]
        if opcode == _CACHE:
            continue
        arg = raw[offset + 1] | extended
        if opcode == _EXTENDED:
            extended, start = arg << 8, offset if start < 0 else start
            continue
        kind, argrepr = _KINDS[opcode], ""
        argval: Any = arg
        if kind == "const":
            argval = consts[arg]
        elif kind == "local":
            argval = local[arg]
        elif kind == "name":
            argval = names[arg >> _SHIFTS[opcode]]
        elif kind == "pair":
            argval = local[arg >> 4], local[arg & 15]
        elif kind == "jump":
            after = offset + 2
            while after < len(raw) and raw[after] == _CACHE:
                after += 2
            argval = after + (-arg if "JUMP_BACKWARD" in _OPNAMES[opcode] else arg) * 2
            jumps.append(argval)
        elif kind == "operator":
            argrepr = _OPERATORS[arg % 13] + "=" * (arg >= 13)
        elif kind == "intrinsic":
            argrepr = _INTRINSICS.get(arg, "")
        elif not kind:
            argval = None
        given = None if not kind else arg
        step = Instruction(
            opcode, _OPNAMES[opcode], given, argval, argrepr, offset, lines[offset >> 1]
        )
        found.append(step)
        places[offset if start < 0 else start] = step
        extended, start = 0, -1
    for target in jumps:
        if target in places:
            places[target].is_jump_target = True
    return found
