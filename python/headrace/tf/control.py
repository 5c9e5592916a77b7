"""Control flow and functions: `cond`, `map_fn`, `function`, `py_function` and more.

Branches become `cond`, see `branching`; loops are in `loops`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..dataset import Dataset
from ..errors import InvalidArgumentError
from ..nest import same_structure
from .convert import convert, is_dense, is_symbol
from .dtypes import as_dtype, int32
from .dtypes import bool as bool_
from .errors_of import raised_as
from .kernels import run_all, static_shape, symbol_of
from .nest import flatten, map_structure, pack_sequence_as
from .signature import binder
from .tensor import raw, wrap

__all__ = [
    "Assert",
    "case",
    "cond",
    "control_dependencies",
    "device",
    "executing_eagerly",
    "function",
    "get_static_value",
    "group",
    "init_scope",
    "inside_function",
    "is_symbolic_tensor",
    "map_fn",
    "name_scope",
    "no_op",
    "numpy_function",
    "print",
    "py_function",
    "switch_case",
    "tuple",
    "vectorized_map",
]


def cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return what one of two functions gives; mirrors ``tf.cond``.

    Examples
    --------
    >>> tf.cond(tf.constant(2) < 3, lambda: "yes", lambda: "no")
    'yes'
    """
    if not callable(true_fn):
        raise TypeError(f"'true_fn' must be callable, got {type(true_fn).__name__}")
    if not callable(false_fn):
        raise TypeError(f"'false_fn' must be callable, got {type(false_fn).__name__}")
    if is_symbol(pred):
        recorded = recorded_cond(pred, true_fn, false_fn)
        if recorded is None:
            recorded = _both(pred, true_fn, false_fn)
        if recorded is not None:
            return recorded
    return true_fn() if bool(pred) else false_fn()


def recorded_cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Record each side as a graph of its own; None where one is no graph, or they do not fit.

    As in TensorFlow both functions are traced, and one of them runs.
    """
    tracer: Any = pred._tracer._now()
    if tracer.why is not None or pred.dtype is not bool_:
        return None
    sides: list[Any] = []
    for function in (true_fn, false_fn):
        side = traced_part(tracer, function)
        if side is None or side[0].why is not None:
            return None
        part, result = side
        leaves = flatten(result)
        if any(leaf is None or _is_no_array(leaf) for leaf in leaves):
            return None
        tensors = [convert(leaf) for leaf in leaves]
        graph = part.builder.finish(builtins.tuple(part.value(x) for x in tensors))
        sides.append((graph, result, tensors, part.captured))
    (then, first, ours, captured), (other, second, theirs, more) = sides
    if [a.dtype for a in ours] != [b.dtype for b in theirs] or not same_structure(first, second):
        return None
    pairs = zip(ours, theirs, strict=True)
    outs = [(_wider(static_shape(a), static_shape(b)), a.dtype) for a, b in pairs]
    attrs = {"then": then, "other": other}
    results = run_all("cond", (pred, *captured, *more), outs, **attrs)
    return pack_sequence_as(first, results)


def traced_part(tracer: Any, function: Callable[..., Any], kinds: Any = ()) -> Any:
    """Call a part of a function in a trace of its own; return the trace and what it gave.

    Returns None where the part is stopped. `kinds` are shapes and dtypes of its arguments. What it
    reads of the trace around it is known then.
    """
    from ..ops import tracing
    from ..trace import TraceRefused
    from .kernels import spec

    part = tracer.part()
    part.maps_rows = tracer.maps_rows or bool(kinds)  # numbers are not drawn anew for each row
    arguments = [part.wrap(part.builder.input(spec(*kind))) for kind in kinds]
    outer, tracing.tracer = tracing.tracer, part
    try:
        result = function(*arguments)
        for leaf in flatten(result):
            if is_symbol(leaf):
                part.value(leaf)
    except TraceRefused:
        return None
    finally:
        tracing.tracer = outer
    return None if part.refusal is not None else (part, result)


def _wider(first: Any, second: Any) -> Any:
    """Return the shape of values of either shape."""
    if first is None or second is None or len(first) != len(second):
        return None
    return builtins.tuple(a if a == b else None for a, b in zip(first, second, strict=True))


def _both(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Compute both sides and choose, where that is one and the same; None otherwise.

    As in TensorFlow both functions are traced. A result of fixed shape is chosen by the engine.
    """
    from .gathering import where

    tracer: Any = pred._tracer
    if tracer.why is not None or pred.dtype is not bool_:
        return None
    first, second = true_fn(), false_fn()
    doubt: Any = tracer.why
    if doubt is not None:  # one side has no kernel: a run decides which one is computed
        tracer.why = None
        return None
    ours, theirs = flatten(first), flatten(second)
    if any(map(_is_no_array, (*ours, *theirs))):
        return None
    fits = len(ours) == len(theirs)
    pairs = [(convert(a), convert(b)) for a, b in zip(ours, theirs, strict=False)] if fits else []
    alike = fits and all(
        a.dtype is b.dtype
        and static_shape(a) == static_shape(b)
        and None not in (static_shape(a) or (None,))
        for a, b in pairs
    )
    if not alike:
        return None
    return pack_sequence_as(first, [where(pred, a, b) for a, b in pairs])


