"""The jobs that are measured, and what every peer shares to do them.

A peer is a module ``peers/NAME.py`` with one function per job, named as in `WORKLOADS`, that
gives (elements, seconds, checksum). It takes the files from `FILES`, hands its pipeline to a
drain loop (`elements`, `batches`, ...) and gives the loop a *touch* that reads a little of each
batch: a checksum that does not depend on order or padding shows that all peers saw the same
data. A loop stops after `BUDGET` seconds, so a slow peer gives a rate over part of the data.

`HEADRACE_BENCH` names the folder of the data, `HEADRACE_BUDGET` the seconds.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from data import FLOATS, INTS, ROOT, paths, tabular


class Workload(NamedTuple):
    title: str
    elements: int
    bytes: int  # of payload per element
    goal: float | None = None  # times the best peer; None: not a rate


WORKLOADS = {
    "W1": Workload("2M tiny records, one at a time", 2_000_000, 20, 4),
    "W1b": Workload("2M tiny records, batches of 1024", 2_000_000, 20, 1.3),
    "W2": Workload("2k records of 1 MiB", 2_000, 1 << 20, 1.4),
    "W3": Workload("tabular: shuffle, parse single, batch", 400_000, 609, 15),
    "W3b": Workload("tabular, best practice", 400_000, 609, 15),
    "W4": Workload("float_list of 7500, batch 32", 8_000, 30_020, 6),
    "W4b": Workload("decode_raw of 30 kB, batch 32", 8_000, 30_020, 6),
    "W5": Workload("JPEG decode and resize, batch 64", 4_000, 81_500, 1.15),
    "W6": Workload("VarLen tokens, padded batch 64", 200_000, 152, 15),
    "W6b": Workload("VarLen, best practice", 200_000, 152, 15),
    "W7": Workload("gzip read, batches of 1024", 100_000, 609, 2.5),
    "W8": Workload("pairs from a memory-mapped array, batch 32", 19_999, 60_000, 4),
    "W8g": Workload("the same from a Python generator", 19_999, 60_000),
    "W9": Workload("NumPy function over range(200k), batch 256", 200_000, 8, 100),
    "W9p": Workload("the same, run as Python", 200_000, 8, 1.2),
    "W10": Workload("range(2M), x + 1, batch 1024", 2_000_000, 8, 30),
    "W10b": Workload("range(2M), shuffle(100k), batch 1024", 2_000_000, 8, 15),
    "W11": Workload("write 200k tabular Examples", 200_000, 609, 20),
    "W11b": Workload("write 2k records of 1 MiB", 2_000, 1 << 20, 1.05),
    "W12": Workload("import to first batch", 1, 0),
}

# A job done in another way is compared with the best peer at either.
TWIN = {"W3": "W3b", "W6": "W6b", "W8g": "W8", "W9p": "W9"}

FILES = paths()
BUDGET = float(os.environ.get("HEADRACE_BUDGET", "4"))
_SHM = Path("/dev/shm")
OUT = str((_SHM if _SHM.is_dir() else Path(ROOT)) / f"headrace-out-{os.getpid()}")

Result = tuple[int, float, float]


def converted(name: str) -> str:
    """The path of data converted for one peer's best case."""
    return os.path.join(ROOT, "conv", name)


# --- drain loops -------------------------------------------------------------------------------


def elements(make, chunk=1 << 14) -> Result:
    """Bytes-like elements, one at a time to Python."""
    start = perf_counter()
    it = iter(make())
    n = total = 0
    while True:
        before = n
        for r in islice(it, chunk):
            n += 1
            total += len(r)
        if n - before < chunk or perf_counter() - start > BUDGET:
            return n, perf_counter() - start, total


def big_elements(make) -> Result:
    """The same, but the first and last byte of each are read."""
    start = perf_counter()
    n = total = 0
    for r in make():
        n += 1
        total += r[0] + r[-1]
        if perf_counter() - start > BUDGET:
            break
    return n, perf_counter() - start, total


def batches(make, touch) -> Result:
    """touch(batch) gives (elements, checksum)."""
    start = perf_counter()
    n = 0
    total = 0.0
    for b in make():
        k, c = touch(b)
        n += k
        total += c
        if perf_counter() - start > BUDGET:
            break
    return n, perf_counter() - start, float(total)


