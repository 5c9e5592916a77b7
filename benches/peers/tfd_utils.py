"""PyPI `tfd-utils`: random access by a 'key' feature, which these data lack, so only its writer
is measured.
"""

from tfd_utils import pb2
from tfd_utils.writer import TFRecordWriter
from workloads import OUT, blobs, rows, write_loop


def W11():
    w = TFRecordWriter(OUT)

    def put(d):
        F = pb2.Feature
        f = {
            k: F(float_list=pb2.FloatList(value=[v]))
            if k[0] == "I"
            else F(int64_list=pb2.Int64List(value=[v]))
            for k, v in d.items()
        }
        w.write(pb2.Example(features=pb2.Features(feature=f)).SerializeToString())

    return write_loop(rows(), 100, put, w.close)


def W11b():
    w = TFRecordWriter(OUT)
    return write_loop(blobs(), 125, w.write, w.close)
