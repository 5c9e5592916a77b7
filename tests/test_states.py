"""States of runs: which plans have them, and which plans refuse them."""

import itertools
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

FailedPrecondition = hr.errors.FailedPreconditionError
InvalidArgument = hr.errors.InvalidArgumentError
CHECKPOINTABLE = r"checkpointable=True"
NUMBERS = hr.Dataset.range(20)


def plus_one(x):
    return x + 1


def unordered(**values):
    options = hr.Options()
    options.deterministic = False
    return options


UNORDERED = {
    "map": lambda: NUMBERS.map(plus_one, num_parallel_calls=4, deterministic=False),
    "interleave": lambda: NUMBERS.interleave(
        lambda x: hr.Dataset.range(x), cycle_length=3, num_parallel_calls=3, deterministic=False
    ).batch(2),
}


@pytest.mark.parametrize("name", UNORDERED)
def test_a_run_without_order_has_no_state_unless_it_is_asked_for_one(name):
    dataset = UNORDERED[name]()
    iterator = iter(dataset)
    for _ in range(2):
        with pytest.raises(FailedPrecondition, match=f"`{name}`.*{CHECKPOINTABLE}"):
            iterator.state()
        next(iterator)
    iterator = dataset.iterator(checkpointable=True)
    expected = [str(x) for x in dataset.iterator(checkpointable=True)]
    for position in range(len(expected)):
        state = iterator.state()
        again = dataset.iterator(state, checkpointable=True)
        assert [str(x) for x in again] == expected[position:]
        next(iterator)


def test_options_that_give_up_the_order_count_where_the_op_says_nothing():
    parallel = NUMBERS.map(plus_one, num_parallel_calls=4).with_options(unordered())
    with pytest.raises(FailedPrecondition, match="`map`"):
        iter(parallel).state()
    state = parallel.iterator(checkpointable=True).state()
    assert sorted(parallel.iterator(state)) == list(range(1, 21))
    for kept in (
        NUMBERS.map(plus_one).with_options(unordered()),
        NUMBERS.map(plus_one, num_parallel_calls=4, deterministic=True).with_options(unordered()),
    ):
        assert list(kept.iterator(iter(kept).state())) == list(range(1, 21))


def test_a_dataset_of_a_function_may_be_what_has_no_order():
    def inner(x):
        return hr.Dataset.range(x).map(plus_one, num_parallel_calls=2, deterministic=False)

    iterator = iter(hr.Dataset.range(3, 6).flat_map(inner))
    next(iterator)
    with pytest.raises(FailedPrecondition, match="`map`"):
        iterator.state()
    iterator = hr.Dataset.range(3, 6).flat_map(inner).iterator(checkpointable=True)
    next(iterator)
    rest = hr.Dataset.range(3, 6).flat_map(inner).iterator(iterator.state())
    assert sorted(rest) == sorted(iterator)


def test_tf_data_has_the_same_switch():
    dataset = tf.data.Dataset.range(9).map(plus_one, num_parallel_calls=3, deterministic=False)
    with pytest.raises(tf.errors.FailedPreconditionError):
        iter(dataset).state()
    iterator = dataset.iterator(checkpointable=True)
    next(iterator)
    assert [int(x) for x in dataset.iterator(iterator.state(), checkpointable=True)] == [
        *range(2, 10)
    ]


class Queue:
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index


def test_live_sources_have_no_state():
    def messages():
        yield 1

    for dataset in (
        hr.Dataset.from_generator(messages, np.int64, (), live=True),
        hr.Dataset.from_source(Queue(), live=True).batch(2),
    ):
        iterator = dataset.iterator(checkpointable=True)
        next(iterator)
        with pytest.raises(FailedPrecondition, match=r"reads (messages at|Queue).*live"):
            iterator.state()


def test_a_state_can_be_had_before_the_first_element_after_an_error_and_at_the_end():
    def fail_on_two(x):
        if x == 2:
            raise ValueError("two")
        return x

    dataset = hr.Dataset.range(4).map(fail_on_two)
    iterator = iter(dataset)
    assert next(dataset.iterator(iterator.state())) == 0
    next(iterator)
    next(iterator)
    before = iterator.state()
    with pytest.raises(ValueError, match="two"):
        next(iterator)
    with pytest.raises(ValueError, match="two"):
        next(dataset.iterator(before))
    assert list(dataset.iterator(iterator.state())) == [3]
    assert list(iterator) == [3]
    assert list(dataset.iterator(iterator.state())) == []
    iterator.close()
    with pytest.raises(hr.errors.CancelledError):
        iterator.state()


