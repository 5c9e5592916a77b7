"""Every method of tf.data's `Dataset` with every one of its keywords, under both sets of names.

`SIGNATURES` is what ``inspect.signature`` says of TensorFlow 2.21; `CALLS` has a value for each
keyword. Ours may have more keywords, after theirs.
"""

import inspect
import pickle

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

SIGNATURES = """
apply(self, transformation_func)
as_numpy_iterator(self)
batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, \
deterministic=None, name=None)
bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, \
padded_shapes=None, padding_values=None, pad_to_bucket_boundary=False, no_padding=False, \
drop_remainder=False, name=None)
cache(self, filename='', name=None)
cardinality(self)
choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True)
concatenate(self, dataset, name=None)
counter(start=0, step=1, dtype=int64, name=None)
enumerate(self, start=0, name=None)
filter(self, predicate, name=None)
fingerprint(self)
flat_map(self, map_func, name=None)
from_generator(generator, output_types=None, output_shapes=None, args=None, \
output_signature=None, name=None)
from_tensor_slices(tensors, name=None)
from_tensors(tensors, name=None)
get_single_element(self, name=None)
group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None)
ignore_errors(self, log_warning=False, name=None)
interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, \
deterministic=None, name=None)
list_files(file_pattern, shuffle=None, seed=None, name=None)
load(path, element_spec=None, compression=None, reader_func=None, wait=False)
map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, \
use_unbounded_threadpool=False, name=None)
options(self)
padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, \
name=None)
prefetch(self, buffer_size, name=None)
ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=int64, name=None)
random(seed=None, rerandomize_each_iteration=None, name=None)
range(*args, **kwargs)
rebatch(self, batch_size, drop_remainder=False, name=None)
reduce(self, initial_state, reduce_func, name=None)
rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None)
repeat(self, count=None, name=None)
sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, \
rerandomize_each_iteration=None)
save(self, path, compression=None, shard_func=None, checkpoint_args=None)
scan(self, initial_state, scan_func, name=None)
shard(self, num_shards, index, name=None)
shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None)
skip(self, count, name=None)
snapshot(self, path, compression='AUTO', reader_func=None, shard_func=None, name=None)
sparse_batch(self, batch_size, row_shape, name=None)
take(self, count, name=None)
take_while(self, predicate, name=None)
unbatch(self, name=None)
unique(self, name=None)
window(self, size, shift=None, stride=1, drop_remainder=False, name=None)
with_options(self, options, name=None)
zip(*args, datasets=None, name=None)
"""
METHODS = dict(line.split("(", 1) for line in SIGNATURES.strip().split("\n"))
FAMILIES = {"hr": hr.Dataset, "tf": tf.data.Dataset}


class Given:
    """What the calls are made of: datasets and types of one family, and a folder."""

    def __init__(self, family, folder):
        self.dataset = FAMILIES[family]
        self.of_tensors = family == "tf"
        self.folder = folder
        self.options = (tf.data.Options if self.of_tensors else hr.Options)()
        self.spec = tf.TensorSpec if self.of_tensors else hr.TensorSpec
        self.zero = tf.constant(0, tf.int64) if self.of_tensors else np.int64(0)
        self.int64 = tf.int64 if self.of_tensors else np.int64

    def numbers(self, count=6):
        return self.dataset.range(count)

    def rows(self):
        """Arrays of 1, 2 and 3 numbers."""
        return self.dataset.from_generator(
            lambda: iter([[1], [1, 2], [1, 2, 3]]), output_signature=self.spec([None], self.int64)
        )

    def length(self, row):
        return tf.shape(row)[0] if self.of_tensors else row.shape[0]

    def saved(self):
        path = str(self.folder / "saved")
        self.numbers().save(path)
        return path

    def files(self):
        for name in "ab":
            (self.folder / f"{name}.txt").write_text(name)
        return str(self.folder / "*.txt")


def same(dataset):
    return dataset


def double(x):
    return x * 2


def small(x):
    return x < 3


