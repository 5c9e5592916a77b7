"""Functions under headrace.tf: traced once, when the dataset is made, and run with tensors."""

import pickle

import numpy as np
import pytest

import headrace.tf as tf

D = tf.data.Dataset


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


def test_a_function_is_traced_once_and_never_called_again():
    calls = []

    def count(x):
        calls.append(x)
        return x + 1

    dataset = D.range(5).map(count)
    assert len(calls) == 1
    assert values(dataset) == values(dataset) == [1, 2, 3, 4, 5]
    assert len(calls) == 1
    assert "runs as a graph" in dataset.explain()


def test_what_a_function_captures_is_fixed_when_the_method_is_called():
    offsets = np.array([1, 2])
    dataset = D.range(2).map(lambda x: x + offsets[0])
    offsets[0] = 100
    assert values(dataset) == [1, 2]


def test_what_a_function_raises_comes_out_of_the_method():
    def fail(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        D.range(3).map(fail)


def branch(x):
    y = x * 2 if x > 1 else x - 1
    for i in range(3):
        y += i
    return y


def loop(x):
    total = tf.constant(0, tf.int64)
    while total < x:
        total += 2
    for i in tf.range(x):
        total += i
    return total


@pytest.mark.parametrize(
    ("function", "expected", "how"),
    [(branch, [2, 3, 7, 9], "a graph"), (loop, [0, 2, 3, 7], "a graph")],
)
def test_branches_and_loops_on_values_are_graphs(function, expected, how):
    dataset = D.range(4).map(function)
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert values(dataset) == expected
    assert f"runs as {how}" in dataset.explain()


def test_an_exception_of_python_code_is_the_cause_of_tensorflows_error():
    def fail(x):
        raise ValueError("no")

    dataset = D.range(2).map(lambda x: tf.py_function(fail, [x], tf.int64))
    assert dataset.element_spec == tf.TensorSpec(None, tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: no") as caught:
        list(dataset)
    assert type(caught.value.__cause__) is ValueError


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), tf.errors.InvalidArgumentError),
        (TypeError("x"), tf.errors.InvalidArgumentError),
        (NotImplementedError("x"), tf.errors.UnimplementedError),
        (RuntimeError("x"), tf.errors.UnknownError),
    ],
)
def test_errors_of_generators_are_tensorflows(error, kind):
    def generate():
        yield 1
        raise error

    run = iter(D.from_generator(generate, tf.int32))
    assert next(run).numpy() == 1
    with pytest.raises(kind) as caught:
        next(run)
    assert caught.value.__cause__ is error


def test_a_generator_may_yield_tensors():
    dataset = D.from_generator(lambda: iter([tf.constant([1, 2])]), tf.int32)
    assert values(dataset) == [[1, 2]]


def test_printing_happens_once_per_element(capfd):
    def show(x):
        tf.print("x =", x)
        return x

    assert values(D.range(2).map(show)) == [0, 1]
    assert capfd.readouterr().err == "x = 0\nx = 1\n"


@pytest.mark.parametrize(
    ("values", "options", "text"),
    [
        ((tf.constant("a"),), {}, "a"),
        (("x", tf.constant("a"), tf.constant(["b", "c"])), {}, 'x "a" ["b" "c"]'),
        ((tf.range(10),), {}, "[0 1 2 ... 7 8 9]"),
        ((tf.range(10),), {"summarize": 1}, "[0 ... 9]"),
        ((tf.range(8),), {"summarize": -1}, "[0 1 2 3 4 5 6 7]"),
        ((tf.constant([1.0, 0.5]), 2.0), {"sep": ", "}, "[1 0.5], 2.0"),
        (({"b": tf.constant(1), "a": [tf.constant("q"), "r"]},), {}, "{'a': [\"q\", 'r'], 'b': 1}"),
        ((tf.ragged.constant([[1], [2, 3]]),), {}, "[[1], [2, 3]]"),
        ((tf.Variable([1, 2]), None, True), {}, "[1 2] None True"),
        (
            (tf.sparse.from_dense([0, 4]),),
            {},
            "'SparseTensor(indices=[[1]], values=[4], shape=[2])'",
        ),
        ((), {}, ""),
    ],
)
def test_tensors_are_printed_as_tensorflow_prints_them(values, options, text, capsys, tmp_path):
    tf.print(*values, **options)
    assert capsys.readouterr().err == text + "\n"
    path = tmp_path / "printed.txt"
    for end in ("|", ""):
        tf.print(*values, **options, output_stream=f"file://{path}", end=end)
    assert path.read_text() == f"{text}|{text}"


def test_functions_may_make_datasets_of_what_they_get():
    dataset = D.range(3).flat_map(lambda x: D.range(x).map(lambda y: y + x))
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert values(dataset) == [1, 2, 3]


def test_datasets_may_be_components():
    dataset = D.range(3).map(lambda x: (x, D.range(x)))
    assert dataset.element_spec[1] == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    assert values(dataset.flat_map(lambda x, inner: inner.map(lambda y: y + x))) == [1, 2, 3]
    with pytest.raises(TypeError, match="not supported for datasets that produce"):
        dataset.as_numpy_iterator()