@pytest.mark.parametrize("calls", [None, 2])
def test_unseeded_shuffles_of_a_function_go_on_from_a_state_before_the_first_element(calls):
    ordered = hr.Dataset.range(8)
    shuffled = hr.Dataset.range(2).interleave(
        lambda x: hr.Dataset.range(8).shuffle(8), cycle_length=2, num_parallel_calls=calls
    )
    for dataset, taken in ((shuffled, 0), (shuffled, 3), (ordered.concatenate(shuffled), 5)):
        iterator = iter(dataset)
        list(itertools.islice(iterator, taken))
        state = iterator.state()
        rest = list(iterator)
        assert rest == list(dataset.iterator(state)) == list(dataset.iterator(state))


# Of each pair the two datasets differ in one argument of the step that is named.
ROWS = np.arange(12).reshape(4, 3)
BASE = hr.Dataset.range(8)


def with_constant(n):
    return BASE.map(lambda x: x + n)


def with_array(rows):
    return BASE.map(lambda x: rows[x % 4])


def as_python(n):
    def add(x):
        return x + n if x.item() else x

    return BASE.map(add)


def as_python_with_array(rows):
    def pick(x):
        return rows[0] if x.item() else rows[1]

    return BASE.map(pick)


def as_python_with_table(table):
    return BASE.map(lambda x: table[x.item() % 2])


def as_python_with_helper(n):
    def helper(x):
        return x * n

    def outer(x):
        return helper(x) if x.item() else x

    return BASE.map(outer)


def as_python_with_default(n):
    def add(x, by=n):
        return x + by if x.item() else x

    return BASE.map(add)


def changed(array):
    array = array.copy()
    array[-1, -1] = 99
    return array


def generated(n):
    return hr.Dataset.from_generator(lambda: iter(range(n)), np.int64, ())


def generated_with(n):
    return hr.Dataset.from_generator(lambda k: iter(range(k)), np.int64, (), args=(n,))


def records(names):
    return hr.TFRecordDataset([f"/nowhere/{name}" for name in names])


