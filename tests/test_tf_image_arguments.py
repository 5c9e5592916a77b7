"""What `tf.image` makes of arguments that are known in part, or of another kind than it takes."""

import numpy as np
import pytest

import headrace.tf as tf

BOXES = np.array([[0, 0, 2, 2], [0, 0.2, 2, 2.2], [3, 3, 4, 5], [0, 0, 2, 1.9]], np.float32)
SCORES = np.array([0.5, 0.7, 0.2, 0.6], np.float32)


def of_unknown_shape(*images):
    spec = tf.TensorSpec(None, tf.float32)
    return tf.data.Dataset.from_generator(lambda: iter(images), output_signature=spec)


FRAMES = {
    "crop": lambda x: tf.image.crop_to_bounding_box(x, 0, 1, 2, 3),
    "pad": lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 6, 7),
    "crop_or_pad": lambda x: tf.image.resize_with_crop_or_pad(x, 2, 9),
    "resize": lambda x: tf.image.resize_with_pad(x, 5, 3),
    "resize_v1": lambda x: tf.compat.v1.image.resize_image_with_pad(x, 5, 3),
}


@pytest.mark.parametrize("name", FRAMES)
def test_an_image_of_unknown_rank_is_no_batch_where_it_gets_another_frame(name):
    frame = FRAMES[name]
    image = np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    dataset = of_unknown_shape(image).map(frame)
    expected = frame(image)
    assert dataset.element_spec.shape.as_list() == [*expected.shape[:2], None]
    np.testing.assert_array_equal(dataset.get_single_element(), expected)
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(of_unknown_shape(image[None]).map(frame))


def test_turning_keeps_an_unknown_rank():
    image = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    dataset = of_unknown_shape(image, image[None]).map(tf.image.flip_left_right)
    assert dataset.element_spec.shape.rank is None
    assert [x.shape.rank for x in dataset] == [3, 4]


@pytest.mark.parametrize("most", [2**31, np.int64(2), 2.0])
def test_numbers_of_boxes_are_int32(most):
    wanted = "does not match type int32.* requested dtype int32"
    with pytest.raises(TypeError, match=wanted):
        tf.image.non_max_suppression_padded(BOXES, SCORES, most)
    for sizes in ((most, 3), (3, tf.constant(most))):
        with pytest.raises(ValueError, match=wanted):
            tf.image.combined_non_max_suppression(
                BOXES[None, :, None], SCORES[None, :, None], *sizes
            )


IMAGE = np.ones((12, 13, 3), np.float32)
PNG = tf.io.encode_png(tf.zeros([1, 2, 3], tf.uint8))
WRONG = {
    "height": lambda x: tf.image.resize_with_pad(x, 2.5, 3),
    "width": lambda x: tf.image.resize_with_crop_or_pad(x, 3, 2.5),
    "complex": lambda x: tf.image.resize(tf.cast(x, tf.complex64), [2, 2]),
    "flags": lambda x: tf.image.resize(x > 0, [2, 2], "nearest"),
    "ssim": lambda x: tf.image.ssim(x, tf.cast(x, tf.uint8), 1.0),
    "ssim_multiscale": lambda x: tf.image.ssim_multiscale(x, tf.cast(x, tf.float64), 1.0),
    "png": lambda x: tf.io.decode_png(PNG, dtype=tf.float32),
    "webp": lambda x: tf.io.decode_webp(PNG, dtype=tf.uint16),
}


def known(function, *shapes, dtype=tf.float32):
    specs = tuple(tf.TensorSpec(shape, dtype) for shape in shapes)
    made = tf.data.Dataset.from_generator(lambda: iter([]), output_signature=specs).map(function)
    return tf.nest.map_structure(lambda spec: spec.shape.as_list(), made.element_spec)


