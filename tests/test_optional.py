"""`Optional`, and iterators that give one."""

import pickle

import numpy as np
import pytest

import headrace as hr


def test_a_value_is_held():
    value = hr.Optional.from_value({"x": np.arange(3), "y": ("a", None)})
    assert value.has_value()
    assert value.get_value()["y"] == ("a", None)
    assert value.element_spec == {
        "x": hr.TensorSpec((3,), np.int64),
        "y": (hr.TensorSpec((), str), None),
    }


def test_nothing_has_no_value():
    nothing = hr.Optional.empty(hr.TensorSpec((), np.int64))
    assert not nothing.has_value()
    assert nothing.element_spec == hr.TensorSpec((), np.int64)
    with pytest.raises(hr.errors.InvalidArgumentError, match="does not have a value"):
        nothing.get_value()


def test_iterators_end_without_a_value():
    numbers = iter(hr.Dataset.range(2))
    seen = [numbers.get_next_as_optional() for _ in range(4)]
    assert [value.has_value() for value in seen] == [True, True, False, False]
    assert [value.get_value() for value in seen[:2]] == [0, 1]
    assert {repr(value.element_spec) for value in seen} == {"TensorSpec(shape=(), dtype=int64)"}
    assert not hr.experimental.get_next_as_optional(numbers).has_value()
    assert numbers.element_spec == hr.TensorSpec((), np.int64)


def test_optionals_pickle():
    value = hr.Optional.from_value(7)
    assert pickle.loads(pickle.dumps(value)).get_value() == 7
    assert (repr(value), repr(hr.Optional.empty(None))) == ("Optional(7)", "Optional()")
    with pytest.raises(TypeError, match="from_value"):
        hr.Optional()


INT = hr.TensorSpec((), np.int64)
SPEC = hr.OptionalSpec(INT)


def numbers():
    return hr.Dataset.range(5).map(hr.Optional.from_value)


def odd():
    """Optionals of which only a run knows whether they have a value."""
    return hr.Dataset.range(5).map(
        lambda x: hr.Optional.from_value(x) if x % 2 else hr.Optional.empty(INT),
        output_signature=SPEC,
    )


def values(dataset):
    return [int(o.get_value()) if o.has_value() else None for o in dataset]


def test_optionals_are_components_with_a_spec():
    one = hr.Dataset.from_tensors(hr.Optional.from_value([1, 2]))
    assert one.element_spec == hr.OptionalSpec(hr.TensorSpec((2,), np.int64))
    (element,) = one
    assert element.get_value().tolist() == [1, 2]
    empty = hr.Dataset.from_tensors(hr.Optional.empty((INT, {"a": INT})))
    assert empty.element_spec == hr.OptionalSpec((INT, {"a": INT}))
    (element,) = empty
    assert not element.has_value()
    assert element.element_spec == (INT, {"a": INT})


def test_functions_make_and_read_them():
    assert (numbers().element_spec, values(numbers())) == (SPEC, [0, 1, 2, 3, 4])
    assert (odd().element_spec, values(odd())) == (SPEC, [None, 1, None, 3, None])
    plus = numbers().map(lambda o: o.get_value() + 1)
    assert plus.element_spec == INT
    assert list(plus) == [1, 2, 3, 4, 5]
    kept = odd().filter(lambda o: o.has_value())
    assert kept.element_spec == SPEC
    assert list(kept.map(lambda o: o.get_value())) == [1, 3]
    assert "works with optionals" in plus.explain()
    assert "optional int64 ()" in plus.explain()


def test_errors_of_missing_values_name_the_element():
    read = odd().map(lambda o: o.get_value())
    with pytest.raises(hr.errors.InvalidArgumentError, match="element 0"):
        list(read)


def test_steps_that_keep_elements_keep_optionals(tmp_path):
    expected = values(odd())
    assert [values(odd().cache())] * 2 == [expected] * 2
    cached = odd().cache(str(tmp_path / "c"))
    assert [values(cached), values(cached)] == [expected, expected]
    odd().save(str(tmp_path / "s"))
    assert values(hr.Dataset.load(str(tmp_path / "s"), element_spec=SPEC)) == expected
    assert sorted(values(numbers().shuffle(3, seed=1))) == [0, 1, 2, 3, 4]
    pairs = hr.Dataset.zip((odd(), hr.Dataset.range(9)))
    assert pairs.element_spec == (SPEC, INT)
    assert [(o.has_value(), x) for o, x in pairs] == [(x % 2 == 1, x) for x in range(5)]
    assert values(odd().take(2).concatenate(numbers().skip(3))) == [None, 1, 3, 4]
    assert [values(window) for window in odd().window(2)] == [[None, 1], [None, 3], [None]]


def test_runs_over_optionals_resume():
    iterator = iter(odd().repeat(2))
    seen = [next(iterator) for _ in range(3)]
    rest = odd().repeat(2).iterator(iterator.state())
    assert values(seen) + values(rest) == values(odd()) * 2


@pytest.mark.parametrize(
    "batch",
    [
        lambda ds: ds.batch(2),
        lambda ds: ds.padded_batch(2),
        lambda ds: ds.ragged_batch(2),
        lambda ds: ds.rebatch(2),
        lambda ds: ds.unbatch(),
        lambda ds: ds.window(2, as_arrays=True),
    ],
)
def test_there_are_no_batches_of_optionals(batch):
    with pytest.raises(hr.errors.InvalidArgumentError, match="optional int64"):
        batch(numbers())


def test_a_run_refuses_batches_that_no_spec_could():
    unknown = hr.Dataset.range(3).map(
        lambda x: hr.Optional.from_value(x) if x % 2 else hr.Optional.empty(INT)
    )
    assert isinstance(unknown.element_spec, hr.UnknownSpec)
    with pytest.raises(hr.errors.InvalidArgumentError, match="cannot be batched"):
        list(unknown.batch(2))


def test_optionals_under_tensorflow_names():
    import headrace.tf as tf

    spec = tf.OptionalSpec(tf.TensorSpec([], tf.int64))
    optional = tf.experimental.Optional
    dataset = tf.data.Dataset.range(4).map(
        lambda x: tf.cond(
            x % 2 == 0,
            lambda: optional.from_value(x),
            lambda: optional.empty(tf.TensorSpec([], tf.int64)),
        )
    )
    assert dataset.element_spec == spec
    assert [bool(o.has_value()) for o in dataset] == [True, False, True, False]
    kept = dataset.filter(lambda o: o.has_value()).map(lambda o: o.get_value() * 10)
    assert kept.element_spec == tf.TensorSpec([], tf.int64)
    assert [x.numpy() for x in kept] == [0, 20]
    (one,) = tf.data.Dataset.from_tensors(optional.from_value(3)).cache()
    assert isinstance(one, optional)
    assert one.get_value().dtype is tf.int32
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be batched"):
        dataset.batch(2)
    with pytest.raises(TypeError, match="not supported"):
        dataset.as_numpy_iterator()
