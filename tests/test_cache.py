"""`Dataset.cache`: what is kept, when, and who may read it."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr


def counted(n=5):
    """A dataset whose elements are made by Python, and how often each was."""
    made = []

    def note(x):
        made.append(int(x))
        return x

    return hr.Dataset.range(n).map(note), made


@pytest.fixture(params=["memory", "file"])
def filename(request, tmp_path):
    return "" if request.param == "memory" else str(tmp_path / "cache")


def test_later_passes_read_what_the_first_one_made(filename):
    dataset, made = counted()
    cached = dataset.cache(filename)
    assert list(cached) == list(cached) == list(range(5))
    assert made == list(range(5))
    assert list(cached.repeat(2)) == [*range(5), *range(5)]
    assert made == list(range(5))


def test_a_pass_left_early_keeps_nothing(filename):
    dataset, made = counted()
    cached = dataset.cache(filename)
    iterator = iter(cached)
    assert [next(iterator), next(iterator)] == [0, 1]
    iterator.close()
    assert list(cached.take(3)) == [0, 1, 2]
    assert list(cached) == list(range(5))
    assert made == [0, 1, 0, 1, 2, 0, 1, 2, 3, 4]


def wait_until(true):
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize("calls", [None, 2])
def test_a_pass_whose_end_was_only_read_ahead_keeps_nothing(filename, tmp_path, calls):
    def build():
        dataset, made = counted(4)
        cached = dataset.filter(lambda x: x >= 0).cache(filename)
        above = cached if calls is None else cached.map(str, num_parallel_calls=calls)
        return above.prefetch(9), made

    for left in (0, 1, 3):
        dataset, made = build()
        iterator = iter(dataset)
        assert len([next(iterator) for _ in range(left + 1)]) == left + 1
        wait_until(lambda made=made: len(made) == 4)
        time.sleep(0.01)  # more likely than not it has seen the end by now
        iterator.close()
        wait_until(lambda: not list(tmp_path.iterdir()))
        assert len(list(dataset)) == 4
        assert made == [*range(4), *range(4)]
        assert len(list(dataset)) == 4
        assert made == [*range(4), *range(4)]
        for file in tmp_path.iterdir():
            file.unlink()


def test_epochs_above_what_reads_ahead_find_its_cache(filename):
    dataset, made = counted(4)
    cached = dataset.cache(filename).repeat(3).prefetch(9)
    assert list(cached) == [*range(4)] * 3
    assert made == [*range(4)]
    assert list(cached.take(5)) == [0, 1, 2, 3, 0]
    assert made == [*range(4)]


def test_the_last_element_of_a_known_number_is_the_end():
    dataset, made = counted(3)
    cached = dataset.cache()
    list(cached.take(3))
    list(cached)
    assert made == [0, 1, 2]


def test_all_elements_without_the_end_keep_nothing():
    dataset, made = counted(3)
    cached = dataset.filter(lambda x: x >= 0).cache()
    list(cached.take(3))
    list(cached)
    list(cached)
    assert made == [0, 1, 2, 0, 1, 2]


def test_random_order_is_frozen(filename):
    cached = hr.Dataset.range(20).shuffle(20, seed=3).cache(filename)
    first = list(cached)
    assert sorted(first) == list(range(20)) != first
    assert list(cached) == first
    assert list(cached.repeat(2)) == first * 2


def test_skip_reads_and_fills(filename):
    dataset, made = counted()
    cached = dataset.cache(filename)
    assert list(cached.skip(3)) == [3, 4]
    assert made == [0, 1, 2, 3, 4]
    assert list(cached) == list(range(5))
    assert made == [0, 1, 2, 3, 4]


def test_iterators_of_one_dataset_share_what_is_in_memory():
    dataset, made = counted()
    cached = dataset.cache()
    first, second = iter(cached), iter(cached)
    assert next(first) == next(second) == 0
    assert list(first) == list(second) == [1, 2, 3, 4]
    assert list(cached.map(lambda x: x * 2)) == [0, 2, 4, 6, 8]
    assert made.count(4) == 2


def test_zipped_with_itself():
    cached = hr.Dataset.range(4).shuffle(4, seed=1).cache()
    list(cached)
    assert all(a == b for a, b in hr.Dataset.zip(cached, cached))


def test_what_a_user_changes_is_not_what_is_kept():
    array = np.arange(6).reshape(3, 2)
    cached = hr.Dataset.from_tensor_slices(array).cache()
    for row in cached:
        row[:] = -1
    array[:] = 7
    assert_same_elements(list(cached), [np.array([0, 1]), np.array([2, 3]), np.array([4, 5])])


ELEMENTS = {
    "numbers": lambda: hr.Dataset.range(7),
    "strings": lambda: hr.Dataset.from_tensor_slices([b"a", b"", b"c" * 300]),
    "text": lambda: hr.Dataset.from_tensor_slices(["ä", "", "c"]),
    "nests": lambda: hr.Dataset.from_tensor_slices({"x": [1.0, 2.0], "y": (["a", "b"], [1, 2])}),
    "none": lambda: hr.Dataset.from_tensors((1, None, {"a": 2})),
    "batches": lambda: hr.Dataset.range(7).batch(3),
    "empty arrays": lambda: hr.Dataset.from_tensors(np.zeros((0, 3), np.float16)),
    "bools": lambda: hr.Dataset.from_tensor_slices([True, False]),
    "complex": lambda: hr.Dataset.from_tensor_slices(np.array([1 + 2j, 3], np.complex64)),
    "nothing": lambda: hr.Dataset.range(0),
    "sparse": lambda: hr.Dataset.from_tensors(hr.SparseTensor([[0, 1]], [5], [2, 3])).repeat(2),
    "ragged": lambda: hr.Dataset.from_tensors(
        hr.RaggedTensor(np.array([1, 2, 3]), np.array([0, 2, 2, 3]))
    ).repeat(2),
    "unknown": lambda: hr.Dataset.range(3).map(lambda x: (int(x) if x >= 0 else 0, "a")),
}


@pytest.mark.parametrize("kind", ELEMENTS)
def test_elements_of_every_kind_come_back(kind, filename):
    expected = list(ELEMENTS[kind]())
    cached = ELEMENTS[kind]().cache(filename)
    for _ in range(3):
        assert_same_elements(list(cached), expected)
    if filename:
        assert_same_elements(list(ELEMENTS[kind]().cache(filename)), expected)


def test_opaque_objects_are_kept_in_memory_only(tmp_path):
    value = object()
    cached = hr.Dataset.from_tensors(value).cache()
    list(cached)
    assert next(iter(cached)) is value
    with pytest.raises(hr.errors.InvalidArgumentError, match="object components cannot be written"):
        list(hr.Dataset.from_tensors(value).cache(str(tmp_path / "c")))


def test_failing_elements_are_not_kept():
    def fail(x):
        if x == 2:
            raise KeyError("two")
        return x

    cached = hr.Dataset.range(4).map(fail).cache()
    iterator = iter(cached)
    assert [next(iterator), next(iterator)] == [0, 1]
    with pytest.raises(KeyError):
        next(iterator)
    assert list(iterator) == [3]
    assert list(cached) == [0, 1, 3]


def test_the_files_have_tf_datas_names(tmp_path):
    cached = hr.Dataset.range(3).cache(tmp_path / "c")
    iterator = iter(cached)
    next(iterator)
    assert (tmp_path / "c_0.lockfile").exists()
    assert not (tmp_path / "c.index").exists()
    list(iterator)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.data-00000-of-00001", "c.index"]


def test_a_second_writer_is_an_error_and_the_first_goes_on(tmp_path):
    name = str(tmp_path / "c")
    first = iter(hr.Dataset.range(3).cache(name))
    second = iter(hr.Dataset.range(3).cache(name))
    assert next(first) == 0
    with pytest.raises(hr.errors.AlreadyExistsError, match="concurrent caching iterator running"):
        next(second)
    assert list(first) == [1, 2]
    assert list(hr.Dataset.range(3).cache(name)) == [0, 1, 2]


def test_two_readers_of_one_file(tmp_path):
    cached = hr.Dataset.range(300).cache(str(tmp_path / "c"))
    list(cached)
    first, second = iter(cached), iter(cached)
    assert all(a == b for a, b in zip(first, second, strict=True))


def test_leaving_early_leaves_no_file(tmp_path):
    iterator = iter(hr.Dataset.range(3).cache(str(tmp_path / "c")))
    next(iterator)
    del iterator
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_file_outlives_the_process(tmp_path):
    name = str(tmp_path / "c")
    code = f"import headrace as hr; list(hr.Dataset.range(4).shuffle(4, seed=1).cache({name!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)
    dataset, made = counted(4)
    read = list(dataset.cache(name))
    assert sorted(read) == [0, 1, 2, 3]
    assert made == []


def test_a_program_that_ends_early_leaves_nothing_in_the_way(tmp_path):
    name = str(tmp_path / "c")
    code = (
        f"import headrace as hr; iterator = iter(hr.Dataset.range(10).cache({name!r}))\n"
        "[next(iterator) for _ in range(3)]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)
    dataset, made = counted(10)
    cached = dataset.cache(name)
    assert list(cached) == list(cached) == list(range(10))
    assert made == list(range(10))


def test_a_killed_writer_leaves_nothing_in_the_way(tmp_path):
    name = str(tmp_path / "c")
    code = textwrap.dedent(f"""
        import os, signal, headrace as hr
        iterator = iter(hr.Dataset.range(10).cache({name!r}))
        [next(iterator) for _ in range(3)]
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    done = subprocess.run([sys.executable, "-c", code], timeout=200, check=False)
    assert done.returncode == -signal.SIGKILL
    assert os.path.exists(name + "_0.lockfile")
    dataset, made = counted(10)
    assert list(dataset.cache(name)) == list(dataset.cache(name)) == list(range(10))
    assert made == list(range(10))
    assert not os.path.exists(name + "_0.lockfile")


