"""`from_generator` under TensorFlow's rules: tensors may be yielded, errors are TensorFlow's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...generator import Source
from ...nest import is_structure, items, rebuild
from ..bridge import to_own
from ..errors_of import as_error
from ..sparse import SparseTensor, SparseTensorValue

__all__ = ["TensorSource"]


class _Yields:
    """An iterator whose exceptions are TensorFlow's errors."""

    def __init__(self, inner: Iterator[Any]) -> None:
        self._inner = inner
        if hasattr(inner, "close"):
            self.close = inner.close

    def __iter__(self) -> _Yields:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._inner)
        except StopIteration:
            raise
        except Exception as error:
            found = as_error(error)
            if found is error:
                raise
            raise found from error


class TensorSource(Source):
    """A generator of ``tf.data``."""

    def __init__(self, source: Source) -> None:
        self.__dict__.update(source.__dict__)
        plain = source.convert
        self.convert = lambda value, index=None: plain(_plain(value), index)

    def open(self) -> Iterator[Any]:
        """Return a fresh iterator of raw yields."""
        try:
            return _Yields(super().open())
        except Exception as error:
            found = as_error(error)
            if found is error:
                raise
            raise found from error

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (super().__reduce__(),)


def _restored(reduced: Any) -> TensorSource:
    make, args = reduced
    return TensorSource(make(*args))


def _plain(value: Any) -> Any:
    """Return a yield without tensors."""
    if isinstance(value, SparseTensorValue):
        return to_own(SparseTensor.from_value(value))
    if is_structure(value):
        return rebuild(value, [_plain(child) for _, child in items(value)])
    if type(value) is list:
        return [_plain(item) for item in value]
    return to_own(value)
