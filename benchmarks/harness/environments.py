"""One virtual environment a peer, made on demand from pinned requirements.

A stamp inside the environment holds a digest of the requirements and of the Python version; when it no longer
matches, the environment is made again. An installation that fails leaves no stamp and is tried again next time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["BENCHMARKS", "Unavailable", "interpreter", "prepare"]

BENCHMARKS = Path(__file__).resolve().parent.parent
INSTALL_SECONDS = 900


class Unavailable(Exception):
    """A participant cannot take part, and why, in words."""


def prepare(requirements: str | None) -> Path:
    """The Python interpreter of an environment that holds ``peers/<requirements>.txt``."""
    if requirements is None:
        return Path(sys.executable)
    pins = BENCHMARKS / "peers" / f"{requirements}.txt"
    folder = BENCHMARKS.parent / f".venv-bench-{requirements}"
    stamp, wanted = folder / "ready", _digest(pins)
    if not (stamp.exists() and stamp.read_text() == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)], "its environment could not be made")
        pip = [str(interpreter(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, "--requirement", str(pins)], "pip could not install it")
        stamp.write_text(wanted)
    return interpreter(folder)


def interpreter(folder: Path) -> Path:
    """The Python of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _digest(pins: Path) -> str:
    return hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()


def _run(command: list[str], failure: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{failure} within {INSTALL_SECONDS} seconds") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith("WARNING")]
        raise Unavailable(f"{failure}: {lines[-1] if lines else f'exit code {done.returncode}'}")
