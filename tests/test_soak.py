"""Some seconds of the soak test, always the same ones; `make soak` goes on for minutes."""

import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).parent / "soak.py"


def test_random_pipelines_used_in_random_ways_leave_nothing():
    ended = subprocess.run(
        [sys.executable, SOAK, "--minutes", "0.2", "--seed", "7"],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""