def test_sparse_and_ragged_values_go_through_functions():
    sparse = tf.sparse.from_dense([0, 1])
    dataset = D.from_tensors(sparse).map(lambda s: s.with_values(s.values * 2))
    assert dataset.element_spec == tf.SparseTensorSpec([2], tf.int32)
    assert values(dataset) == [[0, 2]]
    ragged = tf.ragged.constant([[1], [2, 3]])
    dataset = D.from_tensors(ragged).map(lambda r: (r + 1, r.row_lengths(), r.to_tensor()))
    more, lengths, dense = next(iter(dataset))
    assert more.to_list() == [[2], [3, 4]]
    assert lengths.numpy().tolist() == [1, 2]
    assert dense.numpy().tolist() == [[1, 0], [2, 3]]


def test_datasets_pickle_with_their_functions():
    dataset = D.range(4).map(lambda x: x * 2).filter(lambda x: x > 0).batch(2)
    again = pickle.loads(pickle.dumps(dataset))
    assert type(again) is D
    assert values(again) == values(dataset) == [[2, 4], [6]]


def test_a_run_goes_on_from_a_state_with_tensors():
    def make():
        return D.range(3).map(lambda x: x + 1)

    run = iter(make())
    next(run)
    rest = list(make().iterator(run.state()))
    assert [x.numpy() for x in rest] == [2, 3]
    assert all(isinstance(x, tf.Tensor) for x in rest)


def test_set_shape_states_what_python_code_gives():
    def parse(x):
        y = tf.py_function(lambda v: v * 2, [x], tf.int64)
        y.set_shape([])
        return y

    dataset = D.range(2).map(parse)
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert values(dataset.batch(2)) == [[0, 2]]


def test_a_tensor_cannot_be_hashed_or_changed():
    x = tf.constant([1, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError, match="item assignment"):
        x[0] = 5
    y = x
    y += 1
    assert x.numpy().tolist() == [1, 2]
    assert y.numpy().tolist() == [2, 3]


def test_functions_read_and_change_variables_each_time():
    counter = tf.Variable(0, dtype=tf.int64)
    dataset = D.range(3).map(lambda x: counter.assign_add(1) + x)
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert counter.numpy() == 0
    assert values(dataset) == [1, 3, 5]
    assert counter.numpy() == 3
    offset = tf.Variable(10, dtype=tf.int64)
    dataset = D.range(2).map(lambda x: x + offset)
    assert values(dataset) == [10, 11]
    offset.assign(20)
    assert values(dataset) == [20, 21]


def test_what_is_no_tensor_cannot_be_returned():
    with pytest.raises(TypeError, match=r"Unsupported return value .* Dataset.map\(\): <object"):
        D.range(1).map(lambda x: object())


def test_tables_look_words_up():
    keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    table = tf.lookup.StaticVocabularyTable(keys, 3)
    dataset = D.from_tensor_slices(["a", "b", "c"]).map(table.lookup)
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert values(dataset) == [0, 1, 2 + tf.strings.to_hash_bucket_fast("c", 3).numpy()]
    hashed = tf.lookup.StaticHashTable(keys, -1)
    assert values(D.from_tensor_slices(["b", "c"]).map(hashed.lookup)) == [1, -1]


def test_a_stated_shape_is_checked_by_the_engine():
    def parse(record):
        values = tf.io.decode_raw(record, tf.uint8)
        values.set_shape([2])
        return tf.ensure_shape(values, [None])

    dataset = D.from_tensor_slices(["ab", "cd"]).map(parse)
    assert dataset.element_spec == tf.TensorSpec([2], tf.uint8)
    assert "runs as a graph" in dataset.explain()
    assert values(dataset) == [[97, 98], [99, 100]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible with expected shape"):
        list(D.from_tensor_slices(["abc"]).map(parse))


def test_a_function_that_stops_an_iteration_does_not_end_the_dataset():
    def stop(x):
        raise StopIteration

    dataset = D.range(2).map(lambda x: tf.py_function(stop, [x], tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="OutOfRangeError"):
        next(iter(dataset))


def test_ragged_and_sparse_values_are_made_and_joined_in_functions():
    dataset = D.range(3).map(lambda i: tf.RaggedTensor.from_tensor(i * [[1]]))
    assert dataset.element_spec == tf.RaggedTensorSpec([1, None], tf.int64)
    joined = dataset.map(lambda r: tf.concat([r, r], 0))
    assert joined.element_spec == tf.RaggedTensorSpec([2, None], tf.int64)
    assert [x.to_list() for x in joined] == [[[i], [i]] for i in range(3)]

    def sparse(i):
        return tf.compat.v1.SparseTensorValue([[0, 0]], i * np.array([1]), [1, 1])

    dataset = D.range(3).map(sparse).map(lambda s: tf.sparse.concat(0, [s, s]))
    assert values(dataset) == [[[i], [i]] for i in range(3)]


def test_cases_and_conditions_in_functions():
    def choose(x):
        def halve():
            return tf.cond(tf.equal(tf.math.mod(x, 2), 0), lambda: x * 2, lambda: x // 2)

        return tf.case([(tf.greater(x, 2), halve)], default=lambda: x, exclusive=True)

    assert values(D.range(6).map(choose)) == [0, 1, 2, 1, 8, 2]
    rows = D.from_tensors(np.arange(6)).map(lambda row: tf.map_fn(choose, row))
    assert values(rows) == [[0, 1, 2, 1, 8, 2]]
