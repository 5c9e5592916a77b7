"""Functions of `headrace.tf` that branch on values are graphs that give what a call gives."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import headrace.tf as tf
from headrace.tf import branching

D = tf.data.Dataset


def returns_early(x):
    if x > 2:
        return x * 2
    return -x


def nested(x):
    y = x + 1
    if y % 2 == 0:
        if x > 5:
            y = y * 100
        else:
            y = y * 10
    elif x > 7:
        y = y - y
    return {"a": y, "b": (tf.cast(x, tf.float32), y)}


def counts(x):
    for k in range(3):
        if x > k:
            x = x - 1
    return x


def both(x):
    return x if x > 2 and x < 5 else x - 100


def of_a_number(x):
    return x if x else tf.constant(-7, tf.int64)


def of_shapes(x):
    if x > 4:
        return tf.fill([2], x)
    return tf.fill([3], x)


def of_text(x):
    if x > 2:
        return "a"
    return tf.strings.as_string(x)


def guarded(x):
    if x < 3:
        return tf.constant([5, 6, 7])[x]
    return tf.constant(0)


def in_a_branch(x):
    return tf.cond(x > 3, lambda: x if x > 4 else -x, lambda: x)


def asserted(x):
    if x > 100:
        tf.debugging.assert_less(x, tf.constant(0, tf.int64))
    return x


FUNCTIONS = [
    returns_early,
    nested,
    counts,
    both,
    of_a_number,
    of_shapes,
    of_text,
    guarded,
    in_a_branch,
    asserted,
]


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else tf.constant(value).numpy())
    return str(array.dtype), array.shape, array.tolist()


def in_chunks(dataset, rows):
    options = tf.data.Options()
    options._chunk_rows = rows
    return [plain(value) for value in dataset.with_options(options)]


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_they_are_graphs_and_give_the_same(function, rows):
    dataset = D.range(9).map(function)
    assert "runs as a graph" in dataset.explain(), dataset.explain()
    assert in_chunks(dataset, rows) == [plain(function(x)) for x in D.range(9)]


def test_other_steps_take_them_too():
    odd = D.range(9).filter(lambda x: x > 2 if x % 2 == 1 else x < 0)
    assert "runs as a graph" in odd.explain()
    assert [int(x) for x in odd] == [3, 5, 7]
    total = D.range(5).reduce(np.int64(0), lambda sum, x: sum + x if x > 2 else sum)
    assert int(total) == 7
    sums = D.range(5).scan(np.int64(0), lambda sum, x: (sum + x if x > 2 else sum, sum))
    assert [int(x) for x in sums] == [0, 0, 0, 0, 3]
    parallel = D.range(50).map(returns_early, num_parallel_calls=4)
    assert [int(x) for x in parallel] == [int(returns_early(x)) for x in D.range(50)]


def test_random_numbers_are_those_of_the_function_as_python(monkeypatch):
    def drawn(x):
        first = tf.random.uniform([], seed=3)
        second = tf.random.uniform([])
        if first > 0.5:
            return first + tf.random.uniform([])
        return second - tf.random.uniform([], seed=3)

    def run():
        tf.random.set_seed(7)
        dataset = D.range(20).map(drawn)
        return dataset.explain(), [float(x) for x in dataset]

    graph, found = run()
    monkeypatch.setattr(branching, "_MAX_CALLS", 0)
    python, expected = run()
    assert "runs as a graph" in graph
    assert "runs as Python" in python
    assert found == expected


def raises(x):
    if x > 5:
        raise ValueError("no such number")
    return x


def of_dtypes(x):
    return tf.cast(x, tf.int32) if x > 100 else x


def sparse(x):
    return tf.sparse.from_dense([x]) if x > 3 else tf.sparse.from_dense([x, x])


@pytest.mark.parametrize("function", [raises, of_dtypes])
def test_what_is_no_graph_runs_as_python(function):
    dataset = D.range(5).map(function)
    assert "runs as Python" in dataset.explain()
    assert [plain(x) for x in dataset] == [plain(function(x)) for x in D.range(5)]


def test_a_way_that_raises_does_so_for_its_elements_only():
    iterator = iter(D.range(7).map(raises))
    assert [int(next(iterator)) for _ in range(6)] == list(range(6))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such number"):
        next(iterator)


def test_sparse_results_still_come_out():
    sizes = [int(x.dense_shape[0]) for x in D.range(6).map(sparse)]
    assert sizes == [2, 2, 2, 2, 1, 1]


TESTS = st.tuples(st.sampled_from([">", "==", "%"]), st.integers(0, 9))
PROGRAMS = st.recursive(
    st.integers(-3, 3),
    lambda inner: st.tuples(TESTS, inner, inner),
    max_leaves=6,
)


def interpreted(program, x):
    """Return what a program of branches, read from the outside in, makes of a number."""
    while not isinstance(program, int):
        (kind, number), then, other = program
        if kind == ">":
            program = then if x > number else other
        elif kind == "==":
            program = then if x == number else other
        else:
            program = then if x % (number + 1) else other
        x = x * 3 + 1
    return x + program


@settings(deadline=None, max_examples=60)
@given(PROGRAMS, st.sampled_from([1, 2, 7, 1024]))
def test_programs_of_branches_give_what_python_gives(program, rows):
    dataset = D.range(12).map(lambda x: interpreted(program, x))
    found = [value for _, _, value in in_chunks(dataset, rows)]
    assert found == [interpreted(program, x) for x in range(12)]
