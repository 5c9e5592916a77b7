"""torch DataLoader without worker processes."""

from peers import torch as _t

_t.WORKERS = 0
W3b, W4, W5, W8, W9, W10 = _t.W3b, _t.W4, _t.W5, _t.W8, _t.W9, _t.W10
