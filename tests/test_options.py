"""Options."""

import copy
import json
import pickle

import pytest

import headrace as hr


def test_an_unknown_property_is_refused():
    with pytest.raises(AttributeError, match="Cannot set the property foo on Options"):
        hr.Options().foo = 1
    with pytest.raises(AttributeError, match="Cannot set the property foo on ThreadingOptions"):
        hr.Options().threading.foo = 1


@pytest.mark.parametrize("value", [1, "yes", object])
def test_a_value_of_the_wrong_type_is_refused(value):
    with pytest.raises(TypeError, match='Property "deterministic" must be of type'):
        hr.Options().deterministic = value


def test_a_bool_is_no_number_of_threads():
    with pytest.raises(TypeError, match="private_threadpool_size"):
        hr.Options().threading.private_threadpool_size = True


def test_the_later_options_win():
    first = hr.Options(deterministic=True)
    first.threading.private_threadpool_size = 3
    second = hr.Options(deterministic=False)
    merged = first.merge(second)
    assert merged.deterministic is False
    assert merged.threading.private_threadpool_size == 3
    assert first.deterministic is True


def test_datasets_merge_the_options_of_their_inputs():
    left = hr.Dataset.range(3).with_options(hr.Options(deterministic=False))
    right = hr.Dataset.range(3)
    assert hr.Dataset.zip(left, right).map(lambda a, b: a).options().deterministic is False
    assert left.with_options(hr.Options(deterministic=True)).options().deterministic is True


def test_changing_options_later_changes_no_dataset():
    options = hr.Options(deterministic=False)
    dataset = hr.Dataset.range(3).with_options(options)
    options.deterministic = True
    assert dataset.options().deterministic is False


def test_only_options_are_options():
    with pytest.raises(TypeError, match="must be an Options"):
        hr.Dataset.range(3).with_options({"deterministic": True})


def test_options_are_compared_printed_copied_and_pickled():
    options = hr.Options(deterministic=False)
    options.threading.private_threadpool_size = 2
    assert options == copy.deepcopy(options) == pickle.loads(pickle.dumps(options))
    assert options != hr.Options()
    text = "Options(deterministic=False, threading=ThreadingOptions(private_threadpool_size=2))"
    assert repr(options) == text


def test_json_says_what_is_set():
    options = hr.Options(_chunk_rows=7)
    options.experimental_optimization.inject_prefetch = True
    assert json.loads(options.to_json()) == {
        "chunk_rows": 7,
        "optimization": {"inject_prefetch": True},
    }
    assert hr.Options().to_json() == "{}"
