"""Values of TensorFlow 1 as data, and functions with effects, in headrace.tf."""

import numpy as np
import pytest

import headrace.tf as tf

D = tf.data.Dataset
v1 = tf.compat.v1


def pair(k):
    return v1.SparseTensorValue(indices=[[0]], values=k * np.array([1]), dense_shape=[2])


def test_a_sparse_value_is_one_component():
    dataset = D.from_tensors((pair(3), 7))
    assert dataset.element_spec[0] == tf.SparseTensorSpec([2], tf.int64)
    (sparse, number) = next(iter(dataset))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [3, 0]
    assert number.numpy() == 7


def test_a_function_may_return_sparse_values():
    dataset = D.range(4).map(pair).batch(2)
    first, second = (tf.sparse.to_dense(batch).numpy().tolist() for batch in dataset)
    assert first == [[0, 0], [1, 0]]
    assert second == [[2, 0], [3, 0]]


def test_slices_of_sparse_values_are_their_rows():
    rows = v1.SparseTensorValue(np.array([[0, 1], [1, 0]]), np.array([5, 6]), np.array([2, 2]))
    dense = [tf.sparse.to_dense(row).numpy().tolist() for row in D.from_tensor_slices(rows)]
    assert dense == [[0, 5], [6, 0]]


def test_a_ragged_value_is_one_component():
    value = v1.ragged.constant_value([[[1], []], [[2, 3]]])
    assert value.ragged_rank == 2
    assert value.to_list() == [[[1], []], [[2, 3]]]
    assert [row.to_list() for row in D.from_tensor_slices(value)] == [[[1], []], [[2, 3]]]


def test_padding_refuses_sparse_and_ragged_values():
    for value in (pair(1), v1.ragged.constant_value([[1], [2, 3]])):
        with pytest.raises(TypeError):
            D.from_tensors(value).padded_batch(2)


def test_padding_defaults_hold_for_all_below_a_none():
    rows = D.from_tensor_slices([1, 3]).map(lambda n: (tf.fill([n], n), {"a": tf.fill([n], "x")}))
    ((numbers, texts),) = rows.padded_batch(2, padding_values=(-1, None))
    assert numbers.numpy().tolist() == [[1, -1, -1], [3, 3, 3]]
    assert texts["a"].numpy().tolist() == [[b"x", b"", b""], [b"x"] * 3]


@pytest.mark.parametrize(
    ("shapes", "error", "text"),
    [
        ([1], ValueError, r"corresponding input component shape \(3,\)"),
        (
            [[1, 1], [1, 1]],
            ValueError,
            r"1-D tensor of tf.int64 values, but its shape was \(2, 2\)",
        ),
        (tf.constant([1.5]), TypeError, r"but its element type was float32"),
    ],
)
def test_padded_shapes_that_cannot_be_are_named(shapes, error, text):
    with pytest.raises(error, match=text):
        D.from_tensors([1, 2, 3]).padded_batch(5, padded_shapes=shapes)


def test_an_optional_may_hold_an_optional():
    inner = tf.experimental.Optional.from_value(7)
    outer = tf.experimental.Optional.from_value(inner)
    assert outer.element_spec == tf.OptionalSpec(tf.TensorSpec([], tf.int32))
    assert outer.get_value().get_value().numpy() == 7


def test_a_cache_of_known_size_is_whole_at_its_last_element():
    dataset = D.range(5).shuffle(5).cache()
    run = iter(dataset)
    first = [run.get_next().numpy() for _ in range(5)]
    assert [x.numpy() for x in dataset] == first


def test_elements_of_whole_batches_are_found_by_number():
    dataset = D.range(10).batch(4, drop_remainder=True).unbatch()
    assert [tf.data.experimental.at(dataset, k).numpy() for k in (7, 0, 5)] == [7, 0, 5]
    assert [x.numpy() for x in dataset.skip(6)] == [6, 7]
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.at(dataset, 8)
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.data.experimental.at(D.range(10).batch(4).unbatch(), 0)


def test_a_parallel_interleave_of_an_endless_input_is_endless():
    dataset = D.range(3).repeat()
    endless = dataset.interleave(D.from_tensors, num_parallel_calls=2)
    assert endless.cardinality().numpy() == tf.data.INFINITE_CARDINALITY
    assert dataset.flat_map(D.from_tensors).cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY


def test_an_iterator_in_a_function_gives_one_element_a_call():
    other = iter(D.range(10, 20))
    found = [x.numpy() for x in D.range(4).map(lambda x: x * other.get_next())]
    assert found == [0, 11, 24, 39]
    assert other.get_next().numpy() == 14


