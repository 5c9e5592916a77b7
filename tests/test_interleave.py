"""`interleave`."""

import json
import pathlib
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import check_laws
from overlap import PATIENCE, Calls, Together, seen_by_others
from processes import run

import headrace as hr

Dataset = hr.Dataset


def _numbered(count):
    """Datasets of sizes 1 to `count`, each of copies of its size."""
    return Dataset.range(1, count + 1), lambda n: Dataset.from_tensors(n).repeat(n)


@pytest.mark.parametrize("calls", [None, 1, 2, hr.AUTOTUNE])
def test_an_ended_dataset_leaves_its_slot_until_its_turn(calls):
    sizes, make = _numbered(4)
    mixed = sizes.interleave(make, 2, 2, num_parallel_calls=calls)
    assert list(mixed) == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4]


@pytest.mark.parametrize("calls", [None, 2, hr.AUTOTUNE])
@pytest.mark.parametrize("cycle", [1, 2, 3, 7])
@pytest.mark.parametrize("block", [1, 2, 5])
def test_the_order_is_that_of_a_plain_reference(calls, cycle, block):
    def reference():
        sources = iter(range(1, 9))
        slots, ended = [None] * cycle, False
        turn = taken = 0
        while True:
            if slots[turn] is None:
                size = None if ended else next(sources, None)
                if size is not None:
                    slots[turn] = iter([size] * size)
                    continue
                ended = True
                if all(slot is None for slot in slots):
                    return
                turn, taken = (turn + 1) % cycle, 0
                continue
            element = next(slots[turn], None)
            if element is None:
                slots[turn] = None
                turn, taken = (turn + 1) % cycle, 0
                continue
            yield element
            taken += 1
            if taken == block:
                turn, taken = (turn + 1) % cycle, 0

    sizes, make = _numbered(8)
    calls = calls if calls is None else min(calls, cycle)
    mixed = sizes.interleave(make, cycle, block, num_parallel_calls=calls)
    assert [int(x) for x in mixed] == list(reference())


def test_order_does_not_depend_on_timing():
    twice = Dataset.range(3).interleave(
        lambda x: Dataset.from_tensors(x).repeat(2), 5, 1, num_parallel_calls=4
    )
    for _ in range(50):
        assert list(twice) == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("calls", [None, 2, hr.AUTOTUNE])
def test_a_cycle_much_longer_than_the_input_costs_nothing(calls):
    mixed = Dataset.range(3).interleave(
        lambda x: Dataset.from_tensors(x).repeat(x + 1), 2**62, 1, num_parallel_calls=calls
    )
    assert list(mixed) == [0, 1, 2, 1, 2, 2]
    assert list(mixed.skip(3)) == [1, 2, 2]


def test_lengths_below_one_are_refused():
    sizes, make = _numbered(2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="cycle_length"):
        sizes.interleave(make, cycle_length=0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="block_length"):
        sizes.interleave(make, cycle_length=1, block_length=0)
    with pytest.raises(ValueError, match="cycle_length"):
        sizes.interleave(make, cycle_length=-2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="num_parallel_calls"):
        sizes.interleave(make, cycle_length=1, num_parallel_calls=0)
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        sizes.interleave(lambda x: x, 2)


def test_more_calls_than_open_datasets_are_refused():
    sizes, make = _numbered(2)
    with pytest.raises(hr.errors.InvalidArgumentError, match="less than or equal"):
        sizes.interleave(make, cycle_length=2, num_parallel_calls=3)


def test_parallel_datasets_are_read_side_by_side():
    together = Together(4)

    def make(n):
        return Dataset.range(3).map(lambda x: together(x) + n, executor="python")

    assert len(list(Dataset.range(4).interleave(make, 4, 1, 4))) == 12


GOLDEN = json.loads(
    pathlib.Path(__file__).with_name("golden").joinpath("interleave.json").read_text()
)


def _outcomes(dataset):
    seen, run = [], iter(dataset)
    while True:
        try:
            seen.append(int(next(run)))
        except StopIteration:
            return seen
        except ValueError:
            seen.append("error")


@pytest.mark.parametrize("executor", [None, "python"])
def test_the_order_is_that_of_tensorflow_with_errors_too(executor):
    for sizes, unmade, failing, cycle, block, calls, expected in GOLDEN:

        def make(i, sizes=sizes, unmade=unmade, failing=failing):
            if int(i) in unmade:
                raise ValueError("not made")

            def fails(x):
                if int(x) in failing:
                    raise ValueError("fails")
                return x

            dataset = Dataset.range(10 * i, 10 * i + sizes[i])
            return dataset.map(fails) if failing or executor else dataset

        mixed = Dataset.range(len(sizes)).interleave(make, cycle, block, calls)
        assert _outcomes(mixed) == expected, (sizes, unmade, failing, cycle, block, calls)


