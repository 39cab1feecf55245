"""What the parties have in the benchmark of joint statistics, and what has to come out. NumPy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["BOUND", "COLUMNS", "LENGTH", "RESPONSE_BOUND", "ROWS", "coefficients", "rows", "total", "words"]

LENGTH = 1000  # words of a vector
ROWS, COLUMNS = 1000, 10  # of a party's table
BOUND, RESPONSE_BOUND = 8.0, 64.0  # of regressors and response, agreed on beforehand


def words(party: int, length: int = LENGTH) -> NDArray[np.int64]:
    """A party's vector, the same in every run."""
    return np.random.default_rng([1, party]).integers(-(2**39), 2**39, length)


def total(parties: int) -> list[int]:
    return [int(value) for value in sum(words(party) for party in range(parties))]


def rows(party: int, count: int = ROWS) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A party's regressors (columns one after the other in memory, as tables have them) and its response."""
    draw = np.random.default_rng([2, party])
    x = np.clip(np.asfortranarray(draw.standard_normal((count, COLUMNS))), -BOUND, BOUND)
    y = 1.0 + x @ np.linspace(-1, 1, COLUMNS) + draw.standard_normal(count)
    return x, np.clip(y, -RESPONSE_BOUND, RESPONSE_BOUND)


def coefficients(parties: int) -> NDArray[np.float64]:
    """Of the rows of all parties in one table, the intercept first."""
    tables = [rows(party) for party in range(parties)]
    x, y = np.vstack([x for x, _ in tables]), np.concatenate([y for _, y in tables])
    return np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)[0]
