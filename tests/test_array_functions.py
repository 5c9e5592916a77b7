"""NumPy's functions that move, pick, join and count: as graphs they give what NumPy gives."""

import numpy as np
import pytest
from conftest import assert_recorded
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_functions import DTYPES, values

import headrace as hr

MASK = np.array([True, False, True])
TABLE = np.arange(12).reshape(3, 4)

# Of a matrix of shape (3, 4).
MATRIX = {
    "where": lambda x: np.where(x),
    "where of three": lambda x: np.where(x > 0, x, 1),
    "nonzero": lambda x: x.nonzero(),
    "argwhere": lambda x: np.argwhere(x),
    "flatnonzero": lambda x: np.flatnonzero(x),
    "clip": lambda x: x.clip(1, 2),
    "concatenate": lambda x: np.concatenate([x, x[:1]]),
    "concatenate flat": lambda x: np.concatenate([x, x], axis=None),
    "stack": lambda x: np.stack([x, x[::-1]], axis=-1),
    "vstack": lambda x: np.vstack([x[0], x]),
    "hstack": lambda x: np.hstack([x, x]),
    "dstack": lambda x: np.dstack([x, x]),
    "column_stack": lambda x: np.column_stack([x, x[:, 0]]),
    "split": lambda x: np.split(x, 2, axis=1),
    "split at": lambda x: np.split(x, [1, 3], axis=1),
    "array_split": lambda x: np.array_split(x, 3, axis=1),
    "hsplit": lambda x: np.hsplit(x, 2),
    "vsplit": lambda x: np.vsplit(x, 3),
    "dsplit": lambda x: np.dsplit(x[None], 2),
    "expand_dims": lambda x: np.expand_dims(x, (0, -1)),
    "squeeze": lambda x: np.squeeze(x[None, :, None], axis=0),
    "transpose": lambda x: np.transpose(x[None], (1, 0, 2)),
    "swapaxes": lambda x: x[None].swapaxes(0, -1),
    "moveaxis": lambda x: np.moveaxis(x[None], [0, 1], [-1, 0]),
    "rollaxis": lambda x: np.rollaxis(x[None], 2, 1),
    "flip": lambda x: np.flip(x, (0, -1)),
    "fliplr": lambda x: np.fliplr(x),
    "flipud": lambda x: np.flipud(x),
    "rot90": lambda x: [np.rot90(x, k) for k in range(-1, 4)],
    "roll": lambda x: np.roll(x, 5),
    "roll along": lambda x: np.roll(x, (1, -2), axis=(0, 1)),
    "pad": lambda x: np.pad(x, ((1, 0), (0, 2))),
    "pad with": lambda x: np.pad(x, 1, constant_values=1),
    "pad ends": lambda x: np.pad(x, ((1, 2), (3, 0)), constant_values=((0, 1), (1, 0))),
    "pad edge": lambda x: np.pad(x, (1, 2), "edge"),
    "pad reflect": lambda x: np.pad(x, 6, "reflect"),
    "pad symmetric": lambda x: np.pad(x, (5, 9), "symmetric"),
    "pad wrap": lambda x: np.pad(x, (4, 3), "wrap"),
    "tile": lambda x: np.tile(x, (2, 1, 3)),
    "repeat": lambda x: np.repeat(x, 2),
    "repeat along": lambda x: x.repeat([2, 0, 1], axis=0),
    "take": lambda x: np.take(x, [5, -1]),
    "take along": lambda x: x.take([[1, 0], [-1, 3]], axis=1),
    "take clipped": lambda x: np.take(x, [9, -9], axis=0, mode="clip"),
    "take wrapped": lambda x: np.take(x, [9, -8], axis=0, mode="wrap"),
    "take_along_axis": lambda x: np.take_along_axis(x, np.array([[0, 3], [2, 1], [-1, 0]]), 1),
    "compress": lambda x: np.compress([True, False, True], x, axis=0),
    "extract": lambda x: np.extract(x > 0, x),
    "choose": lambda x: np.choose([[0], [2], [1]], [x, 1, x * 2]),
    "select": lambda x: np.select([x > 2, x > 1], [x, x + 1], 7),
    "diag": lambda x: (np.diag(x, 1), np.diag(x[0], -1)),
    "diagonal": lambda x: np.diagonal(x, -1),
    "tril": lambda x: np.tril(x, -1),
    "triu": lambda x: np.triu(x, 1),
    "zeros_like": lambda x: np.zeros_like(x),
    "full_like": lambda x: np.full_like(x, 1),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 3, 4)),
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, x[0], 1),
    "meshgrid": lambda x: np.meshgrid(x[0], x[:, 0]),
    "atleast": lambda x: (np.atleast_1d(x[0, 0]), np.atleast_3d(x), *np.atleast_2d(x, x[0])),
    "ravel": lambda x: x.ravel(),
    "insert": lambda x: np.insert(x, 1, 1, axis=1),
    "insert rows": lambda x: np.insert(x, [0, 2], x[:2], axis=0),
    "append": lambda x: np.append(x, x[:1], axis=0),
    "delete": lambda x: np.delete(x, [0, -1], axis=1),
    "array_equal": lambda x: (np.array_equal(x, x[::-1]), np.array_equal(x, x[0])),
    "unstack": lambda x: np.unstack(x, axis=1),
    "integer array": lambda x: x[[0, 2]],
    "columns": lambda x: x[:, [3, 0, 0]],
    "pairs": lambda x: x[[0, 1], [2, -1]],
    "table": lambda x: x[1][TABLE % 4],
    "mask": lambda x: x[MASK],
    "mask of columns": lambda x: x[:, np.array([True, False, True, True])],
    "computed mask": lambda x: x[x > 0],
    "computed mask of rows": lambda x: x[x[:, 0] > 0, 1:],
    "ellipsis": lambda x: x[..., None, [1]],
    "number and array": lambda x: x[None][0, :, [1, 2]],
}
LESS = {"meshgrid", "clip", "where of three", "select", "choose", "extract", "array_equal"}


