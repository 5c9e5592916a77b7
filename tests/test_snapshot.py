"""`Dataset.snapshot`: a cache in files that knows its pipeline."""

import numpy as np
import pytest
from conftest import assert_same_elements
from laws import check_laws
from test_cache import ELEMENTS, counted

import headrace as hr


@pytest.mark.parametrize("compression", ["AUTO", None, "GZIP"])
def test_later_passes_read_what_the_first_one_made(compression, tmp_path):
    dataset, made = counted()
    kept = dataset.snapshot(tmp_path, compression)
    assert list(kept) == list(kept) == list(range(5))
    assert made == list(range(5))


def test_a_pass_left_early_keeps_nothing(tmp_path):
    dataset, made = counted()
    kept = dataset.snapshot(tmp_path)
    next(iter(kept))
    assert list(kept) == list(range(5))
    assert made == [0, 0, 1, 2, 3, 4]


def test_pipelines_are_told_apart(tmp_path):
    def read(values):
        return list(hr.Dataset.from_tensor_slices(values).snapshot(tmp_path))

    assert read([1, 2, 3]) == [1, 2, 3]
    assert read([4, 5, 6]) == [4, 5, 6]
    assert list(hr.Dataset.range(3).map(lambda x: x + 1).snapshot(tmp_path)) == [1, 2, 3]
    assert list(hr.Dataset.range(3).map(lambda x: x + 2).snapshot(tmp_path)) == [2, 3, 4]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_like_pipeline_reads(tmp_path):
    def build():
        return hr.Dataset.range(9).shuffle(9).snapshot(tmp_path)

    assert list(build()) == list(build())


def test_a_second_writer_makes_the_elements_itself(tmp_path):
    kept = hr.Dataset.range(5).snapshot(tmp_path)
    first = iter(kept)
    next(first)
    assert list(kept) == list(range(5))
    assert list(first) == [1, 2, 3, 4]
    assert list(kept) == list(range(5))


@pytest.mark.parametrize("kind", ELEMENTS)
def test_elements_of_every_kind_come_back(kind, tmp_path):
    expected = list(ELEMENTS[kind]())
    kept = ELEMENTS[kind]().snapshot(tmp_path)
    assert_same_elements(list(kept), expected)
    assert_same_elements(list(kept), expected)


def test_arguments_are_checked(tmp_path):
    with pytest.raises(hr.errors.InvalidArgumentError, match="compression"):
        hr.Dataset.range(1).snapshot(tmp_path, "ZIP")
    with pytest.raises(hr.errors.UnimplementedError, match="reader_func"):
        hr.Dataset.range(1).snapshot(tmp_path, reader_func=lambda d: d)
    assert hr.Dataset.range(1).snapshot(tmp_path).element_spec == hr.TensorSpec((), np.int64)


def test_the_laws_hold(tmp_path):
    check_laws(lambda: hr.Dataset.range(9).shuffle(5, seed=1).snapshot(tmp_path / "a").repeat(2))
    check_laws(lambda: hr.Dataset.range(9).map(lambda x: int(x)).snapshot(tmp_path / "b").batch(2))
    check_laws(lambda: hr.Dataset.range(9).snapshot(tmp_path / "c", None).shuffle(3, seed=1))
