"""`parse_example_dataset` and `make_batched_features_dataset`, under both sets of names."""

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

experimental = hr.experimental


@pytest.fixture
def files(tmp_path):
    for file in range(3):
        with hr.io.TFRecordWriter(tmp_path / f"{file}.tfrecord") as writer:
            for i in range(5):
                number = 5 * file + i
                example = {"x": [number, -number], "y": float(number)}
                if i > 0:
                    example["v"] = [b"a"] * i
                writer.write(hr.io.serialize_example(example))
    return str(tmp_path / "*.tfrecord")


FEATURES = {
    "x": hr.io.FixedLenFeature([2], np.int64),
    "y": hr.io.FixedLenFeature([], np.float32),
    "v": hr.io.VarLenFeature("string"),
}
TF_FEATURES = {
    "x": tf.io.FixedLenFeature([2], tf.int64),
    "y": tf.io.FixedLenFeature([], tf.float32),
    "v": tf.io.VarLenFeature(tf.string),
    "r": tf.io.RaggedFeature(tf.string, value_key="v"),
}


def test_batches_of_messages_are_parsed(files):
    dataset = hr.TFRecordDataset(sorted(map(str, _paths(files)))).batch(4)
    parsed = dataset.apply(experimental.parse_example_dataset(FEATURES, num_parallel_calls=2))
    assert parsed.element_spec["x"] == hr.TensorSpec((None, 2), np.int64)
    assert [batch["y"].tolist() for batch in parsed][:2] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    for wrong in (hr.Dataset.range(3).batch(2), hr.Dataset.from_tensors(b"a")):
        with pytest.raises(TypeError, match="vectors of strings"):
            wrong.apply(experimental.parse_example_dataset(FEATURES))
    with pytest.raises(ValueError, match="`features` is required"):
        experimental.parse_example_dataset(None)
    with pytest.raises(ValueError, match="cannot be empty"):
        experimental.parse_example_dataset({})


def _paths(pattern):
    return [path.decode() for path in tf.io.matching_files(pattern).numpy()]


def test_files_become_batches(files):
    dataset = experimental.make_batched_features_dataset(
        files, 4, FEATURES, label_key="y", num_epochs=1, shuffle=False
    )
    batches = list(dataset)
    assert [len(label) for _, label in batches] == [4, 4, 4, 3]
    assert np.concatenate([label for _, label in batches]).tolist() == list(range(15))
    features, _ = batches[0]
    assert set(features) == {"x", "v"}
    assert features["x"].tolist() == [[0, 0], [1, -1], [2, -2], [3, -3]]
    assert features["v"].shape == (4, 3)


@pytest.mark.parametrize("threads", [1, 3, hr.AUTOTUNE])
def test_each_epoch_has_every_example(files, threads):
    dataset = experimental.make_batched_features_dataset(
        files, 5, FEATURES, num_epochs=2, shuffle_seed=1, reader_num_threads=threads
    )
    seen = np.concatenate([batch["y"] for batch in dataset])
    assert sorted(seen.tolist()) == sorted([*range(15), *range(15)])
    assert seen.tolist() != sorted(seen.tolist())


def test_without_a_number_of_epochs_there_is_no_end(files):
    dataset = experimental.make_batched_features_dataset(files, 4, FEATURES)
    assert dataset.element_spec["x"].shape == (4, 2)
    assert [len(batch["y"]) for batch in dataset.take(10)] == [4] * 10


def test_a_reader_may_give_keys(files):
    def reader(path, word):
        return hr.TFRecordDataset(path).map(lambda record: (word, record))

    dataset = experimental.make_batched_features_dataset(
        files,
        15,
        FEATURES,
        reader=reader,
        reader_args=["key"],
        num_epochs=1,
        shuffle=False,
        drop_final_batch=True,
    )
    (batch,) = dataset
    assert batch["y"].tolist() == list(range(15))


def test_labels_and_files_must_exist(files, tmp_path):
    with pytest.raises(ValueError, match="label_key"):
        experimental.make_batched_features_dataset(files, 2, FEATURES, label_key="z")
    with pytest.raises(ValueError, match="No files matched"):
        experimental.make_batched_features_dataset(str(tmp_path / "no*"), 2, FEATURES)


def test_the_drop_in_has_them_too(files):
    dataset = tf.data.experimental.make_batched_features_dataset(
        files, 4, TF_FEATURES, label_key="y", num_epochs=1, shuffle=False
    )
    assert dataset.element_spec[1] == tf.TensorSpec([None], tf.float32)
    features, label = next(iter(dataset))
    assert label.numpy().tolist() == [0, 1, 2, 3]
    assert isinstance(features["v"], tf.SparseTensor)
    assert features["r"].to_list() == [[], [b"a"], [b"a"] * 2, [b"a"] * 3]
    records = tf.data.TFRecordDataset(_paths(files)).batch(15)
    parsed = records.apply(tf.data.experimental.parse_example_dataset(TF_FEATURES))
    (batch,) = parsed
    assert batch["x"].shape == (15, 2)
    read = tf.data.experimental.make_batched_features_dataset(
        files, 15, TF_FEATURES, reader=tf.data.TFRecordDataset, num_epochs=1, shuffle=False
    )
    (batch,) = read
    assert batch["y"].numpy().tolist() == list(range(15))
