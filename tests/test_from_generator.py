"""`Dataset.from_generator`."""

import contextvars
import threading

import numpy as np
import pytest
from conftest import assert_same_elements

import headrace as hr


def generate(*values, signature=None):
    signature = signature or hr.TensorSpec((), np.int64)
    return hr.Dataset.from_generator(lambda: iter(values), output_signature=signature)


def test_it_yields_what_the_generator_yields():
    assert_same_elements(list(generate(1, 2)), [np.int64(1), np.int64(2)])


def test_each_run_calls_the_generator_anew():
    dataset = generate(1, 2)
    assert list(dataset) == list(dataset) == [1, 2]


def test_types_and_shapes_are_a_signature():
    dataset = hr.Dataset.from_generator(
        lambda: iter([(1, [1.0, 2.0])]), (np.int32, np.float32), ((), [None])
    )
    spec = (hr.TensorSpec((), np.int32), hr.TensorSpec([None], np.float32))
    assert dataset.element_spec == spec
    assert_same_elements(list(dataset), [(np.int32(1), np.array([1, 2], np.float32))])


def test_types_without_shapes_are_of_any_shape():
    dataset = hr.Dataset.from_generator(lambda: iter([1, [1, 2]]), np.int64)
    assert dataset.element_spec == hr.TensorSpec(None, np.int64)
    assert [np.shape(x) for x in dataset] == [(), (2,)]


def test_arguments_come_as_arrays():
    seen = []

    def count(n, name):
        seen.append((type(n), type(name)))
        yield from range(n)

    dataset = hr.Dataset.from_generator(count, np.int64, args=(3, "x"))
    assert list(dataset) == [0, 1, 2]
    assert seen == [(np.ndarray, np.ndarray)]


def test_no_signature_is_refused():
    with pytest.raises(TypeError, match="output_signature"):
        hr.Dataset.from_generator(lambda: iter([]))


def test_a_generator_that_is_not_callable_is_refused():
    with pytest.raises(TypeError, match="callable"):
        hr.Dataset.from_generator(iter([1]), np.int64)


def test_a_wrong_shape_names_the_element_and_both_shapes():
    rows = [np.zeros((1, 3), np.float32)] * 2 + [np.zeros((2, 4), np.float32)]
    dataset = generate(*rows, signature=hr.TensorSpec((None, 3), np.float32))
    iterator = iter(dataset)
    next(iterator)
    next(iterator)
    with pytest.raises(ValueError, match=r"\(2, 4\).*\(None, 3\).*element 2"):
        next(iterator)


def test_a_wrong_structure_names_both():
    spec = (hr.TensorSpec((), np.int64), hr.TensorSpec((), np.int64))
    with pytest.raises(ValueError, match="did not match the expected structure: element 0 is 3"):
        list(generate(3, signature=spec))
    with pytest.raises(ValueError, match="yield a tuple"):
        list(generate([1, 2], signature=spec))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1, np.float32, np.float32(1)),
        (True, np.int8, np.int8(1)),
        (300, np.int16, np.int16(300)),
        (np.float64(0.5), np.float32, np.float32(0.5)),
        (np.int64(3), np.int8, np.int8(3)),
        ("é", bytes, "é".encode()),
        ("é", str, "é"),
    ],
)
def test_values_are_converted_to_the_declared_dtype(value, dtype, expected):
    assert_same_elements(list(generate(value, signature=hr.TensorSpec((), dtype))), [expected])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.5, np.int64),
        (300, np.int8),
        (np.float32(1), np.int64),
        (np.int64(1), np.uint8),
        ("1", np.int64),
        (b"1", str),
        (1, bytes),
        (1j, np.float64),
    ],
)
def test_values_of_another_kind_are_refused(value, dtype):
    with pytest.raises(hr.errors.InvalidArgumentError, match="could not be converted"):
        list(generate(value, signature=hr.TensorSpec((), dtype)))


def test_sparse_and_ragged_values_are_yielded():
    ragged = hr.RaggedTensor([1, 2], [0, 2])
    spec = hr.RaggedTensorSpec((None, None), np.int64)
    assert list(generate(ragged, signature=spec)) == [ragged]


def test_an_exception_comes_through_after_what_came_before():
    def failing():
        yield 1
        raise KeyError("boom")

    iterator = iter(hr.Dataset.from_generator(failing, np.int64))
    assert next(iterator) == 1
    with pytest.raises(KeyError, match="boom"):
        next(iterator)
    with pytest.raises(StopIteration):
        next(iterator)


def test_leaving_early_closes_the_generator():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield 1
        finally:
            closed.set()

    with hr.Dataset.from_generator(endless, np.int64).iterator() as iterator:
        next(iterator)
    assert closed.is_set()


def test_it_runs_in_the_callers_thread_and_context():
    variable = contextvars.ContextVar("variable")
    variable.set("set")
    seen = []

    def look():
        seen.append((threading.current_thread(), variable.get("unset")))
        yield 1

    list(hr.Dataset.from_generator(look, np.int64))
    assert seen == [(threading.current_thread(), "set")]


def test_below_prefetch_it_keeps_the_context():
    variable = contextvars.ContextVar("variable")
    variable.set("set")

    def look():
        yield variable.get("unset")

    assert list(hr.Dataset.from_generator(look, str).prefetch(1)) == ["set"]


def test_resuming_goes_on_where_it_was():
    dataset = generate(*range(6))
    iterator = iter(dataset)
    assert [next(iterator) for _ in range(4)] == [0, 1, 2, 3]
    assert list(dataset.iterator(state=iterator.state())) == [4, 5]
