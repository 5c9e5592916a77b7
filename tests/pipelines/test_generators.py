"""Pipelines over Python generators."""

import time

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf


class Samples:
    """Yields a number and as many labels; keeps a record of its life."""

    def __init__(self, count=4):
        self.count = count
        self.started = self.closed = 0

    def __call__(self, count=None):
        self.started += 1
        try:
            for i in range(self.count if count is None else int(count)):
                yield i / 2, list(range(i))
        finally:
            self.closed += 1


def with_types(samples, **more):
    return tf.data.Dataset.from_generator(
        samples, output_types=(tf.float32, tf.int32), output_shapes=((), (None,)), **more
    )


def with_signature(samples, **more):
    return tf.data.Dataset.from_generator(
        samples,
        output_signature=(
            tf.TensorSpec(shape=(), dtype=tf.float32),
            tf.TensorSpec(shape=(None,), dtype=tf.int32),
        ),
        **more,
    )


def as_arrays(samples, **more):
    signature = (hr.TensorSpec([], np.float32), hr.TensorSpec([None], np.int32))
    return hr.Dataset.from_generator(samples, output_signature=signature, **more)


EVERY = pytest.mark.parametrize("make", [with_types, with_signature, as_arrays])


@EVERY
def test_a_generator_restarts_each_epoch(make):
    samples = Samples()
    dataset = make(samples)
    for epoch in (1, 2):
        seen = [(float(x), np.asarray(labels).tolist()) for x, labels in dataset]
        assert seen == [(i / 2, list(range(i))) for i in range(4)]
        assert samples.started == samples.closed == epoch
    assert len(list(dataset.repeat(3))) == 12
    assert samples.started == 5


@EVERY
def test_a_generator_gets_its_arguments(make):
    assert len(list(make(Samples(), args=(7,)))) == 7


@EVERY
def test_dtypes_are_the_declared_ones(make):
    x, labels = next(iter(make(Samples())))
    assert np.asarray(x).dtype == np.float32
    assert np.asarray(labels).dtype == np.int32


@EVERY
def test_a_yield_that_does_not_fit_says_which_and_why(make):
    def wrong_shape():
        yield 0.5, [1]
        yield 0.5, [[1, 2]]

    run = iter(make(wrong_shape))
    next(run)
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"shape \(1, 2\)") as info:
        next(run)
    assert "element 1" in str(info.value)

    def wrong_type():
        yield 0.5, [1]
        yield "half", [1]

    with pytest.raises(hr.errors.InvalidArgumentError, match=r"half|float32") as info:
        list(make(wrong_type))
    assert "element 1" in str(info.value)

    def wrong_structure():
        yield 0.5

    with pytest.raises(hr.errors.InvalidArgumentError, match="structure"):
        list(make(wrong_structure))


@EVERY
def test_leaving_early_closes_the_generator(make):
    samples = Samples(count=1_000)
    for _ in make(samples):
        break
    assert (samples.started, samples.closed) == (1, 1)
    assert len(list(make(samples).prefetch(2).take(3))) == 3
    # Below a prefetch it lives in a thread of its own, and ends there.
    deadline = time.monotonic() + 10
    while samples.closed < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (samples.started, samples.closed) == (2, 2)


@EVERY
def test_a_generator_is_padded_and_batched(make):
    batches = list(make(Samples()).padded_batch(2))
    assert [np.asarray(labels).tolist() for _, labels in batches] == [
        [[0], [0]],
        [[0, 1, 0], [0, 1, 2]],
    ]
