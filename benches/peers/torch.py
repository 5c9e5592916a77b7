"""torch DataLoader with the `tfrecord` package as reader (no CRC check).

WORKERS = 2 processes where that is natural; peers/torch_w0.py is the same with no workers. Files
are shared out among the workers.
"""

import numpy as np
import torch
import torch.utils.data as tud
from data import FLOATS, INTS
from tfrecord import example_pb2
from tfrecord.reader import tfrecord_iterator
from tfrecord.torch.dataset import TFRecordDataset
from workloads import (
    FILES,
    batches,
    big_elements,
    decode_image,
    elements,
    python_function,
    touch_images,
    touch_ints,
    touch_list,
    touch_padded,
    touch_pair,
    touch_tabular,
    touch_tensor,
)

WORKERS = 2
torch.set_num_threads(1)


def cat(f, **k):
    return (r for p in f for r in tfrecord_iterator(p, **k))


DESC = {"label": "int", **dict.fromkeys(FLOATS, "float"), **dict.fromkeys(INTS, "int")}


class Files(tud.IterableDataset):  # each worker takes every n-th file
    def __init__(self, files, one):
        self.files, self.one = files, one

    def __iter__(self):
        i = tud.get_worker_info()
        for f in self.files[i.id :: i.num_workers] if i else self.files:
            yield from self.one(f)


def load(ds, b, **k):
    return tud.DataLoader(ds, batch_size=b, num_workers=min(k.pop("w", WORKERS), WORKERS), **k)


def npd(d):
    return {k: v.numpy() for k, v in d.items()}


def raw(f):
    return map(bytes, tfrecord_iterator(f))


def tab(
    f,
):  # as TFRecordDataset, but records are shuffled before they are parsed, as in the other peers
    from tfrecord.reader import extract_feature_dict

    names = {"byte": "bytes_list", "float": "float_list", "int": "int64_list"}
    for r in rawshuf(f):
        yield extract_feature_dict(example_pb2.Example.FromString(r).features, DESC, names)


def rawshuf(f):
    from tfrecord.iterator_utils import shuffle_iterator

    return shuffle_iterator(raw(f), 10000)


def ex(r):
    return example_pb2.Example.FromString(r).features.feature


def cols(rs):  # best practice: parse a whole batch into columns, in the worker
    fs = [ex(r) for r in rs]
    d = {
        k: torch.from_numpy(np.array([f[k].float_list.value[0] for f in fs], np.float32))
        for k in FLOATS
    }
    for k in [*INTS, "label"]:
        d[k] = torch.from_numpy(np.array([f[k].int64_list.value[0] for f in fs], np.int64))
    return d


def flt(f):
    return TFRecordDataset(f, None, {"x": "float"}, transform=lambda d: d["x"].reshape(3, 50, 50))


def byt(f):
    return TFRecordDataset(
        f,
        None,
        {"x": "byte"},
        transform=lambda d: np.frombuffer(d["x"], np.float32).reshape(3, 50, 50).copy(),
    )


def img(f):
    return TFRecordDataset(
        f,
        None,
        {"image/encoded": "byte", "image/label": "int"},
        transform=lambda d: (decode_image(d["image/encoded"]), d["image/label"][0]),
    )


def tok(f):
    return TFRecordDataset(
        f, None, {"tokens": "int"}, transform=lambda d: torch.from_numpy(d["tokens"])
    )


def padseq(xs):
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True)


def W1():
    return elements(lambda: load(Files(FILES["d5"], raw), None, w=0))


def W1b():
    return batches(lambda: load(Files(FILES["d5"], raw), 1024, collate_fn=list, w=0), touch_list)


def W2():
    return big_elements(lambda: load(Files(FILES["d6"], raw), None, w=0))


def W3():
    return batches(lambda: map(npd, load(Files(FILES["d1"], tab), 1024)), touch_tabular)


def W3b():
    return batches(
        lambda: map(npd, load(Files(FILES["d1"], rawshuf), 1024, collate_fn=cols)), touch_tabular
    )


def W4():
    return batches(lambda: load(Files(FILES["d3"], flt), 32), touch_tensor)


def W4b():
    return batches(lambda: load(Files(FILES["d3b"], byt), 32), touch_tensor)


def W5():
    return batches(lambda: load(Files(FILES["d2"], img), 64), touch_images)


def W6():
    return batches(lambda: load(Files(FILES["d4"], tok), 64, collate_fn=padseq), touch_padded)


def W7():
    return batches(
        lambda: load(
            Files(FILES["d7"], lambda f: map(bytes, tfrecord_iterator(f, compression_type="gzip"))),
            1024,
            collate_fn=list,
            w=0,
        ),
        touch_list,
    )


class Pairs(tud.Dataset):
    def __init__(self):
        self.x = np.load(FILES["d8"][0], mmap_mode="c")

    def __len__(self):
        return len(self.x) - 1

    def __getitem__(self, i):
        return self.x[i], self.x[i + 1]


def W8():
    return batches(lambda: load(Pairs(), 32), touch_pair)


class Map(tud.Dataset):
    def __init__(self, n, f):
        self.n, self.f = n, f

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.f(i)


def W9():
    return batches(lambda: load(Map(200_000, python_function), 256), touch_ints)


def W10():
    return batches(lambda: load(Map(2_000_000, lambda x: x + 1), 1024), touch_ints)


def W10b():
    return batches(lambda: load(Map(2_000_000, lambda x: x), 1024, shuffle=True), touch_ints)


def W12():
    return next(
        iter(load(Files(FILES["d1"][:1], tab), 32, w=0))
    )  # its shuffle holds 10000 raw records, not 1000
