"""Functions beyond the elementary ones: values, dtypes and errors as TensorFlow's, in all forms."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from conftest import golden
from hypothesis import given, settings

import headrace as hr
import headrace.tf as tf

D = tf.data.Dataset
GOLDEN = golden("tf_special.json")
# TensorFlow has no kernels for these in half precision; here they are computed in float64.
WIDER = {"erfinv", "erfcinv", "ndtri", "special.dawsn", "special.expint", "special.spence"}
WIDER |= {"igamma", "igammac"}
# How far TensorFlow's own values are from the true ones, in units of the last place of the dtype:
# it computes in the precision of the values. And absolute, near zeros of the functions.
UNITS = {"float64": 64, "float32": 40, "float16": 2}
ABSOLUTE = {"float64": 4e-15, "float32": 2e-6, "float16": 1e-3}


def function_of(name):
    found = tf.math
    for part in name.split("."):
        found = getattr(found, part)
    return found


def arguments(case):
    return [np.array([float(x) for x in given], case["dtype"]) for given in case["arguments"]]


def named(case):
    return f"{case['name']} {case['dtype']}"


@pytest.mark.parametrize("case", [c for c in GOLDEN["cases"] if "result" in c], ids=named)
def test_values_are_those_of_tensorflow(case):
    found = function_of(case["name"])(*arguments(case))
    assert found.dtype.name == case["dtype"]
    expected = np.array([float(x) for x in case["result"]], case["dtype"])
    eps = float(np.finfo(case["dtype"]).eps)
    if case["name"] == "erfinv":  # which TensorFlow makes of (x + 1) / 2, rounded
        eps *= 1e6 if case["dtype"] == "float64" else 1
    np.testing.assert_allclose(
        found.numpy().astype(float), expected.astype(float),
        rtol=UNITS[case["dtype"]] * eps, atol=ABSOLUTE[case["dtype"]],
    )  # fmt: skip


@pytest.mark.parametrize("case", [c for c in GOLDEN["cases"] if "error" in c], ids=named)
def test_dtypes_that_tensorflow_refuses_are_refused(case):
    if case["name"] in WIDER and case["dtype"] == "float16":
        return
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        function_of(case["name"])(*arguments(case))


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("case", [c for c in GOLDEN["cases"] if c["dtype"] == "float32"], ids=named)
def test_a_graph_gives_what_a_call_gives(case, rows):
    function, given = function_of(case["name"]), tuple(arguments(case))
    options = tf.data.Options()
    options._chunk_rows = rows
    numbers = D.from_tensor_slices(given).map(function)
    assert "runs as a graph" in numbers.explain()
    seen = [x.numpy() for x in numbers.with_options(options)]
    np.testing.assert_array_equal(seen, function(*given).numpy())
    pieces = [tuple(x[a:b] for x in given) for a, b in ((0, 5), (5, 6), (6, 6))]
    specs = tuple(tf.TensorSpec([None], tf.float32) for _ in given)
    ragged = D.from_generator(lambda: iter(pieces), output_signature=specs).map(function)
    for found, piece in zip(ragged.with_options(options), pieces, strict=True):
        np.testing.assert_array_equal(found, function(*piece).numpy())


def test_beta_functions_of_lists():
    for case in GOLDEN["lbeta"]:
        x = np.array(case["x"], np.float32)
        expected = [float(value) for value in case["result"]]
        np.testing.assert_allclose(tf.math.lbeta(x), expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError):
        tf.math.lbeta(1.0)


FINITE = st.floats(-40, 40, allow_subnormal=False)


@settings(deadline=None)
@given(FINITE, st.floats(0.05, 40))
def test_they_keep_their_laws(x, y):
    def at(name, *args):
        return float(function_of(name)(*(np.float64(arg) for arg in args)))

    def near(a, b, relative=1e-12, absolute=1e-14):
        assert math.isclose(a, b, rel_tol=relative, abs_tol=absolute), (a, b)

    near(at("erfc", x), math.erfc(x))
    near(at("lgamma", y), math.lgamma(y))
    near(at("lgamma", y + 1), at("lgamma", y) + math.log(y), absolute=1e-13)
    near(at("digamma", y + 1), at("digamma", y) + 1 / y, absolute=1e-13)
    near(at("polygamma", 1, y), at("zeta", 2, y))
    near(at("zeta", 3, y), at("zeta", 3, y + 1) + y**-3)
    near(at("igamma", y, abs(x)) + at("igammac", y, abs(x)), 1.0)
    near(at("bessel_i0e", x), at("bessel_i0", x) * math.exp(-abs(x)))
    near(at("bessel_i1e", x), at("bessel_i1", x) * math.exp(-abs(x)))
    # The Wronskian of I and K.
    i0, i1 = at("bessel_i0e", y), at("bessel_i1e", y)
    k0, k1 = at("special.bessel_k0e", y), at("special.bessel_k1e", y)
    near(i0 * k1 + i1 * k0, 1 / y)
    near(at("special.spence", y) + at("special.spence", 1 / y), -0.5 * math.log(y) ** 2,
         absolute=1e-13)  # fmt: skip
    near(at("special.dawsn", -x), -at("special.dawsn", x))
    p = math.erfc(abs(x) / 8) / 2
    near(at("ndtri", p), -abs(x) / 8 * math.sqrt(2), relative=1e-9, absolute=1e-9)
    near(at("erfcinv", 2 * p), abs(x) / 8, relative=1e-9, absolute=1e-9)
    near(at("erfinv", math.erf(x / 20)), x / 20, relative=1e-9)


def test_sums_of_tensors_of_one_shape():
    assert tf.math.accumulate_n([[1.0], [2.0], [3.5]]).numpy().tolist() == [6.5]
    dataset = D.range(3).map(lambda x: tf.math.accumulate_n([x, x * 2, x], shape=[]))
    assert "runs as a graph" in dataset.explain()
    assert [int(x) for x in dataset] == [0, 4, 8]
    with pytest.raises(ValueError):
        tf.math.accumulate_n([[1.0], [2.0, 3.0]])
    with pytest.raises(ValueError):
        tf.math.accumulate_n([])
    with pytest.raises(TypeError):
        tf.math.accumulate_n([[1.0]], tensor_dtype=tf.int32)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float32])
def test_i0_of_numpy_is_recorded(dtype):
    x = np.array([0, 1, -3, 7, 8, 9, 20], dtype)
    dataset = hr.Dataset.from_tensor_slices(x).map(lambda x: np.i0(x))
    seen = np.array(list(dataset))
    assert seen.dtype == np.i0(x).dtype
    np.testing.assert_allclose(seen, np.i0(x), rtol=8 * np.finfo(seen.dtype).eps)
    if dtype != np.float32:
        assert "runs as a graph" in dataset.explain()


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_logspace_of_numpy_is_recorded(dtype):
    x = np.array([[0, 1], [2, -1]], dtype)
    functions = [
        lambda x: np.logspace(x[0], x[1], 5),
        lambda x: np.logspace(x, 3, 4, base=2.0, axis=-1),
        lambda x: np.logspace(0, x, 3, endpoint=False, dtype=np.float32),
    ]
    for function in functions:
        dataset = hr.Dataset.from_tensor_slices(x).map(function)
        assert "runs as a graph" in dataset.explain()
        for seen, row in zip(dataset, x, strict=True):
            expected = function(row)
            assert seen.dtype == expected.dtype
            np.testing.assert_allclose(seen, expected, rtol=4 * np.finfo(seen.dtype).eps)
