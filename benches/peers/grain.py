"""grain on TFRecord (TFRecordIterDataset: pure Python, one file each, no CRC check); Example
through protobuf. peers/grain_ar.py is its best case.
"""

import grain
import numpy as np
from absl import logging
from data import FLOATS, INTS
from grain.experimental import (
    InterleaveIterDataset,
    TFRecordIterDataset,
    WindowShuffleIterDataset,
)
from workloads import (
    FILES,
    batches,
    big_elements,
    decode_image,
    elements,
    example_class,
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

logging.set_verbosity("error")

Ex = example_class()


def RO(n=2):
    return grain.ReadOptions(num_threads=n, prefetch_buffer_size=64)


def ident(xs):
    return list(xs)


def rec(files):
    if len(files) == 1:
        return TFRecordIterDataset(files[0])
    return InterleaveIterDataset([TFRecordIterDataset(f) for f in files], cycle_length=len(files))


def p_tab(r):
    f = Ex.FromString(r).features.feature
    d = {k: np.float32(f[k].float_list.value[0]) for k in FLOATS}
    for k in INTS:
        d[k] = np.int64(f[k].int64_list.value[0])
    d["label"] = np.int64(f["label"].int64_list.value[0])
    return d


def p_float(r):
    return np.array(Ex.FromString(r).features.feature["x"].float_list.value, np.float32).reshape(
        3, 50, 50
    )


def p_raw(r):
    return np.frombuffer(
        Ex.FromString(r).features.feature["x"].bytes_list.value[0], np.float32
    ).reshape(3, 50, 50)


def p_img(r):
    f = Ex.FromString(r).features.feature
    return decode_image(f["image/encoded"].bytes_list.value[0]), f["image/label"].int64_list.value[
        0
    ]


def p_tok(r):
    return np.array(Ex.FromString(r).features.feature["tokens"].int64_list.value, np.int64)


def W1():
    return elements(lambda: rec(FILES["d5"]))


def W1b():
    return batches(lambda: rec(FILES["d5"]).batch(1024, batch_fn=ident), touch_list)


def W2():
    return big_elements(lambda: rec(FILES["d6"]))


def W3():
    return batches(
        lambda: (
            WindowShuffleIterDataset(rec(FILES["d1"]), window_size=10000, seed=1)
            .map(p_tab)
            .batch(1024)
        ),
        touch_tabular,
    )


def W4():
    return batches(lambda: rec(FILES["d3"]).map(p_float).batch(32), touch_tensor)


def W4b():
    return batches(lambda: rec(FILES["d3b"]).map(p_raw).batch(32), touch_tensor)


def W5():
    return batches(
        lambda: grain.experimental.multithread_prefetch(
            rec(FILES["d2"]).map(p_img), num_threads=2, buffer_size=64
        ).batch(64),
        touch_images,
    )


def W6():
    return batches(lambda: rec(FILES["d4"]).map(p_tok).batch(64, batch_fn=pad), touch_padded)


class Pairs:
    def __init__(self):
        self.x = np.load(FILES["d8"][0], mmap_mode="r")

    def __len__(self):
        return len(self.x) - 1

    def __getitem__(self, i):
        return np.asarray(self.x[i]), np.asarray(self.x[i + 1])


def W8():
    return batches(
        lambda: grain.MapDataset.source(Pairs()).to_iter_dataset(RO()).batch(32), touch_pair
    )


def W9():
    return batches(
        lambda: (
            grain.MapDataset.range(200_000).map(python_function).to_iter_dataset(RO(0)).batch(256)
        ),
        touch_ints,
    )


def W10():
    return batches(
        lambda: (
            grain.MapDataset.range(2_000_000)
            .map(lambda x: x + 1)
            .to_iter_dataset(RO(0))
            .batch(1024)
        ),
        touch_ints,
    )


def W10b():
    return batches(
        lambda: (
            grain.MapDataset.range(2_000_000).shuffle(seed=1).to_iter_dataset(RO(0)).batch(1024)
        ),
        touch_ints,
    )


def W12():
    return next(
        iter(
            WindowShuffleIterDataset(rec(FILES["d1"][:1]), window_size=1000, seed=1)
            .map(p_tab)
            .batch(32)
        )
    )
