"""A real server that is killed again and again while several processes send: what was acknowledged is counted, once."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import flou
from flou.collect import Store
from flou.local import Item, Survey

SURVEY = Survey({"town": Item(flou.Integers(0, 15), statistic="shares", method="grr")}, epsilon=1, name="towns")
SENDERS, KILLS = 3, 4
REPORTS = int(os.environ.get("FLOU_REPORTS", "15000"))  # FLOU_REPORTS=1000000 for a test of load
PEOPLE = 200 if REPORTS < 10**5 else 1000  # in a batch
BATCHES = -(-REPORTS // (SENDERS * PEOPLE))  # of a sender


def reports(sender: int, batch: int) -> list[int]:
    return np.random.default_rng([sender, batch]).integers(0, 16, PEOPLE).tolist()


def send(port: int, sender: int) -> int:
    """Send all batches, each until it is acknowledged; returns how many reports were."""
    acknowledged = 0
    for batch in range(BATCHES):
        told = {"survey": SURVEY.fingerprint, "batch": f"{sender}/{batch}", "reports": {"town": reports(sender, batch)}}
        request = urllib.request.Request(f"http://127.0.0.1:{port}/reports", json.dumps(told).encode())
        until = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    acknowledged += json.load(answer)["counted"]
                break
            except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError):
                assert time.monotonic() < until
                time.sleep(0.05)
    return acknowledged


def serve(folder: Path, port: int) -> subprocess.Popen:
    command = [
        "collect",
        "serve",
        str(folder / "survey.toml"),
        "--database",
        str(folder / "sums.db"),
        "--port",
        str(port),
    ]
    code = "from flou.cli import app; app()"
    return subprocess.Popen([sys.executable, "-c", code, *command], stdout=subprocess.DEVNULL, start_new_session=True)


def counted(folder: Path) -> int:
    return Store(folder / "sums.db", SURVEY).collection().reports


def test_acknowledged_batches_survive_kill_9(tmp_path):
    (tmp_path / "survey.toml").write_text(SURVEY.to_toml())
    assert Survey.from_toml(tmp_path / "survey.toml").fingerprint == SURVEY.fingerprint
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = serve(tmp_path, port)
    try:
        with ProcessPoolExecutor(SENDERS) as pool:
            sent = [pool.submit(send, port, sender) for sender in range(SENDERS)]
            for _ in range(KILLS):
                seen = counted(tmp_path)
                until = time.monotonic() + 300
                while counted(tmp_path) < seen + REPORTS // 25 and not all(one.done() for one in sent):
                    assert time.monotonic() < until
                    time.sleep(0.02)
                os.killpg(server.pid, signal.SIGKILL)  # in the middle of whatever it does
                server.wait()
                server = serve(tmp_path, port)
            acknowledged = sum(one.result() for one in sent)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    assert acknowledged == SENDERS * BATCHES * PEOPLE >= REPORTS
    found = Store(tmp_path / "sums.db", SURVEY).collection()
    everything = [reports(sender, batch) for sender in range(SENDERS) for batch in range(BATCHES)]
    expected = SURVEY.randomisers["town"].aggregate(np.concatenate(everything))
    assert found.aggregates["town"] == expected
