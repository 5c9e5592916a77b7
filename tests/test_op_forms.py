"""Every function of elements, in each of its forms: one answer.

A case is a function and elements. It is called on arrays; recorded in a map, in chunks of any size,
with elements of one shape and of many; and, if TensorFlow has it, called by its name there, on
tensors and in a map. All of them give the same.
"""

import base64
import inspect
import zlib

import numpy as np
import pytest
from conftest import GOLDEN, golden

import headrace as hr
import headrace.tf as tf

RNG = np.random.default_rng(11)


def file(name):
    return (GOLDEN / name).read_bytes()


def texts(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def sequence(*rows):
    example = tf.train.SequenceExample()
    for row in rows:
        example.feature_lists.feature_list["x"].feature.add().float_list.value.append(row)
    example.context.feature["n"].int64_list.value.append(len(rows))
    return example.SerializeToString()


FILES = [f"images/{name}" for name in ("rgb_q60.jpg", "gray_q90.jpg", "tiny_1x1.jpg")]
JPEGS = [file(name) for name in FILES]
PNGS = [file(f"images/{name}") for name in ("rgb.png", "gray.png", "rgba.png")]
PATHS = [str(GOLDEN / name).encode() for name in FILES]
WORDS = [b"a,b", b" Hello W ", b"", "h\u00e9llo \u65e5".encode(), b"x" * 30]
LISTS = [texts(b"a", b"b c"), texts(), texts(b"", b"xy", b"z z")]
INTEGERS = [np.arange(n) * 7 % 5 for n in (4, 1, 6)]
FLOATS = [RNG.standard_normal(n).astype(np.float32) for n in (4, 1, 6)]
IMAGES = [RNG.integers(0, 256, (h, w, 3)).astype(np.uint8) for h, w in ((5, 7), (6, 4), (9, 9))]
COLOURS = [(image / 256).astype(np.float32) for image in IMAGES]
GREYS = [image[..., :1] for image in IMAGES]
BOXES = [RNG.random((n, 4)).astype(np.float32) for n in (3, 5, 2)]
SEEDS = [np.array([k, 7 - k]) for k in range(3)]
FEATURES = {"a": hr.io.FixedLenFeature([], np.int64, -1), "b": hr.io.VarLenFeature(np.float32)}
TF_FEATURES = {"a": tf.io.FixedLenFeature([], tf.int64, -1), "b": tf.io.VarLenFeature(tf.float32)}
EXAMPLES = [
    hr.io.serialize_example(values)
    for values in ({"a": 3, "b": [1.5, 2.0]}, {"b": np.zeros(0, np.float32)}, {"a": -5, "c": b"x"})
]
CONTEXT = {"n": hr.io.FixedLenFeature([], np.int64)}
TF_CONTEXT = {"n": tf.io.FixedLenFeature([], tf.int64)}
STEPS = {"x": hr.io.FixedLenSequenceFeature([], np.float32)}
TF_STEPS = {"x": tf.io.FixedLenSequenceFeature([], tf.float32)}
SEQUENCES = [sequence(1.0, 2.0), sequence(3.0)]
CODES = [np.array([104, 233], np.int32), np.array([26085], np.int32)]
WEBP = base64.b64decode(golden("decoded_images.json")["files"]["webp"])
JSON = [b'{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}', b"{}"]
WAVS = [file(f"audio/{name}.wav") for name in ("mono", "stereo", "tf_encoded")]
SOUNDS = [RNG.uniform(-1, 1, (n, 2)).astype(np.float32) for n in (5, 1, 9)]
POINTS = [(boxes, RNG.random(len(boxes)).astype(np.float32)) for boxes in BOXES]


def checked(f, x, *args):
    """Call a check, and return `x`."""
    f(*args)
    return x


# By module and name: elements, what is done with a function and an element, the same with its twin
# where other arguments are needed.
CASES = {
    "io.decode_raw": ([b"abcd", b"", b"12345678"], lambda f, x: f(x, np.int16)),
    "io.serialize_tensor": (INTEGERS, lambda f, x: f(x)),
    "io.parse_tensor": ([hr.io.serialize_tensor(x) for x in INTEGERS], lambda f, x: f(x, np.int64)),
    "io.decode_csv": ([b"1,x", b',"y,"', b"7,"], lambda f, x: tuple(f(x, [[5], [""]]))),
    "io.decode_json_example": (JSON, lambda f, x: f(x)),
    "io.encode_base64": (WORDS, lambda f, x: f(x, True)),
    "io.decode_base64": ([b"YWI", b"", b"YWJj"], lambda f, x: f(x)),
    "io.decode_compressed": ([zlib.compress(x) for x in WORDS], lambda f, x: f(x, "ZLIB")),
    "io.parse_single_example": (
        EXAMPLES,
        lambda f, x: f(x, FEATURES),
        lambda f, x: f(x, TF_FEATURES),
    ),
    "io.parse_example": (
        [texts(*EXAMPLES), texts(EXAMPLES[0]), texts(EXAMPLES[2], EXAMPLES[1])],
        lambda f, x: f(x, FEATURES),
        lambda f, x: f(x, TF_FEATURES),
    ),
    "io.parse_single_sequence_example": (
        SEQUENCES,
        lambda f, x: f(x, CONTEXT, STEPS),
        lambda f, x: f(x, TF_CONTEXT, TF_STEPS),
    ),
    "io.parse_sequence_example": (
        [texts(*SEQUENCES), texts(SEQUENCES[1])],
        lambda f, x: f(x, CONTEXT, STEPS),
        lambda f, x: f(x, TF_CONTEXT, TF_STEPS),
    ),
    "io.read_file": (PATHS, lambda f, x: f(x)),
    "io.matching_files": ([PATHS[0], PATHS[1][:-1] + b"*"], lambda f, x: f(x)),
    "image.decode_jpeg": (JPEGS, lambda f, x: f(x, 3, 2)),
    "image.decode_and_crop_jpeg": (JPEGS[:2], lambda f, x: f(x, [1, 2, 5, 6], 1)),
    "image.decode_png": (PNGS, lambda f, x: f(x, 3, np.uint16)),
    "image.decode_gif": ([file("images/three_frames.gif")] * 3, lambda f, x: f(x)),
    "image.decode_bmp": ([file("images/rgb.bmp"), file("images/gray.bmp")], lambda f, x: f(x)),
    "image.decode_webp": ([WEBP] * 2, lambda f, x: f(x)),
    "image.decode_image": (
        [*PNGS, *JPEGS],
        lambda f, x: f(x, 3, np.float32, expand_animations=False),
    ),
    "image.encode_jpeg": (IMAGES, lambda f, x: f(x, quality=70)),
    "image.encode_png": (IMAGES, lambda f, x: f(x)),
    "image.is_jpeg": ([*JPEGS, *PNGS, b""], lambda f, x: f(x)),
    "image.extract_jpeg_shape": (JPEGS, lambda f, x: f(x, np.int64)),
    "image.resize": (IMAGES, lambda f, x: f(x, [4, 6], "bicubic")),
    "image.resize_with_pad": (IMAGES, lambda f, x: f(x, 4, 6)),
    "image.resize_with_crop_or_pad": (IMAGES, lambda f, x: f(x, 6, 6)),
    "image.central_crop": (IMAGES, lambda f, x: f(x, 0.5)),
    "image.crop_to_bounding_box": (IMAGES, lambda f, x: f(x, 1, 0, 3, 2)),
    "image.pad_to_bounding_box": (IMAGES, lambda f, x: f(x, 1, 0, 20, 20)),
    "image.crop_and_resize": (IMAGES, lambda f, x: f(x[None], [[0.1, 0.2, 0.8, 0.9]], [0], [3, 5])),
    "image.draw_bounding_boxes": (
        COLOURS,
        lambda f, x: f(x[None], [[[0.1, 0.2, 0.8, 0.9]]], [[1.0, 0.0, 0.5]]),
    ),
    "image.extract_patches": (
        IMAGES,
        lambda f, x: f(x[None], [1, 2, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    ),
    "image.flip_left_right": (IMAGES, lambda f, x: f(x)),
    "image.flip_up_down": (IMAGES, lambda f, x: f(x)),
    "image.rot90": (IMAGES, lambda f, x: f(x, 3)),
    "image.transpose": (IMAGES, lambda f, x: f(x)),
    "image.convert_image_dtype": (IMAGES, lambda f, x: f(x, np.float32)),
    "image.per_image_standardization": (IMAGES, lambda f, x: f(x)),
    "image.rgb_to_grayscale": (IMAGES, lambda f, x: f(x)),
    "image.grayscale_to_rgb": (GREYS, lambda f, x: f(x)),
    "image.rgb_to_hsv": (COLOURS, lambda f, x: f(x)),
    "image.hsv_to_rgb": (COLOURS, lambda f, x: f(x)),
    "image.rgb_to_yiq": (COLOURS, lambda f, x: f(x)),
    "image.yiq_to_rgb": (COLOURS, lambda f, x: f(x)),
    "image.rgb_to_yuv": (COLOURS, lambda f, x: f(x)),
    "image.yuv_to_rgb": (COLOURS, lambda f, x: f(x)),
    "image.adjust_brightness": (IMAGES, lambda f, x: f(x, 0.2)),
    "image.adjust_contrast": (IMAGES, lambda f, x: f(x, 0.7)),
    "image.adjust_saturation": (IMAGES, lambda f, x: f(x, 0.7)),
    "image.adjust_hue": (IMAGES, lambda f, x: f(x, 0.2)),
    "image.adjust_gamma": (IMAGES, lambda f, x: f(x, 0.8)),
    "image.adjust_jpeg_quality": (IMAGES, lambda f, x: f(x, 40)),
    "image.stateless_random_brightness": (IMAGES, lambda f, x: f(x, 0.3, [1, 2])),
    "image.stateless_random_contrast": (IMAGES, lambda f, x: f(x, 0.3, 1.4, [1, 2])),
    "image.stateless_random_saturation": (IMAGES, lambda f, x: f(x, 0.3, 1.4, [1, 2])),
    "image.stateless_random_hue": (IMAGES, lambda f, x: f(x, 0.3, [1, 2])),
    "image.stateless_random_jpeg_quality": (IMAGES, lambda f, x: f(x, 20, 90, [1, 2])),
    "image.stateless_random_flip_left_right": (IMAGES, lambda f, x: f(x, [1, 3])),
    "image.stateless_random_flip_up_down": (IMAGES, lambda f, x: f(x, [1, 2])),
    "image.stateless_random_crop": (IMAGES, lambda f, x: f(x, [3, 2, 3], [1, 2])),
    "image.stateless_sample_distorted_bounding_box": (
        SEEDS,
        lambda f, x: tuple(f([30, 40, 3], [[[0.1, 0.2, 0.8, 0.9]]], x)),
    ),
    "image.non_max_suppression": (POINTS, lambda f, x, y: f(x, y, 3)),
    "image.non_max_suppression_with_scores": (
        POINTS,
        lambda f, x, y: tuple(f(x, y, 3, soft_nms_sigma=0.5)),
    ),
    "image.non_max_suppression_overlaps": (
        [(np.eye(n, dtype=np.float32), np.arange(n, dtype=np.float32)) for n in (3, 2)],
        lambda f, x, y: f(x, y, 2),
    ),
    "image.non_max_suppression_padded": (
        POINTS,
        lambda f, x, y: tuple(f(x, y, 3)),
        lambda f, x, y: tuple(f(x, y, 3, pad_to_max_output_size=True)),
    ),
    "image.combined_non_max_suppression": (
        POINTS,
        lambda f, x, y: tuple(f(x[None, :, None], y[None, :, None], 3, 4)),
    ),
    "audio.decode_wav": (WAVS, lambda f, x: tuple(f(x, 1))),
    "audio.decode_audio": (WAVS, lambda f, x: tuple(f(x, 1))),
    "audio.encode_wav": (SOUNDS, lambda f, x: f(x, 8000)),
    "strings.length": (WORDS, lambda f, x: f(x, "UTF8_CHAR")),
    "strings.substr": (WORDS[:2], lambda f, x: f(x, 1, 2)),
    "strings.split": (LISTS, lambda f, x: f(x)),
    "strings.join": (LISTS, lambda f, x: f([x, x], "-")),
    "strings.lower": (WORDS, lambda f, x: f(x)),
    "strings.upper": (WORDS, lambda f, x: f(x, "utf-8")),
    "strings.strip": (WORDS, lambda f, x: f(x)),
    "strings.regex_replace": (WORDS, lambda f, x: f(x, "[a-l]+", "<\\0>")),
    "strings.regex_full_match": (WORDS, lambda f, x: f(x, "x+|a.b")),
    "strings.to_number": ([b"1", b" -2.5e3 ", b"inf"], lambda f, x: f(x, np.float64)),
    "strings.as_string": (FLOATS, lambda f, x: f(x, precision=2)),
    "strings.to_hash_bucket": (WORDS, lambda f, x: f(x, 100)),
    "strings.to_hash_bucket_fast": (WORDS, lambda f, x: f(x, 100)),
    "strings.to_hash_bucket_strong": (WORDS, lambda f, x: f(x, 100, [1, 2])),
    "strings.unicode_decode": (WORDS, lambda f, x: f(x, "UTF-8")),
    "strings.unicode_decode_with_offsets": (WORDS, lambda f, x: tuple(f(x, "UTF-8"))),
    "strings.unicode_encode": (CODES, lambda f, x: f(x, "UTF-8")),
    "strings.unicode_script": (CODES, lambda f, x: f(x)),
    "strings.unicode_split": (WORDS, lambda f, x: f(x, "UTF-8")),
    "strings.unicode_split_with_offsets": (WORDS, lambda f, x: tuple(f(x, "UTF-8"))),
    "strings.unicode_transcode": (WORDS, lambda f, x: f(x, "UTF-8", "UTF-16-BE")),
    "strings.bytes_split": (LISTS, lambda f, x: f(x)),
    "strings.ngrams": (LISTS, lambda f, x: f(x, 2, pad_values=(b"<", b">"))),
    "strings.format": (INTEGERS, lambda f, x: f("all: {}", (x,))),
    "strings.reduce_join": (LISTS, lambda f, x: f(x, separator="-")),
    "strings.unsorted_segment_join": (
        [texts(b"a", b"b", b"c")] * 2,
        lambda f, x: f(x, [0, 1, 0], 2),
    ),
    "debugging.Assert": (INTEGERS, lambda f, x: checked(f, x, np.True_, [1])),
    "debugging.assert_all_finite": (FLOATS, lambda f, x: checked(f, x, x, "finite")),
    "debugging.assert_equal": (INTEGERS, lambda f, x: checked(f, x, x, x)),
    "debugging.assert_greater": (INTEGERS, lambda f, x: checked(f, x, x + 1, x)),
    "debugging.assert_greater_equal": (INTEGERS, lambda f, x: checked(f, x, x, x)),
    "debugging.assert_less": (INTEGERS, lambda f, x: checked(f, x, x, x + 1)),
    "debugging.assert_less_equal": (INTEGERS, lambda f, x: checked(f, x, x, x)),
    "debugging.assert_near": (FLOATS, lambda f, x: checked(f, x, x, x)),
    "debugging.assert_negative": (INTEGERS, lambda f, x: checked(f, x, x - 9)),
    "debugging.assert_non_negative": (INTEGERS, lambda f, x: checked(f, x, x)),
    "debugging.assert_non_positive": (INTEGERS, lambda f, x: checked(f, x, x - 9)),
    "debugging.assert_none_equal": (INTEGERS, lambda f, x: checked(f, x, x, x + 1)),
    "debugging.assert_positive": (INTEGERS, lambda f, x: checked(f, x, x + 1)),
    "debugging.assert_rank": (INTEGERS, lambda f, x: checked(f, x, x, 1)),
    "debugging.assert_rank_at_least": (INTEGERS, lambda f, x: checked(f, x, x, 1)),
    "debugging.assert_shapes": (INTEGERS, lambda f, x: checked(f, x, [(x, ("n",))])),
    "debugging.assert_type": (INTEGERS, lambda f, x: checked(f, x, x, np.int64)),
}
# Drawn anew for each element; tests/test_image_random.py and tests/test_random_in_functions.py.
DRAWN = {name for name in hr.image.__all__ if name.startswith("random_")}
DRAWN |= {"sample_distorted_bounding_box"}
# What makes or changes files, and so is no function of elements.
FILES_MADE = {"index_tfrecord", "serialize_example", "write_file"}
# What is right, and wrong, for each check; tests/test_math.py has the rest.
FAILING = {
    "debugging.Assert": lambda f, x: checked(f, x, x < 2, [x]),
    "debugging.assert_all_finite": lambda f, x: checked(f, x, x, "finite"),
    "debugging.assert_equal": lambda f, x: checked(f, x, x, x * x),
    "debugging.assert_greater": lambda f, x: checked(f, x, x * 0 + 2, x),
    "debugging.assert_greater_equal": lambda f, x: checked(f, x, x * 0 + 1, x),
    "debugging.assert_less": lambda f, x: checked(f, x, x, 2),
    "debugging.assert_less_equal": lambda f, x: checked(f, x, x, 1),
    "debugging.assert_near": lambda f, x: checked(f, x, x, x * x, 0.1, 0.1),
    "debugging.assert_negative": lambda f, x: checked(f, x, x - 2),
    "debugging.assert_non_negative": lambda f, x: checked(f, x, 1 - x),
    "debugging.assert_non_positive": lambda f, x: checked(f, x, x - 1),
    "debugging.assert_none_equal": lambda f, x: checked(f, x, x, 2),
    "debugging.assert_positive": lambda f, x: checked(f, x, 2 - x),
}
MODULES = ("audio", "debugging", "image", "io", "strings")


def function_of(package, name):
    """Return the function of a name, or None."""
    for at in (name, name.rpartition(".")[2]):
        found = package
        for part in at.split("."):
            found = getattr(found, part, None)
        if callable(found):
            return found
    return None


def plain(value):
    """Return what an element holds as arrays, bytes and numbers in plain tuples and dicts."""
    if isinstance(value, hr.SparseTensor | tf.SparseTensor):
        return tuple(plain(part) for part in (value.indices, value.values, value.dense_shape))
    if isinstance(value, hr.RaggedTensor | tf.RaggedTensor):
        return tuple(plain(part) for part in (value.values, value.row_splits))
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    return value.numpy() if isinstance(value, tf.Tensor) else value


def alike(seen, expected, loose=False):
    """Compare what two forms give; `loose` for integers of other sizes, and text as bytes."""
    if isinstance(expected, dict):
        assert set(seen) == set(expected)
        seen, expected = ([value[key] for key in sorted(expected)] for value in (seen, expected))
    if isinstance(expected, tuple | list):
        assert len(seen) == len(expected)
        for pair in zip(seen, expected, strict=True):
            alike(*pair, loose)
        return
    if loose and isinstance(expected, str):
        expected = expected.encode()
    seen, expected = np.asarray(seen), np.asarray(expected)
    assert seen.shape == expected.shape
    assert (seen.dtype.kind if loose else seen.dtype) == (
        expected.dtype.kind if loose else expected.dtype
    )
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-5)
    else:
        np.testing.assert_array_equal(seen, expected)


def test_every_function_has_a_case():
    there = {
        f"{module}.{name}"
        for module in MODULES
        for name in getattr(hr, module).__all__
        if inspect.isfunction(getattr(getattr(hr, module), name)) and name not in DRAWN | FILES_MADE
    }
    assert there == set(CASES)


def rows_of(elements):
    return [element if isinstance(element, tuple) else (element,) for element in elements]


def datasets_of(rows):
    """Return the rows one by one as a generator gives them, and as one array if they fit."""
    first = [hr.spec.spec_of(value) for value in rows[0]]
    specs = tuple(hr.TensorSpec((None,) * len(spec.shape), spec.dtype) for spec in first)
    yield hr.Dataset.from_generator(lambda: iter(rows), output_signature=specs)
    yield hr.Dataset.from_tensors(rows[0]).repeat(3)


@pytest.mark.parametrize("chunk_rows", [1, 2, 7, 1024])
@pytest.mark.parametrize("name", CASES)
def test_a_graph_gives_what_a_call_gives_in_chunks_of_any_size(name, chunk_rows):
    elements, case = CASES[name][:2]
    function, rows = function_of(hr, name), rows_of(elements)
    expected = [plain(case(function, *row)) for row in rows]
    loose, alone = datasets_of(rows)
    for dataset, wanted in ((loose.repeat(2), expected * 2), (alone, expected[:1] * 3)):
        mapped = dataset.map(lambda *x: case(function, *x), executor="native")
        seen = list(mapped.with_options(hr.Options(_chunk_rows=chunk_rows)))
        alike([plain(value) for value in seen], wanted)


@pytest.mark.parametrize("name", [name for name in CASES if function_of(tf, name)])
def test_the_twin_gives_the_same_on_tensors_and_in_a_graph(name):
    elements, case = CASES[name][0], CASES[name][-1]
    own, function = function_of(hr, name), function_of(tf, name)
    for row in rows_of(elements):
        expected = plain(CASES[name][1](own, *row))
        alike(plain(case(function, *map(tf.constant, row))), expected, loose=True)
        dataset = tf.data.Dataset.from_tensors(row).map(lambda *x: case(function, *x))
        assert "runs as a graph" in dataset.explain(), dataset.explain()
        (seen,) = dataset
        alike(plain(seen), expected, loose=True)


@pytest.mark.parametrize("package", [hr, tf], ids=["hr", "tf"])
@pytest.mark.parametrize("name", FAILING)
def test_a_check_fails_for_its_element_only(package, name):
    function, case = function_of(package, name), FAILING[name]
    rows = np.array([0.0, 1.0, np.nan if name.endswith("finite") else 2.0])
    for row in rows[:2]:
        case(function, package.constant(row) if package is tf else row)
    with pytest.raises(hr.errors.InvalidArgumentError):
        case(function, package.constant(rows[2]) if package is tf else rows[2])
    dataset = (package.data if package is tf else package).Dataset.from_tensor_slices(rows)
    mapped = dataset.map(lambda x: case(function, x))
    assert "runs as a graph" in mapped.explain()
    iterator = iter(mapped)
    assert [int(next(iterator)) for _ in range(2)] == [0, 1]
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(iterator)
