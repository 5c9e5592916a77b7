"""Rewrites: results are the same with and without, and `explain` tells of them."""

import numpy as np
import pytest
from conftest import assert_same_elements

import headrace as hr

Dataset = hr.Dataset
SWITCHES = (
    "map_fusion",
    "map_and_filter_fusion",
    "filter_fusion",
    "map_parallelization",
    "parallel_batch",
    "noop_elimination",
    "shuffle_and_repeat_fusion",
)


def plus_one(x):
    return x + 1


def double(x):
    return x * 2


def odd(x):
    return x % 2 == 1


def third(x):
    return x % 3 == 0


def failing(x):
    if x == 7:
        raise ValueError("no seven")
    return x


def rows_of_many_lengths():
    """Rows of up to four numbers."""
    rows = Dataset.from_tensor_slices(np.arange(60)).map(plus_one)
    return rows.window(4, shift=3, as_arrays=True).filter(lambda row: row[0] % 2 == 1)


PIPELINES = {
    "map_fusion": lambda: Dataset.range(40).map(plus_one).map(double).map(plus_one).batch(3),
    "map_and_filter_fusion": lambda: Dataset.range(40).map(plus_one).map(double).filter(third),
    "filter_fusion": lambda: Dataset.range(40).shuffle(9, 1).filter(odd).filter(third),
    "noop_elimination": lambda: (
        Dataset.range(40).map(plus_one).take(-1).repeat(1).skip(0).shard(1, 0).map(double).batch(3)
    ),
    "map_parallelization": lambda: Dataset.range(40).map(plus_one).batch(2).map(double),
}
PIPELINES["shuffle_and_repeat_fusion"] = lambda: (
    Dataset.range(9).map(plus_one).shuffle(5, 1).repeat(3).batch(4)
)
PIPELINES["parallel_batch"] = lambda: rows_of_many_lengths().padded_batch(3)
OTHERS = {
    "of ragged batches": lambda: rows_of_many_lengths().ragged_batch(4, drop_remainder=True),
    "of batches of batches": lambda: (
        rows_of_many_lengths().padded_batch(3, drop_remainder=True).batch(2)
    ),
    "of epochs": lambda: (
        Dataset.range(9).shuffle(5, 1).repeat(3).map(plus_one).map(double).filter(third)
    ),
    "of epochs of little": lambda: Dataset.range(3).shuffle(8, 1).repeat().map(double).take(20),
    "of epochs of epochs": lambda: Dataset.range(5).shuffle(3, 1).repeat(2).shuffle(4, 2).repeat(2),
    "in epochs": lambda: (
        Dataset.range(9).shuffle(5, 1).map(plus_one).map(double).filter(third).repeat(3)
    ),
    "with Python between": lambda: (
        Dataset.range(20).map(plus_one).map(failing).map(plus_one).map(double).ignore_errors()
    ),
    "with idle steps": lambda: (
        Dataset.range(9)
        .shuffle(5, 1)
        .take(-1)
        .repeat(3)
        .skip(0)
        .map(plus_one)
        .repeat(1)
        .map(double)
    ),
    "in a mix": lambda: Dataset.sample_from_datasets(
        [Dataset.range(9).map(plus_one).map(double), Dataset.range(9).filter(odd).filter(third)],
        seed=1,
    ),
    "side by side": lambda: Dataset.zip(
        Dataset.range(9).map(plus_one).map(double), Dataset.range(9).map(plus_one).filter(odd)
    ),
    "parallel": lambda: (
        Dataset.range(50).map(plus_one, num_parallel_calls=3).map(double, num_parallel_calls=3)
    ),
}


def switched(dataset, **switches):
    optimization = hr.OptimizationOptions(**switches)
    return dataset.with_options(hr.Options(experimental_optimization=optimization))


def outcomes(iterator):
    seen = []
    while True:
        try:
            seen.append(next(iterator))
        except StopIteration:
            return seen
        except ValueError as error:
            seen.append(str(error))