@pytest.mark.parametrize("name", MATRIX)
def test_moving_functions_give_what_numpy_gives(name):
    assert_recorded(MATRIX[name], list(values("int64", (5, 3, 4)) % 4))


@pytest.mark.parametrize("dtype", [*DTYPES, "bytes", "str"])
def test_values_are_moved_whatever_their_type(dtype):
    if dtype in ("bytes", "str"):
        kind = {"bytes": lambda n: b"%d" % n, "str": str}[dtype]
        x = np.empty((3, 3, 4), object)
        x.flat = [kind(n % 7) if n % 5 else kind(n)[:0] for n in range(36)]
        names = "concatenate stack split roll tile repeat take compress rot90 mask columns pairs"
        names += " flip transpose take_along_axis integer_array pad_edge pad_wrap nonzero"
    else:
        x, names = values(dtype, (3, 3, 4)), "pad where unique_all tril diag full_like "
        names += "concatenate stack roll tile repeat take compress mask columns pairs pad_edge"
    functions = {
        **MATRIX,
        "unique all": lambda x: np.unique(x, return_inverse=True, return_counts=True),
    }
    for name in names.split():
        assert_recorded(
            functions[name.replace("_", " ") if name not in functions else name], list(x)
        )


# Of vectors whose length differs from row to row.
VECTOR = {
    "unique": lambda x: np.unique(x),
    "unique all": lambda x: np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    ),
    "bincount": lambda x: np.bincount(x, minlength=2),
    "bincount weights": lambda x: np.bincount(x, weights=x * 0.5),
    "searchsorted": lambda x: np.searchsorted([1, 2, 4], x, side="right"),
    "searchsorted in": lambda x: np.unique(x).searchsorted([1, 2]),
    "digitize": lambda x: np.digitize(x, [1, 3, 4]),
    "digitize down": lambda x: np.digitize(x, [4, 3, 1], right=True),
    "isin": lambda x: np.isin(x, [1, 3]),
    "not in": lambda x: np.isin(x, x[:2], invert=True),
    "isclose": lambda x: np.isclose(x, x + 1e-9),
    "allclose": lambda x: np.allclose(x, 1.0, atol=0.5),
    "mask": lambda x: x[x > 1],
    "reversed": lambda x: x[::-1],
    "repeat by values": lambda x: np.repeat(x, x),
    "first": lambda x: x[: x.sum() % 3],
    "last": lambda x: x[-(x.sum().astype(np.int64) % 3) :],
    "outer": lambda x: x[:, None][:, [0, 0]],
    "roll by": lambda x: np.roll(x, x.sum(), axis=0),
    "pad": lambda x: np.pad(x, (1, 2), constant_values=9),
    "pad by": lambda x: np.pad(x, (x.sum().astype(np.int64) % 3, 1)),
    "tile by": lambda x: np.tile(x, x.sum() % 3),
    "take": lambda x: x[x * 0],
    "compress": lambda x: x.compress(x > 1),
    "zeros_like": lambda x: np.zeros_like(x, np.float32),
    "diag": lambda x: np.diag(x),
    "linspace": lambda x: np.linspace(x.sum(), 10, 5),
    "broadcast": lambda x: np.stack([x, x]),
    "concatenate": lambda x: np.concatenate([x, [7], x]),
}


