"""Pieces of programs written for TensorFlow; the numbers are what TensorFlow 2.21 gives."""

import numpy as np
import pytest

import headrace.tf as tf

D = tf.data.Dataset
IMAGES = np.arange(5 * 4 * 4 * 3, dtype=np.float32).reshape(5, 4, 4, 3)


def test_paths_pass_through_functions_that_run_as_python(tmp_path):
    (tmp_path / "a.txt").touch()
    files = D.list_files(str(tmp_path / "*.txt"), shuffle=False)
    both = files.map(
        lambda path: (path, tf.py_function(lambda p: tf.strings.length(p), [path], tf.int32))
    )
    ((path, length),) = both.as_numpy_iterator()
    assert path == str(tmp_path / "a.txt").encode()
    assert length == len(path)


def test_text_of_headrace_is_bytes_in_functions_that_run_as_python():
    import headrace as hr

    words = tf.data.Dataset.zip(hr.Dataset.from_tensor_slices(["a", "é"]), D.range(2))
    same = words.map(lambda word, n: (word, tf.numpy_function(lambda n: n, [n], tf.int64)))
    assert list(same.as_numpy_iterator()) == [(b"a", 0), ("é".encode(), 1)]


def test_defaults_of_columns_are_numbers_as_tensorflow_makes_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y,z\n1,2,a\n3,4,b\n")
    defaults = [0.0, 0, ""]
    rows = tf.data.experimental.make_csv_dataset(
        str(path), 2, column_defaults=defaults, num_epochs=1, shuffle=False
    )
    assert [spec.dtype for spec in rows.element_spec.values()] == [tf.float32, tf.int32, tf.string]


def test_parsed_features_come_in_the_order_of_tensorflow():
    features = {
        "z": tf.io.FixedLenFeature([], tf.int64, 0),
        "y": tf.io.VarLenFeature(tf.int64),
        "m": tf.io.RaggedFeature(tf.int64),
        "b": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "a": tf.io.FixedLenFeature([], tf.int64, 0),
        "c": tf.io.VarLenFeature(tf.int64),
        "d": tf.io.RaggedFeature(tf.int64),
        "s": tf.io.SparseFeature("i", "v", tf.int64, 10),
    }
    order = ["c", "y", "a", "b", "z", "d", "m", "s"]
    records = D.from_tensors([b""])
    assert list(tf.io.parse_single_example(b"", features)) == order
    assert list(tf.io.parse_example([b""], features)) == order
    assert list(records.map(lambda r: tf.io.parse_example(r, features)).element_spec) == order
    parsed = records.apply(tf.data.experimental.parse_example_dataset(features))
    assert list(parsed.element_spec) == list(next(iter(parsed))) == order
    context, steps = tf.io.parse_single_sequence_example(
        b"", {"z": features["z"], "y": features["y"]}, {"m": features["m"], "b": features["b"]}
    )
    assert list(context) == ["y", "z"]
    assert list(steps) == ["b", "m"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + tf.random.normal(tf.shape(x)),
        lambda x: tf.random.uniform((tf.shape(x)[0], 3)),
        lambda x: tf.random.stateless_uniform(tf.shape(x)[:1], [1, 2]),
        lambda x: tf.image.random_flip_left_right(x),
        lambda x: tf.image.stateless_random_flip_up_down(x, (1, 2)),
        lambda x: tf.random.gamma([tf.shape(x)[0]], alpha=0.2),
        lambda x: tf.random.gamma(tf.shape(x)[:1], [0.2, 0.4], beta=2.0),
        lambda x: tf.random.poisson([tf.shape(x)[0]], tf.ones([2])),
        lambda x: tf.random.stateless_poisson([tf.shape(x)[0], 2], [1, 2], tf.ones([2])),
        lambda x: tf.random.stateless_gamma([tf.shape(x)[0]], [1, 2], 0.5),
    ],
)
def test_numbers_of_a_shape_that_a_run_computes_are_drawn_in_a_graph(function):
    images = D.from_tensor_slices(IMAGES).batch(3).map(function)
    assert "runs as a graph" in images.explain()
    first, second = images
    assert (len(first), len(second)) == (3, 2)
    assert first.shape[1:] == second.shape[1:]
    assert images.element_spec.shape.is_compatible_with(first.shape)


