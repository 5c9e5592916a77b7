"""headrace: tf.data's Dataset API as a small wheel, NumPy arrays out.

Examples
--------
>>> import headrace as hr
>>> dataset = hr.Dataset.range(6).map(lambda x: x * x).batch(4)
>>> list(dataset)
[array([0, 1, 4, 9]), array([16, 25])]
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import errors, io, random
from ._headrace import __version__
from .dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from .iterator import Iterator
from .optional import Optional
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    Options,
    ServiceOptions,
    ThreadingOptions,
)
from .random import set_seed
from .readers import FixedLengthRecordDataset, TextLineDataset
from .spec import (
    DatasetSpec,
    ObjectSpec,
    OptionalSpec,
    RaggedTensorSpec,
    SparseTensorSpec,
    TensorSpec,
    UnknownSpec,
)
from .tensors import RaggedTensor, SparseTensor
from .tfrecord import TFRecordDataset

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Dataset",
    "DatasetSpec",
    "DistributeOptions",
    "ExternalStatePolicy",
    "FixedLengthRecordDataset",
    "Iterator",
    "ObjectSpec",
    "OptimizationOptions",
    "Optional",
    "OptionalSpec",
    "Options",
    "RaggedTensor",
    "RaggedTensorSpec",
    "ServiceOptions",
    "SparseTensor",
    "SparseTensorSpec",
    "TFRecordDataset",
    "TensorSpec",
    "TextLineDataset",
    "ThreadingOptions",
    "UnknownSpec",
    "__version__",
    "audio",
    "control",
    "debugging",
    "errors",
    "experimental",
    "image",
    "io",
    "math",
    "ragged",
    "random",
    "set_seed",
    "signal",
    "sparse",
    "strings",
    "trace",
]

if _TYPE_CHECKING:
    from . import (
        audio,
        control,
        debugging,
        experimental,
        image,
        math,
        ragged,
        signal,
        sparse,
        strings,
    )
    from .traced import traced as trace
else:
    # What the first `map` of nearly every program needs.
    from . import ufuncs as _ufuncs  # noqa: F401
    from .trace import Tracer as _Tracer  # noqa: F401

# Imported when they are first used.
_LAZY = (
    "audio",
    "control",
    "debugging",
    "experimental",
    "image",
    "math",
    "ragged",
    "signal",
    "sparse",
    "strings",
)


def __getattr__(name: str) -> _Any:
    """Load a module when it is first used."""
    if name in _LAZY:
        from importlib import import_module

        return import_module(f".{name}", __name__)
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .absent import absent

    raise AttributeError(absent(name, __all__))


def __dir__() -> list[str]:
    return sorted(globals().keys() | set(__all__))
