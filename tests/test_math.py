"""`headrace.math`, `sparse`, `ragged`, `debugging` and `control`: on arrays and in graphs alike."""

import math

import numpy as np
import pytest
from conftest import assert_recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import headrace as hr
from headrace import control, debugging, ragged, sparse

ROWS = [np.array(row) for row in ([3, 1, 3, 2], [5, 0], [0, 1, 1], [2])]
FLOATS = list(np.arange(24, dtype=np.float32).reshape(2, 3, 4))

VECTORS = {
    "cast": lambda x: hr.math.cast(x, np.float32),
    "one_hot": lambda x: hr.math.one_hot(x, 4),
    "one_hot on axis 0": lambda x: hr.math.one_hot(x, 3, 5, -1, axis=0, dtype=np.int16),
    "gather": lambda x: hr.math.gather(np.array([1.5, 2.5, 3.5, 4, 5, 6]), x),
    "boolean_mask": lambda x: hr.math.boolean_mask(x, x > 1),
    "unique": lambda x: hr.math.unique(x),
    "unique_with_counts": lambda x: hr.math.unique_with_counts(x),
    "bincount": lambda x: hr.math.bincount(x, minlength=3, maxlength=4, dtype=np.int32),
    "bincount weights": lambda x: hr.math.bincount(x, x * 0.5),
    "searchsorted": lambda x: hr.math.searchsorted(np.array([1, 2, 3]), x, "right"),
    "bucketize": lambda x: hr.math.bucketize(x, [1, 2, 4]),
    "clip_by_value": lambda x: hr.math.clip_by_value(x, 1, 2),
    "sequence_mask": lambda x: hr.math.sequence_mask(x),
    "sequence_mask of a size": lambda x: hr.math.sequence_mask(x, 2, np.float32),
    "shape": lambda x: hr.math.shape(x),
    "size": lambda x: hr.math.size(x),
    "ensure_shape": lambda x: hr.math.ensure_shape(x, [None]),
    "reshape": lambda x: hr.math.reshape(x, [1, hr.math.size(x)]),
    "reshape by values": lambda x: hr.math.reshape(x, hr.math.shape(x)[::-1]),
    "range": lambda x: hr.math.range(x[0], x[0] * 2, 2),
    "fill": lambda x: hr.math.fill([2, x[0]], np.float32(0.5)),
    "slice": lambda x: hr.math.slice(x, [0], [1]),
    "slice by values": lambda x: hr.math.slice(x, [x[0] % 1], hr.math.shape(x)),
    "pad": lambda x: hr.math.pad(x, [[1, 2]], constant_values=7),
    "pad by values": lambda x: hr.math.pad(x, [[0, x[0]]]),
    "divide_no_nan": lambda x: hr.math.divide_no_nan(x, x - 1),
    "reduce": lambda x: (hr.math.reduce_sum(x), hr.math.reduce_max(x), hr.math.reduce_any(x)),
    "reduce_mean": lambda x: hr.math.reduce_mean(x, axis=[0], keepdims=True),
    "ragged": lambda x: ragged.to_tensor(ragged.from_row_lengths(hr.math.range(np.sum(x)), x)),
    "row lengths": lambda x: ragged.row_lengths(
        ragged.from_row_lengths(hr.math.range(np.sum(x)), x)
    ),
    "value_rowids": lambda x: ragged.value_rowids(
        ragged.from_row_lengths(hr.math.range(np.sum(x)), x)
    ),
    "from_tensor": lambda x: ragged.to_tensor(ragged.from_tensor(np.stack([x, x]), [1, 0]), -1),
    "sparse": lambda x: sparse.to_dense(sparse.from_dense(x), -1),
    "cond": lambda x: control.cond(x[0] > 2, lambda: x[:1] * 2, lambda: x[:1] - 1),
    "nested cond": lambda x: control.cond(
        x[0] > 2,
        lambda: control.cond(x[0] > 4, lambda: x.sum(), lambda: x.max()),
        lambda: x[0],
    ),
    "case": lambda x: control.case(
        [(x[0] == 3, lambda: "three"), (x[0] == 5, lambda: "five")], lambda: "none"
    ),
    "cond of shapes": lambda x: control.cond(x[0] > 2, lambda: x, lambda: x[:1]),
    "cond of a nest": lambda x: control.cond(
        x[0] > 2, lambda: (x, {"a": 1.5}), lambda: (x[::-1], {"a": 2.5})
    )[0],
    "map_fn": lambda x: control.map_fn(lambda n: n * x.sum(), x),
    "map_fn of a nest": lambda x: control.map_fn(
        lambda row: (row["a"] + row["b"], row["a"] * 0.5), {"a": x, "b": x[::-1]}
    ),
    "map_fn with cond": lambda x: control.map_fn(
        lambda n: control.cond(n > 1, lambda: n * 10, lambda: -n), x
    ),
    "asserts": lambda x: debugging.assert_non_negative(x) or x,
}


