"""`tf.train`: messages that behave, print and serialize as protobuf's."""

import copy
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import golden
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
import headrace.tf as tf
from headrace.tf import train

CASES = golden("messages.json")


def _run(code):
    names = {"E": train, "np": np, "copy": copy, "pickle": pickle}
    *first, last = code.split(";")
    for line in first:
        exec(line.strip(), names)
    return repr(eval(last.strip(), names))


def _words(text):
    """Drop what names protobuf's own classes, and the argument's kind where that differs."""
    text = re.sub(r"(tensorflow\.core\.example\.\w+_pb2|headrace\.tf\.train)\.", "", text)
    text = re.sub(r"Parameter to (initialize message field|CopyFrom\(\)) must be ", "", text)
    return text.replace("dict or ", "").replace("numpy.", "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["code"][:70])
def test_messages_do_what_protobuf_does(case):
    if "repr" in case:
        assert _run(case["code"]) == case["repr"]
        return
    with pytest.raises(Exception) as caught:
        _run(case["code"])
    assert case["error"] in {cls.__name__ for cls in type(caught.value).__mro__}
    # Where protobuf says something of use, so do these.
    useless = ("bad argument type", "is not iterable", "String field had", "int too large")
    if not any(words in case["message"] for words in useless):
        assert _words(case["message"]) in _words(str(caught.value))


INTS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5)
FLOATS = st.lists(st.floats(width=32), max_size=5)
BYTES = st.lists(st.binary(max_size=20), max_size=5)
FEATURE = st.one_of(
    INTS.map(lambda v: train.Feature(int64_list=train.Int64List(value=v))),
    FLOATS.map(lambda v: train.Feature(float_list=train.FloatList(value=v))),
    BYTES.map(lambda v: train.Feature(bytes_list=train.BytesList(value=v))),
    st.just(train.Feature()),
)
FEATURES = st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), FEATURE, max_size=5)
STEPS = st.dictionaries(st.text("abc", max_size=3), st.lists(FEATURE, max_size=3), max_size=3)


@given(FEATURES)
def test_examples_come_back(features):
    example = train.Example(features=train.Features(feature=features))
    data = example.SerializeToString()
    again = train.Example.FromString(data)
    assert again == example
    assert again.SerializeToString() == data
    assert dict(again.features.feature) == features
    assert str(again) == str(example)
    assert example.ByteSize() == len(data)
    assert pickle.loads(pickle.dumps(example)) == copy.deepcopy(example) == example


@given(FEATURES, STEPS)
def test_sequence_examples_come_back(context, steps):
    sequence = train.SequenceExample(
        context=train.Features(feature=context),
        feature_lists=train.FeatureLists(
            feature_list={name: train.FeatureList(feature=step) for name, step in steps.items()}
        ),
    )
    again = train.SequenceExample.FromString(sequence.SerializeToString())
    assert again == sequence
    assert {k: list(v.feature) for k, v in again.feature_lists.feature_list.items()} == steps


@given(FEATURES)
def test_our_parser_reads_them(features):
    features = {k: v for k, v in features.items() if v.WhichOneof("kind") == "int64_list"}
    if not features:
        return
    data = train.Example(features=train.Features(feature=features)).SerializeToString()
    parsed = hr.io.parse_single_example(
        data, {name: hr.io.RaggedFeature(np.int64) for name in features}
    )
    for name, feature in features.items():
        assert parsed[name].tolist() == list(feature.int64_list.value)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_message_or_an_error(data):
    for kind in (train.Example, train.SequenceExample, train.Feature, train.Int64List):
        try:
            message = kind.FromString(data)
        except train.DecodeError:
            continue
        assert kind.FromString(message.SerializeToString()) == message


def test_both_writers_write_the_same():
    values = {"a": [1, 2**40], "b": [0.5], "c": [b"x", b""], "aa": np.arange(3)}
    kinds = {"a": "int64_list", "b": "float_list", "c": "bytes_list", "aa": "int64_list"}
    example = train.Example()
    for name, value in values.items():
        getattr(example.features.feature[name], kinds[name]).value.extend(value)
    parsed = train.Example.FromString(hr.io.serialize_example(values))
    assert parsed == example


