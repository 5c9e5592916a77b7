"""What `Iterator.stats` returns: a list of counters that reads as a table."""

from __future__ import annotations

from typing import Any

__all__ = ["IteratorStats"]


class IteratorStats(list[dict[str, Any]]):
    """Counters of each step of a run, the last step first: a list of dicts, a table as text.

    Examples
    --------
    >>> numbers = iter(hr.Dataset.range(4).batch(2))
    >>> _ = list(numbers)
    >>> stats = numbers.stats()
    >>> [(row["name"], row["elements"]) for row in stats]
    [('prefetch', 2), ('batch', 2), ('range', 4)]
    >>> print(str(stats).splitlines()[0])
    step        elements  per second  load  tasks  queued  waited  stood    held
    """

    @property
    def limiting(self) -> str | None:
        """The name of the step that holds up the run; ``None`` if the user's own code does.

        Examples
        --------
        >>> numbers = iter(hr.Dataset.range(4))
        >>> numbers.stats().limiting is None
        True
        """
        return next((row["name"] for row in self if row["limiting"]), None)

    def __str__(self) -> str:
        head = ["step", "elements", "per second", "load", "tasks", "queued", "waited", "stood"]
        table = [[*head, "held", ""], *(_cells(row) for row in self)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for name, *numbers in table:
            cells = [text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *cells]).rstrip())
        return "\n".join(lines)


def _cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of one step."""
    driven = "window" in row
    return [
        "  " * row["depth"] + row["name"],
        f"{row['elements']:,}",
        f"{row['elements_per_second']:,.0f}",
        f"{row['load']:.0%}",
        _of(row["parallelism"], row["max_parallelism"]) if driven else "",
        _of(row["queued"], row["window"]) if driven else "",
        f"{row['input_wait_ns'] / 1e9:.1f} s" if row["input_wait_ns"] else "",
        f"{row['output_wait_ns'] / 1e9:.1f} s" if row["output_wait_ns"] else "",
        _bytes(row["held_bytes"]) if row["held_bytes"] else "",
        "<- limits" if row["limiting"] else "",
    ]


def _of(now: int, most: int) -> str:
    return str(now) if now == most else f"{now}/{most}"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