class Meeting:
    """A source of which each element comes once all other sources are asked for one too."""

    def __init__(self, number, together):
        self.number, self.together = number, together

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.together(self.number * 100 + int(index))


def _generator(source):
    def generate():
        yield from map(source.__getitem__, range(len(source)))

    return Dataset.from_generator(generate, output_signature=hr.TensorSpec((), np.int64))


MEETING = {
    "source": Dataset.from_source,
    "generator": _generator,
    "map": lambda source: Dataset.range(8).map(source.__getitem__, executor="python"),
}


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("kind", MEETING)
def test_four_slow_datasets_are_read_at_once_all_the_time(kind, deterministic):
    together = Together(4)

    def make(n):
        return MEETING[kind](Meeting(int(n), together))

    seen = [int(x) for x in Dataset.range(4).interleave(make, 4, 1, 4, deterministic)]
    expected = [number * 100 + index for index in range(8) for number in range(4)]
    assert (seen if deterministic else sorted(seen)) == (
        expected if deterministic else sorted(expected)
    )


@pytest.mark.parametrize("calls", [4, hr.AUTOTUNE])
def test_datasets_that_are_slow_to_make_are_made_side_by_side(calls):
    together = Together(4)

    def make(n):
        return Dataset.from_tensors(together(n))

    assert list(Dataset.range(8).interleave(make, 4, 1, calls)) == list(range(8))


def test_no_more_datasets_are_read_at_a_time_than_there_are_calls():
    calls, together = Calls(0.01), Together(2)
    mixed = Dataset.range(8).interleave(
        lambda n: Dataset.range(4).map(lambda x: calls(together(x)), executor="python"), 8, 1, 3
    )
    assert len(list(mixed)) == 32
    # The consumer may take a hand.
    assert calls.most <= 4


@pytest.mark.parametrize("how", ["argument", "options"])
def test_without_order_a_slow_dataset_holds_up_no_other(how):
    def take(seen):
        def make(n):
            def slow(x):
                if n == 0:
                    seen.wait_for(18)
                return n

            return Dataset.range(6).map(slow, executor="python")

        mixed = Dataset.range(4).interleave(
            make, 4, 1, num_parallel_calls=4, deterministic=False if how == "argument" else None
        )
        if how == "options":
            options = hr.Options()
            options.deterministic = False
            mixed = mixed.with_options(options)
        seen.take(iter(mixed), 24)

    elements = seen_by_others(take)
    assert sorted(elements[:18]) == [1] * 6 + [2] * 6 + [3] * 6
    assert elements[18:] == [0] * 6


def test_waiting_for_many_datasets_takes_no_processor():
    asked, release = Together(9), threading.Event()

    def make(n):
        def wait(x):
            asked(x)
            assert release.wait(PATIENCE)
            return x

        return Dataset.range(1).map(wait, executor="python")

    mixed = Dataset.range(8).interleave(make, 8, 1, 8, deterministic=False)
    seen = []
    consumer = threading.Thread(target=lambda: seen.extend(mixed))
    consumer.start()
    # All are waited for now, by the consumer too.
    asked(None)
    began = time.process_time()
    time.sleep(2)
    taken = time.process_time() - began
    release.set()
    consumer.join()
    assert len(seen) == 8
    # One that spins takes all of one.
    assert taken < 0.7


def test_without_order_slots_are_filled_again_while_others_wait():
    def take(seen):
        def make(n):
            def slow(x):
                if n == 1:
                    seen.wait_for(10)
                return n

            return Dataset.range(2).map(slow, executor="python")

        mixed = Dataset.range(6).interleave(make, 2, 1, 2, deterministic=False)
        seen.take(iter(mixed), 12)

    elements = seen_by_others(take)
    assert 1 not in elements[:10]
    assert elements[10:] == [1, 1]


def test_without_order_all_elements_come():
    mixed = Dataset.range(6).interleave(
        lambda n: Dataset.range(n), 3, num_parallel_calls=3, deterministic=False
    )
    assert sorted(int(x) for x in mixed) == sorted(x for n in range(6) for x in range(n))


