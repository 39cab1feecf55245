"""One engine for all files of a process; forks begin with none."""

import os
import subprocess
import sys
import textwrap

import pytest

from flou.domain import Integers
from flou.summaries import rows_of
from flou.summaries.duck.engine import _ENGINE, connected
from flou.summaries.request import Code, Counts

COUNTS = [Counts((Code("x", Integers(0, 9)),))]


def asked(path):
    return rows_of(str(path)).collect(COUNTS)[0].tolist()


@pytest.fixture
def path(tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "\n".join(str(i % 10) for i in range(1000)) + "\n")
    return tmp_path / "t.csv"


def test_the_engine_is_started_once(path):
    """A second file finds it running, and what one connection sets another does not see."""
    asked(path)
    engine = _ENGINE._engine
    asked(path)
    assert _ENGINE._engine is engine
    setting = "SELECT current_setting('disable_parquet_prefetching')"
    assert connected(local=True).execute(setting).fetchone() == (True,)
    assert connected(local=False).execute(setting).fetchone() == (False,)


def test_what_is_open_stays_open(path):
    """An engine that was given up still answers for the rows that it has; the next file starts another."""
    rows = rows_of(str(path))
    _ENGINE.give_up()
    assert rows.collect(COUNTS)[0].tolist() == asked(path) == [100] * 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_asks_and_ends(path):
    """The child of a process that has read a file reads one itself and ends, and so does its parent."""
    program = textwrap.dedent(
        f"""
        import os, sys, warnings
        warnings.simplefilter("ignore")
        from flou.domain import Integers
        from flou.summaries import rows_of
        from flou.summaries.request import Code, Counts

        def asked():
            return rows_of({str(path)!r}).collect([Counts((Code("x", Integers(0, 9)),))])[0].tolist()

        first = asked()
        child = os.fork()
        assert asked() == first
        if child:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
