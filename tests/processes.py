"""Scripts run in processes of their own: what a process test needs to see of one.

Deadlines that are promised are checked so that a busy machine does not fail them: looks are counted
where a test waits for something, and who is late has more tries, and is compared with what a plain
script takes on the machine as it is then. All other limits of time only guard against hanging.
"""

import contextlib
import dataclasses
import functools
import inspect
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable

# How often what came late is tried again.
TRIES = 6


def now():
    """Return the time on a clock that all processes share."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def wait_until(condition, seconds=20.0):
    """Wait for what another thread or process does within so many seconds.

    It counts its looks, and no time: where a machine is busy they take longer, as all else does.
    """
    for _ in range(int(seconds * 200)):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("waited in vain")


def shared_files(pid="self"):
    """Return the files in shared memory that a process has open or mapped."""
    with open(f"/proc/{pid}/maps") as maps:
        names = {line[line.index("/") :].strip() for line in maps if "/dev/shm/" in line}
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            names.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    return sorted(name for name in names if name.startswith("/dev/shm/"))


# `python(f)` never becomes a graph: it runs as Python, whatever it does.
PREAMBLE = f"""
import faulthandler, gc, json, os, signal, sys, threading, time, weakref
import numpy as np
import headrace as hr

{inspect.getsource(now)}
{inspect.getsource(wait_until)}
def python(function):
    def untraced(*args):
        str(args)
        return function(*args)
    return untraced

def sleeper(seconds):
    def sleep(x):
        time.sleep(seconds)
        return x
    return sleep

def generate(function, dtype=np.int64):
    return hr.Dataset.from_generator(function, output_signature=hr.TensorSpec((), dtype))

def tell(**values):
    print(json.dumps(values), flush=True)

def anonymous():
    "Anonymous memory of this process, in bytes."
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024

def least_growth(work, most):
    "The growth of memory by a piece of work: the first that is not above `most`, or the least."
    growths = []
    while not growths or (growths[-1] > most and len(growths) < {TRIES}):
        before = anonymous()
        work()
        gc.collect()
        growths.append(anonymous() - before)
    return min(growths)

def descriptors():
    return len(os.listdir("/proc/self/fd"))

def threads():
    "The names of the threads."
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{{task}}/comm") as comm:
                names.append(comm.read().strip())
        except OSError:
            pass
    return names

def others():
    "The names of the threads but for those of the work pool, and of Python."
    return sorted(name for name in threads() if name not in ("headrace-work", "python"))
"""


@dataclasses.dataclass
class Ended:
    """How a script ended, and when.

    It was to end by `due`, or else at the time that it wrote last. `again` runs it again.
    """

    code: int
    out: str
    err: str
    at: float
    due: float | None = None
    again: Callable[[], "Ended"] | None = None

    @property
    def clean(self):
        return self.code == 0 and self.err == ""

    @property
    def late(self):
        return self.at - (float(self.out.split()[-1]) if self.due is None else self.due)


def start(code, *args, dev=False, before=""):
    """Start a script after the preamble, perhaps in the development mode, which sees more."""
    return subprocess.Popen(
        # Python 3.12 and later warn of forks of processes with threads.
        [
            *(sys.executable, *(["-X", "dev"] if dev else []), "-W", "ignore::DeprecationWarning"),
            *("-c", before + PREAMBLE + textwrap.dedent(code), *map(str, args)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process, timeout=120.0):
    """Wait for a script; one that does not end fails the test and shows where it stands."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(
            f"still running after {timeout} s\nstdout: {out}\nstderr: {err}"
        ) from None
    return Ended(process.returncode, out, err, now())


def run(code, *args, dev=False, before=""):
    """Run a script to its end."""
    ended = finish(start(code, *args, dev=dev, before=before))
    ended.again = functools.partial(run, code, *args, dev=dev, before=before)
    return ended


def interrupt(code, *, dev=False):
    """Interrupt a script some time after its first line, as Ctrl-C does, and see how it ends."""
    process = start(code, dev=dev)
    process.stdout.readline()
    time.sleep(0.25)
    sent = now()
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    ended.due, ended.again = sent, functools.partial(interrupt, code, dev=dev)
    return ended


def assert_ended_at_once(ended, code=0, err=r"\Z"):
    """Check that a script ended as it should, and within a second of when it was to end."""
    late = []
    while True:
        assert ended.code == code, ended
        assert re.match(err, ended.err, re.DOTALL), ended
        late.append(ended.late)
        if late[-1] < 1:
            return
        # Everything that was imported takes its time to go, engine or not.
        plain = run("print(now(), flush=True)", dev=True).late
        if late[-1] < 1 + 4 * plain:
            return
        assert len(late) < TRIES, (late, plain)
        ended = ended.again()


def assert_heard_at_once(ended, seconds):
    """Check that a script heard of its interruption, which it tells, within so many seconds."""
    late = []
    while True:
        late.append(float(ended.out.split()[-1]) - ended.due)
        if late[-1] < seconds:
            return
        plain = interrupt(BUSY, dev=True)
        plain = float(plain.out.split()[-1]) - plain.due
        if late[-1] < seconds + 4 * plain:
            return
        assert len(late) < TRIES, (late, plain)
        ended = ended.again()


# It computes without the engine, and says when it is interrupted.
BUSY = """
print("runs", flush=True)
try:
    while True:
        np.sqrt(np.zeros(5_000_000))
except KeyboardInterrupt:
    print(now())
"""
