"""`Dataset.padded_batch`."""

import time

import numpy as np
import pytest
from laws import check_laws

import headrace as hr

ROWS = ([5, 6, 7], [8], [1, 2, 3, 4], [9, 9])


def rows(dtype=np.int64):
    return hr.Dataset.from_generator(
        lambda: (np.array(row, dtype) for row in ROWS),
        output_signature=hr.TensorSpec([None], dtype),
    )


def test_rows_are_padded_to_the_longest_of_the_batch():
    batches = [batch.tolist() for batch in rows().padded_batch(2)]
    assert batches == [[[5, 6, 7], [8, 0, 0]], [[1, 2, 3, 4], [9, 9, 0, 0]]]


def test_the_padding_can_be_chosen():
    first = next(iter(rows().padded_batch(2, padding_values=-1)))
    assert first.tolist() == [[5, 6, 7], [8, -1, -1]]
    assert first.dtype == np.int64


def test_a_fixed_shape_gives_its_width():
    dataset = rows().padded_batch(2, padded_shapes=[5])
    assert [batch.shape for batch in dataset] == [(2, 5), (2, 5)]
    assert dataset.element_spec == hr.TensorSpec((None, 5), np.int64)


def test_a_row_longer_than_its_fixed_shape_is_an_error():
    iterator = iter(rows().padded_batch(2, padded_shapes=[3]))
    assert next(iterator).tolist() == [[5, 6, 7], [8, 0, 0]]
    with pytest.raises(hr.errors.DataLossError, match="pad to a smaller size") as caught:
        next(iterator)
    for part in ("element 0 of the batch", "[4]", "(3,)", "enlarge padded_shapes"):
        assert part in str(caught.value)


def test_text_is_padded_with_nothing():
    dataset = hr.Dataset.from_generator(
        lambda: iter([[b"a"], [b"b", b"c"]]), output_signature=hr.TensorSpec([None], bytes)
    )
    (batch,) = dataset.padded_batch(2)
    assert batch.tolist() == [[b"a", b""], [b"b", b"c"]]


def test_structures_take_nested_shapes_and_values():
    dataset = hr.Dataset.zip({"a": rows(), "b": hr.Dataset.range(4)})
    first = next(iter(dataset.padded_batch(2, {"a": [4], "b": []}, {"a": np.int64(7), "b": None})))
    assert first["a"].tolist() == [[5, 6, 7, 7], [8, 7, 7, 7]]
    assert first["b"].tolist() == [0, 1]


def test_a_padding_value_of_another_dtype_is_refused():
    with pytest.raises(TypeError, match="Invalid `padding_values`"):
        rows().padded_batch(2, padding_values=np.int32(-1))
    with pytest.raises(TypeError, match="Invalid `padding_values`"):
        rows().padded_batch(2, padding_values=0.5)


def test_a_static_shape_that_is_too_large_is_refused_at_once():
    dataset = hr.Dataset.from_tensor_slices(np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"padded shape \(1,\) is not compatible"):
        dataset.padded_batch(2, padded_shapes=[1])


def test_an_unknown_rank_needs_shapes():
    dataset = hr.Dataset.from_generator(lambda: iter([[1]]), np.int64)
    with pytest.raises(ValueError, match="unknown rank"):
        dataset.padded_batch(2)
    assert [batch.tolist() for batch in dataset.padded_batch(2, [None])] == [[[1]]]


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(1, 9).map(lambda n: np.arange(3) * n).padded_batch(3, [5]))


