"""Elements and cardinalities of small pipelines are tf.data's."""

import numpy as np
import pytest
from conftest import assert_same_elements, decode, golden

import headrace as hr

VECTORS = golden("pipelines.json")


def _ragged_rows(rows, dtype):
    return hr.Dataset.from_generator(
        lambda: iter(rows), output_signature=hr.TensorSpec([None], dtype)
    )


INPUTS = {
    "int64 vectors [1], [1,2,3], [], [4,5] of shape [None]": lambda: _ragged_rows(
        [np.array(row, np.int64) for row in ([1], [1, 2, 3], [], [4, 5])], np.int64
    ),
    "bytes vectors [a], [b, cc]": lambda: _ragged_rows([[b"a"], [b"b", b"cc"]], bytes),
    "float32 [3,2] slices": lambda: hr.Dataset.from_tensor_slices(np.zeros((3, 2), np.float32)),
    "arange(6).reshape(3,2)": lambda: hr.Dataset.from_tensor_slices(np.arange(6).reshape(3, 2)),
    "[1,37,2,37,2,1]": lambda: hr.Dataset.from_tensor_slices(
        np.array([1, 37, 2, 37, 2, 1], np.int32)
    ),
    "range(10).batch(3)": lambda: hr.Dataset.range(10).batch(3),
    "[5,6]": lambda: hr.Dataset.from_tensor_slices(np.array([5, 6], np.int32)),
    **{f"range({n})": (lambda n=n: hr.Dataset.range(n)) for n in (0, 2, 3, 5, 7, 10)},
}
ARGUMENTS = {
    "batch_size", "drop_remainder", "padded_shapes", "padding_values", "start", "count",
    "initial_state", "num_shards", "index",
}  # fmt: skip
OPS = {
    "batch", "enumerate", "padded_batch", "ragged_batch", "rebatch", "repeat", "scan", "shard",
    "skip", "take", "take_while", "unbatch", "unique",
}  # fmt: skip
FUNCTIONS = {
    "scan": {"scan_func": lambda s, x: (s + x, s)},
    "take_while": {"predicate": lambda x: x < 5},
}


def _choose(case):
    letters = [hr.Dataset.from_tensors(letter).repeat(2) for letter in (b"a", b"b", b"c")]
    stop = {name: case[name] for name in ("stop_on_empty_dataset",) if name in case}
    return hr.Dataset.choose_from_datasets(letters, hr.Dataset.range(3).repeat(5), **stop)


def _interleave(case):
    lengths = {name: case[name] for name in ("cycle_length", "block_length")}
    if lengths["cycle_length"] is None:
        lengths["cycle_length"] = 2  # the number of cores where the vectors were made
    return hr.Dataset.range(1, 6).interleave(
        lambda x: hr.Dataset.from_tensors(x).repeat(x),
        num_parallel_calls=case["num_parallel_calls"],
        deterministic=case["deterministic"],
        **lengths,
    )


def _window(case):
    names = ("size", "shift", "stride", "drop_remainder")
    windows = hr.Dataset.range(7).window(**{name: case[name] for name in names})
    return windows.flat_map(lambda window: window.batch(100))


def _group_by_window(case):
    if "window_size" in case:
        return hr.Dataset.range(20).group_by_window(
            lambda x: x % 3, lambda _, group: group.batch(4), case["window_size"]
        )
    return hr.Dataset.range(20).group_by_window(
        lambda x: x % 2, lambda _, group: group.batch(10), window_size_func=lambda k: (k + 1) * 3
    )


def _bucket_by_sequence_length(case):
    lengths = (1, 5, 3, 12, 2, 7, 4, 10, 6, 8, 3, 15)
    vectors = _ragged_rows([np.full(n, i, np.int64) for i, n in enumerate(lengths)], np.int64)
    options = {name: case[name] for name in case if name not in ("name", "input", "expect")}
    return vectors.bucket_by_sequence_length(lambda x: x.shape[0], **options)


def _zip(case):
    return hr.Dataset.zip(hr.Dataset.range(3), hr.Dataset.range(10, 15))


BUILDERS = {
    "bucket_by_sequence_length": _bucket_by_sequence_length,
    "choose_from_datasets": _choose,
    "group_by_window": _group_by_window,
    "interleave": _interleave,
    "window": _window,
    "zip of unequal lengths": _zip,
}