def _is_no_array(leaf: Any) -> bool:
    """Tell whether a result is a dataset, an optional, a list, or a sparse or ragged tensor."""
    kind = type(leaf)
    return (
        getattr(kind, "_is_component", False)
        or getattr(kind, "_is_no_tensor", False)
        or getattr(kind, "_is_composite", False)
        or isinstance(leaf, Dataset)
    )


def case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False,
    strict: bool = False, name: str = "case",
) -> Any:  # fmt: skip
    """Return what the function of the first true predicate gives; mirrors ``tf.case``."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs:
        raise ValueError("case needs at least one pair of a predicate and a function")
    if default is None:
        # The last function is the default, and its predicate has to hold if none before it does.
        pairs, (known, last) = pairs[:-1], pairs[-1]

        def default() -> Any:
            Assert(known, ["none of the conditions is true"])
            return last()

    if exclusive and len(pairs) > 1:
        from .arithmetic import add_n
        from .casting import cast
        from .comparison import less

        count = add_n([cast(pred, int32) for pred, _ in pairs])
        Assert(less(count, 2), ["exclusive is set, but several predicates are true"])
    found = default
    for pred, action in reversed(pairs):
        found = functools.partial(cond, pred, action, found)
    return found()


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """Return what the function of this number gives; mirrors ``tf.switch_case``."""
    if not is_dense(branch_index):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if isinstance(branch_fns, dict):
        branches = dict(branch_fns)
    else:
        listed = list(branch_fns)
        branches = (
            dict(listed)
            if listed and isinstance(listed[0], builtins.tuple)
            else dict(enumerate(listed))
        )
    last = default if default is not None else branches[max(branches)]
    if not is_symbol(branch_index):
        return branches.get(int(branch_index), last)()
    pairs = [(branch_index == number, action) for number, action in branches.items()]
    return case(pairs, last)


def function(
    func: Callable[..., Any] | None = None, input_signature: Any = None, **options: Any
) -> Any:
    """Return the function as it is; mirrors ``tf.function``, which would compile it.

    Datasets trace what they are given anyway; called outside of one, it runs as Python. With an
    input signature it gets tensors of the types there.

    Raises
    ------
    TypeError
        In a call, an argument is of another type than the input signature says.

    Examples
    --------
    >>> @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    ... def double(x):
    ...     return x * 2
    >>> double(tf.constant(2)).numpy()
    np.int32(4)
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature, **options)

    bind = None if input_signature is None else binder(func, input_signature)

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        if bind is not None:
            args, kwargs = bind(args, kwargs)
        found = [convert(arg) if _is_array(arg) else arg for arg in args]
        result = func(*found, **kwargs)
        return map_structure(lambda leaf: convert(leaf) if _is_number(leaf) else leaf, result)

    called.python_function = func  # type: ignore[attr-defined]
    called.get_concrete_function = lambda *args, **kwargs: called  # type: ignore[attr-defined]
    called.input_signature = input_signature  # type: ignore[attr-defined]
    return called


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not is_dense(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | int | float | str | bytes) and not is_dense(
        value
    )


