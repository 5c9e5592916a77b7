"""`Dataset.choose_from_datasets`."""

import numpy as np
import pytest
from conftest import golden
from laws import check_laws, with_options

import headrace as hr

MIXES = {case["name"]: case["epochs"] for case in golden("mixes.json")["cases"]}
Dataset = hr.Dataset


def ints(dataset):
    return [int(x) for x in dataset]


def shuffled(seed):
    return Dataset.range(20).shuffle(7, seed=seed)


def chosen_from_shuffled():
    return Dataset.choose_from_datasets(
        [shuffled(1).repeat(2), shuffled(2)],
        Dataset.range(2).shuffle(2, seed=8).repeat(30),
        stop_on_empty_dataset=False,
    )


def chosen_from_one_shuffled():
    both = shuffled(3)
    # Used thrice before, as in the vectors.
    ints(both), ints(both), ints(both), ints(both)
    return Dataset.choose_from_datasets(
        [both, both.map(lambda x: x + 100)], both.map(lambda x: x % 2)
    )


def doubly():
    return shuffled(3).shuffle(5, seed=6)


def in_turns(source):
    choices = np.array([1, 1, 0, 1, 0, 0, 0, 1, 1, 0] * 4, np.int64)
    return Dataset.choose_from_datasets([source] * 2, Dataset.from_tensor_slices(choices))


def choose(choices, stop=True):
    sources = [Dataset.range(3), Dataset.range(10, 12)]
    choices = Dataset.from_tensor_slices(np.array(choices, np.int64))
    return Dataset.choose_from_datasets(sources, choices, stop)


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("chosen from shuffled", chosen_from_shuffled),
        ("chosen from one shuffled", chosen_from_one_shuffled),
        (
            "twice a shuffle on a shuffle",
            lambda: Dataset.sample_from_datasets([doubly()] * 2, seed=4),
        ),
        (
            "twice a shuffle on a shuffle, the second first",
            lambda: in_turns(doubly()).repeat(2),
        ),
        (
            "twice a shuffle on a repeated shuffle",
            lambda: in_turns(shuffled(3).repeat(2).shuffle(5, seed=6)),
        ),
        ("a shuffle on a mix of two", lambda: in_turns(doubly()).shuffle(4, seed=2)),
    ],
)
@pytest.mark.parametrize("rows", [1, 7, 1024])
def test_the_elements_are_those_of_tf_data(name, build, rows):
    dataset = with_options(build(), _chunk_rows=rows)
    assert [ints(dataset), ints(dataset)] == MIXES[name]


def test_a_shuffle_that_is_not_read_does_not_open_its_input():
    twice = doubly()
    nought = Dataset.from_tensor_slices(np.zeros(3, np.int64))
    mixed = Dataset.choose_from_datasets([Dataset.range(9), twice], nought)
    passes = [ints(mixed), ints(twice), ints(twice)]
    assert passes == MIXES["a shuffle on a shuffle, not chosen"]


@pytest.mark.parametrize("taken", range(0, 40, 3))
def test_states_tell_which_sources_were_read(taken):
    def make():
        return in_turns(doubly()).repeat(2)

    expected = ints(make())
    iterator = iter(make())
    for _ in range(taken):
        next(iterator)
    assert [int(x) for x in make().iterator(state=iterator.state())] == expected[taken:]


def test_a_source_that_has_ended_stops_all_or_is_passed_over():
    choices = [0, 1, 1, 1, 0, 0, 0]
    assert ints(choose(choices)) == [0, 10, 11]
    assert ints(choose(choices, stop=False)) == [0, 10, 11, 1, 2]


def test_choices_may_end_first():
    assert ints(choose([1, 0])) == [10, 0]
    assert ints(choose([])) == []


