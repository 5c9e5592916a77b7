"""Boxes in images: cutting, drawing, choosing; patches; and what is refused."""

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

IMAGES = np.arange(2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)


def test_a_box_of_the_whole_image_is_the_image():
    for method in ("bilinear", "nearest"):
        found = hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]] * 2, [1, 0], [4, 5], method)
        np.testing.assert_allclose(found, IMAGES[::-1], rtol=1e-6)
    turned = hr.image.crop_and_resize(IMAGES, [[1, 0, 0, 1]], [0], [4, 5])
    np.testing.assert_allclose(turned[0], IMAGES[0, ::-1], rtol=1e-6)


def test_what_is_outside_of_the_image_is_filled():
    found = hr.image.crop_and_resize(IMAGES, [[-1, -1, 0, 0]], [0], [2, 2], extrapolation_value=7.0)
    assert found[0, :, :, 0].tolist() == [[7.0, 7.0], [7.0, 0.0]]


def test_boxes_are_drawn_in_their_colours():
    images = np.zeros((1, 4, 4, 3), np.float32)
    boxes = [[[0, 0, 1, 1], [0, 0, 0, 0]]]
    found = hr.image.draw_bounding_boxes(images, boxes, [[1, 2, 3], [4, 5, 6]])
    assert found[0, 0, 0].tolist() == [4, 5, 6]
    assert found[0, 3, 0].tolist() == [1, 2, 3]
    assert found[0, 1, 1].tolist() == [0, 0, 0]
    assert hr.image.draw_bounding_boxes(images, boxes)[0, 3, 3].tolist() == [1, 1, 0]
    none = hr.image.draw_bounding_boxes(images, np.zeros((1, 0, 4)))
    np.testing.assert_array_equal(none, images)


def test_boxes_that_are_nowhere_draw_nothing():
    images = np.zeros((1, 4, 4, 1), np.float32)
    for box in ([2, 0, 3, 1], [0.5, 0, 0.2, 1], [-2, 0, -1, 1], [np.nan] * 4, [1e30] * 4):
        assert hr.image.draw_bounding_boxes(images, [[box]]).sum() in (0, 1)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_patches_are_laid_out_along_channels(padding):
    found = hr.image.extract_patches(IMAGES, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], padding)
    width = 5 if padding == "SAME" else 3
    assert found.shape == (2, 2, width, 18)
    middle = found[1, 0, 1 if padding == "SAME" else 0].reshape(2, 3, 3)
    np.testing.assert_array_equal(middle, IMAGES[1, :2, :3])


def test_the_best_boxes_are_chosen():
    boxes = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11]]
    scores = [0.9, 0.75, 0.6, 0.95]
    choose = hr.image.non_max_suppression
    assert choose(boxes, scores, 4).tolist() == [3, 0]
    assert choose(boxes, scores, 1).tolist() == [3]
    assert choose(boxes, scores, 4, 0.9).tolist() == [3, 0, 1, 2]
    assert choose(boxes, scores, 4, 0.9, 0.7).tolist() == [3, 0, 1]
    assert choose(np.zeros((0, 4)), [], 4).tolist() == []
    chosen, points = tf.image.non_max_suppression_with_scores(
        tf.constant(boxes), tf.constant(scores), 4
    )
    assert chosen.numpy().tolist() == [3, 0]
    np.testing.assert_array_equal(points.numpy(), np.float32([0.95, 0.9]))