@pytest.mark.parametrize("name", VECTOR)
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_rows_of_differing_length_keep_their_own(name, dtype):
    rows = [np.array(row, dtype) for row in ([3, 1, 3, 2], [5], [0, 1], [1, 1, 4, 2, 3, 3], [2])]
    assert_recorded(VECTOR[name], rows, exact=name not in ("linspace", "bincount weights"))


EMPTY = "unique isin searchsorted mask reversed pad diag zeros_like compress isclose concatenate"


@pytest.mark.parametrize("name", [*EMPTY.split(), "unique all", "repeat by values", "bincount"])
def test_empty_rows_are_rows(name):
    rows = [np.array(row, np.int64) for row in ([], [1, 2], [], [4])]
    assert_recorded(VECTOR[name], rows)


def some(data):
    """Draw a number of rows of chunks."""
    return (data.draw(st.sampled_from([1, 2, 7, 1024])),)


def _keys(shape):
    """Draw keys of all kinds that fit a shape."""
    axis = st.integers(0, len(shape))

    def part(size):
        numbers = st.integers(-size, size - 1) if size else st.nothing()
        return st.one_of(
            st.slices(size),
            numbers,
            hnp.arrays(np.int64, hnp.array_shapes(max_dims=1, max_side=3), elements=numbers)
            if size
            else st.nothing(),
            hnp.arrays(np.bool_, (size,)),
        )

    def build(count, ellipsis, axes, *parts):
        key = list(parts)[:count]
        if ellipsis is not None:
            key.insert(min(ellipsis, len(key)), Ellipsis)
        for at in axes:
            key.insert(min(at, len(key)), None)
        return tuple(key)

    return st.builds(
        build, axis, st.none() | axis, st.lists(axis, max_size=2), *[part(size) for size in shape]
    )


@settings(max_examples=15)
@given(st.data())
def test_keys_of_all_kinds_pick_what_numpy_picks(data):
    shape = data.draw(hnp.array_shapes(max_dims=3, max_side=4))
    key = data.draw(_keys(shape))
    x = np.arange(2 * np.prod(shape)).reshape(2, *shape)
    try:
        expected = [row[key] for row in x]
    except IndexError:
        # From the graph, or from the function itself with which its first element is compared.
        with pytest.raises((hr.errors.InvalidArgumentError, IndexError)):
            list(hr.Dataset.from_tensor_slices(x).map(lambda row: row[key], executor="native"))
        return
    options = hr.Options(_chunk_rows=some(data)[0])
    dataset = hr.Dataset.from_tensor_slices(x).map(lambda row: row[key], executor="native")
    seen = list(dataset.with_options(options))
    for ours, theirs in zip(seen, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert np.shape(ours) == np.shape(theirs)


@settings(max_examples=15)
@given(st.data())
def test_computed_indices_pick_what_numpy_picks(data):
    shape = data.draw(hnp.array_shapes(min_dims=2, max_dims=3, max_side=4))
    x = np.arange(3 * np.prod(shape)).reshape(3, *shape)
    at = data.draw(hnp.arrays(np.int32, (3, 2), elements=st.integers(-shape[0], shape[0] - 1)))
    mask = data.draw(hnp.arrays(np.bool_, (3, shape[-1])))
    rows = list(zip(x, at, mask, strict=True))
    chunks = some(data)
    assert_recorded(lambda x, at, mask: x[at], rows, chunks=chunks)
    assert_recorded(lambda x, at, mask: x[..., mask], rows, chunks=chunks)
    assert_recorded(lambda x, at, mask: x[at[0]], rows, chunks=chunks)
    assert_recorded(lambda x, at, mask: x[at[0], ..., ::-1], rows, chunks=chunks)
    assert_recorded(lambda x, at, mask: x[at[0] : at[1], ..., 0], rows, chunks=chunks)
    assert_recorded(lambda x, at, mask: x[:: abs(at[0]) + 1], rows, chunks=chunks)
    assert_recorded(lambda x, at, mask: np.take(x, at, axis=0), rows, chunks=chunks)


@settings(max_examples=15)
@given(st.data())
def test_padding_and_its_like_follow_numpy(data):
    x = data.draw(hnp.arrays(np.int16, hnp.array_shapes(min_dims=2, max_dims=3, max_side=4)))
    rank = x.ndim - 1
    widths = data.draw(hnp.arrays(np.int64, (rank, 2), elements=st.integers(0, 9)))
    mode = data.draw(st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]))
    assert_recorded(lambda row: np.pad(row, widths.tolist(), mode), list(x), chunks=some(data))
    shift = data.draw(st.integers(-9, 9))
    axis = data.draw(st.integers(-rank, rank - 1))
    assert_recorded(lambda row: np.roll(row, shift, axis), list(x), chunks=some(data))
    reps = data.draw(st.lists(st.integers(0, 3), max_size=3))
    assert_recorded(lambda row: np.tile(row, reps), list(x), chunks=some(data))
    counts = data.draw(hnp.arrays(np.int64, x.shape[1:][axis], elements=st.integers(0, 3))).tolist()
    assert_recorded(lambda row: np.repeat(row, counts, axis), list(x), chunks=some(data))


