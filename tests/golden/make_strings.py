r"""Make strings.json: what tf.strings gives at the edges that strings_raw_csv.json does not hold.

A case is `{"op", "args", "kwargs", "expect"}` in the forms that README.md tells of; ragged values
have a list of row splits, one for each ragged axis.
"""

import base64
import itertools
import json
import math
from pathlib import Path

import numpy as np
import tensorflow as tf

CASES = []


def shown(value):
    if isinstance(value, tf.RaggedTensor):
        splits = [item.numpy().tolist() for item in value.nested_row_splits]
        return {"ragged": {"values": shown(value.flat_values), "row_splits": splits}}
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        flat = [
            base64.b64encode(item if isinstance(item, bytes) else item.encode()).decode()
            for item in array.reshape(-1).tolist()
        ]
        return {"dtype": "bytes", "shape": list(array.shape), "data": flat}
    name = array.dtype.name
    flat = array.reshape(-1)
    if name in ("bfloat16", "float16"):
        flat = flat.astype(np.float32)
    return {"dtype": name, "shape": list(array.shape), "data": [number(x) for x in flat.tolist()]}


def number(item):
    if isinstance(item, complex):
        return [number(item.real), number(item.imag)]
    if isinstance(item, float) and not math.isfinite(item):
        return "NaN" if math.isnan(item) else "Infinity" if item > 0 else "-Infinity"
    return item


def text(error):
    found = str(getattr(error, "message", error))
    found = found.split(" [Op:")[0]
    return found.split("}} ", 1)[1] if found.startswith("{{") else found


def case(op, *args, **kwargs):
    function = getattr(tf.strings, op)
    given = [list(arg) if isinstance(arg, tuple) else arg for arg in args]
    if op == "format":  # an array would be as many inputs as it has rows
        inputs = given[1]
        given = [
            given[0],
            [tf.constant(x) for x in inputs] if isinstance(inputs, list) else tf.constant(inputs),
        ]
    try:
        expect = shown(function(*given, **kwargs))
    except UnicodeDecodeError:
        expect = {"error": {"class": "UnicodeDecodeError", "message": ""}}
    except Exception as error:  # whatever it raises is the answer
        expect = {"error": {"class": type(error).__name__, "message": text(error)}}
    named = {k: v.name if isinstance(v, tf.DType) else v for k, v in kwargs.items()}
    shown_args = [[shown(x) for x in arg] if isinstance(arg, tuple) else shown(arg) for arg in args]
    CASES.append({"op": op, "args": shown_args, "kwargs": named, "expect": expect})


def texts(*items):
    made = np.empty(len(items), object)
    made[:] = [item if isinstance(item, bytes) else item.encode() for item in items]
    return made


NUMBERS = r"""
0|1|-1|+1|+-1|--1|1.5|-1.5|.5|5.|.|-.5|-|+||1e3|1E3|1e+3|1e-3|1e|1e+|e3|1e400|-1e400|1e-400|1e39|inf
-inf|+inf|INF|Inf|infinity|Infinity|INFINITY|infinit|nan|NaN|NAN|-nan|+nan|nan(1)|0x10|0X1F|-0x1|0x
0x1p3|0x1.8|0b1|1_000|1,000|12345678901234567890|0.1|3.4028235e38|3.4028236e38|1e-45|1e-46|16777217
2147483647|2147483648|-2147483648|-2147483649|9223372036854775807|9223372036854775808
-9223372036854775808|-9223372036854775809|4294967295|4294967296|18446744073709551615
18446744073709551616|00012|-0|1 2|1f|1d|1.5f|0.30000000000000004|123456789012345678901234567890
1234567890123456789012345678901|12345678901234567890123456789012
0.1000000000000000055511151231257827|0.0000000000000000000000000000000000001|١|1.0.0|1..0|infx|nanx
2.2250738585072014e-308|4.9e-324|1.7976931348623159e308|1e5000|1e99999999999
""".replace("\n", "|").split("|")
for kind in (tf.float32, tf.float64, tf.int32, tf.int64, tf.uint32, tf.uint64):
    for item in NUMBERS[1:-1]:
        case("to_number", texts(item), out_type=kind)
    for item in (b" 1", b"1 ", b"\t1\n", b" ", b"1\0", b"\0", b"\v1\f", b"\xa01", b"\xff"):
        case("to_number", texts(item), out_type=kind)
