"""`Dataset.snapshot`: a cache in files that knows its pipeline."""

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws
from test_cache import ELEMENTS, counted

import headrace as hr


@pytest.mark.parametrize("compression", ["AUTO", None, "GZIP", "SNAPPY"])
def test_later_passes_read_what_the_first_one_made(compression, tmp_path):
    dataset, made = counted()
    kept = dataset.snapshot(tmp_path, compression)
    assert list(kept) == list(kept) == list(range(5))
    assert made == list(range(5))


def test_a_pass_left_early_keeps_nothing(tmp_path):
    dataset, made = counted()
    kept = dataset.snapshot(tmp_path)
    next(iter(kept))
    assert list(kept) == list(range(5))
    assert made == [0, 0, 1, 2, 3, 4]


def test_pipelines_are_told_apart(tmp_path):
    def read(values):
        return list(hr.Dataset.from_tensor_slices(values).snapshot(tmp_path))

    assert read([1, 2, 3]) == [1, 2, 3]
    assert read([4, 5, 6]) == [4, 5, 6]
    assert list(hr.Dataset.range(3).map(lambda x: x + 1).snapshot(tmp_path)) == [1, 2, 3]
    assert list(hr.Dataset.range(3).map(lambda x: x + 2).snapshot(tmp_path)) == [2, 3, 4]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_like_pipeline_reads(tmp_path):
    def build():
        return hr.Dataset.range(9).shuffle(9).snapshot(tmp_path)

    assert list(build()) == list(build())


def test_a_second_writer_makes_the_elements_itself(tmp_path):
    kept = hr.Dataset.range(5).snapshot(tmp_path)
    first = iter(kept)
    next(first)
    assert list(kept) == list(range(5))
    assert list(first) == [1, 2, 3, 4]
    assert list(kept) == list(range(5))


@pytest.mark.parametrize("kind", ELEMENTS)
def test_elements_of_every_kind_come_back(kind, tmp_path):
    expected = list(ELEMENTS[kind]())
    kept = ELEMENTS[kind]().snapshot(tmp_path)
    assert_same_elements(list(kept), expected)
    assert_same_elements(list(kept), expected)


def test_arguments_are_checked(tmp_path):
    with pytest.raises(hr.errors.InvalidArgumentError, match="compression"):
        hr.Dataset.range(1).snapshot(tmp_path, "ZIP")
    assert hr.Dataset.range(1).snapshot(tmp_path).element_spec == hr.TensorSpec((), np.int64)


def test_the_laws_hold(tmp_path):
    check_laws(lambda: hr.Dataset.range(9).shuffle(5, seed=1).snapshot(tmp_path / "a").repeat(2))
    check_laws(lambda: hr.Dataset.range(9).map(lambda x: int(x)).snapshot(tmp_path / "b").batch(2))
    check_laws(lambda: hr.Dataset.range(9).snapshot(tmp_path / "c", None).shuffle(3, seed=1))


def in_order(shards):
    return shards.flat_map(lambda shard: shard)


def three(x):
    return x % 3


def test_shards_are_chosen_and_read_as_told(tmp_path):
    dataset, made = counted()
    kept = dataset.snapshot(tmp_path, shard_func=three, reader_func=in_order)
    assert kept.element_spec == dataset.element_spec
    assert list(kept) == [0, 1, 2, 3, 4]
    assert list(kept) == [0, 3, 1, 4, 2]
    assert made == [0, 1, 2, 3, 4]
    again = dataset.snapshot(tmp_path, shard_func=three, reader_func=lambda s: in_order(s.skip(1)))
    assert list(again) == [1, 4, 2]


