"""`Dataset.unbatch`."""

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr


def test_unbatch_undoes_batch():
    dataset = hr.Dataset.from_tensor_slices({"x": np.arange(5), "y": list("abcde")})
    assert_same_elements(list(dataset.batch(2).unbatch()), list(dataset))


def test_unbatch_refuses_scalars_and_differing_sizes():
    with pytest.raises(ValueError, match="scalar"):
        hr.Dataset.range(3).unbatch()
    with pytest.raises(ValueError, match="2 and 3"):
        hr.Dataset.from_tensors((np.zeros(2), np.zeros(3))).unbatch()


def test_unbatch_refuses_sizes_that_differ_in_the_run():
    spec = (hr.TensorSpec([None], np.int64), hr.TensorSpec([None], np.int64))
    dataset = hr.Dataset.from_generator(
        lambda: iter([([1, 2], [1, 2, 3])]), output_signature=spec
    ).unbatch()
    with pytest.raises(hr.errors.InvalidArgumentError, match="same batch size"):
        list(dataset)


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).batch(6).unbatch())
