"""Makes the benchmark data, deterministically and without TensorFlow.

``python data.py`` writes to the folder that `HEADRACE_BENCH` names (default: ``headrace-bench`` in
the temporary folder). It needs numpy, pillow and google-crc32c, some minutes and 3.8 GB. Files
that exist are kept. An Example's features are written in the order of the dict, the same in every
record, as protobuf writers do within one process.
"""

import functools
import gzip
import io
import multiprocessing
import os
import struct
import tempfile
import time

import numpy as np

ROOT = os.environ.get("HEADRACE_BENCH", os.path.join(tempfile.gettempdir(), "headrace-bench"))
FLOATS = [f"I{i}" for i in range(1, 14)]
INTS = [f"C{i}" for i in range(1, 27)]


def paths():
    """The files of each data set: D1 tabular ... D8 a .npy, as benches/README.md lists them."""

    def shards(pattern, n):
        return [os.path.join(ROOT, pattern.format(i)) for i in range(n)]

    return {
        "d1": shards("d1-tab-{}.tfrecord", 4),
        "d2": shards("d2-img-{}.tfrecord", 4),
        "d3": shards("d3-float-{}.tfrecord", 2),
        "d3b": shards("d3-bytes-{}.tfrecord", 2),
        "d4": shards("d4-text-{}.tfrecord", 4),
        "d5": shards("d5-tiny.tfrecord", 1),
        "d6": shards("d6-big.tfrecord", 1),
        "d7": shards("d7-tab.tfrecord.gz", 1),
        "d8": shards("d8.npy", 1),
    }


# --- a minimal tf.train.Example encoder --------------------------------------------------------


@functools.lru_cache(1 << 17)
def varint(n):
    if 0 <= n < 128:
        return bytes((n,))
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, payload):
    """A length-delimited field."""
    return bytes((number << 3 | 2,)) + varint(len(payload)) + payload


def feature(v):
    if isinstance(v, bytes):
        return field(1, field(1, v))
    if isinstance(v, np.ndarray) and v.dtype == np.float32:
        return field(2, field(1, v.tobytes()))
    if isinstance(v, float):
        return field(2, field(1, struct.pack("<f", v)))
    if isinstance(v, int):
        return field(3, field(1, varint(v)))
    return field(3, field(1, b"".join(map(varint, v))))  # a list of ints


@functools.lru_cache(1 << 10)
def key(name):
    return field(1, name.encode())


def example(row):
    entries = [field(1, key(k) + field(2, feature(v))) for k, v in row.items()]
    return field(1, b"".join(entries))


# --- TFRecord framing --------------------------------------------------------------------------


