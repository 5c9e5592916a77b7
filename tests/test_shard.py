"""`Dataset.shard`."""

import pickle

import pytest
from laws import check_laws

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 9, 10])
@pytest.mark.parametrize("shards", [1, 2, 3, 5])
@pytest.mark.parametrize("equal", [None, "drop", "wrap"])
def test_shards_deal_the_elements_out(count, shards, equal):
    numbers = hr.Dataset.range(count)
    parts = [numbers.shard(shards, index, equal=equal) for index in range(shards)]
    seen = [values(part) for part in parts]
    if equal == "drop":
        expected = [list(range(count // shards * shards))[i::shards] for i in range(shards)]
    elif equal == "wrap" and count:
        rounds = -(-count // shards)
        filled = [i % count for i in range(count)] + [
            i % count for i in range(rounds * shards - count)
        ]
        expected = [filled[i::shards] for i in range(shards)]
    else:
        expected = [list(range(count))[i::shards] for i in range(shards)]
    assert seen == expected
    assert [len(part) for part in parts] == [len(part) for part in expected]


def test_every_shard_has_as_many_batches():
    ranks = [hr.Dataset.range(103).shard(4, i, equal="drop") for i in range(4)]
    assert [len(rank.batch(8, drop_remainder=True)) for rank in ranks] == [3] * 4
    ranks = [hr.Dataset.range(103).shard(4, i, equal="wrap") for i in range(4)]
    assert [len(list(rank.batch(8))) for rank in ranks] == [4] * 4
    plain = [hr.Dataset.range(101).shard(4, i) for i in range(4)]
    assert [len(rank) for rank in plain] == [26, 25, 25, 25]


@pytest.mark.parametrize("count", [0, 1, 3, 8, 9, 103])
@pytest.mark.parametrize("shards", [1, 2, 4, 5])
def test_a_mask_tells_what_was_added_to_shards(count, shards):
    numbers = hr.Dataset.range(count)
    parts = [numbers.shard(shards, index, equal="mask") for index in range(shards)]
    filled = [values(numbers.shard(shards, index, equal="wrap")) for index in range(shards)]
    assert [[x.item() for x, _ in part] for part in parts] == filled
    own = [[x.item() for x, is_own in part if is_own] for part in parts]
    assert own == [values(numbers.shard(shards, index)) for index in range(shards)]
    assert [len(part) for part in parts] == [len(part) for part in filled]


def test_masks_go_with_elements_of_every_kind():
    rows = hr.Dataset.from_tensor_slices({"x": [1, 2, 3], "y": ["a", "b", "c"]})
    masked = rows.shard(2, 1, equal="mask")
    assert masked.element_spec == (rows.element_spec, hr.TensorSpec((), bool))
    assert list(pickle.loads(pickle.dumps(masked))) == [
        ({"x": 2, "y": "b"}, True),
        ({"x": 1, "y": "a"}, False),
    ]
    assert masked[1] == ({"x": 1, "y": "a"}, False)
    batches = [list(hr.Dataset.range(103).shard(4, i, equal="mask").batch(8)) for i in range(4)]
    assert [len(rank) for rank in batches] == [4] * 4
    assert [sum(mask.sum() for _, mask in rank) for rank in batches] == [26, 26, 26, 25]
    check_laws(lambda: rows.shard(2, 1, equal="mask"))
    check_laws(lambda: hr.Dataset.range(7).shuffle(7, seed=1).repeat(2).shard(3, 2, equal="mask"))


@pytest.mark.parametrize("index", [3, -1])
def test_an_index_out_of_range_is_refused(index):
    with pytest.raises(hr.errors.InvalidArgumentError, match=rf"between 0 and 2 .* {index}"):
        hr.Dataset.range(10).shard(3, index)


@pytest.mark.parametrize("shards", [0, -2])
def test_no_shards_are_refused(shards):
    with pytest.raises(hr.errors.InvalidArgumentError, match="must be greater than zero"):
        hr.Dataset.range(10).shard(shards, 0)


def test_a_single_shard_changes_nothing():
    assert "changes nothing" in hr.Dataset.range(4).shard(1, 0).explain()
    state = iter(hr.Dataset.range(4).shard(1, 0)).state()
    assert len(list(hr.Dataset.range(4).iterator(state=state))) == 4


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="num_shards"):
        hr.Dataset.range(10).shard(1.5, 0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="equal"):
        hr.Dataset.range(10).shard(2, 0, equal="pad")


def test_cardinality_of_what_is_not_counted():
    numbers = hr.Dataset.range(10)
    assert numbers.repeat().shard(3, 1).cardinality() == hr.INFINITE_CARDINALITY
    unknown = numbers.filter(lambda x: x > 1).shard(3, 1)
    assert unknown.cardinality() == hr.UNKNOWN_CARDINALITY
    assert values(unknown) == [3, 6, 9]


def test_errors_are_no_elements():
    numbers = hr.Dataset.range(8).map(lambda x: 6 // (int(x) - 1), executor="python")
    iterator = iter(numbers.shard(2, 0))
    assert next(iterator) == -6
    with pytest.raises(ZeroDivisionError):
        next(iterator)
    # The elements are now numbers 0, 2, 3, 4, ...: the third of them is 3.
    assert values(iterator) == [3, 1, 1]


def test_an_error_on_the_way_to_an_element_makes_it_count_anew():
    numbers = hr.Dataset.range(12).map(lambda x: x + 0 * (1 // (int(x) - 2)), executor="python")
    iterator = iter(numbers.shard(4, 3))
    with pytest.raises(ZeroDivisionError):
        next(iterator)
    # As in tf.data: the two elements before the error are forgotten.
    assert values(iterator) == [6, 10]


@pytest.mark.parametrize("equal", [None, "drop", "wrap"])
def test_the_laws_hold(equal):
    check_laws(lambda: hr.Dataset.range(20).shard(3, 1, equal=equal))
    check_laws(lambda: hr.Dataset.range(7).shuffle(4, 1).repeat(3).shard(4, 2, equal=equal))
    check_laws(lambda: hr.Dataset.range(7).shuffle(4, 1).shard(4, 3, equal=equal).repeat(3))
    check_laws(
        lambda: (
            hr.Dataset.range(20).map(lambda x: int(x), executor="python").shard(3, 2, equal=equal)
        )
    )
