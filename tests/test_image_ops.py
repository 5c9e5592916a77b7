"""Each image function on arrays, on rows of many sizes, and in chunks of any size.

`CALLS` has a line for each function: it gets an image and a number of its own.
"""

import numpy as np
import pytest

import headrace as hr

SIZES = [(5, 7), (9, 4), (5, 7), (3, 3), (30, 2), (3, 11), (8, 8), (4, 6), (5, 7)]
image = hr.image

CALLS = {
    "resize": lambda x, n: image.resize(x, [n + 2, 5]),
    "resize_one_size": lambda x, n: image.resize(x, [4, 5], "lanczos3"),
    "resize_with_pad": lambda x, n: image.resize_with_pad(x, 20, 20 + n),
    "resize_with_crop_or_pad": lambda x, n: image.resize_with_crop_or_pad(x, 6, n + 1),
    "crop_to_bounding_box": lambda x, n: image.crop_to_bounding_box(x, n // 5, 0, 2, 2),
    "crop_to_one_size": lambda x, n: image.crop_to_bounding_box(x, 1, 0, 2, 2),
    "pad_to_bounding_box": lambda x, n: image.pad_to_bounding_box(x, n, 1, 40, 20),
    "central_crop": lambda x, n: image.central_crop(x, 0.5),
    "central_crop_of_each": lambda x, n: image.central_crop(x, (n + 1) / 10),
    "flip_left_right": lambda x, n: image.flip_left_right(x),
    "flip_up_down": lambda x, n: image.flip_up_down(x),
    "transpose": lambda x, n: image.transpose(x),
    "rot90": lambda x, n: image.rot90(x, 3),
    "rot90_of_each": lambda x, n: image.rot90(x, n),
    "convert_image_dtype": lambda x, n: image.convert_image_dtype(x, np.float32),
    "per_image_standardization": lambda x, n: image.per_image_standardization(x),
    "adjust_brightness": lambda x, n: image.adjust_brightness(x, n / 10 - 0.5),
    "adjust_contrast": lambda x, n: image.adjust_contrast(x, n / 3),
    "adjust_gamma": lambda x, n: image.adjust_gamma(x, n / 3, 1.5),
    "adjust_hue": lambda x, n: image.adjust_hue(x, n / 10 - 0.5),
    "adjust_saturation": lambda x, n: image.adjust_saturation(x, n / 3),
    "rgb_to_grayscale": lambda x, n: image.rgb_to_grayscale(x),
    "grayscale_to_rgb": lambda x, n: image.grayscale_to_rgb(image.rgb_to_grayscale(x)),
    "rgb_to_hsv": lambda x, n: image.rgb_to_hsv(x.astype(np.float32) / 256),
    "hsv_to_rgb": lambda x, n: image.hsv_to_rgb(x / 256.0),
    "rgb_to_yiq": lambda x, n: image.rgb_to_yiq(x / 256.0),
    "yiq_to_rgb": lambda x, n: image.yiq_to_rgb(x / 256.0),
    "rgb_to_yuv": lambda x, n: image.rgb_to_yuv(x.astype(np.float32)),
    "yuv_to_rgb": lambda x, n: image.yuv_to_rgb(x.astype(np.float32)),
    "random_brightness": lambda x, n: image.stateless_random_brightness(x, 0.3, [n, 5]),
    "random_contrast": lambda x, n: image.stateless_random_contrast(x, 0.3, 2.0, [n, 5]),
    "random_saturation": lambda x, n: image.stateless_random_saturation(x, 0.3, 2.0, [n, 5]),
    "random_hue": lambda x, n: image.stateless_random_hue(x, 0.3, [5, n]),
    "crop_and_resize": lambda x, n: image.crop_and_resize(
        x[np.newaxis], [[0.1, 0.2, 0.8, 0.9], [0.3, 0.3, 1.2, 0.4]], [0, 0], [3, n + 1]
    ),
}

# What takes an array of any rank.
OF_ANY_RANK = {"convert_image_dtype", "adjust_brightness", "adjust_gamma", "random_brightness"}
# What takes one image here, not a batch.
OF_ONE = {"crop_and_resize"}


def images(dtype=np.uint8):
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (*size, 3)).astype(dtype) for size in SIZES]


def dataset(values):
    spec = hr.TensorSpec((None, None, 3), values[0].dtype)
    rows = hr.Dataset.from_generator(lambda: iter(values), output_signature=spec)
    return hr.Dataset.zip(rows.cache(), hr.Dataset.range(len(values)))


def assert_same(found, expected):
    assert type(found) is type(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("chunk", [1, 2, 7, 1024])
def test_rows_of_many_sizes_are_each_what_an_array_gives(name, chunk):
    call, values = CALLS[name], images()
    mapped = dataset(values).map(call, executor="native")
    shape = mapped.element_spec.shape
    for _ in range(2):  # from the generator, then from the cache, whose chunks hold many rows
        rows = list(mapped.with_options(hr.Options(_chunk_rows=chunk)))
        assert len(rows) == len(values)
        for number, (row, value) in enumerate(zip(rows, values, strict=True)):
            assert_same(row, call(value, np.int64(number)))
            if shape is not None:
                assert all(a in (None, b) for a, b in zip(shape, row.shape, strict=True))


@pytest.mark.parametrize("name", CALLS)
def test_rows_of_one_size_are_each_what_an_array_gives(name):
    call, values = CALLS[name], np.stack([images()[k] for k in (0, 2, 8)])
    rows = hr.Dataset.from_tensor_slices((values, np.arange(3)))
    for number, row in enumerate(rows.map(call, executor="native")):
        assert_same(row, call(values[number], np.int64(number)))


@pytest.mark.parametrize("name", sorted(set(CALLS) - OF_ONE))
def test_a_batch_is_each_of_its_images(name):
    call, values = CALLS[name], np.stack([images()[k] for k in (0, 2, 8)])
    found = call(values, np.int64(1))
    for value, row in zip(values, found, strict=True):
        np.testing.assert_array_equal(row, call(value, np.int64(1)))


@pytest.mark.parametrize("name", sorted(set(CALLS) - OF_ANY_RANK))
def test_an_array_of_no_rank_of_images_is_refused(name):
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"dimension|channels|4-D"):
        CALLS[name](np.zeros((4, 4), np.uint8), np.int64(1))


@pytest.mark.parametrize("name", CALLS)
def test_text_is_refused(name):
    with pytest.raises((ValueError, TypeError)):
        CALLS[name](np.full((4, 4, 3), b"x", object), np.int64(1))


@pytest.mark.parametrize("name", CALLS)
def test_inputs_stay_as_they_are(name):
    value = images()[0]
    value.setflags(write=False)
    before = value.copy()
    CALLS[name](value, np.int64(2))
    np.testing.assert_array_equal(value, before)
