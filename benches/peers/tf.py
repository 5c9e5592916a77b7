"""tf.data with AUTOTUNE.

CRC of data and length is verified. peers/tf_plain.py is the same without parallelism. Files are
read one after another: num_parallel_reads=AUTOTUNE halved W3b and W6b on 2 cores.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from data import FLOATS, INTS
from workloads import (
    FILES,
    OUT,
    batches,
    big_elements,
    blobs,
    elements,
    python_function,
    rows,
    touch_images,
    touch_ints,
    touch_list,
    touch_padded,
    touch_pair,
    touch_tabular,
    touch_tensor,
    write_loop,
)

D = tf.data
AUTO = D.AUTOTUNE
F = tf.io.FixedLenFeature
TAB = {
    "label": F([], tf.int64),
    **{k: F([], tf.float32) for k in FLOATS},
    **{k: F([], tf.int64) for k in INTS},
}


def init():
    D.Dataset.range(1).batch(1).get_single_element()


def rec(files, **k):
    return D.TFRecordDataset(files, **k)


def npy(ds):
    return ds.as_numpy_iterator()


def pre(ds):
    return ds.prefetch(AUTO) if AUTO else ds


def par(**k):
    return {"num_parallel_calls": AUTO} if AUTO else {}


def W1():
    return elements(lambda: npy(rec(FILES["d5"])))


def W1b():
    return batches(lambda: npy(rec(FILES["d5"]).batch(1024)), touch_list)


def W2():
    return big_elements(lambda: npy(rec(FILES["d6"])))


def W3():
    return batches(
        lambda: npy(
            pre(
                rec(FILES["d1"])
                .shuffle(10000)
                .map(lambda r: tf.io.parse_single_example(r, TAB), **par())
                .batch(1024)
            )
        ),
        touch_tabular,
    )


def W3b():
    return batches(
        lambda: npy(
            pre(
                rec(FILES["d1"])
                .shuffle(10000)
                .batch(1024)
                .map(lambda r: tf.io.parse_example(r, TAB), **par())
            )
        ),
        touch_tabular,
    )


def W4():
    f = {"x": F([3, 50, 50], tf.float32)}
    return batches(
        lambda: npy(
            pre(
                rec(FILES["d3"])
                .map(lambda r: tf.io.parse_single_example(r, f)["x"], **par())
                .batch(32)
            )
        ),
        touch_tensor,
    )


def W4b():
    f = {"x": F([], tf.string)}

    def g(r):
        return tf.reshape(
            tf.io.decode_raw(tf.io.parse_single_example(r, f)["x"], tf.float32), [3, 50, 50]
        )

    return batches(lambda: npy(pre(rec(FILES["d3b"]).map(g, **par()).batch(32))), touch_tensor)


def W5():
    f = {"image/encoded": F([], tf.string), "image/label": F([], tf.int64)}

    def g(r):
        e = tf.io.parse_single_example(r, f)
        return tf.image.resize(
            tf.io.decode_jpeg(e["image/encoded"], channels=3), [224, 224]
        ) / 255.0, e["image/label"]

    return batches(lambda: npy(pre(rec(FILES["d2"]).map(g, **par()).batch(64))), touch_images)


def W6():
    f = {"tokens": tf.io.VarLenFeature(tf.int64)}

    def g(r):
        return tf.io.parse_single_example(r, f)["tokens"].values

    return batches(
        lambda: npy(pre(rec(FILES["d4"]).map(g, **par()).padded_batch(64))), touch_padded
    )


def W6b():
    f = {"tokens": tf.io.RaggedFeature(tf.int64)}

    def g(r):
        return tf.io.parse_example(r, f)["tokens"].to_tensor()

    return batches(lambda: npy(pre(rec(FILES["d4"]).batch(64).map(g, **par()))), touch_padded)


def W7():
    return batches(lambda: npy(rec(FILES["d7"], compression_type="GZIP").batch(1024)), touch_list)


def W8():
    x = np.load(FILES["d8"][0], mmap_mode="r")

    def gen():
        for i in range(len(x) - 1):
            yield x[i], x[i + 1]

    s = tf.TensorSpec((3, 50, 50), tf.float32)
    return batches(
        lambda: npy(pre(D.Dataset.from_generator(gen, output_signature=(s, s)).batch(32))),
        touch_pair,
    )


def W9():
    def g(x):
        return tf.ensure_shape(tf.numpy_function(python_function, [x], tf.int64), [])

    return batches(
        lambda: npy(pre(D.Dataset.range(200_000).map(g, **par()).batch(256))), touch_ints
    )


def W10():
    return batches(
        lambda: npy(D.Dataset.range(2_000_000).map(lambda x: x + 1).batch(1024)), touch_ints
    )


def W10b():
    return batches(lambda: npy(D.Dataset.range(2_000_000).shuffle(100_000).batch(1024)), touch_ints)


def W11():
    T = tf.train
    w = tf.io.TFRecordWriter(OUT)

    def put(d):
        f = {
            k: T.Feature(float_list=T.FloatList(value=[v]))
            if k[0] == "I"
            else T.Feature(int64_list=T.Int64List(value=[v]))
            for k, v in d.items()
        }
        w.write(T.Example(features=T.Features(feature=f)).SerializeToString())

    return write_loop(rows(), 100, put, w.close)


def W11b():
    w = tf.io.TFRecordWriter(OUT)
    return write_loop(blobs(), 125, w.write, w.close)


def W12():
    return next(
        iter(
            npy(
                rec(FILES["d1"][:1])
                .shuffle(1000)
                .batch(32)
                .map(lambda r: tf.io.parse_example(r, TAB))
            )
        )
    )
