"""`Dataset.zip`, `concatenate`, `enumerate`, `unbatch` and `prefetch`."""

import time

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr


def test_zip_takes_arguments_a_tuple_or_a_nest():
    a, b = hr.Dataset.range(3), hr.Dataset.range(10, 12)
    assert list(hr.Dataset.zip(a, b)) == [(0, 10), (1, 11)]
    assert list(hr.Dataset.zip((a, b))) == [(0, 10), (1, 11)]
    assert list(hr.Dataset.zip(datasets={"a": a, "b": (b, a)}))[1] == {"a": 1, "b": (11, 1)}
    assert list(hr.Dataset.zip(a)) == [0, 1, 2]


def test_zip_refuses_what_is_no_nest_of_datasets():
    dataset = hr.Dataset.range(3)
    with pytest.raises(TypeError, match="at least one dataset"):
        hr.Dataset.zip()
    with pytest.raises(TypeError, match="cannot be set"):
        hr.Dataset.zip(dataset, datasets=dataset)
    with pytest.raises(TypeError, match="`list` is not supported"):
        hr.Dataset.zip([dataset, dataset])
    with pytest.raises(TypeError, match="`Dataset` objects"):
        hr.Dataset.zip(dataset, 3)


def test_concatenate_goes_on_with_the_other():
    dataset = hr.Dataset.range(2).concatenate(hr.Dataset.range(5, 7))
    assert [x.item() for x in dataset] == [0, 1, 5, 6]
    assert len(dataset) == 4


def test_concatenate_widens_shapes():
    first = hr.Dataset.from_tensors(np.zeros(2))
    both = first.concatenate(hr.Dataset.from_tensors(np.zeros(3)))
    assert both.element_spec == hr.TensorSpec((None,), np.float64)
    assert [x.shape for x in both] == [(2,), (3,)]


def test_concatenate_refuses_other_elements():
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        hr.Dataset.range(2).concatenate(hr.Dataset.range(2, output_type=np.int32))
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        hr.Dataset.range(2).concatenate(hr.Dataset.from_tensors((1,)))
    with pytest.raises(TypeError, match="must be a Dataset"):
        hr.Dataset.range(2).concatenate(3)


def test_enumerate_numbers_the_elements():
    dataset = hr.Dataset.from_tensor_slices(([1.5], ["a"])).enumerate(start=4)
    assert_same_elements(list(dataset), [(np.int64(4), (np.float64(1.5), "a"))])


def test_unbatch_undoes_batch():
    dataset = hr.Dataset.from_tensor_slices({"x": np.arange(5), "y": list("abcde")})
    assert_same_elements(list(dataset.batch(2).unbatch()), list(dataset))


def test_unbatch_refuses_scalars_and_differing_sizes():
    with pytest.raises(ValueError, match="scalar"):
        hr.Dataset.range(3).unbatch()
    with pytest.raises(ValueError, match="2 and 3"):
        hr.Dataset.from_tensors((np.zeros(2), np.zeros(3))).unbatch()


def test_unbatch_refuses_sizes_that_differ_in_the_run():
    spec = (hr.TensorSpec([None], np.int64), hr.TensorSpec([None], np.int64))
    dataset = hr.Dataset.from_generator(
        lambda: iter([([1, 2], [1, 2, 3])]), output_signature=spec
    ).unbatch()
    with pytest.raises(hr.errors.InvalidArgumentError, match="same batch size"):
        list(dataset)


def test_prefetch_changes_nothing_but_when():
    assert [x.item() for x in hr.Dataset.range(5).prefetch(2)] == [0, 1, 2, 3, 4]
    with pytest.raises(hr.errors.InvalidArgumentError, match="buffer_size"):
        hr.Dataset.range(3).prefetch(-2)


@pytest.mark.parametrize(("size", "ran"), [(4, {5, 6}), (0, {1})])
def test_prefetch_runs_ahead_as_far_as_asked(size, ran):
    calls = []

    def note(x):
        calls.append(x)
        return x

    iterator = iter(hr.Dataset.range(100).map(note).prefetch(size))
    next(iterator)
    time.sleep(0.3)
    assert len(calls) in ran


def test_prefetch_overlaps_producer_and_consumer():
    def slow(x):
        time.sleep(0.02)
        return x

    started = time.perf_counter()
    for _ in hr.Dataset.range(15).map(slow).prefetch(2):
        time.sleep(0.02)
    assert time.perf_counter() - started < 0.52


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.zip(hr.Dataset.range(20), hr.Dataset.range(13).batch(1)))
    check_laws(
        lambda: (
            hr.Dataset.range(9).concatenate(hr.Dataset.range(4)).concatenate(hr.Dataset.range(3))
        )
    )
    check_laws(lambda: hr.Dataset.range(20).enumerate(5))
    check_laws(lambda: hr.Dataset.range(20).batch(6).unbatch())
    check_laws(lambda: hr.Dataset.range(20).prefetch(3))
