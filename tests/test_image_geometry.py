"""Cutting, padding and turning images: values, and what is refused."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
import headrace.tf as tf

SIZE = st.integers(1, 9)


@given(
    SIZE, SIZE, st.integers(1, 5), st.integers(-5, 5), st.sampled_from(["u1", "i2", "f4", "c16"])
)
def test_turns_are_those_of_numpy(height, width, channels, k, dtype):
    image = np.arange(height * width * channels).reshape(height, width, channels).astype(dtype)
    np.testing.assert_array_equal(hr.image.rot90(image, k), np.rot90(image, k))
    np.testing.assert_array_equal(hr.image.flip_left_right(image), image[:, ::-1])
    np.testing.assert_array_equal(hr.image.flip_up_down(image), image[::-1])
    np.testing.assert_array_equal(hr.image.transpose(image), image.transpose(1, 0, 2))
    batch = np.stack([image, image + 1])
    np.testing.assert_array_equal(hr.image.rot90(batch, k), np.rot90(batch, k, (1, 2)))


@given(SIZE, SIZE, SIZE, SIZE, st.integers(0, 4), st.integers(0, 4))
def test_cutting_undoes_padding(height, width, more, wider, top, left):
    image = np.arange(1, height * width * 2 + 1).reshape(height, width, 2)
    padded = hr.image.pad_to_bounding_box(
        image, top, left, top + height + more, left + width + wider
    )
    assert padded.shape == (top + height + more, left + width + wider, 2)
    assert np.count_nonzero(padded) == image.size
    cut = hr.image.crop_to_bounding_box(padded, top, left, height, width)
    np.testing.assert_array_equal(cut, image)


def test_what_is_cut_off_or_added_is_shared():
    image = np.arange(1, 6).reshape(1, 5, 1)
    found = hr.image.resize_with_crop_or_pad(image, 4, 2)
    assert found[:, :, 0].tolist() == [[0, 0], [2, 3], [0, 0], [0, 0]]


def test_sizes_that_are_known_are_in_the_spec():
    dataset = hr.Dataset.from_tensors(np.zeros((6, 8, 3), np.uint8))

    def spec(call):
        return dataset.map(call, executor="native").element_spec.shape

    assert spec(lambda x: hr.image.central_crop(x, 0.5)) == (4, 4, 3)
    assert spec(lambda x: hr.image.rot90(x)) == (8, 6, 3)
    assert spec(lambda x: hr.image.pad_to_bounding_box(x, 1, 1, 9, 9)) == (9, 9, 3)
    assert spec(lambda x: hr.image.resize_with_crop_or_pad(x, 2, 20)) == (2, 20, 3)


IMAGE = np.zeros((4, 6, 3), np.uint8)


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("crop_to_bounding_box", (1, 0, 4, 6), "height must be >= target + offset"),
        ("crop_to_bounding_box", (0, 1, 4, 6), "width must be >= target + offset"),
        ("crop_to_bounding_box", (-1, 0, 4, 6), "offset_height must be >= 0"),
        ("crop_to_bounding_box", (0, -1, 4, 6), "offset_width must be >= 0"),
        ("crop_to_bounding_box", (0, 0, 0, 6), "target_height must be > 0"),
        ("crop_to_bounding_box", (0, 0, 4, 0), "target_width must be > 0"),
        ("pad_to_bounding_box", (1, 0, 4, 6), "height must be <= target - offset"),
        ("pad_to_bounding_box", (0, 1, 4, 6), "width must be <= target - offset"),
        ("pad_to_bounding_box", (-1, 0, 4, 6), "offset_height must be >= 0"),
        ("pad_to_bounding_box", (0, -1, 4, 6), "offset_width must be >= 0"),
        ("resize_with_crop_or_pad", (0, 3), "target_height must be > 0"),
        ("resize_with_crop_or_pad", (3, -3), "target_width must be > 0"),
        ("central_crop", (0.0,), "central_fraction must be within (0, 1]"),
        ("central_crop", (1.5,), "central_fraction must be within (0, 1]"),
    ],
)
def test_what_does_not_fit_is_refused(name, args, text):
    for module, value in ((hr.image, IMAGE), (tf.image, tf.constant(IMAGE))):
        with pytest.raises(ValueError, match=re.escape(text)):
            getattr(module, name)(value, *args)
    # Numbers that only a run knows fail there.
    dataset = tf.data.Dataset.from_tensors(tuple(args))
    with pytest.raises(hr.errors.InvalidArgumentError, match=re.escape(text)):
        list(dataset.map(lambda *numbers: getattr(tf.image, name)(IMAGE, *numbers)))


def test_a_size_beyond_all_memory_is_an_error():
    with pytest.raises(hr.errors.ResourceExhaustedError):
        hr.image.pad_to_bounding_box(IMAGE, 0, 0, 1 << 40, 6)
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"more than 2\*\*63 - 1"):
        hr.image.resize_with_crop_or_pad(IMAGE, 2**31 - 1, 2**31 - 1)


@pytest.mark.parametrize(
    "call",
    [
        tf.image.flip_left_right,
        tf.image.flip_up_down,
        tf.image.transpose,
        tf.image.rot90,
        lambda x: tf.image.central_crop(x, 0.5),
        lambda x: tf.image.crop_to_bounding_box(x, 0, 0, 1, 1),
        lambda x: tf.image.pad_to_bounding_box(x, 0, 0, 9, 9),
        lambda x: tf.image.resize_with_crop_or_pad(x, 1, 1),
    ],
)
def test_the_twins_check_ranks_and_sizes(call):
    for wrong in (tf.ones([4, 6]), tf.ones([1, 1, 4, 6, 3]), tf.ones([4, 0, 3])):
        with pytest.raises(ValueError, match=r"dimension|rank|must be > 0"):
            call(wrong)
    dataset = tf.data.Dataset.from_tensors(tf.ones([4, 0, 3]))
    with pytest.raises(ValueError, match="must be > 0"):
        dataset.map(call)


def test_the_twin_of_rot90_takes_one_number():
    with pytest.raises(ValueError, match="rank 0"):
        tf.image.rot90(IMAGE, [1, 2])
    dataset = tf.data.Dataset.range(4).map(lambda k: tf.image.rot90(IMAGE, tf.cast(k, tf.int32)))
    assert [x.shape.as_list() for x in dataset] == [[4, 6, 3], [6, 4, 3], [4, 6, 3], [6, 4, 3]]
