"""Pipelines in random order: shuffles, mixes and resampling, element for element as in tf.data."""

import time

import numpy as np
import pytest
from conftest import golden

import headrace as hr
import headrace.tf as tf

CASES = golden("random_orders.json")["cases"]
RESAMPLED = golden("rejection_resample.json")["cases"]


def cases(op):
    return [pytest.param(case, id=str(i)) for i, case in enumerate(CASES) if case["op"] == op]


@pytest.mark.parametrize("case", cases("shuffle.repeat"))
def test_shuffle_and_repeat(case):
    n, buffer, seed, count = (case[key] for key in ("n", "buffer_size", "seed", "count"))
    for expected, dataset in [
        (case["epochs"][0], tf.data.Dataset.range(n).shuffle(buffer, seed=seed).repeat(count)),
        (case["epochs"][0], hr.Dataset.range(n).shuffle(buffer, seed=seed).repeat(count)),
    ]:
        assert [int(x) for x in dataset] == expected
    applied = tf.data.Dataset.range(n).apply(
        tf.data.experimental.shuffle_and_repeat(buffer, count, seed=seed)
    )
    own = hr.Dataset.range(n).apply(hr.experimental.shuffle_and_repeat(buffer, count, seed))
    first, second = [int(x) for x in applied], [int(x) for x in own]
    assert first == second
    for epoch in range(count):
        assert sorted(first[epoch * n : (epoch + 1) * n]) == list(range(n))


@pytest.mark.parametrize("tensors", [True, False])
def test_the_buffer_of_the_next_epoch_fills_while_this_one_is_used(tensors):
    drawn = []

    def load(x):
        drawn.append(int(x))
        return x

    if tensors:
        dataset = tf.data.Dataset.range(100).map(
            lambda x: tf.py_function(load, [x], tf.int64), num_parallel_calls=4
        )
        dataset = dataset.apply(tf.data.experimental.shuffle_and_repeat(50, 3))
    else:
        dataset = hr.Dataset.range(100).map(load, num_parallel_calls=4).shuffle(50).repeat(3)
    run = iter(dataset.prefetch(20))
    for _ in range(90):
        next(run)
    # Ten elements of the first epoch are still to come.
    deadline = time.monotonic() + 20
    while len(drawn) < 150:
        assert time.monotonic() < deadline, f"only {len(drawn)} are there"
        time.sleep(0.01)
    assert len(list(run)) == 210


@pytest.mark.parametrize("case", cases("sample_from_datasets"))
def test_two_repeated_classes_are_sampled(case):
    ranges, weights = case["ranges"], case["weights"]
    stop = case["stop_on_empty_dataset"]
    for make, sample in [
        (tf.data.Dataset.range, tf.data.Dataset.sample_from_datasets),
        (tf.data.Dataset.range, tf.data.experimental.sample_from_datasets),
        (hr.Dataset.range, hr.Dataset.sample_from_datasets),
    ]:
        mix = sample(
            [make(*pair) for pair in ranges], weights, seed=case["seed"], stop_on_empty_dataset=stop
        )
        for epoch in case["epochs"]:
            assert [int(x) for x in mix] == epoch


def test_a_balanced_mix_of_two_classes():
    labels = np.array([0] * 95 + [1] * 5)
    features = np.arange(100)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    negative = dataset.filter(lambda features, label: label == 0).repeat()
    positive = dataset.filter(lambda features, label: label == 1).repeat()
    balanced = tf.data.Dataset.sample_from_datasets([negative, positive], [0.5, 0.5], seed=1)
    seen = [(int(x), int(label)) for x, label in balanced.take(1000)]
    assert all((x >= 95) == bool(label) for x, label in seen)

    own = hr.Dataset.from_tensor_slices((features, labels))
    own = hr.Dataset.sample_from_datasets(
        [own.filter(lambda _, label, k=k: label == k).repeat() for k in (0, 1)], [0.5, 0.5], seed=1
    )
    assert [tuple(map(int, row)) for row in own.take(1000)] == seen
    assert 450 < sum(label for _, label in seen) < 550


@pytest.mark.parametrize("case", RESAMPLED, ids=lambda c: f"{c['initial_dist']}-{c['seed']}")
@pytest.mark.parametrize("way", ["function", "method", "arrays"])
def test_classes_are_resampled(case, way):
    classes = np.array(RESAMPLED[0]["input_classes"], np.int32)
    arguments = {
        "target_dist": case["target_dist"],
        "initial_dist": case["initial_dist"],
        "seed": case["seed"],
    }
    features = np.arange(len(classes))
    if way == "arrays":
        dataset = hr.Dataset.from_tensor_slices((features, classes))
        dataset = dataset.rejection_resample(lambda feature, label: label, **arguments)
    else:
        dataset = tf.data.Dataset.from_tensor_slices((features, classes))
        if way == "method":
            dataset = dataset.rejection_resample(lambda feature, label: label, **arguments)
        else:
            dataset = dataset.apply(
                tf.data.experimental.rejection_resample(lambda feature, label: label, **arguments)
            )
    dataset = dataset.map(lambda extra_label, features_and_label: features_and_label)
    seen = [(int(feature), int(label)) for feature, label in dataset]
    assert len(seen) == case["output_count"]
    labels = [label for _, label in seen]
    assert labels[: len(case["output_classes"])] == case["output_classes"]
    assert all(classes[feature] == label for feature, label in seen)
    shares = np.bincount(labels) / len(labels)
    assert np.allclose(shares, case["output_fractions"])
