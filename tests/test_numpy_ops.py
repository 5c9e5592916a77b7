"""NumPy in functions: what a graph gives is what NumPy gives, for each dtype, shape and chunk size.

Floats of single values agree within 4 units in the last place, sums and products over n values
within n eps of the sum of magnitudes; everything else is equal.
"""

import itertools

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from laws import with_options

import headrace as hr
from headrace._headrace import run_op
from headrace.trace import trace

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [
    np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
] + [BFLOAT16]
REAL = [dtype for dtype in DTYPES if dtype.kind not in "c"]
CHUNKS = [1, 2, 7, 1024]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# ufuncs that are not recorded, and why.
NOT_RECORDED = {"isnat": "asks about dates, which are no dtype of headrace"}


def ufuncs():
    names = [name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)]
    return {name: getattr(np, name) for name in names}


def info(dtype):
    return ml_dtypes.finfo(dtype) if dtype == BFLOAT16 else np.finfo(dtype)


def is_float(dtype):
    return dtype.kind in "fc" or dtype == BFLOAT16


def values(dtype, shape, seed, special=True, distinct=False):
    """Return numbers of a dtype, edge cases among them."""
    rng = np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if distinct:
        count = int(np.prod(shape, dtype=int))
        return rng.permutation(count).reshape(shape).astype(dtype)
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        low = max(bounds.min, -100) if bounds.min else 0
        found = rng.integers(low, 100, shape).astype(dtype)
        edges = np.array([bounds.min, bounds.max, 0, 1], dtype)
    else:
        found = rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 2)
        if dtype.kind == "c":
            found = found + 1j * rng.standard_normal(shape)
        found = found.astype(dtype)
        edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5], dtype)
    if special and found.size:
        chosen = rng.random(shape) < 0.1
        found = np.where(chosen, edges[rng.integers(0, len(edges), shape)], found)
    return np.asarray(found, dtype)


def wide(array):
    array = np.asarray(array)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def agree(seen, expected, magnitude=None, ulps=4):
    """Compare a result with NumPy's: by `ulps`, or by a bound on the rounding error."""
    seen, expected = np.asarray(seen), np.asarray(expected)
    assert seen.dtype == expected.dtype
    assert seen.shape == expected.shape
    if not is_float(expected.dtype):
        np.testing.assert_array_equal(seen, expected)
        return
    limits = info(expected.dtype)
    a, b = wide(seen), wide(expected)
    size = np.maximum(abs(b), float(limits.tiny))
    if a.dtype.kind == "c":
        parts = [(a.real, b.real), (a.imag, b.imag)]
        size = np.where(np.isfinite(size), size, 0)
    else:
        parts = [(a, b)]
    # The gap between neighbours, which eps is at the bottom of a binade.
    gap = float(limits.eps) * 2.0 ** np.floor(
        np.log2(np.where(np.isfinite(size), size, 1) + 1e-320)
    )
    allowed = ulps * gap if magnitude is None else float(limits.eps) * magnitude + gap
    for x, y in parts:
        same = (x == y) | (np.isnan(x) & np.isnan(y)) | (abs(x - y) <= allowed)
        assert same.all(), (x[~same], y[~same])


def compare(function, *components, rows=2, magnitude=None, ulps=4):
    """Run a function as a graph over slices of `components`, and compare with NumPy."""
    count = len(components[0])
    expected = [function(*(column[i] for column in components)) for i in range(count)]
    dataset = hr.Dataset.from_tensor_slices(
        components if len(components) > 1 else components[0]
    ).map(function, executor="native")
    seen = list(with_options(dataset, _chunk_rows=rows))
    assert len(seen) == count
    for got, want in zip(seen, expected, strict=True):
        if isinstance(want, tuple):
            assert len(got) == len(want)
            for one, other in zip(got, want, strict=True):
                agree(one, other, magnitude, ulps)
        else:
            agree(got, want, magnitude, ulps)


def numpy_takes(function, *args):
    try:
        function(*args)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def spec(array):
    return hr.TensorSpec(array.shape, array.dtype)


