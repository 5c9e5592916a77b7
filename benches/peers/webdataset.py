"""webdataset on tar files (converted data), one process; JPEG by simplejpeg + OpenCV.

Only where a tar is natural.
"""

import numpy as np
import webdataset as wds
from workloads import batches, big_elements, converted, decode_image, touch_images, touch_tensor


def tar(*names):
    return wds.WebDataset([converted(n) for n in names], shardshuffle=False)


def W2():
    return big_elements(lambda: (d["bin"] for d in tar("d6.tar")))


def W4b():
    def g(d):
        return np.frombuffer(d["bin"], np.float32).reshape(3, 50, 50)

    return batches(lambda: tar("d3.tar").map(g).batched(32, collation_fn=np.stack), touch_tensor)


def W5():
    def g(d):
        return (decode_image(d["jpg"]), int(d["cls"]))

    return batches(lambda: tar(*[f"d2-{i}.tar" for i in range(4)]).map(g).batched(64), touch_images)
