"""The command ``headrace``: tools for files of records, in `headrace.commands`.

It needs typer and rich (the extra ``cli``), which are imported when it runs.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the process."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        sys.exit("the command headrace needs typer and rich: pip install 'headrace[cli]'")
    from .commands import app

    app()
