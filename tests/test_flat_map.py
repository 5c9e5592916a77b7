"""`flat_map`, and datasets as components."""

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr

Dataset = hr.Dataset


def _numbers(n):
    return Dataset.range(n)


def test_the_datasets_come_one_after_another():
    assert list(Dataset.range(4).flat_map(Dataset.range)) == [0, 0, 1, 0, 1, 2]


def test_a_tuple_becomes_arguments():
    pairs = Dataset.from_tensor_slices((np.array([1, 2]), np.array([10, 20])))
    made = pairs.flat_map(lambda n, x: Dataset.from_tensors(x).repeat(n))
    assert list(made) == [10, 20, 20]


def test_the_element_spec_is_known_before_a_run():
    made = Dataset.range(4).flat_map(lambda n: Dataset.range(n).batch(n).map(lambda x: x * 0.5))
    assert made.element_spec == hr.TensorSpec([None], np.float64)
    assert made.cardinality() == hr.UNKNOWN_CARDINALITY


def test_slices_of_a_component_lose_its_first_axis():
    rows = Dataset.from_tensor_slices(np.arange(12).reshape(2, 3, 2))
    made = rows.flat_map(Dataset.from_tensor_slices)
    assert made.element_spec == hr.TensorSpec([2], np.int64)
    assert_same_elements(list(made), list(np.arange(12).reshape(6, 2)))


def test_inner_functions_see_the_outer_element():
    made = Dataset.range(1, 4).flat_map(lambda n: Dataset.range(2).map(lambda x: x + 10 * n))
    assert list(made) == [10, 11, 20, 21, 30, 31]
    assert made.element_spec == hr.TensorSpec([], np.int64)


def test_a_function_with_effects_is_called_once_per_element_and_its_spec_is_unknown():
    calls = []

    def make(n):
        calls.append(int(n))
        return Dataset.range(n)

    made = Dataset.range(3).flat_map(make)
    assert calls == []
    assert isinstance(made.element_spec, hr.UnknownSpec)
    assert list(made) == [0, 0, 1]
    assert calls == [0, 1, 2]


def test_the_function_is_called_when_the_turn_of_its_dataset_comes():
    calls = []

    def make(n):
        calls.append(int(n))
        return Dataset.range(2)

    iterator = iter(Dataset.range(3).flat_map(make))
    next(iterator), next(iterator)
    assert calls == [0]
    next(iterator)
    assert calls == [0, 1]


def test_what_is_no_dataset_is_refused_when_the_plan_is_built():
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        Dataset.range(3).flat_map(lambda x: x)


def test_what_only_a_run_shows_to_be_no_dataset_is_refused_there():
    seen = []
    made = Dataset.range(3).flat_map(lambda x: seen.append(x) or x)
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"element 0.*must return|must return"):
        list(made)


def test_an_error_of_the_function_stands_for_its_dataset():
    def make(n):
        if n == 1:
            raise ValueError("no dataset for 1")
        return Dataset.range(n)

    iterator = iter(Dataset.range(4).flat_map(make))
    with pytest.raises(ValueError, match="no dataset for 1"):
        next(iterator)
    assert list(iterator) == [0, 1, 0, 1, 2]


def test_an_error_inside_a_dataset_stands_for_one_element():
    def fails(x):
        if x == 1:
            raise ValueError("no 1")
        return x

    iterator = iter(Dataset.range(2).flat_map(lambda _: Dataset.range(3).map(fails)))
    seen = []
    for _ in range(6):
        try:
            seen.append(int(next(iterator)))
        except ValueError:
            seen.append("error")
    assert seen == [0, "error", 2, 0, "error", 2]


def test_a_dataset_is_a_component_of_elements():
    nested = Dataset.range(3).map(lambda n: {"n": n, "numbers": Dataset.range(n)})
    assert nested.element_spec == {
        "n": hr.TensorSpec([], np.int64),
        "numbers": hr.DatasetSpec(hr.TensorSpec([], np.int64)),
    }
    assert [list(element["numbers"]) for element in nested] == [[], [0], [0, 1]]
    assert list(nested.flat_map(lambda element: element["numbers"])) == [0, 0, 1]


