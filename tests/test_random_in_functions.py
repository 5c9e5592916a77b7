"""Random numbers inside of functions: an element's own, however the pipeline runs."""

import functools
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from laws import check_laws

import headrace as hr
import headrace.tf as tf
from headrace.seeds import require

CALLS = [None, 1, 2, 16, hr.AUTOTUNE]


def noise(x):
    return (
        hr.random.uniform([2]),
        hr.random.normal([], seed=4),
        hr.random.truncated_normal([2], 1.0, 3.0, np.float64),
        hr.random.randint(10, shape=[3]),
        hr.random.categorical([[0.0, 1.0, 2.0]], 2),
        hr.random.shuffle(np.arange(5)),
        hr.random.uniform([x % 3], 0, x + 1, np.int64),
        hr.random.gamma([2], [0.5, 3.0], 2.0),
        hr.random.poisson([2], x + 1.0),
    )


def generated(x, rng):
    return rng.integers(2**62), rng.normal(size=2)


SIGNATURE = (hr.TensorSpec([], np.int64), hr.TensorSpec([2], np.float64))


def seeded(build, seed=7):
    hr.set_seed(seed)
    return build()


def flat(dataset):
    return [tuple(np.asarray(part).tolist() for part in row) for row in dataset]


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("function", [noise, generated])
def test_parallel_calls_change_no_number(function, calls):
    count = 1000 if calls is None or function is noise else 100
    ds = seeded(lambda: hr.Dataset.range(count).map(function, num_parallel_calls=calls))
    serial = seeded(lambda: hr.Dataset.range(count).map(function))
    assert flat(ds) == flat(serial)


def test_graphs_and_python_draw_the_same():
    native = seeded(lambda: hr.Dataset.range(20).map(noise, executor="native"))
    python = seeded(lambda: hr.Dataset.range(20).map(noise, executor="python"))
    assert flat(native.repeat(2)) == flat(python.repeat(2))


def test_each_element_has_draws_of_its_own_and_so_has_each_epoch():
    for function in (
        lambda x, rng: rng.random(),
        lambda x: hr.random.uniform([], dtype=np.float64),
    ):
        ds = hr.Dataset.range(64).map(function, num_parallel_calls=8)
        assert len(set(ds)) == 64
        epochs = list(ds.repeat(2))
        assert len(set(epochs)) == 128
        assert len({*ds, *ds}) == 128


@pytest.mark.parametrize("function", [noise, generated])
def test_the_laws_hold(function):
    def build():
        return hr.Dataset.range(7).map(function, num_parallel_calls=2)

    def chance(*row, rng=None):
        return bool(row[0] % 3) if rng is None else rng.random() < 0.7

    check_laws(lambda: seeded(build))
    check_laws(lambda: seeded(lambda: build().repeat(2)))
    check_laws(lambda: seeded(lambda: hr.Dataset.range(5).repeat(2).map(function)))
    check_laws(lambda: seeded(lambda: hr.Dataset.range(5).repeat(3).filter(chance)))
    check_laws(lambda: seeded(lambda: hr.Dataset.range(5).shuffle(5).map(function).repeat(2)))


def test_steps_with_functions_give_generators_of_the_elements_own():
    def pairs(state, x, rng):
        return state + 1, rng.integers(2**62)

    def inner(x, rng):
        return hr.Dataset.from_tensors(rng.integers(2**62, size=2)).map(
            lambda pair, rng: (pair, rng.integers(2**62))
        )

    def build():
        numbers = hr.Dataset.range(6).repeat(2)
        scanned = numbers.scan(np.int64(0), pairs)
        mixed = numbers.interleave(inner, cycle_length=2, num_parallel_calls=2)
        return hr.Dataset.zip(scanned, mixed)

    first = list(seeded(build))
    assert len({int(row[0]) for row in first}) == 12
    assert len({int(row[1][1]) for row in first}) == 12
    check_laws(lambda: seeded(build))
    total = seeded(lambda: hr.Dataset.range(50)).reduce(
        np.float64(0), lambda state, x, rng: state + rng.random()
    )
    assert 15 < total < 35


def test_an_op_seed_is_enough_to_repeat_the_numbers():
    def build():
        return hr.Dataset.range(5).map(lambda x: hr.random.uniform([], seed=3))

    assert list(build()) == list(build())
    assert list(build()) != list(hr.Dataset.range(5).map(lambda x: hr.random.uniform([], seed=4)))

    def nested():
        return hr.Dataset.range(3).flat_map(lambda x: build())

    assert list(nested()) == list(nested())
    assert len(set(nested())) == 15


def test_seeds_of_ops_come_with_the_global_seed():
    def build():
        return hr.Dataset.range(5).map(lambda x: hr.random.uniform([], seed=3))

    plain = list(build())
    with_global = list(seeded(build))
    assert with_global != plain
    assert list(seeded(build)) == with_global


