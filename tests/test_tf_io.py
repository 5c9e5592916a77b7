"""`tf.io`: parsing, decoding and files under TensorFlow's names, on tensors and in functions."""

import base64

import numpy as np
import pytest
from conftest import golden

import headrace.tf as tf
from headrace import errors

EXAMPLES = golden("example.json")["cases"]
SEQUENCES = golden("sequence_example.json")["cases"]
STRINGS = [
    case
    for case in golden("strings_raw_csv.json")["cases"]
    if case["op"].startswith("io.") and hasattr(tf.io, case["op"].removeprefix("io."))
]


def _value(value):
    """Return a golden value as plain Python and NumPy."""
    if isinstance(value, list):
        return tuple(map(_value, value))
    if "sparse" in value:
        return {"sparse": {name: _value(part) for name, part in value["sparse"].items()}}
    if "ragged" in value:
        return {"ragged": {name: _value(part) for name, part in value["ragged"].items()}}
    if set(value) != {"dtype", "shape", "data"}:
        return {name: _value(item) for name, item in value.items()}
    if value["dtype"] == "bytes":
        data = [base64.b64decode(item) for item in value["data"]]
        array = np.array([*data, None], object)[:-1].reshape(value["shape"])
    else:
        numbers = [float(x) if isinstance(x, str) else x for x in value["data"]]
        if value["dtype"].startswith("complex"):
            numbers = [complex(*map(float, x)) for x in numbers]
        array = np.array(numbers, value["dtype"]).reshape(value["shape"])
    return array


