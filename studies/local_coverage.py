"""How often do 95 % intervals from randomised reports hold the truth? A simulation, over oracles, categories, epsilons.

Every run draws respondents from a population whose share of category v is proportional to 1/(v + 1), lets each of them
randomise, and looks at both intervals of every category: for the respondents, and for the population. All bits come
from ``SeededBits``, so that a cell gives the same numbers each time. For means the respondents have squares of uniform
numbers: most are small, and their mean is a third.

    python studies/local_coverage.py [runs]     prints the tables; 200 runs take about five minutes
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flou.bits import SeededBits
from flou.domain import Interval as Numbers
from flou.local import DBitFlip, FrequencyOracle, frequencies, mean_of
from flou.release.uncertainty import Interval

__all__ = ["MEANS", "Cell", "cells", "covered", "means_covered"]

LEVEL = 0.95
METHODS = ("warner", "grr", "sue", "oue", "olh", "subset", "hadamard", "dbitflip")
MEANS = ("duchi", "piecewise", "hybrid", "designed")
MORE_RUNS = {2: 20, 16: 5, 128: 1}  # times as many runs, for each number of categories
CATEGORIES, EPSILONS, PEOPLE = tuple(MORE_RUNS), (0.5, 1.0, 3.0), 10_000


@dataclass(frozen=True)
class Cell:
    """One setting of the simulation."""

    method: str
    k: int
    epsilon: float
    people: int = PEOPLE

    @property
    def oracle(self) -> FrequencyOracle:
        if self.method == "dbitflip":
            return DBitFlip(self.k, epsilon=self.epsilon, d=max(1, self.k // 4))
        return frequencies(self.k, epsilon=self.epsilon, method=self.method)


def cells() -> Iterator[Cell]:
    """All settings; Warner's question has two answers."""
    for method in METHODS:
        for k in CATEGORIES:
            if method != "warner" or k == 2:
                yield from (Cell(method, k, epsilon) for epsilon in EPSILONS)


def covered(cell: Cell, runs: int, *, shrink: float = 1.0) -> dict[str, float]:
    """The share of intervals that hold the truth, over all runs and categories.

    ``shrink`` makes intervals narrower, so that a check can be seen to fail.
    """
    oracle, bits = cell.oracle, SeededBits("local coverage of " + ", ".join(map(str, astuple(cell))))
    shares = 1 / np.arange(1, cell.k + 1)
    shares /= shares.sum()
    ends = np.minimum(np.cumsum(shares), 1.0)
    held = {"data": 0.0, "population": 0.0}
    for _ in range(runs):
        answers = np.minimum(np.searchsorted(ends, bits.words(cell.people) * 2.0**-64, side="right"), cell.k - 1)
        uncertainty = oracle.uncertainty(oracle.aggregate(oracle.sample(answers, bits=bits)))
        truths = {"data": np.bincount(answers, minlength=cell.k) / cell.people, "population": shares}
        for of, truth in truths.items():
            interval = uncertainty.data(LEVEL) if of == "data" else uncertainty.population(LEVEL)
            held[of] += float(np.mean(_holds(interval, truth, shrink))) / runs
    return held


def means_covered(method: str, epsilon: float, runs: int, *, shrink: float = 1.0) -> dict[str, float]:
    """The share of intervals for a mean that hold the truth."""
    randomiser = mean_of(Numbers(0, 1), epsilon=epsilon, method=method)
    bits = SeededBits(f"local coverage of the mean, {method}, {epsilon}")
    held = {"data": 0.0, "population": 0.0}
    for _ in range(runs):
        answers = (bits.words(PEOPLE) * 2.0**-64) ** 2
        release = randomiser.estimate(randomiser.randomise(answers, bits=bits))
        for of, truth in (("data", float(answers.mean())), ("population", 1 / 3)):
            interval = release.uncertainty.data(LEVEL) if of == "data" else release.uncertainty.population(LEVEL)
            held[of] += float(_holds(interval, np.array(truth), shrink)) / runs
    return held


def _holds(interval: Interval, truth: NDArray[Any], shrink: float) -> NDArray[np.bool_]:
    low, high = (np.asarray(end) for end in interval)
    middle, half = (low + high) / 2, (high - low) / 2 * shrink
    held: NDArray[np.bool_] = (truth >= middle - half - 1e-12) & (truth <= middle + half + 1e-12)
    return held


def main(runs: int) -> None:
    """Print the table; few categories have few intervals in a run, and more runs."""
    print("method    k    epsilon  data     population  runs")
    for cell in cells():
        count = runs * MORE_RUNS[cell.k]
        held = covered(cell, count)
        line = (
            f"{cell.method:9} {cell.k:<4} {cell.epsilon:<8} {held['data']:.4f}   {held['population']:.4f}      {count}"
        )
        print(line, flush=True)
    for method in MEANS:
        for epsilon in EPSILONS:
            held = means_covered(method, epsilon, 10 * runs)
            print(
                f"mean, {method:9} {epsilon:<6} {held['data']:.4f}   {held['population']:.4f}      {10 * runs}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
