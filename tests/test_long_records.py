"""Records so long that they are read beside each other, into the objects that are handed out."""

import gc
import threading
import tracemalloc

import numpy as np
import pytest
from laws import check_laws
from processes import wait_until

import headrace as hr

LONG = 300_000  # long enough to be read by a task of its own


def record(i, length=LONG):
    return np.random.default_rng(i).bytes(length)


def write(path, records):
    with hr.io.TFRecordWriter(path) as writer:
        for one in records:
            writer.write(one)
    return path


@pytest.fixture(scope="module")
def records():
    return [record(i) for i in range(30)]


@pytest.fixture(scope="module")
def path(records, tmp_path_factory):
    return write(tmp_path_factory.mktemp("long") / "a.tfrecord", records)


def test_kept_records_stay_as_they_are(path, records):
    # Many are kept, so that no memory may be used for two of them.
    for dataset in (hr.TFRecordDataset(path), hr.TFRecordDataset(path).prefetch(3)):
        kept = list(dataset.repeat(3))
        assert kept == records * 3
        assert len({id(one) for one in kept}) == len(kept)


def test_records_that_are_dropped_at_once_come_back(path, records):
    for _ in range(3):
        for got, want in zip(hr.TFRecordDataset(path), records, strict=True):
            assert type(got) is bytes
            assert got == want
            del got


def test_a_record_outlives_its_iterator(path, records):
    iterator = iter(hr.TFRecordDataset(path))
    kept = [next(iterator) for _ in range(12)]
    iterator.close()
    del iterator
    gc.collect()
    others = list(hr.TFRecordDataset(path))
    assert kept == records[:12]
    assert others == records


def test_objects_made_ahead_are_freed_with_the_iterator(path):
    def read(count):
        for _ in range(3):
            for i, _ in enumerate(hr.TFRecordDataset(path).prefetch(4)):
                if i == count:
                    break

    read(30)
    tracemalloc.start()
    try:
        for count in (30, 12, 2):
            read(count)
        gc.collect()

        # A task that reads takes a while to notice that its iterator is gone; what it lets go of
        # without the GIL is freed by the next call.
        def freed():
            iter(hr.Dataset.range(1))
            return tracemalloc.get_traced_memory()[0] < LONG

        wait_until(freed)
    finally:
        tracemalloc.stop()


def test_an_object_is_hashed_and_compared_as_any_other(path, records):
    seen = dict.fromkeys(hr.TFRecordDataset(path))
    assert list(seen) == records
    assert records[20] in seen


def test_lengths_may_differ(tmp_path):
    lengths = [LONG, LONG, LONG, 0, 5, LONG + 1, LONG - 1, 2 * LONG, LONG, LONG, 70_000, 70_000] * 4
    records = [record(i, length) for i, length in enumerate(lengths)]
    path = write(tmp_path / "a", records)
    assert list(hr.TFRecordDataset(path)) == records
    assert list(hr.TFRecordDataset([path, path]).prefetch(2)) == records * 2


def test_long_records_go_through_other_steps(path, records):
    dataset = hr.TFRecordDataset(path)
    batches = list(dataset.batch(7))
    assert [one for batch in batches for one in batch] == records
    assert sorted(dataset.shuffle(9, seed=1)) == sorted(records)
    pairs = list(dataset.map(lambda r: (r, hr.io.decode_raw(r, np.uint8))).prefetch(2))
    assert [whole for whole, _ in pairs] == records
    assert [array.tobytes() for _, array in pairs] == records
    assert list(dataset.map(lambda r: (r, r)))[5] == (records[5], records[5])
    values = [hr.io.serialize_example({"x": one}) for one in records[:8]]
    features = {"x": hr.io.FixedLenFeature([], bytes)}
    other = write(path.with_name("b.tfrecord"), values)
    parsed = hr.TFRecordDataset(other).map(lambda r: hr.io.parse_single_example(r, features)["x"])
    assert list(parsed.prefetch(2)) == records[:8]


@pytest.mark.parametrize("where", ["front", "back", "footer"])
def test_damage_is_noticed_wherever_it_is(path, records, tmp_path, where):
    bad = tmp_path / "bad"
    content = bytearray(path.read_bytes())
    frame = 20 * (LONG + 16)
    content[frame + {"front": 12, "back": 12 + LONG - 1, "footer": 12 + LONG}[where]] ^= 4
    bad.write_bytes(content)
    iterator = iter(hr.TFRecordDataset(bad))
    assert [next(iterator) for _ in range(20)] == records[:20]
    with pytest.raises(hr.errors.DataLossError) as caught:
        next(iterator)
    assert (caught.value.record, caught.value.offset) == (20, frame)
    assert list(iterator) == records[21:]


def test_a_file_that_is_cut_ends_with_an_error(path, records, tmp_path):
    cut = tmp_path / "cut"
    cut.write_bytes(path.read_bytes()[: 25 * (LONG + 16) + 1000])
    iterator = iter(hr.TFRecordDataset(cut))
    assert [next(iterator) for _ in range(25)] == records[:25]
    with pytest.raises(hr.errors.DataLossError):
        next(iterator)
    assert list(iterator) == []


def test_several_runs_at_once(path, records):
    results = {}

    def read(name):
        results[name] = list(hr.TFRecordDataset(path).repeat(2).prefetch(2))

    threads = [threading.Thread(target=read, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[name] == records * 2 for name in range(4))


def test_the_laws_hold(tmp_path):
    path = write(tmp_path / "a", [record(i) for i in range(5)])
    check_laws(lambda: hr.TFRecordDataset(path))
