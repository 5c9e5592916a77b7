"""`Dataset.range`."""

import numpy as np
import pytest

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


@pytest.mark.parametrize("args", [(5,), (2, 7), (2, 11, 3), (9, 0, -4), (5, 0), (0,), (-3,)])
def test_it_counts_as_pythons_range(args):
    assert values(hr.Dataset.range(*args)) == list(range(*args))
    assert len(hr.Dataset.range(*args)) == len(range(*args))


def test_elements_are_int64_scalars():
    (element,) = hr.Dataset.range(1)
    assert type(element) is np.int64
    assert hr.Dataset.range(1).element_spec == hr.TensorSpec((), np.int64)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32, "int16"])
def test_the_output_type_can_be_chosen(dtype):
    seen = list(hr.Dataset.range(3, output_type=dtype))
    assert [x.dtype for x in seen] == [np.dtype(dtype)] * 3
    assert values(seen) == [0, 1, 2]


def test_numpy_integers_are_accepted():
    assert values(hr.Dataset.range(np.int64(1), np.uint8(3))) == [1, 2]


def test_a_step_of_zero_is_refused():
    with pytest.raises(hr.errors.InvalidArgumentError, match="step must be a non-zero integer"):
        hr.Dataset.range(0, 5, 0)


@pytest.mark.parametrize("args", [(), (1, 2, 3, 4)])
def test_a_wrong_number_of_arguments_is_refused(args):
    with pytest.raises(ValueError, match="1 to 3"):
        hr.Dataset.range(*args)


def test_floats_are_refused():
    with pytest.raises(TypeError, match="integer"):
        hr.Dataset.range(1.5)


def test_ranges_of_every_number_that_tensorflow_has():
    import headrace.tf as tf

    numbers = hr.Dataset.range(255, 260, output_type="bfloat16")
    assert numbers.element_spec.dtype_name == "bfloat16"
    assert [float(x) for x in numbers] == [255, 256, 256, 258, 260]
    assert [x.dtype for x in hr.Dataset.range(2, output_type=np.complex64)] == [np.complex64] * 2
    assert list(hr.Dataset.range(3, output_type=np.complex128)) == [0, 1, 2]
    for dtype in (bool, bytes):
        with pytest.raises(hr.errors.InvalidArgumentError, match="cannot have dtype"):
            hr.Dataset.range(2, output_type=dtype)
    dataset = tf.data.Dataset.range(3, output_type=tf.bfloat16)
    assert dataset.element_spec == tf.TensorSpec([], tf.bfloat16)
    assert [float(x.numpy()) for x in dataset] == [0, 1, 2]
