"""Writes sequence_steps.json: what TensorFlow makes of small SequenceExamples.

Each feature kind meets steps and contexts that are missing, empty, without a list, too long, or of
another type, one by one and in batches of two.
"""

import base64
import json
import pathlib

import tensorflow as tf

io, train = tf.io, tf.train


def ints(*values):
    return train.Feature(int64_list=train.Int64List(value=values))


def floats(*values):
    return train.Feature(float_list=train.FloatList(value=values))


def text(*values):
    return train.Feature(bytes_list=train.BytesList(value=values))


NONE = train.Feature()
CONTEXTS = {
    "one": {"q": ints(5)},
    "missing": {},
    "empty": {"q": ints()},
    "kindless": {"q": NONE},
    "two": {"q": ints(1, 2)},
    "other two": {"q": ints(7, 8), "l": ints(2)},
    "floats": {"q": floats(1.0)},
}
STEPS = {
    "ones": [ints(1), ints(2)],
    "missing": None,
    "none": [],
    "kindless": [NONE, ints(1)],
    "twos": [ints(1, 2), ints(3, 4)],
    "floats": [floats(1.0)],
    "empty": [ints(), ints(1)],
    "growing": [ints(1), ints(2, 3)],
    "one": [ints(7)],
    "mixed": [ints(1), floats(2.0)],
    "four": [ints(1, 2, 3), ints(4)],
}


def features(feature=None, lists=None):
    return train.SequenceExample(
        context=train.Features(feature=feature or {}),
        feature_lists=train.FeatureLists(
            feature_list={
                k: train.FeatureList(feature=v) for k, v in (lists or {}).items() if v is not None
            }
        ),
    ).SerializeToString()


def fixed(kind, shape, default=None, **how):
    value = None if default is None else {"dtype": "int64", "shape": shape, "data": default}
    return {"kind": kind, "shape": shape, "dtype": "int64", "default_value": value, **how}


def ragged(partitions=()):
    return {
        "kind": "RaggedFeature",
        "dtype": "int64",
        "value_key": "q",
        "partitions": list(partitions),
        "row_splits_dtype": "int32",
        "validate": False,
    }


VARLEN = {"kind": "VarLenFeature", "dtype": "int64"}
OF_CONTEXT = {
    "scalar": fixed("FixedLenFeature", []),
    "scalar with default": fixed("FixedLenFeature", [], [9]),
    "pair": fixed("FixedLenFeature", [2]),
    "pair with default": fixed("FixedLenFeature", [2], [8, 9]),
    "varlen": VARLEN,
    "ragged": ragged(),
    "nothing": fixed("FixedLenFeature", [0]),
}
OF_STEPS = {
    "scalars": fixed("FixedLenSequenceFeature", [], allow_missing=False),
    "scalars or none": fixed("FixedLenSequenceFeature", [], allow_missing=True),
    "pairs or none": fixed("FixedLenSequenceFeature", [2], allow_missing=True),
    "varlen": VARLEN,
    "ragged": ragged(),
}


def feature(value):
    value = dict(value)
    kind = getattr(io, value.pop("kind"))
    default = value.get("default_value")
    if default is not None:
        value["default_value"] = default["data"]
    value["dtype"] = tf.as_dtype(value["dtype"])
    if "partitions" in value:
        value["row_splits_dtype"] = tf.as_dtype(value["row_splits_dtype"])
        value["partitions"] = [
            getattr(io.RaggedFeature, name)(argument) for name, argument in value["partitions"]
        ]
    return kind(**value)


def array(value):
    value = value.numpy()
    data = value.reshape(-1).tolist() if value.ndim else [value]
    if value.dtype == object:
        return {"dtype": "bytes", "shape": list(value.shape), "data": [b64(x) for x in data]}
    data = [x if isinstance(x, int | float) else x.item() for x in data]
    return {"dtype": value.dtype.name, "shape": list(value.shape), "data": data}


def b64(value):
    return base64.b64encode(value).decode()


def encoded(value):
    if isinstance(value, tf.sparse.SparseTensor):
        names = ("indices", "values", "dense_shape")
        return {"sparse": {name: array(getattr(value, name)) for name in names}}
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": {"values": encoded(value.values), "row_splits": array(value.row_splits)}}
    if isinstance(value, dict):
        return {name: encoded(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [encoded(item) for item in value]
    return array(value)


cases = []


def case(name, serialized, context, steps, names=None):
    single = isinstance(serialized, bytes)
    op = "parse_single_sequence_example" if single else "parse_sequence_example"
    arguments = [
        {key: feature(value) for key, value in part.items()} or None for part in (context, steps)
    ]
    try:
        extra = {} if names is None else {"example_names": names}
        expect = encoded(getattr(io, op)(serialized, *arguments, **extra))
    except tf.errors.InvalidArgumentError as error:
        message = error.message.split("}} ", 1)[-1].split(" [Op:")[0]
        expect = {"error": {"class": "InvalidArgumentError", "message": message}}
    cases.append(
        {
            "name": name,
            "op": op,
            "serialized": b64(serialized) if single else [b64(x) for x in serialized],
            "example_names": names,
            "context_features": context,
            "sequence_features": steps,
            "expect": expect,
        }
    )


for kind, value in OF_CONTEXT.items():
    for name, context in CONTEXTS.items():
        case(f"{kind} of {name}", features(context), {"q": value}, {})
        for first in ("one", "two"):
            both = [features(CONTEXTS[first]), features(context)]
            case(f"{kind} of {first}, {name}", both, {"q": value}, {})
for kind, value in OF_STEPS.items():
    for name, steps in STEPS.items():
        case(f"steps: {kind} of {name}", features(lists={"q": steps}), {}, {"q": value})
        for first in ("ones", "twos", "missing"):
            both = [features(lists={"q": STEPS[first]}), features(lists={"q": steps})]
            case(f"steps: {kind} of {first}, {name}", both, {}, {"q": value})

lengths = ragged([("RowLengths", "l")])
both = {"q": ints(1, 2, 3), "l": ints(1, 2)}
case("row lengths in the context", features(both), {"q": lengths}, {})
lists = {"q": [ints(1, 2, 3), ints(4)], "l": [ints(1, 2), ints(1)]}
case("row lengths in steps", features(lists=lists), {}, {"q": lengths})
case("row lengths in steps, batch", [features(lists=lists)] * 2, {}, {"q": lengths})
pairs = ragged([("UniformRowLength", 2)])
case("uniform rows in steps", features(lists={"q": STEPS["twos"]}), {}, {"q": pairs})
strings = {"kind": "FixedLenSequenceFeature", "shape": [], "dtype": "string"}
strings |= {"allow_missing": True, "default_value": None}
words = [features(lists={"q": [text(b"a"), text(b"b")]}), features(lists={"q": [text(b"c")]})]
case("strings are padded", words, {}, {"q": strings})
case("named", [words[0], features({"q": ints(1)})], {"q": VARLEN}, {"q": VARLEN}, ["a", "b"])
case("named once", words, {"q": VARLEN}, {}, ["a"])

path = pathlib.Path(__file__).with_name("sequence_steps.json")
path.write_text(json.dumps(cases, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")
print(len(cases))