def _outputs(result: Any, Tout: Any) -> Any:
    """Return results as tensors of the declared dtypes."""
    if Tout is None or Tout == []:
        return None
    if not isinstance(Tout, list | builtins.tuple | dict):
        return _output(result, Tout)
    if isinstance(Tout, dict):
        return {key: _output(result[key], kind) for key, kind in Tout.items()}
    given = result if isinstance(result, list | builtins.tuple) else [result]
    if len(given) != len(Tout):
        raise InvalidArgumentError(
            f"the function returned {len(given)} values, Tout declares {len(Tout)}"
        )
    return [_output(value, kind) for value, kind in zip(given, Tout, strict=True)]


def _output(value: Any, kind: Any) -> Any:
    dtype = _dtype_of(kind)
    if getattr(value, "_is_composite", False):
        return value
    found = convert(value, None, dtype)
    if found.dtype is not dtype:
        raise InvalidArgumentError(
            f"the function returned {found.dtype.name} where Tout declares {dtype.name}"
        )
    return found


def _dtype_of(kind: Any) -> Any:
    return (
        as_dtype(getattr(kind, "dtype", kind)) if not isinstance(kind, np.dtype) else as_dtype(kind)
    )


def _stand_ins(name: str, args: Any, Tout: Any) -> Any:
    """Return symbols for the results of a Python function where a trace runs."""
    from .convert import tracer_now
    from .specs import TypeSpec, to_own

    found = symbol_of(builtins.tuple(flatten(list(args), expand_composites=True)))
    tracer = found._tracer if found is not None else tracer_now()
    if tracer is None or not hasattr(tracer, "unrecorded"):
        return None

    def make(kind: Any) -> Any:
        if isinstance(kind, TypeSpec):
            return tracer.stand_in(name, to_own(kind))
        return tracer.unrecorded(name, None, _dtype_of(kind))

    tracer.doubt(f"calls {name}")
    if Tout is None or Tout == []:
        return [None]
    if isinstance(Tout, dict):
        return [{key: make(kind) for key, kind in Tout.items()}]
    if isinstance(Tout, list | builtins.tuple):
        return [[make(kind) for kind in Tout]]
    return [make(Tout)]


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Call a Python function with tensors; mirrors ``tf.py_function``.

    Parameters
    ----------
    func
        Gets tensors, returns values that become tensors of `Tout`.
    inp
        Its arguments.
    Tout
        A dtype, or a list of them.

    Raises
    ------
    InvalidArgumentError, UnknownError, UnimplementedError
        The function raised; its exception is the cause.

    Examples
    --------
    >>> tf.py_function(lambda x: x + 1, [1], tf.int32).numpy()
    np.int32(2)
    """
    assert func is not None
    made = _stand_ins("py_function", inp or [], Tout)
    if made is not None:
        return made[0]
    args = [arg if getattr(arg, "_is_composite", False) else convert(arg) for arg in inp or []]
    with raised_as(getattr(func, "__name__", "func")):
        return _outputs(func(*args), Tout)


def numpy_function(
    func: Callable[..., Any] | None = None, inp: Any = None, Tout: Any = None,
    stateful: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """Call a Python function with NumPy arrays; mirrors ``tf.numpy_function``.

    Examples
    --------
    >>> tf.numpy_function(np.sum, [[1, 2]], tf.int64).numpy()
    np.int64(3)
    """
    assert func is not None
    made = _stand_ins("numpy_function", inp or [], Tout)
    if made is not None:
        return made[0]
    args = [convert(arg).numpy() for arg in inp or []]
    with raised_as(getattr(func, "__name__", "func")):
        result = func(*args)
        found = (
            result
            if Tout is None or isinstance(result, list | builtins.tuple)
            else _strict(result, Tout)
        )
        return _outputs(found, Tout)


def _strict(value: Any, Tout: Any) -> Any:
    """NumPy's dtype must be the declared one: nothing is converted here."""
    if isinstance(Tout, list | builtins.tuple):
        return value
    array = np.asarray(value)
    dtype = _dtype_of(Tout)
    if (
        array.dtype.kind not in "OSU"
        and array.dtype != dtype.dtype
        and isinstance(value, np.ndarray | np.generic)
    ):
        raise InvalidArgumentError(
            f"0-th value returned by the function is {array.dtype}, but expects {dtype.name}"
        )
    return value