def test_copies_are_apart_however_they_are_made():
    numbers = train.Int64List(value=[1])
    feature = train.Feature(int64_list=numbers)
    features = train.Features(feature={"a": feature, "b": feature})
    example = train.Example(features=features)
    other = copy.copy(example)
    numbers.value.append(2)
    feature.int64_list.value.append(3)
    features.feature["a"].int64_list.value.append(4)
    held = example.features.feature["a"]
    third = train.Example()
    third.CopyFrom(example)
    held.int64_list.value.append(5)

    def seen(message, name):
        return list(message.feature[name].int64_list.value)

    assert list(numbers.value) == [1, 2]
    assert list(feature.int64_list.value) == [1, 3]
    assert seen(features, "a") == [1, 4]
    assert seen(features, "b") == [1]
    assert seen(example.features, "a") == [1, 5]
    assert seen(example.features, "b") == [1]
    assert seen(other.features, "a") == seen(third.features, "a") == [1]


def test_a_message_that_was_only_read_is_not_there():
    example = train.Example()
    assert len(example.features.feature) == 0
    assert "x" not in example.features.feature
    assert not example.HasField("features")
    assert "features" not in example
    first, second = example.features, example.features
    assert first is second
    first.feature["x"].float_list.value.append(1)
    second.feature["y"].bytes_list.value.append(b"")
    assert sorted(example.features.feature) == ["x", "y"]


def test_threads_may_read_one_message_at_once():
    features = {str(i): train.Feature(int64_list={"value": [i]}) for i in range(100)}
    data = train.Features(feature=features).SerializeToString()

    def read(message):
        return sum(message.feature[str(i)].int64_list.value[0] for i in range(100))

    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            message = train.Features.FromString(data)
            assert list(pool.map(read, [message] * 4)) == [4950] * 4


def test_arrays_of_every_type_are_values():
    for dtype in ("int8", "uint16", "int64", ">i4"):
        assert list(train.Int64List(value=np.array([1, 2], dtype)).value) == [1, 2]
    for dtype in ("float16", "float64", ">f4", "int32", "bool"):
        assert list(train.FloatList(value=np.array([0, 1], dtype)).value) == [0, 1]
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert list(train.FloatList(value=np.array([0.5], ml_dtypes.bfloat16)).value) == [0.5]
    assert np.array(train.Int64List(value=[1]).value).dtype == np.int64
    assert np.array(train.FloatList(value=[1]).value).dtype == np.float32


def test_tensors_are_values():
    assert list(train.Int64List(value=tf.constant([1, 2])).value) == [1, 2]
    assert list(train.Int64List(value=[tf.constant(3)]).value) == [3]
    assert list(train.FloatList(value=tf.constant([0.5])).value) == [0.5]
    assert list(train.FloatList(value=[tf.constant(2.5), tf.constant(1)]).value) == [2.5, 1]
    assert list(train.BytesList(value=[tf.constant("a").numpy()]).value) == [b"a"]
    with pytest.raises(TypeError, match="expected bytes"):
        train.BytesList(value=[tf.constant("a")])
    with pytest.raises(TypeError):
        train.Int64List(value=[tf.constant(2.5)])
    with pytest.raises(TypeError):
        train.Int64List(value=tf.constant([2.5]))


def test_values_can_change_while_an_array_of_them_lives():
    numbers = train.Int64List(value=[1, 2])
    seen = np.asarray(numbers.value)
    numbers.value.extend(range(100))
    assert seen.tolist() == [1, 2]


def test_damaged_bytes_are_a_value_error():
    with pytest.raises(ValueError, match=r"tensorflow\.Example"):
        train.Example.FromString(b"junk")


def test_hostile_bytes_cost_no_more_than_a_pass():
    nested = b"\x13" * 1_000_000
    with pytest.raises(train.DecodeError, match="too deep"):
        train.Example.FromString(nested)
    many = train.Features(feature={str(i): {} for i in range(1000)}).SerializeToString() * 50
    assert len(train.Features.FromString(many).feature) == 1000
    with pytest.raises(train.DecodeError, match="past the end"):
        train.Example.FromString(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")


def test_nothing_is_assigned():
    feature = train.Feature()
    with pytest.raises(AttributeError, match="Assignment not allowed"):
        feature.int64_list = train.Int64List()
    with pytest.raises(AttributeError):
        feature.other = 1
    with pytest.raises(ValueError, match="CopyFrom"):
        train.Features().feature["a"] = feature
    with pytest.raises(TypeError, match="encode"):
        train.BytesList(value=["text"])


def test_descriptors_name_the_fields():
    ((field, value),) = train.Feature(int64_list={"value": [1]}).ListFields()
    assert (field.name, field.number, field.full_name) == (
        "int64_list",
        3,
        "tensorflow.Feature.int64_list",
    )
    assert list(value.value) == [1]
    assert train.Feature.INT64_LIST_FIELD_NUMBER == 3
    assert train.Example.DESCRIPTOR.fields_by_name["features"].message_type.name == "Features"
