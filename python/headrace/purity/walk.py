"""The walk itself: from a function to everything it may reach.

The argument for its soundness is one of capabilities. A function can only do what the objects it
gets hold of can do: its constants, the globals and cells its code names, its defaults, and whatever
these lead to. The walk checks every one of them where it is loaded, and admits only objects of a
closed world: reading their attributes, calling them or passing them around gives objects of that
world again and changes nothing. So values need not be followed once they are in a local. Two things
would break this, and have rules of their own: a few attribute names lead out of the world from any
value (``__globals__``, ``tofile``), and objects that can be changed in place may be aliased, so
that in-place changes are admitted only where no captured object could be their target.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from . import lists
from .bytecode import Call, Code, Op, keyword_names
from .objects import MISSING, ObjectRules, Use
from .witness import Witness

_UNBOUND = object()
_ITERATING_MODULES = ("functools.reduce", "itertools.", "operator.")
_ITERATING_OPS = frozenset(
    {"CONTAINS_OP", "GET_ITER", "LIST_EXTEND", "SET_UPDATE", "UNPACK_EX", "UNPACK_SEQUENCE"}
)


class Refused(Exception):
    """Carries the reason out of the walk."""

    def __init__(self, reason: str, hint: str, place: tuple[str | None, int | None, str]) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.place = reason, hint, place

    def again(self, more: str = "") -> Refused:
        """Return another to raise: what a walk keeps would keep the frames of its callers."""
        return Refused(self.reason + more, self.hint, self.place)


class Walk(ObjectRules):
    """One walk: what has been reached, and what was seen on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.witness = Witness()
        self.place: tuple[str | None, int | None, str] = (None, None, "")
        self.captured: list[object] = []
        self._seen: set[tuple[int, ...]] = set()
        self._alive: list[object] = []  # ids in `_seen` stay valid while their objects live
        self._mutable: dict[str, str] = {}  # kind -> how the object is written in the code
        self._changes: list[tuple[frozenset[str], Refused]] = []
        self._changes_to_results: list[tuple[frozenset[str], Refused]] = []
        self._origin = ""  # where the local that is about to be changed got its value from
        self._dataset = ""
        self._iterations: list[Refused] = []

    def run(self, function: object, element_types: Iterable[type]) -> None:
        """Walk `function`; raise `Refused` for the first thing that is in the way."""
        name = getattr(function, "__qualname__", None) if _is_code(function) else None
        self.value(function, name if type(name) is str else "the function", None)
        for cls in element_types:
            self.value(cls, f"the element type {cls.__name__}", None)
        if self._operators:
            self._changes += self._changes_to_results
        for kinds, refused in self._changes:
            for kind in kinds:
                if kind in self._mutable:
                    desc = self._mutable[kind]
                    raise refused.again(f" while `{desc}` is captured and could change")
        if self._dataset and self._iterations:
            raise self._iterations[0].again()

    # What to say.

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        """Stop the walk at the present line."""
        raise Refused(reason, hint, self.place)

    def _change(self, kinds: frozenset[str], reason: str) -> None:
        hint = "return new values instead, or work on a copy made outside the function"
        if self._origin == "display":
            return
        changes = self._changes_to_results if self._origin == "result" else self._changes
        changes.append((kinds, Refused(reason, hint, self.place)))

    def _iteration(self, what: str) -> None:
        hint = "return the dataset (flat_map, interleave) instead of iterating over it"
        reason = f"{what} while a dataset is captured, which could run it"
        self._iterations.append(Refused(reason, hint, self.place))

    def visit(self, *objects: object) -> bool:
        """Tell whether this combination is new."""
        key = tuple(id(item) for item in objects)
        if key in self._seen:
            return False
        self._seen.add(key)
        self._alive.append(objects)
        return True

    def mutable(self, kind: str, item: object, desc: str) -> None:
        """Note a captured object that could be changed in place."""
        self._mutable.setdefault(kind, desc)
        self.witness.is_whole = False
        if kind in ("bytearray", "record"):  # an array may be made over its memory
            self._mutable.setdefault("array", desc)
        self.captured.append(item)

    # Code.

    def function(self, function: types.FunctionType, owner: object = MISSING) -> None:
        """Walk a Python function; `owner` is its first argument where that is known."""
        if not self.visit(function, owner):
            return
        names, builtins = function.__globals__, _builtins_of(function)
        if type(names) is not dict or type(builtins) is not dict:
            self.refuse(f"calls {function.__name__}, whose globals are not a plain dict")
        self.witness.function(function)
        outer, code = self.place, function.__code__
        self.place = (code.co_filename, code.co_firstlineno, function.__qualname__)
        cells: dict[str, object] = {}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                cells[name] = cell.cell_contents
            except ValueError:
                cells[name] = _UNBOUND
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.value(value, f"a default of {function.__name__}", None)
        for name, value in function.__dict__.items():
            if name != "__wrapped__":  # a dunder, which no code may read
                self.value(value, f"{function.__name__}.{name}", None)
        fast: dict[str, object] = {}
        if owner is not MISSING:
            if code.co_argcount:
                fast[code.co_varnames[0]] = owner
            else:  # the object arrives in *args
                self.value(owner, f"the object {function.__name__} is bound to", None)
        self._code(code, names, builtins, cells, fast)
        self.place = outer

    def _code(
        self,
        code: types.CodeType,
        names: dict[str, Any],
        builtins: dict[str, Any],
        cells: dict[str, object],
        fast: dict[str, object],
    ) -> None:
        filename, _, qualname = self.place
        self.place = (filename, code.co_firstlineno, qualname)
        generator = code.co_flags & 0x20 and code.co_name != "<genexpr>"
        if generator or code.co_flags & 0x280:  # coroutine, asynchronous generator
            self.refuse("is a generator or a coroutine", "return a value instead of yielding")
        for word in sorted(keyword_names(code) & lists.WRITING_KEYWORDS):
            self._change(frozenset({"array", "record", lists.OPAQUE}), f"passes {word}=")
        body = Code(code)
        self._alive.append(body)
        imports = self._imports(body)
        known = {**fast, **imports}
        cells = {**cells, **{k: v for k, v in known.items() if k in code.co_cellvars}}
        for op in body.ops:
            if op.lineno is not None:
                self.place = (filename, op.lineno, qualname)
            objection = body.objection(op)
            if objection:
                self.refuse(objection)
        walked = -1  # the last step that belongs to a chain of attributes already resolved
        for k, op in enumerate(body.ops):
            if op.lineno is not None:
                self.place = (filename, op.lineno, qualname)
            self._origin = ""
            if op.name in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_FAST"):
                value = self._load(op, code, names, builtins, cells, known)
                if value is not MISSING:
                    walked = self._chain(body, k, value, str(op.value))
            elif op.name == "LOAD_ATTR":
                if k > walked or op.target:
                    self._origin = body.origin(k)
                    self.attribute_name(str(op.value), Use(body, op.raw, body.call_of(op.raw)))
            elif op.name == "LOAD_CONST":
                self._constant(op.value, names, builtins, cells)
            elif op.name.startswith(("STORE_", "DELETE_")):
                self._origin = body.origin(k)
                self._store(op, cells, known, imports)
            elif body.is_inplace(op):
                self._origin = body.origin(k)
                symbol = body.inplace_symbol(op)
                self._change(lists.kinds_inplace(symbol), f"uses `{symbol}`")
            elif op.name in _ITERATING_OPS:
                self._iteration("iterates")
            elif op.name == "CALL_FUNCTION_EX":
                self._iteration("unpacks arguments")
                self._unpacked_call(body, op)

    def _load(
        self,
        op: Op,
        code: types.CodeType,
        names: dict[str, Any],
        builtins: Any,
        cells: dict[str, object],
        known: dict[str, object],
    ) -> object:
        """Return the value that a load gives where it is known before the call."""
        name = str(op.value)
        value: object = MISSING
        if op.name == "LOAD_GLOBAL":
            self.witness.name(names, name)
            if name not in names:
                self.witness.name(builtins, name)
            value = names.get(name, builtins.get(name, MISSING))
            if value is MISSING:
                self.refuse(f"reads `{name}`, which is not defined")
        elif op.name == "LOAD_DEREF":
            value = cells.get(name, MISSING)
            if value is _UNBOUND:
                self.refuse(f"reads `{name}`, which has no value yet")
        elif name not in code.co_cellvars and name not in code.co_freevars:
            value = known.get(name, MISSING)
        return value

    def _imports(self, body: Code) -> dict[str, object]:
        """Resolve import statements of loaded modules; return the names they bind."""
        bound: dict[str, object] = {}
        module: Any = None
        for k, op in enumerate(body.ops):
            if op.name != "IMPORT_NAME":
                continue
            self.place = (self.place[0], op.lineno or self.place[1], self.place[2])
            if body.ops[k - 2].value != 0:
                self.refuse("imports relatively inside the function", "import it outside")
            module = self.imported(str(op.value))
            rest = body.ops[k + 1 :]
            if rest[0].name == "IMPORT_FROM":
                while len(rest) > 1 and rest[0].name == "IMPORT_FROM":
                    item = self.module_attribute(module, str(rest[0].value))
                    self._bind(bound, rest[1], item, body)
                    rest = rest[2:]
                if rest[0].name != "POP_TOP":
                    self.refuse(f"imports {op.value} in a way the walk does not follow")
            elif "." in str(op.value):
                self.refuse(f"imports {op.value} inside the function", "import it outside")
            else:
                self._bind(bound, rest[0], module, body)
        return bound

    def _bind(self, bound: dict[str, object], op: Op, item: object, body: Code) -> None:
        name = str(op.value)
        stores = [o for o in body.ops if o.name.startswith("STORE_") and o.value == name]
        arguments = body.code.co_varnames[: body.code.co_argcount + body.code.co_kwonlyargcount]
        if op.name not in ("STORE_FAST", "STORE_DEREF") or len(stores) != 1 or name in arguments:
            self.refuse(f"imports into `{name}`, which holds other values too", "import it outside")
        if name in body.code.co_freevars:
            self.refuse(f"stores to the nonlocal `{name}`")
        bound[name] = item

    def _constant(
        self, value: object, names: dict[str, Any], builtins: Any, cells: dict[str, object]
    ) -> None:
        if type(value) is types.CodeType:
            if value.co_name in ("__annotate__", "__annotations__"):
                return
            place = self.place
            inner = {k: v for k, v in cells.items() if k in value.co_freevars}
            self._code(value, names, builtins, inner, {})
            self.place = place
        elif type(value) is str and value in ("now", "today"):
            self.refuse(f'uses the text "{value}", which NumPy reads as the time of the call')

    def _store(
        self, op: Op, cells: dict[str, object], known: dict[str, object], imports: dict[str, object]
    ) -> None:
        name = str(op.value)
        if op.name in ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF"):
            if name in imports:
                if op.name.startswith("DELETE"):
                    self.refuse(f"deletes the import `{name}`")
            elif name in known:
                self.refuse(f"rebinds `{name}`, the object it is bound to")
            elif name in cells and op.name.endswith("DEREF"):
                self.refuse(
                    f"stores to the nonlocal `{name}`",
                    "keep state with scan or enumerate, outside the function",
                )
        elif op.name in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
            self._change(lists.SUBSCRIPT_KINDS, "stores by subscript")

    def _chain(self, body: Code, k: int, value: object, desc: str) -> int:
        """Follow the attributes read right after a load, then check the value they lead to."""
        while k + 1 < len(body.ops) and body.ops[k + 1].name == "LOAD_ATTR":
            name = str(body.ops[k + 1].value)
            if issubclass(type(value), np.ufunc) and lists.is_numpy(value):
                return k  # np.add.reduce: judged by the attribute's name
            found = self.resolve(value, name, desc)
            if found is MISSING:
                break
            value, desc, k = found, f"{desc}.{name}", k + 1
        raw = body.ops[k].raw
        self.value(value, desc, Use(body, raw, body.call_of(raw)))
        return k

    def attribute_name(self, name: str, use: Use | None = None) -> None:
        """Judge an attribute of a value that is not known."""
        if name.startswith("__"):
            if name not in lists.DUNDERS_READ:
                self.refuse(f"reads the attribute {name}")
        elif name.startswith("_") and name not in lists.PRIVATE_READ:
            self.refuse(f"reads the private attribute {name} of a value it computed")
        if name in lists.ATTRIBUTES_DENIED:
            self.refuse(f"reads the attribute {name}, which can be observed from outside")
        changed = lists.kinds_changed_by(name)
        if changed:
            self._change(changed, f"calls the method {name}")
        if name in lists.ITERATING_METHODS:
            self._iteration(f"calls the method {name}")
        limit = lists.METHOD_LIMITS.get(name)
        if limit is not None:
            self._outputs(limit, f"the method {name}", use.call if use else None)

    def _outputs(self, limit: int, desc: str, call: Call | None) -> None:
        """Note a call that could write into one of its arguments."""
        kinds = frozenset({"array", "record", lists.OPAQUE})
        self._origin = ""  # it is the arguments that may change
        if call is None:
            self._change(kinds, f"passes {desc} on, which could be given an output array,")
        elif call.unpacked or call.positional > limit or "copy" in call.keywords:
            self._change(kinds, f"gives {desc} what may be an output array")

    def _unpacked_call(self, body: Code, op: Op) -> None:
        if (id(body), op.raw) not in self._vetted:
            kinds = frozenset({"array", "record", lists.OPAQUE})
            self._change(kinds, "unpacks arguments into a call that could write to them")

    # Values.

    def value(self, value: Any, desc: str, use: Use | None) -> None:
        """Admit `value` to the closed world, or refuse."""
        cls = type(value)
        if cls in lists.ATOMS or cls in self.scalar_types:
            if cls is np.void:
                self.mutable("record", value, desc)
            if cls is slice:
                self.values((value.start, value.stop, value.step), desc)
            return
        if cls is types.ModuleType or issubclass(cls, types.ModuleType):
            self.refuse(f"uses {desc}, a module, as a value", "read its attribute where it is used")
        if lists.is_numpy(value):
            self._numpy(value, desc, use)
        elif cls is types.FunctionType:
            self._python_function(value, desc, use)
        elif cls is types.MethodType:
            self.vet(use)
            self.witness.is_whole = False
            self.method(value, desc)
        elif id(value) in lists.BUILTINS:
            self.vet(use)
            if lists.BUILTINS[id(value)] in lists.ITERATING:
                self._iteration(f"calls {desc}")
        elif id(value) in lists.stdlib() or id(value) in lists.EXCEPTIONS:
            self.vet(use)
            if lists.stdlib().get(id(value), "").startswith(_ITERATING_MODULES):
                self._iteration(f"calls {desc}")
        elif cls is functools.partial:
            self.witness.is_whole = False
            if self.visit(value):
                self.value(value.func, f"{desc}.func", None)
                bound = (*value.args, *value.keywords.values(), *vars(value).values())
                self.values(bound, f"an argument of {desc}")
        elif cls is operator.itemgetter:
            self.values(value.__reduce__()[1], desc)
        else:
            if not self.data(value, desc):
                self.witness.is_whole = False
                self.callable_or_object(value, desc)

    def values(self, values: Iterable[object], desc: str) -> None:
        """Admit every one of `values`, or refuse."""
        for item in values:
            if type(item) not in lists.ATOMS:
                self.value(item, desc, None)

    def _python_function(self, value: types.FunctionType, desc: str, use: Use | None) -> None:
        module = lists.module_of(value)
        if lists.is_headrace_name(module):
            self.headrace(value.__name__, desc)
            self.vet(use)
            return
        self.forbid_module(module, value.__name__)
        if module == "numpy" or module.startswith("numpy."):
            self.refuse(f"calls {desc}, a NumPy function that is not known to be pure")
        self.vet(use)
        self.function(value)

    def _numpy(self, value: Any, desc: str, use: Use | None) -> None:
        if value.__class__ is not type and lists.numpy_limit(value) is not None:
            limit = lists.numpy_limit(value)
            assert limit is not None
            self._outputs(limit, desc, use.call if use else None)
        if getattr(value, "__name__", "") in lists.ITERATING:
            self._iteration(f"calls {desc}")
        self.vet(use)

    def headrace(self, name: str, desc: str) -> None:
        """Refuse the names of headrace that have effects."""
        self.witness.is_whole = False  # random ops read the global seed
        if lists.headrace_denies(name):
            self.refuse(f"calls {desc}, which can be observed from outside")


def _builtins_of(function: Any) -> Any:
    return function.__builtins__


def _is_code(function: object) -> bool:
    return type(function) in (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
