"""Instructions are read as ``dis`` reads them."""

import ast
import contextlib
import dis
import functools
import types

import numpy as np
import pytest

import headrace.nest
import headrace.trace
from headrace.purity import instructions as own

MODULES = [ast, contextlib, dis, functools, types, headrace.nest, headrace.trace, np.lib, np.linalg]

# Only people want to know what these arguments mean.
UNTOLD = {"COMPARE_OP", "CONVERT_VALUE", "FORMAT_VALUE", "KW_NAMES", "MAKE_FUNCTION"}


def codes_of(code):
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_of(const)


def told(steps):
    """What the walk asks of instructions, with jumps by the place of what they lead to."""
    shown, target = [], False
    for step in steps:
        target |= bool(step.is_jump_target)
        if step.opname in ("EXTENDED_ARG", "CACHE"):
            continue
        line = step.lineno if isinstance(step, own.Instruction) else step.positions.lineno
        value = step.arg if step.opname in UNTOLD else step.argval
        operator = step.argrepr if step.opname == "BINARY_OP" else ""
        allowed = step.opname == "CALL_INTRINSIC_1" and step.argrepr.endswith(
            ("LIST_TO_TUPLE", "STOPITERATION_ERROR", "UNARY_POSITIVE")
        )
        shown.append((step.opname, step.opcode, step.arg, step.offset, line, operator))
        shown.append((allowed, target, repr(value) if value is not step.arg else None))
        target = False
    return shown


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_instructions_are_those_of_dis(module):
    with open(module.__file__, encoding="utf-8") as file:
        code = compile(file.read(), module.__file__, "exec")
    for part in codes_of(code):
        expected = told(dis.get_instructions(part))
        assert told(own.instructions(part)) == expected
        if not part.co_exceptiontable:
            assert told(own._read(part)) == expected


def test_long_jumps_and_many_names_are_read_too():
    names = "\n".join(f"    if x > {k}: x = x.a{k} + n{k}" for k in range(400))
    space = {}
    exec(f"def f(x):\n  while x:\n{names}\n  return x", space)
    code = space["f"].__code__
    assert dis.opmap["EXTENDED_ARG"] in code.co_code[::2]
    assert told(own._read(code)) == told(dis.get_instructions(code))
