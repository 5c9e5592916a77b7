"""Worker processes with a shard each, as data loaders start them: by fork, spawn and forkserver."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import headrace as hr

SCRIPT = """
import json, multiprocessing, os, pickle, signal, sys, warnings
import numpy as np
import headrace as hr

# Python 3.12 and later warn of forks of processes with threads.
warnings.simplefilter("ignore", DeprecationWarning)

def parse(record):
    return hr.io.decode_raw(record, np.int64)[0]

def untraced(x):
    str(x)
    return x

def pipeline(dataset):
    dataset = dataset.map(parse, num_parallel_calls=2).map(untraced, num_parallel_calls=2)
    return dataset.batch(10).prefetch(2)

def epochs(pickled, workers, number, out):
    dataset = pipeline(pickle.loads(pickled).shard(workers, number))
    for epoch in range(2):
        out.put((number, epoch, [int(x) for batch in dataset for x in batch]))

def serve(dataset, workers, number, out):
    for batch in pipeline(dataset.shard(workers, number)).repeat():
        out.put(batch)

def whole(context, dataset):
    out, workers = context.Queue(), 3
    args = pickle.dumps(dataset)
    processes = [context.Process(target=epochs, args=(args, workers, n, out)) for n in range(3)]
    for process in processes:
        process.start()
    seen = [out.get(timeout=200) for _ in range(2 * workers)]
    for process in processes:
        process.join(100)
    codes = [process.exitcode for process in processes]
    elements = [[x for _, e, part in seen if e == epoch for x in part] for epoch in range(2)]
    return {"codes": codes, "whole": [sorted(part) == list(range(300)) for part in elements]}

def main():
    method, path = sys.argv[1:]
    context = multiprocessing.get_context(method)
    dataset = hr.TFRecordDataset(path)
    told = {"before": whole(context, dataset)}
    list(pipeline(dataset))
    told["after"] = whole(context, dataset)
    busy = [iter(pipeline(dataset.repeat())) for _ in range(2)]
    for iterator in busy:
        next(iterator)
    told["during"] = whole(context, dataset)
    for iterator in busy:
        next(iterator)
    # Loaders that nobody reads to the end are terminated.
    out = context.Queue(2)
    processes = [context.Process(target=serve, args=(dataset, 2, n, out)) for n in range(2)]
    for process in processes:
        process.start()
    told["first"] = len(out.get(timeout=200))
    for process in processes:
        process.terminate()
    for process in processes:
        process.join(100)
    told["terminated"] = [process.exitcode == -signal.SIGTERM for process in processes]
    print(json.dumps(told))
    out.cancel_join_thread()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_read_a_shard_each(method, tmp_path):
    records = tmp_path / "a.tfrecord"
    with hr.io.TFRecordWriter(records) as writer:
        for i in range(300):
            writer.write(np.int64(i).tobytes())
    script = tmp_path / "loader.py"
    script.write_text(textwrap.dedent(SCRIPT))
    ended = subprocess.run(
        [sys.executable, "-X", "faulthandler", script, method, records],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    told = json.loads(ended.stdout)
    for when in ("before", "after", "during"):
        assert told[when] == {"codes": [0, 0, 0], "whole": [True, True]}, when
    assert told["first"] == 10
    assert told["terminated"] == [True, True]
