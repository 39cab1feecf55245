"""The table that everybody is asked about: made-up salaries, skewed as real ones are, and departments of unequal size.

A column of doubles in [0, 300000] and one of 16 texts, in a Parquet file that is made once. Standard library only,
but for the making of the file.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "BINS",
    "DEPARTMENTS",
    "EPSILON",
    "LOWER",
    "UPPER",
    "WIDTH",
    "departments",
    "error_a_bin",
    "make",
    "path",
    "relative_error",
    "salaries",
]

LOWER, UPPER, BINS = 0.0, 300_000.0, 20
WIDTH = (UPPER - LOWER) / BINS
EPSILON = 1.0  # of every question that is timed; how long an answer takes does not depend on it
DEPARTMENTS = tuple(f"department {letter}" for letter in "ABCDEFGHIJKLMNOP")
FOLDER = Path(__file__).resolve().parent.parent / ".data"

# a log-normal of median 36,000 by Box and Muller, from hashes of the row's number: the same whatever the threads do
ROWS = """
SELECT least(round(exp(10.5 + 0.6 * sqrt(-2 * ln(a)) * cos(2 * pi() * b)), 2), 300000.0) AS salary,
       'department ' || chr(65 + floor(16 * c * c)::INTEGER) AS department
FROM (SELECT (hash(3 * i) // 2048 + 1) / 9007199254740993 AS a, (hash(3 * i + 1) // 2048) / 9007199254740992 AS b,
             (hash(3 * i + 2) // 2048) / 9007199254740992 AS c FROM range({rows}) AS row_numbers(i))
"""


def path(rows: int) -> str:
    return str(FOLDER / f"salaries-{rows}.parquet")


def make(rows: int) -> None:
    """Writes the file unless it is there; git ignores its folder."""
    file = Path(path(rows))
    if file.exists():
        return
    import duckdb

    print(f"making {file}, once")
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n")
    part = file.with_suffix(".part")
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS.format(rows=rows)}) TO '{part}' (FORMAT parquet)")
    part.rename(file)


def salaries(rows: int) -> list[float]:
    """The same kind of salaries in memory, for libraries and questions that need no file."""
    draw = random.Random(7).lognormvariate
    return [min(round(draw(10.5, 0.6), 2), UPPER) for _ in range(rows)]


def departments(rows: int) -> list[str]:
    draw = random.Random(8).random
    return [DEPARTMENTS[int(16 * draw() ** 2)] for _ in range(rows)]


def relative_error(release: Callable[[], float], exact: float, releases: int) -> Callable[[], float]:
    """The root mean square of the error of many releases, as a part of the exact value."""
    return lambda: math.sqrt(sum((release() / exact - 1) ** 2 for _ in range(releases)) / releases)


def error_a_bin(release: Callable[[], Sequence[Any]], exact: Sequence[Any], releases: int) -> Callable[[], float]:
    """The root mean square of the error of a bin, over all bins of many releases of a histogram."""

    def ask() -> float:
        pairs = [pair for _ in range(releases) for pair in zip(release(), exact, strict=True)]
        return math.sqrt(sum((float(noisy) - float(true)) ** 2 for noisy, true in pairs) / len(pairs))

    return ask