case("to_number", texts("1"), out_type=tf.int8)
case("to_number", texts("1"), out_type=tf.string)

FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 123456.789, 1e-7, 1e20, 9.5, 0.5, 2.5, 1e100, math.inf,
          -math.inf, math.nan, 99999.95, 999999.5, 1234567.0, 1e-5, 1e-4]  # fmt: skip
OPTIONS = [
    {}, {"precision": 0}, {"precision": 3}, {"precision": 20}, {"scientific": True},
    {"shortest": True}, {"shortest": True, "precision": 0}, {"shortest": True, "precision": 3},
    {"shortest": True, "precision": 12}, {"scientific": True, "precision": 0},
    {"scientific": True, "precision": 12}, {"width": 12}, {"width": 12, "fill": "0"},
    {"width": 12, "fill": "-"}, {"width": 12, "fill": "+"}, {"width": 12, "fill": " "},
    {"fill": "0"}, {"fill": "+"}, {"fill": " "}, {"fill": "-"}, {"width": 3, "precision": 1},
    {"fill": "#"}, {"fill": "x"}, {"fill": "ab"}, {"width": 0}, {"width": 5, "fill": "#"},
    {"scientific": True, "shortest": True}, {"width": 20, "fill": "0", "shortest": True},
    {"precision": 2, "width": 9, "fill": "0", "scientific": True},
]  # fmt: skip
for options in OPTIONS:
    case("as_string", np.array(FLOATS), **options)
    with np.errstate(over="ignore"):
        case("as_string", np.array(FLOATS, np.float32), **options)
    case("as_string", np.array([1 + 2j, -0.5 - 1.25j, complex(math.inf, 0)]), **options)
    case("as_string", np.array([0, 1, -1, 127, -128], np.int8), **options)
    case("as_string", np.array([0, 2**63 - 1, -(2**63)], np.int64), **options)
    case("as_string", np.array([0, 2**64 - 1], np.uint64), **options)
    case("as_string", np.array([True, False]), **options)
    case("as_string", texts("a", "é", ""), **options)
case("as_string", np.array([0.1, 65504, 1.5], np.float16))
case("as_string", np.array([0.1, 65504, 1.5], np.float16), shortest=True)
case("as_string", tf.constant([0.1, 3.5], tf.bfloat16).numpy())
case("as_string", np.array([1, 2], np.uint16), width=4)
case("as_string", np.zeros([0], np.float32))
case("as_string", np.array(1.5, np.float32))

SOME = texts("", "abc", "a,b,,c", " a  b ", "héllo", "日本語😀", b"\xff\xfea", ",a,", "\t\n")
for sep, most in itertools.product([None, "", ",", "b,", "é", "aa"], [-1, 0, 1, 2]):
    case("split", SOME, sep=sep, maxsplit=most)
case("split", np.array(b"a b c", object))
case("split", np.array(b"", object))
case("split", np.array(b"", object), sep=",")
case("split", texts(), sep=",")
case("split", texts("a b", "c", "d e f", "").reshape(2, 2))
case("split", np.zeros([2, 0], object))
case("split", texts("a b", "c").reshape(1, 2, 1))
case("split", texts("aXbXc"), sep="X", maxsplit=-2)
case("bytes_split", SOME)
case("bytes_split", np.array("hé".encode(), object))
case("bytes_split", texts("ab", "c", "", "d").reshape(2, 2))

for unit, pos, size in itertools.product(
    ["BYTE", "UTF8_CHAR"], [0, 1, -1, 3, -3, 5, -5, 100, -100], [0, 1, 2, 100, -1]
):
    case("substr", texts("héllo"), pos, size, unit=unit)
