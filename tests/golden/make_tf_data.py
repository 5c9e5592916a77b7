"""Make tf_data.json: what datasets of TensorFlow look like and yield, for some expressions.

The tests evaluate the same text with headrace.tf in TensorFlow's place. `D` is tf.data.Dataset.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

EXPRESSIONS = r"""
D.range(3)
D.range(1, 10, 3, output_type=tf.float32)
D.range(tf.constant(4, tf.int64))
D.range(10, 0, -4)
D.range(3, output_type=tf.string)
D.from_tensors(1)
D.from_tensors([1.5, 2])
D.from_tensors("a")
D.from_tensors(["a", b"b"])
D.from_tensors((1, "a", {"x": [True]}))
D.from_tensors({"b": 1, "a": None})
D.from_tensors(np.float16(1))
D.from_tensors(1j)
D.from_tensors([[]])
D.from_tensors(2**40)
D.from_tensors([(1, 2), (3, 4)])
D.from_tensors(tf.sparse.from_dense([0, 1]))
D.from_tensors(tf.ragged.constant([[1], [2, 3]]))
D.from_tensors(object())
D.from_tensors([1, "a"])
D.from_tensor_slices([1, 2])
D.from_tensor_slices([1.5])
D.from_tensor_slices(["a", "b"])
D.from_tensor_slices([True])
D.from_tensor_slices(([1, 2], np.array([3.0, 4.0])))
D.from_tensor_slices({"x": [[1], [2]], "y": ("p", "q") and ["p", "q"]})
D.from_tensor_slices(np.arange(4, dtype=np.uint8).reshape(2, 2))
D.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0]]))
D.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))
D.from_tensor_slices([])
D.from_tensor_slices(5)
D.from_tensor_slices(([1, 2], [1]))
D.from_generator(lambda: iter([1, 2]), tf.int32)
D.from_generator(lambda: iter([1, 2]), tf.float32, [])
D.from_generator(lambda: iter([(1, "a")]), (tf.int32, tf.string), ([], []))
D.from_generator(lambda: iter([[1, 2], [3]]), tf.int32, [None])
D.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int64))
D.from_generator(lambda n: iter(range(n)), tf.int64, args=(2,))
D.from_generator(lambda: iter([{"a": 1}]), output_signature={"a": tf.TensorSpec([], tf.int32)})
D.from_generator(lambda: iter([1, "a"]), tf.int32)
D.from_generator(lambda: iter([[1]]), tf.int32, [])
D.from_generator(5, tf.int32)
D.from_generator(lambda: iter([1]))
D.range(3).map(lambda x: x)
D.range(3).map(lambda x: 1)
D.range(3).map(lambda x: (x, 1.5))
D.range(3).map(lambda x: [x, 1])
D.range(3).map(lambda x: (x, [1, 2]))
D.range(3).map(lambda x: {"a": x, "b": "s"})
D.range(3).map(lambda x: np.array([1, 2]))
D.range(3).map(lambda x: x / 2)
D.range(3).map(lambda x: x * 2.5)
D.range(3).map(lambda x: tf.cast(x, tf.float32) * 2.5)
D.range(3).map(lambda x: tf.range(x))
D.range(3).map(lambda x: tf.fill([x], 1))
D.range(3).map(lambda x: tf.zeros([x, 2]))
D.range(3).map(lambda x: x.shape)
D.range(3).map(lambda x: tf.sparse.from_dense([1, 0]))
D.range(3).map(lambda x: tf.ragged.constant([[1], []]))
D.range(3).map(lambda x: tf.py_function(lambda y: y + 1, [x], tf.int64))
D.range(3).map(lambda x: tf.numpy_function(lambda y: y * 2, [x], tf.int64))
D.range(3).map(lambda x: tf.py_function(lambda y: 1 // 0, [x], tf.int64))
D.range(3).map(lambda x: tf.py_function(lambda y: int("a"), [x], tf.int64))
D.range(3).map(lambda x: tf.strings.as_string(x))
D.range(3).map(lambda x: tf.cond(x > 1, lambda: x, lambda: -x))
D.range(3).map(lambda x: tf.where(x > 1, x, -x))
D.range(3).map(lambda x: tf.one_hot(x, 3))
D.range(3).map(lambda x: tf.stack([x, x + 1]))
D.range(3).map(lambda x: (x, None))
D.range(3).map(lambda x: tf.function(lambda y: y + 1)(x))
D.range(3).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE)
D.range(3).map(lambda x: x + 1, num_parallel_calls=2, deterministic=True)
D.range(3).map(lambda x: x + 1, num_parallel_calls=0)
D.zip((D.range(2), D.range(3))).map(lambda a, b: a + b)
D.zip((D.range(2), (D.range(3), D.range(4)))).map(lambda a, b: b)
D.from_tensors({"a": 1}).map(lambda d: d["a"])
D.range(10).filter(lambda x: x % 3 == 0)
D.range(10).filter(lambda x: tf.equal(x, 3))
D.range(3).filter(lambda x: x)
D.range(3).filter(lambda x: True)
D.from_tensor_slices((["a", "b"], [1, 2])).filter(lambda s, n: s == "a")
D.range(5).take(2)
D.range(5).take(-1)
D.range(5).skip(3)
D.range(5).skip(-1)
D.range(2).repeat(2)
D.range(2).repeat(0)
D.range(7).batch(3)
D.range(7).batch(3, drop_remainder=True)
D.range(7).batch(0)
D.range(7).batch(tf.constant(4, tf.int64))
D.from_tensor_slices(["a", "b", "c"]).batch(2)
D.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])).batch(2)
D.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0]])).batch(2)
D.range(4).batch(2).unbatch()
D.range(4).map(lambda x: tf.range(x)).padded_batch(2)
D.range(4).map(tf.range).padded_batch(2, padded_shapes=[5], padding_values=np.int64(-1))
D.range(4).map(lambda x: (tf.range(x), x)).padded_batch(2, padded_shapes=([None], []))
D.from_tensor_slices([["a"], ["b"]]).padded_batch(2, padded_shapes=[2], padding_values="x")
D.range(4).map(lambda x: tf.range(x)).padded_batch(2, padded_shapes=tf.TensorShape([None]))
D.range(4).map(lambda x: tf.range(x)).ragged_batch(2)
D.range(4).shuffle(4, seed=1)
D.range(10).shuffle(3, seed=7).repeat(2)
D.range(10).shuffle(10, seed=7, reshuffle_each_iteration=False).repeat(2)
D.range(10).shuffle(0)
D.range(3).prefetch(2)
D.range(3).prefetch(-2)
D.range(2).concatenate(D.range(5, 7))
D.range(2).concatenate(D.from_tensors("a"))
D.range(2).enumerate(start=5)
D.zip((D.range(2), D.range(3)))
D.zip(D.range(2), D.range(3))
D.zip({"a": D.range(2), "b": D.range(3)})
D.zip([D.range(2)])
D.range(5).apply(lambda d: d.batch(2))
D.range(5).apply(lambda d: 5)
D.range(5).scan(np.int64(0), lambda s, x: (s + x, s))
D.range(5).scan((np.int64(0), 1.0), lambda s, x: ((s[0] + x, s[1]), s[1]))
D.range(5).scan(0, lambda s, x: (s + x, s))
D.range(10).take_while(lambda x: x < 3)
D.range(6).shard(3, 1)
D.range(6).shard(3, 5)
D.from_tensor_slices([1, 2, 1, 3]).unique()
D.from_tensor_slices(["a", "a"]).unique()
D.range(6).batch(3).rebatch(2)
D.range(5).cache()
D.range(10).rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5], seed=3)
D.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices(np.array([0, 1, 1, 0])))
D.sample_from_datasets([D.range(3), D.range(10, 13)], [0.5, 0.5], seed=5)
D.sample_from_datasets([D.range(3), D.range(10, 13)], weights=tf.constant([0.2, 0.8]), seed=5)
D.range(5).with_options(tf.data.Options())
D.range(3).ignore_errors()
D.from_tensors(0.0).map(lambda x: tf.debugging.check_numerics(1 / x, "")).ignore_errors()
D.counter(start=3, step=2).take(2)
D.range(4).apply(tf.data.experimental.unbatch())
D.range(4).batch(2).apply(tf.data.experimental.unbatch())
D.range(2).apply(tf.data.experimental.enumerate_dataset(3))
D.range(4).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 2))
D.range(4).apply(tf.data.experimental.take_while(lambda x: x < 2))
D.range(4).apply(tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s)))
D.range(4).apply(tf.data.experimental.shuffle_and_repeat(4, 2, seed=1))
D.range(4).apply(tf.data.experimental.unique())
D.range(4).apply(tf.data.experimental.ignore_errors())
D.range(4).apply(tf.data.experimental.assert_cardinality(4))
D.range(4).apply(tf.data.experimental.dense_to_ragged_batch(2))
D.from_tensors([0, 1]).repeat(2).apply(tf.data.experimental.dense_to_sparse_batch(2, [3]))
tf.data.experimental.sample_from_datasets([D.range(3), D.range(10, 13)], [0.5, 0.5], seed=5)
tf.data.experimental.Counter(2, 3).take(2)
D.range(3).flat_map(lambda x: D.from_tensors(x).repeat(x))
D.range(3).flat_map(lambda x: D.range(x))
D.from_tensor_slices([[1, 2], [3, 4]]).flat_map(D.from_tensor_slices)
D.range(3).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2)
D.range(3).interleave(lambda x: D.range(x), num_parallel_calls=2)
D.range(7).window(3).flat_map(lambda w: w)
D.range(7).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
D.range(10).group_by_window(lambda x: x % 2, lambda k, d: d.batch(3), window_size=3)
D.range(6).map(lambda x: tf.range(x)).bucket_by_sequence_length(lambda x: tf.size(x), [3], [2, 2])
D.from_tensors(D.range(3))
D.range(2).map(lambda x: D.range(x))
D.range(5).snapshot("PATH/snapshot")
D.random(seed=4).take(2)
tf.data.experimental.RandomDataset(seed=4).take(2)
""".strip().splitlines()


def plain(value):
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "value": repr(value.tolist())}
    if isinstance(value, np.generic):
        return {"dtype": str(value.dtype), "value": repr(value.item())}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value)


def described(dataset):
    found = {"spec": repr(dataset.element_spec), "cardinality": int(dataset.cardinality())}
    try:
        found["elements"] = [plain(x) for x in dataset.as_numpy_iterator()]
    except Exception as error:
        found["raises"] = [kind.__name__ for kind in type(error).__mro__]
    return found


def answer(text, folder):
    names = {"tf": tf, "np": np, "D": tf.data.Dataset}
    try:
        return described(eval(text.replace("PATH", str(folder)), names))
    except Exception as error:
        return {"error": [kind.__name__ for kind in type(error).__mro__]}


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        answers = [{"text": text, **answer(text, folder)} for text in EXPRESSIONS]
    whole = {"tf": tf.__version__, "datasets": answers}
    Path(__file__).with_name("tf_data.json").write_text(json.dumps(whole, indent=1) + "\n")
