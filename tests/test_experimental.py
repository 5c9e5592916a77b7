"""`headrace.experimental`: transformations for `apply`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr
from headrace import experimental


def values(dataset):
    return [x.item() for x in dataset]


def test_its_functions_are_the_methods():
    batches = hr.Dataset.range(5).batch(2)
    assert values(batches.apply(experimental.unbatch())) == [0, 1, 2, 3, 4]
    numbered = hr.Dataset.range(2).apply(experimental.enumerate_dataset(start=3))
    assert [(i.item(), x.item()) for i, x in numbered] == [(3, 0), (4, 1)]


def test_cardinality_and_its_constants():
    numbers = hr.Dataset.range(3)
    assert experimental.cardinality(numbers) == 3
    assert experimental.cardinality(numbers.repeat()) == experimental.INFINITE_CARDINALITY
    unknown = numbers.filter(lambda x: x > 1)
    assert experimental.cardinality(unknown) == experimental.UNKNOWN_CARDINALITY
    assert experimental.AUTOTUNE == hr.AUTOTUNE


def test_each_makes_what_the_method_of_its_name_does():
    numbers = hr.Dataset.range(6)
    assert values(numbers.apply(experimental.take_while(lambda x: x < 2))) == [0, 1]
    assert values(numbers.apply(experimental.scan(0, lambda s, x: (s + x, s)))) == [
        0, 0, 1, 3, 6, 10,
    ]  # fmt: skip
    assert values(numbers.apply(experimental.unique())) == values(numbers)
    assert values(numbers.apply(experimental.ignore_errors())) == values(numbers)
    assert values(experimental.Counter(3, 2, np.int32).take(2)) == [3, 5]
    shuffled = numbers.apply(experimental.shuffle_and_repeat(9, 2, seed=5))
    assert values(shuffled) == values(numbers.shuffle(9, 5).repeat(2))
    ragged = numbers.batch(4).apply(experimental.dense_to_ragged_batch(2))
    assert [batch.to_list() for batch in ragged] == [[[0, 1, 2, 3], [4, 5]]]
    sparse = numbers.batch(4).apply(experimental.dense_to_sparse_batch(2, [4]))
    assert [batch.dense_shape.tolist() for batch in sparse] == [[2, 4]]
    assert experimental.get_structure(numbers) == numbers.element_spec
    with pytest.raises(TypeError, match="must be a Dataset"):
        experimental.get_structure(3)


@pytest.mark.parametrize("parallel", [{}, {"num_parallel_calls": 2}, {"num_parallel_batches": 1}])
def test_map_and_batch(parallel):
    mapped = hr.Dataset.range(5).apply(experimental.map_and_batch(lambda x: x + 1, 2, **parallel))
    assert [batch.tolist() for batch in mapped] == [[1, 2], [3, 4], [5]]
    with pytest.raises(ValueError, match="only one of"):
        experimental.map_and_batch(lambda x: x, 2, 1, num_parallel_calls=1)


def test_assert_cardinality_promises_a_number():
    unknown = hr.Dataset.range(3).filter(lambda x: x >= 0)
    assert len(unknown.apply(experimental.assert_cardinality(3))) == 3
    assert values(unknown.apply(experimental.assert_cardinality(3))) == [0, 1, 2]
    endless = hr.Dataset.range(3).repeat().apply(experimental.assert_cardinality(-1))
    assert endless.cardinality() == hr.INFINITE_CARDINALITY
    with pytest.raises(hr.errors.InvalidArgumentError):
        experimental.assert_cardinality(-2)


@pytest.mark.parametrize(
    ("expected", "text", "before"),
    [
        (2, "contain 2 elements but contained at least 3 elements", [0, 1]),
        (0, "contain 0 elements but contained at least 1 element", []),
        (4, "contain 4 elements but contained only 3 elements", [0, 1, 2]),
        (-1, "contain an infinite number of elements but contained only 3", [0, 1, 2]),
    ],
)
def test_assert_cardinality_fails_where_the_number_is_seen_to_be_wrong(expected, text, before):
    dataset = hr.Dataset.range(3).apply(experimental.assert_cardinality(expected))
    iterator = iter(dataset)
    assert [next(iterator).item() for _ in before] == before
    with pytest.raises(hr.errors.FailedPreconditionError, match=text):
        next(iterator)
    assert list(iterator) == []


def test_the_laws_hold_above_assert_cardinality():
    check_laws(lambda: hr.Dataset.range(20).apply(experimental.assert_cardinality(20)))
    check_laws(
        lambda: (
            hr.Dataset.range(7)
            .shuffle(4, 1)
            .repeat(3)
            .filter(lambda x: x % 3 != 1)
            .apply(experimental.assert_cardinality(15))
        )
    )


def test_pad_to_cardinality_tells_which_rows_count():
    rows = hr.Dataset.from_tensor_slices({"x": np.ones((3, 2), np.float32), "name": list("abc")})
    padded = rows.apply(experimental.pad_to_cardinality(5, "real"))
    assert padded.element_spec == rows.element_spec | {"real": hr.TensorSpec((), bool)}
    assert len(padded) == 5
    seen = list(padded)
    assert [bool(row["real"]) for row in seen] == [True] * 3 + [False] * 2
    assert [row["name"] for row in seen] == ["a", "b", "c", "", ""]
    assert [row["x"].sum() for row in seen] == [2, 2, 2, 0, 0]
    assert len(list(rows.apply(experimental.pad_to_cardinality(3)))) == 3
    ranks = [rows.shard(2, i).apply(experimental.pad_to_cardinality(2)) for i in range(2)]
    assert [sum(bool(row["valid"]) for row in rank) for rank in ranks] == [2, 1]


@pytest.mark.parametrize(
    ("dataset", "text"),
    [
        (hr.Dataset.range(3), "dictionary"),
        (hr.Dataset.range(9).map(lambda x: {"x": x}), "at most 5"),
        (hr.Dataset.range(9).map(lambda x: {"x": x}).repeat(), "at most 5"),
        (hr.Dataset.range(9).map(lambda x: {"x": x}).batch(2), "shape must be known"),
    ],
)
def test_pad_to_cardinality_refuses(dataset, text):
    with pytest.raises(ValueError, match=text):
        dataset.apply(experimental.pad_to_cardinality(5))


def test_groups_and_interleaving_are_the_methods():
    numbers = hr.Dataset.range(6)
    groups = numbers.apply(
        experimental.group_by_window(lambda x: x % 2, lambda _, group: group.batch(2), 2)
    )
    assert [group.tolist() for group in groups] == [[0, 2], [1, 3], [4], [5]]
    rows = numbers.batch(4).apply(experimental.bucket_by_sequence_length(len, [3], [2, 2]))
    assert sorted(row.tolist() for row in rows) == [[[0, 1, 2, 3]], [[4, 5]]]

    def twice(x):
        return hr.Dataset.from_tensors(x).repeat(2)

    ours = numbers.apply(experimental.parallel_interleave(twice, 2, 2))
    assert values(ours) == values(numbers.interleave(twice, 2, 2))
    sloppy = numbers.apply(experimental.parallel_interleave(twice, 2, sloppy=True))
    assert sorted(values(sloppy)) == sorted(values(ours))


def test_datasets_are_saved_and_loaded(tmp_path):
    numbers = hr.Dataset.range(6)
    experimental.save(numbers, tmp_path / "saved")
    assert values(experimental.load(tmp_path / "saved")) == list(range(6))
    kept = numbers.apply(experimental.snapshot(tmp_path / "kept"))
    assert values(kept) == values(kept) == list(range(6))


def test_from_list():
    rows = experimental.from_list(
        [{"a": 1, "b": ([1.0, 2.0], "x")}, {"a": 2, "b": ([3.0, 4.0], "y")}]
    )
    assert [(row["a"].item(), row["b"][0].tolist(), row["b"][1]) for row in rows] == [
        (1, [1.0, 2.0], "x"),
        (2, [3.0, 4.0], "y"),
    ]
    for wrong in ([], (1, 2), [1, (1, 2)]):
        with pytest.raises(ValueError, match="Invalid `elements`"):
            experimental.from_list(wrong)
