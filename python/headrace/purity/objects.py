"""Rules for objects: which belong to the closed world, and what their attributes lead to.

No rule runs code of the object it judges. Attributes are looked up in class and instance
dictionaries, kinds are told by exact type, and nothing is compared with ``==``.
"""

from __future__ import annotations

import abc
import dis
import sys
import types
from collections import OrderedDict
from collections.abc import Iterable
from functools import partial
from typing import Any, Generic, NoReturn

import numpy as np

from . import lists
from .bytecode import Call, Code, words
from .witness import Witness

MISSING = object()
_MAX_OBJECTS = 65_536  # elements of an object array that are looked at, one by one
_HEAP_TYPE = 1 << 9
_C_ENTRIES = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.BuiltinFunctionType,
)
# Entries of a class that are no code of the user's, or code that a function cannot reach.
_CLASS_MACHINERY = words("""
    __abstractmethods__ __annotate__ __annotate_func__ __annotations__ __annotations_cache__
    __attrs_own_setattr__ __attrs_props__ __classdictcell__
    __copy__ __dataclass_params__ __deepcopy__ __dict__ __doc__ __firstlineno__ __getnewargs__
    __getstate__ __init_subclass__ __match_args__ __module__ __orig_bases__ __parameters__
    __qualname__ __reduce__ __reduce_ex__ __set_name__ __setstate__ __slots__
    __static_attributes__ __type_params__ __weakref__ _abc_impl _is_protocol
    """)
# Of a named tuple that is there anyway: making one takes longer than a walk.
_TUPLE_FIELD = type(dis.Instruction.opname)
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "__attrs_post_init__"})
_CLASS_METHODS = frozenset({"fromkeys", "maketrans", "fromhex", "from_bytes"})


class Use:
    """Where a value is loaded, and the call it is the callee of, if it is."""

    __slots__ = ("call", "code", "raw")

    def __init__(self, code: Code, raw: int, call: Call | None) -> None:
        self.code = code
        self.raw = raw
        self.call = call


