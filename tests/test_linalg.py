"""Inverses, determinants and systems of small matrices, as graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_ops import CHUNKS, compare

import headrace as hr

KINDS = ["int32", "float32", "float64", "complex64", "complex128"]


def matrices(kind, shape, seed):
    """Return matrices that are far from singular."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, shape) + 9 * np.eye(shape[-1])
    x = x[..., rng.permutation(shape[-1]), :]
    return (x + 1j * rng.integers(-2, 3, shape) if kind.startswith("c") else x).astype(kind)


FUNCTIONS = {
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": lambda x: tuple(np.linalg.slogdet(x)),
    "cholesky": lambda x: np.linalg.cholesky(x @ np.conj(x.mT)),
    "cholesky upper": lambda x: np.linalg.cholesky(x @ np.conj(x.mT), upper=True),
    "solve": lambda x: np.linalg.solve(x, x[..., :2] + 1),
    "solve a vector": lambda x: np.linalg.solve(x, np.arange(x.shape[-1])),
    "solve for many": lambda x: np.linalg.solve(x, np.ones((2, 1, x.shape[-1], 2), np.float32)),
}


@settings(max_examples=60)
@given(st.data())
def test_functions_of_square_matrices_are_numpys(data):
    name = data.draw(st.sampled_from(sorted(FUNCTIONS)))
    n = data.draw(st.sampled_from([1, 2, 3, 6]))
    batch = data.draw(st.sampled_from([(), (3,)]))
    kind = data.draw(st.sampled_from(KINDS))
    x = matrices(kind, (4, *batch, n, n), data.draw(st.integers(0, 99)))
    magnitude = 8 * 20.0**n if name == "det" else 1e3
    compare(FUNCTIONS[name], x, rows=data.draw(st.sampled_from(CHUNKS)), magnitude=magnitude)


def test_a_singular_matrix_is_an_error_of_its_element():
    x = np.stack([np.eye(2), np.zeros((2, 2)), 2 * np.eye(2)])
    dataset = hr.Dataset.from_tensor_slices(x)
    run = iter(dataset.map(lambda x: np.linalg.inv(x), executor="native"))
    np.testing.assert_array_equal(next(run), np.eye(2))
    with pytest.raises(ValueError, match="not invertible"):
        next(run)
    np.testing.assert_array_equal(next(run), np.eye(2) / 2)
    assert [float(v) for v in dataset.map(lambda x: np.linalg.det(x))] == [1.0, 0.0, 4.0]
    with pytest.raises(ValueError, match="positive definite"):
        list(dataset.map(lambda x: np.linalg.cholesky(-x), executor="native"))


def test_what_is_not_square_or_no_number_is_an_error():
    with pytest.raises(ValueError, match="square"):
        hr.trace(lambda x: np.linalg.inv(x), hr.TensorSpec((2, 3), np.float64))
    with pytest.raises(ValueError, match="do not fit"):
        hr.trace(lambda x: np.linalg.solve(x, x[:2]), hr.TensorSpec((3, 3), np.float64))
    with pytest.raises(ValueError, match="float16"):
        hr.trace(lambda x: np.linalg.det(x), hr.TensorSpec((3, 3), np.float16))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (2, 0, 0)])
def test_matrices_without_values(shape):
    x = np.zeros((3, *shape))
    compare(lambda x: (np.linalg.inv(x), np.linalg.det(x), np.linalg.solve(x, x)), x)
