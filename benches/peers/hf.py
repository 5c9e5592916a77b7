"""Hugging Face datasets on Arrow files (converted data, memory-mapped); JPEG by simplejpeg +
OpenCV.
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
import datasets as H
import numpy as np
from workloads import (
    FILES,
    batches,
    big_elements,
    converted,
    decode_image,
    elements,
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

H.disable_progress_bars()


def ds(name, fmt="numpy"):
    return H.load_from_disk(converted(name)).with_format(fmt)


def W1():
    return elements(lambda: (r["b"] for r in ds("d5.hf", None)))


def W1b():
    return batches(lambda: (b["b"] for b in ds("d5.hf", None).iter(1024)), touch_list)


def W2():
    return big_elements(lambda: (r["b"] for r in ds("d6.hf", None)))


def W3():
    return batches(lambda: ds("d1.hf").shuffle(seed=1).iter(1024), touch_tabular)


def W3b():
    return batches(
        lambda: (
            ds("d1.hf")
            .to_iterable_dataset(num_shards=4)
            .shuffle(seed=1, buffer_size=10000)
            .iter(1024)
        ),
        touch_tabular,
    )


def W4():
    return batches(lambda: (b["x"] for b in ds("d3.hf").iter(32)), touch_tensor)


def W5():
    def go():
        for b in ds("d2.hf", None).iter(64):
            yield np.stack([decode_image(j) for j in b["jpg"]]), b["label"]

    return batches(go, touch_images)


def W6():
    return batches(lambda: (pad(b["tokens"]) for b in ds("d4.hf").iter(64)), touch_padded)


def W8():
    x = np.load(FILES["d8"][0], mmap_mode="r")

    def gen():
        for i in range(len(x) - 1):
            yield {"a": x[i], "b": x[i + 1]}

    it = H.IterableDataset.from_generator(gen).with_format("numpy")
    return batches(lambda: ((b["a"], b["b"]) for b in it.iter(32)), touch_pair)


def W9():
    it = H.IterableDataset.from_generator(lambda: ({"x": i} for i in range(200_000))).map(
        lambda d: {"x": python_function(d["x"])}
    )
    return batches(lambda: (b["x"] for b in it.iter(256)), touch_ints)


def W10():
    it = H.IterableDataset.from_generator(lambda: ({"x": i} for i in range(2_000_000))).map(
        lambda d: {"x": d["x"] + 1}
    )
    return batches(lambda: (b["x"] for b in it.iter(1024)), touch_ints)


def W10b():
    it = H.IterableDataset.from_generator(lambda: ({"x": i} for i in range(2_000_000))).shuffle(
        seed=1, buffer_size=100_000
    )
    return batches(lambda: (b["x"] for b in it.iter(1024)), touch_ints)


def W12():
    return next(iter(ds("d1.hf").shuffle(seed=1).iter(32)))
