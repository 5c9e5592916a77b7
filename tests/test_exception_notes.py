"""An exception of the user's arrives as it was raised, with a note of the stage and element."""

import subprocess
import sys
import textwrap
import traceback

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

SCALAR = hr.TensorSpec((), np.int64)


def fail(*args):
    if int(args[-1]) == 7:
        raise KeyError("x")
    return args[-1]


def compare(x):
    return fail(x) == x


def opens(x):
    return hr.Dataset.range(int(fail(x)) % 2 + 1)


def generate():
    for i in range(20):
        yield fail(i)


def numbers():
    return hr.Dataset.range(20)


def generator():
    return hr.Dataset.from_generator(generate, output_signature=SCALAR)


OPS = {
    "map": lambda: numbers().map(fail),
    "map, parallel": lambda: numbers().map(fail, num_parallel_calls=4),
    "map, unordered": lambda: numbers().map(fail, num_parallel_calls=4, deterministic=False),
    "map, prefetch": lambda: numbers().map(fail).batch(4).prefetch(1),
    "filter": lambda: numbers().filter(compare),
    "take_while": lambda: numbers().take_while(lambda x: fail(x) >= 0),
    "scan": lambda: numbers().scan(np.int64(0), lambda state, x: (state, fail(x))),
    "flat_map": lambda: numbers().flat_map(opens),
    "interleave": lambda: numbers().interleave(opens, cycle_length=2),
    "interleave, parallel": lambda: numbers().interleave(
        opens, cycle_length=2, num_parallel_calls=2
    ),
    "from_generator": generator,
    "from_generator, prefetch": lambda: generator().prefetch(2),
    "group_by_window": lambda: numbers().group_by_window(
        lambda x: fail(x) * 0, lambda key, group: group.batch(3), 3
    ),
}


@pytest.mark.parametrize("op", OPS)
def test_type_traceback_stage_and_element_arrive(op):
    with pytest.raises(KeyError) as raised:
        list(OPS[op]())
    error = raised.value
    assert error.args == ("x",)
    (note,) = error.__notes__
    assert note.startswith(f"in {op.split(',')[0]} ")
    assert note.endswith(", element 7")
    assert "test_exception_notes.py:" in note
    assert traceback.extract_tb(error.__traceback__)[-1].name == "fail"
    assert "".join(traceback.format_exception(error)).count("Traceback (most recent") == 1


def test_reduce_and_groups_tell_too():
    with pytest.raises(KeyError) as raised:
        numbers().reduce(np.int64(0), lambda state, x: fail(x))
    assert raised.value.__notes__[0].endswith("element 7")
    groups = numbers().group_by_window(lambda x: x, lambda key, group: opens(key), 1)
    with pytest.raises(KeyError) as raised:
        list(groups)
    assert raised.value.__notes__[0].endswith("group 7")


def test_a_program_that_ends_by_it_prints_one_traceback(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text(
        textwrap.dedent("""
        import headrace as hr
        def fail(x):
            str(x)
            if x == 7:
                raise KeyError("x")
            return x
        for _ in hr.Dataset.range(20).map(fail, num_parallel_calls=4):
            pass
        """)
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=200)
    assert ended.returncode == 1
    assert ended.stderr.count("Traceback (most recent call last)") == 1
    assert ended.stderr.rstrip().endswith("KeyError: 'x'\nin map fail at fails.py:3, element 7")


def tensors():
    return tf.data.Dataset.range(20)


def fail_tensor(*args):
    return tf.py_function(lambda x: fail(x.numpy()), [args[-1]], tf.int64)


TENSOR_OPS = {
    "map": lambda: tensors().map(fail_tensor),
    "parallel map": lambda: tensors().map(fail_tensor, num_parallel_calls=4),
    "filter": lambda: tensors().filter(lambda x: fail_tensor(x) >= 0),
    "scan": lambda: tensors().scan(np.int64(0), lambda state, x: (state, fail_tensor(x))),
    "flat_map": lambda: tensors().flat_map(lambda x: tf.data.Dataset.from_tensors(fail_tensor(x))),
    "from_generator": lambda: tf.data.Dataset.from_generator(
        generate, output_signature=tf.TensorSpec((), tf.int64)
    ),
}


@pytest.mark.parametrize("op", TENSOR_OPS)
def test_under_tensorflows_names_it_is_the_cause_of_tensorflows_error(op):
    with pytest.raises(tf.errors.OpError) as raised:
        list(TENSOR_OPS[op]())
    assert isinstance(raised.value, tf.errors.UnknownError)
    assert isinstance(raised.value.__cause__, KeyError)
