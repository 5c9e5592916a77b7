"""The global seed; mirrors ``tf.random``.

Ops that draw numbers are left out until they draw TensorFlow's: `set_seed` decides the order of
datasets, which is TensorFlow's.
"""

from __future__ import annotations

from .. import random as own
from .names import lookup

__all__ = ["set_seed"]


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
