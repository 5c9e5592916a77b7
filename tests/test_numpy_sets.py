"""Sets, histograms, windows, bits and places of arrays, as graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_ops import CHUNKS, agree, compare, values

import headrace as hr

SORTS = ["bool", "int8", "int64", "uint8", "float32", "float64", "complex64"]


def small(dtype, shape, seed):
    """Return values of which many are equal."""
    found = np.random.default_rng(seed).integers(0, 4, shape)
    return (found if dtype != "bool" else found > 1).astype(dtype)


@settings(max_examples=40)
@given(st.data())
def test_different_slices_are_found_along_an_axis(data):
    dtype = data.draw(st.sampled_from(SORTS))
    shape = data.draw(st.sampled_from([(5,), (5, 2), (3, 2, 2), (4, 0)]))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = small(dtype, (4, *shape), data.draw(st.integers(0, 99)))
    rows = data.draw(st.sampled_from(CHUNKS))
    parts = data.draw(st.tuples(*[st.booleans()] * 3))
    compare(lambda x: np.unique(x, *parts, axis=axis), x, rows=rows)


def test_a_slice_with_nan_is_never_equal_to_another():
    x = np.array([[[1.0, np.nan], [1.0, np.nan], [0.0, 2.0], [0.0, 2.0]]])
    dataset = hr.Dataset.from_tensor_slices(x)
    (found,) = dataset.map(lambda x: np.unique(x, axis=0), executor="native")
    np.testing.assert_array_equal(found, [[0, 2], [1, np.nan], [1, np.nan]])


def test_text_has_no_different_slices():
    with pytest.raises(hr.errors.InvalidArgumentError, match="axis argument"):
        hr.trace(lambda x: np.unique(x, axis=0), hr.TensorSpec((3, 2), bytes))


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
@pytest.mark.parametrize("dtype", SORTS)
def test_parts_of_unique_are_named(name, dtype):
    x = small(dtype, (4, 6), 1)
    function = getattr(np, name)
    compare(lambda x: tuple(function(x)), x)
    (seen,) = hr.Dataset.from_tensors(x[0]).map(function, executor="native")
    assert type(seen) is type(function(x[0]))


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
@settings(max_examples=25)
@given(st.data())
def test_sets_of_values_are_joined_and_compared(name, data):
    seed = data.draw(st.integers(0, 99))
    first, second = data.draw(st.tuples(st.sampled_from(SORTS), st.sampled_from(SORTS)))
    if name == "setdiff1d":
        second = first
    x = small(first, (4, data.draw(st.integers(0, 6))), seed)
    y = small(second, (4, data.draw(st.integers(1, 6))), seed + 1)
    compare(getattr(np, name), x, y, rows=data.draw(st.sampled_from(CHUNKS)))


def test_sets_of_text_are_joined_and_compared():
    x, y = np.array([[b"b", b"a", b"b"]], object), np.array([[b"c", b"a"]], object)
    dataset = hr.Dataset.from_tensor_slices((x, y))
    both = lambda x, y: (np.union1d(x, y), np.intersect1d(x, y), np.setdiff1d(x, y))  # noqa: E731
    (seen,) = dataset.map(both, executor="native")
    assert [part.tolist() for part in seen] == [[b"a", b"b", b"c"], [b"a"], [b"b"]]


@settings(max_examples=40)
@given(st.data())
def test_values_are_counted_in_bins(data):
    dtype = data.draw(st.sampled_from(["int8", "int64", "uint8", "float32", "float64"]))
    x = values(np.dtype(dtype), (4, 20), data.draw(st.integers(0, 99)), special=False)
    bins, limits = data.draw(
        st.sampled_from(
            [
                (10, (0, 20)),
                (3, (-1.5, 7.25)),
                ([0, 1, 2, 5], None),
                ([-3.0, 0.0, 0.1, 40], None),
                (4, (2, 2)),
                ([1, 1, 2], None),
            ]
        )
    )
    rows = data.draw(st.sampled_from(CHUNKS))
    compare(lambda x: np.histogram(x, bins, limits), x, rows=rows)
    weights = values(np.dtype("float64"), (4, 20), 5, special=False)
    compare(
        lambda x, w: np.histogram(x, bins, limits, weights=w), x, weights, rows=rows,
        magnitude=20 * float(abs(weights).sum()),
    )  # fmt: skip


def test_the_edges_of_bins_count_as_in_numpy():
    x = np.linspace(0, 1, 11)[None].repeat(2, 0)
    for count in range(1, 60):
        compare(lambda x, count=count: np.histogram(x, count, (0, 1)), x)


def correlated(x, y):
    return np.correlate(x, y), np.correlate(x, y, "same"), np.correlate(x, y, "full")


WINDOWS = {
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, -1),
    "windows of all axes": lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)),
    "windows of one axis twice": lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2), (0, 0)),  # noqa: E501
    "convolve": lambda x: np.convolve(x[0], x[1]),
    "convolve same": lambda x: np.convolve(x[0], x[1, :2], "same"),
    "convolve same even": lambda x: np.convolve(x[0, :2], x[1], "same"),
    "convolve valid": lambda x: np.convolve(x[0], [1, 2, 1], "valid"),
    "correlate": lambda x: np.correlate(x[0], x[1, :3]),
    "correlate full": lambda x: np.correlate(x[0], x[1, :2], "full"),
    "correlate same": lambda x: np.correlate(x[0], x[1, :2], "same"),
    "correlate same odd": lambda x: np.correlate(x[0], x[1, :3], "same"),
    "correlate short with long": lambda x: correlated(x[0, :2], x[1]),
    "correlate shorter with long": lambda x: correlated(x[0, :3], x[1]),
    "gradient": lambda x: np.gradient(x),
    "gradient along": lambda x: np.gradient(x, 2, axis=1),
    "gradient by steps": lambda x: np.gradient(x, 0.5, 2),
    "trapezoid": lambda x: np.trapezoid(x),
    "trapezoid over": lambda x: np.trapezoid(x, [0, 1, 3, 4, 9], axis=1),
    "trapezoid over rows": lambda x: np.trapezoid(x, x * 2, axis=0),
    "polyval": lambda x: np.polyval([2, 0, 1], x),
    "polyval of values": lambda x: np.polyval(x[0], x[1]),
    "cross": lambda x: np.cross(x[:, :2].T[..., None], x[:, :2].T[..., None], axis=1)[..., 0],
    "cross of rows": lambda x: np.linalg.cross(x[:, :1], x[:, 1:2], axis=0),
    "resize": lambda x: np.resize(x, (4, 7)),
    "angle": lambda x: np.angle(x),
    "mT": lambda x: x[None].mT,
    "linalg": lambda x: (
        np.linalg.matmul(x, x.T), np.linalg.trace(x), np.linalg.diagonal(x, offset=1),
        np.linalg.vecdot(x, x), np.linalg.multi_dot([x, x.T, x]),
        np.linalg.matrix_power(x[:3, :3], 3), np.linalg.vector_norm(x), np.linalg.matrix_norm(x),
        np.linalg.vector_norm(x, axis=1, ord=1),
    ),
    "indices of a triangle": lambda x: (x[np.triu_indices_from(x, 1)], x[np.tril_indices_from(x)]),
}  # fmt: skip


KINDS = ["int64", "float32", "float64", "complex128"]
REAL = ("angle", "linalg", "cross of rows")
CASES = [(name, kind) for name in WINDOWS for kind in (KINDS[:3] if name in REAL else KINDS)]


@pytest.mark.parametrize(("name", "dtype"), CASES)
@pytest.mark.parametrize("rows", CHUNKS)
def test_functions_of_neighbours_give_what_numpy_gives(name, dtype, rows):
    x = values(np.dtype(dtype), (5, 3, 5), 7, special=False)
    if dtype == "int64":
        x %= 10
    compare(WINDOWS[name], x, rows=rows, magnitude=1e4 * (1 + float(abs(x).max()) ** 3))


@settings(max_examples=30)
@given(st.data())
def test_bits_are_packed_and_unpacked(data):
    x = values(np.dtype("uint8"), (4, 3, 5), data.draw(st.integers(0, 99)))
    axis = data.draw(st.sampled_from([None, 0, 1, -1]))
    order = data.draw(st.sampled_from(["big", "little"]))
    count = data.draw(st.sampled_from([None, 0, 5, 50, 200, -3]))
    rows = data.draw(st.sampled_from(CHUNKS))
    compare(lambda x: np.unpackbits(x, axis, count, order), x, rows=rows)
    kind = data.draw(st.sampled_from(["bool", "int32", "uint8"]))
    compare(lambda x: np.packbits(x.astype(kind), axis, order), x % 3, rows=rows)


def test_bits_of_other_types_are_an_error():
    for function in (np.unpackbits, np.packbits):
        with pytest.raises(hr.errors.InvalidArgumentError, match="Expected an input array"):
            hr.trace(function, hr.TensorSpec((3,), np.float32))


@settings(max_examples=20)
@given(st.data())
def test_places_become_numbers_and_back(data):
    shape = data.draw(st.sampled_from([(7,), (3, 4), (2, 3, 5)]))
    at = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, np.prod(shape), (4, 6))
    rows = data.draw(st.sampled_from(CHUNKS))
    compare(lambda x: np.unravel_index(x, shape), at, rows=rows)
    compare(lambda x: np.ravel_multi_index(np.unravel_index(x, shape), shape), at, rows=rows)


@pytest.mark.parametrize("bad", [-1, 12])
def test_a_place_that_is_none_is_an_error(bad):
    at = np.array([1, bad])
    dataset = hr.Dataset.from_tensor_slices(at)
    for function in (
        lambda x: np.unravel_index(x, (3, 4)),
        lambda x: np.ravel_multi_index((x,), (12,)),
    ):
        seen = iter(dataset.map(function, executor="native"))
        next(seen)
        with pytest.raises(ValueError, match=r"out of bounds|invalid entry"):
            next(seen)


def test_a_histogram_needs_edges():
    with pytest.raises(hr.errors.InvalidArgumentError, match="give range="):
        hr.trace(np.histogram, hr.TensorSpec((3,), np.float64))


def test_agreement_is_strict():
    with pytest.raises(AssertionError):
        agree(np.float64(1), np.float64(1.1))
