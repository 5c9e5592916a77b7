"""CSV, base64, compressed strings and TensorProto give what TensorFlow gives, errors included."""

import gzip
import os
import re
import zlib

import numpy as np
import pytest
from conftest import assert_same, decode, golden
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from headrace import io

OPS = ("decode_csv", "decode_base64", "encode_base64", "decode_compressed")
CASES = [
    case
    for case in golden("strings_raw_csv.json")["cases"]
    if case["op"].removeprefix("io.") in (*OPS, "serialize_tensor", "parse_tensor")
]
CSV = [case for case in CASES if case["op"] == "io.decode_csv"]


def _arguments(case):
    kwargs = dict(case["kwargs"])
    if "record_defaults" in kwargs:
        # An empty array says that the column is required, of its dtype.
        kwargs["record_defaults"] = [
            np.dtype(default["dtype"])
            if default["dtype"] != "bytes" and not default["shape"][0]
            else decode(default)
            for default in kwargs["record_defaults"]
        ]
    return [decode(argument) for argument in case["args"]], kwargs


def _check(case, run):
    expected = case["expect"]
    if isinstance(expected, dict) and "error" in expected:
        error = expected["error"]
        with pytest.raises(getattr(hr.errors, error["class"])) as caught:
            run()
        words = error["message"].split(", base64")[0].split(" with error")[0]
        assert words.rstrip(".") in str(caught.value)
    else:
        expected = decode(expected)
        seen = run()
        assert_same(tuple(seen) if isinstance(expected, tuple) else seen, expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["op"])
def test_decoding_gives_what_tensorflow_gives(case):
    args, kwargs = _arguments(case)
    _check(case, lambda: getattr(io, case["op"].removeprefix("io."))(*args, **kwargs))


@pytest.mark.parametrize("case", CSV, ids=lambda case: str(case["args"][0]["data"]))
def test_a_mapped_csv_decoder_gives_what_the_eager_one_gives(case):
    (records,), kwargs = _arguments(case)
    defaults, options = kwargs.pop("record_defaults"), kwargs

    def run():
        dataset = hr.Dataset.from_tensors(records)
        mapped = dataset.map(
            lambda r: tuple(io.decode_csv(r, defaults, **options)), executor="native"
        )
        (element,) = mapped
        return element

    _check(case, run)


def test_a_column_takes_the_dtype_of_its_default():
    columns = io.decode_csv("1,2,3,4,5", [np.int32(0), np.int64, 1.5, [], np.array([], object)])
    assert [type(column) for column in columns] == [
        np.int32, np.int64, np.float64, np.float64, bytes
    ]  # fmt: skip
    with pytest.raises(hr.errors.InvalidArgumentError, match="float16"):
        io.decode_csv("1", [np.float16(1)])
    with pytest.raises(hr.errors.InvalidArgumentError, match="one value or none"):
        io.decode_csv("1", [[1, 2]])
    with pytest.raises(
        hr.errors.InvalidArgumentError, match="select_cols is not strictly increasing"
    ):
        io.decode_csv("1,2", [[1], [2]], select_cols=[1, 0])
    with pytest.raises(hr.errors.InvalidArgumentError, match="Length of select_cols"):
        io.decode_csv("1,2", [[1], [2]], select_cols=[1])
    with pytest.raises(hr.errors.InvalidArgumentError, match="negative"):
        io.decode_csv("1,2", [[1], [2]], select_cols=[-1, 0])
    with pytest.raises(hr.errors.InvalidArgumentError, match="at most rank 1"):
        io.decode_csv("1", [[[1]]])
    with pytest.raises(hr.errors.InvalidArgumentError, match="only 1 char"):
        io.decode_csv("1,2", [[1], [2]], field_delim=";;")


def test_numbers_may_have_signs_blanks_and_names():
    (column,) = io.decode_csv([" +1", "-2e3 ", "inf", "NaN", ".5"], [np.float32(0)])
    assert column.tolist()[:3] == [1, -2000, np.inf]
    assert np.isnan(column[3])
    for wrong in ("+-1", "1 2", "1_0", "0x1"):
        with pytest.raises(hr.errors.InvalidArgumentError, match="not a valid int32"):
            io.decode_csv([wrong], [np.int32(0)])


def test_text_goes_through_a_map_row_by_row():
    texts = [b"a", b"bcd", b""]
    dataset = hr.Dataset.from_tensor_slices(texts).map(io.encode_base64, executor="native")
    assert list(dataset) == [b"YQ", b"YmNk", b""]
    assert list(dataset.map(io.decode_base64, executor="native")) == texts
    assert dataset.element_spec == hr.TensorSpec((), bytes)


