"""Image functions under TensorFlow's names give its results and its errors, traced and not."""

import numpy as np
import pytest
from conftest import GOLDEN, golden

import headrace.tf as tf
from headrace.seeds import require

ARRAYS = np.load(GOLDEN / "image_functions.npz")
CASES = golden("image_functions.json")["cases"]
IDS = [f"{i}-{case['op']}" for i, case in enumerate(CASES)]

# What TensorFlow's kernels call otherwise: there is one class for arguments that do not fit.
ERRORS = {
    "AttributeError": AttributeError,
    "InvalidArgumentError": ValueError,
    "TypeError": (TypeError, ValueError),
    "ValueError": ValueError,
}


def given(value):
    return ARRAYS[value["array"]] if isinstance(value, dict) else value


def tolerance_of(op, dtype):
    if dtype == np.float16:
        return 1e-3
    if "ssim" in op:  # quotients of small differences
        return 1e-4
    return 1e-5 if "resize" in op else 2e-6


def check(case, found):
    found = found if isinstance(found, tuple) else (found,)
    assert len(found) == len(case["results"])
    for value, name in zip(found, case["results"], strict=True):
        expected, value = ARRAYS[name], np.asarray(value)
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape)
        if expected.dtype.kind == "f":
            tolerance = tolerance_of(case["op"], expected.dtype)
            near = tolerance * np.abs(expected).max(initial=0)
            np.testing.assert_allclose(value, expected, rtol=tolerance, atol=near)
        else:
            np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_on_tensors(case):
    function, args = getattr(tf.image, case["op"]), [given(value) for value in case["args"]]
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]]):
            function(*args, **case["kwargs"])
    else:
        check(case, function(*args, **case["kwargs"]))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_in_a_function_of_a_dataset(case):
    function, args = getattr(tf.image, case["op"]), [given(value) for value in case["args"]]
    dataset = tf.data.Dataset.from_tensors(args[0])

    def call(first):
        return function(first, *args[1:], **case["kwargs"])

    if case["op"] == "adjust_hue" and case["args"][1] == 1.1:
        assert len(list(dataset.map(call))) == 1  # TensorFlow checks it on tensors only
    elif "error" in case:
        with pytest.raises(ERRORS[case["error"]]):
            list(dataset.map(call))
    else:
        (found,) = dataset.map(call)
        check(case, found)