def _build(case):
    if case["name"] in BUILDERS:
        return BUILDERS[case["name"]](case)
    if case["name"] == "range":
        return hr.Dataset.range(*case["args"])
    arguments = {name: case[name] for name in ARGUMENTS & set(case)}
    if arguments.get("padding_values") == "int32 -1":
        arguments["padding_values"] = np.int32(-1)
    dataset = INPUTS[case["input"]]()
    if case["name"] == "unbatch":
        dataset = dataset.batch(3) if dataset.element_spec.shape == () else dataset
    arguments |= FUNCTIONS.get(case["name"], {})
    dataset = getattr(dataset, case["name"])(**arguments)
    if case["name"] == "ragged_batch":
        return dataset.map(lambda batch: (batch.values, batch.row_splits), executor="python")
    return dataset.take(7) if case["name"] == "repeat" else dataset


def test_every_vector_is_compared():
    assert {case["name"] for case in VECTORS["cases"]} == {*OPS, *BUILDERS, "range"}


@pytest.mark.parametrize(
    "case", VECTORS["cases"], ids=lambda c: "-".join(str(c[k]) for k in c if k != "expect")
)
def test_the_elements_are_those_of_tf_data(case):
    expected = case["expect"]
    if isinstance(expected, dict):
        kinds = {"TypeError": TypeError, "ValueError": ValueError}
        # An assertion in a graph reaches TensorFlow's users as an internal error.
        kinds["InternalError"] = hr.errors.InvalidArgumentError
        error = expected["error"]["class"]
        with pytest.raises(kinds.get(error) or getattr(hr.errors, error)):
            list(_build(case))
    else:
        assert_same_elements(list(_build(case)), list(decode(expected)))


def _range(n=10):
    return hr.Dataset.range(n)


CARDINALITIES = {
    "range(10)": _range,
    "range(10).repeat()": lambda: _range().repeat(),
    "range(0).repeat()": lambda: _range(0).repeat(),
    "filter": lambda: _range().filter(lambda x: x > 0),
    "batch 3": lambda: _range().batch(3),
    "batch 3 drop": lambda: _range().batch(3, drop_remainder=True),
    "repeat.batch": lambda: _range().repeat().batch(3),
    "take(3) of infinite": lambda: _range().repeat().take(3),
    "skip(3) of infinite": lambda: _range().repeat().skip(3),
    "zip(10, 5)": lambda: hr.Dataset.zip(_range(), _range(5)),
    "zip(10, inf)": lambda: hr.Dataset.zip(_range(), _range().repeat()),
    "concat": lambda: _range().concatenate(_range(5)),
    "map": lambda: _range().map(lambda x: x + 1),
    "shuffle": lambda: _range().shuffle(3),
    "prefetch": lambda: _range().prefetch(1),
    "from_generator": lambda: hr.Dataset.from_generator(lambda: iter([1]), np.int64),
    "take(-1)": lambda: _range().take(-1),
    "skip(-1)": lambda: _range().skip(-1),
    "repeat(0)": lambda: _range().repeat(0),
    "padded_batch": lambda: _range().padded_batch(4),
    "enumerate": lambda: _range().enumerate(),
    "sample": lambda: hr.Dataset.sample_from_datasets([_range(), _range(5)]),
    "sample stop": lambda: hr.Dataset.sample_from_datasets(
        [_range(), _range(5)], stop_on_empty_dataset=True
    ),
    "shard 3,1": lambda: _range().shard(3, 1),
    "take_while": lambda: _range().take_while(lambda x: x < 5),
    "unique": lambda: _range().unique(),
    "ignore_errors": lambda: _range().ignore_errors(),
    "scan": lambda: _range().scan(0, lambda s, x: (s + x, s)),
    "rebatch": lambda: _range().batch(3).rebatch(2),
    "unbatch": lambda: _range().batch(3).unbatch(),
    "cache": lambda: _range().cache(),
    "flat_map": lambda: _range().flat_map(hr.Dataset.from_tensors),
    "group_by_window": lambda: _range().group_by_window(lambda x: x, lambda _, g: g, 2),
    "interleave": lambda: _range().interleave(hr.Dataset.from_tensors, 2),
    "random": lambda: hr.Dataset.random(),
    "window 3": lambda: _range().window(3),
    "window 3 drop": lambda: _range().window(3, drop_remainder=True),
}


@pytest.mark.parametrize(
    "case",
    VECTORS["cardinality"],
    ids=lambda c: c["name"],
)
def test_the_cardinality_is_that_of_tf_data(case):
    assert CARDINALITIES[case["name"]]().cardinality() == case["cardinality"]