def print(*inputs: Any, **kwargs: Any) -> None:
    """Print values, when the function runs; mirrors ``tf.print``.

    A function that prints runs as Python, once per element. Long tensors are shown by their first
    and last values, as many as `summarize` says.

    Examples
    --------
    >>> import sys
    >>> tf.print("x", tf.range(10), [tf.constant("a"), 1], output_stream=sys.stdout)
    x [0 1 2 ... 7 8 9] ["a", 1]
    """
    import sys

    from .convert import tracer_now
    from .printing import printed

    tracer = tracer_now()
    if tracer is not None and hasattr(tracer, "doubt"):
        tracer.doubt("prints")
        return
    text = printed(inputs, kwargs.get("sep", " "), kwargs.get("summarize", 3))
    end = kwargs.get("end", "\n")
    stream = kwargs.get("output_stream", sys.stderr)
    if isinstance(stream, str) and stream.startswith("file://"):
        with open(stream.removeprefix("file://"), "ab") as file:
            file.write(text + end.encode())
        return
    if isinstance(stream, str):
        stream = sys.stdout if "stdout" in stream else sys.stderr
    builtins.print(text.decode(errors="replace"), end=end, file=stream)


def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Check a condition; mirrors ``tf.debugging.Assert``.

    Raises
    ------
    InvalidArgumentError
        It is false; `data` is in the text.
    """
    if is_symbol(condition):
        attrs = {"message": "Expected the condition to be true.", "labels": ["data:"] * len(data)}
        run_all("assert", (condition, *map(convert, data)), [], **attrs)
        return
    if not bool(raw(convert(condition)).all()):
        shown = "\n".join(str(raw(convert(item))) for item in data)
        raise InvalidArgumentError(
            f"Expected '{raw(convert(condition))}' to be true. Summarized data: {shown}"
        )


def no_op(name: str | None = None) -> None:
    """Do nothing; mirrors ``tf.no_op``."""


def group(*inputs: Any, **kwargs: Any) -> None:
    """Do nothing more: the inputs are computed; mirrors ``tf.group``."""


def tuple(tensors: Any, control_inputs: Any = None, name: str | None = None) -> list[Any]:
    """Return the tensors; mirrors ``tf.tuple``."""
    return [None if x is None else convert(x) for x in tensors]


@contextlib.contextmanager
def control_dependencies(control_inputs: Any) -> Iterator[None]:
    """Order nothing: Python runs in order; mirrors ``tf.control_dependencies``."""
    if callable(control_inputs):
        control_inputs()
    yield


@contextlib.contextmanager
def name_scope(name: str, *args: Any, **kwargs: Any) -> Iterator[str]:
    """Name nothing; mirrors ``tf.name_scope``."""
    yield f"{name}/"


@contextlib.contextmanager
def device(device_name: Any) -> Iterator[None]:
    """Place nothing: there is the CPU only; mirrors ``tf.device``."""
    yield


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Run as it is; mirrors ``tf.init_scope``."""
    yield