SIZES = {
    "resize": lambda x, n: tf.image.resize(x, [n, 7]),
    "resize_with_pad": lambda x, n: tf.image.resize_with_pad(x, n, 7),
    "crop": lambda x, n: tf.image.crop_to_bounding_box(x, 0, 0, n, 7),
    "pad": lambda x, n: tf.image.pad_to_bounding_box(x, 0, 0, n, 7),
    "crop_or_pad": lambda x, n: tf.image.resize_with_crop_or_pad(x, n, 7),
    "v1": lambda x, n: tf.compat.v1.image.resize_image_with_pad(x, n, 7),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_size_that_is_known_stays_so_beside_one_that_a_run_computes(name):
    for shape in ([None, None, 3], [2, None, None, 3], [None] * 4):
        found = known(lambda x: SIZES[name](x, tf.shape(x)[-3]), shape)
        assert found == [*shape[:-3], None, 7, shape[-1]]
    image = tf.zeros([4, 7, 1])
    dataset = tf.data.Dataset.from_tensors((image, 4)).map(SIZES[name])
    assert dataset.get_single_element().shape == [4, 7, 1]


def test_a_batch_of_unknown_rank_has_four_axes_for_the_ops_of_tensorflow_1():
    ops = tf.compat.v1.image
    for resize in (ops.resize_bilinear, ops.resize_area, ops.resize_nearest_neighbor):
        assert known(lambda x: resize(x, [2, 3]), None) == [None, 2, 3, None]  # noqa: B023


def test_a_window_of_a_jpeg_has_its_size():
    def window(x):
        return tf.io.decode_and_crop_jpeg(x, [1, 2, 3, 4], channels=1)

    assert known(window, [], dtype=tf.string) == [3, 4, 1]
    file = tf.io.encode_jpeg(tf.zeros([9, 9, 3], tf.uint8))
    assert tf.data.Dataset.from_tensors(file).map(window).get_single_element().shape == [3, 4, 1]


def test_what_is_known_of_the_boxes_of_all_classes():
    def best(boxes, scores):
        return tf.image.combined_non_max_suppression(boxes, scores, 3, 5)

    assert known(best, None, None) == ([None, 5, 4], [None, 5], [None, 5], [None])
    for shapes in (([2, 5, 1, 4], [2, 6, 3]), ([2, 5, 1, 4], [3, 5, 3])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible shape"):
            known(best, *shapes)


@pytest.mark.parametrize(
    "choose",
    [
        tf.image.non_max_suppression,
        tf.image.non_max_suppression_with_scores,
        tf.image.non_max_suppression_padded,
    ],
)
def test_other_numbers_of_scores_than_of_boxes_are_refused_at_once(choose):
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible shape"):
        known(lambda boxes, scores: choose(boxes, scores, 3), [5, 4], [6])


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_dtype_is_an_error_of_types_and_of_values(name):
    for error in (TypeError, tf.errors.InvalidArgumentError):
        with pytest.raises(error):
            WRONG[name](tf.constant(IMAGE))
        with pytest.raises(error):
            tf.data.Dataset.from_tensors(IMAGE).map(WRONG[name])


def test_images_that_do_not_fit_each_other():
    for compared in (tf.image.psnr, tf.image.ssim, tf.image.ssim_multiscale):
        for a, b in ((IMAGE, IMAGE[1:]), (np.stack([IMAGE] * 2), np.stack([IMAGE] * 3))):
            with pytest.raises(tf.errors.InvalidArgumentError):
                compared(a, b, 1.0)


@pytest.mark.parametrize("none", [0, -1])
def test_no_boxes_of_a_class_or_of_an_image_are_not_asked_for(none):
    for sizes, text in (((none, 3), "max_size_per_class must be positive"), ((3, none), "> 0")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            tf.image.combined_non_max_suppression(
                BOXES[None, :, None], SCORES[None, :, None], *sizes
            )


@pytest.mark.parametrize("pad", [True, False])
def test_numbers_of_boxes_that_a_run_computes(pad):
    def chosen(most):
        return tf.image.non_max_suppression_padded(
            BOXES, SCORES, most, 0.4, pad_to_max_output_size=pad
        )

    dataset = tf.data.Dataset.from_tensor_slices([1, 3]).map(chosen)
    assert [spec.shape for spec in dataset.element_spec] == [[None], []]
    for most, found in zip([1, 3], dataset, strict=True):
        for value, expected in zip(found, chosen(most), strict=True):
            np.testing.assert_array_equal(value, expected)


@pytest.mark.parametrize("per_class", [True, False])
def test_numbers_of_boxes_of_classes_that_a_run_computes(per_class):
    def best(each, total=4):
        return tf.image.combined_non_max_suppression(
            BOXES[None, :, None],
            np.stack([SCORES, 1 - SCORES], -1)[None],
            each,
            total,
            pad_per_class=per_class,
        )

    each = tf.data.Dataset.from_tensor_slices([1, 2])
    dataset = each.map(best)
    known = None if per_class else 4
    shapes = [[1, known, 4], [1, known], [1, known], [1]]
    assert [spec.shape.as_list() for spec in dataset.element_spec] == shapes
    both = tf.data.Dataset.zip(each, each).map(best)
    assert both.element_spec.nmsed_scores.shape.as_list() == [1, None]
    for made, calls in ((dataset, [(1,), (2,)]), (both, [(1, 1), (2, 2)])):
        for args, found in zip(calls, made, strict=True):
            for value, expected in zip(found, best(*args), strict=True):
                np.testing.assert_array_equal(value, expected)


def test_wrong_numbers_of_images_for_boxes():
    images, boxes = np.ones((2, 4, 4, 1), np.float32), [[0.0, 0.0, 1.0, 1.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="box_indices must be rank 1"):
        tf.image.crop_and_resize(images, boxes, [[0]], [2, 2])
    with pytest.raises(tf.errors.OutOfRangeError, match=r"box_index has values outside .* got 2"):
        tf.image.crop_and_resize(images, boxes, [2], [2, 2])


def test_a_shape_of_symbols_is_none():
    def compared(x, n):
        assert (x.shape[:2] == [n, n]) is False
        with pytest.raises(TypeError, match="Dimension value must be integer or None"):
            tf.TensorShape([n])
        return x

    elements = tf.data.Dataset.from_tensors((np.ones((2, 2, 1)), 2))
    assert elements.map(compared).element_spec.shape == [2, 2, 1]