def images_of(shape, *more):
    """A dataset of one image of 3 x 4 pixels, whose sizes only a run knows."""
    image = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    rest = [tf.TensorSpec([], tf.int32) for _ in more]
    signature = (tf.TensorSpec(shape, tf.uint8), *rest)
    return tf.data.Dataset.from_generator(
        lambda: iter([(image, *more)]), output_signature=signature
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x, h, w: tf.image.crop_to_bounding_box(x, 0, 0, h, w),
        lambda x, h, w: tf.image.pad_to_bounding_box(x, 1, 2, h + 3, w + 4),
        lambda x, h, w: tf.image.resize_with_crop_or_pad(x, h + 2, w),
    ],
)
def test_images_of_unknown_rank_are_one_image(function):
    computed = images_of(None, 2, 3).map(function)
    assert computed.element_spec == tf.TensorSpec([None, None, None], tf.uint8)
    plain = images_of(None).map(lambda x: function(x, 2, 3))
    image = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    expected = function(tf.constant(image), 2, 3)
    assert plain.element_spec.shape.as_list() == [*expected.shape[:2], None]
    for dataset in (computed, plain):
        np.testing.assert_array_equal(dataset.get_single_element(), expected)
    batch = tf.data.Dataset.from_generator(
        lambda: iter([image[None]]), output_signature=tf.TensorSpec(None, tf.uint8)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible with"):
        batch.map(lambda x: function(x, 2, 3)).get_single_element()


@pytest.mark.parametrize("kind", [np.uint8, np.float16, np.float32, np.float64])
def test_an_amount_for_each_channel_is_broadcast(kind):
    image = np.array([[[0, 100, 200], [30, 250, 7]]], np.uint8)
    image = image if kind is np.uint8 else (image / 255).astype(kind)
    amounts = [0.2, -0.1, 0.4]
    apart = [
        tf.image.adjust_brightness(image[..., k : k + 1], amount)
        for k, amount in enumerate(amounts)
    ]
    found = tf.image.adjust_brightness(image, amounts)
    assert found.dtype == kind
    np.testing.assert_allclose(found, np.concatenate(apart, -1), rtol=1e-6)
    gains = [0.5, 1.0, 0.25]
    apart = [tf.image.adjust_gamma(image[..., k : k + 1], 2, gain) for k, gain in enumerate(gains)]
    expected = np.concatenate(apart, -1)
    np.testing.assert_allclose(tf.image.adjust_gamma(image, 2, gains), expected, rtol=1e-6)
    dataset = tf.data.Dataset.from_tensors((image, np.array(amounts, np.float32)))
    for spec in (dataset.element_spec[1], tf.TensorSpec(None, tf.float32)):
        unknown = tf.data.Dataset.from_generator(
            lambda: iter(dataset), output_signature=(dataset.element_spec[0], spec)
        ).map(tf.image.adjust_brightness)
        assert "runs as a graph" in unknown.explain()
        np.testing.assert_array_equal(unknown.get_single_element(), found)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (tf.image.adjust_contrast, "contrast_factor"),
        (tf.image.adjust_saturation, "scale"),
        (tf.image.adjust_hue, "delta"),
    ],
)
def test_an_amount_for_an_image_is_a_scalar(function, name):
    image = tf.ones([2, 2, 3])
    for amount in ([0.5], tf.constant([0.5, 0.5, 0.5])):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} must be scalar"):
            function(image, amount)
        with pytest.raises(ValueError, match="scalar"):
            tf.data.Dataset.from_tensors(image).map(lambda x, amount=amount: function(x, amount))


