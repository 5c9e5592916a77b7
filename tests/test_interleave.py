"""`interleave`."""

import time

import numpy as np
import pytest
from laws import check_laws

import headrace as hr

Dataset = hr.Dataset


def _numbered(count):
    """Datasets of sizes 1 to `count`, each of copies of its size."""
    return Dataset.range(1, count + 1), lambda n: Dataset.from_tensors(n).repeat(n)


@pytest.mark.parametrize("calls", [None, 1, 2, hr.AUTOTUNE])
def test_an_ended_dataset_leaves_its_slot_until_its_turn(calls):
    sizes, make = _numbered(4)
    mixed = sizes.interleave(make, 2, 2, num_parallel_calls=calls)
    assert list(mixed) == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4]


@pytest.mark.parametrize("calls", [None, 2, hr.AUTOTUNE])
@pytest.mark.parametrize("cycle", [1, 2, 3, 7])
@pytest.mark.parametrize("block", [1, 2, 5])
def test_the_order_is_that_of_a_plain_reference(calls, cycle, block):
    def reference():
        sources = iter(range(1, 9))
        slots, ended = [None] * cycle, False
        turn = taken = 0
        while True:
            if slots[turn] is None:
                size = None if ended else next(sources, None)
                if size is not None:
                    slots[turn] = iter([size] * size)
                    continue
                ended = True
                if all(slot is None for slot in slots):
                    return
                turn, taken = (turn + 1) % cycle, 0
                continue
            element = next(slots[turn], None)
            if element is None:
                slots[turn] = None
                turn, taken = (turn + 1) % cycle, 0
                continue
            yield element
            taken += 1
            if taken == block:
                turn, taken = (turn + 1) % cycle, 0

    sizes, make = _numbered(8)
    calls = calls if calls is None else min(calls, cycle)
    mixed = sizes.interleave(make, cycle, block, num_parallel_calls=calls)
    assert [int(x) for x in mixed] == list(reference())


def test_order_does_not_depend_on_timing():
    twice = Dataset.range(3).interleave(
        lambda x: Dataset.from_tensors(x).repeat(2), 5, 1, num_parallel_calls=4
    )
    for _ in range(50):
        assert list(twice) == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("calls", [None, 2, hr.AUTOTUNE])
def test_a_cycle_much_longer_than_the_input_costs_nothing(calls):
    mixed = Dataset.range(3).interleave(
        lambda x: Dataset.from_tensors(x).repeat(x + 1), 2**62, 1, num_parallel_calls=calls
    )
    assert list(mixed) == [0, 1, 2, 1, 2, 2]
    assert list(mixed.skip(3)) == [1, 2, 2]


def test_lengths_below_one_are_refused():
    sizes, make = _numbered(2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="cycle_length"):
        sizes.interleave(make, cycle_length=0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="block_length"):
        sizes.interleave(make, cycle_length=1, block_length=0)
    with pytest.raises(ValueError, match="cycle_length"):
        sizes.interleave(make, cycle_length=-2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="num_parallel_calls"):
        sizes.interleave(make, cycle_length=1, num_parallel_calls=0)
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        sizes.interleave(lambda x: x, 2)


def test_more_calls_than_open_datasets_are_refused():
    sizes, make = _numbered(2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="less than or equal"):
        sizes.interleave(make, cycle_length=2, num_parallel_calls=3)


def _slow(n):
    def sleeps(x):
        time.sleep(0.02)
        return x + n

    return Dataset.range(3).map(sleeps)


def test_parallel_datasets_are_read_side_by_side():
    def seconds(calls):
        start = time.perf_counter()
        assert len(list(Dataset.range(4).interleave(_slow, 4, 1, calls))) == 12
        return time.perf_counter() - start

    assert seconds(4) < 0.75 * seconds(None)


def test_without_order_all_elements_come():
    mixed = Dataset.range(6).interleave(
        lambda n: Dataset.range(n), 3, num_parallel_calls=3, deterministic=False
    )
    assert sorted(int(x) for x in mixed) == sorted(x for n in range(6) for x in range(n))


def test_files_are_interleaved(tmp_path):
    paths = []
    for file in range(3):
        path = tmp_path / f"{file}.tfrecord"
        with hr.io.TFRecordWriter(path) as writer:
            for record in range(2):
                writer.write(f"{file}-{record}".encode())
        paths.append(str(path))
    mixed = Dataset.from_tensor_slices(np.array(paths, object)).interleave(
        hr.TFRecordDataset, cycle_length=3, num_parallel_calls=hr.AUTOTUNE
    )
    assert mixed.element_spec == hr.TensorSpec([], bytes)
    assert list(mixed) == [b"0-0", b"1-0", b"2-0", b"0-1", b"1-1", b"2-1"]


PLANS = {
    "in turn": lambda: Dataset.range(7).interleave(Dataset.range, 3, 2),
    "in parallel": lambda: Dataset.range(7).interleave(Dataset.range, 3, 2, 2),
    "of shuffles": lambda: Dataset.range(5).interleave(
        lambda n: Dataset.range(n).shuffle(4, seed=2).repeat(2), 2, 1, hr.AUTOTUNE
    ),
    "in epochs": lambda: (
        Dataset.range(4)
        .shuffle(4, seed=1)
        .interleave(lambda n: Dataset.range(n + 1), 2)
        .repeat(2)
        .batch(3)
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_laws_hold(name):
    check_laws(PLANS[name])
