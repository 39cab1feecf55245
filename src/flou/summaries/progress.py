"""How far a pass over a file has come, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["reported", "watched"]

Watcher: TypeAlias = Callable[[float], None]

PERIOD = 0.1  # seconds between two reports
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
    """Report on what this connection does, if anybody watches; a watcher that fails does not disturb the pass."""
    watcher = _watcher.get()
    if watcher is None or connection is None:
        yield
        return
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
