"""Values and nests on their way into the engine and out again."""

import collections
import dataclasses
import gc
import sys
import tempfile
import typing

import attrs
import numpy as np
import pytest

from headrace import _headrace as binding
from headrace import errors, spec
from headrace.tensors import RaggedTensor, SparseTensor

NUMBERS = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 float32 float64 complex64 complex128"
).split()
WAYS = [{}, {"copy": True}, {"view": True}]


def same(got, want):
    assert type(got) is type(want)
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype
        assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3), (700,), (1, 2, 1, 300, 1)])
def test_numbers_come_back_as_they_went_in(dtype, shape, way):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    value = array[()]  # a scalar for shape ()
    same(binding.echo(value, **way), value)


def test_bfloat16_goes_through_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for value in (np.arange(6).astype(ml_dtypes.bfloat16), ml_dtypes.bfloat16(1.5)):
        same(binding.echo(value), value)


@pytest.mark.parametrize("dtype", ["i2", "i8", "f4", "f8", "c8", "f2", "u4"])
def test_any_byte_order_and_stride(dtype):
    base = np.arange(48).reshape(4, 12).astype(dtype)
    for array in (
        base.astype(">" + dtype),
        base[:, ::2],
        base[::-1],
        base.T,
        np.asfortranarray(base),
        np.broadcast_to(base[0], (3, 12)),
    ):
        for way in WAYS:
            same(binding.echo(array, **way), np.ascontiguousarray(array, dtype))


def test_unaligned_arrays_are_copied():
    raw = np.arange(33, dtype=np.uint8)
    array = raw[1:].view(np.int64)
    assert not array.flags.aligned
    same(binding.echo(array), array.copy())


def test_memmap():
    with tempfile.NamedTemporaryFile() as file:
        np.arange(1000.0).tofile(file.name)
        mapped = np.memmap(file.name, np.float64, "r")
        same(binding.echo(mapped), np.arange(1000.0))


@pytest.mark.parametrize("value", [b"", b"a\0b\0", "", "naïve \0 日本 🙂", b"\xff" * 2000])
def test_text_scalars(value):
    for way in WAYS:
        same(binding.echo(value, **way), value)


def test_numpys_own_text_scalars_come_out_as_pythons():
    same(binding.echo(np.str_("é")), "é")
    same(binding.echo(np.bytes_(b"a")), b"a")


def objects(*items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (np.array([b"a", b"bc"]), objects(b"a", b"bc")),
        (np.array(["é", ""]), objects("é", "")),
        ([b"a\0", b""], objects(b"a\0", b"")),
        (["x", "yz"], objects("x", "yz")),
        (objects("a", "b"), objects("a", "b")),
        (np.array(["a\0b", "ü"], np.dtypes.StringDType()), objects("a\0b", "ü")),
        (np.array([], "S3"), np.empty(0, object)),
        (np.array([["a", "b"], ["c", "d"]])[:, 1], objects("b", "d")),
    ],
    ids=str,
)
def test_arrays_of_text_come_out_as_object_arrays(given, want):
    for way in WAYS:
        if way.get("copy") and isinstance(given, list):
            continue
        got = binding.echo(given, **way)
        same(got, want)
        assert [type(item) for item in got] == [type(item) for item in want]


def test_text_of_rank_two():
    got = binding.echo([["a", "b"], ["c", "d"], ["e", "f"]])
    assert got.shape == (3, 2)
    assert got.tolist() == [["a", "b"], ["c", "d"], ["e", "f"]]


def test_text_is_of_one_kind():
    with pytest.raises(errors.InvalidArgumentError, match="both bytes and str"):
        binding.echo([b"a", "b"])
    with pytest.raises(errors.InvalidArgumentError, match="not valid Unicode"):
        binding.echo("\ud800")


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (1, np.int64(1)),
        (True, np.True_),
        (1.5, np.float64(1.5)),
        (1j, np.complex128(1j)),
        (2**63, np.uint64(2**63)),
        ([1, 2], np.array([1, 2])),
        ([[1.5], [2]], np.array([[1.5], [2.0]])),
        (range(3), np.arange(3)),
        ([], np.array([])),
        (memoryview(b"ab"), np.array([97, 98], np.uint8)),
    ],
    ids=repr,
)
def test_python_numbers_and_lists_become_numpys(given, want):
    same(binding.echo(given), want)


def test_too_large_an_integer():
    with pytest.raises(errors.InvalidArgumentError, match="does not fit into int64"):
        binding.echo(2**64)


