"""`window`."""

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws

import headrace as hr

Dataset = hr.Dataset


def _reference(n, size, shift, stride, drop):
    shift = size if shift is None else shift
    windows = []
    for start in range(0, n, shift):
        window = [start + i * stride for i in range(size) if start + i * stride < n]
        if len(window) == size or not drop:
            windows.append(window)
    return windows


@pytest.mark.parametrize("n", [0, 1, 5, 10])
@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("shift", [None, 1, 3, 6])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("drop", [True, False])
def test_windows_are_those_of_a_plain_reference(n, size, shift, stride, drop):
    expected = _reference(n, size, shift, stride, drop)
    windows = Dataset.range(n).window(size, shift, stride, drop)
    assert [[int(x) for x in window] for window in windows] == expected
    assert len(windows) == len(expected)
    arrays = Dataset.range(n).window(size, shift, stride, drop, as_arrays=True)
    assert [array.tolist() for array in arrays] == expected


def test_each_component_is_a_dataset():
    data = Dataset.from_tensor_slices({"x": np.arange(4), "y": np.arange(8).reshape(4, 2)})
    windows = data.window(3)
    assert windows.element_spec == {
        "x": hr.DatasetSpec(hr.TensorSpec([], np.int64)),
        "y": hr.DatasetSpec(hr.TensorSpec([2], np.int64)),
    }
    first = next(iter(windows))
    assert list(first["x"]) == [0, 1, 2]
    assert_same_elements(list(first["y"]), list(np.arange(6).reshape(3, 2)))


def test_windows_are_flattened_into_batches():
    pairs = Dataset.from_tensor_slices((np.arange(5), np.arange(5) * 10))
    batches = pairs.window(2).flat_map(lambda a, b: Dataset.zip((a.batch(2), b.batch(2))))
    assert batches.element_spec == (hr.TensorSpec([None], np.int64),) * 2
    assert [(a.tolist(), b.tolist()) for a, b in batches] == [
        ([0, 1], [0, 10]),
        ([2, 3], [20, 30]),
        ([4], [40]),
    ]


def test_arrays_have_a_known_size_if_the_remainder_is_dropped():
    rows = Dataset.from_tensor_slices(np.zeros((7, 3), np.float32))
    spec = rows.window(2, drop_remainder=True, as_arrays=True).element_spec
    assert spec == hr.TensorSpec([2, 3], np.float32)
    assert rows.window(2, as_arrays=True).element_spec == hr.TensorSpec([None, 3], np.float32)


@pytest.mark.parametrize("name", ["size", "shift", "stride"])
def test_numbers_below_one_are_refused(name):
    numbers = {"size": 2, "shift": 1, "stride": 1} | {name: 0}
    with pytest.raises(hr.errors.InvalidArgumentError, match=f"{name} must be greater than zero"):
        Dataset.range(3).window(**numbers)


def test_an_error_stands_for_each_window_that_has_it():
    def fails(x):
        if x == 2:
            raise ValueError("no 2")
        return x

    iterator = iter(Dataset.range(5).map(fails).window(2, shift=1, as_arrays=True))
    seen = []
    for _ in range(5):
        try:
            seen.append(next(iterator).tolist())
        except (ValueError, hr.errors.HeadraceError):
            seen.append("error")
    assert seen == [[0, 1], "error", "error", [3, 4], [4]]


def test_a_window_holds_its_elements_and_no_more():
    rows = Dataset.from_tensor_slices(np.zeros((400, 1000), np.float32))
    iterator = iter(rows.map(lambda x: x + 1, executor="python").window(10, shift=5))
    for _ in range(50):
        next(iterator)
    (window,) = [stage for stage in iterator.stats() if stage["name"] == "window"]
    assert window["peak_bytes"] <= 10 * 4000


def _nested(dataset):
    return dataset.flat_map(lambda window: window.batch(10))


PLANS = {
    "arrays": lambda: Dataset.range(23).window(4, as_arrays=True),
    "overlapping arrays": lambda: Dataset.range(23).window(4, 1, 2, as_arrays=True),
    "datasets": lambda: _nested(Dataset.range(23).window(4, 3)),
    "of a shuffle": lambda: (
        Dataset.range(9).shuffle(9, seed=1).repeat(3).window(4, drop_remainder=True, as_arrays=True)
    ),
    "with gaps": lambda: Dataset.range(23).window(2, 5, as_arrays=True).repeat(2),
}


@pytest.mark.parametrize("name", PLANS)
def test_the_laws_hold(name):
    check_laws(PLANS[name])


def test_windows_as_arrays_are_batched():
    numbers = hr.Dataset.range(1, 11)
    windows = numbers.window(3, shift=1, drop_remainder=True, as_arrays=True)
    assert len(list(windows)) == len(windows) == 8
    assert next(iter(windows.batch(2))).tolist() == [[1, 2, 3], [2, 3, 4]]
    strided = numbers.window(3, shift=1, stride=2, drop_remainder=True, as_arrays=True)
    assert next(iter(strided)).tolist() == [1, 3, 5]


def test_windows_as_arrays_open_no_datasets():
    numbers = hr.Dataset.range(30)

    def steps(dataset):
        iterator = iter(dataset.batch(10))
        assert sum(len(batch) for batch in iterator) == 28
        return {row["name"]: row["elements"] for row in iterator.stats()}

    arrays = numbers.window(3, shift=1, drop_remainder=True, as_arrays=True)
    datasets = numbers.window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert "flat_map" in steps(datasets)
    expected = {"batch": 3, "window": 28, "range": 30}
    assert expected.items() <= steps(arrays).items() <= {**expected, "prefetch": 3}.items()
