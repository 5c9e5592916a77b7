"""Writes decoded_images.json: what TensorFlow makes of image files that PIL writes.

Run with a Python that has TensorFlow and PIL. JPEG of all samplings, CMYK, progressive, with
restart markers, cut off at many places, cropped everywhere; PNG of every kind with few bits,
palettes and transparency; WebP; and files whose length or header is wrong. Arrays are kept as their
SHA-256.
"""

import base64
import hashlib
import io
import json
import pathlib

import numpy as np
import tensorflow as tf
from PIL import Image

HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)


def picture(height, width):
    """Smooth colours with some noise, so that every coefficient is used."""
    y, x = np.mgrid[:height, :width]
    waves = [128 + 100 * np.sin(y / (3 + c) + x / (5 - c)) for c in range(3)]
    noise = rng.integers(-25, 25, (height, width, 3))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


def saved(image, **how):
    file = io.BytesIO()
    image.save(file, **how)
    return file.getvalue()


def rgb(height=45, width=67):
    return Image.fromarray(picture(height, width))


files = {}
for sampling, name in enumerate(["444", "422", "420"]):
    for progressive in (False, True):
        kind = "p" if progressive else "b"
        files[f"{kind}{name}"] = saved(
            rgb(), format="JPEG", quality=80, subsampling=sampling, progressive=progressive
        )
files["411"] = saved(rgb(), format="JPEG", quality=80, subsampling="4:1:1")
files["grey"] = saved(rgb().convert("L"), format="JPEG", quality=80)
files["cmyk"] = saved(rgb().convert("CMYK"), format="JPEG", quality=80)
files["restarts"] = saved(rgb(), format="JPEG", quality=80, restart_marker_blocks=3)
files["tiny"] = saved(rgb(3, 5), format="JPEG", quality=80)
no_adobe = files["cmyk"]
at = no_adobe.index(b"\xff\xee")
length = int.from_bytes(no_adobe[at + 2 : at + 4], "big")
files["cmyk_plain"] = no_adobe[:at] + no_adobe[at + 2 + length :]

cases = []


def add(op, file, **kwargs):
    cases.append((op, file, kwargs))


jpegs = list(files)
for name in jpegs:
    for channels in (0, 1, 3):
        for ratio in (1, 2, 4, 8):
            add("decode_jpeg", name, channels=channels, ratio=ratio)
    add("decode_jpeg", name, fancy_upscaling=False)
    add("decode_jpeg", name, dct_method="INTEGER_ACCURATE")
    add("extract_jpeg_shape", name)
    if name == "tiny":
        continue
    for window in ([0, 0, 1, 1], [5, 7, 20, 31], [16, 16, 16, 16], [44, 66, 1, 1], [1, 33, 43, 3]):
        add("decode_and_crop_jpeg", name, crop_window=window)
    add("decode_and_crop_jpeg", name, crop_window=[2, 3, 10, 11], ratio=2)
    add("decode_and_crop_jpeg", name, crop_window=[2, 3, 10, 11], channels=1)
