"""Pipelines over arrays in memory and in mapped files: slices, splits, zips."""

import numpy as np
import pytest
from processes import run

import headrace as hr
import headrace.tf as tf

IMAGES = np.arange(6 * 4 * 4, dtype=np.uint8).reshape(6, 4, 4)
LABELS = [0, 1, 2, 0, 1, 2]


def test_images_and_labels_under_tensorflows_names():
    dataset = tf.data.Dataset.from_tensor_slices((IMAGES, LABELS))
    assert dataset.element_spec == (
        tf.TensorSpec(shape=(4, 4), dtype=tf.uint8),
        tf.TensorSpec(shape=(), dtype=tf.int32),
    )
    for number, (image, label) in enumerate(dataset):
        assert (image.numpy() == IMAGES[number]).all()
        assert label.dtype == tf.int32
        assert int(label) == LABELS[number]


def test_images_and_labels_as_arrays():
    dataset = hr.Dataset.from_tensor_slices((IMAGES, LABELS)).batch(4)
    (first, labels), (last, _) = dataset
    assert first.dtype == np.uint8
    assert labels.dtype == np.int64
    assert (np.concatenate([first, last]) == IMAGES).all()


@pytest.mark.parametrize(
    "source",
    [
        "hr.Dataset.from_tensor_slices",
        "__import__('headrace.tf').tf.data.Dataset.from_tensor_slices",
    ],
)
def test_an_array_is_not_copied(source):
    ended = run(
        f"""
        make = {source}
        images = np.zeros((100, 1 << 20), np.uint8) + 1
        before = anonymous()
        dataset = make((images, list(range(100)))).batch(2)
        total = sum(int(labels.sum()) for _, labels in dataset)
        tell(grown=anonymous() - before, total=total)
        """
    )
    assert ended.clean, ended.err
    told = eval(ended.out)
    assert told["total"] == sum(range(100))
    assert told["grown"] < 40 << 20


GENERATED = """
    def pairs(mapped, start, stop):
        for i in range(start, stop - 1):
            yield mapped[i], mapped[i + 1]

    dataset = tf.data.Dataset.from_generator(
        pairs,
        output_types=(tf.uint8, tf.uint8),
        output_shapes=((row,), (row,)),
        args=[mapped, 0, rows],
    )
"""
GENERATED_AS_ARRAYS = """
    def pairs(mapped, start, stop):
        for i in range(start, stop - 1):
            yield mapped[i], mapped[i + 1]

    dataset = hr.Dataset.from_generator(
        pairs, output_signature=(hr.TensorSpec([row], np.uint8),) * 2, args=(mapped, 0, rows)
    )
"""
SLICED = "    dataset = tf.data.Dataset.from_tensor_slices((mapped[:-1], mapped[1:]))"
SLICED_AS_ARRAYS = "    dataset = hr.Dataset.from_tensor_slices((mapped[:-1], mapped[1:]))"


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        (GENERATED, 60),
        (GENERATED_AS_ARRAYS, 60),
        (SLICED, 10),
        (SLICED_AS_ARRAYS, 10),
    ],
    ids=["generator", "generator of arrays", "slices", "slices of arrays"],
)
def test_a_mapped_file_costs_little_memory(source, limit, tmp_path):
    path = tmp_path / "map.bin"
    rows, row = 24_000, 10_000
    with path.open("wb") as file:
        file.truncate(rows * row)
        for i in range(0, rows, 100):
            file.seek(i * row)
            file.write(bytes([i // 100 % 256]))
    # The buffer of a generator holds its elements; that of slices holds numbers.
    buffer = 1_000 if limit == 60 else rows
    code = (
        "import headrace.tf as tf\n"
        f"mapped = np.memmap(sys.argv[1], np.uint8, 'r', shape=({rows}, {row}))\n"
        f"rows, row = mapped.shape\n"
        "if True:\n"
        f"{source}\n"
        "    dataset = dataset.shuffle(BUFFER, reshuffle_each_iteration=False).batch(32)\n"
        "before = anonymous()\n"
        "peak = count = same = 0\n"
        "for now_, then in dataset:\n"
        "    count += len(now_)\n"
        "    peak = max(peak, anonymous() - before)\n"
        "tell(count=count, peak=peak)\n"
    ).replace("BUFFER", str(buffer))
    ended = run(code, path)
    assert ended.clean, ended.err
    told = eval(ended.out)
    assert told["count"] == rows - 1
    assert told["peak"] < limit << 20


def test_train_validation_and_test_splits_under_tensorflows_names():
    dataset = tf.data.Dataset.range(100)
    train = dataset.take(70).shuffle(70, seed=3)
    validation = dataset.skip(70).take(15)
    test = dataset.skip(85)
    parts = [[int(x) for x in part] for part in (train, validation, test)]
    assert sorted(parts[0]) == list(range(70))
    assert parts[0] != sorted(parts[0])
    assert parts[1:] == [list(range(70, 85)), list(range(85, 100))]
    assert [len(part) for part in (train, validation, test)] == [70, 15, 15]


def test_splits_of_a_source_with_random_access_cost_nothing():
    called = []

    def load(x):
        called.append(int(x))
        return x

    dataset = hr.Dataset.range(10**12).map(load)
    assert list(dataset.skip(10**12 - 3).take(2)) == [10**12 - 3, 10**12 - 2]
    assert called == [10**12 - 3, 10**12 - 2]


def test_features_and_labels_are_zipped_under_tensorflows_names():
    features = tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]])
    labels = tf.data.Dataset.range(10)
    for dataset in (
        tf.data.Dataset.zip((features, labels)),
        tf.data.Dataset.zip(features, labels),
    ):
        assert len(dataset) == 2
        seen = [(feature.numpy().tolist(), int(label)) for feature, label in dataset]
        assert seen == [([1.0, 2.0], 0), ([3.0, 4.0], 1)]


def test_features_and_labels_are_zipped():
    features = hr.Dataset.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]])
    named = hr.Dataset.zip({"x": features, "y": hr.Dataset.range(5, 10)}).batch(2)
    (batch,) = named
    assert batch["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert batch["y"].tolist() == [5, 6]
