"""The PyPI package `tfrecords` (C++ reader/writer from TensorFlow's code; CRC verified).

It has no Example parser of its own, so W3/W4/W6 are left out. with_share_memory=True maps the
file.
"""

from itertools import islice

import tfrecords as T
from workloads import (
    FILES,
    OUT,
    batches,
    big_elements,
    blobs,
    elements,
    example_class,
    rows,
    touch_list,
    write_loop,
)


def rec(key, comp=T.TFRecordCompressionType.NONE, shm=True):
    o = T.TFRecordOptions(compression_type=comp)
    return T.tf_record_iterator(FILES[key][0], options=o, with_share_memory=shm)


def W1():
    return elements(lambda: rec("d5"))


def W1b():
    def go():
        it = iter(rec("d5"))
        while b := list(islice(it, 1024)):
            yield b

    return batches(go, touch_list)


def W2():
    return big_elements(lambda: rec("d6"))


def W7():
    def go():
        it = iter(rec("d7", T.TFRecordCompressionType.GZIP, False))
        while b := list(islice(it, 1024)):
            yield b

    return batches(go, touch_list)


def W11():
    Ex = example_class()
    w = T.TFRecordWriter(OUT)

    def put(d):
        e = Ex()
        f = e.features.feature
        for k, v in d.items():
            if k[0] == "I":
                f[k].float_list.value.append(v)
            else:
                f[k].int64_list.value.append(v)
        w.write(e.SerializeToString())

    return write_loop(rows(), 100, put, w.close)


def W11b():
    w = T.TFRecordWriter(OUT)
    return write_loop(blobs(), 125, w.write, w.close)


def W12():
    return list(islice(iter(rec("d1")), 32))
