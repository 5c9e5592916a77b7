"""`TFRecordDataset` and `TFRecordWriter`."""

import base64
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import GOLDEN, golden
from laws import check_laws

import headrace as hr

VECTORS = golden("tfrecord.json")


def write(path, records, options=None):
    with hr.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    return path


def test_records_come_back(record_file):
    dataset = hr.TFRecordDataset(record_file)
    assert dataset.element_spec == hr.TensorSpec((), bytes)
    assert dataset.cardinality() == hr.UNKNOWN_CARDINALITY
    assert list(dataset) == [f"r{i}".encode() for i in range(10)]


@pytest.mark.parametrize("compression", [None, "", "GZIP", "ZLIB"])
def test_reader_and_writer_take_the_same_compressions(tmp_path, compression):
    records = [b"x" * n for n in (0, 1, 5000)]
    path = write(tmp_path / "a", records, compression)
    assert list(hr.TFRecordDataset(path, compression)) == records
    options = hr.io.TFRecordOptions(compression, compression_level=1)
    assert list(hr.TFRecordDataset(write(path, records, options), compression)) == records


def test_an_unknown_compression_lists_the_known(tmp_path):
    with pytest.raises(ValueError, match="'GZIP', 'ZLIB'"):
        hr.TFRecordDataset("a", "gzip")
    with pytest.raises(ValueError, match="'GZIP', 'ZLIB'"):
        hr.io.TFRecordWriter(tmp_path / "a", "SNAPPY")


def test_files_are_read_one_after_the_other(tmp_path):
    paths = [write(tmp_path / name, [name.encode()]) for name in ("b", "a", "c")]
    assert list(hr.TFRecordDataset(paths)) == [b"b", b"a", b"c"]
    assert list(hr.TFRecordDataset([str(p) for p in paths])) == [b"b", b"a", b"c"]
    assert list(hr.TFRecordDataset(np.array([str(p) for p in paths]))) == [b"b", b"a", b"c"]


def test_parallel_reads_take_a_record_of_each_file_in_turn(tmp_path):
    paths = [
        write(tmp_path / name, [name.encode() + b"%d" % i for i in range(2)]) for name in "abc"
    ]
    dataset = hr.TFRecordDataset(paths, num_parallel_reads=2)
    assert list(dataset) == [b"a0", b"b0", b"a1", b"b1", b"c0", b"c1"]
    assert list(hr.TFRecordDataset(paths, num_parallel_reads=1)) == list(hr.TFRecordDataset(paths))
    assert sorted(hr.TFRecordDataset(paths, num_parallel_reads=hr.AUTOTUNE)) == sorted(dataset)
    options = hr.Options()
    options.deterministic = False
    for reads in (2, hr.AUTOTUNE):
        loose = hr.TFRecordDataset(paths, num_parallel_reads=reads).with_options(options)
        assert sorted(loose) == sorted(dataset)
        with pytest.raises(hr.errors.FailedPreconditionError, match="interleave"):
            loose.iterator().state()
    assert dataset.element_spec == hr.TensorSpec((), bytes)


def test_names_may_come_from_a_dataset(tmp_path):
    paths = [write(tmp_path / name, [name.encode()]) for name in "abc"]
    names = hr.Dataset.list_files(str(tmp_path / "*"), seed=3)
    orders = [list(hr.TFRecordDataset(names)) for _ in range(3)]
    assert [b"".join(order) for order in orders] == [b"abc", b"acb", b"cba"]
    assert list(hr.TFRecordDataset(hr.Dataset.from_tensor_slices([str(paths[1])]))) == [b"b"]
    with pytest.raises(TypeError, match="must contain `str` elements"):
        hr.TFRecordDataset(hr.Dataset.range(3))
    with pytest.raises(TypeError, match="scalars"):
        hr.TFRecordDataset(names.batch(2))


def test_a_path_is_not_a_pattern(tmp_path):
    folder = tmp_path / "dir[1]"
    folder.mkdir()
    path = write(folder / "a b#é.tfrecord", [b"x"])
    assert list(hr.TFRecordDataset(path)) == [b"x"]


