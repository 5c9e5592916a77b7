"""Arguments of functions of `headrace.tf` that only a run knows: counts, axes, sparse operands."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import headrace.tf as tf

D = tf.data.Dataset
VALUES = np.array([[3.0, 1.0, 3.0, -2.0], [0.0, 5.0, 5.0, 5.0]], np.float32)
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4) % 7
IMAGE = np.random.default_rng(3).random((2, 23, 26, 3)).astype(np.float32)


def int32(x):
    return tf.cast(x, tf.int32)


def sparse(x):
    return tf.sparse.from_dense(tf.stack([[x, x * 0, x * 0 + 2], [x * 0, x, -x]]))


CASES = {
    "top_k": lambda x: tuple(tf.math.top_k(VALUES, int32(x))),
    "top_k of int64": lambda x: tuple(tf.math.top_k([4, 9, 9], x % 4, index_type=tf.int64)),
    "linspace": lambda x: tf.linspace(0.5, 2.0, x),
    "linspace of float64": lambda x: tf.linspace(np.float64(-3), np.float64(9), int32(x)),
    "linspace of integers": lambda x: tf.linspace(1, 12, x),
    "linspace of tensors": lambda x: tf.linspace(VALUES, VALUES[:1] * 3, x, axis=1),
    "linspace of unknown sizes": lambda x: tf.linspace(tf.zeros([x]), tf.ones([x]), 4),
    "sum": lambda x: tf.reduce_sum(CUBE, axis=x % 3),
    "sum from behind": lambda x: tf.reduce_sum(CUBE, axis=x % 3 - 3, keepdims=True),
    "mean of a list of axes": lambda x: tf.reduce_mean(VALUES, axis=tf.stack([x % 2])),
    "any": lambda x: tf.reduce_any(CUBE > 5, axis=int32(x) % 3),
    "logsumexp": lambda x: tf.reduce_logsumexp(VALUES, axis=x % 2),
    "std": lambda x: tf.math.reduce_std(VALUES, axis=x % 2),
    "sparse sum": lambda x: tf.sparse.add(sparse(x), sparse(x - 2)),
    "sparse sum above a threshold": lambda x: tf.sparse.add(sparse(x), sparse(x - 2), threshold=3),
    "sparse and dense": lambda x: tf.sparse.add(sparse(x), tf.ones([2, 3], tf.int64)),
    "ones of bools": lambda x: (tf.ones_like(tf.range(x), tf.bool), tf.zeros([x], tf.bool)),
}  # fmt: skip


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, tf.SparseTensor):
        return tuple(map(plain, (value.indices, value.values, value.dense_shape)))
    array = np.asarray(value)
    return str(array.dtype), array.shape, array.tolist()


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("name", CASES)
def test_a_graph_gives_what_a_call_gives(name, rows):
    dataset = D.range(5).map(CASES[name])
    assert "runs as a graph" in dataset.explain(), dataset.explain()
    options = tf.data.Options()
    options._chunk_rows = rows
    expected = [plain(CASES[name](x)) for x in D.range(5)]
    assert [plain(x) for x in dataset.with_options(options)] == expected


@pytest.mark.parametrize(
    ("function", "fitting"),
    [
        (lambda x: tf.math.top_k(VALUES, x * 2), 3),
        (lambda x: tf.reduce_sum(CUBE, axis=x), 3),
        (lambda x: tf.sparse.add(sparse(x), tf.sparse.from_dense(tf.ones([2, 3 + x // 2]))), 0),
    ],
)
def test_what_does_not_fit_fails_for_its_element_only(function, fitting):
    if fitting == 0:
        with pytest.raises(TypeError):
            D.range(5).map(function)
        return
    iterator = iter(D.range(4).map(function))
    for _ in range(fitting):
        next(iterator)
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)


def test_sums_of_sparse_tensors_are_those_of_tensorflow():
    first, second = tf.sparse.from_dense([1.0, 0, 2, 0.5]), tf.sparse.from_dense([0, 0, -1.5, 0.2])
    assert tf.sparse.add(first, second, threshold=0.5).values.numpy().tolist() == [
        1.0,
        0.5,
        np.float32(0.7),
    ]
    nothing = tf.sparse.add(first, tf.sparse.from_dense([0, 0, -2.0, 0]))
    assert nothing.values.numpy().tolist() == [1.0, 0.0, 0.5]  # what cancels stays
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes do not match"):
        tf.sparse.add(first, tf.sparse.from_dense([1.0, 2.0]))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.integers(-2, 2), min_size=6, max_size=6), min_size=2, max_size=2))
def test_sums_of_any_sparse_tensors_are_those_of_dense_ones(rows):
    first, second = (np.array(row).reshape(2, 3) for row in rows)
    dataset = D.from_tensors((first, second)).map(
        lambda a, b: tf.sparse.add(tf.sparse.from_dense(a), tf.sparse.from_dense(b))
    )
    (found,) = dataset
    where = np.argwhere((first != 0) | (second != 0))
    assert found.indices.numpy().tolist() == where.tolist()
    assert found.values.numpy().tolist() == (first + second)[tuple(where.T)].tolist()


@pytest.mark.parametrize("crop", [26, 25, 18])
def test_similarity_over_several_sizes_is_a_graph_for_images_of_any_size(crop):
    spec = tf.TensorSpec([2, None, None, 3])
    images = D.from_generator(lambda: iter([IMAGE[:, :, :crop]]), output_signature=spec)
    factors = (0.3, 0.3, 0.4)

    def similar(x):
        return tf.image.ssim_multiscale(x, x * 0.9, 1.0, factors, filter_size=4)

    dataset = images.map(similar)
    assert "runs as a graph" in dataset.explain()
    (found,) = dataset
    np.testing.assert_allclose(found, similar(tf.constant(IMAGE[:, :, :crop])), rtol=1e-6)
    small = D.from_generator(lambda: iter([IMAGE[:, :5]]), output_signature=spec).map(similar)
    with pytest.raises(tf.errors.InvalidArgumentError, match="smaller than the window"):
        list(small)
