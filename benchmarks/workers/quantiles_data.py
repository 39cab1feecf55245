"""What quantiles are asked of, and how an answer is scored: the same for everybody. Standard library only.

Values are files of doubles, made once by ``quantiles_make.py``: uniform, normal, and salaries rounded to 1000. A file
holds many sets of rows, and releases take them in turn: in one set alone a candidate of a coarse grid may happen to be
the quantile, or lie as far from it as can be, and in a few sets by chance most of them do.
"""

from __future__ import annotations

import statistics
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = [
    "BOUNDS",
    "GRANULARITY",
    "MOST_SETS",
    "SALARIES",
    "Release",
    "ordered",
    "path",
    "probabilities",
    "rank_error",
    "rank_errors",
    "sets",
    "snapped",
    "values",
]

UNIFORM, NORMAL, SALARIES = "uniform", "normal", "salaries"
BOUNDS = {UNIFORM: (0, 1), NORMAL: (-5, 5), SALARIES: (0, 300_000)}
GRANULARITY = {SALARIES: 1000}  # public: all values are multiples of it
MOST_SETS, LEAST_SETS, ALL_ROWS = 400, 20, 10**7
FOLDER = Path(__file__).resolve().parent.parent / ".data"

Release = Callable[[], Sequence[Any]]


def path(data: str, rows: int) -> str:
    """The file that holds all sets, one after the other."""
    return str(FOLDER / f"quantiles-{data}-{rows}.f8")


def sets(rows: int) -> int:
    """How many sets of so many rows take turns: of few rows one for every release, of many what memory holds."""
    return min(MOST_SETS, max(LEAST_SETS, ALL_ROWS // rows))


def probabilities(many: int) -> list[float]:
    """So many quantiles that cut the rows into equal parts."""
    return [i / (many + 1) for i in range(1, many + 1)]


@lru_cache(maxsize=MOST_SETS)
def values(data: str, rows: int, which: int = 0) -> array[float]:
    """The values in the order of the file."""
    found = array("d")
    with open(path(data, rows), "rb") as file:
        file.seek(which * rows * found.itemsize)
        found.fromfile(file, rows)
    return found


@lru_cache(maxsize=MOST_SETS)
def ordered(data: str, rows: int, which: int = 0) -> array[float]:
    return array("d", sorted(values(data, rows, which)))


def snapped(answers: Sequence[Any], grain: float) -> list[float]:
    """Answers moved to the nearest multiple of the public granularity, as anybody may."""
    return [grain * round(float(answer) / grain) for answer in answers]


def rank_error(answer: float, target: float, rows: Sequence[float]) -> float:
    """How many ranks lie between the target and the nearest rank that the answer has among the rows in order.

    An answer that equals records has all of their ranks; one between records has the rank of the record below.
    """
    below, up_to = bisect_left(rows, answer), bisect_right(rows, answer)
    return max(0.0, target - up_to, below - target)


def rank_errors(
    of_set: Callable[[int], Release],
    data: str,
    rows: int,
    many: int,
    *,
    least: int,
    most: int,
    seconds: float,
    limit: float,
) -> dict[str, Any]:
    """The mean rank error of each of several releases, and what one took, by processor time.

    ``of_set`` makes ready to answer from one set of rows; sets take turns. At least ``least`` releases, then more until
    ``seconds`` are over or there are ``most``; a release that takes more than ``limit`` seconds is not asked for again.
    """
    targets = [round(p * rows, 6) for p in probabilities(many)]
    ready: dict[int, Release] = {}
    errors: list[float] = []
    times: list[float] = []
    while len(errors) < least or (len(errors) < most and sum(times) < seconds):
        which = len(errors) % sets(rows)
        if which not in ready:
            ready[which] = of_set(which)
        release, truth = ready[which], ordered(data, rows, which)
        began = time.process_time()
        answers = release()
        times.append(time.process_time() - began)
        if len(answers) != many:
            raise ValueError(f"{many} answers were asked for, {len(answers)} came")
        found = [rank_error(float(answer), target, truth) for answer, target in zip(answers, targets, strict=True)]
        errors.append(sum(found) / many)
        too_long(min(times), limit if len(times) > 1 else 2 * limit)  # a first call also loads what it needs
    return {"errors": errors, "seconds": statistics.median(times)}


def too_long(took: float, limit: float) -> None:
    """Refuses what would hold up the run."""
    if took > limit:
        raise TimeoutError(f"skipped, a call takes {took:.0f} s")


def one_by_one(single: Callable[[float], float], many: int, limit: float | None) -> Release:
    """Quantiles from a library that answers one a call; with a limit, a first call tells whether all take too long."""
    asked = probabilities(many)
    if limit is not None:
        began = time.process_time()
        single(asked[0])
        too_long((time.process_time() - began) * many, limit)
    return lambda: [single(p) for p in asked]
