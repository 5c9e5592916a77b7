"""`Dataset.map`."""

import time
from collections import namedtuple

import numpy as np
import pytest
from conftest import assert_same, assert_same_elements
from laws import check_laws
from overlap import Calls, Together, seen_by_others

import headrace as hr

Pair = namedtuple("Pair", "x y")


def test_a_function_is_applied_to_each_element():
    assert [x.item() for x in hr.Dataset.range(4).map(lambda x: x * x)] == [0, 1, 4, 9]


def test_a_plain_tuple_is_unpacked_and_other_structures_are_not():
    pairs = hr.Dataset.from_tensor_slices(([1, 2], [3, 4]))
    assert list(pairs.map(lambda x, y: x + y)) == [4, 6]
    dicts = hr.Dataset.from_tensor_slices({"x": [1, 2]})
    assert list(dicts.map(lambda d: d["x"] * 2)) == [2, 4]
    named = hr.Dataset.from_tensor_slices(Pair([1, 2], [3, 4]))
    assert list(named.map(lambda pair: pair.x + pair.y)) == [4, 6]


@pytest.mark.parametrize("executor", ["native", "python"])
def test_a_returned_list_is_a_tuple(executor):
    (element,) = hr.Dataset.range(1).map(lambda x: [x, {"a": [x]}], executor=executor)
    assert_same(element, (np.int64(0), {"a": (np.int64(0),)}))


@pytest.mark.parametrize("executor", ["native", "python"])
def test_none_is_structure(executor):
    (element,) = hr.Dataset.range(1).map(lambda x: (x, None), executor=executor)
    assert element == (0, None)


def test_the_element_spec_of_a_graph_is_known():
    dataset = hr.Dataset.range(2).map(lambda x: {"a": x / 2, "b": x.astype(np.float32)})
    spec = {"a": hr.TensorSpec((), np.float64), "b": hr.TensorSpec((), np.float32)}
    assert dataset.element_spec == spec


def test_the_element_spec_of_a_python_function_is_unknown_unless_stated():
    def python(x):
        return float(x)

    dataset = hr.Dataset.range(2).map(python)
    assert dataset.element_spec == hr.UnknownSpec()
    spec = hr.TensorSpec((), np.float64)
    assert hr.Dataset.range(2).map(python, output_signature=spec).element_spec == spec


def test_a_function_above_a_python_function_is_traced_in_the_run():
    dataset = hr.Dataset.range(3).map(lambda x: float(x)).map(lambda x: x + 1).batch(3)
    assert_same_elements(list(dataset), [np.array([1.0, 2.0, 3.0])])


def test_a_result_that_differs_from_the_signature_is_an_error():
    dataset = hr.Dataset.range(2).map(
        lambda x: str(x), output_signature=hr.TensorSpec((), np.int64)
    )
    with pytest.raises((hr.errors.HeadraceError, TypeError)):
        list(dataset)


def test_an_error_is_raised_for_its_element_only():
    def fail_on_two(x):
        if x == 2:
            raise KeyError("two")
        return x

    iterator = iter(hr.Dataset.range(5).map(fail_on_two))
    assert [next(iterator), next(iterator)] == [0, 1]
    with pytest.raises(KeyError, match="two"):
        next(iterator)
    assert list(iterator) == [3, 4]


def test_the_users_exception_keeps_its_traceback():
    def fail(x):
        raise KeyError("mine")

    with pytest.raises(KeyError) as caught:
        list(hr.Dataset.range(5).map(fail, num_parallel_calls=4))
    assert caught.traceback[-1].name == "fail"
    assert any("map" in note for note in caught.value.__notes__)


def test_stop_iteration_does_not_end_the_loop():
    def stop(x):
        raise StopIteration

    with pytest.raises(RuntimeError):
        list(hr.Dataset.range(3).map(stop))


@pytest.mark.parametrize("calls", [0, -2])
def test_parallel_calls_below_one_are_refused(calls):
    with pytest.raises(hr.errors.InvalidArgumentError, match="must be greater than zero"):
        hr.Dataset.range(3).map(lambda x: x, num_parallel_calls=calls)


def test_synchronous_does_not_go_with_parallel_calls():
    with pytest.raises(ValueError, match="synchronous"):
        hr.Dataset.range(3).map(lambda x: x, num_parallel_calls=2, synchronous=True)


def test_a_function_that_is_not_callable_is_refused():
    with pytest.raises(TypeError, match="function is needed"):
        hr.Dataset.range(3).map(3)


@pytest.mark.parametrize("calls", [1, 2, 16, hr.AUTOTUNE])
def test_order_is_kept_in_parallel(calls):
    def jitter(x):
        time.sleep(0.001 * (7 - x % 8))
        return int(x)

    seen = list(hr.Dataset.range(32).map(jitter, num_parallel_calls=calls))
    assert seen == list(range(32))


def slow_start(x):
    time.sleep(0.2 if x == 0 else 0)
    return int(x)


def test_a_slow_element_holds_the_others_up_if_order_matters():
    strict = hr.Dataset.range(16).map(slow_start, num_parallel_calls=4, deterministic=True)
    assert [x.item() for x in strict] == list(range(16))


