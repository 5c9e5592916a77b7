"""`while_loop` on arrays, and as a part of the graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr


def counted(x):
    return hr.control.while_loop(lambda n, k: n > 1, lambda n, k: (n // 2, k + x), (x * 3, 0 * x))


def of_floats(x):
    start = np.stack([x, x + 1]).astype(np.float32)
    return hr.control.while_loop(lambda y: y.sum() < 50, lambda y: y * 1.5 + 1, (start,))[0]


def growing(x):
    return hr.control.while_loop(
        lambda y, k: k < x,
        lambda y, k: (np.concatenate([y, y[:1] + k]), k + 1),
        (np.atleast_1d(x), x * 0),
    )[0]


def limited(x):
    return hr.control.while_loop(lambda y: y < 100, lambda y: (y + x,), [x], 5)[0]


def nested(x):
    def turn(state):
        inner = hr.control.while_loop(lambda k: k > 3, lambda k: (k - 2,), (state["k"],))[0]
        return {"k": inner - 1, "n": state["n"] + 1}

    return hr.control.while_loop(lambda state: state["k"] > 0, turn, ({"k": x, "n": np.int64(0)},))[
        0
    ]


FUNCTIONS = [counted, of_floats, growing, limited, nested]


def plain(value):
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return np.asarray(value).tolist()


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(FUNCTIONS),
    st.sampled_from([1, 2, 7, 1024]),
    st.lists(st.integers(0, 40), min_size=1, max_size=9),
)
def test_the_graph_gives_what_the_call_gives(function, rows, numbers):
    x = np.array(numbers)
    dataset = hr.Dataset.from_tensor_slices(x).map(function, executor="native")
    found = list(dataset.with_options(hr.Options(_chunk_rows=rows)))
    assert list(map(plain, found)) == [plain(function(value)) for value in x]


def test_a_body_of_another_number_of_values_is_refused():
    with pytest.raises(ValueError, match="must give 1 values, it gave 2"):
        hr.control.while_loop(lambda x: x < 3, lambda x: (x, x), (1,))


def test_what_changes_a_dtype_runs_as_python():
    dataset = hr.Dataset.range(3).map(
        lambda x: hr.control.while_loop(lambda y: y < 4, lambda y: (y + 1.5,), (x,))[0]
    )
    assert "changes a dtype in a loop" in dataset.explain()
    assert [float(x) for x in dataset] == [4.5, 4.0, 5.0]


def test_a_row_that_fails_is_its_own_error():
    def checked(x):
        hr.debugging.assert_none_equal(x, 2)
        return hr.control.while_loop(lambda y: y < 9, lambda y: (y + x + 1,), (x,))[0]

    iterator = iter(hr.Dataset.range(4).map(checked, executor="native"))
    assert [int(next(iterator)) for _ in range(2)] == [9, 9]
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(iterator)
    assert int(next(iterator)) == 11