def test_names_that_are_no_paths_are_refused():
    with pytest.raises(TypeError, match="`filenames`"):
        hr.TFRecordDataset([1])


def test_a_missing_file_is_found_out_in_the_run(tmp_path):
    dataset = hr.TFRecordDataset(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="none") as caught:
        list(dataset)
    assert isinstance(caught.value, hr.errors.NotFoundError)


def test_an_empty_file_has_no_records(tmp_path):
    (tmp_path / "empty").touch()
    assert list(hr.TFRecordDataset(tmp_path / "empty")) == []
    assert list(hr.TFRecordDataset(tmp_path / "empty").repeat()) == []


@pytest.mark.parametrize("parallel", [None, 2])
def test_a_file_without_records_is_named_once(tmp_path, caplog, parallel):
    (tmp_path / "empty").touch()
    paths = [write(tmp_path / "a", [b"a"]), tmp_path / "empty", write(tmp_path / "b", [b"b"])]
    dataset = hr.TFRecordDataset(paths, num_parallel_reads=parallel)
    for _ in range(3):
        assert sorted(dataset) == [b"a", b"b"]
    assert list(hr.TFRecordDataset(tmp_path / "empty").prefetch(2).repeat()) == []
    assert [record.message for record in caplog.records] == [
        f"{tmp_path / 'empty'} holds no records"
    ]
    assert caplog.records[0].name == "headrace"


def test_the_warning_can_be_turned_off(tmp_path, caplog):
    (tmp_path / "empty").touch()
    caplog.set_level("ERROR", logger="headrace")
    assert list(hr.TFRecordDataset(tmp_path / "empty")) == []
    assert not caplog.records


@pytest.mark.parametrize("reads", [1, 2, 8])
def test_parallel_reads_give_every_record_once(tmp_path, reads):
    paths = [
        write(tmp_path / name, [b"%s%d" % (name.encode(), i) for i in range(1000)]) for name in "ab"
    ]
    seen = list(hr.TFRecordDataset(paths, num_parallel_reads=reads))
    assert len(seen) == len(set(seen)) == 2000


def test_damage_names_file_record_and_byte(tmp_path):
    paths = [write(tmp_path / f"{i}.rec", [b"r%d" % n for n in range(10)]) for i in range(3)]
    data = bytearray(paths[1].read_bytes())
    data[2 * 18 + 13] ^= 1
    paths[1].write_bytes(data)
    iterator = iter(hr.TFRecordDataset(paths))
    for _ in range(12):
        next(iterator)
    with pytest.raises(hr.errors.DataLossError) as caught:
        next(iterator)
    error = caught.value
    assert (error.file, error.record, error.offset) == (str(paths[1]), 2, 36)
    assert all(part in str(error) for part in ("1.rec", "record 2", "byte 36"))


def test_a_compressed_file_read_as_plain_says_so(tmp_path):
    path = write(tmp_path / "a", [b"x" * 100], "GZIP")
    with pytest.raises(hr.errors.DataLossError, match=r'looks GZIP.*compression_type="GZIP"'):
        list(hr.TFRecordDataset(path))
    with pytest.raises(hr.errors.DataLossError, match=r"not GZIP-compr.*compression_type=None"):
        list(hr.TFRecordDataset(write(path, [b"x" * 100]), "GZIP"))


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_a_git_lfs_pointer_says_what_it_is(tmp_path, compression):
    pointer = tmp_path / "a.tfrecord"
    pointer.write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 12345678\n"
    )
    with pytest.raises(hr.errors.DataLossError, match=r"Git LFS.*git lfs pull"):
        list(hr.TFRecordDataset(pointer, compression))


