"""Generators that one carries about; mirrors ``tf.random.Generator``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..drawing import BLOCKS_EACH
from ..errors import InvalidArgumentError
from ..seeds import entropy
from ..stateless import check_algorithm
from .convert import convert
from .creation import zeros_like
from .dtypes import DType, as_dtype, float32, int64, uint64
from .joining import stack
from .sizes import sizes_of, vector
from .stateless import FLOATS, among, between, check_limits, drawn
from .tensor import raw, wrap
from .variables import Variable

__all__ = [
    "Algorithm",
    "Generator",
    "create_rng_state",
    "get_global_generator",
    "set_global_generator",
]

_WORD = 2**64
_SIZE = 3  # two words of the counter, and the key


class Algorithm:
    """The algorithms there are; mirrors ``tf.random.Algorithm``.

    Examples
    --------
    >>> tf.random.stateless_uniform([2], [1, 2], alg=tf.random.Algorithm.PHILOX).shape
    TensorShape([2])
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


def _signed(word: int) -> int:
    word %= _WORD
    return word - _WORD if word >= _WORD // 2 else word


def create_rng_state(seed: Any, alg: Any) -> Any:
    """Return the state of a generator for a seed; mirrors ``tf.random.create_rng_state``.

    Examples
    --------
    >>> tf.random.create_rng_state(7, "philox").numpy()
    array([7, 0, 0])
    """
    check_algorithm(alg)
    if isinstance(seed, int):
        words = [_signed(seed >> (64 * word)) for word in range(_SIZE)]
    else:
        words = [_signed(int(word)) for word in np.ravel(raw(convert(seed)))][:_SIZE]
    return wrap(np.array([0] * (_SIZE - len(words)) + words, np.int64))


class Generator:
    """Draws from a state that moves on; mirrors ``tf.random.Generator``, with its numbers.

    Parameters
    ----------
    copy_from
        Another generator.
    state
        Two words of a counter, and a key.
    alg
        ``"philox"``.

    Examples
    --------
    >>> generator = tf.random.Generator.from_seed(1)
    >>> generator.normal([2]).numpy()
    array([ 0.43842274, -0.53439844], dtype=float32)
    """

    def __init__(self, copy_from: Generator | None = None, state: Any = None, alg: Any = None):
        if copy_from is not None:
            if alg is not None or state is not None:
                raise ValueError("give either `copy_from`, or `state` and `alg`")
            state, alg = copy_from.state, copy_from.algorithm
        if state is None or alg is None:
            raise ValueError("`state` and `alg` are needed, or `copy_from`")
        check_algorithm(alg)
        own = state if isinstance(state, Variable) and copy_from is None else None
        self._state = Variable(_state(state)) if own is None else own
        self._algorithm = 1

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Return a generator in a state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Return the generator of a seed."""
        return cls(state=create_rng_state(seed, 1 if alg is None else alg), alg=1)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Return a generator from the system's entropy."""
        check_algorithm(alg)
        words = [*entropy(), entropy()[0]]
        return cls(state=[_signed(word) for word in words], alg=1)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Return the generator of a key that stands at a counter of two words."""
        return cls(state=_key_counter(key, counter), alg=alg)

    @property
    def state(self) -> Any:
        """Counter and key, a variable."""
        return self._state

    @property
    def algorithm(self) -> int:
        """Number of the algorithm."""
        return self._algorithm

    @property
    def key(self) -> Any:
        """The key, a scalar."""
        return wrap(raw(self._state.value())[-1])

    def reset(self, state: Any) -> None:
        """Go to a state."""
        self._state.assign(_state(state))

    def reset_from_seed(self, seed: Any) -> None:
        """Go to the state of a seed."""
        self.reset(create_rng_state(seed, 1))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go to a key and counter."""
        self.reset(_key_counter(key, counter))

    def skip(self, delta: Any) -> Any:
        """Go on as if `delta` numbers had been drawn; returns the state before."""
        traced = self._state._symbol("moves a generator,")
        if traced is not None:
            return traced
        before = raw(self._state.value())
        low, high, key = (int(word) % _WORD for word in before)
        at = low + high * _WORD + int(raw(convert(delta))) * BLOCKS_EACH
        words = [_signed(at), _signed(at >> 64), _signed(key)]
        self._state.assign(wrap(np.array(words, np.int64)))
        return wrap(before.copy())

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Return uniform numbers."""
        kind = as_dtype(dtype)
        check_limits(minval, maxval, kind)
        if kind.is_integer and minval is None:
            return self.uniform_full_int(shape, kind)
        low, high = convert(minval, kind), convert(1 if maxval is None else maxval, kind)
        return between(shape, kind, self._source(shape), low, high)

    def uniform_full_int(self, shape: Any, dtype: Any = uint64, name: str | None = None) -> Any:
        """Return integers, each equally likely."""
        return drawn("stateless_uniform_full_int", shape, as_dtype(dtype), self._source(shape))

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Return normal numbers."""
        return self._scaled("stateless_normal", shape, mean, stddev, as_dtype(dtype))

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = float32,
        name: str | None = None,
    ) -> Any:
        """Return normal numbers within two deviations."""
        return self._scaled("stateless_truncated_normal", shape, mean, stddev, as_dtype(dtype))

    def make_seeds(self, count: int = 1) -> Any:
        """Return seeds for stateless ops, of shape [2, count]."""
        keys = self.uniform_full_int([count], int64)
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Return new generators."""
        keys = raw(self.uniform_full_int([count], int64))
        return [Generator(state=[0, 0, int(key)], alg=1) for key in keys]

    def _source(self, shape: Any) -> Any:
        sizes = sizes_of(shape)
        count = 0 if sizes is None or vector(sizes) is None else math.prod(sizes)
        return self.skip(count)

    def _scaled(self, op: str, shape: Any, mean: Any, stddev: Any, kind: DType) -> Any:
        center, width = convert(mean, kind), convert(stddev, kind)
        among("dtype", kind, FLOATS)
        return drawn(op, shape, kind, self._source(shape)) * width + center


def _state(value: Any) -> Any:
    if isinstance(value, Variable):
        value = value.value()
    words = value if isinstance(value, list | tuple) else np.ravel(raw(convert(value)))
    if len(words) != _SIZE:
        raise InvalidArgumentError(f"a state has {_SIZE} words, got {len(words)}")
    return wrap(np.array([_signed(int(word)) for word in words], np.int64))


def _key_counter(key: Any, counter: Any) -> list[int]:
    words = [
        int(word) for word in (counter if isinstance(counter, list) else raw(convert(counter)))
    ]
    return [*words, int(raw(convert(key, int64)) if isinstance(key, int) else raw(convert(key)))]


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """Return the generator of the process; mirrors ``tf.random.get_global_generator``."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Replace the generator of the process; mirrors ``tf.random.set_global_generator``."""
    _global[:] = [generator]
