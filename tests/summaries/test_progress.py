"""Reports on passes over files, and the bar that a terminal shows of them."""

from __future__ import annotations

import io

import duckdb
import pytest

from flou.domain import Interval
from flou.errors import InvalidData
from flou.summaries import MomentGrid, progress, rows_of


@pytest.fixture
def path(tmp_path):
    """A file that takes some hundredths of a second."""
    name = str(tmp_path / "long.parquet")
    duckdb.connect().execute(f"COPY (SELECT random() AS x FROM range(2_000_000)) TO '{name}'")
    return name


def test_watched_passes(path, monkeypatch, capfd):
    """Whoever watches is told how far a pass has come, the answer is the same, and DuckDB itself prints nothing."""
    monkeypatch.setattr(progress, "PERIOD", 0.001)
    rows, requests = rows_of(path), [MomentGrid.of("x", Interval(0, 1)).request()]
    alone = rows.collect(requests)[0].tolist()
    seen: list[float] = []
    with progress.watched(seen.append):
        assert rows.collect(requests)[0].tolist() == alone
    assert seen
    assert all(0 <= percent <= 100 for percent in seen)
    assert max(seen) > 0
    told = len(seen)
    rows.collect(requests)
    assert len(seen) == told
    assert capfd.readouterr() == ("", "")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_failures(path, monkeypatch):
    """A watcher that fails does not disturb the pass, and a pass that fails ends its reports."""
    monkeypatch.setattr(progress, "PERIOD", 0.001)
    rows, requests = rows_of(path), [MomentGrid.of("x", Interval(0, 1)).request()]
    with progress.watched(lambda _: 1 / 0):
        assert rows.collect(requests)[0][0] == 2_000_000
    with progress.watched(lambda _: None), pytest.raises(InvalidData):
        rows.collect([MomentGrid.of("y", Interval(0, 1)).request()])


class Screen(io.StringIO):
    """Where errors are written: a terminal, or not."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(("terminal", "patience", "shown"), [(True, 0, True), (True, 600, False), (False, 0, False)])
def test_bar(path, monkeypatch, terminal, patience, shown):
    """A bar appears on a terminal when a pass is long, and nowhere else."""
    monkeypatch.setattr(progress, "PERIOD", 0.001)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    written = Screen(terminal)
    monkeypatch.setattr("sys.stderr", written)
    rows_of(path).collect([MomentGrid.of("x", Interval(0, 1)).request()])
    assert ("Reading the rows" in written.getvalue()) == shown


def test_a_watcher_takes_the_place_of_the_bar(path, monkeypatch):
    """Whoever watches sees the reports, and no bar is drawn besides."""
    monkeypatch.setattr(progress, "PERIOD", 0.001)
    monkeypatch.setattr(progress, "PATIENCE", 0)
    written = Screen(terminal=True)
    monkeypatch.setattr("sys.stderr", written)
    seen: list[float] = []
    with progress.watched(seen.append):
        rows_of(path).collect([MomentGrid.of("x", Interval(0, 1)).request()])
    assert seen
    assert written.getvalue() == ""
