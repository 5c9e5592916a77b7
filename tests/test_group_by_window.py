"""`group_by_window` and `bucket_by_sequence_length`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr

Dataset = hr.Dataset


def _batches(dataset):
    return [batch.tolist() for batch in dataset]


def test_full_groups_come_first_and_the_rest_in_order_of_keys():
    groups = Dataset.range(10).group_by_window(lambda x: 2 - x % 3, lambda _, g: g.batch(4), 3)
    assert _batches(groups) == [[0, 3, 6], [1, 4, 7], [2, 5, 8], [9]]


def test_the_size_may_depend_on_the_key():
    groups = Dataset.range(12).group_by_window(
        lambda x: x % 2, lambda _, g: g.batch(9), window_size_func=lambda key: (key + 1) * 2
    )
    assert _batches(groups) == [[0, 2], [4, 6], [1, 3, 5, 7], [8, 10], [9, 11]]


def test_the_reduction_sees_the_key_and_may_drop_a_group():
    groups = Dataset.range(8).group_by_window(
        lambda x: x % 2, lambda key, g: g.map(lambda x: x * 10 + key).take(1 - key), 2
    )
    assert list(groups) == [0, 40]
    assert groups.element_spec == hr.TensorSpec([], np.int64)


def test_arguments_are_checked():
    def group(**sizes):
        return Dataset.range(4).group_by_window(lambda x: x, lambda _, g: g, **sizes)

    with pytest.raises(ValueError, match="and not both"):
        group()
    with pytest.raises(ValueError, match="and not both"):
        group(window_size=2, window_size_func=lambda _: 2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="greater than zero, but got 0"):
        group(window_size=0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="greater than zero, but got 0"):
        list(group(window_size_func=lambda key: key * 0))
    with pytest.raises(ValueError, match="single int64 scalar"):
        Dataset.range(4).group_by_window(lambda x: x * 0.5, lambda _, g: g, 2)
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        Dataset.range(4).group_by_window(lambda x: x, lambda key, _: key, 2)


def test_a_key_function_with_effects_is_called_once_per_element():
    calls = []

    def key(x):
        calls.append(int(x))
        return x % 2

    assert len(list(Dataset.range(6).group_by_window(key, lambda _, g: g, 2))) == 6
    assert calls == list(range(6))


def _lengths(*lengths):
    def generate():
        for n in lengths:
            yield np.full(n, n)

    return Dataset.from_generator(generate, output_signature=hr.TensorSpec([None], np.int64))


def _bucketed(dataset, **options):
    return dataset.bucket_by_sequence_length(lambda x: x.shape[0], [3, 5], [2, 2, 2], **options)


def test_boundaries_are_exclusive_and_rests_come_in_order_of_buckets():
    batches = _bucketed(_lengths(1, 5, 3, 2, 4, 6, 2))
    assert batches.element_spec == hr.TensorSpec([None, None], np.int64)
    assert [b.shape for b in batches] == [(2, 2), (2, 4), (2, 6), (1, 2)]


def test_batches_may_be_padded_to_the_boundary():
    batches = _bucketed(_lengths(1, 1, 3, 3), pad_to_bucket_boundary=True, padding_values=-1)
    assert [b.tolist() for b in batches] == [
        [[1, -1], [1, -1]],
        [[3, 3, 3, -1], [3, 3, 3, -1]],
    ]
    too_long = _bucketed(_lengths(7, 7), pad_to_bucket_boundary=True)
    with pytest.raises(hr.errors.InvalidArgumentError, match="max\\(bucket_boundaries\\)"):
        list(too_long)


def test_batches_without_padding_need_one_shape():
    assert [b.shape for b in _bucketed(_lengths(3, 3), no_padding=True)] == [(2, 3)]
    with pytest.raises(hr.errors.InvalidArgumentError, match="different shapes"):
        list(_bucketed(_lengths(3, 4), no_padding=True))


def test_short_batches_may_be_dropped():
    assert [b.shape for b in _bucketed(_lengths(1, 2, 2), drop_remainder=True)] == [(2, 2)]


def test_there_is_one_batch_size_more_than_boundaries():
    with pytest.raises(ValueError, match="must equal"):
        Dataset.range(3).bucket_by_sequence_length(lambda x: x, [3], [2])


def test_groups_hold_what_they_must_and_no_more():
    rows = Dataset.from_tensor_slices((np.arange(400) % 4, np.zeros((400, 1000), np.float32)))
    groups = rows.group_by_window(lambda k, _: k, lambda _, g: g.batch(5), 5)
    iterator = iter(groups)
    for _ in range(70):
        next(iterator)
    (stage,) = [stage for stage in iterator.stats() if stage["name"] == "group_by_window"]
    assert stage["peak_bytes"] <= 4 * 5 * 4008


def test_buckets_hold_what_they_must_and_no_more():
    lengths = np.arange(600) % 3 * 100 + 50
    rows = Dataset.from_generator(
        lambda: (np.zeros(n, np.float32) for n in lengths),
        output_signature=hr.TensorSpec([None], np.float32),
    )
    buckets = rows.bucket_by_sequence_length(lambda row: row.shape[0], [100, 200], [5, 5, 5])
    iterator = iter(buckets)
    assert sum(len(batch) for batch in iterator) == 600
    (stage,) = [stage for stage in iterator.stats() if stage["name"] == "group_by_window"]
    # Five rows of each bucket at most: one is full when the third row of 250 floats comes.
    assert 0 < stage["peak_bytes"] <= 5 * 4 * (50 + 150 + 250)
    assert stage["held_bytes"] == 0
    assert iterator.stats()[0]["peak_total_bytes"] <= 2 * 5 * 4 * (50 + 150 + 250)


PLANS = {
    "groups": lambda: Dataset.range(23).group_by_window(
        lambda x: x % 3, lambda _, g: g.batch(2), 4
    ),
    "elements": lambda: Dataset.range(23).group_by_window(lambda x: x % 5, lambda _, g: g, 3),
    "of a shuffle": lambda: (
        Dataset.range(12)
        .shuffle(12, seed=3)
        .repeat(2)
        .group_by_window(lambda x: x % 3, lambda _, g: g.shuffle(4, seed=1), 4)
    ),
    "buckets": lambda: _bucketed(_lengths(1, 5, 3, 2, 4, 6, 2)).unbatch().map(lambda x: x.sum()),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_laws_hold(name):
    check_laws(PLANS[name])


@pytest.mark.parametrize(
    ("order", "expected"), [("key", [1, 1, 2, 3, 3, 3]), ("first", [3, 3, 3, 1, 1, 2])]
)
def test_groups_that_are_left_follow_by_key_or_as_they_began(order, expected):
    numbers = hr.Dataset.from_tensor_slices([3, 1, 2, 3, 1, 3])
    grouped = numbers.group_by_window(lambda x: x, lambda _, group: group, 10, order=order)
    for _ in range(5):
        assert list(grouped) == expected
    check_laws(lambda: numbers.group_by_window(lambda x: x, lambda _, g: g, 2, order=order))


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match='"key" or "first"'):
        hr.Dataset.range(3).group_by_window(lambda x: x, lambda _, g: g, 2, order="last")


def test_components_are_padded_to_the_boundary_or_the_batch():
    def rows():
        for audio, label in [(3, 2), (4, 5)]:
            yield {"audio": np.ones(audio, np.float32), "label": np.ones(label, np.int64)}

    signature = {
        "audio": hr.TensorSpec([None], np.float32),
        "label": hr.TensorSpec([None], np.int64),
    }
    dataset = hr.Dataset.from_generator(rows, output_signature=signature)

    def bucketed(to_boundary):
        batches = dataset.bucket_by_sequence_length(
            lambda row: row["audio"].shape[0], [8], [2, 2], pad_to_bucket_boundary=to_boundary
        )
        (batch,) = batches
        return batch["audio"].shape[1], batch["label"].shape[1]

    assert bucketed(False) == (4, 5)
    assert bucketed(True) == (7, 7)
    assert bucketed({"audio": False, "label": True}) == (4, 7)
    with pytest.raises(ValueError, match="nested as the elements"):
        bucketed({"audio": True})


@pytest.mark.parametrize("size", [0, -1])
def test_tensorflow_names_look_at_the_size_in_the_run(size):
    import headrace.tf as tf

    groups = tf.data.Dataset.range(3).group_by_window(
        lambda x: x, lambda key, group: group.batch(2), window_size=size
    )
    assert groups.element_spec == tf.TensorSpec([None], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Window size must be greater"):
        list(groups)