def _hold(name, begun, go_on):
    iterator = iter(hr.Dataset.range(10).cache(name))
    next(iterator)
    begun.set()
    go_on.wait(200)
    assert list(iterator) == list(range(1, 10))


def test_a_second_process_makes_the_elements_itself(tmp_path):
    name = str(tmp_path / "c")
    context = multiprocessing.get_context("spawn")
    begun, go_on = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(name, begun, go_on))
    process.start()
    assert begun.wait(200)
    assert list(hr.Dataset.range(10).cache(name)) == list(range(10))
    assert not os.path.exists(name + ".index")
    go_on.set()
    process.join(200)
    assert process.exitcode == 0
    assert os.path.exists(name + ".index")


def test_files_of_other_elements_are_refused(tmp_path):
    name = str(tmp_path / "c")
    list(hr.Dataset.range(3).cache(name))
    with pytest.raises(hr.errors.FailedPreconditionError, match="another pipeline"):
        list(hr.Dataset.from_tensors(b"text").cache(name))


@pytest.mark.parametrize("which", ["data-00000-of-00001", "index"])
def test_damage_is_noticed(which, tmp_path):
    name = str(tmp_path / "c")
    list(hr.Dataset.range(3).cache(name))
    path = tmp_path / f"c.{which}"
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    with pytest.raises(hr.errors.DataLossError, match=f"c.{which}"):
        list(hr.Dataset.range(3).cache(name))
    path.write_bytes(content[:-30])
    with pytest.raises(hr.errors.DataLossError):
        list(hr.Dataset.range(3).cache(name))


