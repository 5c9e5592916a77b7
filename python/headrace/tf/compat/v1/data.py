"""Datasets and their iterators by the names of TensorFlow 1; mirrors ``tf.compat.v1.data``.

There are no sessions: iterators are those of today, so that ``get_next()`` gives the next element.
"""

from __future__ import annotations

import importlib
from typing import Any

from ....nest import map_structure
from ... import data as _data
from ...data import Dataset

__all__ = [
    "Dataset",
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]


def make_one_shot_iterator(dataset: Any) -> Any:
    """Return an iterator; mirrors ``tf.compat.v1.data.make_one_shot_iterator``.

    Examples
    --------
    >>> numbers = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    >>> numbers.get_next().numpy()
    np.int64(0)
    """
    return iter(dataset)


class _Initializable:
    """An iterator that starts when its initializer is called, or at the first element."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._iterator: Any = None

    def initializer(self) -> None:
        """Start from the beginning."""
        self._iterator = iter(self._dataset)

    @property
    def element_spec(self) -> Any:
        """What elements look like."""
        return self._dataset.element_spec

    def get_next(self, name: str | None = None) -> Any:
        """Return the next element; OutOfRangeError at the end."""
        if self._iterator is None:
            self.initializer()
        return self._iterator.get_next()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self._iterator is None:
            self.initializer()
        return next(self._iterator)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Return an iterator that can start anew.

    Mirrors ``tf.compat.v1.data.make_initializable_iterator``; ``iterator.initializer()`` starts it,
    where a session would run ``iterator.initializer``.

    Examples
    --------
    >>> numbers = tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(2))
    >>> numbers.initializer()
    >>> [numbers.get_next().numpy() for _ in range(2)]
    [np.int64(0), np.int64(1)]
    """
    return _Initializable(dataset)


def _of_specs(dataset_or_iterator: Any, part: Any) -> Any:
    return map_structure(part, dataset_or_iterator.element_spec)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Return the dtype of each component; mirrors ``tf.compat.v1.data.get_output_types``.

    Examples
    --------
    >>> tf.compat.v1.data.get_output_types(tf.data.Dataset.range(2))
    tf.int64
    """
    return _of_specs(dataset_or_iterator, lambda spec: spec.dtype)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Return the shape of each component; mirrors ``tf.compat.v1.data.get_output_shapes``.

    Examples
    --------
    >>> tf.compat.v1.data.get_output_shapes(tf.data.Dataset.range(2).batch(2))
    TensorShape([None])
    """
    return _of_specs(dataset_or_iterator, lambda spec: spec.shape)


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """Return the class of each component; mirrors ``tf.compat.v1.data.get_output_classes``.

    Examples
    --------
    >>> tf.compat.v1.data.get_output_classes(tf.data.Dataset.range(2)).__name__
    'Tensor'
    """
    return _of_specs(dataset_or_iterator, lambda spec: spec.value_type)


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module("headrace.tf.data.experimental")
    return getattr(_data, name)
