"""Pipelines as users of tf.data write them, with nothing but the import changed."""

import numpy as np
import pytest

import headrace.tf as tf


@pytest.fixture
def record_file(tmp_path):
    path = str(tmp_path / "train.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(10):
            example = tf.train.Example(
                features=tf.train.Features(
                    feature={
                        "image": tf.train.Feature(
                            float_list=tf.train.FloatList(value=np.arange(4) + number)
                        ),
                        "label": tf.train.Feature(
                            int64_list=tf.train.Int64List(value=[number % 2])
                        ),
                    }
                )
            )
            writer.write(example.SerializeToString())
    return path


def parse(record):
    features = tf.io.parse_single_example(
        record,
        {
            "image": tf.io.FixedLenFeature([4], tf.float32),
            "label": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    return tf.reshape(features["image"], [2, 2]), tf.cast(features["label"], tf.int32)


def test_arrays_and_lists():
    images, labels = np.zeros((6, 4, 4), np.float32), [0, 1, 2, 0, 1, 2]
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    assert dataset.element_spec == (
        tf.TensorSpec([4, 4], tf.float32),
        tf.TensorSpec([], tf.int32),
    )
    for image, label in dataset.take(1):
        assert image.shape == (4, 4)
        assert label.numpy() == 0


def test_generators():
    starts = []

    def gen(count):
        starts.append(count)
        for i in range(count):
            yield float(i), [1] * i

    dataset = tf.data.Dataset.from_generator(
        gen, output_types=(tf.float32, tf.int32), output_shapes=((), (None,)), args=(3,)
    )
    for _ in range(2):
        assert [b.numpy().tolist() for _, b in dataset] == [[], [1], [1, 1]]
    assert len(starts) == 2
    signature = (tf.TensorSpec([], tf.float32), tf.TensorSpec([None], tf.int32))
    dataset = tf.data.Dataset.from_generator(gen, args=(2,), output_signature=signature)
    assert dataset.element_spec == signature
    bad = tf.data.Dataset.from_generator(lambda: iter([1, "a"]), tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1"):
        list(bad)


def test_the_main_job(record_file):
    dataset = (
        tf.data.TFRecordDataset([record_file])
        .shuffle(10)
        .repeat(2)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(4)
        .prefetch(tf.data.AUTOTUNE)
    )
    assert dataset.element_spec[0].shape.as_list() == [None, 2, 2]
    assert "runs as a graph" in dataset.explain()
    labels = [int(label) for _, batch in dataset for label in batch]
    assert sorted(labels) == [0] * 10 + [1] * 10


def test_shuffle_and_repeat():
    both = tf.data.Dataset.range(5).apply(tf.data.experimental.shuffle_and_repeat(5, 2, seed=1))
    assert sorted(int(x) for x in both) == sorted([*range(5), *range(5)])


def test_map_before_and_after_batch():
    before = tf.data.Dataset.range(6).map(lambda x: x * 2).batch(3)
    after = tf.data.Dataset.range(6).batch(3).map(lambda x: x * 2)
    assert [x.numpy().tolist() for x in before] == [x.numpy().tolist() for x in after]


def test_filter_and_sample(record_file):
    dataset = tf.data.TFRecordDataset(record_file).map(parse)
    negative = dataset.filter(lambda features, label: label == 0).repeat()
    positive = dataset.filter(lambda features, label: tf.math.equal(label, 1)).repeat()
    mixed = [
        tf.data.Dataset.sample_from_datasets([negative, positive], [0.5, 0.5], seed=1),
        tf.data.experimental.sample_from_datasets([negative, positive], [0.5, 0.5], seed=1),
    ]
    first, second = ([int(label) for _, label in mix.take(20)] for mix in mixed)
    assert first == second
    assert set(first) == {0, 1}


def test_rejection_resampling():
    dataset = tf.data.Dataset.range(1000).map(lambda x: (x, tf.cast(x % 10 == 0, tf.int32)))
    even = dataset.apply(
        tf.data.experimental.rejection_resample(
            lambda x, label: label, target_dist=[0.5, 0.5], initial_dist=[0.9, 0.1], seed=3
        )
    ).map(lambda extra_label, features_and_label: features_and_label)
    labels = [int(label) for _, label in even]
    assert 0.3 < np.mean(labels) < 0.7


def test_cache_runs_the_slow_function_once(tmp_path):
    calls = []

    def slow(x):
        calls.append(1)
        return x

    def mapped(x):
        return tf.py_function(slow, [x], tf.int64)

    for cached in (
        tf.data.Dataset.range(3).map(mapped).cache(),
        tf.data.Dataset.range(3).map(mapped).cache(str(tmp_path / "cache")),
    ):
        calls.clear()
        for _ in range(2):
            assert [int(x) for x in cached.map(lambda x: x + 1)] == [1, 2, 3]
        assert len(calls) == 3


def test_interleaving_files(record_file):
    files = tf.data.Dataset.from_tensor_slices([record_file, record_file])
    records = files.interleave(
        lambda x: tf.data.TFRecordDataset(x),
        cycle_length=2,
        block_length=1,
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    labels = [int(label) for _, label in records.map(parse)]
    assert labels == [0, 0, 1, 1] * 5


def test_a_loop_of_ones_own():
    run = iter(tf.data.Dataset.range(4))
    assert run.next().numpy() == 0
    assert run.get_next().numpy() == 1
    assert next(run).numpy() == 2
    assert (
        tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next().numpy() == 0
    )
    run.get_next()
    with pytest.raises(tf.errors.OutOfRangeError):
        run.get_next()
    with pytest.raises(StopIteration):
        next(run)


def test_splits():
    full = tf.data.Dataset.range(10)
    train, test = full.take(7).shuffle(7, seed=1), full.skip(7).take(2)
    assert sorted(int(x) for x in train) == list(range(7))
    assert [int(x) for x in test] == [7, 8]
    assert len(test) == 2


def test_zip():
    numbers, letters = tf.data.Dataset.range(2), tf.data.Dataset.from_tensor_slices(["a", "b"])
    for dataset in (
        tf.data.Dataset.zip((numbers, letters)),
        tf.data.Dataset.zip(numbers, letters),
    ):
        assert [(int(n), s.numpy()) for n, s in dataset] == [(0, b"a"), (1, b"b")]


def test_dicts_for_a_model():
    wavs = tf.data.Dataset.from_tensor_slices((np.zeros((4, 8), np.float32), [0, 1, 0, 1]))
    dataset = wavs.map(lambda wav, label: ({"wav": wav}, label)).batch(2).repeat(2).prefetch(1)
    features, label = next(iter(dataset))
    assert features["wav"].shape.as_list() == [2, 8]
    assert label.dtype == tf.int32