def test_unknown_dtypes_are_named():
    for array in (np.zeros(2, "M8[s]"), np.zeros(2, np.longdouble), np.zeros(2, "i4,f4")):
        with pytest.raises(errors.InvalidArgumentError, match="not supported"):
            binding.echo(array)


def test_opaque_objects_stay_themselves():
    thing = object()
    assert binding.echo(thing) is thing
    got = binding.echo(objects(thing, {1}))
    assert got.dtype == object
    assert got[0] is thing


def test_sparse_and_ragged():
    sparse = SparseTensor([[0, 1]], [2.5], [3, 4])
    assert binding.echo(sparse) == sparse
    words = RaggedTensor([b"a", b"b", b"c"], [0, 2, 2, 3])
    assert binding.echo(words) == words
    nested = RaggedTensor(words, np.array([0, 1, 3], np.int32))
    got = binding.echo(nested)
    assert got == nested
    assert got.row_splits.dtype == np.int32


class Pair(typing.NamedTuple):
    left: object
    right: object


@dataclasses.dataclass(frozen=True)
class Point:
    x: object
    y: object = 0


@attrs.define
class Size:
    width: object
    _hidden: object


@pytest.mark.parametrize(
    "nest",
    [
        (),
        (1, (2, None)),
        {"b": 1, "a": {"c": "x"}},
        {3: 1, "k": 2},
        Pair(1, Pair(2, (3,))),
        Point(1, {"y": 2}),
        Size(1, 2),
        collections.OrderedDict(b=1, a=2),
        None,
    ],
    ids=repr,
)
def test_nests_keep_their_structure(nest):
    got = binding.echo(nest)
    assert got == nest
    assert type(got) is type(nest)
    if isinstance(nest, dict):
        assert list(got) == list(nest)


def test_lists_are_arrays_in_data_and_tuples_from_functions():
    same(binding.echo([1, 2]), np.array([1, 2]))
    assert binding.echo([1, (2, [3])], copy=True) == (1, (2, (3,)))


def test_a_nest_that_holds_itself_is_an_error():
    nest = {}
    nest["self"] = nest
    with pytest.raises(errors.InvalidArgumentError, match="deep"):
        binding.echo(nest)
    with pytest.raises(errors.InvalidArgumentError, match="str or int"):
        binding.echo({(1,): 2})


@pytest.mark.parametrize("count", [3, 1000, 100_000])
def test_what_is_handed_out_is_writable_and_the_users_own(count):
    array = np.arange(count)
    got = binding.echo(array)
    assert got.flags.writeable
    assert not np.shares_memory(got, array)
    got[0] = 7
    assert array[0] == 0
    view = binding.echo(array, view=True)
    assert not view.flags.writeable
    assert (view == array).all()
    if count >= 1000:
        assert got.ctypes.data % 64 == 0


def test_large_arrays_are_borrowed():
    array = np.arange(100_000)
    view = binding.echo(array, view=True)
    assert np.shares_memory(view, array)
    del array
    gc.collect()
    assert view[-1] == 99_999


def test_references_do_not_leak():
    array, text, thing = np.arange(1000), "some text that is not interned", object()
    held = [array, text, thing, np.dtype(np.int64), np.dtype(object), Pair, np.int64]
    # Immortal or shared objects vary by a few; a leak would show ten thousand.
    before = [sys.getrefcount(item) for item in held]
    for _ in range(10_000):
        binding.echo({"a": array, "b": (text, thing, np.int64(3)), "c": Pair(["x", "y"], array)})
        binding.echo(array, view=True)
        with pytest.raises(errors.InvalidArgumentError):
            binding.echo(2**64)
    gc.collect()
    after = [sys.getrefcount(item) for item in held]
    assert all(abs(a - b) < 100 for a, b in zip(before, after, strict=True)), (before, after)


@pytest.mark.parametrize(
    "nest",
    [
        spec.TensorSpec((None, 3), np.float32),
        spec.TensorSpec(None, bytes),
        (spec.TensorSpec((), str), {"s": spec.SparseTensorSpec((None,), np.int64)}),
        Pair(spec.RaggedTensorSpec((2, None), np.int32, 1, np.int32), spec.ObjectSpec()),
        spec.UnknownSpec(),
        (spec.TensorSpec((), "bfloat16"), None),
    ],
    ids=repr,
)
def test_specs_come_back(nest):
    assert binding.echo_spec(nest) == nest
