"""`Dataset.cardinality` and `len`: how many elements there are, without making any."""

import pytest

import headrace as hr

TEN = hr.Dataset.range(10)


@pytest.mark.parametrize(
    ("dataset", "count"),
    [
        (TEN, 10),
        (TEN.batch(3), 4),
        (TEN.batch(3, drop_remainder=True), 3),
        (TEN.batch(3).repeat(2), 8),
        (TEN.take(5), 5),
        (TEN.skip(7), 3),
        (hr.Dataset.zip(TEN, TEN.take(4)), 4),
        (TEN.concatenate(TEN.take(4)), 14),
        (TEN.batch(5, drop_remainder=True).unbatch(), 10),
        (TEN.map(lambda x: x).shuffle(3).prefetch(2).enumerate(), 10),
        (TEN.shard(4, 1), 3),
        (TEN.repeat().take(7), 7),
        (TEN.take(0).repeat(), 0),
    ],
)
def test_a_known_number_is_the_length(dataset, count):
    assert dataset.cardinality() == len(dataset) == len(list(dataset)) == count


@pytest.mark.parametrize(
    "dataset",
    [
        TEN.filter(lambda x: x > 4),
        TEN.flat_map(lambda x: hr.Dataset.range(x)),
        TEN.unique(),
        TEN.take_while(lambda x: x < 3),
    ],
)
def test_an_unknown_number_is_no_length(dataset):
    assert dataset.cardinality() == hr.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError, match="unknown"):
        len(dataset)


@pytest.mark.parametrize("dataset", [TEN.repeat(), hr.Dataset.counter(), hr.Dataset.random(seed=1)])
def test_what_has_no_end_has_no_length(dataset):
    assert dataset.cardinality() == hr.INFINITE_CARDINALITY
    with pytest.raises(TypeError, match="infinite"):
        len(dataset)


def test_a_dataset_is_true_whatever_its_length():
    assert TEN.take(0)
    assert TEN.repeat()
    assert TEN.filter(lambda x: x > 4)


def test_what_repeats_without_end_is_infinite_even_if_its_length_is_unknown():
    some = TEN.filter(lambda x: x > 4)
    assert some.repeat().cardinality() == hr.INFINITE_CARDINALITY
    assert some.repeat(2).cardinality() == hr.UNKNOWN_CARDINALITY
    assert len(some.repeat().take(7)) == len(list(some.repeat().take(7))) == 7


def test_what_repeats_nothing_ends_as_in_tf_data():
    none = TEN.filter(lambda x: x > 10).repeat()
    assert none.cardinality() == hr.INFINITE_CARDINALITY
    assert list(none) == list(none.take(3)) == list(none.take(3).skip(2)) == []
    assert list(none.take(3).shuffle(2, seed=1).repeat(2).skip(4)) == []
    assert list(none.take(3).cache().repeat(2)) == []
