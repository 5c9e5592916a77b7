"""`Dataset.take_while`."""

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


def test_it_stops_for_good_at_the_first_false():
    numbers = hr.Dataset.from_tensor_slices([1, 2, 7, 3])
    assert values(numbers.take_while(lambda x: x < 5)) == [1, 2]
    assert values(numbers.take_while(lambda x: x < 1)) == []
    assert values(numbers.take_while(lambda x: x < 9)) == [1, 2, 7, 3]


def test_neither_predicate_nor_input_runs_past_the_first_false():
    seen, asked = [], []

    def note(x):
        seen.append(x.item())
        return x

    def below_three(x):
        asked.append(x.item())
        return x < 3

    assert values(hr.Dataset.range(100).map(note).take_while(below_three)) == [0, 1, 2]
    assert seen == asked == [0, 1, 2, 3]
    seen.clear()
    assert values(hr.Dataset.range(100).map(note).take_while(lambda x: x < 3)) == [0, 1, 2]
    assert seen == [0, 1, 2, 3]


def test_elements_and_spec_are_those_of_the_input():
    pairs = hr.Dataset.range(5).map(lambda x: {"a": x, "b": (x * 2, None)})
    taken = pairs.take_while(lambda row: row["a"] < 2)
    assert taken.element_spec == pairs.element_spec
    assert [row["b"][0].item() for row in taken] == [0, 2]
    assert taken.cardinality() == hr.UNKNOWN_CARDINALITY


def test_a_tuple_becomes_arguments():
    pairs = hr.Dataset.range(5).map(lambda x: (x, x * 2))
    assert len(list(pairs.take_while(lambda x, y: x + y < 7))) == 3


def test_an_error_stays_where_it_is():
    def fail_on_two(x):
        if x == 2:
            raise KeyError("two")
        return x < 4

    iterator = iter(hr.Dataset.range(9).take_while(fail_on_two))
    assert [next(iterator).item() for _ in range(2)] == [0, 1]
    with pytest.raises(KeyError):
        next(iterator)
    assert values(iterator) == [3]


@pytest.mark.parametrize("predicate", [lambda x: x, lambda x: (x > 1, x > 2), lambda x: [x > 1]])
def test_a_predicate_that_gives_no_bool_is_refused(predicate):
    if predicate(np.int64(3)) == [True]:
        # A list is a tuple of components: one bool, as good as a bool.
        assert values(hr.Dataset.range(1, 5).take_while(predicate)) == []
        return
    with pytest.raises(ValueError, match="predicate"):
        list(hr.Dataset.range(5).take_while(predicate))


def test_elements_that_only_a_run_knows():
    unknown = hr.Dataset.range(9).map(lambda x: int(x) * 2, executor="python")
    assert unknown.take_while(lambda x: x < 6).element_spec == hr.UnknownSpec()
    assert values(unknown.take_while(lambda x: x < 6)) == [0, 2, 4]


@pytest.mark.parametrize("executor", [None, "python"])
def test_the_laws_hold(executor):
    check_laws(lambda: hr.Dataset.range(30).take_while(lambda x: x < 17, executor=executor))
    check_laws(lambda: hr.Dataset.range(30).shuffle(9, 1).take_while(lambda x: x != 17).repeat(3))
    check_laws(lambda: hr.Dataset.counter().take_while(lambda x: x < 19, executor=executor))