def test_a_mix_of_interleaved_files_shares_few_threads():
    ended = run("""
import tempfile
with tempfile.TemporaryDirectory() as folder:
    paths = [os.path.join(folder, f"{i}") for i in range(4)]
    for path in paths:
        with hr.io.TFRecordWriter(path) as writer:
            for i in range(1000):
                writer.write(np.int64(i).tobytes())
    def part(i):
        names = hr.Dataset.from_tensor_slices(np.array(paths, object))
        records = names.interleave(hr.TFRecordDataset, 4, num_parallel_calls=4)
        native = records.map(lambda r: hr.io.decode_raw(r, np.int64)[0], num_parallel_calls=4)
        return native.prefetch(2)
    mix = hr.Dataset.sample_from_datasets([part(i) for i in range(40)], seed=1)
    iterator = iter(mix)
    next(iterator)
    rows, most = 1, 0
    for row in iterator:
        rows += 1
        if rows % 1000 == 0:
            most = max(most, len(threads()))
        if rows == 100_000:
            break
    tell(rows=rows, most=most, limit=4 * len(os.sched_getaffinity(0)) + 16)
""")
    assert ended.clean
    seen = json.loads(ended.out)
    assert seen["rows"] == 100_000
    assert seen["most"] <= seen["limit"]


def test_a_huge_cycle_takes_no_memory():
    ended = run("""
for calls in (None, 2, hr.AUTOTUNE):
    before = anonymous()
    mixed = hr.Dataset.range(3).interleave(hr.Dataset.range, 2**62, 1, calls)
    assert len(list(mixed)) == 3
    tell(grown=anonymous() - before)
""")
    assert ended.clean
    assert all(json.loads(line)["grown"] < 100 << 20 for line in ended.out.splitlines())


@pytest.mark.parametrize("reads", [1, 2, 4, hr.AUTOTUNE])
def test_files_read_in_parallel_come_in_the_order_of_an_interleave(reads, tmp_path):
    paths = []
    for file, count in enumerate((3, 0, 5, 1, 2)):
        path = tmp_path / f"{file}"
        path.write_text("".join(f"{file}-{line}\n" for line in range(count)))
        paths.append(str(path))
    names = Dataset.from_tensor_slices(np.array(paths, object))
    # As many as there are cores where the engine chooses, as an interleave without a number.
    cycle = None if reads == hr.AUTOTUNE else reads
    expected = list(names.interleave(hr.TextLineDataset, cycle, 1))
    assert list(hr.TextLineDataset(paths, num_parallel_reads=reads)) == expected
    assert list(hr.TextLineDataset(names, num_parallel_reads=reads)) == expected
    if reads == 1:
        assert expected == [b"0-0", b"0-1", b"0-2", *(b"2-%d" % i for i in range(5)), b"3-0",
                            b"4-0", b"4-1"]  # fmt: skip


def test_files_are_interleaved(tmp_path):
    paths = []
    for file in range(3):
        path = tmp_path / f"{file}.tfrecord"
        with hr.io.TFRecordWriter(path) as writer:
            for record in range(2):
                writer.write(f"{file}-{record}".encode())
        paths.append(str(path))
    mixed = Dataset.from_tensor_slices(np.array(paths, object)).interleave(
        hr.TFRecordDataset, cycle_length=3, num_parallel_calls=hr.AUTOTUNE
    )
    assert mixed.element_spec == hr.TensorSpec([], bytes)
    assert list(mixed) == [b"0-0", b"1-0", b"2-0", b"0-1", b"1-1", b"2-1"]


def test_pure_functions_of_quiet_datasets_are_asked_for_many_elements_at_once(tmp_path):
    path = str(tmp_path / "a")
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(100):
            writer.write(b"%d" % i)
    names = Dataset.from_tensor_slices(np.array([path] * 2, object))
    for records in (
        hr.TFRecordDataset([path] * 2, num_parallel_reads=2),
        names.interleave(hr.TFRecordDataset, 2),
        names.interleave(lambda name: hr.TFRecordDataset(name), 2, num_parallel_calls=2),
        names.flat_map(hr.TFRecordDataset),
    ):
        made = []
        iterator = iter(records.map(lambda r, made=made: made.append(r) or r))
        next(iterator)
        assert len(made) == 1
        assert len(list(iterator)) == 199


