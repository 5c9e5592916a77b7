"""Ops of dense tensors on ragged ones: reductions along any axes, moves, choices, counts."""

import itertools
import random

import numpy as np
import pytest

import headrace.tf as tf

ROWS = [[3, 1, 4], [], [1, 5], [9]]
DEEP = [[[1, 2], [3]], [], [[4, 5, 6]], [[], [7]]]


def rag(rows, **kwargs):
    return tf.ragged.constant(rows, **kwargs)


def plain(x):
    return x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist()


def in_a_function(function, *tensors):
    (found,) = tf.data.Dataset.from_tensors(tensors).map(lambda *parts: function(*parts))
    return found


def both(function, *tensors):
    """Return what a function gives, the same called at once and by a dataset."""
    found = plain(function(*tensors))
    assert plain(in_a_function(function, *tensors)) == found
    return found


def deep_values(rows, axes, depth, at=()):
    """Yield the values of nested lists with their places along the axes that stay."""
    if len(at) == depth:
        yield tuple(k for axis, k in enumerate(at) if axis not in axes), rows
    else:
        for k, row in enumerate(rows):
            yield from deep_values(row, axes, depth, (*at, k))


FOLDS = {
    "reduce_sum": sum,
    "reduce_prod": lambda values: int(np.prod(values)),
    "reduce_max": max,
    "reduce_min": min,
    "reduce_mean": lambda values: sum(values) / len(values),
    "reduce_any": lambda values: any(v > 4 for v in values),
    "reduce_all": lambda values: all(v > 4 for v in values),
}


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
def test_values_are_reduced_along_any_axes(name, axes):
    generator = random.Random(f"{name}{axes}")

    def row():
        return [generator.randint(1, 9) for _ in range(generator.randint(1, 3))]

    rows = [[row() for _ in range(generator.randint(1, 3))] for _ in range(3)]
    groups = {}
    for place, value in deep_values(rows, axes, 3):
        groups.setdefault(place, []).append(value)
    x = rag(rows)
    found = getattr(tf, name)(x > 4 if name in ("reduce_any", "reduce_all") else x, axis=axes)
    reduced = dict(deep_values(plain(found), (), 3 - len(axes)))
    assert reduced.keys() == groups.keys()
    for place, values in groups.items():
        assert reduced[place] == pytest.approx(FOLDS[name](values))


def test_reduced_axes_may_be_kept():
    x = rag(ROWS)
    assert both(lambda x: tf.reduce_sum(x, axis=1, keepdims=True), x) == [[8], [0], [6], [9]]
    assert both(lambda x: tf.reduce_max(x, axis=0, keepdims=True), x) == [[9, 5, 4]]
    assert plain(tf.reduce_sum(x, keepdims=True)) == [[23]]
    assert plain(tf.reduce_mean(x)) == pytest.approx(23 / 6)
    assert plain(tf.reduce_prod(rag(DEEP), axis=[-1], keepdims=True)) == [
        [[2], [3]], [], [[120]], [[1], [7]],
    ]  # fmt: skip
    assert tf.reduce_sum(x, axis=[]) is x
    with pytest.raises(ValueError, match="out of bounds"):
        tf.reduce_sum(x, axis=2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.reduce_mean(x, axis=1),
        lambda x: tf.reduce_any(x > 1.0, axis=-1),
        lambda x: x / tf.reduce_sum(x * x, axis=1, keepdims=True),
        tf.nn.softmax,
    ],
)
def test_rows_of_a_known_number_are_reduced_in_the_graph(function):
    dataset = tf.data.Dataset.from_tensors(rag([[1.0, 2.0], [4.0]])).map(function)
    assert "runs as a graph" in dataset.explain()
    assert plain(next(iter(dataset))) == plain(function(rag([[1.0, 2.0], [4.0]])))


def test_nested_rows_are_reduced_in_a_function():
    found = in_a_function(lambda x: tf.reduce_sum(x, axis=0), rag(DEEP))
    assert plain(found) == plain(tf.reduce_sum(rag(DEEP), axis=0)) == [[5, 7, 6], [10]]
    dataset = tf.data.Dataset.from_tensors(rag(DEEP)).map(lambda x: tf.reduce_max(x, axis=1))
    assert dataset.element_spec == tf.RaggedTensorSpec([4, None], tf.int32)


