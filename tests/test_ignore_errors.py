"""`Dataset.ignore_errors`."""

import logging
import pickle

import numpy as np
import pytest
from laws import check_laws

import headrace as hr


def values(dataset):
    return [x.item() for x in dataset]


def fail_on(*numbers):
    def function(x):
        if x in numbers:
            raise ValueError(f"no {x}")
        return x

    return function


def test_elements_that_fail_are_left_out():
    numbers = hr.Dataset.range(6).map(fail_on(0, 3, 5))
    assert values(numbers.ignore_errors()) == [1, 2, 4]
    assert numbers.ignore_errors().cardinality() == hr.UNKNOWN_CARDINALITY


def test_take_counts_elements_on_either_side():
    numbers = hr.Dataset.range(10).map(fail_on(3))
    assert values(numbers.take(5).ignore_errors()) == [0, 1, 2, 4, 5]
    assert values(numbers.ignore_errors().take(5)) == [0, 1, 2, 4, 5]


def test_errors_of_graphs_are_errors_too():
    records = hr.Dataset.from_tensor_slices([b"ab", b"abc", b"cd"])
    numbers = records.map(lambda r: hr.io.decode_raw(r, np.int16), executor="native")
    assert [row.tobytes() for row in numbers.ignore_errors()] == [b"ab", b"cd"]


def test_a_batch_with_an_error_is_left_out_whole():
    batches = hr.Dataset.range(8).map(fail_on(3)).batch(2).ignore_errors()
    assert [batch.tolist() for batch in batches] == [[0, 1], [4, 5], [6, 7]]


def test_a_damaged_record_ends_its_file(tmp_path):
    path = tmp_path / "damaged.tfrecord"
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(10):
            writer.write(f"r{i}".encode())
    data = bytearray(path.read_bytes())
    data[5 * 18 + 12] ^= 1
    path.write_bytes(data)
    seen = list(hr.TFRecordDataset(path).ignore_errors())
    assert seen[:5] == [b"r0", b"r1", b"r2", b"r3", b"r4"]
    assert all(record in {b"r6", b"r7", b"r8", b"r9"} for record in seen[5:])


def test_after_the_limit_errors_are_raised():
    iterator = iter(hr.Dataset.range(6).map(fail_on(1, 2, 4)).ignore_errors(limit=1))
    assert next(iterator) == 0
    with pytest.raises(ValueError, match="no 2"):
        next(iterator)
    assert next(iterator) == 3
    with pytest.raises(ValueError, match="no 4"):
        next(iterator)
    assert values(iterator) == [5]
    with pytest.raises(hr.errors.InvalidArgumentError, match="limit"):
        hr.Dataset.range(3).ignore_errors(limit=-1)


def test_the_limit_is_counted_across_a_state():
    dataset = hr.Dataset.range(6).map(fail_on(1, 4)).repeat(2).ignore_errors(limit=3)
    iterator = iter(dataset)
    seen = [next(iterator).item() for _ in range(5)]
    again = dataset.iterator(state=iterator.state())
    for rest in (iterator, again):
        assert [next(rest).item() for _ in range(2)] == [2, 3]
        with pytest.raises(ValueError, match="no 4"):
            next(rest)
        assert values(rest) == [5]
    assert seen == [0, 2, 3, 5, 0]


def test_a_list_is_given_each_error():
    errors = []
    numbers = hr.Dataset.range(6).map(fail_on(1, 4)).ignore_errors(report=errors)
    assert values(numbers) == [0, 2, 3, 5]
    assert [str(error) for error in errors] == ["no 1", "no 4"]
    assert {type(error) for error in errors} == {ValueError}


def test_a_callable_is_given_each_error_and_may_raise():
    def stop(error):
        raise RuntimeError("enough") from error

    iterator = iter(hr.Dataset.range(3).map(fail_on(1)).ignore_errors(report=stop))
    assert next(iterator) == 0
    with pytest.raises(RuntimeError, match="enough"):
        next(iterator)
    assert values(iterator) == [2]
    with pytest.raises(TypeError, match="report"):
        hr.Dataset.range(3).ignore_errors(report=3)


def test_errors_are_logged(caplog):
    numbers = hr.Dataset.range(3).map(fail_on(1)).ignore_errors(log_warning=True)
    with caplog.at_level(logging.WARNING, "headrace"):
        assert values(numbers) == [0, 2]
    assert "ValueError: no 1" in caplog.text


def test_it_pickles():
    dataset = hr.Dataset.range(3).ignore_errors(True, limit=2, report=print)
    assert values(pickle.loads(pickle.dumps(dataset))) == [0, 1, 2]


def test_the_laws_hold():
    check_laws(lambda: hr.Dataset.range(20).map(fail_on(3, 8, 9)).ignore_errors())
    check_laws(lambda: hr.Dataset.range(20).map(fail_on(3, 8, 9)).take(12).ignore_errors())
    check_laws(lambda: hr.Dataset.range(7).shuffle(4, 1).map(fail_on(3)).repeat(3).ignore_errors())
    check_laws(lambda: hr.Dataset.range(20).map(fail_on(3, 8)).ignore_errors().batch(4))
