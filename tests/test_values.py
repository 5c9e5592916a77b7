"""Specs, sparse and ragged values, dtypes, nests, seeds, errors."""

import copy
import pickle
from collections import namedtuple
from dataclasses import dataclass

import attrs
import numpy as np
import pytest

import headrace as hr
from headrace import errors
from headrace.dtypes import as_dtype
from headrace.nest import flatten, map_structure, same_structure
from headrace.seeds import seed_pair


def test_specs_are_values():
    spec = hr.TensorSpec([None, 3], "float32")
    assert repr(spec) == "TensorSpec(shape=(None, 3), dtype=float32)"
    assert spec == hr.TensorSpec((None, 3), np.float32) == pickle.loads(pickle.dumps(spec))
    assert hash(spec) == hash(copy.deepcopy(spec))
    assert spec != hr.SparseTensorSpec((None, 3), np.float32)
    assert hr.TensorSpec([-1], np.int8).shape == (None,)
    with pytest.raises(AttributeError, match="immutable"):
        spec.shape = ()


@pytest.mark.parametrize(
    ("first", "second", "compatible"),
    [
        (((None, 3), "f4"), ((2, 3), "f4"), True),
        (((None, 3), "f4"), ((2, 4), "f4"), False),
        (((None, 3), "f4"), ((2, 3), "f8"), False),
        ((None, "f4"), ((2, 3), "f4"), True),
        (((2,), "f4"), ((), "f4"), False),
    ],
)
def test_compatible_specs_describe_a_common_value(first, second, compatible):
    assert hr.TensorSpec(*first).is_compatible_with(hr.TensorSpec(*second)) is compatible


def test_values_fit_specs():
    assert hr.TensorSpec([None], np.int64).is_compatible_with(np.arange(3))
    assert hr.TensorSpec((), str).is_compatible_with("text")
    assert not hr.TensorSpec((), str).is_compatible_with(b"text")
    ragged = hr.RaggedTensor([1, 2], [0, 2])
    assert hr.RaggedTensorSpec((None, None), np.int64).is_compatible_with(ragged)
    assert hr.SparseTensorSpec((3,), np.int64).is_compatible_with(hr.SparseTensor([[0]], [1], [3]))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (bytes, bytes), ("string", bytes), ("S", bytes), (np.bytes_, bytes),
        (str, str), ("U", str), (np.str_, str), (int, np.dtype("int64")),
        ("float16", np.dtype("float16")), (np.dtype(">i4"), np.dtype("int32")),
    ],
)  # fmt: skip
def test_dtypes_are_written_in_many_ways(written, meant):
    assert as_dtype(written) == meant


@pytest.mark.parametrize("dtype", ["datetime64[s]", object, "nonsense", np.dtype([("a", int)])])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(errors.InvalidArgumentError, match="dtype"):
        as_dtype(dtype)


def test_bfloat16_is_a_dtype_where_ml_dtypes_is():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert as_dtype("bfloat16") == np.dtype(ml_dtypes.bfloat16)


def test_sparse_values_become_dense():
    sparse = hr.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 2])
    assert sparse.to_dense().tolist() == [[0, 5], [7, 0]]
    assert sparse.to_dense(-1).tolist() == [[-1, 5], [7, -1]]
    assert hr.SparseTensor([[1]], [b"x"], [2]).to_dense().tolist() == [b"", b"x"]
    assert sparse == pickle.loads(pickle.dumps(sparse))
    assert sparse != hr.SparseTensor([[0, 1], [1, 0]], [5, 8], [2, 2])
    assert hr.SparseTensor([], np.zeros(0), [3]).indices.shape == (0, 1)


def test_sparse_parts_must_fit():
    with pytest.raises(ValueError, match="do not fit"):
        hr.SparseTensor([[0]], [1, 2], [3])


