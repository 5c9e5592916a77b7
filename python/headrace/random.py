"""Random numbers; mirrors ``tf.random``. And seeds: from ``seed=`` to the pair that ops start from.

The ``stateless_*`` functions give the numbers of a seed: TensorFlow's, bit for bit.

The rule for seeds is TensorFlow's too, so a pipeline moved over draws the same numbers. With a
global seed, an op built without a seed of its own takes the next number of Python's Mersenne
twister, in order of construction.
"""

from __future__ import annotations

import operator
import random
import threading
from typing import SupportsIndex

from . import _headrace
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
    "fold_in",
    "set_seed",
    "split",
    "stateless_categorical",
    "stateless_normal",
    "stateless_shuffle",
    "stateless_truncated_normal",
    "stateless_uniform",
]

_MODULUS = 2**31 - 1
_NO_GLOBAL_SEED = 87654321  # what TensorFlow puts in place of a global seed

_lock = threading.Lock()
_global_seed: int | None = None
_twister = random.Random()


def set_seed(seed: SupportsIndex | None) -> None:
    """Set the global seed, for every random op built from now on.

    Parameters
    ----------
    seed
        An integer; ``None`` goes back to no global seed. Setting it again restarts the sequence
        of seeds.

    Raises
    ------
    TypeError
        `seed` is not an integer.

    Examples
    --------
    >>> set_seed(7)
    >>> first = list(hr.Dataset.range(5).shuffle(5))
    >>> set_seed(7)
    >>> first == list(hr.Dataset.range(5).shuffle(5))
    True
    >>> set_seed(None)
    """
    global _global_seed, _twister
    value = None if seed is None else operator.index(seed)
    with _lock:
        _global_seed = value
        _twister = random.Random(value)


def seed_pair(seed: SupportsIndex | None) -> tuple[int, int] | None:
    """Return the pair of seeds of a new random op.

    Parameters
    ----------
    seed
        The op's own seed, or None.

    Returns
    -------
    tuple or None
        Two numbers; None where both come from the system's entropy.
    """
    if seed is None and _global_seed is not None:
        seed = _headrace.call_seed()
    own = None if seed is None else operator.index(seed) % _MODULUS
    with _lock:
        if _global_seed is None:
            if own is None:
                return None
            pair = (_NO_GLOBAL_SEED, own)
        elif own is None:
            pair = (_global_seed % _MODULUS, _twister.randint(0, _MODULUS) % _MODULUS)
        else:
            pair = (_global_seed % _MODULUS, own)
    # (0, 0) means "no seed" to the generator.
    return (0, _MODULUS) if pair == (0, 0) else pair
