"""`Dataset.counter`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, np.array([0, 1, 2])),
        ({"start": 5, "step": -2}, np.array([5, 3, 1])),
        ({"start": 3, "step": 0}, np.array([3, 3, 3])),
        ({"start": 254, "dtype": np.uint8}, np.array([254, 255, 0], np.uint8)),
        ({"start": 2**64 - 2, "dtype": np.uint64}, np.array([2**64 - 2, 2**64 - 1, 0], np.uint64)),
        ({"start": 0.5, "step": 0.25, "dtype": np.float32}, np.array([0.5, 0.75, 1], np.float32)),
        ({"start": 1, "dtype": np.float16}, np.array([1, 2, 3], np.float16)),
    ],
)
def test_it_counts_without_end(arguments, expected):
    dataset = hr.Dataset.counter(**arguments)
    seen = list(dataset.take(3))
    assert seen == expected.tolist()
    assert {x.dtype for x in seen} == {expected.dtype}
    assert dataset.element_spec == hr.TensorSpec((), expected.dtype)
    assert dataset.cardinality() == hr.INFINITE_CARDINALITY


def test_floats_are_summed_up():
    total, sums = np.float32(0), []
    for _ in range(50):
        sums.append(total)
        total += np.float32(0.1)
    assert list(hr.Dataset.counter(0, 0.1, np.float32).take(50)) == sums
    assert next(iter(hr.Dataset.counter(0, 0.1, np.float32).skip(49))) == sums[49]


def test_wrong_types_are_refused():
    with pytest.raises(TypeError, match="int64"):
        hr.Dataset.counter(0.5)
    for dtype in (bool, bytes, np.complex64):
        with pytest.raises(TypeError, match="integers or floats"):
            hr.Dataset.counter(dtype=dtype)
    with pytest.raises(hr.errors.InvalidArgumentError, match="out of range"):
        hr.Dataset.counter(300, dtype=np.uint8)


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.counter(3, 2), limit=20)
    check_laws(lambda: hr.Dataset.counter(0, 0.1, np.float32).shuffle(5, 1), limit=20)
    check_laws(lambda: hr.Dataset.counter().take(5).repeat(3))
