"""Indices of TFRecord files: length, random access, skip and shard without reading."""

import contextlib
import logging
import os
import pickle
import shutil
import stat
from pathlib import Path
from random import Random

import pytest
from conftest import assert_same_elements
from hypothesis import given
from hypothesis import strategies as st
from laws import check_laws

import headrace as hr
import headrace.tf as tf


def write(path, records, compression=None):
    with hr.io.TFRecordWriter(str(path), compression) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def numbered(count, start=0, size=6):
    return [f"{i:0{size}}".encode() for i in range(start, start + count)]


def indices(folder):
    return sorted(path.name for path in Path(folder).iterdir() if path.name.startswith("."))


def read(dataset):
    """Iterate; unlike `list` and `[*...]`, this asks for no length."""
    return [record for record in dataset]  # noqa: C416


@pytest.fixture
def files(tmp_path):
    """Three files, the second without records; and the records."""
    counts = {"a": (0, 100), "b": (100, 0), "c": (100, 37)}
    names = [write(tmp_path / name, numbered(n, start)) for name, (start, n) in counts.items()]
    return names, numbered(137)


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_length_and_elements_by_number(tmp_path, compression):
    records = [bytes([i % 256]) * (i * 37 % 300) for i in range(3000)]
    paths = [
        write(tmp_path / "a", records[:2000], compression),
        write(tmp_path / "b", records[2000:], compression),
    ]
    ds = hr.TFRecordDataset(paths, compression, index="auto")
    assert len(ds) == ds.cardinality() == 3000
    for i in (0, 1, 1023, 1024, 1025, 1999, 2000, 2999, -1, -3000):
        assert ds[i] == records[i]
    for i in (3000, -3001):
        with pytest.raises(IndexError):
            ds[i]
    assert list(ds.skip(1990)) == records[1990:]
    assert list(ds) == records
    assert indices(tmp_path) == [".a.hridx", ".b.hridx"]


def test_without_an_index_nothing_is_known_and_nothing_written(files, tmp_path):
    names, records = files
    ds = hr.TFRecordDataset(names)
    assert list(ds) == records
    assert ds.cardinality() == hr.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError, match="unknown"):
        len(ds)
    with pytest.raises(hr.errors.UnimplementedError):
        ds[0]
    assert indices(tmp_path) == []


def test_a_whole_pass_leaves_the_index_behind_and_a_part_does_not(files, tmp_path):
    names, records = files
    ds = hr.TFRecordDataset(names, index="auto")
    assert read(ds.take(50)) == records[:50]
    assert indices(tmp_path) == []
    # As far as it goes.
    assert read(ds.take(101)) == records[:101]
    assert indices(tmp_path) == [".a.hridx", ".b.hridx"]
    assert read(ds.skip(30)) == records[30:]
    assert indices(tmp_path) == [".a.hridx", ".b.hridx", ".c.hridx"]
    assert hr.TFRecordDataset(names, index="auto")._plan.cardinality == 137
    hr.io.index_tfrecord(names, check=True)


def test_records_that_are_skipped_are_indexed_too(files, tmp_path):
    names, records = files
    iterator = iter(hr.TFRecordDataset(names, index="auto").skip(136))
    assert read(iterator) == records[136:]
    assert indices(tmp_path) == [".a.hridx", ".b.hridx", ".c.hridx"]
    hr.io.index_tfrecord(names, check=True)


def test_long_records_read_beside_each_other_are_indexed_too(tmp_path):
    records = [bytes([i]) * 300_000 for i in range(9)]
    path = write(tmp_path / "a", records)
    assert read(hr.TFRecordDataset(path, index="auto").prefetch(2)) == records
    assert indices(tmp_path) == [".a.hridx"]
    hr.io.index_tfrecord(path, check=True)


