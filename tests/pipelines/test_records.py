"""Pipelines over record files: writing Examples, reading, parsing, interleaving."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from processes import finish, start

import headrace as hr
import headrace.tf as tf

DATA = Path(__file__).parent.parent / "data"
MNIST = str(DATA / "mnist.tfrecord")
TAXI = str(DATA / "taxi-00001-of-00002.tfrecord.gz")


def example(number):
    """The bytes of an Example, built as the tutorials build it."""
    image = np.full((2, 3), number / 2, np.float32)
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "image": tf.train.Feature(float_list=tf.train.FloatList(value=image.flatten())),
                "shape": tf.train.Feature(int64_list=tf.train.Int64List(value=image.shape)),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[np.int64(number)])),
                "name": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[f"n{number}".encode()])
                ),
            }
        )
    ).SerializeToString()


# Building messages.


def test_an_example_is_read_back():
    record = example(3)
    again = tf.train.Example()
    again.ParseFromString(record)
    assert tf.train.Example.FromString(record) == again
    features = again.features.feature
    assert list(features["image"].float_list.value) == [1.5] * 6
    assert list(features["shape"].int64_list.value) == [2, 3]
    assert features["label"].int64_list.value[0] == 3
    assert features["name"].bytes_list.value[0] == b"n3"
    assert sorted(features) == ["image", "label", "name", "shape"]


def test_an_example_is_what_protobuf_makes_of_it():
    label = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    message = tf.train.Example(features=tf.train.Features(feature={"a": label}))
    # Field 1 of each message, the key as field 1 and the value as field 2 of the map's entry, the
    # integers packed in field 1 of field 3.
    assert message.SerializeToString() == bytes.fromhex("0a0c0a0a0a016112051a030a0103")


def test_an_example_of_arrays():
    features = {"image": np.full((2, 3), 1.5, np.float32), "label": 3, "name": b"n3"}
    record = hr.io.serialize_example(features)
    message = tf.train.Example.FromString(record)
    assert list(message.features.feature["image"].float_list.value) == [1.5] * 6
    parsed = hr.io.parse_single_example(
        record,
        {
            "image": hr.io.FixedLenFeature([2, 3], np.float32),
            "label": hr.io.FixedLenFeature([], np.int64),
            "name": hr.io.FixedLenFeature([], bytes),
        },
    )
    assert (parsed["image"] == features["image"]).all()
    assert (parsed["label"], parsed["name"]) == (3, b"n3")


# Writing files.


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_are_written_in_every_way(compression, tmp_path):
    records = [example(i) for i in range(5)]
    paths = [str(tmp_path / f"{i}.tfrecord") for i in range(4)]
    options = tf.io.TFRecordOptions(compression_type=compression)
    with tf.io.TFRecordWriter(paths[0], options) as writer:
        for record in records:
            writer.write(record)
    dataset = tf.data.Dataset.from_tensor_slices(records)
    tf.data.experimental.TFRecordWriter(paths[1], compression_type=compression).write(dataset)
    hr.experimental.TFRecordWriter(paths[2], compression).write(
        hr.Dataset.from_tensor_slices(records)
    )
    with hr.io.TFRecordWriter(paths[3], compression) as writer:
        for record in records:
            writer.write(record)
    assert len({Path(path).read_bytes() for path in paths}) == 1 or compression
    for path in paths:
        assert list(hr.TFRecordDataset(path, compression)) == records
        read = tf.data.TFRecordDataset(path, compression_type=compression)
        assert [record.numpy() for record in read] == records


@pytest.mark.parametrize(
    "writer", ["hr.io.TFRecordWriter(path)", "headrace.tf.io.TFRecordWriter(path)"]
)
def test_a_crash_leaves_whole_records_up_to_the_cut(writer, tmp_path):
    path = tmp_path / "cut.tfrecord"
    process = start(
        f"""
        import headrace.tf
        path = sys.argv[1]
        writer = {writer}
        for i in range(100):
            writer.write(b"%03d" % i)
        writer.flush()
        for i in range(100, 100_000):
            writer.write(b"%03d" % i)
        tell(written=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        path,
    )
    assert finish(process).code == -signal.SIGKILL
    broken = []
    seen = list(hr.TFRecordDataset(path).ignore_errors(report=broken))
    assert all(isinstance(error, hr.errors.DataLossError) for error in broken)
    assert len(broken) <= 1
    assert len(seen) >= 100
    assert seen == [b"%03d" % i for i in range(len(seen))]


# The main job.


