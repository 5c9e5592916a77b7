"""NVIDIA DALI on the CPU only (device_id=None): its own TFRecord reader (needs index files, no
CRC check), Example parser, JPEG decoder and resizer, 2 threads. FixedLenFeature is one value
column per feature; no gzip, no writer.
"""

import os
import struct

import numpy as np
from data import FLOATS, INTS
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali import tfrecord as tfr
from workloads import (
    FILES,
    WORKLOADS,
    batches,
    converted,
    python_function,
    touch_images,
    touch_ints,
    touch_padded,
    touch_pair,
    touch_tabular,
    touch_tensor,
)

I64, F32, STR = tfr.int64, tfr.float32, tfr.string


def index(files):  # what tfrecord2idx writes; once, outside the clock
    out = []
    for f in files:
        o = converted(os.path.basename(f) + ".idx")
        out.append(o)
        if os.path.exists(o):
            continue
        with open(f, "rb") as h, open(o, "w") as w:
            p = 0
            while b := h.read(8):
                n = struct.unpack("<Q", b)[0]
                h.seek(n + 8, 1)
                w.write(f"{p} {n + 16}\n")
                p += n + 16
    return out


def reader(key, feats, **k):
    return fn.readers.tfrecord(
        path=FILES[key], index_path=index(FILES[key]), features=feats, name="r", **k
    )


def run(build, b, post, total, depth=2):
    def go():
        p = pipeline_def(build)(
            batch_size=b, num_threads=2, device_id=None, prefetch_queue_depth=depth
        )
        p.build()
        left = total
        while left > 0:
            o = p.run()
            k = min(b, left)
            left -= k
            yield post(o, k)

    return go


def idx_all():
    for k in ("d1", "d2", "d3", "d3b", "d4"):
        index(FILES[k])


init = idx_all


def W3():
    feats = {
        "label": tfr.FixedLenFeature((), I64, 0),
        **{k: tfr.FixedLenFeature((), F32, 0.0) for k in FLOATS},
        **{k: tfr.FixedLenFeature((), I64, 0) for k in INTS},
    }
    keys = list(feats)

    def build():
        d = reader("d1", feats, random_shuffle=True, initial_fill=10000)
        return tuple(d[k] for k in keys)

    return batches(
        run(
            build,
            1024,
            lambda o, k: {n: v.as_array()[:k] for n, v in zip(keys, o, strict=False)},
            WORKLOADS["W3"].elements,
        ),
        touch_tabular,
    )


def W4():
    def build():
        return reader("d3", {"x": tfr.FixedLenFeature([3, 50, 50], F32, 0.0)})["x"]

    return batches(
        run(build, 32, lambda o, k: o[0].as_array()[:k], WORKLOADS["W4"].elements), touch_tensor
    )


def W4b():
    def build():
        x = reader("d3b", {"x": tfr.FixedLenFeature((), STR, "")})["x"]
        return fn.reinterpret(x, dtype=types.FLOAT, shape=[3, 50, 50])

    return batches(
        run(build, 32, lambda o, k: o[0].as_array()[:k], WORKLOADS["W4"].elements), touch_tensor
    )


def W5():
    def build():
        d = reader(
            "d2",
            {
                "image/encoded": tfr.FixedLenFeature((), STR, ""),
                "image/label": tfr.FixedLenFeature((), I64, 0),
            },
        )
        x = fn.resize(
            fn.decoders.image(d["image/encoded"], device="cpu"), size=[224, 224], antialias=False
        )
        return fn.cast(x, dtype=types.FLOAT) / 255.0, d["image/label"]

    return batches(
        run(
            build,
            64,
            lambda o, k: (o[0].as_array()[:k], o[1].as_array()[:k]),
            WORKLOADS["W5"].elements,
        ),
        touch_images,
    )


def W6():
    def build():
        return fn.pad(reader("d4", {"tokens": tfr.VarLenFeature(I64, 0)})["tokens"], fill_value=0)

    return batches(
        run(build, 64, lambda o, k: o[0].as_array()[:k], WORKLOADS["W6"].elements), touch_padded
    )


def W8():
    x = np.load(FILES["d8"][0], mmap_mode="r")
    n = len(x) - 1

    def src(i):
        j = i.idx_in_epoch % n
        return x[j], x[j + 1]

    def build():
        return tuple(fn.external_source(source=src, num_outputs=2, batch=False))

    return batches(
        run(build, 32, lambda o, k: (o[0].as_array()[:k], o[1].as_array()[:k]), n), touch_pair
    )


def W9():
    def build():
        return fn.external_source(
            source=lambda i: python_function(np.int64(i.idx_in_epoch)), batch=False
        )

    return batches(run(build, 256, lambda o, k: o[0].as_array()[:k], 200_000), touch_ints)


def W12():
    feats = {
        "label": tfr.FixedLenFeature((), I64, 0),
        **{k: tfr.FixedLenFeature((), F32, 0.0) for k in FLOATS},
        **{k: tfr.FixedLenFeature((), I64, 0) for k in INTS},
    }

    def build():
        d = reader("d1", feats, random_shuffle=True, initial_fill=1000)
        return tuple(d[k] for k in feats)

    return next(iter(run(build, 32, lambda o, k: [v.as_array() for v in o], 32)()))
