"""`Dataset.from_source`: objects that have their elements by number."""

import pickle

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr


class Items:
    """A map-style dataset; remembers what it was asked for."""

    def __init__(self, values):
        self.values = values
        self.asked = []

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        self.asked.append(index)
        return self.values[index]


class Rows(Items):
    """Something like an array of h5py: a dtype, a shape, slices."""

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def shape(self):
        return self.values.shape


def test_elements_are_asked_for_one_by_one():
    items = Items([{"x": i, "y": (f"t{i}", [i, i])} for i in range(5)])
    dataset = hr.Dataset.from_source(items)
    assert len(dataset) == 5
    assert dataset.element_spec == hr.UnknownSpec()
    assert items.asked == []
    first = next(iter(dataset))
    assert items.asked == [0]
    assert_same_elements([first], [{"x": np.int64(0), "y": ("t0", np.array([0, 0]))}])
    assert [int(x["x"]) for x in dataset.skip(3)] == [3, 4]
    assert items.asked == [0, 3, 4]


def test_lists_ranges_and_strings_are_sources():
    assert list(hr.Dataset.from_source([3, 1, 2])) == [3, 1, 2]
    assert list(hr.Dataset.from_source(range(3, 9, 2))) == [3, 5, 7]
    assert list(hr.Dataset.from_source(("a", "bc"))) == ["a", "bc"]
    assert list(hr.Dataset.from_source([])) == []


def test_arrays_are_asked_for_slices():
    rows = Rows(np.arange(20).reshape(10, 2))
    dataset = hr.Dataset.from_source(rows)
    assert dataset.element_spec == hr.TensorSpec((2,), np.int64)
    assert_same_elements(
        list(dataset.batch(4)), [rows.values[:4], rows.values[4:8], rows.values[8:]]
    )
    assert rows.asked == [slice(0, 4), slice(4, 8), slice(8, 10)]


def test_an_array_of_numpy_is_borrowed():
    array = np.arange(6)
    assert hr.Dataset.from_source(array).element_spec == hr.TensorSpec((), np.int64)
    assert list(hr.Dataset.from_source(array)) == list(range(6))


def test_a_signature_says_what_elements_are():
    dataset = hr.Dataset.from_source(Items([1, 2.5]), hr.TensorSpec((), np.float32))
    assert dataset.element_spec == hr.TensorSpec((), np.float32)
    assert_same_elements(list(dataset), [np.float32(1), np.float32(2.5)])
    with pytest.raises(hr.errors.InvalidArgumentError, match="`source` Items"):
        list(hr.Dataset.from_source(Items(["a"]), hr.TensorSpec((), np.float32)))


def test_an_element_that_fails_is_an_error_in_its_place():
    class Failing(Items):
        def __getitem__(self, index):
            if index == 2:
                raise KeyError("two")
            return super().__getitem__(index)

    iterator = iter(hr.Dataset.from_source(Failing(list(range(4)))))
    assert [next(iterator), next(iterator)] == [0, 1]
    with pytest.raises(KeyError, match="two"):
        next(iterator)
    assert list(iterator) == [3]


def test_random_access_and_pickling():
    dataset = hr.Dataset.from_source([5, 6, 7]).map(lambda x: x + 1)
    assert dataset[2] == 8
    assert list(pickle.loads(pickle.dumps(hr.Dataset.from_source([5, 6, 7])))) == [5, 6, 7]


@pytest.mark.parametrize("wrong", [{1: 2}, iter([1]), 3, {1, 2}])
def test_what_is_no_source(wrong):
    with pytest.raises(TypeError, match="`source` must have"):
        hr.Dataset.from_source(wrong)


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.from_source(list(range(20))))
    check_laws(lambda: hr.Dataset.from_source(Rows(np.arange(20))).shuffle(6, seed=1))
    check_laws(lambda: hr.Dataset.from_source([(i, str(i)) for i in range(9)]).repeat(2).batch(4))