# ---------------------------------------------------------------------- ufuncs


@pytest.mark.parametrize("name", ufuncs())
def test_every_ufunc_is_recorded_or_has_no_meaning_here(name):
    ufunc = ufuncs()[name]
    recorded = []
    for dtype in DTYPES:
        args = [values(dtype, (2, 2), 0, special=False)] * ufunc.nin
        if name == "ldexp":
            args[1] = args[1].astype(np.int32) if dtype.kind != "c" else args[1]
        if not numpy_takes(ufunc, *args):
            continue
        graph, refusal = trace(lambda *args: ufunc(*args), tuple(map(spec, args)))
        assert (graph is None) == (name in NOT_RECORDED), f"{dtype}: {refusal}"
        recorded.append(dtype)
    assert recorded or name in NOT_RECORDED


ROW_SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)
# Each once: np.acos is np.arccos.
ELEMENTWISE = sorted(
    {
        id(ufunc): name
        for name, ufunc in ufuncs().items()
        if not ufunc.signature and name not in NOT_RECORDED
    }.values()
)
# There are many ufuncs, and each example is a run.
FEW = settings(max_examples=15)


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if ufuncs()[name].nin == 1])
@FEW
@given(st.sampled_from(DTYPES), ROW_SHAPES, st.sampled_from(CHUNKS), st.integers(0, 1000))
def test_ufuncs_of_one_array(name, dtype, shape, rows, seed):
    ufunc = ufuncs()[name]
    x = values(dtype, (3, *shape), seed)
    if dtype.kind == "c":
        # Of infinite complex numbers the C library and NumPy's loops differ among themselves.
        x = np.where(np.isfinite(x), x, dtype.type(1 + 2j))
    assume(numpy_takes(ufunc, x))
    compare(lambda x: ufunc(x), x, rows=rows)


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if ufuncs()[name].nin == 2])
@FEW
@given(
    st.sampled_from(DTYPES), ROW_SHAPES, st.data(), st.sampled_from(CHUNKS), st.integers(0, 1000)
)
def test_ufuncs_of_two_arrays_broadcast(name, dtype, shape, data, rows, seed):
    ufunc = ufuncs()[name]
    other = tuple(1 if data.draw(st.booleans()) else dim for dim in shape)
    other = other[data.draw(st.integers(0, len(shape))) :]
    x, y = values(dtype, (3, *shape), seed), values(dtype, (3, *other), seed + 1)
    if dtype.kind == "c":
        x, y = (np.where(np.isfinite(z), z, dtype.type(1 + 2j)) for z in (x, y))
    if "power" in name or name == "pow":
        y = y % 5 if dtype.kind in "iu" else y
    if name == "ldexp":
        y = values(np.dtype(np.int32), y.shape, seed, special=False)
    if "shift" in name:
        y = abs(y) % 70
    assume(numpy_takes(ufunc, x[0], y[0]))
    # The power of complex numbers is an exponential of a logarithm: its error grows with both.
    ulps = 200 if dtype.kind == "c" and "pow" in name else 4
    compare(lambda x, y: ufunc(x, y), x, y, rows=rows, ulps=ulps)


@pytest.mark.parametrize("name", ["add", "multiply", "true_divide", "power", "less", "maximum"])
@given(st.sampled_from(REAL), st.sampled_from(REAL), st.sampled_from(CHUNKS))
def test_mixed_dtypes_are_promoted_as_numpy_does(name, first, second, rows):
    ufunc = ufuncs()[name]
    x, y = values(first, (3, 4), 0, special=False), values(second, (3, 4), 1, special=False)
    x, y = (abs(z) if z.dtype.kind in "ifV" else z for z in (x, y))
    assume(numpy_takes(ufunc, x, y))
    compare(lambda x, y: ufunc(x, y), x, y, rows=rows)


REDUCIBLE = [
    "add",
    "multiply",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "logical_and",
    "logical_or",
    "logical_xor",
]
REDUCIBLE += ["bitwise_and", "bitwise_or", "bitwise_xor"]


