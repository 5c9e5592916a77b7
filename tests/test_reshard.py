"""Jobs whose shards go on as another number of shards: no element is lost or comes twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

InvalidArgument = hr.errors.InvalidArgumentError


class Rows:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return np.int64(index)


SOURCES = {
    "range": hr.Dataset.range,
    "from_tensor_slices": lambda n: hr.Dataset.from_tensor_slices(np.arange(n)),
    "from_source": lambda n: hr.Dataset.from_source(Rows(n)),
    "global shuffle": lambda n: hr.Dataset.range(n).shuffle(None, seed=3),
    "shuffle": lambda n: hr.Dataset.range(n).shuffle(7, seed=3),
}
JOBS = {
    "plain": lambda d: d,
    "map": lambda d: d.map(lambda x: x + 100, num_parallel_calls=2).map(lambda x: x - 100),
    "prefetch": lambda d: d.prefetch(3),
}


def job(source, steps, length, count, index):
    return JOBS[steps](SOURCES[source](length).shard(count, index))


def taken(iterator, count):
    return [int(x) for _, x in zip(range(count), iterator, strict=False)]


def all_states(iterators):
    return [iterator.state() for iterator in iterators]


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(SOURCES)),
    st.sampled_from(sorted(JOBS)),
    st.integers(1, 40),
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(0, 8),
    st.integers(0, 4),
)
def test_what_is_left_is_divided_anew(source, steps, length, before, after, read, ahead):
    """`read` elements of each shard, and one more of the first `ahead` shards, are read before."""
    order = taken(SOURCES[source](length), length)
    shards = [iter(job(source, steps, length, before, i)) for i in range(before)]
    seen = [taken(shard, read + (i < ahead)) for i, shard in enumerate(shards)]
    done = sum(map(len, seen))
    states = all_states(shards)
    resumed = [job(source, steps, length, after, i).iterator(state=states) for i in range(after)]
    assert [taken(shard, length) for shard in resumed] == [
        order[done + i :: after] for i in range(after)
    ]


def test_a_job_can_grow_and_shrink_again():
    def shard(count, index):
        return hr.Dataset.range(103).shuffle(None, seed=5).shard(count, index).batch(3)

    def advance(iterators, steps):
        return [x for it in iterators for _ in range(steps) for x in next(it).tolist()]

    order = taken(hr.Dataset.range(103).shuffle(None, seed=5), 103)
    iterators = [iter(shard(4, i)) for i in range(4)]
    seen = advance(iterators, 2)
    for count in (8, 1, 2):
        states = all_states(iterators)
        iterators = [shard(count, i).iterator(states) for i in range(count)]
        seen += advance(iterators, 1)
    assert sorted(seen) == sorted(order[: 24 + 24 + 3 + 6])
    rest = [x for it in iterators for batch in it for x in batch.tolist()]
    assert sorted(seen + rest) == list(range(103))
    # At the end, where last batches are short, nothing is left.
    states = all_states(iterators)
    assert [list(shard(3, i).iterator(states)) for i in range(3)] == [[], [], []]


def test_the_next_epoch_is_whole():
    def shard(count, index):
        dataset = hr.Dataset.range(24).shuffle(None, seed=5).shard(count, index)
        return dataset.map(lambda x: x * 10).repeat(3)

    iterators = [iter(shard(4, i)) for i in range(4)]
    first = [taken(it, 8) for it in iterators]
    assert all(len(set(part[:6])) == 6 for part in first)
    expected = [[int(next(it)) for _ in range(4)] for it in iterators]
    iterators = [iter(shard(4, i)) for i in range(4)]
    for it in iterators:
        taken(it, 8)
    states = all_states(iterators)
    resumed = [shard(2, i).iterator(states) for i in range(2)]
    rest = [taken(it, 100) for it in resumed]
    assert [len(part) for part in rest] == [8 + 12, 8 + 12]
    assert sorted(rest[0][:8] + rest[1][:8]) == sorted(x for part in expected for x in part)
    assert sorted(rest[0][8:] + rest[1][8:]) == [10 * x for x in range(24)]


def states_of(counts, build=lambda i: hr.Dataset.range(40).shard(4, i)):
    iterators = [iter(build(i)) for i in range(4)]
    for iterator, count in zip(iterators, counts, strict=True):
        taken(iterator, count)
    return all_states(iterators)


def resume(states, dataset=None):
    return (dataset or hr.Dataset.range(40).shard(8, 0)).iterator(states)


def test_shards_that_do_not_stand_level_are_refused():
    with pytest.raises(InvalidArgument, match="shard 3 has read 5 elements, and shard 2 3"):
        resume(states_of([3, 3, 3, 5]))


def test_states_of_some_shards_or_of_others_are_refused():
    states = states_of([2, 2, 2, 2])
    resume(states)
    for wrong in (states[:3], states[::-1], [*states, states[0]], []):
        with pytest.raises(InvalidArgument, match=r"order of their index|there are none"):
            resume(wrong)
    with pytest.raises(InvalidArgument, match=r"argument stop of stage 0 .range."):
        resume(states, hr.Dataset.range(41).shard(8, 0))
    with pytest.raises(InvalidArgument, match="no shard in the pipeline"):
        resume([iter(hr.Dataset.range(40)).state()], hr.Dataset.range(40))


def test_shards_in_different_orders_are_refused():
    def build(i):
        return hr.Dataset.range(40).shuffle(None).shard(4, i)

    with pytest.raises(InvalidArgument, match="seed"):
        resume(states_of([2] * 4, build), hr.Dataset.range(40).shuffle(None).shard(8, 0))


def test_steps_that_take_elements_in_no_fixed_number_are_refused():
    def build(count, i):
        return hr.Dataset.range(40).shard(count, i).filter(lambda x: x > 3)

    with pytest.raises(InvalidArgument, match="`filter` is above the shard"):
        resume(states_of([2] * 4, lambda i: build(4, i)), build(8, 0))


def test_epochs_below_the_shard_are_refused():
    def build(count, i):
        return hr.Dataset.range(8).repeat(9).shard(count, i)

    with pytest.raises(InvalidArgument, match="repeat above the shard"):
        resume(states_of([5] * 4, lambda i: build(4, i)), build(8, 0))
