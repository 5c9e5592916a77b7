"""`Optional`, and iterators that give one."""

import pickle

import numpy as np
import pytest

import headrace as hr


def test_a_value_is_held():
    value = hr.Optional.from_value({"x": np.arange(3), "y": ("a", None)})
    assert value.has_value()
    assert value.get_value()["y"] == ("a", None)
    assert value.element_spec == {
        "x": hr.TensorSpec((3,), np.int64),
        "y": (hr.TensorSpec((), str), None),
    }


def test_nothing_has_no_value():
    nothing = hr.Optional.empty(hr.TensorSpec((), np.int64))
    assert not nothing.has_value()
    assert nothing.element_spec == hr.TensorSpec((), np.int64)
    with pytest.raises(hr.errors.InvalidArgumentError, match="does not have a value"):
        nothing.get_value()


def test_iterators_end_without_a_value():
    numbers = iter(hr.Dataset.range(2))
    seen = [numbers.get_next_as_optional() for _ in range(4)]
    assert [value.has_value() for value in seen] == [True, True, False, False]
    assert [value.get_value() for value in seen[:2]] == [0, 1]
    assert {repr(value.element_spec) for value in seen} == {"TensorSpec(shape=(), dtype=int64)"}
    assert not hr.experimental.get_next_as_optional(numbers).has_value()
    assert numbers.element_spec == hr.TensorSpec((), np.int64)


def test_optionals_are_elements_and_pickle():
    value = hr.Optional.from_value(7)
    (element,) = hr.Dataset.from_tensors(value)
    assert element is value
    assert pickle.loads(pickle.dumps(value)).get_value() == 7
    assert (repr(value), repr(hr.Optional.empty(None))) == ("Optional(7)", "Optional()")
    with pytest.raises(TypeError, match="from_value"):
        hr.Optional()
