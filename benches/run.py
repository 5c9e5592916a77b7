"""Measures headrace beside its peers: every job of every peer in a fresh process, by turns.

    python benches/run.py --venvs FOLDER --data FOLDER [PEER ...] [-w W1 W3 ...] [--rounds 5]
    python benches/run.py --table results.json [more.json ...]

The Python that runs this is headrace's; the peers' come from `setup.py`. The folders may also be
given by `HEADRACE_BENCH_VENVS` and `HEADRACE_BENCH`. Without names, the peers for daily work that
have an environment are run; `--all` takes all. Rates are medians over the rounds. They mean little
alone: the machine's speed moves from run to run, so compare ratios within one run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from environments import PEERS, python_of
from workloads import TWIN, WORKLOADS

HERE = Path(__file__).parent
US = "headrace"

# --- one run -----------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    """All processes below this one."""
    out = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(Path("/proc", p, "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if parent == pid:
            out += [int(p), *children(int(p))]
    return out


def megabytes(pids: list[int], file: str, field: str) -> float:
    """The sum of one memory field of /proc over these processes."""
    total = 0
    for p in pids:
        try:
            lines = Path("/proc", str(p), file).read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith(field + ":"))
    return total / 1024


def run_one(python: str, peer: str, job: str, limit: float, data: str) -> dict | None:
    """Run one job in its own process; None if the peer does not have it."""
    environment = os.environ | {"HEADRACE_BENCH": data, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [python, "one.py", peer, job],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=HERE,
        env=environment,
    )
    peak = {"rss": 0.0, "anon": 0.0}

    def watch() -> None:
        while process.poll() is None:
            pids = [process.pid, *children(process.pid)]
            if len(pids) == 1:  # its whole peak it tells itself
                anon = megabytes(pids, "status", "RssAnon")
            else:  # shared pages count once
                anon = megabytes(pids, "smaps_rollup", "Pss_Anon")
                peak["rss"] = max(peak["rss"], megabytes(pids, "smaps_rollup", "Pss"))
            peak["anon"] = max(peak["anon"], anon)
            time.sleep(0.2)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        for p in [*children(process.pid), process.pid]:
            try:
                os.kill(p, 9)
            except OSError:
                continue
        out, err = process.communicate()
        err += f"\ntook more than {limit:g} s"
    watcher.join()
    for folder in ("/dev/shm", data):  # what a killed writer left
        Path(folder, f"headrace-out-{process.pid}").unlink(missing_ok=True)
    for line in out.splitlines():
        if line.startswith("@@"):
            result = json.loads(line[2:])
            if result:
                result["rss"] = max(result["rss"], peak["rss"])
                result["anon"] = peak["anon"]
            return result
    return {"error": (err.strip().splitlines() or ["no output"])[-1][:200]}


def warm(data: str) -> None:
    """Read all files once, so that every peer finds them in the page cache."""
    for path in Path(data).rglob("*"):
        if path.is_file():
            with path.open("rb", 0) as f:
                while f.read(1 << 24):
                    pass


def measure(args: argparse.Namespace, peers: dict[str, str], jobs: list[str]) -> dict:
    """Run all jobs of all peers, peers alternating within a job, and save after every run."""
    results: dict = {p: {} for p in peers}
    report = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "results": results}
    start = time.time()
    for r in range(args.rounds):
        for job in jobs:
            for peer, python in peers.items():
                only = PEERS[peer].only if peer in PEERS else ()
                if only and job not in only:
                    continue
                had = results[peer].setdefault(job, [])
                if r and (had[0] is None or "error" in had[0]):
                    continue  # it can't do it: don't ask again
                x = run_one(python, peer, job, args.limit, args.data)
                had.append(x)
                if x:
                    took = x.get("error") or f"{x['n']} in {x['seconds']:.2f} s"
                    print(f"[{time.time() - start:6.0f}] {r} {job:4} {peer:12} {took}", flush=True)
                Path(args.out).write_text(json.dumps(report))
    return report


def machine() -> str:
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(s.split(":")[1].strip() for s in lines if s.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{cpu}, {len(os.sched_getaffinity(0))} cores, {platform.system()}"


# --- what the runs say -------------------------------------------------------------------------


def good(results: dict, peer: str, job: str) -> list[dict]:
    return [r for r in results.get(peer, {}).get(job, []) if r and "n" in r]


def seconds_each(runs: list[dict]) -> float:
    return statistics.median(r["seconds"] / r["n"] for r in runs)


def best_peer(results: dict, job: str) -> tuple[str, float] | None:
    """The fastest peer at a job or its twin, and its seconds per element."""
    times = [
        (seconds_each(runs), peer if j == job else f"{peer} ({j})")
        for j in (job, *([TWIN[job]] if job in TWIN else []))
        for peer in results
        if peer != US and (runs := good(results, peer, j))
    ]
    return min(times)[::-1] if times else None


def number(v: float) -> str:
    if v >= 1e6:
        return f"{v / 1e6:.3g} M"
    return f"{v / 1e3:.3g} k" if v >= 1e4 else f"{v:,.0f}" if v >= 10 else f"{v:.2f}"


def print_job(results: dict, job: str, limits: dict) -> None:
    """All peers at one job."""
    w = WORKLOADS[job]
    print(f"\n{job}  {w.title}")
    print(
        f"  {'peer':12} {'elem/s':>9} {'MB/s':>7} {'x best':>7} {'x limit':>8} "
        f"{'cpu/wall':>8} {'RSS MB':>7} {'anon MB':>7} {'spread':>6} runs"
    )
    best = best_peer(results, job)
    for peer in results:
        had = results[peer].get(job) or [None]
        runs = good(results, peer, job)
        if not runs:
            if had[0]:
                print(f"  {peer:12} failed: {had[0]['error']}")
            continue
        s = seconds_each(runs)
        each = sorted(r["seconds"] / r["n"] for r in runs)
        part = "~" if runs[0]["n"] < w.elements else " "
        x_best = f"{best[1] / s:.2f}" if best else "-"
        x_limit = f"{s / limits[job]:.1f}" if job in limits else "-"
        cpu = statistics.median(r["cpu"] / r["seconds"] for r in runs)
        rss, anon = (statistics.median(r[k] for r in runs) for k in ("rss", "anon"))
        rate = f"{s:.2f} s" if job == "W12" else number(1 / s)
        print(
            f"  {peer:12}{part}{rate:>9} {w.bytes / s / 1e6:7,.0f} {x_best:>7} {x_limit:>8} "
            f"{cpu:8.2f} {rss:7.0f} {anon:7.0f} {each[-1] / each[0]:6.2f} {len(runs)}"
            + (f" of {len(had)}" if len(had) > len(runs) else "")
        )
    if not job.startswith(("W11", "W12")):
        check(results, job)


def check(results: dict, job: str) -> None:
    """Peers that saw all the data must have the same checksum."""
    whole = {
        peer: runs[0]["checksum"]
        for peer in results
        if (runs := good(results, peer, job)) and runs[0]["n"] == WORKLOADS[job].elements
    }
    if whole and max(whole.values()) - min(whole.values()) > 1e-13 * abs(max(whole.values())):
        print(f"  CHECKSUMS DIFFER: {whole}")


def summary(report: dict, limits: dict) -> str:
    """Headrace against the best peer and the limit, one line of Markdown per job."""
    results = report["results"]
    lines = [
        f"{report['machine']}, {report['date']}; medians, elements per second (W12: seconds).",
        "",
        "| job | headrace | best peer | ratio | goal | physical limit | share of limit |",
        "| --- | --: | --- | --: | --: | --: | --: |",
    ]
    for job, w in WORKLOADS.items():
        best = best_peer(results, job)
        runs = good(results, US, job)
        if not best and not runs:
            continue
        shown = (lambda s: f"{s:.2f} s") if job == "W12" else (lambda s: number(1 / s))
        s = seconds_each(runs) if runs else None
        limit = limits.get(job)
        lines.append(
            f"| {job} {w.title} | {shown(s) if s else '-'} "
            f"| {f'{shown(best[1])} {best[0]}' if best else '-'} "
            f"| {f'{best[1] / s:.2f}' if best and s else '-'} | {w.goal or '-'} "
            f"| {shown(limit) if limit else '-'} | {f'{limit / s:.0%}' if limit and s else '-'} |"
        )
    return "\n".join(lines)


def page(report: dict, limits: dict) -> str:
    """A page of results: the summary, and every peer's rate at every job."""
    results = report["results"]
    rounds = max(len(runs) for jobs in results.values() for runs in jobs.values())
    lines = [
        "# Results",
        "",
        f"Written by `run.py` from {rounds} round(s); `README.md` beside this page says what the",
        "jobs are and how to read the numbers.",
        "",
        summary(report, limits),
        "",
        "Every contestant, elements per second. `~`: over part of the data.",
        "",
        "| job | " + " | ".join(results) + " |",
        "| --- |" + " --: |" * len(results),
    ]
    for job, w in WORKLOADS.items():
        cells = []
        for peer in results:
            runs = good(results, peer, job)
            s = seconds_each(runs) if runs else 0
            part = "~" if runs and runs[0]["n"] < w.elements else ""
            rate = f"{s:.2f} s" if job == "W12" else part + number(1 / s) if runs else ""
            cells.append(rate if runs else "")
        if any(cells):
            lines.append(f"| {job} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def show(report: dict, limits: dict, path: str | None) -> None:
    for job in WORKLOADS:
        if any(runs and any(runs) for p in report["results"].values() if (runs := p.get(job))):
            print_job(report["results"], job, limits)
    print("\n" + summary(report, limits))
    if path:
        Path(path).write_text(page(report, limits))


def load(files: list[str]) -> dict:
    """Several reports as one: the runs of each peer at each job are put together."""
    reports = [json.loads(Path(f).read_text()) for f in files]
    results: dict = {}
    for report in reports:
        for peer, jobs in report["results"].items():
            for job, runs in jobs.items():
                results.setdefault(peer, {}).setdefault(job, []).extend(runs)
    return reports[-1] | {"results": results}


# --- the command -------------------------------------------------------------------------------


def chosen_peers(args: argparse.Namespace, parser: argparse.ArgumentParser) -> dict[str, str]:
    """Peer -> its Python; headrace first. Those without an environment are named, then left out."""
    names = args.peers or [US, *(p for p, x in PEERS.items() if x.daily or args.all)]
    if unknown := set(names) - set(PEERS) - {US}:
        parser.error(f"no such peer: {', '.join(sorted(unknown))}")
    out = {}
    for name in names:
        python = sys.executable if name == US else python_of(args.venvs, PEERS[name].environment)
        if os.path.exists(python):
            out[name] = python
        else:
            print(f"left out: {name}, no {python} (benches/setup.py makes it)")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure headrace beside its peers.")
    parser.add_argument("peers", nargs="*", help=f"{US}, {', '.join(PEERS)}")
    parser.add_argument("-w", "--jobs", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--all", action="store_true", help="all peers, as a claim needs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=40, help="seconds for one run")
    parser.add_argument("--venvs", default=os.environ.get("HEADRACE_BENCH_VENVS"))
    parser.add_argument("--data", default=os.environ.get("HEADRACE_BENCH"))
    parser.add_argument("--limits", help="JSON of limits.py; default: limits.json beside the data")
    parser.add_argument("--out", default="results.json", help="where the runs are kept")
    parser.add_argument("--page", help="write the results here as Markdown (benches/results.md)")
    parser.add_argument("--table", nargs="+", metavar="JSON", help="only show these results")
    args = parser.parse_args()

    path = Path(args.limits or Path(args.data or "", "limits.json"))
    limits = json.loads(path.read_text())["per_element"] if path.exists() else {}
    if args.table:
        show(load(args.table), limits, args.page)
        return 0
    if not args.venvs or not args.data:
        parser.error("name the folders: --venvs and --data")
    args.venvs, args.data = os.path.abspath(args.venvs), os.path.abspath(args.data)
    jobs = [w for w in WORKLOADS if w in args.jobs or w in {TWIN.get(j) for j in args.jobs}]
    peers = chosen_peers(args, parser)
    warm(args.data)
    show(measure(args, peers, jobs), limits, args.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
