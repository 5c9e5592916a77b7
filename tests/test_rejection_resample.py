"""`Dataset.rejection_resample`."""

import pickle

import numpy as np
import pytest
from conftest import golden
from laws import check_laws

import headrace as hr

CASES = golden("rejection_resample.json")["cases"]
CLASSES = np.array(CASES[0]["input_classes"], np.int32)
Dataset = hr.Dataset
TARGET, INITIAL = [0.2, 0.3, 0.5], [0.4, 0.35, 0.25]


def third(x):
    return x % 3


def pairs(dataset):
    return [(int(label), int(element)) for label, element in dataset]


def resampled(n=60, initial=INITIAL, **options):
    options.setdefault("seed", 5)
    return Dataset.range(n).rejection_resample(third, TARGET, initial, **options)


@pytest.mark.parametrize("chunk_rows", [None, 1, 7])
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['initial_dist']}-{c['seed']}")
def test_the_elements_are_those_of_tf_data(case, chunk_rows):
    dataset = Dataset.from_tensor_slices(CLASSES).rejection_resample(
        lambda x: x, case["target_dist"], case["initial_dist"], seed=case["seed"]
    )
    seen = pairs(dataset.with_options(hr.Options(_chunk_rows=chunk_rows)))
    labels = [label for label, _ in seen]
    assert len(seen) == case["output_count"]
    assert labels[: len(case["output_classes"])] == case["output_classes"]
    assert np.allclose(np.bincount(labels) / len(labels), case["output_fractions"])
    assert pairs(dataset) == seen


def test_elements_of_a_tuple_stay_together():
    numbers = Dataset.range(30)
    both = Dataset.zip(numbers, numbers).rejection_resample(
        lambda a, b: (a + b) % 3, TARGET, INITIAL, seed=1
    )
    assert both.element_spec[1] == Dataset.zip(numbers, numbers).element_spec
    assert all(label == (a + b) % 3 for label, (a, b) in both)
    alone = numbers.map(lambda x: (x,)).rejection_resample(third, TARGET, INITIAL, seed=1)
    assert all(isinstance(x, tuple) and label == x[0] % 3 for label, x in alone)


def test_classes_of_python_functions():
    calls = []

    def label(x):
        calls.append(int(x))
        return int(x) % 3

    dataset = Dataset.range(60).rejection_resample(label, TARGET, INITIAL, seed=5)
    assert dataset.element_spec == hr.UnknownSpec()
    assert calls == []
    assert pairs(dataset) == pairs(resampled())
    assert calls


def test_a_dataset_that_is_as_wanted_stays_as_it_is():
    dataset = Dataset.range(9).rejection_resample(third, TARGET, TARGET)
    assert pairs(dataset) == [(x % 3, x) for x in range(9)]
    assert dataset.cardinality() == 9


def test_a_class_that_is_not_wanted_does_not_come():
    dataset = Dataset.range(90).rejection_resample(third, [0.0, 0.5, 0.5], [0.2, 0.3, 0.5], seed=5)
    assert pairs(dataset)[:4] == [(1, 1), (2, 2), (1, 4), (2, 5)]
    assert {label for label, _ in dataset} == {1, 2}
    assert dataset.cardinality() == hr.UNKNOWN_CARDINALITY


def test_estimates_lead_to_the_target():
    labels = [label for label, _ in resampled(6000, initial=None)]
    assert np.allclose(np.bincount(labels) / len(labels), TARGET, atol=0.03)


def test_shares_tell_what_was_taken_as_it_was():
    iterator = iter(resampled())
    seen = pairs(iterator)
    assert sum(iterator.stats()[0]["shares"]) == len(seen)


def test_a_class_out_of_range_is_an_error():
    dataset = Dataset.range(9).rejection_resample(lambda x: x, TARGET, INITIAL, seed=5)
    with pytest.raises(hr.errors.InvalidArgumentError, match="class from 0 to 2, got 3"):
        list(dataset)


@pytest.mark.parametrize("initial", [INITIAL, None], ids=["given", "estimated"])
def test_the_laws_hold(initial):
    check_laws(lambda: resampled(initial=initial))
    check_laws(lambda: resampled(initial=initial).repeat(2))
    shuffled = lambda: Dataset.range(20).shuffle(9, seed=1).repeat(3)  # noqa: E731
    check_laws(lambda: shuffled().rejection_resample(third, TARGET, initial, seed=3))
    check_laws(
        lambda: shuffled().rejection_resample(third, TARGET, initial, seed=3, executor="python")
    )


@pytest.mark.parametrize("initial", [INITIAL, None, [0.2, 0.0, 0.8]])
@pytest.mark.parametrize("seed", [4, None])
def test_pickling_keeps_the_seeds(initial, seed):
    dataset = resampled(initial=initial, seed=seed)
    assert pairs(pickle.loads(pickle.dumps(dataset))) == pairs(dataset)


@pytest.mark.parametrize(
    ("target", "initial", "error", "text"),
    [
        (TARGET, [0.4, 0.6], hr.errors.InvalidArgumentError, "`initial_dist` has 2 classes"),
        ([TARGET], INITIAL, ValueError, "`target_dist` must have one number a class"),
        ("a", None, TypeError, "`target_dist` must be a vector of numbers"),
    ],
)
def test_distributions_that_are_none_are_refused(target, initial, error, text):
    with pytest.raises(error, match=text):
        Dataset.range(9).rejection_resample(third, target, initial)


def test_classes_that_are_no_integers_are_refused():
    with pytest.raises(hr.errors.InvalidArgumentError, match="expected an integer scalar as class"):
        Dataset.range(9).rejection_resample(lambda x: x / 3, TARGET, INITIAL)
    with pytest.raises(hr.errors.InvalidArgumentError, match="expected an integer scalar as class"):
        list(Dataset.range(9).rejection_resample(lambda x: [x], TARGET, executor="python"))


@pytest.mark.parametrize("initial", [None, [15 / 18, 3 / 18]])
def test_a_rare_class_of_an_endless_dataset_comes_half_of_the_time(initial):
    labels = np.array([0] * 15 + [1] * 3)
    dataset = Dataset.from_tensor_slices((labels, np.arange(18))).repeat()
    dataset = dataset.rejection_resample(lambda label, _: label, [0.5, 0.5], initial, seed=1)
    seen = [(int(label), int(own), int(row)) for label, (own, row) in dataset.take(20_000)]
    assert abs(np.mean([label for label, _, _ in seen]) - 0.5) < 0.02
    assert all(label == own == labels[row] for label, own, row in seen)


KINDS = {
    "datasets": lambda: Dataset.range(8).window(2),
    "optionals": lambda: Dataset.range(4).map(hr.Optional.from_value),
    "objects": lambda: Dataset.from_tensors(object()).repeat(4),
    "ragged": lambda: Dataset.from_tensor_slices([[1], [2]]).ragged_batch(1).repeat(2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("initial", [None, [1.0], [0.5, 0.5]])
def test_elements_of_every_kind_have_classes(kind, initial):
    dataset = KINDS[kind]()
    target = [0.9, 0.1] if initial == [0.5, 0.5] else [1.0]
    chosen = dataset.rejection_resample(lambda _: 0, target, initial, seed=1)
    pairs = list(chosen)
    assert pairs
    assert all(label == 0 for label, _ in pairs)
    assert {type(element) for _, element in pairs} == {type(element) for element in dataset}
    if chosen.element_spec != hr.UnknownSpec():
        assert chosen.element_spec[1] == dataset.element_spec
