"""Indices of record files: how fast they are made, and what they give.

``python index.py [--data FOLDER] [--only WORD ...]`` makes its files (some 2 GB, kept in FOLDER)
and prints a table; each line says what it must show, and whether it does. Files are in the page
cache, measures the best of five. Nothing else may run meanwhile.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import headrace as hr

READ_BYTES = 1 << 20
failed = []


def make(folder, name, count, size):
    """A file of `count` records of `size` bytes; their first 8 are their number."""
    path = folder / f"{name}.tfrecord"
    if not path.exists():
        rest = os.urandom(size - 8)
        with hr.io.TFRecordWriter(str(path) + ".part") as writer:
            for i in range(count):
                writer.write(i.to_bytes(8, "little") + rest)
        os.rename(str(path) + ".part", path)
    return str(path)


def best(work, times=5):
    """The least seconds."""
    seconds = []
    for _ in range(times):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return min(seconds)


def tell(what, value, unit, good, bound):
    word = "ok" if good else "MISSED"
    print(f"{what:58s} {value:12,.4g} {unit:10s} {bound:28s} {word}", flush=True)
    if not good:
        failed.append(what)


def read_plain(path):
    """Read a file with no checks at all."""
    buffer = bytearray(READ_BYTES)
    with open(path, "rb", 0) as file:
        while file.readinto(buffer):
            pass


def unindexed(path):
    for index in Path(path).parent.glob(f".{Path(path).name}.hridx"):
        index.unlink()


def building(folder):
    """The index is made at more than 60 % of the speed of reading the file with no checks."""
    for name, count, size in [
        ("100 B", 5_000_000, 100),
        ("1 KB", 600_000, 1000),
        ("1 MB", 600, 1 << 20),
    ]:
        path = make(folder, name.replace(" ", ""), count, size)
        gigabytes = os.path.getsize(path) / 1e9
        read_plain(path)
        plain = best(lambda path=path: read_plain(path))
        ahead = best(lambda path=path: hr.io.index_tfrecord(path, None, force=True))
        share = plain / ahead
        tell(f"making the index, records of {name}", gigabytes / ahead, "GB/s", True, "")
        tell("  against reading with no checks", share, "x", share > 0.6, "> 0.6")

        def read(path=path, index=None):
            ds = hr.TFRecordDataset(path, index=index).batch(1024)
            for _ in ds:
                pass

        def left_behind(path=path):
            unindexed(path)
            read(path, "auto")

        without, with_index = best(read), best(left_behind)
        share = without / with_index
        tell(
            "  a pass that leaves it behind, against one that does not",
            share,
            "x",
            share > 0.9,
            "> 0.9",
        )


def compressed(folder):
    """The same of GZIP files, against reading them."""
    path = str(folder / "text.gz")
    if not os.path.exists(path):
        words = [f"feature_{i} {os.urandom(6).hex()} ".encode() for i in range(1000)]
        with hr.io.TFRecordWriter(path + ".part", "GZIP") as writer:
            for i in range(300_000):
                writer.write(b"".join(words[(i * 7 + j * 31) % 1000] for j in range(20)))
        os.rename(path + ".part", path)

    def read(index=None):
        for _ in hr.TFRecordDataset(path, "GZIP", index=index).batch(1024):
            pass

    def left_behind():
        unindexed(path)
        read("auto")

    reading = best(read)
    ahead = best(lambda: hr.io.index_tfrecord(path, force=True))
    tell("making the index of a GZIP file, against reading it", reading / ahead, "x", True, "")
    share = reading / best(left_behind)
    tell("  a pass that leaves it behind", share, "x", share > 0.9, "> 0.9")
    hr.io.index_tfrecord(path)
    ds = hr.TFRecordDataset(path, "GZIP", index="auto")
    seconds = best(lambda: [ds[i] for i in range(0, 300_000, 3000)]) / 100
    tell("  ds[i]", seconds * 1e3, "ms", seconds < 0.05, "< 50")


def skipping(folder):
    """A million records of 100 bytes, `skip(900_000)`."""
    path = make(folder, "million", 1_000_000, 100)

    def first(index):
        return next(iter(hr.TFRecordDataset(path, index=index).skip(900_000)))

    for index, bound in [(None, 1.0), ("auto", 0.05)]:
        if index is not None:
            hr.io.index_tfrecord(path)
        assert int.from_bytes(first(index)[:8], "little") == 900_000
        seconds = best(lambda index=index: first(index))
        name = "with an index" if index else "without"
        tell(
            f"skip(900,000) of a million, {name}",
            seconds * 1e3,
            "ms",
            seconds <= bound,
            f"<= {bound * 1e3:.0f}",
        )
    ds = hr.TFRecordDataset(path, index="auto")
    seconds = best(lambda: [ds[i] for i in range(0, 1_000_000, 1000)]) / 1000
    tell("ds[i]", seconds * 1e6, "us", True, "")
    seconds = best(lambda: [*hr.TFRecordDataset(path, index="auto").shard(1000, 7)])
    tell("shard(1000, 7): 1000 records", seconds * 1e3, "ms", True, "")


def batches(dataset, count):
    iterator = iter(dataset)
    next(iterator)
    start = perf_counter()
    for _ in range(count):
        next(iterator)
    return count / (perf_counter() - start)


def random_order(folder):
    """Records of 500 bytes in batches of 2,048."""
    path = make(folder, "500B", 1_000_000, 500)
    hr.io.index_tfrecord(path)
    options = hr.Options()
    options.threading.private_threadpool_size = 1
    for name, dataset, least in [
        ("in order", hr.TFRecordDataset(path, index="auto"), 150),
        ("in random order", hr.TFRecordDataset(path, index="auto").shuffle(None, seed=1), 50),
    ]:
        dataset = dataset.batch(2048).with_options(options)
        rate = max(batches(dataset, 200) for _ in range(5))
        tell(
            f"batches of 2,048 records of 500 bytes, {name}",
            rate,
            "batches/s",
            rate >= least,
            f">= {least}",
        )


def anonymous():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return 0.0


def memory(folder):
    """100,000 records of 1 KB in 8 files, shuffled as a whole."""
    paths = [make(folder, f"shard{i}", 12_500, 1000) for i in range(8)]
    hr.io.index_tfrecord(paths)
    before = anonymous()
    peak = before
    for i, _ in enumerate(hr.TFRecordDataset(paths, index="auto").shuffle(None, seed=1)):
        if i % 1000 == 0:
            peak = max(peak, anonymous())
    tell("memory of an epoch in random order", peak - before, "MB", peak - before < 32, "< 32")


JOBS = {
    "building": building,
    "compressed": compressed,
    "skipping": skipping,
    "random": random_order,
    "memory": memory,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("HEADRACE_BENCH", tempfile.gettempdir())
    parser.add_argument("--data", type=Path, default=Path(default) / "index")
    parser.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS))
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        JOBS[name](args.data)
    sys.exit(f"missed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
