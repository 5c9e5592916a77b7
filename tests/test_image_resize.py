"""Resizing of images: sizes, dtypes, rows of many sizes, and what is refused."""

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

METHODS = [method.value for method in hr.image.ResizeMethod]


def images(*sizes, dtype=np.uint8, channels=3):
    rng = np.random.default_rng(len(sizes))
    return [rng.integers(0, 200, (*size, channels)).astype(dtype) for size in sizes]


def unequal(values):
    """Return a dataset of images whose sizes differ."""
    spec = hr.TensorSpec((None, None, values[0].shape[-1]), values[0].dtype)
    return hr.Dataset.from_generator(lambda: iter(values), output_signature=spec)


MANY = images((5, 7), (9, 4), (5, 7), (1, 1), (30, 2), (3, 11), (8, 8), (2, 6))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("antialias", [False, True])
def test_images_of_many_sizes_become_one_batch(method, antialias):
    dataset = unequal(MANY).batch(1).unbatch().repeat(40)

    def resize(image):
        return hr.image.resize(image, (4, 6), method, antialias=antialias)

    found = list(dataset.map(resize, executor="native").batch(len(MANY)))
    assert found[0].shape == (len(MANY), 4, 6, 3)
    for image, row in zip(MANY, found[-1], strict=True):
        np.testing.assert_array_equal(row, resize(image))


def test_a_batch_is_resized_image_by_image():
    batch = np.stack(images((5, 7), (5, 7)))
    for method in METHODS:
        found = hr.image.resize(batch, [3, 9], method)
        for image, row in zip(batch, found, strict=True):
            np.testing.assert_array_equal(hr.image.resize(image, [3, 9], method), row)


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "float32", "float64"]
)
def test_nearest_keeps_the_dtype_and_others_give_float32(dtype):
    image = images((6, 5))[0] // 2
    other = image.astype(dtype)
    assert hr.image.resize(other, [3, 3], "nearest").dtype == np.dtype(dtype)
    for method in METHODS[:1] + METHODS[2:]:
        found = hr.image.resize(other, [3, 3], method)
        np.testing.assert_array_equal(found, hr.image.resize(image, [3, 3], method))
        assert found.dtype == np.float32


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_each_channel_is_an_image_of_its_own(channels):
    (image,) = images((6, 5), channels=channels)
    for method in METHODS:
        whole = hr.image.resize(image, [4, 8], method)
        for channel in range(channels):
            one = hr.image.resize(image[:, :, channel : channel + 1], [4, 8], method)
            np.testing.assert_allclose(whole[:, :, channel : channel + 1], one, rtol=1e-6)


def test_the_size_may_be_known_in_a_run_only():
    (image,) = images((5, 7))
    dataset = hr.Dataset.range(2, 5)
    mapped = dataset.map(lambda n: hr.image.resize(image, [n, 3]), executor="native")
    assert [found.shape for found in mapped] == [(2, 3, 3), (3, 3, 3), (4, 3, 3)]
    assert mapped.element_spec.shape == (None, None, 3)
    mapped = hr.Dataset.from_tensor_slices([[2, 3], [4, 5]]).map(
        lambda size: hr.image.resize(image, size), executor="native"
    )
    for found, size in zip(mapped, [(2, 3), (4, 5)], strict=True):
        np.testing.assert_array_equal(found, hr.image.resize(image, size))


def test_proportions_are_kept_on_request():
    image = np.ones((10, 20, 1), np.uint8)
    resize = hr.image.resize
    assert resize(image, [8, 8], preserve_aspect_ratio=True).shape == (4, 8, 1)
    assert resize(image, [40, 60], preserve_aspect_ratio=True).shape == (30, 60, 1)
    spec = hr.Dataset.from_tensors(image).map(
        lambda x: hr.image.resize(x, [8, 8], preserve_aspect_ratio=True)
    )
    assert spec.element_spec.shape == (4, 8, 1)


def test_images_of_many_sizes_are_padded_to_one():
    found = list(
        unequal(MANY).map(lambda x: hr.image.resize_with_pad(x, 20, 20), executor="native").batch(8)
    )
    for image, row in zip(MANY, found[0], strict=True):
        np.testing.assert_array_equal(row, hr.image.resize_with_pad(image, 20, 20))