def _seen(value):
    """Return what tf.io gives in the same way."""
    if isinstance(value, dict):
        return {name: _seen(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(_seen, value))
    if isinstance(value, tf.SparseTensor):
        names = ("indices", "values", "dense_shape")
        return {"sparse": {name: _seen(getattr(value, name)) for name in names}}
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": {"values": _seen(value.values), "row_splits": _seen(value.row_splits)}}
    assert type(value) is tf.Tensor
    return np.asarray(value.numpy(), object if value.dtype == tf.string else None)


def _assert_same(seen, expected):
    assert type(seen) is type(expected)
    if isinstance(expected, dict):
        assert set(seen) == set(expected)
        for name in expected:
            _assert_same(seen[name], expected[name])
    elif isinstance(expected, tuple):
        assert len(seen) == len(expected)
        for pair in zip(seen, expected, strict=True):
            _assert_same(*pair)
    else:
        assert (seen.dtype, seen.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(seen, expected)


def _feature(value):
    value = dict(value)
    kind = getattr(tf.io, value.pop("kind"))
    value["dtype"] = tf.as_dtype(value["dtype"])
    default = value.get("default_value")
    if isinstance(default, dict):
        value["default_value"] = _value(default)
    if "partitions" in value:
        value["row_splits_dtype"] = tf.as_dtype(value["row_splits_dtype"])
        value["partitions"] = [
            getattr(tf.io.RaggedFeature, name)(argument) for name, argument in value["partitions"]
        ]
    return kind(**value)


def _features(features):
    return {name: _feature(value) for name, value in (features or {}).items()}


def _fails(expected):
    # A dict of features may have one of that name.
    return isinstance(expected, dict) and "class" in expected.get("error", ())


def _check(case, run):
    if _fails(case["expect"]):
        with pytest.raises(ValueError):
            run()
    else:
        _assert_same(_seen(run()), _value(case["expect"]))


def _mapped(values, function):
    (element,) = tf.data.Dataset.from_tensors(values).map(function)
    return element


@pytest.mark.parametrize("mapped", [False, True], ids=["eager", "mapped"])
@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case["name"])
def test_examples_are_parsed_as_tensorflow_does(case, mapped):
    features = _features(case["features"])
    if case["op"] == "parse_single_example":
        records = tf.constant(base64.b64decode(case["serialized"]))

        def parse(record):
            return tf.io.parse_single_example(record, features)
    else:
        records = tf.constant([*map(base64.b64decode, case["serialized"])], tf.string)

        def parse(record):
            return tf.io.parse_example(record, features, case["example_names"])

    _check(case, lambda: _mapped(records, parse) if mapped else parse(records))


@pytest.mark.parametrize("mapped", [False, True], ids=["eager", "mapped"])
@pytest.mark.parametrize("case", SEQUENCES, ids=lambda case: case["name"])
def test_sequence_examples_are_parsed_as_tensorflow_does(case, mapped):
    context, steps = _features(case["context_features"]), _features(case["sequence_features"])
    if case["op"] == "parse_single_sequence_example":
        records = tf.constant(base64.b64decode(case["serialized"]))

        def parse(record):
            return tf.io.parse_single_sequence_example(record, context, steps)
    else:
        records = tf.constant([*map(base64.b64decode, case["serialized"])])
        names = case["example_names"]

        def parse(record):
            return tf.io.parse_sequence_example(record, context, steps, names)

    _check(case, lambda: _mapped(records, parse) if mapped else parse(records))


@pytest.mark.parametrize("mapped", [False, True], ids=["eager", "mapped"])
@pytest.mark.parametrize("case", STRINGS, ids=lambda case: case["op"])
def test_strings_are_decoded_as_tensorflow_does(case, mapped):
    function = getattr(tf.io, case["op"].removeprefix("io."))
    kwargs = dict(case["kwargs"])
    if "record_defaults" in kwargs:
        kwargs["record_defaults"] = [
            tf.constant(_value(default), tf.string if default["dtype"] == "bytes" else None)
            for default in kwargs["record_defaults"]
        ]
    if "out_type" in kwargs:
        kwargs["out_type"] = tf.as_dtype(kwargs["out_type"])
    (value,) = case["args"]
    value = tf.constant(_value(value), tf.string if value["dtype"] == "bytes" else None)

    def run(x):
        found = function(x, **kwargs)
        return tuple(found) if isinstance(found, list) else found

    expected = case["expect"]
    if _fails(expected):
        with pytest.raises(getattr(tf.errors, expected["error"]["class"], ValueError)):
            _mapped(value, run) if mapped else run(value)
    else:
        _assert_same(_seen(_mapped(value, run) if mapped else run(value)), _value(expected))


def test_features_are_named_tuples():
    feature = tf.io.FixedLenFeature([2], tf.string, ["a", "b"])
    shape, dtype, default = feature
    assert (shape, dtype, default) == ([2], tf.string, ["a", "b"])
    assert feature._replace(shape=[3]).shape == [3]
    ragged = tf.io.RaggedFeature(
        tf.int64, partitions=[tf.io.RaggedFeature.UniformRowLength(length=3)]
    )
    assert repr(ragged.partitions) == "(UniformRowLength(length=3),)"
    assert ragged.row_splits_dtype == tf.int32
    assert ragged == tf.io.RaggedFeature(tf.int64, None, ragged.partitions, "int32")
    with pytest.raises(TypeError, match="partition"):
        tf.io.RaggedFeature(tf.int64, partitions=["a"])


def _example(**features):
    example = tf.train.Example()
    for name, value in features.items():
        kind = {int: "int64_list", float: "float_list", bytes: "bytes_list"}[type(value[0])]
        getattr(example.features.feature[name], kind).value.extend(value)
    return example.SerializeToString()


def test_defaults_are_converted_and_missing_features_named():
    features = {
        "a": tf.io.FixedLenFeature([], tf.int64, default_value=-1),
        "s": tf.io.FixedLenFeature([], tf.string, default_value="none"),
        "f": tf.io.FixedLenFeature([2], tf.float32, default_value=[1, 2]),
    }
    parsed = tf.io.parse_example([_example(a=[3]), _example(a=[4], s=[b"x"])], features)
    assert parsed["a"].numpy().tolist() == [3, 4]
    assert parsed["s"].numpy().tolist() == [b"none", b"x"]
    assert parsed["f"].numpy().tolist() == [[1, 2], [1, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Feature: b .*could not be found"):
        tf.io.parse_single_example(_example(a=[3]), {"b": tf.io.FixedLenFeature([], tf.int64)})


@pytest.mark.parametrize(
    ("parse", "words"),
    [
        (lambda: tf.io.parse_example([b""], {}), "features cannot be empty"),
        (lambda: tf.io.parse_single_example(b"", None), "features cannot be empty"),
        (
            lambda: tf.io.parse_example([b""], {"x": tf.io.FixedLenFeature([None], tf.int64)}),
            "First dimension of shape for feature x unknown",
        ),
        (
            lambda: tf.io.parse_example([b""], {"x": tf.io.FixedLenFeature([2, None], tf.int64)}),
            "All dimensions of shape for feature x need to be known",
        ),
        (lambda: tf.io.parse_example([b""], {"x": tf.io.VarLenFeature(None)}), "Missing type"),
        (
            lambda: tf.io.parse_example([b""], {"x": tf.io.FixedLenSequenceFeature([], tf.int64)}),
            "Unsupported: FixedLenSequenceFeature requires allow_missing to be True",
        ),
        (lambda: tf.io.parse_sequence_example([b""]), "at least one should have values"),
    ],
)
def test_what_tensorflow_refuses_is_refused_in_its_words(parse, words):
    with pytest.raises(ValueError, match=words):
        parse()


def test_shapes_and_defaults_may_be_written_shortly():
    features = {
        "a": tf.io.FixedLenFeature(2, tf.int64),
        "b": tf.io.FixedLenFeature((1, 2), tf.string, default_value=np.array(["x", "y"])),
    }
    parsed = tf.io.parse_example([_example(a=[3, 4])], features, np.empty((0,), bytes))
    assert parsed["a"].numpy().tolist() == [[3, 4]]
    assert parsed["b"].numpy().tolist() == [[[b"x", b"y"]]]
    for feature, words in [
        (tf.io.FixedLenFeature(None, tf.int64), "Missing shape for feature a"),
        (tf.io.FixedLenSequenceFeature([], tf.int64, True, []), "Cannot reshape a tensor with 0"),
    ]:
        with pytest.raises(ValueError, match=words):
            tf.io.parse_example([b""], {"a": feature})


def test_one_record_may_be_parsed_by_parse_example():
    parsed = tf.io.parse_example(_example(a=[3]), {"a": tf.io.FixedLenFeature([], tf.int64)})
    assert parsed["a"].shape == ()


def test_ragged_parts_that_do_not_fit_are_named():
    feature = tf.io.RaggedFeature(
        tf.int64, "v", [tf.io.RaggedFeature.RowLengths("n")], validate=True
    )
    words = "Feature r: values and partitions are not aligned"
    with pytest.raises(ValueError, match=words):
        tf.io.parse_example([_example(n=[5])], {"r": feature})
    sequence = tf.train.SequenceExample()
    lists = sequence.feature_lists.feature_list
    for name in ("v", "v", "n"):
        lists[name].feature.add().int64_list.value.append(1)
    with pytest.raises(ValueError, match=words):
        tf.io.parse_single_sequence_example(
            sequence.SerializeToString(), sequence_features={"r": feature}
        )


def test_the_specs_of_a_mapped_parser_are_known():
    features = {
        "a": tf.io.FixedLenFeature([2], tf.int64),
        "v": tf.io.VarLenFeature(tf.string),
        "r": tf.io.RaggedFeature(tf.float32),
    }
    dataset = tf.data.Dataset.from_tensor_slices([_example(a=[1, 2])]).batch(1)
    dataset = dataset.map(lambda x: tf.io.parse_example(x, features))
    assert dataset.element_spec == {
        "a": tf.TensorSpec([None, 2], tf.int64),
        "v": tf.SparseTensorSpec([None, None], tf.string),
        "r": tf.RaggedTensorSpec([None, None], tf.float32, 1, tf.int32),
    }
    (element,) = dataset
    assert element["a"].numpy().tolist() == [[1, 2]]
    assert element["r"].to_list() == [[]]


def test_a_parsed_image_goes_through_ops():
    image = np.arange(12, dtype=np.uint8)
    records = [_example(image=[image.tobytes()], label=[float(i)]) for i in range(3)]

    def parse(record):
        parsed = tf.io.parse_single_example(
            record,
            {
                "image": tf.io.FixedLenFeature([], tf.string),
                "label": tf.io.FixedLenFeature([], tf.float32),
            },
        )
        pixels = tf.reshape(tf.io.decode_raw(parsed["image"], tf.uint8), [2, 2, 3])
        return tf.cast(pixels, tf.float32) / 255.0, parsed["label"]

    dataset = tf.data.Dataset.from_tensor_slices(records).map(parse, num_parallel_calls=2).batch(3)
    ((images, labels),) = dataset
    assert images.shape == (3, 2, 2, 3)
    assert labels.numpy().tolist() == [0, 1, 2]
    np.testing.assert_allclose(images[0].numpy().reshape(-1), image / np.float32(255), rtol=1e-6)


def test_records_are_written_and_read(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"one")
        writer.write("é")
        writer.flush()
    assert [x.numpy() for x in tf.data.TFRecordDataset(str(path))] == [b"one", "é".encode()]
    for options in ("GZIP", tf.io.TFRecordOptions("GZIP"), tf.io.TFRecordOptions(2)):
        with tf.io.TFRecordWriter(str(path), options) as writer:
            writer.write(b"two")
        (record,) = tf.data.TFRecordDataset(str(path), compression_type="GZIP")
        assert record.numpy() == b"two"
    assert tf.io.TFRecordOptions.get_compression_type_string("ZLIB") == "ZLIB"
    assert tf.io.TFRecordOptions.get_compression_type_string(None) == ""
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.io.TFRecordOptions("ZIP")
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.TFRecordWriter(str(tmp_path / "no" / "file"))


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_a_closed_writer_takes_nothing(tmp_path, compression):
    path = str(tmp_path / "a")
    writer = tf.io.TFRecordWriter(path, compression)
    writer.write(b"one")
    writer.close()
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError):
        writer.write(b"two")
    with pytest.raises(tf.errors.FailedPreconditionError):
        writer.flush()
    assert [x.numpy() for x in tf.data.TFRecordDataset(path, compression)] == [b"one"]


def test_files_are_read_written_and_found(tmp_path):
    path = str(tmp_path / "new" / "a.txt")
    tf.io.write_file(path, tf.constant("text"))
    assert tf.io.read_file(path).numpy() == b"text"
    tf.io.write_file(tf.constant(path), b"more")
    dataset = tf.data.Dataset.from_tensors(path).map(tf.io.read_file)
    assert dataset.element_spec == tf.TensorSpec([], tf.string)
    assert [x.numpy() for x in dataset] == [b"more"]
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.io.read_file(str(tmp_path / "no"))
    patterns = [str(tmp_path / "*" / "a*"), str(tmp_path / "n*")]
    found = tf.io.matching_files(patterns)
    assert found.numpy().tolist() == [str(tmp_path / "new").encode(), path.encode()]
    assert tf.io.matching_files(str(tmp_path / "x*")).shape == (0,)


def test_sparse_tensors_are_serialized_and_joined():
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    rows = tf.io.serialize_many_sparse(sparse)
    again = tf.io.deserialize_many_sparse(rows, tf.int32)
    assert again.indices.numpy().tolist() == [[0, 1], [2, 0]]
    assert again.values.numpy().tolist() == [5, 6]
    assert again.dense_shape.numpy().tolist() == [3, 2]
    parts = tf.io.serialize_sparse(sparse).numpy()
    assert tf.io.parse_tensor(parts[1], tf.int32).numpy().tolist() == [5, 6]
    with pytest.raises(ValueError, match="rank"):
        tf.io.deserialize_many_sparse(rows, tf.int32, rank=3)
    with pytest.raises(ValueError, match="shape"):
        tf.io.deserialize_many_sparse([b""], tf.int32)


def test_examples_in_json_become_messages():
    text = (
        '{"features": {"feature": {"a": {"int64List": {"value": ["3", 4]}}, '
        '"b": {"bytes_list": {"value": ["YQ=="]}}, "c": {"floatList": {"value": [1.5, "NaN"]}}, '
        '"d": {}}}}'
    )
    message = tf.train.Example.FromString(tf.io.decode_json_example(text).numpy())
    feature = message.features.feature
    assert list(feature["a"].int64_list.value) == [3, 4]
    assert list(feature["b"].bytes_list.value) == [b"a"]
    assert feature["c"].float_list.value[0] == 1.5
    assert feature["d"].WhichOneof("kind") is None
    many = tf.io.decode_json_example([text, "{}"])
    assert many.numpy().tolist() == [message.SerializeToString(), b""]
    for wrong in ("nope", "[]", '{"features": {"feature": {"a": {"x": {"value": [1]}}}}}'):
        with pytest.raises(tf.errors.InvalidArgumentError, match="JSON"):
            tf.io.decode_json_example(wrong)


def test_names_that_do_not_exist_name_the_nearest():
    with pytest.raises(AttributeError, match=r"tf\.io\.parse_single_example"):
        tf.io.parse_single_exampel  # noqa: B018
    assert errors.NotFoundError is tf.errors.NotFoundError


@pytest.mark.parametrize(
    ("feature", "values", "spec", "single", "batch"),
    [
        (
            "bytes_list",
            [b"p", b"q"],
            tf.io.FixedLenFeature([3], tf.string),
            "Key: f.  Can't parse serialized Example.  Number of string values != expected.",
            "Name: <unknown>, Key: f, Index: 0.  Number of bytes values != expected.",
        ),
        (
            "int64_list",
            [4, 5, 6],
            tf.io.FixedLenFeature([2], tf.int64),
            "Key: f.  Can't parse serialized Example",
            "Key: f, Index: 0.  Number of int64 values != expected.  Values size: 3",
        ),
        (
            "bytes_list",
            [b"p"],
            tf.io.FixedLenSequenceFeature([2], tf.string, allow_missing=True),
            "number of elements should be divisible by 2, found 1 instead",
            "Key: f, Index: 0.  Number of bytes values is not a multiple of stride length. Saw 1",
        ),
    ],
)
def test_counts_that_do_not_fit_are_told_in_the_words_of_tensorflow(
    feature, values, spec, single, batch
):
    kind = {"bytes_list": tf.train.BytesList, "int64_list": tf.train.Int64List}[feature]
    features = {"f": tf.train.Feature(**{feature: kind(value=values)})}
    record = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    with pytest.raises(tf.errors.InvalidArgumentError, match=single):
        tf.io.parse_single_example(record, {"f": spec})
    with pytest.raises(tf.errors.InvalidArgumentError, match=batch):
        tf.io.parse_example([record], {"f": spec})


def test_what_is_no_tensor_is_shown_as_base64():
    with pytest.raises(tf.errors.InvalidArgumentError, match="base64: //77/w=="):
        tf.io.parse_tensor(b"\xff\xfe\xfb\xff", tf.uint16)