def total(x, *axes):
    """Bound the rounding error of a sum: n times the sum of magnitudes."""
    finite = np.where(np.isfinite(wide(x)), abs(wide(x)), 0)
    return max(x[0].size, 1) * float(finite.reshape(len(x), -1).sum(1).max(initial=0))


@pytest.mark.parametrize("name", REDUCIBLE)
@FEW
@given(st.sampled_from(DTYPES), st.sampled_from(CHUNKS), st.integers(0, 1000), st.data())
def test_reduce_accumulate_and_outer(name, dtype, rows, seed, data):
    ufunc = ufuncs()[name]
    x = values(dtype, (3, 2, 3), seed, special=name not in ("add", "multiply"))
    assume(not (dtype.kind == "c" and name.startswith(("fm", "m", "log"))))
    axis = data.draw(st.sampled_from([0, 1, -1]))
    calls = [
        lambda x: ufunc.reduce(x, axis=axis),
        lambda x: ufunc.reduce(x, axis=(0, -1), keepdims=True),
        lambda x: ufunc.accumulate(x, axis=axis),
        lambda x: ufunc.outer(x, x[0]),
    ]
    bound = None
    if is_float(dtype):
        bound = total(x) if name != "multiply" else 20 * float(abs(wide(x)).max() + 1) ** 6
    for call in calls:
        if numpy_takes(call, x[0]):
            compare(call, x, rows=rows, magnitude=bound)


def test_out_and_where_refuse_with_what_to_write_instead():
    x = hr.TensorSpec((3,), np.float32)
    _, refusal = trace(lambda x: np.add(x, x, where=x > 0), x)
    assert "where=" in str(refusal)
    assert "np.where" in str(refusal)
    _, refusal = trace(lambda x: np.add(x, 1, out=np.zeros(3, np.float32)), x)
    assert "out=" in str(refusal)


# ------------------------------------------------------------------ reductions

SUMS = ["sum", "prod", "mean", "std", "var", "nansum", "nanprod", "nanmean", "nanstd", "nanvar"]
ORDERED = ["max", "min", "ptp", "nanmax", "nanmin", "median"]
OTHERS = ["any", "all", "count_nonzero"]
AXES = [None, 0, -1, (0, 1), (0, -1), ()]


@pytest.mark.parametrize("name", SUMS + ORDERED + OTHERS)
@given(
    st.sampled_from(DTYPES), st.sampled_from(AXES), st.booleans(), st.sampled_from(CHUNKS),
    st.integers(0, 1000),
)  # fmt: skip
def test_reductions_along_axes(name, dtype, axis, keepdims, rows, seed):
    reduce = getattr(np, name)
    x = values(dtype, (3, 2, 3, 2), seed, special=name not in SUMS)
    if name.startswith("nan") and is_float(dtype):
        x[0, 0, 0, 0] = np.nan
    call = lambda x: reduce(x, axis=axis, keepdims=keepdims)  # noqa: E731 (as users write it)
    assume(numpy_takes(call, x[0]))
    assume(not (dtype.kind == "c" and name in ("median", "nanmax", "nanmin")))
    assume(not (name == "median" and dtype == BFLOAT16))
    assume(axis != () or name not in ("median", "count_nonzero"))
    finite = np.where(np.isfinite(wide(x)), abs(wide(x)), 0)
    bound = total(x)
    if "prod" in name:
        bound = 20 * float(max(finite.max(), 1)) ** 12
    if name in ("std", "var", "nanstd", "nanvar"):
        # The deviations are squares, and a root of them magnifies what is lost near zero.
        bound = total(x) * float(finite.max() + 1)
        bound = bound if "var" in name else 4 * bound**2
    compare(call, x, rows=rows, magnitude=bound if is_float(reduce(x[0]).dtype) else None)


@given(
    st.sampled_from(REAL),
    st.sampled_from([None, 0, -1]),
    st.booleans(),
    st.integers(0, 99),
    st.sampled_from(CHUNKS),
)
def test_places_of_extremes(dtype, axis, keepdims, seed, rows):
    x = values(dtype, (3, 2, 3), seed)
    for name in ("argmax", "argmin"):
        find = getattr(np, name)
        compare(lambda x, find=find: find(x, axis=axis, keepdims=keepdims), x, rows=rows)


