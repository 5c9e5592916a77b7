"""Cases that users of such libraries were bitten by, where no file of one op tells of them."""

import json
import subprocess
import sys

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
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=200
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


@pytest.mark.parametrize("calls", [None, 3, hr.AUTOTUNE])
@pytest.mark.parametrize("ahead", [0, 1, 4, hr.AUTOTUNE])
@pytest.mark.parametrize("executor", ["native", "python"])
def test_batches_have_all_elements_however_they_are_made(calls, ahead, executor):
    numbers = hr.Dataset.range(100).map(lambda x: x + 1, calls, executor=executor)
    for drop, count in ((False, 13), (True, 12)):
        batches = list(numbers.batch(8, drop, num_parallel_calls=calls).prefetch(ahead))
        assert len(batches) == count
        assert np.concatenate(batches).tolist() == list(range(1, 97 if drop else 101))


def test_a_state_of_a_large_shuffle_of_long_records_is_small(tmp_path):
    path = tmp_path / "long"
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(300):
            writer.write(i.to_bytes(4, "little") * 25_000)

    def build():
        return hr.TFRecordDataset(path).shuffle(10_000, seed=1)

    iterator = iter(build())
    states = []
    for _ in range(20):
        next(iterator)
        states.append(iterator.state())
    assert max(map(len, states)) <= 256 << 10
    assert list(build().iterator(state=states[-1])) == list(iterator)
    plain = iter(hr.TFRecordDataset(path))
    next(plain)
    assert len(plain.state()) <= 4 << 10


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
    without = list(hr.TFRecordDataset(path).ignore_errors())
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
before = anonymous()
try:
    list(hr.TFRecordDataset(path))
except hr.errors.DataLossError as error:
    tell(text=str(error), grown=anonymous() - before)
""",
        tmp_path,
    )
    assert ended.clean
    told = json.loads(ended.out)
    assert "not a TFRecord file" in told["text"]
    assert "Git LFS" in told["text"]
    assert told["grown"] < 32 << 20