@pytest.mark.parametrize("rows", [ROWS, DEEP])
def test_rows_are_reversed(rows):
    x = rag(rows)
    assert both(lambda x: tf.reverse(x, [0]), x) == rows[::-1]
    assert both(lambda x: tf.reverse(x, [1]), x) == [row[::-1] for row in rows]
    assert both(lambda x: tf.reverse(x, [-2, 1]), x)[0] == rows[-1][::-1] or rows is DEEP
    if rows is DEEP:
        inner = [[values[::-1] for values in row] for row in rows]
        assert both(lambda x: tf.reverse(x, [2]), x) == inner


def test_rows_are_tiled():
    assert both(lambda x: tf.tile(x, [2, 1]), rag(ROWS)) == ROWS * 2
    assert both(lambda x: tf.tile(x, [1, 2]), rag(ROWS)) == [row * 2 for row in ROWS]
    assert both(lambda x: tf.tile(x, [0, 1]), rag(ROWS)) == []
    inner = [[values * 3 for values in row] for row in DEEP]
    assert both(lambda x: tf.tile(x, [1, 1, 3]), rag(DEEP)) == inner
    with pytest.raises(ValueError, match="2 axes"):
        tf.tile(rag(ROWS), [1, 2, 3])


def test_ragged_tensors_are_stacked_along_inner_axes():
    a, b = rag([[1, 2], [3]]), rag([[4], [5, 6]])
    for stack in (tf.stack, tf.ragged.stack):
        assert plain(stack([a, b], 1)) == [[[1, 2], [4]], [[3], [5, 6]]]
        assert plain(stack([a, a], axis=-1)) == [[[1, 1], [2, 2]], [[3, 3]]]
    found = in_a_function(lambda a, b: tf.ragged.stack([a, b], 1), a, b)
    assert plain(found) == [[[1, 2], [4]], [[3], [5, 6]]]
    with pytest.raises(ValueError, match="out of bounds"):
        tf.ragged.stack([a, b], 3)


def test_slices_are_gathered():
    x = rag(ROWS)
    assert both(lambda x: tf.gather(x, 2), x) == [1, 5]
    assert both(lambda x: tf.gather(x, [2, 0]), x) == [[1, 5], [3, 1, 4]]
    assert plain(tf.gather(x, rag([[0], [3, 1]]))) == [[[3, 1, 4]], [[9], []]]
    assert plain(tf.gather(rag([[1, 2], [3, 4, 5]]), [1, 0, 1], axis=1)) == [[2, 1, 2], [4, 3, 4]]
    assert both(lambda x: tf.gather_nd(x, [[0, 2], [2, 0]]), x) == [4, 1]
    assert both(lambda x: tf.gather_nd(x, [[0], [3]]), x) == [[3, 1, 4], [9]]
    assert plain(tf.gather_nd(rag(DEEP), [[[0, 1], [2, 0]]])) == [[[3], [4, 5, 6]]]


def test_values_are_gathered_row_by_row():
    x, at = rag(ROWS), rag([[2, 0], [], [1], [0, 0, 0]])
    wanted = [[4, 3], [], [5], [9, 9, 9]]
    assert both(lambda x, at: tf.gather(x, at, batch_dims=1), x, at) == wanted
    dense = tf.constant([[10, 20], [30, 40]])
    picks = rag([[1, 1], [0]])
    found = both(lambda x, at: tf.gather(x, at, batch_dims=1), dense, picks)
    assert found == [[20, 20], [30]]
    words = rag([[["a", "b"], ["c"]], [["d"]]])
    assert plain(tf.gather(words, rag([[1], [0, 0]]), batch_dims=1)) == [
        [[b"c"]], [[b"d"], [b"d"]],
    ]  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        tf.gather(x, rag([[3], [], [], []]), batch_dims=1)


def test_what_is_true_is_found():
    assert both(lambda x: tf.where(x > 3), rag(ROWS)) == [[0, 2], [2, 1], [3, 0]]
    assert both(lambda x: tf.where(x > 4), rag(DEEP)) == [[2, 0, 1], [2, 0, 2], [3, 1, 0]]
    assert both(lambda x: tf.where(x > 3, x, -x), rag(ROWS)) == [[-3, -1, 4], [], [-1, 5], [9]]


def test_values_become_vectors_and_counts():
    hot = both(lambda x: tf.one_hot(x, 3), rag([[2], [0, 1]]))
    assert hot == [[[0, 0, 1]], [[1, 0, 0], [0, 1, 0]]]
    assert plain(tf.math.bincount(rag([[1, 1, 3], [0]]), axis=-1)) == [[0, 2, 0, 1], [1, 0, 0, 0]]
    assert plain(tf.math.bincount(rag([[1, 1], [5]]), axis=-1, maxlength=2)) == [[0, 2], [0, 0]]
    found = in_a_function(lambda x: tf.math.bincount(x, axis=-1, binary_output=True), rag([[1, 1]]))
    assert plain(found) == [[0, 1]]
    assert plain(tf.math.bincount(rag([[1], [1, 0]]))) == [1, 2]


