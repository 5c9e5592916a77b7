"""Images changed at random by a seed: chances, places, and what is refused."""

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

IMAGE = np.random.default_rng(0).integers(0, 256, (6, 8, 3)).astype(np.uint8)
BATCH = np.stack([IMAGE, IMAGE + 1, IMAGE + 2, IMAGE + 3])


@pytest.mark.parametrize("turn", ["left_right", "up_down"])
def test_about_half_of_all_images_are_flipped(turn):
    flip = getattr(hr.image, f"flip_{turn}")
    perhaps = getattr(hr.image, f"stateless_random_flip_{turn}")
    flipped = 0
    for seed in range(100):
        found = perhaps(IMAGE, [seed, 1])
        if not np.array_equal(found, IMAGE):
            np.testing.assert_array_equal(found, flip(IMAGE))
            flipped += 1
    assert 30 < flipped < 70
    outcomes = set()
    for seed in range(20):
        rows = perhaps(BATCH, [seed, 1])
        outcomes.add(tuple(np.array_equal(a, b) for a, b in zip(rows, BATCH, strict=True)))
    assert len(outcomes) > 5


@pytest.mark.parametrize("chunk", [1, 2, 7, 1024])
def test_seeds_may_be_elements(chunk):
    def change(seed):
        x = hr.image.stateless_random_flip_left_right(IMAGE, [seed, 1])
        x = hr.image.stateless_random_flip_up_down(x, [seed, 2])
        return hr.image.stateless_random_crop(x, [3, 4, 3], [seed, 3])

    dataset = hr.Dataset.range(20).map(change, executor="native")
    assert dataset.element_spec == hr.TensorSpec((3, 4, 3), np.uint8)
    rows = list(dataset.with_options(hr.Options(_chunk_rows=chunk)))
    for seed, row in enumerate(rows):
        np.testing.assert_array_equal(row, change(np.int64(seed)))
    assert len({row.tobytes() for row in rows}) > 10


def test_batches_of_unknown_size_are_flipped_image_by_image():
    dataset = hr.Dataset.from_tensor_slices(BATCH).batch(3)
    flip = hr.image.stateless_random_flip_left_right
    for batch, row in zip(dataset, dataset.map(lambda x: flip(x, [1, 2])), strict=True):
        np.testing.assert_array_equal(row, flip(batch, [1, 2]))


def test_a_crop_of_any_rank_lies_within():
    value = np.arange(3 * 4 * 5 * 2).reshape(3, 4, 5, 2)
    for seed in range(20):
        found = hr.image.stateless_random_crop(value, [2, 4, 1, 2], [seed, 0])
        place = np.argwhere(value == found[0, 0, 0, 0])[0]
        part = tuple(slice(at, at + size) for at, size in zip(place, found.shape, strict=True))
        np.testing.assert_array_equal(found, value[part])
    sizes = hr.Dataset.from_tensor_slices([[1, 2, 3], [6, 8, 1]])
    found = sizes.map(lambda n: hr.image.stateless_random_crop(IMAGE, n, [1, 2]), executor="native")
    assert [x.shape for x in found] == [(1, 2, 3), (6, 8, 1)]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m: m.stateless_random_brightness(IMAGE, -0.1, [1, 2]), "must be non-negative"),
        (lambda m: m.stateless_random_hue(IMAGE, 0.6, [1, 2]), "max_delta must be <= 0.5"),
        (lambda m: m.stateless_random_hue(IMAGE, -0.1, [1, 2]), "must be non-negative"),
        (lambda m: m.stateless_random_contrast(IMAGE, 2, 1, [1, 2]), "upper must be > lower"),
        (lambda m: m.stateless_random_saturation(IMAGE, -1, 1, [1, 2]), "lower must be non-neg"),
        (lambda m: m.stateless_random_crop(IMAGE, [7, 1, 1], [1, 2]), "value.shape >= size"),
    ],
)
def test_what_no_chance_can_do_is_refused(call, text):
    for module in (hr.image, tf.image):
        with pytest.raises(ValueError, match=text):
            call(module)


def test_a_crop_takes_a_size_for_each_axis():
    with pytest.raises(hr.errors.InvalidArgumentError, match="2 numbers for an array of 3 axes"):
        hr.image.stateless_random_crop(IMAGE, [2, 2], [1, 2])
    with pytest.raises(hr.errors.InvalidArgumentError, match="at least 0, got -1"):
        hr.image.stateless_random_crop(IMAGE, [2, 2, -1], [1, 2])


