"""`Dataset.save` and `Dataset.load`."""

import os
import pickle
import threading
from typing import NamedTuple

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws
from test_cache import ELEMENTS

import headrace as hr


@pytest.mark.parametrize("compression", [None, "GZIP", "AUTO", "SNAPPY"])
@pytest.mark.parametrize("kind", [kind for kind in ELEMENTS if kind != "unknown"])
def test_elements_of_every_kind_come_back(kind, compression, tmp_path):
    dataset = ELEMENTS[kind]()
    dataset.save(tmp_path, compression)
    loaded = hr.Dataset.load(tmp_path, compression=compression)
    assert_same_elements(list(loaded), list(dataset))
    assert loaded.element_spec == dataset.element_spec
    assert len(loaded) == len(list(dataset))


def test_elements_that_only_a_run_can_tell(tmp_path):
    dataset = hr.Dataset.range(3).map(lambda x: (int(x) if x >= 0 else 0, "a"))
    assert dataset.element_spec == hr.UnknownSpec()
    dataset.save(tmp_path)
    loaded = hr.Dataset.load(tmp_path)
    assert loaded.element_spec == (hr.TensorSpec((), np.int64), hr.TensorSpec((), str))
    assert_same_elements(list(loaded), list(dataset))


class Pair(NamedTuple):
    a: int
    b: str


def test_classes_come_back_as_given_or_as_namedtuples(tmp_path):
    dataset = hr.Dataset.from_tensors(Pair(1, "x"))
    dataset.save(tmp_path)
    [element] = hr.Dataset.load(tmp_path)
    assert type(element).__name__ == "Pair"
    assert (element.a, element.b) == (1, "x")
    assert pickle.loads(pickle.dumps(element)) == element
    assert list(pickle.loads(pickle.dumps(hr.Dataset.load(tmp_path)))) == [element]
    [element] = hr.Dataset.load(tmp_path, dataset.element_spec)
    assert type(element) is Pair


