"""The life of the process: its end with runs open, Ctrl-C, forks. Each case is a process."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

HEAD = "import headrace as hr, numpy as np, os, sys, threading, time\n"


def start(code):
    return subprocess.Popen(
        # Python 3.12 and later warn of forks of processes with threads.
        [
            sys.executable,
            "-u",
            "-W",
            "ignore::DeprecationWarning",
            "-c",
            HEAD + textwrap.dedent(code),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def output(process, timeout=20):
    try:
        text, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
        pytest.fail(f"the process hangs; it said {text!r}")
    assert process.returncode == 0, text
    return text


def test_the_interpreter_ends_with_runs_open():
    code = """
        def slow(x):
            time.sleep(0.001)
            return x

        def numbers():
            while True:
                time.sleep(0.01)
                yield 1

        runs = [iter(hr.Dataset.range(10**9).map(slow, num_parallel_calls=2).prefetch(9))]
        signature = hr.TensorSpec((), np.int64)
        generated = hr.Dataset.from_generator(numbers, output_signature=signature)
        runs.append(iter(generated.prefetch(2)))
        runs.append(iter(hr.Dataset.range(10**9).shuffle(100).batch(3).prefetch(2)))
        for run in runs:
            next(run)
        print("bye")
    """
    assert output(start(code)) == "bye\n"


def test_a_function_that_goes_on_is_interrupted_at_the_end():
    code = """
        def endless(x):
            while True:
                time.sleep(0.01)

        run = iter(hr.Dataset.range(10).map(endless, num_parallel_calls=2).prefetch(1))
        threading.Thread(target=lambda: next(run, None), daemon=True).start()
        time.sleep(0.3)
        print("bye")
    """
    began = time.monotonic()
    assert output(start(code)) == "bye\n"
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "dataset",
    [
        "hr.Dataset.range(3).map(sleep, num_parallel_calls=2)",
        "hr.Dataset.range(10**9).filter(never)",
        "hr.Dataset.range(3).map(sleep).prefetch(2)",
    ],
)
def test_ctrl_c_is_seen_while_waiting(dataset):
    process = start(f"""
        def sleep(x):
            time.sleep(3600)
            return x

        def never(x):
            return str(x) == "no"

        print("ready")
        try:
            list({dataset})
        except KeyboardInterrupt:
            print("interrupted")
            os._exit(0)
    """)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert output(process) == "interrupted\n"
    assert time.monotonic() - began < 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_starts_anew():
    code = """
        dataset = hr.Dataset.range(100_000).map(lambda x: x + 1, num_parallel_calls=2).prefetch(4)
        run = iter(dataset)
        next(run)
        child = os.fork()
        if child == 0:
            try:
                next(run)
            except hr.errors.FailedPreconditionError as error:
                assert "fork" in str(error)
            else:
                os._exit(1)
            assert len(list(dataset.take(5))) == 5
            del run
            sys.exit(0)
        assert next(run) == 2
        print(os.waitpid(child, 0)[1])
    """
    assert output(start(code)) == "0\n"