def test_components_that_only_a_run_knows_are_checked_in_the_run():
    unknown = hr.Dataset.range(4).map(lambda x: np.arange(x, dtype=np.int32), executor="python")
    batches = unknown.padded_batch(2)
    assert batches.element_spec == hr.UnknownSpec()
    assert [batch.tolist() for batch in batches] == [[[0], [0]], [[0, 1, 0], [0, 1, 2]]]
    filled = unknown.padded_batch(4, padded_shapes=[4], padding_values=-1)
    (batch,) = filled
    assert batch.dtype == np.int32
    assert batch[1].tolist() == [0, -1, -1, -1]
    with pytest.raises(hr.errors.DataLossError, match="smaller size"):
        list(unknown.padded_batch(4, padded_shapes=[2]))
    with pytest.raises(hr.errors.InvalidArgumentError, match="not compatible"):
        list(unknown.padded_batch(4, padded_shapes=[2, 2]))
    with pytest.raises(hr.errors.InvalidArgumentError, match="float64"):
        list(unknown.padded_batch(4, padding_values=0.5))


def test_a_change_of_rank_is_seen_in_the_run():
    unknown = hr.Dataset.range(2).map(lambda x: np.zeros((1,) * int(x)), executor="python")
    with pytest.raises(hr.errors.InvalidArgumentError, match="unknown rank"):
        list(unknown.padded_batch(2))


def test_one_value_fills_all_components_that_only_a_run_knows():
    pairs = hr.Dataset.range(1, 3).map(
        lambda x: (np.arange(x), np.arange(x, dtype=np.float32)), executor="python"
    )
    ((first, second),) = pairs.padded_batch(2, padding_values=7)
    assert first.tolist() == [[0, 7], [0, 1]]
    assert second.dtype == np.float32
    assert second.tolist() == [[0, 7], [0, 1]]


def test_it_holds_the_rows_of_one_batch():
    iterator = iter(rows().repeat(50).padded_batch(4))
    list(iterator)
    (stats,) = [stage for stage in iterator.stats() if stage["name"] == "padded_batch"]
    assert stats["peak_bytes"] == 8 * sum(map(len, ROWS))
    assert stats["held_bytes"] == 0


@pytest.mark.parametrize("calls", [1, 3, hr.AUTOTUNE])
def test_batches_are_put_together_by_several_tasks(calls):
    many = rows().repeat(20)
    alone = [batch.tolist() for batch in many.padded_batch(3)]
    assert [b.tolist() for b in many.padded_batch(3, num_parallel_calls=calls)] == alone
    loose = many.padded_batch(3, num_parallel_calls=calls, deterministic=False)
    assert sorted(b.tolist() for b in loose) == sorted(alone)
    ragged = [b.to_list() for b in many.ragged_batch(3)]
    assert [b.to_list() for b in many.ragged_batch(3, num_parallel_calls=calls)] == ragged
    check_laws(lambda: rows().repeat(3).padded_batch(5, num_parallel_calls=calls))


def test_a_batch_that_fails_is_one_error_among_several_tasks():
    batches = iter(rows().padded_batch(1, padded_shapes=[3], num_parallel_calls=2))
    assert next(batches).tolist() == [[5, 6, 7]]
    assert next(batches).tolist() == [[8, 0, 0]]
    with pytest.raises(hr.errors.DataLossError):
        next(batches)
    assert next(batches).tolist() == [[9, 9, 0]]
    assert next(batches, None) is None


def test_a_run_without_order_of_batches_has_no_state():
    loose = rows().padded_batch(2, num_parallel_calls=2, deterministic=False)
    with pytest.raises(hr.errors.FailedPreconditionError, match="padded_batch"):
        loose.iterator().state()
    kept = loose.iterator(checkpointable=True)
    next(kept)
    rest = [b.tolist() for b in loose.iterator(state=kept.state(), checkpointable=True)]
    assert rest == [[[1, 2, 3, 4], [9, 9, 0, 0]]]


def test_what_comes_in_is_taken_no_further_ahead_than_the_calls_say():
    taken = []

    def noted(row):
        taken.append(len(row))
        return row

    many = rows().repeat(50).map(noted, output_signature=hr.TensorSpec([None], np.int64))
    iterator = iter(many.padded_batch(4, num_parallel_calls=2))
    next(iterator)
    time.sleep(0.3)
    assert len(taken) <= 4 * 4