@pytest.mark.parametrize(("exclusive", "backwards"), [*itertools.product([False, True], repeat=2)])
def test_sums_run_in_each_row(exclusive, backwards):
    def sums(row):
        row = row[::-1] if backwards else row
        ends = np.cumsum([0, *row])[: len(row)] if exclusive else np.cumsum(row)
        return ends.tolist()[::-1] if backwards else ends.tolist()

    wanted = [sums(row) if row else [] for row in ROWS]
    assert both(lambda x: tf.cumsum(x, 1, exclusive, backwards), rag(ROWS)) == wanted
    columns = plain(tf.cumsum(rag(ROWS), 0))
    assert columns == [[3, 1, 4], [], [4, 6], [13]]


def test_shares_sum_up_in_each_row():
    x = rag([[0.0, 1.0], [2.0], []])
    found = both(tf.nn.softmax, x)
    assert found[0] == pytest.approx([1 / (1 + np.e), np.e / (1 + np.e)])
    assert found[1:] == [[1.0], []]
    spread = tf.math.reduce_variance(rag([[1.0, 3.0], [5.0]]), axis=1)
    assert plain(spread) == [1.0, 0.0]
    assert plain(tf.math.reduce_std(rag([[1.0, 3.0], [2.0]]))) == pytest.approx(np.std([1, 3, 2]))


def test_axes_of_one_size_are_split_and_squeezed():
    x = rag(ROWS)
    assert [plain(part) for part in tf.split(x, 2)] == [ROWS[:2], ROWS[2:]]
    assert [plain(part) for part in tf.split(x, [1, -1])] == [ROWS[:1], ROWS[1:]]
    with pytest.raises(ValueError, match="split"):
        tf.split(x, 3)
    assert both(lambda x: tf.squeeze(tf.expand_dims(x, 1), 1), x) == ROWS
    assert both(lambda x: tf.squeeze(tf.expand_dims(x, 0), [0]), x) == ROWS
    with pytest.raises(ValueError, match="axis argument"):
        tf.squeeze(x)
    with pytest.raises(ValueError, match="other lengths"):
        tf.squeeze(x, 1)


def test_dense_tensors_are_spread_over_rows():
    x = rag(ROWS)
    column = tf.constant([[10], [20], [30], [40]])
    assert both(lambda x, y: x + y, x, column) == [[13, 11, 14], [], [31, 35], [49]]
    deep = rag(DEEP)
    each = tf.reshape(column, [4, 1, 1])
    assert both(lambda x, y: y - x, deep, each) == [[[9, 8], [7]], [], [[26, 25, 24]], [[], [33]]]
    even = rag([[1, 2], [3, 4]])
    assert plain(even * tf.constant([10, 100])) == [[10, 200], [30, 400]]
    assert plain(x + tf.constant([[[1]]])[0]) == [[4, 2, 5], [], [2, 6], [10]]
    for wrong in ([1, 2], [[1], [2]], [[[1]]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
            x + tf.constant(wrong)


@pytest.mark.parametrize(
    "function",
    [
        tf.nn.relu, tf.nn.elu, tf.nn.silu, tf.math.sigmoid, tf.math.softplus, tf.math.real,
        lambda x: tf.math.squared_difference(x, 2.0), lambda x: tf.math.divide_no_nan(1.0, x),
        lambda x: tf.math.atan2(x, x), lambda x: tf.math.xlogy(x=x, y=3.0),
        lambda x: tf.add_n([x, x]),
    ],
)  # fmt: skip
def test_what_works_value_by_value_takes_ragged_tensors(function):
    x = rag([[1.0, -0.5], [], [0.25]])
    found = both(function, x)
    values = function(x.flat_values).numpy().tolist()
    assert found == [values[:2], [], values[2:]]


def test_rows_of_values_ascend():
    with pytest.raises(tf.errors.InvalidArgumentError, match="valid RowPartition"):
        tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 1])
    assert tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 2, 2]).to_list() == [[1], [], [2, 3]]


def test_lengths_of_each_axis_are_told():
    x = rag(DEEP)
    assert x.row_lengths(axis=0).numpy() == 4
    assert (
        plain(x.row_lengths(axis=-1)) == plain(x.row_lengths(axis=2)) == [[2, 1], [], [3], [0, 1]]
    )
