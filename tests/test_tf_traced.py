"""Ops of `headrace.tf` that move, pick, count and check: in a graph as on tensors."""

import numpy as np
import pytest

import headrace.tf as tf

X = np.arange(24, dtype=np.int32).reshape(2, 3, 4)

NUMBERS = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer([1, 13, 5], ["one", "thirteen", "five"]), "other"
)
WORDS = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(["1", "13"], tf.constant([1.5, 2.5])), -1.0
)
VOCABULARY = tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(["1", "13"], tf.constant([0, 1], tf.int64)), 5
)

FUNCTIONS = {
    "where": lambda x: tf.where(x > 3),
    "gather": lambda x: tf.gather(x, [1, 0], axis=1),
    "gather in batches": lambda x: tf.gather(x, [[0, 1], [2, 3], [1, 1]], batch_dims=1),
    "gather by values": lambda x: tf.gather(x, x[:, 0] % 3),
    "diag below": lambda x: tf.linalg.diag(x[:, 0], k=-1, padding_value=7),
    "diag of a size": lambda x: tf.linalg.diag(x[:, 0], k=1, num_rows=3, num_cols=6),
    "diag_part above": lambda x: tf.linalg.diag_part(x, k=1),
    "diag_part below": lambda x: tf.linalg.diag_part(x, k=[-2, -2]),
    "diag of a band": lambda x: tf.linalg.diag(x[:2], k=(-1, 0), padding_value=7),
    "diag_part of a band": lambda x: tf.linalg.diag_part(x, k=(-1, 1), align="LEFT_RIGHT"),
    "set_diag of a band": lambda x: tf.linalg.set_diag(x, x[:2, :3], k=(0, 1)),
    "set_diag": lambda x: tf.linalg.set_diag(x, x[:, 0], k=1),
    "set_diag below": lambda x: tf.linalg.set_diag(x, x[:2, 0], k=-1),
    "matvec": lambda x: tf.linalg.matvec(x, x[:, 0], adjoint_a=True),
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [2, 3]]),
    "boolean_mask": lambda x: tf.boolean_mask(x, x[:, 0] > 3),
    "text and text": lambda x: "/d/" + tf.strings.as_string(x) + tf.constant([".a", ".b", "", ""]),
    "eye of computed sizes": lambda x: tf.eye(x[0, 0] % 3 + 1, x[0, 1] % 4 + 1, dtype=tf.int32),
    "eyes of a computed size": lambda x: tf.eye(x[0, 1] % 4, batch_shape=[2]),
    "a list of one": lambda x: tf.image.resize([tf.cast(x, tf.float32)[..., None]], [2, 2])[0],
    "a list of lists": lambda x: tf.convert_to_tensor([[x, x], [x, x + 1]]),
    "a NumPy scalar times": lambda x: np.int32(2) * x,
    "an array minus": lambda x: np.arange(4) - x,
    "an array by": lambda x: np.full(4, 3.0) / tf.cast(x + 1, tf.float32),
    "an array above": lambda x: np.full(4, 3) > x,
    "an array equal": lambda x: np.arange(4) == x,
    "a matrix times": lambda x: np.eye(3, dtype=np.int32) @ x,
    "a mask and": lambda x: np.array([True, False, True, True]) & (x > 1),
    "split": lambda x: tf.concat(tf.split(tf.boolean_mask(x, x[:, 0] >= 0), 3), 0),
    "split by sizes": lambda x: tf.split(tf.boolean_mask(x, x[:, 0] >= 0), [1, -1])[1],
    "scan": lambda x: tf.scan(lambda a, b: a + b, x, reverse=True),
    "foldl": lambda x: tf.foldl(lambda a, b: a * 2 + b, x, tf.constant(1)),
    "idct": lambda x: tf.signal.idct(tf.cast(x, tf.float32), 3, n=6),
    "extract_volume_patches": lambda x: tf.extract_volume_patches(
        x[tf.newaxis, tf.newaxis, ..., tf.newaxis], [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], "SAME"
    ),
    "one_hot": lambda x: tf.one_hot(x, 5),
    "dynamic_partition": lambda x: tf.dynamic_partition(x[:, 0], x[:, 1] % 2, 2)[1],
    "tile": lambda x: tf.tile(x, [2, 1]),
    "tile by values": lambda x: tf.tile(x, [x[0, 0] % 3, 1]),
    "repeat": lambda x: tf.repeat(x, [1, 0, 2], axis=0),
    "roll": lambda x: tf.roll(x, shift=[1, 2], axis=[0, 1]),
    "pad": lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=9),
    "pad reflect": lambda x: tf.pad(x, [[1, 0], [0, 2]], "REFLECT"),
    "pad by values": lambda x: tf.pad(x, [[x[0, 0] % 3, 0], [0, 1]]),
    "fill": lambda x: tf.fill([x[0, 0] % 3, 2], 7),
    "zeros": lambda x: tf.zeros([x[0, 0] % 3, 2]),
    "zeros_like": lambda x: tf.zeros_like(tf.boolean_mask(x, x[:, 0] > 3)),
    "range": lambda x: tf.range(x[0, 1]),
    "sequence_mask": lambda x: tf.sequence_mask(x[:, 0], 5),
    "reshape": lambda x: tf.reshape(x, tf.shape(x)[::-1]),
    "slice": lambda x: tf.slice(x, [x[0, 0] % 2, 0], [1, -1]),
    "crop": lambda x: x[x[0, 0] % 2 :, : x[0, 1] % 3],
    "broadcast_to": lambda x: tf.broadcast_to(x[0, 0], tf.shape(x)),
    "searchsorted": lambda x: tf.searchsorted([1, 5, 9], x[0]),
    "unique": lambda x: tf.unique(x[0] % 2).y,
    "unique_with_counts": lambda x: tf.unique_with_counts(x[0] % 2).count,
    "bincount": lambda x: tf.math.bincount(x[0], minlength=3, maxlength=20),
    "diag": lambda x: tf.linalg.diag(x[0]),
    "diag_part": lambda x: tf.linalg.diag_part(x),
    "band_part": lambda x: tf.linalg.band_part(x, 0, 1),
    "cond": lambda x: tf.cond(x[0, 0] > 3, lambda: x * 2, lambda: -x),
    "cond of shapes": lambda x: tf.cond(x[0, 0] > 3, lambda: x[:1], lambda: x),
    "case": lambda x: tf.case(
        [(x[0, 0] == 0, lambda: tf.constant(1)), (x[0, 0] == 12, lambda: tf.constant(2))],
        default=lambda: tf.constant(3),
    ),
    "ragged": lambda x: tf.RaggedTensor.from_row_lengths(tf.range(6), [1, 2, 3]).to_tensor(),
    "segment_sum": lambda x: tf.math.segment_sum(x, [0, 1, 1]),
    "segment_mean": lambda x: tf.math.segment_mean(tf.cast(x, tf.float32), [0, 1, 1]),
    "unsorted_segment_max": lambda x: tf.math.unsorted_segment_max(x, x[:, 0] % 3, 3),
    "unsorted_segment_mean": lambda x: tf.math.unsorted_segment_mean(x, [2, 0, 2], x[0, 1] + 2),
    "scatter_nd": lambda x: tf.scatter_nd(x[:, :1] % 3, x, [3, 4]),
    "scatter_nd of a computed shape": lambda x: tf.scatter_nd([[0]], x[:1], [x[0, 1], 4]),
    "tensor_scatter_nd_update": lambda x: tf.tensor_scatter_nd_update(x, [[1, 1]], [x[0, 0]]),
    "tensor_scatter_nd_min": lambda x: tf.tensor_scatter_nd_min(x, [[0], [2]], x[:2]),
    "bitcast": lambda x: tf.bitcast(x, tf.uint8),
    "bitcast of bytes": lambda x: tf.bitcast(tf.cast(x[:, 1:3], tf.uint8), tf.uint16),
    "linspace": lambda x: tf.linspace(x[0], x[1], 5),
    "meshgrid": lambda x: tf.meshgrid(x[0], x[:, 0])[1],
    "meshgrid of a computed length": lambda x: tf.meshgrid(tf.range(x[0, 1]), x[:, 0])[0],
    "lookup": lambda x: NUMBERS.lookup(x),
    "lookup of words": lambda x: WORDS.lookup(tf.strings.as_string(x)),
    "vocabulary": lambda x: VOCABULARY.lookup(tf.strings.as_string(x)),
    "map_fn": lambda x: tf.map_fn(lambda row: row[::-1] * x[0, 1], x),
    "map_fn of a computed length": lambda x: tf.map_fn(
        tf.reduce_sum, tf.boolean_mask(x, x[:, 0] > 3)
    ),
    "map_fn within": lambda x: tf.map_fn(lambda row: tf.map_fn(lambda y: y + row[0], row), x),
    "map_fn of several": lambda x: tf.map_fn(
        lambda pair: pair[0] * pair[1], (x, x + 1), fn_output_signature=tf.int32
    ),
    "check_numerics": lambda x: tf.debugging.check_numerics(tf.cast(x, tf.float32), "x"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ops_are_traced_and_give_what_they_give_on_tensors(name):
    function = FUNCTIONS[name]
    dataset = tf.data.Dataset.from_tensor_slices(X).map(function)
    assert "runs as a graph" in dataset.explain(), dataset.explain()
    for seen, row in zip(dataset, X, strict=True):
        expected = function(tf.constant(row))
        assert seen.dtype is expected.dtype
        np.testing.assert_array_equal(seen.numpy(), expected.numpy())


def test_diagonals_are_those_that_were_asked_for():
    square = [[1, 2], [3, 4]]
    assert tf.linalg.diag_part(square, k=1).numpy().tolist() == [2]
    assert tf.linalg.set_diag(square, [9], k=-1).numpy().tolist() == [[1, 2], [9, 4]]
    assert tf.linalg.diag([1, 2], k=1, num_rows=2).numpy().tolist() == [[0, 1, 0], [0, 0, 2]]
    assert tf.linalg.diag([1, 2], k=-1, padding_value=7).numpy().tolist() == [
        [7, 7, 7],
        [1, 7, 7],
        [7, 2, 7],
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no diagonal k=2"):
        tf.linalg.diag_part(square, k=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no diagonals of shape"):
        tf.linalg.diag([1, 2], num_rows=1)
    assert tf.linalg.diag_part(square, k=(-1, 1)).numpy().tolist() == [[0, 2], [1, 4], [3, 0]]


def test_checks_are_part_of_a_graph():
    def checked(x):
        tf.debugging.assert_less(x, 3, message="too large")
        return x

    dataset = tf.data.Dataset.range(5).map(checked)
    assert "runs as a graph" in dataset.explain()
    iterator = iter(dataset)
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        next(iterator)


def test_a_branch_that_is_not_taken_does_not_fail():
    def safe(x):
        return tf.cond(x > 0, lambda: tf.gather([7, 8], x - 1), lambda: tf.constant(-1))

    dataset = tf.data.Dataset.range(3).map(safe)
    assert "runs as a graph" in dataset.explain()
    assert [int(x) for x in dataset] == [-1, 7, 8]


def test_sparse_and_ragged_values_become_dense_in_a_graph():
    ragged = tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 1, 3])
    dataset = tf.data.Dataset.from_tensors(ragged).map(lambda r: r.to_tensor(9))
    assert "runs as a graph" in dataset.explain()
    np.testing.assert_array_equal(next(iter(dataset)).numpy(), [[1, 9], [2, 3]])
    sparse = tf.SparseTensor([[0, 1]], [b"a"], [1, 2])
    dataset = tf.data.Dataset.from_tensors(sparse).map(tf.sparse.to_dense)
    assert "runs as a graph" in dataset.explain()
    np.testing.assert_array_equal(next(iter(dataset)).numpy(), [[b"", b"a"]])


def test_a_scan_that_runs_as_python_has_a_spec():
    windows = tf.data.Dataset.range(6).window(2)
    counted = windows.scan(np.int64(0), lambda total, window: (total + 1, total))
    assert counted.element_spec == tf.TensorSpec((), tf.int64)
    assert [int(x) for x in counted] == [0, 1, 2]
    longer = windows.scan(
        tf.zeros([0], tf.int64), lambda seen, _: (tf.concat([seen, [1]], 0), (seen, "a"))
    )
    assert longer.element_spec == (tf.TensorSpec([None], tf.int64), tf.TensorSpec((), tf.string))
    with pytest.raises(TypeError):
        windows.scan(np.int64(0), lambda total, window: ((total, total), total))


def test_functions_of_numpy_run_as_python():
    dataset = tf.data.Dataset.from_tensor_slices(X).map(lambda x: np.multiply(x, 2))
    assert "uses np.multiply of a tensor" in dataset.explain()
    np.testing.assert_array_equal(np.stack([x.numpy() for x in dataset]), X * 2)


def test_numbers_of_several_kinds_are_stacked():
    assert tf.stack([1, 2.5]).dtype is tf.float32
    assert tf.stack([1, 2.5]).numpy().tolist() == [1, 2.5]
    with pytest.raises(TypeError):
        tf.stack([tf.constant(1), 2.5])
    dataset = tf.data.Dataset.range(2).map(lambda x: (tf.stack([x, 1]), tf.stack([1, 2.5])))
    assert dataset.element_spec == (tf.TensorSpec([2], tf.int64), tf.TensorSpec([2], tf.float32))


@pytest.mark.parametrize(
    ("name", "function", "channels"),
    [
        ("space", lambda x: tf.nn.space_to_depth(x[None], 2), 12),
        ("depth", lambda x: tf.nn.depth_to_space(tf.tile(x, [1, 1, 4])[None], 2), 3),
        ("pool", lambda x: tf.nn.max_pool2d(x[None], 2, 2, "VALID"), 3),
        ("filter", lambda x: tf.nn.conv2d(x[None], tf.ones([3, 3, 3, 5]), 1, "SAME"), 5),
    ],
)
def test_images_of_unknown_sizes_keep_what_is_known(name, function, channels):
    images = [np.arange(h * w * 3, dtype=np.float32).reshape(h, w, 3) for h, w in ((4, 6), (2, 2))]
    spec = tf.TensorSpec([None, None, 3], tf.float32)
    dataset = tf.data.Dataset.from_generator(lambda: iter(images), output_signature=spec)
    mapped = dataset.map(function)
    assert "runs as a graph" in mapped.explain()
    assert mapped.element_spec.shape.as_list() == [1, None, None, channels]
    for seen, image in zip(mapped, images, strict=True):
        np.testing.assert_allclose(seen.numpy(), function(tf.constant(image)).numpy(), rtol=1e-6)
    odd = tf.data.Dataset.from_generator(lambda: iter([images[0][:3]]), output_signature=spec)
    if name == "space":
        with pytest.raises(tf.errors.InvalidArgumentError):
            list(odd.map(function))


def test_images_of_unknown_sizes_are_split():
    images = [np.arange(h * w, dtype=np.float32).reshape(h, w) for h, w in ((4, 6), (2, 2), (3, 2))]
    spec = tf.TensorSpec([None, None], tf.float32)
    dataset = tf.data.Dataset.from_generator(lambda: iter(images), output_signature=spec)
    mapped = dataset.map(lambda x: tuple(tf.split(x, 2)) + tuple(tf.split(x, 2, axis=1)))
    assert "runs as a graph" in mapped.explain()
    iterator = iter(mapped)
    for image in images[:2]:
        wanted = [*np.split(image, 2), *np.split(image, 2, axis=1)]
        for seen, part in zip(next(iterator), wanted, strict=True):
            np.testing.assert_array_equal(seen, part)
    with pytest.raises(tf.errors.InvalidArgumentError, match="evenly divide"):
        next(iterator)


def test_folds_over_rows_of_an_unknown_number_are_loops():
    rows = [np.arange(n, dtype=np.int32) for n in (3, 1)]
    spec = tf.TensorSpec([None], tf.int32)
    dataset = tf.data.Dataset.from_generator(lambda: iter(rows), output_signature=spec)

    def fold(x):
        sums = tf.scan(lambda a, b: a + b, x)
        both = tf.foldl(
            lambda a, b: (a[0] + b, tf.constant(1.5)), x, (tf.constant(0), tf.constant(0.5))
        )
        return sums, both

    mapped = dataset.map(fold)
    number = tf.TensorSpec([], tf.int32)
    assert mapped.element_spec == (spec, (number, tf.TensorSpec([], tf.float32)))
    assert "runs as a graph" in mapped.explain()
    for (sums, (total, last)), row in zip(mapped, rows, strict=True):
        assert sums.numpy().tolist() == np.cumsum(row).tolist()
        assert (int(total), float(last)) == (row.sum(), 1.5)


@pytest.mark.parametrize("known", [[3, 3, 3], [None, 3, None], [None, None, 3], [None] * 3])
def test_strided_slices_between_places_that_a_run_computes(known):
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
    places = [np.array(p, np.int32) for p in ([0, 1, 4], [2, 4, 0], [1, 2, -1])]
    signature = tuple(tf.TensorSpec([count], tf.int32) for count in known)
    dataset = tf.data.Dataset.from_generator(
        lambda: iter([tuple(places)]), output_signature=signature
    )
    mapped = dataset.map(lambda *places: tf.strided_slice(x, *places))
    assert mapped.element_spec == tf.TensorSpec([None] * 3, tf.int32)
    assert ("runs as a graph" in mapped.explain()) == (known != [None] * 3)
    np.testing.assert_array_equal(mapped.get_single_element(), x[0:2, 1:4:2, 4:0:-1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="equal size"):
        tf.strided_slice(x, [0, 0], [1, 1, 1])
