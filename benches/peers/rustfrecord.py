"""PyPI `rustfrecord` (Rust, PyO3): Example -> dict of arrays, one at a time.

It doesn't check CRCs (tried). It pins torch==2.2.0 (a CUDA build); measured with --no-deps on
torch 2.13.0 CPU, where it gives numpy arrays. No raw records, no shuffle, no writer.
"""

from itertools import islice

import numpy as np
import torch  # noqa: F401  # loads the library that rustfrecord links to
from rustfrecord import Reader
from workloads import FILES, batches, pad, touch_padded, touch_tabular, touch_tensor


def read(key, feats=None, gz=False):
    for p in FILES[key]:
        yield from Reader(p, compressed=gz, features=feats)


def batch(it, n, f):
    it = iter(it)
    while b := list(islice(it, n)):
        yield f(b)


def shuffled(it, n):
    import random

    it = iter(it)
    buf = list(islice(it, n))
    k = len(buf)
    for x in it:
        i = int(random.random() * k)
        yield buf[i]
        buf[i] = x
    random.shuffle(buf)
    yield from buf


def stack(b):
    return {k: np.concatenate([d[k] for d in b]) for k in b[0]}


def W3():
    return batches(lambda: batch(shuffled(read("d1"), 10000), 1024, stack), touch_tabular)


def W4():
    return batches(
        lambda: batch(
            read("d3"), 32, lambda b: np.stack([d["x"] for d in b]).reshape(-1, 3, 50, 50)
        ),
        touch_tensor,
    )


def W4b():
    return batches(
        lambda: batch(
            read("d3b"),
            32,
            lambda b: np.stack([d["x"] for d in b]).view(np.float32).reshape(-1, 3, 50, 50),
        ),
        touch_tensor,
    )


def W6():
    return batches(
        lambda: batch(read("d4"), 64, lambda b: pad([d["tokens"] for d in b])), touch_padded
    )


def W7():
    return batches(lambda: batch(read("d7", gz=True), 1024, stack), touch_tabular)


def W12():
    return next(batch(shuffled(read("d1"), 1000), 32, stack))