case("substr", texts("日本語😀"), 1, 2, unit="UTF8_CHAR")
case("substr", texts(b"a\xffb\xf0\x9f\x98\x80"), 1, 2, unit="UTF8_CHAR")
case("substr", texts("abcdef", "ghijkl"), np.array([1, 2], np.int64), np.array([2, 3], np.int64))
case("substr", texts("abc", "def").reshape(2, 1), np.array([0, 1], np.int32), 2)
case("substr", np.array(b"abcdef", object), np.array([0, 1, 2], np.int32), 1)
case("substr", texts("abc", "def"), np.array([0, 1, 2], np.int32), np.array([1, 1, 1], np.int32))
case("substr", texts(), 0, 1)
case("substr", texts(""), 0, 1)
case("substr", texts(""), 1, 1)
for unit in ("BYTE", "UTF8_CHAR"):
    case("length", SOME, unit=unit)
case("length", SOME, unit="CHAR")

for encoding in ("", "utf-8", "utf8", "UTF-8"):
    case("lower", texts("ABC", "ÉCOLE", "ΣΑΣ", "İ", b"A\xffB", "ǅ", "ß"), encoding=encoding)
    case("upper", texts("abc", "école", "straße", "ŉ", "ﬁ", b"a\xffb", "ǆ", "ί"), encoding=encoding)
case("strip", texts(" a ", "\v\fa\r\n", "\0a\0", "\u00a0a", "\u2003b", "", "  ", "\x1ca"))

PATTERNS = [
    "a", "", "a*", "a|b", "(a)(b)?", "^a", "a$", "^", "$", ".", "..", r"\d+", r"\w+", r"\s", r"\S+",
    r"\W", r"\D", r"\bb", r"\Bb", r"[^a]", r"[a-c]+", r"[[:digit:]]", r"[[:^digit:]]+", r"[\d,]+",
    r"[\w]+", r"[^\W]+", r"\pL+", r"\p{Greek}", r"\p{^Greek}", r"\PL", r"(?i)ABC", r"(?s).",
    r"(?m)^b",
    r"(?P<name>b+)", r"(?<name>b+)", r"a{2}", r"a{,2}", r"a{2,}", r"a{1,2}?", r"a+?", r"a**",
    r"a+*",
    r"\Qa.b\E", r"\C", r"\x61", r"\x{e9}", r"\141", r"\1", r"(a)\1", r"(?=a)", r"(?<!a)b", r"[a",
    r"(a",
    r"a)", r"*", r"\y", r"a{1001}", r"[b-a]", r"\A.", r".\z", r".\Z", r"[[a]", r"[a&&b]", r"[a--b]",
    r"[]a]", r"[^]a]", r"\<a", r"a\.b", r"\-", r"\_", r"(?x)a b", r"(?U)a+", r"é", r"[é]", r"(?i)É",
    r"[^x]", r"a{", r"}", r"a{2", r"(|a)+", r"\pN", r"\p{Foo}", r"\v", r"\h", r"[\v]", r"\e", r"x*",
    r"(?:a|b)+", r"[a-]", r"[-a]", r"[a\]]", r"\/", r"#", r" ", r"~", r"[~~]", r"(?-s).", r"\n",
    r"[.]",
    r"(?i)[k]", r"\pZ", r"[[:word:]]+", r"[[:foo:]]", r"\u0061", r"(a+|b+)*c",
]  # fmt: skip
SUBJECTS = texts("", "a", "b", "abc", "aab ab", "a.b", "ab\nb", "é", "Éa", "日本", b"a\xffb",
                 "12,3",
                 "αβ", "a{2", "a{,2}", "[a&b]", "\v \x1b", "k\u212a", "aaa", "x-y_z")  # fmt: skip