def test_a_state_of_a_later_pass_brings_the_cache_back():
    def build():
        return hr.Dataset.range(9).shuffle(9, seed=2).cache().repeat(3)

    iterator = iter(build())
    expected = list(iterator)
    iterator = iter(build())
    for position in range(27):
        rest = list(build().iterator(iterator.state()))
        assert rest == expected[position:], position
        next(iterator)


def plus_one(x):
    return x + 1


def test_a_state_after_another_run_filled_the_cache():
    cached = hr.Dataset.range(9).shuffle(9).cache()
    first = list(cached)
    iterator = iter(cached.map(plus_one))
    for _ in range(4):
        next(iterator)
    state = iterator.state()
    again = hr.Dataset.range(9).shuffle(9).cache()
    assert list(again.map(plus_one).iterator(state)) == [x + 1 for x in first[4:]]


def test_memory_is_counted():
    cached = hr.Dataset.range(100).map(lambda x: np.full(1000, x)).cache()
    iterator = iter(cached)
    list(iterator)
    held = {row["name"]: row["held_bytes"] for row in iterator.stats()}
    assert held["cache"] == 800_000


def test_the_laws_hold(tmp_path):
    count = iter(range(10**6))
    check_laws(lambda: hr.Dataset.range(9).shuffle(5, seed=1).cache().repeat(2))
    check_laws(lambda: hr.Dataset.range(9).map(lambda x: int(x)).cache().batch(2))
    check_laws(lambda: hr.Dataset.range(9).cache(tmp_path / str(next(count))).shuffle(3, seed=1))


def test_names_of_files_may_be_cached(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text("".join(f"{name}{i}\n" for i in range(4)))
    names = hr.Dataset.list_files(str(tmp_path / "[abc]"), seed=3)
    for filename in ("", str(tmp_path / "names")):
        lines = names.cache(filename).interleave(hr.TextLineDataset, 3, num_parallel_calls=2)
        batches = lines.shuffle(5, seed=1).batch(5)
        epochs = [sorted(line for batch in batches for line in batch) for _ in range(3)]
        assert epochs == [sorted(f"{name}{i}".encode() for name in "abc" for i in range(4))] * 3


def test_random_access_goes_through():
    dataset, made = counted()
    cached = dataset.cache()
    assert cached[3] == 3
    list(cached)
    made.clear()
    assert [cached[i] for i in (4, 0)] == [4, 0]
    assert made == []
    assert sorted(cached.shuffle(None, seed=1)) == list(range(5))


def test_the_laws_hold_above_datasets_of_datasets():
    def build():
        inner = hr.Dataset.range(5).flat_map(lambda n: hr.Dataset.range(n).shuffle(3, seed=1))
        return inner.shuffle(4, seed=2).cache().repeat(2)

    check_laws(build)
    check_laws(lambda: hr.Dataset.range(3).flat_map(lambda n: hr.Dataset.range(n + 2).cache()))


def test_file_names_are_paths():
    with pytest.raises(TypeError, match="`filename` must be a path"):
        hr.Dataset.range(1).cache(3)


def test_a_run_resumed_in_its_first_pass_sees_the_errors_of_that_pass():
    def fails_on_one(x):
        if x == 1:
            raise ValueError("no 1")
        return x

    def build():
        cached = hr.Dataset.range(2).map(fails_on_one).cache()
        return cached.map(fails_on_one, num_parallel_calls=3)

    for _ in range(20):  # the driver may or may not have ended the pass by then
        iterator = iter(build())
        next(iterator)
        with pytest.raises(ValueError, match="no 1"):
            next(build().iterator(iterator.state()))
