"""`Dataset.map`."""

import threading
import time
from collections import namedtuple

import numpy as np
import pytest
from conftest import assert_same, assert_same_elements
from laws import check_laws

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
    time.sleep(0.4 if x == 0 else 0)
    return int(x)


def test_a_slow_element_holds_the_others_up_if_order_matters():
    strict = hr.Dataset.range(16).map(slow_start, num_parallel_calls=4, deterministic=True)
    assert [x.item() for x in strict] == list(range(16))


def test_a_slow_element_comes_last_if_order_does_not_matter():
    loose = hr.Dataset.range(16).map(slow_start, num_parallel_calls=4, deterministic=False)
    seen = [x.item() for x in loose]
    assert sorted(seen) == list(range(16))
    assert seen[-1] == 0


def test_no_more_calls_run_at_once_than_asked_for():
    lock = threading.Lock()
    running, most = 0, 0

    def work(x):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1
        return int(x)

    list(hr.Dataset.range(30).map(work, num_parallel_calls=3))
    assert 1 < most <= 3


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
