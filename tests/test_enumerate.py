"""`Dataset.enumerate`."""

import numpy as np
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr


def test_enumerate_numbers_the_elements():
    dataset = hr.Dataset.from_tensor_slices(([1.5], ["a"])).enumerate(start=4)
    assert_same_elements(list(dataset), [(np.int64(4), (np.float64(1.5), "a"))])


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).enumerate(5))
