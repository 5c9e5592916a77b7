"""The logger of ``tf.get_logger`` and ``tf.compat.v1.logging``."""

from __future__ import annotations

import logging

__all__ = ["get_logger"]


def get_logger() -> logging.Logger:
    """Return the logger that TensorFlow's programs write to; mirrors ``tf.get_logger``.

    Examples
    --------
    >>> tf.get_logger().name
    'tensorflow'
    """
    return logging.getLogger("tensorflow")