def test_a_choice_out_of_range_is_an_error_and_no_end():
    iterator = iter(choose([0, 2, 1, -1, 0]))
    seen = []
    for _ in range(5):
        try:
            seen.append(int(next(iterator)))
        except hr.errors.InvalidArgumentError as error:
            seen.append(str(error).split(";")[0].split(" (")[0])
    assert seen == [
        0,
        "selector index out of range: 2 >= 2",
        10,
        "selector index out of range: -1 >= 2",
        1,
    ]


def test_the_cardinality_is_that_of_tf_data():
    assert choose([0, 1]).cardinality() == hr.UNKNOWN_CARDINALITY
    endless = [Dataset.range(3).repeat(), Dataset.range(4)]
    mix = Dataset.choose_from_datasets(endless, Dataset.range(2).repeat(3))
    assert mix.cardinality() == hr.INFINITE_CARDINALITY


def test_nested_elements_of_differing_shapes_mix():
    first = Dataset.from_tensor_slices({"x": np.zeros((4, 2)), "y": ["a", "b", "c", "d"]})
    second = Dataset.from_tensor_slices({"x": np.ones((4, 3)), "y": ["e", "f", "g", "h"]})
    mix = Dataset.choose_from_datasets([first, second], Dataset.range(2).repeat(4))
    assert mix.element_spec["x"] == hr.TensorSpec((None,), np.float64)
    assert [element["y"] for element in mix] == ["a", "e", "b", "f", "c", "g", "d", "h"]
    assert [element["x"].shape for element in mix] == [(2,), (3,)] * 4


def test_python_choices_and_sources_run_on_demand():
    calls = []

    def source(name):
        def generate():
            for i in range(4):
                calls.append(f"{name}{i}")
                yield i

        return Dataset.from_generator(generate, np.int64, ())

    def choices():
        for i in (0, 0, 1, 0):
            calls.append(f"choice {i}")
            yield i

    mix = Dataset.choose_from_datasets(
        [source("a"), source("b")], Dataset.from_generator(choices, np.int64, ())
    )
    iterator = iter(mix)
    assert calls == []
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 0]
    assert calls == ["choice 0", "a0", "choice 0", "a1", "choice 1", "b0"]


def test_errors_of_a_source_stay_where_they_are():
    def check(x):
        if x == 1:
            raise ValueError("no one")
        return x

    failing = Dataset.range(4).map(check)
    choices = Dataset.from_tensor_slices(np.array([0, 1, 0, 1, 0, 1], np.int64))
    iterator = iter(Dataset.choose_from_datasets([failing, Dataset.range(10, 20)], choices))
    assert [int(next(iterator)), int(next(iterator))] == [0, 10]
    with pytest.raises(ValueError, match="no one"):
        next(iterator)
    assert ints(iterator) == [11, 2, 12]


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        (Dataset.from_tensors(np.int32(1)), "must be scalar int64"),
        (Dataset.from_tensors(np.array([1])), "must be scalar int64"),
        (Dataset.from_tensors((np.int64(1), np.int64(1))), "must be scalar int64"),
        (3, "should be a headrace.Dataset"),
    ],
)
def test_choices_that_are_none_are_refused(choices, text):
    with pytest.raises(TypeError, match=text):
        Dataset.choose_from_datasets([Dataset.range(3), Dataset.range(4)], choices)


def test_datasets_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="should not be empty"):
        Dataset.choose_from_datasets([], Dataset.range(3))
    with pytest.raises(TypeError, match="must have compatible element specs"):
        Dataset.choose_from_datasets(
            [Dataset.range(3), Dataset.from_tensors((1,))], Dataset.range(3)
        )


@pytest.mark.parametrize("stop", [True, False])
def test_the_laws_hold(stop):
    check_laws(lambda: choose([0, 1, 1, 0, 0, 1, 1, 1, 0, 0], stop))
    check_laws(chosen_from_shuffled)
    check_laws(
        lambda: Dataset.choose_from_datasets(
            [shuffled(1).repeat(2), Dataset.range(100, 130)],
            Dataset.range(20).map(lambda x: x % 2, executor="python"),
            stop,
        )
    )
