"""tf.data as a newcomer writes it: no AUTOTUNE, no prefetch, sequential reads."""

from peers import tf as _t

_t.AUTO = None
init, W3, W3b, W4, W5, W6, W6b = _t.init, _t.W3, _t.W3b, _t.W4, _t.W5, _t.W6, _t.W6b
