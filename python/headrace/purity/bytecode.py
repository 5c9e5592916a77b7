"""Bytecode read the same way on every CPython from 3.11 on.

The walk needs few facts of a code object: which names it loads and stores, which attributes follow
a load, and which call, if any, a loaded value is the callee of. They are worked out here, so that
the walk itself knows nothing of null bits, method flags and paired opcodes. An opcode that is
not listed is not understood, and the walk refuses the function.
"""

from __future__ import annotations

import dis
import functools
import types

from .instructions import Instruction, instructions


def words(text: str) -> frozenset[str]:
    """Return the words of `text`, the form in which the lists of the walk are written."""
    return frozenset(text.split())


# Effects on the stack and on fresh values only: nothing outside the frame sees them.
_HARMLESS = words("""
    BINARY_OP BINARY_SLICE BINARY_SUBSCR BUILD_CONST_KEY_MAP BUILD_INTERPOLATION BUILD_LIST
    BUILD_MAP BUILD_SET BUILD_SLICE BUILD_STRING BUILD_TEMPLATE BUILD_TUPLE CALL CALL_FUNCTION_EX
    CALL_KW COMPARE_OP CONTAINS_OP CONVERT_VALUE COPY COPY_FREE_VARS DELETE_FAST DICT_MERGE
    DICT_UPDATE END_FOR FORMAT_SIMPLE FORMAT_VALUE FORMAT_WITH_SPEC FOR_ITER GET_ITER GET_LEN IS_OP
    JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_TRUE_OR_POP
    KW_NAMES LIST_APPEND LIST_EXTEND LIST_TO_TUPLE LOAD_ASSERTION_ERROR LOAD_CLOSURE
    LOAD_COMMON_CONSTANT LOAD_CONST LOAD_SMALL_INT MAKE_CELL MAKE_FUNCTION MAP_ADD MATCH_KEYS
    MATCH_MAPPING MATCH_SEQUENCE NOT_TAKEN POP_ITER POP_JUMP_BACKWARD_IF_FALSE
    POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_TRUE
    POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE
    POP_JUMP_FORWARD_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE
    POP_JUMP_IF_TRUE POP_TOP PRECALL PUSH_NULL RAISE_VARARGS RERAISE RESUME RETURN_CONST
    RETURN_GENERATOR RETURN_VALUE SET_ADD SET_FUNCTION_ATTRIBUTE SET_UPDATE SWAP TO_BOOL
    UNARY_INVERT UNARY_NEGATIVE UNARY_NOT UNARY_POSITIVE UNPACK_EX UNPACK_SEQUENCE
    """)
_SKIPPED = frozenset({"CACHE", "EXTENDED_ARG", "NOP"})
_DISPLAYS = words(
    "BUILD_CONST_KEY_MAP BUILD_LIST BUILD_MAP BUILD_SET DICT_UPDATE LIST_EXTEND LOAD_CONST "
    "LOAD_SMALL_INT SET_UPDATE"
)
_SIMPLE_LOADS = words("LOAD_CONST LOAD_DEREF LOAD_FAST LOAD_GLOBAL LOAD_SMALL_INT")
_RENAMED = {
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_FAST_AND_CLEAR": "LOAD_FAST",
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_METHOD": "LOAD_ATTR",
}
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
# The walk has a rule of its own for each of these.
_RULED = words("""
    DELETE_DEREF DELETE_SUBSCR IMPORT_FROM IMPORT_NAME LOAD_ATTR LOAD_DEREF LOAD_FAST LOAD_GLOBAL
    STORE_DEREF STORE_FAST STORE_SLICE STORE_SUBSCR YIELD_VALUE
    """)
_REFUSED = {
    "STORE_GLOBAL": "stores to a global",
    "DELETE_GLOBAL": "deletes a global",
    "STORE_ATTR": "stores to an attribute",
    "DELETE_ATTR": "deletes an attribute",
    "STORE_NAME": "stores to a name of a class body or module",
    "LOAD_NAME": "reads a name of a class body or module",
    "LOAD_BUILD_CLASS": "defines a class",
    "PUSH_EXC_INFO": "catches exceptions, or leaves a with or try block by one",
    "CHECK_EXC_MATCH": "catches exceptions",
    "BEFORE_WITH": "enters a with block",
    "LOAD_SPECIAL": "enters a with block",
    "MATCH_CLASS": "matches a class pattern, which reads attributes",
    "LOAD_SUPER_ATTR": "uses super()",
    "IMPORT_STAR": "imports *",
    "SEND": "is a generator or a coroutine",
    "GET_AWAITABLE": "is a coroutine",
    "GET_YIELD_FROM_ITER": "is a generator",
}
_INTRINSICS = ("LIST_TO_TUPLE", "STOPITERATION_ERROR", "UNARY_POSITIVE")


