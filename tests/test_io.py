"""`headrace.io`: Examples and raw bytes. Golden vectors are in test_parse_golden.py."""

import numpy as np
import pytest
from conftest import assert_same, decode, golden

import headrace as hr

io = hr.io


def test_what_is_written_is_read():
    message = io.serialize_example(
        {
            "ints": np.array([[1, -2]], np.int32),
            "flag": True,
            "floats": [0.5, 1.5],
            "bytes": b"a\0",
            "text": "é",
            "texts": ["a", "b"],
            "empty": np.zeros(0, np.int64),
        }
    )
    features = {
        "ints": io.FixedLenFeature([2], np.int64),
        "flag": io.FixedLenFeature([], np.int64),
        "floats": io.FixedLenFeature([2], np.float32),
        "bytes": io.FixedLenFeature([], bytes),
        "text": io.FixedLenFeature([], np.str_),
        "texts": io.FixedLenFeature([2], "string"),
        "empty": io.VarLenFeature(np.int64),
    }
    parsed = io.parse_single_example(message, features)
    assert_same(parsed["ints"], np.array([1, -2]))
    assert parsed["flag"] == 1
    assert_same(parsed["floats"], np.array([0.5, 1.5], np.float32))
    assert (parsed["bytes"], parsed["text"]) == (b"a\0", "é".encode())
    assert parsed["texts"].tolist() == [b"a", b"b"]
    assert parsed["empty"].values.shape == (0,)


@pytest.mark.parametrize("value", [None, object(), 1j, {"a": 1}])
def test_values_an_example_cannot_hold_are_refused(value):
    with pytest.raises((TypeError, hr.errors.HeadraceError)):
        io.serialize_example({"x": value})


def test_a_batch_is_parsed_at_once():
    messages = [io.serialize_example({"x": [i, i + 1]}) for i in range(3)]
    parsed = io.parse_example(messages, {"x": io.FixedLenFeature([2], np.int64)})
    assert parsed["x"].tolist() == [[0, 1], [1, 2], [2, 3]]
    empty = io.parse_example(np.array([], object), {"x": io.FixedLenFeature([2], np.int64)})
    assert empty["x"].shape == (0, 2)


def test_a_missing_feature_names_itself_and_what_there_is():
    message = io.serialize_example({"a": 1, "bb": 2})
    with pytest.raises(hr.errors.InvalidArgumentError) as caught:
        io.parse_single_example(message, {"b": io.FixedLenFeature([], np.float32)})
    assert caught.value.feature == "b"
    assert "bb" in str(caught.value)


@pytest.mark.parametrize("executor", ["native", "python"])
def test_a_record_without_a_feature_is_named_by_its_number(tmp_path, executor):
    features = {"b": io.FixedLenFeature([], np.float32)}
    with io.TFRecordWriter(tmp_path / "f") as writer:
        for i in range(10):
            there = {"a": 1, "bb": 2.0} if i == 7 else {"a": 1, "b": 2.0}
            writer.write(io.serialize_example(there))
    records = hr.TFRecordDataset(tmp_path / "f")
    one = records.map(lambda r: io.parse_single_example(r, features), executor=executor)
    some = records.batch(4).map(lambda r: io.parse_example(r, features), executor=executor)
    for dataset, element, row in [(one, 7, ""), (some, 1, "in record 3 of the batch")]:
        with pytest.raises(hr.errors.InvalidArgumentError) as caught:
            list(dataset)
        text = "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        for part in ("Feature: b ", "float32", '"bb"', '"a"', f"element {element}", row):
            assert part in text
    with pytest.raises(hr.errors.InvalidArgumentError, match="record 1"):
        io.parse_example([io.serialize_example(x) for x in ({"b": 1.0}, {"a": 1})], features)


