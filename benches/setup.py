"""Makes what the benchmarks need: the peers' virtual environments, the data, the limits.

    python benches/setup.py --venvs FOLDER --data FOLDER [ENVIRONMENT ...]

The folders may also be given by `HEADRACE_BENCH_VENVS` and `HEADRACE_BENCH`. Without names, all
environments of `environments.py` are made (some 10 GB with torch and TensorFlow). What is there
already is kept, so this can be run again after a failure; a failing environment is named and the
rest go on.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

from environments import CONVERSIONS, ENVIRONMENTS, python_of

HERE = Path(__file__).parent


def make_environment(folder: str, name: str) -> bool:
    """Make one environment; a file `done` in it says that all went well."""
    home = Path(folder, name)
    done = home / "done"
    if done.exists():
        return True
    print(f"making {name}", flush=True)
    venv.create(home, clear=True, with_pip=True)
    for arguments in ENVIRONMENTS[name]:
        command = [python_of(folder, name), "-m", "pip", "install", "--quiet", *arguments]
        if subprocess.run(command, check=False).returncode:
            print(f"FAILED: {name}: pip install {' '.join(arguments)}", flush=True)
            return False
    done.touch()
    return True


def run(data: str, python: str, *command: str) -> bool:
    """Run one of the scripts beside this one on the data."""
    print(*command, flush=True)
    environment = os.environ | {"HEADRACE_BENCH": data}
    return not subprocess.run([python, *command], cwd=HERE, env=environment, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the peers' environments and the data.")
    parser.add_argument("environments", nargs="*", help="default: all")
    parser.add_argument("--venvs", default=os.environ.get("HEADRACE_BENCH_VENVS"))
    parser.add_argument("--data", default=os.environ.get("HEADRACE_BENCH"))
    args = parser.parse_args()
    if not args.venvs or not args.data:
        parser.error("name the folders: --venvs and --data")
    if unknown := set(args.environments) - set(ENVIRONMENTS):
        parser.error(f"no such environment: {', '.join(sorted(unknown))}")

    args.venvs, args.data = os.path.abspath(args.venvs), os.path.abspath(args.data)
    wanted = ["tools", *(e for e in args.environments or ENVIRONMENTS if e != "tools")]
    made = [name for name in wanted if make_environment(args.venvs, name)]
    if "tools" not in made:
        return 1
    tools = python_of(args.venvs, "tools")
    ok = run(args.data, tools, "data.py")
    for name in made:
        form = CONVERSIONS.get(name)
        marker = Path(args.data, "conv", f"{form}.done")
        if form and not marker.exists():
            if run(args.data, python_of(args.venvs, name), "convert.py", form):
                marker.touch()
            else:
                ok = False
    if not Path(args.data, "limits.json").exists():
        ok = ok and run(args.data, tools, "limits.py")
    return 0 if ok and made == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
