"""What mypy infers of datasets; checked by `make types`, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import headrace as hr


def to_pair(x: Any) -> tuple[np.int64, NDArray[np.float32]]:
    return np.int64(x), np.zeros(2, np.float32)


pairs = hr.Dataset.range(3).map(to_pair)
assert_type(pairs, hr.Dataset[tuple[np.int64, NDArray[np.float32]]])
assert_type(pairs.shuffle(2).repeat().take(5), hr.Dataset[tuple[np.int64, NDArray[np.float32]]])
assert_type(next(iter(pairs)), tuple[np.int64, NDArray[np.float32]])
assert_type(hr.TFRecordDataset("a"), hr.TFRecordDataset)
assert_type(hr.TFRecordDataset("a").skip(1), hr.Dataset[bytes])
assert_type(hr.TFRecordDataset("a").enumerate(), hr.Dataset[tuple[np.int64, bytes]])
assert_type(
    hr.Dataset.zip(hr.TFRecordDataset("a"), pairs.map(lambda a, b: 1)),
    hr.Dataset[tuple[bytes, int]],
)
assert_type(hr.Dataset.range(3).batch(2), hr.Dataset[Any])
numbers = hr.TFRecordDataset("a").enumerate()
assert_type(numbers.take_while(lambda i, r: True), hr.Dataset[tuple[np.int64, bytes]])
assert_type(numbers.shard(2, 0).unique().ignore_errors(), hr.Dataset[tuple[np.int64, bytes]])
assert_type(numbers[0], tuple[np.int64, bytes])
assert_type(numbers.get_single_element(), tuple[np.int64, bytes])
assert_type(hr.TFRecordDataset("a").reduce(0, lambda total, record: total + len(record)), int)
assert_type(hr.TFRecordDataset("a").scan(0, lambda n, r: (n + 1, n)), hr.Dataset[int])
