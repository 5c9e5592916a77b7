"""`headrace.strings`: plainly, in traced functions at every chunk size, on text of all kinds.

What TensorFlow gives is in test_strings_golden.py.
"""

import numpy as np
import pytest
from conftest import assert_same_elements
from hypothesis import given
from hypothesis import strategies as st
from laws import check_chunk_sizes

import headrace as hr

S = hr.strings
TEXTS = ["", "abc", "a,b,,c", " a  b ", "héllo", "日本語😀", "12", "-1.5e3", "ABC Ünï", "x" * 40]


def objects(items):
    made = np.empty(len(items), object)
    made[:] = items
    return made


# Each takes any text and makes no difference between bytes and str.
ON_ANY = {
    "length": lambda x: S.length(x, unit="UTF8_CHAR"),
    "lower": lambda x: S.lower(x, "utf-8"),
    "upper": S.upper,
    "strip": S.strip,
    "substr": lambda x: S.substr(x, 0, 2, unit="UTF8_CHAR"),
    "split": S.split,
    "split at": lambda x: S.split(x, ",", 1),
    "bytes_split": S.bytes_split,
    "join": lambda x: S.join([x, x], "-"),
    "regex_replace": lambda x: S.regex_replace(x, r"(\w)", r"<\1>"),
    "regex_full_match": lambda x: S.regex_full_match(x, "[a-c,]*"),
    "as_string": lambda x: S.as_string(x, width=6),
    "fast": lambda x: S.to_hash_bucket_fast(x, 1000),
    "murmur": lambda x: S.to_hash_bucket(x, 1000),
    "strong": lambda x: S.to_hash_bucket_strong(x, 1000, [1, 2**64 - 1]),
    "unicode_decode": lambda x: S.unicode_decode(x, "UTF-8"),
    "offsets": lambda x: S.unicode_decode_with_offsets(x, "UTF-8"),
    "unicode_split": lambda x: S.unicode_split(x, "UTF-8"),
    "split offsets": lambda x: S.unicode_split_with_offsets(x, "UTF-8"),
    "transcode": lambda x: S.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
    "encode": lambda x: S.unicode_encode(S.unicode_decode(x, "UTF-8"), "UTF-8"),
    "script": lambda x: S.unicode_script(S.unicode_decode(x, "UTF-8")),
    "ngrams": lambda x: S.ngrams(S.unicode_split(x, "UTF-8"), [1, 2], "|"),
    "reduce_join": lambda x: S.reduce_join(S.split(x), axis=-1, separator="+"),
    "format": lambda x: S.format("<{}>", x),
}


@pytest.mark.parametrize("kind", [bytes, str])
@pytest.mark.parametrize("name", ON_ANY)
def test_a_traced_function_gives_what_a_call_gives(name, kind):
    # An object array without strings is taken for bytes.
    given = TEXTS[1:] if (name, kind) == ("reduce_join", str) else TEXTS
    texts = objects([text if kind is str else text.encode() for text in given])
    function = ON_ANY[name]

    def build():
        return hr.Dataset.from_tensor_slices(texts).map(function, executor="native")

    check_chunk_sizes(build, [function(text) for text in texts])


@pytest.mark.parametrize("name", [name for name in ON_ANY if name not in ("encode", "script")])
def test_arrays_of_differing_shapes_go_through(name):
    """Vectors of several lengths, which `split` makes, and nested ragged rows."""
    function = ON_ANY[name]
    texts = objects([b"a b", b"", b"abc d ef", b"x"])

    def split(text):
        return function(S.split(text))

    def build():
        return hr.Dataset.from_tensor_slices(texts).map(split, executor="native")

    check_chunk_sizes(build, [split(text) for text in texts])


@pytest.mark.parametrize("name", ["length", "lower", "strip", "split", "transcode", "fast"])
def test_ragged_in_is_ragged_out(name):
    function = ON_ANY[name]
    texts = objects([b"a b", b"", b"A  b c", b"d"]).reshape(2, 2)

    def split(rows):
        return function(S.split(rows))

    def build():
        return hr.Dataset.from_tensor_slices(texts).map(split, executor="native")

    expected = [split(row) for row in texts]
    assert isinstance(expected[0], hr.RaggedTensor)
    check_chunk_sizes(build, expected)


def test_what_comes_in_comes_out():
    for value, kind in ((b"A,b", bytes), ("A,b", str)):
        assert type(S.lower(value)) is kind
        assert all(type(part) is kind for part in S.split(value, ","))
        assert type(S.regex_replace(value, ",", "-")) is kind
        assert type(S.join([value, value])) is kind
    assert S.as_string(1) == b"1"
    assert S.as_string(1, dtype=str) == "1"
    assert S.format("{}", [1]) == "1"
    assert S.format(b"{}", [1]) == b"1"
    assert type(S.bytes_split("é")[0]) is bytes