@settings(max_examples=15)
@given(st.data())
@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "float32", "float64", "complex64"])
def test_sets_and_searches_follow_numpy(dtype, data):
    pool = {"f": [0, 1, np.nan, -2, np.inf], "c": [0, 1j, 1 + 1j, np.nan, -2]}
    elements = pool.get(np.dtype(dtype).kind, [0, 1, 1, 2, 3])
    draw = lambda shape: data.draw(  # noqa: E731
        hnp.arrays(
            np.dtype(dtype), shape, elements=st.sampled_from(elements).map(np.dtype(dtype).type)
        )
    )
    x, other = draw((2, 5)), draw(3)
    everything = {"return_index": True, "return_inverse": True, "return_counts": True}
    assert_recorded(lambda row: np.unique(row, **everything), list(x), chunks=some(data))
    assert_recorded(lambda row: np.isin(row, other), list(x), chunks=some(data))
    ordered = np.sort(other)
    for side in ("left", "right"):
        assert_recorded(lambda row: np.searchsorted(ordered, row, side), list(x), chunks=some(data))  # noqa: B023
    if dtype != "complex64":
        assert_recorded(
            lambda row: np.isclose(row, other[0], equal_nan=True), list(x), chunks=some(data)
        )
    assert_recorded(lambda row: np.array_equal(row, x[0]), list(x), chunks=some(data))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[[9]],
        lambda x: x[:, [4]],
        lambda x: x[x[0] > 0],
        lambda x: np.take(x, [12]),
        lambda x: np.take_along_axis(x, np.full((3, 1), 4), 1),
        lambda x: np.repeat(x, x[0] - 9, axis=0),
        lambda x: np.pad(x, ((x[0, 0] - 9, 0), (0, 0))),
        lambda x: np.bincount(x[0] - 9),
        lambda x: x[[0, 1], [0, 1, 2]],
        lambda x: np.tile(x, x[0, 0] + (1 << 60)),
        lambda x: np.bincount(x[0] + (1 << 60)),
        lambda x: np.repeat(x, x[0] + (1 << 60), axis=1),
    ],
)
def test_what_does_not_fit_is_an_error_in_a_run(function):
    x = np.ones((2, 3, 4), np.int64)
    with pytest.raises((IndexError, ValueError, MemoryError, hr.errors.HeadraceError)):
        list(hr.Dataset.from_tensor_slices(x).map(function, executor="native"))


def test_a_picked_array_is_a_copy_and_a_slice_is_a_view():
    def copied(x):
        y = x[[0, 1]]
        y += 1
        return y, x

    assert_recorded(copied, list(values("int64", (2, 3))))

    def viewed(x):
        y = x * 2
        z = y[: x[0]]
        y += 1
        return z

    dataset = hr.Dataset.from_tensor_slices(np.ones((2, 3), np.int64)).map(viewed)
    assert "in place" in dataset.explain()


def test_items_are_not_assigned_to():
    def assign(x):
        x = x.copy()
        x[x > 1] = 0
        return x

    text = hr.Dataset.from_tensor_slices(values("int64")).map(assign).explain()
    assert "np.where" in text
