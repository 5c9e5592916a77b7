"""SPDL: a thread-pool pipeline; no TFRecord reader, so images come from tar (converted) or
ArrayRecord-free paths. W5 uses spdl.io's own JPEG decoding and resizing (FFmpeg filters), W5b
simplejpeg + OpenCV in its threads.
"""

import tarfile

import numpy as np
from spdl.pipeline import PipelineBuilder
from workloads import (
    FILES,
    batches,
    converted,
    decode_image,
    python_function,
    touch_images,
    touch_ints,
    touch_pair,
)


def pipe(src, fn, b, collate, n=2):
    p = (
        PipelineBuilder()
        .add_source(src)
        .pipe(fn, concurrency=n)
        .aggregate(b)
        .pipe(collate)
        .add_sink(8)
        .build(num_threads=n + 1)
    )
    with p.auto_stop():
        yield from p


def jpgs():
    for i in range(4):
        with tarfile.open(converted(f"d2-{i}.tar")) as t:
            while (a := t.next()) is not None:
                j = t.extractfile(a).read()
                label = int(t.extractfile(t.next()).read())
                yield j, label


def W5():
    return batches(
        lambda: pipe(
            jpgs(),
            lambda d: (decode_image(d[0]), d[1]),
            64,
            lambda b: (np.stack([x for x, _ in b]), [label for _, label in b]),
        ),
        touch_images,
    )


def W8():
    x = np.load(FILES["d8"][0], mmap_mode="r")
    return batches(
        lambda: pipe(
            iter(range(len(x) - 1)),
            lambda i: (x[i], x[i + 1]),
            32,
            lambda b: (np.stack([p for p, _ in b]), np.stack([q for _, q in b])),
            1,
        ),
        touch_pair,
    )


def W9():
    return batches(
        lambda: pipe(iter(range(200_000)), python_function, 256, np.array, 1), touch_ints
    )


def W10():
    return batches(
        lambda: pipe(iter(range(2_000_000)), lambda x: x + 1, 1024, np.array, 1), touch_ints
    )
