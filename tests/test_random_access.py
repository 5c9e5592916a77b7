"""`dataset[index]` and `experimental.at`; fingerprints and equality."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import assert_same

import headrace as hr
from headrace.experimental import assert_cardinality, at

range_ = hr.Dataset.range
INDEXABLE = {
    "range": lambda: range_(2, 30, 3),
    "from_tensors": lambda: hr.Dataset.from_tensors({"a": "x"}),
    "from_tensor_slices": lambda: hr.Dataset.from_tensor_slices((np.arange(5), list("abcde"))),
    "map": lambda: range_(9).map(lambda x: x * 2),
    "map as Python": lambda: range_(9).map(lambda x: float(x), executor="python"),
    "parallel map": lambda: range_(9).map(lambda x: x * 2, num_parallel_calls=3),
    "batch": lambda: range_(9).batch(4),
    "batch drop": lambda: range_(9).batch(4, drop_remainder=True),
    "padded_batch": lambda: range_(9).padded_batch(4),
    "ragged_batch": lambda: range_(9).ragged_batch(4),
    "take": lambda: range_(9).take(4),
    "skip": lambda: range_(9).skip(4),
    "repeat": lambda: range_(4).repeat(3),
    "concatenate": lambda: range_(4).concatenate(range_(3)),
    "zip": lambda: hr.Dataset.zip(range_(4), range_(3).batch(2)),
    "shard": lambda: range_(9).shard(4, 1),
    "shard wrap": lambda: range_(9).shard(4, 3, equal="wrap"),
    "enumerate": lambda: range_(4).enumerate(7),
    "prefetch": lambda: range_(4).prefetch(2),
    "with_options": lambda: range_(4).with_options(hr.Options()),
    "assert_cardinality": lambda: range_(4).apply(assert_cardinality(4)),
    "many": lambda: range_(20).shard(2, 1).repeat(2).enumerate().batch(3).map(lambda i, x: i + x),
}


@pytest.mark.parametrize("name", INDEXABLE)
def test_each_element_is_found_by_its_number(name):
    dataset = INDEXABLE[name]()
    elements = list(dataset)
    for index, element in enumerate(elements):
        assert_same(at(dataset, index), element)
        assert_same(dataset[index - len(elements)], element)
    for index in (len(elements), len(elements) + 5, 2**62, -len(elements) - 1):
        with pytest.raises(IndexError, match="out of range"):
            dataset[index]
    with pytest.raises(hr.errors.OutOfRangeError):
        at(dataset, -1)


def test_functions_are_called_for_that_element_only():
    calls = []

    def note(x):
        calls.append(x.item())
        return x

    dataset = range_(100).map(note, num_parallel_calls=4).prefetch(9)
    assert dataset[50] == 50
    assert calls == [50]


def test_the_index_may_be_numpys():
    assert range_(9)[np.int32(3)] == 3
    with pytest.raises(TypeError, match="index"):
        range_(9)[1.5]
    with pytest.raises(TypeError, match="index"):
        range_(9)[1:3]


@pytest.mark.parametrize(
    ("dataset", "step"),
    [
        (range_(9).filter(lambda x: x > 2).batch(2), "filter"),
        (range_(9).shuffle(3), "shuffle"),
        (range_(9).scan(0, lambda s, x: (s, x)), "scan"),
        (hr.Dataset.from_generator(lambda: iter([1]), np.int64), "from_generator"),
    ],
)
def test_steps_that_must_run_through_their_elements_are_named(dataset, step):
    with pytest.raises(hr.errors.UnimplementedError, match=step):
        at(dataset, 0)


def test_without_a_known_number_of_elements_there_is_no_random_access():
    with pytest.raises(hr.errors.FailedPreconditionError, match="infinite"):
        at(range_(9).repeat(), 0)
    assert at(range_(3).repeat().take(8), 7) == 1


def test_an_element_that_fails_raises():
    dataset = range_(9).map(lambda x: 1 // int(x), executor="python")
    assert dataset[1] == 1
    with pytest.raises(ZeroDivisionError):
        dataset[0]


def test_a_dataset_equals_itself_only():
    dataset = range_(3)
    assert dataset == dataset
    assert dataset != range_(3)
    assert len({dataset, dataset, range_(3)}) == 2


def test_a_dataset_is_no_array():
    (inner,) = hr.Dataset.from_tensors(range_(3))
    assert isinstance(inner, hr.Dataset)
    assert [x.item() for x in inner] == [0, 1, 2]


def double(x):
    return x * 2


def test_fingerprints_tell_pipelines_apart():
    def some():
        array = np.arange(4)
        yield from (range_(3), range_(4), range_(3).batch(2), range_(3).batch(3))
        yield from (range_(3).map(double), range_(3).filter(lambda x: x > 1))
        yield from (hr.Dataset.from_tensor_slices(array), hr.Dataset.from_tensors(array))
        yield from (hr.Dataset.from_tensor_slices(array + 1), range_(3).shuffle(3, 1))
        yield hr.Dataset.zip(range_(3), range_(4))
        yield hr.Dataset.zip(range_(4), range_(3))

    prints = [dataset.fingerprint() for dataset in some()]
    assert prints == [dataset.fingerprint() for dataset in some()]
    assert len(set(prints)) == len(prints)
    assert {x.dtype for x in prints} == {np.dtype(np.uint64)}
    # What changes no element changes no fingerprint.
    assert range_(3).prefetch(2).take(-1).fingerprint() == range_(3).fingerprint()
    dataset = range_(3).map(double).batch(2)
    assert pickle.loads(pickle.dumps(dataset)).fingerprint() == dataset.fingerprint()


def test_a_fingerprint_is_the_same_in_another_process():
    program = "import headrace as hr; print(hr.Dataset.range(7).batch(3).fingerprint())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=True
    )
    assert int(done.stdout) == range_(7).batch(3).fingerprint()