def test_a_slow_element_comes_last_if_order_does_not_matter():
    elements = _taken(16, {0: 15}, num_parallel_calls=4, deterministic=False)
    assert sorted(elements) == list(range(16))
    assert elements[-1] == 0


def test_no_more_calls_run_at_once_than_asked_for():
    calls, together = Calls(0.005), Together(3)
    dataset = hr.Dataset.range(30).map(lambda x: calls(together(x)), 3, executor="python")
    assert list(dataset) == list(range(30))
    assert calls.most <= 3


def test_python_functions_get_read_only_arrays_and_scalars():
    seen = []

    def look(array, scalar, data, text):
        seen.append((array.flags.writeable, type(scalar), type(data), type(text)))
        return scalar

    rows = (np.zeros((1, 2)), np.array([1], np.int16), [b"x"], ["y"])
    list(hr.Dataset.from_tensor_slices(rows).map(look))
    assert seen == [(False, np.int16, bytes, str)]


@pytest.mark.parametrize("calls", [None, 3])
def test_the_laws_hold_for_a_graph(calls):
    check_laws(lambda: hr.Dataset.range(20).map(lambda x: x * 2 + 1, num_parallel_calls=calls))


@pytest.mark.parametrize("calls", [None, 3])
def test_the_laws_hold_for_python(calls):
    def python(x):
        return int(x) + 1

    check_laws(lambda: hr.Dataset.range(20).map(python, num_parallel_calls=calls))


def _slow_at(slow, seconds=0.3):
    def work(x):
        time.sleep(seconds if int(x) in slow else 0.002)
        return int(x)

    return work


def _taken(count, late, **arguments):
    """The order of numbers of which some come once so many were taken, and some time after that."""

    def take(seen):
        def work(x):
            if int(x) in late:
                seen.wait_for(late[int(x)])
                # More could overtake it now.
                time.sleep(0.05)
            return int(x)

        seen.take(iter(hr.Dataset.range(count).map(work, **arguments)), count)

    return seen_by_others(take)


@pytest.mark.parametrize("window", [1, 3, 8])
def test_a_slow_element_is_overtaken_by_so_many_later_ones(window):
    late = {5: 5 + window, 20: 20, 21: 20, 40: 40 + window}
    elements = _taken(60, late, num_parallel_calls=4, reorder_window=window)
    assert sorted(elements) == list(range(60))
    assert all(abs(place - x) <= window for place, x in enumerate(elements))
    assert elements.index(5) == 5 + window
    assert elements.index(40) == 40 + window


def test_overtaking_goes_on_while_the_slow_element_is_made():
    elements = _taken(32, {0: 12}, num_parallel_calls=4, reorder_window=12)
    assert sorted(elements) == list(range(32))
    assert all(abs(place - x) <= 12 for place, x in enumerate(elements))
    assert elements[12] == 0


def test_a_window_of_nothing_and_graphs_keep_the_order():
    numbers = hr.Dataset.range(200)
    slow = numbers.take(20).map(_slow_at({3}, 0.05), num_parallel_calls=4, reorder_window=0)
    assert [int(x) for x in slow] == list(range(20))
    graph = numbers.map(lambda x: x + 1, num_parallel_calls=4, reorder_window=5)
    assert [int(x) for x in graph] == list(range(1, 201))
    graph.iterator().state()


def test_errors_overtake_and_are_overtaken_like_elements():
    def work(x):
        time.sleep(0.1 if x == 2 else 0)
        if x in (2, 4):
            raise ValueError(f"no {x}")
        return int(x)

    dataset = hr.Dataset.range(12).map(work, num_parallel_calls=3, reorder_window=2)
    seen, run = [], iter(dataset)
    while len(seen) < 12:
        try:
            seen.append(int(next(run)))
        except ValueError as error:
            seen.append(int(str(error).split()[1]))
    assert sorted(seen) == list(range(12))
    assert all(abs(place - x) <= 2 for place, x in enumerate(seen))
    assert next(run, None) is None


def test_a_window_needs_several_calls_and_no_word_on_order():
    numbers = hr.Dataset.range(3)
    with pytest.raises(hr.errors.InvalidArgumentError, match="num_parallel_calls"):
        numbers.map(lambda x: x, reorder_window=2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="-1"):
        numbers.map(lambda x: x, num_parallel_calls=2, reorder_window=-1)
    with pytest.raises(hr.errors.InvalidArgumentError, match="deterministic"):
        numbers.map(lambda x: x, 2, False, reorder_window=2)


def test_a_run_with_a_window_has_a_state_only_if_order_is_kept():
    dataset = hr.Dataset.range(9).map(_slow_at({1}, 0.05), 3, reorder_window=2)
    with pytest.raises(hr.errors.FailedPreconditionError, match="map"):
        dataset.iterator().state()
    iterator = dataset.iterator(checkpointable=True)
    assert [int(next(iterator)) for _ in range(4)] == [0, 1, 2, 3]
    rest = dataset.iterator(state=iterator.state(), checkpointable=True)
    assert [int(x) for x in rest] == [4, 5, 6, 7, 8]
