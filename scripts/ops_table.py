"""Writes docs/ops.md: every function op, its twin in TensorFlow, and whether it is traced.

What there is comes from the code: the modules that `headrace.__all__` names and their `__all__`,
the "mirrors ``tf...``" of docstrings, the registry of NumPy's functions. Run it after adding an op:
``python scripts/ops_table.py``.
"""

import inspect
import re
import sys
import types
from pathlib import Path

import numpy as np

import headrace as hr
import headrace.tf as tf
from headrace.numpy_ops import fourier  # noqa: F401 (it registers)
from headrace.numpy_ops.registry import METHODS, NAMES
from headrace.purity.lists import headrace_denies
from headrace.trace import trace

TARGET = Path(__file__).parent.parent / "docs" / "ops.md"
# No ops of elements: what datasets are made of, and errors.
LEFT_OUT = {"errors", "experimental", "trace"}
HEAD = """# Ops of map functions

This page is written by `scripts/ops_table.py` from the code; a test compares the two.

A *traced* function runs in the engine, off the GIL, on many elements at once. What is marked "no"
makes the function run as Python, once per element; what it gives is the same. `ds.explain()` says
which way a function runs and why.
"""

INDEXING = """Integers, slices, `...`, `None`, arrays of integers and masks are recorded, given or
computed, and so are computed ends of slices. Assignment to items is not.
"""
TF_MODULES = (
    *("tf", "audio", "debugging", "image", "io", "linalg", "math", "nn", "random", "ragged"),
    *("signal", "sparse", "strings"),
)


def mirrored(function):
    """Return the names of TensorFlow that a docstring says a function mirrors."""
    text = inspect.getdoc(function) or ""
    found = re.search(r"mirrors ((?:``tf\.[\w.]+``(?:,| and|, and| or)?\s*)+)", text)
    return re.findall(r"``(tf\.[\w.]+)``", found[1]) if found else []


def in_tf(name):
    """Tell whether `headrace.tf` has a name of TensorFlow."""
    found = tf
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def is_traced(function):
    """Tell whether a function that is called in a traced one is recorded."""
    if headrace_denies(function.__name__):
        return False
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return True
    return not re.search(r"refuse_in_trace\(|tracing\.tracer\.refuse\(", source)


def modules():
    """Return the public modules that hold ops."""
    for name in hr.__all__:
        module = getattr(hr, name)
        if isinstance(module, types.ModuleType) and name not in LEFT_OUT:
            yield name, module


def headrace_rows():
    """Return rows of the functions of headrace's own modules."""
    for name, module in modules():
        for op in sorted(module.__all__):
            function = getattr(module, op)
            if not isinstance(function, types.FunctionType):
                continue
            twins = ", ".join(f"`{twin}`" for twin in mirrored(function) if in_tf(twin))
            yield f"`hr.{name}.{op}`", twins or "–", "yes" if is_traced(function) else "no"


def twin_of_numpy(name):
    """Return TensorFlow's function of the same name, if there is one."""
    last = name.rpartition(".")[2]
    for place in ("tf", "tf.math", "tf.linalg", "tf.signal"):
        if in_tf(f"{place}.{last}"):
            return f"`{place}.{last}`"
    return "–"


def numpy_rows():
    """Return rows of the functions of NumPy that are recorded."""
    for name in sorted(NAMES, key=str.lower):
        last = name.rpartition(".")[2]
        is_method = last in METHODS and "." not in name
        yield f"`np.{name}`", "yes" if is_method else "", twin_of_numpy(name)


def ufuncs():
    """Return the names of the ufuncs that can be recorded of vectors of some dtype."""
    for name in dir(np):
        ufunc = getattr(np, name)
        if not isinstance(ufunc, np.ufunc) or ufunc.__name__ != name:
            continue
        for kind in (np.float64, np.int64, np.bool_, np.complex128, bytes):
            spec = hr.TensorSpec((3,), kind)
            specs = spec if ufunc.nin == 1 else (spec,) * ufunc.nin
            if trace(ufunc, specs)[0] is not None:
                yield f"`{name}`"
                break


def python_of_tf():
    """Return the functions of `headrace.tf` that NumPy or Python computes for some arguments."""
    found = {}
    for name in TF_MODULES:
        module = tf if name == "tf" else getattr(tf, name)
        for op, function in vars(module).items():
            if op.startswith("_") or not isinstance(function, types.FunctionType):
                continue
            if op not in getattr(module, "__all__", [op]):
                continue
            source = inspect.getsource(function)
            if re.search(r"(?<!def )\bpython\(|\bunrecorded\(|\b_needs\(|stand_in\(", source):
                shown = f"`tf.{op}`" if name == "tf" else f"`tf.{name}.{op}`"
                found.setdefault(function, shown)
    return sorted(found.values())


def table(head, rows):
    """Return a table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def text():
    """Return the page."""
    methods = ", ".join(f"`{name}`" for name in sorted(METHODS))
    return "\n".join(
        [
            HEAD,
            "## headrace's functions\n",
            table(["function", "in `headrace.tf`", "traced"], headrace_rows()),
            "## NumPy's functions\n",
            "All of these are recorded in a traced function.\n",
            table(["function", "method too", "of this name in `headrace.tf`"], numpy_rows()),
            f"Further methods of arrays: `astype`, `copy`; and as functions above: {methods}.\n",
            "## NumPy's ufuncs\n",
            f"Recorded for the dtypes that the engine computes: {', '.join(ufuncs())}.\n",
            "## Indexing\n",
            INDEXING,
            "## headrace.tf\n",
            f"Of these some arguments have no kernel: {', '.join(python_of_tf())}.",
            "",
        ]
    )


if __name__ == "__main__":
    page = text()
    if "--check" in sys.argv:
        sys.exit(page != TARGET.read_text())
    TARGET.write_text(page)
