"""Pipelines put together at random yield what plain Python makes of them.

Elements have a kind: numbers, rows of numbers, or tables of them. A step takes one kind and gives
one, to a dataset and to its reference alike.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import check_laws
from reference import Plan, add, add_up

import headrace as hr

NUMBER, ROW = "number", "row"


@dataclasses.dataclass
class Step:
    """One op on both sides."""

    name: str
    takes: str
    gives: str
    dataset: Callable
    reference: Callable

    def __repr__(self):
        return self.name


def step(name, dataset, reference, takes=NUMBER, gives=None):
    return Step(name, takes, gives or takes, dataset, reference)


def odd(x):
    return x % 2 == 1


def below_thirty(x):
    return x < 30


def as_python(x):
    return np.int64(int(x) * 2)


small = st.integers(0, 9)
size = st.integers(1, 6)
executor = st.sampled_from([None, "python"])
calls = st.sampled_from([None, 2, hr.AUTOTUNE])


def anywhere(kind):
    """Steps that leave elements as they are."""
    return [
        st.builds(
            lambda n: step(f"take({n})", lambda d: d.take(n), lambda p: p.take(n), kind),
            st.integers(-1, 12),
        ),
        st.builds(
            lambda n: step(f"skip({n})", lambda d: d.skip(n), lambda p: p.skip(n), kind), size
        ),
        st.builds(
            lambda n, i, equal: step(
                f"shard({n}, {i % n}, {equal})",
                lambda d: d.shard(n, i % n, equal=equal),
                lambda p: p.shard(n, i % n, equal),
                kind,
            ),
            st.integers(1, 4),
            small,
            st.sampled_from([None, "drop", "wrap"]),
        ),
        st.builds(
            lambda n: step(f"repeat({n})", lambda d: d.repeat(n), lambda p: p.repeat(n), kind),
            st.sampled_from([0, 2, 3]),
        ),
        st.builds(
            lambda n, seed, again: step(
                f"shuffle({n}, {seed}, {again})",
                lambda d: d.shuffle(n, seed, again),
                lambda p: p.shuffle(n, seed, again),
                kind,
            ),
            size,
            small,
            st.booleans(),
        ),
        st.builds(
            lambda n: step(f"prefetch({n})", lambda d: d.prefetch(n), lambda p: p.same(), kind),
            size,
        ),
        st.just(step("cache()", lambda d: d.cache(), lambda p: p.cache(), kind)),
        st.just(step("ignore_errors()", lambda d: d.ignore_errors(), lambda p: p.same(), kind)),
        st.builds(
            lambda n: step(
                f"concatenate(skip({n}))",
                lambda d: d.concatenate(d.skip(n)),
                lambda p: p.concatenate(p.skip(n)),
                kind,
            ),
            size,
        ),
        st.builds(
            lambda stop: step(
                f"choose_from_datasets({stop})",
                lambda d: hr.Dataset.choose_from_datasets(
                    [d, d.skip(2)], hr.Dataset.range(2).repeat(7), stop
                ),
                lambda p: Plan.choose([p, p.skip(2)], Plan.range(2).repeat(7), stop),
                kind,
            ),
            st.booleans(),
        ),
        st.builds(
            lambda seed, stop, again: step(
                f"sample_from_datasets({seed}, {stop}, {again})",
                lambda d: hr.Dataset.sample_from_datasets(
                    [d, d.skip(1)], [0.7, 0.3], seed, stop, again
                ),
                lambda p: Plan.sample([p, p.skip(1)], [0.7, 0.3], seed, stop, again),
                kind,
            ),
            small,
            st.booleans(),
            st.booleans(),
        ),
        st.builds(
            lambda n: step(
                f"enumerate({n})",
                lambda d: d.enumerate(n).map(lambda i, x: x + i),
                lambda p: p.enumerate(n).map(lambda pair: plus(pair[1], pair[0])),
                kind,
            ),
            small,
        ),
        st.builds(
            lambda n: step(
                f"map(x + 1, {n})",
                lambda d: d.map(lambda x: x + 1, num_parallel_calls=n),
                lambda p: p.map(lambda x: plus(x, 1)),
                kind,
            ),
            calls,
        ),
    ]


def summed(x):
    return sum(x) if isinstance(x, list) else x


def plus(x, number):
    return [plus(item, number) for item in x] if isinstance(x, list) else x + number


NUMBERS = [
    *anywhere(NUMBER),
    st.builds(
        lambda n: step(
            f"map(as_python, {n})",
            lambda d: d.map(
                as_python, num_parallel_calls=n, output_signature=hr.TensorSpec([], np.int64)
            ),
            lambda p: p.map(lambda x: x * 2),
        ),
        calls,
    ),
    st.builds(
        lambda e: step(
            f"filter(odd, {e})", lambda d: d.filter(odd, executor=e), lambda p: p.filter(odd)
        ),
        executor,
    ),
    st.builds(
        lambda e: step(
            f"take_while(< 30, {e})",
            lambda d: d.take_while(below_thirty, executor=e),
            lambda p: p.take_while(below_thirty),
        ),
        executor,
    ),
    st.builds(
        lambda e: step(
            f"scan(add_up, {e})",
            lambda d: d.scan(0, add_up, executor=e),
            lambda p: p.scan(0, add_up),
        ),
        executor,
    ),
    st.just(step("unique()", lambda d: d.unique(), lambda p: p.unique())),
    st.builds(
        lambda n: step(
            f"zip(range({n}))",
            lambda d: hr.Dataset.zip(d, hr.Dataset.range(n)).map(lambda x, y: x + y),
            lambda p: Plan.zip(p, Plan.range(n)).map(lambda pair: add(*pair)),
        ),
        size,
    ),
    st.just(
        step(
            "flat_map",
            lambda d: d.flat_map(lambda x: hr.Dataset.range(x % 4)),
            lambda p: p.flat_map(lambda x: Plan.range(x % 4)),
        )
    ),
    st.builds(
        lambda size, shift, stride, drop: step(
            f"window({size}, {shift}, {stride}, {drop})",
            lambda d: d.window(size, shift, stride, drop).flat_map(lambda window: window),
            lambda p: p.window(size, shift, stride, drop).flat_map(Plan.of),
        ),
        st.integers(1, 4),
        st.sampled_from([None, 1, 2, 5]),
        st.integers(1, 3),
        st.booleans(),
    ),
    st.builds(
        lambda n: step(
            f"group_by_window({n})",
            lambda d: d.group_by_window(
                lambda x: x % 3, lambda key, window: window.batch(n), window_size=n
            ),
            lambda p: p.group_by_window(lambda x: x % 3, n),
            NUMBER,
            ROW,
        ),
        st.integers(1, 4),
    ),
    st.builds(
        lambda cycle, block, n: step(
            f"interleave({cycle}, {block}, {n})",
            lambda d: d.interleave(
                lambda x: hr.Dataset.range(x, x + x % 4),
                cycle,
                block,
                num_parallel_calls=n and min(n, cycle),
            ),
            lambda p: p.interleave(lambda x: Plan.range(x, x + x % 4), cycle, block),
        ),
        st.integers(1, 4),
        st.integers(1, 3),
        calls,
    ),
    *(
        st.builds(
            lambda n, drop, op=op: step(
                f"{op}({n}, {drop})",
                lambda d: getattr(d, op)(n, drop_remainder=drop),
                lambda p: p.batch(n, drop),
                NUMBER,
                ROW,
            ),
            size,
            st.booleans(),
        )
        for op in ("batch", "padded_batch", "ragged_batch")
    ),
]
ROWS = [
    *anywhere(ROW),
    st.just(step("unbatch()", lambda d: d.unbatch(), lambda p: p.unbatch(), ROW, NUMBER)),
    st.just(step("map(sum)", lambda d: d.map(np.sum), lambda p: p.map(sum), ROW, NUMBER)),
    st.builds(
        lambda sizes, drop: step(
            f"rebatch({sizes}, {drop})",
            lambda d: d.rebatch(sizes, drop),
            lambda p: p.rebatch(sizes, drop),
            ROW,
        ),
        st.lists(size, min_size=1, max_size=3),
        st.booleans(),
    ),
    st.builds(
        lambda n, drop: step(
            f"padded_batch({n}, {drop}).unbatch()",
            lambda d: d.padded_batch(n, drop_remainder=drop).unbatch(),
            lambda p: p.padded_batch(n, drop).unbatch(),
            ROW,
        ),
        size,
        st.booleans(),
    ),
    st.builds(
        lambda n: step(
            f"ragged_batch({n}).unbatch()",
            lambda d: d.ragged_batch(n).unbatch(),
            lambda p: p.same(),
            ROW,
        ),
        size,
    ),
]
STEPS = {NUMBER: st.one_of(NUMBERS), ROW: st.one_of(ROWS)}


@st.composite
def pipelines(draw, most=6):
    count, kind, steps = draw(st.integers(0, 14)), NUMBER, []
    for _ in range(draw(st.integers(1, most))):
        steps.append(draw(STEPS[kind]))
        kind = steps[-1].gives
    return count, steps


def built(count, steps):
    dataset, plan = hr.Dataset.range(count), Plan.range(count)
    for each in steps:
        dataset, plan = each.dataset(dataset), each.reference(plan)
    return dataset.take(150), plan.take(150)


def plain(element):
    return element.tolist()


@settings(max_examples=200)
@given(pipelines())
def test_elements_are_those_of_the_reference(pipeline):
    dataset, plan = built(*pipeline)
    for _ in range(2):  # a second pass draws anew, and may read a cache
        expected = list(plan)
        assert [plain(element) for element in dataset] == expected
        assert dataset.cardinality() in (len(expected), hr.UNKNOWN_CARDINALITY)


@settings(max_examples=40)
@given(pipelines())
def test_sums_are_those_of_the_reference(pipeline):
    dataset, plan = built(*pipeline)
    total = dataset.map(np.sum).reduce(0, lambda state, x: state * 3 % 1009 + x)
    assert total == plan.map(summed).reduce(0, lambda state, x: state * 3 % 1009 + x)


@settings(max_examples=25)
@given(pipelines())
def test_the_laws_hold_for_them(pipeline):
    check_laws(lambda: built(*pipeline)[0])


@pytest.mark.parametrize("kind", STEPS)
def test_every_step_is_like_its_reference_alone(kind):
    @settings(max_examples=60)
    @given(STEPS[kind])
    def check(each):
        steps = [each] if kind == NUMBER else [BATCHED, each]
        dataset, plan = built(11, steps)
        assert [plain(element) for element in dataset] == list(plan)

    check()


BATCHED = step("batch(3)", lambda d: d.batch(3), lambda p: p.batch(3, False), NUMBER, ROW)
