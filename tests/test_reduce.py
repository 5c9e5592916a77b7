"""`Dataset.reduce`."""

import numpy as np
import pytest

import headrace as hr


@pytest.mark.parametrize("executor", ["native", "python"])
def test_it_gives_the_last_state(executor):
    total = hr.Dataset.range(5).reduce(0, lambda s, x: s + x, executor=executor)
    assert total == 10
    assert isinstance(total, np.int64)
    assert hr.Dataset.range(0).reduce(7, lambda s, x: s + x, executor=executor) == 7


def test_state_and_elements_may_be_nests():
    pairs = hr.Dataset.range(4).map(lambda x: (x, x * 0.5))
    start = {"count": 0, "sum": np.float64(0)}

    def add(state, pair):
        return {"count": state["count"] + 1, "sum": state["sum"] + pair[1]}

    assert pairs.reduce(start, add) == {"count": 4, "sum": 3.0}


@pytest.mark.parametrize("executor", ["native", "python"])
def test_shapes_of_the_state_may_change(executor):
    def collect(seen, x):
        return np.concatenate([seen, np.reshape(x, (1,))])

    rows = hr.Dataset.range(3)
    assert rows.reduce(np.zeros(0, np.int64), collect, executor=executor).tolist() == [0, 1, 2]
    none = hr.Dataset.range(0).reduce(np.zeros(0, np.int64), collect, executor=executor)
    assert none.shape == (0,)


@pytest.mark.parametrize("executor", [None, "python"])
def test_a_state_of_another_dtype_is_refused(executor):
    with pytest.raises(TypeError, match="Expected int64, got float64"):
        hr.Dataset.range(3).reduce(0, lambda s, x: s + x / 2, executor=executor)
    with pytest.raises(TypeError, match="nested as the initial state"):
        hr.Dataset.range(3).reduce(0, lambda s, x: (s, x), executor=executor)


def test_side_effects_happen_once_per_element():
    seen = []

    def note(state, x):
        seen.append(x.item())
        return state

    hr.Dataset.range(4).reduce(0, note)
    assert seen == [0, 1, 2, 3]


def test_the_first_error_ends_it():
    numbers = hr.Dataset.range(5).map(lambda x: 6 // (int(x) - 2), executor="python")
    with pytest.raises(ZeroDivisionError):
        numbers.reduce(0, lambda s, x: s + x)


def test_elements_that_only_a_run_knows():
    unknown = hr.Dataset.range(5).map(lambda x: int(x) * 2, executor="python")
    assert unknown.reduce(0, lambda s, x: s + x) == 20


def test_a_step_of_the_dataset_may_draw():
    total = hr.Dataset.range(100).shuffle(100).reduce(0, lambda s, x: s + x)
    assert total == 4950


@pytest.mark.parametrize("calls", [None, 2])
def test_datasets_that_are_elements_are_reduced_in_a_function(calls):
    windows = hr.Dataset.range(6).window(3)
    sums = windows.map(lambda w: w.reduce(0, lambda s, x: s + x), num_parallel_calls=calls)
    assert [x.item() for x in sums] == [3, 12]
    assert "dataset of int64" in sums.explain()
    batches = windows.map(lambda w: w.batch(3).get_single_element(), num_parallel_calls=calls)
    assert [x.tolist() for x in batches] == [[0, 1, 2], [3, 4, 5]]
