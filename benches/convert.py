"""Converts data for one peer's best case: `PYTHON convert.py arrayrecord|tar|arrow`, with that
peer's Python. Into a folder `conv` beside the data.
"""

import io
import os
import struct
import sys

import numpy as np
from workloads import FILES, ROW, converted, example_class


def records(path):
    with open(path, "rb") as f:
        while h := f.read(12):
            (n,) = struct.unpack("<Q", h[:8])
            yield f.read(n)
            f.read(4)


Example = example_class()


def row(r):
    f = Example.FromString(r).features.feature
    return tuple((f[k].float_list if k[0] == "I" else f[k].int64_list).value[0] for k in ROW.names)


def tokens(r):
    return np.array(Example.FromString(r).features.feature["tokens"].int64_list.value, np.int64)


def raw(r):
    return Example.FromString(r).features.feature["x"].bytes_list.value[0]


def arrayrecord():
    """group_size:1, as grain asks for; rows as structs, tensors and tokens as raw bytes."""
    from array_record.python.array_record_module import ArrayRecordWriter

    def put(name, items):
        w = ArrayRecordWriter(converted(name), "group_size:1,uncompressed")
        for x in items:
            w.write(x)
        w.close()

    def ex(k):
        return (r for p in FILES[k] for r in records(p))

    put("d1.ar", (np.array(row(r), ROW).tobytes() for r in ex("d1")))
    put("d2.ar", ex("d2"))
    put("d3.ar", map(raw, ex("d3b")))
    put("d4.ar", (tokens(r).tobytes() for r in ex("d4")))
    put("d5.ar", ex("d5"))
    put("d6.ar", ex("d6"))


def tar():
    import tarfile

    def put(name, items):
        with tarfile.open(converted(name), "w") as t:
            for k, files in enumerate(items):
                for ext, b in files.items():
                    i = tarfile.TarInfo(f"{k:07d}.{ext}")
                    i.size = len(b)
                    t.addfile(i, io.BytesIO(b))

    def images(path):
        for r in records(path):
            f = Example.FromString(r).features.feature
            yield {
                "jpg": f["image/encoded"].bytes_list.value[0],
                "cls": b"%d" % f["image/label"].int64_list.value[0],
            }

    for i, p in enumerate(FILES["d2"]):
        put(f"d2-{i}.tar", images(p))
    put("d6.tar", ({"bin": r} for r in records(FILES["d6"][0])))
    put("d3.tar", ({"bin": raw(r)} for p in FILES["d3b"] for r in records(p)))


def arrow():
    import datasets as H

    def save(name, cols, **f):
        H.Dataset.from_dict(cols, **f).save_to_disk(converted(name))

    a = np.array([row(r) for p in FILES["d1"] for r in records(p)], ROW)
    save("d1.hf", {k: a[k] for k in ROW.names})
    x = np.stack(
        [
            np.frombuffer(raw(r), np.float32).reshape(3, 50, 50)
            for p in FILES["d3b"]
            for r in records(p)
        ]
    )

    def gen():
        for i in range(len(x)):
            yield {"x": x[i]}

    H.Dataset.from_generator(
        gen,
        features=H.Features({"x": H.Array3D((3, 50, 50), "float32")}),
        cache_dir=converted("hfcache"),
    ).save_to_disk(converted("d3.hf"))
    save("d4.hf", {"tokens": [tokens(r) for p in FILES["d4"] for r in records(p)]})
    im = [Example.FromString(r).features.feature for p in FILES["d2"] for r in records(p)]
    save(
        "d2.hf",
        {
            "jpg": [f["image/encoded"].bytes_list.value[0] for f in im],
            "label": [f["image/label"].int64_list.value[0] for f in im],
        },
    )
    save(
        "d5.hf", {"b": list(records(FILES["d5"][0]))}, features=H.Features({"b": H.Value("binary")})
    )
    save(
        "d6.hf",
        {"b": list(records(FILES["d6"][0]))[:1000]},
        features=H.Features({"b": H.Value("large_binary")}),
    )


os.makedirs(converted(""), exist_ok=True)
if __name__ == "__main__":
    globals()[sys.argv[1]]()