def executing_eagerly() -> bool:
    """Tell whether code runs now, not in a trace; mirrors ``tf.executing_eagerly``."""
    from .convert import tracer_now

    return tracer_now() is None


def inside_function() -> bool:
    """Tell whether a function is being traced; mirrors ``tf.inside_function``."""
    return not executing_eagerly()


def is_symbolic_tensor(tensor: Any) -> bool:
    """Tell whether a tensor is the stand-in of a trace; mirrors ``tf.is_symbolic_tensor``."""
    return is_symbol(tensor)


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the value where it is known, else None; mirrors ``tf.get_static_value``."""
    if is_symbol(tensor):
        return None
    return tensor.numpy() if is_dense(tensor) else tensor


def map_fn(
    fn: Callable[..., Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True,
    name: str | None = None, fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """Apply a function to each row and stack the results; mirrors ``tf.map_fn``.

    In a traced function, `fn` is a graph that the rows of all elements go through at once. Where it
    is none, or works with sparse or ragged rows, it is called for each row.
    """
    from .joining import stack

    rows = [convert(x) if not getattr(x, "_is_composite", False) else x for x in flatten(elems)]
    found = symbol_of(builtins.tuple(flatten(rows, expand_composites=True)))
    counts = [(static_shape(x) or (None,))[0] if is_dense(x) else x.shape[0] for x in rows]
    if found is not None and all(map(is_dense, rows)):
        recorded = _mapped(fn, elems, rows, found)
        if recorded is not None:
            return recorded
    if found is not None and None in counts:
        found._tracer.refuse("maps a function over rows of which only a run knows the number")
    iterators = [list(x) for x in rows]
    results = [fn(pack_sequence_as(elems, list(each))) for each in zip(*iterators, strict=True)]
    if not results:
        signature = fn_output_signature if fn_output_signature is not None else dtype
        kinds = (
            [rows[0].dtype]
            if signature is None
            else [_dtype_of(kind) for kind in flatten(signature)]
        )
        empty = [wrap(np.zeros(0, kind.dtype)) for kind in kinds]
        return empty[0] if signature is None else pack_sequence_as(signature, empty)
    return map_structure(lambda *leaves: stack(list(leaves)), *results)


def _mapped(fn: Callable[..., Any], elems: Any, rows: list[Any], symbol: Any) -> Any:
    """Record a function of rows as a graph of its own; None where it is none."""
    tracer: Any = symbol._tracer._now()
    shapes = [static_shape(x) for x in rows]
    if tracer.why is not None or () in shapes:
        return None
    kinds = [
        (None if dims is None else dims[1:], x.dtype) for dims, x in zip(shapes, rows, strict=True)
    ]
    found = traced_part(tracer, lambda *row: fn(pack_sequence_as(elems, list(row))), kinds)
    if found is None or found[0].why is not None:
        return None
    part, result = found
    leaves = flatten(result)
    if any(leaf is None or _is_no_array(leaf) for leaf in leaves):
        return None
    tensors = [convert(leaf) for leaf in leaves]
    numbers = [part.value(x) for x in tensors]
    count = next((dims[0] for dims in shapes if dims and dims[0] is not None), None)
    own = [static_shape(x) for x in tensors]
    outs = [
        (None if d is None else (count, *d), x.dtype) for d, x in zip(own, tensors, strict=True)
    ]
    attrs = {"graph": part.builder.finish(builtins.tuple(numbers)), "mapped": len(rows)}
    results = run_all("map_rows", (*rows, *part.captured), outs, **attrs)
    return pack_sequence_as(result, results)


def vectorized_map(
    fn: Callable[..., Any], elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """Apply a function to each row; mirrors ``tf.vectorized_map``."""
    return map_fn(fn, elems)