def test_empty_arrays_stay_empty():
    empty = np.array([], object)
    assert S.lower(empty).shape == (0,)
    assert S.split(empty).to_list() == []
    assert S.to_number(empty).shape == (0,)
    assert S.length(np.zeros((2, 0), object)).shape == (2, 0)
    assert S.reduce_join(np.zeros((2, 0), object), axis=1).tolist() == [b"", b""]


def test_an_empty_row_among_others_gives_ngrams_of_padding():
    # TensorFlow's answers
    rows = S.split(objects([b"", b"a", b"b c"]))
    assert S.ngrams(rows, [2, 3], pad_values=(b"<", b">")).to_list() == [
        [b"< >", b"< < >", b"< > >"],
        [b"< a", b"a >", b"< < a", b"< a >", b"a > >"],
        [b"< b", b"b c", b"c >", b"< < b", b"< b c", b"b c >", b"c > >"],
    ]
    empty = S.split(objects([b"", b""]))
    assert S.ngrams(empty, 2, pad_values=(b"<", b">")).to_list() == [[], []]


def test_shapes_of_results_are_known_before_a_run():
    dataset = hr.Dataset.from_tensor_slices(objects([b"a", b"b"])).batch(2, drop_remainder=True)
    assert dataset.map(S.length).element_spec == hr.TensorSpec((2,), np.int64)
    assert dataset.map(S.split).element_spec == hr.RaggedTensorSpec((2, None), bytes, 1, np.int64)
    ngrams = dataset.map(lambda x: S.ngrams(x, 2))
    assert ngrams.element_spec == hr.TensorSpec((1,), bytes)


@pytest.mark.parametrize("words", [["a", "é", ""], [b"a", b"\xff", b""]])
def test_text_is_joined_by_plus(words):
    whole, empty = objects(words), words[2]
    for join in (
        lambda x: x + x,
        lambda x: words[0] + x,
        lambda x: x + whole,
        lambda x: np.add(x, words[1]) + (x + words[0]),
        lambda x: np.concatenate([whole, whole]) + x,
    ):
        expected = [join(word) for word in words]

        def build(join=join):
            return hr.Dataset.from_tensor_slices(whole).map(join, executor="native")

        check_chunk_sizes(build, expected)
    matrix = hr.Dataset.from_tensors(objects(words)).map(lambda x: x[:, None] + x)
    assert "runs as a graph" in matrix.explain()
    assert next(iter(matrix)).tolist() == [[a + b for b in words] for a in words]
    other = b"b" if isinstance(empty, str) else "b"
    for wrong in (other, 3):
        with pytest.raises(hr.errors.InvalidArgumentError, match="uses add of text"):
            hr.trace(lambda x, wrong=wrong: x + wrong, hr.TensorSpec((), type(empty)))


def test_comparisons_and_where_take_text():
    texts = objects(["b", "a", "é", "c"])
    dataset = hr.Dataset.from_tensor_slices(texts)
    for compare in (
        lambda x: x < "b",
        lambda x: x <= "b",
        lambda x: x > "b",
        lambda x: x >= "b",
        lambda x: x == "b",
        lambda x: x != "b",
    ):
        seen = list(dataset.map(compare, executor="native"))
        assert_same_elements(seen, [np.bool_(compare(text)) for text in texts])
    chosen = dataset.batch(4).map(lambda x: np.where(x < "b", x, "z"), executor="native")
    assert next(iter(chosen)).tolist() == ["z", "a", "z", "z"]