def frame(record):
    from google_crc32c import value as crc32c

    def masked(data):
        c = crc32c(data)
        return struct.pack("<I", ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    head = struct.pack("<Q", len(record))
    return head + masked(head) + record + masked(record)


def write(path, records):
    with open(path, "wb") as f:
        buffer, size = [], 0
        for r in map(frame, records):
            buffer.append(r)
            size += len(r)
            if size > 1 << 20:
                f.write(b"".join(buffer))
                buffer, size = [], 0
        f.write(b"".join(buffer))


# --- what the records hold ---------------------------------------------------------------------


def tabular(n, seed):
    """13 float scalars, 26 int64 scalars with long tails (varints of 1 to 5 bytes), one label."""
    rng = np.random.default_rng(seed)
    floats = rng.lognormal(0, 2, (n, len(FLOATS))).astype(np.float32)
    bits = rng.random((n, len(INTS))) * np.linspace(4, 33, len(INTS))
    ints = (2.0**bits).astype(np.int64)
    labels = (rng.random(n) < 0.25).astype(np.int64)
    for f, i, label in zip(floats.tolist(), ints.tolist(), labels.tolist(), strict=True):
        row = {"label": label}
        row.update(zip(FLOATS, f, strict=True))
        row.update(zip(INTS, i, strict=True))
        yield row


def images(n, seed):
    """JPEGs of 500x375: smooth gradients and waves, then blobs of texture, then grain."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:375, 0:500].astype(np.float32)
    for k in range(n):
        img = np.empty((375, 500, 3), np.float32)
        for c in range(3):
            a, b, p, q = rng.uniform(-0.3, 0.3, 2).tolist() + rng.uniform(0.01, 0.12, 2).tolist()
            wave = 35 * np.sin(p * x + c) * np.cos(q * y + k)
            img[..., c] = 128 + a * (x - 250) + b * (y - 187) + wave
        texture = rng.standard_normal((95, 126)).astype(np.float32)
        texture = texture.repeat(4, 0).repeat(4, 1)[:375, :500]
        grain = rng.normal(0, 13, (375, 500, 1)).astype(np.float32)
        img += 12 * texture[..., None] + grain
        out = io.BytesIO()
        quality = int(rng.integers(85, 91))
        Image.fromarray(img.clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=quality)
        yield {
            "image/encoded": out.getvalue(),
            "image/label": int(rng.integers(1000)),
            "image/text": b"class %d" % k,
        }


def tensors(n, seed, as_float):
    """3x50x50 float32, as a float_list or as bytes."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        t = rng.random(7500, dtype=np.float32)
        yield {"x": t if as_float else t.tobytes()}


def texts(n, seed):
    """10 to 200 tokens."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(10, 201, n)
    tokens = np.minimum(rng.zipf(1.3, int(lengths.sum())), 49_999).tolist()
    at = 0
    for length in lengths.tolist():
        yield {"tokens": tokens[at : at + length]}
        at += length


def tiny(n, seed):
    """Raw records of 16 to 24 bytes."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(16, 25, n).tolist()
    pool = rng.bytes(1 << 20)
    for k, length in enumerate(lengths):
        at = k * 7 % ((1 << 20) - 32)
        yield pool[at : at + length]


def big(n, seed):
    """Raw records of 1 MiB."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield rng.bytes(1 << 20)


# --- making the files --------------------------------------------------------------------------


def write_examples(path, rows, *args):
    write(path, map(example, rows(*args)))


def write_records(path, records, *args):
    write(path, records(*args))


def write_npy(path, n, seed):
    a = np.lib.format.open_memmap(path, "w+", np.float32, (n, 3, 50, 50))
    rng = np.random.default_rng(seed)
    for k in range(0, n, 1000):
        a[k : k + 1000] = rng.random((1000, 3, 50, 50), dtype=np.float32)
    a.flush()


def write_gzip(path, source):
    with open(source, "rb") as f, gzip.open(path, "wb", 6) as z:
        z.write(f.read())


def make(job):
    path, writer, *args = job
    if os.path.exists(path):
        return
    start = time.time()
    writer(path + ".tmp", *args)
    os.replace(path + ".tmp", path)
    size, name = os.path.getsize(path) / 1e6, os.path.basename(path)
    print(f"{name}: {size:.1f} MB, {time.time() - start:.1f} s", flush=True)


def main():
    os.makedirs(ROOT, exist_ok=True)
    p = paths()
    jobs = []
    for i in range(4):
        jobs += [
            (p["d1"][i], write_examples, tabular, 100_000, 10 + i),
            (p["d2"][i], write_examples, images, 1_000, 20 + i),
            (p["d4"][i], write_examples, texts, 50_000, 40 + i),
        ]
    for i in range(2):
        jobs += [
            (p["d3"][i], write_examples, tensors, 4_000, 30 + i, True),
            (p["d3b"][i], write_examples, tensors, 4_000, 30 + i, False),
        ]
    jobs += [
        (p["d5"][0], write_records, tiny, 2_000_000, 50),
        (p["d6"][0], write_records, big, 2_000, 60),
        (p["d8"][0], write_npy, 20_000, 80),
    ]
    with multiprocessing.Pool() as pool:
        for _ in pool.imap_unordered(make, jobs):
            pass
    make((p["d7"][0], write_gzip, p["d1"][0]))


if __name__ == "__main__":
    main()
