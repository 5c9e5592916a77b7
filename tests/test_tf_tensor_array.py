"""`tf.TensorArray`, outside of datasets and in their functions."""

import numpy as np
import pytest

import headrace.tf as tf


def three(**options):
    return tf.TensorArray(tf.float32, 3, **options)


def filled():
    return three().write(0, 1.0).write(1, 2.0).write(2, 3.0)


def values(tensor):
    return tensor.numpy().tolist()


def test_what_is_written_is_read_and_stacked():
    array = filled()
    assert values(array.stack()) == [1, 2, 3]
    assert values(array.gather([2, 0])) == [3, 1]
    assert values(array.gather([])) == []
    assert values(array.identity().read(1)) == 2
    assert array.size().dtype is tf.int32
    assert values(array.size()) == 3
    array.close()
    assert values(array.size()) == 0
    texts = tf.TensorArray(tf.string, 2).write(0, "a")
    assert texts.stack().numpy().tolist() == [b"a", b""]


def test_places_without_a_tensor_are_zeros_of_its_shape():
    assert values(three().write(0, 1.0).stack()) == [1, 0, 0]
    assert values(three(element_shape=[2]).stack()) == [[0, 0]] * 3
    assert values(three(element_shape=[2]).read(1)) == [0, 0]
    with pytest.raises(ValueError, match="partially known TensorShape"):
        three().read(1)
    with pytest.raises(ValueError, match="partially known TensorShape"):
        three().stack()
    assert values(tf.TensorArray(tf.float32, 0).stack()) == []
    assert tf.TensorArray(tf.float32, 0, element_shape=[2]).stack().shape == (0, 2)


def test_a_tensor_is_read_once_unless_told():
    array = three().write(0, 1.0)
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice because it was cleared"):
        array.read(0)
    assert values(array.write(0, 5.0).read(0)) == 5
    kept = three(clear_after_read=False).write(0, 1.0)
    assert [values(kept.read(0)), values(kept.read(0))] == [1, 1]


def test_numbers_are_checked():
    with pytest.raises(tf.errors.OutOfRangeError, match="negative indices"):
        three().read(-1)
    with pytest.raises(tf.errors.OutOfRangeError, match="array size is: 3"):
        three().read(3)
    with pytest.raises(tf.errors.OutOfRangeError, match="negative indices"):
        three().write(-1, 1.0)
    with pytest.raises(tf.errors.OutOfRangeError, match="not resizeable and size is: 3"):
        three().write(3, 1.0)
    with pytest.raises(IndexError):
        three().gather([5])
    longer = three(dynamic_size=True).write(4, 1.0)
    assert values(longer.stack()) == [0, 0, 0, 0, 1]
    assert longer.dynamic_size


def test_dtypes_and_shapes_are_checked():
    with pytest.raises(tf.errors.InvalidArgumentError, match="trying to write dtype int32"):
        three().write(0, tf.constant(1))
    assert values(three().write(0, 1).read(0)) == 1.0
    with pytest.raises(ValueError, match="Incompatible shape"):
        three().write(0, [1.0]).write(1, [1.0, 2.0])
    with pytest.raises(ValueError, match="Incompatible shape"):
        three(element_shape=[3]).write(0, [1.0])
    assert three(element_shape=[None]).write(0, [1.0]).element_shape == (1,)
    assert three().dtype is tf.float32
    assert three().handle is None
    with pytest.raises(NotImplementedError):
        three().grad("loss")