def test_ragged_values_become_lists_and_tensors():
    ragged = hr.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1])
    assert ragged.to_list() == [[1, 2], [], [3]]
    assert ragged.to_tensor().tolist() == [[1, 2], [0, 0], [3, 0]]
    assert ragged.to_tensor(-1).tolist() == [[1, 2], [-1, -1], [3, -1]]
    assert (ragged.shape, ragged.ragged_rank, len(ragged)) == ((3, None), 1, 3)
    assert ragged.row_lengths().tolist() == [2, 0, 1]
    assert [row.tolist() for row in ragged] == [[1, 2], [], [3]]
    assert ragged == pickle.loads(pickle.dumps(ragged))


def test_ragged_values_nest():
    outer = hr.RaggedTensor(hr.RaggedTensor(["a", "b", "c"], [0, 1, 1, 3]), [0, 2, 3])
    assert outer.to_list() == [[["a"], []], [["b", "c"]]]
    assert outer.to_tensor().tolist() == [[["a", ""], ["", ""]], [["b", "c"], ["", ""]]]
    assert (outer.shape, outer.ragged_rank) == ((2, None, None), 2)
    assert outer[1].to_list() == [["b", "c"]]
    assert outer.flat_values.tolist() == ["a", "b", "c"]


@dataclass
class Data:
    a: object
    b: object = None


@attrs.define
class Attrs:
    a: object


def test_nests_are_taken_apart_and_put_together():
    pair = namedtuple("pair", "x y")
    nest = {"z": (1, [2, 3]), "a": pair(4, None), "d": Data(5), "e": Attrs(6)}
    assert flatten(nest) == [1, [2, 3], 4, 5, 6]
    mapped = map_structure(lambda leaf: 0, nest)
    assert mapped == {"z": (0, 0), "a": pair(0, None), "d": Data(0), "e": Attrs(0)}
    assert same_structure(nest, mapped)
    assert not same_structure(nest, {**nest, "z": (1,)})
    assert not same_structure((1, 2), pair(1, 2))


def test_seeds_become_the_pairs_of_tensorflow():
    assert seed_pair(None) is None
    assert seed_pair(5) == (87654321, 5)
    assert seed_pair(-1) == (87654321, 2**31 - 2)
    assert seed_pair(2**31) == (87654321, 1)
    hr.set_seed(0)
    assert seed_pair(0) == (0, 2**31 - 1)
    hr.set_seed(7)
    assert seed_pair(5) == (7, 5)
    first, second = seed_pair(None), seed_pair(None)
    assert first[0] == second[0] == 7
    hr.set_seed(7)
    assert [seed_pair(None), seed_pair(None)] == [first, second]
    import random

    twister = random.Random(7)
    assert first[1] == twister.randint(0, 2**31 - 1) % (2**31 - 1)


def test_a_seed_is_an_integer():
    with pytest.raises(TypeError):
        hr.set_seed(1.5)
    with pytest.raises(TypeError):
        seed_pair("1")


CLASSES = {
    "InvalidArgumentError": ValueError, "OutOfRangeError": IndexError, "DataLossError": OSError,
    "NotFoundError": FileNotFoundError, "PermissionDeniedError": PermissionError,
    "FailedPreconditionError": RuntimeError, "AlreadyExistsError": FileExistsError,
    "UnimplementedError": NotImplementedError, "UnavailableError": ConnectionError,
    "ResourceExhaustedError": RuntimeError, "AbortedError": RuntimeError,
    "CancelledError": RuntimeError, "UnknownError": RuntimeError, "InternalError": RuntimeError,
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_errors_are_pythons_too_and_pickle_with_their_place(name):
    kind = getattr(errors, name)
    error = kind("bad (a.rec, record 3)", message="bad", file="a.rec", record=3, offset=9)
    error.add_note("a note")
    assert isinstance(error, CLASSES[name])
    assert isinstance(error, errors.HeadraceError)
    restored = pickle.loads(pickle.dumps(error))
    assert str(restored) == "bad (a.rec, record 3)"
    assert (restored.message, restored.file, restored.record) == ("bad", "a.rec", 3)
    assert (restored.offset, restored.feature, restored.__notes__) == (9, None, ["a note"])
