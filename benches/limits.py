"""The physical limits of this machine: the least time that each job must take.

``python limits.py [OUT.json]`` (default: limits.json beside the data) needs the `tools` environment
and a C compiler. Measures are the best of five: a limit is not what a busy neighbour left over. It
is the least wall time per element with all cores: work that needs the GIL is not divided, native
work is, and the larger of the two counts.
"""

import ctypes
import io
import json
import mmap
import os
import subprocess
import sys
import tempfile
import threading
import zlib
from pathlib import Path
from time import perf_counter

import crc32c
import cv2
import google_crc32c
import numpy as np
import simplejpeg
from data import ROOT
from isal import isal_zlib
from PIL import Image
from workloads import FILES, OUT, blobs, example_class, python_function, rows
from zlib_ng import zlib_ng

CORES = len(os.sched_getaffinity(0))
MIB = 1 << 20
measures: dict[str, tuple[float, str]] = {}


def record(name, value, unit):
    measures[name] = (value, unit)
    print(f"{name:46s} {value:12,.4g} {unit}", flush=True)
    return value


def seconds(work, *args):
    """The least time of five."""
    times = []
    for _ in range(5):
        start = perf_counter()
        work(*args)
        times.append(perf_counter() - start)
    return min(times)


def together(*works):
    """Run these at once, a thread each."""
    threads = [threading.Thread(target=w) for w in works]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def each(work, items):
    for x in items:
        work(x)


def copying():
    a = np.ones(1 << 28, np.uint8)
    b = np.zeros_like(a)
    half = a.size // 2
    record("memcpy 256 MiB", a.size / 1e9 / seconds(np.copyto, b, a), "GB/s")
    two = [lambda s=s: np.copyto(b[s], a[s]) for s in (slice(half), slice(half, None))]
    record("memcpy 256 MiB, 2 threads", a.size / 1e9 / seconds(together, *two), "GB/s")
    s1, s2 = a[: 1 << 18], b[: 1 << 18]
    small = seconds(lambda: [np.copyto(s2, s1) for _ in range(1000)])
    record("memcpy 256 KiB (in cache)", 1000 * s1.size / 1e9 / small, "GB/s")


