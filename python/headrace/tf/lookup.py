"""Tables from keys to values; mirrors ``tf.lookup``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import FailedPreconditionError, InvalidArgumentError
from .convert import convert, is_symbol
from .dtypes import as_dtype, int32, int64, string
from .kernels import python, run, static_shape
from .names import lookup as _lookup
from .tensor import raw, wrap
from .text_table import TextFileIndex, TextFileInitializer

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
]


class KeyValueTensorInitializer:
    """What a table holds at first; mirrors ``tf.lookup.KeyValueTensorInitializer``.

    Parameters
    ----------
    keys, values
        Vectors of one length.
    key_dtype, value_dtype
        Their types.
    """

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self.keys = convert(keys, key_dtype)
        self.values = convert(values, value_dtype)
        if raw(self.keys).size != raw(self.values).size:
            raise InvalidArgumentError("a table needs as many values as keys")

    @property
    def key_dtype(self) -> Any:
        """The type of the keys."""
        return self.keys.dtype

    @property
    def value_dtype(self) -> Any:
        """The type of the values."""
        return self.values.dtype


def _keys(keys: Any, dtype: Any) -> Any:
    """Return keys as a tensor, which must have the type of the table's."""
    x = convert(keys)
    if x.dtype is not dtype:
        raise TypeError(f"Dtype of argument `keys` must be {dtype!r}, received: {x.dtype!r}")
    return x


def _find(table: Any, x: Any, default: Any) -> Any:
    """Return the values of keys: recorded for symbols, from the dict for what is there."""
    values = table._table

    def compute(array: Any) -> Any:
        made = np.empty(array.size, table.value_dtype.dtype)
        made[:] = [values.get(key, default) for key in array.reshape(-1).tolist()]
        return made.reshape(array.shape)

    out = (static_shape(x), table.value_dtype)
    if not is_symbol(x) or table.key_dtype not in (string, int32, int64):
        return python("a table of such keys", compute, out, x)
    kinds = table.key_dtype.dtype, table.value_dtype.dtype
    keys, found = (np.array([*part], kind) for part, kind in zip((values, values.values()), kinds,
                                                                strict=True))  # fmt: skip
    single = default if table.value_dtype is string else np.asarray(default, kinds[1])
    return run("lookup", (x,), out, keys=keys, values=found, default=single)


class StaticHashTable:
    """A table that does not change; mirrors ``tf.lookup.StaticHashTable``.

    Parameters
    ----------
    initializer
        Keys and values.
    default_value
        What keys that are not there give.

    Raises
    ------
    FailedPreconditionError
        A key has two values.

    Examples
    --------
    >>> keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> tf.lookup.StaticHashTable(keys, -1).lookup(tf.constant(["b", "c"])).numpy()
    array([ 2, -1], dtype=int32)
    """

    def __init__(
        self, initializer: Any, default_value: Any, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        self.key_dtype = initializer.key_dtype
        self.value_dtype = initializer.value_dtype
        self._default = raw(convert(default_value, self.value_dtype)).item()
        keys, values = raw(initializer.keys).reshape(-1), raw(initializer.values).reshape(-1)
        self._table: dict[Any, Any] = {}
        for key, value in zip(keys.tolist(), values.tolist(), strict=True):
            if self._table.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"HashTable has different value for same key. Key {key!r} has "
                    f"{self._table[key]!r} and trying to add value {value!r}"
                )

    @property
    def default_value(self) -> Any:
        """What keys that are not there give."""
        return convert(self._default, self.value_dtype)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the value of each key."""
        mapper = getattr(type(keys), "_map_values", None)
        if mapper is not None:
            return mapper(self.lookup, keys)
        return _find(self, _keys(keys, self.key_dtype), self._default)

    __getitem__ = lookup

    def size(self, name: str | None = None) -> Any:
        """Return the number of keys."""
        return wrap(np.int64(len(self._table)))

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """Return keys and values."""
        return convert(list(self._table), self.key_dtype), convert(
            list(self._table.values()), self.value_dtype
        )


class StaticVocabularyTable:
    """Numbers for words, buckets for others; mirrors ``tf.lookup.StaticVocabularyTable``.

    Parameters
    ----------
    initializer
        Words and their numbers, int64; None: there are buckets only.
    num_oov_buckets
        How many numbers there are for words that are not in it, by FarmHash.
    lookup_key_dtype
        The dtype of the words that are looked up; that of the initializer by default.

    Raises
    ------
    ValueError
        There is no bucket.
    TypeError
        The numbers are not int64.

    Examples
    --------
    >>> words = tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64))
    >>> table = tf.lookup.StaticVocabularyTable(words, 1)
    >>> table.lookup(tf.constant(["a", "b"])).numpy()
    array([0, 1])
    """

    def __init__(
        self, initializer: Any, num_oov_buckets: int, lookup_key_dtype: Any = None,
        name: str | None = None, experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable")
        if initializer is not None and initializer.value_dtype is not int64:
            raise TypeError(
                f"Invalid `value_dtype`, expected int64 but got {initializer.value_dtype.name}"
            )
        self._buckets = int(num_oov_buckets)
        own = string if initializer is None else initializer.key_dtype
        self.key_dtype = as_dtype(lookup_key_dtype or own)
        self.value_dtype = int64
        self._table: dict[Any, Any] = {}
        if initializer is not None:
            keys, values = (
                raw(part).reshape(-1) for part in (initializer.keys, initializer.values)
            )
            self._table = dict(zip(keys.tolist(), values.tolist(), strict=True))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the number of each key."""
        mapper = getattr(type(keys), "_map_values", None)
        if mapper is not None:
            return mapper(self.lookup, keys)
        from .gathering import where
        from .strings import as_string, to_hash_bucket_fast

        x = _keys(keys, self.key_dtype)
        text = x if x.dtype is string else as_string(x)
        others = to_hash_bucket_fast(text, self._buckets) + np.int64(len(self._table))
        if not self._table:
            return others
        found = _find(self, x, -1)
        return where(found == np.int64(-1), others, found)

    __getitem__ = lookup

    def size(self, name: str | None = None) -> Any:
        """Return the number of words and buckets."""
        return wrap(np.int64(len(self._table) + self._buckets))


__getattr__ = _lookup(__name__)
