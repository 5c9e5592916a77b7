"""Datasets and tables: rows of databases as elements, and elements as tables of ``tf.lookup``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np

from ... import experimental
from ...errors import InvalidArgumentError, UnknownError
from .. import dtypes, lookup
from ..convert import convert
from ..nest import flatten, map_structure, pack_sequence_as
from ..specs import TensorSpec
from .arguments import argument
from .dataset import Dataset

__all__ = ["DatasetInitializer", "SqlDataset", "index_table_from_dataset", "table_from_dataset"]

_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "bool")
# How SQLite says what columns become.
_KINDS = dict.fromkeys(_WHOLE, "integer") | {"float64": "real", "string": "blob"}


def SqlDataset(driver_name: Any, data_source_name: Any, query: Any, output_types: Any) -> Dataset:
    """Yield the rows of a query; mirrors ``tf.data.experimental.SqlDataset``.

    Parameters
    ----------
    driver_name
        ``"sqlite"``.
    data_source_name
        The file of the database, which is only read.
    query
        The query in SQL; it is made anew in each run.
    output_types
        A nest of the types of the columns: string, bool, float64, and integers. SQLite converts
        what is of another type; NULL is 0 or "".

    Raises
    ------
    InvalidArgumentError
        Another driver or type; in the run, another number of columns.
    UnknownError
        In the run: the database refuses the query.

    Examples
    --------
    >>> import os, sqlite3, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.sqlite")
    >>> with sqlite3.connect(path) as database:
    ...     _ = database.execute("create table people (name text, age int)")
    ...     _ = database.execute("insert into people values ('Ada', 36)")
    >>> columns = (tf.string, tf.int32)
    >>> rows = tf.data.experimental.SqlDataset("sqlite", path, "select * from people", columns)
    >>> list(rows.as_numpy_iterator())
    [(b'Ada', np.int32(36))]
    """
    driver, place, text = (
        os.fsdecode(argument(part)) for part in (driver_name, data_source_name, query)
    )
    if driver != "sqlite":
        raise InvalidArgumentError(
            f"The database type, {driver}, is not supported by SqlDataset. The set of supported "
            "databases is: {'sqlite'}."
        )
    types = [dtypes.as_dtype(dtype) for dtype in flatten(output_types)]
    for dtype in types:
        if dtype.name not in _KINDS:
            raise InvalidArgumentError(
                f"a column is one of {', '.join(_KINDS)}; output_types has {dtype.name}"
            )

    def rows() -> Iterator[Any]:
        import sqlite3

        uri = f"file:{place.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as database:
                database.text_factory = bytes
                found = database.execute(text)
                count = len(found.description or ())
                if count != len(types):
                    raise InvalidArgumentError(
                        f"The number of columns in query ({count}) must match the number of "
                        f"elements in output_types ({len(types)})."
                    )
                for row in found:
                    values = [_column(database, *pair) for pair in zip(row, types, strict=True)]
                    yield pack_sequence_as(output_types, values)
        except sqlite3.Error as error:
            raise UnknownError(f"{error}: {text} ({place})") from None

    signature = map_structure(lambda dtype: TensorSpec([], dtype), output_types)
    made: Dataset = Dataset.from_generator(rows, output_signature=signature)
    return made


def _column(database: Any, value: Any, dtype: Any) -> Any:
    """Return a value as SQLite has it in a column of another type."""
    if value is None:
        return b"" if dtype is dtypes.string else dtype.dtype.type(0)
    plain = {"integer": int, "real": float, "blob": bytes}[_KINDS[dtype.name]]
    if not isinstance(value, plain):
        ((value,),) = database.execute(f"select cast(? as {_KINDS[dtype.name]})", (value,))
    if dtype is dtypes.bool:
        return np.bool_(value != 0)
    return value if dtype is dtypes.string else np.array(value).astype(dtype.dtype)[()]


class DatasetInitializer(lookup.KeyValueTensorInitializer):
    """What a table holds at first: pairs of a key and a value, the elements of a dataset.

    Mirrors ``tf.data.experimental.DatasetInitializer``. The elements are read at once.

    Raises
    ------
    ValueError
        The elements are no pairs of scalars.

    Examples
    --------
    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [5, 6]))
    >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), -1)
    >>> table.lookup(tf.constant(["b", "c"])).numpy()
    array([ 6, -1], dtype=int32)
    """

    def __init__(self, dataset: Dataset) -> None:
        spec = dataset.element_spec
        scalars = isinstance(spec, tuple) and len(spec) == 2
        if not scalars or any(
            not isinstance(part, TensorSpec) or part.shape.rank not in (None, 0) for part in spec
        ):
            raise ValueError(
                "Datasets used to initialize lookup tables must produce elements in the form "
                "(key, value), where the keys and values are scalar tensors. However, the given "
                f"dataset produces {spec}."
            )
        self.dataset = dataset
        pairs = list(dataset.as_numpy_iterator())
        keys, values = ([pair[i] for pair in pairs] for i in (0, 1))
        super().__init__(
            convert(np.array(keys, spec[0].dtype.dtype), spec[0].dtype),
            convert(np.array(values, spec[1].dtype.dtype), spec[1].dtype),
        )


def table_from_dataset(
    dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None,
    default_value: Any = None, hasher_spec: Any = None, key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Make a table of a dataset of pairs; mirrors ``tf.data.experimental.table_from_dataset``.

    Parameters
    ----------
    dataset
        Its elements are pairs of a key and a value, scalars.
    num_oov_buckets
        How many numbers there are for keys that are not in it.
    vocab_size
        How many elements are taken; there must be so many.
    default_value
        What keys that are not there give, where they have no buckets.

    Raises
    ------
    ValueError
        The elements are no pairs, or a number is out of range.
    TypeError
        `key_dtype` is neither text nor an integer type.

    Examples
    --------
    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [5, 6]))
    >>> table = tf.data.experimental.table_from_dataset(pairs, default_value=-1)
    >>> table.lookup(tf.constant(["b", "c"])).numpy()
    array([ 6, -1], dtype=int32)
    """
    if dataset is None:
        raise ValueError("`dataset` must be a dataset of pairs, got None")
    kind = dtypes.as_dtype(key_dtype)
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got "
                         f"{num_oov_buckets}.")  # fmt: skip
    if vocab_size is not None and int(vocab_size) < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {int(vocab_size)}.")
    if not kind.is_integer and kind is not dtypes.string:
        raise TypeError("`key_dtype` must be either an integer or string type, but got "
                        f"{kind!r}.")  # fmt: skip
    if vocab_size is not None:
        whole = dataset.take(int(vocab_size))
        dataset = whole.apply(experimental.assert_cardinality(int(vocab_size)))
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return lookup.StaticVocabularyTable(initializer, num_oov_buckets, kind)
    return lookup.StaticHashTable(initializer, default_value)


def index_table_from_dataset(
    dataset: Any = None, num_oov_buckets: int = 0, vocab_size: Any = None,
    default_value: Any = -1, hasher_spec: Any = None, key_dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Make a table of the places of keys; mirrors its twin of ``tf.data.experimental``.

    Arguments and errors are those of `table_from_dataset`, for a dataset of keys.

    Examples
    --------
    >>> words = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> table = tf.data.experimental.index_table_from_dataset(words)
    >>> table.lookup(tf.constant(["b", "c"])).numpy()
    array([ 1, -1])
    """
    if dataset is None:
        raise ValueError("`dataset` must be a dataset of keys, got None")
    return table_from_dataset(
        dataset.enumerate().map(lambda place, key: (key, place)),
        num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name,
    )  # fmt: skip