@pytest.mark.parametrize("name", VECTORS)
def test_arrays_and_graphs_agree(name):
    assert_recorded(VECTORS[name], ROWS)


MATRICES = {
    "gather in batches": lambda x: hr.math.gather(x, [[0, 3], [1, 1], [2, -1]], batch_dims=1),
    "gather along": lambda x: hr.math.gather(x, [[0, 2]], axis=1),
    "gather_nd": lambda x: hr.math.gather_nd(x, [[0, 3], [2, 1]]),
    "gather_nd in batches": lambda x: hr.math.gather_nd(x, [[0], [3], [1]], batch_dims=1),
    "mask of columns": lambda x: hr.math.boolean_mask(x, x[0] > 1, axis=1),
    "searchsorted in rows": lambda x: hr.math.searchsorted(x, x[:, 1:] + 0.5),
    "reduce_std": lambda x: hr.math.reduce_std(x, axis=0),
    "map_fn of rows": lambda x: control.map_fn(lambda row: row[::-1], x),
    "finite": lambda x: debugging.assert_all_finite(x),
}


@pytest.mark.parametrize("name", MATRICES)
def test_matrices_and_graphs_agree(name):
    assert_recorded(MATRICES[name], FLOATS, exact=name != "reduce_std")


@settings(max_examples=25)
@given(st.data())
def test_gathers_follow_numpy(data):
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=4))
    x = np.arange(np.prod(shape)).reshape(shape)
    axis = data.draw(st.integers(0, len(shape) - 1))
    within = st.integers(-shape[axis], shape[axis] - 1)
    at = data.draw(hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, max_side=3), elements=within))
    np.testing.assert_array_equal(hr.math.gather(x, at, axis), np.take(x, at, axis))
    rows = data.draw(hnp.arrays(np.int64, (shape[0], 2), elements=st.integers(0, shape[1] - 1)))
    expected = np.stack([row[i] for row, i in zip(x, rows, strict=True)])
    np.testing.assert_array_equal(hr.math.gather(x, rows, batch_dims=1), expected)
    pairs = np.stack([rows[:, 0] % shape[0], rows[:, 1]], axis=1)
    np.testing.assert_array_equal(hr.math.gather_nd(x, pairs), x[pairs[:, 0], pairs[:, 1]])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: hr.math.gather(np.arange(3), [3]), "out of bounds"),
        (lambda: hr.math.gather(np.arange(3), [0.5]), "integers"),
        (lambda: hr.math.gather_nd(np.zeros((2, 2)), [[0, 0, 0]]), "rank"),
        (lambda: hr.math.bincount(np.array([1 << 60])), "larger than"),
        (lambda: hr.math.bincount(np.array([-1])), "negative"),
        (lambda: hr.math.fill([1 << 20, 1 << 20], 1), "larger than"),
        (lambda: hr.math.fill([-1], 1), "dimension -1"),
        (lambda: hr.math.range(0, 1 << 60), "range of|larger than"),
        (lambda: hr.math.range(0, 5, 0), "step"),
        (lambda: hr.math.sequence_mask(np.array([1 << 60])), "larger than"),
        (lambda: hr.math.slice(np.arange(3), [2], [2]), r"size\[0\]"),
        (lambda: hr.math.ensure_shape(np.zeros(2), [3]), "not compatible"),
        (lambda: ragged.from_row_splits(np.arange(3), [0, 5]), "row splits must rise"),
        (lambda: ragged.from_row_lengths(np.arange(3), [4, -1]), "negative"),
        (lambda: sparse.to_dense(hr.SparseTensor([[9]], [1], [3])), "out of bounds"),
        (lambda: sparse.to_dense(hr.SparseTensor([[0]], [1], [1 << 60])), "larger than"),
        (lambda: control.case([]), "at least one"),
        (lambda: control.map_fn(lambda x: x, np.zeros((0, 2))), "no rows"),
        (lambda: debugging.assert_equal(np.array([1, 2]), [1, 3], "look"), "look: x == y"),
        (lambda: debugging.assert_positive(np.array([1, 0])), r"x = \[1 0\]"),
        (lambda: debugging.assert_rank(np.zeros(2), 2), "rank 2"),
        (lambda: debugging.assert_near(1.0, 1.1), "close"),
        (lambda: debugging.assert_all_finite(np.array([np.inf])), "finite"),
        (lambda: debugging.assert_type(np.zeros(1), np.int8), "int8"),
        (lambda: debugging.assert_shapes([(np.zeros((2, 3)), ("n", "n"))]), "size n"),
        (lambda: debugging.Assert(np.array([False]), [np.array([1, 2, 3, 4])]), "1 2 3"),
        (lambda: control.numpy_function(lambda: 1.5, [], np.int64), "declares"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(call, text):
    with pytest.raises(hr.errors.HeadraceError, match=text):
        call()


def test_an_assertion_in_a_graph_is_the_error_of_its_element():
    def checked(x):
        debugging.assert_less(x, 3, "too large")
        return x * 2

    dataset = hr.Dataset.range(6).map(checked, executor="native")
    for chunk_rows in (1, 2, 7, 1024):
        iterator = iter(dataset.with_options(hr.Options(_chunk_rows=chunk_rows)))
        assert [next(iterator) for _ in range(3)] == [0, 2, 4]
        with pytest.raises(hr.errors.InvalidArgumentError, match="too large: x < y"):
            next(iterator)


def test_an_assertion_alone_is_not_lost():
    def checked(x):
        debugging.assert_less(x, 3)
        return x

    dataset = hr.Dataset.range(6).map(checked, executor="native")
    with pytest.raises(hr.errors.InvalidArgumentError):
        list(dataset)


def test_a_branch_that_is_not_taken_does_not_fail():
    def safe(x):
        def divide():
            debugging.assert_greater(x, 0)
            return hr.math.gather(np.array([7, 8]), x - 1)

        return control.cond(x > 0, divide, lambda: np.int64(-1))

    dataset = hr.Dataset.range(3).map(safe, executor="native")
    assert list(dataset) == [-1, 7, 8]


def test_a_branch_changes_no_array_around_it():
    def change(x):
        y = x * 2

        def add():
            nonlocal y
            y += 1
            return y

        return control.cond(x[0] > 0, add, lambda: y)

    text = hr.Dataset.from_tensor_slices(np.ones((2, 3), np.int64)).map(change).explain()
    assert "runs as Python" in text


def test_sparse_and_ragged_components_become_dense_in_graphs():
    values = hr.RaggedTensor(hr.RaggedTensor([1, 2, 3], [0, 1, 1, 3]), [0, 2, 3])
    dataset = hr.Dataset.from_tensors(values).map(
        lambda r: (r.to_tensor(), ragged.to_tensor(r, 7), r), executor="native"
    )
    (seen,) = dataset
    np.testing.assert_array_equal(seen[0], values.to_tensor())
    np.testing.assert_array_equal(seen[1], values.to_tensor(7))
    assert seen[2] == values
    held = hr.SparseTensor([[0, 1], [1, 0]], np.array([b"a", b"b"], object), [2, 2])
    (seen,) = hr.Dataset.from_tensors(held).map(lambda s: s.to_dense(b"x"), executor="native")
    np.testing.assert_array_equal(seen, held.to_dense(b"x"))


def test_printing_and_python_functions_run_once_per_element(capsys):
    def noisy(x):
        control.print("seen", x)
        return x

    assert list(hr.Dataset.range(3).map(noisy)) == [0, 1, 2]
    assert capsys.readouterr().err == "seen 0\nseen 1\nseen 2\n"
    called = []

    def root(x):
        called.append(x)
        return np.float64(math.sqrt(x))

    dataset = hr.Dataset.range(3).map(lambda x: control.py_function(root, [x], np.float64))
    assert list(dataset) == [0.0, 1.0, math.sqrt(2)]
    assert len(called) == 3
    dataset = hr.Dataset.range(3).map(lambda x: control.numpy_function(np.sqrt, [x], np.float64))
    for chunk_rows in (1, 2, 7, 1024):
        rows = list(dataset.with_options(hr.Options(_chunk_rows=chunk_rows)))
        assert rows == [0.0, 1.0, math.sqrt(2)]
    assert control.numpy_function(np.sqrt, [np.float64(4)], np.float64) == 2.0
    for call in (control.numpy_function, control.py_function):
        with pytest.raises(hr.errors.InvalidArgumentError, match="not traceable"):
            hr.Dataset.range(3).map(lambda x, c=call: c(root, [x], np.float64), executor="native")


def test_random_numbers_in_a_branch_are_those_of_the_element():
    def draw(x):
        return control.cond(
            x % 2 == 0, lambda: hr.random.uniform([], seed=5), lambda: np.float32(-1)
        )

    dataset = hr.Dataset.range(6).map(draw, executor="native")
    seen = list(dataset)
    assert len(set(seen)) == 4
    assert list(dataset.with_options(hr.Options(_chunk_rows=1)))[1::2] == [-1.0] * 3
