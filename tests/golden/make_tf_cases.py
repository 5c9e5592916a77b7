"""Make tf_cases.json: what TensorFlow gives where its own tests look.

A case is `{"function", "input", "expect"}`: the source of a function of one tensor, that of the
tensor, with `tf`, `np` and `T` (`tf.train`) known, and the value or the class of the error.
"""

import base64
import json
from pathlib import Path

import numpy as np
import tensorflow as tf

WIDE = '[["this", "is", "a"], ["please", "do"]]'
DEEP = '[[["a", "b"], ["b", "c"]], [["dd", "ee"]]]'
DEEPER = '[[[["a", "b", "c"], ["dd", "ee"]]], [[["f", "g", "h"], ["ii", "jj"]]]]'
CUT = '["#a", "b#", "#c#", "", "x"]'
CONTROLS = r'[b"\x00", b"==\x01==", b"\x7f\x1f"]'
CODES = "[72, 0x7FFFFFFF, -1, 0xD83D]"
SEQUENCE = (
    "T.SequenceExample(context=T.Features(feature={'c': T.Feature(int64_list=T.Int64List("
    "value=[7]))}), feature_lists=T.FeatureLists(feature_list={'f': T.FeatureList(feature=["
    "T.Feature(int64_list=T.Int64List(value=[1, 2]))] * 3)})).SerializeToString()"
)
SEQUENCES = (
    "lambda x: tf.io.parse_sequence_example(x, {'c': tf.io.FixedLenFeature([], tf.int64)}, "
    "{'f': tf.io.FixedLenSequenceFeature([2], tf.int64)})"
)
ONE = "[1] * 4"
PATCHES = f"x, [1, 2, 2, 1], {ONE}, {ONE}, 'VALID'"
PATCHES = f"lambda x: tf.compat.v1.image.extract_image_patches({PATCHES})"
CASES = [
    *(
        (f"lambda x: tf.strings.reduce_join(x, {axis}, {keep}, '|')", f"tf.ragged.constant({of})")
        for of, axes in (
            (WIDE, (0, 1, -1, None, [0, 1], 2, -3)),
            (DEEP, (0, 1, 2, [0, 1], [1, 2], [0, 2], [0, 1, 2])),
            (DEEPER, (-2, 1, 0, -1)),
        )
        for axis in axes
        for keep in (False, True)
    ),
    ("lambda x: tf.strings.reduce_join([['a', 'b'], ['c', 'd']], x)", "tf.constant([1])"),
    ("lambda x: tf.strings.reduce_join([['a', 'b'], ['c', 'd']], x)", "tf.constant(0)"),
    *(
        (f"lambda x: tf.compat.v1.string_split(x, {mark!r}, {skip})", f"tf.constant({CUT})")
        for mark in ("#", "# ", "")
        for skip in (False, True)
    ),
    ("lambda x: tf.compat.v1.strings.split(x, ',')", "tf.constant('1,2,3')"),
    ("lambda x: tf.compat.v1.reduce_join(x, reduction_indices=0, keep_dims=True)",
     "tf.constant(['a', 'b'])"),
    ("lambda x: tf.compat.v1.strings.length(x, 'name')", "tf.constant(['ab', ''])"),
    *(
        (f"lambda x: tf.strings.unicode_{op}, errors={errors!r}, replace_control_characters=True)",
         f"tf.constant({CONTROLS})")
        for errors in ("strict", "ignore", "replace")
        for op in ("decode(x, 'UTF-8'", "transcode(x, 'UTF-8', 'UTF-8'")
    ),
    *(
        (f"lambda x: tf.strings.unicode_encode(x, {encoding!r}, replacement_char=0xD800)",
         f"tf.constant({CODES})")
        for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE")
    ),
    ("lambda x: tf.strings.unicode_decode(x, 'UTF-8', replacement_char=0xD800)",
     r"tf.constant(b'a\xff')"),
    ("lambda x: tf.strings.unicode_decode_with_offsets(x, 'UTF-16')",
     r"tf.constant([b'\xff\xfea\x00b\x00'])"),
    ("lambda x: tf.strings.unicode_decode_with_offsets(x, 'UTF-32')",
     r"tf.constant(b'\x00\x00\xfe\xff\x00\x00\x00a')"),
    ("lambda x: tf.strings.length(x)", r"tf.constant(['é', b'\xff\xfe', 'abc'])"),
    ("lambda x: tf.strings.regex_full_match(x, ['a'])", "tf.constant('a')"),
    ("lambda x: tf.strings.split(x, [','])", "tf.constant(['a,b'])"),
    ("lambda x: tf.strings.lower(x)", "tf.constant([1])"),
    ("lambda x: tf.strings.unsorted_segment_join(x, 0, 1)", "tf.constant(['a'])"),
    *(
        ("lambda x: tf.strings.format('{}', x)", f"tf.zeros({shape}, tf.complex64)")
        for shape in ([], [1], [3], [10], [2, 2])
    ),
    (SEQUENCES, f"tf.constant({SEQUENCE})"),
    (SEQUENCES, f"tf.constant([{SEQUENCE}])"),
    ("lambda x: tf.image.resize(x, [2, 2])", "tf.ones([3, 3, 0])"),
    ("lambda x: tf.image.adjust_gamma(x, tf.constant(-1.0))", "tf.ones([3, 3])"),
    ("lambda x: tf.compat.v1.image.draw_bounding_boxes(x, [[[0.0, 0.0, 1.0, 1.0]]])",
     "tf.zeros([1, 3, 3, 1])"),
    (PATCHES, "tf.reshape(tf.range(9.0), [1, 3, 3, 1])"),
    *(
        (f"lambda x: tf.reshape(x, {shape})", "tf.zeros([2, 0, 4])")
        for shape in ("[0, -1]", "[-1, 4]", "[-1, 0, 3]", "[2, -1]", "[2.0]", "[1, 0, 0, -1]")
    ),
    *(
        (f"lambda x: tf.reverse(x, {axes})", "tf.constant([[1, 2], [3, 4]])")
        for axes in ("[0]", "[-1]", "[0, 1]", "[0, -2]", "[5]", "0", "[]")
    ),
    *(
        (f"lambda x: tf.expand_dims(x, {axis})", "tf.constant([1, 2])")
        for axis in ("[0]", "[-1]", "0.0", "[0, 1]")
    ),
    *(
        (f"lambda x: tf.concat([x, x], {axis})", "tf.constant([[1, 2]])") for axis in ("[1]", "1.0")
    ),
    *(
        (f"lambda x: tf.repeat(x, {repeats})", "tf.constant(3)")
        for repeats in ("2, axis=0", "0, axis=-1", "[2]", "3")
    ),
    *(
        (f"lambda x: tf.boolean_mask(x, {mask})", "tf.constant([[1, 2], [3, 4]])")
        for mask in (
            "[2, 0]", "[True, False], axis=1", "[True, False], axis=-1", "[[1.0, 0], [0, 1]]"
        )
    ),
    *(
        (f"lambda x: tf.one_hot(x, {arguments})", source)
        for source in ("tf.constant([0, 2])", "tf.constant([0.0])", "tf.constant([1], tf.int16)")
        for arguments in ("3", "-1", "[3]", "0")
    ),
    *(
        (f"lambda x: tf.pad(x, {paddings})", "tf.constant([1, 2])")
        for paddings in ("[1, 1]", "[[1, 1]]", "[[1.0, 1.0]]", "[[1, 1]], 'reflect'")
    ),
    *(
        (f"lambda x: tf.gather_nd({arguments})", "tf.constant([[1, 2], [3, 4]])")
        for arguments in (
            "x, [[0], [1]]", "x, 0", "x, tf.constant([[1]], tf.int16)", "x, [[1.0]]",
            "x, tf.constant([[1]], tf.uint8)", "x, [[0], [1]], batch_dims=2",
        )
    ),
    *(
        (f"lambda x: tf.roll(x, {arguments})", "tf.constant([1, 2, 3])")
        for arguments in ("1, 0", "[1], [0]", "[1], 0", "[1, 2], [0, 0]")
    ),
    *(
        (f"lambda x: tf.range({ends})", "tf.constant(3)")
        for ends in ("5, 0", "0, 5, -1", "0, 5, 0", "5, 0, -2", "1.0, 0.0")
    ),
    *(
        (f"lambda x: tf.linspace({arguments})", "tf.constant(3)")
        for arguments in ("0, 1.0, 3", "0.0, 1.0, 3, axis=2", "0.0, 1, 3")
    ),
    *(
        (f"lambda x: tf.meshgrid(x, {arguments})", "tf.constant([1, 2])")
        for arguments in ("[3, 4]", "[3.0]", "[3], indexing='zz'", "[3, 4], indexing='ij'")
    ),
    *(
        (f"lambda x: tf.math.{part}(tf.scatter_nd([[1], [1]], x, {shape}))",
         "tf.constant([1 + 2j, 3])")
        for part in ("real", "imag")
        for shape in ("[3]", "[1]")
    ),
    *(
        (f"lambda x: tf.dynamic_partition(x, {arguments})", "tf.constant([1, 2])")
        for arguments in (
            "[0, 1], 2", "[0.0, 1.0], 2", "[0, 1], 0", "tf.constant([0, 1], tf.int64), 2"
        )
    ),
    ("lambda x: tf.dynamic_partition(x, 1, 2)", "tf.constant(7)"),
    ("lambda x: tf.dynamic_stitch([[0], 1], [x, 2])", "tf.constant([1.5])"),
    ("lambda x: tf.dynamic_stitch([[0.0]], [x])", "tf.constant([1.5])"),
    *(
        (f"lambda x: tf.case([(x > 1, lambda: x * 10), (x > 0, lambda: x * 20)]{rest})",
         f"tf.constant({value})")
        for value in (0, 1, 2)
        for rest in (
            "", ", default=lambda: x", ", exclusive=True", ", default=lambda: x, exclusive=True"
        )
    ),
    *(
        (f"lambda x: tf.{op}(x)", f"tf.constant({values})")
        for op in ("sort", "argsort", "ones_like", "unique")
        for values in ("['b', 'a']", "[True, False]", "[[1], [1]]")
    ),
    *(
        (f"lambda x: x[{row}]", "tf.ragged.constant([[1, 2], [], [3]])")
        for row in ("-1", "-2", "-3", "tf.constant(-3)", "tf.constant(2)")
    ),
    *(
        (f"lambda x: x.to_tensor({arguments})", "tf.ragged.constant([[True], [False, True]])")
        for arguments in ("", "True", "shape=[None, 3]")
    ),
    *(
        (f"lambda x: x.row_lengths(axis={axis})", source)
        for source in (
            "tf.ragged.constant([[1, 2, 3], [], [4]])",
            "tf.ragged.constant([[[1, 2], []], [], [[3]]])",
            "tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1)",
        )
        for axis in (0, 1, 2, -1)
        if "[[[" in source or axis < 2
    ),
    *(
        (f"lambda x: tf.expand_dims(x, {axis})",
         "tf.ragged.constant([[3, 1], [2]], row_splits_dtype=tf.int32)")
        for axis in (0, 1)
    ),
    *(
        (f"lambda x: tf.norm(x, {order}, {axis})",
         "tf.constant([[[2.0, -1.0, 4.0], [1.0, 3.0, 0.0]]])")
        for order in ("1", "np.inf", "'nuc'", "0", "-1")
        for axis in ("None", "0", "-1", "[1, 2]", "(-1, -2)", "[-1]", "[0, 0]", "[0, 2], True")
    ),
    *(
        (f"lambda x: tf.norm(x, 2, {axis})", "tf.constant([[[2.0, 0.0], [0.0, -3.0]]])")
        for axis in ("[1, 2]", "[-1, -2], True", "0")
    ),
    ("lambda x: tf.linalg.normalize(x, 1, [0, 1])[0]", "tf.constant([[2.0, 1.0], [2.0, 3.0]])"),
    ("lambda x: tf.linalg.logdet(x)", "tf.constant([[1 + 0j, 0], [0, 1]])"),
    ("lambda x: tf.math.real(tf.linalg.eigh(x)[0])", "tf.constant([[1 + 0j, 0], [0, 2]])"),
    *(
        (f"lambda x: tf.strings.substr(x, {places})", "tf.constant(['hello', 'map'])")
        for places in (
            "0, tf.constant(1, tf.int64)", "tf.constant(1, tf.int64), 1", "0.5, 1", "0, 1.0",
            "tf.constant([0, 1]), tf.constant([1, 1], tf.int64)",
        )
    ),
    *(
        (f"lambda x: tf.io.decode_raw(x, tf.{kind}, fixed_length=8)", "tf.constant(['abcdefgh'])")
        for kind in ("uint32", "uint64", "bool", "complex64", "int64", "uint16")
    ),
    ("lambda x: tf.io.parse_example(x, {'a': 3})", "tf.constant([''])"),
    ("lambda x: tf.io.parse_example(x, {'a': tf.io.RaggedFeature(tf.int32)})", "tf.constant([''])"),
]  # fmt: skip


def shown(value):
    if isinstance(value, tf.RaggedTensor):
        splits = [item.numpy().tolist() for item in value.nested_row_splits]
        return {"ragged": {"values": shown(value.flat_values), "row_splits": splits}}
    if isinstance(value, tf.SparseTensor):
        return {
            "sparse": [shown(part) for part in (value.indices, value.values, value.dense_shape)]
        }
    if isinstance(value, dict):
        return {"dict": {key: shown(item) for key, item in value.items()}}
    if isinstance(value, tuple | list):
        return {"tuple": [shown(item) for item in value]}
    array = np.asarray(value)
    flat = array.reshape(-1).tolist()
    if array.dtype == object or isinstance(array[()], bytes):
        flat = [base64.b64encode(item).decode() for item in flat]
    return {"dtype": value.dtype.name, "shape": list(array.shape), "data": flat}


def outcome(function, value):
    names = {"tf": tf, "np": np, "T": tf.train}
    try:
        return shown(eval(function, names)(eval(value, names)))
    except Exception as error:
        return {"error": type(error).__name__}


made = [{"function": f, "input": x, "expect": outcome(f, x)} for f, x in CASES]
Path(__file__).with_name("tf_cases.json").write_text(json.dumps(made, indent=0) + "\n")