@pytest.mark.parametrize("chunk", [1, 2, 7, 1024])
def test_a_part_with_enough_of_an_object_is_found(chunk):
    box = [[[0.25, 0.25, 0.75, 0.75]]]

    def sample(seed):
        return hr.image.stateless_sample_distorted_bounding_box(
            [40, 60, 3], box, [seed, 1], min_object_covered=0.8, area_range=(0.3, 0.6)
        )

    dataset = hr.Dataset.range(30).map(sample, executor="native")
    rows = list(dataset.with_options(hr.Options(_chunk_rows=chunk)))
    for seed, (begin, size, found) in enumerate(rows):
        for a, b in zip((begin, size, found), sample(np.int64(seed)), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
        (top, left, _), (height, width, depth) = begin, size
        assert depth == -1
        assert 0 <= top <= top + height <= 40
        assert 0 <= left <= left + width <= 60
        rows_in = max(min(top + height, 30) - max(top, 10), 0)
        columns_in = max(min(left + width, 45) - max(left, 15), 0)
        assert rows_in * columns_in >= 0.8 * 20 * 30 * 0.999
        np.testing.assert_allclose(
            found[0, 0], [top / 40, left / 60, (top + height) / 40, (left + width) / 60], rtol=1e-6
        )
    assert len({tuple(begin) for begin, *_ in rows}) > 10


def test_too_many_attempts_give_the_whole_image():
    begin, size, found = hr.image.stateless_sample_distorted_bounding_box(
        np.int64([40, 60, 3]),
        [[[0, 0, 1, 1]]],
        [1, 2],
        min_object_covered=1.0,
        area_range=(0.1, 0.2),
        max_attempts=3,
    )
    assert (begin.tolist(), size.tolist()) == ([0, 0, 0], [40, 60, -1])
    assert found.tolist() == [[[0, 0, 1, 1]]]


SAMPLE = hr.image.stateless_sample_distorted_bounding_box


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [2], [1, 1]), "got 2 for 2"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [-1], [1, 1]), "outside"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [0, 0], [1, 1]), "2 indices"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, np.inf, 1]], [0], [1, 1]), "not finite"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, np.nan, 1, 1]], [1], [1, 1]), "not finite"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, 1]], [0], [1, 1]), "2-D ending in 4"),
        (lambda: hr.image.crop_and_resize(IMAGES[0], [[0, 0, 1, 1]], [0], [1, 1]), "4-D"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [0], [0, 1]), "positive"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [0], [1]), "two elements"),
        (lambda: hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [0], [1, 1], "area"), "area"),
        (lambda: hr.image.draw_bounding_boxes(IMAGES, np.zeros((1, 1, 4))), "batch sizes"),
        (lambda: hr.image.draw_bounding_boxes(IMAGES[..., :2], np.zeros((2, 1, 4))), "depth"),
        (lambda: hr.image.draw_bounding_boxes(IMAGES, np.zeros((2, 1, 4)), [[1, 2]]), "parts"),
        (lambda: hr.image.extract_patches(IMAGES, [1, 9, 1, 1], [1] * 4, [1] * 4, "VALID"), "9"),
        (lambda: hr.image.extract_patches(IMAGES, [1, 0, 1, 1], [1] * 4, [1] * 4, "SAME"), "zero"),
        (lambda: hr.image.extract_patches(IMAGES, [1] * 4, [1] * 4, [1] * 4, "FULL"), "FULL"),
        (lambda: SAMPLE([4, 4, 3], np.zeros((1, 0, 4)), [1, 2]), "No bounding boxes"),
        (lambda: SAMPLE([4, 4, 3], [[[0, 0, 1, 2]]], [1, 2]), r"in \[0.0, 1.0\]: 2"),
        (lambda: SAMPLE([4, 4], [[[0, 0, 1, 1]]], [1, 2]), "3 elements"),
        (lambda: SAMPLE([4, 4, 3], [[[0, 0, 1, 1]]], [1, 2], area_range=(0.5, 2)), "within"),
        (lambda: SAMPLE([4, 4, 3], [[[0, 0, 1, 1]]], [1, 2], area_range=(0.5, 0.1)), "lower"),
        (lambda: SAMPLE([4, 4, 3], [[[0, 0, 1, 1]]], [1, 2], max_attempts=0), "positive"),
        (lambda: SAMPLE([4, 4, 3], [[[0, 0, 1, 1]]], [1, 2], -1.0), "non-negative"),
        (lambda: hr.image.non_max_suppression([[0, 0, 1, 1]], [1, 2], 1), "2 scores for 1"),
        (lambda: hr.image.non_max_suppression([[0, 0, 1, 1]], [1], 1, 1.5), "iou_threshold"),
        (lambda: hr.image.non_max_suppression([[0, 0, 1, 1]], [1], -1), "non-negative"),
    ],
)
def test_what_does_not_fit_is_refused(call, text):
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        call()


def test_sizes_beyond_all_memory_are_errors():
    with pytest.raises(hr.errors.ResourceExhaustedError):
        hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [0], [2**31 - 1, 2**29])
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"more than 2\*\*63 - 1"):
        hr.image.crop_and_resize(IMAGES, [[0, 0, 1, 1]], [0], [2**31 - 1, 2**31 - 1])
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"more than 2\*\*63 - 1"):
        hr.image.extract_patches(IMAGES, [1, 2**31, 2**31, 1], [1] * 4, [1] * 4, "SAME")
