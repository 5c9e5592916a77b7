"""Pipelines of the usual steps: maps around batches, filters, caches, overlap, options."""

import time

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

# A map before the batch and after it.


def test_a_map_of_elements_and_of_batches_under_tensorflows_names():
    def increment(x):
        return x + 1

    elements = tf.data.Dataset.range(1000).map(increment).batch(256)
    batches = tf.data.Dataset.range(1000).batch(256).map(increment)
    for one, other in zip(elements, batches, strict=True):
        assert one.numpy().tolist() == other.numpy().tolist()


def test_a_map_of_elements_runs_on_many_at_once():
    dataset = hr.Dataset.range(1000).map(lambda x: x + 1)
    assert "runs as a graph" in dataset.explain()
    assert np.concatenate(list(dataset.batch(256))).tolist() == list(range(1, 1001))
    calls = []

    def observe(x):
        calls.append(np.shape(x))
        return x + 1

    assert len(list(hr.Dataset.range(1000).batch(256).map(observe))) == 4
    assert calls == [(256,), (256,), (256,), (232,)]


# Options in the older nested spelling and in today's.


def test_options_of_both_spellings():
    dataset = tf.data.Dataset.range(10).map(lambda x: x * 2).filter(lambda x: x % 3 == 0)
    options = tf.data.Options()
    options.experimental_optimization.map_vectorization.enabled = True
    options.experimental_optimization.map_and_filter_fusion = False
    options.experimental_deterministic = True
    options.experimental_threading.private_threadpool_size = 2
    older = dataset.with_options(options)
    options = tf.data.Options()
    options.experimental_optimization.map_and_filter_fusion = False
    options.deterministic = True
    options.threading.private_threadpool_size = 2
    newer = dataset.with_options(options)
    for changed in (older, newer):
        assert [int(x) for x in changed] == [0, 6, 12, 18]
        assert changed.options().deterministic is True
        assert changed.options().threading.private_threadpool_size == 2


@pytest.mark.parametrize("options", [tf.data.Options, hr.Options])
def test_unknown_options_are_refused(options):
    with pytest.raises(AttributeError, match="map_fusionn"):
        options().experimental_optimization.map_fusionn = True
    with pytest.raises(AttributeError, match="determinist"):
        options().determinist = True
    with pytest.raises(TypeError):
        options().deterministic = "yes"


# Filters.


def test_rows_are_filtered_under_tensorflows_names():
    rows = tf.data.Dataset.from_tensor_slices(({"x": [1.0, 2.0, 3.0]}, [0, 1, 0]))
    kept = rows.filter(lambda features, label: label == 0)
    assert [float(features["x"]) for features, _ in kept] == [1.0, 3.0]

    def is_zero(features, label):
        return tf.math.equal(label, 0)

    assert [float(features["x"]) for features, _ in rows.filter(is_zero)] == [1.0, 3.0]


def test_rows_are_filtered():
    rows = hr.Dataset.from_tensor_slices(({"x": [1.0, 2.0, 3.0]}, [0, 1, 0]))
    kept = rows.filter(lambda features, label: label == 0)
    assert [features["x"] for features, _ in kept] == [1.0, 3.0]
    assert list(hr.Dataset.range(9).filter(lambda x: np.equal(x % 4, 0))) == [0, 4, 8]


# Caches.


@pytest.mark.parametrize("in_file", [False, True])
def test_a_slow_function_below_a_cache_runs_once(in_file, tmp_path):
    filename = str(tmp_path / "cache") if in_file else ""
    calls = []

    def slow(x):
        calls.append(int(x))
        return np.int64(x) * 10

    def cheap(x):
        return x + 1

    dataset = tf.data.Dataset.range(5).map(lambda x: tf.numpy_function(slow, [x], tf.int64))
    dataset = dataset.cache(filename).map(cheap)
    for _ in range(3):
        assert [int(x) for x in dataset] == [1, 11, 21, 31, 41]
    assert calls == list(range(5))

    calls.clear()
    own = hr.Dataset.range(5).map(slow, output_signature=hr.TensorSpec([], np.int64))
    own = own.cache(filename and filename + "-own").map(cheap)
    for _ in range(3):
        assert list(own) == [1, 11, 21, 31, 41]
    assert calls == list(range(5))