# Plain classes: making a named tuple's takes longer than a whole walk.
class Op:
    """One step of a code object, paired opcodes taken apart."""

    __slots__ = ("lineno", "name", "raw", "target", "value")

    def __init__(
        self, name: str, value: object, lineno: int | None, target: bool, raw: int
    ) -> None:
        self.name = name
        self.value = value
        self.lineno = lineno
        self.target = target
        self.raw = raw  # where in the raw list, for `call_of`


class Call:
    """The call that a loaded value is the callee of."""

    __slots__ = ("keywords", "positional", "raw", "unpacked")

    def __init__(
        self, positional: int, keywords: tuple[str, ...], unpacked: bool, raw: int
    ) -> None:
        self.positional = positional
        self.keywords = keywords
        self.unpacked = unpacked  # f(*args) or f(**kwargs): nothing is known of the arguments
        self.raw = raw


Steps = tuple[tuple[Instruction, ...], frozenset[int], tuple[Op, ...]]


# A function is walked when its dataset is made and again in each run.
@functools.lru_cache(maxsize=256)
def steps(code: types.CodeType) -> Steps:
    """Return the instructions, which of them a jump may lead to, and the steps they make."""
    raw: list[Instruction] = []
    targets: set[int] = set()
    ops: list[Op] = []
    for instr in instructions(code):
        k, name, line = len(raw), instr.opname, instr.lineno
        if instr.is_jump_target:
            targets.add(k)
        if name in _SKIPPED:
            continue
        raw.append(instr)
        pair = _PAIRS.get(name)
        if pair:
            first, second = instr.argval
            ops.append(Op(pair[0], first, line, k in targets, k))
            ops.append(Op(pair[1], second, line, False, k))
        else:
            ops.append(Op(_RENAMED.get(name, name), instr.argval, line, k in targets, k))
    return tuple(raw), frozenset(targets), tuple(ops)


