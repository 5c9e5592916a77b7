"""Shared by all tests: golden vectors, Hypothesis settings, no seed left behind."""

import base64
import json
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import headrace as hr

GOLDEN = Path(__file__).parent / "golden"

# Examples start runs with threads: a slow machine is no failure.
settings.register_profile(
    "headrace", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40
)
settings.load_profile("headrace")

# Scripts under test inherit it from who started the tests in the background, and must hear Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_global_seed():
    yield
    hr.set_seed(None)


def golden(name):
    """Read a file of golden vectors."""
    return json.loads((GOLDEN / name).read_text())


def decode(value):
    """Return a golden value as what headrace yields."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "sparse" in value:
        parts = value["sparse"]
        return hr.SparseTensor(
            decode(parts["indices"]), decode(parts["values"]), decode(parts["dense_shape"])
        )
    if "ragged" in value:
        parts = value["ragged"]
        return hr.RaggedTensor(decode(parts["values"]), decode(parts["row_splits"]))
    if set(value) == {"dtype", "shape", "data"}:
        return _array(value)
    return {name: decode(item) for name, item in value.items()}


def _array(value):
    if value["dtype"] == "bytes":
        flat = [base64.b64decode(item) for item in value["data"]]
        array = np.array([*flat, None], dtype=object)[:-1].reshape(value["shape"])
        return array.item() if array.ndim == 0 else array
    data = [_number(item) for item in value["data"]]
    return np.array(data, value["dtype"]).reshape(value["shape"])[()]


def _number(item):
    if isinstance(item, list):
        return complex(*map(_number, item))
    return float(item) if isinstance(item, str) else item


def assert_same(seen, expected, path="element"):
    """Check that two elements are equal: structure, types, dtypes, shapes and every bit."""
    if isinstance(expected, dict):
        assert isinstance(seen, dict), path
        assert set(seen) == set(expected), path
        for key in expected:
            assert_same(seen[key], expected[key], f"{path}[{key!r}]")
    elif isinstance(expected, tuple):
        assert type(seen) is type(expected), path
        assert len(seen) == len(expected), path
        for number, pair in enumerate(zip(seen, expected, strict=True)):
            assert_same(*pair, f"{path}[{number}]")
    elif isinstance(expected, hr.SparseTensor):
        for part in ("indices", "values", "dense_shape"):
            assert_same(getattr(seen, part), getattr(expected, part), f"{path}.{part}")
    elif isinstance(expected, hr.RaggedTensor):
        assert isinstance(seen, hr.RaggedTensor), path
        assert_same(seen.row_splits, expected.row_splits, f"{path}.row_splits")
        assert_same(seen.values, expected.values, f"{path}.values")
    elif isinstance(expected, np.ndarray | np.generic):
        assert isinstance(seen, np.ndarray | np.generic), f"{path}: {seen!r}"
        assert isinstance(seen, np.ndarray) == isinstance(expected, np.ndarray), path
        assert seen.dtype == expected.dtype, path
        assert seen.shape == expected.shape, path
        if expected.dtype == object:
            assert seen.tolist() == expected.tolist(), path
        else:
            assert np.asarray(seen).tobytes() == np.asarray(expected).tobytes(), (
                path,
                seen,
                expected,
            )
    else:
        assert type(seen) is type(expected), path
        assert seen == expected, path


def assert_same_elements(seen, expected):
    """Check two lists of elements."""
    assert len(seen) == len(expected)
    for number, pair in enumerate(zip(seen, expected, strict=True)):
        assert_same(*pair, f"element {number}")


@pytest.fixture
def record_file(tmp_path):
    """A TFRecord file of ten records: r0 to r9."""
    path = tmp_path / "ten.tfrecord"
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(10):
            writer.write(f"r{i}".encode())
    return path


def assert_recorded(function, rows, *, exact=True, chunks=(1, 2, 7, 1024)):
    """Check that a function gives the same as a graph, in chunks of any size, as row by row.

    `rows` are the elements: arrays, or tuples of arrays, which may differ in shape.
    """
    expected = [function(*row) if type(row) is tuple else function(row) for row in rows]
    as_rows = [row if type(row) is tuple else (row,) for row in rows]
    components = [[row[k] for row in as_rows] for k in range(len(as_rows[0]))]
    stacked = all(len(set(map(np.shape, values))) == 1 for values in components)
    specs = [hr.spec.spec_of(values[0]) for values in components]
    if not stacked:
        specs = [hr.TensorSpec((None,) * len(spec.shape), spec.dtype) for spec in specs]
    loose = hr.Dataset.from_generator(lambda: iter(as_rows), output_signature=tuple(specs))
    datasets = [loose]
    if stacked:
        columns = tuple(_column(values) for values in components)
        datasets.append(hr.Dataset.from_tensor_slices(columns))
    for dataset in datasets:
        for chunk_rows in chunks:
            mapped = dataset.map(lambda *row: function(*row), executor="native")
            seen = list(mapped.with_options(hr.Options(_chunk_rows=chunk_rows)))
            assert len(seen) == len(expected)
            for ours, theirs in zip(seen, expected, strict=True):
                _assert_alike(ours, theirs, exact)


def _column(values):
    if isinstance(values[0], bytes | str) or values[0].dtype == object:
        column = np.empty((len(values), *np.shape(values[0])), object)
        for k, value in enumerate(values):
            column[k] = value
        return column
    return np.stack(values)


def _assert_alike(ours, theirs, exact):
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for pair in zip(ours, theirs, strict=True):
            _assert_alike(*pair, exact)
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    if exact or ours.dtype == object:
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