@pytest.mark.parametrize("calls", [None, 3])
def test_the_end_of_an_iterator_in_a_function_is_no_end_of_the_dataset(calls):
    other = iter(D.range(1))
    run = iter(D.range(2).map(lambda x: x * 0 + other.get_next(), num_parallel_calls=calls))
    values, errors = [], []
    for _ in range(2):  # of two calls at once either may have the only element
        try:
            values.append(int(run.get_next()))
        except tf.errors.InvalidArgumentError as error:
            errors.append(str(error))
    assert values == [0]
    assert len(errors) == 1
    assert "OutOfRangeError" in errors[0]
    with pytest.raises(tf.errors.OutOfRangeError):
        run.get_next()


def test_stop_iteration_in_a_py_func_is_an_error():
    def stop(x):
        raise StopIteration

    run = iter(D.range(1).map(lambda x: v1.py_func(stop, [x], tf.int64)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run.get_next()


@pytest.mark.parametrize("step", ["filter", "take_while"])
@pytest.mark.parametrize("result", [[True], (True, True), {"a": True}, 1])
def test_a_predicate_gives_one_bool(step, result):
    with pytest.raises(ValueError, match="bool"):
        getattr(D.range(3), step)(lambda x: result)


def test_shapes_that_do_not_batch_are_named_in_the_words_of_tf_data():
    rows = D.from_generator(lambda: iter([[1, 2], [3]]), tf.int32, [None])
    text = r"Cannot batch tensors with different shapes in component 0\. First element had shape "
    with pytest.raises(tf.errors.InvalidArgumentError, match=text + r"\[2\] and element 1 had"):
        list(rows.batch(2))


def test_prefetch_none_is_prefetch_autotune():
    assert [x.numpy() for x in D.range(3).prefetch(None)] == [0, 1, 2]


def test_a_plan_may_be_deeper_than_the_stack_of_python():
    one = D.from_tensors(7)
    options = tf.data.Options()
    options.deterministic = False
    deep = one.with_options(options)
    for _ in range(999):
        deep = deep.concatenate(one)
    assert deep.options().deterministic is False
    assert sum(x.numpy() for x in deep) == 7000


def test_readers_take_datasets_of_names(tmp_path):
    names = []
    for name in ("a", "b"):
        path = tmp_path / name
        path.write_text(f"{name}1\n{name}2\n")
        names.append(str(path))
    lines = tf.data.TextLineDataset(D.from_tensor_slices(names))
    assert [line.numpy() for line in lines] == [b"a1", b"a2", b"b1", b"b2"]
    with pytest.raises(TypeError, match="filenames"):
        tf.data.TextLineDataset(D.range(2))


def test_groups_are_reduced_to_one_element_each():
    mean = tf.data.experimental.Reducer(
        init_func=lambda key: (0.0, 0.0),
        reduce_func=lambda state, x: (state[0] + tf.cast(x, tf.float32), state[1] + 1.0),
        finalize_func=lambda total, count: total / count,
    )
    grouped = D.range(6).apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, mean))
    assert [x.numpy() for x in grouped] == [2.0, 3.0]


@pytest.mark.parametrize(
    ("cycle", "calls"),
    [
        (1, None),
        (1, 1),
        (2, None),
        (2, 1),
        (2, 2),
        (7, None),
        (7, 1),
        (7, 2),
        (7, 3),
        (7, 5),
        (7, 7),
    ],
)
def test_errors_of_the_input_come_in_its_order(cycle, calls):
    values = [1.0, np.nan, 2.0, np.nan, 3.0]
    checked = D.from_tensor_slices(np.float32(values)).map(
        lambda x: tf.debugging.check_numerics(x, "")
    )
    run = iter(checked.interleave(D.from_tensors, cycle, 2, calls))
    for value in values:
        if np.isnan(value):
            with pytest.raises(tf.errors.InvalidArgumentError):
                run.get_next()
        else:
            assert run.get_next().numpy() == value


@pytest.mark.parametrize(
    ("value", "other"),
    [(3, 9), ([1, 2], 9), ([[1.5, float("nan")]], 9.0), ([True], [False]), ([1 + 2j], [1j])],
)
def test_tensors_are_compared_by_numpys_tests(value, other):
    tensor = tf.constant(value)
    np.testing.assert_array_equal(tensor, value)
    np.testing.assert_allclose(tensor, value)
    np.testing.assert_array_equal(tensor, tensor)
    for wrong in (other, np.full((2, 3), 7.5)):
        with pytest.raises(AssertionError):
            np.testing.assert_array_equal(wrong, tensor)


@pytest.mark.parametrize("make", [tf.zeros, tf.ones, lambda sizes: tf.fill(sizes, 3.0)])
def test_tensors_that_no_memory_holds_have_tensorflows_errors(make):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"more than 2\*\*63 - 1"):
        make([1 << 40, 1 << 40])
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"\[2147483648,2147483648\]"):
        make([1 << 31, 1 << 31])
