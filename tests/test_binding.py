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

import headrace as hr
from headrace import _headrace as binding
from headrace import errors, spec
from headrace.tensors import RaggedTensor, SparseTensor

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NUMBERS = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]
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
    one = spec.TensorSpec((), "bfloat16")
    assert binding.echo_spec(one) == one


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
        pytest.param(memoryview(b"ab"), np.array([97, 98], np.uint8), id="memoryview"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, memoryview) else repr(value),
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
        (spec.TensorSpec((), np.float16), None),
    ],
    ids=repr,
)
def test_specs_come_back(nest):
    assert binding.echo_spec(nest) == nest


# ------------------------------------------------------------------ functions and runs


def python(function):
    """A function that runs as Python: `str` cannot be traced."""

    def untraced(*args):
        str(args)
        return function(*args)

    return untraced


def test_functions_get_numpy_values_that_are_read_only():
    seen = []

    def look(number, row, text):
        seen.append((type(number), row.flags.writeable, type(text)))
        return number

    columns = (np.arange(2), np.zeros((2, 3)), np.array(["a", "b"]))
    list(hr.Dataset.from_tensor_slices(columns).map(python(look)))
    assert seen == [(np.int64, False, str)] * 2


def test_only_plain_tuples_become_positional_arguments():
    pairs = hr.Dataset.from_tensor_slices(Pair(np.arange(2), np.arange(2)))
    assert list(pairs.map(python(lambda pair: type(pair) is Pair))) == [True, True]
    dicts = hr.Dataset.from_tensor_slices({"a": np.arange(2)})
    assert list(dicts.map(python(lambda d: d["a"] + 1))) == [1, 2]


def test_a_function_may_return_the_same_array_again():
    buffer = np.zeros(3)

    def fill(x):
        buffer[:] = x
        return buffer

    got = list(hr.Dataset.range(4).map(python(fill)).batch(2))
    np.testing.assert_array_equal(got[1], [[2.0] * 3, [3.0] * 3])


def test_rows_of_differing_shapes():
    got = list(hr.Dataset.range(4).map(python(lambda x: np.arange(x))))
    assert [row.tolist() for row in got] == [[], [0], [0, 1], [0, 1, 2]]


def test_a_users_exception_comes_out_as_it_is():
    raised = KeyError("boom")

    def fail(x):
        if x == 2:
            raise raised
        return x

    run = iter(hr.Dataset.range(4).map(python(fail)))
    assert [next(run), next(run)] == [0, 1]
    with pytest.raises(KeyError) as caught:
        next(run)
    assert caught.value is raised
    assert caught.traceback[-1].name == "fail"
    assert any("element 2" in note for note in caught.value.__notes__)
    assert next(run) == 3


def test_stop_iteration_does_not_end_the_loop():
    def stop(x):
        raise StopIteration

    with pytest.raises(RuntimeError) as caught:
        list(hr.Dataset.range(2).map(python(stop)))
    assert isinstance(caught.value.__cause__, StopIteration)


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit])
def test_leaving_ends_the_run(leave):
    def interrupted(x):
        if x == 1:
            raise leave
        return x

    run = iter(hr.Dataset.range(4).map(python(interrupted)))
    assert next(run) == 0
    with pytest.raises(leave):
        next(run)
    assert list(run) == []


def test_a_change_of_structure_or_dtype_names_the_function():
    for change, text in [(lambda: (1, 2), "structure"), (lambda: 1.5, "int64.*float64")]:

        def unsteady(x, change=change):
            return x if x < 2 else change()

        with pytest.raises(errors.InvalidArgumentError, match=f"untraced.*{text}"):
            list(hr.Dataset.range(4).map(python(unsteady)).batch(4))


def test_an_iterator_used_by_its_own_function_is_an_error():
    run = None
    run = iter(hr.Dataset.range(3).map(python(lambda x: next(run))))
    with pytest.raises(errors.FailedPreconditionError, match="while it makes one"):
        next(run)


def test_elements_handed_out_never_change():
    run = iter(hr.Dataset.from_tensor_slices(np.arange(4000).reshape(100, 40)).repeat(3).batch(10))
    kept = [next(run) for _ in range(5)]
    copies = [array.copy() for array in kept]
    for array in kept:
        assert array.flags.writeable
    for _ in run:
        pass
    for array, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_generator_is_closed_when_its_run_is(ahead):
    events = []

    def numbers():
        try:
            yield from range(100)
        finally:
            events.append("closed")

    source = hr.Dataset.from_generator(numbers, output_signature=spec.TensorSpec((), np.int64))
    run = iter(source.prefetch(2) if ahead else source)
    assert next(run) == 0
    run.close()
    assert events == ["closed"]
    with pytest.raises(StopIteration):
        next(run)


def test_generators_have_the_context_of_iter():
    import contextvars

    variable = contextvars.ContextVar("variable", default=0)

    def values():
        yield variable.get()

    source = hr.Dataset.from_generator(values, output_signature=spec.TensorSpec((), np.int64))
    for dataset in (source, source.prefetch(1)):
        token = variable.set(7)
        run = iter(dataset)
        variable.reset(token)
        assert next(run) == 7


def test_threads_share_an_iterator():
    import threading

    for dataset in (
        hr.Dataset.range(20_000),
        hr.Dataset.range(2000).map(python(lambda x: x)),
        hr.Dataset.range(5000).prefetch(4),
    ):
        run, got = iter(dataset), []
        threads = [threading.Thread(target=lambda r=run, g=got: g.extend(r)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(got) == list(range(dataset.cardinality()))


def test_the_gil_is_released_while_the_engine_works():
    import threading

    iterator = iter(hr.Dataset.range(10**15).filter(lambda x: x < 0))

    def count():
        for _ in range(1_000_000):
            pass
        iterator.close()

    thread = threading.Thread(target=count)
    thread.start()
    # It would not end.
    assert next(iterator, "closed") == "closed"
    thread.join()


def test_every_kind_of_error_has_its_class():
    with pytest.raises(FileNotFoundError) as caught:
        next(iter(hr.TFRecordDataset("/nowhere/a.tfrecord")))
    assert isinstance(caught.value, errors.NotFoundError)
    assert caught.value.file == "/nowhere/a.tfrecord"
    assert caught.value.message == "No such file or directory (os error 2)"


def test_records_and_examples(tmp_path):
    path = str(tmp_path / "a.tfrecord.gz")
    features = {"i": 3, "f": [1.5, 2.0], "b": b"\0x", "s": "é", "n": np.arange(2), "t": True}
    writer = binding.RecordWriter(path, "GZIP", None)
    writer.write(binding.serialize_example(features))
    writer.write(b"")
    writer.close()
    records = list(binding.RecordReader(path, "GZIP"))
    assert len(records) == 2
    assert records[1] == b""
    assert list(hr.TFRecordDataset(path, "GZIP")) == records
    with pytest.raises(errors.InvalidArgumentError, match="odd"):
        binding.serialize_example({"odd": object()})