OPTIONS = {
    "sum dtype": lambda x: np.sum(x, dtype=np.float32),
    "sum initial": lambda x: np.sum(x, initial=3, axis=0),
    "prod initial": lambda x: np.prod(x, initial=2, axis=-1),
    "max initial": lambda x: np.max(x, initial=7, axis=0),
    "min initial": lambda x: x.min(initial=2),
    "max of nothing": lambda x: np.max(x[:0], axis=0, initial=1),
    "mean dtype": lambda x: x.mean(dtype=np.float64),
    "var ddof": lambda x: np.var(x, ddof=1, axis=1),
    "std ddof": lambda x: x.std(ddof=1),
    "std dtype": lambda x: np.std(x, dtype=np.float64),
    "average": lambda x: np.average(x, axis=0),
    "average weights": lambda x: np.average(x, axis=1, weights=[1, 2, 3]),
    "cumsum method": lambda x: x.cumsum(),
    "cumprod axis": lambda x: np.cumprod(x % 3, axis=0),
    "nancumsum": lambda x: np.nancumsum(x, 1),
    "diff": lambda x: np.diff(x),
    "diff twice": lambda x: np.diff(x, 2, 1),
    "diff prepend": lambda x: np.diff(x, prepend=0),
    "ediff1d": lambda x: np.ediff1d(x),
    "trace": lambda x: np.trace(x),
    "trace offset": lambda x: x.trace(1),
    "trace below": lambda x: np.trace(x, -1),
    "dot method": lambda x: x.dot(x.T),
    "clip": lambda x: x.clip(1, 5),
    "round": lambda x: x.round(1),
    "round tens": lambda x: np.round(x * 1.5, -1),
    "around": lambda x: np.around(x / 3, 2),
    "fix": lambda x: np.fix(x / 3),
    "nan_to_num": lambda x: np.nan_to_num(x / 0 * 0),
    "nan_to_num other": lambda x: np.nan_to_num(x / np.zeros(3), nan=1.0, posinf=2.0, neginf=3.0),
    "isclose": lambda x: np.isclose(x, 2, atol=1),
    "allclose": lambda x: np.allclose(x, x + 1e-12),
    "sinc": lambda x: np.sinc(x / 4),
    "interp": lambda x: np.interp(x, [0, 2, 5], [1, 3, -2]),
    "interp ends": lambda x: np.interp(x, [0, 2], [1, 3], left=-1, right=np.inf),
    "median": lambda x: np.median(x, axis=0),
    "percentile": lambda x: np.percentile(x, 30),
    "percentiles": lambda x: np.percentile(x, [10, 50, 99], axis=1, keepdims=True),
    "quantile": lambda x: np.quantile(x, 0.3, axis=(0, 1)),
    "isposinf": lambda x: np.isposinf(x / 1),
    "isneginf": lambda x: np.isneginf(x / 1),
    "isreal": lambda x: np.isreal(x),
    "cross": lambda x: np.cross(x[0], x[1]),
    "kron": lambda x: np.kron(x, x[:1]),
}


@pytest.mark.parametrize("rows", [1, 2, 1024])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "float32"])
@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_functions_and_methods(name, dtype, rows):
    x = np.arange(4 * 9).reshape(4, 3, 3).astype(dtype)[::-1] % 11
    compare(OPTIONS[name], np.ascontiguousarray(x), rows=rows, magnitude=total(x))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_median_of_an_odd_number_is_the_middle_however_large(dtype):
    large = np.finfo(dtype).max
    compare(np.median, np.array([[large], [-large]], dtype))
    compare(np.median, np.array([[0, large, large]], dtype))