def test_ops_without_seeds_differ():
    a, b = next(
        iter(hr.Dataset.range(1).map(lambda x: (hr.random.uniform([]), hr.random.uniform([]))))
    )
    assert a != b
    maps = seeded(
        lambda: [hr.Dataset.range(3).map(lambda x: hr.random.uniform([])) for _ in range(2)]
    )
    assert list(maps[0]) != list(maps[1])
    unseeded = [hr.Dataset.range(3).map(lambda x: hr.random.uniform([])) for _ in range(2)]
    assert list(unseeded[0]) != list(unseeded[1])


def test_functions_that_draw_leave_the_order_of_shuffles_alone():
    plain = list(seeded(lambda: hr.Dataset.range(20).shuffle(20)))
    mapped = seeded(
        lambda: hr.Dataset.range(20).map(lambda x: (x, hr.random.uniform([]))).shuffle(20)
    )
    assert [int(x) for x, _ in mapped] == plain


@pytest.mark.parametrize("function", [noise, generated])
def test_states_are_small_and_hold_without_a_seed(function):
    def build():
        return hr.Dataset.range(6).repeat(2).map(function, num_parallel_calls=2)

    run = iter(build())
    rest = flat(run)
    assert len(rest) == 12
    run = iter(build())
    for _ in range(8):
        next(run)
    state = run.state()
    assert len(state) < 1000
    rest = flat(run)
    assert flat(build().iterator(state)) == rest


def test_functions_without_draws_leave_states_alone():
    run = iter(hr.Dataset.range(6).map(lambda x: x + 1))
    next(run)
    assert "functions" not in json.loads(run.state())


def test_pickling_keeps_the_seeds_and_the_number_of_runs():
    ds = hr.Dataset.range(5).map(generated)
    list(ds)
    copy = pickle.loads(pickle.dumps(ds))
    assert flat(copy) == flat(ds)
    assert flat(copy) == flat(ds)


def test_another_process_draws_the_same():
    code = """
import headrace as hr
import headrace.tf as tf
from headrace.seeds import require
hr.set_seed(5)
ds = hr.Dataset.range(4).map(lambda x, rng: (rng.integers(100), hr.random.randint(100)))
ds = ds.repeat(2).map(lambda a, b: (a, b, hr.random.randint(100, seed=3)))
print([tuple(map(int, row)) for row in ds])
"""
    run = [sys.executable, "-c", code]
    said = {subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in "12"}
    assert len(said) == 1


def test_a_parameter_named_rng_asks_for_a_generator():
    def kind(x, rng):
        return type(rng) is np.random.Generator

    assert all(hr.Dataset.range(3).map(kind))
    assert all(hr.Dataset.range(3).map(lambda x, *, rng: rng.random() < 1))
    pairs = hr.Dataset.from_tensor_slices((np.arange(3), np.arange(3)))
    assert all(pairs.map(lambda x, y, rng: bool(x == y) and rng.random() < 1))
    assert all(hr.Dataset.range(3).map(functools.partial(lambda k, x, rng: rng.random() < k, 1.0)))
    explained = str(hr.Dataset.range(3).map(kind).explain())
    assert "gets a generator of NumPy as `rng`" in explained
    with pytest.raises(hr.errors.InvalidArgumentError, match="not traceable"):
        hr.Dataset.range(3).map(kind, executor="native")


def test_a_generator_that_is_there_already_is_kept():
    own = np.random.default_rng(1)
    ds = hr.Dataset.range(3).map(functools.partial(lambda x, rng: rng is own, rng=own))
    assert all(ds)
    assert list(hr.Dataset.range(2).map(lambda rng: rng + 1)) == [1, 2]


def test_a_cache_keeps_the_numbers_of_its_first_pass():
    ds = hr.Dataset.range(5).map(lambda x: hr.random.uniform([])).cache()
    first = list(ds)
    assert list(ds) == first == list(ds.repeat(2))[5:]


def test_a_run_that_reads_a_cache_resumes_where_its_rows_are_gone():
    def build():
        noisy = hr.Dataset.range(5).map(generated, output_signature=SIGNATURE)
        return noisy.cache().repeat(3)

    ds = build()
    first = flat(ds)
    run = iter(ds)  # reads what the first run has drawn
    for _ in range(7):
        next(run)
    state = run.state()
    rest = flat(run)
    assert rest == first[7:]
    assert flat(build().iterator(state)) == rest


def test_eager_draws_need_no_dataset():
    x = hr.random.uniform([1000], dtype=np.float64)
    assert x.shape == (1000,)
    assert abs(x.mean() - 0.5) < 0.06
    assert (hr.random.uniform([3]) != hr.random.uniform([3])).all()
    first = seeded(lambda: [hr.random.normal([2], seed=1), hr.random.normal([2], seed=1)])
    again = seeded(lambda: [hr.random.normal([2], seed=1), hr.random.normal([2], seed=1)])
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()
    assert (first[0] != first[1]).all()