def test_a_dataset_given_as_data_is_a_component():
    outer = Dataset.from_tensors(Dataset.range(3)).repeat(2)
    assert outer.element_spec == hr.DatasetSpec(hr.TensorSpec([], np.int64))
    assert list(outer.flat_map(lambda inner: inner)) == [0, 1, 2, 0, 1, 2]


def test_seeded_shuffles_made_in_the_function_start_anew_with_each_call():
    made = Dataset.range(3).flat_map(lambda _: Dataset.range(10).shuffle(10, seed=3))
    orders = [tuple(batch) for batch in made.batch(10)]
    assert len(set(orders)) == 1


def test_captured_shuffles_go_on_with_their_seeds():
    inner = Dataset.range(10).shuffle(10, seed=3)
    orders = [tuple(batch) for batch in Dataset.range(3).flat_map(lambda _: inner).batch(10)]
    assert len(set(orders)) == 3


def test_the_datasets_of_datasets_are_flattened_in_turn():
    made = Dataset.range(1, 3).flat_map(
        lambda n: Dataset.range(n).flat_map(lambda m: Dataset.range(m + n))
    )
    assert list(made) == [0, 0, 1, 0, 1, 2]


def _shuffled(n):
    return Dataset.range(6).shuffle(6).repeat(2).take(n * 3)


PLANS = {
    "ranges": lambda: Dataset.range(6).flat_map(Dataset.range),
    "one by one": lambda: Dataset.range(9).flat_map(Dataset.from_tensors),
    "epochs": lambda: Dataset.range(3).flat_map(Dataset.range).repeat(3).skip(2),
    "batches": lambda: Dataset.range(5).flat_map(lambda n: Dataset.range(n).batch(2)).unbatch(),
    "seeded": lambda: Dataset.range(4).flat_map(
        lambda n: Dataset.range(5).shuffle(5, seed=7).repeat(2)
    ),
    "shuffled outside": lambda: Dataset.range(8).shuffle(8, seed=1).repeat(2).flat_map(_numbers),
    "in one another": lambda: Dataset.range(4).flat_map(
        lambda n: Dataset.range(3).flat_map(lambda m: Dataset.range(m + n))
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_laws_hold(name):
    check_laws(PLANS[name])


def test_a_captured_shuffle_holds_the_laws():
    def build():
        inner = Dataset.range(6).shuffle(6, seed=3)
        return Dataset.range(4).flat_map(lambda _: inner.take(4))

    check_laws(build)


def test_unseeded_draws_inside_are_part_of_the_state():
    plan = Dataset.range(4).repeat(2).flat_map(_shuffled)
    iterator = iter(plan)
    for _ in range(11):
        next(iterator)
    state = iterator.state()
    rest = [int(x) for x in iterator]
    again = Dataset.range(4).repeat(2).flat_map(_shuffled)
    assert [int(x) for x in again.iterator(state)] == rest


def test_each_element_is_repeated_as_often_as_it_says():
    counts = hr.Dataset.from_tensor_slices([1, 0, 2, 3])
    repeated = counts.flat_map(lambda x: hr.Dataset.from_tensors(x).repeat(x))
    assert list(repeated) == [1, 2, 2, 3, 3, 3]


def test_a_state_stays_small_over_many_captured_runs():
    def build():
        inner = Dataset.range(1).shuffle(3, seed=5).repeat(2)
        return Dataset.range(5000).flat_map(lambda _: inner).batch(100)

    dataset = build()
    iterator = iter(dataset)
    for _ in range(99):
        next(iterator)
    state = iterator.state()
    assert len(state) < 2000
    (rest,) = iterator
    assert [batch.tolist() for batch in dataset.iterator(state)] == [rest.tolist()]
    assert [batch.tolist() for batch in build().iterator(state)] == [rest.tolist()]


def test_a_restored_run_draws_on_whatever_the_live_nodes_did():
    inner = Dataset.range(6).shuffle(6, seed=3)
    dataset = Dataset.range(9).flat_map(lambda _: inner)
    iterator = iter(dataset)
    for _ in range(13):
        next(iterator)
    state = iterator.state()
    rest = list(iterator)
    list(dataset)
    assert list(dataset.iterator(state)) == rest
