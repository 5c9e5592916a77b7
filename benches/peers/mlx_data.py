"""mlx-data (C++ core; no TFRecord).

Images from tar (its own reader, decoder, resizer), the rest through Python.
"""

import mlx.data as dx
import numpy as np
from workloads import (
    FILES,
    batches,
    converted,
    python_function,
    touch_images,
    touch_ints,
    touch_pair,
)


def W5():  # no labels: mlx-data has no cheap way to read the .cls files
    def go():
        for i in range(4):
            names = [
                n
                for n in (x["file"].tobytes() for x in dx.files_from_tar(converted(f"d2-{i}.tar")))
                if n.endswith(b".jpg")
            ]
            st = (
                dx.buffer_from_vector([{"file": n} for n in names])
                .to_stream()
                .read_from_tar(converted(f"d2-{i}.tar"), "file", "image")
                .load_image("image", from_memory=True)
                .image_resize("image", 224, 224)
                .key_transform("image", lambda x: x.astype(np.float32) / 255)
                .batch(64)
                .prefetch(4, 2)
            )
            for b in st:
                yield b["image"], [0]

    return batches(go, touch_images)


def W8():
    x = np.load(FILES["d8"][0], mmap_mode="c")

    def gen():
        for i in range(len(x) - 1):
            yield {"a": np.asarray(x[i]), "b": np.asarray(x[i + 1])}

    return batches(
        lambda: ((b["a"], b["b"]) for b in dx.stream_python_iterable(gen).batch(32)), touch_pair
    )


def W9():
    def gen():
        return ({"x": np.int64(i)} for i in range(200_000))

    return batches(
        lambda: (
            b["x"]
            for b in dx.stream_python_iterable(gen).key_transform("x", python_function).batch(256)
        ),
        touch_ints,
    )


def W10():
    def gen():
        return ({"x": np.int64(i)} for i in range(2_000_000))

    return batches(
        lambda: (
            b["x"]
            for b in dx.stream_python_iterable(gen).key_transform("x", lambda x: x + 1).batch(1024)
        ),
        touch_ints,
    )


def W10b():
    def gen():
        return ({"x": np.int64(i)} for i in range(2_000_000))

    return batches(
        lambda: (b["x"] for b in dx.stream_python_iterable(gen).shuffle(100_000).batch(1024)),
        touch_ints,
    )
