"""`Dataset.shuffle`. The exact orders are in test_golden_shuffle.py."""

import numpy as np
import pytest
from laws import check_laws
from processes import run

import headrace as hr


def order(dataset):
    return [x.item() for x in dataset]


def test_each_pass_is_another_permutation():
    dataset = hr.Dataset.range(100).shuffle(100, seed=5)
    first, second = order(dataset), order(dataset)
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second


def test_the_same_seed_gives_the_same_orders():
    def passes():
        dataset = hr.Dataset.range(50).shuffle(20, seed=5)
        return [order(dataset) for _ in range(3)]

    assert passes() == passes()


def test_orders_are_those_of_another_process():
    def told(seed):
        return run(
            f"""
            dataset = hr.Dataset.range(100).shuffle(100, seed={seed})
            tell(passes=[[int(x) for x in dataset] for _ in range(2)])
            """
        ).out

    assert told(5) == told(5)
    assert told(None) != told(None)


def test_without_a_seed_orders_differ():
    assert order(hr.Dataset.range(100).shuffle(100)) != order(hr.Dataset.range(100).shuffle(100))


def test_a_global_seed_makes_unseeded_shuffles_repeatable():
    def two():
        hr.set_seed(7)
        return [order(hr.Dataset.range(20).shuffle(20)) for _ in range(2)]

    first, second = two(), two()
    assert first == second
    assert first[0] != first[1]


def test_without_reshuffling_each_pass_is_the_same():
    dataset = hr.Dataset.range(50).shuffle(50, seed=1, reshuffle_each_iteration=False)
    assert order(dataset) == order(dataset)
    pairs = order(dataset.take(2).repeat(5))
    assert pairs == pairs[:2] * 5


def test_with_reshuffling_repeats_differ():
    pairs = order(hr.Dataset.range(50).shuffle(50, seed=1).take(2).repeat(5))
    assert len({tuple(pairs[i : i + 2]) for i in range(0, 10, 2)}) > 1


@pytest.mark.parametrize("size", [1, 2, 7, 4095, 4096, 10_000, hr.UNKNOWN_CARDINALITY])
def test_every_element_comes_once(size):
    seen = order(hr.Dataset.range(4096).shuffle(size, seed=3))
    assert sorted(seen) == list(range(4096))


@pytest.mark.parametrize("size", [0, -1, -3])
def test_a_size_below_one_is_refused(size):
    with pytest.raises(hr.errors.InvalidArgumentError, match="buffer_size must be greater"):
        hr.Dataset.range(3).shuffle(size)


def test_seeds_are_taken_modulo_two_to_the_31_minus_1():
    def first(seed):
        return order(hr.Dataset.range(30).shuffle(30, seed=seed))

    assert first(-1) == first(2**31 - 2)
    assert first(2**31) == first(1)
    assert first(np.int64(4)) == first(4)


def test_a_shuffled_dataset_used_twice_draws_twice():
    shuffled = hr.Dataset.range(20).shuffle(20, seed=1)
    both = list(hr.Dataset.zip(shuffled, shuffled))
    assert [a for a, _ in both] != [b for _, b in both]


def test_structures_are_shuffled_as_a_whole():
    dataset = hr.Dataset.from_tensor_slices({"x": np.arange(30), "y": [str(i) for i in range(30)]})
    for element in dataset.shuffle(10, seed=1):
        assert str(element["x"]) == element["y"]


@pytest.mark.parametrize("size", [1, 5, 100])
def test_the_laws_hold(size):
    check_laws(lambda: hr.Dataset.range(20).shuffle(size, seed=4))
    check_laws(lambda: hr.Dataset.range(7).shuffle(size, seed=4).repeat(3))
    check_laws(lambda: hr.Dataset.range(7).repeat(3).shuffle(size, seed=4))
