"""headrace, each job as its documentation would have it. CRCs of length and data are verified."""

import numpy as np
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

import headrace as hr

AUTO = hr.AUTOTUNE
INT = hr.io.FixedLenFeature([], np.int64)
FLOAT = hr.io.FixedLenFeature([], np.float32)
TABULAR = {"label": INT, **dict.fromkeys(FLOATS, FLOAT), **dict.fromkeys(INTS, INT)}
FLOAT_TENSOR = {"x": hr.io.FixedLenFeature([3, 50, 50], np.float32)}
RAW_TENSOR = {"x": hr.io.FixedLenFeature([], bytes)}
IMAGE = {"image/encoded": hr.io.FixedLenFeature([], bytes), "image/label": INT}
TOKENS = {"tokens": hr.io.VarLenFeature(np.int64)}


def parse_row(record):
    return hr.io.parse_single_example(record, TABULAR)


def parse_rows(records):
    return hr.io.parse_example(records, TABULAR)


def parse_floats(record):
    return hr.io.parse_single_example(record, FLOAT_TENSOR)["x"]


def parse_raw(record):
    raw = hr.io.parse_single_example(record, RAW_TENSOR)["x"]
    return hr.io.decode_raw(raw, np.float32).reshape(3, 50, 50)


def parse_image(record):
    example = hr.io.parse_single_example(record, IMAGE)
    image = hr.image.decode_jpeg(example["image/encoded"], channels=3)
    return hr.image.resize(image, (224, 224)) / np.float32(255), example["image/label"]


def parse_tokens(record):
    return hr.io.parse_single_example(record, TOKENS)["tokens"].values


def add_one(x):
    return x + 1


def records(key, **options):
    return hr.TFRecordDataset(FILES[key], **options)


def W1():
    return elements(lambda: records("d5"))


def W1b():
    return batches(lambda: records("d5").batch(1024).prefetch(AUTO), touch_list)


def W2():
    return big_elements(lambda: records("d6").prefetch(AUTO))


def W3():
    ds = records("d1").shuffle(10_000).map(parse_row, num_parallel_calls=AUTO).batch(1024)
    return batches(lambda: ds.prefetch(AUTO), touch_tabular)


def W3b():
    ds = records("d1").shuffle(10_000).batch(1024).map(parse_rows, num_parallel_calls=AUTO)
    return batches(lambda: ds.prefetch(AUTO), touch_tabular)


def W4():
    ds = records("d3").map(parse_floats, num_parallel_calls=AUTO).batch(32)
    return batches(lambda: ds.prefetch(AUTO), touch_tensor)


def W4b():
    ds = records("d3b").map(parse_raw, num_parallel_calls=AUTO).batch(32)
    return batches(lambda: ds.prefetch(AUTO), touch_tensor)


def W5():
    ds = records("d2").map(parse_image, num_parallel_calls=AUTO).batch(64)
    return batches(lambda: ds.prefetch(AUTO), touch_images)


def W6():
    ds = records("d4").map(parse_tokens, num_parallel_calls=AUTO).padded_batch(64)
    return batches(lambda: ds.prefetch(AUTO), touch_padded)


W6b = W6  # parsing record by record is best practice here


def W7():
    ds = records("d7", compression_type="GZIP").batch(1024)
    return batches(lambda: ds.prefetch(AUTO), touch_list)


def W8():
    x = np.load(FILES["d8"][0], mmap_mode="r")
    ds = hr.Dataset.from_tensor_slices((x[:-1], x[1:])).batch(32)
    return batches(lambda: ds.prefetch(AUTO), touch_pair)


def W8g():
    x = np.load(FILES["d8"][0], mmap_mode="r")

    def pairs():
        for i in range(len(x) - 1):
            yield x[i], x[i + 1]

    shape = (3, 50, 50)
    ds = hr.Dataset.from_generator(
        pairs, output_types=(np.float32, np.float32), output_shapes=(shape, shape)
    )
    return batches(lambda: ds.batch(32).prefetch(AUTO), touch_pair)


def W9():
    return batches(lambda: hr.Dataset.range(200_000).map(python_function).batch(256), touch_ints)


def W9p():
    ds = hr.Dataset.range(200_000).map(python_function, executor="python")
    return batches(lambda: ds.batch(256), touch_ints)


def W10():
    return batches(lambda: hr.Dataset.range(2_000_000).map(add_one).batch(1024), touch_ints)


def W10b():
    return batches(lambda: hr.Dataset.range(2_000_000).shuffle(100_000).batch(1024), touch_ints)


def W11():
    w = hr.io.TFRecordWriter(OUT)
    return write_loop(rows(), 100, lambda row: w.write(hr.io.serialize_example(row)), w.close)


def W11b():
    w = hr.io.TFRecordWriter(OUT)
    return write_loop(blobs(), 125, w.write, w.close)


def W12():
    return next(iter(records("d1").shuffle(1000).batch(32).map(parse_rows)))