DIFFERENT = {
    "a constant": (with_constant(1), with_constant(2), "map_func of stage 0 .map."),
    "a captured array": (with_array(ROWS), with_array(changed(ROWS)), "map_func"),
    "code": (BASE.map(lambda x: x + 1), BASE.map(lambda x: x - 1), "map_func"),
    "a constant of Python code": (as_python(1), as_python(2), "map_func"),
    "an array of Python code": (
        as_python_with_array(ROWS), as_python_with_array(changed(ROWS)), "map_func"
    ),
    "a table of Python code": (
        as_python_with_table([1, 2]), as_python_with_table([1, 3]), "map_func"
    ),
    "a helper of Python code": (as_python_with_helper(1), as_python_with_helper(2), "map_func"),
    "a default of Python code": (as_python_with_default(1), as_python_with_default(2), "map_func"),
    "a predicate": (BASE.filter(lambda x: x > 1), BASE.filter(lambda x: x > 2), "predicate"),
    "a first state": (
        BASE.scan(0, lambda s, x: (s + x, s)), BASE.scan(1, lambda s, x: (s + x, s)),
        "initial_state",
    ),
    "a generator": (generated(3), generated(4), "generator of stage 0 .from_generator."),
    "an argument of a generator": (generated_with(3), generated_with(4), "generator"),
    "files": (records("ab"), records("ac"), "filenames of stage 0 .tfrecord."),
    "more files": (records("ab"), records("abb"), "filenames"),
    "values": (
        hr.Dataset.from_tensor_slices([1, 2, 3]), hr.Dataset.from_tensor_slices([1, 2, 4]), "data"
    ),
    "values of a dict": (
        hr.Dataset.from_tensors({"a": [1, 2], "b": "x"}),
        hr.Dataset.from_tensors({"a": [1, 2], "b": "y"}),
        "data of stage 0 .from_tensors.",
    ),
    "keys of a dict": (
        hr.Dataset.from_tensors({"a": 1}), hr.Dataset.from_tensors({"b": 1}), "from_tensors"
    ),
    "a seed": (BASE.shuffle(3, seed=1), BASE.shuffle(3, seed=2), "seed"),
    "weights": (
        hr.Dataset.sample_from_datasets([BASE, BASE], [0.5, 0.5], seed=1),
        hr.Dataset.sample_from_datasets([BASE, BASE], [0.4, 0.6], seed=1),
        "(logits|weights) of stage 1",
    ),
    "a step": (BASE.take(3), BASE.skip(3), "stage 0 is take, here it is skip"),
    "one source more": (
        hr.Dataset.zip(BASE, BASE), hr.Dataset.zip(BASE, BASE, BASE), "has 3 stages"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_a_state_is_refused_by_a_dataset_that_differs(what):
    first, second, named = DIFFERENT[what]
    state = iter(first).state()
    with pytest.raises(InvalidArgument, match=named):
        second.iterator(state)
    first.iterator(state)


def test_long_arrays_are_told_apart_at_their_ends():
    plain = np.zeros((1000, 1000))
    state = iter(hr.Dataset.from_tensor_slices(plain)).state()
    hr.Dataset.from_tensor_slices(plain.copy()).iterator(state)
    with pytest.raises(InvalidArgument, match="data"):
        hr.Dataset.from_tensor_slices(changed(plain)).iterator(state)


def test_what_decides_only_the_speed_may_change():
    def job(calls, ahead, **values):
        dataset = hr.Dataset.range(40).shuffle(9, seed=1).map(plus_one, num_parallel_calls=calls)
        dataset = dataset.batch(3, num_parallel_calls=calls)
        return dataset.prefetch(ahead) if ahead else dataset

    iterator = iter(job(None, 0))
    next(iterator)
    state, rest = iterator.state(), [x.tolist() for x in iterator]
    for calls in (None, 1, 2, 8, hr.AUTOTUNE):
        for ahead in (0, 1, hr.AUTOTUNE):
            for switch in (True, False):
                options = hr.Options()
                options.experimental_optimization.map_fusion = switch
                options.experimental_optimization.inject_prefetch = switch
                resumed = job(calls, ahead).with_options(options).iterator(state)
                assert [x.tolist() for x in resumed] == rest


PROGRAM = """
import sys
import numpy as np
import headrace as hr
{more}
weights = np.arange(3.0)
TABLE = {{"a": 1}}

def helper(x):
    return x + TABLE["a"]

def parse(x, flag={{1, 2}}):
    return helper(x) if x.item() % 2 else x - 1

def generate(n):
    for i in range(int(n)):
        yield i

dataset = hr.Dataset.from_generator(generate, np.int64, (), args=(9,))
dataset = dataset.map(lambda x: x * weights[1].astype(np.int64)).map(parse)
dataset = dataset.filter(lambda x: x > -5).batch(2)
iterator = dataset.iterator(sys.argv[1] if len(sys.argv) > 1 else None)
print(next(iterator))
print(iterator.state())
"""


def test_equal_functions_in_another_process_are_accepted(tmp_path):
    """Also where they stand on other lines of another file."""
    outputs = []
    for name, more in (("first", ""), ("second", "import os\n\nLATER = 7")):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(PROGRAM).format(more=more))
        state = [outputs[-1][1]] if outputs else []
        done = subprocess.run(
            [sys.executable, str(path), *state],
            capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.splitlines())
    assert [first for first, _ in outputs] == ["[-1  2]", "[1 4]"]


def files_of(kind, folder):
    """Return three files of ten records each, and what reads them."""
    paths = [str(folder / f"{number}.{kind}") for number in range(3)]
    for number, path in enumerate(paths):
        values = [f"{number}{row}" for row in range(10)]
        if kind == "tfrecord":
            with hr.io.TFRecordWriter(path) as writer:
                for value in values:
                    writer.write(value.encode())
        else:
            with open(path, "w") as file:
                file.write("".join(f"{value}\n" for value in values))
    readers = {
        "tfrecord": hr.TFRecordDataset,
        "text": hr.TextLineDataset,
        "fixed": lambda files: hr.FixedLengthRecordDataset(files, 3),
        "csv": lambda files: hr.experimental.CsvDataset(files, [np.int64]),
        "parallel": lambda files: hr.TextLineDataset(files, num_parallel_reads=2),
        "inner": lambda files: hr.Dataset.from_tensor_slices(files).flat_map(hr.TextLineDataset),
    }
    return paths, lambda: readers[kind](paths)


@pytest.mark.parametrize("kind", ["tfrecord", "text", "fixed", "csv", "parallel", "inner"])
def test_a_file_that_changed_is_named(kind, tmp_path):
    paths, dataset = files_of(kind, tmp_path)
    rest = list(dataset())[12:]
    iterator = iter(dataset())
    for _ in range(12):
        next(iterator)
    state = iterator.state()
    assert list(dataset().iterator(state)) == rest
    again = dataset().iterator(state)
    next(again)
    later = again.state()
    with open(paths[1], "ab") as file:
        file.write(b"9\n")
    for held in (state, later):
        with pytest.raises(FailedPrecondition, match=rf"has changed.*1\.{kind}"):
            dataset().iterator(held)
    os.remove(paths[1])
    with pytest.raises(FailedPrecondition, match="changed"):
        dataset().iterator(state)


def test_a_state_tells_of_few_files(tmp_path):
    paths = [tmp_path / f"{number:03}.txt" for number in range(300)]
    for path in paths:
        path.write_text("a\n")
    iterator = iter(hr.TextLineDataset(paths))
    for _ in paths:
        next(iterator)
    assert len(iterator.state()) < 2048
    paths[-1].write_text("b\nc\n")
    with pytest.raises(FailedPrecondition, match=r"299\.txt"):
        hr.TextLineDataset(paths).iterator(iterator.state())