def test_ten_thousand_compressed_records_and_files_one_behind_another_come_back(tmp_path):
    records = [b"the same words over and over %d" % (i // 7) for i in range(10_000)]
    path = write(tmp_path / "a", records, "GZIP")
    assert path.stat().st_size < 100_000
    assert list(hr.TFRecordDataset(path, "GZIP")) == records
    empty = write(tmp_path / "empty", [], "GZIP")
    tail = write(tmp_path / "tail", [b"tail"], "GZIP")
    files = (empty, path, empty, tail, empty)
    joined = tmp_path / "joined"
    joined.write_bytes(b"".join(file.read_bytes() for file in files))
    assert list(hr.TFRecordDataset(joined, "GZIP")) == [*records, b"tail"]


def _matches(record, expected):
    if isinstance(expected, str):
        return record == base64.b64decode(expected)
    return (len(record), hashlib.sha256(record).hexdigest()) == (
        expected["length"], expected["sha256"],
    )  # fmt: skip


# TensorFlow ends without an error where a file is cut within a header; records lost that way are
# an error here. It finds an unknown compression out in the run, we when the dataset is built.
OTHERWISE = {"tfrecord/truncated_header.tfrecord": "DataLossError"}
FILES = [c for c in VECTORS["cases"] if c["compression_type"] != "SNAPPY"]


@pytest.mark.parametrize("case", FILES, ids=lambda c: c["file"])
def test_golden_files_read_as_in_tensorflow(case):
    iterator = iter(hr.TFRecordDataset(GOLDEN / case["file"], case.get("compression_type")))
    for expected in case["records"]:
        assert _matches(next(iterator), expected)
    kind = case.get("error_after_records", {}).get("class") or OTHERWISE.get(case["file"])
    if kind is not None:
        with pytest.raises(getattr(hr.errors, kind)):
            next(iterator)
    else:
        assert list(iterator) == []


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_flushed_records_can_be_read_by_others(tmp_path, compression):
    path = tmp_path / "a"
    writer = hr.io.TFRecordWriter(path, compression)
    for i in range(100):
        writer.write(b"%d" % i)
    writer.flush()
    program = (
        "import sys, headrace as hr\n"
        "records = hr.TFRecordDataset(sys.argv[1], sys.argv[2])\n"
        "try:\n"
        "    for number, record in enumerate(records):\n"
        "        assert record == b'%d' % number\n"
        "except hr.errors.DataLossError as error:\n"
        "    assert sys.argv[2] and 'truncated' in str(error)\n"
        "print(number + 1)\n"
    )
    arguments = [sys.executable, "-c", program, str(path), compression or ""]
    other = subprocess.run(arguments, capture_output=True, text=True, timeout=200, check=True)
    assert other.stdout == "100\n"
    writer.close()
    writer.close()
    assert len(list(hr.TFRecordDataset(path, compression))) == 100


def test_records_are_bytes(tmp_path):
    with hr.io.TFRecordWriter(tmp_path / "a") as writer:
        with pytest.raises(TypeError, match="encode"):
            writer.write("text")
        with pytest.raises(TypeError, match="bytes"):
            writer.write(3)
        writer.write(bytearray(b"x"))
        writer.write(memoryview(b"y"))
    assert list(hr.TFRecordDataset(tmp_path / "a")) == [b"x", b"y"]


def test_a_closed_writer_takes_nothing(tmp_path):
    writer = hr.io.TFRecordWriter(tmp_path / "a")
    writer.close()
    with pytest.raises((hr.errors.HeadraceError, ValueError)):
        writer.write(b"x")


def test_the_laws_hold(record_file, tmp_path):
    other = shutil.copy(record_file, Path(tmp_path) / "other.tfrecord")
    check_laws(lambda: hr.TFRecordDataset([record_file, other]))
    check_laws(
        lambda: hr.TFRecordDataset([record_file, other]).shuffle(5, seed=1).repeat(2).batch(3)
    )


def test_a_pattern_in_place_of_a_file_is_told():
    with pytest.raises(hr.errors.NotFoundError, match=r"list_files finds those that match"):
        list(hr.TFRecordDataset("/none/train-*.tfrecord"))
