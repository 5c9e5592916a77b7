"""The peers and the virtual environments they live in: what `setup.py` makes and `run.py` uses."""

from __future__ import annotations

import os
from typing import NamedTuple

_IMAGES = ["simplejpeg", "opencv-python-headless", "pillow"]

# Environment -> the arguments of each `pip install`.
ENVIRONMENTS: dict[str, list[list[str]]] = {
    # makes the data and measures the physical limits
    "tools": [["numpy", "google-crc32c", "crc32c", "isal", "zlib-ng", "protobuf", *_IMAGES]],
    "tf": [["tensorflow-cpu==2.21.0"]],
    "grain": [["grain", "protobuf", *_IMAGES]],
    "torch": [["torch==2.13.0"], ["tfrecord", "crc32c", *_IMAGES]],
    "tfrecords": [["tfrecords", "numpy", "protobuf"]],
    "hf": [["datasets", "protobuf", *_IMAGES]],
    "mlx": [["mlx-data", "protobuf"]],
    "dali": [["nvidia-dali-cuda120"]],
    # rustfrecord pins an old torch with CUDA; it works with this one.
    "rustfrecord": [["torch==2.13.0", "numpy"], ["--no-deps", "rustfrecord"]],
    "webdataset": [["webdataset", *_IMAGES]],
    "spdl": [["spdl", *_IMAGES]],
    "tfd": [["tfd-utils"]],
}

# Environment -> the form of the data that it converts for the peers (convert.py).
CONVERSIONS = {"grain": "arrayrecord", "mlx": "tar", "hf": "arrow"}


class Peer(NamedTuple):
    environment: str
    only: tuple[str, ...] = ()  # the jobs it is measured at; () is all it has
    daily: bool = True  # enough for daily work; a claim needs all


PEERS = {
    "tf": Peer("tf"),
    "tf_plain": Peer("tf"),
    "grain": Peer("grain"),
    "grain_ar": Peer("grain", ("W2", "W3b", "W4b", "W5", "W6b", "W8", "W9")),
    "torch": Peer("torch"),
    "torch_w0": Peer("torch"),
    "tfrecord": Peer("torch"),
    "tfrecords": Peer("tfrecords"),
    "dali": Peer("dali"),
    "hf": Peer("hf", ("W1b", "W3b", "W4", "W5", "W6", "W8", "W9", "W12")),
    "mlx_data": Peer("mlx", ("W5", "W8", "W9")),
    "rustfrecord": Peer("rustfrecord", ("W3", "W4", "W4b", "W6", "W7"), daily=False),
    "webdataset": Peer("webdataset", ("W2", "W5"), daily=False),
    "spdl": Peer("spdl", ("W5",), daily=False),
    "tfd_utils": Peer("tfd", daily=False),
}


def python_of(folder: str, environment: str) -> str:
    return os.path.join(folder, environment, "bin", "python")
