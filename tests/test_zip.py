"""`Dataset.zip`."""

import pytest
from laws import check_laws

import headrace as hr


def test_zip_takes_arguments_a_tuple_or_a_nest():
    a, b = hr.Dataset.range(3), hr.Dataset.range(10, 12)
    assert list(hr.Dataset.zip(a, b)) == [(0, 10), (1, 11)]
    assert list(hr.Dataset.zip((a, b))) == [(0, 10), (1, 11)]
    assert list(hr.Dataset.zip(datasets={"a": a, "b": (b, a)}))[1] == {"a": 1, "b": (11, 1)}
    assert list(hr.Dataset.zip(a)) == [0, 1, 2]


def test_zip_refuses_what_is_no_nest_of_datasets():
    dataset = hr.Dataset.range(3)
    with pytest.raises(TypeError, match="at least one dataset"):
        hr.Dataset.zip()
    with pytest.raises(TypeError, match="cannot be set"):
        hr.Dataset.zip(dataset, datasets=dataset)
    with pytest.raises(TypeError, match="`list` is not supported"):
        hr.Dataset.zip([dataset, dataset])
    with pytest.raises(TypeError, match="`Dataset` objects"):
        hr.Dataset.zip(dataset, 3)


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.zip(hr.Dataset.range(20), hr.Dataset.range(13).batch(1)))
