"""`tf.train.Checkpoint` and `CheckpointManager`: variables and iterators in files."""

import os

import numpy as np
import pytest

import headrace.tf as tf


def numbers():
    return tf.data.Dataset.range(40).shuffle(7, seed=3).repeat().batch(3)


def taken(iterator, count=4):
    return [next(iterator).numpy().tolist() for _ in range(count)]


def test_a_training_loop_goes_on_where_it_was(tmp_path):
    def train(steps):
        step, iterator = tf.Variable(0), iter(numbers())
        checkpoint = tf.train.Checkpoint(step=step, iterator=iterator)
        manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
        checkpoint.restore(manager.latest_checkpoint).expect_partial()
        seen = []
        while step < steps:
            seen += taken(iterator, 1)
            step.assign_add(1)
            manager.save()
        return seen

    assert train(5) + train(12) == taken(iter(numbers()), 12)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-11.index", "ckpt-12.index"]


def test_an_iterator_is_moved_in_place(tmp_path):
    iterator = iter(numbers())
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    path = checkpoint.save(tmp_path / "ckpt")
    first = taken(iterator)
    later = checkpoint.save(tmp_path / "ckpt")
    rest = taken(iterator)
    for _ in range(3):
        checkpoint.restore(path).assert_consumed()
        assert taken(iterator) == first
    checkpoint.restore(later)
    assert taken(iterator) == rest
    assert iterator.stats()[0]["elements"] >= 4
    iterator.close()
    with pytest.raises(StopIteration):
        next(iterator)


def test_runs_of_numpy_values_are_kept_too(tmp_path):
    run = numbers().as_numpy_iterator()
    checkpoint = tf.train.Checkpoint(run=run)
    next(run)
    path = checkpoint.write(tmp_path / "a")
    expected = next(run).tolist()
    checkpoint.read(path)
    assert next(run).tolist() == expected


@pytest.mark.parametrize(
    "value",
    [
        3,
        [1.5, float("nan")],
        [[True], [False]],
        ["a", b"\xff\x00", ""],
        np.zeros((0, 2), np.int8),
        np.complex64(1 + 2j),
        tf.constant([1.5], tf.bfloat16),
        tf.constant([1.5], tf.float16),
    ],
    ids=str,
)
def test_variables_of_every_type_come_back(value, tmp_path):
    variable = tf.Variable(value)
    before = variable.numpy()
    checkpoint = tf.train.Checkpoint(model={"layers": [variable, tf.Variable(1)]})
    path = checkpoint.write(tmp_path / "w")
    dtype = variable.dtype
    variable.assign(tf.zeros_like(variable.value()) if dtype != tf.string else ["", "", "x"])
    checkpoint.read(path).assert_consumed()
    assert variable.dtype is dtype
    np.testing.assert_array_equal(variable.numpy(), before)


def test_numbers_go_on_with_the_counter(tmp_path):
    checkpoint = tf.train.Checkpoint(x=tf.Variable(1))
    assert checkpoint.save(tmp_path / "a").endswith("a-1")
    assert checkpoint.save(tmp_path / "a").endswith("a-2")
    other = tf.train.Checkpoint(x=tf.Variable(5))
    other.restore(tf.train.latest_checkpoint(tmp_path))
    assert (int(other.save_counter), int(other.x)) == (2, 1)
    assert tf.train.latest_checkpoint(tmp_path / "none") is None


def test_what_was_matched_can_be_asked(tmp_path):
    path = tf.train.Checkpoint(x=tf.Variable(1), y=tf.Variable(2)).write(tmp_path / "a")
    status = tf.train.Checkpoint(x=tf.Variable(0)).restore(path)
    status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="y was not used"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="value of z"):
        tf.train.Checkpoint(z=tf.Variable(0)).restore(path).assert_existing_objects_matched()


def test_a_manager_saves_at_intervals_and_starts_anew(tmp_path):
    step, started = tf.Variable(0), []
    checkpoint = tf.train.Checkpoint(step=step)

    def manager():
        return tf.train.CheckpointManager(
            checkpoint, tmp_path, 3, step_counter=step, checkpoint_interval=3,
            init_fn=lambda: started.append(1),
        )  # fmt: skip

    first = manager()
    assert first.restore_or_initialize() is None
    assert started == [1]
    saved = []
    for _ in range(8):
        step.assign_add(1)
        saved.append(first.save())
    assert [path is not None for path in saved] == [True, False, False] * 2 + [True, False]
    assert first.save(check_interval=False) == first.latest_checkpoint
    step.assign(0)
    second = manager()
    assert second.checkpoints == first.checkpoints
    assert second.restore_or_initialize() == first.latest_checkpoint
    assert int(step) == 8
    assert second.save(77, check_interval=False).endswith("ckpt-77")


def test_what_is_wrong_is_said(tmp_path):
    checkpoint = tf.train.Checkpoint(iterator=iter(numbers()))
    with pytest.raises(tf.errors.NotFoundError, match=r"none.index is missing"):
        checkpoint.restore(tmp_path / "none")
    with pytest.raises(ValueError, match="step is 3"):
        tf.train.Checkpoint(step=3)
    with pytest.raises(ValueError, match="max_to_keep"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 0)
    with pytest.raises(ValueError, match="step_counter"):
        tf.train.CheckpointManager(checkpoint, tmp_path, 1, checkpoint_interval=2)
    path = checkpoint.write(tmp_path / "a")
    other = iter(tf.data.Dataset.range(3))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.train.Checkpoint(iterator=other).restore(path)
    assert next(other).numpy() == 0
    with pytest.raises(ValueError, match="is a variable, in the checkpoint it is an iterator"):
        tf.train.Checkpoint(iterator=tf.Variable(1)).restore(path)
    path = tf.train.Checkpoint(x=tf.Variable(1)).write(tmp_path / "b")
    with pytest.raises(ValueError, match="dtype float32, in the checkpoint int32"):
        tf.train.Checkpoint(x=tf.Variable(1.0)).restore(path)
    (tmp_path / "b.index").write_text("[]")
    with pytest.raises(tf.errors.DataLossError, match="not a checkpoint"):
        tf.train.Checkpoint(x=tf.Variable(1)).restore(path)
