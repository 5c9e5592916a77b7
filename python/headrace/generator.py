"""`from_generator`: what its elements are declared to be, and the source of a run.

How values are made to fit the declaration is in `headrace.convert`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .convert import SPECS, Converter
from .function import _name
from .identity import fingerprint
from .nest import flatten, is_structure, items, rebuild
from .recipe import dump_callable, load_callable, pack_arrays, unpack_arrays
from .spec import TensorSpec, UnknownSpec

__all__ = ["Source", "signature_of"]


def signature_of(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """Return the element spec that the three arguments of `from_generator` mean.

    Raises
    ------
    TypeError
        None of them or too many are given, or a leaf is not a spec.

    Examples
    --------
    >>> signature_of((np.int64, bytes), ([], [None]), None)
    (TensorSpec(shape=(), dtype=int64), TensorSpec(shape=(None,), dtype=bytes))
    """
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError(
                "The `output_types` and `output_shapes` arguments can not be used together with "
                "the `output_signature` argument."
            )
        for leaf in flatten(output_signature):
            if not isinstance(leaf, SPECS):
                raise TypeError(
                    "`output_signature` must contain objects that are specs such as "
                    f"headrace.TensorSpec, but {leaf!r} is a {type(leaf).__name__}."
                )
        return output_signature
    if output_types is None:
        raise TypeError(
            "Either `output_signature` or `output_types` must be specified: "
            "output_signature=headrace.TensorSpec(shape=(), dtype=np.int64), for example."
        )
    return _zip_types(output_types, output_shapes)


def _zip_types(types: Any, shapes: Any) -> Any:
    """Pair types with shapes; a tuple in place of a leaf of `types` is a shape."""
    children = items(types) if _is_nest(types) else None
    if children is None:
        return TensorSpec(shapes, types)
    if shapes is None:
        return rebuild(types, [_zip_types(child, None) for _, child in children])
    found = dict(items(shapes))
    if set(found) != {key for key, _ in children}:
        raise TypeError(f"`output_shapes` {shapes!r} is not nested as `output_types` {types!r}")
    return rebuild(types, [_zip_types(child, found[key]) for key, child in children])


def _is_nest(types: Any) -> bool:
    return is_structure(types) and types is not None and not isinstance(types, np.dtype)


class Source:
    """A generator, to be opened once per run.

    Parameters
    ----------
    generator
        A callable that returns an iterable.
    element_spec
        What it is declared to yield; `UnknownSpec` is not accepted.
    args
        Arguments of `generator`; it gets them as NumPy arrays.
    live
        Whether a new generator does not yield again what another has yielded.

    Raises
    ------
    TypeError
        `generator` is not callable.
    """

    def __init__(
        self,
        generator: Callable[..., Any],
        element_spec: Any,
        args: tuple[Any, ...] = (),
        live: bool = False,
    ) -> None:
        if not callable(generator):
            raise TypeError(
                f"`generator` must be a Python callable, got {generator!r}; wrap it in a function "
                "that makes a new one for each pass"
            )
        assert not isinstance(element_spec, UnknownSpec)
        self.generator = generator
        self.element_spec = element_spec
        self.args = tuple(np.asarray(arg) for arg in args)
        self.live = live
        self.name = _name(generator)
        self.fingerprint = fingerprint(generator, self.args)
        subject = f"`generator` {self.name} yielded an element"
        # A yield as a nest of arrays that fits the element spec; raises with the element's number.
        self.convert = Converter(element_spec, subject).convert

    def open(self) -> Iterator[Any]:
        """Return a fresh iterator of raw yields.

        Raises
        ------
        TypeError
            What `generator` returns cannot be iterated.
        """
        made = self.generator(*self.args)
        try:
            return iter(made)
        except TypeError:
            raise TypeError(f"{self.name} must return an iterable, it returned {made!r}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        blob = dump_callable(self.generator, self.name)
        return _load, (blob, self.element_spec, pack_arrays(self.args), self.live)


def _load(blob: bytes, element_spec: Any, args: Any, live: bool) -> Source:
    return Source(load_callable(blob), element_spec, unpack_arrays(args), live)