def test_reductions_of_nothing_fail_or_give_what_numpy_gives():
    empty = np.zeros((2, 0, 3), np.float32)
    for call in (lambda x: np.sum(x, 0), lambda x: np.prod(x), lambda x: np.mean(x, 0)):
        compare(call, empty)
    compare(lambda x: np.cumsum(x, 0), empty)
    compare(lambda x: np.sort(x, 0), empty)
    compare(lambda x: np.median(x, 0), empty)
    for call in (lambda x: np.max(x), lambda x: np.argmin(x), lambda x: np.quantile(x, 0.5)):
        with pytest.raises((ValueError, IndexError)):
            list(hr.Dataset.from_tensor_slices(empty).map(call, executor="native"))


def test_rows_of_differing_length_are_computed_one_by_one():
    rows = [np.arange(n, dtype=np.float32)[::-1] for n in (3, 1, 5, 4)]

    def statistics(x):
        return (
            np.sort(x),
            np.cumsum(x),
            np.median(x),
            np.std(x),
            np.dot(x, x),
            np.interp(x, [0, 9], [0, 1]),
        )

    signature = hr.TensorSpec((None,), np.float32)
    dataset = hr.Dataset.from_generator(lambda: iter(rows), output_signature=signature)
    for chunk_rows in CHUNKS:
        seen = list(
            with_options(dataset.map(statistics, executor="native"), _chunk_rows=chunk_rows)
        )
        for got, row in zip(seen, rows, strict=True):
            for one, other in zip(got, statistics(row), strict=True):
                agree(one, other, total(row[None]))


# ----------------------------------------------------------------------- order


@given(
    st.sampled_from(DTYPES), st.sampled_from([0, 1, -1, None]), st.sampled_from(CHUNKS),
    st.integers(0, 1000),
)  # fmt: skip
def test_sorting(dtype, axis, rows, seed):
    # NumPy has no place for a NaN of bfloat16: it may come to lie anywhere.
    x = values(dtype, (3, 4, 5), seed, special=dtype != BFLOAT16)
    compare(lambda x: np.sort(x, axis=axis), x, rows=rows)
    compare(lambda x: np.argsort(x, axis=axis, kind="stable"), x, rows=rows)
    compare(lambda x: x.argsort(), values(dtype, (3, 20), seed, distinct=dtype.kind != "b"))


def test_equal_values_keep_their_order_or_the_function_runs_as_python():
    x = np.zeros((3, 40), np.int64)
    x[:, ::3] = 1
    compare(lambda x: np.argsort(x, kind="stable"), x)
    # NumPy's other kinds promise no order of equal values: whatever they give is what comes out.
    dataset = hr.Dataset.from_tensor_slices(x).map(lambda x: np.argsort(x))
    for seen, row in zip(dataset, x, strict=True):
        np.testing.assert_array_equal(seen, np.argsort(row))


def test_text_is_sorted():
    x = np.array([[b"b", b"", b"ab"], [b"z", b"a", b"y"]], object)
    native = hr.Dataset.from_tensor_slices(x).map(lambda x: np.sort(x), executor="native")
    assert [row.tolist() for row in native] == [[b"", b"ab", b"b"], [b"a", b"y", b"z"]]


# -------------------------------------------------------------------- products

PRODUCTS = {
    "matmul": (lambda a, b: a @ b, (2, 3), (3, 4)),
    "matmul vector": (lambda a, b: a @ b, (2, 3), (3,)),
    "vector matmul": (lambda a, b: np.matmul(a, b), (3,), (3, 2)),
    "vectors": (lambda a, b: a @ b, (5,), (5,)),
    "batches": (lambda a, b: a @ b, (2, 1, 2, 3), (4, 3, 2)),
    "dot": (lambda a, b: np.dot(a, b), (2, 3), (4, 3, 2)),
    "dot scalar": (lambda a, b: np.dot(a, b), (2, 3), ()),
    "dot vectors": (lambda a, b: a.dot(b), (20,), (20,)),
    "inner": (lambda a, b: np.inner(a, b), (2, 3), (4, 3)),
    "outer": (lambda a, b: np.outer(a, b), (2, 2), (3,)),
    "vdot": (lambda a, b: np.vdot(a, b), (2, 3), (3, 2)),
    "tensordot": (lambda a, b: np.tensordot(a, b, 1), (2, 3), (3, 4)),
    "tensordot axes": (lambda a, b: np.tensordot(a, b, ([0, 1], [2, 0])), (2, 3, 4), (3, 5, 2)),
    "einsum": (lambda a, b: np.einsum("ij,jk->ki", a, b), (2, 3), (3, 4)),
    "einsum implicit": (lambda a, b: np.einsum("ij,jk", a, b), (2, 3), (3, 4)),
    "einsum ellipsis": (lambda a, b: np.einsum("...i,...i", a, b), (2, 3), (3,)),
    "einsum broadcast": (lambda a, b: np.einsum("ij,ij->ij", a, b), (1, 3), (2, 3)),
    "einsum sums": (lambda a, b: np.einsum("ii,jk->k", a, b), (3, 3), (2, 2)),
}