class ObjectRules:
    """The part of the walk that knows objects; `Walk` adds the code."""

    scalar_types = frozenset(
        v for v in vars(np).values() if isinstance(v, type) and issubclass(v, np.generic)
    )
    _dataset: str
    captured: list[object]
    witness: Witness

    def __init__(self) -> None:
        self._vetted: set[tuple[int, int]] = set()
        self._operators = False  # whether a class of the user's may define operators

    # What `Walk` provides.

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        """Stop the walk."""
        raise NotImplementedError

    def visit(self, *objects: object) -> bool:
        """Tell whether this combination is new."""
        raise NotImplementedError

    def mutable(self, kind: str, item: object, desc: str) -> None:
        """Note a captured object that could be changed in place."""
        raise NotImplementedError

    def function(self, function: types.FunctionType, owner: object = MISSING) -> None:
        """Walk a Python function."""
        raise NotImplementedError

    def value(self, value: Any, desc: str, use: Use | None) -> None:
        """Admit a value, or refuse."""
        raise NotImplementedError

    def values(self, values: Iterable[object], desc: str) -> None:
        """Admit every one of `values`, or refuse."""
        raise NotImplementedError

    def headrace(self, name: str, desc: str) -> None:
        """Refuse the names of headrace that have effects."""
        raise NotImplementedError

    def attribute_name(self, name: str, use: Use | None = None) -> None:
        """Judge an attribute by its name alone."""
        raise NotImplementedError

    # Modules.

    def forbid_module(self, module: str, name: str) -> None:
        """Refuse what comes from a module known to have effects or hidden inputs."""
        hint = lists.hint_for(module)
        if hint is not None:
            full = name if module == "builtins" else f"{module}.{name}"
            remedy = "" if full in lists.UNLIKE_IO else hint
            self.refuse(f"calls {full}, {_effect(hint)}", remedy)

    def imported(self, name: str) -> object:
        """Return a module that is loaded already; importing another would run its code."""
        self.witness.is_whole = False
        module = sys.modules.get(name)
        if module is None:
            self.refuse(f"imports {name}, which is not loaded yet", "import it outside")
        return module

    def module_attribute(self, module: types.ModuleType, name: str) -> object:
        """Read a name of a module without its ``__getattr__``."""
        if type(module) is not types.ModuleType:
            self.refuse(f"uses {type(module).__name__}, which is not a plain module")
        if module is np and name not in vars(np):
            lists.load_numpy(name)
        if lists.is_headrace_name(module.__name__) and name not in vars(module):
            getattr(module, name, None)  # loads what is loaded when it is first used
        self.witness.name(vars(module), name)
        found = vars(module).get(name, MISSING)
        if found is MISSING:  # perhaps a submodule that is loaded when it is first used
            full = f"{module.__name__}.{name}"
            if lists.hint_for(full) is lists.RANDOM_HINT:
                self.refuse(f"uses {full}, {_effect(lists.RANDOM_HINT)}", lists.RANDOM_HINT)
            self.refuse(f"reads {full}, which is not defined")
        if type(found) is types.ModuleType and lists.hint_for(found.__name__) is lists.RANDOM_HINT:
            self.refuse(f"uses {found.__name__}, {_effect(lists.RANDOM_HINT)}", lists.RANDOM_HINT)
        return found

    # Attributes.

    def resolve(self, value: Any, name: str, desc: str) -> object:
        """Return what ``value.name`` is; MISSING where any attribute of `value` may be read."""
        cls = type(value)
        if issubclass(cls, types.ModuleType):
            return self.module_attribute(value, name)
        if issubclass(cls, type):
            if not _is_users(value):
                return MISSING
            self.witness.is_whole = False
            return self._class_attribute(value, name, desc)
        if not _is_users(cls):
            return MISSING
        self.witness.is_whole = False
        return self._instance_attribute(value, name, desc)

    def _class_attribute(self, cls: type, name: str, desc: str) -> object:
        self._plain_class(cls, desc)
        entry = _entry(cls, name)
        if entry is MISSING:
            self.refuse(f"reads {desc}.{name}, which is not defined in the class")
        if type(entry) is staticmethod:
            return entry.__func__
        if type(entry) is classmethod:
            return types.MethodType(entry.__func__, cls)
        if type(entry) is types.FunctionType or not _binds(entry):
            return entry
        return self.refuse(f"reads {desc}.{name}, a descriptor that runs code")

    def _instance_attribute(self, item: Any, name: str, desc: str) -> object:
        cls = type(item)
        self._plain_class(cls, desc)
        entry: Any = _entry(cls, name)
        if type(entry) is property:
            self.refuse(f"reads the property {desc}.{name}, which runs code", "read it outside")
        if type(entry) is types.MemberDescriptorType or _is_tuple_field(entry):
            try:
                return entry.__get__(item)
            except AttributeError:
                self.refuse(f"reads {desc}.{name}, which is not set")
        own = _instance_dict(item)
        if name in own and not (entry is not MISSING and _overrides(entry)):
            return own[name]
        if entry is MISSING:
            self.refuse(f"reads {desc}.{name}, which is not defined")
        if type(entry) is types.FunctionType:
            return types.MethodType(entry, item)
        if type(entry) is staticmethod:
            return entry.__func__
        if type(entry) is classmethod:
            return types.MethodType(entry.__func__, cls)
        if _binds(entry):
            self.refuse(f"reads {desc}.{name}, a descriptor that runs code")
        return entry

    # Values that are no code.

    def data(self, value: Any, desc: str) -> bool:
        """Admit arrays, containers and headrace's objects; False for other kinds."""
        cls = type(value)
        if issubclass(cls, np.dtype):
            self.witness.is_whole = False  # its names may change
            self._dtype(value, desc)
        elif cls is np.ndarray or cls is np.memmap:
            self._array(value, desc)
        elif cls in (list, set, bytearray, tuple, frozenset):
            if self.visit(value):
                if cls in (list, set, bytearray):
                    self.mutable(cls.__name__, value, desc)
                else:
                    self.captured.append(value)
                if cls is not bytearray:
                    self.values(value, desc)
        elif cls is dict or cls is OrderedDict:
            if self.visit(value):
                self.mutable("dict" if cls is dict else "ordered", value, desc)
                self.values(value.keys(), desc)
                self.values(value.values(), desc)
        elif cls is types.SimpleNamespace:
            self.witness.is_whole = False
            if self.visit(value):
                self.values(vars(value).values(), desc)
        elif not issubclass(cls, type) and lists.is_headrace_name(lists.module_of(value)):
            self._headrace_object(value, desc)
        else:
            return False
        return True

    def _dtype(self, dtype: np.dtype[Any], desc: str) -> None:
        if dtype.metadata is not None:
            self.refuse(f"uses {desc}, a dtype with metadata")
        for name in dtype.names or ():
            self._dtype(dtype[name], desc)

    def _array(self, array: np.ndarray[Any, Any], desc: str) -> None:
        if not self.visit(array):
            return
        self._dtype(array.dtype, desc)
        self.mutable("array", array, desc)
        if array.dtype.hasobject and array.dtype != np.dtype(object):
            if array.dtype.kind != "T":
                self.refuse(f"uses {desc}, a structured array that holds Python objects")
        elif array.dtype.hasobject:
            if array.size > _MAX_OBJECTS:
                self.refuse(f"uses {desc}, an object array of {array.size} elements")
            self.values(array.ravel().tolist(), desc)

    def _headrace_object(self, value: Any, desc: str) -> None:
        cls = type(value)
        if cls is types.BuiltinFunctionType:
            self.headrace(value.__name__, desc)
            return
        self.headrace(cls.__name__, desc)
        if _entry(cls, "__next__") is not MISSING:
            self.refuse(f"uses {desc}, an iterator")
        if any(k.__name__ == "Dataset" for k in cls.__mro__):
            self._dataset = self._dataset or desc
        elif cls.__name__ != "Symbol" and not _is_frozen(cls) and self.visit(value):
            self.mutable(lists.OPAQUE, value, desc)

    # Values that are code, and users' objects.

    def method(self, value: types.MethodType, desc: str) -> None:
        """Admit a bound method if its function passes with its object."""
        function: Any = value.__func__
        owner: Any = value.__self__
        cls = owner if issubclass(type(owner), type) else type(owner)
        hint = lists.hint_for(lists.module_of(cls))
        if hint is not None:
            self.refuse(f"calls {desc} of {_full(cls)}, {_effect(hint)}", hint)
        if type(function) is not types.FunctionType:
            self.refuse(f"calls {desc}, a method that is not a Python function")
        module = lists.module_of(function)
        if lists.is_headrace_name(module):
            self.headrace(function.__name__, desc)
            self.value(value.__self__, desc, None)
            return
        self.forbid_module(module, function.__name__)
        self.function(function, value.__self__)

    def callable_or_object(self, value: Any, desc: str) -> None:
        """Admit C methods of known objects, classes and instances; refuse the rest."""
        cls = type(value)
        if cls is types.BuiltinFunctionType:
            self._c_function(value, desc)
        elif cls is types.MethodWrapperType:
            known = type(value.__self__) in lists.BOUND_OWNERS
            if not known or value.__name__ not in lists.DUNDERS_READ:
                self.refuse(f"calls {desc}, a method not known to be pure")
            self.value(value.__self__, desc, None)
        elif cls is types.MethodDescriptorType:
            if value.__objclass__ not in lists.METHOD_OWNERS:
                self.refuse(f"calls {desc}, a method not known to be pure")
            self.attribute_name(value.__name__)
        elif issubclass(cls, type):
            self._class(value, desc)
        else:
            self._instance(value, desc)

    def _c_function(self, value: types.BuiltinFunctionType, desc: str) -> None:
        owner: Any = value.__self__
        name, module = value.__name__, lists.module_of(value)
        if type(owner) not in lists.BOUND_OWNERS:
            self.forbid_module(module, name)
        if type(owner) in lists.BOUND_OWNERS:
            self.value(owner, desc, None)
            self.attribute_name(name)
        elif not (issubclass(type(owner), type) and owner in lists.METHOD_OWNERS):
            full = f"{module}.{name}" if module else desc
            self.refuse(f"calls {full}, which is not known to be pure")
        elif name not in _CLASS_METHODS:
            self.refuse(f"calls {desc}, which is not known to be pure")

    def _class(self, cls: type, desc: str) -> None:
        if cls in lists.METHOD_OWNERS or cls in self.scalar_types:
            if cls is np.datetime64:
                self.refuse(f"uses {desc}, which can read the clock")
            return
        module = lists.module_of(cls)
        if lists.is_headrace_name(module):
            self.headrace(cls.__name__, desc)
            return
        self.forbid_module(module, cls.__name__)
        self._plain_class(cls, desc)
        if self.visit(cls, MISSING):
            self._entries(cls, MISSING, desc)

    def _instance(self, item: Any, desc: str) -> None:
        cls = type(item)
        if issubclass(cls, BaseException):
            self.refuse(f"uses {desc}, an exception made outside", "make it where it is raised")
        hint = lists.hint_for(lists.module_of(cls))
        if hint is not None and cls is not object:
            self.refuse(f"uses {desc}, an object of {_full(cls)}, {_effect(hint)}", hint)
        self._plain_class(cls, desc)
        if not self.visit(item):
            return
        if issubclass(cls, tuple):
            self.values(tuple.__iter__(item), desc)
        self.values(_instance_dict(item).values(), desc)
        for klass in cls.__mro__:
            for entry in vars(klass).values():
                if type(entry) is types.MemberDescriptorType:
                    try:
                        self.value(entry.__get__(item), desc, None)
                    except AttributeError:
                        continue
        self._entries(cls, item, desc)

    def _plain_class(self, cls: type, desc: str) -> None:
        """Refuse classes that are not written in Python, or that answer for unknown attributes."""
        if type(cls) is not type and type(cls) is not abc.ABCMeta:
            self.refuse(f"uses {desc}, a class made by the metaclass {type(cls).__name__}")
        is_record = any(k.__bases__ == (tuple,) and "_fields" in vars(k) for k in cls.__mro__)
        for klass in cls.__mro__:
            if klass in (object, Generic) or (klass is tuple and is_record):
                continue
            if id(klass) in lists.EXCEPTIONS:
                continue
            c_made = any(type(entry) in _C_ENTRIES for entry in vars(klass).values())
            if c_made or not klass.__flags__ & _HEAP_TYPE:
                self.refuse(f"uses {desc}, of {_full(cls)}, which is not known to be safe")
            for name in ("__getattr__", "__getattribute__", "__del__"):
                if name in vars(klass):
                    self.refuse(f"uses {desc}, whose class {klass.__name__} defines {name}")

    def _entries(self, cls: type, owner: object, desc: str) -> None:
        """Admit everything a class holds, as any of it may be reached from a local."""
        for klass in cls.__mro__:
            if klass in (object, tuple, Generic) or id(klass) in lists.EXCEPTIONS:
                continue
            for name, entry in vars(klass).items():
                if name == "__dataclass_fields__":
                    for field in entry.values():
                        self._default_factory(field, f"{desc}.{field.name}")
                elif name == "__attrs_attrs__":
                    for field in entry:
                        self._attrs_field(field, f"{desc}.{field.name}")
                elif name not in _CLASS_MACHINERY and not _is_generated(entry, klass):
                    self._class_entry(cls, owner, name, entry, f"{desc}.{name}")

    def _default_factory(self, field: Any, desc: str) -> None:
        factory = field.default_factory
        if type(factory).__name__ != "_MISSING_TYPE":
            self.value(factory, desc, None)

    def _attrs_field(self, field: Any, desc: str) -> None:
        default = field.default
        if type(default).__name__ == "Factory":
            default = default.factory
        calls = (field.validator, field.converter, field.eq_key, field.order_key, field.repr)
        for item in (default, *calls):
            if type(item).__name__ not in ("_Nothing", "_nothing", "bool", "NoneType"):
                self.value(item, desc, None)

    def _class_entry(self, cls: type, owner: object, name: str, entry: Any, desc: str) -> None:
        if name in _CONSTRUCTORS:
            if owner is MISSING:
                self.refuse(f"uses the class {cls.__name__}, which has its own {name}")
        elif type(entry) is types.FunctionType:
            self._operators = self._operators or name.startswith("__")
            self.function(entry, owner)
        elif type(entry) is staticmethod:
            self.value(entry.__func__, desc, None)
        elif type(entry) is classmethod:
            self.value(types.MethodType(entry.__func__, cls), desc, None)
        elif type(entry) is property:
            if type(entry.fget) is not types.FunctionType:
                self.refuse(f"uses {desc}, a property that is not a Python function")
            self.function(entry.fget, owner)
        elif type(entry) is types.MemberDescriptorType or _is_tuple_field(entry):
            pass
        elif _binds(entry):
            self.refuse(f"uses {desc}, a descriptor that runs code")
        elif type(entry) not in lists.ATOMS:
            self.value(entry, desc, None)

    def vet(self, use: Use | None) -> None:
        """Note that a call which unpacks its arguments goes to a callee that was checked."""
        if use and use.call and use.call.unpacked and use.code.is_straight(use.raw, use.call.raw):
            self._vetted.add((id(use.code), use.call.raw))


