"""The messages of ``tf.train``: `Example`, `SequenceExample` and what they are made of.

They behave as the classes that protobuf generates: keyword construction, presence, oneofs, maps
that create, repeated fields, text format, and bytes that every protobuf reader takes. A message
holds only the fields that are there; reading one that is not gives a message of its own, which
enters its parent when it is first changed. The wire format is read and written in Rust.

`Checkpoint` and its manager come from `headrace.tf.checkpoint`.
"""

from __future__ import annotations

from typing import ClassVar

from .checkpoint import Checkpoint, CheckpointManager, CheckpointOptions, latest_checkpoint
from .message_fields import (
    BytesField,
    FloatField,
    IntField,
    MapField,
    MessageField,
    MessagesField,
)
from .messages import DecodeError, Message

__all__ = [
    "BytesList",
    "Checkpoint",
    "CheckpointManager",
    "CheckpointOptions",
    "DecodeError",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
    "latest_checkpoint",
]


class BytesList(Message):
    """Byte strings; mirrors ``tf.train.BytesList``.

    Parameters
    ----------
    value
        The byte strings.

    Raises
    ------
    TypeError
        Something is not bytes.

    Examples
    --------
    >>> BytesList(value=[b"a", "b".encode()])
    value: "a"
    value: "b"
    """

    __slots__ = ()
    value = BytesField(1)


class FloatList(Message):
    """Numbers of 32 bits; mirrors ``tf.train.FloatList``.

    Parameters
    ----------
    value
        The numbers: a vector, or anything to iterate over.

    Raises
    ------
    TypeError
        Something is not a number.

    Examples
    --------
    >>> FloatList(value=np.array([0.5, 2])).value
    [0.5, 2.0]
    """

    __slots__ = ()
    value = FloatField(1)


class Int64List(Message):
    """Integers of 64 bits; mirrors ``tf.train.Int64List``.

    Parameters
    ----------
    value
        The integers: a vector, or anything to iterate over.

    Raises
    ------
    TypeError, ValueError
        Something is not an integer, or does not fit.

    Examples
    --------
    >>> numbers = Int64List(value=range(3))
    >>> numbers.value.append(7)
    >>> numbers.value
    [0, 1, 2, 7]
    """

    __slots__ = ()
    value = IntField(1)


class Feature(Message):
    """One of the three lists, or none; mirrors ``tf.train.Feature``.

    Parameters
    ----------
    bytes_list, float_list, int64_list
        The list. Setting one drops the others.

    Examples
    --------
    >>> feature = Feature(int64_list=Int64List(value=[3]))
    >>> feature.WhichOneof("kind")
    'int64_list'
    >>> feature.float_list.value.append(0.5)
    >>> feature
    float_list {
      value: 0.5
    }
    """

    __slots__ = ()
    _oneof: ClassVar[str | None] = "kind"
    bytes_list = MessageField(1, BytesList)
    float_list = MessageField(2, FloatList)
    int64_list = MessageField(3, Int64List)


class Features(Message):
    """Features by name; mirrors ``tf.train.Features``.

    Parameters
    ----------
    feature
        A dict of `Feature`.

    Examples
    --------
    >>> features = Features()
    >>> features.feature["x"].int64_list.value.extend([1, 2])
    >>> "x" in features.feature, len(features.feature)
    (True, 1)
    """

    __slots__ = ()
    feature = MapField(1, Feature)


class FeatureList(Message):
    """A feature for each step of a sequence; mirrors ``tf.train.FeatureList``.

    Parameters
    ----------
    feature
        The features.

    Examples
    --------
    >>> steps = FeatureList()
    >>> steps.feature.add().int64_list.value.append(1)
    >>> len(steps.feature)
    1
    """

    __slots__ = ()
    feature = MessagesField(1, Feature)


class FeatureLists(Message):
    """Sequences of features by name; mirrors ``tf.train.FeatureLists``.

    Parameters
    ----------
    feature_list
        A dict of `FeatureList`.

    Examples
    --------
    >>> FeatureLists(feature_list={"words": FeatureList()}).feature_list["words"].feature
    []
    """

    __slots__ = ()
    feature_list = MapField(1, FeatureList)


class Example(Message):
    """What a record of a TFRecord file holds, as a rule; mirrors ``tf.train.Example``.

    Parameters
    ----------
    features
        The `Features`.

    Examples
    --------
    >>> label = Feature(int64_list=Int64List(value=[3]))
    >>> example = Example(features=Features(feature={"label": label}))
    >>> Example.FromString(example.SerializeToString()).features.feature["label"]
    int64_list {
      value: 3
    }
    """

    __slots__ = ()
    features = MessageField(1, Features)


class SequenceExample(Message):
    """Features of a sequence and of its steps; mirrors ``tf.train.SequenceExample``.

    Parameters
    ----------
    context
        `Features` of the whole sequence.
    feature_lists
        `FeatureLists`, a feature for each step.

    Examples
    --------
    >>> sequence = SequenceExample()
    >>> sequence.feature_lists.feature_list["x"].feature.add().float_list.value.append(1)
    >>> sequence
    feature_lists {
      feature_list {
        key: "x"
        value {
          feature {
            float_list {
              value: 1
            }
          }
        }
      }
    }
    """

    __slots__ = ()
    context = MessageField(1, Features)
    feature_lists = MessageField(2, FeatureLists)
