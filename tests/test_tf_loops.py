"""Functions of `headrace.tf` that loop on values are graphs that give what a call gives."""

import collections
import linecache
import time

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import headrace.tf as tf
from headrace.tf.rewriting import rewritten

D = tf.data.Dataset


def counts_down(x):
    while x > 3:
        x = x - 1
    return x


def sums(x):
    total = tf.constant(0, tf.int64)
    for k in tf.range(x):
        total += k * k
    return total


def over_a_range(x):
    total = tf.constant(0, tf.int64)
    for k in range(x):
        for j in range(k):
            if j % 2 == 0 and not (k == 3 or k == 7):
                total += j if j > 2 else k
            elif j > 4 or k < 2:
                total -= 1
    return total, x


def over_rows(x):
    total = tf.zeros([2], tf.int64)
    for row in tf.reshape(tf.range(x * 2), [-1, 2]):
        total = total * 2 + row
    return {"total": total}


def breaks(x):
    total = tf.constant(0, tf.int64)
    for k in tf.range(x):
        if k == 4:
            break
        total = total + k
    return total


def breaks_of_a_loop_without_end(x):
    while True:
        x = x * 2 + 1
        if x > 20:
            break
    return x


def continues(x):
    total = tf.constant(0, tf.int64)
    while x > 0 and total < 10:
        x -= 1
        if x % 2 == 0:
            continue
        total = total + x
    return total, x


def of_a_nest(x):
    state = {"a": (x, x + 1), "b": tf.cast(x, tf.float32)}
    while state["a"][0] < 9:
        state = {"a": (state["a"][0] + 2, state["a"][1]), "b": state["b"] / 2.0}
    return state


def grows(x):
    found = tf.zeros([0], tf.int64)
    for k in tf.range(x):
        found = tf.concat([found, [k, k + 1]], 0)
    return found


def of_text(x):
    text = tf.constant("")
    while tf.strings.length(text) < 7:
        text += tf.strings.as_string(x)
    return text


def helper(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def in_a_helper(x):
    return helper(x) + 1


def clipped(x, most):
    if x > most:
        if most > 2:
            return x * 0 + most
        x = x - 1
    elif x == 1:
        return -x
    low = x - 2
    if low < 0:
        return low * 10
    return low


def of_helpers_that_return(x):
    total = tf.constant(0, tf.int64)
    for k in tf.range(x):
        total = total + clipped(k, 3) * clipped(k + x, x)
    return total


def behind_a_branch(x):
    if x % 2 == 0:
        return x - 100
    while x < 6:
        x = x + 4
    return x


def by_the_length(x):
    values = tf.range(x) * 3
    total = tf.constant(0, tf.int64)
    for k in range(len(values)):
        total += values[k]
    return total, int(x), float(x)


class Parser:
    def __init__(self, most):
        self.most = most

    def least(self, x):
        while x > self.most:
            x -= self.most
        return x

    def __call__(self, x):
        return self.least(x) + self.most


def by_while_loop(x):
    test = lambda k, _: k < x  # noqa: E731
    return tf.while_loop(test, lambda k, y: (k + 1, y * 2), [tf.constant(0, tf.int64), x])


def limited(x):
    return tf.while_loop(lambda k: k < x, lambda k: [k + 1], [tf.constant(0, tf.int64)],
                         maximum_iterations=4)  # fmt: skip


def growing_by_while_loop(x):
    shapes = [tf.TensorShape([]), tf.TensorSpec([None], tf.int64)]
    return tf.while_loop(
        lambda k, _: k < x,
        lambda k, y: (k + 1, tf.concat([y, [k]], 0)),
        [tf.constant(0, tf.int64), tf.zeros([0], tf.int64)],
        shape_invariants=shapes,
    )[1]


def of_sums(x):
    return tf.scan(lambda a, b: a + b, tf.range(x), tf.constant(0, tf.int64))


def of_sums_from_the_end(x):
    return tf.scan(lambda a, b: a * 2 + b, tf.range(x + 1), reverse=True)


def of_pairs(x):
    rows = tf.reshape(tf.range(x * 2), [-1, 2])
    start = (tf.constant(1, tf.int64), tf.zeros([2], tf.int64))
    step = lambda a, row: (a[0] * 2, a[1] + row * a[0])  # noqa: E731
    return tf.scan(step, rows, start), tf.foldl(step, rows, start), tf.foldr(step, rows, start)


def folded(x):
    rows = tf.range(x + 1)
    return tf.foldl(lambda a, b: a * 2 + b, rows), tf.foldr(lambda a, b: a * 2 - b, rows)


FUNCTIONS = [
    counts_down,
    sums,
    over_a_range,
    over_rows,
    breaks,
    breaks_of_a_loop_without_end,
    continues,
    of_a_nest,
    grows,
    of_text,
    in_a_helper,
    of_helpers_that_return,
    behind_a_branch,
    by_the_length,
    Parser(3),
    Parser(3).least,
    tf.function(sums),
    by_while_loop,
    limited,
    growing_by_while_loop,
    of_sums,
    of_sums_from_the_end,
    of_pairs,
    folded,
]


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else tf.constant(value).numpy())
    return str(array.dtype), array.shape, array.tolist()


