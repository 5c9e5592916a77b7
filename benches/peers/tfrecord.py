"""The PyPI package `tfrecord` alone, single thread, plain numpy batches.

No CRC check; elements are one reused memoryview.
"""

from itertools import islice

import numpy as np
from data import FLOATS, INTS
from tfrecord import TFRecordWriter, example_pb2
from tfrecord.iterator_utils import shuffle_iterator
from tfrecord.reader import extract_feature_dict, tfrecord_iterator, tfrecord_loader
from workloads import (
    FILES,
    OUT,
    batches,
    big_elements,
    elements,
    pad,
    rows,
    touch_list,
    touch_padded,
    touch_tabular,
    touch_tensor,
    write_loop,
)


def cat(fs, **k):
    return (r for p in fs for r in tfrecord_iterator(p, **k))


def batch(it, n, f):
    while b := list(islice(it, n)):
        yield f(b)


def dicts(key, desc):
    return (d for p in FILES[key] for d in tfrecord_loader(p, None, desc))


DESC = {"label": "int", **dict.fromkeys(FLOATS, "float"), **dict.fromkeys(INTS, "int")}


def stack(b):
    return {k: np.concatenate([d[k] for d in b]) for k in b[0]}


def W1():
    return elements(lambda: cat(FILES["d5"]))


def W1b():
    return batches(lambda: batch(map(bytes, cat(FILES["d5"])), 1024, list), touch_list)


def W2():
    return big_elements(lambda: cat(FILES["d6"]))


def tab(n):  # records are shuffled before they are parsed, as in the other peers
    names = {"byte": "bytes_list", "float": "float_list", "int": "int64_list"}
    for r in shuffle_iterator(map(bytes, cat(FILES["d1"])), n):
        yield extract_feature_dict(example_pb2.Example.FromString(r).features, DESC, names)


def W3():
    return batches(lambda: batch(tab(10000), 1024, stack), touch_tabular)


def W4():
    return batches(
        lambda: batch(
            dicts("d3", {"x": "float"}),
            32,
            lambda b: np.stack([d["x"] for d in b]).reshape(-1, 3, 50, 50),
        ),
        touch_tensor,
    )


def W4b():
    return batches(
        lambda: batch(
            dicts("d3b", {"x": "byte"}),
            32,
            lambda b: np.frombuffer(b"".join(d["x"] for d in b), np.float32).reshape(-1, 3, 50, 50),
        ),
        touch_tensor,
    )


def W6():
    return batches(
        lambda: batch(dicts("d4", {"tokens": "int"}), 64, lambda b: pad([d["tokens"] for d in b])),
        touch_padded,
    )


def W7():
    return batches(
        lambda: batch(map(bytes, cat(FILES["d7"], compression_type="gzip")), 1024, list), touch_list
    )


def W11():
    w = TFRecordWriter(OUT)
    return write_loop(
        [{k: (v, "float" if k[0] == "I" else "int") for k, v in d.items()} for d in rows()],
        100,
        w.write,
        w.close,
    )


def W12():
    return next(batch(tab(1000), 32, stack))
