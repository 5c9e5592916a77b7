"""Iterators and datasets as objects: protocol, states, options, text."""

import gc
import json
import threading
import weakref

import numpy as np
import pytest
from processes import wait_until

import headrace as hr


def test_iteration_ends_and_stays_ended():
    iterator = iter(hr.Dataset.range(1))
    assert next(iterator) == 0
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(iterator)


def test_get_next_raises_out_of_range_at_the_end():
    iterator = hr.Dataset.range(1).iterator()
    assert iterator.get_next() == 0
    with pytest.raises(hr.errors.OutOfRangeError, match="End of sequence"):
        iterator.get_next()


def test_as_numpy_iterator_is_an_iterator():
    iterator = hr.Dataset.range(2).as_numpy_iterator()
    assert isinstance(iterator, hr.Iterator)
    assert iterator.next() == 0


def test_a_closed_iterator_is_at_its_end():
    with hr.Dataset.range(5).iterator() as iterator:
        next(iterator)
    with pytest.raises((StopIteration, hr.errors.CancelledError)):
        next(iterator)
    iterator.close()


def test_stats_name_each_step():
    iterator = iter(hr.Dataset.range(10).batch(2))
    list(iterator)
    stats = iterator.stats()
    assert len(stats) >= 2


def test_a_state_is_json_and_small():
    iterator = iter(hr.Dataset.range(100).shuffle(50, seed=1).batch(2))
    next(iterator)
    state = iterator.state()
    assert len(state) < 4096
    json.loads(state)


def test_a_state_before_the_first_element_is_the_beginning():
    dataset = hr.Dataset.range(5).shuffle(5, seed=1)
    iterator = iter(dataset)
    assert list(dataset.iterator(iterator.state())) == list(iterator)


def test_a_state_of_another_pipeline_is_refused():
    state = iter(hr.Dataset.range(5).batch(2)).state()
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(hr.Dataset.range(5).iterator(state))
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(hr.Dataset.range(5).batch(3).iterator(state))
    with pytest.raises(hr.errors.InvalidArgumentError):
        next(hr.Dataset.range(5).iterator("not a state"))


def test_threads_share_an_iterator_without_losing_elements():
    iterator = iter(hr.Dataset.range(2000).map(lambda x: x + 1, num_parallel_calls=4))
    seen, lock = [], threading.Lock()

    def drain():
        for x in iterator:
            with lock:
                seen.append(x.item())

    threads = [threading.Thread(target=drain) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(200)
    assert sorted(seen) == list(range(1, 2001))


def test_what_a_generator_holds_is_freed():
    class Thing:
        pass

    def build():
        thing = Thing()

        def generate():
            while True:
                yield id(thing) and 1

        return weakref.ref(thing), hr.Dataset.from_generator(generate, np.int64).prefetch(2)

    alive, dataset = build()
    iterator = iter(dataset)
    next(iterator)
    iterator.close()
    del iterator, dataset

    def freed():
        gc.collect()
        return alive() is None

    wait_until(freed)  # a task of the prefetch may be on its way out


def test_a_dataset_is_true_and_has_a_length_if_known():
    assert hr.Dataset.range(0)
    assert len(hr.Dataset.range(3)) == 3
    with pytest.raises(TypeError, match="infinite"):
        len(hr.Dataset.range(3).repeat())


def test_a_dataset_is_made_by_sources_only():
    with pytest.raises(TypeError, match="source"):
        hr.Dataset()


def test_repr_names_the_op_and_the_spec():
    text = "<BatchDataset element_spec=TensorSpec(shape=(None,), dtype=int64)>"
    assert repr(hr.Dataset.range(3).batch(2)) == text


def test_apply_returns_what_the_function_returns():
    assert len(hr.Dataset.range(9).apply(lambda d: d.batch(2))) == 5
    with pytest.raises(TypeError, match=r"must return a headrace\.Dataset"):
        hr.Dataset.range(9).apply(lambda d: 3)


def test_explain_shows_the_tree():
    dataset = hr.Dataset.zip(hr.Dataset.range(3), hr.Dataset.range(4).shuffle(2, seed=1)).take(2)
    lines = dataset.explain().splitlines()
    assert [line.split("(")[0] for line in lines] == [
        "take",
        "└─ zip",
        "   ├─ range",
        "   └─ shuffle",
        "      └─ range",
    ]


def test_explain_shows_rewrites():
    dataset = hr.Dataset.range(3).repeat(1)
    assert "injected prefetch" in dataset.explain()
    assert "left out" in dataset.explain()
    options = hr.Options()
    options.experimental_optimization.inject_prefetch = False
    assert "injected prefetch" not in dataset.with_options(options).explain()
    assert "injected prefetch" not in dataset.shuffle(2).explain()


def test_a_dataset_is_not_iterated_in_a_trace():
    inner = hr.Dataset.range(3)
    dataset = hr.Dataset.range(2).map(lambda x: x + next(iter(inner)))
    assert "runs as Python" in dataset.explain()
    assert list(dataset) == [0, 1]