def in_chunks(dataset, rows):
    options = tf.data.Options()
    options._chunk_rows = rows
    return [plain(value) for value in dataset.with_options(options)]


def name_of(function):
    return getattr(function, "__name__", type(function).__name__)


@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("function", FUNCTIONS, ids=name_of)
def test_they_are_graphs_and_give_the_same(function, rows):
    dataset = D.range(9).map(function)
    assert "runs as a graph" in dataset.explain(), dataset.explain()
    assert in_chunks(dataset, rows) == [plain(function(x)) for x in D.range(9)]


def test_lambdas_on_one_line_are_told_apart():
    first, second = (lambda x: helper(x) * 10), (lambda x: helper(x + 1))
    for function in (first, second):
        dataset = D.range(1, 9).map(function)
        assert "runs as a graph" in dataset.explain()
        assert [int(x) for x in dataset] == [int(function(x)) for x in D.range(1, 9)]


def test_other_steps_take_them_too():
    small = D.range(9).filter(lambda x: helper(x) < 5)
    assert "runs as a graph" in small.explain()
    assert [int(x) for x in small] == [x for x in range(9) if helper(x) < 5]
    total = D.range(5).reduce(np.int64(0), lambda sum, x: sum + counts_down(x))
    assert int(total) == 9
    parallel = D.range(50).map(sums, num_parallel_calls=4)
    assert [int(x) for x in parallel] == [int(sums(x)) for x in D.range(50)]


def test_rows_that_fail_are_those_whose_loops_do():
    def fails(x):
        while x < 6:
            tf.debugging.assert_greater(x, tf.constant(1, tf.int64), "too small")
            x += 2
        return x

    dataset = D.range(4).map(fails)
    assert "runs as a graph" in dataset.explain()
    iterator = iter(dataset)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
            next(iterator)
    assert [int(x) for x in iterator] == [6, 7]


def appends(x):
    found = []
    for k in tf.range(x):
        found.append(k)
    return len(found)


def returns_within(x):
    for k in tf.range(x):
        if k == 2:
            return k
    return x


def has_an_else(x):
    for k in tf.range(x):
        if k == 2:
            break
    else:
        x = -x
    return x


def sets_an_attribute(x):
    parser = Parser(1)
    while x > parser.most:
        parser.most = parser.most + 2
    return x


def sets_an_item(x):
    found = {"a": x}
    while found["a"] > 3:
        found["a"] = found["a"] - 1
    return found["a"]


def draws(x):
    while x > 3:
        x -= tf.random.uniform([], 1, 2, tf.int64)
    return x


def sets_what_is_no_tensor(x):
    name = None
    while x > 3:
        name, x = str, x - 1
    return x + 1 if name else x


@pytest.mark.parametrize(
    "function",
    [appends, returns_within, has_an_else, sets_an_attribute, sets_an_item, draws,
     sets_what_is_no_tensor],
)  # fmt: skip
def test_what_is_no_graph_runs_as_python(function):
    dataset = D.range(6).map(function)
    assert "runs as Python" in dataset.explain()
    assert [plain(x) for x in dataset] == [plain(function(x)) for x in D.range(6)]


def test_what_a_loop_gives_is_nested_as_what_it_began_with():
    pair = collections.namedtuple("pair", "doubled turns")

    def doubles(x):
        first = pair(x + 1, tf.constant(0))
        return tf.while_loop(lambda a, b: a < 10, lambda a, b: pair(a * 2, b + 1), first)

    dataset = D.range(3).map(doubles)
    assert "runs as a graph" in dataset.explain()
    assert list(dataset.as_numpy_iterator()) == [pair(16, 4), pair(16, 3), pair(12, 2)]

    def kind_for(kind):
        def called(x):
            seen.append(type(tf.while_loop(lambda a: a < 9, lambda a: kind([a + 1]), kind([x]))))
            return x

        return called

    for kind in (list, tuple):
        seen = []
        list(D.range(1).map(kind_for(kind)))
        assert set(seen) == {kind}


