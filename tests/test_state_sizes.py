"""How long states are, and cases of checkpoints that users of such libraries were bitten by."""

import itertools
import json

import numpy as np
import pytest

import headrace as hr

KIB = 1024


def as_python(x):
    return x if x.item() >= 0 else -x


def resumes(build, limit=None, positions=None):
    """Check that `build()` goes on from each of the positions; return the longest state."""
    expected = [np.asarray(x).tolist() for x in itertools.islice(build(), limit)]
    longest = 0
    iterator = iter(build())
    for position in range(len(expected) + 1):
        if positions is None or position in positions:
            state = iterator.state()
            json.loads(state)
            longest = max(longest, len(state))
            rest = itertools.islice(build().iterator(state), len(expected) - position)
            assert [np.asarray(x).tolist() for x in rest] == expected[position:]
        if position < len(expected):
            next(iterator)
    return longest


def test_a_state_after_each_element_of_a_shuffle_gives_the_rest():
    assert resumes(lambda: hr.Dataset.range(10).shuffle(5, seed=1)) < 4 * KIB


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (hr.TFRecordDataset("b").shuffle(5, seed=1), "filenames"),
        (hr.TFRecordDataset("a").shuffle(5, seed=2), "seed"),
        (hr.TFRecordDataset("a").take(5), "take"),
    ],
)
def test_a_state_of_another_pipeline_is_refused_by_name(other, named):
    state = iter(hr.TFRecordDataset("a").shuffle(5, seed=1)).state()
    with pytest.raises(hr.errors.InvalidArgumentError, match=named):
        other.iterator(state)


def test_there_is_no_loading_into_an_iterator_that_has_begun():
    iterator = iter(hr.Dataset.range(10))
    for _ in range(4):
        next(iterator)
    assert next(hr.Dataset.range(10).iterator(iterator.state())) == 4
    assert not [name for name in dir(iterator) if "load" in name or "restore" in name]


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("ahead", [0, 2, hr.AUTOTUNE])
@pytest.mark.parametrize("calls", [None, 1, 2, 8, hr.AUTOTUNE])
def test_batches_are_the_same_whatever_runs_beside_or_ahead(calls, ahead, drop):
    def build():
        dataset = hr.Dataset.range(100).map(as_python, num_parallel_calls=calls)
        dataset = dataset.batch(8, drop_remainder=drop, num_parallel_calls=calls)
        return dataset.prefetch(ahead) if ahead else dataset

    batches = list(build())
    assert [len(batch) for batch in batches] == [8] * 12 + [4] * (not drop)
    resumes(build, positions=(0, 5, 12))


@pytest.fixture
def long_records(tmp_path):
    paths = [str(tmp_path / name) for name in "abc"]
    for path in paths:
        with hr.io.TFRecordWriter(path) as writer:
            for number in range(40):
                writer.write(number.to_bytes(4, "big") + bytes(100_000))
    return paths


def test_states_hold_no_records(long_records):
    def first_bytes(shuffled):
        records = hr.TFRecordDataset(long_records)
        return (records.shuffle(10_000, seed=3) if shuffled else records).map(
            lambda record: int.from_bytes(record[:4], "big"), executor="python"
        )

    for shuffled in (False, True):
        longest = resumes(lambda shuffled=shuffled: first_bytes(shuffled), positions=(0, 7, 119))
        assert longest < 4 * KIB


def test_twenty_steps_with_seeds_and_functions_take_four_kib():
    def build():
        dataset = hr.Dataset.range(40)
        for _ in range(9):
            dataset = dataset.shuffle(10).map(as_python, num_parallel_calls=2)
        return dataset.repeat()

    iterator = iter(build())
    for _ in range(100):
        assert len(iterator.state()) <= 4 * KIB
        next(iterator)


