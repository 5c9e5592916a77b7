"""All of NumPy's functions: recorded, or listed here, run as Python, and told what would help."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_ops import CHUNKS, compare, values

import headrace as hr
from headrace.numpy_ops import fourier  # noqa: F401 (it registers)
from headrace.numpy_ops.registry import FUNCTIONS

REGULAR = np.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])


def changed(x, change):
    """Return a copy that a function has changed."""
    y = x.copy()
    change(y)
    return y


# Each is called with a matrix of three rows, all regular.
LEFT = {
    "apply_along_axis": lambda x: np.apply_along_axis(lambda row: row * 2, 0, x),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x, [0]),
    "array2string": lambda x: np.array2string(x),
    "array_repr": lambda x: np.array_repr(x),
    "array_str": lambda x: np.array_str(x),
    "copyto": lambda x: changed(x, lambda y: np.copyto(y, 1.0)),
    "einsum_path": lambda x: np.einsum_path("ij,jk", x, x)[1],
    "empty_like": lambda x: np.empty_like(x).shape[0],
    "fill_diagonal": lambda x: changed(x, lambda y: np.fill_diagonal(y, 1.0)),
    "geomspace": lambda x: np.geomspace(x[0, 0], x[2, 2], 3),
    "histogram2d": lambda x: np.histogram2d(x[0], x[1], 2)[0],
    "histogram_bin_edges": lambda x: np.histogram_bin_edges(x, 3),
    "histogramdd": lambda x: np.histogramdd(x, 2)[0],
    "linalg.cond": lambda x: np.linalg.cond(x),
    "linalg.eig": lambda x: np.linalg.eig(x)[0],
    "linalg.eigh": lambda x: np.linalg.eigh(x)[0],
    "linalg.eigvals": lambda x: np.linalg.eigvals(x),
    "linalg.eigvalsh": lambda x: np.linalg.eigvalsh(x),
    "linalg.lstsq": lambda x: np.linalg.lstsq(x, x, None)[0],
    "linalg.matrix_rank": lambda x: np.linalg.matrix_rank(x),
    "linalg.pinv": lambda x: np.linalg.pinv(x),
    "linalg.qr": lambda x: np.linalg.qr(x)[1],
    "linalg.svd": lambda x: np.linalg.svd(x)[1],
    "linalg.svdvals": lambda x: np.linalg.svdvals(x),
    "linalg.tensorinv": lambda x: np.linalg.tensorinv(x, 1),
    "linalg.tensorsolve": lambda x: np.linalg.tensorsolve(x, x[0]),
    "may_share_memory": lambda x: np.may_share_memory(x, x),
    "piecewise": lambda x: np.piecewise(x, [x > 3], [lambda v: v * 2, 0]),
    "place": lambda x: changed(x, lambda y: np.place(y, y > 3, [0])),
    "poly": lambda x: np.poly(x[0]),
    "polydiv": lambda x: np.polydiv(x[0], x[1])[0],
    "polyfit": lambda x: np.polyfit(x[0], x[1], 1),
    "polymul": lambda x: np.polymul(x[0], x[1]),
    "put": lambda x: changed(x, lambda y: np.put(y, [0], [5.0])),
    "put_along_axis": lambda x: changed(x, lambda y: np.put_along_axis(y, np.array([[0]]), 5.0, 0)),
    "putmask": lambda x: changed(x, lambda y: np.putmask(y, y > 3, 0.0)),
    "real_if_close": lambda x: np.real_if_close(x + 0j),
    "roots": lambda x: np.roots(x[0]),
    "shares_memory": lambda x: np.shares_memory(x, x),
    "sort_complex": lambda x: np.sort_complex(x[0]),
    "trim_zeros": lambda x: np.trim_zeros(x[2]),
    "unique_values": lambda x: np.sort(np.unique_values(x)),
}
# Dates, files, and what is answered without a value.
OTHERS = {
    *("busday_count", "busday_offset", "datetime_as_string", "is_busday"),
    *("save", "savetxt", "savez", "savez_compressed"),
    *("can_cast", "ix_"),
}
METHODS = {
    "byteswap": lambda x: x.byteswap(),
    "fill": lambda x: changed(x, lambda y: y.fill(2.0)),
    "flags": lambda x: x.flags.c_contiguous,
    "flat": lambda x: x.flat[0],
    "getfield": lambda x: x.getfield(np.float64),
    "item": lambda x: x[0, 0].item(),
    "partition": lambda x: changed(x, lambda y: y.partition(1)),
    "put": lambda x: changed(x, lambda y: y.put([0], [1.0])),
    "sort": lambda x: changed(x, lambda y: y.sort()),
    "strides": lambda x: x.strides[0],
    "tobytes": lambda x: x.tobytes(),
    "tolist": lambda x: np.array(x.tolist()),
    "view": lambda x: x.view(np.int64),
}


def offered():
    """Return all functions of NumPy that its protocol hands over, by name."""
    kind = type(np.concatenate)
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name, item in vars(module).items():
            if type(item) is kind and not name.startswith("_"):
                yield prefix + name, item


def test_every_function_of_numpy_is_recorded_or_listed():
    missing = {name for name, item in offered() if item not in FUNCTIONS}
    assert missing <= LEFT.keys() | OTHERS
    recorded = {name for name, item in offered() if item in FUNCTIONS}
    assert not recorded & (LEFT.keys() | OTHERS)


def runs_as_python(function, *, specific):
    expected = function(REGULAR)
    dataset = hr.Dataset.from_tensors(REGULAR).map(function)
    (found,) = list(dataset)
    np.testing.assert_array_equal(found, expected)
    assert np.asarray(found).dtype.kind in (np.asarray(expected).dtype.kind, "O")
    text = dataset.explain()
    assert "runs as Python" in text
    assert "test_numpy_left.py:" in text
    if specific:
        assert "use NumPy or headrace functions for it" not in text
    with pytest.raises(ValueError, match=r"test_numpy_left.py:\d+"):
        hr.Dataset.from_tensors(REGULAR).map(function, executor="native")


# For these there is nothing better to say.
PLAIN = {
    *("array2string", "array_repr", "array_str", "einsum_path", "histogram2d", "histogramdd"),
    *("polydiv", "real_if_close"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_recorded_runs_as_python_and_says_what_would_help(name):
    if name not in dict(offered()):
        pytest.skip("this NumPy has no such function")
    runs_as_python(LEFT[name], specific=name not in PLAIN)


@pytest.mark.parametrize("name", METHODS)
def test_methods_that_are_not_recorded_run_as_python(name):
    plain = name in ("byteswap", "flags", "getfield", "strides", "tobytes")
    runs_as_python(METHODS[name], specific=not plain)


COMPOSED = {
    "array_equiv": lambda x: (np.array_equiv(x, x[:1]), np.array_equiv(x, x[:, :0])),
    "block": lambda x: np.block([[x, x], [x[:1], x[:1]]]),
    "block of vectors": lambda x: np.block([x[0], x[1]]),
    "block of one": lambda x: np.block(x),
    "common_type": lambda x: x.astype(np.common_type(x, np.float32(1))),
    "cov": lambda x: np.cov(x),
    "cov of columns": lambda x: np.cov(x, rowvar=False, bias=True),
    "cov with": lambda x: np.cov(x[0], x[1], ddof=2),
    "cov of one": lambda x: np.cov(x[0]),
    "corrcoef": lambda x: np.corrcoef(x),
    "questions": lambda x: x * np.iscomplexobj(x) + np.isrealobj(x),
    "matrix_transpose": lambda x: np.linalg.matrix_transpose(x),
    "min_scalar_type": lambda x: np.zeros(2, np.min_scalar_type(x)),
    "polyadd": lambda x: (np.polyadd(x[0], x[1, :2]), np.polysub(x[0, :2], x[1])),
    "polyder": lambda x: (np.polyder(x[0]), np.polyder(x[0], 2), np.polyder(x[0], 0)),
    "polyint": lambda x: (np.polyint(x[0]), np.polyint(x[0], 2)),
    "tensordot": lambda x: np.linalg.tensordot(x, x, axes=([0], [0])),
    "unwrap": lambda x: np.unwrap(x),
    "unwrap degrees": lambda x: np.unwrap(x, axis=0, period=360),
    "unwrap more": lambda x: np.unwrap(x, 3.5, period=4.0),
    "vander": lambda x: np.vander(x[0]),
    "vander increasing": lambda x: np.vander(x[0], 3, increasing=True),
    "vander of none": lambda x: np.vander(x[0], 0),
}
REAL = ("corrcoef", "unwrap", "unwrap degrees", "unwrap more")


@settings(max_examples=150)
@given(st.data())
def test_what_numpy_composes_is_recorded(data):
    name = data.draw(st.sampled_from(sorted(COMPOSED)))
    kinds = ["int8", "int64", "uint8", "float32", "float64", "complex64", "complex128"]
    if name in REAL:
        kinds = kinds[:5]
    if name == "common_type":
        kinds.remove("uint8")
    if name == "unwrap degrees":
        kinds = ["int64", "float32", "float64"]
    kind = data.draw(st.sampled_from(kinds))
    x = values(np.dtype(kind), (4, 3, 5), data.draw(st.integers(0, 99)), special=False)
    if np.dtype(kind).kind in "iu":
        x = x % 7
    rows = data.draw(st.sampled_from(CHUNKS))
    compare(COMPOSED[name], x, rows=rows, magnitude=1e4 * (1 + float(abs(x).max()) ** 3))
