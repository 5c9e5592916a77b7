"""Sets and crosses of rows (`tf.sets`, `tf.sparse.cross`): on tensors, in graphs, of hostile parts.

What TensorFlow gives is in the golden cases of `test_tf_ops.py`.
"""

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import headrace.tf as tf

WORDS = ["a b a", "", "c", "b b d a", "é \0 é", "x", "y y", "a", "b"]

FUNCTIONS = {
    "union": lambda x: tf.sets.union([x], [["a", "b"]]),
    "intersection": lambda x: tf.sets.intersection([x], [["a", "b"]]),
    "difference": lambda x: tf.sets.difference([x], [["a", "b"]]),
    "of sparse": lambda x: tf.sets.union(tf.sparse.from_dense([x]), tf.sparse.from_dense([x[:1]])),
    "size": lambda x: tf.sets.size(tf.sparse.from_dense([x, x])),
    "cross": lambda x: tf.sparse.cross([tf.stack([x]), tf.constant([["p", "q"]])]),
    "cross of sparse": lambda x: tf.sparse.cross([tf.sparse.from_dense([x]), tf.stack([x])]),
    "cross_hashed": lambda x: tf.sparse.cross_hashed([tf.stack([x]), tf.stack([x])], 1000),
    "gather_nd": lambda x: tf.gather_nd(x, [[0], [2], [-1]], bad_indices_policy="IGNORE"),
}


def plain(value):
    if isinstance(value, tf.SparseTensor):
        return [plain(part) for part in (value.indices, value.values, value.dense_shape)]
    array = np.asarray(value)
    return array.dtype, array.shape, array.tolist()


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_graphs_give_what_calls_give_in_chunks_of_any_size(name, rows):
    def cut(text):
        return tf.strings.split(text, " ")

    dataset = tf.data.Dataset.from_tensor_slices(WORDS).map(lambda x: FUNCTIONS[name](cut(x)))
    assert "runs as a graph" in dataset.explain(), dataset.explain()
    options = tf.data.Options()
    options._chunk_rows = rows
    seen = [plain(value) for value in dataset.with_options(options)]
    assert seen == [plain(FUNCTIONS[name](cut(tf.constant(word)))) for word in WORDS]


MEMBERS = st.one_of(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=4),
    st.lists(
        st.lists(st.sampled_from(["", "a", "é", "ab"]), min_size=2, max_size=2),
        min_size=1,
        max_size=4,
    ),
)


@given(MEMBERS, st.data())
def test_members_are_those_of_pythons_sets(rows, data):
    other = data.draw(st.permutations(rows))
    for function, rule in (
        (tf.sets.union, set.union),
        (tf.sets.intersection, set.intersection),
        (tf.sets.difference, set.difference),
    ):
        found = function(tf.constant(rows), tf.constant(other))
        wanted = [
            sorted(rule({*a}, {*b}), key=lambda x: x.encode() if isinstance(x, str) else x)
            for a, b in zip(rows, other, strict=True)
        ]
        values = [x.encode() if isinstance(x, str) else x for x in itertools.chain(*wanted)]
        assert found.values.numpy().tolist() == values
        at = [[row, k] for row, members in enumerate(wanted) for k in range(len(members))]
        assert found.indices.numpy().tolist() == at
        assert found.dense_shape.numpy().tolist() == [len(rows), max(map(len, wanted))]


def test_what_a_shape_only_claims_costs_nothing():
    far = tf.SparseTensor([[0, 0, 0]], [7], [1 << 40, 1 << 40, 2])
    assert tf.sets.union(far, far).values.numpy().tolist() == [7]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"more than 2\*\*63 - 1"):
        tf.sets.size(far)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.sparse.cross([tf.SparseTensor([[0, 0]], ["a"], [1 << 50, 1])])
    wide = tf.zeros([1, 100_000], tf.int64)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.sparse.cross_hashed([wide, wide, wide])


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([[0, 1], [0, 0]], "out of order"),
        ([[0, 0], [0, 0]], "repeated"),
        ([[0, 0], [2, 0]], "out of bounds"),
        ([[0, -1], [1, 0]], "out of bounds"),
    ],
)
def test_indices_are_checked(indices, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        tf.sets.size(tf.SparseTensor(indices, [1, 2], [2, 2]))


def test_other_arguments_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="two axes"):
        tf.sets.union([1], [1])
    with pytest.raises(TypeError, match="sets are of"):
        tf.sets.union([[1.0]], [[1.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="one number of rows"):
        tf.sparse.cross([tf.constant([["a"]]), tf.constant([["a"], ["b"]])])
    with pytest.raises(TypeError, match="must be a list"):
        tf.sparse.cross(tf.constant([["a"]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="bad_indices_policy"):
        tf.gather_nd([1], [[0]], bad_indices_policy="ignore")