@pytest.mark.parametrize("switch", PIPELINES)
def test_results_are_equal_with_and_without(switch):
    build = PIPELINES[switch]
    with_it = switched(build(), **{switch: True})
    without = switched(build(), apply_default_optimizations=False)
    assert_same_elements(list(with_it), list(without))
    assert f"({switch})" in with_it.explain()
    assert f"({switch})" not in without.explain()
    assert f"({switch})" not in switched(build(), **{switch: False}).explain()
    assert with_it.explain(rewritten=True) != without.explain(rewritten=True)


@pytest.mark.parametrize("name", [*PIPELINES, *OTHERS])
def test_states_hold_whatever_is_rewritten(name):
    build = (PIPELINES | OTHERS)[name]
    everything = dict.fromkeys(SWITCHES, True)
    nothing = {"apply_default_optimizations": False}
    expected = outcomes(iter(switched(build(), **nothing)))
    assert_same_elements(outcomes(iter(switched(build(), **everything))), expected)
    for before, after in ((everything, nothing), (nothing, everything)):
        for position in range(len(expected) + 1):
            iterator = iter(switched(build(), **before))
            for _ in range(position):
                next(iterator)
            rest = switched(build(), **after).iterator(iterator.state())
            assert_same_elements(list(rest), expected[position:])


def test_errors_are_those_of_the_steps_apart():
    def build():
        rows = Dataset.from_tensor_slices([b"abcd", b"abc", b"abcdefgh", b""])
        return rows.map(lambda x: hr.io.decode_raw(x, np.int32)).map(plus_one)

    fused, apart = (outcomes(iter(switched(build(), map_fusion=on))) for on in (True, False))
    assert "as one step" in build().explain()
    assert "element 1" in fused[1]
    assert_same_elements(fused, apart)


def test_python_functions_are_fused_with_nothing():
    text = Dataset.range(9).map(plus_one).map(failing).map(double).explain()
    assert "as one step" not in text
    text = Dataset.range(9).map(plus_one, executor="python").filter(odd).explain()
    assert "as one step" not in text


def test_seeds_are_drawn_as_tf_data_draws_them_whatever_is_rewritten():
    def epochs(**switches):
        numbers = Dataset.range(9).shuffle(9, seed=1).map(plus_one).map(double).repeat(2)
        numbers = switched(numbers, **switches)
        return [list(numbers), list(numbers)]

    plain = epochs(apply_default_optimizations=False)
    assert epochs() == epochs(**dict.fromkeys(SWITCHES, True)) == plain


def test_explain_shows_the_plan_as_it_runs():
    dataset = Dataset.range(9).map(plus_one).map(double)
    assert dataset.explain().count("map(") == 2
    assert "maps(" in dataset.explain(rewritten=True)
    with pytest.raises(TypeError, match="rewritten"):
        dataset.explain(rewritten=1)


def test_stats_are_those_of_the_steps_that_run():
    iterator = iter(switched(Dataset.range(9).map(plus_one).map(double), inject_prefetch=False))
    list(iterator)
    assert [row["name"] for row in iterator.stats()] == ["maps", "range"]


def test_idle_steps_keep_no_maps_apart():
    dataset = Dataset.range(9).map(plus_one).take(-1).map(double)
    assert "take(count=-1) is left out (noop_elimination)" in dataset.explain()
    assert "run as one step (map_fusion)" in dataset.explain()
    apart = switched(dataset, noop_elimination=False).explain()
    assert "as one step" not in apart
    assert "changes nothing, so it is left out" in apart


@pytest.mark.parametrize("fused", [True, False])
def test_errors_take_whole_batches_of_fused_maps_too(fused):
    rows = Dataset.from_tensor_slices([b"abcd", b"abc", b"abcd", b"abcd", b"abcd"])
    maps = rows.map(lambda x: hr.io.decode_raw(x, np.uint32)).map(lambda x: x * 0)
    dataset = switched(maps.batch(2), map_fusion=fused).ignore_errors()
    assert [len(batch) for batch in dataset] == [2, 1]


def test_explain_tells_how_far_a_step_reaches():
    numbers = Dataset.range(9).map(plus_one).batch(2)
    assert "skips through batch, map down to range" in numbers.skip(1).explain()
    assert "skips through batch, map down to range" in numbers.shard(2, 0).explain()
    assert "asks through batch, map down to range for no more" in numbers.take(1).explain()
    assert "down to" not in Dataset.range(9).filter(odd).skip(1).explain()
