"""Scripts run in processes of their own: what a process test needs to see of one."""

import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
import time

# `python(f)` never becomes a graph: it runs as Python, whatever it does.
PREAMBLE = """
import faulthandler, gc, json, os, signal, sys, threading, time, weakref
import numpy as np
import headrace as hr

def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)

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

def wait_until(condition, seconds=5):
    end = now() + seconds
    while not condition():
        assert now() < end, "waited in vain"
        time.sleep(0.01)

def anonymous():
    "Anonymous memory of this process, in bytes."
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024

def threads():
    return len(os.listdir("/proc/self/task"))
"""


@dataclasses.dataclass
class Ended:
    """How a script ended, and when."""

    code: int
    out: str
    err: str
    seconds: float
    at: float

    @property
    def clean(self):
        return self.code == 0 and self.err == ""


def now():
    """Return the time on a clock that all processes share."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def start(code, *args, dev=False):
    """Start a script after the preamble, perhaps in the development mode, which sees more."""
    return subprocess.Popen(
        # Python 3.12 and later warn of forks of processes with threads.
        [
            *(sys.executable, *(["-X", "dev"] if dev else []), "-W", "ignore::DeprecationWarning"),
            *("-c", PREAMBLE + textwrap.dedent(code), *map(str, args)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process, timeout=20.0):
    """Wait for a script; one that does not end fails the test and shows where it stands."""
    began = now()
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(
            f"still running after {timeout} s\nstdout: {out}\nstderr: {err}"
        ) from None
    return Ended(process.returncode, out, err, now() - began, now())


def run(code, *args, timeout=20.0, dev=False):
    """Run a script to its end."""
    return finish(start(code, *args, dev=dev), timeout)
