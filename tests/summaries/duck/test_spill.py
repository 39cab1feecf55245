"""Rows that DuckDB puts on the disk: who may read them, and how long they stay."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys, tempfile
from pathlib import Path
tempfile.tempdir = sys.argv[1]
import os
os.umask(0)
from flou.summaries.duck.engine import connected
found = connected(local=True).execute("SELECT current_setting('temp_directory')").fetchone()[0]
connection = connected(local=True)
connection.execute("SET memory_limit = '60MB'; SET threads = 1")
made = "SELECT hash(i) AS a, i::VARCHAR || repeat('canary', 5) AS b FROM range(2000000) r(i)"
connection.execute("CREATE TABLE t AS " + made)
held = [one for one in Path(found).rglob("*") if one.is_file() and one.name != "lock"]
print(found, oct(os.stat(found).st_mode & 0o777), sum(one.stat().st_size for one in held), flush=True)
"""


def started(folder, more=""):
    command = [sys.executable, "-c", CODE + more, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(os.name == "nt", reason="access rights of POSIX")
def test_spilled_rows_are_private_and_go(tmp_path):
    """What spills is in a folder of mode 0700, whatever the umask, and the folder goes with the process."""
    with started(tmp_path) as process:
        folder, mode, size = process.stdout.readline().split()
    assert process.returncode == 0
    assert mode == "0o700"
    assert int(size) > 0
    assert Path(folder).parent == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="access rights of POSIX")
def test_a_killed_process_is_swept_up_after(tmp_path):
    """The folder of a process that was killed goes with the next one; that of one that lives stays."""
    killed = started(tmp_path, "sys.stdin.read()")
    alive = started(tmp_path, "sys.stdin.read()")
    left, kept = (Path(one.stdout.readline().split()[0]) for one in (killed, alive))
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert left.is_dir()
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    with started(tmp_path) as third:
        third.stdout.read()
    assert not left.exists()
    assert kept.is_dir()
    alive.communicate("")
    assert list(tmp_path.iterdir()) == []
