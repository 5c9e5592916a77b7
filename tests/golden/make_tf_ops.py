"""Make tf_ops.json: what TensorFlow gives for some expressions, and for functions of a tensor.

Each line of a file in tf_ops is a case: an expression; a type, shape or spec, which is compared as
text; or a function, ` | ` and the tensor it gets. The tests evaluate the same text with headrace.tf
in TensorFlow's place. Each function is called as it is, and traced by a dataset. A first line
`# atol 1e-5` says how far floats may be off.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

FOLDER = Path(__file__).with_name("tf_ops")


def cases(start):
    """Return lines of the files whose names start so, each with what holds for its file."""
    for path in sorted(FOLDER.glob(f"{start}*.txt")):
        lines = path.read_text().splitlines()
        atol = {}
        if lines[0].startswith("# atol "):
            atol = {"atol": float(lines.pop(0).removeprefix("# atol "))}
        yield from ((line, atol) for line in lines)


def described(value):
    if isinstance(value, tf.RaggedTensor | tf.SparseTensor):
        kind = "ragged" if isinstance(value, tf.RaggedTensor) else "sparse"
        dense = value.to_list() if kind == "ragged" else tf.sparse.to_dense(value).numpy().tolist()
        return {"kind": kind, "dtype": value.dtype.name, "value": repr(dense)}
    if isinstance(value, tf.Tensor):
        return {
            "kind": "tensor",
            "dtype": value.dtype.name,
            "shape": value.shape.as_list(),
            "value": repr(value.numpy().tolist() if value.shape.rank else plain(value.numpy())),
        }
    if isinstance(value, list | tuple):
        return {"kind": "list", "items": [described(item) for item in value]}
    if isinstance(value, np.ndarray | np.generic):
        return {"kind": "array", "dtype": str(value.dtype), "value": repr(value.tolist())}
    return {"kind": "other", "value": repr(value)}


def plain(value):
    return value.item() if isinstance(value, np.generic) else value


def answer(text, names=None):
    try:
        return described(eval(text, {"tf": tf, "np": np, **(names or {})}))
    except Exception as error:
        return {"kind": "error", "classes": [kind.__name__ for kind in type(error).__mro__]}


def written(text):
    try:
        return {"repr": repr(eval(text, {"tf": tf, "np": np}))}
    except Exception as error:
        return {"error": type(error).__name__}


def traced(text, argument):
    try:
        value = eval(argument, {"np": np})
        dataset = tf.data.Dataset.from_tensors(value).map(eval(text, {"tf": tf, "np": np}))
        return {"spec": repr(dataset.element_spec), **described(next(iter(dataset)))}
    except Exception as error:
        return {"kind": "error", "classes": [kind.__name__ for kind in type(error).__mro__]}


if __name__ == "__main__":
    functions = []
    for line, more in cases("functions"):
        text, argument = line.rsplit(" | ", 1)
        value = tf.constant(eval(argument, {"np": np}))
        found = answer(f"({text})(value)", {"value": value})
        also = traced(text, argument)
        case = {"function": text, "argument": argument, **more, "eager": found, "traced": also}
        functions.append(case)
    answers = {
        "tf": tf.__version__,
        "expressions": [{"text": text, **more, **answer(text)} for text, more in cases("expr")],
        "functions": functions,
        "types": [{"text": text, **written(text)} for text, _ in cases("types")],
    }
    Path(__file__).with_name("tf_ops.json").write_text(json.dumps(answers, indent=1) + "\n")