def _effect(hint: str) -> str:
    if hint is lists.RANDOM_HINT:
        return "which draws random numbers"
    return "which can be observed from outside"


def _full(cls: type) -> str:
    return f"{lists.module_of(cls)}.{cls.__qualname__}"


def _entry(cls: type, name: str) -> Any:
    for klass in cls.__mro__:
        if name in vars(klass):
            return vars(klass)[name]
    return MISSING


def _binds(entry: object) -> bool:
    return _entry(type(entry), "__get__") is not MISSING


def _overrides(entry: object) -> bool:
    return any(_entry(type(entry), n) is not MISSING for n in ("__set__", "__delete__"))


def _is_tuple_field(entry: object) -> bool:
    return type(entry) is _TUPLE_FIELD


def _instance_dict(item: Any) -> dict[str, Any]:
    entry = _entry(type(item), "__dict__")
    if type(entry) is not types.GetSetDescriptorType:
        return {}
    found = entry.__get__(item)
    return found if type(found) is dict else {}


def _is_frozen(cls: type) -> bool:
    parameters = vars(cls).get("__dataclass_params__")
    return parameters is not None and bool(parameters.frozen)


def _is_users(cls: type) -> bool:
    """Tell classes whose attributes have to be looked up from kinds that are known as a whole."""
    if cls in lists.ATOMS or cls in lists.BOUND_OWNERS or cls in ObjectRules.scalar_types:
        return False
    if id(cls) in lists.BUILTINS or id(cls) in lists.stdlib() or id(cls) in lists.EXCEPTIONS:
        return False
    if lists.is_numpy(cls) or issubclass(cls, np.dtype):
        return False
    if cls in (types.FunctionType, types.MethodType, types.SimpleNamespace, partial, np.memmap):
        return False
    return not lists.is_headrace_name(lists.module_of(cls)) and bool(cls.__flags__ & _HEAP_TYPE)


def _is_generated(entry: object, klass: type) -> bool:
    """Tell the functions that dataclasses, attrs and namedtuple write."""
    if type(entry) is classmethod or type(entry) is staticmethod:
        entry = entry.__func__
    if type(entry) is not types.FunctionType:
        return False
    code, module = entry.__code__, lists.module_of(entry)
    if code.co_qualname.startswith("__create_fn__.<locals>."):
        return "__dataclass_fields__" in vars(klass)
    if code.co_filename.startswith("<attrs generated") or module == "attr._make":
        return "__attrs_attrs__" in vars(klass)
    if module.startswith("namedtuple_"):
        return klass.__bases__ == (tuple,) and code.co_filename.startswith("<string>")
    is_record = "_fields" in vars(klass) or "__dataclass_fields__" in vars(klass)
    return is_record and module in ("collections", "dataclasses", "reprlib", "typing")
