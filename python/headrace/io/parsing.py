"""Example messages: parsing and writing; part of `headrace.io`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _headrace, checks
from ..errors import InvalidArgumentError
from ..features import FixedLenSequenceFeature, feature_attrs
from ..ops import apply_op

__all__ = [
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "serialize_example",
]


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], name: str | None = None
) -> dict[str, Any]:
    """Parse one `tf.train.Example`; mirrors ``tf.io.parse_single_example``.

    Parameters
    ----------
    serialized
        The message: scalar bytes.
    features
        What to read, by name. Features of the message that are not named are skipped unread.

    Returns
    -------
    dict
        One value per feature: an array or scalar for `FixedLenFeature` and
        `FixedLenSequenceFeature`, a `SparseTensor` for `VarLenFeature` and `SparseFeature`, an
        array or `RaggedTensor` for `RaggedFeature`.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> message = hr.io.serialize_example({"x": [1.5, 2.5], "y": 7})
    >>> hr.io.parse_single_example(message, {"y": hr.io.FixedLenFeature([], np.int64)})
    {'y': np.int64(7)}
    """
    attrs = {"features": feature_attrs(features)}
    return dict(zip(features, apply_op("parse_single_example", attrs, serialized), strict=True))


def parse_example(
    serialized: Any,
    features: Mapping[str, Any],
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Parse a batch of `tf.train.Example` messages; mirrors ``tf.io.parse_example``.

    Parameters
    ----------
    serialized
        The messages: a vector of bytes.
    features
        What to read, by name.
    example_names
        Names of the examples for error messages, a vector of bytes.

    Returns
    -------
    dict
        As `parse_single_example`, with a batch axis in front. Sequences are padded, a
        `RaggedFeature` gives a `RaggedTensor`.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size; the text names the example.

    Examples
    --------
    >>> messages = [hr.io.serialize_example({"y": y}) for y in (3, 4)]
    >>> hr.io.parse_example(messages, {"y": hr.io.FixedLenFeature([], np.int64)})
    {'y': array([3, 4])}
    """
    attrs = {"features": feature_attrs(features)}
    args = [checks.tensor(serialized)]
    if example_names is not None:
        args.append(checks.tensor(example_names))
    return dict(zip(features, apply_op("parse_example", attrs, *args), strict=True))


def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one `tf.train.SequenceExample`; mirrors ``tf.io.parse_single_sequence_example``.

    Parameters
    ----------
    serialized
        The message: scalar bytes.
    context_features
        What to read from the context: `FixedLenFeature`, `VarLenFeature`, `RaggedFeature`.
    sequence_features
        What to read from the steps: `FixedLenSequenceFeature` (an array of shape
        ``[steps, *shape]``), `VarLenFeature`, `RaggedFeature`.
    example_name
        Name of the example for error messages.

    Returns
    -------
    tuple of two dicts
        One value per feature of the context, and of the steps.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> from headrace.tf import train
    >>> message = train.SequenceExample()
    >>> for x in (1, 2):
    ...     step = message.feature_lists.feature_list["x"].feature.add()
    ...     step.int64_list.value.append(x)
    >>> hr.io.parse_single_sequence_example(
    ...     message.SerializeToString(),
    ...     sequence_features={"x": hr.io.FixedLenSequenceFeature([], np.int64)},
    ... )
    ({}, {'x': array([1, 2])})
    """
    context, steps, _ = _parse_sequences(
        "parse_single_sequence_example",
        serialized,
        context_features or {},
        sequence_features or {},
        example_name,
    )
    return context, steps


def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parse a batch of `tf.train.SequenceExample`; mirrors ``tf.io.parse_sequence_example``.

    Parameters
    ----------
    serialized
        The messages: a vector of bytes.
    context_features, sequence_features
        What to read, as for `parse_single_sequence_example`.
    example_names
        Names of the examples for error messages, a vector of bytes.

    Returns
    -------
    tuple of three dicts
        The context; the steps, dense ones padded with zeros to the longest; the number of steps
        of each example, for each dense feature of the steps.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> from headrace.tf import train
    >>> messages = [train.SequenceExample().SerializeToString()]
    >>> x = hr.io.FixedLenSequenceFeature([], np.int64, allow_missing=True)
    >>> hr.io.parse_sequence_example(messages, sequence_features={"x": x})[2]
    {'x': array([0])}
    """
    return _parse_sequences(
        "parse_sequence_example",
        serialized,
        context_features or {},
        sequence_features or {},
        example_names,
    )


def _parse_sequences(
    op: str, serialized: Any, context: Mapping[str, Any], steps: Mapping[str, Any], names: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    if not context and not steps:
        raise InvalidArgumentError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )
    attrs = {
        "context_features": feature_attrs(context, "context"),
        "sequence_features": feature_attrs(steps, "steps"),
    }
    args = [checks.tensor(serialized)]
    if names is not None:
        args.append(checks.tensor(names))
    results = iter(apply_op(op, attrs, *args))
    dense = [key for key in steps if isinstance(steps[key], FixedLenSequenceFeature)]
    first, second = (dict(zip(part, results, strict=False)) for part in (context, steps))
    return first, second, dict(zip(dense, results, strict=False))


def serialize_example(features: Mapping[str, Any]) -> bytes:
    """Write a `tf.train.Example`.

    Parameters
    ----------
    features
        Values by name: numbers, bytes, text (as UTF-8), or arrays and lists of these, flattened.
        Integers and bools become int64 lists, floats float lists.

    Returns
    -------
    bytes
        The message; TensorFlow reads it.

    Raises
    ------
    InvalidArgumentError
        A value that an Example cannot hold, by the name of its feature.

    Examples
    --------
    >>> message = hr.io.serialize_example({"label": 3})
    >>> hr.io.parse_single_example(message, {"label": hr.io.FixedLenFeature([], np.int64)})
    {'label': np.int64(3)}
    """
    return _headrace.serialize_example(features if type(features) is dict else dict(features))
