"""Seeds: from ``seed=`` to the pair that random ops start from.

The rule is TensorFlow's, so a pipeline moved over draws the same numbers. With a global seed, an
op built without a seed of its own takes the next number of Python's Mersenne twister, in order of
construction.
"""

from __future__ import annotations

import operator
import os
import random
import threading
from typing import SupportsIndex

from . import _headrace
from .ops import tracing

__all__ = [
    "MODULUS",
    "are_required",
    "check",
    "entropy",
    "function_seeds",
    "require",
    "reserve",
    "seed_pair",
    "set_seed",
]

MODULUS = 2**31 - 1
_NO_GLOBAL_SEED = 87654321  # what TensorFlow puts in place of a global seed

_MAX_RESERVED = 1 << 16  # generators whose place is remembered

_lock = threading.Lock()
_global_seed: int | None = None
_twister = random.Random()
_functions = 0  # that were given to datasets since the global seed was set
_reserved: dict[tuple[str, ...], int] = {}
_required = False


def set_seed(seed: SupportsIndex | None) -> None:
    """Set the global seed, for every random op built from now on; mirrors ``tf.random.set_seed``.

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
    global _global_seed, _twister, _functions
    value = None if seed is None else _integer(seed)
    with _lock:
        _global_seed = value
        _twister = random.Random(value)
        _functions = 0
        _reserved.clear()


def require(required: bool = True) -> None:
    """Say whether random ops that have neither a seed nor a global one are refused."""
    global _required
    _required = required


def are_required() -> bool:
    """Return whether random ops need seeds."""
    return _required


def check(seed: SupportsIndex | None) -> None:
    """Refuse what would draw by the system's entropy, where seeds are required.

    Raises
    ------
    RuntimeError
        There is neither this seed nor a global one.
    """
    if _required and seed is None and _global_seed is None:
        raise RuntimeError(
            "Random ops require a seed to be set when determinism is enabled. "
            "Please set a seed before running the op, e.g. by calling tf.random.set_seed(1)."
        )


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

    Raises
    ------
    RuntimeError
        They would, and seeds are required.
    """
    check(seed)
    if seed is None and _global_seed is not None:
        seed = _headrace.call_seed()
        if seed is None and tracing.tracer is not None:
            seed = (
                0  # of a dataset that is looked at and never run; in TensorFlow graphs count apart
            )
    own = None if seed is None else _integer(seed) % MODULUS
    with _lock:
        if _global_seed is None:
            if own is None:
                return None
            pair = (_NO_GLOBAL_SEED, own)
        elif own is None:
            pair = (_global_seed % MODULUS, _twister.randint(0, MODULUS) % MODULUS)
        else:
            pair = (_global_seed % MODULUS, own)
    # (0, 0) means "no seed" to the generator.
    return (0, MODULUS) if pair == (0, 0) else pair


def _integer(seed: SupportsIndex) -> int:
    try:
        return operator.index(seed)
    except TypeError:
        kind = type(seed).__name__
        raise TypeError(f"`seed` must be an integer or None, got {seed!r} ({kind})") from None


def function_seeds() -> _headrace.FunctionSeeds:
    """Return what random ops in a new function draw by.

    Functions are counted apart from ops, so that they change no other op's seed.
    """
    global _functions
    words = _headrace.fresh_pair()
    with _lock:
        if _global_seed is None:
            return _headrace.FunctionSeeds(_NO_GLOBAL_SEED, None, words)
        number = _functions
        if _headrace.is_in_call():
            number = 0  # the place of the call tells them apart
        else:
            _functions += 1
        first = _global_seed % MODULUS
        return _headrace.FunctionSeeds(first, (first, MODULUS + 1 + number), words)


def entropy() -> tuple[int, int]:
    """Return two words of 64 bits of the system's entropy."""
    words = os.urandom(16)
    return int.from_bytes(words[:8], "little"), int.from_bytes(words[8:], "little")


def reserve(key: tuple[str, ...], blocks: int) -> int:
    """Return where a generator stands, and move it on by `blocks`."""
    with _lock:
        at = _reserved.pop(key, 0)
        _reserved[key] = at + blocks
        if len(_reserved) > _MAX_RESERVED:
            del _reserved[next(iter(_reserved))]
        return at