def test_shards_are_read_in_turn(tmp_path):
    hr.Dataset.range(7).save(tmp_path, shard_func=lambda x: x % 3)
    shards = sorted(path.parent.name for path in tmp_path.glob("*/*.shard/*.snapshot"))
    assert shards == ["00000000.shard", "00000001.shard", "00000002.shard"]
    assert list(hr.Dataset.load(tmp_path)) == list(range(7))
    pairs = hr.Dataset.range(4).map(lambda x: (x, {"y": x * 2}))
    pairs.save(tmp_path, shard_func=lambda x, y: np.int64(1) - x // 2)
    assert [int(x) for x, _ in hr.Dataset.load(tmp_path)] == [2, 0, 3, 1]


def test_a_reader_gets_a_dataset_of_shards(tmp_path):
    hr.Dataset.range(6).save(tmp_path, shard_func=lambda x: x % 2)

    def backwards(shards):
        assert shards.element_spec == hr.DatasetSpec(hr.TensorSpec((), np.int64))
        return shards.skip(1).concatenate(shards.take(1)).flat_map(lambda shard: shard)

    loaded = hr.Dataset.load(tmp_path, reader_func=backwards)
    assert list(loaded) == [1, 3, 5, 0, 2, 4]
    assert loaded.element_spec == hr.TensorSpec((), np.int64)
    in_turn = hr.Dataset.load(tmp_path, reader_func=lambda d: d.interleave(lambda x: x, 2, 2))
    assert list(in_turn) == [0, 2, 1, 3, 4, 5]
    with pytest.raises(TypeError, match="`reader_func` must return"):
        hr.Dataset.load(tmp_path, reader_func=list)
    with pytest.raises(hr.errors.NotFoundError):
        hr.Dataset.load(tmp_path / "none", reader_func=backwards)


def test_a_shard_is_a_number(tmp_path):
    for wrong in (lambda x: x - 1, lambda x: "a", lambda x: (x, x)):
        with pytest.raises(hr.errors.InvalidArgumentError, match="shard_func must return"):
            hr.Dataset.range(3).save(tmp_path, shard_func=wrong)
    assert not list(tmp_path.rglob("*.snapshot"))


def test_saving_again_replaces(tmp_path):
    hr.Dataset.range(3).save(tmp_path)
    hr.Dataset.from_tensors("text").save(tmp_path)
    assert list(hr.Dataset.load(tmp_path)) == ["text"]
    assert len(list(tmp_path.rglob("*.snapshot"))) == 1


def test_a_failing_element_leaves_what_was_there(tmp_path):
    def fail(x):
        if x == 2:
            raise KeyError("two")
        return x

    hr.Dataset.range(3).save(tmp_path)
    with pytest.raises(KeyError):
        hr.Dataset.range(3).map(fail).save(tmp_path)
    assert list(hr.Dataset.load(tmp_path)) == [0, 1, 2]
    assert len(list(tmp_path.rglob("*.snapshot"))) == 1


def test_nothing_saved_is_an_error(tmp_path):
    with pytest.raises(hr.errors.NotFoundError, match=r"snapshot.metadata.*save"):
        hr.Dataset.load(tmp_path / "none")


def test_waiting_for_what_is_being_saved(tmp_path):
    timer = threading.Timer(0.3, lambda: hr.Dataset.range(3).save(tmp_path))
    timer.start()
    assert list(hr.Dataset.load(tmp_path, wait=True)) == [0, 1, 2]
    timer.join()


def test_elements_must_fit_the_spec(tmp_path):
    hr.Dataset.range(3).save(tmp_path)
    with pytest.raises(hr.errors.FailedPreconditionError, match="int64 in the file"):
        list(hr.Dataset.load(tmp_path, hr.TensorSpec((), np.float32)))
    with pytest.raises(hr.errors.DataLossError):
        list(hr.Dataset.load(tmp_path, (hr.TensorSpec((), np.int64),) * 2))


def test_damage_is_noticed(tmp_path):
    hr.Dataset.range(3).save(tmp_path)
    [path] = tmp_path.rglob("*.snapshot")
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    with pytest.raises(hr.errors.DataLossError, match="record 1"):
        list(hr.Dataset.load(tmp_path))
    (tmp_path / "dataset_spec.json").write_text("[1")
    with pytest.raises(hr.errors.DataLossError, match="not the spec"):
        hr.Dataset.load(tmp_path)
    (tmp_path / "snapshot.metadata").write_text("{}")
    with pytest.raises(hr.errors.DataLossError, match="not the metadata"):
        hr.Dataset.load(tmp_path, hr.TensorSpec((), np.int64))


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(hr.errors.InvalidArgumentError, match="cannot be written"):
        hr.Dataset.from_tensors(object()).save(tmp_path)
    with pytest.raises(hr.errors.InvalidArgumentError, match="compression"):
        hr.Dataset.range(1).save(tmp_path, "ZIP")
    assert os.listdir(tmp_path) == []


def test_the_laws_hold(tmp_path):
    hr.Dataset.range(5000).map(lambda x: (x, x * 2)).save(tmp_path / "a")
    hr.Dataset.range(30).save(tmp_path / "b", "GZIP", shard_func=lambda x: x % 4)
    check_laws(lambda: hr.Dataset.load(tmp_path / "a").skip(4990))
    check_laws(lambda: hr.Dataset.load(tmp_path / "b"))
    check_laws(lambda: hr.Dataset.load(tmp_path / "b").shuffle(4, seed=1).batch(4))


def interrupted(at, seen):
    """Return numbers of which one fails until it is tried a second time."""

    def fail_once(x):
        seen.append(int(x))
        if x == at and seen.count(at) == 1:
            raise KeyError("interrupted")
        return x, "text" * int(x % 3)

    spec = (hr.TensorSpec((), np.int64), hr.TensorSpec((), str))
    numbers = hr.Dataset.range(3000).shuffle(100, seed=3)
    return numbers.map(fail_once, output_signature=spec)


class Counter:
    value = 0

    def assign_add(self, delta):
        self.value += delta


@pytest.mark.parametrize("compression", [None, "GZIP", "AUTO"])
@pytest.mark.parametrize("shard_func", [None, lambda x, text: x % 3])
def test_an_interrupted_saving_goes_on(compression, shard_func, tmp_path):
    seen, counter = [], Counter()
    args = {
        "directory": str(tmp_path / "progress"),
        "checkpoint_interval": 500,
        "step_counter": counter,
        "max_to_keep": 2,
    }
    dataset = interrupted(2000, seen)
    with pytest.raises(KeyError):
        dataset.save(tmp_path / "data", compression, shard_func, args)
    first = len(seen)
    assert 500 <= counter.value < first <= 2000 + 200
    with pytest.raises(hr.errors.NotFoundError):
        hr.Dataset.load(tmp_path / "data")
    dataset.save(tmp_path / "data", compression, shard_func, args)
    assert len(seen) - first <= 3000 - counter.value % 3000 + 600
    assert counter.value == 3000
    assert len(os.listdir(tmp_path / "progress")) == 2
    loaded = hr.Dataset.load(tmp_path / "data")
    again = interrupted(-1, [])
    again.save(tmp_path / "whole", compression, shard_func)
    assert_same_elements(list(loaded), list(hr.Dataset.load(tmp_path / "whole")))
    # All is done: saving again makes no element.
    count = len(seen)
    dataset.save(tmp_path / "data", compression, shard_func, args)
    assert len(seen) == count
    assert_same_elements(list(hr.Dataset.load(tmp_path / "data")), list(loaded))


def test_checkpoints_that_cannot_be_gone_on_from(tmp_path):
    args = {"directory": tmp_path / "progress"}
    hr.Dataset.range(10).save(tmp_path / "data", checkpoint_args=args)
    with pytest.raises(hr.errors.InvalidArgumentError, match="another dataset"):
        hr.Dataset.range(11).save(tmp_path / "data", checkpoint_args=args)
    with pytest.raises(hr.errors.FailedPreconditionError, match="compression"):
        hr.Dataset.range(10).save(tmp_path / "data", "GZIP", checkpoint_args=args)
    [path] = (tmp_path / "data").rglob("*.snapshot")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(hr.errors.DataLossError, match="delete the checkpoints"):
        hr.Dataset.range(10).save(tmp_path / "data", checkpoint_args=args)
    [checkpoint] = (tmp_path / "progress").iterdir()
    checkpoint.write_text("{")
    with pytest.raises(hr.errors.DataLossError, match="not a checkpoint"):
        hr.Dataset.range(10).save(tmp_path / "data", checkpoint_args=args)


@pytest.mark.parametrize(
    ("args", "error", "match"),
    [
        ({"checkpoint": 1, "directory": "d"}, ValueError, "not allowed to include"),
        ({"max_to_keep": 1}, ValueError, "directory"),
        ({"directory": "d", "interval": 1}, ValueError, "has no 'interval'"),
        ({"directory": "d", "checkpoint_interval": 0}, ValueError, "checkpoint_interval"),
        ({"directory": "d", "step_counter": 1}, TypeError, "assign_add"),
        ([1], TypeError, "must be a dict"),
    ],
)
def test_what_checkpoints_are_asked_for(args, error, match, tmp_path):
    with pytest.raises(error, match=match):
        hr.Dataset.range(1).save(tmp_path, checkpoint_args=args)