for pattern in PATTERNS:
    case("regex_full_match", SUBJECTS, pattern)
    case("regex_replace", SUBJECTS, pattern, "<\\0>")
    case("regex_replace", SUBJECTS, pattern, "-", replace_global=False)
for rewrite in (r"\1", r"\2\1", r"\\", "\\", r"\a", r"$1", r"\10", r"\3", "é", "${1}", r"[\0]"):
    for everywhere in (True, False):
        case("regex_replace", SUBJECTS, "(a)(b)?", rewrite, replace_global=everywhere)
case("regex_full_match", texts("abc", "b").reshape(2, 1), "[a-c]+")

BAD = {
    "UTF-8": [b"", b"a", "é日😀".encode(), b"\xff", b"a\xe2\x82", b"\xc0\x80", b"\xed\xa0\x80",
              b"\xf4\x90\x80\x80", b"\x80\x80", b"a\xf0\x9f\x98b", b"\x00\x01\x7f\x9f\n",
              b"\xef\xbb\xbfa", b"\xef\xbf\xbf", b"\xef\xbf\xbd", "\u0085\u009f".encode(),
              b"\xe2\x28\xa1", b"\xf8\x88\x80\x80\x80", b"\xe2\x82\xe2\x82\xac"],
    "UTF-16-BE": [b"", b"\0a", b"\x20\xac", b"\xd8\x01\xdc\x37", b"\xd8\x01", b"\xdc\x37\0a",
                  b"\xd8\x01\0a", b"\0a\0", b"\xfe\xff\0a", b"\xd8\x01\xd8\x01\xdc\x37", b"a",
                  b"\xdc\x37\xd8\x01", b"\0\x01"],
    "UTF-16-LE": [b"a\0", b"\xff\xfea\0", b"\x01\xd8\x37\xdc", b"\x01\xd8", b"a"],
    "UTF-16": [b"\0a", b"\xfe\xff\0a", b"\xff\xfea\0", b"", b"\xff"],
    "UTF-32-BE": [b"\0\0\0a", b"\0\x01\x04\x37", b"\0\x11\0\0", b"\0\0\xd8\0", b"\0\0\0", b"",
                  b"\0\0\0a\0", b"\0\0\xfe\xff\0\0\0a", b"\xff\xff\xff\xff\0\0\0a"],
    "UTF-32-LE": [b"a\0\0\0", b"\xff\xfe\0\0a\0\0\0"],
    "UTF-32": [b"\0\0\0a", b"\0\0\xfe\xff\0\0\0a", b"\xff\xfe\0\0a\0\0\0"],
    "US-ASCII": [b"abc", b"\x0e\x0f", b"a\x80b\xff", b""],
    "ISO-8859-1": [b"abc", b"\xe9\x80\xff"],
    "latin1": [b"\xe9"], "ascii": [b"a\xe9"], "utf8": [b"\xc3\xa9"], "utf_8": [b"\xc3\xa9"],
    "windows-1252": [b"\x80\xe9"], "shift_jis": [b"\x5c\x5c", b"\x8f\x70", b"\x83\x4f", b"\x83"],
    "gb18030": [b"\xca\xf5"], "big5": [b"\xb3\x4e"], "euc-kr": [b"\xc7\xd1\xb9\xce"],
    "euc-jp": [b"\xb5\xbb"], "koi8-r": [b"\xc1"], "invalid": [b"a"], "": [b"a"],
}  # fmt: skip
for encoding, strings in BAD.items():
    for item in strings:
        one = texts(item)
        case("unicode_decode", one, encoding)
        case("unicode_decode", one, encoding, errors="ignore")
        case("unicode_decode", one, encoding, errors="strict")
        case("unicode_decode", one, encoding, replacement_char=63)
        case("unicode_decode", one, encoding, replace_control_characters=True)
        case("unicode_split", one, encoding)
        case("unicode_transcode", one, encoding, "UTF-8", replace_control_characters=True)
        for target in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
            case("unicode_transcode", one, encoding, target)
        case("unicode_transcode", one, encoding, "UTF-8", errors="ignore")
        case("unicode_transcode", one, encoding, "UTF-8", errors="strict")
