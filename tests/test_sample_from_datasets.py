"""`Dataset.sample_from_datasets`."""

import pickle

import numpy as np
import pytest
from conftest import golden
from laws import check_laws

import headrace as hr

ORDERS = [c for c in golden("random_orders.json")["cases"] if c["op"] == "sample_from_datasets"]
MIXES = {case["name"]: case["epochs"] for case in golden("mixes.json")["cases"]}
Dataset = hr.Dataset


def ints(dataset):
    return [int(x) for x in dataset]


def sample(seed, **options):
    ranges = [Dataset.range(0, 12), Dataset.range(100, 115), Dataset.range(200, 209)]
    return Dataset.sample_from_datasets(ranges, seed=seed, **options)


def shuffled(seed):
    return Dataset.range(20).shuffle(7, seed=seed)


def each_weight():
    rows = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 1.0], [5.0, 0.1, 0.0]], np.float32)
    return Dataset.from_tensor_slices(rows).repeat(6)


def twice_the_same():
    both = shuffled(3)
    return Dataset.sample_from_datasets([both, both], seed=4)


def with_global_seed():
    hr.set_seed(11)
    return sample(None, weights=[0.3, 0.5, 0.2])


BUILT = {
    "float64 weights": lambda: sample(5, weights=np.array([0.3, 0.5, 0.2])),
    "rerandomized": lambda: sample(5, rerandomize_each_iteration=True),
    "not rerandomized": lambda: sample(5, rerandomize_each_iteration=False),
    "negative seed": lambda: sample(-3, weights=[0.3, 0.5, 0.2]),
    "weights for each draw": lambda: sample(5, weights=each_weight()),
    "weights for each draw, stopping": lambda: sample(
        5, weights=each_weight(), stop_on_empty_dataset=True
    ),
    "repeated": lambda: sample(5).repeat(2),
    "repeated, rerandomized": lambda: sample(5, rerandomize_each_iteration=True).repeat(2),
    "shuffled": lambda: sample(5).shuffle(9, seed=2),
    "of shuffled": lambda: Dataset.sample_from_datasets(
        [shuffled(1), shuffled(2).repeat(2)], [0.3, 0.7], seed=4
    ),
    "global seed 11": with_global_seed,
}


def _name(case):
    return f"{case['seed']}-{case['weights']}-{case['stop_on_empty_dataset']}"


@pytest.mark.parametrize("chunk_rows", [None, 1, 7])
@pytest.mark.parametrize("case", ORDERS, ids=_name)
def test_the_order_is_that_of_tf_data(case, chunk_rows):
    dataset = Dataset.sample_from_datasets(
        [Dataset.range(*limits) for limits in case["ranges"]],
        case["weights"],
        seed=case["seed"],
        stop_on_empty_dataset=case["stop_on_empty_dataset"],
    ).with_options(hr.Options(_chunk_rows=chunk_rows))
    assert [ints(dataset) for _ in case["epochs"]] == case["epochs"]


@pytest.mark.parametrize("name", [*BUILT, "twice the same shuffled"])
def test_mixes_of_every_kind_are_those_of_tf_data(name):
    dataset = BUILT.get(name, twice_the_same)()
    assert [ints(dataset), ints(dataset)] == MIXES[name]


@pytest.mark.parametrize("name", BUILT)
def test_the_laws_hold(name):
    check_laws(BUILT[name])


def test_the_laws_hold_of_python_sources():
    def mapped(n):
        return Dataset.range(n).map(lambda x: x * 2, executor="python")

    check_laws(lambda: Dataset.sample_from_datasets([mapped(9), mapped(7)], seed=3))
    check_laws(
        lambda: Dataset.sample_from_datasets([mapped(9), Dataset.range(7)], [0.2, 0.8], 3, True)
    )


