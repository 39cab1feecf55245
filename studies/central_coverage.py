"""How often do 95 % intervals hold the truth? A simulation, over statistics, shapes, relations, rows and epsilons.

Every run draws the rows anew from a population whose truth is known, lets flou answer as it answers anybody, and looks
at both intervals: for the rows at hand, and for the population. Under add-remove the number of rows is Poisson, as the
intervals for sums and counts of a population say; under substitution it is fixed and public. The data come from NumPy
with a seed, the noise from ``SeededBits``, so that a cell gives the same numbers each time.

Two claims are checked, each within three standard errors of the simulation:

    at least 94.5 %   everywhere
    at most 98 %      from 1,000 rows on at an epsilon of 1: more would be useless caution; but for quantiles, whose
                      intervals end at public edges and hold for all data, so that they are wider than most data need;
                      and for the population only on shapes that fill their bounds, because on others an interval must
                      allow for what a sample does not see
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from flou.arrays import Floats
from flou.bits import SeededBits
from flou.central import Price, Table
from flou.central.counts.noisy_counts import CountUncertainty
from flou.central.moments.column_question import ColumnUncertainty
from flou.domain import Interval, Schema
from flou.parameters import Relation
from flou.release import Uncertainty
from flou.summaries.array.rows import ArrayRows
from populations import FULL, HARD, POPULATIONS
from subjects import SUBJECTS

__all__ = ["Cell", "Coverage", "cells", "enough", "not_too_much", "simulate"]

LEVEL, LEAST, MOST = 0.95, 0.945, 0.98
ERRORS = 3.0  # standard errors of the simulation by which a claim may be missed
ROWS, EPSILONS = (10, 100, 1_000, 10_000), (0.1, 1.0, 10.0)
FEWEST = 2  # rows that are drawn at least, so that a variance is there: 1 time in 2,000 a Poisson 10 has less
BOTH: tuple[Relation, ...] = ("add-remove", "substitute")
SHAPES = {
    "group means": (*FULL, "rare events", "heavy tail"),
    "regression": FULL,  # a constant has no slope, and one near a bound hardly any
}
LARGE = {"group means", "regression"}  # from 100 rows on: of ten rows a group may have none, and a line has no errors


@dataclass(frozen=True)
class Cell:
    """One setting of the simulation."""

    statistic: str
    shape: str
    relation: Relation
    rows: int
    epsilon: float

    def capped(self, of: str) -> bool:
        """Whether more than 98 % would be useless caution."""
        enough_to_see = self.rows >= 1_000 and self.epsilon == 1 and self.statistic != "quantiles"
        return enough_to_see and (of == "data" or self.shape in FULL)

    @property
    def seed(self) -> str:
        return "coverage of " + ", ".join(map(str, astuple(self)))


@dataclass(frozen=True)
class Coverage:
    """Of one of the two intervals in a cell; averages over the entries of a statistic, such as bins."""

    coverage: float
    least: float  # of the entry that is covered least
    width: float  # infinite where an interval was the whole line
    runs: int


def cells() -> Iterator[Cell]:
    """All settings. All rows together are counted alike whatever they hold: one shape is enough there.

    Hard shapes are tried where there is little noise to cover for the sample, the others where there is much.
    """
    for statistic in SUBJECTS:
        for shape in SHAPES.get(statistic, tuple(POPULATIONS)):
            for relation in BOTH:
                if statistic != "count" or relation == "substitute" or shape == "uniform":
                    sizes = [n for n in ROWS if n >= 100 or statistic not in LARGE]
                    epsilons = [e for e in EPSILONS if (e >= 1 if shape in HARD else e <= 1)]
                    yield from (Cell(statistic, shape, relation, n, e) for n in sizes for e in epsilons)


def enough(coverage: float, runs: int) -> bool:
    """Whether the true coverage may well be 94.5 % or more."""
    return coverage >= LEAST - ERRORS * math.sqrt(LEAST * (1 - LEAST) / runs)


def not_too_much(coverage: float, runs: int) -> bool:
    """Whether the true coverage may well be 98 % or less."""
    return coverage <= MOST + ERRORS * math.sqrt(MOST * (1 - MOST) / runs)


def simulate(cell: Cell, runs: int, *, price: Price | None = None, shrink: float = 1.0) -> dict[str, Coverage]:
    """The coverage for the data and for the population, at the cell's epsilon or another price.

    ``shrink`` makes intervals narrower, so that the checks can be seen to fail.
    """
    population, subject = POPULATIONS[cell.shape], SUBJECTS[cell.statistic]
    schema = Schema({"x": Interval(population.lower, population.upper), **subject.domains}, relation=cell.relation)
    seed = int.from_bytes(hashlib.sha256(cell.seed.encode()).digest()[:8])
    generator = np.random.default_rng(seed)
    question, bits = subject.question(price or cell.epsilon), SeededBits(cell.seed)
    uncertainties, truths = [], []
    for _ in range(runs):
        rows = cell.rows if cell.relation == "substitute" else max(int(generator.poisson(cell.rows)), FEWEST)
        columns, truth = subject.draw(population, cell.relation, generator, rows)
        table = subject.part(Table(ArrayRows(columns), schema, None, bits=bits), population)
        uncertainties.append(table._answered([question.prepare(table._facts())])[0].uncertainty)
        truths.append(truth)
    right = {"data": np.array(truths), "population": subject.right(population, cell.relation, cell.rows)}
    return {of: _coverage(_intervals(uncertainties, of), right[of], shrink) for of in right}


def _intervals(uncertainties: list[Uncertainty], of: str) -> Floats:
    """Both ends for all runs and entries, (2, runs, entries); what takes many groups or bins takes all runs at once."""
    together: list[Any] = uncertainties
    first = together[0]
    if isinstance(first, ColumnUncertainty):
        together = [replace(first, groups=tuple(group for one in together for group in one.groups), grouped=True)]
    elif isinstance(first, CountUncertainty):
        value = None if first.value is None else np.array([one.value for one in together])
        together = [replace(first, noisy=np.array([one.noisy for one in together]), value=value, grouped=True)]
    ends = np.array([getattr(one, of)(LEVEL) for one in together], dtype=np.float64)
    return np.moveaxis(ends, 1, 0).reshape(2, len(uncertainties), -1)


def _coverage(ends: Floats, truth: Floats, shrink: float) -> Coverage:
    low, high = ends
    if shrink != 1:
        middle, half = (low + high) / 2, (high - low) / 2
        low, high = middle - shrink * half, middle + shrink * half
    held = np.mean((low <= truth) & (truth <= high), axis=0)
    return Coverage(float(held.mean()), float(held.min()), float(np.mean(high - low)), len(low))
