"""Indices under several processes that make them at once, and under kills; the command."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from processes import finish, run, start

import headrace as hr

COUNT = 60_000

# How it is used: the records are read in order, or asked for by number.
USES = """
def use(path, how):
    ds = hr.TFRecordDataset(path, index="auto")
    if how == "pass":
        return sum(1 for _ in ds)
    assert ds[len(ds) - 1] == np.int64(len(ds) - 1).tobytes() * 3
    return len(ds)
"""


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "records")
    with hr.io.TFRecordWriter(path) as writer:
        for i in range(COUNT):
            writer.write(np.int64(i).tobytes() * 3)
    return path


def append(path, count):
    other = path + ".more"
    with hr.io.TFRecordWriter(other) as writer:
        for i in range(COUNT, COUNT + count):
            writer.write(np.int64(i).tobytes() * 3)
    with open(path, "ab") as file:
        file.write(Path(other).read_bytes())
    os.remove(other)


@pytest.mark.parametrize("how", ["pass", "number"])
def test_eight_processes_make_one_index(path, how):
    code = USES + "tell(count=use(sys.argv[1], sys.argv[2]))"
    folder = os.path.dirname(path)
    ended = [finish(process) for process in [start(code, path, how) for _ in range(8)]]
    assert [each.out for each in ended] == [f'{{"count": {COUNT}}}\n'] * 8, ended
    assert sorted(os.listdir(folder)) == [".records.hridx", "records"]
    [checked] = hr.io.index_tfrecord(path, check=True)
    assert checked.records == COUNT
    # What is appended is noticed by the next, and nothing else is left.
    append(path, 7)
    assert len(hr.TFRecordDataset(path, index="auto")) == COUNT + 7
    assert sorted(os.listdir(folder)) == [".records.hridx", "records"]


@pytest.mark.parametrize("how", ["pass", "number"])
def test_a_process_that_is_killed_while_it_makes_the_index_leaves_nothing_for_long(path, how):
    folder = os.path.dirname(path)
    code = USES + textwrap.dedent(
        """
        ds = hr.TFRecordDataset(sys.argv[1], index="auto")
        iterator = iter(ds)
        next(iterator)
        tell(started=1)
        for _ in iterator:
            time.sleep(0.001)
        """
        if how == "pass"
        else """
        tell(started=1)
        while True:
            hr.io.index_tfrecord(sys.argv[1], force=True)
        """
    )
    for wait in (0.0, 0.01, 0.02, 0.05):
        process = start(code, path)
        assert process.stdout.readline()
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.communicate()
        names = os.listdir(folder)
        # Where there is an index already, the new one has a name of its own for a moment.
        assert set(names) <= {".records.hridx", "records", ".records.hridx.tmp0"}, names
        ended = run(USES + "tell(count=use(sys.argv[1], 'number'))", path)
        assert ended.clean, ended
        assert ended.out == f'{{"count": {COUNT}}}\n'
        hr.io.index_tfrecord(path, force=True)
        assert sorted(os.listdir(folder)) == [".records.hridx", "records"]
        if how == "pass":
            os.remove(os.path.join(folder, ".records.hridx"))


def headrace(*args, env=None):
    return subprocess.run(
        [sys.executable, "-m", "headrace", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=200,
        env=None if env is None else {**os.environ, **env},
    )


def test_the_command_indexes_and_checks(path, tmp_path):
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    done = headrace("index", path)
    assert done.returncode == 0, done.stderr
    assert f"{COUNT} records, made" in done.stdout
    assert "kept" in headrace("index", path, "--jobs", 2).stdout
    assert "made" in headrace("index", path, "--force").stdout
    into = tmp_path / "indices"
    assert headrace("index", path, "--into", into, "--quiet").stdout == ""
    assert len(hr.TFRecordDataset(path, index=into)) == COUNT
    assert "checked" in headrace("index", path, "--check").stdout
    append(path, 1)
    failed = headrace("index", path, "--check")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "stale" in failed.stderr
    missing = headrace("index", tmp_path / "nowhere")
    assert missing.returncode == 1
    assert "nowhere" in missing.stderr
    assert "index" in headrace("--help").stdout


def test_without_its_extra_the_command_names_it(tmp_path):
    (tmp_path / "typer.py").write_text("raise ImportError('not there')")
    done = headrace("index", "x", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert "pip install 'headrace[cli]'" in done.stderr
