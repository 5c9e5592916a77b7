"""Writes jpeg_samplings.json: what TensorFlow makes of JPEGs with rare samplings of colour.

Run with tensorflow-cpu 2.21 in the folder of the vectors. The files are those of
decoded_images.json with other factors in their headers: the coded blocks of an MCU lie in the same
order whether its parts are next to each other or one below the other, so that a file stays valid as
long as its size gives as many MCUs. Arrays are kept as their SHA-256.
"""

import base64
import hashlib
import json
import pathlib

import tensorflow as tf

HERE = pathlib.Path(__file__).parent
SOURCES = json.loads((HERE / "decoded_images.json").read_text())["files"]


def sampled(file, factors, across, down):
    """Return a file whose first component has these factors, and which has so many MCUs."""
    made = bytearray(file)
    at = min(made.index(mark) for mark in (b"\xff\xc0", b"\xff\xc2") if mark in made)
    horizontal, vertical = factors
    # Neither side is a multiple of that of an MCU.
    height, width = down * 8 * vertical - 3, across * 8 * horizontal - 2
    made[at + 5 : at + 9] = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    made[at + 11] = horizontal << 4 | vertical
    return bytes(made)


files = {}
for name, horizontal in (("b422", 2), ("p422", 2), ("411", 4)):
    file = base64.b64decode(SOURCES[name])
    across, down = -(-67 // (8 * horizontal)), -(-45 // 8)
    files[f"{name}_as_it_was"] = sampled(file, (horizontal, 1), across, down)
    files[f"{name}_upright"] = sampled(file, (1, horizontal), across, down)
    if name[0] != "p":
        # Blocks of whole rows of a scan are in progressive files, and lie otherwise.
        files[f"{name}_tall"] = sampled(file, (1, horizontal), 1, across * down)
for name in ("b420",):
    file = base64.b64decode(SOURCES[name])
    files["410_of_420"] = sampled(file, (4, 1), -(-67 // 16), -(-45 // 16))
    files["4x1_upright_of_420"] = sampled(file, (1, 4), -(-67 // 16), -(-45 // 16))

cases = []
for name, file in files.items():
    height, width = tf.io.extract_jpeg_shape(file).numpy()[:2].tolist()
    plans = [
        ("decode_jpeg", {"channels": channels, "ratio": ratio})
        for channels in (0, 1, 3)
        for ratio in (1, 2, 4, 8)
    ]
    plans += [
        ("decode_jpeg", {"fancy_upscaling": False}),
        ("decode_jpeg", {"dct_method": "INTEGER_ACCURATE"}),
        ("decode_image", {}),
    ]
    for window in ([0, 0, height, width], [1, 1, 7, 6], [height - 3, width - 4, 3, 4]):
        plans.append(("decode_and_crop_jpeg", {"crop_window": window}))
    for op, kwargs in plans:
        case = {"op": op, "file": name, "kwargs": kwargs}
        try:
            value = getattr(tf.io, op)(file, **kwargs).numpy()
        except tf.errors.OpError as error:
            case["error"] = type(error).__name__
        else:
            case["shape"], case["dtype"] = list(value.shape), value.dtype.name
            case["sha256"] = hashlib.sha256(value.tobytes()).hexdigest()
        cases.append(case)
out = {"files": {k: base64.b64encode(v).decode() for k, v in files.items()}, "cases": cases}
(HERE / "jpeg_samplings.json").write_text(json.dumps(out, indent=0) + "\n")
print(len(files), len(cases), sum("error" in case for case in cases))
