"""grain's best case: data converted to ArrayRecord (group_size:1, uncompressed), rows as raw
structs, global shuffle, two reading threads, batches made in those threads. array_record 0.8.6
takes ~3 ms for a single read of a file with 400k records (time grows with the file) but 25 us
per record in a list, and grain's source never asks for a list: so Blocks does by hand what the
small-record workloads need. Images and tensors go record by record.
"""

import grain
import numpy as np
from peers.grain import RO, Pairs, ident, p_img
from workloads import (
    ROW,
    batches,
    big_elements,
    converted,
    pad,
    python_function,
    touch_images,
    touch_ints,
    touch_list,
    touch_padded,
    touch_pair,
    touch_tabular,
    touch_tensor,
)


class Blocks:
    def __init__(self, name, b, shuffle=False):
        self.s = grain.sources.ArrayRecordDataSource(converted(name))
        self.b = b
        n = len(self.s)
        self.p = (np.random.default_rng(1).permutation(n) if shuffle else np.arange(n)).tolist()

    def __len__(self):
        return -(-len(self.p) // self.b)

    def __getitem__(self, i):
        return self.s.__getitems__(self.p[i * self.b : (i + 1) * self.b])


def ar(name):
    return grain.MapDataset.source(grain.sources.ArrayRecordDataSource(converted(name)))


def blocks(name, b, f, **k):
    return grain.MapDataset.source(Blocks(name, b, **k)).map(f).to_iter_dataset(RO())


def W1b():
    return batches(lambda: blocks("d5.ar", 1024, ident), touch_list)


def W2():
    return big_elements(lambda: ar("d6.ar").to_iter_dataset(RO()))


def W3b():
    return batches(
        lambda: blocks("d1.ar", 1024, lambda xs: np.frombuffer(b"".join(xs), ROW), shuffle=True),
        touch_tabular,
    )


def W4b():
    return batches(
        lambda: (
            ar("d3.ar")
            .map(lambda b: np.frombuffer(b, np.float32).reshape(3, 50, 50))
            .batch(32)
            .to_iter_dataset(RO())
        ),
        touch_tensor,
    )


def W5():
    return batches(
        lambda: ar("d2.ar").shuffle(seed=1).map(p_img).to_iter_dataset(RO()).batch(64), touch_images
    )


def W6b():
    return batches(
        lambda: blocks("d4.ar", 64, lambda xs: pad([np.frombuffer(b, np.int64) for b in xs])),
        touch_padded,
    )


def W8():
    return batches(
        lambda: grain.MapDataset.source(Pairs()).batch(32).to_iter_dataset(RO()), touch_pair
    )


def W9():
    return batches(
        lambda: (
            grain.MapDataset.range(200_000).map(python_function).batch(256).to_iter_dataset(RO())
        ),
        touch_ints,
    )


def W10():
    return batches(
        lambda: (
            grain.MapDataset.range(2_000_000).map(lambda x: x + 1).batch(1024).to_iter_dataset(RO())
        ),
        touch_ints,
    )


def W10b():
    return batches(
        lambda: grain.MapDataset.range(2_000_000).shuffle(seed=1).batch(1024).to_iter_dataset(RO()),
        touch_ints,
    )
