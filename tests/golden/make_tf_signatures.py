"""Writes tf_signatures.json: names and defaults of the parameters of TensorFlow's functions.

Run it with an interpreter that has TensorFlow: ``python make_tf_signatures.py``.
"""

import inspect
import json
import pathlib

import tensorflow as tf

MODULES = (
    "", "audio", "bitwise", "data.experimental", "debugging", "image", "io",
    "io.gfile", "linalg", "math", "nest", "nn", "ragged", "random", "signal", "sparse", "strings",
    "RaggedTensor",
)  # fmt: skip


def shown(default):
    """Return a default as JSON can hold it, functions and dtypes by their names."""
    if isinstance(default, tf.DType) or callable(default):
        return {"name": default.__name__ if callable(default) else default.name}
    if isinstance(default, tuple):
        return list(default)
    plain = default is None or isinstance(default, bool | int | float | str | list)
    return default if plain else {"name": str(default)}


def signature(function):
    found = inspect.signature(function).parameters.values()
    empty = inspect.Parameter.empty
    return [[p.name] if p.default is empty else [p.name, shown(p.default)] for p in found]


signatures = {}
for module in MODULES:
    owner = tf
    for part in module.split(".") if module else []:
        owner = getattr(owner, part)
    names = [name for name in dir(owner) if not name.startswith("_")]
    functions = {name: getattr(owner, name) for name in names}
    signatures[module] = {
        name: signature(function)
        for name, function in functions.items()
        if inspect.isroutine(function)
    }

target = pathlib.Path(__file__).with_name("tf_signatures.json")
lines = [
    f"{json.dumps(module)}: {{\n"
    + ",\n".join(f"  {json.dumps(name)}: {json.dumps(found)}" for name, found in names.items())
    + "\n}"
    for module, names in signatures.items()
]
target.write_text("{\n" + ",\n".join(lines) + "\n}\n")
