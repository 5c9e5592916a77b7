"""Examples to tensors; mirrors the parsing functions of ``tf.io``."""

from __future__ import annotations

from typing import Any

from ... import io as own
from ..array_ops import shape
from ..bridge import to_own as value_to_own
from ..convert import convert
from ..dtypes import int64, string
from ..kernels import static_shape
from ..values import results
from .features import FixedLenSequenceFeature, to_own

__all__ = [
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]


def _records(serialized: Any) -> Any:
    return convert(serialized, string)


def _names(names: Any) -> Any:
    return None if names is None else value_to_own(convert(names, string))


def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Parse one `tf.train.Example`; mirrors ``tf.io.parse_single_example``.

    Parameters
    ----------
    serialized
        The message: a scalar string.
    features
        What to read, by name.
    example_names, name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> label = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"label": label}))
    >>> features = {"label": tf.io.FixedLenFeature([], tf.int64)}
    >>> tf.io.parse_single_example(example.SerializeToString(), features)["label"].numpy()
    np.int64(3)
    """
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    parsed = own.parse_single_example(value_to_own(_records(serialized)), to_own(features))
    return results(parsed)


def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Parse a batch of `tf.train.Example` messages; mirrors ``tf.io.parse_example``.

    Parameters
    ----------
    serialized
        The messages: a vector of strings; one string is parsed alone.
    features
        What to read, by name.
    example_names
        Names of the examples for error messages.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size; the text names the example.

    Examples
    --------
    >>> tf.io.parse_example([b""], {"x": tf.io.VarLenFeature(tf.int64)})["x"].shape
    TensorShape([1, 0])
    """
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    records = _records(serialized)
    if static_shape(records) == ():
        return parse_single_example(records, features)
    parsed = own.parse_example(value_to_own(records), to_own(features), _names(example_names))
    return results(parsed)


def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one `tf.train.SequenceExample`; mirrors ``tf.io.parse_single_sequence_example``.

    Parameters
    ----------
    serialized
        The message: a scalar string.
    context_features, sequence_features
        What to read of the context and of the steps, by name.
    example_name
        Name of the example for error messages.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> features = {"x": tf.io.VarLenFeature(tf.int64)}
    >>> context, steps = tf.io.parse_single_sequence_example(b"", features)
    >>> context["x"].shape, steps
    (TensorShape([0]), {})
    """
    return results(
        own.parse_single_sequence_example(
            value_to_own(_records(serialized)),
            to_own(context_features or {}),
            to_own(sequence_features or {}),
            _names(example_name),
        )
    )


def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parse a batch of `tf.train.SequenceExample`; mirrors ``tf.io.parse_sequence_example``.

    Parameters
    ----------
    serialized
        The messages: a vector of strings; one string is parsed alone.
    context_features, sequence_features
        What to read of the context and of the steps, by name.
    example_names
        Names of the examples for error messages.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    tuple of three dicts
        The context, the steps, and the number of steps for each dense feature of these.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> features = {"x": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
    >>> tf.io.parse_sequence_example([b""], sequence_features=features)[2]["x"].numpy()
    array([0])
    """
    records = _records(serialized)
    if static_shape(records) == ():
        context, steps = parse_single_sequence_example(
            records, context_features, sequence_features, example_names
        )
        lengths = {
            key: shape(steps[key], out_type=int64)[0]
            for key, feature in (sequence_features or {}).items()
            if isinstance(feature, FixedLenSequenceFeature)
        }
        return context, steps, lengths
    return results(
        own.parse_sequence_example(
            value_to_own(records),
            to_own(context_features or {}),
            to_own(sequence_features or {}),
            _names(example_names),
        )
    )
