"""The best of boxes that overlap: on arrays, and as graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_ops import CHUNKS, compare

import headrace as hr


def drawn(data, count, batch=()):
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    boxes = rng.integers(0, 6, (4, *batch, count, 4)).astype(np.float32) / 4
    scores = rng.integers(0, 5, (4, *batch, count)).astype(np.float32) / 5
    return boxes, scores


FORMS = {
    "plain": lambda b, s: hr.image.non_max_suppression(b, s, 3, 0.3),
    "scores": lambda b, s: hr.image.non_max_suppression_with_scores(b, s, 3, 0.3, 0.1),
    "soft": lambda b, s: hr.image.non_max_suppression_with_scores(b, s, 9, 0.3, 0.1, 0.5),
    "table": lambda b, s: hr.image.non_max_suppression_overlaps(b[:, 0] - b[:, :1], s, 3),
    "padded": lambda b, s: hr.image.non_max_suppression_padded(b, s, 4, 0.3),
    "combined": lambda b, s: hr.image.combined_non_max_suppression(
        b[None, :, None], np.stack([s, 1 - s], -1)[None], 2, 5, 0.3, 0.1
    ),
}


@settings(max_examples=60)
@given(st.data())
def test_all_forms_are_the_same_on_arrays_and_in_graphs(data):
    name = data.draw(st.sampled_from(sorted(FORMS)))
    boxes, scores = drawn(data, data.draw(st.sampled_from([0, 1, 7])))
    compare(FORMS[name], boxes, scores, rows=data.draw(st.sampled_from(CHUNKS)))


@settings(max_examples=60)
@given(st.data())
def test_no_two_chosen_boxes_share_more_than_the_threshold(data):
    (boxes, *_), (scores, *_) = drawn(data, 8)
    limit = data.draw(st.sampled_from([0.0, 0.3, 0.7]))
    chosen = hr.image.non_max_suppression(boxes, scores, 8, limit)
    soft, lowered = hr.image.non_max_suppression_with_scores(
        boxes, scores, 8, limit, 0.0, soft_nms_sigma=0.3
    )
    assert (np.diff(scores[chosen]) <= 0).all()
    assert (np.diff(lowered) <= 0).all()
    assert (lowered <= scores[soft]).all()
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    for i, a in enumerate(chosen):
        for b in chosen[:i]:
            sides = np.minimum(high[a], high[b]) - np.maximum(low[a], low[b])
            common = np.maximum(sides, 0).prod()
            areas = (high[[a, b]] - low[[a, b]]).prod(-1)
            assert common <= limit * (areas.sum() - common) + 1e-6 or 0 in areas


def test_images_with_different_numbers_of_boxes():
    sizes = [3, 0, 5]
    boxes = [np.tile(np.float32([0, 0, 1, 1]), (n, 1)) + np.arange(n)[:, None] for n in sizes]
    spec = hr.TensorSpec((None, 4), np.float32)
    dataset = hr.Dataset.from_generator(
        lambda: iter(b.astype(np.float32) for b in boxes), output_signature=spec
    )
    mapped = dataset.map(
        lambda b: (
            *hr.image.non_max_suppression_with_scores(b, b[:, 0], 9),
            *hr.image.non_max_suppression_padded(b, b[:, 0], 4),
        ),
        executor="native",
    )
    seen = list(mapped)
    assert [x[0].tolist() for x in seen] == [[2, 1, 0], [], [4, 3, 2, 1, 0]]
    assert [x[1].dtype for x in seen] == [np.float32] * 3
    assert [x[2].tolist() for x in seen] == [[2, 1, 0, 0], [0, 0, 0, 0], [4, 3, 2, 1]]
    assert [int(x[3]) for x in seen] == [3, 0, 4]


def test_what_does_not_fit_is_an_error():
    boxes, scores = np.zeros((2, 4)), np.zeros(2)
    for wrong, text in [
        (lambda: hr.image.non_max_suppression_with_scores(boxes, scores[:1], 1), "incompatible"),
        (lambda: hr.image.non_max_suppression(boxes, scores, -1), "non-negative"),
        (lambda: hr.image.non_max_suppression(boxes, scores, 1, 1.5), r"\[0, 1\]"),
        (lambda: hr.image.non_max_suppression(boxes, scores, 1, np.nan), r"\[0, 1\]"),
        (
            lambda: hr.image.non_max_suppression_with_scores(boxes, scores, 1, 0.5, 0.0, -1.0),
            "soft_nms_sigma",
        ),
        (lambda: hr.image.non_max_suppression_overlaps(boxes, scores, 1), "square"),
        (lambda: hr.image.non_max_suppression_padded(boxes, scores, -1), "max_output_size"),
        (lambda: hr.image.non_max_suppression_padded(boxes, scores, 1 << 40), "max_output_size"),
        (lambda: hr.image.non_max_suppression_padded(boxes[:, :3], scores, 1), "end in 4"),
        (
            lambda: hr.image.combined_non_max_suppression(
                np.zeros((1, 2, 3, 4)), np.zeros((1, 2, 2)), 1, 1
            ),
            "number of classes",
        ),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong()
    many = np.zeros((1 << 12, 1, 4)), np.zeros((1 << 12, 1))
    with pytest.raises((MemoryError, hr.errors.ResourceExhaustedError)):
        hr.image.non_max_suppression_padded(*many, (1 << 31) - 1)
