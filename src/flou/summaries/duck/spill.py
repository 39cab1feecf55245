"""Where DuckDB puts rows that do not fit into memory: a private folder, which is removed with the process.

By default DuckDB would use the working directory, and a folder that everybody can read. This folder has mode 0700 and
an unpredictable name. It is removed when the process ends. A process that is killed leaves it behind without its lock:
the next process of the same user that needs a folder sees that it is unlocked, and removes it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

__all__ = ["spill"]

PREFIX, LOCK = "flou-duckdb-", "lock"
_HELD: dict[int, tuple[Path, IO[bytes]]] = {}  # of this process, by its number: a forked child makes its own


def spill() -> Path:
    """The folder of this process, made when it is first needed."""
    mine = os.getpid()
    if mine not in _HELD:
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        _HELD[mine] = folder, _locked(folder / LOCK) or (folder / LOCK).open("wb")
        atexit.register(_remove, mine)
    return _HELD[mine][0]


def _remove(owner: int) -> None:
    if os.getpid() == owner:  # and not a child that was forked from it
        folder, lock = _HELD.pop(owner)
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _locked(path: Path) -> IO[bytes] | None:
    """The open file, locked until the process ends, however it ends; None where another process holds the lock."""
    try:
        import fcntl
    except ImportError:  # Windows, which removes no file that is open
        return None
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _sweep() -> None:
    """Remove the folders that killed processes of this user have left behind."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # somebody else's, or gone by now
            state = folder.lstat()
            if state.st_uid == getattr(os, "getuid", lambda: -1)() and (folder / LOCK).is_file():
                lock = _locked(folder / LOCK)
                if lock is not None:
                    shutil.rmtree(folder, ignore_errors=True)
                    lock.close()