def files():
    """The page cache, and writing; gives the seconds to read and to write a MiB."""
    big = FILES["d6"][0]
    size = os.path.getsize(big)

    def into(buffer):
        with open(big, "rb", 0) as f:
            while f.readinto(buffer):
                pass

    def fresh():
        with open(big, "rb", 0) as f:
            while f.read(MIB):
                pass

    def touch():
        with open(big, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
            pages = np.frombuffer(m, np.uint8)[::4096]
            pages.sum()
            del pages

    record("page cache, readinto 4 MiB", size / 1e9 / seconds(into, bytearray(4 * MIB)), "GB/s")
    read = seconds(fresh)
    record("page cache, read(1 MiB) to new bytes", size / 1e9 / read, "GB/s")
    record("page cache, mmap touch every page", size / 1e9 / seconds(touch), "GB/s")

    blob = blobs()[0]

    def write():
        with open(OUT, "wb", 0) as f:
            for _ in range(500):
                f.write(blob)

    wrote = seconds(write)
    os.remove(OUT)
    record("write 1 MiB to a new file", 500 * MIB / 1e9 / wrote, "GB/s")
    return read / (size / MIB), wrote / 500


def crc():
    """Gives the seconds for a MiB."""
    x = os.urandom(MIB)
    best = float("inf")
    for name, f in (("google-crc32c", google_crc32c.value), ("crc32c", crc32c.crc32c)):
        t = seconds(each, f, [x] * 1000) / 1000
        record(f"crc32c {name} 1 MiB", MIB / 1e9 / t, "GB/s")
        best = min(best, t)
    t = seconds(each, google_crc32c.value, [x[:20]] * 100_000) / 100_000
    record("crc32c google-crc32c 20 B, per call", t * 1e9, "ns")
    return best


def inflate():
    """Gives the least seconds for the whole gzip file."""
    z = Path(FILES["d7"][0]).read_bytes()
    raw = os.path.getsize(FILES["d1"][0])
    best = float("inf")
    for name, m in (("zlib", zlib), ("zlib-ng", zlib_ng), ("isal", isal_zlib)):
        t = seconds(m.decompress, z, 31)
        record(f"gzip inflate {name}", raw / 1e6 / t, "MB/s of output")
        best = min(best, t)
    return best


def images():
    """Gives the seconds per image with two threads."""
    cv2.setNumThreads(0)
    example = example_class()
    jpegs = []
    with open(FILES["d2"][0], "rb") as f:
        for _ in range(128):
            length = int.from_bytes(f.read(12)[:8], "little")
            features = example.FromString(f.read(length)).features.feature
            jpegs.append(features["image/encoded"].bytes_list.value[0])
            f.read(4)
    decode = simplejpeg.decode_jpeg

    def resized(image):
        small = cv2.resize(image, (224, 224), interpolation=cv2.INTER_LINEAR)
        return np.multiply(small.astype(np.float32), np.float32(1 / 255))

    decoders = {
        "simplejpeg": decode,
        "simplejpeg, fast": lambda j: decode(j, fastdct=True, fastupsample=True),
        "opencv": lambda j: cv2.imdecode(np.frombuffer(j, np.uint8), 1),
        "pillow": lambda j: np.asarray(Image.open(io.BytesIO(j)).convert("RGB")),
        "simplejpeg + resize + float": lambda j: resized(decode(j)),
    }
    two = 0.0
    for name, f in decoders.items():
        record(f"jpeg 500x375 {name}", 128 / seconds(each, f, jpegs), "img/s")
        works = [lambda f=f: each(f, jpegs)] * 2
        two = seconds(together, *works) / 256
        record(f"jpeg 500x375 {name}, 2 threads", 1 / two, "img/s")
    decoded = [decode(j) for j in jpegs[:32]]
    record("resize 224 opencv + to float/255", 32 / seconds(each, resized, decoded), "img/s")
    return two


def python():
    """Python's own costs; gives the seconds per element of each by name."""
    n = 1_000_000
    data = os.urandom(MIB)
    pieces = [data[i : i + 20] for i in range(0, n, 10)] * 10
    ints = [np.int64(i) for i in range(200_000)]
    array = np.load(FILES["d8"][0], mmap_mode="r")
    base = np.asarray(array)
    pair = np.empty((2, 32, 3, 50, 50), np.float32)
    dicts = rows()
    out = {}

    def loop():
        count = total = 0
        for r in pieces:
            count += 1  # noqa: SIM113  # what every drain loop does
            total += len(r)

    def make():
        for i in range(n):
            data[i : i + 20]

    def calls(f=lambda v: v):
        for v in range(n):
            f(v)

    def pairs():
        for i in range(len(array) - 1):
            yield array[i], array[i + 1]

    def copy():
        for k in range(0, 19_968, 32):
            pair[0] = base[k : k + 32]
            pair[1] = base[k + 1 : k + 33]

    def walk():
        for d in dicts:
            for _ in d.items():
                pass

    def arange():
        for k in range(0, 2 * n, 1024):
            (np.arange(k, k + 1024) + 1).sum()

    def measure(name, work, elements, key=None):
        t = seconds(work) / elements
        record(name, t * 1e9, "ns")
        out[key] = t

    measure("python: drain loop over a list of bytes", loop, len(pieces), "loop")
    measure("python: make a 20-byte bytes", make, n, "bytes")
    measure("python: call a lambda", calls, n)
    measure("python: W9 on int", lambda: each(python_function, range(200_000)), 200_000, "W9")
    measure("python: W9 on np.int64", lambda: each(python_function, ints), 200_000)
    measure("python: W8 generator", lambda: each(len, pairs()), 19_999, "W8g")
    measure("W8: copy of the two tensors", copy, 19_968, "W8")
    measure("python: walk the 40 items of a W11 dict", walk, len(dicts), "W11")
    measure("W10: arange + 1, per element", arange, 2 * n, "W10")
    rng = np.random.default_rng(0)
    measure("W10b: permutation, per element", lambda: rng.permutation(2 * n), 2 * n, "W10b")
    numpy = [sys.executable, "-c", "import time; t = time.perf_counter(); import numpy; "]
    numpy[2] += "print(time.perf_counter() - t)"
    out["W12"] = min(float(subprocess.check_output(numpy)) for _ in range(5))
    record("python: import numpy", out["W12"] * 1e3, "ms")
    return out


def native():
    """limits.c over the mapped files, one thread; gives the seconds per record of each."""
    so = os.path.join(tempfile.mkdtemp(), "limits.so")
    source = str(Path(__file__).with_suffix(".c"))
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-pthread"]
    subprocess.check_call(["cc", *flags, source, "-o", so])
    lib = ctypes.CDLL(so)
    os.remove(so)
    for f in (lib.frames, lib.parse, lib.handover):
        f.restype = ctypes.c_int64
    ring = np.empty(MIB, np.uint8)
    turns = ctypes.c_int64(20_000)
    record("hand-over between two threads", seconds(lib.handover, turns) / 40_000 * 1e9, "ns")

    def walk(name, f, path, *args):
        m = np.memmap(path, np.uint8, "r")
        call = (ctypes.c_void_p(m.ctypes.data), ctypes.c_int64(m.size), *args)
        count = f(*call)
        if count <= 0:
            raise ValueError(f"{path} is damaged")
        t = seconds(f, *call) / count
        record(f"native walk {name}, per record", t * 1e9, "ns")
        return t

    def parse(what):
        return ctypes.c_int(what), ctypes.c_void_p(ring.ctypes.data), ctypes.c_int64(ring.size)

    walk("d5 without CRC", lib.frames, FILES["d5"][0], 0)
    return {
        "d5": walk("d5", lib.frames, FILES["d5"][0], 1),
        "d6": walk("d6", lib.frames, FILES["d6"][0], 1),
        "d1": walk("d1", lib.parse, FILES["d1"][0], *parse(0)),
        "d3": walk("d3", lib.parse, FILES["d3"][0], *parse(1)),
        "d3b": walk("d3b", lib.parse, FILES["d3b"][0], *parse(1)),
        "d4": walk("d4", lib.parse, FILES["d4"][0], *parse(2)),
    }


def main():
    copying()
    read, write = files()
    crc_mib = crc()
    gzip = inflate()
    jpeg = images()
    py = python()
    walk = native()
    tabular, tokens = walk["d1"] / CORES, walk["d4"] / CORES
    per_element = {
        # Each element becomes bytes and passes a Python loop, under the GIL.
        "W1": max(walk["d5"], py["loop"] + py["bytes"]),
        # A list of bytes; who hands out buffers could go below.
        "W1b": max(walk["d5"] / CORES, py["bytes"]),
        "W2": (read + crc_mib) / CORES,
        "W3": tabular,
        "W3b": tabular,
        "W4": walk["d3"] / CORES,
        "W4b": walk["d3b"] / CORES,
        "W5": jpeg,
        "W6": tokens,
        "W6b": tokens,
        # One gzip stream can't be divided.
        "W7": max(gzip / 100_000, py["bytes"]),
        "W8": py["W8"],
        "W8g": max(py["W8g"], py["W8"]),
        # Traced, two vector operations per element: the arange of W10 is the same work.
        "W9": py["W10"],
        "W9p": py["W9"],
        "W10": py["W10"],
        "W10b": py["W10b"],
        "W11": max(py["W11"], tabular),
        "W11b": max(write, crc_mib, (write + crc_mib) / CORES),
        "W12": py["W12"],
    }
    print("\nlimit, elements/s:", {k: f"{1 / v:,.0f}" for k, v in per_element.items()})
    out = Path(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "limits.json"))
    out.write_text(json.dumps({"measures": measures, "per_element": per_element}, indent=1))


if __name__ == "__main__":
    main()
