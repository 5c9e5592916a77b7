"""Random numbers, and the global seed; mirrors ``tf.random``."""

from __future__ import annotations

from types import SimpleNamespace

from .. import seeds as own
from .drawing import categorical, normal, shuffle, truncated_normal, uniform
from .names import lookup
from .rates import gamma, poisson, stateless_binomial, stateless_gamma, stateless_poisson
from .rng import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
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
    "Algorithm",
    "Generator",
    "categorical",
    "create_rng_state",
    "experimental",
    "fold_in",
    "gamma",
    "get_global_generator",
    "normal",
    "poisson",
    "set_global_generator",
    "set_seed",
    "shuffle",
    "split",
    "stateless_binomial",
    "stateless_categorical",
    "stateless_gamma",
    "stateless_normal",
    "stateless_poisson",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]

experimental = SimpleNamespace(
    Algorithm=Algorithm,
    Generator=Generator,
    create_rng_state=create_rng_state,
    get_global_generator=get_global_generator,
    index_shuffle=index_shuffle,
    set_global_generator=set_global_generator,
    stateless_fold_in=fold_in,
    stateless_shuffle=stateless_shuffle,
    stateless_split=split,
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