def test_a_parser_on_a_batch_in_a_map_is_traced():
    messages = [io.serialize_example({"x": [1.0] * n}) for n in (1, 3)]
    features = {"x": io.VarLenFeature(np.float32)}

    def parse(batch):
        return io.parse_example(batch, features)["x"]

    dataset = hr.Dataset.from_tensor_slices(messages).batch(2).map(parse, executor="native")
    (sparse,) = dataset
    assert sparse.to_dense().tolist() == [[1, 0, 0], [1, 1, 1]]


def test_values_of_a_variable_feature_are_traced():
    messages = [io.serialize_example({"x": list(range(n))}) for n in (1, 3)]
    features = {"x": io.VarLenFeature(np.int64)}
    dataset = hr.Dataset.from_tensor_slices(messages).map(
        lambda m: io.parse_single_example(m, features)["x"].values * 2, executor="native"
    )
    assert [x.tolist() for x in dataset] == [[0], [0, 2, 4]]
    assert dataset.element_spec == hr.TensorSpec((None,), np.int64)


@pytest.mark.parametrize(
    "make",
    [
        lambda: io.FixedLenFeature([], np.int32),
        lambda: io.FixedLenFeature([None], np.int64),
        lambda: io.VarLenFeature(np.float64),
        lambda: io.RaggedFeature(np.int64, row_splits_dtype=np.int16),
        lambda: io.SparseFeature(["a", "b"], "v", np.int64, [3]),
        lambda: io.parse_single_example(b"", {}),
        lambda: io.parse_single_example(b"", {"x": io.FixedLenFeature([2], np.int64, [1])}),
        lambda: io.parse_single_example(b"", {"x": io.FixedLenFeature([], np.int64, "a")}),
        lambda: io.parse_example([b""], {"x": io.FixedLenSequenceFeature([], np.int64)}),
    ],
)
def test_wrong_descriptions_are_refused(make):
    with pytest.raises(hr.errors.InvalidArgumentError):
        make()


def test_features_are_described_by_features():
    with pytest.raises(TypeError, match="FixedLenFeature"):
        io.parse_single_example(b"", {"x": np.int64})
    with pytest.raises(TypeError, match="dict"):
        io.parse_single_example(b"", [io.VarLenFeature(np.int64)])


def test_descriptions_are_values():
    feature = io.RaggedFeature(np.int64, partitions=[io.RaggedFeature.UniformRowLength(2)])
    assert feature == io.RaggedFeature("int64", partitions=(io.RaggedFeature.UniformRowLength(2),))
    assert io.FixedLenFeature([2], np.int64, np.array([1, 2])) == io.FixedLenFeature(
        (2,), np.int64, np.array([1, 2])
    )
    assert hash(feature) == hash(feature)


RAW = [c for c in golden("strings_raw_csv.json")["cases"] if c["op"] == "io.decode_raw"]


@pytest.mark.parametrize("number", range(len(RAW)))
def test_raw_bytes_decode_as_in_tensorflow(number):
    case = RAW[number]
    args = [decode(arg) for arg in case["args"]]
    if "error" in case["expect"]:
        with pytest.raises(hr.errors.InvalidArgumentError):
            io.decode_raw(*args, **case["kwargs"])
    else:
        seen, expected = io.decode_raw(*args, **case["kwargs"]), decode(case["expect"])
        assert_same(np.asarray(seen), np.asarray(expected))


def test_raw_bytes_decode():
    assert_same(io.decode_raw(b"\1\0\2\0", np.int16), np.array([1, 2], np.int16))
    big = io.decode_raw(b"\1\0\2\0", np.int16, little_endian=False)
    assert_same(big, np.array([256, 512], np.int16))
    rows = io.decode_raw(np.array([b"ab", b"cd"], object), np.uint8)
    assert rows.tolist() == [[97, 98], [99, 100]]
    fixed = io.decode_raw(b"\1\2\3", np.uint8, fixed_length=5)
    assert fixed.tolist() == [1, 2, 3, 0, 0]
    with pytest.raises(hr.errors.InvalidArgumentError):
        io.decode_raw(b"\1\2\3", np.int16)