@given(st.binary(max_size=50))
def test_base64_comes_back(data):
    assert io.decode_base64(io.encode_base64(data)) == data
    assert io.decode_base64(io.encode_base64(data, pad=True)) == data


def test_strings_are_decompressed_one_by_one():
    texts = np.array([gzip.compress(b"a" * n) for n in (0, 10, 1000)], object)
    assert [len(text) for text in io.decode_compressed(texts, "GZIP")] == [0, 10, 1000]
    assert io.decode_compressed(b"", "GZIP") == io.decode_compressed(b"", "ZLIB") == b""
    two = gzip.compress(b"a") + gzip.compress(b"b")
    assert io.decode_compressed(two, "GZIP") == b"ab"
    with pytest.raises(hr.errors.DataLossError, match="inflate"):
        io.decode_compressed(zlib.compress(b"a" * 100)[:-3], "ZLIB")
    with pytest.raises(hr.errors.InvalidArgumentError, match="valid are"):
        io.decode_compressed(b"", "ZIP")


SIGNED = ["bool", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
DTYPES = [*SIGNED, "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128", "string"])
def test_tensors_come_back(dtype):
    for shape in [(), (0,), (3,), (2, 0), (2, 3)]:
        count = int(np.prod(shape))
        if dtype == "string":
            flat = [f"v{i}".encode() for i in range(count)]
            array = np.array([*flat, None], object)[:-1].reshape(shape)
        else:
            array = np.arange(count).astype(dtype).reshape(shape)
        value = array[()] if shape == () else array
        assert_same(io.parse_tensor(io.serialize_tensor(value), dtype), value)


def test_a_parsed_tensor_has_an_unknown_shape_in_a_map():
    messages = [io.serialize_tensor(np.arange(n)) for n in range(3)]
    dataset = hr.Dataset.from_tensor_slices(messages).map(
        lambda m: io.parse_tensor(m, np.int64), executor="native"
    )
    assert dataset.element_spec == hr.TensorSpec(None, np.int64)
    assert [x.tolist() for x in dataset] == [[], [0], [0, 1]]
    again = dataset.map(io.serialize_tensor, executor="native")
    assert list(again) == messages


@given(st.binary(max_size=40))
def test_any_bytes_are_a_tensor_or_an_error(data):
    for dtype in (np.int32, np.float64, "string"):
        try:
            io.parse_tensor(data, dtype)
        except hr.errors.HeadraceError:
            continue


def test_several_messages_are_no_tensor():
    text = re.escape("Expected `serialized` to be a scalar, got shape: [1]")
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        io.parse_tensor(np.array([b"bogus"], object), np.uint16)


def test_a_tensor_that_claims_to_be_large_costs_nothing():
    claims = b"\x08\x03\x12\x08\x12\x06\x08\xff\xff\xff\xff\x0f"
    with pytest.raises(hr.errors.InvalidArgumentError, match="Could not parse"):
        io.parse_tensor(claims, np.int32)


def test_files_are_read_and_written(tmp_path):
    path = tmp_path / "new" / "folder" / "a.bin"
    io.write_file(path, b"\x00a")
    assert io.read_file(path) == b"\x00a"
    io.write_file(os.fsencode(path), "é")
    assert io.read_file(str(path)) == "é".encode()
    with pytest.raises(hr.errors.NotFoundError, match="No such file"):
        io.read_file("no/such/file")
    with pytest.raises(hr.errors.FailedPreconditionError, match="directory"):
        io.read_file(str(tmp_path))
    with pytest.raises(TypeError, match="one text"):
        io.write_file(path, [b"a"])


def test_files_are_read_in_a_map_at_each_pass(tmp_path):
    paths = []
    for i in range(3):
        paths.append(str(tmp_path / f"{i}"))
        io.write_file(paths[-1], f"first {i}")
    dataset = hr.Dataset.from_tensor_slices(paths).map(io.read_file, executor="native")
    assert list(dataset) == [b"first 0", b"first 1", b"first 2"]
    io.write_file(paths[1], "second")
    assert list(dataset)[1] == b"second"
    fixed = hr.Dataset.range(2).map(lambda _: io.read_file(paths[1]))
    assert list(fixed) == [b"second"] * 2


def test_writing_a_file_in_a_map_runs_as_python(tmp_path):
    def write(i):
        io.write_file(str(tmp_path / str(i)), b"")
        return i

    assert list(hr.Dataset.range(3).map(write)) == [0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == ["0", "1", "2"]
