"""`tf.compat.v1` and `v2`: old names of input code."""

import numpy as np
import pytest

import headrace.tf as tf
from headrace.image.resizing import resized

v1 = tf.compat.v1


def test_iterators_of_version_1_give_elements():
    dataset = tf.data.Dataset.range(3)
    once = v1.data.make_one_shot_iterator(dataset)
    assert [once.get_next().numpy() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.OutOfRangeError):
        once.get_next()
    again = v1.data.make_initializable_iterator(dataset)
    for _ in range(2):
        again.initializer()
        assert again.get_next().numpy() == 0
    assert [x.numpy() for x in again] == [1, 2]
    assert next(v1.data.make_initializable_iterator(dataset)).numpy() == 0


def test_the_parts_of_an_element_spec_are_told():
    dataset = v1.data.Dataset.from_tensor_slices({"a": [1.0, 2.0], "b": ["x", "y"]}).batch(2)
    assert v1.data.get_output_types(dataset) == {"a": tf.float32, "b": tf.string}
    shapes = v1.data.get_output_shapes(dataset)
    assert shapes["a"].as_list() == [None]
    assert v1.data.get_output_classes(iter(dataset))["a"] is tf.Tensor
    assert v1.data.TFRecordDataset is tf.data.TFRecordDataset
    assert v1.data.AUTOTUNE == tf.data.AUTOTUNE
    assert v1.data.experimental is tf.data.experimental


def test_version_1_parses(tmp_path):
    example = tf.train.Example()
    example.features.feature["x"].int64_list.value.append(3)
    features = {"x": v1.FixedLenFeature([], tf.int64), "v": v1.VarLenFeature(tf.string)}
    one = v1.parse_single_example(example.SerializeToString(), features)
    assert one["x"].numpy() == 3
    many = v1.parse_example([example.SerializeToString()], features, name="parse")
    assert many["x"].numpy().tolist() == [3]
    assert v1.io.parse_example([b""], {"v": features["v"]})["v"].shape == (1, 0)
    assert v1.decode_raw(bytes=b"\x01\x00", out_type=tf.int16).numpy().tolist() == [1]
    with pytest.raises(ValueError, match="out_type"):
        v1.decode_raw(b"")
    one, two = v1.decode_csv("1,", [[0], ["d"]])
    assert (one.numpy(), two.numpy()) == (1, b"d")
    path = str(tmp_path / "a.tfrecord")
    options = v1.python_io.TFRecordOptions(v1.python_io.TFRecordCompressionType.GZIP)
    with v1.python_io.TFRecordWriter(path, options) as writer:
        writer.write(b"one")
    assert list(v1.io.tf_record_iterator(path, options)) == [b"one"]
    assert v1.gfile.Exists(path)
    assert v1.gfile.Glob(path) == [path]
    with v1.gfile.Open(path, "rb") as file:
        assert len(file.read()) == file.size()


def test_other_names_are_todays():
    assert v1.constant(1).numpy() == 1
    assert v1.to_float([1]).dtype == tf.float32
    assert v1.to_int64([1.5]).numpy().tolist() == [1]
    assert v1.string_to_number("2", tf.int32).numpy() == 2
    assert v1.errors.NotFoundError is tf.errors.NotFoundError
    assert tf.compat.v2 is tf
    v1.enable_eager_execution()
    v1.enable_v2_behavior()
    with pytest.raises(NotImplementedError, match="always eager"):
        v1.disable_eager_execution()
    with pytest.raises(AttributeError, match=r"tf\.compat\.v1\.parse_example"):
        v1.parse_exampel  # noqa: B018


def test_the_seed_of_version_1_is_the_global_one():
    v1.set_random_seed(1)
    first = [x.numpy() for x in tf.data.Dataset.range(9).shuffle(9)]
    tf.random.set_seed(1)
    assert [x.numpy() for x in tf.data.Dataset.range(9).shuffle(9)] == first