def test_what_can_be_noticed_is_not_asked_for_too_early():
    calls = []

    def noticed(x):
        calls.append(int(x))
        return x

    heard = Dataset.range(3).map(noticed)
    for take in ("interleave", "flat_map"):
        calls.clear()
        mixed = getattr(Dataset.range(4), take)(
            lambda n: Dataset.range(2), **({"cycle_length": 2} if take == "interleave" else {})
        )
        both = mixed.concatenate(getattr(Dataset.range(2), take)(lambda n: heard))
        run = iter(both.map(lambda x: x + 1).filter(lambda x: x > 0))
        for _ in range(8):
            next(run)
        assert calls == []
        next(run)
        assert calls == [0]


PLANS = {
    "in turn": lambda: Dataset.range(7).interleave(Dataset.range, 3, 2),
    "in parallel": lambda: Dataset.range(7).interleave(Dataset.range, 3, 2, 2),
    "of shuffles": lambda: Dataset.range(5).interleave(
        lambda n: Dataset.range(n).shuffle(4, seed=2).repeat(2), 2, 1, hr.AUTOTUNE
    ),
    "in epochs": lambda: (
        Dataset.range(4)
        .shuffle(4, seed=1)
        .interleave(lambda n: Dataset.range(n + 1), 2)
        .repeat(2)
        .batch(3)
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_laws_hold(name):
    check_laws(PLANS[name])


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 7), max_size=9),
    cycle=st.integers(1, 5),
    block=st.integers(1, 3),
    calls=st.sampled_from([None, 2, hr.AUTOTUNE]),
    known=st.booleans(),
)
def test_skipping_datasets_of_known_lengths_is_dropping(lengths, cycle, block, calls, known):
    starts = np.cumsum([0, *lengths])
    calls = calls if calls is None else min(calls, cycle)

    def inner(i):
        dataset = hr.Dataset.range(starts[i], starts[i] + lengths[i])
        return dataset if known else dataset.filter(lambda x: x >= 0)

    mixed = hr.Dataset.range(len(lengths)).interleave(inner, cycle, block, num_parallel_calls=calls)
    expected = [int(x) for x in mixed]
    for count in range(len(expected) + 2):
        assert [int(x) for x in mixed.skip(count)] == expected[count:]
    # The middle of the run is passed over by the state of an iterator that skips again.
    iterator = iter(mixed.skip(1))
    for count in range(1, len(expected)):
        again = mixed.skip(1).iterator(iterator.state())
        assert [int(x) for x in again] == expected[count:]
        next(iterator)


@pytest.mark.parametrize("calls", [None, 2, hr.AUTOTUNE])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("block", [1, 7])
def test_a_run_is_taken_up_where_its_datasets_stand(calls, known, block):
    lengths = [0, 3000, 1, 40, 2500, 900, 0, 1700, 3, 2000]
    lengths_array = np.array(lengths)

    def inner(i):
        # Each without a seed that was given draws by the number of its opening.
        numbers = (
            hr.Dataset.range(np.take(lengths_array, i)).shuffle(9).map(lambda x: x + i * 10**6)
        )
        return numbers if known else numbers.filter(lambda x: x >= 0)

    dataset = (
        hr.Dataset.range(len(lengths))
        .interleave(inner, 3, block, num_parallel_calls=calls)
        .repeat(2)
        .batch(100)
    )
    iterator = dataset.iterator()
    states, rows = [iterator.state()], []
    for batch in iterator:
        rows.append(batch.tolist())
        states.append(iterator.state())
    assert len(rows) == 203
    assert max(map(len, states)) < 4096
    for at in [1, *range(3, len(rows), 37), len(rows)]:
        rest = dataset.iterator(states[at])
        assert [batch.tolist() for batch in rest] == rows[at:]
        # A state of a run that was taken up is as good.
        if at % 2 and at < len(rows) - 20:
            again = dataset.iterator(states[at])
            for _ in range(15):
                next(again)
            last = dataset.iterator(again.state())
            assert [batch.tolist() for batch in last] == rows[at + 15 :]


@pytest.mark.parametrize("calls", [None, 2])
def test_datasets_that_have_ended_are_not_read_again(tmp_path, calls):
    names = []
    for i in range(40):
        names.append(str(tmp_path / f"{i:02}"))
        with hr.io.TFRecordWriter(names[-1]) as writer:
            for j in range(300):
                writer.write(f"{i} {j}".encode())
    dataset = hr.Dataset.from_tensor_slices(names).interleave(
        hr.TFRecordDataset, cycle_length=3, num_parallel_calls=calls
    )
    records = list(dataset)
    iterator = iter(dataset)
    for _ in range(9_000):
        next(iterator)
    state = iterator.state()
    for name in names[:20]:
        (tmp_path / name).unlink()
    assert list(dataset.iterator(state)) == records[9_000:]