case("unicode_decode", texts("aé", "", "b").reshape(3, 1), "UTF-8")
case("unicode_decode", np.array("aé".encode(), object), "UTF-8")
case("unicode_decode", texts("a"), "UTF-8", errors="other")
case("unicode_decode", texts("a"), "UTF-8", replacement_char=0x110000)
case("unicode_transcode", texts("a"), "UTF-8", "UTF-8", errors="other")
case("unicode_transcode", texts("a"), "UTF-8", "UTF-16-LE")
case("unicode_split", texts("aé", b"\xffb"), "UTF-8", errors="ignore")
case("unicode_split", texts("aé", b"\xffb"), "UTF-8", replacement_char=63)

CODES = np.array([97, 233, 0x20AC, 0x1F600, 0xD800, 0xDFFF, 0x110000, -1, 0, 0xFFFE, 0xFFFF,
    0x10FFFF,
                  0xFDD0], np.int32)  # fmt: skip
for target in ("UTF-8", "UTF-16-BE", "UTF-32-BE", "UTF-16-LE", "latin1"):
    case("unicode_encode", CODES[:4], target)
    for code in CODES:
        for errors in ("replace", "ignore", "strict"):
            case("unicode_encode", np.array([97, code], np.int32), target, errors=errors)
case("unicode_encode", CODES[:4].reshape(2, 2), "UTF-8")
case("unicode_encode", np.zeros([2, 0], np.int32), "UTF-8")
case("unicode_encode", CODES[:4], "UTF-8", errors="other")
case("unicode_encode", CODES[4:6], "UTF-8", replacement_char=63)

LINE = texts("a", "b", "c", "d")
NGRAMS = [
    {"ngram_width": 1}, {"ngram_width": 2}, {"ngram_width": 5}, {"ngram_width": [1, 2]},
    {"ngram_width": [2, 1]}, {"ngram_width": 2, "separator": "|"},
    {"ngram_width": 2, "pad_values": "P"}, {"ngram_width": 3, "pad_values": ["L", "R"]},
    {"ngram_width": 3, "pad_values": "P", "padding_width": 1},
    {"ngram_width": 3, "pad_values": "P", "padding_width": 5},
    {"ngram_width": 5, "preserve_short_sequences": True},
    {"ngram_width": [5, 6], "preserve_short_sequences": True},
    {"ngram_width": [3, 5], "preserve_short_sequences": True},
    {"ngram_width": 9, "pad_values": "P", "padding_width": 1, "preserve_short_sequences": True},
    {"ngram_width": 0}, {"ngram_width": -1}, {"ngram_width": []},
    {"ngram_width": 2, "pad_values": "P", "padding_width": 0}, {"ngram_width": 2,
    "padding_width": 1},
]  # fmt: skip
for options in NGRAMS:
    named = dict(options)
    if isinstance(named.get("pad_values"), list):
        named["pad_values"] = tuple(named["pad_values"])
    case("ngrams", LINE, **named)
    case("ngrams", LINE.reshape(2, 2), **named)
    case("ngrams", texts(), **named)

case("join", (texts("a", "b"), texts("c", "d")))
case("join", (texts("a", "b"), np.array(b"x", object)), separator="--")
case("join", (texts("a", "b"), texts("c", "d", "e")))
case("join", (texts("a", "b").reshape(2, 1), texts("c", "d")))
case("join", (texts("a"),), separator=",")
case("join", ())
SQUARE = texts("a", "b", "c", "d", "e", "f").reshape(2, 3)
for axis, keep, mark in itertools.product(
    [None, 0, 1, -1, -2, [0, 1], [1, 0], [], 2, [0, 0]], [False, True], ["", "-"]
):
    case("reduce_join", SQUARE, axis=axis, keepdims=keep, separator=mark)