def test_raw_bytes_decode_in_a_graph():
    dataset = hr.Dataset.from_tensor_slices([b"\1\2", b"\3\4"])
    native = dataset.map(lambda m: io.decode_raw(m, np.uint8).reshape(2, 1), executor="native")
    assert [x.tolist() for x in native] == [[[1], [2]], [[3], [4]]]


def test_a_default_stands_for_a_missing_number_in_one_and_in_many():
    features = {"age": io.FixedLenFeature([], np.int64, default_value=-1)}
    messages = [io.serialize_example({"age": 0}), io.serialize_example({"other": 1})]
    many = io.parse_example(messages, features)["age"]
    assert_same(many, np.array([0, -1]))
    one = [io.parse_single_example(message, features)["age"] for message in messages]
    assert one == [0, -1]
    assert one[0].shape == ()
    empty = io.serialize_example({"age": np.zeros(0, np.int64)})
    for parse in (
        lambda: io.parse_single_example(empty, features),
        lambda: io.parse_example([empty], features),
    ):
        with pytest.raises(hr.errors.InvalidArgumentError, match="age"):
            parse()


def test_empty_lists_keep_their_dtypes():
    message = io.serialize_example(
        {"i": np.zeros(0, np.int64), "f": np.zeros(0, np.float32), "b": np.zeros(0, object)}
    )
    kinds = {"i": np.int64, "f": np.float32, "b": bytes}
    sparse = io.parse_single_example(
        message, {name: io.VarLenFeature(kind) for name, kind in kinds.items()}
    )
    ragged = io.parse_single_example(
        message, {name: io.RaggedFeature(kind) for name, kind in kinds.items()}
    )
    for name, dtype in {"i": np.int64, "f": np.float32, "b": object}.items():
        assert (sparse[name].values.dtype, sparse[name].values.shape) == (dtype, (0,))
        assert (ragged[name].dtype, ragged[name].shape) == (dtype, (0,))


def test_files_are_looked_for_when_an_element_is_made(tmp_path):
    for name in ("b.txt", "a.txt", "c.csv", ".d.txt"):
        (tmp_path / name).write_bytes(name.encode())
    found = io.matching_files(str(tmp_path / "*.txt"))
    assert [path.decode().rsplit("/", 1)[1] for path in found] == [".d.txt", "a.txt", "b.txt"]
    both = io.matching_files([str(tmp_path / "[ab].txt"), str(tmp_path / "?.*")])
    assert len(both) == 3

    def read(pattern):
        return io.read_file(io.matching_files(pattern)[0])

    patterns = [str(tmp_path / name) for name in ("a*", "*.csv", "new*")]
    dataset = hr.Dataset.from_tensor_slices(patterns).map(read, executor="native")
    (tmp_path / "new").write_bytes(b"made later")
    assert list(dataset) == [b"a.txt", b"c.csv", b"made later"]
    with pytest.raises(hr.errors.InvalidArgumentError):
        io.matching_files(np.zeros(2))


def test_examples_in_json_are_traced():
    texts = [
        b'{"features":{"feature":{"x":{"int64List":{"value":[1,"2"]}}}}}',
        b'{"features":{"feature":{"x":{"int64_list":{"value":["3",4.0]}}}}}',
    ]
    feature = {"x": io.FixedLenFeature([2], np.int64)}
    dataset = hr.Dataset.from_tensor_slices(texts).map(
        lambda text: io.parse_single_example(io.decode_json_example(text), feature)["x"],
        executor="native",
    )
    assert [x.tolist() for x in dataset] == [[1, 2], [3, 4]]
    whole = io.decode_json_example(np.array(texts, object))
    assert whole.shape == (2,)


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{", b'{"foo":1}', b'{"features":{"feature":{"x":{"foo":{}}}}}', b"[" * 10_000,
     b'{"features":{"feature":{"x":{"int64List":{"value":[1.5]}}}}}'],
)  # fmt: skip
def test_json_that_is_no_example_is_refused(text):
    with pytest.raises(hr.errors.InvalidArgumentError, match="Error while parsing JSON"):
        io.decode_json_example(text)
