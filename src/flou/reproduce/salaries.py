"""A made-up table of salaries with exactly the deciles that document 001 prints.

The document works on about 400,000 yearly salaries of public servants in the state of New York, a table that
could not be had. Its nine deciles are printed (5.2.3), and this table stands in for it:

Shape    a monotone cubic through the printed deciles and nine chosen points of the tails is the quantile
         function, so the density is continuous, with one top near 40,000 and another near 75,000
Ties     half of the salaries lie on a pay scale whose steps are 1.8 % apart, others are rounded to thousands
         (15 %) or hundreds (10 %), and the rest are whole numbers
Deciles  the row of rank r (0, 1, ...) belongs to tenth floor(10 r / rows) and stays between the two deciles that
         bound this tenth; the lowest and the highest 2 % of its ranks lie on them. So each decile is an atom
         on both sides of its rank, and from 1000 rows on every usual definition of the empirical deciles
         gives the printed numbers
Tails    nothing below 12,000, one salary in a hundred above 153,000, nothing above 285,000

``made_staff`` adds what a table of staff has besides: a department, an age, and whether somebody works full time. All
three go with the rank of the salary, as they do in life: engineers earn more than cooks, older people more than
younger ones, full-time staff more than others. The document has no such columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.arrays import Floats, Ints
from flou.parameters import integer

__all__ = ["DECILES", "DEPARTMENTS", "made_salaries", "made_staff"]


DECILES = (34_902, 38_574, 41_848, 46_862, 56_844, 67_121, 75_254, 84_751, 99_637)
LOWEST, HIGHEST = 12_000, 285_000

# The quantile function: shares of the table, and the salaries below which they lie.
SHARES = (0, 0.02, 0.05, *(tenth / 10 for tenth in range(1, 10)), 0.95, 0.98, 0.99, 0.999, 0.9999, 1)
PAY = (LOWEST, 22_000, 29_500, *DECILES, 114_000, 137_000, 153_000, 205_000, 248_000, HIGHEST)

# Of each department: its share of the staff in the middle of the scale, and how much it grows towards the top.
DEPARTMENTS = {
    "care": (0.35, -0.5),
    "research": (0.15, 2.0),
    "administration": (0.20, 0.3),
    "engineering": (0.18, 1.5),
    "kitchen": (0.08, -2.5),
    "garden": (0.04, -2.0),
}
YOUNGEST, OLDEST = 18, 67

ON_SCALE, IN_THOUSANDS, IN_HUNDREDS = 0.50, 0.15, 0.10
STEPS = np.round(LOWEST * 1.018 ** np.arange(178))  # the last one is just below HIGHEST


def made_salaries(rows: int = 400_000, seed: int = 1) -> Ints:
    """``rows`` yearly salaries in whole euros, in random order; the same seed gives the same table."""
    rows = integer("rows", rows, 1, 10**7)
    generator = np.random.default_rng(integer("seed", seed, 0, 2**63))  # noqa: TID251 - made-up data, nothing to hide
    tenth, within = np.divmod(10 * np.arange(rows), rows)  # the place of a rank in its tenth is within / rows

    smooth = _monotone_cubic(
        np.array(SHARES, dtype=np.float64), np.array(PAY, dtype=np.float64), (tenth + generator.random(rows)) / 10
    )
    pay = _with_ties(smooth, generator.random(rows))

    ends = np.array([LOWEST, *DECILES, HIGHEST], dtype=np.float64)
    low, high = ends[tenth], ends[tenth + 1]
    pay = np.clip(pay, low, high)
    pay = np.where((tenth > 0) & (50 * within < rows), low, pay)
    pay = np.where((tenth < 9) & (50 * within >= 49 * rows), high, pay)
    return generator.permutation(pay.astype(np.int64))


def made_staff(rows: int = 20_000, seed: int = 1) -> dict[str, NDArray[Any]]:
    """``rows`` employees with a salary, a department, an age, and whether they work full time."""
    salary = made_salaries(rows, seed)
    generator = np.random.default_rng([seed, rows])  # noqa: TID251 - made-up data, nothing to hide
    rank = (np.argsort(np.argsort(salary + generator.random(rows))) + 0.5) / rows

    shares, slopes = np.array(list(DEPARTMENTS.values())).T
    weights = shares * np.exp(slopes * (rank[:, None] - 0.5))
    drawn = generator.random(rows) * weights.sum(axis=1)
    department = np.array(list(DEPARTMENTS))[(weights.cumsum(axis=1)[:, :-1] <= drawn[:, None]).sum(axis=1)]

    age = np.rint(22 + 30 * rank**0.6 + 9 * generator.normal(size=rows)).astype(np.int64)
    return {
        "salary": salary,
        "department": department,
        "age": np.clip(age, YOUNGEST, OLDEST),
        "full_time": generator.random(rows) < 0.55 + 0.4 * rank,
    }


def _monotone_cubic(x: Floats, y: Floats, at: Floats) -> Floats:
    """The cubic pieces of Fritsch and Butland (1984) through increasing points (x, y), seen at ``at``.

    The slope at a point is the harmonic mean of the secants on both sides: at most twice the smaller one, hence
    increasing pieces. SciPy has the same curve, but importing it takes as long as the whole demo.
    """
    secant = np.diff(y) / np.diff(x)
    slope = np.concatenate([secant[:1], 2 / (1 / secant[:-1] + 1 / secant[1:]), secant[-1:]])
    i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    width = np.diff(x)[i]
    t = (at - x[i]) / width
    rise = secant[i] * (3 - 2 * t) * t**2
    bend = (slope[i] * (1 - t) - slope[i + 1] * t) * (1 - t) * t
    piece: Floats = y[i] + (rise + bend) * width
    return piece


def _with_ties(pay: Floats, kind: Floats) -> Floats:
    """The salaries as employers write them; ``kind`` is uniform on [0, 1) and chooses the way."""
    on_scale = STEPS[np.searchsorted((STEPS[1:] + STEPS[:-1]) / 2, pay)]
    chosen = np.searchsorted(np.cumsum([ON_SCALE, IN_THOUSANDS, IN_HUNDREDS]), kind, side="right")
    return np.choose(chosen, [on_scale, np.round(pay, -3), np.round(pay, -2), np.round(pay)])
