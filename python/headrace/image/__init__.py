"""Images: decoding, encoding, and what training does to them; mirrors ``tf.image``.

Functions take arrays and, inside a traced function, symbols alike. An image is height x width x
channels.
"""

from .codecs import is_jpeg

__all__ = ["is_jpeg"]