@pytest.mark.parametrize("count", [40, 300])
def test_a_mix_of_many_sources_takes_64_bytes_for_each(count):
    sources = [
        hr.Dataset.range(50 + i).shuffle(10).map(lambda x: x + 1).repeat() for i in range(count)
    ]
    mix = hr.Dataset.sample_from_datasets(sources)
    iterator = iter(mix)
    for _ in range(3):
        state = iterator.state()
        assert len(state) <= 4 * KIB + 64 * count
        expected = [next(iterator) for _ in range(60)]
        assert list(itertools.islice(mix.iterator(state), 60)) == expected


def range_with_python_map(i):
    return hr.Dataset.range(i, i + 50).map(lambda x: as_python(x) + i, executor="python")


def shuffled_with_python_map(i):
    mapped = hr.Dataset.range(9).shuffle(10).map(lambda x: as_python(x) + i, executor="python")
    return mapped.repeat()


def unlike_in_everything(i):
    dataset = hr.Dataset.range(i, i + 70 + i, 1 + i % 7).shuffle(7 + i, seed=i)
    dataset = dataset.map(lambda x: x * i + 2).skip(i % 5).take(60 + i % 7)
    return dataset.map(lambda x: as_python(x) + i, executor="python").enumerate(i).repeat()


@pytest.mark.parametrize("count", [100, 1000])
@pytest.mark.parametrize(
    "source",
    [range_with_python_map, shuffled_with_python_map, unlike_in_everything],
)
def test_a_source_takes_64_bytes_whatever_is_its_own(source, count):
    sources = [source(i) for i in range(count)]
    for mix in (
        hr.Dataset.sample_from_datasets(sources, weights=[1 / count] * count),
        hr.Dataset.choose_from_datasets(sources, hr.Dataset.range(count).shuffle(count).repeat()),
        hr.Dataset.range(count).interleave(sources.__getitem__, cycle_length=count),
    ):
        iterator = iter(mix)
        for _ in range(2):
            for _ in range(3 * count):
                next(iterator)
            assert len(iterator.state()) <= 4 * KIB + 64 * count
        again = mix.iterator(iterator.state())
        for expected in itertools.islice(iterator, 20):
            np.testing.assert_equal(next(again), expected)


def test_an_argument_of_one_source_of_many_is_named():
    def mix(changed=None):
        sources = [unlike_in_everything(i) for i in range(200)]
        if changed is not None:
            sources[150] = changed
        return hr.Dataset.sample_from_datasets(sources, seed=1)

    state = iter(mix()).state()
    assert "packed" in state
    for changed, named in [
        (unlike_in_everything(151), "argument start of stage"),
        (hr.Dataset.range(5), "stage"),
    ]:
        with pytest.raises(hr.errors.InvalidArgumentError, match=named):
            mix(changed).iterator(state)


def test_many_openings_of_a_captured_shuffle_take_little():
    inner = hr.Dataset.range(4).shuffle(4)
    dataset = hr.Dataset.range(5000).interleave(lambda x: inner, cycle_length=3)
    iterator = iter(dataset)
    for _ in range(6000):
        next(iterator)
    state = iterator.state()
    assert len(state) < 4 * KIB
    expected = [next(iterator) for _ in range(50)]
    assert list(itertools.islice(dataset.iterator(state), 50)) == expected


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "1e999", '{"version":1}', '{"version":3,"sum":"","state":{}}',
     "[" * 10**5, '{"version":3,"sum":"0","packed":"AAAA"}', "x" * 2_000_000],
)  # fmt: skip
def test_what_is_no_state_is_refused(text):
    with pytest.raises(hr.errors.InvalidArgumentError, match="not the state of an iterator"):
        hr.Dataset.range(3).iterator(text)


def test_a_state_that_was_cut_or_edited_is_refused():
    dataset = hr.Dataset.range(100).shuffle(7, seed=1).repeat(3)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.state()
    # Spaces and line ends do not matter.
    assert next(dataset.iterator(json.dumps(json.loads(state), indent=2))) == next(iterator)
    for wrong in (state[:-5], state[1:], state.replace('"since":1', '"since":2')):
        assert wrong != state
        with pytest.raises(hr.errors.InvalidArgumentError, match="not the state"):
            dataset.iterator(wrong)