def test_the_twins_are_traced_with_their_seeds():
    def change(image, seed):
        x = tf.image.stateless_random_flip_left_right(image, seed)
        x = tf.image.stateless_random_hue(x, 0.2, seed)
        x = tf.image.stateless_random_contrast(x, 0.5, 1.5, seed + 1)
        return tf.image.stateless_random_crop(x, [4, 4, 3], seed)

    seeds = np.arange(8).reshape(4, 2)
    dataset = tf.data.Dataset.from_tensor_slices((BATCH, seeds)).map(change)
    assert dataset.element_spec == tf.TensorSpec([4, 4, 3], tf.uint8)
    for image, seed, row in zip(BATCH, seeds, dataset, strict=True):
        np.testing.assert_array_equal(row.numpy(), change(image, tf.constant(seed)).numpy())


CHANCES = {
    "brightness": (0.5,),
    "contrast": (0.2, 1.8),
    "crop": ([3, 3, 3],),
    "flip_left_right": (),
    "flip_up_down": (),
    "hue": (0.5,),
    "jpeg_quality": (5, 95),
    "saturation": (0.2, 1.8),
}


@pytest.mark.parametrize("name", CHANCES)
@pytest.mark.parametrize("package", [hr, tf.data], ids=["headrace", "tensorflow"])
def test_each_element_has_a_chance_of_its_own(name, package):
    images = hr.image if package is hr else tf.image
    options = {"executor": "native"} if package is hr else {}
    function, args = getattr(images, f"random_{name}"), CHANCES[name]

    def run(chunk_rows=None, **arguments):
        hr.set_seed(5)
        rows = package.Dataset.from_tensors(IMAGE).repeat(24)
        mapped = rows.map(lambda x: function(x, *args), **options, **arguments)
        if chunk_rows:
            mapped = mapped.with_options(hr.Options(_chunk_rows=chunk_rows))
        return [np.asarray(row).tobytes() for row in mapped]

    first = run()
    assert len(set(first)) >= 2
    assert run(num_parallel_calls=2) == first
    for chunk_rows in (1, 2, 7, 1024):
        assert run(chunk_rows) == first
    # Called as it is, on an image of any kind.
    for image in (IMAGE, IMAGE.astype(np.float32) / 256):
        alone = function(image, *args)
        assert alone.dtype == image.dtype
        hr.set_seed(4)
        once = np.asarray(function(image, *args))
        hr.set_seed(4)
        np.testing.assert_array_equal(np.asarray(function(image, *args)), once)


@pytest.mark.parametrize("name", CHANCES)
def test_images_of_many_sizes_have_a_chance_each(name):
    function, args = getattr(hr.image, f"random_{name}"), CHANCES[name]
    images = [IMAGE, IMAGE[1:], IMAGE[:, 2:], IMAGE, IMAGE[:5, :7]] * 4
    spec = hr.TensorSpec((None, None, 3), np.uint8)
    dataset = hr.Dataset.from_generator(lambda: iter(images), output_signature=spec)

    def run(chunk_rows):
        hr.set_seed(5)
        mapped = dataset.map(lambda x: function(x, *args), executor="native")
        return list(mapped.with_options(hr.Options(_chunk_rows=chunk_rows)))

    first = run(1)
    for chunk_rows in (2, 7, 1024):
        for row, other in zip(run(chunk_rows), first, strict=True):
            np.testing.assert_array_equal(row, other)


def test_a_part_is_sampled_for_each_element():
    def sample(x):
        return hr.image.sample_distorted_bounding_box([40, 60, 3], [[[0.2, 0.2, 0.9, 0.9]]])[0]

    hr.set_seed(3)
    begins = {tuple(begin) for begin in hr.Dataset.range(30).map(sample, executor="native")}
    assert len(begins) > 10
    hr.set_seed(3)
    assert {tuple(begin) for begin in hr.Dataset.range(30).map(sample)} == begins
    for chunk_rows in (1, 2, 7, 1024):
        hr.set_seed(3)
        rows = hr.Dataset.range(30).map(sample, executor="native")
        rows = rows.with_options(hr.Options(_chunk_rows=chunk_rows))
        assert {tuple(begin) for begin in rows} == begins


def test_the_twin_samples_a_part_for_each_element():
    def sample(x):
        boxes = tf.constant([[[0.2, 0.2, 0.9, 0.9]]])
        begin, size, box = tf.image.sample_distorted_bounding_box([40, 60, 3], boxes, seed=2)
        return begin, size, box

    dataset = tf.data.Dataset.range(30).map(sample)
    assert "runs as a graph" in dataset.explain()
    assert len({tuple(begin.numpy().tolist()) for begin, _, _ in dataset}) > 10
    assert [part.shape for part in sample(0)] == [(3,), (3,), (1, 1, 4)]


def test_qualities_are_within_0_to_100():
    for module in (hr.image, tf.image):
        with pytest.raises(ValueError, match="between 0 and 100"):
            module.stateless_random_jpeg_quality(IMAGE, 0, 101, [1, 2])
        with pytest.raises(ValueError, match="must be less than"):
            module.random_jpeg_quality(IMAGE, 50, 50)
