"""One job of one peer, in the peer's own Python: prints a line of JSON. Started by `run.py`.

Nothing is imported before the clock starts that the peer might not need: W12 measures imports.
"""

import importlib
import json
import os
import resource
import sys
import time


def cpu_seconds():
    usage = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(r.ru_utime + r.ru_stime for r in usage)


def peak_mb():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM"))


def main(peer, job):
    start = time.perf_counter()
    module = importlib.import_module("peers." + peer)
    imported = time.perf_counter() - start
    work = getattr(module, job, None)
    if work is None:
        return None
    if job == "W12":
        work()
        n, seconds, checksum, cpu = 1, time.perf_counter() - start, 0, cpu_seconds()
    else:
        getattr(module, "init", lambda: None)()
        if job == "W5":  # loading the decoders is import, not work
            try:
                import cv2
                import simplejpeg  # noqa: F401

                cv2.setNumThreads(0)
            except ImportError:
                pass
        cpu = cpu_seconds()
        n, seconds, checksum = work()
        cpu = cpu_seconds() - cpu
    return {
        "n": n,
        "seconds": seconds,
        "checksum": checksum,
        "import": imported,
        "cpu": cpu,
        "rss": peak_mb(),
    }


if __name__ == "__main__":
    print("@@" + json.dumps(main(*sys.argv[1:])), flush=True)
    os._exit(0)  # some peers hang while they exit
