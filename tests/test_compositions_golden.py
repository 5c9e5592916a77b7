"""Pipelines put together at random give tf.data's elements, errors and cardinalities."""

import numpy as np
import pytest
from conftest import golden

import headrace as hr

VECTORS = golden("compositions.json")


def fail_on(dataset, modulus, rest):
    def function(x):
        if x % modulus == rest:
            raise ValueError(f"no {x}")
        return x

    return dataset.map(function, output_signature=hr.TensorSpec((), np.int64))


def values(batch):
    return batch.values


APPLY = {
    "map": lambda d, m: d.map(lambda x: x * m),
    "filter": lambda d, m: d.filter(lambda x: x % m != 1),
    "fail_on": fail_on,
    "take_while": lambda d, m: d.take_while(lambda x: x < m),
    "scan": lambda d: d.scan(0, lambda s, x: (s + x, s + x)),
    "batch": lambda d, n, drop: d.batch(n, drop).unbatch(),
    "padded_batch": lambda d, n, drop: d.padded_batch(n, drop_remainder=drop).unbatch(),
    "ragged_batch": lambda d, n, drop: d.ragged_batch(n, drop).unbatch(),
    "sparse_batch": lambda d, n: d.sparse_batch(n, []).map(values, executor="python").unbatch(),
    "rebatch": lambda d, n, sizes, drop: d.batch(n).rebatch(sizes, drop).unbatch(),
    "concatenate": lambda d, n: d.concatenate(hr.Dataset.range(n)),
    "enumerate": lambda d, start: d.enumerate(start).map(lambda i, x: i * 10 + x),
}


def build(case):
    dataset = hr.Dataset.range(case["range"])
    for name, *arguments in case["steps"]:
        apply = APPLY.get(name) or (lambda d, *args, name=name: getattr(d, name)(*args))
        dataset = apply(dataset, *arguments)
    return dataset


def outcomes(dataset):
    iterator, seen = iter(dataset), []
    while len(seen) < 400:
        try:
            seen.append(next(iterator).item())
        except StopIteration:
            break
        except ValueError:
            seen.append("error")
    return seen


@pytest.mark.parametrize("part", range(6))
def test_the_outcomes_are_those_of_tf_data(part):
    for case in VECTORS["cases"][part::6]:
        dataset = build(case)
        assert outcomes(dataset) == case["outcomes"], case["steps"]
        assert dataset.cardinality() == case["cardinality"], case["steps"]
