"""`TFRecordDataset(on_corruption="skip")`: what damage costs, and what is told of it."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from laws import check_laws
from processes import wait_until

import headrace as hr
import headrace.tf as tf

FRAME = 12 + 4 + 4


def write(path, records, compression=None):
    with hr.io.TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    return path


def change(path, *places):
    data = bytearray(path.read_bytes())
    for place in places:
        data[place] ^= 0x20
    path.write_bytes(data)


def skipping(files, **arguments):
    return hr.TFRecordDataset(files, on_corruption="skip", **arguments)


@pytest.fixture
def numbered(tmp_path):
    """Make a file of `count` records of four bytes, some with a damaged payload."""

    def make(name, count, damaged=()):
        path = write(tmp_path / name, [b"%04d" % i for i in range(count)])
        change(path, *(i * FRAME + 13 for i in damaged))
        return path

    return make


def test_damaged_records_are_left_out_and_reported(numbered):
    path = numbered("a", 10, [5])
    iterator = iter(skipping(path))
    assert iterator.report() == hr.report.LossReport(0, 0, ())
    assert list(iterator) == [b"%04d" % i for i in range(10) if i != 5]
    report = iterator.report()
    assert (report.count, report.bytes) == (1, FRAME)
    (place,) = report.places
    assert (place.file, place.offset, place.bytes) == (str(path), 5 * FRAME, FRAME)
    assert "payload" in place.reason
    assert "byte 100: 20 bytes" in str(report)


def test_up_to_the_limit(numbered):
    path = numbered("a", 1000, [20, 500, 999])
    iterator = iter(skipping(path, corruption_limit=3))
    assert len(list(iterator)) == 997
    places = [(place.file, place.offset) for place in iterator.report().places]
    assert places == [(str(path), i * FRAME) for i in (20, 500, 999)]
    iterator = iter(skipping(path, corruption_limit=2))
    seen = []
    with pytest.raises(hr.errors.DataLossError, match=r"corruption_limit=2") as caught:
        seen.extend(iterator)
    assert len(seen) == 997
    assert (caught.value.file, caught.value.offset) == (str(path), 999 * FRAME)
    assert iterator.report().count == 2
    with pytest.raises(hr.errors.DataLossError, match="corruption_limit=0"):
        list(skipping(path, corruption_limit=0))


def test_the_limit_is_that_of_all_files_however_many_are_read_at_once(numbered):
    paths = [numbered(f"{i}", 50, [7, 30]) for i in range(4)]
    seen = set()
    for reads in (None, 2, 4, hr.AUTOTUNE):
        iterator = iter(skipping(paths, num_parallel_reads=reads))
        assert len(list(iterator)) == 4 * 48
        assert sorted(place.file for place in iterator.report().places) == sorted(
            [str(path) for path in paths] * 2
        )
        iterator = iter(skipping(paths, num_parallel_reads=4, corruption_limit=5))
        records = []
        with pytest.raises(hr.errors.DataLossError, match="corruption_limit=5"):
            records.extend(iterator)
        seen.add((len(records), iterator.report().count))
    assert len(seen) == 1


@pytest.mark.parametrize("place", range(FRAME))
def test_a_change_anywhere_in_a_record_costs_that_record(numbered, place):
    path = numbered("a", 100)
    change(path, 40 * FRAME + place)
    assert list(skipping(path)) == [b"%04d" % i for i in range(100) if i != 40]
    with pytest.raises(hr.errors.DataLossError):
        list(hr.TFRecordDataset(path))


@pytest.mark.parametrize("cut", [1, 11, 12, 14, 19])
def test_a_file_that_is_cut_off_loses_its_last_record(numbered, cut):
    path = numbered("a", 10)
    path.write_bytes(path.read_bytes()[: 9 * FRAME + cut])
    iterator = iter(skipping(path))
    assert list(iterator) == [b"%04d" % i for i in range(9)]
    assert [(p.offset, p.bytes) for p in iterator.report().places] == [(9 * FRAME, cut)]


def test_lost_blocks_of_a_disk_cost_the_records_on_them(tmp_path):
    rng = np.random.default_rng(5)
    records = [i.to_bytes(4, "little") + rng.bytes(rng.integers(0, 900)) for i in range(2000)]
    path = write(tmp_path / "a", records)
    data = bytearray(path.read_bytes())
    data[8 * 4096 : 9 * 4096] = bytes(4096)
    data[100 * 4096 : 103 * 4096] = rng.bytes(3 * 4096)
    path.write_bytes(data)
    iterator = iter(skipping(path))
    seen = list(iterator)
    lost = sorted(set(records) - set(seen))
    assert seen == [record for record in records if record in set(seen)]
    touched, start = 0, 0
    for record in records:
        end = start + len(record) + 16
        touched += (start < 9 * 4096 and end > 8 * 4096) or (
            start < 103 * 4096 and end > 100 * 4096
        )
        start = end
    assert len(lost) == touched
    assert iterator.report().bytes == sum(len(record) + 16 for record in lost)


def test_a_record_that_holds_records_is_lost_whole(tmp_path):
    inner = write(tmp_path / "inner", [b"within %d" % i for i in range(50)]).read_bytes()
    records = [b"before", inner, b"after", b"last"]
    path = write(tmp_path / "a", records)
    data = path.read_bytes()
    start = len(b"before") + 16
    for damage in (slice(start, start + 12), slice(start + 3, start + 4), slice(start, start + 40)):
        damaged = bytearray(data)
        damaged[damage] = bytes(b ^ 0xFF for b in data[damage])
        path.write_bytes(damaged)
        assert list(skipping(path)) == [b"before", b"after", b"last"]


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_the_rest_of_a_damaged_stream_is_lost(tmp_path, compression):
    records = [np.random.default_rng(i).bytes(5000) for i in range(100)]
    path = write(tmp_path / "a", records, compression)
    other = write(tmp_path / "b", [b"other"], compression)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    iterator = iter(skipping([path, other], compression_type=compression))
    seen = list(iterator)
    assert seen == [*records[: len(seen) - 1], b"other"]
    assert len(seen) > 30
    (place,) = iterator.report().places
    assert (place.file, place.bytes) == (str(path), None)
    assert "the rest" in str(iterator.report())


def test_files_of_another_kind_are_not_skipped(tmp_path):
    path = tmp_path / "a"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n")
    with pytest.raises(hr.errors.DataLossError, match="Git LFS"):
        list(skipping(path))
    write(path, [b"x" * 100], "GZIP")
    with pytest.raises(hr.errors.DataLossError, match="GZIP"):
        list(skipping(path))
    with pytest.raises(FileNotFoundError):
        list(skipping(tmp_path / "none"))


def test_damage_is_counted_by_the_step(numbered):
    iterator = iter(skipping(numbered("a", 10, [5, 6])).batch(3))
    assert [len(batch) for batch in iterator] == [3, 3, 2]
    (step,) = [row for row in iterator.stats() if "lost" in row]
    assert (step["name"], step["lost"], step["lost_bytes"]) == ("salvage", 2, 2 * FRAME)


def test_a_damaged_file_is_named_once_in_the_log(numbered, caplog):
    path = numbered("a", 10, [5, 6])
    for _ in range(3):
        list(skipping(path))
    assert [record.message for record in caplog.records] == [
        f"{path} is damaged: what cannot be read of it is left out"
    ]


def test_positions_count_records(numbered):
    path = numbered("a", 20, [3, 4, 11])
    records = list(skipping(path))
    for position in range(18):
        assert list(skipping(path).skip(position)) == records[position:]
        iterator = iter(skipping(path, corruption_limit=3))
        for _ in range(position):
            next(iterator)
        state = iterator.state()
        resumed = skipping(path, corruption_limit=3).iterator(state=state)
        assert list(resumed) == records[position:]
        assert resumed.report().count <= 3


def test_each_epoch_counts_anew(numbered):
    path = numbered("a", 10, [5])
    iterator = iter(skipping(path, corruption_limit=1).repeat(3))
    assert len(list(iterator)) == 27
    assert iterator.report().count == 3


def test_damage_goes_with_other_steps(numbered):
    paths = [numbered(f"{i}", 30, [i]) for i in range(3)]
    dataset = skipping(hr.Dataset.from_tensor_slices([str(path) for path in paths]))
    assert len(list(dataset.shuffle(10, seed=1).prefetch(2))) == 87
    nested = hr.Dataset.from_tensor_slices([str(path) for path in paths]).interleave(
        lambda path: hr.TFRecordDataset(path, on_corruption="skip"),
        cycle_length=2,
        num_parallel_calls=2,
    )
    iterator = iter(nested)
    assert len(list(iterator)) == 87
    assert iterator.report().count == 3


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="'raise' or 'skip', got 'ignore'"):
        hr.TFRecordDataset("a", on_corruption="ignore")
    with pytest.raises(ValueError, match="corruption_limit"):
        hr.TFRecordDataset("a", on_corruption="skip", corruption_limit=-1)
    with pytest.raises(ValueError, match="pass on_corruption='skip'"):
        hr.TFRecordDataset("a", corruption_limit=1)
    with pytest.raises(TypeError, match="corruption_limit"):
        hr.TFRecordDataset("a", on_corruption="skip", corruption_limit="many")
    with pytest.raises(ValueError, match="leave out `index`"):
        hr.TFRecordDataset("a", on_corruption="skip", index="auto")


def test_it_pickles(numbered):
    dataset = skipping(numbered("a", 10, [5]), corruption_limit=1)
    assert isinstance(dataset, hr.TFRecordDataset)
    assert list(pickle.loads(pickle.dumps(dataset))) == list(dataset)


def test_tensorflow_names_take_it_too(numbered):
    dataset = tf.data.TFRecordDataset(numbered("a", 10, [5]), on_corruption="skip")
    assert isinstance(dataset, tf.data.TFRecordDataset)
    iterator = dataset.as_numpy_iterator()
    assert len(list(iterator)) == 9
    assert iterator.report().count == 1


@pytest.mark.parametrize("reads", [None, 2])
def test_the_laws_hold(numbered, reads):
    paths = [numbered(f"{i}", 15, [i, 7]) for i in range(3)]
    check_laws(lambda: skipping(paths, num_parallel_reads=reads))


@pytest.fixture
def without_frames(tmp_path):
    """A damaged file in which a search takes a while."""
    path = write(tmp_path / "a", [b"first"])
    with path.open("ab") as file:
        file.truncate(6 << 30)
    return path


def test_a_search_ends_on_ctrl_c(without_frames):
    program = (
        "import sys, headrace as hr\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    list(hr.TFRecordDataset(sys.argv[1], on_corruption='skip'))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    arguments = [sys.executable, "-c", program, str(without_frames)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=200)[0] == "interrupted\n"


def test_a_search_ends_with_its_iterator(without_frames):
    iterator = iter(skipping(without_frames).prefetch(2))
    assert next(iterator) == b"first"
    threading.Timer(0.3, iterator.close).start()
    assert list(iterator) == []
    wait_until(lambda: str(without_frames) not in open_files())


def open_files():
    links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return {os.readlink(link) for link in links if os.path.lexists(link)}
