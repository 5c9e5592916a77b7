"""What the command ``headrace`` does; `headrace.cli` imports it once typer and rich are there."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from .errors import HeadraceError
from .io import index_tfrecord

__all__ = ["app"]

app = typer.Typer(
    name="headrace",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class Compression(StrEnum):
    """How files are compressed."""

    AUTO = "auto"
    NONE = "none"
    GZIP = "GZIP"
    ZLIB = "ZLIB"


def root() -> None:
    """Tools for the files of input pipelines."""


def index(
    files: Annotated[list[Path], typer.Argument(help="TFRecord files.", show_default=False)],
    into: Annotated[
        Path | None,
        typer.Option(help="Folder of the indices; without it each lies beside its file."),
    ] = None,
    compression: Annotated[
        Compression, typer.Option(help="How the files are compressed.")
    ] = Compression.AUTO,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Files read at a time; without it one for each core."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Make all indices anew.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare indices with their files; write nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Write down where the records of TFRecord files lie, for TFRecordDataset(index=...)."""
    names = [str(file) for file in files]
    args: dict[str, Any] = {"into": into, "jobs": jobs, "force": force, "check": check}
    args["compression_type"] = None if compression is Compression.NONE else str(compression)
    errors = Console(stderr=True, highlight=False, markup=False)
    try:
        done = _with_progress(names, quiet, args)
    except HeadraceError as error:
        errors.print(f"headrace index: {error}", soft_wrap=True)
        sys.exit(1)
    out = Console(quiet=quiet, highlight=False, markup=False)
    for each in done:
        what = "made" if each.made else "checked" if check else "kept"
        out.print(f"{each.filename}: {each.records} records, {what} {each.index}", soft_wrap=True)


def _with_progress(names: list[str], quiet: bool, args: dict[str, Any]) -> Any:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    console = Console(stderr=True, quiet=quiet)
    passed = dict.fromkeys(names, 0)
    with Progress(*columns, TransferSpeedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("reading", total=sum(map(_size, names)))

        def told(name: str, count: int) -> None:
            passed[name] = count
            bar.update(task, completed=sum(passed.values()))

        return index_tfrecord(names, progress=told, **args)


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except OSError:
        return 0


# With a callback a single command keeps its name.
app.callback()(root)
app.command("index")(index)