# Bounds at one in a million for seeds that do not change.


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: hr.random.uniform([], dtype=np.float64),
        lambda x, rng: rng.random(),
    ],
)
def test_draws_of_elements_are_uniform_and_independent(draw):
    count = 20_000
    x = np.array(list(seeded(lambda: hr.Dataset.range(count).map(draw))))
    ordered = np.sort(x)
    steps = np.arange(count + 1) / count
    gap = max(np.abs(ordered - steps[:-1]).max(), np.abs(ordered - steps[1:]).max())
    assert gap < 2.7 / count**0.5
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 5 / count**0.5


def test_normal_draws_of_elements_have_their_moments():
    count = 20_000
    ds = seeded(lambda: hr.Dataset.range(count).map(lambda x: hr.random.normal([], 2.0, 3.0)))
    x = np.array(list(ds), np.float64)
    assert abs(x.mean() - 2) < 5 * 3 / count**0.5
    assert abs(x.std() - 3) < 5 * 3 / (2 * count) ** 0.5
    classes = seeded(
        lambda: hr.Dataset.range(count).map(lambda x: hr.random.categorical(np.log([[1, 3]]), 1))
    )
    share = np.mean([int(c[0, 0]) for c in classes])
    assert abs(share - 0.75) < 5 * (0.75 * 0.25 / count) ** 0.5


@pytest.mark.parametrize("calls", [None, 2])
def test_datasets_of_functions_resume_without_a_seed(calls):
    captured = hr.Dataset.range(2).map(lambda x: hr.random.randint(2**62))

    def build():
        def inner(x):
            made = hr.Dataset.range(3).map(lambda y: hr.random.randint(2**62))
            return made.concatenate(captured).repeat(2)

        return hr.Dataset.range(4).repeat(2).interleave(inner, 2, num_parallel_calls=calls)

    run = iter(build())
    for _ in range(13):
        next(run)
    state = run.state()
    rest = [int(x) for x in run]
    assert len(set(rest)) == len(rest) == 67
    captured = hr.Dataset.range(2).map(lambda x: hr.random.randint(2**62))
    assert [int(x) for x in build().iterator(state)] == rest
    assert [int(x) for x in build()][13:] != rest


def test_worker_processes_draw_the_same():
    def build(executor):
        return hr.Dataset.range(6).repeat(2).map(generated, num_parallel_calls=2, executor=executor)

    def draws(executor):
        ds = hr.Dataset.range(6).map(lambda x: hr.random.uniform([2], seed=3), executor=executor)
        return [x.tolist() for x in ds]

    assert flat(seeded(lambda: build("process"))) == flat(seeded(lambda: build("python")))
    assert draws("process") == draws("native")


def test_functions_that_draw_are_traced_however_they_are_named():
    import headrace.random as r
    from headrace import random
    from headrace.random import uniform

    def several(x):
        return uniform([]), random.normal([]), r.randint(5), hr.random.uniform([2])

    ds = hr.Dataset.range(3).map(several, executor="native")
    assert len(list(ds)) == 3

    def changed(x):
        noise = hr.random.normal([3])
        noise *= 2
        noise += x
        return noise

    assert len(list(hr.Dataset.range(3).map(changed, executor="native"))) == 3
    numpy_draws = hr.Dataset.range(3).map(lambda x: np.random.default_rng().random())
    assert "draw with headrace.random" in str(numpy_draws.explain())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.random.uniform(tf.shape(x)),
        lambda x: tf.random.normal([tf.shape(x)[0], 4], seed=5),
        lambda x: tf.random.stateless_uniform(tf.shape(x), [1, 2], maxval=9, dtype=tf.int32),
        lambda x: tf.image.random_flip_left_right(tf.reshape(x, [-1, 2, 2, 1])),
        lambda x: tf.image.random_crop(tf.reshape(x, [-1, 2, 2]), [1, 1, 1]),
    ],
)
def test_numbers_of_a_computed_shape_are_part_of_the_graph(function):
    rows = [np.arange(n * 4, dtype=np.float32).reshape(n, 4) for n in (2, 1, 3)]
    signature = tf.TensorSpec([None, 4], tf.float32)
    dataset = tf.data.Dataset.from_generator(lambda: iter(rows), output_signature=signature)
    mapped = dataset.map(function)
    assert "runs as a graph" in mapped.explain()
    for found, row in zip(mapped, rows, strict=True):
        expected = function(tf.constant(row))
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert mapped.element_spec.shape.is_compatible_with(found.shape)
    assert mapped.element_spec.shape[-1] is not None


def test_ops_without_seeds_are_refused_where_ops_are_to_be_deterministic():
    hr.set_seed(None)
    tf.config.experimental.enable_op_determinism()
    try:
        for function in (
            lambda: tf.random.uniform([]),
            lambda: tf.data.Dataset.range(3).shuffle(3),
            lambda: tf.data.Dataset.range(3).map(lambda x: tf.random.normal([])),
        ):
            with pytest.raises(RuntimeError, match="seed"):
                function()
            tf.random.set_seed(4)
            function()
            hr.set_seed(None)
        assert tf.random.uniform([], seed=1).shape == []
        assert len(list(tf.data.Dataset.range(3).shuffle(3, seed=2))) == 3
    finally:
        require(False)
