"""Parsing SequenceExamples gives what TensorFlow gives, errors included."""

import base64

import numpy as np
import pytest
from conftest import assert_same, decode, golden
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from headrace import io
from headrace.tf import train

CASES = golden("sequence_example.json")["cases"] + golden("sequence_steps.json")


def _feature(value):
    value = dict(value)
    kind = getattr(io, value.pop("kind"))
    if isinstance(value.get("default_value"), dict):
        value["default_value"] = decode(value["default_value"])
    if "partitions" in value:
        value["partitions"] = [
            getattr(io.RaggedFeature, name)(argument) for name, argument in value["partitions"]
        ]
    return kind(**value)


def _arguments(case):
    parts = [case["context_features"], case["sequence_features"]]
    features = [{name: _feature(value) for name, value in (part or {}).items()} for part in parts]
    names = case.get("example_names")
    if case["op"] == "parse_single_sequence_example":
        return base64.b64decode(case["serialized"]), features, names
    messages = np.array([*map(base64.b64decode, case["serialized"]), None], object)[:-1]
    if names is not None:
        names = np.array([name.encode() for name in names], object)
    return messages, features, names


def _check(case, parse):
    expected = case["expect"]
    if isinstance(expected, dict) and "error" in expected:
        with pytest.raises(hr.errors.InvalidArgumentError) as caught:
            parse()
        words = expected["error"]["message"].split("  Did you")[0].rstrip(".")
        # TensorFlow takes features in the order of their names.
        words = words.replace("'emb'", "'tok'") if "is required" in words else words
        assert words in str(caught.value)
    else:
        assert_same(parse(), decode(expected))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_parsing_gives_what_tensorflow_gives(case):
    messages, features, names = _arguments(case)
    _check(case, lambda: getattr(io, case["op"])(messages, *features, names))


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.get("example_names")], ids=lambda c: c["name"]
)
def test_a_mapped_parser_gives_what_the_eager_one_gives(case):
    messages, features, _ = _arguments(case)

    def parse():
        if case["op"] == "parse_single_sequence_example":

            def parser(record):
                return io.parse_single_sequence_example(record, *features)
        else:

            def parser(records):
                return io.parse_sequence_example(records, *features)

        (element,) = hr.Dataset.from_tensors(messages).map(parser, executor="native")
        return element

    _check(case, parse)


def _sequence(steps, **context):
    message = train.SequenceExample()
    for name, value in context.items():
        message.context.feature[name].int64_list.value.append(value)
    for step in steps:
        message.feature_lists.feature_list["x"].feature.add().float_list.value.extend(step)
    return message.SerializeToString()


def test_what_is_written_is_read():
    features = (
        {"len": io.FixedLenFeature([], np.int64)},
        {"x": io.FixedLenSequenceFeature([3], np.float32)},
    )
    three = _sequence([[0, 0, 1], [0, 1, 0], [1, 0, 0]], len=3)
    two = _sequence([[1, 1, 1], [2, 2, 2]], len=2)
    assert io.parse_single_sequence_example(three, *features)[1]["x"].shape == (3, 3)
    context, steps = io.parse_single_sequence_example(two, *features)
    assert context["len"] == 2
    assert steps["x"].tolist() == [[1, 1, 1], [2, 2, 2]]


def test_records_of_differing_steps_go_through_a_map():
    records = [_sequence([[float(i)]] * i, len=i) for i in range(4)]
    features = ({"len": io.FixedLenFeature([], np.int64)}, {"x": io.VarLenFeature(np.float32)})
    dataset = hr.Dataset.from_tensor_slices(records).map(
        lambda r: io.parse_single_sequence_example(r, *features), executor="native"
    )
    assert dataset.element_spec[1]["x"] == hr.SparseTensorSpec((None, None), np.float32)
    seen = [(int(c["len"]), s["x"].shape) for c, s in dataset]
    assert seen == [(0, (0, 0)), (1, (1, 1)), (2, (2, 1)), (3, (3, 1))]


def test_a_type_that_does_not_exist_is_quoted_with_those_that_do():
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"'int '.*integers"):
        io.FixedLenSequenceFeature([], "int ")


@pytest.mark.parametrize(
    ("context", "steps", "words"),
    [
        (None, None, "at least one"),
        ({"x": io.FixedLenSequenceFeature([], np.int64, True)}, None, "Unsupported"),
        (None, {"x": io.FixedLenFeature([], np.int64)}, "Unsupported"),
        (None, {"x": io.SparseFeature("i", "v", np.int64, 3)}, "Unsupported"),
        (None, {"x": io.FixedLenSequenceFeature([], np.int64, True, 1)}, "must be None"),
    ],
)
def test_features_that_a_part_does_not_have_are_refused(context, steps, words):
    for parse, value in [
        (io.parse_single_sequence_example, b""),
        (io.parse_sequence_example, [b""]),
    ]:
        with pytest.raises(hr.errors.InvalidArgumentError, match=words):
            parse(value, context, steps)


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_an_error(data):
    features = ({"c": io.VarLenFeature(np.int64)}, {"s": io.RaggedFeature("string")})
    for parse, records in [
        (io.parse_single_sequence_example, data),
        (io.parse_sequence_example, [data, b""]),
    ]:
        try:
            parse(records, *features)
        except hr.errors.InvalidArgumentError:
            continue


STEPS = st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3), max_size=4)


@given(st.lists(st.none() | STEPS, min_size=1, max_size=4))
def test_steps_are_those_that_were_written(batch):
    records = []
    for steps in batch:
        message = train.SequenceExample()
        if steps is not None:
            message.feature_lists.feature_list["x"].SetInParent()
            message.feature_lists.feature_list["x"].feature.extend(
                train.Feature(int64_list={"value": step}) for step in steps
            )
        records.append(message.SerializeToString())
    written = [steps or [] for steps in batch]
    features = {"x": io.RaggedFeature(np.int64, row_splits_dtype=np.int64)}
    assert io.parse_sequence_example(records, None, features)[1]["x"].to_list() == written
    sparse = io.parse_sequence_example(records, None, {"x": io.VarLenFeature(np.int64)})[1]["x"]
    values = [value for steps in written for step in steps for value in step]
    assert sparse.values.tolist() == values
    width = max((len(step) for steps in written for step in steps), default=0)
    assert sparse.shape == (len(written), max(map(len, written)), width)
    for record, steps in zip(records, written, strict=True):
        one = io.parse_single_sequence_example(record, None, features)[1]["x"]
        assert one.to_list() == steps
    if all(len(step) == 2 for steps in written for step in steps):
        pairs = {"x": io.FixedLenSequenceFeature([2], np.int64, allow_missing=True)}
        _, dense, lengths = io.parse_sequence_example(records, None, pairs)
        assert lengths["x"].tolist() == [len(steps) for steps in written]
        assert dense["x"].shape == (len(written), max(map(len, written)), 2)