case("reduce_join", np.array(b"a", object))
case("reduce_join", np.zeros([0, 2], object), axis=0)
case("reduce_join", np.zeros([2, 0], object), axis=1)
case("reduce_join", texts("a", "b", "c", "d", "e", "f", "g", "h").reshape(2, 2, 2), axis=[2, 0])
for ids, count in (
    ([0, 1, 0, 2, 1, 0], 3), ([0, 1, 0, 2, 1, 0], 5), ([0, 1, 0, 2, 1, 0], 2), ([0, -1, 0, 2, 1,
    0], 3),
    ([0, 1, 0], 2), ([0] * 6, 1), ([0] * 6, 0),
):  # fmt: skip
    case("unsorted_segment_join", SQUARE.reshape(-1), np.array(ids), count, separator=":")
case("unsorted_segment_join", SQUARE, np.array([1, 0]), 2)
case("unsorted_segment_join", SQUARE, np.array([[0, 1, 0], [2, 1, 0]]), 3, separator=":")
case("unsorted_segment_join", texts(), np.zeros([0], np.int32), 2)

for value in (
    np.arange(10), np.arange(6), np.array(3.34, np.float32), np.array([0, 0.1, 1e-7, 1e20],
    np.float32),
    np.array([0.1, 1 / 3, 1e-7, 1e20, 123456789.0]), np.arange(100).reshape(10, 10), np.array(True),
    np.array([True, False]), texts("a", 'q"uo\\te\n', b"\xff"), np.array(b"a", object), np.array(7),
    np.arange(64).reshape(4, 4, 4), np.zeros([0], np.int32), np.zeros([2, 0], np.int32),
    np.array([1.5, 2.0], np.float16), np.array([1, 2], np.uint8), np.array([1, -2], np.int8),
    np.array([1 + 2j]), np.array([math.inf, -math.inf, math.nan], np.float32),
    np.arange(1000).reshape(10, 10, 10), np.zeros([0, 3], np.float32), np.array([1e6, 1e5,
    123456.7, 1e15, 1e16, 1e17]),
):  # fmt: skip
    for summarize in (3, 1, 2, -1, 10):
        case("format", "x {} y", value, summarize=summarize)
case("format", "{} and {}", (np.array(1), np.array(2.5, np.float32)))
case("format", "%t%", np.array(1), placeholder="%t%")
case("format", "none", ())
case("format", "{}", (np.array(1), np.array(2)))
case("format", "{} {}", (np.array(1),))
case("format", "{}", np.array(1), summarize=-2)
case("format", "{}", np.array(1), summarize=0)
case("format", "{}", np.arange(3), summarize=0)

for buckets in (1, 10, 2**40):
    case("to_hash_bucket_fast", SOME, num_buckets=buckets)
    case("to_hash_bucket", SOME, num_buckets=buckets)
    case("to_hash_bucket_strong", SOME, num_buckets=buckets, key=[123, 456])
    case("to_hash_bucket_strong", SOME, num_buckets=buckets, key=[-1, 2**62])
for buckets in (0, -1):
    case("to_hash_bucket_fast", SOME, num_buckets=buckets)
case("to_hash_bucket_strong", SOME, num_buckets=3, key=[1])
case("to_hash_bucket_strong", SOME, num_buckets=3, key=[1, 2, 3])

POINTS = [*range(0, 0x3000, 37), *range(0x3000, 0x11000, 411), *range(0x11000, 0x20000, 977),
          0x20000, 0x2FFFF, 0xE0100, 0x10FFFF, 0x41, 0x3B1, 0x410, 0x5D0, 0x627, 0x915, 0xE01,
          0x3042,
          0x30A2, 0xAC00, 0x4E00, 0x1F600, 0xD800, -1, 0x110000]  # fmt: skip
case("unicode_script", np.array(POINTS, np.int32))

out = {"tf": tf.__version__, "cases": CASES}
Path(__file__).with_name("strings.json").write_text(json.dumps(out, separators=(",", ":")) + "\n")