def test_shares_tell_what_came_from_each_source():
    iterator = iter(sample(5, weights=[0.3, 0.5, 0.2]))
    seen = ints(iterator)
    mix = iterator.stats()[0]
    assert mix["name"] == "sample_from_datasets"
    assert mix["shares"] == [sum(x // 100 == k for x in seen) for k in range(3)]
    assert "shares" not in iterator.stats()[1]


def test_shares_follow_the_weights():
    sources = [Dataset.from_tensors(k).repeat() for k in range(3)]
    mix = iter(Dataset.sample_from_datasets(sources, [0.5, 0.3, 0.2], seed=1).take(10_000))
    counts = np.bincount(ints(mix))
    assert np.allclose(counts / 10_000, [0.5, 0.3, 0.2], atol=0.02)


def test_a_dataset_of_weight_zero_is_left_out():
    assert ints(sample(1, weights=[0.0, 1.0, 0.0])) == list(range(100, 115))
    assert ints(sample(1, weights=[0.0, 0.0, -1.0])) == []
    assert sample(1, weights=[0.0, 1.0, 0.0]).cardinality() == 15


def test_one_dataset_is_itself():
    dataset = Dataset.range(3)
    assert Dataset.sample_from_datasets([dataset]) is dataset


def test_without_a_seed_each_dataset_draws_otherwise_but_stays_so():
    first, second = sample(None), sample(None)
    assert ints(first) != ints(second)
    assert ints(first) == ints(first)


def test_shapes_are_widened():
    sources = [Dataset.from_tensors([1, 2]), Dataset.from_tensors([1, 2, 3])]
    mix = Dataset.sample_from_datasets(sources, seed=1)
    assert mix.element_spec == hr.TensorSpec((None,), np.int64)
    assert sorted(len(x) for x in mix) == [2, 3]
    sources[1] = Dataset.from_tensors(3)
    assert Dataset.sample_from_datasets(sources).element_spec == hr.TensorSpec(None, np.int64)


def test_an_endless_source_makes_the_mix_endless():
    endless = [Dataset.range(3).repeat(), Dataset.range(4)]
    for stop in (True, False):
        mix = Dataset.sample_from_datasets(endless, stop_on_empty_dataset=stop)
        assert mix.cardinality() == hr.INFINITE_CARDINALITY
    assert sample(1).cardinality() == hr.UNKNOWN_CARDINALITY


def test_pickling_keeps_the_seeds_and_where_they_are():
    dataset = sample(5, rerandomize_each_iteration=True)
    next(iter(dataset))
    copy = pickle.loads(pickle.dumps(dataset))
    assert ints(copy) == MIXES["rerandomized"][1] == ints(dataset)
    unseeded = sample(None)
    assert ints(pickle.loads(pickle.dumps(unseeded))) == ints(unseeded)


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        ([1.0], ValueError, "same length as `datasets`"),
        ([1, 2], TypeError, "either float32 or float64"),
        (["a", "b"], TypeError, "either float32 or float64"),
        ([[1.0], [1.0]], ValueError, "one number for each dataset"),
        (np.array([1, 2], np.float16), TypeError, "float16"),
        (Dataset.from_tensors([1, 1]), ValueError, "float32 or float64"),
        (Dataset.from_tensors((1.0, 1.0)), ValueError, "float32 or float64"),
    ],
)
def test_weights_that_are_none_are_refused(weights, error, text):
    with pytest.raises(error, match=text):
        Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(4)], weights)


def test_datasets_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="should not be empty"):
        Dataset.sample_from_datasets([])
    with pytest.raises(TypeError, match="must have compatible element specs"):
        Dataset.sample_from_datasets([Dataset.range(3), Dataset.from_tensors(1.0)])
    with pytest.raises(TypeError, match="Expected datasets, got 5"):
        Dataset.sample_from_datasets([Dataset.range(3), 5])
    with pytest.raises(TypeError, match="list of datasets"):
        Dataset.sample_from_datasets(Dataset.range(3))


def test_draws_without_any_weight_are_errors():
    weights = Dataset.from_tensors(np.zeros(2)).repeat(2)
    mix = iter(Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(3)], weights))
    with pytest.raises(hr.errors.InvalidArgumentError, match="selector index out of range: 2 >= 2"):
        next(mix)


def test_explain_shows_the_mix():
    text = sample(5, weights=[0.3, 0.5, 0.2]).explain()
    assert text.startswith("sample_from_datasets(")
    assert text.count("range(") == 3
    assert "injected" not in text


def test_who_is_chosen_first_draws_first():
    inner = hr.Dataset.range(2).shuffle(2, seed=0)
    outer = hr.Dataset.range(1).flat_map(lambda x: inner)
    mixed = hr.Dataset.sample_from_datasets(
        [outer, outer.skip(1)],
        [0.7, 0.3],
        seed=0,
        stop_on_empty_dataset=False,
        rerandomize_each_iteration=False,
    )
    # As TensorFlow has them: the second dataset is chosen first.
    assert [list(mixed) for _ in range(3)] == [[1, 1, 0], [0, 0, 1], [0, 0, 1]]
