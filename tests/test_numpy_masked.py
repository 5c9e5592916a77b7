"""Reductions of some of the values (``where=``, without NaN) and order in part, as graphs."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_ops import CHUNKS, compare, values

import headrace as hr

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
NUMBERS = ["bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64"]
FLOATS = ["float32", "float64"]
SHAPES = [(7,), (3, 4), (2, 3, 4)]


def draw_case(data, dtypes, special=False):
    dtype = np.dtype(data.draw(st.sampled_from(dtypes)))
    shape = data.draw(st.sampled_from(SHAPES))
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    x = values(dtype, (4, *shape), data.draw(st.integers(0, 99)), special=special)
    rows = data.draw(st.sampled_from(CHUNKS))
    return x, axis, rows


def magnitude(x):
    return x[0].size * float(np.nansum(np.abs(x.astype(np.complex128))))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "all", "any", "var", "std", "nansum"])
@settings(max_examples=20)
@given(st.data())
def test_some_of_the_values_are_reduced(name, data):
    x, axis, rows = draw_case(data, NUMBERS)
    mask = np.random.default_rng(len(name)).random(x.shape) < 0.7
    keep = data.draw(st.booleans())
    function = getattr(np, name)
    bound = magnitude(x) ** (2 if name in ("var", "std") else 1) if name != "prod" else 1e9
    compare(
        lambda x, mask: function(x, axis=axis, keepdims=keep, where=mask),
        *(x, mask), rows=rows, magnitude=bound,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
@settings(max_examples=15)
@given(st.data())
def test_some_of_the_values_that_are_numbers_are_reduced(name, data):
    x, axis, rows = draw_case(data, NUMBERS)
    if x.dtype.kind == "f":
        x = np.where(np.random.default_rng(3).random(x.shape) < 0.2, np.nan, x).astype(x.dtype)
    mask = np.random.default_rng(len(name)).random(x.shape) < 0.7
    function = getattr(np, name)
    compare(
        lambda x, mask: function(x, axis=axis, where=mask),
        *(x, mask), rows=rows, magnitude=magnitude(x) ** 2,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
@settings(max_examples=15)
@given(st.data())
def test_the_largest_of_some_starts_from_the_initial_value(name, data):
    x, axis, rows = draw_case(data, [d for d in NUMBERS if d != "bool"])
    mask = np.random.default_rng(1).random(x.shape) < 0.5
    function = getattr(np, name)
    compare(lambda x, mask: function(x, axis=axis, initial=3, where=mask), x, mask, rows=rows)


def test_a_mask_that_is_constant_or_all_is_one_too():
    x = values(np.dtype("int64"), (4, 2, 3), 0)
    compare(lambda x: x.sum(where=np.array([True, False, True])), x)
    compare(lambda x: np.add.reduce(x, where=x > 0), x)
    compare(lambda x: np.logical_or.reduce(x, axis=1, where=x > 0), x)
    compare(lambda x: np.sum(x, where=True), x)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: x.max(where=x > 0), "initial"),
        (lambda x: x.sum(where=x), "where="),
        (lambda x: x[0].sum(where=x > 0), "another shape"),
        (lambda x: np.maximum.reduce(x, where=x > 0, initial=0), "where="),
    ],
)
def test_what_a_mask_cannot_be_is_told(function, reason):
    with pytest.raises(hr.errors.InvalidArgumentError, match=reason):
        hr.trace(function, hr.TensorSpec((2, 3), np.int64))


@pytest.mark.parametrize("name", ["nanmedian", "nanpercentile", "nanquantile"])
@settings(max_examples=25)
@given(st.data())
def test_quantiles_leave_nan_out(name, data):
    x, axis, rows = draw_case(data, ["int32", "int64", "uint8", "uint64", *FLOATS])
    if x.dtype.kind == "f":
        share = data.draw(st.sampled_from([0.1, 0.6, 1.0]))
        x = np.where(np.random.default_rng(3).random(x.shape) < share, np.nan, x).astype(x.dtype)
    keep = data.draw(st.booleans())
    q = data.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0, [0.25, 0.75], [0.5]]))
    if name == "nanmedian":
        compare(lambda x: np.nanmedian(x, axis=axis, keepdims=keep), x, rows=rows)
        return
    function = getattr(np, name)
    x = x.astype(np.float64) if isinstance(q, list) and x.dtype == np.float32 else x
    q = np.multiply(q, 100).tolist() if name == "nanpercentile" else q
    compare(
        lambda x: function(x, q, axis=axis, keepdims=keep), x, rows=rows, magnitude=magnitude(x)
    )


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
@settings(max_examples=20)
@given(st.data())
def test_places_of_extremes_leave_nan_out(name, data):
    x, axis, rows = draw_case(data, NUMBERS, special=True)
    if x.dtype.kind == "f":
        x = np.where(np.random.default_rng(3).random(x.shape) < 0.3, np.nan, x).astype(x.dtype)
        x[..., 0] = x[:, 0] = 1
        if x.ndim > 2:
            x[:, :, 0] = 1
    function, keep = getattr(np, name), data.draw(st.booleans())
    compare(lambda x: function(x, axis=axis, keepdims=keep), x, rows=rows)


def test_quantiles_whose_dtype_depends_on_values_are_told():
    with pytest.raises(hr.errors.InvalidArgumentError, match="depends on the values"):
        hr.trace(lambda x: np.nanquantile(x, [0.5]), hr.TensorSpec((3,), np.float32))


def test_quantiles_of_small_integers_overflow_in_numpy():
    with pytest.raises(hr.errors.InvalidArgumentError, match="overflows"):
        hr.trace(lambda x: np.percentile(x, 30), hr.TensorSpec((3,), np.int8))


def test_a_place_among_nothing_but_nan_is_an_error():
    x = np.array([[1.0, np.nan], [np.nan, np.nan]])
    dataset = hr.Dataset.from_tensor_slices(x).map(np.nanargmax, executor="native")
    seen = iter(dataset)
    assert next(seen) == 0
    with pytest.raises(ValueError, match="All-NaN slice"):
        next(seen)


@settings(max_examples=25)
@given(st.data())
def test_a_partition_has_the_right_value_at_its_place(data):
    x, axis, rows = draw_case(data, NUMBERS)
    axis = -1 if axis is None else axis
    kth = data.draw(st.integers(0, x.shape[1:][axis] - 1))
    compare(lambda x: np.take(np.partition(x, kth, axis), kth, axis), x, rows=rows)
    compare(
        lambda x: np.take_along_axis(x, np.argpartition(x, kth, axis), axis).take(kth, axis),
        x, rows=rows,
    )  # fmt: skip


def test_a_partition_at_no_place_is_an_error():
    with pytest.raises(hr.errors.InvalidArgumentError, match="out of bounds"):
        hr.trace(lambda x: np.partition(x, 3), hr.TensorSpec((3,), np.int64))


@settings(max_examples=20)
@given(st.data())
def test_the_last_key_counts_most(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    shape = data.draw(st.sampled_from([(6,), (2, 5)]))
    keys = [rng.integers(0, 3, (4, *shape)) for _ in range(3)]
    rows = data.draw(st.sampled_from(CHUNKS))
    compare(lambda a, b, c: np.lexsort((a, b, c)), *keys, rows=rows)
    compare(lambda a, b, c: np.lexsort((a, c), axis=0), *keys, rows=rows)


def test_nothing_is_warned_of_in_a_graph():
    dataset = hr.Dataset.from_tensors(np.full(3, np.nan)).map(np.nanmedian, executor="native")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(next(iter(dataset)))