def test_stateless_numbers_of_a_computed_shape_are_those_of_a_known_one():
    sizes = D.from_tensor_slices([3, 5, 3])
    gammas = sizes.map(lambda n: tf.random.stateless_gamma([n, 2], [1, 2], [0.5, 3.0]))
    counts = sizes.map(lambda n: tf.random.stateless_binomial([n], [1, 2], 10.0, 0.3))
    for size, gamma, count in zip([3, 5, 3], gammas, counts, strict=True):
        known = tf.random.stateless_gamma([size, 2], [1, 2], [0.5, 3.0])
        np.testing.assert_array_equal(gamma, known)
        known = tf.random.stateless_binomial([size], [1, 2], 10.0, 0.3)
        np.testing.assert_array_equal(count, known)


def test_mixup_with_a_beta_distribution():
    labels = tf.one_hot(np.arange(5), 5)
    pairs = D.from_tensor_slices((IMAGES, labels)).batch(3)

    def mix(one, two):
        (images, labels), (others, theirs) = one, two
        size = tf.shape(images)[0]
        a, b = (tf.random.gamma(shape=[size], alpha=0.2) for _ in range(2))
        share = a / (a + b)
        weights = tf.reshape(share, (size, 1, 1, 1))
        mixed = images * weights + others * (1 - weights)
        shares = tf.reshape(share, (size, 1))
        return mixed, labels * shares + theirs * (1 - shares)

    mixed = D.zip((pairs, pairs)).map(mix, num_parallel_calls=tf.data.AUTOTUNE)
    assert "runs as a graph" in mixed.explain()
    for (images, shares), (same, ones) in zip(mixed, pairs, strict=True):
        np.testing.assert_allclose(images, same, rtol=1e-5)
        np.testing.assert_allclose(shares, ones, atol=1e-6)


def test_zeros_of_another_dtype_for_a_shape_that_a_run_computes():
    lists = D.range(1, 3).map(tf.range)
    flags = lists.map(lambda x: (tf.zeros_like(x, dtype=tf.bool), tf.ones_like(x, tf.bool)))
    assert [list(map(bool, no)) for no, _ in flags] == [[False], [False, False]]
    assert [list(map(bool, yes)) for _, yes in flags] == [[True], [True, True]]


def numbers(start, count):
    yield from range(start * 10, start * 10 + count)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda i: D.range(3).map(lambda j: i * 10 + j), [0, 1, 2, 10, 11, 12]),
        (lambda i: D.range(3).map(lambda j: i + j * i).shuffle(3, seed=1).take(0), []),
        (
            lambda i: D.from_generator(
                numbers, args=(i, i + 1), output_signature=tf.TensorSpec([], tf.int64)
            ),
            [0, 10, 11],
        ),
        (
            lambda i: D.range(4).window(2).map(lambda w: w.reduce(np.int64(0), lambda a, b: a + b)),
            [1, 5, 1, 5],
        ),
        (
            lambda i: D.range(4).window(2).map(lambda w: w.batch(2).get_single_element()[0]),
            [0, 2, 0, 2],
        ),
    ],
)
def test_datasets_of_functions_have_a_spec_whatever_they_are_made_of(make, expected):
    dataset = D.range(2).flat_map(make)
    assert dataset.element_spec == tf.TensorSpec([], tf.int64)
    assert list(dataset.as_numpy_iterator()) == expected


def test_unseeded_shuffles_in_functions_take_no_number_of_the_global_seed():
    draws = []
    for in_function in (False, True):
        tf.random.set_seed(99)
        if in_function:
            list(D.range(3).flat_map(lambda i: D.range(4).shuffle(4)))
        draws.append(tf.random.uniform([]).numpy())
    tf.random.set_seed(None)
    assert draws == [np.float32(0.839977)] * 2


def test_rows_of_ragged_tensors_are_mapped():
    words = tf.ragged.constant([[3, 1], [], [2, 2, 5], [4]])
    counts = (
        D.from_tensor_slices(words)
        .batch(3)
        .map(
            lambda rows: tf.map_fn(
                lambda row: tf.math.bincount(row, minlength=6, maxlength=6),
                rows,
                fn_output_signature=tf.int32,
            )
        )
    )
    expected = [[0, 1, 0, 1, 0, 0], [0] * 6, [0, 0, 2, 0, 0, 1], [0, 0, 0, 0, 1, 0]]
    assert [row for batch in counts for row in batch.numpy().tolist()] == expected


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (0, 1, [[1, 2], [3], [4]]),
        (1, 2, [[1, 2, 3], [], [4]]),
        (-2, -1, [[1, 2, 3], [], [4]]),
        (0, 2, [1, 2, 3, 4]),
        (1, 1, [[[1, 2], [3]], [], [[4]]]),
    ],
)
def test_axes_of_ragged_tensors_are_merged(outer, inner, expected):
    words = tf.ragged.constant([[[1, 2], [3]], [], [[4]]])
    merged = D.from_tensors(words).map(lambda x: x.merge_dims(outer, inner))
    assert "runs as a graph" in merged.explain()
    for found in (words.merge_dims(outer, inner), merged.get_single_element()):
        assert getattr(found, "to_list", found.numpy().tolist)() == expected