@pytest.mark.parametrize("name", PRODUCTS)
@FEW
@given(st.sampled_from(DTYPES), st.sampled_from(CHUNKS), st.integers(0, 1000))
def test_products(name, dtype, rows, seed):
    call, first, second = PRODUCTS[name]
    a = values(dtype, (3, *first), seed, special=False)
    b = values(dtype, (3, *second), seed + 1, special=False)
    assume(numpy_takes(call, a[0], b[0]))
    terms = max(a[0].size, 1)
    bound = terms**2 * float(abs(wide(a)).max(initial=1)) * float(abs(wide(b)).max(initial=1))
    compare(call, a, b, rows=rows, magnitude=bound)
    constant = np.asarray(b[0])
    compare(lambda a: call(a, constant), a, rows=rows, magnitude=bound)


def test_products_of_sizes_that_do_not_fit_fail():
    dataset = hr.Dataset.from_tensors((np.ones((2, 3)), np.ones((2, 3))))
    with pytest.raises(hr.errors.InvalidArgumentError):
        dataset.map(lambda a, b: a @ b, executor="native")


def test_products_too_large_for_memory_are_errors():
    x = np.ones(5_000_000, np.float64)  # the product is more than the address space
    with pytest.raises(hr.errors.ResourceExhaustedError, match="cannot allocate"):
        run_op("einsum", {"equation": "i,j,k->ijk"}, [x, x, x])


@pytest.mark.parametrize("equation", ["", "->", "i", "i->j", "ii->ii", "i,,->", "....->", "é->é"])
def test_equations_that_make_no_sense_are_errors(equation):
    with pytest.raises(hr.errors.InvalidArgumentError, match="einsum"):
        run_op("einsum", {"equation": equation}, [np.ones(3)])


NORMS = [
    *({"ord": order} for order in (None, 2)),
    *({"axis": -1, "ord": order} for order in (None, 0, 1, 2, 3, 2.5, np.inf, -np.inf)),
    *({"axis": (0, 1), "ord": order} for order in (None, "fro", 1, -1, np.inf, -np.inf)),
    {"axis": 0, "keepdims": True},
    {"axis": (0, 1), "ord": 1, "keepdims": True},
    {"keepdims": True},
]


@pytest.mark.parametrize(("options", "dtype"), [*itertools.product(NORMS, DTYPES)])
def test_norms(options, dtype):
    x = values(dtype, (3, 2, 3), 5, special=False)
    if options.get("ord") == 2 and "axis" not in options:
        x = x.reshape(3, 6)
    if dtype.kind == "b":
        x = x.astype(np.int8)
    call = lambda x: np.linalg.norm(x, **options)  # noqa: E731 (as users write it)
    for rows in CHUNKS:
        compare(call, x, rows=rows, magnitude=4 * total(x))


def test_new_products_of_vectors_and_matrices():
    a, b = (
        values(np.dtype("complex64"), (3, 2, 4), 1, False),
        values(np.dtype("complex64"), (3, 4), 2, False),
    )
    for name, args in (("vecdot", (b, b)), ("matvec", (a, b)), ("vecmat", (b, a.swapaxes(1, 2)))):
        ufunc = getattr(np, name, None)
        if ufunc is not None:  # added by NumPy 2.2
            compare(lambda x, y, ufunc=ufunc: ufunc(x, y), *args, magnitude=40)
