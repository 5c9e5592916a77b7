"""Devices and switches that only TensorFlow has; mirrors ``tf.config`` for code that asks."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..seeds import require
from .names import lookup

__all__ = [
    "functions_run_eagerly",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "run_functions_eagerly",
    "set_soft_device_placement",
    "set_visible_devices",
]


def list_physical_devices(device_type: str | None = None) -> list[Any]:
    """Return an empty list: no device but the CPU is used."""
    return []


def list_logical_devices(device_type: str | None = None) -> list[Any]:
    """Return an empty list: no device but the CPU is used."""
    return []


def get_visible_devices(device_type: str | None = None) -> list[Any]:
    """Return an empty list: no device but the CPU is used."""
    return []


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Do nothing."""


def set_soft_device_placement(enabled: bool) -> None:
    """Do nothing."""


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Do nothing: `tf.function` runs as Python anyway."""


def functions_run_eagerly() -> bool:
    """Return True."""
    return True


def _enable_op_determinism() -> None:
    """Refuse random ops without seeds from now on; all else gives the same each time anyway."""
    require()


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing."""


_ignored: Callable[..., None] = _nothing
threading = SimpleNamespace(
    get_inter_op_parallelism_threads=lambda: 0,
    get_intra_op_parallelism_threads=lambda: 0,
    set_inter_op_parallelism_threads=_ignored,
    set_intra_op_parallelism_threads=_ignored,
)
optimizer = SimpleNamespace(
    get_experimental_options=dict,
    get_jit=lambda: "",
    set_experimental_options=_ignored,
    set_jit=_ignored,
)
experimental = SimpleNamespace(
    enable_op_determinism=_enable_op_determinism,
    list_physical_devices=list_physical_devices,
    set_memory_growth=_ignored,
    set_synchronous_execution=_ignored,
)

__getattr__ = lookup(__name__)