def test_records_are_shuffled_parsed_and_batched_under_tensorflows_names():
    description = {
        "image_floats": tf.io.FixedLenFeature([784], tf.float32),
        "image_class": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(record):
        features = tf.io.parse_single_example(record, description)
        image = tf.reshape(features["image_floats"], [28, 28])
        return image, tf.cast(features["image_class"], tf.int32)

    dataset = (
        tf.data.TFRecordDataset([MNIST])
        .shuffle(2000, seed=7)
        .repeat(2)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(100)
        .prefetch(tf.data.AUTOTUNE)
    )
    assert dataset.element_spec == (
        tf.TensorSpec(shape=(None, 28, 28), dtype=tf.float32),
        tf.TensorSpec(shape=(None,), dtype=tf.int32),
    )
    epochs = np.zeros((2, 10), int)
    for number, (images, labels) in enumerate(dataset):
        assert images.shape == (100, 28, 28)
        assert float(tf.reduce_max(images)) <= 0.5
        epochs[number // 10] += np.bincount(labels.numpy(), minlength=10)
    assert number == 19
    # Whole epochs, since shuffle precedes repeat.
    assert (epochs[0] == epochs[1]).all()
    assert epochs[0].sum() == 1000


def test_records_are_shuffled_parsed_and_batched():
    def parse(record):
        features = hr.io.parse_single_example(
            record,
            {
                "image_floats": hr.io.FixedLenFeature([784], np.float32),
                "image_class": hr.io.FixedLenFeature([], np.int64),
            },
        )
        return features["image_floats"].reshape(28, 28), features["image_class"]

    dataset = (
        hr.TFRecordDataset(MNIST)
        .shuffle(2000, seed=7)
        .repeat(2)
        .map(parse, num_parallel_calls=hr.AUTOTUNE)
        .batch(100)
        .prefetch(hr.AUTOTUNE)
    )
    labels = np.concatenate([labels for _, labels in dataset])
    assert len(labels) == 2000
    assert (np.bincount(labels[:1000]) == np.bincount(labels[1000:])).all()
    assert (labels[:1000] != labels[1000:]).any()


@pytest.mark.parametrize("make", [tf.data.Dataset.range, hr.Dataset.range])
def test_epochs_are_whole_when_shuffle_comes_first_and_blurred_after(make):
    whole = [int(x) for x in make(50).shuffle(50, seed=5).repeat(2)]
    assert sorted(whole[:50]) == sorted(whole[50:]) == list(range(50))
    blurred = [int(x) for x in make(50).repeat(2).shuffle(50, seed=5)]
    assert sorted(blurred) == sorted(whole)
    assert len(set(blurred[:50])) < 50


def test_compressed_trips_with_missing_features():
    schema = {
        "trip_miles": tf.io.VarLenFeature(tf.float32),
        "trip_seconds": tf.io.FixedLenFeature([], tf.float32, default_value=-1.0),
        "payment_type": tf.io.FixedLenFeature([], tf.string, default_value=""),
    }
    dataset = (
        tf.data.TFRecordDataset(TAXI, compression_type="GZIP")
        .batch(500)
        .map(lambda records: tf.io.parse_example(records, schema))
    )
    rows = missing = 0
    for batch in dataset:
        rows += batch["trip_seconds"].shape[0]
        missing += int(tf.reduce_sum(tf.cast(batch["trip_seconds"] < 0.0, tf.int32)))
        assert batch["trip_miles"].dense_shape[0] == batch["payment_type"].shape[0]
    own_schema = {
        "trip_seconds": hr.io.FixedLenFeature([], np.float32, default_value=-1.0),
    }
    own = list(
        hr.TFRecordDataset(TAXI, "GZIP")
        .map(lambda record: hr.io.parse_single_example(record, own_schema))
        .batch(500)
    )
    assert rows == sum(len(batch["trip_seconds"]) for batch in own) == 5012
    assert missing == sum(int((batch["trip_seconds"] < 0).sum()) for batch in own)


# Several files at once.


@pytest.fixture
def files(tmp_path):
    """Files of 1, 2, 3 and 4 records that tell their file and number."""
    paths = []
    for number in range(1, 5):
        paths.append(str(tmp_path / f"{number}.tfrecord"))
        with hr.io.TFRecordWriter(paths[-1]) as writer:
            for i in range(number):
                writer.write(f"{number}{i}".encode())
    return paths


# What tf.data yields for inputs of these lengths.
ORDERS = {
    (2, 1): "10 20 21 30 31 40 32 41 42 43",
    (2, 2): "10 20 21 30 31 32 40 41 42 43",
    (4, 1): "10 20 30 40 21 31 41 32 42 43",
    (4, 3): "10 20 21 30 31 32 40 41 42 43",
}


@pytest.mark.parametrize(("cycle", "block"), ORDERS)
@pytest.mark.parametrize("calls", [None, tf.data.AUTOTUNE, 2])
def test_files_are_interleaved(files, cycle, block, calls):
    dataset = tf.data.Dataset.from_tensor_slices(files).interleave(
        lambda x: tf.data.TFRecordDataset(x),
        cycle_length=cycle,
        block_length=block,
        num_parallel_calls=calls,
    )
    assert [record.numpy().decode() for record in dataset] == ORDERS[cycle, block].split()
    own = hr.Dataset.from_tensor_slices(files).interleave(
        hr.TFRecordDataset, cycle, block, num_parallel_calls=calls
    )
    assert [record.decode() for record in own] == ORDERS[cycle, block].split()


def test_all_files_are_interleaved_by_default(files):
    dataset = tf.data.Dataset.from_tensor_slices(files).interleave(
        lambda x: tf.data.TFRecordDataset(x), num_parallel_calls=tf.data.AUTOTUNE
    )
    assert sorted(record.numpy() for record in dataset) == sorted(hr.TFRecordDataset(files))


@pytest.mark.parametrize("reads", [2, 4, tf.data.AUTOTUNE])
def test_the_reader_itself_interleaves_files(files, reads):
    dataset = tf.data.TFRecordDataset(files, num_parallel_reads=reads)
    seen = [record.numpy().decode() for record in dataset]
    if reads == tf.data.AUTOTUNE:
        assert sorted(seen) == sorted(ORDERS[4, 1].split())
    else:
        assert seen == ORDERS[reads, 1].split()
    assert [record.decode() for record in hr.TFRecordDataset(files, None, None, reads)] == seen


def test_leaving_an_interleave_early_closes_its_files(files):
    before = set(os.listdir("/proc/self/fd"))
    dataset = hr.Dataset.from_tensor_slices(files * 10).interleave(
        hr.TFRecordDataset, 8, num_parallel_calls=4
    )
    with dataset.iterator() as records:
        next(records)
    assert len(set(os.listdir("/proc/self/fd"))) <= len(before) + 1
