"""`Dataset.concatenate`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def test_concatenate_goes_on_with_the_other():
    dataset = hr.Dataset.range(2).concatenate(hr.Dataset.range(5, 7))
    assert [x.item() for x in dataset] == [0, 1, 5, 6]
    assert len(dataset) == 4


def test_concatenate_widens_shapes():
    first = hr.Dataset.from_tensors(np.zeros(2))
    both = first.concatenate(hr.Dataset.from_tensors(np.zeros(3)))
    assert both.element_spec == hr.TensorSpec((None,), np.float64)
    assert [x.shape for x in both] == [(2,), (3,)]


def test_concatenate_refuses_other_elements():
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        hr.Dataset.range(2).concatenate(hr.Dataset.range(2, output_type=np.int32))
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        hr.Dataset.range(2).concatenate(hr.Dataset.from_tensors((1,)))
    with pytest.raises(TypeError, match="must be a Dataset"):
        hr.Dataset.range(2).concatenate(3)


def test_the_laws_hold():
    first, second, third = (hr.Dataset.range(n) for n in (9, 4, 3))
    check_laws(lambda: first.concatenate(second).concatenate(third))