def test_sizes_are_integers_whose_product_is_one():
    image = tf.ones([2, 2, 3])
    for function, args in [
        (tf.image.crop_to_bounding_box, (0.0, 0, 1, 1)),
        (tf.image.pad_to_bounding_box, (0, 0, 3, 3.5)),
        (tf.image.resize_with_crop_or_pad, (tf.constant(3.0), 3)),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
            function(image, *args)
    with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
        tf.image.pad_to_bounding_box(image, 0, 0, 1 << 32, 1 << 32)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.image.pad_to_bounding_box(image, 0, 0, 1 << 30, 1 << 30)


def test_boxes_need_seeds_where_ops_are_to_be_deterministic():
    given = {"image_size": [6, 7, 3], "bounding_boxes": [[[0.1, 0.1, 0.9, 0.8]]]}
    own, older = (
        tf.image.sample_distorted_bounding_box,
        tf.compat.v1.image.sample_distorted_bounding_box,
    )
    tf.config.experimental.enable_op_determinism()
    try:
        with pytest.raises(ValueError, match="non-zero seed"):
            own(**given)
        with pytest.raises(ValueError, match="non-zero"):
            older(**given)
        assert own(**given, seed=3)[1].shape == older(**given, seed2=3)[1].shape == [3]
    finally:
        require(False)


def unknown(value, shape=None):
    """A dataset of one tensor, of which only a run knows the shape, or what is None of it."""
    spec = tf.TensorSpec(shape, value.dtype)
    return tf.data.Dataset.from_generator(lambda: iter([value]), output_signature=spec)


@pytest.mark.parametrize("seed", [(0, 1), (2, 5), (7, 7)])
@pytest.mark.parametrize(
    "flip", [tf.image.stateless_random_flip_left_right, tf.image.stateless_random_flip_up_down]
)
def test_images_of_unknown_rank_are_flipped_each_by_a_chance_of_its_own(flip, seed):
    image = np.arange(6, dtype=np.uint8).reshape(2, 3, 1)
    for value in (image, np.stack([image] * 9)):
        mapped = unknown(value).map(lambda x: flip(x, seed))
        assert "runs as a graph" in mapped.explain()
        np.testing.assert_array_equal(mapped.get_single_element(), flip(value, seed))


def test_powers_that_only_a_run_knows_are_not_below_zero():
    image = np.full([2, 2, 3], 0.5, np.float32)
    for shape in ((), None):
        good = unknown(np.float32(2), shape).map(lambda g: tf.image.adjust_gamma(image, g))
        np.testing.assert_array_equal(good.get_single_element(), image**2)
        bad = unknown(np.float32(-1), shape).map(lambda g: tf.image.adjust_gamma(image, g))
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
            bad.get_single_element()


@pytest.mark.parametrize("shape", [None, [None] * 4, [1, None, 5, 1]])
def test_glimpses_of_images_of_unknown_sizes(shape):
    images = np.arange(25, dtype=np.float32).reshape(1, 5, 5, 1)
    mapped = unknown(images, shape).map(
        lambda x: tf.image.extract_glimpse(x, [2, 3], [[0.5, 0.0]], noise="zero")
    )
    assert "runs as a graph" in mapped.explain()
    expected = tf.image.extract_glimpse(images, [2, 3], [[0.5, 0.0]], noise="zero")
    np.testing.assert_array_equal(mapped.get_single_element(), expected)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("shape", [None, [None] * 5, [1, 3, None, 5, None]])
def test_parts_of_volumes_of_unknown_sizes(shape, padding):
    volume = np.arange(1, 121, dtype=np.int32).reshape(1, 3, 4, 5, 2)
    for sizes, strides in (([2, 3, 1], [1, 1, 2]), ([1, 2, 2], [2, 3, 3]), ([2, 2, 4], [3, 1, 2])):
        own, steps = [1, *sizes, 1], [1, *strides, 1]
        found = tf.extract_volume_patches(volume, own, steps, padding)
        # The parts are those of the volume with zeros around it.
        counts, around = [], []
        for length, size, step in zip(volume.shape[1:4], sizes, strides, strict=True):
            count = -(-(length if padding == "SAME" else length - size + 1) // step)
            more = max((count - 1) * step + size - length, 0) if padding == "SAME" else 0
            skipped = min((count - 1) * step + size - length, 0) if padding == "SAME" else 0
            counts.append((count, step, size, -int(skipped / 2)))
            around.append((more // 2, more - more // 2))
        padded = np.pad(volume, [(0, 0), *around, (0, 0)])
        for place in np.ndindex(*(count for count, *_ in counts)):
            part = padded[0]
            for axis, (k, (_, step, size, first)) in enumerate(zip(place, counts, strict=True)):
                part = np.take(part, range(k * step + first, k * step + first + size), axis)
            np.testing.assert_array_equal(np.asarray(found)[(0, *place)], part.reshape(-1))
        mapped = unknown(volume, shape).map(
            lambda x, own=own, steps=steps: tf.extract_volume_patches(x, own, steps, padding)
        )
        assert "runs as a graph" in mapped.explain()
        np.testing.assert_array_equal(mapped.get_single_element(), found)


def test_sizes_of_patches_are_lists():
    images, ones = tf.ones([1, 4, 4, 1]), [1, 1, 1, 1]
    assert tf.image.extract_patches(images, (1, 2.0, 2, 1), ones, ones, "VALID").shape[-1] == 4
    for sizes in (tf.constant([1, 2, 2, 1]), np.array([1, 2, 2, 1])):
        with pytest.raises(TypeError, match="Expected list for 'ksizes'"):
            tf.image.extract_patches(images, sizes, ones, ones, "VALID")


def test_boxes_are_drawn_into_arrays_of_integers_as_into_floats():
    boxes = [[[0.0, 0.0, 1.0, 1.0]]]
    drawn = tf.image.draw_bounding_boxes(np.zeros([1, 3, 3, 1], np.uint8), boxes, None)
    assert (drawn.dtype, float(tf.reduce_sum(drawn))) == (tf.float32, 8.0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1], tf.uint8), boxes, None)
