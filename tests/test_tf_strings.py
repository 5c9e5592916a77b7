"""tf.strings gives what TensorFlow gives, called as it is and inside of a function."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

import headrace.tf as tf
from headrace import errors

CASES = [
    case
    for case in json.loads((Path(__file__).parent / "golden" / "strings_raw_csv.json").read_text())[
        "cases"
    ]
    if case["op"].startswith("strings.")
]


def value(spec, dtype=None):
    if spec["dtype"] == "bytes":
        flat = np.empty(len(spec["data"]), object)
        flat[:] = [base64.b64decode(item) for item in spec["data"]]
        if dtype is not None:  # inf and nan are written as text
            flat = flat.astype(dtype)
    else:
        flat = np.asarray([_number(item) for item in spec["data"]], spec["dtype"])
    return flat.reshape(spec["shape"])


def _number(item):
    return float(item) if isinstance(item, str) else item


def same(found, expected):
    array = found.numpy()
    floating = found.dtype.is_floating and expected["dtype"] == "bytes"
    wanted = value(expected, found.dtype.as_numpy_dtype if floating else None)
    assert found.shape.as_list() == list(expected["shape"])
    assert floating or found.dtype.name == expected["dtype"].replace("bytes", "string")
    if wanted.dtype == object:
        assert np.asarray(array, object).reshape(-1).tolist() == wanted.reshape(-1).tolist()
    else:
        np.testing.assert_array_equal(array, wanted)


def call(case):
    function = getattr(tf.strings, case["op"].split(".")[1])
    args = [value(arg) for arg in case["args"]]
    kwargs = dict(case["kwargs"])
    if "out_type" in kwargs:
        kwargs["out_type"] = getattr(tf, kwargs["out_type"])
    if case["op"] == "strings.join":
        return function(args, **kwargs)
    return function(*args, **kwargs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["op"] + str(case["kwargs"]))
def test_results_are_tensorflows(case):
    expected = case["expect"]
    if "error" in expected:
        with pytest.raises(getattr(errors, expected["error"]["class"])):
            call(case)
        return
    found = call(case)
    if "ragged" in expected:
        same(found.values, expected["ragged"]["values"])
        same(found.row_splits, expected["ragged"]["row_splits"])
    else:
        same(found, expected)


def test_functions_give_the_same_inside_of_a_map():
    dataset = tf.data.Dataset.from_tensors(["a b", "c"]).map(tf.strings.split)
    assert next(iter(dataset)).to_list() == [[b"a", b"b"], [b"c"]]
    dataset = tf.data.Dataset.from_tensor_slices(["1.5", "2"]).map(tf.strings.to_number)
    assert dataset.element_spec == tf.TensorSpec([], tf.float32)
    assert list(dataset.as_numpy_iterator()) == [1.5, 2.0]


@pytest.mark.parametrize("size", [0, 1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 127, 128, 200])
def test_hashes_are_tensorflows_at_every_length(size):
    path = Path(__file__).parent / "golden" / "tf_hashes.json"
    expected = json.loads(path.read_text())[str(size)]
    text = bytes(k * 7 % 256 for k in range(size))
    most = 2**63 - 1
    found = [
        tf.strings.to_hash_bucket_fast(text, most),
        tf.strings.to_hash_bucket(text, most),
        tf.strings.to_hash_bucket_strong(text, most, [1, 2]),
    ]
    assert [int(x) for x in found] == expected


def ragged(rows):
    return tf.ragged.constant(rows, dtype=tf.string)


def codes(texts):
    return tf.strings.unicode_decode(texts, "UTF-8")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: tf.strings.split(x), [[[b"A", b"b"], [b"c"]], [[b"d"]]]),
        (lambda x: tf.strings.lower(x), [[b"a b", b"c"], [b"d"]]),
        (lambda x: tf.strings.length(x), [[3, 1], [1]]),
        (lambda x: tf.strings.substr(x, 0, 1), [[b"A", b"c"], [b"d"]]),
        (lambda x: tf.strings.join([x, "!"]), [[b"A b!", b"c!"], [b"d!"]]),
        (lambda x: tf.strings.regex_full_match(x, "[a-c]"), [[False, True], [False]]),
        (lambda x: tf.strings.unicode_decode(x, "UTF-8"), [[[65, 32, 98], [99]], [[100]]]),
        (
            lambda x: tf.strings.ngrams(x, 2, pad_values="<"),
            [[b"< A b", b"A b c", b"c <"], [b"< d", b"d <"]],
        ),
        (
            lambda x: tf.strings.unicode_encode(tf.strings.unicode_decode(x, "UTF-8"), "UTF-8"),
            [[b"A b", b"c"], [b"d"]],
        ),
        (
            lambda x: tf.strings.unicode_script(tf.strings.unicode_decode(x, "UTF-8")),
            [[[25, 0, 25], [25]], [[25]]],
        ),
    ],
)
def test_ragged_tensors_stay_ragged(call, expected):
    assert call(ragged([["A b", "c"], ["d"]])).to_list() == expected


def test_ragged_rows_are_joined_along_each_axis():
    rows = ragged([["a", "b"], ["c"]])
    assert tf.strings.reduce_join(rows).numpy() == b"abc"
    assert tf.strings.reduce_join(rows, axis=-1, separator="-").numpy().tolist() == [b"a-b", b"c"]
    assert tf.strings.reduce_join(rows, axis=0, separator="-").numpy().tolist() == [b"a-c", b"b"]
    kept = tf.strings.reduce_join(rows, axis=1, keepdims=True)
    assert kept.numpy().tolist() == [[b"ab"], [b"c"]]


def test_strings_of_many_axes_are_cut():
    made = tf.strings.split(ragged([[[["1,2", "4"], ["5"]], [["7"]]], [[[""]]]]), sep=",")
    assert made.to_list() == [[[[[b"1", b"2"], [b"4"]], [[b"5"]]], [[[b"7"]]]], [[[[b""]]]]]
    dense = tf.strings.unicode_decode(tf.constant([["Hi", "x"], ["", "y"]]), "UTF-8")
    assert dense.shape.as_list() == [2, 2, None]
    assert dense.to_tensor(-1).numpy().tolist() == [[[72, 105], [120, -1]], [[-1, -1], [121, -1]]]
    inner = tf.RaggedTensor.from_row_splits(tf.constant([[72, 105], [72, 111]]), [0, 1, 2])
    assert tf.strings.unicode_encode(inner, "UTF-8").to_list() == [[b"Hi"], [b"Ho"]]


def test_other_encodings_tell_where_characters_begin():
    text = ["Hi".encode("shift-jis"), "こん".encode("shift-jis")]
    codes, starts = tf.strings.unicode_decode_with_offsets(text, "SHIFT-JIS")
    assert codes.to_list() == [[72, 105], [0x3053, 0x3093]]
    assert starts.to_list() == [[0, 1], [0, 2]]


def test_pieces_of_a_batch_are_traced():
    def cut(x):
        words = tf.strings.split(tf.strings.lower(x))
        return {
            "words": words,
            "lengths": tf.strings.length(words),
            "joined": tf.strings.reduce_join(words, axis=-1, separator="+"),
            "pairs": tf.strings.ngrams(words, 2),
            "codes": tf.strings.unicode_decode(x, "UTF-8"),
            "number": tf.strings.to_hash_bucket_fast(words, 10),
        }

    texts = ["A b", "c", "", "D e f"]
    dataset = tf.data.Dataset.from_tensor_slices(texts).batch(2).map(cut)
    assert "runs as a graph" in dataset.explain()
    assert dataset.element_spec["words"] == tf.RaggedTensorSpec([None, None], tf.string)
    for k, element in enumerate(dataset):
        expected = cut(tf.constant(texts[2 * k : 2 * k + 2]))
        for name, value in expected.items():
            found, wanted = element[name], value
            if name == "joined":
                found, wanted = found.numpy().tolist(), wanted.numpy().tolist()
            else:
                found, wanted = found.to_list(), wanted.to_list()
            assert found == wanted, name


def test_a_rank_that_is_unknown_is_refused_as_tensorflow_refuses_it():
    shaped = tf.data.Dataset.from_generator(
        lambda: iter(["a b"]), output_signature=tf.TensorSpec(None, tf.string)
    )
    for cut in (
        tf.strings.bytes_split,
        lambda x: tf.strings.unicode_decode(x, "UTF-8"),
        lambda x: tf.strings.unicode_split(x, "UTF-8"),
    ):
        with pytest.raises(ValueError, match="statically known"):
            shaped.map(cut)


@pytest.mark.parametrize(
    "cut",
    [
        tf.strings.split,
        lambda x: tf.compat.v1.strings.split(x, result_type="RaggedTensor"),
        lambda x: tf.compat.v1.string_split(x, result_type="RaggedTensor"),
    ],
)
def test_strings_of_an_unknown_rank_are_cut_as_a_vector(cut):
    def given(value):
        return tf.data.Dataset.from_generator(
            lambda: iter([value]), output_signature=tf.TensorSpec(None, tf.string)
        ).map(cut)

    vector = given(["a b", "c"])
    assert vector.element_spec == tf.RaggedTensorSpec([None, None], tf.string)
    assert next(iter(vector)).to_list() == [[b"a", b"b"], [b"c"]]
    for other in ("a b", [["a b"]]):
        with pytest.raises(errors.InvalidArgumentError, match="shape"):
            next(iter(given(other)))


def test_text_of_tensorflow_1_is_cut_to_sparse_values():
    v1 = tf.compat.v1
    assert v1.strings.split(["a b", "c"]).dense_shape.numpy().tolist() == [2, 2]
    assert v1.strings.split("a b", result_type="RaggedTensor").to_list() == [[b"a", b"b"]]
    assert v1.string_split([" .g. ", " ."], " .").values.numpy().tolist() == [b"g"]
    parts = v1.string_split(["#a", "b#"], "#", skip_empty=False).values
    assert parts.numpy().tolist() == [b"", b"a", b"b", b""]
    assert v1.string_split(["ab"], delimiter="").values.numpy().tolist() == [b"a", b"b"]
    for wrong in ({"delimiter": ["a", "b"]}, {"sep": "a", "delimiter": "b"}, {"result_type": "x"}):
        with pytest.raises(ValueError):
            v1.string_split(["a"], **wrong)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.strings.length(["a"], unit="WORD"), '\'unit\' of "WORD" .*"BYTE", "UTF8_CHAR"'),
        (lambda: tf.strings.substr(["a"], 0, 1, unit="WORD"), '"BYTE", "UTF8_CHAR"$'),
        (lambda: tf.strings.lower(["a"], encoding="latin"), "only utf-8 or '' .* received latin"),
        (
            lambda: tf.strings.unicode_encode([65], "UTF-7"),
            '\'output_encoding\' of "UTF-7" .*"UTF-8", "UTF-16-BE", "UTF-32-BE"$',
        ),
        (lambda: tf.strings.unicode_transcode("a", "UTF-8", "UTF-7"), "'output_encoding' of"),
        (
            lambda: tf.strings.unicode_transcode("a", "UTF-8", "UTF-8", errors="drop"),
            '\'errors\' of "drop" .*"strict", "replace", "ignore"$',
        ),
        (lambda: tf.strings.unicode_decode("a", "UTF-8", errors="drop"), "'errors' of"),
        (lambda: tf.strings.unicode_encode(65, "UTF-8"), "rank must be at least 1"),
        (lambda: tf.strings.ngrams("a", 2), "Data must have rank>0"),
        (lambda: tf.strings.regex_replace("a", ["b"], "c"), r"Pattern must be scalar.*\[1\]"),
        (lambda: tf.strings.regex_replace("a", "b", [["c"]]), r"Rewrite must be scalar.*\[1,1\]"),
        (lambda: tf.strings.to_hash_bucket_fast("a", 0), "'num_buckets' of 0 must be at least"),
        (lambda: tf.strings.unsorted_segment_join("a", [0], -1), "non-negative but got -1"),
    ],
)
def test_a_wrong_argument_is_told_as_tensorflow_tells_it(call, text):
    with pytest.raises(errors.InvalidArgumentError, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.strings.substr(["a"], 0.0, 1),
        lambda: tf.strings.unsorted_segment_join(["a"], [0.0], 1),
        lambda: tf.strings.to_number(["1"], tf.int8),
    ],
)
def test_a_wrong_dtype_is_an_error_of_arguments_and_of_types(call):
    # Called at once TensorFlow raises the one, in a function the other.
    with pytest.raises(errors.InvalidArgumentError, match="not in the list of allowed values"):
        call()
    with pytest.raises(TypeError):
        call()


def test_only_lists_are_joined():
    with pytest.raises(TypeError, match="Expected list for 'inputs'"):
        tf.strings.join("ab")
    for wrong in (5, [5, "a"], ("a", "b", "c")):
        with pytest.raises(TypeError, match="pad_values must be a string, tuple of strings"):
            tf.strings.ngrams(["a", "b"], 2, pad_values=wrong)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (tf.ragged.constant([[1], [2, 3], []]), b"[[1], [2, 3], []]"),
        (tf.ragged.constant([[0.5], []]), b"[[0.500000], []]"),
        (tf.ragged.constant([[True, False]]), b"[[true, false]]"),
        (tf.ragged.constant([["it's"], ["a\\b", 'c"']]), b"[['it\\'s'], ['a\\\\b', 'c\"']]"),
        (tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), None),
        (tf.ragged.constant([[*range(9)]] * 9), None),
        (tf.ragged.constant([], ragged_rank=1), b"[]"),
    ],
)
def test_ragged_values_are_put_into_a_template(rows, expected):
    if expected is not None:
        assert tf.strings.format("{}", rows).numpy() == expected
    else:
        whole = str(rows.to_list()).encode()
        assert tf.strings.format("{}", rows, summarize=-1).numpy() == whole
        assert tf.strings.format("%: %", [rows, "a"], "%", -1).numpy() == whole + b': "a"'


def test_a_long_ragged_value_is_summed_up():
    rows = tf.ragged.constant([[k] * k for k in range(1, 6)])
    assert tf.strings.format("<{}>", rows, summarize=1).numpy() == b"<[[1], ..., [5, ..., 5]]>"
    with pytest.raises(ValueError, match="summarize"):
        tf.strings.format("{}", rows, summarize=0)
    with pytest.raises(ValueError, match="1 vs 2"):
        tf.strings.format("{}", [rows, rows])


def test_a_ragged_value_is_put_into_a_template_in_a_function():
    words = tf.data.Dataset.from_tensor_slices(["a b", "c"]).batch(2).map(tf.strings.split)
    (found,) = words.map(lambda x: tf.strings.format("{}", x))
    assert found.numpy() == b"[['a', 'b'], ['c']]"


def test_ragged_values_of_tensorflow_1_are_strings_like_others():
    value = tf.compat.v1.ragged.constant_value([["a b", "c"], ["d"]], dtype=bytes)
    assert tf.strings.length(value).to_list() == [[3, 1], [1]]
    assert tf.strings.split(value).to_list() == [[[b"a", b"b"], [b"c"]], [[b"d"]]]
    assert tf.strings.ngrams(value, 2).to_list() == [[b"a b c"], []]
    assert tf.strings.join([value, "!"]).to_list() == [[b"a b!", b"c!"], [b"d!"]]
    assert tf.strings.reduce_join(value, axis=1).numpy().tolist() == [b"a bc", b"d"]
    assert tf.strings.format("{}", value).numpy() == b"[['a b', 'c'], ['d']]"


def test_empty_strings_at_the_front_of_joined_rows_have_no_separator():
    # TensorFlow 2.21 gives this for ragged rows and segments, but not for dense ones.
    rows = tf.ragged.constant([["", "bc"], ["", "", ""], ["a", "", "b"], []])

    def join(axis):
        return lambda x: tf.strings.reduce_join(x, axis=axis, separator="-")

    for axis, wanted in ((-1, [b"bc", b"", b"a--b", b""]), (0, [b"a", b"bc--", b"b"])):
        assert join(axis)(rows).numpy().tolist() == wanted
        (found,) = tf.data.Dataset.from_tensors(rows).map(join(axis))
        assert found.numpy().tolist() == wanted
    assert tf.strings.reduce_join([["", "bc"]], axis=-1, separator="-").numpy() == [b"-bc"]
    deep = tf.ragged.constant([[["", "x"], ["y", ""]], [], [["", ""]]])
    assert join(-1)(deep).to_list() == [[b"x", b"y-"], [], [b""]]


@pytest.mark.parametrize(
    ("texts", "ids", "wanted"),
    [
        (["", "bc", "", "d", ""], [0, 0, 0, 0, 0], [b"bc--d-", b""]),
        (["", "", "bc", "a", ""], [0, 1, 0, 1, 1], [b"bc", b"a-"]),
        ([["", "a"], ["b", ""]], [1, 1], [[b"", b""], [b"b", b"a-"]]),
        ([["", "a"], ["b", ""]], [[0, 1], [0, 1]], [b"b", b"a-"]),
    ],
)
def test_empty_strings_at_the_front_of_segments_have_no_separator(texts, ids, wanted):
    def join(texts, ids):
        return tf.strings.unsorted_segment_join(texts, ids, 2, "-")

    assert join(texts, ids).numpy().tolist() == wanted
    (found,) = tf.data.Dataset.from_tensors((texts, ids)).map(join)
    assert found.numpy().tolist() == wanted
