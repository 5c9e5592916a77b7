"""`pack`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import check_laws

import headrace as hr

Dataset = hr.Dataset


def _sequences(lengths, dtype=np.int64):
    def generate():
        for number, n in enumerate(lengths):
            yield np.full(n, number + 1, dtype)

    return Dataset.from_generator(generate, output_signature=hr.TensorSpec([None], dtype))


def _reference(lengths, length, open_rows):
    rows, done = [], []
    for number, n in enumerate(lengths):
        if n == 0:
            continue
        fitting = [row for row in rows if sum(m for _, m in row) + n <= length]
        if not fitting:
            if len(rows) == open_rows:
                done.append(rows.pop(0))
            rows.append([])
            fitting = rows[-1:]
        fitting[0].append((number + 1, n))
    packed = []
    for row in done + rows:
        values = [v for v, n in row for _ in range(n)]
        segments = [i + 1 for i, (_, n) in enumerate(row) for _ in range(n)]
        positions = [p for _, n in row for p in range(n)]
        packed.append([part + [0] * (length - len(part)) for part in (values, segments, positions)])
    return packed


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=20), st.integers(6, 9), st.integers(1, 4))
def test_rows_are_those_of_a_plain_reference(lengths, length, open_rows):
    rows = _sequences(lengths).pack(length, open_rows)
    seen = [[part.tolist() for part in row] for row in rows]
    assert seen == _reference(lengths, length, open_rows)


def test_the_spec_and_the_dtypes():
    packed = _sequences([2, 3], np.float32).pack(4)
    assert packed.element_spec == (
        hr.TensorSpec([4], np.float32),
        hr.TensorSpec([4], np.int32),
        hr.TensorSpec([4], np.int32),
    )
    values, segment_ids, positions = next(iter(packed))
    assert (values.dtype, segment_ids.dtype, positions.dtype) == (np.float32, np.int32, np.int32)


def test_components_of_one_element_are_packed_alike():
    data = Dataset.from_tensors(
        {"x": np.arange(4).reshape(2, 2), "y": np.array([b"a", b"b"], object)}
    )
    ((packed, segment_ids, _),) = data.pack(3, padding_values={"x": -1, "y": b"-"})
    assert packed["x"].tolist() == [[0, 1], [2, 3], [-1, -1]]
    assert packed["y"].tolist() == [b"a", b"b", b"-"]
    assert segment_ids.tolist() == [1, 1, 0]


def test_what_does_not_fit_is_an_error_that_names_the_element():
    iterator = iter(_sequences([1, 9, 2]).pack(4))
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"sequence of 9 .*element 1"):
        next(iterator)
    assert [row[1].tolist() for row in iterator] == [[1, 2, 2, 0]]
    uneven = Dataset.from_tensors((np.arange(2), np.arange(3)))
    with pytest.raises(hr.errors.InvalidArgumentError, match="of one length"):
        list(uneven.pack(4))


def test_arguments_are_checked():
    with pytest.raises(hr.errors.InvalidArgumentError, match="length"):
        _sequences([1]).pack(0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="open_rows"):
        _sequences([1]).pack(4, 0)
    with pytest.raises(hr.errors.InvalidArgumentError, match="dense sequences"):
        Dataset.range(3).pack(4)


@pytest.mark.parametrize("open_rows", [1, 3])
def test_the_laws_hold(open_rows):
    check_laws(lambda: _sequences([3, 1, 4, 1, 5, 2, 0, 6, 5]).pack(6, open_rows))


def test_the_laws_hold_over_a_shuffle():
    rows = Dataset.from_tensor_slices(np.arange(24).reshape(12, 2))
    check_laws(lambda: rows.shuffle(12, seed=1).repeat(2).pack(5, 2).map(lambda x, s, p: x + s * p))