def test_padding_lies_around_the_middle():
    image = np.ones((2, 6, 2), np.int16)
    found = hr.image.resize_with_pad(image, 5, 3, "nearest")
    assert found.dtype == np.int16
    assert found[:, 0, 0].tolist() == [0, 0, 1, 0, 0]


def test_no_images_give_no_images():
    assert hr.image.resize(np.zeros((0, 4, 4, 3), np.uint8), [2, 2]).shape == (0, 2, 2, 3)
    assert hr.image.resize(np.zeros((4, 4, 0), np.uint8), [2, 2]).shape == (2, 2, 0)


@pytest.mark.parametrize(
    ("image", "size", "options", "text"),
    [
        (np.zeros((4, 4)), [2, 2], {}, "3 or 4 dimensions, got 2"),
        (np.zeros((4, 0, 3)), [2, 2], {}, "non-zero size, got height 4 and width 0"),
        (np.zeros((4, 4, 3)), [0, 2], {}, "must be positive, got height 0 and width 2"),
        (np.zeros((4, 4, 3)), [2, -1], {}, "must be positive"),
        (np.zeros((4, 4, 3)), [2, 2, 2], {}, "2 elements: new_height, new_width"),
        (np.zeros((4, 4, 3)), [2.5, 2], {}, "are integers, got float64"),
        (np.zeros((4, 4, 3)), [2, 2], {"method": "cubic"}, "got 'cubic'|got \"cubic\""),
        (np.zeros((4, 4, 3), bool), [2, 2], {}, "got bool"),
        (np.zeros((100, 1, 3)), [2, 2], {"preserve_aspect_ratio": True}, "become height 2 and"),
        (np.zeros((4, 4, 3)), [1 << 40, 2], {}, "must be positive|too large"),
    ],
)
def test_what_cannot_be_resized_is_refused(image, size, options, text):
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        hr.image.resize(image, size, **options)


def test_a_size_beyond_all_memory_is_an_error():
    channels = np.zeros((1, 1, 1 << 20), np.uint8)
    with pytest.raises(hr.errors.ResourceExhaustedError):
        hr.image.resize(channels, [1 << 20, 1 << 20])
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"more than 2\*\*63 - 1"):
        hr.image.resize(channels, [1 << 30, 1 << 30])


def test_the_twin_of_tensorflow_gives_tensors_and_its_errors():
    image = tf.ones([4, 6, 3], tf.uint8)
    assert tf.image.resize(image, [2, 3]).dtype == tf.float32
    assert tf.image.resize(image, tf.constant([2, 3]), method="nearest").dtype == tf.uint8
    assert tf.image.resize(image, [2, 3], tf.image.ResizeMethod.AREA).shape == (2, 3, 3)
    with pytest.raises(ValueError, match="must have either 3 or 4 dimensions"):
        tf.image.resize(tf.ones([4, 6]), [2, 3])
    with pytest.raises(ValueError, match="must be a 1-D Tensor of 2 elements"):
        tf.image.resize(image, [2])
    with pytest.raises(ValueError, match="must be a 1-D Tensor of 2 elements"):
        tf.image.resize(image, 2)
    with pytest.raises(ValueError, match="must be a 1-D int32 Tensor"):
        tf.image.resize(image, [2.5, 3])
    with pytest.raises(ValueError, match="Resize method is not implemented: cubic"):
        tf.image.resize(image, [2, 3], "cubic")
    with pytest.raises(ValueError, match="target_width must be > 0"):
        tf.image.resize_with_pad(image, 2, 0)
    with pytest.raises(ValueError, match=r"inner 3 dims of 'image.shape' must be > 0"):
        tf.image.resize_with_pad(tf.ones([0, 6, 3]), 2, 2)


def test_the_twin_is_traced():
    dataset = tf.data.Dataset.from_tensor_slices(np.ones([3, 4, 6, 3], np.uint8))
    mapped = dataset.map(lambda x: tf.image.resize(x, [2, 3]) / 255.0)
    assert mapped.element_spec == tf.TensorSpec([2, 3, 3], tf.float32)
    assert [found.shape for found in mapped.as_numpy_iterator()] == [(2, 3, 3)] * 3
    with pytest.raises(ValueError, match="must have either 3 or 4 dimensions"):
        dataset.map(lambda x: tf.image.resize(x[0], [2, 3]))