def test_axes_of_equal_sizes_are_merged_with_ragged_ones():
    rows = tf.RaggedTensor.from_row_lengths(np.arange(24).reshape(4, 2, 3), [1, 0, 3])
    assert rows.merge_dims(0, 1).shape == [4, 2, 3]
    assert rows.merge_dims(1, 2).row_lengths().numpy().tolist() == [2, 0, 6]
    assert rows.merge_dims(1, 3).row_lengths().numpy().tolist() == [6, 0, 18]
    assert rows.merge_dims(2, 3).to_list()[0] == [[0, 1, 2, 3, 4, 5]]
    assert rows.merge_dims(0, 3).numpy().tolist() == list(range(24))
    with pytest.raises(ValueError, match="less than or equal"):
        rows.merge_dims(2, 1)
    with pytest.raises(ValueError, match="out of bounds"):
        rows.merge_dims(0, 4)


def test_what_is_not_there_names_what_takes_its_place():
    for name, place in [
        ("keras", "import keras"),
        ("Session", "iterate over the dataset"),
        ("reduce_summ", "tf.reduce_sum"),
        ("test", "nearest"),
    ]:
        with pytest.raises(AttributeError, match=place) as caught:
            getattr(tf, name)
        assert not str(caught.value).endswith(f"tf.{name}")
    with pytest.raises(AttributeError, match=r"tf\.data\.TFRecordDataset"):
        tf.data.TFRecordsDataset  # noqa: B018


def test_names_are_listed_without_the_modules_that_hold_them():
    assert {"data", "io", "cast", "distribute"} <= set(dir(tf))
    assert not {"kernels", "bridge", "arithmetic", "tracer"} & set(dir(tf))
    assert all(hasattr(tf, name) for name in dir(tf))


def test_an_input_context_says_which_shard_is_read():
    context = tf.distribute.InputContext(4, 1, num_replicas_in_sync=8)
    assert context.get_per_replica_batch_size(16) == 2
    assert str(context) == "tf.distribute.InputContext(input pipeline id 1, total: 4)"
    with pytest.raises(ValueError, match="not divisible"):
        context.get_per_replica_batch_size(12)


def test_messages_of_programs_go_to_a_logger(caplog):
    logging = tf.compat.v1.logging
    logging.set_verbosity(logging.INFO)
    logging.info("step %d", 3)
    tf.get_logger().warning("slow")
    assert caplog.messages == ["step 3", "slow"]
    logging.set_verbosity(logging.WARN)
    assert logging.get_verbosity() == logging.WARN


def test_programs_hang_names_of_their_own_on_datasets():
    dataset = D.range(2).batch(2)
    dataset.class_names = ["cats", "dogs"]
    assert dataset.class_names == ["cats", "dogs"]
    assert not hasattr(dataset.prefetch(1), "class_names")
    assert next(iter(dataset)).numpy().tolist() == [0, 1]


@pytest.mark.parametrize(
    "function",
    [
        lambda size: tf.tile(tf.zeros([2, 3]), [size, 1]),
        lambda size: tf.reshape(tf.zeros([4, 3]), [size * 2, 3]),
        lambda size: tf.zeros([size * 2, 3]),
        lambda size: tf.fill([size * 2, 3], 0.0),
        lambda size: tf.broadcast_to(tf.zeros([3]), [size * 2, 3]),
    ],
)
def test_tensors_of_floats_in_a_list_of_sizes_are_packed_as_integers(function):
    """As `tf.tile(x, [tf.math.ceil(height / 8), 1])` in detection programs."""
    assert function(tf.constant(2.0)).shape == [4, 3]
    assert function(tf.constant(2.5, tf.float64) - 0.5).shape == [4, 3]
    (found,) = D.from_tensors(2.0).map(function)
    assert found.shape == [4, 3]
    with pytest.raises(TypeError):
        function(2.0)
