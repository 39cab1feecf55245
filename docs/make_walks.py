"""Write the walks of "How is an answer made?": follow a call through the package, and list the files that it enters.

    python docs/make_walks.py [--write | --check]

A file is listed with the first sentence of its docstring, in the order in which the call enters it.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import numpy as np
from marked_page import ROOT, fill

import flou
from flou import joint, local
from flou.bits import SeededBits

PAGE = ROOT / "docs/explanation/how-an-answer-is-made.md"
SOURCE = ROOT / "src/flou"
GROUND = ("arrays", "bits", "domain", "errors", "guarantee", "laws", "mechanisms", "parameters", "theory", "version")
ROWS = {"salary": 20_000.0 + 37 * np.arange(5000) % 60_000, "department": ["care", "research"] * 2500}
SCHEMA = flou.Schema({"salary": flou.Interval(0, 100_000), "department": flou.Categories(["care", "research"])})


def mean() -> object:
    return flou.mean(ROWS["salary"], bounds=(0, 100_000), epsilon=1)


def grouped() -> object:
    return flou.open(ROWS, schema=SCHEMA, bits=SeededBits(1)).group_by("department").mean("salary", epsilon=1)


def deciles() -> object:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/salaries.parquet"
        duckdb.execute(f"COPY (SELECT 20000.0 + 37 * i % 60000 AS salary FROM range(5000) t(i)) TO '{path}'")
        schema = {"salary": flou.Interval(0, 100_000)}
        return flou.open(path, schema=schema, bits=SeededBits(1)).deciles("salary", epsilon=1)


def report() -> object:
    oracle = local.GRR(4, epsilon=1)
    return oracle.estimate(oracle.randomise([0, 1, 1, 2] * 50))


def regression() -> object:
    waves = [np.sin(np.arange(50) * (party + 1)) for party in range(3)]
    parties = [{"x": wave, "y": 1 + 2 * wave + np.cos(np.arange(50))} for wave in waves]
    return joint.simulate(parties, formula="y ~ x").params


WALKS: dict[str, Callable[[], object]] = {
    "mean": mean,
    "grouped": grouped,
    "deciles": deciles,
    "report": report,
    "regression": regression,
}


def walked(call: Callable[[], object]) -> dict[str, int]:
    """The files that a call enters, in order, and how many functions it calls in each."""
    call()  # what is imported or kept the first time is no part of the walk
    seen: dict[str, int] = {}

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        del argument
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE) and not frame.f_code.co_name.startswith("<"):
            name = path.relative_to(SOURCE).as_posix()
            seen[name] = seen.get(name, 0) + 1

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def above_ground(files: dict[str, int]) -> list[str]:
    """The files of a walk that are not on the ground floor."""
    return [name for name in files if name.split("/")[0].removesuffix(".py") not in GROUND]


def purpose(name: str) -> str:
    """The first sentence of a file's docstring."""
    text = ast.get_docstring(ast.parse((SOURCE / name).read_text())) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("|", "\\|").rstrip(".")


def table(name: str) -> str:
    """One walk as a table, and the number of files below it on the ground floor."""
    files = walked(WALKS[name])
    above = above_ground(files)
    lines = ["| | file | what it is for |", "|---|---|---|"]
    lines += [f"| {place} | `{one}` | {purpose(one)} |" for place, one in enumerate(above, start=1)]
    rooms = sorted({one.split("/")[0].removesuffix(".py") for one in files if one not in above})
    return "\n".join([*lines, "", f"On the ground floor it uses {', '.join(f'`{room}`' for room in rooms)}."])


if __name__ == "__main__":
    sys.exit(fill("make_walks.py", PAGE, {name: table(name) for name in WALKS}, "the code"))
