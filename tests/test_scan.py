"""`Dataset.scan`."""

import pickle

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


def totals(total, x):
    return total + x, total


@pytest.mark.parametrize("executor", ["native", "python"])
def test_the_state_goes_from_element_to_element(executor):
    sums = hr.Dataset.range(5).scan(0, totals, executor=executor)
    assert values(sums) == [0, 0, 1, 3, 6]
    assert sums.cardinality() == 5
    if executor == "native":
        assert sums.element_spec == hr.TensorSpec((), np.int64)


def test_state_and_output_may_be_nests():
    def fibonacci(state, x):
        a, b = state["pair"]
        return {"pair": (b, a + b)}, {"n": x, "value": a}

    start = {"pair": (np.int32(0), np.int32(1))}
    rows = hr.Dataset.range(6).scan(start, fibonacci)
    assert [row["value"].item() for row in rows] == [0, 1, 1, 2, 3, 5]
    assert rows.element_spec == {
        "n": hr.TensorSpec((), np.int64),
        "value": hr.TensorSpec((), np.int32),
    }


def test_a_tuple_element_is_one_argument():
    pairs = hr.Dataset.range(3).map(lambda x: (x, x * 10))
    assert values(pairs.scan(0, lambda s, pair: (s + pair[1], s))) == [0, 0, 10]


@pytest.mark.parametrize("executor", ["native", "python"])
def test_shapes_of_the_state_may_change(executor):
    def collect(seen, x):
        return np.concatenate([seen, np.reshape(x, (1,))]), seen

    rows = hr.Dataset.range(4).scan(np.zeros(0, np.int64), collect, executor=executor)
    assert [row.tolist() for row in rows] == [[], [0], [0, 1], [0, 1, 2]]
    if executor == "native":
        assert rows.element_spec == hr.TensorSpec((None,), np.int64)


@pytest.mark.parametrize("executor", [None, "python"])
def test_a_state_of_another_dtype_is_refused(executor):
    def halve(state, x):
        return state / 2, x

    with pytest.raises(TypeError, match=r"Expected int64, got float64"):
        list(hr.Dataset.range(5).scan(0, halve, executor=executor))


@pytest.mark.parametrize("executor", [None, "python"])
def test_a_state_of_another_structure_is_refused(executor):
    with pytest.raises(TypeError, match="nested as the initial state"):
        list(hr.Dataset.range(5).scan(0, lambda s, x: ((s, s), x), executor=executor))


@pytest.mark.parametrize("result", [lambda s, x: s, lambda s, x: (s, x, x), lambda s, x: {"s": s}])
@pytest.mark.parametrize("executor", [None, "python"])
def test_a_function_must_return_a_pair(result, executor):
    with pytest.raises(TypeError, match="should return a pair"):
        list(hr.Dataset.range(5).scan(0, result, executor=executor))


def test_a_list_of_two_is_a_pair():
    assert values(hr.Dataset.range(3).scan(0, lambda s, x: [s + x, s])) == [0, 0, 1]


def test_an_element_that_fails_leaves_the_state_as_it_was():
    def divide(state, x):
        return state + 12 // (int(x) - 3), state

    iterator = iter(hr.Dataset.range(6).scan(0, divide))
    seen = []
    for _ in range(6):
        try:
            seen.append(next(iterator).item())
        except ZeroDivisionError:
            seen.append(None)
    assert seen == [0, -4, -10, None, -22, -10]


def test_a_python_function_does_not_run_ahead():
    seen = []

    def note(state, x):
        seen.append(x.item())
        return state, x

    assert values(hr.Dataset.range(100).scan(0, note).take(2)) == [0, 1]
    assert seen == [0, 1]


def test_elements_that_only_a_run_knows():
    unknown = hr.Dataset.range(5).map(lambda x: int(x) * 2, executor="python")
    assert unknown.scan(0, totals).element_spec == hr.UnknownSpec()
    assert values(unknown.scan(0, totals)) == [0, 0, 2, 6, 12]


def test_text_and_objects_as_state():
    words = hr.Dataset.from_tensor_slices(["a", "b", "c"])
    joined = words.scan("", lambda text, word: (text + word, text + word), executor="python")
    assert list(joined) == ["a", "ab", "abc"]
    check_laws(lambda: words.repeat(3).scan("", lambda t, w: (t + w, t + w), executor="python"))


def test_a_state_holds_small_states_only():
    small = iter(hr.Dataset.range(3).repeat(4).scan(0, totals))
    large = iter(hr.Dataset.range(3).repeat(4).scan(np.zeros(500), lambda s, x: (s + x, x)))
    for _ in range(10):
        next(small), next(large)
    assert len(small.state()) < 1000
    assert len(large.state()) < 1000


def test_it_pickles_with_its_state():
    dataset = hr.Dataset.range(5).scan((np.float32(1), np.arange(2)), _pair_of_sums)
    again = pickle.loads(pickle.dumps(dataset))
    assert values(again) == values(dataset)


def _pair_of_sums(state, x):
    total, rest = state
    return (total + x.astype(np.float32), rest + x), rest[1]


def test_explain_shows_the_graph():
    text = hr.Dataset.range(5).scan(0, totals).explain()
    assert "runs as a graph" in text
    assert "read ahead" in text


@pytest.mark.parametrize("executor", ["native", "python"])
def test_the_laws_hold(executor):
    def collect(seen, x):
        seen = np.concatenate([seen, np.reshape(x, (1,))])
        return seen, np.sum(seen)

    def build(dataset, state, function):
        return lambda: dataset().scan(state, function, executor=executor)

    check_laws(build(lambda: hr.Dataset.range(20), 0, totals))
    check_laws(build(lambda: hr.Dataset.range(5).shuffle(3, 1).repeat(4), 0, totals))
    empty = np.zeros(0, np.int64)
    check_laws(build(lambda: hr.Dataset.range(4).repeat(12), empty, collect))
    check_laws(lambda: hr.Dataset.range(5).scan(0, totals, executor=executor).repeat(3))
