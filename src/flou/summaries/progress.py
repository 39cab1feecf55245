"""How far a pass over a file has come, shown as a bar on the terminal or passed to a function of the caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["reported", "watched"]

Watcher: TypeAlias = Callable[[float], None]

PERIOD = 0.1  # seconds between two reports
COUNTED = "SET enable_progress_bar = true; SET enable_progress_bar_print = false"  # DuckDB counts, and prints nothing
PATIENCE = 2.0  # seconds that a pass takes before a bar is shown
_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell ``watcher``, from another thread, how many percent of a file have been read."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def reported(connection: DuckDBPyConnection | None) -> Iterator[None]:
    """Report on what this connection does, to whoever watches; a watcher that fails does not disturb the pass."""
    bar = None if _watcher.get() or not _somebody_looks() else _Bar()
    watcher = _watcher.get() or bar
    if watcher is None or connection is None:
        yield
        return
    connection.execute(COUNTED)
    done = Event()

    def report() -> None:
        while not done.wait(PERIOD):
            watcher(min(max(connection.query_progress(), 0.0), 100.0))

    thread = Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if bar is not None:
            bar.stop()


def _somebody_looks() -> bool:
    """Whether there is a terminal, or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Bar:
    """A bar that appears when a pass takes long, and disappears when it ends."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown: tuple[Any, Any] | None = None

    def __call__(self, percent: float) -> None:
        if self._shown is None and time.monotonic() - self._start >= PATIENCE:
            self._shown = _started()
        if self._shown is not None:
            progress, task = self._shown
            progress.update(task, completed=percent)

    def stop(self) -> None:
        if self._shown is not None:
            self._shown[0].stop()


def _started() -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    progress = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    progress.start()
    return progress, progress.add_task("Reading the rows", total=100)