# For each method: the input (None: a static method), then a value for each keyword.
CALLS = {
    "apply": lambda g: (g.numbers(), {"transformation_func": same}),
    "as_numpy_iterator": lambda g: (g.numbers(), {}),
    "batch": lambda g: (
        g.numbers(),
        {"batch_size": 4, "drop_remainder": True, "num_parallel_calls": 2, "deterministic": True},
    ),
    "bucket_by_sequence_length": lambda g: (
        g.rows(),
        {
            "element_length_func": g.length,
            "bucket_boundaries": [3, 5],
            "bucket_batch_sizes": [2, 2, 2],
            "padded_shapes": [None],
            "padding_values": g.zero,
            "pad_to_bucket_boundary": True,
            "no_padding": False,
            "drop_remainder": False,
        },
    ),
    "cache": lambda g: (g.numbers(), {"filename": str(g.folder / "cache")}),
    "cardinality": lambda g: (g.numbers(), {}),
    "choose_from_datasets": lambda g: (
        None,
        {
            "datasets": [g.numbers(), g.numbers()],
            "choice_dataset": g.numbers(2),
            "stop_on_empty_dataset": False,
        },
    ),
    "concatenate": lambda g: (g.numbers(), {"dataset": g.numbers()}),
    "counter": lambda g: (None, {"start": 5, "step": -2, "dtype": g.int64}),
    "enumerate": lambda g: (g.numbers(), {"start": 7}),
    "filter": lambda g: (g.numbers(), {"predicate": small}),
    "fingerprint": lambda g: (g.numbers(), {}),
    "flat_map": lambda g: (g.numbers(3), {"map_func": lambda x: g.dataset.range(x)}),
    "from_generator": lambda g: (
        None,
        {
            "generator": lambda n: iter(range(n)),
            "output_types": g.int64,
            "output_shapes": (),
            "args": (3,),
            "output_signature": None,
        },
    ),
    "from_tensor_slices": lambda g: (None, {"tensors": ([1, 2], {"a": ["x", "y"]})}),
    "from_tensors": lambda g: (None, {"tensors": ([1, 2], {"a": ["x", "y"]})}),
    "get_single_element": lambda g: (g.numbers(1), {}),
    "group_by_window": lambda g: (
        g.numbers(),
        {
            "key_func": lambda x: x % 2,
            "reduce_func": lambda key, window: window.batch(4),
            "window_size": None,
            "window_size_func": lambda key: key + 2,
        },
    ),
    "ignore_errors": lambda g: (g.numbers(), {"log_warning": True}),
    "interleave": lambda g: (
        g.numbers(3),
        {
            "map_func": lambda x: g.dataset.range(x),
            "cycle_length": 2,
            "block_length": 2,
            "num_parallel_calls": 2,
            "deterministic": True,
        },
    ),
    "list_files": lambda g: (None, {"file_pattern": g.files(), "shuffle": True, "seed": 1}),
    "load": lambda g: (
        None,
        {
            "path": g.saved(),
            "element_spec": g.spec([], g.int64),
            "compression": None,
            "reader_func": lambda datasets: datasets.flat_map(same),
            "wait": False,
        },
    ),
    "map": lambda g: (
        g.numbers(),
        {
            "map_func": double,
            "num_parallel_calls": 2,
            "deterministic": True,
            "synchronous": None,
            "use_unbounded_threadpool": True,
        },
    ),
    "options": lambda g: (g.numbers(), {}),
    "padded_batch": lambda g: (
        g.rows(),
        {"batch_size": 2, "padded_shapes": [4], "padding_values": g.zero, "drop_remainder": True},
    ),
    "prefetch": lambda g: (g.numbers(), {"buffer_size": 2}),
    "ragged_batch": lambda g: (
        g.rows(),
        {"batch_size": 2, "drop_remainder": True, "row_splits_dtype": g.int64},
    ),
    "random": lambda g: (None, {"seed": 4, "rerandomize_each_iteration": True}),
    "range": lambda g: (None, {"output_type": g.int64}),
    "rebatch": lambda g: (g.numbers().batch(3), {"batch_size": [1, 2], "drop_remainder": True}),
    "reduce": lambda g: (
        g.numbers(),
        {"initial_state": g.zero, "reduce_func": lambda state, x: state + x},
    ),
    "rejection_resample": lambda g: (
        g.numbers(),
        {
            "class_func": lambda x: x % 2,
            "target_dist": [0.5, 0.5],
            "initial_dist": [0.5, 0.5],
            "seed": 1,
        },
    ),
    "repeat": lambda g: (g.numbers(), {"count": 2}),
    "sample_from_datasets": lambda g: (
        None,
        {
            "datasets": [g.numbers(), g.numbers()],
            "weights": [0.5, 0.5],
            "seed": 1,
            "stop_on_empty_dataset": True,
            "rerandomize_each_iteration": True,
        },
    ),
    "save": lambda g: (
        g.numbers(),
        {
            "path": str(g.folder / "save"),
            "compression": "GZIP",
            "shard_func": lambda x: x % 2,
            "checkpoint_args": None,
        },
    ),
    "scan": lambda g: (
        g.numbers(),
        {"initial_state": g.zero, "scan_func": lambda state, x: (state + x, state)},
    ),
    "shard": lambda g: (g.numbers(), {"num_shards": 2, "index": 1}),
    "shuffle": lambda g: (
        g.numbers(),
        {"buffer_size": 3, "seed": 1, "reshuffle_each_iteration": False},
    ),
    "skip": lambda g: (g.numbers(), {"count": 2}),
    "snapshot": lambda g: (
        g.numbers(),
        {
            "path": str(g.folder / "snapshot"),
            "compression": "GZIP",
            "reader_func": None,
            "shard_func": None,
        },
    ),
    "sparse_batch": lambda g: (g.rows(), {"batch_size": 2, "row_shape": [3]}),
    "take": lambda g: (g.numbers(), {"count": 2}),
    "take_while": lambda g: (g.numbers(), {"predicate": small}),
    "unbatch": lambda g: (g.numbers().batch(2), {}),
    "unique": lambda g: (g.numbers(), {}),
    "window": lambda g: (
        g.numbers(),
        {"size": 2, "shift": 1, "stride": 2, "drop_remainder": True},
    ),
    "with_options": lambda g: (g.numbers(), {"options": g.options}),
    "zip": lambda g: (None, {"datasets": (g.numbers(), g.numbers())}),
}
POSITIONAL = {"range": (5,)}
# What has no elements of its own to look at; all else yields some.
VALUES = {"cardinality", "fingerprint", "get_single_element", "options", "reduce", "save"}