def write_loop(items, repeat, put, close) -> Result:
    """put(item) for all items, `repeat` times; close() is timed too. The checksum is the size."""
    start = perf_counter()
    n = 0
    for _ in range(repeat):
        for x in items:
            put(x)
        n += len(items)
        if perf_counter() - start > BUDGET:
            break
    close()
    seconds = perf_counter() - start
    size = os.path.getsize(OUT)
    os.remove(OUT)
    return n, seconds, size


def rows():
    """W11's input: 2000 different dicts, written 100 times."""
    return list(tabular(2000, 110))


def blobs():
    """W11b's input: 16 different MiB, written 125 times."""
    rng = np.random.default_rng(111)
    return [rng.bytes(1 << 20) for _ in range(16)]


# --- touches: cheap, and the same number whatever the order and the padding --------------------


def touch_list(b):
    return len(b), len(b[0]) + len(b[-1])


def touch_tabular(b):
    label = np.asarray(b["label"])
    first = np.asarray(b["I1"]).sum(dtype=np.float64)
    return label.size, float(label.sum()) + float(first) + float(np.asarray(b["C26"]).sum())


def touch_tensor(b):
    b = np.asarray(b)
    first = b[:, 0, 0, 0].sum(dtype=np.float64)
    return len(b), float(first) + float(b[:, -1, -1, -1].sum(dtype=np.float64))


def touch_images(b):
    # The pixels are read but do not count: decoders differ by a unit.
    x, label = b
    x = np.asarray(x)
    return len(x), int(np.asarray(label).sum()) + 0 * float(x[:, ::64, ::64, 0].sum())


def touch_padded(b):
    b = np.asarray(b)
    return len(b), int(b.sum())


def touch_pair(b):
    x, y = (np.asarray(v) for v in b)
    first = x[:, 0, 0, 0].sum(dtype=np.float64)
    return len(x), float(first) + float(y[:, -1, -1, -1].sum(dtype=np.float64))


def touch_ints(b):
    b = np.asarray(b)
    return b.size, int(b.sum())


# --- for peers that lack a part ----------------------------------------------------------------


def python_function(x):
    """W9: plain Python and a small NumPy op."""
    return np.minimum(x * 2 + 1, 300_000)


def example_class():
    """tf.train.Example as a protobuf (upb) message, for peers without a parser of their own."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="hr_example.proto", package="hr")
    file.syntax = "proto3"

    def message(parent, name, *fields):
        m = parent.add(name=name)
        for number, (field, kind, repeated, type_name) in enumerate(fields, 1):
            m.field.add(
                name=field,
                number=number,
                type=kind,
                label=3 if repeated else 1,
                type_name=type_name,
            )
        return m

    top = file.message_type
    message(top, "BytesList", ("value", 12, 1, None))
    message(top, "FloatList", ("value", 2, 1, None))
    message(top, "Int64List", ("value", 3, 1, None))
    feature = message(
        top,
        "Feature",
        ("bytes_list", 11, 0, ".hr.BytesList"),
        ("float_list", 11, 0, ".hr.FloatList"),
        ("int64_list", 11, 0, ".hr.Int64List"),
    )
    feature.oneof_decl.add(name="kind")
    for x in feature.field:
        x.oneof_index = 0
    features = message(top, "Features", ("feature", 11, 1, ".hr.Features.FeatureEntry"))
    entry = message(
        features.nested_type,
        "FeatureEntry",
        ("key", 9, 0, None),
        ("value", 11, 0, ".hr.Feature"),
    )
    entry.options.map_entry = True
    message(top, "Example", ("features", 11, 0, ".hr.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("hr.Example"))


def decode_image(jpeg):
    """JPEG to 224x224x3 float32 in 0..1, the fastest ordinary Python way, in one thread."""
    import cv2
    import simplejpeg

    image = cv2.resize(simplejpeg.decode_jpeg(jpeg), (224, 224), interpolation=cv2.INTER_LINEAR)
    return image.astype(np.float32) / 255


def pad(rows):
    """Rows of int64 of any length, as one array filled up with zeros."""
    out = np.zeros((len(rows), max(map(len, rows))), np.int64)
    for o, r in zip(out, rows, strict=True):
        o[: len(r)] = r
    return out


# The columns of the tabular data, label first, and a row of them as a struct.
COLUMNS = {"label": np.int64, **dict.fromkeys(FLOATS, np.float32), **dict.fromkeys(INTS, np.int64)}
ROW = np.dtype([(k, np.dtype(v).newbyteorder("<")) for k, v in COLUMNS.items()])
