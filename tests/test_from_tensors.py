"""`Dataset.from_tensors`."""

import numpy as np
from conftest import assert_same

import headrace as hr


def only(dataset):
    (element,) = dataset
    return element


def test_it_yields_one_element():
    dataset = hr.Dataset.from_tensors(np.arange(3))
    assert len(dataset) == 1
    assert_same(only(dataset), np.arange(3))


def test_a_list_is_one_tensor_and_a_tuple_is_structure():
    assert_same(only(hr.Dataset.from_tensors([1, 2])), np.array([1, 2]))
    assert_same(only(hr.Dataset.from_tensors((1, 2.0))), (np.int64(1), np.float64(2.0)))


def test_structure_is_kept_with_its_nones():
    value = {"b": (np.float32(1), None), "a": "text"}
    element = only(hr.Dataset.from_tensors(value))
    assert element == value
    assert list(element) == ["b", "a"]


def test_text_comes_out_as_it_went_in():
    assert only(hr.Dataset.from_tensors(b"a\0")) == b"a\0"
    assert only(hr.Dataset.from_tensors("é")) == "é"
    texts = only(hr.Dataset.from_tensors([b"a\0", b""]))
    assert texts.dtype == object
    assert texts.tolist() == [b"a\0", b""]


def test_sparse_and_ragged_values_are_components():
    sparse = hr.SparseTensor([[0], [2]], [1, 2], [4])
    ragged = hr.RaggedTensor([1, 2, 3], [0, 1, 3])
    element = only(hr.Dataset.from_tensors((sparse, ragged)))
    assert element[0] == sparse
    assert element[1] == ragged


def test_what_is_handed_out_may_be_written_to():
    source = np.zeros(3)
    element = only(hr.Dataset.from_tensors(source))
    element[0] = 1
    assert source[0] == 0
