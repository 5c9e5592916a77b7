"""`Dataset.random`: tf.data's pseudorandom numbers."""

import itertools

import numpy as np
import pytest
from conftest import golden
from laws import check_laws

import headrace as hr

CASES = [case for case in golden("random_orders.json")["cases"] if case["op"] == "random"]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda c: f"{c['seed']}-{c['rerandomize_each_iteration']}"
)
def test_numbers_are_those_of_tf_data(case):
    dataset = hr.Dataset.random(case["seed"], case["rerandomize_each_iteration"])
    for expected in case["epochs"]:
        assert list(itertools.islice(dataset, len(expected))) == expected


def test_numbers_are_int64_and_never_end():
    dataset = hr.Dataset.random()
    assert dataset.element_spec == hr.TensorSpec((), np.int64)
    assert dataset.cardinality() == hr.INFINITE_CARDINALITY
    assert list(dataset.take(5)) == list(dataset.take(5)) != list(hr.Dataset.random().take(5))


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.random(3), limit=30)
    check_laws(lambda: hr.Dataset.random(3, rerandomize_each_iteration=True).take(7).repeat(3))
    check_laws(lambda: hr.Dataset.random(3).batch(4), limit=20)
