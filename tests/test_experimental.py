"""`headrace.experimental`: transformations for `apply`."""

import headrace as hr
from headrace import experimental


def values(dataset):
    return [x.item() for x in dataset]


def test_its_functions_are_the_methods():
    batches = hr.Dataset.range(5).batch(2)
    assert values(batches.apply(experimental.unbatch())) == [0, 1, 2, 3, 4]
    numbered = hr.Dataset.range(2).apply(experimental.enumerate_dataset(start=3))
    assert [(i.item(), x.item()) for i, x in numbered] == [(3, 0), (4, 1)]


def test_cardinality_and_its_constants():
    numbers = hr.Dataset.range(3)
    assert experimental.cardinality(numbers) == 3
    assert experimental.cardinality(numbers.repeat()) == experimental.INFINITE_CARDINALITY
    unknown = numbers.filter(lambda x: x > 1)
    assert experimental.cardinality(unknown) == experimental.UNKNOWN_CARDINALITY
    assert experimental.AUTOTUNE == hr.AUTOTUNE
