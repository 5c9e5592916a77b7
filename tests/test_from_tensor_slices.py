"""`Dataset.from_tensor_slices`."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr

Pair = namedtuple("Pair", "x y")


@dataclass
class Record:
    x: object
    y: object


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"],
)
def test_arrays_keep_their_dtype(dtype):
    array = np.arange(6).reshape(3, 2).astype(dtype)
    assert_same_elements(list(hr.Dataset.from_tensor_slices(array)), list(array))


def test_lists_follow_numpy():
    assert [x.dtype for x in hr.Dataset.from_tensor_slices([1, 2])] == [np.int64] * 2
    assert [x.dtype for x in hr.Dataset.from_tensor_slices([1, 2.5])] == [np.float64] * 2
    assert list(hr.Dataset.from_tensor_slices(["a", "é"])) == ["a", "é"]
    assert list(hr.Dataset.from_tensor_slices([b"a\0", b""])) == [b"a\0", b""]


def test_fixed_width_text_is_accepted():
    assert list(hr.Dataset.from_tensor_slices(np.array(["a", "bcd"]))) == ["a", "bcd"]
    assert list(hr.Dataset.from_tensor_slices(np.array([b"a", b"bcd"]))) == [b"a", b"bcd"]


def test_structure_is_kept():
    x, y = np.arange(2), np.array([0.5, 1.5])
    assert list(hr.Dataset.from_tensor_slices((x, y)))[1] == (1, 1.5)
    assert next(iter(hr.Dataset.from_tensor_slices({"y": y, "x": x}))) == {"y": 0.5, "x": 0}
    assert list(hr.Dataset.from_tensor_slices(Pair(x, y)))[1] == Pair(1, 1.5)
    assert list(hr.Dataset.from_tensor_slices(Record(x, y)))[1] == Record(1, 1.5)


def test_unequal_sizes_are_refused_with_both():
    with pytest.raises(ValueError, match=r"Dimensions 2 and 3.*\['a'\].*\['b'\]"):
        hr.Dataset.from_tensor_slices({"a": [1, 2], "b": [1, 2, 3]})


def test_scalars_are_refused():
    with pytest.raises(ValueError, match="rank >= 1"):
        hr.Dataset.from_tensor_slices(3)


def test_text_and_numbers_in_one_list_are_refused():
    with pytest.raises(ValueError, match="int, str"):
        hr.Dataset.from_tensor_slices(["a", 1])


def test_an_empty_list_is_empty():
    assert list(hr.Dataset.from_tensor_slices([])) == []


def test_memory_is_borrowed_and_rows_are_copied_out():
    source = np.arange(4.0)
    dataset = hr.Dataset.from_tensor_slices(source)
    rows = list(dataset.batch(2))
    rows[0][:] = -1
    assert source.tolist() == [0, 1, 2, 3]


def test_strided_and_big_endian_arrays_work():
    array = np.arange(12, dtype=">i4").reshape(3, 4)[:, ::-2]
    seen = np.array(list(hr.Dataset.from_tensor_slices(array)))
    assert seen.tolist() == array.tolist()


def test_a_memory_map_is_read_row_by_row(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(20).reshape(10, 2))
    dataset = hr.Dataset.from_tensor_slices(np.load(path, mmap_mode="r"))
    assert_same_elements(list(dataset), list(np.arange(20).reshape(10, 2)))


def test_the_laws_hold():
    check_laws(
        lambda: hr.Dataset.from_tensor_slices(
            {"x": np.arange(20), "y": [str(i) for i in range(20)]}
        )
    )


def test_slices_of_a_ragged_matrix_are_batched_to_one_again():
    ragged = hr.RaggedTensor([1, 2, 3], [0, 1, 3])
    dataset = hr.Dataset.from_tensor_slices(ragged)
    assert [row.tolist() for row in dataset] == [[1], [2, 3]]
    assert dataset.element_spec == hr.RaggedTensorSpec((None,), np.int64, 0)
    assert list(dataset.batch(2)) == [ragged]
    assert [int(x) for x in dataset.map(lambda row: row.sum())] == [1, 5]


def test_slices_of_a_sparse_matrix_are_sparse():
    sparse = hr.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 3])
    dataset = hr.Dataset.from_tensor_slices(sparse)
    assert dataset.element_spec == hr.SparseTensorSpec((3,), np.int64)
    assert [row.to_dense().tolist() for row in dataset] == [[0, 5, 0], [6, 0, 0]]
    assert list(dataset.batch(2)) == [sparse]


@pytest.mark.parametrize("executor", [None, "python"])
@pytest.mark.parametrize("words", [["a", "é"], [b"a", b"\xff"]])
def test_text_keeps_its_type(words, executor):
    kind = type(words[0])
    seen = []

    def note(word):
        seen.append(type(word))
        return word

    dataset = hr.Dataset.from_tensor_slices(words).map(note, executor=executor)
    assert list(dataset) == words
    (batch,) = dataset.batch(2)
    assert batch.tolist() == words
    assert set(seen) == {kind}
    assert list(hr.Dataset.from_tensor_slices(words).map(lambda x: x + x)) == [x + x for x in words]
