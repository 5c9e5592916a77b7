"""What `tf.print` writes: tensors by `tf.strings.format`, everything else as Python shows it."""

from __future__ import annotations

import pprint
from typing import Any

from .convert import convert, is_dense, is_tensor
from .dtypes import string
from .nest import map_structure
from .ragged_tensor import RaggedTensor
from .sparse_tensor import SparseTensor
from .tensor import raw

__all__ = ["printed"]

_MARK = "\0"


class _Place:
    """Stands for tensors in a nest that Python shows: a text with a mark for each."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def printed(inputs: tuple[Any, ...], sep: str, summarize: int | None) -> bytes:
    """Return values, and nests of them, as a text."""
    if len(inputs) == 1 and is_dense(inputs[0]):
        only = raw(inputs[0])
        if inputs[0].dtype == string and not only.ndim:
            return bytes(only.item())
    count = 3 if summarize is None else summarize
    return sep.encode().join(_text(value, count) for value in inputs)


def _text(value: Any, summarize: int) -> bytes:
    from .strings import format
    from .variables import Variable

    if isinstance(value, str):
        return value.encode(errors="surrogateescape")
    tensors: list[Any] = []

    def place(leaf: Any) -> Any:
        if isinstance(leaf, SparseTensor):
            tensors.extend((leaf.indices, leaf.values, leaf.dense_shape))
            text = f"SparseTensor(indices={_MARK}, values={_MARK}, shape={_MARK})"
            return _Place(repr(text).replace(r"\x00", _MARK))
        if isinstance(leaf, RaggedTensor):
            tensors.append(leaf)
        elif is_tensor(leaf) or isinstance(leaf, Variable):
            tensors.append(convert(leaf))
        else:
            return leaf
        return _Place(_MARK)

    first, *rest = pprint.pformat(map_structure(place, value)).split(_MARK)
    parts = [first.encode(errors="surrogateescape")]
    for tensor, text in zip(tensors, rest, strict=True):
        parts.append(raw(format("{}", [tensor], summarize=summarize)).item())
        parts.append(text.encode(errors="surrogateescape"))
    return b"".join(parts)
