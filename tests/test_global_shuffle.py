"""`shuffle(None)`: the order of a whole-input shuffle, with only numbers in memory."""

import pickle

import numpy as np
import psutil
import pytest
from conftest import assert_same_elements
from laws import check_laws
from test_from_source import Items, Rows

import headrace as hr

INPUTS = {
    "range": lambda: hr.Dataset.range(50),
    "map": lambda: hr.Dataset.range(50).map(lambda x: x * 2, num_parallel_calls=2),
    "map in Python": lambda: hr.Dataset.range(50).map(lambda x: int(x) if x >= 0 else 0),
    "slices": lambda: hr.Dataset.from_tensor_slices((np.arange(50), [str(i) for i in range(50)])),
    "zip": lambda: hr.Dataset.zip(hr.Dataset.range(50), hr.Dataset.range(70)).enumerate(),
    "source": lambda: hr.Dataset.from_source(Items(list(range(50)))),
    "rows": lambda: hr.Dataset.from_source(Rows(np.arange(100).reshape(50, 2))),
    "batches": lambda: hr.Dataset.range(50).batch(3),
    "empty": lambda: hr.Dataset.range(0),
}


@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("kind", INPUTS)
def test_the_order_is_that_of_a_buffer_that_holds_all(kind, again):
    whole = INPUTS[kind]().shuffle(hr.UNKNOWN_CARDINALITY, 5, again).repeat(3)
    numbers = INPUTS[kind]().shuffle(None, 5, again).repeat(3)
    assert_same_elements(list(numbers), list(whole))
    # The same number of seeds was drawn.
    assert_same_elements(list(numbers), list(whole))
    assert len(numbers) == len(whole)


def test_elements_are_made_when_they_are_drawn():
    items = Items(list(range(100)))
    iterator = iter(hr.Dataset.from_source(items).shuffle(None, seed=1))
    assert items.asked == []
    first = [int(next(iterator)) for _ in range(3)]
    assert items.asked == first
    assert list(iterator.state())


def anonymous_bytes():
    """Memory of this process alone, without the pages of files."""
    return sum(entry.anonymous for entry in psutil.Process().memory_maps(grouped=True))


def test_memory_holds_numbers_only(tmp_path):
    path = tmp_path / "rows"
    rows = np.lib.format.open_memmap(path, "w+", np.uint8, (100_000, 1000))
    rows[::1000] = 7
    before = anonymous_bytes()
    source = Rows(np.load(path, mmap_mode="r"))
    iterator = iter(hr.Dataset.from_source(source).shuffle(None, seed=1).batch(100))
    for _ in range(100):
        next(iterator)
    assert anonymous_bytes() - before < 32 << 20


def test_no_random_access_is_an_error_that_names_the_step():
    with pytest.raises(hr.errors.UnimplementedError, match=r"filter.*UNKNOWN_CARDINALITY"):
        hr.Dataset.range(5).filter(lambda x: x > 2).shuffle(None)
    with pytest.raises(hr.errors.FailedPreconditionError, match="infinite"):
        hr.Dataset.range(5).repeat().shuffle(None)


def test_an_error_stands_in_its_place():
    def fail(x):
        if x == 3:
            raise KeyError("three")
        return x

    seen = []
    iterator = iter(hr.Dataset.range(10).map(fail).shuffle(None, seed=2))
    while len(seen) < 10:
        try:
            seen.append(int(next(iterator)))
        except KeyError:
            seen.append(3)
    assert seen == list(hr.Dataset.range(10).shuffle(10, seed=2))


def test_it_pickles():
    dataset = hr.Dataset.range(9).shuffle(None, seed=2)
    first = list(dataset)
    again = list(pickle.loads(pickle.dumps(dataset)))
    assert again == list(dataset) != first


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).shuffle(None, seed=1).repeat(2))
    check_laws(lambda: hr.Dataset.from_source(list(range(9))).shuffle(None, seed=1).batch(2))
    check_laws(lambda: hr.Dataset.range(20).map(lambda x: int(x)).shuffle(None, 3).skip(3))