def parameters(method):
    """Return name, kind and default of each parameter that TensorFlow has."""
    arguments = METHODS[method].removesuffix(")")
    function = eval(f"lambda {arguments}: 0", {"int64": np.int64})
    return list(inspect.signature(function).parameters.values())


def test_every_method_has_a_call():
    assert set(CALLS) == set(METHODS)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", METHODS)
def test_keywords_and_defaults_are_those_of_tf_data(method, family):
    if method == "range":  # any keyword there; output_type and name are those that it knows
        return
    theirs = parameters(method)
    ours = list(inspect.signature(getattr(FAMILIES[family], method)).parameters.values())
    assert [p.name for p in ours[: len(theirs)]] == [p.name for p in theirs]
    for our, their in zip(ours, theirs, strict=False):
        assert our.default == their.default, our.name
        assert our.kind == their.kind, our.name
    for more in ours[len(theirs) :]:
        assert more.kind is more.KEYWORD_ONLY, more.name
        assert more.default is not more.empty, more.name


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", METHODS)
def test_every_keyword_is_taken(method, family, tmp_path):
    source, keywords = CALLS[method](Given(family, tmp_path))
    found = [p for p in parameters(method) if p.name != "self"]
    named = {p.name for p in found if p.kind is p.POSITIONAL_OR_KEYWORD}
    if "name" in named or method in ("range", "zip"):
        keywords["name"] = "step"
    assert named <= set(keywords)
    owner = FAMILIES[family] if source is None else source
    result = getattr(owner, method)(*POSITIONAL.get(method, ()), **keywords)
    if method == "as_numpy_iterator":
        assert next(result) == 0
    elif method not in VALUES:
        assert isinstance(result, FAMILIES[family])
        assert list(result.take(2))
    else:
        assert result is not None or method == "save"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_keyword_has_its_place(family, tmp_path):
    for method in METHODS:
        if method in ("range", "zip"):
            continue
        source, keywords = CALLS[method](Given(family, tmp_path))
        owner = FAMILIES[family] if source is None else source
        inspect.signature(getattr(owner, method)).bind(*keywords.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_operators(family):
    dataset = FAMILIES[family].range(3)
    assert len(dataset) == 3
    assert [int(x) for x in iter(dataset)] == [0, 1, 2]
    assert bool(dataset.take(0))
    assert dataset == dataset
    assert dataset != FAMILIES[family].range(3)
    assert len({dataset, dataset}) == 1
    assert int(dataset[1]) == 1
    with pytest.raises(TypeError, match="infinite"):
        len(dataset.repeat())
    with pytest.raises(TypeError, match="unknown"):
        len(dataset.filter(lambda x: x > 0))


def test_methods_are_those_of_one_class():
    assert hr.Dataset.__module__ == hr.Dataset.map.__module__ == "headrace.dataset"
    for name in METHODS:
        assert getattr(hr.Dataset, name).__qualname__ == f"Dataset.{name}"
        assert inspect.getdoc(getattr(hr.Dataset, name))
    with pytest.raises(TypeError, match=r"Dataset\.map\(\) missing 1 required"):
        hr.Dataset.range(3).map()
    assert pickle.loads(pickle.dumps(hr.Dataset.range)) is hr.Dataset.range
    nested = hr.Dataset.range(4).flat_map(hr.Dataset.range)
    assert list(pickle.loads(pickle.dumps(nested))) == list(nested)