def test_datasets_are_written_as_records(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    dataset = tf.data.Dataset.from_tensor_slices(["a", "b"])
    tf.data.experimental.TFRecordWriter(path).write(dataset)
    assert [x.numpy() for x in tf.data.TFRecordDataset(path)] == [b"a", b"b"]
    numbers = tf.data.Dataset.range(3).map(tf.io.serialize_tensor)
    tf.data.experimental.TFRecordWriter(path, compression_type="GZIP").write(numbers)
    read = tf.data.TFRecordDataset(path, compression_type="GZIP")
    parsed = read.map(lambda x: tf.io.parse_tensor(x, tf.int64))
    assert [x.numpy() for x in parsed] == [0, 1, 2]
    with pytest.raises(TypeError, match=r"Expected a `tf\.data.Dataset` object"):
        tf.data.experimental.TFRecordWriter(path).write([b"a"])
    with pytest.raises(TypeError, match=r"produces scalar `tf\.string` elements"):
        tf.data.experimental.TFRecordWriter(path).write(tf.data.Dataset.range(3))
    with pytest.raises(TypeError, match="scalar"):
        tf.data.experimental.TFRecordWriter(path).write(dataset.batch(2))


def test_records_are_written_one_by_one_too(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tf.data.experimental.TFRecordWriter(path) as writer:
        writer.write(b"a")
        assert [x.numpy() for x in tf.data.TFRecordDataset(path)] == [b"a"]
        writer.write(b"b")
    assert [x.numpy() for x in tf.data.TFRecordDataset(path)] == [b"a", b"b"]


def test_images_of_many_sizes_are_resized_on_the_grid_of_version_1():
    rng = np.random.default_rng(3)
    images = [rng.random((*size, 2)) for size in ((5, 7), (1, 1), (9, 4), (3, 6))]
    spec = tf.TensorSpec((None, None, 2), tf.float64)
    dataset = tf.data.Dataset.from_generator(lambda: iter(images), output_signature=spec)
    for method in range(4):
        for align_corners in (False, True):

            def resize(image, method=method, align_corners=align_corners):
                return v1.image.resize(image, [3, 6], method, align_corners)

            (found,) = dataset.map(resize).batch(4)
            for image, row in zip(images[:3], found, strict=False):
                np.testing.assert_array_equal(resize(image).numpy(), row.numpy())
            # A size that is known in a run only does not keep the dtype.
            assert found.dtype == (tf.float64 if method == 1 else tf.float32)
            assert resize(images[3]).dtype == tf.float64


def test_the_grids_of_version_1_know_its_methods_only():
    with pytest.raises(tf.errors.InvalidArgumentError, match="half pixels only"):
        resized(np.zeros((2, 2, 1)), (3, 3), "lanczos3", "fill", False, grid="aligned")
    with pytest.raises(AttributeError, match=r"tf\.compat\.v1\.image\.resize"):
        v1.image.resize_imags  # noqa: B018


def test_constant_ragged_values_are_numpys():
    constant_value = v1.ragged.constant_value
    value = constant_value([[b"a", b"bb"], []])
    assert value.values.dtype == value.dtype == np.dtype("S2")
    assert value.row_splits.tolist() == [0, 2, 2]
    assert constant_value([["a"], []], dtype=bytes).values.dtype.kind == "S"
    assert constant_value([[1], [2]], dtype=tf.int8).values.dtype == np.int8
    assert constant_value([[1]], row_splits_dtype=tf.int32).row_splits.dtype == np.int32
    assert constant_value([1, 2]).dtype == np.array([1, 2]).dtype
    inner = constant_value([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert inner.values.shape == (3, 2)
    assert repr(inner).startswith("tf.RaggedTensorValue(values=array([[1, 2]")
    assert inner.to_list() == [[[1, 2]], [[3, 4], [5, 6]]]


@pytest.mark.parametrize(
    ("rows", "rank", "text"),
    [
        (3, 1, "incompatible with ragged_rank=1"),
        ([[1], [2]], 2, "max depth smaller than ragged_rank=2"),
        ([1, [2]], None, "same nesting depth"),
        ([[1]], -1, "nonnegative"),
    ],
)
def test_lists_that_are_not_so_deep_are_no_ragged_values(rows, rank, text):
    for make in (v1.ragged.constant_value, tf.ragged.constant):
        with pytest.raises(ValueError, match=text):
            make(rows, ragged_rank=rank)


def test_kinds_of_values_are_told_by_compat():
    assert isinstance("a", tf.compat.bytes_or_text_types)
    assert isinstance(np.int8(1), tf.compat.integral_types)
    assert not isinstance(1.5, tf.compat.integral_types)
    assert isinstance(np.float32(1), tf.compat.real_types)
    assert not isinstance(1j, tf.compat.real_types)
    assert isinstance(np.complex64(1), tf.compat.complex_types)


def test_where_of_version_1_chooses_rows_and_broadcasts_nothing():
    first, second = [[1, 2], [3, 4]], [[5, 6], [7, 8]]
    assert v1.where([False, True], first, second).numpy().tolist() == [[5, 6], [3, 4]]
    mask = [[True, False], [False, True]]
    assert v1.where(mask, first, second).numpy().tolist() == [[1, 6], [7, 4]]
    assert v1.where(True, first, second).numpy().tolist() == first
    assert v1.where([False, True]).numpy().tolist() == [[1]]
    for bad in ([True], [[True], [False]], [True, False, True]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="same size and shape"):
            v1.where(bad, first, second)
    with pytest.raises(tf.errors.InvalidArgumentError, match="same size and shape"):
        v1.where([True, False], [1, 2], second)
    with pytest.raises(ValueError, match="both"):
        v1.where([True], [1])
    rows = np.arange(8).reshape(2, 2, 2)
    dataset = tf.data.Dataset.from_tensor_slices(rows)
    chosen = dataset.map(lambda x: v1.where(x[:, 0] > 3, x, -x))
    wanted = np.where(rows[:, :, :1] > 3, rows, -rows)
    assert [x.tolist() for x in chosen.as_numpy_iterator()] == wanted.tolist()


def test_arguments_of_version_1_have_their_old_names_and_order():
    x = tf.constant([[1, 5], [4, 2]])
    assert v1.reduce_sum(x, reduction_indices=1, keep_dims=True).numpy().tolist() == [[6], [6]]
    assert v1.reduce_max(x, 0, False, "name").numpy().tolist() == [4, 5]
    assert v1.argmax(x, dimension=1).numpy().tolist() == [1, 0]
    assert v1.expand_dims(x, dim=0).shape == (1, 2, 2)
    assert v1.squeeze(x[None], squeeze_dims=[0]).shape == (2, 2)
    assert v1.gather(x, [1], None, "name", 1).numpy().tolist() == [[5], [2]]
    assert v1.boolean_mask(x, [True, False], "name", 1).numpy().tolist() == [[1], [4]]
    padded = v1.pad(x, [[0, 0], [1, 0]], "CONSTANT", "name", 9)
    assert padded.numpy().tolist() == [[9, 1, 5], [9, 4, 2]]
    assert v1.size(x, "name", tf.int64).dtype is tf.int64
    turned = v1.reverse_sequence(x, [2, 1], seq_dim=1, batch_dim=0)
    assert turned.numpy().tolist() == [[5, 1], [4, 2]]
    assert v1.count_nonzero(x, reduction_indices=[0]).numpy().tolist() == [2, 2]
    assert v1.math.reduce_min(x, keep_dims=True).shape == (1, 1)
    assert v1.math.in_top_k([[0.1, 0.9]], [1], 1).numpy().tolist() == [True]
    assert v1.nn.softmax([[0.0, 0.0]], dim=-1).numpy().tolist() == [[0.5, 0.5]]
    assert v1.nn.moments(x, [0, 1], keep_dims=True)[0].shape == (1, 1)
    assert v1.constant(1, tf.int64, [2], "name", verify_shape=True).numpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match="Cannot specify both 'keep_dims' and 'keepdims'"):
        v1.reduce_sum(x, keep_dims=True, keepdims=True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'along'"):
        v1.reduce_sum(x, along=1)
    with pytest.raises(TypeError, match="multiple values for argument 'axis'"):
        v1.reduce_sum(x, 1, axis=1)
    with pytest.raises(TypeError, match="at most 6"):
        v1.reduce_sum(x, 1, True, "name", None, None, None)
    summed = tf.data.Dataset.from_tensors(x).map(lambda x: v1.reduce_sum(x, keep_dims=True))
    assert summed.element_spec == tf.TensorSpec([1, 1], tf.int32)