@pytest.mark.parametrize(
    "step",
    [
        lambda ds: ds,
        lambda ds: ds.skip(40),
        lambda ds: ds.take(120).skip(3),
        lambda ds: ds.shard(3, 1),
        lambda ds: ds.shard(5, 4).skip(3),
        lambda ds: ds.shard(4, 3, equal="drop"),
        lambda ds: ds.shard(4, 3, equal="wrap"),
        lambda ds: ds.batch(10),
        lambda ds: ds.shuffle(20, seed=1),
        lambda ds: ds.shuffle(None, seed=1),
        lambda ds: ds.shard(2, 1).shuffle(None, seed=1),
        lambda ds: ds.shuffle(None, seed=1, reshuffle_each_iteration=False).repeat(3),
        lambda ds: ds.map(lambda x: x).prefetch(2),
        lambda ds: ds.repeat(2).skip(150),
    ],
)
def test_laws_hold_and_the_index_changes_no_element(files, step):
    names, _ = files

    def plain():
        return step(hr.TFRecordDataset(names).apply(hr.experimental.assert_cardinality(137)))

    expected = None
    with contextlib.suppress(hr.errors.UnimplementedError):
        expected = list(plain())
    for _ in range(2):
        # First without the files of the index, then with them.
        ds = step(hr.TFRecordDataset(names, index="auto"))
        if expected is not None:
            assert_same_elements(read(ds), expected)
    hr.io.index_tfrecord(names)
    check_laws(lambda: step(hr.TFRecordDataset(names, index="auto")))


def test_a_state_is_valid_with_an_index_and_without(files):
    names, records = files
    for before, after in [(None, "auto"), ("auto", None)]:
        iterator = iter(hr.TFRecordDataset(names, index=before).shard(3, 2))
        for _ in range(10):
            next(iterator)
        hr.io.index_tfrecord(names)
        rest = hr.TFRecordDataset(names, index=after).shard(3, 2).iterator(state=iterator.state())
        assert list(rest) == records[2::3][10:]


def test_elements_by_number_through_steps(files):
    names, records = files
    ds = hr.TFRecordDataset(names, index="auto")
    assert ds.skip(100)[0] == records[100]
    assert ds.take(5)[4] == records[4]
    assert ds.shard(4, 3)[2] == records[11]
    assert [ds.shard(4, 3, equal="wrap")[i] for i in range(-1, 35)][1:] == list(
        ds.shard(4, 3, equal="wrap")
    )
    assert ds.batch(3)[1].tolist() == records[3:6]
    assert ds.map(lambda x: (x, x))[7] == (records[7], records[7])
    assert ds.take(3).shuffle(None, seed=1).cardinality() == 3