def test_the_errors_are_those_of_tensorflow():
    zero = tf.constant(0, tf.int64)
    with pytest.raises(
        ValueError, match=r"enters the loop with shape \(0,\), but has shape \(1,\)"
    ):
        D.range(3).map(
            lambda x: tf.while_loop(
                lambda k, y: k < x,
                lambda k, y: (k + 1, tf.concat([y, [k]], 0)),
                [zero, tf.zeros([0], tf.int64)],
            )
        )
    with pytest.raises(TypeError, match="'int64'> but has type <dtype: 'int32'> after 1 iteration"):
        D.range(3).map(
            lambda x: tf.while_loop(lambda k: k < x, lambda k: (tf.cast(k, tf.int32),), [zero])
        )
    with pytest.raises(ValueError, match="same nested structure"):
        D.range(3).map(lambda x: tf.while_loop(lambda k: k < x, lambda k: (k, k), [zero]))
    with pytest.raises(TypeError, match="'body' must be callable"):
        tf.while_loop(lambda k: k < 1, None, [zero])
    with pytest.raises(ValueError, match="not compatible with the initial shape"):
        D.range(3).map(
            lambda x: tf.while_loop(lambda k: k < x, lambda k: k, [zero], [tf.TensorShape([2])])
        )


def test_a_scan_over_no_rows_without_a_start_fails_for_its_element_only():
    iterator = iter(D.range(3).map(lambda x: tf.foldl(lambda a, b: a + b, tf.range(x))))
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert [int(x) for x in iterator] == [0, 1]


def test_what_a_function_draws_elsewhere_stays_the_same():
    def drawn(x):
        first = tf.random.uniform([])
        while x > 3:
            x -= 1
        return first + tf.random.uniform([])

    def as_python(x):
        return tf.py_function(lambda _: 0, [x], tf.int64) * 0 + tf.cast(drawn(x), tf.int64)

    tf.random.set_seed(7)
    graph = D.range(9).map(lambda x: tf.cast(drawn(x) * 1000, tf.int64))
    assert "runs as a graph" in graph.explain()
    found = [int(x) for x in graph]
    tf.random.set_seed(7)
    plainly = D.range(9).map(lambda x: tf.cast(_twice() * 1000, tf.int64))
    assert found == [int(x) for x in plainly]


def _twice():
    return tf.random.uniform([]) + tf.random.uniform([])


def test_a_loop_without_end_is_left_when_the_iterator_is_closed():
    def endless(x):
        while x >= 0:
            x = x * 0
        return x

    dataset = D.range(3).map(endless).prefetch(1)
    iterator = iter(dataset)
    time.sleep(0.1)
    del iterator


# Programs as text: what Python makes of them on numbers, and the graph on elements.
NAMES = st.sampled_from(["a", "b"])
TERMS = st.sampled_from(["a", "b", "x", "1", "2", "3"])
UPDATES = st.builds("{} = ({} {} {}) % 50".format, NAMES, NAMES, st.sampled_from("+-*"), TERMS)
TESTS = st.builds("{} {} {}".format, TERMS, st.sampled_from(["<", ">", "=="]), NAMES)
TESTS = st.one_of(TESTS, st.builds("{} and not {}".format, TESTS, TESTS))


def indented(lines):
    return ["    " + line for line in lines] or ["    pass"]


def joined(parts):
    return [line for part in parts for line in part]


def blocks(depth, looping):
    simple = UPDATES.map(lambda line: [line])
    if looping:
        simple = st.one_of(simple, st.sampled_from([["break"], ["continue"]]))
    if depth == 0:
        return st.lists(simple, min_size=1, max_size=2).map(joined)
    inner, turns = blocks(depth - 1, looping), blocks(depth - 1, True)
    choice = st.builds(
        lambda test, then, other: [f"if {test}:", *indented(then), "else:", *indented(other)],
        TESTS, inner, inner,
    )  # fmt: skip
    over = st.builds(
        lambda end, body: [f"for k{depth} in tf.range(({end}) % 4):", *indented(body)], TERMS, turns
    )
    bounded = st.builds(
        lambda test, body: [
            f"n{depth} = zero",
            f"while n{depth} < 5 and {test}:",
            *indented([f"n{depth} += 1", *body]),
        ],
        TESTS, turns,
    )  # fmt: skip
    parts = st.one_of(simple, choice, over, bounded)
    return st.lists(parts, min_size=1, max_size=2).map(joined)


def function_of(lines):
    """Return the function of a program, with its source where Python looks for it."""
    start = ["a = x * 0 + 1", "b = x + 2", "zero = x * 0"]
    text = "\n".join(["def program(x):", *indented([*start, *lines, "return a, b"]), ""])
    name = f"<program {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"tf": tf, "__name__": "programs"}
    exec(compile(text, name, "exec"), scope)
    return scope["program"]


@settings(deadline=None, max_examples=15)
@given(blocks(1, False), st.sampled_from([1, 2, 7, 1024]))
def test_programs_with_loops_give_what_python_gives(lines, rows):
    function = function_of(lines)
    assert rewritten(function) is not None
    dataset = D.range(5).map(function)
    assert "runs as a graph" in dataset.explain(), lines
    expected = [plain(function(x)) for x in D.range(5)]
    assert in_chunks(dataset, rows) == expected
