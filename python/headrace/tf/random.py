"""Random numbers, and the global seed; mirrors ``tf.random``."""

from __future__ import annotations

from types import SimpleNamespace

from .. import random as own
from .names import lookup
from .stateless import (
    fold_in,
    split,
    stateless_categorical,
    stateless_normal,
    stateless_shuffle,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    "experimental",
    "fold_in",
    "set_seed",
    "split",
    "stateless_categorical",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
]

experimental = SimpleNamespace(
    stateless_fold_in=fold_in, stateless_shuffle=stateless_shuffle, stateless_split=split
)


def set_seed(seed: int) -> None:
    """Set the global seed; mirrors ``tf.random.set_seed``.

    Examples
    --------
    >>> tf.random.set_seed(7)
    >>> first = list(tf.data.Dataset.range(4).shuffle(4).as_numpy_iterator())
    >>> tf.random.set_seed(7)
    >>> first == list(tf.data.Dataset.range(4).shuffle(4).as_numpy_iterator())
    True
    """
    own.set_seed(seed)


__getattr__ = lookup(__name__)
