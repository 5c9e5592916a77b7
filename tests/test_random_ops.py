"""Random numbers: TensorFlow's for seeds, and reproducible ones inside of functions."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
import headrace.tf as tf

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tf_random.json").read_text())
NAMES = {"tf": tf, "np": np}


def expected(case):
    if "strings" in case:
        return np.array([text.encode() for text in case["strings"]], object)
    kind = ml_dtypes.bfloat16 if case["dtype"] == "bfloat16" else case["dtype"]
    return np.frombuffer(bytes.fromhex(case["hex"]), kind).reshape(case["shape"])


def same(found, wanted):
    found = np.asarray(found)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype == object:
        assert found.tolist() == wanted.tolist()
    else:
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("case", GOLDEN["stateless"], ids=lambda case: case["text"])
def test_numbers_for_seeds_are_tensorflows(case):
    same(eval(f"tf.random.{case['text']}", NAMES).numpy(), expected(case))


@pytest.mark.parametrize("case", GOLDEN["stateless"], ids=lambda case: case["text"])
def test_numbers_for_seeds_are_tensorflows_inside_of_a_map(case):
    text = case["text"]
    dataset = tf.data.Dataset.range(2).map(lambda x: eval(f"tf.random.{text}", NAMES))
    for value in dataset:
        same(value.numpy(), expected(case))


@pytest.mark.parametrize("case", GOLDEN["errors"], ids=lambda case: case["text"])
def test_what_tensorflow_refuses_is_refused(case):
    with pytest.raises(Exception) as caught:
        eval(f"tf.random.{case['text']}", NAMES)
    kinds = {kind.__name__ for kind in type(caught.value).__mro__}
    assert case["classes"][0] in kinds


@pytest.mark.parametrize("case", GOLDEN["eager"], ids=lambda case: case["calls"][0]["text"])
def test_eager_numbers_are_tensorflows(case):
    if case["seed"] is not None:
        tf.random.set_seed(case["seed"])
    for call in case["calls"]:
        same(eval(f"tf.random.{call['text']}", NAMES).numpy(), expected(call))


@pytest.mark.parametrize("case", GOLDEN["generators"], ids=lambda case: case["text"])
def test_generators_are_tensorflows(case):
    made = eval(f"tf.random.{case['text']}", NAMES)
    for use in case["uses"]:
        value = eval(f"made.{use['text']}", {**NAMES, "made": made})
        same(value.numpy(), expected(use))
    same(made.state.numpy(), expected(case["state"]))
    copy = tf.random.Generator(copy_from=made)
    same(copy.normal([3]).numpy(), made.normal([3]).numpy())
    first, second = made.split(2)
    assert first.key != second.key


@pytest.mark.parametrize("case", GOLDEN["states"], ids=lambda case: case["text"])
def test_states_of_generators_are_tensorflows(case):
    same(eval(f"tf.random.{case['text']}", NAMES).numpy(), expected(case))


DRAWS = [
    lambda seed: hr.random.stateless_uniform([3], seed),
    lambda seed: hr.random.stateless_uniform([], seed, -1, 1, np.float64),
    lambda seed: hr.random.stateless_uniform([2, 2], seed, -5, 5, np.int32),
    lambda seed: hr.random.stateless_uniform([2, 0], seed, None, None, np.uint64),
    lambda seed: hr.random.stateless_normal([3], seed, 1.0, 2.0, np.float16),
    lambda seed: hr.random.stateless_truncated_normal([5], seed),
    lambda seed: hr.random.stateless_categorical([[0.0, 1.0, 2.0]], 4, seed),
    lambda seed: hr.random.stateless_shuffle(np.arange(6).reshape(3, 2), seed),
    lambda seed: hr.random.split(seed, 3),
    lambda seed: hr.random.stateless_gamma([2, 2], seed, [0.5, 2.0], 3.0),
    lambda seed: hr.random.stateless_poisson([3], seed, 20.0),
    lambda seed: hr.random.fold_in(seed, 7),
]


@pytest.mark.parametrize("chunk", [1, 2, 7, 1024])
@pytest.mark.parametrize("draw", DRAWS)
def test_seeds_may_be_elements(draw, chunk):
    seeds = np.arange(22).reshape(11, 2) - 9
    dataset = hr.Dataset.from_tensor_slices(seeds).map(draw, executor="native")
    dataset = dataset.with_options(hr.Options(_chunk_rows=chunk))
    for seed, value in zip(seeds, dataset, strict=True):
        same(value, np.asarray(draw(seed)))


@pytest.mark.parametrize("chunk", [1, 2, 7, 1024])
def test_shapes_and_limits_may_be_elements(chunk):
    def draw(n, seed):
        return (
            hr.random.stateless_uniform([n, 2], [seed, 1]),
            hr.random.stateless_uniform([3], [seed, 2], 0, n + 1, np.int64),
            hr.random.stateless_uniform([3], [seed, 2], n, n + 1),
        )

    sizes = np.array([3, 0, 3, 2, 2, 5])
    dataset = hr.Dataset.from_tensor_slices((sizes, np.arange(6))).map(draw, executor="native")
    assert dataset.element_spec[0].shape == (None, None)
    rows = list(dataset.with_options(hr.Options(_chunk_rows=chunk)))
    for n, seed, row in zip(sizes, range(6), rows, strict=True):
        for value, wanted in zip(row, draw(n, seed), strict=True):
            same(value, np.asarray(wanted))


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_any_two_integers_are_a_seed(a, b):
    x = hr.random.stateless_uniform([50], [a, b])
    assert ((x >= 0) & (x < 1)).all()
    same(x[:20], hr.random.stateless_uniform([20], np.array([a, b])))


def test_uint64_seeds_are_taken_by_their_bits():
    same(
        hr.random.stateless_uniform([5], np.array([2**64 - 1, 3], np.uint64)),
        hr.random.stateless_uniform([5], [-1, 3]),
    )


def test_what_is_no_seed_is_refused():
    for seed in (1, [1], [1, 2, 3], [[1, 2]], [1.5, 2.0], ["a", "b"]):
        with pytest.raises(hr.errors.InvalidArgumentError, match="a seed is two integers"):
            hr.random.stateless_uniform([2], seed)


def test_what_does_not_fit_is_refused():
    draw, error = hr.random.stateless_uniform, hr.errors.InvalidArgumentError
    with pytest.raises(error, match="Need minval < maxval, got 5 >= 3"):
        draw([2], [1, 2], 5, 3, np.int32)
    with pytest.raises(error, match="both `minval` and `maxval`"):
        draw([2], [1, 2], 5, dtype=np.int32)
    with pytest.raises(error, match="uint32 has no limits"):
        draw([2], [1, 2], 0, 3, np.uint32)
    with pytest.raises(error, match="`dtype` is one of"):
        draw([2], [1, 2], dtype=np.int16)
    with pytest.raises(error, match="no negative sizes"):
        draw([2, -1], [1, 2])
    with pytest.raises(error, match="minval must be a scalar"):
        draw([2], [1, 2], np.array([0, 1]), 5, np.int32)
    with pytest.raises(error, match="ThreeFry, which is not built"):
        draw([2], [1, 2], alg="threefry")
    with pytest.raises(error, match="does not fit"):
        draw([2], [1, 2], 0, 2**40, np.int32)
    with pytest.raises(hr.errors.ResourceExhaustedError):
        draw([2**30, 2**30], [1, 2])
    with pytest.raises(error, match=r"more than 2\*\*63 - 1"):
        draw([2**40, 2**40], [1, 2])
    with pytest.raises(error, match="logits should be a matrix"):
        hr.random.stateless_categorical([0.0, 1.0], 3, [1, 2])
    with pytest.raises(error, match="num_samples must be at least 0"):
        hr.random.stateless_categorical([[0.0, 1.0]], -1, [1, 2])


def test_tensorflows_names_draw_in_functions():
    def function(x):
        return tf.random.uniform([2]), tf.random.normal([], seed=3), tf.random.shuffle(tf.range(4))

    tf.random.set_seed(3)
    ds = tf.data.Dataset.range(5).map(function)
    assert "runs as a graph" in str(ds.explain())
    first = [tuple(part.numpy().tolist() for part in row) for row in ds]
    assert len({row[1] for row in first}) == 5

    def branching(x):
        if x > 2:
            return tf.random.uniform([])
        return tf.random.uniform([], 5.0, 6.0)

    values = [float(v) for v in tf.data.Dataset.range(5).map(branching)]
    assert all(v >= 5 for v in values[:3])
    assert all(v < 1 for v in values[3:])


DRAWS = {
    "uniform": lambda: tf.random.uniform([3], seed=1),
    "uniform integers": lambda: tf.random.uniform([3], 0, 10, tf.int32, seed=1),
    "normal": lambda: tf.random.normal([3], 1.0, 2.0, seed=1),
    "truncated_normal": lambda: tf.random.truncated_normal([3], seed=1),
    "categorical": lambda: tf.random.categorical([[0.5, 0.1, 0.4]], 3, seed=1),
    "shuffle": lambda: tf.random.shuffle(tf.range(9), seed=1),
    "gamma": lambda: tf.random.gamma([3], 0.5, seed=1),
    "poisson": lambda: tf.random.poisson([3], 4.0, seed=1),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_of_elements_do_not_depend_on_chunks_or_calls(name):
    draw = DRAWS[name]
    dataset = tf.data.Dataset.range(6).map(lambda x: draw())
    assert "runs as a graph" in dataset.explain()

    def rows(dataset):
        tf.random.set_seed(5)
        made = dataset()
        return [value.numpy().tolist() for value in made]

    first = rows(lambda: tf.data.Dataset.range(6).map(lambda x: draw()))
    assert len({str(row) for row in first}) > 1
    for chunk_rows in (1, 2, 7, 1024):
        for calls in (None, 3):

            def build(chunk_rows=chunk_rows, calls=calls):
                mapped = tf.data.Dataset.range(6).map(lambda x: draw(), num_parallel_calls=calls)
                return mapped.with_options(hr.Options(_chunk_rows=chunk_rows))

            assert rows(build) == first
    kind = dataset.element_spec
    assert (kind.dtype, kind.shape.as_list()) == (draw().dtype, draw().shape.as_list())


def test_a_generator_in_a_function_moves_on_with_each_call():
    generator = tf.random.Generator.from_seed(3)
    ds = tf.data.Dataset.range(4).map(lambda x: generator.uniform([2]))
    assert ds.element_spec == tf.TensorSpec([2], tf.float32)
    drawn = [value.numpy() for value in ds]
    same_one = tf.random.Generator.from_seed(3)
    for value in drawn:
        same(value, same_one.uniform([2]).numpy())


def test_an_index_is_shuffled_without_the_others():
    ds = hr.Dataset.range(100).map(
        lambda k: hr.random.index_shuffle(k, [3, 4], 99), executor="native"
    )
    found = [int(k) for k in ds]
    assert sorted(found) == list(range(100))
    assert found != sorted(found)
    whole = hr.random.index_shuffle(np.arange(100), [3, 4], 99)
    assert whole.tolist() == found
    assert whole.dtype == np.int64
    far = hr.random.index_shuffle(np.int64(2**40), np.array([[1, 2], [3, 4]]), 2**62)
    assert far.shape == (2,)
    assert far[0] != far[1]
    with pytest.raises(hr.errors.InvalidArgumentError, match="from 0 to max_index"):
        hr.random.index_shuffle(10, [1, 2], 9)
    with pytest.raises(hr.errors.InvalidArgumentError, match="32 or 64 bits"):
        hr.random.index_shuffle(np.int8(1), [1, 2], 9)


def test_binomial_numbers_are_those_of_their_seed():
    def draw(seed):
        return hr.random.stateless_binomial([3, 2], seed, [8.0, 500.0], 0.3, np.int64)

    seeds = np.arange(10).reshape(5, 2)
    mapped = hr.Dataset.from_tensor_slices(seeds).map(draw, executor="native")
    for seed, found in zip(seeds, mapped, strict=True):
        np.testing.assert_array_equal(found, draw(seed))
    with pytest.raises(hr.errors.InvalidArgumentError, match="must end"):
        hr.random.stateless_binomial([3], [1, 2], [8.0, 500.0], 0.3)
    with pytest.raises(hr.errors.InvalidArgumentError):
        hr.random.stateless_binomial([3], [1, 2], 8.0, np.nan)
