"""Cases that users of such libraries were bitten by, where no file of one op tells of them."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from processes import run

import headrace as hr


def in_a_new_process(line):
    code = (
        f"import json, headrace as hr\nds = {line}\n"
        "print(json.dumps([[int(x) for x in ds] for _ in range(2)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50
    )
    return json.loads(done.stdout)


def test_seeded_shuffles_are_alike_in_every_process_and_others_are_not():
    first, second = in_a_new_process("hr.Dataset.range(100).shuffle(100, seed=5)")
    dataset = hr.Dataset.range(100).shuffle(100, seed=5)
    assert [list(dataset), list(dataset)] == [first, second]
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    unseeded = "hr.Dataset.range(100).shuffle(100)"
    assert in_a_new_process(unseeded) != in_a_new_process(unseeded)


@pytest.mark.parametrize("seen", [1, 2])
def test_take_of_a_shuffle_repeats_the_same_pair_only_without_reshuffling(seen):
    def pairs(again):
        dataset = hr.Dataset.range(50).shuffle(50, seed=1, reshuffle_each_iteration=again)
        return {tuple(pair.tolist()) for pair in dataset.take(2).repeat(5).batch(2)}

    assert len(pairs(False)) == 1
    assert len(pairs(True)) >= 2


def test_counts_of_repeat():
    def repeated(count):
        return list(hr.Dataset.range(3).repeat(count).take(9))

    assert (repeated(0), repeated(1), repeated(2)) == ([], [0, 1, 2], [0, 1, 2, 0, 1, 2])
    for endless in (None, -1, -7):
        assert repeated(endless) == [0, 1, 2] * 3
    with pytest.raises(TypeError):
        hr.Dataset.range(3).repeat(1.5)


@pytest.mark.parametrize(
    ("order", "expected"),
    [("key", [1, 1, 2, 3, 3, 3]), ("first", [3, 3, 3, 1, 1, 2])],
)
def test_groups_are_flushed_in_an_order_that_is_known(order, expected):
    values = hr.Dataset.from_tensor_slices([3, 1, 2, 3, 1, 3])
    for _ in range(5):
        groups = values.group_by_window(
            lambda x: x, lambda key, group: group, window_size=10, order=order
        )
        assert list(groups) == expected


@pytest.mark.parametrize("calls", [None, 3, hr.AUTOTUNE])
@pytest.mark.parametrize("ahead", [0, 1, 4, hr.AUTOTUNE])
@pytest.mark.parametrize("executor", ["native", "python"])
def test_batches_have_all_elements_however_they_are_made(calls, ahead, executor):
    numbers = hr.Dataset.range(100).map(lambda x: x + 1, calls, executor=executor)
    for drop, count in ((False, 13), (True, 12)):
        batches = list(numbers.batch(8, drop, num_parallel_calls=calls).prefetch(ahead))
        assert len(batches) == count
        assert np.concatenate(batches).tolist() == list(range(1, 97 if drop else 101))


def test_a_state_of_a_large_shuffle_of_long_records_is_small_and_quick(tmp_path):
    path = tmp_path / "long"
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(300):
            writer.write(i.to_bytes(4, "little") * 25_000)

    def build():
        return hr.TFRecordDataset(path).shuffle(10_000, seed=1)

    iterator = iter(build())
    times, states = [], []
    for _ in range(20):
        next(iterator)
        start = time.perf_counter()
        states.append(iterator.state())
        times.append(time.perf_counter() - start)
    assert min(times) < 0.01
    assert max(map(len, states)) <= 256 << 10
    assert list(build().iterator(state=states[-1])) == list(iterator)
    plain = iter(hr.TFRecordDataset(path))
    next(plain)
    assert len(plain.state()) <= 4 << 10


TEN = hr.Dataset.range(10)


@pytest.mark.parametrize(
    ("dataset", "count"),
    [
        (TEN.batch(3), 4),
        (TEN.batch(3, drop_remainder=True), 3),
        (TEN.batch(3).repeat(2), 8),
        (TEN.take(5), 5),
        (TEN.skip(7), 3),
        (hr.Dataset.zip(TEN, TEN.take(4)), 4),
        (TEN.concatenate(TEN), 20),
        (TEN.batch(5, drop_remainder=True).unbatch(), 10),
    ],
)
def test_len_is_the_number_of_elements(dataset, count):
    assert len(dataset) == dataset.cardinality() == len(list(dataset)) == count


def test_len_is_refused_where_nobody_knows_it():
    assert TEN.repeat().cardinality() == hr.INFINITE_CARDINALITY
    assert TEN.filter(lambda x: x > 3).cardinality() == hr.UNKNOWN_CARDINALITY
    for dataset in (TEN.repeat(), TEN.filter(lambda x: x > 3)):
        with pytest.raises(TypeError):
            len(dataset)


@pytest.mark.parametrize("reads", [1, 2, 8])
def test_parallel_reads_give_every_record_once(reads, tmp_path):
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        with hr.io.TFRecordWriter(path) as writer:
            for i in range(1000):
                writer.write(f"{path.name}{i}".encode())
    seen = list(hr.TFRecordDataset(paths, num_parallel_reads=reads))
    assert len(seen) == len(set(seen)) == 2000


@pytest.mark.parametrize(("mode", "batches"), [("drop", 3), ("wrap", 4)])
def test_equal_shards_have_equal_numbers_of_batches(mode, batches):
    ranks = [hr.Dataset.range(103).shard(4, i, equal=mode) for i in range(4)]
    cut = mode == "drop"
    counts = [len(rank.batch(8, drop_remainder=cut)) for rank in ranks]
    assert counts == [len(list(rank.batch(8, drop_remainder=cut))) for rank in ranks]
    assert counts == [batches] * 4
    assert [len(hr.Dataset.range(103).shard(4, i)) for i in range(4)] == [26, 26, 26, 25]


def test_an_element_of_another_shape_than_declared_is_named():
    rows = [np.zeros((n, 3), np.float32) for n in (1, 2)] + [np.zeros((2, 4), np.float32)]
    dataset = hr.Dataset.from_generator(
        lambda: iter(rows), output_signature=hr.TensorSpec((None, 3), np.float32)
    )
    with pytest.raises((TypeError, ValueError)) as caught:
        list(dataset)
    for part in ("element 2", "(None, 3)", "(2, 4)"):
        assert part in str(caught.value)


def test_windows_as_arrays_are_batched():
    numbers = hr.Dataset.range(1, 11)
    windows = numbers.window(3, shift=1, drop_remainder=True, as_arrays=True)
    assert len(list(windows)) == 8
    assert next(iter(windows.batch(2))).tolist() == [[1, 2, 3], [2, 3, 4]]
    strided = numbers.window(3, shift=1, stride=2, drop_remainder=True, as_arrays=True)
    assert next(iter(strided)).tolist() == [1, 3, 5]


def test_stars_stay_in_one_folder(tmp_path):
    for name in ("a.rec", ".h.rec", "e/b.rec", "e/f/c.rec"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def found(pattern):
        files = hr.Dataset.list_files(f"{tmp_path}/{pattern}", shuffle=False)
        return [path.removeprefix(f"{tmp_path}/") for path in files]

    assert found("*.rec") == ["a.rec"]
    assert found("*/b.rec") == found("**/b.rec") == ["e/b.rec"]
    assert found(".*.rec") == [".h.rec"]


def test_one_damaged_record_is_an_error_or_a_gap(tmp_path):
    path, records = tmp_path / "a", [b"r%d" % i for i in range(10)]
    with hr.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    data = bytearray(path.read_bytes())
    data[5 * 18 + 12] ^= 1
    path.write_bytes(data)
    iterator, seen = iter(hr.TFRecordDataset(path)), []
    with pytest.raises(hr.errors.DataLossError):
        seen.extend(iterator)
    assert seen == records[:5]
    started = time.monotonic()
    without = list(hr.TFRecordDataset(path).ignore_errors())
    assert time.monotonic() - started < 5
    assert without[:5] == records[:5]
    assert set(without) <= set(records) - {records[5]}
    skipping = iter(hr.TFRecordDataset(path, on_corruption="skip"))
    assert list(skipping) == records[:5] + records[6:]
    assert skipping.report().count == 1


def test_a_pointer_in_place_of_records_takes_no_memory(tmp_path):
    ended = run(
        """
path = os.path.join(sys.argv[1], "a.tfrecord")
with open(path, "w") as file:
    file.write("version https://git-lfs.github.com/spec/v1\\n")
    file.write("oid sha256:" + "4d" * 32 + "\\nsize 12345\\n")
list(hr.Dataset.range(3).prefetch(1))
before, began = anonymous(), now()
try:
    list(hr.TFRecordDataset(path))
except hr.errors.DataLossError as error:
    tell(text=str(error), seconds=now() - began, grown=anonymous() - before)
""",
        tmp_path,
    )
    assert ended.clean
    told = json.loads(ended.out)
    assert "not a TFRecord file" in told["text"]
    assert "Git LFS" in told["text"]
    assert told["seconds"] < 1
    assert told["grown"] < 32 << 20