@pytest.mark.parametrize("in_file", [False, True])
def test_a_pass_left_early_leaves_nothing_that_is_read(in_file, tmp_path):
    filename = str(tmp_path / "cache") if in_file else ""
    calls = []

    def slow(x):
        calls.append(int(x))
        return x

    dataset = hr.Dataset.range(5).map(slow, output_signature=hr.TensorSpec([], np.int64))
    dataset = dataset.cache(filename)
    with dataset.iterator() as run:
        assert [next(run), next(run)] == [0, 1]
    for _ in range(2):
        assert list(dataset) == [0, 1, 2, 3, 4]
    assert calls == [0, 1, *range(5)]


# Names, waves and labels: preparing overlaps training.

NAMES = [f"{i:02}.wav" for i in range(32)]
LABELS = list(range(32))


def test_waves_are_read_shuffled_and_batched_under_tensorflows_names():
    def wave_of(name):
        return np.full(8, int(name.numpy()[:2]), np.float32)

    def read_wav(name, label):
        wav = tf.py_function(
            lambda n: np.full(8, int(n.numpy()[:2]), np.float32), [name], tf.float32
        )
        wav.set_shape([8])
        return wav, label

    def post_process(wav, label):
        return wav / 32.0, label

    dataset = (
        tf.data.Dataset.from_tensor_slices((NAMES, LABELS))
        .map(read_wav, num_parallel_calls=4)
        .shuffle(len(LABELS), seed=1)
        .map(post_process)
        .map(lambda wav, label: ({"wav": wav}, label))
        .batch(16)
        .repeat(2)
        .prefetch(1)
    )
    labels = []
    for features, batch in dataset:
        assert features["wav"].shape == (16, 8)
        assert (features["wav"].numpy()[:, 0] * 32 == batch.numpy()).all()
        labels += batch.numpy().tolist()
    assert sorted(labels[:32]) == sorted(labels[32:]) == LABELS
    assert labels[:32] != labels[32:]


def test_names_are_shuffled_before_one_map_of_all_three():
    def read_wav(name, label):
        return np.full(8, int(name[:2]), np.float32), label

    def post_process(wav, label):
        return wav / 32, label

    def named(wav, label):
        return {"wav": wav}, label

    def combined_map_fn(*args):
        return named(*post_process(*read_wav(*args)))

    dataset = (
        hr.Dataset.from_tensor_slices((NAMES, LABELS))
        .repeat(2)
        .shuffle(len(LABELS), seed=1)
        .map(combined_map_fn, num_parallel_calls=4)
        .batch(16)
        .prefetch(1)
    )
    rows = [(features["wav"][:, 0] * 32, batch) for features, batch in dataset]
    assert all((wavs == batch).all() for wavs, batch in rows)
    assert sorted(np.concatenate([batch for _, batch in rows])) == sorted(LABELS * 2)


@pytest.mark.parametrize("tensors", [True, False])
def test_preparing_the_next_batch_overlaps_the_training_step(tensors):
    unit = 0.05

    def prepare(x):
        time.sleep(2 * unit)
        return x

    if tensors:
        dataset = tf.data.Dataset.range(12).map(lambda x: tf.py_function(prepare, [x], tf.int64))
    else:
        dataset = hr.Dataset.range(12).map(prepare)

    def seconds_of_a_step(dataset):
        run = iter(dataset)
        next(run)
        began = time.monotonic()
        for _ in range(10):
            time.sleep(unit)
            next(run)
        return (time.monotonic() - began) / 10

    # The times of a busy machine are compared with one another.
    in_turn = seconds_of_a_step(dataset)
    overlapped = seconds_of_a_step(dataset.prefetch(1))
    assert in_turn >= 3 * unit
    assert overlapped < in_turn - unit / 2