class Code:
    """The steps of one code object."""

    def __init__(self, code: types.CodeType) -> None:
        self.code = code
        # The indices in `raw` that a jump may lead to are `_targets`.
        self.raw, self._targets, self.ops = steps(code)
        self._fresh = self._fresh_locals()

    def objection(self, op: Op) -> str | None:
        """Say what is wrong with the opcode itself, whatever it works on."""
        if op.name in _HARMLESS or op.name in _RULED:
            return None
        if op.name.startswith("CALL_INTRINSIC") and self.raw[op.raw].argrepr.endswith(_INTRINSICS):
            return None
        return _REFUSED.get(op.name, f"uses the opcode {op.name}, which the walk does not know")

    def is_inplace(self, op: Op) -> bool:
        """Tell ``x += y`` from ``x + y``."""
        return op.name == "BINARY_OP" and self.raw[op.raw].argrepr.endswith("=")

    def inplace_symbol(self, op: Op) -> str:
        """Return the operator as written, such as ``+=``."""
        return self.raw[op.raw].argrepr

    def _fresh_locals(self) -> tuple[set[str], set[str]]:
        """Return the locals that are only ever bound to new objects, never to captured ones.

        The first set holds displays (``out = []``) and constants; those of the second also hold
        results of operators, which are new unless a class of the user's says otherwise.
        """
        code = self.code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
        not_fresh = {*code.co_varnames[: count + bool(code.co_flags & 8)], *code.co_cellvars}
        displays: set[str] = set()
        results: set[str] = set()
        for before, op in zip(self.ops, self.ops[1:], strict=False):
            if op.name != "STORE_FAST":
                continue
            name = str(op.value)
            if op.target:
                not_fresh.add(name)
            elif before.name in _DISPLAYS and self._is_whole(before):
                displays.add(name)
            elif before.name in ("COMPARE_OP", "UNARY_NEGATIVE") or (
                before.name == "BINARY_OP" and "[" not in self.raw[before.raw].argrepr
            ):
                results.add(name)
            else:
                not_fresh.add(name)
        return displays - results - not_fresh, (displays | results) - not_fresh

    def _is_whole(self, op: Op) -> bool:
        """Tell whether the display that `op` ends lies on top of the stack."""
        return not op.name.endswith(("_EXTEND", "_UPDATE")) or self.raw[op.raw].arg == 1

    def origin(self, k: int) -> str:
        """Tell where the local that step `k` changes in place got its value from.

        ``display`` and ``result`` are the two sets of `_fresh_locals`; the empty string means that
        it may be anything.
        """
        name = self._changed_local(k)
        if name in self._fresh[0]:
            return "display"
        return "result" if name in self._fresh[1] else ""

    def _changed_local(self, k: int) -> str | None:
        """Return the local that the change at step `k` is made to, where that is certain."""
        ops, op = self.ops, self.ops[k]
        if op.name == "LOAD_ATTR" and k and not op.target and ops[k - 1].name == "LOAD_FAST":
            return str(ops[k - 1].value)
        if op.name == "BINARY_OP" and ops[k + 1].name == "STORE_FAST":
            return str(ops[k + 1].value)  # `x += y` stores to the x it read
        if op.name == "STORE_SUBSCR" and k > 1 and ops[k - 2].name == "LOAD_FAST":
            simple = ops[k - 1].name in _SIMPLE_LOADS and not (op.target or ops[k - 1].target)
            return str(ops[k - 2].value) if simple else None
        return None

    def call_of(self, raw: int) -> Call | None:
        """Find the call whose callee is the value that step `raw` leaves on top of the stack.

        The steps after it are followed along one path with their stack effects. None means the
        value is not called directly, or that the path could not be followed.
        """
        above, k = 0, raw + 1  # values on the stack above the callee
        for _ in range(500):
            if k >= len(self.raw):
                return None
            instr = self.raw[k]
            name, arg = instr.opname, instr.arg or 0
            if name in ("CALL", "CALL_KW"):
                extra = 1 if name == "CALL_KW" else 0
                if arg + 2 + extra > above:
                    # The null that marks a plain call lies above the callee since 3.13.
                    is_callee = above - extra in (arg, arg + 1)
                    words = self._keywords(k)
                    return Call(arg - len(words), words, False, k) if is_callee else None
                above += 1 - (arg + 2 + extra)
            elif name == "CALL_FUNCTION_EX":
                effect = dis.stack_effect(instr.opcode, arg, jump=False)
                if above + effect <= 0:
                    return Call(0, (), True, k)
                above += effect
            elif name in ("JUMP_FORWARD", "PRECALL", "NOT_TAKEN"):
                pass
            elif name == "FOR_ITER":  # a comprehension written in line: past its end
                above += dis.stack_effect(instr.opcode, instr.arg, jump=True)
            elif name.startswith(("JUMP_BACKWARD", "RETURN", "RAISE", "RERAISE")):
                return None
            else:
                effect = dis.stack_effect(instr.opcode, instr.arg, jump=False)
                above += effect
                only_pops = name.startswith(("POP_", "JUMP_IF_"))
                if above < 0 or (above == 0 and effect <= 0 and not only_pops):
                    return None  # the value went into something else
            jumps = name in ("FOR_ITER", "JUMP_FORWARD")
            k = self._index_of(instr.argval) if jumps else k + 1
            if k <= raw:
                return None
        return None

    def _index_of(self, offset: int) -> int:
        """Return the index of the instruction that a jump leads to; -1 where there is none."""
        return next((k for k, instr in enumerate(self.raw) if instr.offset == offset), -1)

    def is_straight(self, start: int, end: int) -> bool:
        """Tell whether the steps after `start` up to `end` always run in that order."""
        between = range(start + 1, end + 1)
        return not any(k in self._targets or "JUMP" in self.raw[k].opname for k in between)

    def _keywords(self, k: int) -> tuple[str, ...]:
        """Return the names of the keyword arguments of the call at `k`."""
        names: object = ()
        before = self.raw[k - 1]
        if self.raw[k].opname == "CALL_KW":
            names = before.argval
        else:
            if before.opname == "PRECALL":
                before = self.raw[k - 2]
            if before.opname == "KW_NAMES":
                names = self.code.co_consts[before.arg or 0]
        return names if isinstance(names, tuple) else ()


def keyword_names(code: types.CodeType) -> set[str]:
    """Return every name that a call in `code` may pass by keyword (and perhaps some more)."""
    found: set[str] = set()
    for const in code.co_consts:
        if type(const) is tuple and all(type(item) is str for item in const):
            found.update(const)
    return found