def test_shards_are_interleaved_by_default(tmp_path):
    kept = hr.Dataset.range(8).snapshot(tmp_path, shard_func=lambda x: x // 4)
    assert list(kept) == list(range(8))
    assert sorted(kept) == list(range(8))


def test_a_reader_alone_gets_one_shard(tmp_path):
    kept = hr.Dataset.range(5).snapshot(tmp_path, reader_func=lambda s: in_order(s).repeat(2))
    assert list(kept) == list(range(5))
    assert list(kept) == [*range(5), *range(5)]
    assert list(hr.Dataset.range(0).snapshot(tmp_path, reader_func=in_order).repeat(2)) == []


def test_sharded_passes_left_early_keep_nothing(tmp_path):
    kept = hr.Dataset.range(5).snapshot(tmp_path, shard_func=three, reader_func=in_order)
    next(iter(kept))
    assert list(kept) == [0, 1, 2, 3, 4]
    (folder,) = tmp_path.iterdir()
    assert len([entry for entry in folder.iterdir() if entry.is_dir()]) == 1


def test_a_second_writer_of_shards_only_passes_elements_on(tmp_path):
    kept = hr.Dataset.range(5).snapshot(tmp_path, shard_func=three, reader_func=in_order)
    first = iter(kept)
    next(first)
    assert list(kept) == [0, 1, 2, 3, 4]
    assert list(first) == [1, 2, 3, 4]
    assert list(kept) == [0, 3, 1, 4, 2]


@pytest.mark.parametrize("taken", range(11))
def test_a_resumed_run_stays_in_the_order_of_its_pass(tmp_path, taken):
    kept = hr.Dataset.range(5).snapshot(tmp_path, shard_func=three, reader_func=in_order).repeat(2)
    whole = [0, 1, 2, 3, 4, 0, 3, 1, 4, 2]
    iterator = iter(kept)
    seen = [next(iterator) for _ in range(taken)]
    state = iterator.state()
    assert seen + list(iterator) == whole
    assert seen + list(kept.iterator(state)) == whole


@pytest.mark.parametrize("kind", ELEMENTS)
def test_sharded_elements_of_every_kind_come_back(kind, tmp_path):
    def shard(*components):
        return 0

    expected = list(ELEMENTS[kind]())
    kept = ELEMENTS[kind]().snapshot(tmp_path, shard_func=shard, reader_func=in_order)
    assert_same_elements(list(kept), expected)
    assert_same_elements(list(kept), expected)


def test_functions_of_a_snapshot_are_checked(tmp_path):
    numbers = hr.Dataset.range(3)
    with pytest.raises(hr.errors.InvalidArgumentError, match="shard_func must return"):
        list(numbers.snapshot(tmp_path / "a", shard_func=lambda x: x - 2))
    for wrong in (lambda x: x * 0.5, lambda x: "a", lambda x: (x, x), lambda x: np.stack([x, x])):
        with pytest.raises(TypeError, match="Invalid `shard_func`"):
            numbers.snapshot(tmp_path / "b", shard_func=wrong)
    kept = numbers.snapshot(tmp_path / "c", reader_func=lambda shards: 7)
    list(kept)
    with pytest.raises(TypeError, match="`reader_func` must return"):
        list(kept)


def test_snapshots_under_tensorflow_names(tmp_path):
    import headrace.tf as tf

    def reader(shards):
        assert isinstance(shards, tf.data.Dataset)
        return shards.flat_map(lambda shard: shard.map(lambda x: x * 10))

    kept = tf.data.Dataset.range(4).snapshot(
        str(tmp_path), shard_func=lambda x: x % 2, reader_func=reader
    )
    assert kept.element_spec == tf.TensorSpec([], tf.int64)
    assert [x.numpy() for x in kept] == [0, 1, 2, 3]
    assert [x.numpy() for x in kept] == [0, 20, 10, 30]
    with pytest.raises(TypeError, match="`reader_func` must return"):
        kept.snapshot(str(tmp_path), reader_func=lambda shards: 7)
    with pytest.raises(TypeError, match="Invalid `shard_func`"):
        kept.snapshot(str(tmp_path), shard_func=lambda x: "invalid")


def test_auto_is_snappy_and_makes_small_files(tmp_path):
    def size(compression):
        folder = tmp_path / str(compression)
        kept = hr.Dataset.from_tensors(np.zeros(100_000)).snapshot(folder, compression)
        assert next(iter(kept)).sum() == 0
        list(kept)
        data = next(folder.glob("*/*.shard/*.snapshot")).read_bytes()
        return data[:10], len(data)

    head, count = size("AUTO")
    assert head == size("SNAPPY")[0] == b"\xff\x06\x00\x00sNaPpY"
    assert count < size(None)[1] / 10
    with pytest.raises(hr.errors.InvalidArgumentError, match="compression_type"):
        hr.TFRecordDataset("x", compression_type="SNAPPY")
