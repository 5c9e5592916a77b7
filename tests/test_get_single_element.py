"""`Dataset.get_single_element`."""

import pytest

import headrace as hr


def test_the_only_element_is_returned():
    assert hr.Dataset.range(5).batch(5).get_single_element().tolist() == [0, 1, 2, 3, 4]
    assert hr.Dataset.from_tensors({"a": "x"}).get_single_element() == {"a": "x"}
    assert hr.experimental.get_single_element(hr.Dataset.range(1)) == 0


def test_none_or_several_are_refused():
    with pytest.raises(hr.errors.InvalidArgumentError, match="Dataset was empty"):
        hr.Dataset.range(0).get_single_element()
    with pytest.raises(hr.errors.InvalidArgumentError, match="more than one element"):
        hr.Dataset.range(2).repeat().get_single_element()


def test_an_error_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError):
        hr.Dataset.range(1).map(lambda x: 1 // int(x)).get_single_element()