def test_a_filter_by_a_pattern_runs_in_the_engine():
    dataset = hr.Dataset.from_tensor_slices(objects([b"a1", b"b", b"c2"]))
    kept = dataset.filter(lambda x: S.regex_full_match(x, r"\w\d"), executor="native")
    assert list(kept) == [b"a1", b"c2"]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: S.substr(b"ab", 3, 1), "pos 3"),
        (lambda: S.substr("é", 1, 1), "UTF8_CHAR"),
        (lambda: S.substr(b"ab", 0.5, 1), "integers"),
        (lambda: S.length(3), "int64"),
        (lambda: S.lower(b"a", "latin1"), "encoding"),
        (lambda: S.to_number(b"1x", np.int32), "1x"),
        (lambda: S.to_number(b"1", np.int8), "out_type"),
        (lambda: S.regex_replace(b"a", "(", ""), "Invalid pattern"),
        (lambda: S.regex_replace(b"a", "a", "\\x"), "Invalid rewrite"),
        (lambda: S.regex_replace("é", r"\C", "-", False), "bytes"),
        (lambda: S.join([b"a", "b"]), "one type"),
        (lambda: S.join([[b"a", b"b"], [b"a", b"b", b"c"]]), "broadcast"),
        (lambda: S.as_string(1, precision=2), "precision"),
        (lambda: S.as_string(1.0, precision=10**6), "65534"),
        (lambda: S.as_string(1.0, width=10**12), "65534"),
        (lambda: S.as_string(1.0, fill="ab"), "one or fewer"),
        (lambda: S.format("{} {}", [1]), "2 tensors"),
        (lambda: S.ngrams([b"a"], 0), "greater than 0"),
        (lambda: S.ngrams([b"a"], 2, padding_width=1), "pad_values"),
        (lambda: S.to_hash_bucket_fast(b"a", 0), "num_buckets"),
        (lambda: S.to_hash_bucket_strong(b"a", 2, [1]), "2 elements"),
        (lambda: S.unicode_decode(b"a", "no such"), "converter"),
        (lambda: S.unicode_decode(b"\xff", "UTF-8", "strict"), "Invalid formatting"),
        (lambda: S.unicode_encode(np.array([-1]), "UTF-8", "strict"), "out of range"),
        (lambda: S.unicode_encode(np.array([1]), "latin1"), "output_encoding"),
        (lambda: S.unsorted_segment_join([b"a"], [1], 1), "num_segments"),
        (lambda: S.unsorted_segment_join([b"a", b"b"], [0], 1), "Segment dimension"),
        (lambda: S.reduce_join([b"a"], axis=1), "dimension 1"),
    ],
)
def test_what_is_wrong_is_told(call, text):
    with pytest.raises(hr.errors.HeadraceError, match=text):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: S.regex_full_match(b"a", "((a{1,1000}){1,1000}){1,1000}"),
        lambda: S.regex_replace(b"a" * 100_000, "a", "b" * 100_000),
        lambda: S.unsorted_segment_join([b"a"], [0], 2**62),
        lambda: S.ngrams(objects([b"x"] * 100_000), 50_000),
        lambda: S.join([b"a"] * 40, b"x" * (100 << 20)),
    ],
)
def test_what_would_grow_without_bounds_is_refused_at_once(call):
    with pytest.raises(hr.errors.HeadraceError):
        call()


def test_patterns_take_time_linear_in_the_text():
    # Otherwise it would not end.
    assert not S.regex_full_match(b"a" * 100_000, "(a+)+b")


@given(st.lists(st.text(), max_size=4))
def test_str_and_bytes_agree_on_any_text(texts):
    encoded = objects([text.encode() for text in texts])
    plain = objects(texts)
    for name in ("lower", "strip", "substr", "regex_replace", "transcode", "join"):
        function = ON_ANY[name]
        for one, other in zip(function(plain), function(encoded), strict=True):
            assert (one.encode() if isinstance(one, str) else one) == other


@given(st.lists(st.binary(), min_size=1, max_size=4))
def test_bytes_of_any_kind_are_as_python_has_them(texts):
    array = objects(texts)
    assert S.length(array).tolist() == [len(text) for text in texts]
    assert S.lower(array).tolist() == [text.lower() for text in texts]
    assert S.strip(array).tolist() == [text.strip() for text in texts]
    assert S.split(array).to_list() == [text.split() for text in texts]
    assert S.split(array, b"a").to_list() == [text.split(b"a") for text in texts]
    decoded = S.unicode_transcode(array, "UTF-8", "UTF-8")
    assert [text.decode() for text in decoded] == [text.decode(errors="replace") for text in texts]
    for name in ON_ANY:
        if name != "join":
            ON_ANY[name](array)


@given(st.floats(width=32))
def test_numbers_survive_as_text(number):
    text = S.as_string(np.float64(number), precision=17, scientific=True)
    read = S.to_number(text, np.float64)
    assert read == number or (np.isnan(read) and np.isnan(number))


def test_other_encodings_run_as_python():
    assert S.unicode_decode(b"\x8f\x70", "shift_jis").tolist() == [ord("術")]
    dataset = hr.Dataset.from_tensor_slices(objects([b"\xb3\x4e"]))
    decoded = dataset.map(lambda x: S.unicode_transcode(x, "big5", "UTF-8"))
    assert list(decoded) == ["術".encode()]
    assert "big5" in decoded.explain()
