"""Engines for the tests: files in a folder, a PostgreSQL server of our own, a Spark session."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flou.summaries import Rows, rows_of
from summaries.engines import ENGINES, Made

POSTGRES = ("/usr/lib/postgresql/15/bin", "/usr/local/bin", "/usr/bin")


FOREIGN = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(params=[pytest.param(e, marks=FOREIGN if e.split()[0] in ("ibis", "spark") else []) for e in ENGINES])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    return str(request.param)


@pytest.fixture
def source(engine: str, request: pytest.FixtureRequest) -> Callable[[Made], Any]:
    """Put a table on the engine."""
    make, needs = ENGINES[engine]
    given = () if needs is None else (request.getfixturevalue(needs),)
    return lambda made: make(made, *given)


@pytest.fixture
def opened(source: Callable[[Made], Any]) -> Callable[[Made], Rows]:
    """Put a table on the engine and open it."""
    return lambda made: rows_of(source(made))


def _program(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *POSTGRES)))
    if found is None:
        pytest.skip(f"PostgreSQL's {name} is not installed")
    return found


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server on a free loopback port, for these tests only."""
    initdb, control = _program("initdb"), _program("pg_ctl")
    prefix: list[str] = []
    folder = Path(tempfile.mkdtemp(prefix="flou-postgres-"))
    if os.geteuid() == 0:  # which PostgreSQL refuses to run as
        try:
            user = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user 'postgres'")
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no runuser")
        os.chown(folder, user.pw_uid, user.pw_gid)
        prefix = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data, log = str(folder / "data"), str(folder / "log")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    run = {"check": True, "capture_output": True, "cwd": folder}
    try:
        subprocess.run([*prefix, initdb, "-D", data, "-A", "trust", "-U", "flou", "-E", "UTF8", "--locale=C"], **run)
        subprocess.run([*prefix, control, "-D", data, "-l", log, "-o", options, "-w", "start"], **run)
    except subprocess.CalledProcessError as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"a PostgreSQL server cannot be started here: {error.stderr.decode()[-200:]}")
    import ibis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        database = ibis.postgres.connect(host="127.0.0.1", port=port, user="flou", database="postgres")
    yield database
    database.disconnect()
    subprocess.run([*prefix, control, "-D", data, "-m", "immediate", "stop"], check=False, capture_output=True, cwd="/")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session on this machine."""
    pyspark_sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed (the extra flou[spark])")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = pyspark_sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        try:
            session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
        except Exception as error:  # a Java that is too old, for example
            pytest.skip(f"Spark cannot be started here: {str(error)[-200:]}")
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