for name in ("b420", "p420", "b444", "grey", "cmyk", "restarts"):
    whole = files[name]
    for part in (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        cut = f"{name}_{part}"
        files[cut] = whole[: int(len(whole) * part)]
        add("decode_jpeg", cut)
        if cut != "p420_0.5":  # libjpeg-turbo 3 smooths the blocks of unfinished scans otherwise
            add("decode_jpeg", cut, try_recover_truncated=True)
        add("decode_jpeg", cut, acceptable_fraction=0.4)
    for short in (1, 2, 3, 10):
        cut = f"{name}_-{short}"
        files[cut] = whole[:-short]
        add("decode_jpeg", cut)
        if short > 1:  # TensorFlow never comes back from half a marker
            add("decode_jpeg", cut, try_recover_truncated=True)
        add("decode_jpeg", cut, acceptable_fraction=0.4)
    add("decode_and_crop_jpeg", f"{name}_0.7", crop_window=[0, 0, 5, 5])
files["trailing"] = files["b420"] + b"more"
add("decode_jpeg", "trailing")

grey = picture(9, 11)[..., 0]
files["png1"] = saved(Image.fromarray(grey).convert("1"), format="PNG")
files["pngL"] = saved(Image.fromarray(grey), format="PNG")
files["pngL_trns"] = saved(Image.fromarray(grey // 64 * 64), format="PNG", transparency=64)
files["pngLA"] = saved(rgb(9, 11).convert("LA"), format="PNG")
files["pngI16"] = saved(Image.fromarray(grey.astype(np.uint16) * 251), format="PNG")
files["pngRGB"] = saved(rgb(9, 11), format="PNG")
files["pngRGB_trns"] = saved(
    Image.fromarray(picture(9, 11) // 128 * 128), format="PNG", transparency=(128, 128, 0)
)
alpha = picture(9, 11)[..., :1]
files["pngRGBA"] = saved(Image.fromarray(np.concatenate([picture(9, 11), alpha], -1)), format="PNG")
for colours in (2, 4, 16, 200):
    palette = rgb(9, 11).quantize(colours)
    files[f"pngP{colours}"] = saved(palette, format="PNG")
    files[f"pngP{colours}_trns"] = saved(palette, format="PNG", transparency=1)
for name in [name for name in files if name.startswith("png")]:
    for channels in (0, 1, 3, 4):
        for dtype in ("uint8", "uint16"):
            add("decode_png", name, channels=channels, dtype=dtype)
    add("decode_image", name, dtype="float32")
png = files["pngRGB"]
for cut in (8, 20, 40, len(png) - 30, len(png) - 12, len(png) - 4):
    files[f"png_{cut}"] = png[:cut]
    add("decode_png", f"png_{cut}")
files["png_crc"] = png[:60] + bytes([png[60] ^ 1]) + png[61:]
add("decode_png", "png_crc")

files["webp"] = saved(rgb(), format="WEBP", quality=80)
files["webp_lossless"] = saved(rgb(), format="WEBP", lossless=True)
files["webp_alpha"] = saved(rgb().convert("RGBA"), format="WEBP", lossless=True)
transparent = np.concatenate([picture(45, 67), picture(45, 67)[..., :1]], -1)
files["webp_alpha2"] = saved(Image.fromarray(transparent), format="WEBP", quality=70)
frames = [rgb(20, 30) for _ in range(3)]
files["webp_frames"] = saved(
    frames[0], format="WEBP", save_all=True, append_images=frames[1:], lossless=True
)
for name in [
    name for name in files if name.startswith("webp") and name != "webp_frames"
]:  # crashes it
    for channels in (0, 3, 4):
        add("decode_webp", name, channels=channels)
    add("decode_image", name)
    add("decode_image", name, expand_animations=False)

gif = [frame.quantize(16) for frame in frames]
files["gif"] = saved(gif[0], format="GIF", save_all=True, append_images=gif[1:])
files["gif_interlaced"] = saved(gif[0], format="GIF", interlace=1)
files["gif_transparent"] = saved(
    gif[0], format="GIF", save_all=True, append_images=gif[1:], transparency=3, disposal=2
)
for name in ("gif", "gif_interlaced", "gif_transparent"):
    add("decode_gif", name)
    add("decode_image", name, expand_animations=False)
for cut in (6, 13, 40, 200, len(files["gif"]) // 2, len(files["gif"]) - 1):
    files[f"gif_{cut}"] = files["gif"][:cut]
    add("decode_gif", f"gif_{cut}")

bmp = saved(rgb(9, 11), format="BMP")
files["bmp"] = bmp
files["bmp_longer"] = bmp + b"\0"
files["bmp_shorter"] = bmp[:-1]
files["bmp8"] = saved(Image.fromarray(grey), format="BMP")
files["bmp1"] = saved(Image.fromarray(grey).convert("1"), format="BMP")
for name in ("bmp", "bmp_longer", "bmp_shorter", "bmp8", "bmp1"):
    for channels in (0, 3, 4):
        add("decode_bmp", name, channels=channels)

written = []
for op, name, kwargs in cases:
    case = {"op": op, "file": name, "kwargs": kwargs}
    given = dict(kwargs)
    if "dtype" in given:
        given["dtype"] = getattr(tf, given["dtype"])
    try:
        value = getattr(tf.io, op)(files[name], **given).numpy()
    except tf.errors.OpError as error:
        case["error"] = type(error).__name__
    else:
        case["shape"], case["dtype"] = list(value.shape), value.dtype.name
        case["sha256"] = hashlib.sha256(value.tobytes()).hexdigest()
    written.append(case)
pixels = rng.integers(0, 256, (24, 31, 3), np.uint8)
encoded = []
for kwargs in (
    {}, {"quality": 50}, {"quality": 0}, {"quality": 100}, {"progressive": True},
    {"optimize_size": True}, {"chroma_downsampling": False}, {"density_unit": "cm"},
    {"x_density": 72, "y_density": 70000}, {"xmp_metadata": "some metadata"},
    {"progressive": True, "quality": 30, "chroma_downsampling": False},
):  # fmt: skip
    for shown, array in (("rgb", pixels), ("grey", pixels[..., :1])):
        file = tf.io.encode_jpeg(array, **kwargs).numpy()
        encoded.append({"image": shown, "kwargs": kwargs, "file": base64.b64encode(file).decode()})
adjusted = []
for quality in (5, 50, 95):
    for dtype in ("uint8", "float32", "uint16"):
        given = tf.image.convert_image_dtype(pixels, dtype)
        value = tf.image.adjust_jpeg_quality(given, quality).numpy()
        digest = hashlib.sha256(value.tobytes()).hexdigest()
        adjusted.append({"quality": quality, "dtype": dtype, "sha256": digest})
out = {
    "files": {name: base64.b64encode(file).decode() for name, file in files.items()},
    "cases": written,
    "pixels": base64.b64encode(pixels.tobytes()).decode(),
    "encoded": encoded,
    "adjusted": adjusted,
}
(HERE / "decoded_images.json").write_text(json.dumps(out, indent=0) + "\n")
print(len(files), len(written), sum("error" in case for case in written))