@given(
    st.lists(st.integers(0, 3000) | st.just(70_000), max_size=60),
    st.sampled_from([None, "GZIP"]),
    st.integers(0, 1000),
)
def test_random_access_is_what_reading_gives(tmp_path_factory, lens, compression, seed):
    folder = tmp_path_factory.mktemp("records")
    random = Random(seed)
    records = [random.randbytes(n) for n in lens]
    cut = random.randint(0, len(records))
    paths = [
        write(folder / "a", records[:cut], compression),
        write(folder / "b", records[cut:], compression),
    ]
    ds = hr.TFRecordDataset(paths, compression, index="auto")
    order = list(range(len(records)))
    random.shuffle(order)
    assert [ds[i] for i in order] == [records[i] for i in order]
    shuffled = list(ds.shuffle(None, seed=random.randint(0, 99)))
    assert sorted(shuffled) == sorted(records)


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_compressed_records_are_reached_through_points_near_them(tmp_path, compression):
    random = Random(1)
    records = [f"{i} {random.random()} ".encode() * (i % 40) for i in range(20_000)]
    path = write(tmp_path / "a", records, compression)
    # What is before the point is not even looked at.
    [made] = hr.io.index_tfrecord(path)
    ds = hr.TFRecordDataset(path, compression, index="auto")
    assert len(ds) == 20_000
    for i in (0, 100, 12_345, 19_999, 5_000, 12_346):
        assert ds[i] == records[i]
    assert list(ds.skip(15_000)) == records[15_000:]
    assert list(ds.skip(3_000).take(9_000).skip(7_000)) == records[10_000:12_000]
    assert list(ds.shard(1000, 999)) == records[999::1000]
    sample = list(ds.shuffle(None, seed=1).take(3000))
    assert len(set(sample) & set(records)) > 2900
    data = bytearray(Path(path).read_bytes())
    data[30:200] = bytes(170)
    os.utime(path, ns=(10**18, 10**18))
    hr.io.index_tfrecord(path, force=True)
    Path(path).write_bytes(data)
    os.utime(path, ns=(10**18, 10**18))
    assert ds[19_999] == records[19_999]
    with pytest.raises(hr.errors.DataLossError):
        ds[0]
    whole = Path(made.index).read_bytes()
    Path(made.index).write_bytes(whole[:100] + bytes(50_000) + whole[50_100:])
    with pytest.raises(hr.errors.DataLossError, match="index"):
        hr.TFRecordDataset(path, compression, index=made.index)[19_999]


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
@pytest.mark.parametrize("skipped", [0, 7000])
def test_a_pass_over_compressed_records_leaves_its_index_behind(tmp_path, compression, skipped):
    random = Random(1)
    records = [f"{i} {random.random()} ".encode() * (i % 40) for i in range(20_000)]
    path = write(tmp_path / "a", records, compression)
    os.utime(path, (1e9, 1e9))  # a time of late says little, and the bytes would be compared
    ds = hr.TFRecordDataset(path, compression, index="auto")
    iterator = iter(ds.batch(100))
    next(iterator)
    assert indices(tmp_path) == []
    assert list(ds.skip(skipped)) == records[skipped:]
    [name] = indices(tmp_path)
    left_behind = (tmp_path / name).stat().st_size
    hr.io.index_tfrecord(path, force=True)
    assert (tmp_path / name).stat().st_size == left_behind
    # The parts of the file before the last point are not looked at.
    again = hr.TFRecordDataset(path, compression, index="auto")
    data = bytearray(Path(path).read_bytes())
    data[30 : len(data) // 2] = bytes(len(data) // 2 - 30)
    times = os.stat(path)
    Path(path).write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert again[19_990] == records[19_990]


def test_records_appended_afterwards_are_noticed(files):
    names, records = files
    ds = hr.TFRecordDataset(names, index="auto")
    assert len(ds) == 137
    shutil.copy(names[2], names[2] + ".old")
    write(names[2], numbered(50, 100))
    assert len(ds) == 150
    assert ds[-1] == b"000149"
    assert list(ds.skip(140)) == numbered(10, 140)
    assert list(ds.shard(150, 149)) == [b"000149"]
    assert len(list(ds.shuffle(None, seed=1))) == 150
    # And in another dataset.
    shutil.copy(names[2] + ".old", names[2])
    assert len(hr.TFRecordDataset(names, index="auto")) == 137
    assert list(ds) == records


def test_a_run_that_began_before_the_file_changed_says_so(files):
    names, _ = files
    iterator = iter(hr.TFRecordDataset(names, index="auto").shuffle(None, seed=1).batch(2))
    write(names[0], numbered(99))
    with pytest.raises(hr.errors.FailedPreconditionError, match="had"):
        list(iterator)


def test_an_index_at_a_path_must_be_there_and_fit(files, tmp_path):
    names, records = files
    folder = tmp_path / "indices"
    with pytest.raises(hr.errors.NotFoundError, match=r"no index at .*\.a\.hridx.*headrace index"):
        hr.TFRecordDataset(names, index=f"{folder}/")
    made = hr.io.index_tfrecord(names, into=folder)
    assert [each.records for each in made] == [100, 0, 37]
    assert indices(tmp_path) == []
    for index in (folder, str(folder), os.fsencode(folder)):
        ds = hr.TFRecordDataset(names, index=index)
        assert len(ds) == 137
        assert ds[136] == records[136]
    one = hr.TFRecordDataset(names[0], index=made[0].index)
    assert (len(one), one[99]) == (100, records[99])
    with pytest.raises(hr.errors.InvalidArgumentError, match="3 files"):
        hr.TFRecordDataset(names, index=made[0].index)
    write(names[0], numbered(101))
    for action in (
        lambda: list(ds),
        lambda: ds[3],
        lambda: ds.cardinality(),
        lambda: list(ds.skip(3)),
        lambda: hr.TFRecordDataset(names, index=folder),
    ):
        with pytest.raises(hr.errors.FailedPreconditionError, match=r"stale.*had 2200 bytes"):
            action()
    assert indices(tmp_path) == []


def test_two_files_of_one_name_have_no_index_in_a_folder(tmp_path):
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    names = [write(tmp_path / "x" / "a", [b"1"]), write(tmp_path / "y" / "a", [b"2"])]
    with pytest.raises(hr.errors.InvalidArgumentError, match="one name"):
        hr.io.index_tfrecord(names, into=tmp_path / "indices")
    (tmp_path / "indices").mkdir()
    with pytest.raises(hr.errors.InvalidArgumentError, match="have the name"):
        hr.TFRecordDataset(names, index=tmp_path / "indices")
    assert len(hr.TFRecordDataset(names, index="auto")) == 2


@pytest.mark.parametrize("at", [0, 9, 20, 60, 95, 96, 105, -1, -12, -30])
def test_a_damaged_index_never_gives_another_record(files, at):
    names, records = files
    [made] = hr.io.index_tfrecord(names[0])
    index = Path(made.index)
    whole = bytearray(index.read_bytes())
    whole[at] ^= 0x11
    index.write_bytes(whole)
    # Refused, or found out when it is used.
    with pytest.raises(hr.errors.DataLossError, match=r"\.a\.hridx"):
        hr.TFRecordDataset(names[0], index=index)[98]
    ds = hr.TFRecordDataset(names[0], index="auto")
    assert [ds[i] for i in (98, 0, 57)] == [records[i] for i in (98, 0, 57)]
    assert list(ds.skip(90)) == records[90:100]
    # It was made anew.
    assert hr.TFRecordDataset(names[0], index=index)[98] == records[98]


def test_an_index_of_another_file_in_its_place_is_refused(files):
    names, _ = files
    a, _, c = hr.io.index_tfrecord(names)
    shutil.copy(a.index, c.index)
    with pytest.raises(hr.errors.FailedPreconditionError, match="stale"):
        hr.TFRecordDataset(names[2], index=c.index)
    assert len(hr.TFRecordDataset(names[2], index="auto")) == 37


def test_a_file_that_changed_in_its_middle_is_an_error_that_names_the_index(tmp_path):
    # The same length, time and samples: nothing but the frames themselves can tell.
    size = 1 << 20
    records = [bytes(size)] * 3
    path = write(tmp_path / "a", records)
    os.utime(path, ns=(10**18, 10**18))
    [made] = hr.io.index_tfrecord(path)
    data = bytearray(Path(path).read_bytes())
    other = write(tmp_path / "b", [bytes(size - 100), bytes(size + 100)])
    moved = Path(other).read_bytes()
    data[: len(moved)] = moved
    Path(path).write_bytes(data)
    os.utime(path, ns=(10**18, 10**18))
    ds = hr.TFRecordDataset(path, index=made.index)
    assert len(ds) == 3
    for action in (lambda: ds[1], lambda: list(ds.skip(1)), lambda: list(ds.shuffle(None, seed=1))):
        with pytest.raises(hr.errors.DataLossError, match=r"index .*hridx does not fit"):
            action()
    assert ds[2] == bytes(size)
    # With "auto" it is made anew.
    assert list(hr.TFRecordDataset(path, index="auto").skip(1)) == [bytes(size + 100), bytes(size)]


def test_a_damaged_payload_is_the_error_of_its_record_alone(files):
    names, records = files
    data = bytearray(Path(names[0]).read_bytes())
    data[22 * 50 + 14] ^= 1
    Path(names[0]).write_bytes(data)
    for _ in range(2):
        ds = hr.TFRecordDataset(names, index="auto")
        with pytest.raises(hr.errors.DataLossError) as caught:
            ds[50]
        assert (caught.value.record, caught.value.offset) == (50, 1100)
        assert ds[51] == records[51]
        assert sorted(ds.shuffle(None, seed=1).ignore_errors()) == records[:50] + records[51:]
        assert list(ds.shard(3, 0).ignore_errors()) == records[::3]
        assert list(ds.ignore_errors()) == records[:50] + records[51:]
    damaged = len(records) - 1
    assert len(list(hr.TFRecordDataset(names, index="auto").ignore_errors())) == damaged


def test_a_pass_over_a_damaged_payload_leaves_an_index(tmp_path):
    name = write(tmp_path / "a", numbered(100))
    data = bytearray(Path(name).read_bytes())
    data[22 * 50 + 14] ^= 1
    Path(name).write_bytes(data)
    assert len(read(hr.TFRecordDataset(name, index="auto").ignore_errors())) == 99
    assert indices(tmp_path) == [".a.hridx"]


def test_a_file_whose_records_cannot_be_found_has_no_index(files, tmp_path):
    names, records = files
    data = bytearray(Path(names[0]).read_bytes())
    data[22 * 50] ^= 1
    Path(names[0]).write_bytes(data)
    ds = hr.TFRecordDataset(names, index="auto")
    for action in (ds.cardinality, lambda: ds[0], lambda: hr.io.index_tfrecord(names)):
        with pytest.raises(hr.errors.DataLossError, match="record 50"):
            action()
    with pytest.raises(TypeError, match="length is unknown: corrupted record"):
        len(ds)
    # In order it is read as far as it goes, and left.
    assert list(ds.ignore_errors()) == records[:50] + records[100:]
    assert indices(tmp_path) == [".b.hridx", ".c.hridx"]


def test_a_missing_file_is_an_error_in_every_way(tmp_path):
    ds = hr.TFRecordDataset(str(tmp_path / "none"), index="auto")
    for action in (ds.cardinality, lambda: ds[0], lambda: read(ds), lambda: read(ds.shard(2, 0))):
        with pytest.raises(hr.errors.NotFoundError, match="none"):
            action()


def test_where_nothing_can_be_written_the_index_is_kept_in_memory(tmp_path, caplog, monkeypatch):
    folder = tmp_path / "records"
    folder.mkdir()
    path = write(folder / "a", numbered(50))
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    if os.access(folder, os.W_OK):
        # Who may write everywhere: a name that no file can have.
        folder.chmod(stat.S_IRWXU)
        path = str(folder / ("a" * 250))
        os.rename(folder / "a", path)
    with caplog.at_level(logging.WARNING, "headrace"):
        for _ in range(2):
            ds = hr.TFRecordDataset(path, index="auto")
            assert (len(ds), ds[49], list(ds.skip(48))) == (50, b"000049", numbered(2, 48))
            list(ds)
    told = [record for record in caplog.records if "kept in memory" in record.getMessage()]
    assert len(told) == 1
    assert str(folder) in told[0].getMessage()
    folder.chmod(stat.S_IRWXU)
    assert os.listdir(folder) == [os.path.basename(path)]


def test_parallel_reads_keep_their_order(files):
    names, records = files
    expected = list(hr.TFRecordDataset(names, num_parallel_reads=3))
    assert sorted(expected) == records
    for _ in range(2):
        ds = hr.TFRecordDataset(names, num_parallel_reads=3, index="auto")
        assert read(ds) == expected
        assert read(ds.skip(30)) == expected[30:]
        assert len(ds) == len(pickle.loads(pickle.dumps(ds))) == 137
        assert len(ds.batch(10)) == 14
    check_laws(lambda: hr.TFRecordDataset(names, num_parallel_reads=3, index="auto"))
    one = hr.TFRecordDataset(iter(names), num_parallel_reads=2, index="auto")
    assert len(one) == 137


@pytest.mark.parametrize("compression", [None, "GZIP"])
@pytest.mark.parametrize("reads", [2, 3, 50, hr.AUTOTUNE])
def test_records_of_parallel_reads_are_found_by_number(tmp_path, reads, compression):
    counts, start, names = [7, 0, 1, 40, 3, 3, 0, 19, 2], 0, []
    for i, count in enumerate(counts):
        names.append(write(tmp_path / str(i), numbered(count, start), compression))
        start += count
    expected = read(hr.TFRecordDataset(names, compression, num_parallel_reads=reads))
    ds = hr.TFRecordDataset(names, compression, num_parallel_reads=reads, index="auto")
    assert [ds[i] for i in range(len(ds))] == expected
    assert ds[-1] == expected[-1]
    with pytest.raises(IndexError):
        ds[start]
    assert ds.map(lambda record: record + b"!")[30] == expected[30] + b"!"
    assert list(ds.shard(3, 1)) == expected[1::3]
    assert list(ds.skip(20).take(30)) == expected[20:50]
    shuffled = list(ds.shuffle(None, seed=4))
    assert sorted(shuffled) == sorted(expected)
    whole = hr.TFRecordDataset(names, compression, num_parallel_reads=reads)
    assert shuffled == list(whole.shuffle(10_000, seed=4))
    check_laws(lambda: ds.shuffle(None, seed=4))


@pytest.mark.parametrize("into", [list, tuple, sorted, lambda ds: [*ds], lambda ds: [0, *ds][1:]])
@pytest.mark.parametrize("reads", [None, 2])
def test_listing_makes_no_pass_of_its_own_to_count(files, tmp_path, reads, into):
    names, records = files
    ds = hr.TFRecordDataset(names, num_parallel_reads=reads, index="auto")
    iterator = iter(ds.batch(2))
    assert sorted(into(ds)) == records
    # The pass has left them behind, and did so at its end.
    assert indices(tmp_path) == [".a.hridx", ".b.hridx", ".c.hridx"]
    list(iterator)
    for name in indices(tmp_path):
        (tmp_path / name).unlink()
    ds = hr.TFRecordDataset(names, num_parallel_reads=reads, index="auto")
    if reads is None:  # else small files are read ahead
        assert len(into(ds.take(3))) == 3
        assert indices(tmp_path) == []
    iterator = iter(ds)
    assert len(ds) == 137
    assert len(indices(tmp_path)) == 3
    assert sorted(into(iterator)) == records


def test_a_length_that_is_needed_is_counted_whoever_iterates(files):
    names, _ = files

    def fresh():
        return hr.TFRecordDataset(names, index="auto")

    ds = fresh()
    lengths = [len(ds) for _ in zip(ds, range(3), strict=False)]
    assert lengths == [137] * 3


def test_a_dataset_of_names(files):
    names, records = files
    ds = hr.TFRecordDataset(hr.Dataset.from_tensor_slices(names), index="auto")
    assert list(ds) == records
    assert list(ds.skip(101)) == records[101:]


def test_pickling_and_tensorflow_names(files):
    names, records = files
    ds = pickle.loads(pickle.dumps(hr.TFRecordDataset(names, index="auto")))
    assert ds[3] == records[3]
    theirs = tf.data.TFRecordDataset(names, index="auto")
    assert theirs.cardinality().numpy() == len(theirs) == 137
    assert theirs.skip(136).get_single_element().numpy() == records[136]


def test_explain_tells_of_the_index(files):
    names, _ = files
    assert "auto" in hr.TFRecordDataset(names, index="auto").explain()


@pytest.mark.parametrize("wrong", [3, True, ["a"]])
def test_what_is_no_place_is_refused(files, wrong):
    with pytest.raises(TypeError, match="index"):
        hr.TFRecordDataset(files[0], index=wrong)


def test_indexing_ahead(files, tmp_path):
    names, _ = files
    told = []
    made = hr.io.index_tfrecord(names, jobs=2, progress=lambda name, count: told.append(name))
    assert [(each.records, each.made) for each in made] == [(100, True), (0, True), (37, True)]
    assert [each.made for each in hr.io.index_tfrecord(names)] == [False] * 3
    assert [each.made for each in hr.io.index_tfrecord(names, force=True)] == [True] * 3
    assert [each.records for each in hr.io.index_tfrecord(names, check=True)] == [100, 0, 37]
    write(names[2], numbered(5))
    with pytest.raises(hr.errors.FailedPreconditionError, match="stale"):
        hr.io.index_tfrecord(names, check=True)
    assert [each.made for each in hr.io.index_tfrecord(names)] == [False, False, True]
    zipped = write(tmp_path / "z", numbered(5), "GZIP")
    assert hr.io.index_tfrecord(zipped)[0].records == 5
    with pytest.raises(hr.errors.DataLossError, match="GZIP"):
        hr.io.index_tfrecord(zipped, None)
    with pytest.raises(hr.errors.InvalidArgumentError, match="jobs"):
        hr.io.index_tfrecord(names, jobs=0)
    with pytest.raises(hr.errors.NotFoundError, match="nowhere"):
        hr.io.index_tfrecord([*names, str(tmp_path / "nowhere")], jobs=2)


def test_functions_are_not_called_for_what_is_skipped(files):
    names, records = files
    called = []

    def note(record):
        called.append(record)
        return record

    ds = hr.TFRecordDataset(names, index="auto").map(note).skip(130)
    assert list(ds) == records[130:]
    assert called == records[130:]
