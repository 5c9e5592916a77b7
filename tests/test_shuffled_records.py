"""Records of indexed files in random order: `shuffle(None)` over `TFRecordDataset`."""

import os
from pathlib import Path

import numpy as np
import pytest
from laws import check_laws
from test_global_shuffle import anonymous_bytes
from test_tfrecord_index import numbered, write

import headrace as hr

MB = 1 << 20


def number(record):
    return int.from_bytes(record[:8], "little")


def test_large_records_come_in_shuffled_order_too(tmp_path):
    records = [bytes([i]) * (900_000 + i) for i in range(20)]
    path = write(tmp_path / "a", records)
    ds = hr.TFRecordDataset(path, index="auto").shuffle(None, seed=3)
    order = [int(i) for i in hr.Dataset.range(20).shuffle(None, seed=3)]
    assert list(ds) == [records[i] for i in order]
    assert [len(batch) for batch in ds.batch(7)] == [7, 7, 6]


def test_classes_are_mixed(tmp_path):
    records = [np.int64(i // 10).tobytes() for i in range(10_000)]
    ds = hr.TFRecordDataset(write(tmp_path / "a", records), index="auto")
    batches = ds.shuffle(None, seed=5).batch(16).take(100)
    different = [len(set(batch.tolist())) for batch in batches]
    assert np.mean(different) >= 15.5


def test_an_epoch_over_many_files(tmp_path):
    count, files = 100_000, 8
    of_file = count // files
    paths = [
        write(
            tmp_path / f"{f}", [(f * of_file + i).to_bytes(1000, "little") for i in range(of_file)]
        )
        for f in range(files)
    ]

    def dataset():
        # Each core that may be used reads ahead.
        options = hr.Options(autotune=hr.AutotuneOptions(cpu_budget=4))
        records = hr.TFRecordDataset(paths, index="auto")
        return records.shuffle(None, seed=11).with_options(options)

    ds = dataset()
    before = peak = anonymous_bytes()
    first = []
    for record in ds:
        first.append(number(record))
        if len(first) % 5000 == 0:
            peak = max(peak, anonymous_bytes())
    assert peak - before < 32 * MB
    second = [number(record) for record in ds]
    assert [number(record) for record in dataset()] == first != second
    assert sorted(first) == sorted(second) == list(range(count))
    moved = np.abs(np.array(first) - np.arange(count))
    assert abs(moved.mean() - count / 3) < 0.05 * count / 3
    share = of_file // 10
    for tenth in np.split(np.array(first) // of_file, 10):
        assert (np.abs(np.bincount(tenth, minlength=files) - share) < 4 * np.sqrt(share)).all()


@pytest.mark.parametrize("compression", [None, "GZIP"])
@pytest.mark.parametrize("tasks", [1, 4])
def test_several_tasks_read_and_the_order_is_that_of_one(tmp_path, compression, tasks):
    records = [i.to_bytes(8, "little") * (i % 300) for i in range(1, 9000)]
    paths = [
        write(tmp_path / f"{f}", records[f * 3000 : (f + 1) * 3000], compression) for f in range(3)
    ]
    options = hr.Options()
    options.autotune.cpu_budget = tasks
    ds = hr.TFRecordDataset(paths, compression, index="auto")

    def shuffled():
        return ds.shuffle(None, seed=7).repeat(2).with_options(options)

    order = [int(i) for i in hr.Dataset.range(len(records)).shuffle(None, seed=7).repeat(2)]
    iterator = iter(shuffled())
    assert list(iterator) == [records[i] for i in order]
    [step] = [step for step in iterator.stats() if step["name"] == "shuffle"]
    assert step["max_parallelism"] <= tasks
    assert step["elements"] == len(order)
    for at in (1, 2500, 8998, 8999, 17_000):
        assert list(shuffled().skip(at).take(50)) == [records[i] for i in order[at : at + 50]]
    iterator = iter(shuffled())
    for _ in range(12_345):
        next(iterator)
    rest = shuffled().iterator(iterator.state())
    assert list(rest) == [records[i] for i in order[12_345:]]


def test_the_laws_hold(tmp_path):
    paths = [write(tmp_path / f"{f}", numbered(7 + f, 10 * f)) for f in range(3)]
    ds = hr.TFRecordDataset(paths, index="auto")
    check_laws(lambda: ds.shuffle(None, seed=1).repeat(2))
    check_laws(lambda: ds.skip(2).shard(2, 1).shuffle(None, seed=1).batch(3))


def test_damaged_records_are_errors_in_their_places(tmp_path):
    records = [i.to_bytes(8, "little") for i in range(2000)]
    path = write(tmp_path / "a", records)
    data = bytearray(Path(path).read_bytes())
    damaged = {0, 77, 78, 1500, 1999}
    for i in damaged:
        data[24 * i + 12] ^= 1
    Path(path).write_bytes(data)
    order = [int(i) for i in hr.Dataset.range(2000).shuffle(None, 3, False)]
    ds = hr.TFRecordDataset(path, index="auto").shuffle(None, 3, False)
    iterator, seen = iter(ds), []
    while len(seen) < 2000:
        try:
            seen.append(number(next(iterator)))
        except hr.errors.DataLossError as error:
            seen.append(error.record)
    assert seen == order
    assert list(iterator) == []
    rest = [records[i] for i in order if i not in damaged]
    assert list(ds.ignore_errors()) == rest


def test_a_small_budget_holds_tasks_back_and_changes_nothing(tmp_path):
    records = [bytes([i]) * 500_000 for i in range(100)]
    path = write(tmp_path / "a", records)
    order = [int(i) for i in hr.Dataset.range(100).shuffle(None, seed=3)]
    options = hr.Options()
    options.autotune.ram_budget = MB
    options.autotune.cpu_budget = 8
    iterator = iter(
        hr.TFRecordDataset(path, index="auto").shuffle(None, seed=3).with_options(options)
    )
    assert [record[0] for record in iterator] == order
    assert iterator.stats()[0]["peak_total_bytes"] < 4 * MB


def test_a_file_that_changes_ends_the_run(tmp_path):
    # More than is read ahead.
    path = write(tmp_path / "a", numbered(50_000))
    options = hr.Options(autotune=hr.AutotuneOptions(cpu_budget=2))
    dataset = hr.TFRecordDataset(path, index="auto").shuffle(None, seed=3).batch(10)
    iterator = iter(dataset.with_options(options))
    next(iterator)
    os.replace(write(tmp_path / "b", numbered(60_000)), path)
    with pytest.raises(hr.errors.FailedPreconditionError, match=r"50000 .* 60000"):
        list(iterator)
