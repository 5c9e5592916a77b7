"""Plans pickle as recipes: op, arguments, inputs."""

import pickle
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest
from conftest import assert_same_elements

import headrace as hr

Pair = namedtuple("Pair", "x y")


def double(x):
    return x * 2


def as_python(x):
    return int(x) + 1


def three():
    yield from range(3)


def again(dataset):
    return pickle.loads(pickle.dumps(dataset))


PLANS = {
    "range": lambda: hr.Dataset.range(2, 9, 3, output_type=np.int16),
    "from_tensors": lambda: hr.Dataset.from_tensors({"a": [1, 2], "b": ("x", None)}),
    "from_tensor_slices": lambda: hr.Dataset.from_tensor_slices(
        Pair(np.arange(3), ["a", "b", "c"])
    ),
    "from_generator": lambda: hr.Dataset.from_generator(three, np.int64),
    "map": lambda: hr.Dataset.range(4).map(double, num_parallel_calls=2),
    "python map": lambda: hr.Dataset.range(4).map(as_python),
    "filter": lambda: hr.Dataset.range(4).filter(lambda x: x > 1),
    "closure": lambda: (lambda k: hr.Dataset.range(4).map(lambda x: x + k))(np.array([5])),
    "repeat": lambda: hr.Dataset.range(2).repeat(2),
    "take": lambda: hr.Dataset.range(9).take(2),
    "skip": lambda: hr.Dataset.range(9).skip(7),
    "batch": lambda: hr.Dataset.range(5).batch(2, drop_remainder=True),
    "padded_batch": lambda: hr.Dataset.range(5).batch(2).padded_batch(3, [4], np.int64(-1)),
    "unbatch": lambda: hr.Dataset.range(5).batch(2).unbatch(),
    "prefetch": lambda: hr.Dataset.range(5).prefetch(2),
    "zip": lambda: hr.Dataset.zip({"a": hr.Dataset.range(3), "b": (hr.Dataset.range(3),)}),
    "concatenate": lambda: hr.Dataset.range(3).concatenate(hr.Dataset.range(2)),
    "enumerate": lambda: hr.Dataset.range(3).enumerate(4),
    "with_options": lambda: hr.Dataset.range(3).with_options(hr.Options(deterministic=False)),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_yields_the_same_after_pickling(name):
    dataset = PLANS[name]()
    restored = again(dataset)
    assert repr(restored) == repr(dataset)
    assert restored.options() == dataset.options()
    assert_same_elements(list(restored), list(dataset))


def test_records_are_found_again(record_file):
    dataset = hr.TFRecordDataset([record_file])
    assert type(again(dataset)) is hr.TFRecordDataset
    assert list(again(dataset)) == list(dataset)


def test_a_shuffle_keeps_its_seeds_and_how_many_were_drawn():
    dataset = hr.Dataset.range(20).shuffle(20, seed=3)
    list(dataset)
    restored = again(dataset)
    assert [list(restored) for _ in range(2)] == [list(dataset) for _ in range(2)]


def test_an_unseeded_shuffle_keeps_its_entropy():
    dataset = hr.Dataset.range(20).shuffle(20)
    restored = again(dataset)
    assert list(restored) == list(dataset)


def test_a_dataset_used_twice_stays_one():
    shuffled = hr.Dataset.range(20).shuffle(20, seed=1)
    both = hr.Dataset.zip(shuffled, shuffled)
    assert list(again(both)) == list(both)


def test_a_memory_map_pickles_as_its_place(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(100_000))
    mapped = np.load(path, mmap_mode="r")
    blob = pickle.dumps(hr.Dataset.from_tensor_slices(mapped[5000:]))
    assert len(blob) < 2000
    assert next(iter(pickle.loads(blob))) == 5000
    columns = np.memmap(path, np.int64, "r", 128, (1000, 100))
    blob = pickle.dumps(hr.Dataset.from_tensor_slices(columns[:, 3]))
    assert [x.item() for x in pickle.loads(blob).take(2)] == [3, 103]


def test_an_iterator_does_not_pickle():
    with pytest.raises(TypeError, match="state"):
        pickle.dumps(iter(hr.Dataset.range(3)))


def test_a_function_that_cannot_be_pickled_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    dataset = hr.Dataset.range(3).map(lambda x: x + 1)
    with pytest.raises(
        pickle.PicklingError, match=r"<lambda> at test_pickle.py:\d+.*headrace\[process\]"
    ):
        pickle.dumps(dataset)
    # Functions that can be imported need nothing.
    assert list(again(hr.Dataset.range(3).map(double))) == [0, 2, 4]


def test_a_state_goes_with_a_plan_to_another_process():
    dataset = hr.Dataset.range(20).shuffle(20, seed=3).map(lambda x: x + 1).batch(3)
    iterator = iter(again(dataset))
    next(iterator)
    blob = pickle.dumps((dataset, iterator.state()))
    program = (
        "import pickle, sys\n"
        "dataset, state = pickle.load(sys.stdin.buffer)\n"
        "print([batch.tolist() for batch in dataset.iterator(state)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=blob, capture_output=True, timeout=200
    )
    assert done.stderr == b""
    assert done.stdout.decode().strip() == str([batch.tolist() for batch in iterator])


def test_fingerprints_are_the_same_in_every_process():
    from headrace.function import Function

    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from headrace.function import Function; import test_pickle\n"
        "print(Function(test_pickle.double).fingerprint)\n"
    )
    import os

    here = os.path.dirname(__file__)
    run = subprocess.run(
        [sys.executable, "-c", program, here], capture_output=True, text=True, timeout=200
    )
    assert run.stdout.strip() == str(Function(double).fingerprint), run.stderr
    assert Function(double).fingerprint != Function(as_python).fingerprint