def test_tensors_are_cut_in_and_joined():
    assert values(three().unstack([[1.0], [2.0], [3.0]]).read(1)) == [2]
    assert values(three().unstack([1.0, 2.0]).size()) == 2
    with pytest.raises(ValueError, match="Cannot unstack 4 tensors"):
        three().unstack([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(ValueError, match="scalar"):
        three().unstack(1.0)
    assert values(three().scatter([2, 0], [1.0, 2.0]).stack()) == [2, 0, 1]
    pieces = tf.TensorArray(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    assert values(pieces.concat()) == [1, 2, 3]
    assert values(pieces.read(1)) == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="sum of lengths is 2"):
        tf.TensorArray(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="size of lengths"):
        tf.TensorArray(tf.float32, 1).split([1.0, 2.0], [1, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least a vector"):
        three().split(1.0, [1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar shape at index 0"):
        filled().concat()


def elements(dataset):
    return [np.asarray(x).tolist() for x in dataset.as_numpy_iterator()]


def test_functions_with_known_numbers_are_graphs():
    def multiples(x):
        array = tf.TensorArray(tf.int64, 3)
        for i in range(3):
            array = array.write(i, x * i)
        return array.stack()

    dataset = tf.data.Dataset.range(3).map(multiples)
    assert dataset.element_spec == tf.TensorSpec((3,), tf.int64)
    assert elements(dataset) == [[0, 0, 0], [0, 1, 2], [0, 2, 4]]
    assert "runs as a graph" in dataset.explain()

    def parts(x):
        array = tf.TensorArray(tf.int64, 2).unstack(tf.stack([x, x + 1]))
        return array.read(0), array.size(), array.read(1)

    dataset = tf.data.Dataset.range(2).map(parts)
    assert list(dataset.as_numpy_iterator()) == [(0, 2, 1), (1, 2, 2)]


def test_functions_with_numbers_of_a_run_run_as_python():
    def repeated(x):
        array = tf.TensorArray(tf.int64, 0, dynamic_size=True)
        for i in tf.range(tf.cast(x, tf.int32)):
            array = array.write(i, x)
        return array.stack()

    dataset = tf.data.Dataset.range(1, 4).map(repeated)
    assert dataset.element_spec == tf.TensorSpec((None,), tf.int64)
    assert elements(dataset) == [[1], [2, 2], [3, 3, 3]]

    def picked(x):
        array = tf.TensorArray(tf.int64, 3).unstack(tf.constant([5, 6, 7], tf.int64))
        at = tf.cast(x, tf.int32)
        return array.read(at), array.gather([at])

    dataset = tf.data.Dataset.range(2).map(picked)
    assert dataset.element_spec[0] == tf.TensorSpec((), tf.int64)
    assert [x[0] for x in dataset.as_numpy_iterator()] == [5, 6]


def test_loops_hand_it_on():
    def filled(x):
        _, array = tf.while_loop(
            lambda i, array: i < 3,
            lambda i, array: (i + 1, array.write(i, x)),
            (0, tf.TensorArray(tf.int64, 3)),
        )
        return array.stack()

    assert values(filled(tf.constant(4, tf.int64))) == [4, 4, 4]
    assert elements(tf.data.Dataset.range(2).map(filled)) == [[0, 0, 0], [1, 1, 1]]


def counted(number):
    array = tf.TensorArray(tf.int64, 0, dynamic_size=True, element_shape=[])
    for k in range(3):
        array = array.write(k, number + k)
    return array


def test_it_is_a_component_of_elements():
    dataset = tf.data.Dataset.range(4).map(counted)
    expected = [[n, n + 1, n + 2] for n in range(4)]
    assert [values(array.stack()) for array in dataset] == expected
    assert [values(array.stack()) for array in dataset.cache().repeat(2).skip(1).take(3)] == (
        expected[1:]
    )
    assert [values(x) for x in dataset.map(lambda array: array.stack())] == expected
    pairs = tf.data.Dataset.zip(dataset, tf.data.Dataset.range(2))
    assert [int(x) for x in pairs.map(lambda array, k: array.read(tf.cast(k, tf.int32)))] == [0, 2]
    assert len(list(dataset.filter(lambda array: array.size() > 3))) == 0
    (array,) = tf.data.Dataset.from_tensors(counted(tf.constant(7, tf.int64)))
    assert values(array.stack()) == [7, 8, 9]


@pytest.mark.parametrize("calls", [1, 2, tf.data.AUTOTUNE])
def test_parallel_maps_give_it_too(calls):
    dataset = tf.data.Dataset.range(20).map(counted, num_parallel_calls=calls)
    assert [int(array.stack()[0]) for array in dataset] == list(range(20))


def test_it_is_a_state_of_scans_and_reductions():
    start = tf.TensorArray(tf.int64, 0, dynamic_size=True, element_shape=[])
    start = start.write(0, tf.constant(-1, tf.int64))

    def step(array, number):  # what is written is another array: the old one is given
        return array.write(array.size(), number), array.stack()

    dataset = tf.data.Dataset.range(3).scan(start, step)
    for _ in range(2):
        assert [values(x) for x in dataset] == [[-1], [-1, 0], [-1, 0, 1]]
    for _ in range(2):
        found = tf.data.Dataset.range(3).reduce(start, lambda array, x: array.write(x + 1, 2 * x))
        assert values(found.stack()) == [-1, 0, 2, 4][: 1 + 3]
    assert values(start.stack()) == [-1]
