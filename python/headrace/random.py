"""Random numbers; mirrors ``tf.random``.

The ``stateless_*`` functions give the numbers of a seed: TensorFlow's, bit for bit.

`uniform`, `normal` and their sisters draw at once where they are called. Inside of a function given
to a dataset their numbers are the element's own: they follow from the op's seed (or its number in
the function), the run, the epoch and the position of the element, and from nothing else. So
parallelism, prefetching, skipping and resuming change no number; another element, epoch or run has
other numbers. With a seed of their own, or a global one, they are the same in every process.

A function with a last parameter named ``rng`` is given a NumPy ``Generator`` for each element, with
the same promise.

Examples
--------
>>> hr.set_seed(7)
>>> noisy = hr.Dataset.range(3).map(lambda x: hr.random.normal([]), num_parallel_calls=2)
>>> hr.set_seed(7)
>>> again = hr.Dataset.range(3).map(lambda x: hr.random.normal([]))
>>> list(noisy) == list(again)
True
>>> def pick(x, rng):
...     return rng.integers(10)
>>> len(list(hr.Dataset.range(3).map(pick)))
3
"""

from .drawing import categorical, normal, randint, shuffle, truncated_normal, uniform
from .rates import gamma, poisson, stateless_binomial, stateless_gamma, stateless_poisson
from .seeds import set_seed
from .stateless import (
    fold_in,
    index_shuffle,
    split,
    stateless_categorical,
    stateless_normal,
    stateless_shuffle,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    "categorical",
    "fold_in",
    "gamma",
    "index_shuffle",
    "normal",
    "poisson",
    "randint",
    "set_seed",
    "shuffle",
    "split",
    "stateless_binomial",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_normal",
    "stateless_poisson",
    "stateless_shuffle",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]
