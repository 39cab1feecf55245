"""A bar on the terminal while a long file is read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from flou.summaries.progress import watched

__all__ = ["reading"]


@contextmanager
def reading(console: Console, patience: float = 2.0) -> Iterator[None]:
    """Show how far the file has been read, once that takes more than so many seconds; nothing in a pipe."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("Reading the rows", total=100, visible=False)
    start = time.monotonic()

    def report(percent: float) -> None:
        bar.update(task, completed=percent, visible=time.monotonic() - start >= patience)

    with bar, watched(report):
        yield
